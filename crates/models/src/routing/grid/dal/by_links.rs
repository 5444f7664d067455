//! DAL under a power policy that publishes the states of the links of each line (routers that differ in one coordinate).
//!
//! A packet finishes a detour before it crosses another dimension. Therefore both hops of a detour are in one line, and the policy counts
//! the detour as traffic for the direct link that the detour avoids.

use super::Runtime;
use crate::routing::on_grid::Grid;
use crate::routing::on_links::{Lines, nth};
use crate::routing::{Cost, Hop, HopNote, Step, View, below, draw, weigh};
use weft_api::state::{AROUND, LinkState, Packet};

/// A hop that a head can request, with its note to the policy.
#[derive(Debug, Clone, Copy)]
struct Choice {
    port: u16,
    /// If this hop begins a detour: a bit mask with the bit of its dimension. Otherwise 0.
    detour: u8,
    note: HopNote,
}

impl Runtime {
    /// The dimension in which the packet has begun a detour and not finished it.
    fn under_way(&self, at: u64, packet: &Packet) -> Option<usize> {
        self.grid.differences(at, packet.dest).find(|d| packet.dim >> d & 1 != 0)
    }

    /// The VC class of the packet's next hop. The class is the number of hops so far, but at most the last class. Only if the hub moves
    /// while a packet is on its way to the hub, the packet makes more hops than there are classes.
    fn class_of(&self, packet: &Packet) -> u8 {
        packet.lane.min(self.hops - 1)
    }

    /// Chooses the hop of a head at router `at`, which must not be its destination router.
    pub(super) fn choose_by_links<Q: View + ?Sized>(
        &self,
        lines: &Lines,
        (at, here): (u64, &Q),
        packet: &mut Packet,
        seed: u64,
    ) -> Hop {
        let choice = match self.under_way(at, packet) {
            Some(d) => self.finish_detour(lines, (at, here), d, packet),
            None => self.best_by_links(lines, (at, here), packet, seed),
        };
        let hop = Hop { port: choice.port, class: self.class_of(packet) };
        match choice.note {
            HopNote::BeginsDetour { .. } | HopNote::ContinuesDetour => packet.flags |= AROUND,
            HopNote::Nothing | HopNote::TakesBack | HopNote::Stays => packet.flags &= !AROUND,
        }
        here.note(choice.note);
        self.take(packet, choice.detour);
        hop
    }

    /// The second hop of a detour in dimension `d`. It uses the direct link from this router, even if this is a shadow link. If this link
    /// has gone off, the hop leads to the hub.
    fn finish_detour<Q: View + ?Sized>(
        &self,
        lines: &Lines,
        (at, here): (u64, &Q),
        d: usize,
        packet: &Packet,
    ) -> Choice {
        let (own, to) = (Grid::coordinate(at, d), Grid::coordinate(packet.dest, d));
        let direct = self.grid.port_to(at, d, to);
        let is_dark = !here.is_on(direct) && here.state(direct) != LinkState::Shadow;
        let over = if is_dark { lines.over_hub(here, d, own, to) } else { None };
        let port = over.map_or(direct, |c| self.grid.port_to(at, d, c));
        Choice { port, detour: 0, note: HopNote::ContinuesDetour }
    }

