//! SLaC: dimension order on a 2D HyperX in which a power policy can switch off the links of the highest rows. From such a dark row, a
//! packet first goes down its column into a row that is on.
//!
//! # Source
//! Demir and Hardavellas, "SLaC: Stage Laser Control for a Flattened Butterfly Network", HPCA 2016. The form is the one that Kim et al.,
//! "TCEP", ISCA 2018, section V, compare with TCEP.
//! # Parameters
//! `via`: rule that chooses the row over which a packet goes from one dark row to another. `by_destination`: the row whose index is the
//! number of the destination router modulo the number of rows that are on. `lowest`: the first row. `newest`: the row that was switched on
//! last. `random`: a row that each packet draws.
//! # Guarantees
//! Let stages 1 to S be on. Then the links in rows 1 to S are on, and the column links with an end in one of these rows. Over these links,
//! any router reaches any other in at most 3 hops. From a row that is on, a packet follows dimension order. From a dark row, the packet
//! first crosses its column into a row that is on. A packet always uses the value of S that was valid when the packet reached the front of
//! its queue in its source router. The routing has only one VC class, so packets that cannot move can fill the whole buffer of an input.
//! The policy `slac`, which measures buffer occupancy, relies on this. A column link on a path is the last link of the path, or it is the
//! first link and leads down. Packets therefore come to a row link only from a higher row or from a terminal, and an upward column link is
//! always their last link. Hence the dependencies between channels have no cycle for any S, even if packets with different S are in the
//! network at the same time. Under `always_on` the routing takes the same paths as `dimension_order`.
//! # Not modelled
//! A balance of the load among the links that are on: the routing reads no queue, for which the TCEP paper criticises
//! SLaC.
//! # Validation
//! `engine/tests/slac.rs` checks paths, latency without contention and connectivity for every S. It also checks that packets take the hops
//! of dimension order under `always_on`, and that throughput reaches its theoretical bounds under tornado and bit reverse.
//! `engine/tests/stall.rs` checks that the smallest buffers cause no stall. No test compares this routing with another simulator, because
//! no other simulator has SLaC.

use crate::routing::bounds::SharedBounds;
use crate::routing::on_grid::Grid;
use crate::routing::{
    AnyRouting, AroundFaults, Classes, Decides, Example, Hop, LinkKnowledge, Needs, Proof, Published, Routing,
    RoutingModel, Step, View, below, draw, same_classes,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use weft_api::state::{DETOUR, Packet};
use weft_topology::Graph;
use weft_units::Refusal;

/// Indices of the dimensions: x is the position in a row, y the position in a column.
const X: usize = 0;
const Y: usize = 1;

/// SLaC: dimension order on a 2D HyperX in which a power policy can switch off the links of the highest rows. From such a dark row, a
/// packet first goes down its column into a row that is on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slac {
    /// Rule that chooses the row over which a packet goes from one dark row to another.
    #[serde(default)]
    pub via: Via,
}

/// Rule that chooses a row among those that are on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// The row whose index is the number of the destination router modulo the number of rows that are on.
    #[default]
    ByDestination,
    /// The lowest row.
    Lowest,
    /// The row that was switched on last.
    Newest,
    /// A row that each packet draws at random.
    Random,
}

#[derive(Debug)]
pub struct Runtime {
    classes: Classes,
    grid: Grid,
    via: Via,
    /// Number of stages that are on for packets that start now. Their rows are 0 to `stages - 1`. The overseer of the policy
    /// changes this number between two cycles, when no router runs.
    stages: AtomicU8,
    /// True if a policy switches stages on and off. Then a packet uses only the stages that were on when it started.
    switched: bool,
}

impl RoutingModel for Slac {
    type Routing = Runtime;
    const ROUTES: &'static str = "grids of two dimensions with a link between every two routers of a line";
    const LINKS: &'static [LinkKnowledge] = &[LinkKnowledge::Stages];

