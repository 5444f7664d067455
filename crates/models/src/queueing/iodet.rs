//! IODET: on a mesh or torus, the dimension of the next hop determines the queue.
//!
//! # Source
//! R. Penaranda, C. Gomez, M. E. Gomez, P. Lopez, J. Duato, "IODET: A HoL-blocking-aware Deterministic Routing Algorithm for Direct
//! Topologies", ICPADS 2012, in the form that F. Zahn et al. describe (HiPINEB 2019, section III.C): "it assigns packets to VCs according
//! to the dimension for the next hop". Another abstract from the university of IODET's authors describes VCs that are chosen by
//! destination. The parameter value `dst_coord` follows this abstract.
//! # Parameters
//! `queues`: number of queues of a port in each VC class of the routing \[count\]. Default: one per dimension. `reading`: the quantity that
//! determines the queue. `next_dim`: the dimension in which the packet leaves the router with the queue. Packets at their destination
//! router share the last queue. `dst_coord`: the coordinate of the destination in the dimension of the channel that leads to the queue,
//! modulo the number of queues.
//! # Guarantees
//! With `next_dim` and the default number of queues, packets share a queue only if they cross the same dimension next, or are at their
//! destination router.
//! # Not modelled
//! The routing algorithm of IODET. The scenario chooses a routing, such as dimension order.
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

/// The dimension of the next hop, or the coordinate of the destination, determines the queue (IODET).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Iodet {
    /// Number of queues of a port in each VC class of the routing. Default: one per dimension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<u32>,
    /// The quantity that determines the queue.
    #[serde(default)]
    pub reading: Reading,
}

/// The two interpretations of the published description.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// The dimension in which the packet leaves the router with the queue.
    #[default]
    NextDim,
    /// The coordinate of the destination in the dimension of the channel that leads to the queue.
    DstCoord,
}

impl QueueingModel for Iodet {
    fn networks(&self) -> &'static str {
        "networks with dimensions, such as meshes, tori and HyperX"
    }

    fn fits(&self, graph: &Graph) -> bool {
        OnGrid::of(graph).is_some()
    }

    fn looks_ahead(&self) -> bool {
        self.reading == Reading::NextDim
    }

    fn queues(&self, graph: &Graph) -> u32 {
        let dimensions = OnGrid::of(graph).map_or(1, |on| on.grid.dimensions.len() as u32);
        self.queues.unwrap_or(dimensions)
    }

    fn build(&self, graph: &Graph) -> Result<Arc<dyn Scheme>, Refusal> {
        self.queues.map_or(Ok(()), |queues| super::check_queues("queueing.iodet.queues", queues))?;
        let (queues, reading) = (self.queues(graph), self.reading);
        let on = OnGrid::of(graph).ok_or_else(|| super::no_view("iodet", self.networks()))?;
        Ok(Arc::new(ByDimension { queues, reading, on }))
    }

    fn examples() -> Vec<Self> {
        vec![
            Self { queues: None, reading: Reading::NextDim },
            Self { queues: Some(3), reading: Reading::DstCoord },
            Self { queues: Some(1), reading: Reading::NextDim },
        ]
    }
}

#[derive(Debug)]
struct ByDimension {
    queues: u32,
    reading: Reading,
    on: OnGrid,
}

impl Scheme for ByDimension {
    fn lanes(&self) -> u32 {
        self.queues
    }

    fn lane(&self, crossing: &Crossing) -> u32 {
        match self.reading {
            Reading::NextDim => {
                let next = self.on.grid.dimension_of(crossing.onward);
                next.map_or(self.queues - 1, |dimension| (dimension as u32).min(self.queues - 1))
            }
            Reading::DstCoord => self.on.of_destination(crossing).0 % self.queues,
        }
    }

    fn looks_at_sources(&self) -> bool {
        false
    }
}
