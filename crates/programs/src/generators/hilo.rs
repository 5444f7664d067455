//! Monte Carlo transport with tallies, modelled on HILO. Synthetic.
//!
//! # Source
//! The structure of Monte Carlo codes that follow particles on copies of the whole domain, one copy per rank: long
//! computations between small collectives. We could not check this structure against a trace of HILO, because the trace is not public.
//!
//! # Parameters
//! `ranks`, `iterations` \[counts\]; `tallies` and `field` \[bytes\]; `time`: computation time of an iteration
//! \[time\]; `most_bytes` \[bytes\].
//!
//! # Guarantees
//! In an iteration, rank 0 broadcasts the field, each rank computes, all ranks sum the tallies, and rank 0 gets a sum
//! of 8 bytes.
//!
//! # Not modelled
//! Messages between ranks of a divided domain. Differences between the computations of ranks.
//!
//! # Validation
//! `programs/tests/programs/applications.rs` checks the collectives of an iteration. The results were not compared with
//! a recording.

use super::collective::ns;
use super::{Generates, Line, Made, iterations_within, not_too_many, within};
use crate::amounts::Bytes;
use crate::form::{Calls, Op, Operation, Program, RankProgram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::{Refusal, Time};

/// Monte Carlo transport with tallies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hilo {
    pub ranks: u32,
    pub iterations: u32,
    /// Size of the tallies of each rank.
    pub tallies: Bytes,
    /// Size of the field that rank 0 broadcasts to all ranks.
    pub field: Bytes,
    /// Computation time of an iteration.
    pub time: Time,
    /// Largest number of bytes that all ranks together may send. The program ends before an iteration would exceed this
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_bytes: Option<Bytes>,
}

/// Size of the last sum of an iteration [bytes].
const SUM: u64 = 8;

impl Generates for Hilo {
    fn make(&self, path: &str) -> Result<Made, Refusal> {
        within(path, "ranks", self.ranks.into(), 1, 1 << 20)?;
        within(path, "iterations", self.iterations.into(), 1, 1 << 20)?;
        // rank 0 sends the field, all ranks send tallies, and all ranks except 0 send the last sum
        let others = u64::from(self.ranks) - 1;
        let tallies = self.tallies.0.saturating_mul(self.ranks.into());
        let all = self.field.0.saturating_add(tallies).saturating_add(SUM * others);
        let per_iteration = if others > 0 { all } else { 0 };
        let iterations = iterations_within(path, self.iterations, self.most_bytes, per_iteration)?;
        not_too_many(path, u64::from(self.ranks) * u64::from(iterations) * 4)?;
        let compute = ns(&format!("{path}.time"), Some(self.time))?;
        let mut calls = Calls::default();
        for _ in 0..iterations {
            calls.collective(Op::collective(Operation::Broadcast, 0, self.field.0, 0));
            calls.blocking(Op::compute(compute));
            calls.collective(Op::collective(Operation::AllReduce, 0, self.tallies.0, 0));
            calls.collective(Op::collective(Operation::Reduce, 0, SUM, 0));
        }
        let rank = RankProgram::new(calls.finish());
        let arithmetic = vec![
            Line::new("iterations", iterations.into(), "", ""),
            Line::new(
                "bytes of an iteration",
                per_iteration as f64,
                "B",
                "field + ranks x tallies + 8 B x (ranks - 1)",
            ),
            Line::new("computation of an iteration", compute as f64 * 1e-9, "s", "of each rank"),
        ];
        Ok(Made { program: Program { ranks: vec![rank; self.ranks as usize] }, arithmetic })
    }

    fn examples() -> Vec<Self> {
        let time = Time::Femtoseconds(50_000_000_000);
        vec![Self { ranks: 16, iterations: 3, tallies: Bytes(4096), field: Bytes(1024), time, most_bytes: None }]
    }
}
