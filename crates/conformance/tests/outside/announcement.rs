//! A program generator and a collective algorithm that are in no registry of Weft, as in an outside crate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_programs::collectives::{Call, Expands, Into, Steps};
use weft_programs::form::{Calls, Op, Operation, Program, RankProgram};
use weft_programs::generators::{Generates, Line, Made};
use weft_units::Refusal;

/// A program in which rank 0 sends data to all other ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Announcement {
    /// Number of ranks, 2 to 64.
    pub ranks: u32,
    /// Size of the data \[bytes\].
    #[serde(default = "one")]
    pub bytes: u64,
}

fn one() -> u64 {
    1
}

impl Generates for Announcement {
    fn make(&self, path: &str) -> Result<Made, Refusal> {
        if !(2..=64).contains(&self.ranks) {
            return Err(Refusal::new(format!("{path}.ranks"), format!("{} ranks", self.ranks), "write 2 to 64"));
        }
        let mut calls = Calls::default();
        calls.collective(Op::collective(Operation::Broadcast, 0, self.bytes, 0));
        let rank = RankProgram::new(calls.finish());
        let arithmetic = vec![Line::new("ranks", self.ranks.into(), "", "as written")];
        Ok(Made { program: Program { ranks: vec![rank; self.ranks as usize] }, arithmetic })
    }

    fn examples() -> Vec<Self> {
        vec![Self { ranks: 5, bytes: 100 }]
    }
}

/// A broadcast algorithm in which each rank passes the data on to the next rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DownTheLine {
    /// Whether the data goes backwards: the first receiver is the rank before the root, instead of the rank after it.
    #[serde(default)]
    pub backwards: bool,
}

impl Expands for DownTheLine {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Broadcast]
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        let place = |from_root: u32| if self.backwards { (call.ranks - from_root) % call.ranks } else { from_root };
        let own = place(call.from_root());
        let all = || std::iter::once(call.segment(0, call.vector()));
        if own > 0 {
            steps.receive(call.rank(place(own - 1)), 0, Into::Copy, all());
        }
        steps.next();
        if own + 1 < call.ranks {
            steps.send(call.rank(place(own + 1)), 0, all());
        }
    }

    fn examples() -> Vec<Self> {
        vec![Self { backwards: false }, Self { backwards: true }]
    }
}
