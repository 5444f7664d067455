//! Predicts the speed of a simulation on more cores than this machine has. The prediction uses three costs: the time of each block in each
//! window on one core, the mail between threads, and the time for which threads wait.
//!
//! The prediction ignores two effects of caches and memory. First, cores share caches and memory bandwidth, so many cores can be slower
//! than predicted. Second, the caches of many cores together may hold all blocks when the cache of one core does not. Because of the second
//! effect, many cores can be faster than predicted.

use crate::cases::Case;
use nix::time::{ClockId, clock_gettime};
use serde::Serialize;
use std::error::Error;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use weft_engine::Simulation;
use weft_engine::scaling::{Observed, Shares, wait_together};
use weft_engine::spec::Execution;

/// Costs [s] of communication between threads on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Costs {
    /// Time for which two threads wait for each other at one barrier. With more threads the time grows, because they
    /// access the same cache line in turn.
    pub barrier_seconds: f64,
    /// Time to read a line of 64 bytes that another core has written, minus the time to read a line in the core's own
    /// cache.
    pub line_seconds: f64,
}

/// The predicted speed and the parts of the predicted time, for one number of threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
    pub threads: usize,
    pub blocks: usize,
    /// Speed-up: the speed divided by the speed of one thread.
    pub speed_up: f64,
    /// Mean work of a thread, as a share of the predicted time.
    pub work_share: f64,
    /// Additional work of the slowest thread, as a share of the predicted time.
    pub imbalance_share: f64,
    /// By how much the flit-hops of the busiest thread exceed the mean of all threads, as a share of this mean. The counted imbalance
    /// excludes effects of the machine.
    pub counted_imbalance: f64,
    /// The counted imbalance that would result if every thread had only whole rows or groups, and all rows or groups had equal cost.
    pub imbalance_of_whole_units: f64,
    /// Mail between threads, as a share of the predicted time.
    pub mail_share: f64,
    /// Waiting of threads for each other, as a share of the predicted time.
    pub barrier_share: f64,
    /// Number of bytes that threads send each other per window.
    pub mail_bytes_per_window: f64,
}

const WAITS: u64 = 20_000;
const TRIALS: usize = 20;
const LINES: usize = 1 << 14;
const ROUNDS: u64 = 16;
const LINE_BYTES: f64 = 64.0;
/// Number of cache lines of a slot (for the mail from one block to another), without the mail itself. A slot holds the vectors that blocks
/// swap.
const LINES_OF_SLOT: f64 = 2.0;

impl Costs {
    /// Measures the costs of communication between two threads on this machine.
    pub fn here() -> Self {
        let barrier = || {
            let begun = Instant::now();
            wait_together(2, WAITS);
            begun.elapsed().as_secs_f64() / WAITS as f64
        };
        // the smallest measured value counts, because other processes of the machine can only make a value larger
        let least = |of: &dyn Fn() -> f64| (0..TRIALS).map(|_| of()).fold(f64::INFINITY, f64::min);
        Self { barrier_seconds: least(&barrier), line_seconds: least(&line_seconds) }
    }
}

/// Time to read a line that another thread has just written, minus the time to read it again from this core's cache.
fn line_seconds() -> f64 {
    let lines: Vec<AtomicU64> = (0..8 * LINES).map(|_| AtomicU64::new(0)).collect();
    let turn = AtomicU64::new(0);
    let write = |round: u64| lines.iter().step_by(8).for_each(|line| line.store(round, Ordering::Relaxed));
    let read = || {
        let begun = Instant::now();
        black_box(lines.iter().step_by(8).map(|line| line.load(Ordering::Relaxed)).sum::<u64>());
        begun.elapsed().as_secs_f64()
    };
    let (mut far, mut near) = (0.0, 0.0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..ROUNDS {
                while turn.load(Ordering::Acquire) != 2 * round {
                    std::hint::spin_loop();
                }
                write(round);
                turn.store(2 * round + 1, Ordering::Release);
            }
        });
        for round in 0..ROUNDS {
            while turn.load(Ordering::Acquire) != 2 * round + 1 {
                std::hint::spin_loop();
            }
            far += read();
            near += read();
            turn.store(2 * round + 2, Ordering::Release);
        }
    });
    ((far - near) / (ROUNDS * LINES as u64) as f64).max(0.0)
}

/// Measures the time of each block in each window, with the blocks that `threads` threads would use.
pub fn observed(case: &Case, threads: usize) -> Result<Observed, Box<dyn Error>> {
    let spec = case.spec()?;
    let blocks = Simulation::new(&spec, Execution::new(threads, 0))?.blocks();
    let mut simulation = Simulation::new(&spec, Execution::new(1, blocks))?;
    simulation.advance_recording(case.warmup);
    Ok(simulation.advance_observed(case.warmup + case.cycles, &cpu_seconds))
}

