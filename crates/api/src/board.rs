//! The board: routers post small numbers on it, and routers anywhere in the network read them after a delay.
//!
//! Every router posts its numbers in the same cycles, once every `every` cycles. The numbers describe the router at the start of the cycle.
//! A reader in cycle t gets the numbers of the last post at or before t - `delay`. Before the first post arrives, all numbers are 0. Blocks
//! of routers post and read in parallel. Between two meetings (barriers) of all blocks, each block simulates at most `delay` cycles
//! (`network/simulation.rs`). Therefore every post that a reader gets was written before the last meeting.

use crate::base::kept::Kept;
use std::sync::atomic::{AtomicU32, Ordering};
use weft_units::{Cycles, Refusal, Time};

/// The posts that a routing requests: how many numbers, how often, with which delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posts {
    /// Key of the routing whose value gives `every` and `delay` in the scenario; empty if the routing sets these times
    /// itself.
    pub key: &'static str,
    /// Number of values in each post of a router.
    pub numbers: usize,
    /// Time from one post of a router to its next post.
    pub every: Time,
    /// Time until other routers can read a post.
    pub delay: Time,
}

/// The posts of all routers of the network, stored while a reader may still need them.
#[derive(Debug, Kept)]
pub struct Board {
    #[kept(fixed)]
    numbers: usize,
    #[kept(fixed)]
    routers: usize,
    #[kept(fixed)]
    every: Cycles,
    #[kept(fixed)]
    delay: Cycles,
    /// Number of posts that the board stores for each router.
    #[kept(fixed)]
    kept: u64,
    /// [post % kept][router][number]
    #[kept(each)]
    posted: Vec<AtomicU32>,
}

/// The numbers that all routers posted in one cycle; before the first post, all numbers are 0.
#[derive(Debug, Clone, Copy)]
pub struct Post<'a> {
    numbers: usize,
    /// Number of posts of each router up to and including this one; 0 before the first post.
    pub count: u64,
    all: &'a [AtomicU32],
}

impl Post<'_> {
    /// Number at index `number` in the post of router `router`.
    #[inline(always)]
    pub fn of(&self, router: u32, number: usize) -> u32 {
        self.at(router as usize * self.numbers + number)
    }

    /// The number at index `place`: router * numbers per router + number.
    #[inline(always)]
    pub fn at(&self, place: usize) -> u32 {
        self.all.get(place).map_or(0, |number| number.load(Ordering::Relaxed))
    }
}

/// How many posts before the last known post a routing may still read.
const MOST_BACK: u64 = 1;

/// Maximum number of values that a board stores (1 GiB).
const MAX_KEPT: u64 = 1 << 28;

impl Board {
    /// Makes an empty board for a network with `routers` routers. Refuses times of 0 cycles, and delays for which the board would have to
    /// store too many posts. `routing`: name of the routing that posts.
    pub fn new(posts: &Posts, routers: usize, cycle_fs: u128, routing: &str) -> Result<Self, Refusal> {
        let under = if posts.key.is_empty() { String::new() } else { format!(".{}", posts.key) };
        let path = |key: &str| format!("routing.{routing}{under}.{key}");
        let time = |time: Time, key: &str| {
            let path = path(key);
            match time.cycles(cycle_fs, &path)? {
                0 => Err(Refusal::new(path, "0 cycles", "write at least 1cycle")),
                cycles => Ok(cycles),
            }
        };
        let (every, delay) = (time(posts.every, "every")?, time(posts.delay, "delay")?);
        // Between two meetings, a block can be up to `delay` cycles ahead of another block. The block that is ahead must not overwrite a
        // post that the other block still reads, up to `every + delay` cycles after the post.
        let kept = delay.saturating_mul(2).div_ceil(every).saturating_add(2 + MOST_BACK);
        let (numbers, all) = (posts.numbers, kept.saturating_mul(routers as u64 * posts.numbers as u64));
        if all > MAX_KEPT {
            let what = format!(
                "a delay of {delay} cycles with posts every {every} cycles needs too much memory: {kept} posts of \
                 {routers} routers are kept"
            );
            return Err(Refusal::new(path("delay"), what, "post less often (every), or write a shorter delay"));
        }
        let posted = (0..all).map(|_| AtomicU32::new(0)).collect();
        Ok(Self { numbers, routers, every, delay, kept, posted })
    }

