//! Builds the rules of an ideal map. An ideal map is a queueing scheme in which each destination has its own queue, in addition to the VCs.
//! Refuses networks in which such a map cannot work.
//!
//! Before a head requests an output, its output port and its VC at that port must be known. Therefore each packet must have a fixed path,
//! and each lane must be one VC. A packet reserves buffer slots for all its flits when its head gets a slot, so only whole packets move.

use crate::network::classes::VcSets;
use crate::network::pairs;
use crate::network::set_aside::{refuse_misfit, refuse_more_vcs};
use crate::network::spec::{FlowControl, Spec};
use weft_api::routing::{AnyRouting, Decides, Needs};
use weft_api::state::link_class::Link;
use weft_kernel::parts::ideal::IdealRules;
use weft_units::Refusal;

/// The rules of the ideal map for a spec; `None` if the queues of its scheme are VCs.
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

/// Refuses routings that do not know the path of a packet before its head requests buffer space.
fn refuse_other_paths(spec: &Spec, routing: &dyn AnyRouting, needs: &Needs) -> Result<(), Refusal> {
    let (name, own) = (spec.queueing.name(), spec.routing.name());
    let refuse = |what: String, help: &str| Err(Refusal::new(format!("queueing.{name}"), what, help));
    if needs.decides != Decides::Ahead {
        let what = format!("{name} uses the later outputs on the path of a packet, but {own} decides hop by hop");
        return refuse(what, "choose a routing that computes all hops in advance, such as a deterministic routing");
    }
    if spec.graph.has_trunks() {
        let what = format!("packets choose among the links of a trunk at each router, but {name} needs fixed paths");
        return refuse(what, "choose a topology without trunks, or a scheme that uses destinations, such as `dbbm`");
    }
    if pairs::repair(spec, routing).any() {
        let what = format!("links or routers fail, so packets leave the fixed paths that {name} needs");
        return refuse(what, "remove the faults, or choose a scheme that uses destinations, such as `dbbm`");
    }
    Ok(())
}

fn refuse_worms(spec: &Spec) -> Result<(), Refusal> {
    if spec.router.flow_control == FlowControl::VirtualCutThrough || spec.traffic.longest() == 1 {
        return Ok(());
    }
    let name = spec.queueing.name();
    let what =
        format!("wormhole, but {name} shares each VC among destinations: a waiting packet would block a VC for all");
    Err(Refusal::new("router.flow_control", what, "write `flow_control: virtual_cut_through`, or packets of 1flit"))
}

fn refuse_rings(spec: &Spec, needs: &Needs) -> Result<(), Refusal> {
    if needs.ring_entries.is_empty() {
        return Ok(());
    }
    let (name, routing) = (spec.queueing.name(), spec.routing.name());
    let what = format!("{routing} keeps a bubble in rings of VCs, but {name} divides these VCs among destinations");
    let help = "choose a routing that avoids deadlock only with VC classes, or remove `queueing`";
    Err(Refusal::new(format!("queueing.{name}"), what, help))
}
