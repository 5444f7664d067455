//! The lines of a HyperX (sets of routers that differ in one coordinate) under a power policy that publishes the states
//! of their links ([`LinkKnowledge::Subnetworks`]).
//!
//! The routers of a line are its members. If the direct link between two members is dark, a packet goes over a third member that has active
//! links to both. If the second link of this detour has gone dark before the packet takes it, the packet goes from the third member over
//! the hub. The links of the hub to all members of the line are on.

use super::on_grid::Grid;
use super::{LinkKnowledge, View};
use std::sync::Arc;
use weft_api::policy::Policy;
use weft_api::state::LinkState;
use weft_api::subnetworks::Subnets;
use weft_topology::Graph;

/// The lines of a grid. `first` is `Some` only while `weft check` computes paths under a power policy. It then contains
/// the policy, which determines the links that are on in cycle 0. For each link class, it also contains true if the
/// policy manages the class.
#[derive(Debug, Clone)]
pub struct Lines {
    nets: Subnets,
    first: Option<(Arc<dyn Policy>, Vec<bool>)>,
}

impl Lines {
    /// Creates the lines of a graph. Returns `None` if some routers of a line are not neighbours, or if trunks join them.
    pub fn of(graph: &Graph) -> Option<Self> {
        Some(Self { nets: Subnets::of(graph)?, first: None })
    }

    /// Returns the third members over which a packet can go from member `own` to member `to` of line `d` in two hops, as a
    /// bit mask.
    #[inline(always)]
    pub fn ways<Q: View + ?Sized>(&self, here: &Q, d: usize, own: u8, to: u8) -> u64 {
        here.table().between(&self.nets, d, own, to)
    }

    /// Returns the member over which a packet continues to member `to`, if the packet is already on a detour and the direct link is dark.
    /// This member is the hub or the next hub if possible, and otherwise the lowest member with active links to both ends. `None` if no
    /// member has links to both.
    pub fn over_hub<Q: View + ?Sized>(&self, here: &Q, d: usize, own: u8, to: u8) -> Option<u8> {
        let (ways, table) = (self.ways(here, d, own, to), here.table());
        let known = [table.hub(d), table.next_hub(d)].into_iter().find(|&hub| ways >> hub & 1 != 0);
        known.or_else(|| (ways != 0).then_some(ways.trailing_zeros() as u8))
    }

    /// Returns the dimension along which port `port` of router `at` leads, and the member of the line at its far end.
    pub fn behind(&self, at: u64, port: u16) -> Option<(usize, u8)> {
        self.nets.behind(port, |d| self.nets.member(at, d))
    }

    /// Returns the third members over which packets may go from router `at` to member `to` of its line in dimension `d`.
    pub fn third_members(&self, at: u64, d: usize, to: u8) -> impl Iterator<Item = u8> {
        let own = self.nets.member(at, d);
        let others = self.nets.others(d, own).filter(move |&c| c != to);
        others.filter(move |&c| self.may_be_on(at, d, own, c) && self.may_be_on(at, d, c, to))
    }

    /// True if packets can find the link between members `a` and `b` on, in the line of router `at` in dimension `d`. False only while
    /// `weft check` computes paths under a power policy, for a link that is off in cycle 0.
    pub fn may_be_on(&self, at: u64, d: usize, a: u8, b: u8) -> bool {
        let Some((policy, managed)) = &self.first else { return true };
        let number = (0..self.nets.count).map(|d| u32::from(Grid::coordinate(at, d)) * self.nets.strides[d]).sum();
        let [from, to] = [a, b].map(|c| self.nets.router(number, d, Grid::coordinate(at, d), c));
        !managed[usize::from(self.nets.classes[d])] || policy.first_state(from, to) == LinkState::On
    }

    /// True while `weft check` computes paths under a power policy.
    pub fn are_first(&self) -> bool {
        self.first.is_some()
    }

    /// From now on, paths are computed as if only the links that this policy has on in cycle 0 were on.
    pub fn assume_first(&mut self, policy: &Arc<dyn Policy>, managed: &[bool]) {
        self.first = Some((policy.clone(), managed.to_vec()));
    }

    /// From now on, paths are computed as if all links were on. Returns true if paths were computed under a policy before, and if this
    /// policy switches all links on when the network is full.
    pub fn assume_all(&mut self) -> bool {
        self.first.take().is_some_and(|(policy, _)| policy.fills_up())
    }
}

