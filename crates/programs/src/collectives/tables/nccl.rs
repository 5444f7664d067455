//! The choice that NCCL makes between ring and tree, from its estimate of the times.
//!
//! # Source
//! The source code of NCCL (snapshot of June 2026). `src/graph/tuning.cc`: latencies of the protocols LL, LL128 and
//! Simple, and the shares of the bandwidth that they reach. `src/enqueue.cc` (`calcCollChunking`): chunk size of each
//! protocol, with the default sizes of buffers.
//!
//! # Parameters
//! `node`: number of accelerators of a node \[count\] (default: 8). `bus`: bus bandwidth of a ring \[bytes per s\] (default:
//! 370 GB/s, about the bandwidth of 8 interfaces of 400 Gb/s). `hierarchical`: whether an all-reduce runs first inside
//! nodes, and then between nodes (default: no).
//!
//! # Guarantees
//! All-reduce: ring or double tree, each with three protocols. The table chooses the combination with the smallest estimated
//! time. The segments of a tree have the size of the chunks of its protocol. The chunks have 32 KiB for LL and 512 KiB for
//! Simple. For LL128 the chunks have 17,280 to 576,000 bytes. Shorter vectors have smaller chunks. All-gather and
//! reduce-scatter: ring. Broadcast and reduce: a chain with segments of 512 KiB. All-to-all: pairwise.
//!
//! # Not modelled
//! The latencies of NCCL's protocols in the run itself: they only influence the choice of the algorithm. The algorithms
//! NVLS, CollNet and PAT. Several channels per rank: a ring has one channel, and a double tree has one for each of its
//! two trees.
//!
//! # Validation
//! The tests of this file compare estimates with values computed by hand. `laws/data_flow.rs` checks every algorithm
//! that the table chooses.

use super::Chooses;
use crate::amounts::Bytes;
use crate::collectives::algorithms::AlgorithmConfig::{self, *};
use crate::collectives::algorithms::{bruck, chain, double_tree, hierarchical, linear, pairwise, ring};
use crate::collectives::call::Call;
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ring or tree: the one that is faster by NCCL's estimate of the times.
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
    /// Whether an all-reduce runs first inside nodes, and then between nodes.
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

/// A protocol of NCCL: its latencies \[us\] for tree and ring, and the shares of the bandwidth that tree and ring reach. The three
/// latencies are: a constant, a hop inside a node, and a hop between nodes.
struct Protocol {
    tree: [f64; 3],
    ring: [f64; 3],
    efficiency: [f64; 2],
    /// Largest chunk of a tree \[bytes\]. A buffer of the protocol has 8 parts (NCCL's steps). A chunk is one of these parts, without the
    /// flags of the protocol.
    chunk: u64,
    /// True if short vectors have smaller chunks.
    adapts: bool,
    /// The size of a chunk is a multiple of this unit \[bytes\].
    grain: u64,
}

const PROTOCOLS: [Protocol; 3] = [
    Protocol {
        tree: [6.8, 0.6, 5.0],
        ring: [6.6, 0.6, 2.7],
        efficiency: [1.0 / 3.8, 0.5],
        chunk: 32 << 10,
        adapts: false,
        grain: 16,
    },
    Protocol {
        tree: [14.0, 1.25, 8.5],
        ring: [14.0, 1.9, 4.0],
        efficiency: [0.92, 0.92],
        chunk: 576_000,
        adapts: true,
        grain: 1920,
    },
    Protocol {
        tree: [8.4, 4.0, 14.0],
        ring: [8.4, 3.4, 14.0],
        efficiency: [0.92, 1.0],
        chunk: SEGMENT.0,
        adapts: false,
        grain: 512,
    },
];

/// Returns the protocol with the shortest estimated time, and this time [us].
fn best(time: impl Fn(&Protocol) -> f64) -> (&'static Protocol, f64) {
    let times = PROTOCOLS.iter().map(|protocol| (protocol, time(protocol)));
    times.min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are three protocols")
}

impl Nccl {
    /// Returns the number of ranks per node, and the number of nodes.
    fn nodes(&self, call: &Call) -> (u32, u32) {
        let in_node = call.ranks.min(self.node.max(1));
        (in_node, call.ranks.div_ceil(in_node))
    }

