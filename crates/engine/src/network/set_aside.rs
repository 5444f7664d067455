//! Builds the rules for queues that a scheme sets aside for congested outputs. Refuses networks in which such queues cannot work.
//!
//! Each queue that is set aside must be one VC, so that the packets of the queue stay in order. Each terminal must have one queue per
//! destination. With one queue per destination, a packet at its source does not wait behind packets to other destinations.

use crate::network::classes::VcSets;
use crate::network::spec::Spec;
use weft_api::classes::Queueing;
use weft_api::queueing::BufferSite;
use weft_api::state::link_class::Link;
use weft_kernel::parts::queues::InterfaceRules;
use weft_kernel::parts::set_aside::{OfChannel, SetAsideRules};
use weft_units::Refusal;

/// The rules for a spec; `None` if its queueing scheme sets no queues aside.
pub(crate) fn rules(spec: &Spec, links: &[Link], sets: &VcSets) -> Result<Option<SetAsideRules>, Refusal> {
    let queue = links.iter().map(|link| u32::from(link.buffer)).min().unwrap_or(1);
    let Some(rules) = spec.queueing.model().set_aside(&BufferSite { cycle_fs: spec.cycle_fs, queue })? else {
        return Ok(None);
    };
    refuse_misfit(spec)?;
    refuse_more_vcs(spec, links, sets)?;
    let Some(interface) = spec.interface_rules(sets) else { return Ok(None) };
    let mut channels: Vec<_> = (0..links.len()).map(|link| between(&links[link], link, sets)).collect();
    channels.push(from_terminals(&interface));
    Ok(Some(SetAsideRules { rules, channels }))
}

/// Refuses routers and terminals that would mix packets to different outputs, or change the order of packets.
pub(crate) fn refuse_misfit(spec: &Spec) -> Result<(), Refusal> {
    let name = spec.queueing.name();
    if spec.router.vc_realloc > 0 {
        let what = format!("heads get their VC one step before they leave, so {name} could not keep packets in order");
        return Err(Refusal::new("router.vc_realloc", what, "write `vc_realloc: 0`"));
    }
    if spec.interface.queueing != Queueing::PerDestination {
        let what =
            format!("{name} separates packets to congested terminals, but at the source they would wait in one queue");
        return Err(Refusal::new("interface.queues", what, "write `interface: {queues: per_destination}`"));
    }
    Ok(())
}

/// Refuses a channel with more VCs than lanes (queues of the scheme), because a lane with two VCs does not keep its packets in order.
pub(crate) fn refuse_more_vcs(spec: &Spec, links: &[Link], sets: &VcSets) -> Result<(), Refusal> {
    let classes = sets.set_count();
    for (number, link) in links.iter().enumerate() {
        let lanes = if number == 0 { u32::from(sets.lanes_from_terminals()) } else { sets.queues_on(number) };
        let (needed, vcs) = (lanes * classes, link.all.count_ones());
        if vcs > needed {
            let class = &spec.graph.class_names()[number];
            let what = format!(
                "{vcs} VCs, but {lanes} queues in each of {classes} sets need {needed}: packets in two VCs of one queue could overtake \
                 each other"
            );
            return Err(Refusal::new(format!("links.{class}.vcs"), what, format!("write {needed}")));
        }
    }
    Ok(())
}

/// The assignment of VCs to queues, on a channel between routers.
fn between(link: &Link, number: usize, sets: &VcSets) -> OfChannel {
    let of = &sets.links()[number];
    let mut channel = OfChannel::default();
    for set in 0..sets.set_count() as u8 {
        for fine in 0..of.each {
            let routed = of.routed[usize::from(fine)];
            let lane = fine - of.first[usize::from(routed)];
            let vcs = |fine: usize| link.vcs_of[fine];
            let group = of.fine(set, routed).map(vcs).fold(0, |all, vcs| all | vcs);
            channel.add(vcs(usize::from(set * of.each + fine)), lane, group);
        }
    }
    channel
}

/// The assignment of VCs to queues, on a channel from a terminal.
fn from_terminals(interface: &InterfaceRules) -> OfChannel {
    let mut channel = OfChannel::default();
    for of_class in interface.vcs_of.chunks(interface.lanes.into()) {
        let group = of_class.iter().fold(0, |all, vcs| all | vcs);
        (0..).zip(of_class).for_each(|(lane, &vcs)| channel.add(vcs, lane, group));
    }
    channel
}
