//! In-transit adaptive routing: a head decides again in every allocation step. It can leave its minimal path if the minimal output is
//! occupied. The VC classes along a path need no order, because a stuck packet can escape into a ring of channels. The ring always keeps a
//! bubble (free space for one packet).
//!
//! Each routing of this kind defines its minimal hops, its detours, and the number of detours that a packet can take.
//! `InTransit` provides the common parts: triggers and thresholds for detours, escape rings, and injection control.
//!
//! `InTransit` writes the fields `dim` and `lane` of a packet. The field `dim` is 0 at the source router, and 1 outside rings after that.
//! In a ring it is 2 + d, where d is the index of the packet's direction among the directions of all rings. The field `lane` is the number
//! of times that the packet has left a ring. Each routing can use the field `phase` for its own state.

mod keys;
mod rings;

use crate::routing::{Classes, Hop, HopNote, Proof, RingEntry, Sensor, View, below};
pub use keys::{Injection, Keys, MostOccupancy, Occupancy, RingConfig, RingKind, Trigger};
pub use rings::Rings;
use weft_api::state::Packet;
use weft_topology::{Graph, Ring};
use weft_units::Refusal;

/// Value of `Packet::dim` for a packet that has left its source router and is outside of rings.
const OUTSIDE: u8 = 1;
/// Value of `Packet::dim` for a packet that travels in the direction with index 0.
const IN_RING: u8 = 2;

/// True if the packet is in a ring.
#[inline(always)]
pub fn is_in_ring(packet: &Packet) -> bool {
    packet.dim >= IN_RING
}

/// True if the packet has left its source router.
#[inline(always)]
pub fn has_left_source(packet: &Packet) -> bool {
    packet.dim >= OUTSIDE
}

/// Records that the packet leaves its source router over a link outside of rings.
#[inline(always)]
pub fn leave_source(packet: &mut Packet) {
    packet.dim = OUTSIDE;
}

/// The common part of in-transit adaptive routings, built for one network. Its methods identify routers by their numbers.
#[derive(Debug, Clone)]
pub struct InTransit {
    keys: Keys,
    pub rings: Rings,
}

impl InTransit {
    /// Builds the common part. `routing`: the name of the routing to which the keys belong. `single`: returns the embedded ring if the
    /// network has only one; its argument is the path of the key that requests the ring.
    pub fn of(
        keys: Keys,
        routing: &str,
        graph: &Graph,
        single: impl FnOnce(&str) -> Result<Ring, Refusal>,
    ) -> Result<Self, Refusal> {
        keys.check(routing)?;
        let rings = Rings::of(graph, &keys.ring, &format!("routing.{routing}.ring"), single)?;
        Ok(Self { keys, rings })
    }

    pub fn classes(&self) -> (Classes, Vec<RingEntry>) {
        self.rings.classes()
    }

    /// The sensor with which the routing measures the waiting flits of an output, if it needs one.
    pub fn sensor(&self) -> Option<Sensor> {
        match self.keys.occupancy {
            Occupancy::Credits => None,
            Occupancy::Waiting => Some(Sensor::HistoryWindow),
        }
    }

    /// Number of further packets for which the buffer after the first hop must have room when a packet leaves its
    /// source.
    pub fn free_beside_first(&self) -> u32 {
        match self.keys.injection {
            Injection::Bubble { packets } => packets,
            Injection::Free {} | Injection::EscapeOccupancy { .. } => 0,
        }
    }

    /// True if injection control can keep a packet at its source although the next buffer has room for it.
    pub fn waits_for_room(&self) -> bool {
        !matches!(self.keys.injection, Injection::Free {})
    }

