//! Computes the hop that a head requests in an allocation step under the routing OFAR, and lists all hops that a head may request.

use super::{FROM_LOCAL, GLOBAL_DONE, GlobalMisrouting, LOCAL_DONE, MUST_GLOBAL, Runtime};
use crate::routing::in_transit::is_in_ring;
use crate::routing::{Hop, View, below, hash};
use weft_api::state::Packet;

/// A kind of detour (misroute).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A detour over a global link of this router.
    Global,
    /// A detour over a global link of this router. The packet must take it, because it has taken a local misroute in its source group.
    MandatoryGlobal,
    /// A detour over a local link. If the packet is in its source group, its next hop must then be a global link.
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

impl Runtime {
    /// The hop that a head requests in this step.
    #[inline(always)]
    pub(super) fn decide<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &Packet, turn: u32) -> Option<Hop> {
        if self.in_transit.stays_in_ring(packet) {
            return Some(self.in_transit.rings.onward(self.router(at), packet));
        }
        let hop = self.wish(at, here, packet, turn)?;
        self.in_transit.may_take(self.router(at), here, packet, hop).then_some(hop)
    }

    /// The hop that a head requests, without regard to the injection rule, which can keep the packet at its source.
    #[inline(always)]
    fn wish<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &Packet, turn: u32) -> Option<Hop> {
        let (minimal, is_global) = self.minimal(at, packet);
        if self.goes_round(here, packet, minimal, is_global) {
            return self.go_round(at, here, packet, turn, minimal);
        }
        let mandatory = packet.phase & MUST_GLOBAL != 0;
        let looks = self.in_transit.looks(here, minimal);
        if !mandatory && !looks && here.has_room(minimal) {
            return Some(self.in_transit.takes_minimal(here, minimal));
        }
        self.detour(at, here, packet, turn, (minimal, is_global, looks))
    }

    /// Returns a detour, if one is permitted and open. Otherwise returns a hop into the ring if the minimal hop has no space, or else the
    /// minimal hop.
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
        let mut is_stuck = !self.in_transit.has_room(here, minimal);
        let most = match (mandatory, looks) {
            (true, _) => Some(1.0),
            (false, true) => self.in_transit.most_occupancy(self.in_transit.occupancy(here, minimal)),
            (false, false) => None,
        };
        if let Some(most) = most
            && let Some(kind) = self.kind(at, packet, is_global, random)
        {
            let allowed = self.allowed(at, here, packet, kind, minimal);
            let first = if kind.is_global() { self.global.0 } else { self.local.0 };
            let is_allowed = |hop: &Hop| allowed == u64::MAX || allowed >> (hop.port - first) & 1 != 0;
            let candidates = self.candidates(at, kind, minimal).filter(is_allowed);
            if let Some(hop) = self.in_transit.pick(here, candidates, most, random) {
                return Some(hop);
            }
            is_stuck |= mandatory && !self.candidates(at, kind, minimal).any(|hop| self.in_transit.has_room(here, hop));
        }
        if is_stuck
            && let Some(hop) = self.in_transit.escape((self.router(at), self.router(packet.dest)), here, packet, random)
        {
            return Some(hop);
        }
        if !mandatory && !here.is_broken(minimal.port) {
            return Some(minimal);
        }
        // a link that is off wakes only if a head requests it
        let kind = self.kind(at, packet, is_global, random);
        let may_wake = |hop: &Hop| !here.is_on(hop.port) && here.has_room(*hop);
        let sleeps = kind.and_then(|kind| self.candidates(at, kind, minimal).find(may_wake));
        // after a local misroute in the source group, the minimal hop is not permitted, because it would lead back
        if mandatory { sleeps } else { sleeps.or(Some(minimal)) }
    }

    /// The kind of detour that a packet may take at router `at`. If a global and a local detour are possible, `random` decides.
    fn kind(&self, at: u64, packet: &Packet, minimal_is_global: bool, random: u64) -> Option<Kind> {
        let kinds = self.kinds(at, packet, minimal_is_global);
        match kinds {
            [Some(global), Some(local)] => {
                // draws a router of the group, each with the same probability; if it is this router, the detour is global
                let own = below(random.rotate_left(32), self.groups.per_group) == 0;
                Some(if own { global } else { local })
            }
            [first, second] => first.or(second),
        }
    }

    /// The kinds of detours that a packet may take at router `at`: first over a global link, second over a local link.
    pub(super) fn kinds(&self, at: u64, packet: &Packet, minimal_is_global: bool) -> [Option<Kind>; 2] {
        let has = |flag: u8| packet.phase & flag != 0;
        if Self::is_before_first_global(at, packet) && !has(GLOBAL_DONE) {
            if has(MUST_GLOBAL) {
                return [Some(Kind::MandatoryGlobal), None];
            }
            if is_in_ring(packet) {
                return [None, None];
            }
            let (global, local) = (Some(Kind::Global), (!has(LOCAL_DONE)).then_some(Kind::Local));
            return match (self.config.global_misrouting, has(FROM_LOCAL)) {
                (GlobalMisrouting::SourceRouter, true) => [None, None],
                // the packet arrived on a detour around a local link that is off
                _ if local.is_none() => [global, None],
                (GlobalMisrouting::Mixed | GlobalMisrouting::SourceRouter, false)
                | (GlobalMisrouting::CurrentRouter, _) => [global, None],
                (GlobalMisrouting::Mixed, true) | (GlobalMisrouting::NeighbourRouter, _) => [None, local],
                (GlobalMisrouting::RandomRouter, _) => [global, local],
            };
        }
        let local = self.config.local_misrouting && !has(LOCAL_DONE) && !minimal_is_global;
        [None, local.then_some(Kind::Local)]
    }

    /// Every hop that a packet may take at router `at`, the minimal hop first. The router must not be the destination router.
    pub(super) fn possible(&self, at: u64, packet: &Packet) -> Vec<Hop> {
        let escapes = self.in_transit.escapes(self.router(at), self.router(packet.dest), packet);
        if self.in_transit.stays_in_ring(packet) {
            return escapes;
        }
        let (minimal, is_global) = self.minimal(at, packet);
        let mandatory = packet.phase & MUST_GLOBAL != 0;
        let mut hops = if mandatory { Vec::new() } else { vec![minimal] };
        for kind in self.kinds(at, packet, is_global).into_iter().flatten() {
            hops.extend(self.candidates(at, kind, minimal));
        }
        hops.extend(escapes);
        hops
    }
}
