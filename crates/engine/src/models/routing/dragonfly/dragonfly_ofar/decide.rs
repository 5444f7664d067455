//! What a head asks for in an allocation step, and all that it may ask for.

use super::{
    FROM_LOCAL, GLOBAL_DONE, GlobalMisrouting, Injection, LEFT_SOURCE, LOCAL_DONE, MUST_GLOBAL, MostOccupancy, Runtime,
    Trigger,
};
use crate::models::routing::{Hop, Told, View, below, hash};
use crate::state::Packet;

/// A kind of detour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Over a global link of this router.
    Global,
    /// The same, behind a local hop that was taken for it.
    MandatoryGlobal,
    /// Over a local link, in the source group to take a global link there.
    Local,
}

impl Kind {
    pub fn is_global(self) -> bool {
        match self {
            Self::Global | Self::MandatoryGlobal => true,
            Self::Local => false,
        }
    }
}

/// Most outputs that a router can offer for a detour.
const MOST: usize = 64;

impl Runtime {
    /// The hop that a head asks for in this step.
    #[inline(always)]
    pub(super) fn decide<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &Packet, turn: u32) -> Option<Hop> {
        if packet.dim != 0 && u32::from(packet.lane) >= self.config.ring.exits {
            return Some(self.rings.onward(at, packet));
        }
        let hop = self.wish(at, here, packet, turn)?;
        let at_source = packet.phase & LEFT_SOURCE == 0;
        (!at_source || self.may_inject(at, here, packet, hop)).then_some(hop)
    }

    /// Whether the control of injection lets a packet take its first hop.
    #[inline(always)]
    fn may_inject<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &Packet, hop: Hop) -> bool {
        match self.config.injection {
            Injection::Free {} => true,
            Injection::Bubble { packets } => {
                let room = u64::from(here.occupancy(hop).1);
                room >= u64::from(packet.len) * (u64::from(packets) + 1)
            }
            Injection::EscapeOccupancy { most } => self.rings.all_onward(at).any(|hop| here.occupancy(hop).0 <= most),
        }
    }

    /// The hop that a head asks for if nothing keeps it at its source.
    #[inline(always)]
    fn wish<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &Packet, turn: u32) -> Option<Hop> {
        let (minimal, is_global) = self.minimal(at, packet);
        let mandatory = packet.phase & MUST_GLOBAL != 0;
        let looks = match self.config.trigger {
            Trigger::Granted => here.was_granted(minimal.port),
            Trigger::Unavailable => !here.is_open(minimal),
        };
        if !mandatory && !looks && here.has_room(minimal) {
            // until an output is taken, neither what was granted nor the room behind it changes for the worse
            let is_free = matches!(self.config.injection, Injection::Free {});
            if is_free && self.config.trigger == Trigger::Granted {
                here.told(Told::Stays);
            }
            return Some(minimal);
        }
        self.detour(at, here, packet, turn, (minimal, is_global, looks))
    }

    /// A detour, if one is allowed and open; else the ring, if there is no room on the way; else the minimal hop.
    #[inline(never)]
    fn detour<Q: View + ?Sized>(
        &self,
        at: u64,
        here: &Q,
        packet: &Packet,
        turn: u32,
        (minimal, is_global, looks): (Hop, bool, bool),
    ) -> Option<Hop> {
        let random = hash(u64::from(turn), packet.src, packet.seq, 0x0fa2);
        let mandatory = packet.phase & MUST_GLOBAL != 0;
        let mut is_stuck = !here.has_room(minimal);
        let full = if mandatory || looks { here.occupancy(minimal).0 } else { 0.0 };
        if mandatory || looks && full >= self.config.least_occupancy {
            let most = match self.config.most_occupancy {
                MostOccupancy::Relative(share) => share * full,
                MostOccupancy::Fixed(share) => share,
            };
            if let Some(kind) = self.kind(at, packet, is_global, random) {
                let most = if kind == Kind::MandatoryGlobal { 1.0 } else { most };
                if let Some(hop) = self.pick((at, here), kind, minimal, most, random) {
                    return Some(hop);
                }
                is_stuck |= mandatory && !self.candidates(at, kind, minimal).any(|hop| here.has_room(hop));
            }
        }
        if packet.dim != 0 && is_stuck {
            return Some(self.rings.onward(at, packet));
        }
        if is_stuck && (packet.phase & LEFT_SOURCE != 0 || self.config.ring.from_sources) {
            return Some(self.ring(at, here, packet, random));
        }
        if !mandatory {
            return Some(minimal);
        }
        // Behind a local misroute the minimal hop would lead back. A link that sleeps wakes only if somebody asks for it.
        let kind = self.kind(at, packet, is_global, random)?;
        let may_wake = |hop: &Hop| !here.is_on(hop.port) && here.has_room(*hop);
        self.candidates(at, kind, minimal).find(may_wake)
    }

    /// The hop into a ring that is open, if one is; else into any.
    fn ring<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &Packet, random: u64) -> Hop {
        let (count, first) = (self.rings.count(), below(random, self.rings.count()));
        let into = |k: u32| self.rings.enter((first + k) % count, at, packet, random & 1 != 0);
        (0..count).map(into).find(|&hop| here.is_open(hop)).unwrap_or_else(|| into(0))
    }

    /// One of the open outputs of this kind that are at most so full, drawn at random.
    fn pick<Q: View + ?Sized>(
        &self,
        (at, here): (u64, &Q),
        kind: Kind,
        minimal: Hop,
        most: f64,
        random: u64,
    ) -> Option<Hop> {
        let (mut open, mut count) = ([Hop::default(); MOST], 0);
        for hop in self.candidates(at, kind, minimal) {
            if here.is_open(hop) && !here.was_granted(hop.port) && here.occupancy(hop).0 <= most && count < MOST {
                open[count] = hop;
                count += 1;
            }
        }
        (count > 0).then(|| open[below(random, count as u32) as usize])
    }

    /// The kind of detour that a packet may take here; `random` draws where both kinds are possible.
    fn kind(&self, at: u64, packet: &Packet, minimal_is_global: bool, random: u64) -> Option<Kind> {
        let kinds = self.kinds(at, packet, minimal_is_global);
        match kinds {
            [Some(global), Some(local)] => {
                // each router of the group is equally likely
                let own = below(random.rotate_left(32), self.groups.per_group) == 0;
                Some(if own { global } else { local })
            }
            [first, second] => first.or(second),
        }
    }

    /// The kinds of detours that a packet may take here: over a global link, and over a local one.
    fn kinds(&self, at: u64, packet: &Packet, minimal_is_global: bool) -> [Option<Kind>; 2] {
        let has = |flag: u8| packet.phase & flag != 0;
        if Self::is_before_first_global(at, packet) && !has(GLOBAL_DONE) {
            if has(MUST_GLOBAL) {
                return [Some(Kind::MandatoryGlobal), None];
            }
            if packet.dim != 0 {
                return [None, None];
            }
            let (global, local) = (Some(Kind::Global), (!has(LOCAL_DONE)).then_some(Kind::Local));
            return match (self.config.global_misrouting, has(FROM_LOCAL)) {
                (GlobalMisrouting::Mixed, false) | (GlobalMisrouting::CurrentRouter, _) => [global, None],
                (GlobalMisrouting::Mixed, true) | (GlobalMisrouting::NeighbourRouter, _) => [None, local],
                (GlobalMisrouting::RandomRouter, _) => [global, local],
            };
        }
        let local = self.config.local_misrouting && !has(LOCAL_DONE) && !minimal_is_global;
        [None, local.then_some(Kind::Local)]
    }

    /// Every hop that a packet may take at `at` (not its destination router), the minimal one first.
    pub(super) fn possible(&self, at: u64, packet: &Packet) -> Vec<Hop> {
        if packet.dim != 0 && u32::from(packet.lane) >= self.config.ring.exits {
            return vec![self.rings.onward(at, packet)];
        }
        let (minimal, is_global) = self.minimal(at, packet);
        let mandatory = packet.phase & MUST_GLOBAL != 0;
        let mut hops = if mandatory { Vec::new() } else { vec![minimal] };
        for kind in self.kinds(at, packet, is_global).into_iter().flatten() {
            hops.extend(self.candidates(at, kind, minimal));
        }
        if packet.dim != 0 {
            hops.push(self.rings.onward(at, packet));
        } else if packet.phase & LEFT_SOURCE != 0 || self.config.ring.from_sources {
            for ring in 0..self.rings.count() {
                let ways = [false, true].map(|tie| self.rings.enter(ring, at, packet, tie));
                hops.push(ways[0]);
                hops.extend((ways[1] != ways[0]).then_some(ways[1]));
            }
        }
        hops
    }
}
