//! A hierarchical all-reduce: first inside each node, then between the nodes.
//!
//! # Source
//! The hierarchical scheme of NCCL and of rail-optimised clusters: first among the ranks of a node, then among the ranks with the same
//! index in all nodes.
//!
//! # Parameters
//! `node`: number of ranks per node \[count\]; ranks 0 to `node` - 1 are the first node.
//!
//! # Guarantees
//! The all-reduce has three parts. First, each node does a reduce-scatter on a ring of its ranks. Second, the ranks with the same
//! index in all nodes do an all-reduce on a ring. Third, each node does an all-gather. The ranks of a node share the messages
//! between nodes. Between nodes, a rank sends about 1/`node` of the bytes of an all-reduce on one ring of all ranks.
//!
//! # Not modelled
//! The time that a rank needs to sum data, unless `sum_per_byte` is set. Copies of data within a rank.
//!
//! # Validation
//! For 2 to 65 ranks, `laws/data_flow.rs` checks that every rank gets the right data. It also checks the size of each
//! message.

use super::Expands;
use crate::collectives::call::{Call, Piece};
use crate::collectives::steps::Steps;
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ring::Circle;
use crate::collectives::call::part;

/// Rings of the ranks inside each node, and rings between the nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hierarchical {
    /// Number of ranks of a node.
    #[schemars(range(min = 1))]
    pub node: u32,
}

impl Expands for Hierarchical {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::AllReduce]
    }

    fn refuses(&self, call: &Call) -> Option<(String, String)> {
        let what = || format!("{} ranks can't be divided into nodes of {} ranks", call.ranks, self.node);
        let is_whole = self.node > 0 && call.ranks.is_multiple_of(self.node);
        (!is_whole).then(|| (what(), "write a `node` that divides the number of ranks".into()))
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        let (node, nodes) = (self.node, call.ranks / self.node);
        let (place, number) = (call.me % node, call.me / node);
        let inside: Vec<u32> = (0..node).map(|place| number * node + place).collect();
        let across: Vec<u32> = (0..nodes).map(|number| number * node + place).collect();
        let inside = Circle { ranks: &inside, me: place as usize };
        let across = Circle { ranks: &across, me: number as usize };
        let share = |place: usize| {
            let (start, bytes) = part(call.bytes, node.into(), place as u64);
            Piece { block: 0, start, bytes }
        };
        let own = share(place as usize);
        let part_of_own = |number: usize| {
            let (start, bytes) = part(own.bytes, nodes.into(), number as u64);
            Piece { start: own.start + start, bytes, ..own }
        };
        let mut rounds = inside.reduce_scatter(share, 0, 0, steps);
        rounds = across.reduce_scatter(part_of_own, 0, rounds, steps);
        // parts can differ by a byte, so ranks at different positions can have used different numbers of rounds. The all-gather
        // therefore begins at a round number that is above the rounds of all ranks
        rounds = across.all_gather(part_of_own, rounds.max(4 * call.ranks), steps);
        inside.all_gather(share, rounds, steps);
    }

    fn examples() -> Vec<Self> {
        [1, 2, 4, 5].map(|node| Self { node }).into()
    }
}