/// Returns the position of the set bit with index `k` among the set bits.
#[inline(always)]
pub fn nth(mut bits: u64, k: u32) -> u8 {
    for _ in 0..k {
        bits &= bits - 1;
    }
    bits.trailing_zeros() as u8
}

/// Functions that follow packets, for the tests of routings that use the link states of lines.
#[cfg(test)]
pub(super) mod walks {
    use crate::routing::{LinkKnowledge, Routing, RoutingModel};
    use serde::de::DeserializeOwned;
    use weft_api::coordinates::of_all;
    use weft_api::state::Packet;
    use weft_topology::{Graph, Peer, TopologyConfig};

    pub const GRID: &str = r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 1}}"#;

    /// Builds a routing with its default parameters on a topology, for a policy that publishes the states of links.
    pub fn by_links<M: RoutingModel + DeserializeOwned>(topology: &str) -> (Graph, M::Routing) {
        let graph = serde_json::from_str::<TopologyConfig>(topology).unwrap().build("topology").unwrap();
        let mut routing = serde_json::from_str::<M>("{}").unwrap().build(&graph).unwrap();
        routing.go_by(LinkKnowledge::Subnetworks);
        (graph, routing)
    }

    /// Follows a packet over all links that can be on at some time. Returns the largest number of hops to the
    /// destination.
    fn longest(graph: &Graph, routing: &impl Routing, coords: &[u64], at: u32, packet: &Packet) -> u32 {
        let here = coords[at as usize];
        let mut most = 0;
        for step in routing.steps(here, packet, 1) {
            let Peer::Router { router, .. } = graph.ports(at)[usize::from(step.hop.port)].peer else { continue };
            let mut after = step.after;
            routing.taken(here, &mut after, step.hop);
            most = most.max(1 + longest(graph, routing, coords, router, &after));
        }
        most
    }

    /// Checks that a packet makes at most three hops in each dimension: to a third router, to the hub, and to the
    /// destination.
    pub fn assert_three_hops_at_most<M: RoutingModel + DeserializeOwned>() {
        let (graph, routing) = by_links::<M>(GRID);
        let coords = of_all(&graph);
        let of_pair = |from: u32, to: u32| {
            let packet = Packet { dest: coords[to as usize], target: coords[to as usize], ..Packet::default() };
            longest(&graph, &routing, &coords, from, &packet)
        };
        // the longest path from (3, 2) to (1, 1) has 3 hops in the line of 4 routers, over a third router and the hub, and 2
        // hops in the line of 3 routers, over the hub
        assert_eq!(of_pair(11, 5), 3 + 2);
        for (from, to) in (0..12u32).flat_map(|from| (0..12u32).map(move |to| (from, to))) {
            let apart = u32::from(from % 4 != to % 4) + u32::from(from / 4 != to / 4);
            assert!(of_pair(from, to) <= 3 * apart, "from {from} to {to}");
        }
    }
}

/// The lines of a grid, for a routing that uses link states only under policies that publish them. If the policy of the run does not
/// publish the states of links, [`get`](Self::get) returns no lines.
#[derive(Debug, Clone)]
pub struct SwitchedLines {
    /// `None` if no policy can switch the links of this graph's lines.
    lines: Option<Lines>,
    are_published: bool,
}

impl SwitchedLines {
    pub fn of(graph: &Graph) -> Self {
        Self { lines: Lines::of(graph), are_published: false }
    }

    /// Returns the lines in which packets avoid dark links, if the power policy publishes link states.
    #[inline(always)]
    pub fn get(&self) -> Option<&Lines> {
        self.lines.as_ref().filter(|_| self.are_published)
    }

    /// True if there are lines, and the policy publishes the states of their links.
    #[inline(always)]
    pub fn are_there(&self) -> bool {
        self.get().is_some()
    }

    /// Records which information about links the power policy publishes (see `Routing::go_by`). Returns true if packets
    /// avoid dark links from now on.
    pub fn go_by(&mut self, links: LinkKnowledge) -> bool {
        self.are_published = links == LinkKnowledge::Subnetworks;
        self.are_there()
    }

    /// Calls `Lines::assume_first`, if there are lines.
    pub fn assume_first(&mut self, policy: &Arc<dyn Policy>, managed: &[bool]) {
        if let Some(lines) = self.lines.as_mut().filter(|_| self.are_published) {
            lines.assume_first(policy, managed);
        }
    }

    /// Calls `Lines::assume_all`, if there are lines; otherwise returns false.
    pub fn assume_all(&mut self) -> bool {
        self.lines.as_mut().is_some_and(Lines::assume_all)
    }
}
