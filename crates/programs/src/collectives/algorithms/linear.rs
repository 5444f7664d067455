//! The linear algorithm: all messages are sent at once, directly between the ranks that need them.
//!
//! # Source
//! The implementation in Open MPI 1.6.5 (component `tuned` of its collectives).
//!
//! # Parameters
//! None.
//!
//! # Guarantees
//! Broadcast, reduce, gather and scatter: one message between the root and each other rank. All-to-all: each rank posts all receives,
//! and then all sends. The first send goes to the next rank in the order of rank numbers.
//!
//! # Not modelled
//! The time that a rank needs to sum data, unless `sum_per_byte` is set. Copies of data within a rank.
//!
//! # Validation
//! For 2 to 65 ranks, `laws/data_flow.rs` checks that every rank gets the right data. It also checks the size of each
//! message.

use super::Expands;
use crate::collectives::call::{Call, Piece};
use crate::collectives::steps::{Into, Steps};
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The linear algorithm: all messages are sent at once, directly between the ranks that need them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Linear {}

/// Returns the data that the root exchanges with rank `other`.
fn data(call: &Call, other: u32) -> Piece {
    match call.operation {
        Operation::Gather | Operation::Scatter => call.block(other.into()),
        Operation::Broadcast | Operation::Reduce => crate::collectives::tree::whole(call),
        other => unreachable!("{other:?} is not among its operations"),
    }
}

impl Expands for Linear {
    fn operations(&self) -> &'static [Operation] {
        use Operation::{AllToAll, Broadcast, Gather, Reduce, Scatter};
        &[Broadcast, Reduce, Gather, Scatter, AllToAll]
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        let others = (1..call.ranks).map(|by| call.ahead(by));
        let is_root = call.me == call.root;
        let to_root = matches!(call.operation, Operation::Reduce | Operation::Gather);
        let into = if call.operation == Operation::Reduce { Into::Sum } else { Into::Copy };
        if call.operation == Operation::AllToAll {
            let block = |from: u32, to: u32| call.block(u64::from(from) * u64::from(call.ranks) + u64::from(to));
            for other in others.clone() {
                steps.receive(other, 0, Into::Copy, std::iter::once(block(other, call.me)));
            }
            others.for_each(|other| steps.send(other, 0, std::iter::once(block(call.me, other))));
        } else if is_root {
            for other in others {
                let piece = std::iter::once(data(call, other));
                if to_root { steps.receive(other, 0, into, piece) } else { steps.send(other, 0, piece) }
            }
        } else {
            let piece = std::iter::once(data(call, call.me));
            if to_root { steps.send(call.root, 0, piece) } else { steps.receive(call.root, 0, into, piece) }
        }
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}
