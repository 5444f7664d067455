//! Bruck's algorithm.
//!
//! # Source
//! The implementation in Open MPI 1.6.5 (component `tuned` of its collectives). J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby,
//! "Efficient algorithms for all-to-all communications in multiport message-passing systems" (TPDS 1997).
//!
//! # Parameters
//! None.
//!
//! # Guarantees
//! The algorithm takes ceil(log2 n) rounds for n ranks. In round k, each rank exchanges data with ranks at distance 2^k on a
//! ring. All-gather: in a round, each rank sends up to 2^k blocks to the rank behind it. All-to-all: each rank sends a block to
//! the rank ahead if bit k of the distance to the block's receiver is set. The barrier is a dissemination barrier.
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

/// Each rank exchanges data with ranks at the distances 1, 2, 4, ... on a ring.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bruck {}

impl Expands for Bruck {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Barrier, Operation::AllGather, Operation::AllToAll]
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        let n = call.ranks;
        for bit in (0..u32::BITS).take_while(|&bit| 1u64 << bit < u64::from(n)) {
            let distance = 1u32 << bit;
            let (ahead, behind) = (call.ahead(distance), call.behind(distance));
            match call.operation {
                Operation::AllGather => {
                    let count = distance.min(n - distance);
                    let blocks = |first: u32| (0..count).map(move |k| call.block(((first + k) % n).into()));
                    steps.receive(ahead, bit, Into::Copy, blocks(ahead));
                    steps.send(behind, bit, blocks(call.me));
                }
                Operation::AllToAll => {
                    let far = move || (1..n).filter(move |offset| offset & distance > 0);
                    // `offset` is the distance from the sender of a block to its receiver. Earlier rounds have moved the block by the
                    // lower bits of this offset, so the block now is at `holder`
                    let held = |holder: u32| {
                        far().map(move |offset| {
                            let from = (holder + n - offset % distance) % n;
                            let to = (u64::from(from) + u64::from(offset)) % u64::from(n);
                            call.block(u64::from(from) * u64::from(n) + to)
                        })
                    };
                    steps.receive(behind, bit, Into::Copy, held(behind));
                    steps.send(ahead, bit, held(call.me));
                }
                Operation::Barrier => {
                    steps.hear(behind, bit);
                    steps.notify(ahead, bit);
                }
                other => unreachable!("{other:?} is not among its operations"),
            }
            steps.next();
        }
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}
