//! SLaC: dimension order on a 2D HyperX whose highest rows may be dark; packets step down into a row that is on.
//!
//! # Source
//! Demir and Hardavellas, "SLaC: Stage Laser Control for a Flattened Butterfly Network", HPCA 2016, as Kim et al., "TCEP",
//! ISCA 2018, section V, use it.
//! # Parameters
//! via: the row over which a packet goes between two dark rows (`by_destination`: the number of the destination router
//! modulo the rows that are on; `lowest`; `newest`, the row switched on last; `random`, drawn per packet).
//! # Guarantees
//! With stages 1 to S on (the links in rows 1 to S, and the column links that end in one of them), any router reaches any
//! other on them in at most 3 hops: in dimension order from a row that is on, else first along the column into a row that
//! is on. A packet keeps the S that it meets as it becomes the head of its queue in its source router. One VC class, so that
//! a queue that is stuck can fill its whole buffer, which is what the policy `slac` looks at: a column link that is followed
//! by another link leads down or comes first, so that row links are only entered from higher rows, and links up a column are
//! the last; that is acyclic for every S and for packets of different S. Under `always_on` it is `dimension_order`.
//! # Not modelled
//! Balance of the links that are on: the choice never reads a queue, which is TCEP's criticism of it.
//! # Validation
//! `engine/tests/slac.rs`: paths, latency without contention and connectivity for every S; hop by hop dimension order
//! under `always_on`; the bounds under tornado and bit reverse. `engine/tests/stall.rs`: no stall in the smallest buffers.
//! No rows of a peer: none has it.

use super::{Classes, Hop, below, draw, grid::Grid, grid::Line, steps::Step, wrong_shape};
use crate::state::{DETOUR, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use weft_topology::Graph;
use weft_units::Refusal;

/// Dimensions: x goes along a row, y along a column.
const X: usize = 0;
const Y: usize = 1;

/// SLaC: dimension order on a 2D HyperX whose highest rows may be dark; packets step down into a row that is on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slac {
    /// The row over which a packet goes between two dark rows.
    #[serde(default)]
    pub via: Via,
}

/// A row among those that are on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// The number of the destination router modulo the rows that are on.
    #[default]
    ByDestination,
    /// The first row.
    Lowest,
    /// The row that was switched on last.
    Newest,
    /// Drawn for every packet.
    Random,
}

#[derive(Debug, Clone)]
pub struct Runtime {
    grid: Grid,
    via: Via,
    /// Stages that are on for packets that ask now: rows 0 to `stages - 1`.
    stages: u8,
    /// Stages go on and off: a packet is pinned to those that it meets.
    switched: bool,
}

impl Slac {
    pub(super) fn build(&self, graph: &Graph) -> Result<(Runtime, Classes), Refusal> {
        let refusal = || wrong_shape("slac", "a hyperx of two dimensions", graph);
        let grid = Grid::of(graph, "slac").map_err(|_| refusal())?;
        if grid.line != Line::Complete || grid.dims != 2 {
            return Err(refusal());
        }
        let classes = vec![1; graph.class_names().len()];
        Ok((Runtime { stages: grid.widths[Y], switched: false, grid, via: self.via }, classes))
    }
}

impl Runtime {
    /// Packets from now on find `stages` stages on, which may change.
    pub(crate) fn switch_to(&mut self, stages: u8) {
        (self.stages, self.switched) = (stages, true);
    }

    #[cfg(test)]
    pub(crate) fn stages(&self) -> u8 {
        self.stages
    }

