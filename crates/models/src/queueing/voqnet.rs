//! Virtual output queues at network level: each destination has a separate queue. Therefore a packet never waits behind a packet for
//! another terminal.
//!
//! # Source
//! "VOQnet" in F. Zahn et al., HiPINEB 2019, section II.B. The authors call the scheme infeasible in large networks. The scheme is a
//! reference without head-of-line blocking.
//! # Parameters
//! `ideal`: use ideal queues (see Guarantees) even in a network of at most 17 terminals.
//! # Guarantees
//! Packets that share a queue have the same destination. All packets of a flow use the same lane (see `mod.rs`) on the whole path. In
//! networks of up to 17 terminals, each queue is a VC. In larger networks the queues are ideal (not VCs): at every input, each destination
//! has a queue of `buffer` flits in each VC class of the routing. A router with ideal queues cannot be built for a large network.
//! # Not modelled
//! With ideal queues, Weft does not model routings that decide hop by hop, trunks, faults, or wormhole flow control with packets of several
//! flits. Three simplifications: a packet returns all its buffer space at once, when its tail has left. In each VC, only one packet at a
//! time requests an output, and the other packets of the VC wait for it. Space at the next router is reserved for that packet, so it waits
//! only for the link.
//! # Validation
//! `engine/tests/queueing.rs` tests queues that are VCs, and `engine/tests/ideal_queues.rs` tests ideal queues. Under traffic with a hot
//! spot, flows to other terminals have the same accepted load as if the sources of the hot spot were throttled.
//! `conformance/src/queueing.rs` checks that lanes are valid, and that packets of a flow stay in order. It also checks that the network
//! does not stall.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::queueing::{Crossing, QueueingModel, Scheme};
use weft_topology::Graph;
use weft_units::Refusal;

/// Largest number of terminals for which each queue is a VC. A channel has 16 VCs, and a terminal sends only to the other terminals, of
/// which there are 16.
const MOST_OF_VCS: u32 = 17;

/// A separate queue for each destination (VOQnet), so that there is no head-of-line blocking. The queues are ideal in networks of more than
/// 17 terminals.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Voqnet {
    /// Use ideal queues even in a network of at most 17 terminals.
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