    /// Number of values in each post of a router.
    pub fn numbers(&self) -> usize {
        self.numbers
    }

    /// Cycles from a post until it can be read, at least 1.
    pub fn delay(&self) -> Cycles {
        self.delay
    }

    /// Whether routers post numbers in cycle `now`.
    #[inline(always)]
    pub fn is_due(&self, now: Cycles) -> bool {
        now.is_multiple_of(self.every)
    }

    /// The first cycle at or after `now` in which routers post numbers.
    pub fn next(&self, now: Cycles) -> Cycles {
        now.next_multiple_of(self.every)
    }

    /// Number of cycles for which the board stores each post. After this time a newer post overwrites it.
    pub fn kept_for(&self) -> Cycles {
        self.kept.saturating_mul(self.every)
    }

    /// Stores the post of router `router` in cycle `now`. Routers must post in this cycle.
    pub fn post(&self, now: Cycles, router: u32, numbers: &[u32]) {
        let first = self.place(now / self.every, router);
        for (place, &number) in self.posted[first..first + self.numbers].iter().zip(numbers) {
            place.store(number, Ordering::Relaxed);
        }
    }

    /// The last post of every router that can be read in cycle `now`; with `back` = 1, the post before it.
    #[inline]
    pub fn known(&self, now: Cycles, back: u64) -> Post<'_> {
        debug_assert!(back <= MOST_BACK, "the board keeps no post that is older than {MOST_BACK} before the last");
        let post = now.checked_sub(self.delay).and_then(|then| (then / self.every).checked_sub(back));
        let first = post.map_or(0, |post| self.place(post, 0));
        let all = self.posted.get(first..first + self.numbers * self.routers).filter(|_| post.is_some());
        Post { numbers: self.numbers, count: post.map_or(0, |post| post + 1), all: all.unwrap_or_default() }
    }

    /// The index in the board of a router's first number in post number `post`.
    fn place(&self, post: u64, router: u32) -> usize {
        ((post % self.kept) as usize * self.routers + router as usize) * self.numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(every: Cycles, delay: Cycles) -> Result<Board, Refusal> {
        let posts = Posts { key: "posted", numbers: 2, every: Time::Cycles(every), delay: Time::Cycles(delay) };
        Board::new(&posts, 3, 1_000_000, "toy")
    }

    #[test]
    fn readers_get_the_last_post_that_is_as_old_as_the_delay() {
        for (every, delay) in [(1, 1), (1, 7), (5, 1), (5, 5), (5, 12), (10, 3)] {
            let board = board(every, delay).unwrap();
            for now in 0..200u64 {
                if board.is_due(now) {
                    (0..3).for_each(|r| board.post(now, r, &[now as u32 + 1, 1000 * r]));
                }
                // a block that is behind by up to `delay` - 1 cycles still reads the posts of its own time
                for reader in now.saturating_sub(delay - 1)..=now {
                    let last = reader.checked_sub(delay).map(|then| then / every * every);
                    let last = [last, last.and_then(|last| last.checked_sub(every))];
                    for (back, last) in (0..).zip(last) {
                        let post = board.known(reader, back);
                        let known = (0..3).map(|r| [post.of(r, 0), post.of(r, 1)]);
                        let expected = (0..3).map(|r| last.map_or([0, 0], |last| [last as u32 + 1, 1000 * r]));
                        assert!(known.eq(expected), "every {every}, delay {delay}: cycle {reader}, {back} back");
                        assert_eq!(post.count, last.map_or(0, |last| last / every + 1));
                    }
                }
            }
        }
    }

    #[test]
    fn times_of_no_cycle_and_boards_that_keep_too_much_are_refused() {
        let said = |every, delay| board(every, delay).unwrap_err().to_string();
        assert!(said(0, 1).contains("routing.toy.posted.every"));
        assert!(said(1, 0).contains("routing.toy.posted.delay"));
        assert!(said(1, 1 << 40).contains("posts of 3 routers are kept"));
    }
}
