//! Destination-based buffer management: the queue is the number of the destination modulo the number of queues.
//!
//! # Source
//! T. Nachiondo, J. Flich, J. Duato, "Destination-Based HoL Blocking Elimination", ICPADS 2006. F. Zahn et al., HiPINEB 2019, section
//! III.C, use four queues.
//! # Parameters
//! `queues`: number of queues of a port in each VC class of the routing \[count\].
//! # Guarantees
//! All packets of a flow use the same lane (see `mod.rs`) on the whole path. They stay in order if they take the same path.
//! # Not modelled
//! Alternative hash functions of the destination.
//! # Validation
//! `engine/tests/queueing.rs` checks the lanes on a 4-ary tree with four queues. There, the routing chooses upward links by the digits of
//! the destination, beginning with the lowest digit. Therefore all destinations of a link between routers have the same remainder modulo
//! four, and the link needs only one lane. `conformance/src/queueing.rs` checks that lanes are valid, and that packets of a flow stay in
//! order. It also checks that the network does not stall.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::queueing::{Crossing, QueueingModel, Scheme};
use weft_topology::Graph;
use weft_units::Refusal;

/// The queue is the destination modulo the number of queues (DBBM).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dbbm {
    /// Number of queues of a port in each VC class of the routing.
    #[serde(default = "four")]
    pub queues: u32,
}

fn four() -> u32 {
    4
}

impl QueueingModel for Dbbm {
    fn networks(&self) -> &'static str {
        "any network"
    }

    fn fits(&self, _graph: &Graph) -> bool {
        true
    }

    fn queues(&self, _graph: &Graph) -> u32 {
        self.queues
    }

    fn build(&self, _graph: &Graph) -> Result<Arc<dyn Scheme>, Refusal> {
        super::check_queues("queueing.dbbm.queues", self.queues)?;
        Ok(Arc::new(self.clone()))
    }

    fn examples() -> Vec<Self> {
        vec![Self { queues: four() }, Self { queues: 3 }, Self { queues: 1 }]
    }
}

impl Scheme for Dbbm {
    fn lanes(&self) -> u32 {
        self.queues
    }

    fn lane(&self, crossing: &Crossing) -> u32 {
        crossing.dst % self.queues
    }

    fn looks_at_sources(&self) -> bool {
        false
    }
}
