//! H2LQ: two levels of queues on a dragonfly. Before the global link, the destination group determines the queue of a packet. After the
//! global link, the destination itself determines the queue.
//!
//! # Source
//! P. Yebenes et al., "Efficient Queuing Schemes for HoL-blocking Reduction in Dragonfly Topologies with Minimal-Path Routing", CLUSTER
//! 2015: F. Zahn et al. (HiPINEB 2019, section III.C) use the scheme with a "standard" virtual network of 6 VCs and an "escape" virtual
//! network of 2 VCs. The assignment of queues inside each virtual network is our interpretation, because the paper was not available.
//! # Parameters
//! `standard`: number of queues on the path up to the destination group, including the router at which packets enter this group \[count\].
//! In earlier groups, the queue is the number of the destination group modulo `standard`. Let r be the index of the destination's router
//! within its group. At the router of entry, and for packets that stay within their group, the queue is r modulo `standard`. `escape`:
//! number of queues on the local links of the destination group, after a global link \[count\]. On these links the queue is the destination
//! modulo `escape`.
//! # Guarantees
//! The standard queues and the escape queues are separate.
//! # Not modelled
//! A separate level for detours: packets that cross a third group use the standard queues there.
//! # Validation
//! `conformance/src/queueing.rs` checks that lanes (see `mod.rs`) are valid, and that packets of a flow stay in order. It also checks that
//! the network does not stall.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::queueing::{Crossing, QueueingModel, Scheme};
use weft_topology::Graph;
use weft_units::Refusal;

/// Before the global link, the destination group determines the queue. After the global link, the destination itself determines the queue
/// (H2LQ).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct H2lq {
    /// Number of queues on the path up to the destination group, including the router at which packets enter this group over the global
    /// link.
    #[serde(default = "six")]
    pub standard: u32,
    /// Number of queues on the local links of the destination group, after a global link.
    #[serde(default = "two")]
    pub escape: u32,
}

fn six() -> u32 {
    6
}

fn two() -> u32 {
    2
}

impl QueueingModel for H2lq {
    fn networks(&self) -> &'static str {
        "networks with groups, such as dragonflies"
    }

    fn fits(&self, graph: &Graph) -> bool {
        graph.structure().groups.is_some()
    }

    fn queues(&self, _graph: &Graph) -> u32 {
        self.standard + self.escape
    }

    /// The memory of a port has as many parts as queues, whatever the number of VC classes. The reason is that the two levels of queues are
    /// in different VC classes.
    fn parts(&self, graph: &Graph, _classes: u32) -> u32 {
        self.queues(graph)
    }

    fn build(&self, graph: &Graph) -> Result<Arc<dyn Scheme>, Refusal> {
        super::check_queues("queueing.h2lq.standard", self.standard)?;
        super::check_queues("queueing.h2lq.escape", self.escape)?;
        let groups = graph.structure().groups.as_ref().ok_or_else(|| super::no_view("h2lq", self.networks()))?;
        let router_of = (0..graph.terminals()).map(|terminal| graph.terminal_at(terminal).0).collect();
        Ok(Arc::new(TwoLevels { of: self.clone(), router_of, places: groups.places.clone() }))
    }

    fn examples() -> Vec<Self> {
        vec![Self { standard: six(), escape: two() }, Self { standard: 2, escape: 1 }, Self { standard: 1, escape: 1 }]
    }
}

#[derive(Debug)]
struct TwoLevels {
    of: H2lq,
    /// For each terminal: its router.
    router_of: Vec<u32>,
    /// For each router: its group, and its number within the group.
    places: Vec<(u32, u32)>,
}

impl Scheme for TwoLevels {
    fn lanes(&self) -> u32 {
        self.of.standard + self.of.escape
    }

    fn lane(&self, crossing: &Crossing) -> u32 {
        let place = |terminal: u32| self.places[self.router_of[terminal as usize] as usize];
        let ((source, _), (group, router)) = (place(crossing.src), place(crossing.dst));
        let in_group = |router: u32| self.places[router as usize].0 == group;
        if source != group && crossing.from.is_some_and(|(from, _)| in_group(from)) {
            self.of.standard + crossing.dst % self.of.escape
        } else if in_group(crossing.to) {
            router % self.of.standard
        } else {
            group % self.of.standard
        }
    }
}
