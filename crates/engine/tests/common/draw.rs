//! Random choices for tests.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;
use weft_traffic::stream;

/// A stream of random choices. Each address of a random choice has a separate stream.
pub struct Draw(Pcg32);

impl Draw {
    pub fn new(seed: u64, round: u64, purpose: u64) -> Self {
        Self(stream(seed, round, purpose))
    }

    /// A random number from 0 to `n` - 1; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.next_u32() as usize % n.max(1)
    }

    /// True with probability 1 / `n`.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    /// A random number from 0 to 1.
    pub fn share(&mut self) -> f64 {
        (f64::from(self.0.next_u32()) + 1.0) / 4_294_967_296.0
    }

    /// A random time to the next event, at least 1 cycle, for events that occur every `mean` cycles on average.
    pub fn gap(&mut self, mean: f64) -> u64 {
        (-mean * self.share().ln()).ceil().max(1.0) as u64
    }
}
