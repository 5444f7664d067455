//! Minimal routing on a HyperX in a random order of dimensions. The VC class of a hop is its index in the path.
//!
//! # Source
//! The algorithm is "Shortest" of the simulator CAMINOS on a Hamming graph, with the next VC at each hop. The routing is oblivious: each
//! packet draws the order of dimensions at random, whatever the queues are.
//! # Parameters
//! None.
//! # Guarantees
//! Paths are minimal. The routing has one VC class per dimension. The class rises with each hop, so the dependencies between channels have
//! no cycle.
//! # Not modelled
//! A choice of the dimension by congestion.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/bounds.rs` checks that throughput under tornado traffic reaches its theoretical bound. The rows
//! `shortest` of `tests/data/golden/caminos.csv` compare this routing with CAMINOS.

use crate::routing::bounds::SharedBounds;
use crate::routing::on_grid::Grid;
use crate::routing::{Classes, Example, Hop, Needs, Proof, Routing, RoutingModel, Step, below, draw, same_classes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::state::Packet;
use weft_topology::Graph;
use weft_units::Refusal;

/// Minimal routing on a HyperX in a random order of dimensions. The VC class of a hop is its index in the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Minimal {}

#[derive(Debug, Clone)]
pub struct Runtime {
    classes: Classes,
    grid: Grid,
}

impl RoutingModel for Minimal {
    type Routing = Runtime;
    const ROUTES: &'static str = "grids with a link between every two routers of a line";
    const CAN_BE_A_LEG: bool = true;

    fn fits(graph: &Graph) -> bool {
        Grid::complete(graph).is_some()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let grid = Grid::complete(graph).expect("a graph that fits");
        Ok(Runtime { classes: same_classes(graph, grid.dims.max(1)), grid })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![Example::of("{}").bound_by_tornado_on_a_grid()]
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs { classes: self.classes.clone(), ..Needs::default() }
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        let (mut open, mut count) = ([0u8; 8], 0);
        for d in 0..self.grid.dims as usize {
            if Grid::coordinate(at, d) != Grid::coordinate(packet.dest, d) {
                open[count] = d as u8;
                count += 1;
            }
        }
        if count == 0 {
            return Some(Hop::to_terminal(packet));
        }
        let d = open[below(draw(seed, packet, 0x3d + u64::from(packet.lane)), count as u32) as usize] as usize;
        let class = packet.lane;
        packet.lane += 1;
        Some(Hop { port: self.grid.port_to(at, d, Grid::coordinate(packet.dest, d)), class })
    }

    /// Lists a hop in every dimension in which the packet is not at its destination's coordinate. At the destination router, lists the hop
    /// to the terminal.
    fn steps(&self, at: u64, packet: &Packet, _seed: u64) -> Vec<Step> {
        let (class, after) = (packet.lane, Packet { lane: packet.lane + 1, ..*packet });
        let hops = self.grid.differences(at, packet.dest);
        let hops = hops.map(|d| Hop { port: self.grid.port_to(at, d, Grid::coordinate(packet.dest, d)), class });
        let choices: Vec<Step> = hops.map(|hop| Step { hop, after, cost: None }).collect();
        if choices.is_empty() { vec![Step::deliver(packet)] } else { choices }
    }

    fn proof(&self) -> Proof<'_> {
        Proof::rises()
    }

    fn draws_hops(&self) -> bool {
        true
    }
}
