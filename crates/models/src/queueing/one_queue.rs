//! A single queue per VC class: this scheme does not separate packets. Packets wait behind each other, whatever their destinations are.
//!
//! # Source
//! "1q" of F. Zahn et al., "On the Interactions of Congestion Management and Energy Saving in Interconnection Networks", HiPINEB 2019,
//! section III.C, which is a network without a scheme.
//! # Parameters
//! None.
//! # Guarantees
//! All VCs of a VC class form one lane.
//! # Not modelled
//! Nothing is omitted.
//! # Validation
//! `conformance/src/queueing.rs` checks that every other scheme, if its number of queues is 1, gives the same results as this scheme to the
//! last bit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::queueing::{Crossing, QueueingModel, Scheme};
use weft_topology::Graph;
use weft_units::Refusal;

/// A single queue per VC class: the packets of a VC class are not separated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneQueue {}

impl QueueingModel for OneQueue {
    fn networks(&self) -> &'static str {
        "any network"
    }

    fn fits(&self, _graph: &Graph) -> bool {
        true
    }

    fn queues(&self, _graph: &Graph) -> u32 {
        1
    }

    fn build(&self, _graph: &Graph) -> Result<Arc<dyn Scheme>, Refusal> {
        Ok(Arc::new(self.clone()))
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

impl Scheme for OneQueue {
    fn lanes(&self) -> u32 {
        1
    }

    fn lane(&self, _crossing: &Crossing) -> u32 {
        0
    }

    fn looks_at_sources(&self) -> bool {
        false
    }
}
