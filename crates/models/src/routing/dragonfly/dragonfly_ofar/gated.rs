//! Routes packets around local links that are off, if a power policy reports which links of a group are active.
//!
//! If its direct link is off, a head goes over another router of the group that has active links to both ends (TCEP, Section IV-E). If the
//! second of these links has gone off when the head arrives there, the head continues over the hub of the group. It does so only once. If
//! the link from the hub is also off, the packet can only enter the ring. Therefore the length of every path has a limit, whatever the
//! policy does. If the direct link is a shadow link, and no path around it has space, the packet uses the link, which makes it active
//! again.

use super::decide::Kind;
use super::{DragonflyOfar, LOCAL_DONE, MUST_GLOBAL, Runtime};
use crate::routing::in_transit::{RingKind, has_left_source};
use crate::routing::on_dragonfly::{group, index};
use crate::routing::{Cost, Hop, HopNote, Step, View, hash};
use std::sync::Arc;
use weft_api::policy::Policy;
use weft_api::state::{AROUND, LinkState, Packet};
use weft_units::Refusal;

/// Flag in `Packet::phase`: the head requests a local hop because its direct link is not on.
pub(super) const BY_FORCE: u8 = 32;
/// Flag in `Packet::phase`: the second hop of the packet in this group did not end at the router at which it leaves the group.
pub(super) const TWICE_DONE: u8 = 64;

/// The power policy that determines which links are on in cycle 0. `weft check` uses it when it computes paths.
#[derive(Debug, Clone)]
pub(super) struct FirstLinks {
    policy: Arc<dyn Policy>,
    managed: bool,
}

/// The direct local hop of a packet. `own` and `to` are the routers at its two ends, by their indices in the group.
#[derive(Debug, Clone, Copy)]
struct Direct {
    hop: Hop,
    own: u8,
    /// The router at which the packet leaves the group or is delivered.
    to: u8,
}

impl Runtime {
    /// True if a head takes a detour around its direct link, because the link is not on.
    #[inline(always)]
    pub(super) fn goes_round<Q: View + ?Sized>(
        &self,
        here: &Q,
        packet: &Packet,
        minimal: Hop,
        is_global: bool,
    ) -> bool {
        self.goes_by_links && !is_global && packet.phase & MUST_GLOBAL == 0 && !here.is_on(minimal.port)
    }

    fn direct(&self, at: u64, hop: Hop) -> Direct {
        let own = index(at) as u8;
        let (_, to) = self.nets.behind(hop.port, |_| own).expect("a local port");
        Direct { hop, own, to }
    }

