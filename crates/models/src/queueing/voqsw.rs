//! Virtual output queues at switch level: the output that a packet will request at the next router determines its queue there.
//!
//! # Source
//! "VOQsw" in F. Zahn et al., HiPINEB 2019, section III.C: "each input port has one virtual queue for every output port". Also W. J. Dally,
//! P. Carvey, L. Dennison, "The Avici Terabit Switch/Router", Hot Interconnects 1998.
//! # Parameters
//! `queues`: number of queues of a port in each VC class of the routing \[count\]. The queue is the index of the output modulo this number.
//! Default: one queue per output of the router.
//! # Guarantees
//! With the default, all packets in a queue request the same output.
//! # Not modelled
//! Routings that choose an output only at the router itself. Because the sender must know the output at the next router, the routing must
//! choose hops in advance.
//! # Validation
//! `engine/tests/queueing.rs` compares the number of lanes on the links of a torus and a dragonfly with numbers counted by hand.
//! `conformance/src/queueing.rs` checks that lanes (see `mod.rs`) are valid, and that packets of a flow stay in order. It also checks that
//! the network does not stall.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::queueing::{Crossing, QueueingModel, Scheme};
use weft_topology::Graph;
use weft_units::Refusal;

/// The output at the next router determines the queue (VOQsw).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Voqsw {
    /// Number of queues of a port in each VC class of the routing. The queue is the index of the output modulo this number. Default: one
    /// queue per output of the router.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<u32>,
}

impl QueueingModel for Voqsw {
    fn networks(&self) -> &'static str {
        "any network"
    }

    fn fits(&self, _graph: &Graph) -> bool {
        true
    }

    fn looks_ahead(&self) -> bool {
        true
    }

    fn queues(&self, graph: &Graph) -> u32 {
        self.queues.unwrap_or(graph.radix())
    }

    fn build(&self, graph: &Graph) -> Result<Arc<dyn Scheme>, Refusal> {
        let queues = self.queues(graph);
        self.queues.map_or(Ok(()), |queues| super::check_queues("queueing.voqsw.queues", queues))?;
        Ok(Arc::new(PerOutput { queues }))
    }

    fn examples() -> Vec<Self> {
        vec![Self { queues: None }, Self { queues: Some(3) }, Self { queues: Some(1) }]
    }
}

#[derive(Debug)]
struct PerOutput {
    queues: u32,
}

impl Scheme for PerOutput {
    fn lanes(&self) -> u32 {
        self.queues
    }

    fn lane(&self, crossing: &Crossing) -> u32 {
        u32::from(crossing.onward) % self.queues
    }

    fn looks_at_sources(&self) -> bool {
        false
    }
}
