//! What each block of a network costs in each window: from it the time of a run on more threads can be predicted.

use crate::network::simulation::Simulation;
use crate::network::threads::take_of_thread;
use weft_api::base::barrier::Barrier;
use weft_api::state::{Flit, Packet};
use weft_kernel::block::Mail;

/// What a network has cost while one thread advanced it.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    pub blocks: usize,
    /// For each window, the seconds that each block took: to advance, and to take its mail.
    pub windows: Vec<Vec<(f64, f64)>>,
    /// Flit-hops of each block: what it costs, as far as that does not depend on the machine.
    pub hops: Vec<u64>,
    /// Bytes of mail from each block (row) to each other, in all windows together.
    pub mail_bytes: Vec<u64>,
}

impl Simulation {
    /// Into how many blocks the network is divided.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Advances to cycle `until` on this thread and measures each block by `clock` [s]. For policies without an overseer, and
    /// without faults; elsewhere what acts between two cycles would be left out.
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
            observed.mail_bytes.iter_mut().zip(mail).for_each(|(sum, mail)| *sum += bytes(mail));
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

    fn hops_by_block(&self) -> impl Iterator<Item = u64> + '_ {
        self.blocks.iter().map(|block| block.observers().tally.flit_hops)
    }
}

fn bytes(mail: &Mail) -> u64 {
    let of = |count: usize, size: usize| (count * size) as u64;
    of(mail.flits.len(), size_of::<(u64, Flit)>())
        + of(mail.packets.len(), size_of::<Packet>())
        + of(mail.credits.len(), size_of::<(u64, u32)>())
}

/// Lets so many threads wait for each other so many times, as the threads of a run do after each window.
pub fn wait_together(threads: usize, times: u64) {
    let barrier = &Barrier::new(threads);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(move || (0..times).all(|_| barrier.wait()));
        }
    });
}
