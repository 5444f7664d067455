//! ECMP on any graph: among the next hops of shortest paths, one by a hash of the flow (source and destination terminal).
//!
//! # Source
//! C. Hopps, RFC 2992, "Analysis of an Equal-Cost Multi-Path Algorithm", 2000 (hash of the flow, modulo the next hops).
//! # Parameters
//! classes: how the VC class changes along the path (`hop_index`, `one`).
//! # Guarantees
//! Minimal; all packets of a flow take one path, which the seed decides. `hop_index`: as many VC classes as links on the
//! longest of the shortest paths, acyclic on every graph. `one`: one class; the check of dependencies decides (trees
//! pass, rings don't). One byte of table per router and router with terminals, at most 1 GiB, and eight more where these
//! take 16 MiB at most.
//! Under faults: the first tables take account of every link and router that is broken from the start. After a later
//! fault, and `fault_model.rebuild_delay`, all routers know the shortest paths of the rest of the network. Until then heads at a
//! broken link wait. Packets to routers that are cut off are discarded, and with `hop_index` those whose path has
//! become longer than there are classes.
//! # Not modelled
//! Flows other than terminal to terminal; unequal weights.
//! # Validation
//! On every legal topology: `engine/tests/theory.rs` (latency without contention to the cycle),
//! `conformance/src/routing.rs` (nothing lost), `engine/tests/stall.rs` (no stall in the smallest buffers).
//! `engine/tests/paths.rs`: one of the shortest paths for each flow, the flows of a leaf over all links up;
//! `engine/tests/bounds.rs`: bounds of a ring and a full mesh are reached. No other simulator was compared.

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

/// ECMP on any graph: among the next hops of shortest paths, one by a hash of the flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ecmp {
    /// How the VC class changes along the path.
    #[serde(default)]
    pub classes: ClassRule,
}

/// How the VC class changes along the path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClassRule {
    /// One class more with every hop.
    #[default]
    HopIndex,
    /// One class: refused where shortest paths close a cycle.
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
        // each router has a hash of its own: if all routers chose alike, some links would never be used
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

    /// There are too many flows to follow each, so the check takes all shortest paths at the same time.
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
