//! Builds the rules of an ideal map, in which each destination has a queue of its own beside the VCs. Refuses networks on which it
//! can't work.
//!
//! A head has to know its output, and the VC there, before it asks. So paths are fixed, and a lane is one VC. A packet keeps its places
//! from the head on, so only whole packets go ahead.

use crate::network::classes::VcSets;
use crate::network::set_aside::{refuse_misfit, refuse_more_vcs};
use crate::network::spec::{FlowControl, Spec};
use weft_api::routing::{AnyRouting, Needs};
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
    refuse_misfit(spec, routing, needs)?;
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
