//! A barrier for the threads of a run. It spins, because windows are a few microseconds long, too short for a thread to
//! sleep.

use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug)]
pub(crate) struct Barrier {
    threads: usize,
    waiting: AtomicUsize,
    generation: AtomicUsize,
}

/// Spins before the thread yields. (If there are more threads than cores, they must not starve each other.)
const SPINS: u32 = 4096;

impl Barrier {
    pub(crate) fn new(threads: usize) -> Self {
        Self { threads, waiting: AtomicUsize::new(0), generation: AtomicUsize::new(0) }
    }

    /// Returns when all threads have called it. What they wrote before the call is visible to all of them after it.
    pub(crate) fn wait(&self) {
        let generation = self.generation.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.waiting.store(0, Ordering::Release);
            self.generation.store(generation.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.generation.load(Ordering::Acquire) == generation {
            spins += 1;
            if spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
    }
}