    fn over(&self, own: u8, members: u64) -> impl Iterator<Item = Hop> + Clone + use<'_> {
        let members = (0..64u8).filter(move |c| members >> c & 1 != 0);
        members.map(move |c| Hop { port: self.nets.port_to(0, own, c), class: 0 })
    }

    /// Bit mask of the routers of the group over which a packet may go if its direct link is not on.
    fn ways<Q: View + ?Sized>(&self, here: &Q, packet: &Packet, Direct { own, to, .. }: Direct) -> u64 {
        if packet.phase & TWICE_DONE != 0 {
            return 0;
        }
        let table = here.table();
        let (ways, hub) = (table.between(&self.nets, 0, own, to), 1 << table.hub(0));
        if packet.phase & LOCAL_DONE != 0 && ways & hub != 0 { hub } else { ways }
    }

    /// The hop that a head requests if its direct link is not on.
    #[inline(never)]
    pub(super) fn go_round<Q: View + ?Sized>(
        &self,
        at: u64,
        here: &Q,
        packet: &Packet,
        turn: u32,
        minimal: Hop,
    ) -> Option<Hop> {
        let random = hash(u64::from(turn), packet.src, packet.seq, 0x0fa3);
        let direct = self.direct(at, minimal);
        let over_shadow = here.state(direct.hop.port) == LinkState::Shadow && here.has_room(direct.hop);
        if over_shadow && packet.phase & LOCAL_DONE != 0 {
            return Some(direct.hop); // on the second hop of its detour, the packet uses the shadow link itself
        }
        let ways = self.ways(here, packet, direct);
        let hops = self.over(direct.own, ways);
        if let Some(hop) = self.in_transit.pick(here, hops.clone(), 1.0, random) {
            return Some(hop);
        }
        if let Some(hop) = self.global_in_place_of(at, here, packet, hops.clone(), (direct.hop, random)) {
            return Some(hop);
        }
        let with_room = hops.clone().find(|&hop| here.has_room(hop));
        if let Some(hop) = with_room.or(over_shadow.then_some(direct.hop)) {
            return Some(hop);
        }
        let (router, to) = (self.router(at), self.router(packet.dest));
        let escape = self.in_transit.escape((router, to), here, packet, random);
        // without an escape (for example at its source), the packet waits for the first hop of a detour or, if there is none, for the ring
        escape
            .or_else(|| Some(hops.clone().next().unwrap_or_else(|| self.in_transit.rings.enter(0, router, to, false))))
    }

    /// A hop over a global link of this router that the packet may take because all local paths around its direct link are occupied.
    fn global_in_place_of<Q: View + ?Sized>(
        &self,
        at: u64,
        here: &Q,
        packet: &Packet,
        ways: impl Iterator<Item = Hop> + Clone,
        (direct, random): (Hop, u64),
    ) -> Option<Hop> {
        let [global, _] = self.kinds(at, packet, false);
        let looks = ways.clone().any(|hop| self.in_transit.looks(here, hop));
        let kind = global.filter(|_| looks)?;
        let full = ways.map(|hop| self.in_transit.occupancy(here, hop)).fold(1.0, f64::min);
        let most = self.in_transit.most_occupancy(full)?;
        self.in_transit.pick(here, self.candidates(at, kind, direct), most, random)
    }

    /// Bit mask of the local outputs for a detour that OFAR's trigger causes (in contrast to a direct link that is off). The links of both
    /// hops of a detour inside the group must be on. (If a global misroute follows, the detour has only one local hop.)
    #[inline(always)]
    pub(super) fn allowed<Q: View + ?Sized>(
        &self,
        at: u64,
        here: &Q,
        packet: &Packet,
        kind: Kind,
        minimal: Hop,
    ) -> u64 {
        if !self.goes_by_links || kind.is_global() || here.table().ways_among_all(0) != 0 {
            return u64::MAX;
        }
        let own = index(at) as u8;
        let mut members = here.table().row(&self.nets, 0, own);
        if !Self::is_before_first_global(at, packet) {
            members &= here.table().row(&self.nets, 0, self.direct(at, minimal).to);
        }
        // a router has no port to itself, so the bits of members with higher indices move down by one
        let below = (1 << own) - 1;
        members & below | members >> 1 & !below
    }

    // ---- notes for the packet and the policy
    // ------------------------------------------------------------------------------

    /// Updates the packet's state for the hop `hop` that its head requests.
    pub(super) fn mark<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, hop: Hop) {
        let (minimal, is_global) = self.minimal(at, packet);
        let by_force = self.goes_round(here, packet, minimal, is_global);
        self.mark_as(packet, hop, minimal, by_force);
    }

    /// Updates the packet's state for the hop `hop` that its head requests. `by_force`: true if the head requests the hop because its
    /// direct link is not on.
    fn mark_as(&self, packet: &mut Packet, hop: Hop, minimal: Hop, by_force: bool) {
        packet.flags &= !AROUND;
        packet.phase &= !BY_FORCE;
        if hop.class != 0 || !self.groups.is_local(hop.port) {
            return;
        }
        let around = hop.port != minimal.port || packet.phase & LOCAL_DONE != 0;
        if around {
            packet.flags |= AROUND;
        }
        if by_force && (hop.port != minimal.port || !around) {
            packet.phase |= BY_FORCE;
        }
    }

    /// The note to the power policy about a hop of a packet.
    pub(super) fn note_of(&self, at: u64, packet: &Packet, hop: Hop) -> HopNote {
        if hop.class != 0 || !self.groups.is_local(hop.port) {
            return HopNote::Nothing;
        }
        let (minimal, is_global) = self.minimal(at, packet);
        match (packet.flags & AROUND != 0, packet.phase & BY_FORCE != 0) {
            (false, false) => HopNote::Nothing,
            (false, true) => HopNote::TakesBack,
            (true, _) if is_global || hop.port == minimal.port || packet.phase & LOCAL_DONE != 0 => {
                HopNote::ContinuesDetour
            }
            (true, _) => HopNote::BeginsDetour { direct: minimal.port },
        }
    }

    // ---- before a run and for explanations -------------------------------------------------------------------------------

    pub(super) fn assume(&mut self, policy: &Arc<dyn Policy>, managed: &[bool]) {
        let managed = managed[usize::from(self.nets.classes[0])];
        self.first = self.goes_by_links.then(|| FirstLinks { policy: policy.clone(), managed });
    }

    /// From now on, paths are computed as if all links of groups were on. Returns true if paths were computed under a policy before, and if
    /// this policy switches all links on when the network is full.
    pub(super) fn assume_all(&mut self) -> bool {
        self.first.take().is_some_and(|first| first.policy.fills_up())
    }

    /// True if packets can use the link between members `a` and `b` of the group of router `at`. False only if paths are computed under a
    /// power policy and the link is off in cycle 0.
    fn may_be_on(&self, at: u64, a: u8, b: u8) -> bool {
        let Some(FirstLinks { policy, managed }) = &self.first else { return true };
        let [a, b] = [a, b].map(|c| group(at) * self.groups.per_group + u32::from(c));
        !managed || policy.first_state(a, b) == LinkState::On
    }

    /// Every hop that a packet may take at router `at`. The router must not be the packet's destination router. The hops with the lowest
    /// cost come first.
    pub(super) fn steps_by_links(&self, at: u64, packet: &Packet) -> Vec<Step> {
        let (minimal, is_global) = self.minimal(at, packet);
        let may_wander = packet.phase & MUST_GLOBAL == 0 && !self.in_transit.stays_in_ring(packet);
        let direct = (!is_global && may_wander).then(|| self.direct(at, minimal));
        let is_dark = direct.is_some_and(|Direct { own, to, .. }| !self.may_be_on(at, own, to));
        let step = |hop: Hop, cost: u32, by_force: bool| {
            let mut after = *packet;
            self.mark_as(&mut after, hop, minimal, by_force);
            Step { hop, after, cost: Some(Cost { at, port: hop.port, hops: cost, bias: 0 }) }
        };
        let mut steps = Vec::new();
        let round = direct.filter(|_| packet.phase & TWICE_DONE == 0).map_or(0, |Direct { own, to, .. }| {
            let others = self.nets.others(0, own).filter(|&c| c != to);
            let both = others.filter(|&c| self.may_be_on(at, own, c) && self.may_be_on(at, c, to));
            both.fold(0u64, |members, c| members | 1 << c)
        });
        let own = index(at) as u8;
        if is_dark {
            steps.extend(self.over(own, round).map(|hop| step(hop, 1, true)));
        }
        for (rank, hop) in self.possible(at, packet).into_iter().enumerate() {
            let is_local = hop.class == 0 && self.groups.is_local(hop.port);
            let to = is_local.then(|| self.direct(at, hop).to);
            if to.is_none_or(|to| self.may_be_on(at, own, to)) {
                steps.push(step(hop, 1 + u32::from(is_dark || rank > 0), false));
            }
        }
        if !is_dark && self.first.is_none() {
            steps.extend(self.over(own, round).map(|hop| step(hop, 2, true)));
        }
        let last = self.in_transit.rings.enter(0, self.router(at), self.router(packet.dest), false);
        if direct.is_some() && !has_left_source(packet) && !steps.iter().any(|step| step.hop == last) {
            steps.push(step(last, 2, false)); // the head requests this hop if no link that is on leads further
        }
        steps
    }
}

impl DragonflyOfar {
    /// Refuses a policy that switches off links of the rings. `may_go_off`: for each link class, true if the policy may switch it off.
    pub(super) fn check_links(&self, rings: &[u8], is_physical: bool, may_go_off: &[bool]) -> Result<(), Refusal> {
        if !rings.iter().any(|&link| may_go_off[usize::from(link)]) {
            return Ok(());
        }
        let path = format!("routing.{}.ring", super::NAME);
        if is_physical {
            let what = "the power policy may switch off links of the ring, but a ring needs all its links on";
            return Err(Refusal::new(path, what, "leave ring_local and ring_global out of power.manages"));
        }
        let kind = if self.ring.kind == Some(RingKind::Embedded) { " and write kind: physical" } else { "" };
        let counts = if self.ring.rings > 1 || self.ring.vcs > 1 { ", leave out ring.rings and ring.vcs" } else { "" };
        Err(Refusal::new(
            path,
            "the ring uses links that the power policy may switch off, but a ring needs all its links on",
            format!(
                "give the topology escape_rings: 1{kind}{counts}, and leave the links of this ring, ring_local and ring_global, out of \
                 power.manages"
            ),
        ))
    }
}

#[cfg(test)]
mod tests;
