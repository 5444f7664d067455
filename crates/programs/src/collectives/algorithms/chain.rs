//! A chain of ranks, along which data travel segment by segment.
//!
//! # Source
//! The implementation in Open MPI 1.6.5 (component `tuned` of its collectives).
//!
//! # Parameters
//! `segment`: size of a segment \[bytes\] (default: the whole vector is one segment).
//!
//! # Guarantees
//! If ranks are counted from the root, rank v receives from v - 1 and sends to v + 1. A reduce sends in the opposite direction. A
//! rank receives a segment while it sends the previous one.
//!
//! # Not modelled
//! The time that a rank needs to sum data, unless `sum_per_byte` is set. Copies of data within a rank.
//!
//! # Validation
//! For 2 to 65 ranks, `laws/data_flow.rs` checks that every rank gets the right data. It also checks the size of each
//! message.

use super::Expands;
use crate::amounts::Bytes;
use crate::collectives::call::Call;
use crate::collectives::steps::Steps;
use crate::collectives::tree::{Place, along};
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A chain of ranks, along which data travel segment by segment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// Size of a segment. Default: all data are one segment.
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
