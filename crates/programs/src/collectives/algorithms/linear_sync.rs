//! A gather in which the root requests data from one rank after the other.
//!
//! # Source
//! Open MPI 1.6.5, component `tuned` of its collectives.
//!
//! # Parameters
//! `first`: bytes of the first message of each rank; the second message has the rest.
//!
//! # Guarantees
//! The root requests a rank's data by a message of 1 byte. It requests the data of the next rank when the first message
//! of this rank has arrived.
//!
//! # Not modelled
//! The time of a sum, unless `sum_per_byte` is set; copies of data within a rank.
//!
//! # Validation
//! `laws/data_flow.rs` checks, for 2 to 65 ranks, that every rank gets the right data, and the bytes of each message.

use super::Expands;
use crate::amounts::Bytes;
use crate::collectives::call::{Call, Piece};
use crate::collectives::steps::{Into, Steps};
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A gather in which the root requests data from one rank after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinearSync {
    /// Bytes of the first message of each rank.
    pub first: Bytes,
}

impl Expands for LinearSync {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Gather]
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        let halves = |rank: u32| {
            let Piece { block, bytes, .. } = call.block(rank.into());
            let first = bytes.min(self.first.0);
            [Piece { block, start: 0, bytes: first }, Piece { block, start: first, bytes: bytes - first }]
        };
        if call.me != call.root {
            steps.hear(call.root, 0);
            steps.next();
            for (round, half) in (1..).zip(halves(call.me)) {
                steps.send(call.root, round, std::iter::once(half));
            }
            return;
        }
        for other in (1..call.ranks).map(|by| call.ahead(by)) {
            let [first, second] = halves(other);
            // the second message of a rank may arrive after the next rank has been notified
            steps.receive_aside(other, 2, std::iter::once(second));
            steps.receive(other, 1, Into::Copy, std::iter::once(first));
            steps.notify(other, 0);
            steps.next();
        }
    }

    fn examples() -> Vec<Self> {
        [2, 1024].map(|first| Self { first: Bytes(first) }).into()
    }
}
