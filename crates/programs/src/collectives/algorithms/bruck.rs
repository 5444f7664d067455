//! Bruck's algorithm.
//!
//! # Source
//! Open MPI 1.6.5, component `tuned` of its collectives. J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for all-to-all communications in multiport message-passing systems" (TPDS 1997).
//!
//! # Parameters
//! None.
//!
//! # Guarantees
//! Round k has partners at distance 2^k, in ceil(log2 n) rounds. All-gather sends up to 2^k blocks to the rank behind. All-to-all sends every block whose distance to its receiver has bit k to the rank ahead. Barrier: dissemination.
//!
//! # Not modelled
//! The time of a sum, unless the rules give one; copies inside of a rank.
//!
//! # Validation
//! `laws/data_flow.rs`: the right data at every rank, and the bytes of each message, for 2 to 65 ranks.

use super::Expands;
use crate::collectives::call::Call;
use crate::collectives::steps::{Into, Steps};
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Partners at distances 1, 2, 4, ... on a ring.
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
                    // a rank holds a block after the lower bits of its offset have been travelled
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
