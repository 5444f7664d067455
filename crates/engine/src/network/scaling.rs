//! Measures on one thread the time that each block of a network takes in each window. Weft uses this cost to predict the time of a run on
//! more threads. The file also computes the balance of flit-hops between the threads of a run.

use crate::network::evener::TRIAL;
use crate::network::simulation::Simulation;
use crate::network::spec::{Execution, Spec};
use crate::network::threads::{blocks_of_thread, take_of_thread};
use weft_api::base::barrier::Barrier;
use weft_topology::Graph;
use weft_units::Refusal;

/// Cost of a network, measured while one thread advances it.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    pub blocks: usize,
    /// For each window and block, the seconds for advancing the block, and the seconds for receiving its mail.
    pub windows: Vec<Vec<(f64, f64)>>,
    /// Flit-hops of each block: the part of the cost that does not depend on the machine.
    pub hops: Vec<u64>,
    /// Bytes of mail from each block (row) to each other block, summed over all windows.
    pub mail_bytes: Vec<u64>,
}

/// The balance of work between the threads of a run. The work of a thread is the number of flit-hops that its blocks counted during a run.
/// This number does not depend on a clock or on the machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// Number of threads that have blocks; at most the requested number.
    pub threads: usize,
    pub blocks: usize,
    /// Number of blocks of each thread; the last thread can have fewer.
    pub blocks_of_thread: usize,
    /// Flit-hops of all threads together.
    pub flit_hops: u64,
    /// Flit-hops of the busiest thread.
    pub most: u64,
    /// Number of rows or groups of the network, or number of routers if the network has neither.
    pub units: usize,
}

impl Shares {
    /// Assigns blocks with these flit-hops to `threads` threads, in the same way as a run does.
    pub fn of(hops: &[u64], threads: usize, units: usize) -> Self {
        let blocks_of_thread = blocks_of_thread(hops.len(), threads.max(1)).max(1);
        let of_thread = hops.chunks(blocks_of_thread).map(|hops| hops.iter().sum::<u64>());
        let most = of_thread.clone().max().unwrap_or(0);
        let (threads, blocks) = (of_thread.len(), hops.len());
        Self { threads, blocks, blocks_of_thread, flit_hops: hops.iter().sum(), most, units }
    }

    /// Counts flit-hops in the first `cycles` cycles of a run, with the blocks of a run on `threads` threads.
    pub fn counted(spec: &Spec, threads: usize, cycles: u64) -> Result<Self, Refusal> {
        let how = Execution::new(threads, 0);
        let mut simulation = Simulation::new(spec, how)?;
        simulation.advance(cycles.min(TRIAL));
        if let Some(division) = simulation.evener_division(spec) {
            simulation = Simulation::divided(spec, how, division)?;
        }
        simulation.advance(cycles);
        let hops: Vec<u64> = simulation.hops_by_block().collect();
        Ok(Self::of(&hops, threads, units(&spec.graph)))
    }

    /// Share by which the flit-hops of the busiest thread exceed the mean; `None` if there are no flit-hops.
    pub fn imbalance(&self) -> Option<f64> {
        (self.flit_hops > 0).then(|| self.most as f64 * self.threads as f64 / self.flit_hops as f64 - 1.0)
    }

    /// The imbalance if u units (rows or groups) of equal cost were divided among t threads without dividing a unit: ceil(u / t) t / u - 1.
    pub fn imbalance_of_whole_units(&self) -> f64 {
        (self.units.div_ceil(self.threads) * self.threads) as f64 / self.units as f64 - 1.0
    }
}

/// Number of rows or groups of a network, or of its routers if it has neither.
pub fn units(graph: &Graph) -> usize {
    graph.routers().div_ceil(graph.grain()) as usize
}

impl Simulation {
    /// Number of blocks of the network.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Advances to cycle `until` on this thread, and measures with `clock` the time that each block takes [s]. Use it only for runs without
    /// overseer and faults. With an overseer or faults, this function would omit the actions that the engine takes between two cycles.
    pub fn advance_observed(&mut self, until: u64, clock: &dyn Fn() -> f64) -> Observed {
        assert!(self.has_no_overseer(), "nothing acts between two cycles");
        let count = self.blocks.len();
        let mut observed =
            Observed { blocks: count, windows: Vec::new(), hops: Vec::new(), mail_bytes: vec![0; count * count] };
        observed.hops = self.hops_by_block().collect();
        while self.now < until {
            let next = self.now.saturating_add(self.window).min(until);
            let mut spent = Vec::with_capacity(count);
            for block in &mut self.blocks {
                let begun = clock();
                block.advance(&self.net, next);
                spent.push((clock() - begun, 0.0));
            }
            let mail = self.blocks.iter().flat_map(|block| block.outbox());
            observed.mail_bytes.iter_mut().zip(mail).for_each(|(sum, mail)| *sum += mail.bytes());
            for (k, spent) in spent.iter_mut().enumerate() {
                let begun = clock();
                take_of_thread(&self.net, &mut self.blocks, k, 0);
                spent.1 = clock() - begun;
            }
            self.blocks.iter_mut().for_each(|block| block.settle(&self.net));
            observed.windows.push(spent);
            (self.now, self.windows_done) = (next, self.windows_done + 1);
        }
        let hops_before = std::mem::take(&mut observed.hops);
        observed.hops = self.hops_by_block().zip(hops_before).map(|(now, before)| now - before).collect();
        observed
    }

    pub(super) fn hops_by_block(&self) -> impl Iterator<Item = u64> + '_ {
        self.blocks.iter().map(|block| block.observers().tally.flit_hops)
    }
}

/// Makes threads wait for each other `times` times at a barrier, as the threads of a run do after each window.
pub fn wait_together(threads: usize, times: u64) {
    let barrier = &Barrier::new(threads);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(move || (0..times).all(|_| barrier.wait()));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_imbalance_is_that_of_the_busiest_thread() {
        // two blocks per thread give threads with 50, 30 and 10 flit-hops; the mean is 30
        let shares = Shares::of(&[40, 10, 10, 20, 10], 3, 7);
        assert_eq!((shares.threads, shares.blocks, shares.blocks_of_thread), (3, 5, 2));
        assert_eq!((shares.flit_hops, shares.most), (90, 50));
        assert!((shares.imbalance().expect("work") - 2.0 / 3.0).abs() < 1e-12);
        // one thread has 3 of the 7 units, and the mean is 7/3
        assert!((shares.imbalance_of_whole_units() - 2.0 / 7.0).abs() < 1e-12);
        assert_eq!(Shares::of(&[0, 0], 2, 2).imbalance(), None);
        // there are more threads than blocks, so each thread with work has one block
        assert_eq!(Shares::of(&[1, 1], 8, 2).threads, 2);
    }
}
