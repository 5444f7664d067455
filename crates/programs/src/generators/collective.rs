//! A collective that all ranks repeat, as in benchmarks of collectives.
//!
//! # Source
//! The loops of the OSU micro-benchmarks and of nccl-tests.
//!
//! # Parameters
//! `operation`, `ranks` \[count\], `root`. Either `bytes` as in [`crate::form::Op::collective`], or `sizes`: the sizes of
//! the blocks \[bytes\]. `repeat` \[count\], `gap`: computation time before each call \[time\].
//!
//! # Guarantees
//! All ranks call the collective `repeat` times, one after the other.
//!
//! # Not modelled
//! Warm-up rounds. Checks of the received data.
//!
//! # Validation
//! `programs/tests/programs/generated.rs` checks that the time of a ring all-reduce agrees with its formula.

use super::{Generates, Line, Made, within};
use crate::amounts::Bytes;
use crate::collectives::operation;
use crate::form::{Calls, Op, Operation, Program, RankProgram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::{Refusal, Time};

/// A repeated collective.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Collective {
    /// Name of the collective: `all_reduce`, `all_to_all`, ...
    pub operation: String,
    pub ranks: u32,
    #[serde(default)]
    pub root: u32,
    /// Size of the vector, or of one block.
    #[serde(default)]
    pub bytes: Bytes,
    /// Sizes of the blocks if they differ: one size per rank; for all-to-all, one per sender and receiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<Bytes>>,
    #[serde(default = "one")]
    pub repeat: u32,
    /// Computation time before each call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Time>,
}

fn one() -> u32 {
    1
}

/// Converts a time to nanoseconds, rounded.
pub fn ns(path: &str, time: Option<Time>) -> Result<u64, Refusal> {
    match time {
        None => Ok(0),
        Some(Time::Femtoseconds(fs)) => Ok(u64::try_from((fs + 500_000) / 1_000_000).unwrap_or(u64::MAX)),
        Some(time @ Time::Cycles(_)) => {
            Err(Refusal::new(path, format!("{time}: a program has no times in cycles"), "write a time such as 10us"))
        }
    }
}

impl Generates for Collective {
    fn make(&self, path: &str) -> Result<Made, Refusal> {
        let operation = operation(&self.operation).ok_or_else(|| {
            let what = format!("there is no collective {}", self.operation);
            Refusal::new(format!("{path}.operation"), what, format!("write one of {}", Operation::NAMES.join(", ")))
        })?;
        within(path, "ranks", self.ranks.into(), 1, 1 << 20)?;
        within(path, "root", self.root.into(), 0, u64::from(self.ranks) - 1)?;
        within(path, "repeat", self.repeat.into(), 1, 1 << 24)?;
        let gap = ns(&format!("{path}.gap"), self.gap)?;
        let mut calls = Calls::default();
        let sizes: Option<Vec<u64>> = self.sizes.as_ref().map(|sizes| sizes.iter().map(|size| size.0).collect());
        let list = sizes.and_then(|sizes| calls.keep_sizes(&sizes)).unwrap_or(0);
        for _ in 0..self.repeat {
            if gap > 0 {
                calls.blocking(Op::compute(gap));
            }
            calls.collective(Op::collective(operation, self.root, self.bytes.0, 0).sized_by(list));
        }
        let rank = RankProgram::new(calls.finish());
        let program = Program { ranks: vec![rank; self.ranks as usize] };
        let arithmetic = vec![
            Line::new("ranks", self.ranks.into(), "", ""),
            Line::new("bytes", self.bytes.0 as f64, "B", "of the vector, or of a block"),
            Line::new("calls", self.repeat.into(), "", "of each rank"),
        ];
        Ok(Made { program, arithmetic })
    }

    fn examples() -> Vec<Self> {
        let gap = Some(Time::Femtoseconds(5_000_000_000));
        let one = Self {
            operation: "all_reduce".into(),
            ranks: 8,
            root: 0,
            bytes: Bytes(1 << 20),
            sizes: None,
            repeat: 2,
            gap,
        };
        let sizes = Some((0..16).map(|k| Bytes(k * 10)).collect());
        vec![one.clone(), Self { operation: "all_to_all".into(), ranks: 4, sizes, ..one }]
    }
}