    /// The best hop of a packet that has no unfinished detour. A minimal hop is a candidate if the direct link is on. Each dimension also
    /// has a detour as a candidate, over a member that is drawn from those with active links to both ends.
    fn best_by_links<Q: View + ?Sized>(
        &self,
        lines: &Lines,
        (at, here): (u64, &Q),
        packet: &Packet,
        seed: u64,
    ) -> Choice {
        let (class, hops) = (self.class_of(packet), self.grid.differences(at, packet.dest).count() as u32);
        let cost = |port: u16, hops: u32, bias: i32| weigh(here, at, Hop { port, class }, hops, bias);
        let first = draw(seed, packet, 0x3d + u64::from(packet.lane));
        let mut best: Option<((i32, u8, u32), Choice)> = None;
        let mut offer = |rank: (i32, u8, u32), choice: Choice| {
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, choice));
            }
        };
        for (place, d) in self.grid.differences(at, packet.dest).enumerate() {
            let turn = (place as u32 + below(first, hops)) % hops;
            let (own, to) = (Grid::coordinate(at, d), Grid::coordinate(packet.dest, d));
            let direct = self.grid.port_to(at, d, to);
            let (is_on, ways) = (here.is_on(direct), lines.ways(here, d, own, to));
            let salt = 0x51 + d as u64 + 8 * u64::from(packet.lane);
            let over = (ways != 0).then(|| nth(ways, below(draw(seed, packet, salt), ways.count_ones())));
            let detour = over.map(|c| self.grid.port_to(at, d, c));
            let is_shadow = here.state(direct) == LinkState::Shadow;
            // the packet takes a shadow link, which becomes active again, if the detour has no credit
            let takes_back = is_shadow && detour.is_none_or(|port| here.credits(Hop { port, class }) == 0);
            if is_on || takes_back {
                let note = if takes_back { HopNote::TakesBack } else { HopNote::Nothing };
                offer((cost(direct, hops, 0), 0, turn), Choice { port: direct, detour: 0, note });
            }
            if let Some(port) = detour.filter(|_| !takes_back) {
                let bias = if is_on { self.threshold } else { 0 };
                let note = HopNote::BeginsDetour { direct };
                offer((cost(port, hops + 1, bias), 1, turn), Choice { port, detour: 1 << d, note });
            }
        }
        best.map_or_else(|| self.only_direct(at, packet), |(_, choice)| choice)
    }

    /// The hop of a packet that has no candidate: the direct hop in the first dimension in which it is not at its destination's
    /// coordinate.
    fn only_direct(&self, at: u64, packet: &Packet) -> Choice {
        let d = self.grid.differences(at, packet.dest).next().expect("some dimension is not aligned");
        let port = self.grid.port_to(at, d, Grid::coordinate(packet.dest, d));
        Choice { port, detour: 0, note: HopNote::Nothing }
    }

    /// Every hop that a packet may take at router `at`, which must not be its destination router. Minimal hops come first. The list assumes
    /// that member 0 is the hub of each line.
    pub(super) fn steps_by_links(&self, lines: &Lines, at: u64, packet: &Packet) -> Vec<Step> {
        let (class, hops) = (self.class_of(packet), self.grid.differences(at, packet.dest).count() as u32);
        let step = |d: usize, c: u8, hops: u32, bias: i32, detour: u8| {
            let port = self.grid.port_to(at, d, c);
            let mut after = *packet;
            self.take(&mut after, detour);
            Step { hop: Hop { port, class }, after, cost: Some(Cost { at, port, hops, bias }) }
        };
        let to = |d: usize| Grid::coordinate(packet.dest, d);
        if let Some(d) = self.under_way(at, packet) {
            let over_hub = Grid::coordinate(at, d) != 0 && to(d) != 0;
            let hub = over_hub.then(|| step(d, 0, hops + 1, 0, 0));
            return std::iter::once(step(d, to(d), hops, 0, 0)).chain(hub).collect();
        }
        let is_on = |&d: &usize| lines.may_be_on(at, d, Grid::coordinate(at, d), to(d));
        let minimal = self.grid.differences(at, packet.dest).filter(is_on).map(|d| step(d, to(d), hops, 0, 0));
        let detours = self.grid.differences(at, packet.dest).flat_map(|d| {
            let bias = if is_on(&d) { self.threshold } else { 0 };
            lines.third_members(at, d, to(d)).map(move |c| (d, c, bias))
        });
        minimal.chain(detours.map(|(d, c, bias)| step(d, c, hops + 1, bias, 1 << d))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::grid::dal::Dal;
    use crate::routing::{LinkKnowledge, Routing, RoutingModel};
    use weft_api::coordinates::of_all;
    use weft_topology::{Graph, Peer, TopologyConfig};

    /// A HyperX with lines of 4, 3 and 2 routers.
    const GRID: &str = r#"{"hyperx": {"widths": [4, 3, 2], "terminals_per_router": 1}}"#;

    /// Follows a packet over all links that can be on at some time. Returns the largest number of hops on a path.
    fn longest(graph: &Graph, routing: &Runtime, coords: &[u64], at: u32, packet: &Packet) -> u32 {
        let mut most = 0;
        for step in routing.steps(coords[at as usize], packet, 1) {
            let Peer::Router { router, .. } = graph.ports(at)[usize::from(step.hop.port)].peer else { continue };
            assert_eq!(step.hop.class, packet.lane, "the class is the hop index");
            most = most.max(1 + longest(graph, routing, coords, router, &step.after));
        }
        most
    }

    #[test]
    fn a_line_of_three_routers_or_more_takes_three_hops_at_most() {
        let graph = serde_json::from_str::<TopologyConfig>(GRID).unwrap().build("topology").unwrap();
        let mut routing = serde_json::from_str::<Dal>("{}").unwrap().build(&graph).unwrap();
        assert_eq!(routing.needs().classes[1..], [2 + 2 + 1; 3]);
        routing.go_by(LinkKnowledge::Subnetworks);
        // Three hops in a line lead to a third router, to the hub, and from the hub to the destination. A packet that starts at the hub can
        // return to it in these hops. A line of two routers has no third router, and needs one hop
        let classes = 3 + 3 + 1;
        assert_eq!(routing.needs().classes[1..], [classes as u8; 3]);
        let coords = of_all(&graph);
        // In the line of 4, the packet goes from member 3 to member 1 over member 2 and the hub. In the line of 3, it goes from member 2 to
        // the hub over member 1
        let (from, to) = (23, 13);
        assert_eq!((coords[from as usize], coords[to as usize]), (0x01_02_03, 0x01_00_01));
        let packet = Packet { dest: coords[to as usize], target: coords[to as usize], ..Packet::default() };
        assert_eq!(longest(&graph, &routing, &coords, from, &packet), 3 + 2);
        for (from, to) in (0..24).flat_map(|from| (0..24).map(move |to| (from, to))) {
            let packet = Packet { dest: coords[to as usize], target: coords[to as usize], ..Packet::default() };
            assert!(longest(&graph, &routing, &coords, from, &packet) <= classes, "from {from} to {to}");
        }
    }
}
