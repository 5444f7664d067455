//! Two trees of all ranks, each of which carries half of the vector.
//!
//! # Source
//! P. Sanders, J. Speck, J. L. Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan" (Parallel Computing
//! 2009), with the trees of NCCL.
//!
//! # Parameters
//! `segment`: size of a segment \[bytes\] (default: each half is one segment).
//!
//! # Guarantees
//! Each tree sums its half of the vector up to its root, and then sends the sum down again, segment by segment. Most inner ranks of one
//! tree are leaves of the other tree. For an even number of ranks, the second tree is the mirror image of the first tree. For an odd
//! number, it is the first tree shifted by one rank.
//!
//! # Not modelled
//! The time that a rank needs to sum data, unless `sum_per_byte` is set. Copies of data within a rank. The overlap of summing and
//! sending down: in the real algorithm, a summed segment travels down while other segments are still summed. Here the root begins to
//! send down only after it has summed all segments.
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

use crate::amounts::Bytes;
use crate::collectives::tree::{Place, down, up};

/// Two trees of all ranks, each of which carries half of the vector.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DoubleTree {
    /// Size of a segment. Default: each half is one segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<Bytes>,
}

/// Returns the parent of a rank in the first tree. The number of the parent is the number of the rank, with its lowest set bit moved up
/// by one place. If no rank has this number, the lowest set bit is cleared instead.
fn parent(rank: u32, ranks: u32) -> Option<u32> {
    let bit = 1u32.checked_shl(rank.trailing_zeros())?;
    let up = rank ^ bit | bit << 1;
    Some(if up < ranks { up } else { rank ^ bit })
}

/// Returns parent and children of a rank in the first tree.
fn place(rank: u32, ranks: u32) -> Place {
    let children = (1..ranks).filter(|&other| parent(other, ranks) == Some(rank));
    Place { parent: parent(rank, ranks), children: children.collect() }
}

/// Returns parent and children of a rank in the second tree.
fn second(rank: u32, ranks: u32) -> Place {
    // the second tree is mirrored for an even number of ranks, otherwise shifted by one
    let there = |rank: u32| if ranks.is_multiple_of(2) { ranks - 1 - rank } else { (rank + ranks - 1) % ranks };
    let back = |rank: u32| if ranks.is_multiple_of(2) { ranks - 1 - rank } else { (rank + 1) % ranks };
    let Place { parent, children } = place(there(rank), ranks);
    Place { parent: parent.map(back), children: children.into_iter().map(back).collect() }
}

impl Expands for DoubleTree {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::AllReduce]
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        let segment = self.segment.map_or(0, |segment| segment.0);
        let first = call.bytes.div_ceil(2);
        let halves =
            [Piece { block: 0, start: 0, bytes: first }, Piece { block: 0, start: first, bytes: call.bytes - first }];
        let places = [place(call.me, call.ranks), second(call.me, call.ranks)];
        for (lane, (place, half)) in places.iter().zip(halves).enumerate() {
            steps.in_lane(lane);
            let rounds = lane as u32 * (1 << 30);
            up(place, half, segment, rounds, steps);
            down(place, half, segment, rounds + (1 << 29), steps);
        }
        steps.join();
    }

    fn examples() -> Vec<Self> {
        vec![Self::default(), Self { segment: Some(Bytes(7)) }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_but_one_is_a_leaf_of_one_of_the_trees_at_most_powers_of_two() {
        for ranks in [4u32, 8, 16, 64] {
            for rank in 0..ranks {
                let inner = [place(rank, ranks), second(rank, ranks)].map(|place| !place.children.is_empty());
                assert!(inner != [true; 2] || rank == 0 || rank == ranks - 1, "{rank} of {ranks}: {inner:?}");
            }
        }
    }
}
