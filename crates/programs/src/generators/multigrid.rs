//! V-cycles of geometric multigrid, modelled on MG (6 neighbours) and BoxMG (26 neighbours). Synthetic.
//!
//! # Source
//! The V-cycle: each level has half as many points per side as the next finer level. The message sizes of the levels are taken from a
//! recording of PETSc's multigrid, because traces of MG and BoxMG are not public.
//!
//! # Parameters
//! `ranks`, `points`: points per side of the cube of a rank on the finest level, `cycles`, `smoothings`: number of exchanges on
//! each level on the way down, and again on the way up \[counts\]; `corners`: whether ranks also exchange edges and corners;
//! `time_per_point`: computation time per point and smoothing \[time\]; `most_bytes` \[bytes\].
//!
//! # Guarantees
//! On a level with n points per side, ranks exchange faces of 8 n^2 bytes. The coarsest level has one point per rank. On this
//! coarsest level, an all-gather sends the points to all ranks. Then the cycle returns to the finer levels, one after the
//! other. Each cycle ends with an all-reduce of 8 bytes.
//!
//! # Not modelled
//! Fewer active ranks on coarse levels. Set-up. The search directions of conjugate gradients around the cycle.
//!
//! # Validation
//! `programs/tests/programs/applications.rs` checks that the messages of each level are as large as in the recording, and the bytes
//! of a cycle.

use super::collective::ns;
use super::neighbours::{directions, exchange, sent};
use super::{Generates, Line, Made, iterations_within, not_too_many, within};
use crate::amounts::Bytes;
use crate::form::{Calls, Op, Operation, Program, RankProgram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::{Refusal, Time};

/// V-cycles of geometric multigrid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Multigrid {
    pub ranks: u32,
    /// Number of points per side of the cube of a rank, on the finest level.
    pub points: u32,
    pub cycles: u32,
    /// Number of exchanges per level on the way down, and again on the way up.
    #[serde(default = "two")]
    pub smoothings: u32,
    /// Whether ranks exchange edges and corners in addition to faces.
    #[serde(default)]
    pub corners: bool,
    /// Computation time per point and smoothing.
    pub time_per_point: Time,
    /// Largest number of bytes that all ranks together may send. The program ends before a cycle would exceed this
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_bytes: Option<Bytes>,
}

fn two() -> u32 {
    2
}

/// Bytes that a rank sends to its neighbour in a direction, on a level with `points` points per side.
fn halo(points: u64, direction: [i64; 3]) -> u64 {
    NUMBER * direction.into_iter().map(|by| if by == 0 { points } else { 1 }).product::<u64>()
}

/// Size of a number [bytes].
const NUMBER: u64 = 8;

impl Multigrid {
    /// Number of points per side of each level, the finest level first.
    fn levels(&self) -> Vec<u64> {
        std::iter::successors(Some(u64::from(self.points)), |&points| (points > 1).then_some(points / 2)).collect()
    }

    fn rank(&self, rank: u32, cycles: u32, per_point: u64) -> RankProgram {
        let (levels, all) = (self.levels(), directions(self.corners));
        let mut calls = Calls::default();
        let smooth = |calls: &mut Calls, level: usize| {
            for _ in 0..self.smoothings {
                let points = levels[level];
                exchange(calls, (rank, self.ranks), &all, level as u32, |direction| halo(points, direction));
                calls.blocking(Op::compute(per_point.saturating_mul(points.pow(3))));
            }
        };
        for _ in 0..cycles {
            (0..levels.len()).for_each(|level| smooth(&mut calls, level));
            calls.collective(Op::collective(Operation::AllGather, 0, NUMBER, 0));
            (0..levels.len()).rev().for_each(|level| smooth(&mut calls, level));
            calls.collective(Op::collective(Operation::AllReduce, 0, NUMBER, 0));
        }
        RankProgram::new(calls.finish())
    }
}

impl Generates for Multigrid {
    fn make(&self, path: &str) -> Result<Made, Refusal> {
        within(path, "ranks", self.ranks.into(), 1, 1 << 20)?;
        within(path, "points", self.points.into(), 1, 1 << 12)?;
        within(path, "cycles", self.cycles.into(), 1, 1 << 20)?;
        within(path, "smoothings", self.smoothings.into(), 1, 64)?;
        let (levels, all) = (self.levels(), directions(self.corners));
        let of_level = |points: u64| sent(self.ranks, &all, |direction| halo(points, direction));
        let exchanged: u64 = levels.iter().map(|&points| 2 * u64::from(self.smoothings) * of_level(points)).sum();
        // a rank sends two more numbers: its point on the coarsest level (all-gather), and its part of the norm (all-reduce)
        let of_rank = exchanged + if self.ranks > 1 { 2 * NUMBER } else { 0 };
        let per_cycle = of_rank.saturating_mul(self.ranks.into());
        let cycles = iterations_within(path, self.cycles, self.most_bytes, per_cycle)?;
        let operations = 2 * levels.len() as u64 * u64::from(self.smoothings) * (2 * all.len() as u64 + 1) + 2;
        not_too_many(path, u64::from(self.ranks) * u64::from(cycles) * operations)?;
        let per_point = ns(&format!("{path}.time_per_point"), Some(self.time_per_point))?;
        let program = Program { ranks: (0..self.ranks).map(|rank| self.rank(rank, cycles, per_point)).collect() };
        let arithmetic = vec![
            Line::new("cycles", cycles.into(), "", ""),
            Line::new(
                "levels",
                levels.len() as f64,
                "",
                "from `points` per side down to 1, halved from level to level",
            ),
            Line::new("face", halo(levels[0], [1, 0, 0]) as f64, "B", "8 B x points^2, on the finest level"),
            Line::new("bytes of a cycle", per_cycle as f64, "B", "messages of all ranks, without the collectives"),
        ];
        Ok(Made { program, arithmetic })
    }

    fn examples() -> Vec<Self> {
        let time_per_point = Time::Femtoseconds(2_000_000);
        let mg =
            Self { ranks: 64, points: 16, cycles: 1, smoothings: 2, corners: false, time_per_point, most_bytes: None };
        vec![mg.clone(), Self { ranks: 27, corners: true, ..mg }]
    }
}
