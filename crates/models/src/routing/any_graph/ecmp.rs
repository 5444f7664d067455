//! ECMP on any graph: a hash of the flow (source and destination terminal) selects one of the next hops on shortest paths.
//!
//! # Source
//! C. Hopps, RFC 2992, "Analysis of an Equal-Cost Multi-Path Algorithm", 2000 (the hash of the flow, modulo the number of next hops).
//! # Parameters
//! `classes`: rule by which the VC class changes along the path (`hop_index`, `one`).
//! # Guarantees
//! Paths are minimal. All packets of a flow take the same path. The choice of the path depends on the seed. With `hop_index`, the number of
//! VC classes is the length of the longest of all shortest paths \[links\]. With VC classes by hop index, the dependencies between channels
//! have no cycle on any graph. With `one`, all packets use one VC class. Weft then checks the dependencies of the given network: trees pass
//! this check, rings do not. The routing table has one byte (the distance) for each pair of a router and a destination router, at most 1
//! GiB. If routers have up to 64 ports, a second table has eight bytes per pair: a mask of the ports that begin a shortest path. The second
//! table is omitted if it would need more than 16 MiB. Faults: the tables at the start avoid every link and router that is broken from the
//! start. When the time `fault_model.rebuild_delay` has passed after a later fault, all routers have tables for the remaining network.
//! Until then, heads at a broken link wait. Packets to routers that have no path any more are discarded. With `hop_index`, a packet is also
//! discarded if its path becomes longer than the number of VC classes.
//! # Not modelled
//! Finer flows, such as several flows between two terminals. Unequal weights of the next hops.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/paths.rs` checks that each flow takes one of the shortest paths, and that flows from a leaf router
//! use all its upward links. `engine/tests/bounds.rs` checks that throughput reaches the theoretical bounds of a ring and a full mesh. No
//! test compares this routing with another simulator.

use crate::routing::bounds::SharedBounds;
use crate::routing::on_graph::{self, Distances, hop_classes};
use crate::routing::{
    AnyRouting, Classes, Example, Hop, Proof, Routing, RoutingModel, Step, below, hash, same_classes,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::state::Packet;
use weft_topology::Graph;
use weft_units::Refusal;

/// ECMP on any graph: a hash of the flow selects one of the next hops on shortest paths.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ecmp {
    /// Rule by which the VC class changes along the path.
    #[serde(default)]
    pub classes: ClassRule,
}

/// Rule by which the VC class changes along the path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClassRule {
    /// The VC class rises by one with every hop.
    #[default]
    HopIndex,
    /// All packets use one VC class. Weft refuses `one` if the dependencies of shortest paths form a cycle.
    One,
}

#[derive(Debug, Clone)]
pub struct Runtime {
    classes: Classes,
    distances: Distances,
    rule: ClassRule,
}

impl RoutingModel for Ecmp {
    type Routing = Runtime;
    on_graph::routes_any_graph!();

    fn table_bytes(&self, graph: &Graph) -> u64 {
        on_graph::table_bytes_with_first_ports(graph)
    }

    fn rebuilds(&self) -> bool {
        true
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let distances = Distances::of(graph, "ecmp")?.with_first_ports(graph);
        let classes = match self.classes {
            ClassRule::HopIndex => hop_classes(graph, distances.longest.into(), "ecmp")?,
            ClassRule::One => same_classes(graph, 1),
        };
        Ok(Runtime { classes, distances, rule: self.classes })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![
            Example::of("{}").bound_by_tornado_on_a_ring().bound_by_one_neighbor(),
            Example::of(r#"{"classes": "one"}"#)
                .only_on(&[r#"{"k_ary_n_tree": {"k": 3, "n": 3}}"#, r#"{"fat_tree": {"k": 4}}"#]),
        ]
    }
}

impl Routing for Runtime {
    on_graph::knows_numbers!(sees_terminals: true);

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if at == packet.dest {
            return Some(Hop::to_terminal(packet));
        }
        let class = packet.lane;
        packet.lane += u8::from(self.rule == ClassRule::HopIndex);
        // the hash also depends on the router, because with the same hash of a flow at all routers, flows would use only some of the links
        let flow = hash(seed, packet.src, packet.dst, 0xec << 32 | at);
        let port = self.distances.pick(at as u32, packet.dest as u32, |count| below(flow, count))?;
        Some(Hop { port, class })
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        Step::named(self, at, packet, seed)
    }

    fn rebuild(&self, left: &Graph) -> Result<Box<dyn AnyRouting>, Refusal> {
        Ok(Box::new(Ecmp { classes: self.rule }.build(left)?))
    }

    fn forget_hop(&self, packet: &mut Packet) {
        packet.lane -= u8::from(self.rule == ClassRule::HopIndex);
    }

    /// The check of dependencies assumes that packets take all shortest paths, because there are too many flows to follow each of them.
    fn proof(&self) -> Proof<'_> {
        let all = Proof::TurnsTo {
            destinations: self.distances.wiring.hosts().collect(),
            turns: Box::new(|dest, turn| self.distances.turns_to(dest, turn)),
        };
        match self.rule {
            ClassRule::HopIndex => Proof::Rises { link_first: false, or: Box::new(all) },
            ClassRule::One => all,
        }
    }
}
