//! Dimension order: packets cross dimension 0 first, and finish each dimension before the next one.
//!
//! # Source
//! Dally and Seitz, IEEE Trans. Computers 1987 (dateline). `entry` chooses the VC class once per dimension, like BookSim2 on a torus.
//! `bubble` is bubble flow control: Carrion et al., HiPC 1997; Puente et al., "The Adaptive Bubble Router", JPDC 61(9), 2001.
//! # Parameters
//! `dateline`: rule that keeps the rings of a torus free of deadlock. `crossing` and `entry` use two VC classes. With `bubble`, a packet
//! may enter a ring only if the next buffer has space for two packets. A packet that is already in the ring needs only space for one
//! packet. With `none`, rings can deadlock.
//! # Guarantees
//! Paths are minimal. Packets with the same source, destination and VC stay in order. The routing has one VC class, or two on a torus with
//! a dateline. With `bubble`, all packets may use all VCs of a link, and one VC is enough. Each direction of each ring always has space for
//! a packet in one of its buffers (the bubble). The bubble rule needs virtual cut-through, buffers for two packets, and packets of equal
//! length. Weft refuses `bubble` in other runs.
//! # Not modelled
//! A fixed rule for ties: if both directions around a ring are equally long, every packet draws its direction. Fairness with `bubble`:
//! packets that want to enter a ring wait as long as packets in the ring fill it.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/bounds.rs` checks that throughput reaches the theoretical bounds under tornado traffic.
//! `engine/tests/stall.rs` checks that Weft refuses a ring without a dateline, and that such a ring stalls if the refusal is overridden. It
//! also checks that with `bubble` the ring does not stall, even if buffers have space for only two packets.
//! `engine/src/network/bubbles/tests.rs` checks that each ring has its bubble (free space for a packet) in every cycle. The rows
//! `dim_order`, `dest_tag` and `ran_min` of `tests/data/golden/booksim.csv` compare this routing with BookSim2. No test compares `bubble`
//! with another simulator.

use crate::routing::bounds::SharedBounds;
pub use crate::routing::on_grid::Dateline;
use crate::routing::on_grid::{Grid, Line};
use crate::routing::{Classes, Draws, Example, Hop, Needs, Proof, Routing, RoutingModel, Step, same_classes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::state::Packet;
use weft_topology::Graph;
use weft_units::Refusal;

/// Dimension order: packets cross dimension 0 first, and finish each dimension before the next one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DimensionOrder {
    /// For a torus: the rule that prevents deadlock in its rings.
    #[serde(default)]
    pub dateline: Dateline,
}

#[derive(Debug, Clone)]
pub struct Runtime {
    classes: Classes,
    grid: Grid,
    dateline: Dateline,
}

impl RoutingModel for DimensionOrder {
    type Routing = Runtime;
    const ROUTES: &'static str = "grids in which all lines have the same form (ring, row or full mesh)";
    const CAN_BE_A_LEG: bool = true;
    const FEW_CLASSES: bool = true;

    fn fits(graph: &Graph) -> bool {
        Grid::of(graph).is_some()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let grid = Grid::of(graph).expect("a graph that fits");
        Ok(Runtime { classes: same_classes(graph, grid.classes(self.dateline)), grid, dateline: self.dateline })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![
            Example::of("{}").bound_by_tornado_on_a_ring().bound_by_tornado_on_a_grid().bound_by_one_neighbor(),
            Example::of(r#"{"dateline": "entry"}"#).bound_by_tornado_on_a_ring(),
            Example::of(r#"{"dateline": "bubble"}"#).bound_by_tornado_on_a_ring(),
        ]
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        let ring_entries = self.grid.ring_entries(self.dateline, self.classes.len());
        Needs { classes: self.classes.clone(), ring_entries, ..Needs::default() }
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        let Some(d) = Grid::first_difference(at, packet.dest) else { return Some(Hop::to_terminal(packet)) };
        Some(self.grid.hop(at, packet.dest, d, self.dateline, packet, seed))
    }

    fn first_ports(&self) -> Option<[u16; 8]> {
        (self.grid.line == Line::Complete).then_some(self.grid.ports)
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        Step::named(self, at, packet, seed)
    }

    fn proof(&self) -> Proof<'_> {
        Proof::OneLeg { by_line: true }
    }

    fn draws(&self) -> Draws {
        Draws { ties: self.grid.tied_dimensions(), ..Draws::default() }
    }

    fn draws_between(&self, from: u64, to: u64) -> bool {
        self.grid.is_tied_somewhere(from, to)
    }
}
