//! Virtual output queues at network level: a queue per destination, so that no packet waits behind one for another terminal.
//!
//! # Source
//! "VOQnet" in F. Zahn et al., HiPINEB 2019, section II.B, which calls it infeasible in large networks: the control without head-of-line
//! blocking.
//! # Parameters
//! None.
//! # Guarantees
//! Packets that share a queue have the same destination. A flow keeps its lane on its whole path.
//! # Not modelled
//! Queues beyond the VCs of a channel: where more destinations than VCs lie behind a channel, the scheme is refused.
//! # Validation
//! `engine/tests/queueing.rs`: beside a hot spot, flows to other terminals accept the same load as beside throttled sources. `conformance/src/queueing.rs`: lanes, order, no stall.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::queueing::{Crossing, QueueingModel, Scheme};
use weft_topology::Graph;
use weft_units::Refusal;

/// A queue per destination (VOQnet): no head-of-line blocking, in small networks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Voqnet {}

impl QueueingModel for Voqnet {
    fn networks(&self) -> &'static str {
        "small networks: behind no channel lie more destinations than it has VCs"
    }

    fn fits(&self, graph: &Graph) -> bool {
        graph.terminals() <= 16
    }

    fn queues(&self, graph: &Graph) -> u32 {
        graph.terminals()
    }

    fn build(&self, graph: &Graph) -> Result<Arc<dyn Scheme>, Refusal> {
        Ok(Arc::new(PerTerminal { terminals: graph.terminals() }))
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

#[derive(Debug)]
struct PerTerminal {
    terminals: u32,
}

impl Scheme for PerTerminal {
    fn lanes(&self) -> u32 {
        self.terminals
    }

    fn lane(&self, crossing: &Crossing) -> u32 {
        crossing.dst
    }

    fn looks_at_sources(&self) -> bool {
        false
    }
}
