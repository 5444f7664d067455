//! Dimension order: dimension 0 first, each dimension finished before the next.
//!
//! # Source
//! Dally and Seitz, IEEE Trans. Computers 1987 (dateline). `entry` is the static class choice of BookSim2's torus.
//! # Parameters
//! dateline: how the VC class changes on a ring (`crossing`, `entry`, `none`).
//! # Guarantees
//! Minimal, in order per source and destination and VC; one VC class, two on a torus.
//! # Not modelled
//! Ties: half way round a ring every packet draws its direction.
//! # Validation
//! On every legal topology: `engine/tests/theory.rs` (latency without contention to the cycle),
//! `engine/tests/conservation.rs` (nothing lost), `engine/tests/stall.rs` (no stall in the smallest buffers).
//! `engine/tests/bounds.rs`: bounds under tornado are reached; `engine/tests/stall.rs`: without dateline a ring is
//! refused, and stalls if forced. BookSim2: the rows `dim_order`, `dest_tag` and `ran_min` of
//! `tests/data/golden/booksim.csv`.

use crate::models::routing::on_grid::{Grid, Line};
use crate::models::routing::{
    Accepts, Classes, Draws, Example, Hop, Needs, Proof, Routing, RoutingModel, Step, same_classes,
};
use crate::state::Packet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_topology::Graph;
use weft_units::Refusal;

/// Dimension order: dimension 0 first, each dimension finished before the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DimensionOrder {
    /// Torus: how the VC class changes at the wrap link.
    #[serde(default)]
    pub dateline: Dateline,
}

/// VC class in a ring.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dateline {
    /// Class 0 until the wrap link, class 1 on it and after.
    #[default]
    Crossing,
    /// A packet gets its class as it enters the dimension, and keeps it: this balances the classes better.
    Entry,
    /// One class: channels depend on each other in a cycle, which is refused unless the scenario allows it.
    None,
}

#[derive(Debug, Clone)]
pub struct Runtime {
    classes: Classes,
    grid: Grid,
    dateline: Dateline,
}

impl RoutingModel for DimensionOrder {
    type Routing = Runtime;
    const ROUTES: &'static str = "grids of routers (hyperx, torus, mesh)";

    fn fits(graph: &Graph) -> bool {
        Grid::of(graph).is_some()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let grid = Grid::of(graph).expect("a graph that fits");
        Ok(Runtime { classes: same_classes(graph, grid.classes(self.dateline)), grid, dateline: self.dateline })
    }

    fn examples() -> Vec<Example<Self>> {
        const RING: &str = r#"{"torus": {"widths": [8], "terminals_per_router": 1}}"#;
        const HYPERX: &str = r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}"#;
        const FULL_MESH: &str = r#"{"full_mesh": {"routers": 6, "terminals_per_router": 4}}"#;
        const TORNADO: &str = r#"{"tornado": {}}"#;
        const NEIGHBOR: &str = r#"{"neighbor": {}}"#;
        vec![
            Example::of("{}")
                // every packet goes ceil(8 / 2) - 1 = 3 links up the ring: each channel up carries 3
                .bound(RING, TORNADO, Accepts::UpTo(1.0 / 3.0))
                // the 4 terminals of a router share a link in each dimension
                .bound(HYPERX, TORNADO, Accepts::UpTo(1.0 / 4.0))
                // the 4 terminals of a router share the link to the next one
                .bound(FULL_MESH, NEIGHBOR, Accepts::UpTo(1.0 / 4.0)),
            Example::of(r#"{"dateline": "entry"}"#)
                // every packet goes ceil(8 / 2) - 1 = 3 links up the ring: each channel up carries 3
                .bound(RING, TORNADO, Accepts::UpTo(1.0 / 3.0)),
        ]
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs { classes: self.classes.clone(), ..Needs::default() }
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        let Some(d) = Grid::first_difference(at, packet.dest) else { return Some(Hop::to_terminal(packet)) };
        Some(self.grid.hop(at, packet.dest, d, self.dateline, packet, seed))
    }

    fn first_ports(&self) -> Option<[u8; 8]> {
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
