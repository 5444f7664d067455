//! Band-based queuing: destinations with neighbouring coordinates form a band, and each band has a queue.
//!
//! # Source
//! P. Yebenes Segura et al., "BBQ: A Straightforward Queuing Scheme to Reduce HoL-Blocking in High-Performance Hybrid Networks", Euro-Par
//! 2013. The mapping is our interpretation, because the paper was not available. With Q queues and k routers along a dimension, packets to
//! a destination with coordinate c use the queue floor(c Q / k).
//! # Parameters
//! `queues`: number of queues of a port in each VC class of the routing \[count\].
//! # Guarantees
//! The destinations of a band have consecutive coordinates in the dimension of the channel that leads to the queue.
//! # Not modelled
//! Hybrid (KNS) networks, for which the scheme was designed. Weft applies the scheme to all networks with dimensions.
//! # Validation
//! `conformance/src/queueing.rs` checks that lanes (see `mod.rs`) are valid, and that packets of a flow stay in order. It also checks that
//! the network does not stall.

use super::coordinates::OnGrid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::queueing::{Crossing, QueueingModel, Scheme};
use weft_topology::Graph;
use weft_units::Refusal;

/// The band of coordinates that contains the destination determines the queue (BBQ).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bbq {
    /// Number of queues of a port in each VC class of the routing.
    #[serde(default = "four")]
    pub queues: u32,
}

fn four() -> u32 {
    4
}

impl QueueingModel for Bbq {
    fn networks(&self) -> &'static str {
        "networks with dimensions, such as meshes, tori and HyperX"
    }

    fn fits(&self, graph: &Graph) -> bool {
        OnGrid::of(graph).is_some()
    }

    fn queues(&self, _graph: &Graph) -> u32 {
        self.queues
    }

    fn build(&self, graph: &Graph) -> Result<Arc<dyn Scheme>, Refusal> {
        super::check_queues("queueing.bbq.queues", self.queues)?;
        let on = OnGrid::of(graph).ok_or_else(|| super::no_view("bbq", self.networks()))?;
        Ok(Arc::new(Bands { queues: self.queues, on }))
    }

    fn examples() -> Vec<Self> {
        vec![Self { queues: 2 }, Self { queues: 1 }]
    }
}

#[derive(Debug)]
struct Bands {
    queues: u32,
    on: OnGrid,
}

impl Scheme for Bands {
    fn lanes(&self) -> u32 {
        self.queues
    }

    fn lane(&self, crossing: &Crossing) -> u32 {
        let (coordinate, width) = self.on.of_destination(crossing);
        (u64::from(coordinate) * u64::from(self.queues) / u64::from(width)) as u32
    }

    fn looks_at_sources(&self) -> bool {
        false
    }
}
