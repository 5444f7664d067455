//! A gather in which the root requests the data of one rank after the other.
//!
//! # Source
//! The implementation in Open MPI 1.6.5 (component `tuned` of its collectives).
//!
//! # Parameters
//! `first`: size of the first message of each rank to the root \[bytes\]; the second message has the rest of the
//! rank's data.
//!
//! # Guarantees
//! The root requests the data of a rank with a message of 1 byte. The root sends the request to the next rank when
//! the first message of this rank has arrived.
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
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A gather in which the root requests the data of one rank after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinearSync {
    /// Size of the first message of each rank.
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
            // the second message of a rank can arrive after the request to the next rank
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
