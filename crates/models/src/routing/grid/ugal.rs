//! UGAL-L: the source router chooses between the minimal path and a path over one random intermediate. It compares the queues of the first
//! hops of the two paths.
//!
//! # Source
//! Singh, PhD thesis, Stanford 2005. The rule is that of BookSim2's `ugal_flatfly`: the packet takes the minimal path
//! if q_min H_min <= q_nm H_nm + T ("nm": over the intermediate). H is the number of hops of a path.
//! # Parameters
//! `threshold`: the bias T towards the minimal path [flits]. `sensor`: definition of q, the queue of an output. `intermediate`: the set of
//! routers from which a packet draws its intermediate router.
//! # Guarantees
//! A path over an intermediate has two legs with separate VC classes. Packets on minimal paths use the classes of the second leg. If the
//! drawn intermediate is the source router, the packet takes the minimal path.
//! # Not modelled
//! Knowledge of the queues of other routers (UGAL-G).
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/paths.rs` checks the costs of the two paths that the routing compares. `engine/tests/theory.rs`
//! checks that paths are minimal in an idle network, and that the accepted load under tornado traffic exceeds the bound of minimal paths.
//! `engine/tests/bounds.rs` checks that the accepted load is at least half of the theoretical bound with detours. The rows of
//! `tests/data/golden/booksim.csv` with topology `flatfly` and routing `ugal` compare this routing with BookSim2.

use super::valiant;
use crate::routing::bounds::SharedBounds;
use crate::routing::on_grid::Grid;
use crate::routing::{
    Cost, Decides, Draws, Example, Hop, Needs, Proof, Routing, RoutingModel, Sensor, Step, View, below, draw,
    threshold, weigh,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::state::{DETOUR, Packet};
use weft_topology::Graph;
use weft_units::{Flits, Refusal};

/// UGAL-L: the source router chooses between the minimal path and a path over one random intermediate. It compares the queues of the first
/// hops of the two paths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ugal {
    /// Bias T towards the minimal path, added to the cost of the detour.
    #[serde(default = "two")]
    pub threshold: Flits,
    /// Definition of the queue of an output.
    #[serde(default = "window")]
    pub sensor: Sensor,
    /// The set of routers from which a packet draws its intermediate router.
    #[serde(default)]
    pub intermediate: Intermediate,
}

/// The default is the bias of BookSim2's `ugal_flatfly`.
fn two() -> Flits {
    Flits(2)
}

/// The default sensor does not count flits in flight, because they do not wait in a queue. With `used_credits` packets
/// would leave minimal paths even if no flit waits on them.
fn window() -> Sensor {
    Sensor::HistoryWindow
}

/// The set of routers from which a packet draws its intermediate router.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Intermediate {
    /// Any router.
    #[default]
    Any,
    /// A router with random coordinates in the dimensions in which source and destination differ, and equal coordinates in the other
    /// dimensions.
    DifferingDimensions,
}

#[derive(Debug, Clone)]
pub struct Runtime {
    valiant: valiant::Runtime,
    threshold: i32,
    sensor: Sensor,
    intermediate: Intermediate,
}

impl RoutingModel for Ugal {
    type Routing = Runtime;
    const ROUTES: &'static str = valiant::Valiant::ROUTES;

    fn fits(graph: &Graph) -> bool {
        valiant::Valiant::fits(graph)
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let threshold = threshold(self.threshold, "ugal")?;
        Ok(Runtime {
            valiant: valiant::Runtime::of(graph),
            threshold,
            sensor: self.sensor,
            intermediate: self.intermediate,
        })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![
            Example::of("{}").bound_with_detours_around_one_neighbor(),
            Example::of(r#"{"intermediate": "differing_dimensions", "sensor": "used_credits"}"#),
        ]
    }
}

impl Runtime {
    /// True if the packet has not chosen its path yet, and must compare the queues of its present router.
    #[inline(always)]
    fn asks(at: u64, packet: &Packet) -> bool {
        packet.phase == 0 && packet.flags & DETOUR == 0 && at != packet.dest
    }

    #[inline(always)]
    fn draw_intermediate(&self, at: u64, packet: &Packet, seed: u64) -> u64 {
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

    /// Returns the first hop of the path that packet `after` has chosen. Its cost contains the number of hops of the path, and the bias.
    fn way(&self, at: u64, mut after: Packet, hops: u32, bias: i32, seed: u64) -> Option<Step> {
        let hop = self.valiant.next(at, &mut after, seed)?;
        Some(Step { hop, after, cost: Some(Cost { at, port: hop.port, hops, bias }) })
    }

    fn minimal_way(&self, at: u64, packet: &Packet, seed: u64) -> Option<Step> {
        self.way(at, Packet { phase: 1, ..*packet }, self.valiant.grid.distance(at, packet.dest), 0, seed)
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs {
            classes: self.valiant.classes.clone(),
            decides: Decides::AtHead,
            sensor: Some(self.sensor),
            ..Needs::default()
        }
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if Self::asks(at, packet) { None } else { self.valiant.next(at, packet, seed) }
    }

    fn at_head<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, seed: u64) -> Hop {
        let mid = self.draw_intermediate(at, packet, seed);
        packet.phase = 1;
        let minimal = self.valiant.next(at, packet, seed);
        if mid != at && mid != packet.dest {
            let mut detour = Packet { phase: 0, dim: 0, lane: 0, ..*packet };
            self.valiant.detour(&mut detour, mid);
            if let (Some(m), Some(n)) = (minimal, self.valiant.next(at, &mut detour, seed)) {
                let grid = &self.valiant.grid;
                let near = grid.distance(at, packet.dest);
                let far = grid.distance(at, mid) + grid.distance(mid, packet.dest);
                if weigh(here, at, m, near, 0) > weigh(here, at, n, far, self.threshold) {
                    *packet = detour;
                    return n;
                }
            }
        }
        minimal.unwrap_or(Hop::to_terminal(packet))
    }

    /// Lists the first hop of the minimal path, and the first hop of the path over each intermediate.
    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        if !Self::asks(at, packet) {
            return Step::named(self, at, packet, seed);
        }
        let grid = &self.valiant.grid;
        let drawn = |&mid: &u64| {
            let differs = |d| Grid::coordinate(mid, d) != Grid::coordinate(at, d);
            let aligned = |d| Grid::coordinate(packet.dest, d) == Grid::coordinate(at, d);
            let any = self.intermediate == Intermediate::Any;
            mid != at && mid != packet.dest && (any || (0..8).all(|d| !(differs(d) && aligned(d))))
        };
        let detours = grid.coords.iter().copied().filter(drawn).filter_map(|mid| {
            let mut detour = *packet;
            self.valiant.detour(&mut detour, mid);
            self.way(at, detour, grid.distance(at, mid) + grid.distance(mid, packet.dest), self.threshold, seed)
        });
        self.minimal_way(at, packet, seed).into_iter().chain(detours).collect()
    }

    fn first_steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        if !Self::asks(at, packet) {
            return Step::named(self, at, packet, seed);
        }
        self.minimal_way(at, packet, seed).into_iter().collect()
    }

    fn bias_of_used_credits(&self) -> Option<i32> {
        (self.sensor == Sensor::UsedCredits).then_some(self.threshold)
    }

    fn proof(&self) -> Proof<'_> {
        self.valiant.proof()
    }

    fn leg(&self, phase: u8, target: u64, draw: u32) -> Packet {
        let flags = if phase == 0 { DETOUR } else { 0 };
        Packet { target, dest: target, seq: draw, phase, flags, ..Packet::default() }
    }

    fn draws(&self) -> Draws {
        self.valiant.draws()
    }

    fn draws_between(&self, from: u64, to: u64) -> bool {
        self.valiant.draws_between(from, to)
    }

    fn intermediate(&self, packet: &Packet) -> Option<u64> {
        self.valiant.intermediate(packet)
    }
}
