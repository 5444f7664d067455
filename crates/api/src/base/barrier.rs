//! A barrier for the threads of a run. A waiting thread spins, because windows take only a few microseconds, and a thread cannot
//! sleep for such a short time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[derive(Debug)]
pub struct Barrier {
    threads: usize,
    waiting: AtomicUsize,
    generation: AtomicUsize,
    /// Whether a thread has panicked. From then on, threads no longer wait.
    poisoned: AtomicBool,
}

/// A guard that a thread holds while it uses a barrier. If the thread that holds the guard panics, the other threads no longer wait for it.
pub struct Poison<'a>(pub &'a Barrier);

impl Drop for Poison<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.poisoned.store(true, Ordering::Release);
        }
    }
}

/// Number of spins before the thread yields. (If there are more threads than cores, spinning threads must not starve the others.)
const SPINS: u32 = 4096;

impl Barrier {
    pub fn new(threads: usize) -> Self {
        Self {
            threads,
            waiting: AtomicUsize::new(0),
            generation: AtomicUsize::new(0),
            poisoned: AtomicBool::new(false),
        }
    }

    /// Returns true when all threads have called it; everything that they wrote before the call is then visible to all of them. Returns
    /// false if a thread has panicked.
    pub fn wait(&self) -> bool {
        let generation = self.generation.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.waiting.store(0, Ordering::Release);
            self.generation.store(generation.wrapping_add(1), Ordering::Release);
            return true;
        }
        let mut spins = 0;
        while self.generation.load(Ordering::Acquire) == generation {
            spins += 1;
            if self.poisoned.load(Ordering::Acquire) {
                return false;
            }
            if spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        true
    }
}
