//! Valiant: dimension order to a random router, then dimension order to the destination.
//!
//! # Source
//! Valiant, SIAM J. Computing 1982. The intermediate is drawn over all routers, as in BookSim2's `valiant`.
//! # Parameters
//! None.
//! # Guarantees
//! Two phases with their own VC classes (1 each; 2 each on a torus); load on the channels is that of two uniform
//! phases, whatever the pattern.
//! # Not modelled
//! Nothing.
//! # Validation
//! On every legal topology: `engine/tests/theory.rs` (latency without contention to the cycle),
//! `engine/tests/conservation.rs` (nothing lost), `engine/tests/stall.rs` (no stall in the smallest buffers).
//! `engine/tests/theory.rs` and `engine/tests/bounds.rs`: it saturates at the bound of two uniform legs under tornado,
//! bit complement and uniform traffic. No rows of a peer.

use super::{Classes, Hop, below, draw, grid::Dateline, grid::Grid};
use crate::state::{DETOUR, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_topology::Graph;
use weft_units::Refusal;

/// Valiant: dimension order to a random router, then dimension order to the destination.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Valiant {}

#[derive(Debug, Clone)]
pub struct Runtime {
    pub(super) grid: Grid,
    per_phase: u8,
}

impl Valiant {
    pub(super) fn build(&self, graph: &Graph) -> Result<(Runtime, Classes), Refusal> {
        Runtime::of(graph, "valiant")
    }
}

impl Runtime {
    pub(super) fn of(graph: &Graph, routing: &str) -> Result<(Self, Classes), Refusal> {
        let grid = Grid::of(graph, routing)?;
        let per_phase = grid.classes(Dateline::Crossing);
        let mut classes = vec![2 * per_phase; graph.class_names().len()];
        classes[0] = 1;
        Ok((Self { grid, per_phase }, classes))
    }

    pub(super) fn source(&self, seed: u64, packet: &mut Packet) {
        let mid = below(draw(seed, packet, 0x51), self.grid.routers);
        self.detour(packet, self.grid.coords[mid as usize]);
    }

    /// Sends the packet over the router at `mid`.
    #[inline(always)]
    pub(super) fn detour(&self, packet: &mut Packet, mid: u64) {
        packet.target = mid;
        packet.flags |= DETOUR;
    }

    /// The packet over every router.
    pub(super) fn detours(&self, packet: Packet) -> impl Iterator<Item = Packet> + '_ {
        self.grid.coords.iter().map(move |&target| Packet { target, ..packet })
    }

    #[inline(always)]
    pub(super) fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if packet.phase == 0 && at == packet.target {
            packet.phase = 1;
            packet.dim = 0;
            packet.lane = 0;
            packet.target = packet.dest;
        }
        let Some(d) = Grid::first_difference(at, packet.target) else {
            return Some(Hop { port: packet.dst_port, class: 0 });
        };
        let hop = self.grid.hop(at, packet.target, d, Dateline::Crossing, packet, seed);
        Some(Hop { class: hop.class + packet.phase * self.per_phase, ..hop })
    }
}