    /// Returns the best protocols of an all-reduce by tree and by ring, with their estimated times [us].
    fn estimates(&self, call: &Call) -> [(&'static Protocol, f64); 2] {
        let ranks = f64::from(call.ranks);
        let (in_node, nodes) = self.nodes(call);
        let nodes = f64::from(nodes);
        let bytes_per_us = self.bus.0.max(1) as f64 / 1e6;
        let tree = best(|protocol| {
            let [base, inside, network] = protocol.tree;
            let latency = base + 2.0 * (f64::from(in_node - 1) * inside + nodes.log2() * network);
            latency + call.bytes as f64 / (bytes_per_us * protocol.efficiency[0] / 2.0)
        });
        let ring = best(|protocol| {
            let [base, inside, network] = protocol.ring;
            let (steps, across) = (2.0 * (ranks - 1.0), 2.0 * (nodes - 1.0));
            let latency = base + (steps - across) * inside + across * network;
            latency + call.bytes as f64 / (bytes_per_us * protocol.efficiency[1] * ranks / steps)
        });
        [tree, ring]
    }

    /// Returns the chunk size of a tree \[bytes\]. LL128 halves the chunk while a tree has too few chunks to keep all
    /// its levels busy.
    fn chunk(&self, protocol: &Protocol, call: &Call) -> Bytes {
        let mut chunk = protocol.chunk;
        if protocol.adapts {
            let (_, nodes) = self.nodes(call);
            let per_node = f64::from(call.ranks) / f64::from(nodes);
            let levels = 1.0 + f64::from(nodes.ilog2()) + 0.1 * per_node;
            for (chunks, least) in [(64.0, 131_072), (16.0, 32_768)] {
                while ((call.bytes / (TREES * chunk)) as f64) < levels * chunks / per_node && chunk > least {
                    chunk /= 2;
                }
            }
        }
        Bytes(chunk / protocol.grain * protocol.grain)
    }

    fn all_reduce(&self, call: &Call) -> AlgorithmConfig {
        if self.hierarchical && call.ranks > self.node && self.node > 1 && call.ranks.is_multiple_of(self.node) {
            return Hierarchical(hierarchical::Hierarchical { node: self.node });
        }
        let [(protocol, tree), (_, ring)] = self.estimates(call);
        if tree < ring {
            DoubleTree(double_tree::DoubleTree { segment: Some(self.chunk(protocol, call)) })
        } else {
            Ring(ring::Ring::default())
        }
    }
}

/// Size of a segment: one of the 8 parts of a buffer of 4 MiB.
const SEGMENT: Bytes = Bytes(512 << 10);
/// Number of trees of a double tree. Each tree is a channel with half of the vector.
const TREES: u64 = 2;

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
        // The vector has a few bytes, so the bandwidth has almost no effect on the estimates. Tree with LL: a constant of
        // 6.8 us. The way up and the way down each have 7 hops of 0.6 us inside a node, and 6 hops of 5 us between nodes:
        // 6.8 + 2 (7 * 0.6 + 6 * 5) = 75.2 us. Ring with LL: 2 * 511 = 1,022 steps, 126 of them between nodes:
        // 6.6 + 896 * 0.6 + 126 * 2.7 = 884.4 us.
        let [tree, ring] = Nccl::default().estimates(&call(512, 0)).map(|(_, time)| time);
        assert!((tree - 75.2).abs() < 1e-9 && (ring - 884.4).abs() < 1e-9, "{tree} {ring}");
    }

    #[test]
    fn segments_of_trees_are_the_chunks_of_their_protocol() {
        let segment = |ranks, bytes| match Nccl::default().choose(&call(ranks, bytes)) {
            DoubleTree(double_tree::DoubleTree { segment }) => segment.unwrap().0,
            other => panic!("{} in place of a tree", other.name()),
        };
        // LL
        assert_eq!(segment(64, 64 << 10), 32 << 10);
        assert_eq!(segment(64, 1 << 20), 32 << 10);
        // LL128 on 8 nodes of 8 accelerators: a tree has 1 + 3 + 0.8 = 4.8 levels. With 16 MiB a tree has 29 chunks of 288,000 bytes, fewer
        // than the limit of 4.8 * 64 / 8 = 38.4. With 4 MiB a tree has 14 chunks of 144,000 bytes, which are also too few. Its 29 chunks of
        // 72,000 bytes are enough, because chunks below 131,072 bytes have a lower limit (4.8 * 16 / 8 = 9.6). The chunk size is a multiple
        // of 1,920 bytes: 37 * 1,920 = 71,040.
        assert_eq!(segment(64, 4 << 20), 71_040);
        assert_eq!(segment(64, 16 << 20), 144_000);
        assert_eq!(segment(64, 64 << 20), 576_000);
    }

    #[test]
    fn a_tree_is_for_small_messages_of_many_nodes_and_a_ring_for_large_ones() {
        let name = |ranks, bytes| Nccl::default().choose(&call(ranks, bytes)).name();
        assert_eq!(name(512, 1 << 16), "double_tree");
        // 8 accelerators and 8 GiB: the tree takes 8 GiB / (370 GB/s * 0.92 / 2) = 50 ms, and the ring takes
        // 8 GiB / (370 GB/s * 8 / 14) = 41 ms
        assert_eq!(name(8, 8 << 30), "ring");
        assert_eq!(Nccl { hierarchical: true, ..Nccl::default() }.choose(&call(64, 1 << 30)).name(), "hierarchical");
    }
}
