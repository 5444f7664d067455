//! Dragonfly PAR: packets choose their path as in UGAL-L at the source router. As long as they are on the minimal path, they choose again
//! at each further router of the source group.
//!
//! # Source
//! Jiang, Kim, Dally, "Indirect adaptive routing on large scale interconnection networks", ISCA 2009 (progressive adaptive routing). The
//! rule of each decision is that of UGAL-L: the minimal path if q_min H_min <= q_nm H_nm + T ("nm": the path over an intermediate). H is
//! the number of remaining hops of a path. VC classes along a path (l1: class 1 of a local link, g1: class 1 of a global link): l0 (l1) g0
//! l2 g1 l3 if the intermediate is a group, and l0 (l1) g0 l2 l3 g1 l4 if it is a router. The parentheses mean that packets use l1 only if
//! they begin a detour after a minimal local hop.
//! # Parameters
//! `intermediate`: end of the first leg of a detour, as in `dragonfly_valiant`. `threshold`: T [flits]. `sensor`: definition of the queue
//! q. The second decision of a packet compares a global link with local links. With `used_credits`, flits in flight on a long global link
//! would count as a queue, and packets would take detours even at low load. Therefore the default is `history_window`.
//! # Guarantees
//! A path has at most two local hops before its first global hop, or three if the intermediate is a router of the source group. A packet
//! that has begun a detour never returns to the minimal path. Every path uses the VC classes in the order given under Source. Therefore the
//! dependencies between channels have no cycle. A packet on the minimal path uses l0 g0 l2. A packet that begins a detour after a minimal
//! local hop uses l1 for its next local hop. Local links have 4 VC classes (5 with `router`), and global links have
//! 2. Packets whose destination is in their source group take detours only with the intermediate `other_group_for_all`.
//! # Not modelled
//! Detours inside the intermediate group and the destination group, as in OFAR.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/bounds.rs` checks that the accepted load is at least half of the theoretical bound with detours.
//! The test in this file checks the VC classes of every path, including paths with a second decision.
//! `engine/tests/models/dragonfly_par.rs` checks that paths are minimal at low load. It also checks that accepted loads under `group_shift`
//! exceed the bound of minimal routing, and are at least 99 % of those with UGAL-L. FOGSim's PAR decides by a different rule. Therefore the
//! comparison with FOGSim only uses rows with traffic inside groups, which takes minimal paths in both simulators
//! (`tests/data/golden/fogsim.csv`).

use super::dragonfly_valiant;
use crate::routing::bounds::SharedBounds;
use crate::routing::on_dragonfly::{group, in_groups};
use crate::routing::{
    Cost, Decides, Draws, Example, Hop, Needs, Proof, Routing, RoutingModel, Sensor, Step, View, threshold, weigh,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::state::{DETOUR, Packet};
use weft_topology::Graph;
use weft_units::{Flits, Refusal};

/// Dragonfly PAR: packets choose their path as in UGAL-L at the source router. As long as they are on the minimal path, they choose again
/// at each further router of the source group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DragonflyPar {
    /// The router at which the first leg of a detour ends.
    #[serde(default)]
    pub intermediate: dragonfly_valiant::Intermediate,
    /// Bias T towards the minimal path.
    #[serde(default = "two")]
    pub threshold: Flits,
    /// Definition of the queue of an output.
    #[serde(default = "window")]
    pub sensor: Sensor,
}

/// The default threshold is our choice: a queue that is two flits longer on the minimal path does not justify a detour.
fn two() -> Flits {
    Flits(2)
}

/// The default sensor does not count flits in flight as a queue. With `used_credits`, packets would leave minimal paths even if no flit
/// waits on these paths.
fn window() -> Sensor {
    Sensor::HistoryWindow
}

#[derive(Debug, Clone)]
pub struct Runtime {
    valiant: dragonfly_valiant::Runtime,
    threshold: i32,
    sensor: Sensor,
    /// True if the intermediate is a router. Local links then have one more VC class, for the first local hop of the second leg.
    to_router: bool,
}

impl RoutingModel for DragonflyPar {
    type Routing = Runtime;
    const ROUTES: &'static str = dragonfly_valiant::DragonflyValiant::ROUTES;

