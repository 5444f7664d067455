//! Neighbour exchange.
//!
//! # Source
//! The implementation in Open MPI 1.6.5 (component `tuned` of its collectives). J. Chen, L. Zhang, Y. Zhang, W. Yuan, "Performance
//! evaluation of allgather algorithms on terascale Linux cluster with fast Ethernet" (HPC Asia 2005).
//!
//! # Parameters
//! None.
//!
//! # Guarantees
//! The algorithm needs an even number n of ranks. In its n/2 rounds, each rank exchanges data alternately with its two neighbours.
//! In the first round neighbours exchange one block. In each other round they exchange the two blocks that they received last.
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

/// Neighbours on a ring exchange two blocks at a time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeighborExchange {}

impl Expands for NeighborExchange {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::AllGather]
    }

    fn refuses(&self, call: &Call) -> Option<(String, String)> {
        let what = || format!("neighbor_exchange needs an even number of ranks, but there are {}", call.ranks);
        (call.ranks % 2 == 1).then(|| (what(), "write ring or bruck".into()))
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        let (n, me) = (call.ranks, call.me);
        let is_even = me.is_multiple_of(2);
        let neighbours = if is_even { [call.ahead(1), call.behind(1)] } else { [call.behind(1), call.ahead(1)] };
        let first = if is_even { me } else { neighbours[0] };
        // number of blocks by which the index of the first received block moves from one round to the next, for each of the two
        // neighbours
        let moves = if is_even { [2, n - 2] } else { [n - 2, 2] };
        let mut from = [first; 2];
        steps.receive(neighbours[0], 0, Into::Copy, std::iter::once(call.block(neighbours[0].into())));
        steps.send(neighbours[0], 0, std::iter::once(call.block(me.into())));
        steps.next();
        let two = |first: u32| (0..2).map(move |k| call.block(((first + k) % n).into()));
        let mut held = first;
        for round in 1..n / 2 {
            let side = (round % 2) as usize;
            from[side] = (from[side] + moves[side]) % n;
            steps.receive(neighbours[side], round, Into::Copy, two(from[side]));
            steps.send(neighbours[side], round, two(held));
            steps.next();
            held = from[side];
        }
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}
