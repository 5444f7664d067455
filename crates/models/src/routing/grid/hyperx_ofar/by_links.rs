//! HyperX OFAR under a power policy that publishes the link states of each line (a set of routers that differ in one coordinate).
//!
//! Minimal hops use the direct links that are on. A detour leads over a third router of a line, with active links to both ends. If all
//! direct links are dark, a head takes a detour even if the trigger condition of OFAR does not hold. If no detour has room, the head
//! requests a shadow link, which makes the link active again. This variant has no escape ring, because all links of such a ring would have
//! to stay on. Its escape path crosses dimensions in order. In each dimension, it leads over the hub of the line, whose links stay on. An
//! escape hop to the hub uses a separate VC class, except if the hub already has the destination's coordinate.

use super::Runtime;
use crate::routing::in_transit::{has_left_source, leave_source};
use crate::routing::on_grid::Grid;
use crate::routing::on_links::Lines;
use crate::routing::{Cost, Hop, HopNote, Step, View, hash};
use weft_api::state::{AROUND, DETOUR, LinkState, Packet};

/// VC class of an escape hop to the hub of a line, if the hub does not have the destination's coordinate.
const INTO_HUB: u8 = 1;
/// VC class of the last escape hop in a line.
const LAST: u8 = 2;
/// Number of VC classes of each link between routers. Class 0 is adaptive.
pub(super) const CLASSES: u8 = 3;

/// Value of `Packet::lane` if the head requests a shadow link. The request makes this link active again.
const TAKES_BACK: u8 = 1;

/// In a packet's state, bit d of `phase` is 1 if the packet has left its direct path in dimension d.
impl Runtime {
    /// Returns the hop that a head requests at a router that is not its destination. `None` means that injection
    /// control keeps the packet at its source.
    pub(super) fn step_by_links<Q: View + ?Sized>(
        &self,
        lines: &Lines,
        (at, here): (u64, &Q),
        packet: &mut Packet,
        turn: u32,
    ) -> Option<Hop> {
        let escape = self.escape_over(at, packet.dest, |d| here.table().hub(d)).expect("some dimension is not aligned");
        let hop = self.wish_by_links(lines, (at, here), packet, turn).unwrap_or(escape);
        if !has_left_source(packet) && !self.in_transit.may_leave_source(here, packet, hop, [escape].into_iter()) {
            return None;
        }
        let (d, c) = lines.behind(at, hop.port).expect("a port to a member of a line");
        packet.flags = self.flags_around(packet, d, c);
        let is_around = packet.flags & AROUND != 0;
        packet.lane = u8::from(!is_around && here.state(hop.port) == LinkState::Shadow) * TAKES_BACK;
        Some(hop)
    }

    /// Returns the hop that a head requests, without regard to injection control. `None` means that the head requests
    /// its escape hop.
    fn wish_by_links<Q: View + ?Sized>(
        &self,
        lines: &Lines,
        (at, here): (u64, &Q),
        packet: &Packet,
        turn: u32,
    ) -> Option<Hop> {
        let random = hash(u64::from(turn), packet.src, packet.seq, 0x0fa2);
        let lit = self.lit(at, here, packet);
        let detours = || self.detours_by_links(lines, (at, here), packet);
        if lit == 0 {
            let open = self.in_transit.pick(here, detours(), 1.0, random);
            let with_room = || detours().find(|&hop| self.in_transit.has_room(here, hop));
            let shadow = || {
                let takes =
                    |hop: &Hop| here.state(hop.port) == LinkState::Shadow && self.in_transit.has_room(here, *hop);
                self.minimal(at, packet).find(takes)
            };
            return open.or_else(with_room).or_else(shadow);
        }
        let preferred = self.preferred_of(at, packet, lit);
        let looks = self.in_transit.looks(here, preferred);
        if !looks && self.in_transit.has_room(here, preferred) {
            return Some(self.in_transit.takes_minimal(here, preferred));
        }
        let minimal = || self.minimal(at, packet).filter(|hop| here.is_on(hop.port));
        let others = minimal().filter(|&hop| hop != preferred);
        if let Some(hop) = self.in_transit.pick(here, others, 1.0, random) {
            return Some(hop);
        }
        let most = self.in_transit.most_occupancy(self.in_transit.occupancy(here, preferred)).filter(|_| looks);
        if let Some(hop) = most.and_then(|most| self.in_transit.pick(here, detours(), most, random)) {
            return Some(hop);
        }
        minimal().any(|hop| self.in_transit.has_room(here, hop)).then_some(preferred)
    }