    fn fits(graph: &Graph) -> bool {
        Grid::complete(graph).is_some_and(|grid| grid.dims == 2)
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let grid = Grid::complete(graph).expect("a graph that fits");
        let stages = AtomicU8::new(grid.widths[Y]);
        Ok(Runtime { classes: same_classes(graph, 1), stages, switched: false, grid, via: self.via })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![Example::of("{}").bound_by_tornado_on_a_grid(), Example::of(r#"{"via": "random"}"#)]
    }
}

impl Runtime {
    #[inline(always)]
    pub(super) fn stages(&self) -> u8 {
        self.stages.load(Relaxed)
    }

    /// Returns copies of the routing, one for every number of stages that can be on.
    fn every_stage(&self) -> impl Iterator<Item = Self> + '_ {
        (1..=self.grid.widths[Y]).map(|stages| Self {
            classes: self.classes.clone(),
            grid: self.grid.clone(),
            via: self.via,
            stages: AtomicU8::new(stages),
            switched: true,
        })
    }

    /// True if the packet has not chosen its stages yet, and must do so in `at_head`.
    fn asks(&self, at: u64, packet: &Packet) -> bool {
        self.switched && packet.lane == 0 && at != packet.dest
    }

    /// Returns the next hop in dimension order: first along the row, then along the column.
    #[inline(always)]
    fn onward(&self, at: u64, packet: &Packet) -> Hop {
        match Grid::first_difference(at, packet.dest) {
            None => Hop::to_terminal(packet),
            Some(d) => Hop { port: self.grid.port_to(at, d, Grid::coordinate(packet.dest, d)), class: 0 },
        }
    }

    /// Returns the hop along the column into row `row`. If `row` is not the destination row, marks the packet as on a detour. Its path is
    /// then one or two hops longer than a minimal path.
    #[inline(always)]
    fn down(&self, at: u64, row: u8, packet: &mut Packet) -> Hop {
        if row != Grid::coordinate(packet.dest, Y) {
            packet.flags |= DETOUR;
        }
        Hop { port: self.grid.port_to(at, Y, row), class: 0 }
    }

    /// Returns the rows from which a packet at router `at` chooses the row for its first hop. `None` if its path in
    /// dimension order has no dark link.
    #[inline(always)]
    fn rows(&self, at: u64, to: u64) -> Option<Range<u8>> {
        let [own, dest] = [at, to].map(|router| Grid::coordinate(router, Y));
        let same_column = Grid::coordinate(at, X) == Grid::coordinate(to, X);
        if own < self.stages() || same_column && dest < self.stages() {
            return None;
        }
        if dest < self.stages() {
            return Some(dest..dest + 1);
        }
        let router = u32::from(Grid::coordinate(to, X)) + u32::from(self.grid.widths[X]) * u32::from(dest);
        Some(match self.via {
            Via::ByDestination => {
                let row = (router % u32::from(self.stages())) as u8;
                row..row + 1
            }
            Via::Lowest => 0..1,
            Via::Newest => self.stages() - 1..self.stages(),
            Via::Random => 0..self.stages(),
        })
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs { classes: self.classes.clone(), decides: Decides::AtHead, ..Needs::default() }
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, _seed: u64) -> Option<Hop> {
        (!self.asks(at, packet)).then(|| self.onward(at, packet))
    }

    /// Returns the first hop of a packet. The packet stores the present number of stages in `lane`, and uses only these
    /// stages on its whole path.
    #[inline(always)]
    fn at_head<Q: View + ?Sized>(&self, at: u64, _here: &Q, packet: &mut Packet, seed: u64) -> Hop {
        packet.lane = self.stages();
        match self.rows(at, packet.dest) {
            Some(rows) => {
                let choices = u32::from(rows.end - rows.start);
                let row = rows.start + below(draw(seed, packet, 0x51ac), choices) as u8;
                self.down(at, row, packet)
            }
            None => self.onward(at, packet),
        }
    }

    /// Stores the number of stages that the overseer of the power policy has published, for packets that start from now on.
    fn hear(&self, published: &Published) {
        match published {
            Published::Number(stages) => self.stages.store(*stages as u8, Relaxed),
            Published::LinksUp(_) => unreachable!("a grid has no upward links"),
        }
    }

    /// If stages are switched, a packet whose head is at a broken link is discarded, because it may use only the links of its stages.
    fn around_faults(&self) -> AroundFaults {
        if self.switched { AroundFaults::Drops } else { AroundFaults::ChoosesAgain }
    }

    /// Lists every possible next hop. All listed hops have equal probability.
    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        if !self.asks(at, packet) {
            return Step::named(self, at, packet, seed);
        }
        let step = |first: &dyn Fn(&mut Packet) -> Hop| {
            let mut after = Packet { lane: self.stages(), ..*packet };
            Step { hop: first(&mut after), after, cost: None }
        };
        match self.rows(at, packet.dest) {
            Some(rows) => rows.map(|row| step(&|after| self.down(at, row, after))).collect(),
            None => vec![step(&|after| self.onward(at, after))],
        }
    }

    /// The check of dependencies must test all numbers of stages together, because packets with different numbers can be in flight at the
    /// same time.
    fn proof(&self) -> Proof<'_> {
        Proof::Together(self.every_stage().map(|routing| Box::new(routing) as Box<dyn AnyRouting>).collect())
    }

    /// Returns a rank that rises with each hop. Ranks rise from the highest row to the lowest. For each row, the column links that lead
    /// down into the row have the first rank, and the links of the row the next one. Column links that lead up have the highest rank.
    fn rank(&self, at: u64, hop: Hop) -> u32 {
        let depth = |row: u8| 2 * (u32::from(u8::MAX) - u32::from(row));
        let own = u16::from(Grid::coordinate(at, Y));
        match hop.port.checked_sub(self.grid.ports[Y]) {
            None => depth(own as u8) + 1,
            Some(up) if up >= own => u32::MAX,
            Some(row) => depth(row as u8),
        }
    }

    fn rule_without_queues(&self) -> &'static str {
        "the path over the stages that are on"
    }

    fn begin_with(&mut self, stages: u64) {
        self.switched = true;
        self.stages.store(stages as u8, Relaxed);
    }

    fn assume_all_links(&mut self) -> bool {
        self.stages.store(self.grid.widths[Y], Relaxed);
        self.switched
    }
}

#[cfg(test)]
mod tests;
