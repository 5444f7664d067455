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

use super::{Classes, Hop, grid::Grid, grid::Line};
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
    /// Class chosen on entering the dimension and kept: balances the classes better.
    Entry,
    /// One class: has cyclic dependencies, refused unless the scenario allows them.
    None,
}

#[derive(Debug, Clone)]
pub struct Runtime {
    pub(super) grid: Grid,
    dateline: Dateline,
}

impl DimensionOrder {
    pub(super) fn build(&self, graph: &Graph) -> Result<(Runtime, Classes), Refusal> {
        let grid = Grid::of(graph, "dimension_order")?;
        let mut classes = vec![grid.classes(self.dateline); graph.class_names().len()];
        classes[0] = 1;
        Ok((Runtime { grid, dateline: self.dateline }, classes))
    }
}

impl Runtime {
    /// Whether a packet crosses a dimension in one hop.
    #[inline(always)]
    pub(crate) fn jumps(&self) -> bool {
        self.grid.line == Line::Complete
    }

    #[inline(always)]
    pub(crate) fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        let Some(d) = Grid::first_difference(at, packet.dest) else {
            return Some(Hop { port: packet.dst_port, class: 0 });
        };
        Some(self.grid.hop(at, packet.dest, d, self.dateline, packet, seed))
    }
}
