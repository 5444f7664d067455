//! A routing that is in no registry of Weft, as in an outside crate: dimension order, but with the highest dimension
//! first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::examples::{Accepts, Example};
use weft_api::routing::{Hop, Needs, Routing, RoutingModel};
use weft_api::state::Packet;
use weft_api::walk::Step;
use weft_engine::routing::on_grid::Grid;
use weft_topology::Graph;
use weft_units::Refusal;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HighestFirst {
    /// Whether packets to routers with an odd sum of coordinates also begin with the highest dimension (the key `always`). If these packets
    /// begin with the lowest dimension instead, packets can deadlock.
    pub always: bool,
}

#[derive(Debug)]
pub struct Runtime {
    classes: Vec<u8>,
    grid: Grid,
    always: bool,
}

impl RoutingModel for HighestFirst {
    type Routing = Runtime;
    const ROUTES: &'static str = "hyperx";

    fn fits(graph: &Graph) -> bool {
        Grid::complete(graph).is_some()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let grid = Grid::complete(graph).expect("a graph that fits");
        Ok(Runtime { classes: vec![1; graph.class_names().len()], grid, always: self.always })
    }

    fn examples() -> Vec<Example<Self>> {
        // the 4 terminals of a router share its one link in each dimension, so each gets 1/4
        let hyperx = r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}"#;
        vec![Example::of(r#"{"always": true}"#).bound(hyperx, r#"{"tornado": {}}"#, Accepts::UpTo(1.0 / 4.0))]
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs { classes: self.classes.clone(), ..Needs::default() }
    }

    fn next(&self, at: u64, packet: &mut Packet, _: u64) -> Option<Hop> {
        let mut differ = self.grid.differences(at, packet.dest);
        let d = if self.always || (packet.dest ^ packet.dest >> 8) & 1 == 0 { differ.last() } else { differ.next() };
        Some(d.map_or(Hop::to_terminal(packet), |d| Hop {
            port: self.grid.port_to(at, d, Grid::coordinate(packet.dest, d)),
            class: 0,
        }))
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        Step::named(self, at, packet, seed)
    }
}
