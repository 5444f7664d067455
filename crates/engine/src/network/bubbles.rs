//! The conditions under which rings keep a bubble, that is, free space for one packet (Carrion et al. 1997, Puente et
//! al. 2001).
//!
//! A packet may enter a ring only if the next buffer keeps room for one more packet. A packet that moves on inside the ring frees as much
//! room as it takes. Therefore some buffer of the ring always has room for a packet, and the packet in the buffer before that one can move
//! on. This argument counts room in whole packets, so it is valid only if each packet fits into one buffer and all packets have the same
//! length.

use crate::network::routing::routing;
use crate::network::spec::{FlowControl, Spec};
use weft_api::routing::{Needs, RingEntry};
use weft_api::walk::Proof;
use weft_units::Refusal;

/// Number of free flit slots that an output VC needs before a head may take it to enter a ring: room for the packet and for the bubble.
pub(crate) fn room_to_enter(spec: &Spec) -> u32 {
    spec.traffic.longest().saturating_mul(2)
}

impl Spec {
    /// Returns, for each link class, the buffer size that virtual cut-through needs [flits], and whether the routing also works with
    /// wormhole flow control (which needs smaller buffers). The method refuses a network on which the routing does not work.
    pub fn least_buffers(&self) -> Result<(Vec<u32>, bool), Refusal> {
        let routing = routing(self)?;
        let needs = routing.needs();
        let least = |link: usize| match needs.ring_entries_on(link).next() {
            Some(_) => room_to_enter(self),
            None => self.traffic.longest(),
        };
        let worms = needs.ring_entries.is_empty() && !matches!(routing.proof(), Proof::Escapes);
        Ok(((0..self.links.len()).map(least).collect(), worms && !self.router.hold_switch))
    }
}

/// Refuses a routing whose declared ring entries contradict each other.
pub(crate) fn refuse_misfit(spec: &Spec, needs: &Needs) -> Result<(), Refusal> {
    let entries = &needs.ring_entries;
    let wrong = |entry: &RingEntry| {
        let enters =
            |class: u8| entries.iter().filter(|other| other.link == entry.link && other.enter == class).count();
        let classes = needs.classes.get(usize::from(entry.link)).copied().unwrap_or(0);
        entry.enter.max(entry.move_on) >= classes || enters(entry.enter) != 1 || enters(entry.move_on) != 0
    };
    let name = spec.routing.name();
    let what = if let Some(entry) = entries.iter().find(|entry| wrong(entry)) {
        format!(
            "{name} has a ring entry with VC classes that the routing lacks, or that several entries use: {entry:?}"
        )
    } else {
        return Ok(());
    };
    let help = format!("choose another routing; the developer of {name} must correct `Needs::ring_entries`");
    Err(Refusal::new(format!("routing.{name}"), what, help))
}

/// Refuses runs in which the rings of the routing would lose their bubbles, or in which packets could never enter the rings.
pub(crate) fn refuse_lost(spec: &Spec, needs: &Needs) -> Result<(), Refusal> {
    if needs.ring_entries.is_empty() {
        return Ok(());
    }
    let name = spec.routing.name();
    if spec.router.flow_control == FlowControl::Wormhole {
        return Err(Refusal::new(
            "router.flow_control",
            format!("wormhole, but under {name} each ring keeps room for one packet, which must fit into one buffer"),
            "write router.flow_control: virtual_cut_through, or choose a routing (or dateline) without bubbles",
        ));
    }
    let (shortest, longest) = (spec.traffic.lengths().min().unwrap_or(1), spec.traffic.longest());
    if shortest != longest {
        return Err(Refusal::new(
            format!("routing.{name}"),
            format!(
                "packets (and replies) have {shortest} to {longest} flits, but each ring keeps room for only one packet: shorter packets \
                 would split this room into gaps that are too small for a packet of {longest} flits"
            ),
            "give all packets and replies the same length, or choose a routing (or dateline) without bubbles",
        ));
    }
    let least = room_to_enter(spec);
    for (c, link) in spec.links.iter().enumerate() {
        if link.buffer < least && needs.ring_entries_on(c).next().is_some() {
            return Err(Refusal::new(
                format!("links.{}.buffer", spec.graph.class_names()[c]),
                format!(
                    "{} flits, but under {name} a packet enters a ring only if the buffer has room for two packets: 2 x {longest} = \
                     {least} flits",
                    link.buffer
                ),
                format!("set buffer to at least {least}flits, or choose a routing (or dateline) without bubbles"),
            ));
        }
    }
    refuse_mute_sources(spec, needs)
}

/// Refuses runs in which packets could never leave their source, because the routing requires more free room behind the first hop than
/// buffers have.
fn refuse_mute_sources(spec: &Spec, needs: &Needs) -> Result<(), Refusal> {
    let (wanted, longest) = (needs.free_beside_first, u64::from(spec.traffic.longest()));
    // a packet never takes the links of a separate ring as its first hop
    let is_first = |class: &usize| needs.ring_entries_on(*class).all(|entry| entry.enter != 0);
    let smallest = (1..spec.links.len()).filter(is_first).min_by_key(|&class| spec.links[class].buffer);
    let Some(class) = smallest.filter(|_| wanted > 0) else { return Ok(()) };
    let buffer = u64::from(spec.links[class].buffer);
    if (u64::from(wanted) + 1) * longest <= buffer {
        return Ok(());
    }
    let help = match (buffer / longest).saturating_sub(1) {
        0 => format!("set links.{}.buffer to {}flits or more", spec.graph.class_names()[class], 2 * longest),
        most => format!("write at most {most}"),
    };
    Err(Refusal::new(
        format!("routing.{}.injection.bubble.packets", spec.routing.name()),
        format!(
            "{wanted}, but a VC of a `{}` link holds only {buffer} flits; {wanted} packets and the packet that enters need {} flits: no \
             packet could leave its source",
            spec.graph.class_names()[class],
            (u64::from(wanted) + 1) * longest
        ),
        help,
    ))
}

#[cfg(test)]
mod tests;