    pub fn proof(&self) -> Proof<'_> {
        Proof::EscapeRings(self.rings.escapes())
    }

    /// Returns the largest possible number of hops of a packet. `outside` is the largest number of hops in one stay outside of rings. A
    /// packet has at most one more stay outside of rings than it has allowed departures from rings. The same limit holds for stays in
    /// rings.
    pub fn most_hops(&self, outside: u32) -> u32 {
        (self.keys.ring.exits + 1) * (outside + self.rings.longest_stay())
    }

    /// True if a packet has used all its departures from rings, and must therefore stay in this ring until its destination router.
    #[inline(always)]
    pub fn stays_in_ring(&self, packet: &Packet) -> bool {
        is_in_ring(packet) && u32::from(packet.lane) >= self.keys.ring.exits
    }

    /// True if a head whose minimal hop is `minimal` looks for a detour now. A broken output counts as occupied.
    #[inline(always)]
    pub fn looks<Q: View + ?Sized>(&self, here: &Q, minimal: Hop) -> bool {
        match self.keys.trigger {
            Trigger::Granted => here.was_granted(minimal.port) || here.is_broken(minimal.port),
            Trigger::GrantedOrFull => here.was_granted(minimal.port) || !self.has_room(here, minimal),
            Trigger::Unavailable => !here.is_open(minimal),
        }
    }

    /// Returns the minimal hop. Called if this hop has room and the head has no reason to look for a detour. If the head would request the
    /// same hop in all later steps of this cycle, notifies the cycle loop of this.
    #[inline(always)]
    pub fn takes_minimal<Q: View + ?Sized>(&self, here: &Q, minimal: Hop) -> Hop {
        // As long as no packet takes an output, it gets no further grants and its room does not shrink. (A link that TCEP is about to
        // switch off still accepts the packet.)
        let is_free = matches!(self.keys.injection, Injection::Free {});
        let stays = match self.keys.trigger {
            Trigger::Granted | Trigger::GrantedOrFull => is_free,
            Trigger::Unavailable => false,
        };
        if stays {
            here.note(HopNote::Stays);
        }
        minimal
    }

    /// True if the output of a hop has room for the packet of a head. A broken output has no room.
    #[inline(always)]
    pub fn has_room<Q: View + ?Sized>(&self, here: &Q, hop: Hop) -> bool {
        here.has_room(hop) && !here.is_broken(hop.port)
    }

    /// Returns the occupancy of the output of a hop, from 0 to 1. A broken output counts as full.
    #[inline(always)]
    pub fn occupancy<Q: View + ?Sized>(&self, here: &Q, hop: Hop) -> f64 {
        match self.keys.occupancy {
            _ if here.is_broken(hop.port) => 1.0,
            Occupancy::Credits => here.occupancy(hop).0,
            Occupancy::Waiting => f64::from(here.read(hop.port)) / f64::from(here.capacity(hop.port)),
        }
    }

    /// Returns the highest occupancy that the first output of a detour may have, if the occupancy of the minimal output
    /// is `full`. `None` if `full` is too low for a detour (below `least_occupancy`).
    #[inline(always)]
    pub fn most_occupancy(&self, full: f64) -> Option<f64> {
        let most = match self.keys.most_occupancy {
            MostOccupancy::Relative(share) => share * full,
            MostOccupancy::Fixed(share) => share,
        };
        (full >= self.keys.least_occupancy).then_some(most)
    }

    /// True if injection control permits a packet to take the hop `hop` from router `router`.
    #[inline(always)]
    pub fn may_take<Q: View + ?Sized>(&self, router: usize, here: &Q, packet: &Packet, hop: Hop) -> bool {
        has_left_source(packet) || self.may_leave_source(here, packet, hop, self.rings.all_onward(router))
    }

    /// True if injection control permits a packet to leave its source over the hop `hop`. `escapes`: the escape hops at
    /// this router.
    #[inline(always)]
    pub fn may_leave_source<Q: View + ?Sized>(
        &self,
        here: &Q,
        packet: &Packet,
        hop: Hop,
        mut escapes: impl Iterator<Item = Hop>,
    ) -> bool {
        match self.keys.injection {
            Injection::Free {} => true,
            Injection::Bubble { packets } => {
                let room = u64::from(here.occupancy(hop).1);
                room >= u64::from(packet.len) * (u64::from(packets) + 1)
            }
            Injection::EscapeOccupancy { most } => escapes.any(|hop| here.occupancy(hop).0 <= most),
        }
    }

    /// Returns the escape hop of a stuck packet. A packet in a ring continues in this ring. A packet outside of rings enters a ring whose
    /// first hop is open; if there is none, it requests a random ring. If the shorter direction around the ring begins with a broken link,
    /// the packet takes the longer one. `None` for a packet at its source, if packets must not enter a ring there.
    pub fn escape<Q: View + ?Sized>(
        &self,
        (router, to): (usize, usize),
        here: &Q,
        packet: &Packet,
        random: u64,
    ) -> Option<Hop> {
        if is_in_ring(packet) {
            return Some(self.rings.onward(router, packet));
        }
        if !has_left_source(packet) && !self.keys.ring.from_sources {
            return None;
        }
        let (count, first) = (self.rings.count(), below(random, self.rings.count()));
        let into = |k: u32| {
            let [shorter, longer] = self.rings.ways((first + k) % count, router, to, random & 1 != 0);
            if here.is_broken(shorter.port) { longer } else { shorter }
        };
        Some((0..count).map(into).find(|&hop| here.is_open(hop)).unwrap_or_else(|| into(0)))
    }

    /// Lists every hop along a ring or into a ring that the packet can take at router `router`.
    pub fn escapes(&self, router: usize, to: usize, packet: &Packet) -> Vec<Hop> {
        if is_in_ring(packet) {
            return vec![self.rings.onward(router, packet)];
        }
        if !has_left_source(packet) && !self.keys.ring.from_sources {
            return Vec::new();
        }
        let into = |ring: u32| {
            let ways = self.rings.ways(ring, router, to, false);
            [Some(ways[0]), (ways[1] != ways[0]).then_some(ways[1])]
        };
        (0..self.rings.count()).flat_map(into).flatten().collect()
    }

    /// Updates the state of a packet that takes the hop `hop` at router `router`. If the hop is along a ring or into one, returns the index
    /// of its direction.
    pub fn taken(&self, router: usize, packet: &mut Packet, hop: Hop) -> Option<u8> {
        let direction = self.rings.direction(router, hop);
        if direction.is_none() && is_in_ring(packet) {
            packet.lane = packet.lane.saturating_add(1);
        }
        packet.dim = direction.map_or(OUTSIDE, |direction| IN_RING + direction);
        direction
    }

    /// Draws one of the `candidates` whose outputs are open, were not granted in this cycle, and have an occupancy of
    /// at most `most`. If more than `MOST` outputs qualify, only the first `MOST` take part in the draw.
    pub fn pick<Q: View + ?Sized>(
        &self,
        here: &Q,
        hops: impl Iterator<Item = Hop>,
        most: f64,
        random: u64,
    ) -> Option<Hop> {
        let (mut open, mut count) = ([Hop::default(); MOST], 0);
        for hop in hops {
            let is_open = here.is_open(hop) && !here.was_granted(hop.port);
            if is_open && self.occupancy(here, hop) <= most && count < MOST {
                open[count] = hop;
                count += 1;
            }
        }
        (count > 0).then(|| open[below(random, count as u32) as usize])
    }
}

/// Largest number of outputs among which a head draws.
const MOST: usize = 64;

#[cfg(test)]
pub mod tests;
