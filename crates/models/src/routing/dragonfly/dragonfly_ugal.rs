//! Dragonfly UGAL: the source router chooses between the minimal path and a path over a random intermediate. It compares one queue on each
//! of the two paths.
//!
//! # Source
//! Kim et al., ISCA 2008: UGAL-L, and the ideal UGAL-G. A packet takes the minimal path if q_min H_min <= q_nm H_nm + T ("nm": the path
//! over the intermediate). H is the number of hops of a path.
//! # Parameters
//! `intermediate`: as for Valiant. `threshold`: T [flits]. `sensor`: definition of the queue q. `queues`: the output of each path whose
//! queue is compared. `local` (UGAL-L): the first output of the path. `global` (UGAL-G): the first global channel of the path, in any
//! router of the source group. `posted`: the same channel, but with the queue that its router posted last. Every router posts the queues of
//! its global channels at intervals of `every`, and the other routers of its group know a post after the time `delay`.
//! # Guarantees
//! VC classes are those of Valiant, under which the dependencies between channels have no cycle. A packet on the minimal path uses l0 g0 l1
//! (l1: class 1 of a local link, g0: class 0 of a global link). Packets whose destination is in their source group take detours only with
//! the intermediate `other_group_for_all`.
//! # Not modelled
//! With `global`: the time until a router knows the queues of other routers (it reads them at once, as an oracle would). With `posted`: the
//! load of the packets that would carry the posts. BookSim2's fixed bias of 30 flits, and its single VC class on the path to the
//! intermediate, which can deadlock.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/paths.rs` checks which queues the routing compares. `engine/tests/bounds.rs` checks, for local and
//! for global queues, that throughput is at least half of the theoretical bound with detours. The golden rows `ugal` of other simulators
//! are only for information, because these simulators define this routing differently from Weft (`tests/data/golden/booksim.csv`,
//! `tests/data/golden/caminos.csv`).

use super::dragonfly_valiant;
use crate::routing::bounds::SharedBounds;
use crate::routing::on_dragonfly::{group, in_groups, index};
use crate::routing::{
    Cost, Decides, Draws, Example, Hop, Needs, Proof, Routing, RoutingModel, Sensor, Step, View, threshold,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::board::Posts;
use weft_api::state::{DETOUR, Packet};
use weft_topology::Graph;
use weft_units::{Flits, Refusal, Time};

/// Dragonfly UGAL: the source router chooses between the minimal path and a path over a random intermediate, by one queue of each path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DragonflyUgal {
    /// The router at which the first leg of a detour ends.
    #[serde(default)]
    pub intermediate: dragonfly_valiant::Intermediate,
    /// Bias T towards the minimal path.
    #[serde(default = "two")]
    pub threshold: Flits,
    /// Definition of the queue of an output.
    #[serde(default = "window")]
    pub sensor: Sensor,
    /// The output of each path whose queue is compared.
    #[serde(default)]
    pub queues: Queues,
}

/// The default threshold is our choice. The bias of BookSim2 is 30 flits, because BookSim2 counts credits in flight on its links as a
/// queue.
fn two() -> Flits {
    Flits(2)
}

/// The default sensor does not count flits in flight as a queue. With `used_credits`, packets would leave minimal paths even if no flit
/// waits on these paths.
fn window() -> Sensor {
    Sensor::HistoryWindow
}

/// The output of each path whose queue is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Queues {
    /// UGAL-L: the first output of the path, at the source router.
    Local {},
    /// UGAL-G: the first global channel of the path, with its queue in this cycle.
    Global {},
    /// The first global channel of the path. For a channel of the source router, the present queue counts. For a channel of another router,
    /// the queue that this router posted last counts.
    Posted(Posted),
}

impl Default for Queues {
    fn default() -> Self {
        Self::Local {}
    }
}

/// Times at which routers post the queues of their global channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Posted {
    /// Time from one post to the next [time]; at least 1 cycle.
    pub every: Time,
    /// Time from a post until the other routers of the group know it [time]; at least 1 cycle.
    pub delay: Time,
}

#[derive(Debug, Clone)]
pub struct Runtime {
    valiant: dragonfly_valiant::Runtime,
    threshold: i32,
    sensor: Sensor,
    queues: Queues,
    /// For each router: the index of its first port among the ports of all routers. Routers of a group can have different numbers of ports,
    /// because links of escape rings can form trunks.
    first_ports: Vec<u32>,
    /// Index of the first global port of a router, and number of ports from the first global port to the last.
    global: (u16, u16),
}

impl RoutingModel for DragonflyUgal {
    type Routing = Runtime;
    const ROUTES: &'static str = dragonfly_valiant::DragonflyValiant::ROUTES;

