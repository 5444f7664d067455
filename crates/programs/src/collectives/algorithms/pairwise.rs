//! Pairwise exchange.
//!
//! # Source
//! The implementation in Open MPI 1.6.5 (component `tuned` of its collectives). The sends and receives of an all-to-all
//! in NCCL.
//!
//! # Parameters
//! None.
//!
//! # Guarantees
//! An all-to-all or all-gather among n ranks takes n - 1 steps. In step s each rank sends to the rank that is s ahead,
//! and receives from the rank that is s behind. A barrier needs exactly 2 ranks.
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

/// Pairwise exchange: in each step a rank sends to one partner and receives from another.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pairwise {}

impl Expands for Pairwise {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::AllToAll, Operation::AllGather, Operation::Barrier]
    }

    fn refuses(&self, call: &Call) -> Option<(String, String)> {
        let can = call.operation != Operation::Barrier || call.ranks == 2;
        let what = || format!("a pairwise barrier needs exactly 2 ranks, but there are {}", call.ranks);
        (!can).then(|| (what(), "write bruck or recursive_doubling".into()))
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        for step in 1..call.ranks {
            let (ahead, behind) = (call.ahead(step), call.behind(step));
            let block = |from: u32, to: u32| {
                let of_pair = u64::from(from) * u64::from(call.ranks) + u64::from(to);
                let is_gather = call.operation == Operation::AllGather;
                std::iter::once(call.block(if is_gather { from.into() } else { of_pair }))
            };
            if call.operation == Operation::Barrier {
                steps.hear(behind, step);
                steps.notify(ahead, step);
            } else {
                steps.receive(behind, step, Into::Copy, block(behind, call.me));
                steps.send(ahead, step, block(call.me, ahead));
            }
            steps.next();
        }
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}
