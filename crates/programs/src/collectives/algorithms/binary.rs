//! A binary tree of the ranks, along which data travel segment by segment.
//!
//! # Source
//! The implementation in Open MPI 1.6.5 (component `tuned` of its collectives).
//!
//! # Parameters
//! `segment`: size of a segment \[bytes\] (default: the whole vector is one segment).
//!
//! # Guarantees
//! With ranks numbered from the root, rank v has the children 2v + 1 and 2v + 2. A rank receives a segment while it
//! sends the previous one.
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

/// A binary tree of the ranks, along which data travel segment by segment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Binary {
    /// Size of a segment. Default: all data are one segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<Bytes>,
}

impl Expands for Binary {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Broadcast, Operation::Reduce]
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        along(Place::binary(call.from_root(), call.ranks), call, self.segment, steps);
    }

    fn examples() -> Vec<Self> {
        vec![Self::default(), Self { segment: Some(Bytes(5)) }]
    }
}
