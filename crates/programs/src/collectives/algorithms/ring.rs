//! A ring: each rank sends only to the next rank.
//!
//! # Source
//! The implementation in Open MPI 1.6.5 (component `tuned` of its collectives). NCCL's function `ring`, which it uses for
//! all-reduce, all-gather and reduce-scatter. P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
//! workstations" (JPDC 2009).
//!
//! # Parameters
//! `segment`: size of a segment of each block \[bytes\] while an all-reduce or reduce-scatter sums it (default: the whole block).
//!
//! # Guarantees
//! All-gather and reduce-scatter take n - 1 rounds for n ranks, and a rank sends one block per round. All-reduce: a reduce-scatter
//! and then an all-gather, with blocks of 1/n of the vector. In an all-reduce, a rank sends 2 (n - 1) messages, with 2 (n - 1)/n of
//! the vector in total.
//!
//! # Not modelled
//! The time that a rank needs to sum data, unless `sum_per_byte` is set. Copies of data within a rank.
//!
//! # Validation
//! For 2 to 65 ranks, `laws/data_flow.rs` checks that every rank gets the right data. It also checks the size of each
//! message.

use super::Expands;
use crate::collectives::call::{Call, Piece};
use crate::collectives::steps::{Into, Steps};
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::amounts::Bytes;

/// A ring of all ranks, on which each rank sends only to the next rank.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    /// Size of a segment of each block while it is summed. Default: the whole block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<Bytes>,
}

/// A ring of some ranks, seen from the calling rank.
#[derive(Debug, Clone, Copy)]
pub struct Circle<'a> {
    /// Ranks in the order of the ring.
    pub ranks: &'a [u32],
    /// The position of the calling rank in the ring.
    pub me: usize,
}

impl Circle<'_> {
    fn len(&self) -> usize {
        self.ranks.len()
    }

    fn next(&self) -> u32 {
        self.ranks[(self.me + 1) % self.len()]
    }

    fn previous(&self) -> u32 {
        self.ranks[(self.me + self.len() - 1) % self.len()]
    }

    /// Returns the position that is `by` positions behind the calling rank.
    fn behind(&self, by: usize) -> usize {
        (self.me + 2 * self.len() - by) % self.len()
    }

    /// Adds messages that sum blocks around the ring. At the end, position p has the sum of block p. The first round has the number
    /// `rounds`. Returns a number above those of all rounds. Ranks send a block in segments of at most `segment` bytes (0: the
    /// whole block).
    pub fn reduce_scatter(&self, block: impl Fn(usize) -> Piece, segment: u64, rounds: u32, steps: &mut Steps) -> u32 {
        let longest = (0..self.len()).map(|place| block(place).bytes).max().unwrap_or(0);
        let segment = if segment == 0 { longest.max(1) } else { segment };
        let mut round = rounds;
        for number in 0..longest.div_ceil(segment) {
            let part = |place: usize| {
                let whole = block(place);
                let before = (number * segment).min(whole.bytes);
                let bytes = segment.min(whole.bytes - before);
                std::iter::once(Piece { start: whole.start + before, bytes, ..whole })
            };
            for step in 0..self.len() - 1 {
                steps.receive(self.previous(), round, Into::Sum, part(self.behind(step + 2)));
                steps.send(self.next(), round, part(self.behind(step + 1)));
                steps.next();
                round += 1;
            }
        }
        round
    }

    /// Adds messages that send blocks around the ring. Position p begins with block p, and at the end all positions
    /// have all blocks.
    pub fn all_gather(&self, block: impl Fn(usize) -> Piece, rounds: u32, steps: &mut Steps) -> u32 {
        for step in 0..self.len() - 1 {
            let round = rounds + step as u32;
            steps.receive(self.previous(), round, Into::Copy, std::iter::once(block(self.behind(step + 1))));
            steps.send(self.next(), round, std::iter::once(block(self.behind(step))));
            steps.next();
        }
        rounds + self.len() as u32
    }
}

impl Expands for Ring {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::AllReduce, Operation::AllGather, Operation::ReduceScatter]
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        let ranks: Vec<u32> = (0..call.ranks).collect();
        let circle = Circle { ranks: &ranks, me: call.me as usize };
        let segment = self.segment.map_or(0, |segment| segment.0);
        let share = |place: usize| call.share(place as u32);
        match call.operation {
            Operation::AllGather => _ = circle.all_gather(|place| call.block(place as u64), 0, steps),
            Operation::ReduceScatter => _ = circle.reduce_scatter(share, segment, 0, steps),
            Operation::AllReduce => {
                let rounds = circle.reduce_scatter(share, segment, 0, steps);
                circle.all_gather(share, rounds, steps);
            }
            other => unreachable!("{other:?} is not among its operations"),
        }
    }

    fn examples() -> Vec<Self> {
        vec![Self::default(), Self { segment: Some(Bytes(2)) }]
    }
}
