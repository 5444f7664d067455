//! Recursive halving.
//!
//! # Source
//! The implementation in Open MPI 1.6.5 (component `tuned` of its collectives).
//!
//! # Parameters
//! None.
//!
//! # Guarantees
//! For n ranks, p is the largest power of 2 that is at most n. The first 2 (n - p) ranks form pairs. In each pair, one
//! rank sends its data to the other rank, and does not take part in the rounds. The remaining p ranks exchange half of
//! their data with ranks at the distances p/2, p/4, ..., 1. At the end, the other rank of each pair gets its block of
//! the result.
//!
//! # Not modelled
//! The time that a rank needs to sum data, unless `sum_per_byte` is set. Copies of data within a rank.
//!
//! # Validation
//! For 2 to 65 ranks, `laws/data_flow.rs` checks that every rank gets the right data. It also checks the size of each
//! message.

use super::Expands;
use crate::collectives::call::Call;
use crate::collectives::steps::{Into, Steps};
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Each rank exchanges half of its data with ranks at halved distances.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecursiveHalving {}

impl Expands for RecursiveHalving {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::ReduceScatter]
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        let power = 1u32 << call.ranks.ilog2();
        let folded = call.ranks - power;
        let whole = || std::iter::once(crate::collectives::tree::whole(call));
        // returns the blocks of the ranks with the numbers `first..end` among the p ranks of the rounds, and the
        // blocks of their partners in pairs
        let range = |first: u32, end: u32| {
            let begin = |number: u32| if number < folded { 2 * number } else { number + folded };
            (begin(first)..begin(end)).map(|rank| call.share(rank))
        };
        let last = u32::BITS;
        let me = if call.me >= 2 * folded {
            call.me - folded
        } else if call.me.is_multiple_of(2) {
            steps.send(call.me + 1, last, whole());
            steps.next();
            return steps.receive(call.me + 1, last + 1, Into::Copy, std::iter::once(call.share(call.me)));
        } else {
            steps.receive(call.me - 1, last, Into::Sum, whole());
            steps.next();
            call.me / 2
        };
        for bit in (0..power.ilog2()).rev() {
            let partner = me ^ (1 << bit);
            let half = |number: u32| {
                let first = number >> bit << bit;
                range(first, first + (1 << bit))
            };
            let rank = if partner < folded { 2 * partner + 1 } else { partner + folded };
            steps.receive(rank, bit, Into::Sum, half(me));
            steps.send(rank, bit, half(partner));
            steps.next();
        }
        if call.me < 2 * folded {
            steps.send(call.me - 1, last + 1, std::iter::once(call.share(call.me - 1)));
        }
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}
