//! UGAL_p: UGAL with a separate decision in each dimension of a HyperX, in a fixed order of dimensions.
//!
//! # Source
//! The baseline routing of Kim et al., "TCEP", ISCA 2018. In each dimension a packet takes the minimal hop if q_m <= 2 q_n + T. Here q_m is
//! the queue of the minimal hop, and q_n that of the first hop of a detour over one other router.
//! # Parameters
//! `threshold`: the bias T towards the minimal hop [flits]. `sensor`: definition of q, the queue of an output.
//! # Guarantees
//! A packet makes at most one detour per dimension. The routing has two VC classes: 0 for a hop to the intermediate, and 1 for the hop to
//! the destination's coordinate. The dependencies between channels have no cycle, because packets use class 0 before class 1 in each
//! dimension, and cross dimensions in order.
//! # Not modelled
//! Links that are off (see the routing `pal`).
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/theory.rs` checks that paths are minimal in an idle network, and that the accepted load under
//! tornado traffic exceeds the bound of minimal paths. `engine/tests/bounds.rs` checks that the accepted load is at least half of the
//! theoretical bound with detours. No test compares this routing with another simulator.

use crate::routing::bounds::SharedBounds;
use crate::routing::on_grid::Grid;
use crate::routing::{
    Classes, Cost, Decides, Example, Hop, Needs, Proof, Routing, RoutingModel, Sensor, Step, View, below, draw,
    same_classes, threshold, weigh,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::state::{DETOUR, Packet};
use weft_topology::Graph;
use weft_units::{Flits, Refusal};

/// UGAL_p: UGAL with a separate decision in each dimension of a HyperX, in a fixed order of dimensions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UgalP {
    /// Bias T towards the minimal hop, added to the cost of a detour.
    #[serde(default = "two")]
    pub threshold: Flits,
    /// Definition of the queue of an output.
    #[serde(default = "window")]
    pub sensor: Sensor,
}

/// The TCEP paper gives no bias. The default is the bias of BookSim2's `ugal_flatfly`, which routes the same network.
fn two() -> Flits {
    Flits(2)
}

/// The default sensor does not count flits in flight, because they do not wait in a queue. With `used_credits` packets
/// would leave minimal paths even if no flit waits on them.
fn window() -> Sensor {
    Sensor::HistoryWindow
}

#[derive(Debug, Clone)]
pub struct Runtime {
    classes: Classes,
    grid: Grid,
    threshold: i32,
    sensor: Sensor,
}

impl RoutingModel for UgalP {
    type Routing = Runtime;
    const ROUTES: &'static str = "grids with a link between every two routers of a line";

    fn fits(graph: &Graph) -> bool {
        Grid::complete(graph).is_some()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let grid = Grid::complete(graph).expect("a graph that fits");
        let threshold = threshold(self.threshold, "ugal_p")?;
        Ok(Runtime { classes: same_classes(graph, 2), grid, threshold, sensor: self.sensor })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![Example::of("{}").bound_with_detours_around_one_neighbor(), Example::of(r#"{"sensor": "used_credits"}"#)]
    }
}

impl Runtime {
    #[inline(always)]
    fn direct(&self, at: u64, d: usize, packet: &Packet) -> Hop {
        Hop { port: self.grid.port_to(at, d, Grid::coordinate(packet.dest, d)), class: 1 }
    }

    #[inline(always)]
    fn over(&self, at: u64, d: usize, c: u8) -> Hop {
        Hop { port: self.grid.port_to(at, d, c), class: 0 }
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs { classes: self.classes.clone(), decides: Decides::AtHead, sensor: Some(self.sensor), ..Needs::default() }
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, _seed: u64) -> Option<Hop> {
        let Some(d) = Grid::first_difference(at, packet.dest) else { return Some(Hop::to_terminal(packet)) };
        // at the first router of a dimension, `at_head` compares queues later; at an intermediate router, the packet
        // takes the direct link
        (packet.dim == d as u8 + 1).then(|| self.direct(at, d, packet))
    }

    #[inline(always)]
    fn at_head<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, seed: u64) -> Hop {
        let d = Grid::first_difference(at, packet.dest).unwrap_or(0);
        packet.dim = d as u8 + 1;
        let minimal = self.direct(at, d, packet);
        let width = u32::from(self.grid.widths[d]);
        if width > 2 {
            let (own, to) = (Grid::coordinate(at, d), Grid::coordinate(packet.dest, d));
            let (low, high) = (own.min(to), own.max(to));
            let mut c = below(draw(seed, packet, 0x51 + d as u64), width - 2) as u8;
            c += u8::from(c >= low);
            c += u8::from(c >= high);
            let detour = self.over(at, d, c);
            if weigh(here, at, minimal, 1, 0) > weigh(here, at, detour, 2, self.threshold) {
                packet.flags |= DETOUR;
                return detour;
            }
        }
        minimal
    }

    /// Lists the direct hop, and every detour in this dimension.
    fn steps(&self, at: u64, packet: &Packet, _seed: u64) -> Vec<Step> {
        let Some(d) = Grid::first_difference(at, packet.dest) else { return vec![Step::deliver(packet)] };
        if packet.dim == d as u8 + 1 {
            return vec![Step { hop: self.direct(at, d, packet), after: *packet, cost: None }];
        }
        let option = |hop: Hop, hops: u32, bias: i32, flag: u8| {
            let after = Packet { dim: d as u8 + 1, flags: packet.flags | flag, ..*packet };
            Step { hop, after, cost: Some(Cost { at, port: hop.port, hops, bias }) }
        };
        let (own, to) = (Grid::coordinate(at, d), Grid::coordinate(packet.dest, d));
        let others = (0..self.grid.widths[d]).filter(|&c| c != own && c != to);
        let detours = others.map(|c| option(self.over(at, d, c), 2, self.threshold, DETOUR));
        std::iter::once(option(self.direct(at, d, packet), 1, 0, 0)).chain(detours).collect()
    }

    fn bias_of_used_credits(&self) -> Option<i32> {
        (self.sensor == Sensor::UsedCredits).then_some(self.threshold)
    }

    fn proof(&self) -> Proof<'_> {
        Proof::Rises { link_first: true, or: Box::new(Proof::EveryState) }
    }
}
