//! Minimal adaptive routing of a HyperX under a power policy that publishes the link states of each line. A line is a
//! set of routers that differ in one coordinate.
//!
//! A head takes a direct link that is on, in any dimension. If all direct links are dark, the head goes over a third router of a line with
//! active links to both ends, once in each dimension. The escape path crosses dimensions in order. In each dimension, it leads over the hub
//! of the line, whose links stay on. An escape hop to the hub uses VC class 0, except if the hub already has the destination's coordinate.
//! All other escape hops use class 1.

use super::{ON_ESCAPE, Runtime};
use crate::routing::best::Best;
use crate::routing::on_grid::Grid;
use crate::routing::on_links::Lines;
use crate::routing::{Cost, Hop, HopNote, Step, View};
use weft_api::state::{AROUND, DETOUR, LinkState, Packet};

/// Value of `Packet::phase` if the head requests a shadow link. The request makes this link active again.
const TAKES_BACK: u8 = 1;

/// VC class of an escape hop to the hub of a line, if the hub does not have the destination's coordinate.
const INTO_HUB: u8 = 0;
/// VC class of the last escape hop in a dimension.
const LAST: u8 = 1;
/// VC class of the adaptive VCs.
pub(super) const ADAPTIVE: u8 = 2;

/// In a packet's state, bit d of `dim` is 1 if the packet has left its direct path in dimension d.
impl Runtime {
    fn direct(&self, at: u64, d: usize, packet: &Packet, class: u8) -> Hop {
        Hop { port: self.grid.port_to(at, d, Grid::coordinate(packet.dest, d)), class }
    }

    /// Returns the dimensions in which the packet can still begin a detour.
    fn may_leave(&self, at: u64, packet: &Packet) -> impl Iterator<Item = usize> + use<> {
        let dim = packet.dim;
        self.grid.differences(at, packet.dest).filter(move |d| dim >> d & 1 == 0)
    }

    /// Returns the hop that a head requests at a router that is not its destination.
    pub(super) fn step_by_links<Q: View + ?Sized>(
        &self,
        lines: &Lines,
        (at, here): (u64, &Q),
        packet: &mut Packet,
        turn: u32,
    ) -> Hop {
        let hop = self.wish(lines, (at, here), packet, turn);
        let (d, c) = lines.behind(at, hop.port).expect("a port to a member of a line");
        let is_around = packet.dim >> d & 1 != 0 || c != Grid::coordinate(packet.dest, d);
        packet.flags = packet.flags & !AROUND | if is_around { AROUND } else { 0 };
        packet.phase = u8::from(!is_around && here.state(hop.port) == LinkState::Shadow) * TAKES_BACK;
        hop
    }

    fn wish<Q: View + ?Sized>(&self, lines: &Lines, (at, here): (u64, &Q), packet: &Packet, turn: u32) -> Hop {
        let (mut best, mut some_are_on) = (Best::default(), false);
        if !self.must_stay(packet) {
            for d in self.grid.differences(at, packet.dest) {
                let direct = self.direct(at, d, packet, ADAPTIVE);
                if here.is_on(direct.port) {
                    some_are_on = true;
                    best.offer(direct, here, turn);
                }
            }
            if !some_are_on {
                for (d, c) in self.thirds(lines, (at, here), packet) {
                    best.offer(Hop { port: self.grid.port_to(at, d, c), class: ADAPTIVE }, here, turn);
                }
            }
        }
        let shadow = || {
            let all = self.grid.differences(at, packet.dest).map(|d| self.direct(at, d, packet, ADAPTIVE));
            let mut shadows = all.filter(|hop| here.state(hop.port) == LinkState::Shadow);
            shadows.find(|&hop| !some_are_on && !self.must_stay(packet) && here.is_open(hop))
        };
        best.hop().or_else(shadow).unwrap_or_else(|| {
            let hub = |d: usize| here.table().hub(d);
            self.escape_over(at, packet.dest, hub).expect("some dimension is not aligned")
        })
    }

    /// Returns the third routers over which the packet can go instead of over its direct links, as (dimension, index of
    /// the member in the line).
    fn thirds<Q: View + ?Sized>(
        &self,
        lines: &Lines,
        (at, here): (u64, &Q),
        packet: &Packet,
    ) -> impl Iterator<Item = (usize, u8)> {
        let dest = packet.dest;
        self.may_leave(at, packet).flat_map(move |d| {
            let ways = lines.ways(here, d, Grid::coordinate(at, d), Grid::coordinate(dest, d));
            (0..64).filter(move |c| ways >> c & 1 != 0).map(move |c| (d, c))
        })
    }

    /// Returns the escape hop in the first dimension in which the packet is not at its destination's coordinate. The hop leads into
    /// the hub of the line, or to the destination coordinate if the hub is one of the two ends.
    pub(super) fn escape_over(&self, at: u64, to: u64, hub: impl Fn(usize) -> u8) -> Option<Hop> {
        let d = Grid::first_difference(at, to)?;
        // in a line that the policy does not manage, any member can be the hub; `min` keeps its index below the width of the line
        let hub = hub(d).min(self.grid.widths[d] - 1);
        let (own, c) = (Grid::coordinate(at, d), Grid::coordinate(to, d));
        let (next, class) = if own == hub || c == hub { (c, LAST) } else { (hub, INTO_HUB) };
        Some(Hop { port: self.grid.port_to(at, d, next), class })
    }

