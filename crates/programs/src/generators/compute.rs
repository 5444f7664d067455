//! Ranks that only compute and send no messages: a job that occupies nodes for a time.
//!
//! # Source
//! The rigid jobs of simulators of batch schedulers, such as a delay job in Batsim.
//!
//! # Parameters
//! `ranks` \[count\]. `time`: computation time of each rank \[time\].
//!
//! # Guarantees
//! Each rank does one computation.
//!
//! # Not modelled
//! Messages.
//!
//! # Validation
//! The test in this file checks that each rank ends at its time.

use super::collective::ns;
use super::{Generates, Line, Made, within};
use crate::form::{Calls, Op, Program, RankProgram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::{Refusal, Time};

/// Ranks that only compute and send no messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compute {
    pub ranks: u32,
    /// Computation time of each rank.
    pub time: Time,
}

impl Generates for Compute {
    fn make(&self, path: &str) -> Result<Made, Refusal> {
        within(path, "ranks", self.ranks.into(), 1, 1 << 20)?;
        let time = ns(&format!("{path}.time"), Some(self.time))?;
        if time == 0 {
            let what = format!("{} is too short: the minimum of a computation is half a nanosecond", self.time);
            return Err(Refusal::new(format!("{path}.time"), what, "write a time such as 10us"));
        }
        let mut calls = Calls::default();
        calls.blocking(Op::compute(time));
        let rank = RankProgram::new(calls.finish());
        let program = Program { ranks: vec![rank; self.ranks as usize] };
        let arithmetic = vec![
            Line::new("ranks", self.ranks.into(), "", ""),
            Line::new("computation", time as f64 * 1e-9, "s", "of each rank"),
        ];
        Ok(Made { program, arithmetic })
    }

    fn sends(&self) -> bool {
        false
    }

    fn examples() -> Vec<Self> {
        vec![Self { ranks: 8, time: Time::Femtoseconds(5_000_000_000) }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loggops::{self, Parameters};

    #[test]
    fn each_rank_ends_at_its_time() {
        let [example] = &Compute::examples()[..] else { panic!("an example") };
        let zero = Time::Femtoseconds(0);
        let at = Parameters::new([("L", zero), ("o", zero), ("g", zero), ("G", zero), ("O", zero)], 0).unwrap();
        let answer = loggops::run(&example.make("compute").unwrap().program, &Default::default(), at).unwrap();
        assert_eq!(answer.finish, [5_000; 8]);
        let refused = Compute { time: zero, ..example.clone() }.make("compute").unwrap_err();
        assert_eq!((&*refused.path, &*refused.help), ("compute.time", "write a time such as 10us"));
    }
}