    fn fits(graph: &Graph) -> bool {
        dragonfly_valiant::DragonflyValiant::fits(graph)
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        Ok(Runtime {
            valiant: dragonfly_valiant::Runtime::of(graph, self.intermediate),
            threshold: threshold(self.threshold, "dragonfly_par")?,
            sensor: self.sensor,
            to_router: self.intermediate == dragonfly_valiant::Intermediate::Router,
        })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![
            Example::of("{}").bound_with_detours_to_the_next_group(),
            Example::of(r#"{"intermediate": "router", "sensor": "output_queue"}"#)
                .bound_with_detours_to_the_next_group(),
        ]
    }
}

impl Runtime {
    /// True if the packet must choose its path at router `at`. It chooses at each router of its source group until it begins a detour.
    #[inline(always)]
    fn asks(&self, at: u64, packet: &Packet) -> bool {
        packet.flags & DETOUR == 0 && self.valiant.has_choice(at, packet.dest)
    }

    /// The next hop of a packet that has chosen its path. `Packet::dim` is 0 before the first hop. On local links, the VC class is one
    /// higher than under `dragonfly_valiant`, except for the first hop.
    #[inline(always)]
    fn go(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        let hop = self.valiant.next(at, packet, seed)?;
        let later = u8::from(self.valiant.groups.is_local(hop.port)) * packet.dim;
        packet.dim = 1;
        Some(Hop { class: hop.class + later, ..hop })
    }

    /// The cost of the rest of a path that begins with `hop`. The path leads over `mid`, or is minimal if `mid` is `None`.
    #[inline(always)]
    fn cost(&self, at: u64, hop: Hop, packet: &Packet, mid: Option<u64>, seed: u64) -> Cost {
        let hops = self.valiant.hops(at, packet, mid, seed);
        Cost { at, port: hop.port, hops, bias: if mid.is_some() { self.threshold } else { 0 } }
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        let mut classes = self.valiant.classes();
        classes[1] += 1;
        Needs { classes, decides: Decides::AtHead, sensor: Some(self.sensor), ..Needs::default() }
    }

    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        in_groups(graph)
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if self.asks(at, packet) {
            return None;
        }
        if packet.flags & DETOUR == 0 {
            self.valiant.minimal(packet);
        }
        self.go(at, packet, seed)
    }

