//! Flow2SL: on a fat tree, flows between the same two groups of terminals share a queue.
//!
//! # Source
//! J. Escudero-Sahuquillo et al., "A New Proposal to Deal with Congestion in InfiniBand-based Fat-Trees", JPDC 74(1), 2014, in the form
//! that F. Zahn et al. describe (HiPINEB 2019, section III.C). Flows with the same source group and destination group share a queue. Flows
//! from one source group to different destination groups use different queues. Every Latin square, with source groups as rows and
//! destination groups as columns, gives queues that meet these two conditions.
//! # Parameters
//! `queues`: Q, the number of groups of terminals, which is also the number of queues of a port in each VC class of the routing \[count\].
//! Terminal n of N terminals is in group floor(n Q / N). `reading`: with `sum`, the queue is the sum of source group and destination group
//! modulo Q. With `dst`, the queue is the destination group. Section IV.B of the paper by Zahn et al. suggests `dst`: it states that all
//! flows to one group share a VC.
//! # Guarantees
//! With `sum`, the two conditions under Source hold. All packets of a flow use the same lane (see `mod.rs`) on the whole path.
//! # Not modelled
//! The InfiniBand tables with which a subnet manager sets up the scheme.
//! # Validation
//! `conformance/src/queueing.rs` checks that lanes are valid, and that packets of a flow stay in order. It also checks that the network
//! does not stall.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::queueing::{Crossing, QueueingModel, Scheme};
use weft_topology::Graph;
use weft_units::Refusal;

/// The groups of source and destination determine the queue (Flow2SL).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow2sl {
    /// Number of groups of terminals, which is also the number of queues of a port in each VC class of the routing.
    #[serde(default = "four")]
    pub queues: u32,
    /// Rule by which the groups determine the queue.
    #[serde(default)]
    pub reading: Reading,
}

/// The two interpretations of the published description.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// The sum of the groups of source and destination, modulo the number of queues.
    #[default]
    Sum,
    /// The group of the destination.
    Dst,
}

fn four() -> u32 {
    4
}

impl QueueingModel for Flow2sl {
    fn networks(&self) -> &'static str {
        "fat trees"
    }

    fn fits(&self, graph: &Graph) -> bool {
        graph.structure().levels.as_ref().is_some_and(|levels| levels.tree.is_some())
    }

    fn queues(&self, _graph: &Graph) -> u32 {
        self.queues
    }

    fn build(&self, graph: &Graph) -> Result<Arc<dyn Scheme>, Refusal> {
        super::check_queues("queueing.flow2sl.queues", self.queues)?;
        if !self.fits(graph) {
            return Err(super::no_view("flow2sl", self.networks()));
        }
        Ok(Arc::new(ByGroups { queues: self.queues, reading: self.reading, terminals: graph.terminals() }))
    }

    fn examples() -> Vec<Self> {
        vec![
            Self { queues: four(), reading: Reading::Sum },
            Self { queues: 3, reading: Reading::Dst },
            Self { queues: 1, reading: Reading::Sum },
        ]
    }
}

#[derive(Debug)]
struct ByGroups {
    queues: u32,
    reading: Reading,
    terminals: u32,
}

impl ByGroups {
    fn group(&self, terminal: u32) -> u32 {
        (u64::from(terminal) * u64::from(self.queues) / u64::from(self.terminals)) as u32
    }
}

impl Scheme for ByGroups {
    fn lanes(&self) -> u32 {
        self.queues
    }

    fn lane(&self, crossing: &Crossing) -> u32 {
        match self.reading {
            Reading::Sum => (self.group(crossing.src) + self.group(crossing.dst)) % self.queues,
            Reading::Dst => self.group(crossing.dst),
        }
    }

    fn looks_at_sources(&self) -> bool {
        self.reading == Reading::Sum
    }
}