    fn fits(graph: &Graph) -> bool {
        dragonfly_valiant::DragonflyValiant::fits(graph)
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let valiant = dragonfly_valiant::Runtime::of(graph, self.intermediate);
        Ok(Runtime {
            global: valiant.groups.global_ports(),
            valiant,
            threshold: threshold(self.threshold, "dragonfly_ugal")?,
            sensor: self.sensor,
            queues: self.queues,
            first_ports: (0..graph.routers()).map(|router| graph.port_base(router)).collect(),
        })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![
            Example::of("{}").bound_with_detours_to_the_next_group(),
            Example::of(r#"{"intermediate": "router", "sensor": "output_queue"}"#),
            Example::of(r#"{"queues": {"global": {}}}"#).bound_with_detours_to_the_next_group(),
            Example::of(r#"{"queues": {"global": {}}, "intermediate": "router"}"#),
            Example::of(r#"{"queues": {"global": {}}, "intermediate": "other_group_for_all"}"#),
            // when the queues of other routers are read, they are 10 to 19 cycles old
            Example::of(r#"{"queues": {"posted": {"every": "10cycles", "delay": "10cycles"}}}"#)
                .bound_with_detours_to_the_next_group(),
        ]
    }
}

impl Runtime {
    /// True if the packet must still choose its path from the queues at router `at`.
    #[inline(always)]
    fn asks(&self, at: u64, packet: &Packet) -> bool {
        let undecided = packet.phase == 0 && packet.flags & DETOUR == 0;
        undecided && self.valiant.has_choice(at, packet.dest)
    }

    /// The cost of the path that begins with `hop`. `mid`: the intermediate of the path; `None` for the minimal path.
    #[inline(always)]
    fn cost(&self, at: u64, hop: Hop, packet: &Packet, mid: Option<u64>, seed: u64) -> Cost {
        let hops = self.valiant.hops(at, packet, mid, seed);
        let bias = if mid.is_some() { self.threshold } else { 0 };
        // if the intermediate is in the source group, the first global channel of the path leads to the destination group
        let to = mid.filter(|&mid| group(mid) != group(at)).unwrap_or(packet.dest);
        let stays = group(to) == group(at);
        if stays || matches!(self.queues, Queues::Local {}) {
            return Cost { at, port: hop.port, hops, bias };
        }
        let (router, port) = self.valiant.groups.gateway_to(group(at), group(to), packet, seed);
        Cost { at: at & !0xffff | u64::from(router), port, hops, bias }
    }
}

impl Runtime {
    /// The queue of the output in `cost`, according to the knowledge of router `at`.
    #[inline(always)]
    fn congestion<Q: View + ?Sized>(&self, at: u64, here: &Q, cost: Cost) -> i32 {
        match self.queues {
            Queues::Local {} => here.read(cost.port),
            Queues::Global {} | Queues::Posted(_) if cost.at == at => here.read(cost.port),
            Queues::Posted(_) => here.post(0).of(self.router(cost.at), usize::from(cost.port - self.global.0)) as i32,
            Queues::Global {} => here.read_of(self.ports_between(at, cost.at), cost.port),
        }
    }

    /// Index of the router whose coordinates are `at`.
    #[inline(always)]
    fn router(&self, at: u64) -> u32 {
        group(at) * self.valiant.groups.per_group + index(at)
    }

    /// Difference between the indices of two routers' first ports.
    #[inline(always)]
    fn ports_between(&self, from: u64, to: u64) -> i32 {
        let first = |at: u64| self.first_ports[self.router(at) as usize] as i32;
        first(to) - first(from)
    }

    fn posts(&self) -> Option<Posts> {
        match self.queues {
            Queues::Local {} | Queues::Global {} => None,
            Queues::Posted(Posted { every, delay }) => {
                Some(Posts { key: "queues.posted", numbers: self.global.1.into(), every, delay })
            }
        }
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs {
            classes: self.valiant.classes(),
            decides: Decides::AtHead,
            sensor: Some(self.sensor),
            reads_group: matches!(self.queues, Queues::Global {}),
            posts: self.posts(),
            ..Needs::default()
        }
    }

    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        in_groups(graph)
    }

    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if self.asks(at, packet) {
            return None;
        }
        if packet.phase == 0 && packet.flags & DETOUR == 0 {
            self.valiant.minimal(packet);
        }
        self.valiant.next(at, packet, seed)
    }

    fn at_head<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, seed: u64) -> Hop {
        let mid = self.valiant.draw_intermediate(group(at), packet, seed, 0);
        let value = |hop: Hop, packet: &Packet, mid: Option<u64>| {
            let cost = self.cost(at, hop, packet, mid, seed);
            here.weigh(hop, cost, self.congestion(at, here, cost))
        };
        self.valiant.take_better(packet, mid, |packet| self.valiant.next(at, packet, seed), value)
    }

    fn post<Q: View + ?Sized>(&self, _at: u64, here: &Q, _sent: impl Fn() -> u32, numbers: &mut [u32]) {
        for (port, number) in (self.global.0..).zip(numbers) {
            *number = here.read(port) as u32;
        }
    }

    /// The possible first hops: those of the minimal path, and those of one path over each intermediate.
    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        if !self.asks(at, packet) {
            return Step::named(self, at, packet, seed);
        }
        let cost = |hop: Hop, packet: &Packet, mid: Option<u64>| self.cost(at, hop, packet, mid, seed);
        self.valiant.both_ways(at, packet, |packet| self.valiant.next(at, packet, seed), cost)
    }

    fn first_steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        if !self.asks(at, packet) {
            return Step::named(self, at, packet, seed);
        }
        let cost = |hop: Hop, packet: &Packet, mid: Option<u64>| self.cost(at, hop, packet, mid, seed);
        self.valiant.minimal_way(packet, |packet| self.valiant.next(at, packet, seed), cost).into_iter().collect()
    }

