//! A barrier at which the threads of a run wait for each other. A waiting thread spins instead of sleeping. The reason is that the threads
//! meet every few microseconds (once per window), and a thread cannot sleep for such a short time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[derive(Debug)]
pub struct Barrier {
    threads: usize,
    waiting: AtomicUsize,
    generation: AtomicUsize,
    /// Whether a thread of the run has panicked. After a panic, threads no longer wait at the barrier.
    poisoned: AtomicBool,
}

/// A guard for a thread that uses the barrier. If the thread with the guard panics, the guard makes the other threads
/// stop waiting.
pub struct Poison<'a>(pub &'a Barrier);

impl Drop for Poison<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.poisoned.store(true, Ordering::Release);
        }
    }
}

/// Number of spins before a waiting thread yields its core. (With more threads than cores, spinning threads would otherwise delay the
/// others.)
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

    /// Waits until all threads have called `wait`, then returns true. Everything that the threads wrote before the call is then visible to
    /// all threads. If a thread has panicked, `wait` returns false at once.
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
