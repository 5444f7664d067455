//! A broadcast that sends each half of the vector down one of two binary trees, and then exchanges the halves.
//!
//! # Source
//! The implementation in Open MPI 1.6.5 (component `tuned` of its collectives).
//!
//! # Parameters
//! `segment`: size of a segment \[bytes\].
//!
//! # Guarantees
//! The root sends the first half of the vector down a binary tree of the first half of the ranks. The root sends the second half down a
//! tree of the other ranks. Rank k of each tree then sends its half to rank k of the other tree. If the first tree has one rank more
//! than the second, its last rank has no partner, and gets the second half from the root.
//!
//! # Not modelled
//! The time that a rank needs to sum data, unless `sum_per_byte` is set. Copies of data within a rank.
//!
//! # Validation
//! For 2 to 65 ranks, `laws/data_flow.rs` checks that every rank gets the right data. It also checks the size of each
//! message.

use super::Expands;
use crate::amounts::Bytes;
use crate::collectives::call::{Call, Piece};
use crate::collectives::steps::{Into, Steps};
use crate::collectives::tree::{Place, down};
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The halves of the vector travel down two binary trees, and are then exchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SplitBinary {
    /// Size of a segment.
    pub segment: Bytes,
}

/// First round number of the messages in the second tree; `EXCHANGE` is the first round number in the exchange of halves.
const SECOND: u32 = 1 << 30;
const EXCHANGE: u32 = 1 << 31;

impl Expands for SplitBinary {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Broadcast]
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        let first = call.vector().div_ceil(2);
        let halves = [
            Piece { block: 0, start: 0, bytes: first },
            Piece { block: 0, start: first, bytes: call.vector() - first },
        ];
        let in_first = (call.ranks - 1).div_ceil(2);
        // ranks are counted from the root, which is above both trees: the first tree has numbers 1 to in_first, and the second tree has
        // the rest
        let trees = [(1, in_first), (1 + in_first, call.ranks - 1 - in_first)];
        let me = call.from_root();
        if me == 0 {
            for (side, (begin, count)) in trees.into_iter().enumerate() {
                steps.in_lane(side);
                let children = (count > 0).then(|| call.rank(begin)).into_iter().collect();
                down(&Place { parent: None, children }, halves[side], self.segment.0, side as u32 * SECOND, steps);
            }
            steps.join();
            if in_first > trees[1].1 {
                steps.send(call.rank(in_first), EXCHANGE, std::iter::once(halves[1]));
            }
            return;
        }
        let side = usize::from(me > in_first);
        let (begin, count) = trees[side];
        let own = me - begin;
        let in_tree = Place::binary(own, count);
        let rank = |number: u32| call.rank(number + begin);
        let parent = Some(in_tree.parent.map_or(call.root, rank));
        let place = Place { parent, children: in_tree.children.into_iter().map(rank).collect() };
        down(&place, halves[side], self.segment.0, side as u32 * SECOND, steps);
        let (other_begin, other_count) = trees[1 - side];
        if own < other_count {
            let partner = call.rank(other_begin + own);
            steps.receive(partner, EXCHANGE, Into::Copy, std::iter::once(halves[1 - side]));
            steps.send(partner, EXCHANGE, std::iter::once(halves[side]));
        } else {
            steps.receive(call.root, EXCHANGE, Into::Copy, std::iter::once(halves[1 - side]));
        }
    }

    fn examples() -> Vec<Self> {
        [4, 1024].map(|segment| Self { segment: Bytes(segment) }).into()
    }
}
