//! Highest first: dimension order that begins with the highest dimension.
//!
//! # Source
//! An example.
//! # Parameters
//! None.
//! # Guarantees
//! Paths are minimal. One VC class is enough: the routing is free of deadlock, because all packets cross the dimensions in the same order.
//! # Not modelled
//! Trunks.
//! # Validation
//! `tests/conformance.rs`: delivery, the dependency check, and a bound that is computed there. There are no results of another simulator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::examples::{Accepts, Example};
use weft_api::routing::{Hop, Needs, Routing, RoutingModel};
use weft_api::state::Packet;
use weft_api::walk::Step;
use weft_engine::routing::on_grid::Grid;
use weft_topology::Graph;
use weft_units::Refusal;

/// Dimension order from the highest dimension to the lowest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HighestFirst {}

/// The routing, built for one network.
#[derive(Debug)]
pub struct Runtime {
    classes: Vec<u8>,
    grid: Grid,
}

impl RoutingModel for HighestFirst {
    type Routing = Runtime;
    const ROUTES: &'static str = "hyperx";

    fn fits(graph: &Graph) -> bool {
        Grid::complete(graph).is_some()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let grid = Grid::complete(graph)
            .ok_or_else(|| Refusal::new("routing.highest_first", "the network is not a HyperX", "use hyperx"))?;
        Ok(Runtime { classes: vec![1; graph.class_names().len()], grid })
    }

    fn examples() -> Vec<Example<Self>> {
        // the bound: under tornado, the 4 terminals of a router share one link in each dimension
        let hyperx = r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}"#;
        vec![Example::of("{}").bound(hyperx, r#"{"tornado": {}}"#, Accepts::UpTo(1.0 / 4.0))]
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs { classes: self.classes.clone(), ..Needs::default() }
    }

    fn next(&self, at: u64, packet: &mut Packet, _: u64) -> Option<Hop> {
        let dimension = self.grid.differences(at, packet.dest).last();
        Some(dimension.map_or(Hop::to_terminal(packet), |d| Hop {
            port: self.grid.port_to(at, d, Grid::coordinate(packet.dest, d)),
            class: 0,
        }))
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        Step::named(self, at, packet, seed)
    }
}
