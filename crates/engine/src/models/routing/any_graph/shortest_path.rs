//! Shortest paths on any graph; the VC class is the hop index.
//!
//! # Source
//! K. D. Gunther, "Prevention of deadlocks in packet-switched data transport systems", IEEE Trans. Commun. 1981 (classes
//! by hop). CAMINOS "Shortest" with one VC step per hop.
//! # Parameters
//! choice among the next hops of shortest paths: `random`, drawn for each packet and hop; `first`, the lowest port.
//! # Guarantees
//! Minimal on every connected graph. As many VC classes as links on the longest of the shortest paths between terminals
//! (at least 1); the class rises with each hop, so dependencies are acyclic. One byte of table per router and router with
//! terminals, at most 1 GiB, and eight more where these take 16 MiB at most.
//! Under faults: after `fault_model.rebuild_delay` all routers know the shortest paths of what is left; until then heads
//! at a broken link wait. Packets to routers that are cut off are discarded, and those whose path has become longer than
//! there are classes.
//! # Not modelled
//! A choice by congestion; weights of links.
//! # Validation
//! On every legal topology: `engine/tests/theory.rs` (latency without contention to the cycle),
//! `engine/tests/conservation.rs` (nothing lost), `engine/tests/stall.rs` (no stall in the smallest buffers).
//! `engine/tests/paths.rs`: `random` takes all shortest paths that a search finds; `engine/tests/bounds.rs`: bounds of
//! rings and butterflies are reached. No rows of a peer.

use crate::api::coordinates;
use crate::models::routing::on_graph::{self, Distances};
use crate::models::routing::{
    AnyRouting, AroundFaults, Classes, Example, Hop, Needs, Proof, Routing, RoutingModel, Step, below, class_per_hop,
    draw, same_classes,
};
use crate::state::Packet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_topology::Graph;
use weft_units::Refusal;

/// Shortest paths on any graph; the VC class is the hop index.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortestPath {
    /// Which of the next hops of shortest paths.
    #[serde(default)]
    pub choice: Among,
}

/// Which of several next hops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Among {
    /// Drawn for each packet and hop, all equally likely.
    #[default]
    Random,
    /// The one on the lowest port.
    First,
}

#[derive(Debug, Clone)]
pub struct Runtime {
    classes: Classes,
    distances: Distances,
    choice: Among,
}

/// A class for each hop of the longest path.
pub(super) fn hop_classes(graph: &Graph, distances: &Distances, name: &str) -> Result<Classes, Refusal> {
    let help = "take the routing made for this topology; on a tree, ecmp with classes: one; or a table with classes";
    let classes = class_per_hop(distances.longest.into(), format!("routing.{name}"), help)?;
    Ok(same_classes(graph, classes))
}

impl RoutingModel for ShortestPath {
    type Routing = Runtime;
    const ROUTES: &'static str = "any graph";
    const CAN_BE_A_LEG: bool = true;

    fn fits(_: &Graph) -> bool {
        true
    }

    fn table_bytes(&self, graph: &Graph) -> u64 {
        on_graph::table_bytes_with_first_ports(graph)
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let distances = Distances::of(graph, "shortest_path")?.with_first_ports(graph);
        Ok(Runtime { classes: hop_classes(graph, &distances, "shortest_path")?, distances, choice: self.choice })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![
            Example::of("{}").bound_by_tornado_on_a_ring().bound_by_tornado_on_a_grid().bound_by_one_neighbor(),
            Example::of(r#"{"choice": "first"}"#).bound_by_tornado_on_a_ring(),
        ]
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs { classes: self.classes.clone(), ..Needs::default() }
    }

    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        coordinates::numbers(graph)
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if at == packet.dest {
            return Some(Hop::to_terminal(packet));
        }
        let class = packet.lane;
        packet.lane += 1;
        let number = |count| match self.choice {
            Among::First => 0,
            Among::Random => below(draw(seed, packet, 0x3d + u64::from(class)), count),
        };
        let port = self.distances.pick(at as u32, packet.dest as u32, number)?;
        Some(Hop { port, class })
    }

    /// A hop on every port that begins a shortest path, or to the terminal.
    fn steps(&self, at: u64, packet: &Packet, _seed: u64) -> Vec<Step> {
        if at == packet.dest {
            return vec![Step::deliver(packet)];
        }
        let (class, after) = (packet.lane, Packet { lane: packet.lane + 1, ..*packet });
        let most = if self.choice == Among::First { 1 } else { usize::MAX };
        let ports = self.distances.ports(at as u32, packet.dest as u32).take(most);
        ports.map(|port| Step { hop: Hop { port, class }, after, cost: None }).collect()
    }

    fn around_faults(&self) -> AroundFaults {
        AroundFaults::Rebuilds
    }

    fn rebuild(&self, left: &Graph) -> Result<Box<dyn AnyRouting>, Refusal> {
        Ok(Box::new(ShortestPath { choice: self.choice }.build(left)?))
    }

    fn forget_hop(&self, packet: &mut Packet) {
        packet.lane -= 1;
    }

    fn proof(&self) -> Proof<'_> {
        Proof::rises()
    }

    fn draws_hops(&self) -> bool {
        self.choice == Among::Random
    }
}