    /// Returns a bit mask of the dimensions in which the packet is not at its destination's coordinate and the direct link is on: bit 8 d
    /// for dimension d.
    fn lit<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &Packet) -> u64 {
        let is_on = |&d: &usize| here.is_on(self.minimal_in(at, d, packet).port);
        self.grid.differences(at, packet.dest).filter(is_on).fold(0, |lit, d| lit | 1 << (8 * d))
    }

    /// Returns the first hops of detours over a third router, in the dimensions in which the packet has made no detour yet. A
    /// detour has two links in a line, and both must be active.
    fn detours_by_links<Q: View + ?Sized>(
        &self,
        lines: &Lines,
        (at, here): (u64, &Q),
        packet: &Packet,
    ) -> impl Iterator<Item = Hop> {
        let Packet { dest, phase, .. } = *packet;
        let allowed = self.grid.differences(at, dest).filter(move |d| phase >> d & 1 == 0);
        allowed.flat_map(move |d| {
            let ways = lines.ways(here, d, Grid::coordinate(at, d), Grid::coordinate(dest, d));
            let members = (0..64u8).filter(move |c| ways >> c & 1 != 0);
            members.map(move |c| Hop { port: self.grid.port_to(at, d, c), class: 0 })
        })
    }

    /// Returns the escape hop in the first dimension in which the packet is not at its destination's coordinate. The hop leads into the
    /// hub of the line, or to the destination coordinate if the hub is one of the two ends.
    pub(super) fn escape_over(&self, at: u64, to: u64, hub: impl Fn(usize) -> u8) -> Option<Hop> {
        let d = Grid::first_difference(at, to)?;
        // in a line that the policy does not manage, any member can be the hub; `min` keeps its index below the width of the line
        let hub = hub(d).min(self.grid.widths[d] - 1);
        let (own, c) = (Grid::coordinate(at, d), Grid::coordinate(to, d));
        let (next, class) = if own == hub || c == hub { (c, LAST) } else { (hub, INTO_HUB) };
        Some(Hop { port: self.grid.port_to(at, d, next), class })
    }

    /// Returns the packet's flags for a hop to member `c` of its line in dimension `d`. The flag `AROUND` is set if the
    /// hop belongs to a detour.
    fn flags_around(&self, packet: &Packet, d: usize, c: u8) -> u8 {
        let is_around = packet.phase >> d & 1 != 0 || c != Grid::coordinate(packet.dest, d);
        packet.flags & !AROUND | if is_around { AROUND } else { 0 }
    }

    /// Updates the state of a packet that takes the hop `hop`.
    pub(super) fn takes_by_links(&self, lines: &Lines, at: u64, packet: &mut Packet, hop: Hop) {
        let Some((d, c)) = lines.behind(at, hop.port) else { return }; // at the destination router, the hop leads to the terminal
        if c != Grid::coordinate(packet.dest, d) {
            packet.phase |= 1 << d;
            packet.flags |= DETOUR;
        }
        leave_source(packet);
        packet.lane = 0;
    }

    /// Returns the note to the power policy about a hop, for example that the hop begins a detour.
    pub(super) fn tells_by_links(&self, lines: &Lines, at: u64, packet: &Packet, hop: Hop) -> HopNote {
        let Some((d, _)) = lines.behind(at, hop.port) else { return HopNote::Nothing };
        match (packet.flags & AROUND != 0, packet.phase >> d & 1 != 0) {
            (true, true) => HopNote::ContinuesDetour,
            (true, false) => HopNote::BeginsDetour { direct: self.minimal_in(at, d, packet).port },
            (false, _) if packet.lane == TAKES_BACK => HopNote::TakesBack,
            (false, _) => HopNote::Nothing,
        }
    }

    /// Lists every hop that a packet may take at router `at`, which must not be its destination router: minimal hops, detours, and the
    /// escape hop. The list assumes that member 0 is the hub of each line.
    pub(super) fn steps_by_links(&self, lines: &Lines, at: u64, packet: &Packet) -> Vec<Step> {
        let left = self.grid.differences(at, packet.dest).count() as u32;
        let to = |d: usize| Grid::coordinate(packet.dest, d);
        let step = |hop: Hop, more: u32| {
            let (d, c) = lines.behind(at, hop.port).expect("a port to a member of a line");
            let after = Packet { flags: self.flags_around(packet, d, c), ..*packet };
            Step { hop, after, cost: Some(Cost { at, port: hop.port, hops: left + more, bias: 0 }) }
        };
        let is_on = |&d: &usize| lines.may_be_on(at, d, Grid::coordinate(at, d), to(d));
        let minimal = self.grid.differences(at, packet.dest).filter(is_on);
        let allowed = self.grid.differences(at, packet.dest).filter(|d| packet.phase >> d & 1 == 0);
        let over = allowed.flat_map(|d| lines.third_members(at, d, to(d)).map(move |c| (d, c)));
        let detours = over.map(|(d, c)| Hop { port: self.grid.port_to(at, d, c), class: 0 });
        let escape = self.escape_over(at, packet.dest, |_| 0).expect("some dimension is not aligned");
        let minimal = minimal.map(|d| step(self.minimal_in(at, d, packet), 0));
        minimal.chain(detours.map(|hop| step(hop, 1))).chain([step(escape, 2)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::routing::grid::hyperx_ofar::HyperXOfar;
    use crate::routing::on_links::walks::{GRID, assert_three_hops_at_most, by_links};
    use crate::routing::{Proof, Routing};

    #[test]
    fn a_packet_takes_three_hops_at_most_in_each_dimension() {
        assert_three_hops_at_most::<HyperXOfar>();
    }

    #[test]
    fn there_is_no_ring_where_links_go_off() {
        let (_, routing) = by_links::<HyperXOfar>(GRID);
        let needs = routing.needs();
        assert_eq!((&needs.classes[1..], needs.ring_entries.len()), (&[super::CLASSES; 2][..], 0));
        assert!(matches!(routing.proof(), Proof::Escapes));
        assert_eq!(routing.most_hops(), None, "the hub may move");
    }
}