/// CPU time of this thread [s], which excludes other processes on the core.
fn cpu_seconds() -> f64 {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(0.0, |time| std::time::Duration::from(time).as_secs_f64())
}

/// Predicts the time that the observed windows take on `threads` threads. `alone`: time that these windows take on one thread with the same
/// blocks [s]. `units`: number of rows or groups of the network.
pub fn predict(observed: &Observed, units: usize, threads: usize, alone: f64, costs: Costs) -> Prediction {
    let shares = Shares::of(&observed.hops, threads, units);
    let (blocks, share, threads_used) = (observed.blocks, shares.blocks_of_thread, shares.threads);
    let windows = observed.windows.len() as f64;
    let (mut slowest, mut mean) = (0.0, 0.0);
    for window in &observed.windows {
        let of_thread = |blocks: &[(f64, f64)]| blocks.iter().map(|(advance, take)| advance + take).sum::<f64>();
        slowest += window.chunks(share).map(of_thread).fold(0.0, f64::max);
        mean += of_thread(window) / threads_used as f64;
    }
    let between = |from: usize, to: usize| from / share != to / share;
    let pairs =
        (0..blocks).flat_map(|from| (0..blocks).map(move |to| (from, to))).filter(|&(from, to)| between(from, to));
    let mail: u64 = pairs.map(|(from, to)| observed.mail_bytes[from * blocks + to]).sum();
    // per window, a thread writes the slots for mail from its own blocks, and reads the slots for mail from other
    // threads
    let slots = (share * (blocks - share.min(blocks))) as f64 * LINES_OF_SLOT * 2.0 * windows;
    let lines = mail as f64 / threads_used as f64 / LINE_BYTES + slots;
    let (mail_seconds, waits) =
        (lines * costs.line_seconds, windows * costs.barrier_seconds * threads_used as f64 / 2.0);
    let all = slowest + mail_seconds + waits;
    Prediction {
        threads,
        blocks,
        speed_up: alone / all,
        work_share: mean / all,
        imbalance_share: (slowest - mean) / all,
        counted_imbalance: shares.imbalance().unwrap_or(0.0),
        imbalance_of_whole_units: shares.imbalance_of_whole_units(),
        mail_share: mail_seconds / all,
        barrier_share: waits / all,
        mail_bytes_per_window: mail as f64 / windows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Observations of four blocks in ten windows. In each window block 0 takes 4 s and each other block 1 s, and each block sends 64 bytes
    /// to every other block.
    fn four() -> Observed {
        let window = vec![(4.0, 0.0), (0.5, 0.5), (1.0, 0.0), (1.0, 0.0)];
        Observed { blocks: 4, windows: vec![window; 10], hops: vec![40, 10, 10, 10], mail_bytes: vec![640; 16] }
    }

    #[test]
    fn the_slowest_thread_decides() {
        let free = Costs { barrier_seconds: 0.0, line_seconds: 0.0 };
        let two = predict(&four(), 8, 2, 70.0, free);
        // per window: 4 + 1 s on one thread, 1 + 1 s on the other, 7 s on a single thread
        assert!((two.speed_up - 70.0 / 50.0).abs() < 1e-9, "{two:?}");
        assert!((two.work_share - 3.5 / 5.0).abs() < 1e-9, "{two:?}");
        assert!((two.counted_imbalance - (50.0 / 35.0 - 1.0)).abs() < 1e-9, "{two:?}");
        assert_eq!(two.imbalance_of_whole_units, 0.0);
        // mail between threads: from blocks 0 and 1 to blocks 2 and 3, and back
        assert!((two.mail_bytes_per_window - 8.0 * 64.0).abs() < 1e-9, "{two:?}");
        let four = predict(&four(), 6, 4, 70.0, free);
        assert!((four.speed_up - 70.0 / 40.0).abs() < 1e-9, "{four:?}");
        // on 4 threads one thread has two of the 6 units, and the mean is 1.5 units
        assert!((four.imbalance_of_whole_units - (2.0 / 1.5 - 1.0)).abs() < 1e-9, "{four:?}");
    }

    #[test]
    fn mail_and_waiting_cost() {
        let two = predict(&four(), 8, 2, 70.0, Costs { barrier_seconds: 5.0, line_seconds: 0.25 });
        // per window and thread: 5 s of work, 5 s of waiting, 4 lines of mail and 16 lines of slots
        assert!((two.speed_up - 70.0 / (10.0 * (5.0 + 5.0 + 0.25 * 20.0))).abs() < 1e-9, "{two:?}");
        let shares = two.work_share + two.imbalance_share + two.mail_share + two.barrier_share;
        assert!((shares - 1.0).abs() < 1e-9, "{two:?}");
    }
}
