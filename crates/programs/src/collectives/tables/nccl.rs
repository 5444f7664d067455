//! The choice of NCCL between ring and tree, by its own estimate of the time.
//!
//! # Source
//! NCCL, `src/graph/tuning.cc` (snapshot of June 2026): latencies of the protocols LL, LL128 and Simple, and their
//! efficiencies.
//!
//! # Parameters
//! `node`: accelerators of a node \[count\] (default: 8). `bus`: bus bandwidth of a ring \[bytes per s\] (default: 370 GB/s,
//! the bandwidth of 8 interfaces of 400 Gb/s). `hierarchical`: all-reduce first inside nodes, then between nodes (default:
//! no).
//!
//! # Guarantees
//! All-reduce: ring or double tree, each with three protocols; the combination with the smallest estimated time is chosen.
//! All-gather and reduce-scatter: ring. Broadcast and reduce: a chain with segments of 1 MiB. All-to-all: pairwise.
//!
//! # Not modelled
//! The latencies of NCCL's protocols: here they only influence the choice of the algorithm. NVLS, CollNet and PAT. Several
//! channels per rank.
//!
//! # Validation
//! The tests of this file: estimates computed by hand. `laws/data_flow.rs`: every algorithm that the table chooses.

use super::Chooses;
use crate::amounts::Bytes;
use crate::collectives::algorithms::AlgorithmConfig::{self, *};
use crate::collectives::algorithms::{bruck, chain, double_tree, hierarchical, linear, pairwise, ring};
use crate::collectives::call::Call;
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ring or tree, chosen by NCCL's estimate of the time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nccl {
    /// Number of accelerators of a node.
    #[serde(default = "eight")]
    #[schemars(range(min = 1))]
    pub node: u32,
    /// Bus bandwidth of a ring [bytes per s], as a size: "370GB".
    #[serde(default = "bus")]
    pub bus: Bytes,
    /// True if an all-reduce runs first inside nodes, then between nodes.
    #[serde(default)]
    pub hierarchical: bool,
}

fn eight() -> u32 {
    8
}

fn bus() -> Bytes {
    Bytes(370_000_000_000)
}

impl Default for Nccl {
    fn default() -> Self {
        Self { node: eight(), bus: bus(), hierarchical: false }
    }
}

/// A protocol: latencies \[us\] of tree and ring, and the shares of the bandwidth that tree and ring reach. Latencies are
/// those of the base, of a hop inside of a node, and of a hop of the network.
struct Protocol {
    tree: [f64; 3],
    ring: [f64; 3],
    efficiency: [f64; 2],
}

const PROTOCOLS: [Protocol; 3] = [
    Protocol { tree: [6.8, 0.6, 5.0], ring: [6.6, 0.6, 2.7], efficiency: [1.0 / 3.8, 0.5] },
    Protocol { tree: [14.0, 1.25, 8.5], ring: [14.0, 1.9, 4.0], efficiency: [0.92, 0.92] },
    Protocol { tree: [8.4, 4.0, 14.0], ring: [8.4, 3.4, 14.0], efficiency: [0.92, 1.0] },
];

impl Nccl {
    /// Estimated times of an all-reduce by tree and by ring [us], each with its best protocol.
    fn estimates(&self, call: &Call) -> [f64; 2] {
        let ranks = f64::from(call.ranks);
        let in_node = call.ranks.min(self.node.max(1));
        let nodes = f64::from(call.ranks.div_ceil(in_node));
        let bytes_per_us = self.bus.0.max(1) as f64 / 1e6;
        let best = |time: &dyn Fn(&Protocol) -> f64| PROTOCOLS.iter().map(time).fold(f64::INFINITY, f64::min);
        let tree = best(&|protocol: &Protocol| {
            let [base, inside, network] = protocol.tree;
            let latency = base + 2.0 * (f64::from(in_node - 1) * inside + nodes.log2() * network);
            latency + call.bytes as f64 / (bytes_per_us * protocol.efficiency[0] / 2.0)
        });
        let ring = best(&|protocol: &Protocol| {
            let [base, inside, network] = protocol.ring;
            let (steps, across) = (2.0 * (ranks - 1.0), 2.0 * (nodes - 1.0));
            let latency = base + (steps - across) * inside + across * network;
            latency + call.bytes as f64 / (bytes_per_us * protocol.efficiency[1] * ranks / steps)
        });
        [tree, ring]
    }

    fn all_reduce(&self, call: &Call) -> AlgorithmConfig {
        if self.hierarchical && call.ranks > self.node && self.node > 1 && call.ranks.is_multiple_of(self.node) {
            return Hierarchical(hierarchical::Hierarchical { node: self.node });
        }
        let [tree, ring] = self.estimates(call);
        if tree < ring {
            DoubleTree(double_tree::DoubleTree { segment: Some(SEGMENT) })
        } else {
            Ring(ring::Ring::default())
        }
    }
}

/// Size of a segment: a slice of NCCL's buffers.
const SEGMENT: Bytes = Bytes(1 << 20);

impl Chooses for Nccl {
    fn choose(&self, call: &Call) -> AlgorithmConfig {
        match call.operation {
            Operation::AllReduce => self.all_reduce(call),
            Operation::AllGather | Operation::ReduceScatter => Ring(ring::Ring::default()),
            Operation::Broadcast | Operation::Reduce => Chain(chain::Chain { segment: Some(SEGMENT) }),
            Operation::AllToAll => Pairwise(pairwise::Pairwise {}),
            Operation::Gather | Operation::Scatter => Linear(linear::Linear {}),
            Operation::Barrier => Bruck(bruck::Bruck {}),
        }
    }

    fn examples() -> Vec<Self> {
        vec![Self::default(), Self { node: 4, hierarchical: true, ..Self::default() }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(ranks: u32, bytes: u64) -> Call<'static> {
        Call { operation: Operation::AllReduce, ranks, me: 0, root: 0, bytes, sizes: None, of_vector: false }
    }

    #[test]
    fn latencies_on_64_nodes_are_those_worked_out_by_hand() {
        // A few bytes, so the bandwidth has almost no effect. Tree, LL: 6.8 + 2 (7 * 0.6 + 6 * 5) = 75.2 us. Ring, LL: 2 *
        // 511 = 1,022 steps, 126 of them between nodes: 6.6 + 896 * 0.6 + 126 * 2.7 = 884.4 us.
        let [tree, ring] = Nccl::default().estimates(&call(512, 0));
        assert!((tree - 75.2).abs() < 1e-9 && (ring - 884.4).abs() < 1e-9, "{tree} {ring}");
    }

    #[test]
    fn a_tree_is_for_small_messages_of_many_nodes_and_a_ring_for_large_ones() {
        let name = |ranks, bytes| Nccl::default().choose(&call(ranks, bytes)).name();
        assert_eq!(name(512, 1 << 16), "double_tree");
        // 8 accelerators, 8 GiB: tree 8 GiB / (370 GB/s * 0.92 / 2) = 50 ms, ring 8 GiB / (370 GB/s * 8 / 14) = 41 ms
        assert_eq!(name(8, 8 << 30), "ring");
        assert_eq!(Nccl { hierarchical: true, ..Nccl::default() }.choose(&call(64, 1 << 30)).name(), "hierarchical");
    }
}
