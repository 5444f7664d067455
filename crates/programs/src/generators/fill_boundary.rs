//! Exchange of the ghost cells of boxes of a mesh, modelled on BoxLib's FillBoundary. Synthetic.
//!
//! # Source
//! BoxLib (W. Zhang et al., AMReX, JOSS 2019): a space-filling curve assigns boxes to ranks, so the partners of a rank do not form a
//! regular grid. The sizes of messages follow from the ghost cells of faces, edges and corners. The trace of FillBoundary is not
//! public.
//!
//! # Parameters
//! `ranks`, `boxes` of a rank, `cells` on a side of a box, `ghosts`: number of layers of ghost cells, `components` of a cell,
//! `iterations` \[counts\]; `time_per_cell`: computation time per cell and iteration \[time\]; `most_bytes` \[bytes\].
//!
//! # Guarantees
//! The boxes form a periodic grid, and Morton order assigns them to ranks. A box sends its ghost cells to 26 neighbours.
//! Neighbours on the same rank need no message. All messages of an iteration are non-blocking, and then the rank waits for the
//! ends of all messages. There are no collectives.
//!
//! # Not modelled
//! Boxes of different sizes. Several boxes in one message.
//!
//! # Validation
//! `programs/tests/programs/applications.rs` compares the bytes of an iteration with values computed by hand.

use super::collective::ns;
use super::grid::{coordinates, factors, rank_at};
use super::neighbours::directions;
use super::{Generates, Line, Made, iterations_within, not_too_many, within};
use crate::amounts::Bytes;
use crate::form::{Calls, Op, Program, RankProgram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::{Refusal, Time};

/// Exchange of the ghost cells of boxes of a mesh.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FillBoundary {
    pub ranks: u32,
    /// Number of boxes on each rank.
    pub boxes: u32,
    /// Number of cells on a side of a box.
    pub cells: u32,
    /// Number of layers of ghost cells.
    #[serde(default = "one")]
    pub ghosts: u32,
    /// Number of components per cell.
    #[serde(default = "one")]
    pub components: u32,
    pub iterations: u32,
    /// Computation time per cell and iteration.
    pub time_per_cell: Time,
    /// Largest number of bytes that all ranks together may send. The program ends before an iteration would exceed this
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_bytes: Option<Bytes>,
}

fn one() -> u32 {
    1
}

/// Returns the position of a box on the Morton curve, which interleaves the bits of the coordinates.
fn morton(at: [u32; 3]) -> u64 {
    (0..21).fold(0, |code, bit| {
        at.iter().enumerate().fold(code, |code, (k, &at)| code | u64::from(at >> bit & 1) << (3 * bit + k))
    })
}

impl FillBoundary {
    /// Bytes that a box sends to its neighbour in a direction.
    fn halo(&self, direction: [i64; 3]) -> u64 {
        let side = |by: i64| if by == 0 { u64::from(self.cells) } else { u64::from(self.ghosts) };
        8 * u64::from(self.components) * direction.into_iter().map(side).product::<u64>()
    }

    /// Returns the rank of each box.
    fn owners(&self) -> Vec<u32> {
        let count = self.ranks * self.boxes;
        let sides = factors::<3>(count);
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_by_key(|&place| morton(coordinates(place, sides)));
        let mut owners = vec![0; count as usize];
        (0..).zip(order).for_each(|(place, of): (u32, u32)| owners[of as usize] = place / self.boxes);
        owners
    }

    /// Returns the messages between ranks in an iteration: sender, receiver, tag, bytes.
    fn messages(&self) -> Vec<(u32, u32, u32, u64)> {
        let (owners, all) = (self.owners(), directions(true));
        let sides = factors::<3>(self.ranks * self.boxes);
        let mut messages = Vec::new();
        for (place, &from) in (0..).zip(&owners) {
            let at = coordinates(place, sides).map(i64::from);
            for (number, &direction) in (0..).zip(&all) {
                let to = owners[rank_at([0, 1, 2].map(|k| at[k] + direction[k]), sides) as usize];
                if to != from {
                    messages.push((from, to, place * 32 + number, self.halo(direction)));
                }
            }
        }
        messages
    }
}

impl Generates for FillBoundary {
    fn make(&self, path: &str) -> Result<Made, Refusal> {
        within(path, "ranks", self.ranks.into(), 1, 1 << 20)?;
        within(path, "boxes", self.boxes.into(), 1, (1 << 22) / u64::from(self.ranks))?;
        within(path, "cells", self.cells.into(), 1, 1 << 12)?;
        within(path, "ghosts", self.ghosts.into(), 1, self.cells.into())?;
        within(path, "components", self.components.into(), 1, 1 << 10)?;
        within(path, "iterations", self.iterations.into(), 1, 1 << 20)?;
        let messages = self.messages();
        let per_iteration = messages.iter().map(|message| message.3).sum();
        let iterations = iterations_within(path, self.iterations, self.most_bytes, per_iteration)?;
        not_too_many(path, u64::from(iterations) * (2 * messages.len() as u64 + u64::from(self.ranks)))?;
        let cells = u64::from(self.boxes) * u64::from(self.cells).pow(3);
        let compute = ns(&format!("{path}.time_per_cell"), Some(self.time_per_cell))?.saturating_mul(cells);
        let mut ops: Vec<Vec<Op>> = vec![Vec::new(); self.ranks as usize];
        for &(from, to, tag, bytes) in &messages {
            ops[to as usize].push(Op::receive(Some(from), bytes, Some(tag)));
        }
        for &(from, to, tag, bytes) in &messages {
            ops[from as usize].push(Op::send(to, bytes, Some(tag)));
        }
        let rank = |ops: &Vec<Op>| {
            let mut calls = Calls::default();
            for _ in 0..iterations {
                let requests: Vec<_> = ops.iter().map(|&op| calls.start(op)).collect();
                calls.wait_all(requests);
                calls.blocking(Op::compute(compute));
            }
            RankProgram::new(calls.finish())
        };
        let arithmetic = vec![
            Line::new("iterations", iterations.into(), "", ""),
            Line::new("face", self.halo([1, 0, 0]) as f64, "B", "8 B x components x cells^2 x ghosts"),
            Line::new("messages of an iteration", messages.len() as f64, "", "between boxes of different ranks"),
            Line::new("bytes of an iteration", per_iteration as f64, "B", "all ranks together"),
        ];
        Ok(Made { program: Program { ranks: ops.iter().map(rank).collect() }, arithmetic })
    }

    fn examples() -> Vec<Self> {
        let time_per_cell = Time::Femtoseconds(1_000_000);
        let one = Self {
            ranks: 27,
            boxes: 1,
            cells: 16,
            ghosts: 2,
            components: 1,
            iterations: 2,
            time_per_cell,
            most_bytes: None,
        };
        vec![one.clone(), Self { ranks: 8, boxes: 8, ..one }]
    }
}
