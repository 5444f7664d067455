//! A 3-D Fourier transform of complex numbers in pencils, forward and inverse, modelled on BigFFT. Synthetic.
//!
//! # Source
//! The decomposition of a mesh into pencils, which are bundles of whole lines along one dimension. Each 1-D transform needs whole
//! lines. The ranks therefore transpose the mesh, first in rows of ranks and then in columns of ranks. The trace of BigFFT is not
//! public. The size of blocks is therefore taken from a recording of mpi4py-fft.
//!
//! # Parameters
//! `ranks`, `points` of a side of the mesh, `iterations` \[counts\]; `time_per_point` of a 1-D transform \[time\]; `most_bytes`
//! \[bytes\].
//!
//! # Guarantees
//! An iteration has a forward and an inverse transform. In each of the two, a rank computes three 1-D transforms of its points.
//! It takes part in two all-to-alls: one in its row of ranks, and one in its column. A number has 16 bytes, so a block of an
//! all-to-all has 16 points^3 / (ranks x ranks of the row or column) bytes.
//!
//! # Not modelled
//! Real numbers. Numbers of points that are not divisible by the numbers of ranks in a row and a column. Overlap of computation
//! and messages.
//!
//! # Validation
//! `programs/tests/programs/applications.rs` checks that the blocks are as large as in the recording, and the bytes of an
//! iteration.

use super::collective::ns;
use super::grid::{factors, rows_and_columns};
use super::{Generates, Line, Made, iterations_within, not_too_many, within};
use crate::amounts::Bytes;
use crate::form::{Calls, Op, Operation, Program, RankProgram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_units::{Refusal, Time};

/// A 3-D Fourier transform in pencils (bundles of whole lines).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BigFft {
    pub ranks: u32,
    /// Number of points on a side of the mesh.
    pub points: u32,
    pub iterations: u32,
    /// Computation time per point and 1-D transform.
    pub time_per_point: Time,
    /// Largest number of bytes that all ranks together may send. The program ends before an iteration would exceed this
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_bytes: Option<Bytes>,
}

/// Size of a complex number in double precision [bytes].
const NUMBER: u64 = 16;

impl BigFft {
    /// Bytes that a rank sends to each rank of its row or column of `peers` ranks.
    fn block(&self, peers: u32) -> u64 {
        NUMBER * u64::from(self.points).pow(3) / (u64::from(self.ranks) * u64::from(peers))
    }
}

impl Generates for BigFft {
    fn make(&self, path: &str) -> Result<Made, Refusal> {
        within(path, "ranks", self.ranks.into(), 1, 1 << 20)?;
        within(path, "points", self.points.into(), 1, 1 << 16)?;
        within(path, "iterations", self.iterations.into(), 1, 1 << 20)?;
        let sides = factors::<2>(self.ranks);
        let both_ways: u64 = sides.iter().map(|&peers| 2 * u64::from(peers - 1) * self.block(peers)).sum();
        let per_iteration = both_ways.saturating_mul(self.ranks.into());
        let iterations = iterations_within(path, self.iterations, self.most_bytes, per_iteration)?;
        not_too_many(path, u64::from(self.ranks) * u64::from(iterations) * 10)?;
        let points = u64::from(self.points).pow(3) / u64::from(self.ranks);
        let compute = ns(&format!("{path}.time_per_point"), Some(self.time_per_point))?.saturating_mul(points);
        let mut calls = Calls::default();
        for _ in 0..iterations {
            for order in [[1u16, 2], [2, 1]] {
                for comm in order {
                    calls.blocking(Op::compute(compute));
                    let block = self.block(sides[usize::from(comm) - 1]);
                    calls.collective(Op::collective(Operation::AllToAll, 0, block, 0).within(comm));
                }
                calls.blocking(Op::compute(compute));
            }
        }
        let ops = Arc::new(calls.finish());
        let rank = |rank| RankProgram { ops: Arc::clone(&ops), comms: rows_and_columns(rank, sides) };
        let arithmetic = vec![
            Line::new("iterations", iterations.into(), "", "forward and backward"),
            Line::new("block", self.block(sides[0]) as f64, "B", "16 B x points^3 / (ranks x ranks of a row)"),
            Line::new(
                "bytes of an iteration",
                per_iteration as f64,
                "B",
                "of all ranks, without blocks that a rank keeps",
            ),
            Line::new(
                "computation of a 1-D transform",
                compute as f64 * 1e-9,
                "s",
                "points of a rank x time per point",
            ),
        ];
        Ok(Made { program: Program { ranks: (0..self.ranks).map(rank).collect() }, arithmetic })
    }

    fn examples() -> Vec<Self> {
        let time_per_point = Time::Femtoseconds(2_000_000);
        vec![Self { ranks: 64, points: 128, iterations: 2, time_per_point, most_bytes: None }]
    }
}
