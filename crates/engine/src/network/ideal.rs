//! Builds the rules of an ideal map, in which each destination has its own queue, in addition to the VCs. Refuses networks in which the map
//! cannot work.
//!
//! The output of a head, and its VC at that output, must be known before the head requests it. Therefore paths are fixed, and a lane is one
//! VC. A packet takes all its buffer places together with its head, so only whole packets move.

use crate::network::classes::VcSets;
use crate::network::pairs;
use crate::network::set_aside::{refuse_misfit, refuse_more_vcs};
use crate::network::spec::{FlowControl, Spec};
use weft_api::routing::{AnyRouting, Decides, Needs};
use weft_api::state::link_class::Link;
use weft_kernel::parts::ideal::IdealRules;
use weft_units::Refusal;

/// The rules of a spec; `None` if the queues of its scheme are VCs.
pub(crate) fn rules(
    spec: &Spec,
    routing: &dyn AnyRouting,
    needs: &Needs,
    links: &[Link],
    sets: &VcSets,
) -> Result<Option<IdealRules>, Refusal> {
    let Some((lanes, of_lane)) = sets.ideal() else { return Ok(None) };
    refuse_misfit(spec)?;
    refuse_other_paths(spec, routing, needs)?;
    refuse_worms(spec)?;
    refuse_rings(spec, needs)?;
    refuse_more_vcs(spec, links, sets)?;
    Ok(Some(IdealRules {
        lanes,
        of_lane,
        places: spec.links.iter().map(|link| link.buffer as u16).collect(),
        room: spec.traffic.longest() as u16,
    }))
}

/// Refuses routings whose paths are not known before the head requests buffer places.
fn refuse_other_paths(spec: &Spec, routing: &dyn AnyRouting, needs: &Needs) -> Result<(), Refusal> {
    let (name, own) = (spec.queueing.name(), spec.routing.name());
    let refuse = |what: String, help: &str| Err(Refusal::new(format!("queueing.{name}"), what, help));
    if needs.decides != Decides::Ahead {
        let what = format!("{name} goes by the outputs that a packet will cross, and {own} decides hop by hop");
        return refuse(what, "take a routing that names all its hops ahead, such as a deterministic one");
    }
    if spec.graph.has_trunks() {
        let what = format!(
            "packets choose among the links of a trunk at each router, and {name} goes by paths that are fixed"
        );
        return refuse(what, "take a topology without trunks, or a scheme that goes by destinations, such as `dbbm`");
    }
    if pairs::repair(spec, routing).any() {
        let what = format!("links or routers fail, so that packets leave the paths by which {name} goes");
        return refuse(what, "leave the faults out, or take a scheme that goes by destinations, such as `dbbm`");
    }
    Ok(())
}

fn refuse_worms(spec: &Spec) -> Result<(), Refusal> {
    if spec.router.flow_control == FlowControl::VirtualCutThrough || spec.traffic.longest() == 1 {
        return Ok(());
    }
    let name = spec.queueing.name();
    let what =
        format!("wormhole: a packet that waits for places would hold a VC, which {name} shares among destinations");
    Err(Refusal::new("router.flow_control", what, "write `flow_control: virtual_cut_through`, or packets of 1flit"))
}

fn refuse_rings(spec: &Spec, needs: &Needs) -> Result<(), Refusal> {
    if needs.ring_entries.is_empty() {
        return Ok(());
    }
    let (name, routing) = (spec.queueing.name(), spec.routing.name());
    let what = format!("{routing} keeps a bubble in rings of VCs, and {name} divides these VCs among destinations");
    let help = "take a routing that avoids deadlock by VC classes alone, or leave `queueing` out";
    Err(Refusal::new(format!("queueing.{name}"), what, help))
}
