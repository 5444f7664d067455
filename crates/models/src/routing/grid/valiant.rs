//! Valiant: dimension order to a random router, and then dimension order to the destination.
//!
//! # Source
//! Valiant, SIAM J. Computing 1982. The intermediate is drawn from all routers, as in BookSim2's `valiant`.
//! # Parameters
//! None.
//! # Guarantees
//! A path has two legs with separate VC classes: one class per leg, or two per leg on a torus. Each leg loads the channels like uniform
//! traffic, whatever the traffic pattern is.
//! # Not modelled
//! Nothing is omitted.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/theory.rs` and `engine/tests/bounds.rs` check the saturation load under tornado, bit complement
//! and uniform traffic. It must be the load at which two legs of uniform traffic fill the channels. No test compares this routing with
//! another simulator.

use crate::routing::on_grid::{Dateline, Grid};
use crate::routing::{
    Accepts, Classes, Draws, Example, Hop, Needs, Outcomes, Proof, Routing, RoutingModel, Step, below, draw,
    same_classes,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::state::{DETOUR, Packet};
use weft_topology::Graph;
use weft_units::Refusal;

/// Valiant: dimension order to a random router, and then dimension order to the destination.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Valiant {}

#[derive(Debug, Clone)]
pub struct Runtime {
    pub(super) classes: Classes,
    pub(super) grid: Grid,
    per_phase: u8,
}

impl RoutingModel for Valiant {
    type Routing = Runtime;
    const ROUTES: &'static str = "grids in which all lines have the same form (ring, row or full mesh)";

    fn fits(graph: &Graph) -> bool {
        Grid::of(graph).is_some()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        Ok(Runtime::of(graph))
    }

    fn examples() -> Vec<Example<Self>> {
        const HYPERX: &str = r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}"#;
        const TORNADO: &str = r#"{"tornado": {}}"#;
        const BIT_COMPLEMENT: &str = r#"{"bit_complement": {}}"#;
        vec![
            Example::of("{}")
                // Each leg ends at one of 16 routers with equal probability, and a channel leads to 4 of them. The 4 terminals of its
                // router send 4 flits per cycle at load 1. Therefore the channel carries 4 * 4 / 16 = 1 flit per cycle for each leg
                .bound(HYPERX, TORNADO, Accepts::UpTo(1.0 / 2.0))
                .bound(HYPERX, BIT_COMPLEMENT, Accepts::UpTo(1.0 / 2.0)),
        ]
    }
}

impl Runtime {
    pub(super) fn of(graph: &Graph) -> Self {
        let grid = Grid::of(graph).expect("a graph that fits");
        let per_phase = grid.classes(Dateline::Crossing);
        Self { classes: same_classes(graph, 2 * per_phase), grid, per_phase }
    }

    /// Sets the router at coordinates `mid` as the intermediate of the packet.
    #[inline(always)]
    pub(super) fn detour(&self, packet: &mut Packet, mid: u64) {
        packet.target = mid;
        packet.flags |= DETOUR;
    }

    /// Returns the intermediate of a packet on its first leg; `None` for other packets.
    pub(super) fn over(packet: &Packet) -> Option<u64> {
        let detours = packet.phase == 0 && packet.flags & DETOUR != 0 && packet.target != packet.dest;
        detours.then_some(packet.target)
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs { classes: self.classes.clone(), draws_path: true, ..Needs::default() }
    }

    fn inject(&self, packet: &mut Packet, seed: u64) {
        let mid = below(draw(seed, packet, 0x51), self.grid.routers);
        self.detour(packet, self.grid.coords[mid as usize]);
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if packet.phase == 0 && at == packet.target {
            packet.phase = 1;
            packet.dim = 0;
            packet.lane = 0;
            packet.target = packet.dest;
        }
        let Some(d) = Grid::first_difference(at, packet.target) else {
            return Some(Hop::to_terminal(packet));
        };
        let hop = self.grid.hop(at, packet.target, d, Dateline::Crossing, packet, seed);
        Some(Hop { class: hop.class + packet.phase * self.per_phase, ..hop })
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        Step::named(self, at, packet, seed)
    }

    fn proof(&self) -> Proof<'_> {
        Proof::TwoLegs { by_line: true, minimal_phase: None }
    }

    fn draws(&self) -> Draws {
        Draws { ties: self.grid.tied_dimensions(), ..Draws::default() }
    }

    fn draws_between(&self, from: u64, to: u64) -> bool {
        self.grid.is_tied_somewhere(from, to)
    }

    /// Returns the packet after each possible outcome of the draw: one for each intermediate.
    fn detours(&self, _at: u64, packet: Packet) -> Outcomes<'_> {
        let coords = &self.grid.coords;
        Outcomes::new(coords.len(), move |k| {
            let mut detour = packet;
            self.detour(&mut detour, coords[k]);
            detour
        })
    }

    fn intermediate(&self, packet: &Packet) -> Option<u64> {
        Self::over(packet)
    }
}
