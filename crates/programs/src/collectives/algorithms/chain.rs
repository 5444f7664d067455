//! A chain of ranks, segment by segment.
//!
//! # Source
//! Open MPI 1.6.5, component `tuned` of its collectives.
//!
//! # Parameters
//! `segment`: bytes of a segment (default: the whole vector is one segment).
//!
//! # Guarantees
//! With ranks numbered from the root, rank v receives from v - 1 and sends to v + 1; a reduce sends in the opposite direction. A rank
//! receives a segment while it sends the previous one.
//!
//! # Not modelled
//! The time of a sum, unless `sum_per_byte` is set; copies of data within a rank.
//!
//! # Validation
//! `laws/data_flow.rs` checks, for 2 to 65 ranks, that every rank gets the right data, and the bytes of each message.

use super::Expands;
use crate::amounts::Bytes;
use crate::collectives::call::Call;
use crate::collectives::steps::Steps;
use crate::collectives::tree::{Place, along};
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A chain of ranks, segment by segment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// Bytes of a segment; default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<Bytes>,
}

impl Expands for Chain {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Broadcast, Operation::Reduce]
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        along(Place::chain(call.from_root(), call.ranks), call, self.segment, steps);
    }

    fn examples() -> Vec<Self> {
        vec![Self::default(), Self { segment: Some(Bytes(5)) }]
    }
}
