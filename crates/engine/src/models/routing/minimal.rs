//! Minimal on a HyperX in a random order of dimensions; the VC class is the hop index.
//!
//! # Source
//! CAMINOS "Shortest" on a Hamming graph with one VC step per hop (oblivious: the order is drawn, not adapted).
//! # Parameters
//! None.
//! # Guarantees
//! Minimal; as many VC classes as dimensions, acyclic because the class rises with each hop.
//! # Not modelled
//! Step of the dimension by congestion.
//! # Validation
//! On every legal topology: `engine/tests/theory.rs` (latency without contention to the cycle),
//! `engine/tests/conservation.rs` (nothing lost), `engine/tests/stall.rs` (no stall in the smallest buffers).
//! `engine/tests/bounds.rs`: the bound under tornado is reached. CAMINOS: the rows `shortest` of
//! `tests/data/golden/caminos.csv`.

use super::{Classes, Hop, below, draw, grid::Grid, grid::Line, steps::Step, wrong_shape};
use crate::state::Packet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_topology::Graph;
use weft_units::Refusal;

/// Minimal on a HyperX in a random order of dimensions; the VC class is the hop index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Minimal {}

#[derive(Debug, Clone)]
pub struct Runtime {
    grid: Grid,
}

impl Minimal {
    pub(super) fn build(&self, graph: &Graph) -> Result<(Runtime, Classes), Refusal> {
        let grid = Grid::of(graph, "minimal")?;
        if grid.line != Line::Complete {
            return Err(wrong_shape("minimal", "hyperx", graph));
        }
        let mut classes = vec![grid.dims.max(1); graph.class_names().len()];
        classes[0] = 1;
        Ok((Runtime { grid }, classes))
    }
}

impl Runtime {
    #[inline(always)]
    pub(super) fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        let (mut open, mut count) = ([0u8; 8], 0);
        for d in 0..self.grid.dims as usize {
            if Grid::coordinate(at, d) != Grid::coordinate(packet.dest, d) {
                open[count] = d as u8;
                count += 1;
            }
        }
        if count == 0 {
            return Some(Hop { port: packet.dst_port, class: 0 });
        }
        let d = open[below(draw(seed, packet, 0x3d + u64::from(packet.lane)), count as u32) as usize] as usize;
        let class = packet.lane;
        packet.lane += 1;
        Some(Hop { port: self.grid.port_to(at, d, Grid::coordinate(packet.dest, d)), class })
    }

    /// Every dimension that is left, or the terminal.
    pub(super) fn steps(&self, at: u64, packet: &Packet) -> Vec<Step> {
        let (class, after) = (packet.lane, Packet { lane: packet.lane + 1, ..*packet });
        let hops = self.grid.differences(at, packet.dest);
        let hops = hops.map(|d| Hop { port: self.grid.port_to(at, d, Grid::coordinate(packet.dest, d)), class });
        let choices: Vec<Step> = hops.map(|hop| Step { hop, after, cost: None }).collect();
        if choices.is_empty() { vec![Step::deliver(packet)] } else { choices }
    }
}
