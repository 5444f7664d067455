//! Random updates of a distributed table, modelled on the MPIRandomAccess benchmark of HPC Challenge. Synthetic.
//!
//! # Source
//! P. Luszczek et al., "Introduction to the HPC Challenge benchmark suite" (2005), and its MPIRandomAccess. The
//! benchmark makes 4 updates per word of the table. It buffers up to 1,024 updates in a bucket per destination, and
//! then sends the fullest bucket.
//!
//! # Parameters
//! `ranks`, `table`: number of words of the table at a rank \[counts\]. `pending`: number of updates that a rank
//! buffers \[count\] (default 1,024). `update`: computation time of an update \[time\]. `seed`.
//!
//! # Guarantees
//! The destinations of updates are uniformly random, from the seed. When a rank has buffered `pending` updates, it
//! sends its fullest bucket, which has the updates for one destination. The receives of a rank accept messages from
//! any rank. Each update of a word at another rank is sent once, and has 8 bytes.
//!
//! # Not modelled
//! The order in which a real rank receives messages. Here a rank receives one message after each send, and the rest at
//! the end.
//!
//! # Validation
//! `programs/tests/programs/generated.rs` checks that each update of another rank's word adds 8 bytes.

use super::collective::ns;
use super::{Generates, Line, Made, not_too_many, within};
use crate::form::{Calls, Kind, Op, Program, RankProgram};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::{Refusal, Time};

/// Random updates of a distributed table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomAccess {
    pub ranks: u32,
    /// Number of words of the table at each rank.
    pub table: u64,
    /// Number of updates that a rank buffers before it sends a bucket.
    #[serde(default = "pending")]
    pub pending: u64,
    /// Computation time of an update.
    pub update: Time,
    #[serde(default = "seed")]
    pub seed: u64,
}

fn pending() -> u64 {
    1024
}

fn seed() -> u64 {
    1
}

/// Number of updates per word of the table; `UPDATE` is the size of an update [bytes].
const PER_WORD: u64 = 4;
const UPDATE: u64 = 8;

impl RandomAccess {
    /// Returns the messages that a rank sends, in their order. Each message has its destination, its number of updates,
    /// and the number of updates that the rank has made before it.
    fn sent(&self, rank: u32) -> Vec<(u32, u64, u64)> {
        let mut random = Pcg32::seed_from_u64(self.seed ^ (u64::from(rank) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (mut buckets, mut kept, mut sent) = (vec![0u64; self.ranks as usize], 0, Vec::new());
        let updates = self.table * PER_WORD;
        for update in 1..=updates {
            let to = (random.next_u64() % u64::from(self.ranks)) as usize;
            if to != rank as usize {
                buckets[to] += 1;
                kept += 1;
            }
            if kept == self.pending || update == updates {
                loop {
                    let fullest =
                        (0..buckets.len()).max_by_key(|&to| (buckets[to], std::cmp::Reverse(to))).unwrap_or(0);
                    if buckets[fullest] == 0 {
                        break;
                    }
                    sent.push((fullest as u32, buckets[fullest], update));
                    kept -= buckets[fullest];
                    buckets[fullest] = 0;
                    if update < updates {
                        break;
                    }
                }
            }
        }
        sent
    }
}

impl Generates for RandomAccess {
    fn make(&self, path: &str) -> Result<Made, Refusal> {
        within(path, "ranks", self.ranks.into(), 2, 1 << 16)?;
        within(path, "table", self.table, 1, 1 << 30)?;
        within(path, "pending", self.pending, 1, 1 << 20)?;
        let updates = self.table * PER_WORD;
        not_too_many(path, u64::from(self.ranks).saturating_mul(updates) / 4)?;
        let per_update = ns(&format!("{path}.update"), Some(self.update))?;
        let sent: Vec<_> = (0..self.ranks).map(|rank| self.sent(rank)).collect();
        let mut coming = vec![0usize; self.ranks as usize];
        sent.iter().flatten().for_each(|&(to, _, _)| coming[to as usize] += 1);
        let most = sent.iter().flatten().map(|&(_, count, _)| count * UPDATE).max().unwrap_or(0);
        let rank = |(rank, sends): (usize, &Vec<(u32, u64, u64)>)| {
            let (mut calls, mut left, mut made, mut under_way) = (Calls::default(), coming[rank], 0, Vec::new());
            let receive = Op::receive(None, most, Some(0));
            for &(to, count, until) in sends {
                calls.blocking(Op::compute((until - made) * per_update));
                made = until;
                under_way.push(calls.start(Op::send(to, count * UPDATE, Some(0))));
                if left > 0 {
                    under_way.push(calls.start(receive));
                    left -= 1;
                }
            }
            under_way.extend((0..left).map(|_| calls.start(receive)));
            calls.wait_all(under_way);
            calls.blocking(Op::compute(0));
            RankProgram::new(calls.finish())
        };
        let program = Program { ranks: sent.iter().enumerate().map(rank).collect() };
        let sends = |rank: &RankProgram| {
            rank.ops.ops().iter().filter(|op| op.kind() == Kind::Send).map(|op| op.size()).collect::<Vec<_>>()
        };
        let sizes: Vec<u64> = program.ranks.iter().flat_map(sends).collect();
        let arithmetic = vec![
            Line::new("updates", (u64::from(self.ranks) * updates) as f64, "", "4 per word, of all ranks"),
            Line::new("messages", sizes.len() as f64, "", "one for the fullest bucket whenever `pending` updates wait"),
            Line::new("bytes", sizes.iter().sum::<u64>() as f64, "B", "8 B per update of a word at another rank"),
        ];
        Ok(Made { program, arithmetic })
    }

    fn examples() -> Vec<Self> {
        vec![Self { ranks: 8, table: 256, pending: 64, update: Time::Femtoseconds(10_000_000), seed: 1 }]
    }
}
