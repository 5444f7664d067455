//! UGAL-L: at the source router, minimal or over one random intermediate, by the queues of the two first hops.
//!
//! # Source
//! Singh, PhD thesis, Stanford 2005; rule as in BookSim2's `ugal_flatfly`: minimal if q_min H_min <= q_nm H_nm + T.
//! # Parameters
//! threshold T [flits]; sensor: what q is; intermediate: where the random router is drawn from.
//! # Guarantees
//! Two phases with their own VC classes, minimal packets in the second; an intermediate equal to the source is minimal.
//! # Not modelled
//! Global knowledge (UGAL-G).
//! # Validation
//! On every legal topology: `engine/tests/theory.rs` (latency without contention to the cycle),
//! `engine/tests/conservation.rs` (nothing lost), `engine/tests/stall.rs` (no stall in the smallest buffers).
//! `engine/tests/paths.rs`: the costs that are compared; `engine/tests/theory.rs`: minimal when idle, beyond the
//! minimal bound under tornado; `engine/tests/bounds.rs`: half or more of the bound of detours. BookSim2: the rows
//! `ugal` of `flatfly` in `tests/data/golden/booksim.csv`.

use super::{Classes, Hop, Sensor, below, draw, grid::Grid, sensor::Congestion, steps::Cost, steps::Step, valiant};
use crate::state::Packet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_topology::Graph;
use weft_units::{Flits, Refusal};

/// UGAL-L: at the source router, minimal or over one random intermediate, by the queues of the two first hops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ugal {
    /// Bias toward the minimal path.
    #[serde(default = "super::default_threshold")]
    pub threshold: Flits,
    /// What is read as the congestion of an output.
    #[serde(default)]
    pub sensor: Sensor,
    /// Where the intermediate router is drawn from.
    #[serde(default)]
    pub intermediate: Intermediate,
}

/// Where the intermediate router is drawn from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Intermediate {
    /// Any router.
    #[default]
    Any,
    /// A random coordinate only in the dimensions in which source and destination differ.
    DifferingDimensions,
}

#[derive(Debug, Clone)]
pub struct Runtime {
    pub(super) valiant: valiant::Runtime,
    threshold: i32,
    pub(super) sensor: Sensor,
    intermediate: Intermediate,
}

impl Ugal {
    pub(super) fn build(&self, graph: &Graph) -> Result<(Runtime, Classes), Refusal> {
        let (valiant, classes) = valiant::Runtime::of(graph, "ugal")?;
        let (sensor, intermediate) = (self.sensor, self.intermediate);
        Ok((Runtime { valiant, threshold: super::threshold(self.threshold, "ugal")?, sensor, intermediate }, classes))
    }
}

impl Runtime {
    #[inline(always)]
    pub(super) fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if self.asks(at, packet) {
            return None;
        }
        self.valiant.next(at, packet, seed)
    }

    /// Whether the packet is still to choose, by the queues of the router it is in.
    #[inline(always)]
    pub(super) fn asks(&self, at: u64, packet: &Packet) -> bool {
        packet.phase == 0 && packet.flags & crate::state::DETOUR == 0 && at != packet.dest
    }

    #[inline(never)]
    pub(super) fn head(&self, at: u64, queues: &impl Congestion, packet: &mut Packet, seed: u64) -> Hop {
        let mid = self.intermediate(at, packet, seed);
        packet.phase = 1;
        let minimal = self.valiant.next(at, packet, seed);
        if mid != at && mid != packet.dest {
            let mut detour = Packet { phase: 0, dim: 0, lane: 0, ..*packet };
            self.valiant.detour(&mut detour, mid);
            if let (Some(m), Some(n)) = (minimal, self.valiant.next(at, &mut detour, seed)) {
                let grid = &self.valiant.grid;
                let near = grid.distance(at, packet.dest);
                let far = grid.distance(at, mid) + grid.distance(mid, packet.dest);
                let cost = |hop: Hop, hops: u32, bias: i32| {
                    queues.weigh(hop, Cost { at, port: hop.port, hops, bias }, queues.read(self.sensor, hop.port))
                };
                if cost(m, near, 0) > cost(n, far, self.threshold) {
                    *packet = detour;
                    return n;
                }
            }
        }
        minimal.unwrap_or(Hop { port: packet.dst_port, class: 0 })
    }

    /// The minimal path and the one over every intermediate.
    pub(super) fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        let grid = &self.valiant.grid;
        let option = |mut after: Packet, hops: u32, bias: i32| {
            let hop = self.valiant.next(at, &mut after, seed)?;
            Some(Step { hop, after, cost: Some(Cost { at, port: hop.port, hops, bias }) })
        };
        let minimal = option(Packet { phase: 1, ..*packet }, grid.distance(at, packet.dest), 0);
        let drawn = |&mid: &u64| {
            let differs = |d| Grid::coordinate(mid, d) != Grid::coordinate(at, d);
            let aligned = |d| Grid::coordinate(packet.dest, d) == Grid::coordinate(at, d);
            let any = self.intermediate == Intermediate::Any;
            mid != at && mid != packet.dest && (any || (0..8).all(|d| !(differs(d) && aligned(d))))
        };
        let detours = grid.coords.iter().copied().filter(drawn).filter_map(|mid| {
            let mut detour = *packet;
            self.valiant.detour(&mut detour, mid);
            option(detour, grid.distance(at, mid) + grid.distance(mid, packet.dest), self.threshold)
        });
        minimal.into_iter().chain(detours).collect()
    }

    #[inline(always)]
    fn intermediate(&self, at: u64, packet: &Packet, seed: u64) -> u64 {
        let grid = &self.valiant.grid;
        let hash = draw(seed, packet, 0x51);
        if self.intermediate == Intermediate::Any {
            return grid.coords[below(hash, grid.routers) as usize];
        }
        let mut mid = at;
        for d in 0..grid.dims as usize {
            if Grid::coordinate(at, d) != Grid::coordinate(packet.dest, d) {
                let c = below(draw(seed, packet, 0x51 + d as u64), u32::from(grid.widths[d]));
                mid = mid & !(0xff << (8 * d)) | u64::from(c) << (8 * d);
            }
        }
        mid
    }
}
