//! A binary tree, segment by segment.
//!
//! # Source
//! Open MPI 1.6.5, component `tuned` of its collectives.
//!
//! # Parameters
//! `segment`: bytes of a segment (default: the whole vector is one).
//!
//! # Guarantees
//! Rank v of the root has the children 2v + 1 and 2v + 2. A rank receives a segment while it sends the one before.
//!
//! # Not modelled
//! The time of a sum, unless the rules give one; copies inside of a rank.
//!
//! # Validation
//! `laws/data_flow.rs`: the right data at every rank, and the bytes of each message, for 2 to 65 ranks.

use super::Expands;
use crate::amounts::Bytes;
use crate::collectives::call::Call;
use crate::collectives::steps::Steps;
use crate::collectives::tree::{Place, along};
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A binary tree, segment by segment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Binary {
    /// Bytes of a segment; default: all.
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