    fn at_head<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, seed: u64) -> Hop {
        // the number of hops is part of the draw, so that a packet draws different intermediates for its first and its second decision
        let mid = self.valiant.draw_intermediate(group(at), packet, seed, u64::from(packet.dim) << 32);
        let value = |hop: Hop, packet: &Packet, mid: Option<u64>| {
            let cost = self.cost(at, hop, packet, mid, seed);
            weigh(here, at, hop, cost.hops, cost.bias)
        };
        self.valiant.take_better(packet, mid, |packet| self.go(at, packet, seed), value)
    }

    /// The possible first hops: those of the minimal path, and those of the path over every intermediate.
    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        if !self.asks(at, packet) {
            return Step::named(self, at, packet, seed);
        }
        let cost = |hop: Hop, packet: &Packet, mid: Option<u64>| self.cost(at, hop, packet, mid, seed);
        self.valiant.both_ways(at, packet, |packet| self.go(at, packet, seed), cost)
    }

    fn first_steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        if !self.asks(at, packet) {
            return Step::named(self, at, packet, seed);
        }
        let cost = |hop: Hop, packet: &Packet, mid: Option<u64>| self.cost(at, hop, packet, mid, seed);
        self.valiant.minimal_way(packet, |packet| self.go(at, packet, seed), cost).into_iter().collect()
    }

    fn bias_of_used_credits(&self) -> Option<i32> {
        (self.sensor == Sensor::UsedCredits).then_some(self.threshold)
    }

    fn proof(&self) -> Proof<'_> {
        Proof::rises()
    }

    /// The position of a hop's VC class in the order of classes. It is l0 l1 g0 l2 g1 l3 for a group as intermediate, and l0 l1 g0 l2 l3 g1
    /// l4 for a router.
    fn rank(&self, _at: u64, hop: Hop) -> u32 {
        const LOCAL: [[u32; 5]; 2] = [[0, 1, 3, 5, 5], [0, 1, 3, 4, 6]];
        const GLOBAL: [[u32; 2]; 2] = [[2, 4], [2, 5]];
        let (ladder, class) = (usize::from(self.to_router), usize::from(hop.class));
        if self.valiant.groups.is_local(hop.port) { LOCAL[ladder][class] } else { GLOBAL[ladder][class] }
    }

    fn draws(&self) -> Draws {
        self.valiant.draws()
    }

    fn draws_between(&self, from: u64, to: u64) -> bool {
        self.valiant.draws_between(from, to)
    }

    fn intermediate(&self, packet: &Packet) -> Option<u64> {
        self.valiant.intermediate(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use weft_api::coordinates::of_all;
    use weft_topology::{Peer, TopologyConfig};
    /// Dragonflies with 4 routers per group, and 2 terminals and 2 global links per router. The first network has 9 groups with one link
    /// between any two groups, the second one has 4 groups with two links between any two.
    const NETWORKS: [&str; 2] = [
        r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}}"#,
        r#"{"dragonfly": {"groups": 4, "routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}}"#,
    ];

    /// Follows a packet through every choice of the routing. `ranks`: the ranks of the packet's hops so far. Adds the sequence of ranks of
    /// each complete path to a set.
    fn follow(
        graph: &Graph,
        routing: &Runtime,
        at: u32,
        packet: &Packet,
        ranks: &mut Vec<u32>,
        seen: &mut BTreeSet<Vec<u32>>,
    ) {
        let here = of_all(graph)[at as usize];
        for Step { hop, after, .. } in routing.steps(here, packet, 0) {
            let Peer::Router { router, .. } = graph.ports(at)[hop.port as usize].peer else {
                assert_eq!(here, packet.dest);
                seen.insert(ranks.clone());
                continue;
            };
            let (rank, link) = (routing.rank(here, hop), graph.ports(at)[hop.port as usize].class);
            assert!(ranks.last().is_none_or(|&last| last < rank), "{ranks:?} and then {rank}");
            assert!(hop.class < routing.needs().classes[usize::from(link)]);
            ranks.push(rank);
            follow(graph, routing, router, &after, ranks, seen);
            ranks.pop();
        }
    }

    /// The sequences of ranks of all paths from the routers of group 0, over every global link that a packet may draw.
    fn ladders(topology: &str, intermediate: dragonfly_valiant::Intermediate) -> BTreeSet<Vec<u32>> {
        let graph = serde_json::from_str::<TopologyConfig>(topology).unwrap().build("topology").unwrap();
        let par = DragonflyPar { intermediate, threshold: Flits(2), sensor: Sensor::HistoryWindow };
        let routing = par.build(&graph).unwrap();
        let mut seen = BTreeSet::new();
        for seq in routing.draws().outcomes(Packet::default(), 0) {
            for (from, dest) in (0..4).flat_map(|from| of_all(&graph).into_iter().map(move |dest| (from, dest))) {
                let packet = Packet { target: dest, dest, seq, ..Packet::default() };
                follow(&graph, &routing, from, &packet, &mut Vec::new(), &mut seen);
            }
        }
        seen
    }

    #[test]
    fn classes_rise_on_every_path_and_all_are_used() {
        for topology in NETWORKS {
            let seen = ladders(topology, dragonfly_valiant::Intermediate::Group);
            // the minimal path; a detour from the source, and a detour after a minimal local hop
            for ladder in [&[0, 2, 3][..], &[0, 2, 3, 4, 5], &[0, 1, 2, 3, 4, 5]] {
                assert!(seen.contains(ladder), "{seen:?}");
            }
            // a detour over a router of another group; and, after a minimal local hop, a detour over a router of the source group
            let seen = ladders(topology, dragonfly_valiant::Intermediate::Router);
            for ladder in [&[0, 1, 2, 3, 4, 5, 6][..], &[0, 1, 4, 5, 6]] {
                assert!(seen.contains(ladder), "{seen:?}");
            }
        }
    }
}