    fn bias_of_used_credits(&self) -> Option<i32> {
        (self.sensor == Sensor::UsedCredits).then_some(self.threshold)
    }

    fn proof(&self) -> Proof<'_> {
        self.valiant.proof()
    }

    fn rank(&self, at: u64, hop: Hop) -> u32 {
        self.valiant.rank(at, hop)
    }

    fn leg(&self, phase: u8, target: u64, draw: u32) -> Packet {
        let flags = if phase == 0 { DETOUR } else { 0 };
        Packet { flags, ..self.valiant.leg(phase, target, draw) }
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
    use weft_api::coordinates::of_all;
    use weft_topology::{Peer, TopologyConfig};

    /// Number of links on a packet's path if it leaves router `at` by `step`.
    fn hops(graph: &Graph, routing: &Runtime, at: u32, step: &Step) -> u32 {
        let (coords, mut packet, mut hop, mut at, mut made) = (of_all(graph), step.after, step.hop, at, 0);
        while let Peer::Router { router, .. } = graph.ports(at)[usize::from(hop.port)].peer {
            (at, made) = (router, made + 1);
            hop = routing.next(coords[at as usize], &mut packet, 1).expect("it chooses once");
        }
        assert_eq!(coords[at as usize], packet.dest);
        made
    }

    #[test]
    fn the_hops_that_are_weighed_are_those_that_a_packet_makes() {
        let dragonfly =
            r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 1, "global_links_per_router": 2}}"#;
        let graph = serde_json::from_str::<TopologyConfig>(dragonfly).unwrap().build("topology").unwrap();
        let coords = of_all(&graph);
        for intermediate in [dragonfly_valiant::Intermediate::Group, dragonfly_valiant::Intermediate::Router] {
            let config = serde_json::json!({ "intermediate": intermediate });
            let routing = serde_json::from_value::<DragonflyUgal>(config).unwrap().build(&graph).unwrap();
            let (mut longest, from) = (0, [0, 1, 2, 3]);
            for (at, to) in from.into_iter().flat_map(|at| (4..graph.routers()).map(move |to| (at, to))) {
                let dest = coords[to as usize];
                let packet = Packet { dest, target: dest, ..Packet::default() };
                for step in routing.steps(coords[at as usize], &packet, 1) {
                    let weighed = step.cost.expect("it compares").hops;
                    assert_eq!(
                        weighed,
                        hops(&graph, &routing, at, &step),
                        "{intermediate:?}: {at} to {to} by {step:?}"
                    );
                    longest = longest.max(weighed);
                }
            }
            // if the intermediate is a group, the longest path is local, global, local, global, local; if it is a router, there is one more
            // local hop
            let most = if intermediate == dragonfly_valiant::Intermediate::Group { 5 } else { 6 };
            assert_eq!(longest, most, "{intermediate:?}");
        }
    }
    /// Tests a network in which only links of the escape ring inside groups are trunks. The middle router of a group then has 10 ports, and
    /// the other routers have 8.
    #[test]
    fn the_queues_that_are_read_are_those_of_the_gateway() {
        let dragonfly = r#"{"dragonfly": {"routers_per_group": 3, "terminals_per_router": 1, "global_links_per_router": 1,
            "trunk_width": {"ring_local": 3}, "escape_rings": 1}}"#;
        let graph = serde_json::from_str::<TopologyConfig>(dragonfly).unwrap().build("topology").unwrap();
        let coords = of_all(&graph);
        let routing = serde_json::from_str::<DragonflyUgal>(r#"{"queues": {"global": {}}}"#).unwrap();
        let routing = routing.build(&graph).unwrap();
        let mut elsewhere = 0;
        for (at, to) in (0..3).flat_map(|at| (3..graph.routers()).map(move |to| (at, to))) {
            let dest = coords[to as usize];
            let packet = Packet { dest, target: dest, ..Packet::default() };
            for cost in routing.steps(coords[at as usize], &packet, 1).iter().filter_map(|step| step.cost) {
                let gateway = routing.router(cost.at);
                assert_eq!(
                    graph.class_names()[usize::from(graph.ports(gateway)[usize::from(cost.port)].class)],
                    "global"
                );
                let first =
                    graph.port_base(at).wrapping_add_signed(routing.ports_between(coords[at as usize], cost.at));
                assert_eq!(first, graph.port_base(gateway));
                elsewhere += u32::from(gateway != at);
            }
        }
        assert!(elsewhere > 0);
    }
}
