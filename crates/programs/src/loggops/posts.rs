//! Stores receives whose start is later than the present time of the simulation.
//!
//! When a receive starts, the executor only adds the receive to the list of receives of its rank. Nothing reads this list before the
//! next message or receive of the rank. This module therefore stores the receive first. Just before the next message or receive of the
//! rank, it adds to the list all stored receives whose start time has passed. Receives then need no events in the queue. The results
//! are the same as with events under two conditions. First, no message of the rank waits for a receive, because such a message would
//! finish the receive at its start. Second, the executor processes events in the order of their times.

use super::Executor;
use super::event::{About, Event};
use crate::form::Cursor;
use crate::rank::Ready;
use weft_units::prefetch::prefetch_whole;

/// A stored receive, with the time and order of the event that it would have had in the queue.
#[derive(Debug, Clone, Copy)]
pub struct Post {
    pub time: i64,
    pub order: u64,
    pub receive: Ready,
}

impl Post {
    #[inline]
    fn key(&self) -> (i64, u64) {
        (self.time, self.order)
    }
}

/// The stored receives of each rank, in the order of their starts.
#[derive(Debug)]
pub struct Posts {
    of: Vec<Vec<Post>>,
    /// Number of stored receives of all ranks.
    count: usize,
}

impl Posts {
    pub fn new(ranks: usize) -> Self {
        Self { of: vec![Vec::new(); ranks], count: 0 }
    }

    #[inline]
    pub fn push(&mut self, rank: u32, post: Post) {
        let posts = &mut self.of[rank as usize];
        let before = posts.iter().rposition(|other| other.key() < post.key());
        posts.insert(before.map_or(0, |place| place + 1), post);
        self.count += 1;
    }

    /// Calls `each` with the stored receives of a rank that start before an event, and removes them.
    #[inline]
    pub fn before(&mut self, event: &Event, each: impl FnMut(&Post)) {
        // many programs have no stored receives; the lists of the ranks are then not read
        if self.count == 0 {
            return;
        }
        let posts = &mut self.of[event.rank() as usize];
        let count = posts.iter().take_while(|post| post.key() < (event.time, event.order)).count();
        posts[..count].iter().for_each(each);
        posts.drain(..count);
        self.count -= count;
    }

    /// Removes and returns all stored receives of a rank.
    pub fn take(&mut self, rank: u32) -> Vec<Post> {
        let posts = std::mem::take(&mut self.of[rank as usize]);
        self.count -= posts.len();
        posts
    }

    /// Prefetches the stored receives of a rank.
    #[inline]
    pub fn bring(&self, rank: u32) {
        if self.count > 0 {
            prefetch_whole(&self.of[rank as usize], 0);
        }
    }
}

impl<C: Cursor> Executor<C> {
    /// Adds the stored receives that start before an event to the list of receives of their rank.
    #[inline]
    pub(super) fn post_before(&mut self, event: &Event) {
        let (machine, operations) = (&mut self.machines[event.rank() as usize], &mut self.answer.operations);
        self.posts.before(event, |post| {
            *operations += 1;
            machine.post(&post.receive);
        });
    }

    /// Called when a message has arrived at the rank and waits for a receive. Puts the stored receives of the rank into the queue as
    /// events.
    pub(super) fn make_events(&mut self, rank: u32) {
        for Post { time, order, receive } in self.posts.take(rank) {
            let place = self.ops.keep(receive);
            self.queue.push(Event::new(time, order, rank, About::Op(place)));
        }
    }

    /// Called when events might no longer be in the order of their times, because a message of 0 bytes can take a
    /// negative time.
    pub(super) fn leave_time_order(&mut self) {
        if std::mem::take(&mut self.in_time_order) {
            (0..self.machines.len() as u32).for_each(|rank| self.make_events(rank));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Executor, Parameters, machines};
    use crate::collectives::Rules;
    use crate::form::{Calls, Comm, Op, Operation, Program, RankProgram};
    use rand_pcg::Pcg64Mcg;
    use rand_pcg::rand_core::{Rng, SeedableRng};
    use std::sync::Arc;

    /// Eight ranks with simultaneous collectives (of all ranks and of each half), computations of different lengths, and messages around a
    /// ring.
    fn program(random: &mut Pcg64Mcg) -> Program {
        let mut below = |most: u64| random.next_u64() % most;
        let sizes: Vec<[u64; 3]> = (0..6).map(|_| [1 + below(4000), 1 + below(4000), below(3)]).collect();
        let mut of = |rank: u32| {
            let mut calls = Calls::default();
            for &[all, half, ring] in &sizes {
                calls.blocking(Op::compute(below(20_000)));
                let kinds = [Operation::AllReduce, Operation::AllGather, Operation::Broadcast];
                let first = Op::collective(kinds[all as usize % 3], 0, all, 0);
                let second = Op::collective(kinds[half as usize % 2], 0, half, 0).within(1);
                let requests = vec![calls.start_collective(first), calls.start_collective(second)];
                calls.exchange(Op::send((rank + 1) % 8, ring, None), Op::receive(None, ring, None));
                calls.wait_all(requests);
            }
            let members: Vec<u32> = (rank / 4 * 4..rank / 4 * 4 + 4).collect();
            let comms = vec![Comm { number: 1 + rank / 4, members: members.into(), me: rank % 4 }];
            RankProgram { ops: Arc::new(calls.finish()), comms }
        };
        Program { ranks: (0..8).map(&mut of).collect() }
    }

    #[test]
    fn the_answer_is_that_of_receives_with_events() {
        for seed in 0..200 {
            let mut random = Pcg64Mcg::seed_from_u64(seed);
            let (program, rules) = (program(&mut random), Arc::new(Rules::default()));
            let mut below = |most: u64| (random.next_u64() % most) as i64;
            let at = Parameters {
                unit_fs: 1_000_000,
                latency: below(3000),
                overhead: below(1500),
                gap: below(1000),
                gap_per_byte: below(8),
                overhead_per_byte: below(3) * below(1500),
                eager: below(3000) as u64,
            };
            let [apart, with_events] = [true, false].map(|in_time_order| {
                let mut executor = Executor::new(machines(&program, &rules).unwrap(), (1, 1), at);
                executor.in_time_order = in_time_order;
                executor.run().0.unwrap()
            });
            assert_eq!(apart, with_events, "seed {seed}");
        }
    }
}
