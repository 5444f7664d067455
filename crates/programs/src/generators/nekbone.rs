//! Conjugate gradients on spectral elements, modelled on Nekbone. Synthetic.
//!
//! # Source
//! The Nekbone motif of SWM (`codes-org/SWM-workloads`), with one exchange with 26 neighbours and three all-reduces per
//! iteration. Sizes follow from elements of order p, which share the points on their faces, edges and corners.
//!
//! # Parameters
//! `ranks`, `elements`: number of elements per side of the cube of a rank, `order`, `iterations` \[counts\];
//! `time_per_point`: computation time per point and iteration \[time\]; `most_bytes` \[bytes\].
//!
//! # Guarantees
//! An iteration has an all-reduce of 8 bytes, a computation, the exchange with the neighbours, and two more all-reduces. A
//! face has (elements x order + 1)^2 numbers of 8 bytes, an edge has elements x order + 1, and a corner has one.
//!
//! # Not modelled
//! Preconditioners. The set-up before the iterations.
//!
//! # Validation
//! `programs/tests/programs/applications.rs` compares the bytes of an iteration with values computed by hand.

use super::collective::ns;
use super::neighbours::{directions, exchange, sent};
use super::{Generates, Line, Made, iterations_within, not_too_many, within};
use crate::amounts::Bytes;
use crate::form::{Calls, Op, Operation, Program, RankProgram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::{Refusal, Time};

/// Conjugate gradients on spectral elements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nekbone {
    pub ranks: u32,
    /// Number of elements per side of the cube of a rank.
    pub elements: u32,
    /// Polynomial order of an element.
    pub order: u32,
    pub iterations: u32,
    /// Computation time per point and iteration.
    pub time_per_point: Time,
    /// Largest number of bytes that all ranks together may send. The program ends before an iteration would exceed this
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_bytes: Option<Bytes>,
}

/// Size of the data of an all-reduce [bytes].
const SUM: u64 = 8;

impl Nekbone {
    /// Number of points along a side of the cube of a rank.
    fn side(&self) -> u64 {
        u64::from(self.elements) * u64::from(self.order) + 1
    }

    /// Bytes that a rank sends to its neighbour in a direction.
    fn halo(&self, direction: [i64; 3]) -> u64 {
        8 * direction.into_iter().map(|by| if by == 0 { self.side() } else { 1 }).product::<u64>()
    }
}

impl Generates for Nekbone {
    fn make(&self, path: &str) -> Result<Made, Refusal> {
        within(path, "ranks", self.ranks.into(), 1, 1 << 20)?;
        within(path, "elements", self.elements.into(), 1, 1 << 12)?;
        within(path, "order", self.order.into(), 1, 64)?;
        within(path, "iterations", self.iterations.into(), 1, 1 << 20)?;
        let all = directions(true);
        let sums = if self.ranks > 1 { 3 * SUM } else { 0 };
        let of_rank = sent(self.ranks, &all, |direction| self.halo(direction)) + sums;
        let per_iteration = of_rank.saturating_mul(self.ranks.into());
        let iterations = iterations_within(path, self.iterations, self.most_bytes, per_iteration)?;
        not_too_many(path, u64::from(self.ranks) * u64::from(iterations) * 56)?;
        let points = (u64::from(self.elements) * (u64::from(self.order) + 1)).pow(3);
        let compute = ns(&format!("{path}.time_per_point"), Some(self.time_per_point))?.saturating_mul(points);
        let sum = || Op::collective(Operation::AllReduce, 0, SUM, 0);
        let rank = |rank| {
            let mut calls = Calls::default();
            for _ in 0..iterations {
                calls.collective(sum());
                calls.blocking(Op::compute(compute));
                exchange(&mut calls, (rank, self.ranks), &all, 0, |direction| self.halo(direction));
                calls.collective(sum());
                calls.collective(sum());
            }
            RankProgram::new(calls.finish())
        };
        let arithmetic = vec![
            Line::new("iterations", iterations.into(), "", "of conjugate gradients"),
            Line::new("face", self.halo([1, 0, 0]) as f64, "B", "8 B x (elements x order + 1)^2"),
            Line::new("bytes of an iteration", per_iteration as f64, "B", "messages and all-reduces of all ranks"),
            Line::new(
                "computation of an iteration",
                compute as f64 * 1e-9,
                "s",
                "(elements x (order + 1))^3 points x time per point",
            ),
        ];
        Ok(Made { program: Program { ranks: (0..self.ranks).map(rank).collect() }, arithmetic })
    }

    fn examples() -> Vec<Self> {
        let time_per_point = Time::Femtoseconds(5_000_000);
        vec![Self { ranks: 27, elements: 4, order: 8, iterations: 3, time_per_point, most_bytes: None }]
    }
}