    /// Updates the state of a packet that takes the hop `hop`.
    pub(super) fn takes_by_links(&self, lines: &Lines, at: u64, packet: &mut Packet, hop: Hop) {
        let Some((d, c)) = lines.behind(at, hop.port) else { return }; // at the destination router, the hop leads to the terminal
        if c != Grid::coordinate(packet.dest, d) {
            packet.dim |= 1 << d;
            packet.flags |= DETOUR;
        }
        packet.lane = if hop.class == ADAPTIVE { 0 } else { ON_ESCAPE };
        packet.phase = 0;
    }

    /// Returns the note to the power policy about a hop, for example that the hop begins a detour.
    pub(super) fn tells_by_links(&self, lines: &Lines, at: u64, packet: &Packet, hop: Hop) -> HopNote {
        let Some((d, _)) = lines.behind(at, hop.port) else { return HopNote::Nothing };
        match (packet.flags & AROUND != 0, packet.dim >> d & 1 != 0) {
            (true, true) => HopNote::ContinuesDetour,
            (true, false) => HopNote::BeginsDetour { direct: self.direct(at, d, packet, ADAPTIVE).port },
            (false, _) if packet.phase & TAKES_BACK != 0 => HopNote::TakesBack,
            (false, _) => HopNote::Nothing,
        }
    }

    /// Lists every hop that a packet may take at router `at`: minimal hops, other adaptive hops, and then the escape hop. The router must
    /// not be the destination router. The list assumes that member 0 is the hub of each line.
    pub(super) fn steps_by_links(&self, lines: &Lines, at: u64, packet: &Packet) -> Vec<Step> {
        let step = |hop: Hop, hops: u32| {
            let (d, c) = lines.behind(at, hop.port).expect("a port to a member of a line");
            let is_around = packet.dim >> d & 1 != 0 || c != Grid::coordinate(packet.dest, d);
            let flags = packet.flags & !AROUND | if is_around { AROUND } else { 0 };
            Step { hop, after: Packet { flags, ..*packet }, cost: Some(Cost { at, port: hop.port, hops, bias: 0 }) }
        };
        let to = |d: usize| Grid::coordinate(packet.dest, d);
        let mut steps = Vec::new();
        if !self.must_stay(packet) {
            let is_on = |&d: &usize| lines.may_be_on(at, d, Grid::coordinate(at, d), to(d));
            let minimal = self.grid.differences(at, packet.dest).filter(is_on);
            steps.extend(minimal.map(|d| step(self.direct(at, d, packet, ADAPTIVE), 1)));
            // Weft lists detours even if direct links are on, because these can go off later in a run; only `weft check` computes paths for
            // fixed links
            if steps.is_empty() || !lines.are_first() {
                let hops = if steps.is_empty() { 1 } else { 2 };
                let thirds =
                    self.may_leave(at, packet).flat_map(|d| lines.third_members(at, d, to(d)).map(move |c| (d, c)));
                let over = thirds.map(|(d, c)| Hop { port: self.grid.port_to(at, d, c), class: ADAPTIVE });
                steps.extend(over.map(|hop| step(hop, hops)));
            }
        }
        let hops = if steps.is_empty() { 1 } else { 2 };
        let escape = self.escape_over(at, packet.dest, |_| 0).expect("some dimension is not aligned");
        steps.push(step(escape, hops));
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::Routing;
    use crate::routing::grid::minimal_adaptive::MinimalAdaptive;
    use crate::routing::on_links::walks::{GRID, assert_three_hops_at_most, by_links};
    use weft_api::coordinates::of_all;
    use weft_topology::Peer;

    #[test]
    fn a_packet_takes_three_hops_at_most_in_each_dimension() {
        assert_three_hops_at_most::<MinimalAdaptive>();
    }

    #[test]
    fn the_escape_leads_over_the_hub_of_each_line_in_order() {
        let (graph, routing) = by_links::<MinimalAdaptive>(GRID);
        let coords = of_all(&graph);
        let next = |at: u32, to: u32| {
            let hop = routing.escape(coords[at as usize], coords[to as usize])?;
            let Peer::Router { router, .. } = graph.ports(at)[usize::from(hop.port)].peer else { panic!("a terminal") };
            Some((router, hop.class))
        };
        // the escape path from (3, 2) to (1, 1) visits (0, 2), (1, 2), (1, 0), (1, 1)
        let way = std::iter::successors(Some((11, LAST)), |&(at, _)| next(at, 5)).skip(1).collect::<Vec<_>>();
        assert_eq!(way, [(8, INTO_HUB), (9, LAST), (1, INTO_HUB), (5, LAST)]);
        // if one end of the direct link is the hub, the escape path is the direct link
        assert_eq!((next(0, 3), next(3, 0)), (Some((3, LAST)), Some((0, LAST))));
    }

    #[test]
    fn rings_have_no_links_to_go_by() {
        let (_, routing) = by_links::<MinimalAdaptive>(r#"{"torus": {"widths": [4, 4], "terminals_per_router": 1}}"#);
        assert_eq!((routing.lines.are_there(), routing.adaptive, routing.is_minimal()), (false, 2, true));
    }
}