    /// The routing with every number of stages.
    pub(crate) fn every_stage(&self) -> impl Iterator<Item = Self> + '_ {
        (1..=self.grid.widths[Y]).map(|stages| Self { stages, switched: true, ..self.clone() })
    }

    /// Packets from now on find all stages on, if they go on and off; whether they do.
    pub(super) fn switch_all_on(&mut self) -> bool {
        self.stages = self.grid.widths[Y];
        self.switched
    }

    #[inline(always)]
    pub(super) fn next(&self, at: u64, packet: &mut Packet, _seed: u64) -> Option<Hop> {
        (!self.asks(at, packet)).then(|| self.onward(at, packet))
    }

    /// The first hop of a packet, which is pinned to the stages of this moment (`lane`).
    #[inline(always)]
    pub(super) fn head(&self, at: u64, packet: &mut Packet, seed: u64) -> Hop {
        packet.lane = self.stages;
        match self.rows(at, packet.dest) {
            Some(rows) => {
                let choices = u32::from(rows.end - rows.start);
                let row = rows.start + below(draw(seed, packet, 0x51ac), choices) as u8;
                self.down(at, row, packet)
            }
            None => self.onward(at, packet),
        }
    }

    /// Rises with each hop: row links of lower and lower rows, with links down the columns between them; links up a column
    /// come last.
    pub(super) fn rank(&self, at: u64, hop: Hop) -> u32 {
        let depth = |row: u8| 2 * (u32::from(u8::MAX) - u32::from(row));
        let own = Grid::coordinate(at, Y);
        match hop.port.checked_sub(self.grid.ports[Y]) {
            None => depth(own) + 1,
            Some(up) if up >= own => u32::MAX,
            Some(row) => depth(row),
        }
    }

    /// Whether the packet is not pinned yet.
    pub(super) fn asks(&self, at: u64, packet: &Packet) -> bool {
        self.switched && packet.lane == 0 && at != packet.dest
    }

    /// Every first hop, all equally likely.
    pub(super) fn steps(&self, at: u64, packet: &Packet) -> Vec<Step> {
        let step = |first: &dyn Fn(&mut Packet) -> Hop| {
            let mut after = Packet { lane: self.stages, ..*packet };
            Step { hop: first(&mut after), after, cost: None }
        };
        match self.rows(at, packet.dest) {
            Some(rows) => rows.map(|row| step(&|after| self.down(at, row, after))).collect(),
            None => vec![step(&|after| self.onward(at, after))],
        }
    }

    /// Dimension order: along the row, then the last hop along the column.
    #[inline(always)]
    fn onward(&self, at: u64, packet: &Packet) -> Hop {
        let port = match Grid::first_difference(at, packet.dest) {
            None => packet.dst_port,
            Some(d) => self.grid.port_to(at, d, Grid::coordinate(packet.dest, d)),
        };
        Hop { port, class: 0 }
    }

    /// Along the column into `row`, and on from there; a hop more than needed, unless the destination is in that row.
    #[inline(always)]
    fn down(&self, at: u64, row: u8, packet: &mut Packet) -> Hop {
        if row != Grid::coordinate(packet.dest, Y) {
            packet.flags |= DETOUR;
        }
        Hop { port: self.grid.port_to(at, Y, row), class: 0 }
    }

    /// The rows into one of which a packet from `at` steps first, where dimension order would need a link that is dark.
    #[inline(always)]
    fn rows(&self, at: u64, to: u64) -> Option<Range<u8>> {
        let [own, dest] = [at, to].map(|router| Grid::coordinate(router, Y));
        let same_column = Grid::coordinate(at, X) == Grid::coordinate(to, X);
        if own < self.stages || same_column && dest < self.stages {
            return None;
        }
        if dest < self.stages {
            return Some(dest..dest + 1);
        }
        let router = u32::from(Grid::coordinate(to, X)) + u32::from(self.grid.widths[X]) * u32::from(dest);
        Some(match self.via {
            Via::ByDestination => {
                let row = (router % u32::from(self.stages)) as u8;
                row..row + 1
            }
            Via::Lowest => 0..1,
            Via::Newest => self.stages - 1..self.stages,
            Via::Random => 0..self.stages,
        })
    }
}

#[cfg(test)]
mod tests;
