//! Virtual output queues at network level: each destination has a queue, so a packet never waits behind a packet for another terminal.
//!
//! # Source
//! "VOQnet" in F. Zahn et al., HiPINEB 2019, section II.B, which calls it infeasible in large networks. The scheme is the reference
//! without head-of-line blocking.
//! # Parameters
//! `ideal`: use the ideal map even in a network of 17 terminals or fewer.
//! # Guarantees
//! Packets that share a queue have the same destination. A flow keeps its lane on its whole path. Up to 17 terminals each queue is a VC.
//! In larger networks the map is ideal: each destination has a queue of `buffer` flits at every input, in each VC class of the routing.
//! No router for a large network can be built like this.
//! # Not modelled
//! In the ideal map: routings that decide hop by hop, trunks, faults, and wormhole with packets of several flits. A packet returns
//! all its buffer places at once, when its tail has left. A VC has one packet at a time that requests an output. Places are
//! reserved for that packet, so it waits only for the link. The other packets of the VC wait for the same time.
//! # Validation
//! `engine/tests/queueing.rs`, for VCs, and `engine/tests/ideal_queues.rs`, for the ideal map: next to a hot spot, flows to other
//! terminals accept the same load as next to throttled sources. `conformance/src/queueing.rs`: lanes, order, no stall.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::queueing::{Crossing, QueueingModel, Scheme};
use weft_topology::Graph;
use weft_units::Refusal;

/// Largest number of terminals with which each queue is a VC: a channel has 16 VCs, and a terminal sends to all other terminals.
const MOST_OF_VCS: u32 = 17;

/// A queue per destination (VOQnet): no head-of-line blocking. Ideal in networks of more than 17 terminals.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Voqnet {
    /// Use the ideal map even in a network of 17 terminals or fewer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ideal: bool,
}

impl QueueingModel for Voqnet {
    fn networks(&self) -> &'static str {
        "any network; with more than 17 terminals, the routing must determine all hops of a packet in advance"
    }

    fn fits(&self, _graph: &Graph) -> bool {
        true
    }

    fn queues(&self, graph: &Graph) -> u32 {
        graph.terminals()
    }

    fn ideal_queues(&self, graph: &Graph) -> Option<u32> {
        let terminals = graph.terminals();
        (self.ideal || terminals > MOST_OF_VCS).then_some(terminals)
    }

    fn build(&self, graph: &Graph) -> Result<Arc<dyn Scheme>, Refusal> {
        Ok(Arc::new(PerTerminal { terminals: graph.terminals() }))
    }

    fn examples() -> Vec<Self> {
        vec![Self { ideal: false }, Self { ideal: true }]
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
