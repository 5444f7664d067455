//! Recursive doubling.
//!
//! # Source
//! The implementation in Open MPI 1.6.5 (component `tuned` of its collectives). R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of
//! collective communication operations in MPICH" (IJHPCA 2005).
//!
//! # Parameters
//! None.
//!
//! # Guarantees
//! All-reduce and barrier among n ranks: p is the largest power of 2 that is at most n. The first 2 (n - p) ranks form pairs. In each
//! pair, one rank sends its data to the other rank, and does not take part in the rounds. The remaining p ranks are numbered from 0. In
//! round k of log2 p rounds, the rank with number r exchanges the whole vector with number r xor 2^k. At the end, the other rank of
//! each pair gets the result. All-gather needs a power of 2 as the number of ranks; in round k, ranks exchange 2^k blocks.
//!
//! # Not modelled
//! The time that a rank needs to sum data, unless `sum_per_byte` is set. Copies of data within a rank.
//!
//! # Validation
//! For 2 to 65 ranks, `laws/data_flow.rs` checks that every rank gets the right data. It also checks the size of each
//! message.

use super::Expands;
use crate::collectives::call::Call;
use crate::collectives::steps::{Into, Steps};
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Each rank exchanges data with ranks at the distances 1, 2, 4, ...
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecursiveDoubling {}

impl Expands for RecursiveDoubling {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Barrier, Operation::AllReduce, Operation::AllGather]
    }

    fn refuses(&self, call: &Call) -> Option<(String, String)> {
        let can = call.operation != Operation::AllGather || call.ranks.is_power_of_two();
        let what = || {
            format!(
                "all_gather with recursive_doubling needs a power of 2 as the number of ranks, but there are {}",
                call.ranks
            )
        };
        (!can).then(|| (what(), "write bruck, ring or neighbor_exchange".into()))
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        match call.operation {
            Operation::AllGather => gather(call, steps),
            Operation::Barrier | Operation::AllReduce => fold(call, steps),
            other => unreachable!("{other:?} is not among its operations"),
        }
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

fn gather(call: &Call, steps: &mut Steps) {
    for bit in 0..call.ranks.ilog2() {
        let partner = call.me ^ (1 << bit);
        let blocks = |rank: u32| {
            let first = rank >> bit << bit;
            (first..first + (1 << bit)).map(|rank| call.block(rank.into()))
        };
        steps.receive(partner, bit, Into::Copy, blocks(partner));
        steps.send(partner, bit, blocks(call.me));
        steps.next();
    }
}

/// Messages that exchange whole vectors, or, for a barrier, messages without data.
fn fold(call: &Call, steps: &mut Steps) {
    let whole = || std::iter::once(crate::collectives::tree::whole(call));
    let is_barrier = call.operation == Operation::Barrier;
    let send = |to: u32, round: u32, steps: &mut Steps| {
        if is_barrier { steps.notify(to, round) } else { steps.send(to, round, whole()) }
    };
    let receive = |from: u32, round: u32, into: Into, steps: &mut Steps| {
        if is_barrier { steps.hear(from, round) } else { steps.receive(from, round, into, whole()) }
    };
    let power = 1 << call.ranks.ilog2();
    let folded = call.ranks - power;
    let last = u32::BITS;
    let me = if call.me >= 2 * folded {
        call.me - folded
    } else if call.me.is_multiple_of(2) {
        send(call.me + 1, last, steps);
        steps.next();
        return receive(call.me + 1, last + 1, Into::Copy, steps);
    } else {
        receive(call.me - 1, last, Into::Sum, steps);
        steps.next();
        call.me / 2
    };
    for bit in 0..power.ilog2() {
        let partner = me ^ (1 << bit);
        let partner = if partner < folded { 2 * partner + 1 } else { partner + folded };
        receive(partner, bit, Into::Sum, steps);
        send(partner, bit, steps);
        steps.next();
    }
    if call.me < 2 * folded {
        send(call.me - 1, last + 1, steps);
    }
}
