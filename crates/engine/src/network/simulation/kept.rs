//! The state of a whole network in a checkpoint: the state of its blocks, and of the parts that act between two cycles.
//!
//! A checkpoint is written between two advances, when all blocks have received their mail. A checkpoint can be read only by a network with
//! the same division into blocks. The number of threads may differ, because threads only share the blocks and do not change results.

use super::Simulation;
use weft_api::base::kept::{Kept, Reader, Unreadable, Writer};

impl Simulation {
    /// Whether a checkpoint can be written. A run with watched packets cannot write one, because the records of watched packets can't be
    /// saved.
    pub(crate) fn can_be_kept(&self) -> bool {
        !self.net.watches
    }

    /// Number of routings that the run will use later. The checkpoint stores this number instead of the routing that the run uses now.
    fn routings_to_come(&self) -> usize {
        self.tables.len()
    }
}

impl Kept for Simulation {
    fn keep(&self, to: &mut Writer) {
        self.now.keep(to);
        self.blocks.as_slice().keep(to);
        self.overseer.as_slice().keep(to);
        self.faults.keep(to);
        self.routings_to_come().keep(to);
        self.published.keep(to);
        self.net.common.board.as_slice().keep(to);
        self.readings.keep(to);
        self.bundles.keep(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        self.now.restore(from)?;
        self.blocks.as_mut_slice().restore(from)?;
        self.overseer.as_mut_slice().restore(from)?;
        self.faults.restore(from)?;
        let mut to_come = 0;
        to_come.restore(from)?;
        while self.routings_to_come() > to_come {
            let tables = self.tables.pop().ok_or(Unreadable)?;
            self.take_routing(tables.routing);
        }
        self.published.restore(from)?;
        if let Some(published) = &self.published {
            self.net.routing.hear(published);
        }
        self.net.common.board.as_mut_slice().restore(from)?;
        self.readings.restore(from)?;
        self.bundles.restore(from)?;
        let numbers_are_right = self.blocks.iter().all(|block| block.numbers_are_right(&self.net));
        if self.routings_to_come() == to_come && numbers_are_right { Ok(()) } else { Err(Unreadable) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::jobs::Job;
    use crate::network::simulation::trials::{HYPERX, spec};
    use crate::network::spec::{Execution, Spec};
    use std::any::Any;
    use weft_api::state::{NO_JOB, NONE};
    use weft_kernel::face::Damaged;
    use weft_kernel::face::widths::NarrowBlock;

    /// Sets one number of a block to a wrong value before a checkpoint stores it.
    type Spoil = fn(Damaged<'_, 1, 8>);

    /// Runs 150 cycles, writes a checkpoint with one wrong number (which `spoil` sets), and reads the checkpoint into a new network.
    fn restored(spec: &Spec, spoil: Spoil) -> Result<(), Unreadable> {
        let simulation = || Simulation::new(spec, Execution::new(1, 1)).expect("a simulation");
        let mut first = simulation();
        first.advance(150);
        let block: &mut dyn Any = &mut *first.blocks[0];
        let block = block.downcast_mut::<NarrowBlock>().expect("few ports and VCs");
        // SAFETY: the block does not advance after this.
        spoil(unsafe { block.damage() });
        let mut bytes = Writer::new();
        first.keep(&mut bytes);
        simulation().restore(&mut Reader::new(&bytes))
    }

    #[test]
    fn a_checkpoint_in_which_a_number_names_nothing_is_refused() {
        let spec = spec(HYPERX, r#"{"dimension_order": {}}"#, 4, 0.6, (100, 200));
        assert_eq!(restored(&spec, |_| ()), Ok(()));
        let spoiled: [(&str, Spoil); 13] = [
            ("the head of a queue", |block| block.ins[0].head[0] = 1 << 20),
            ("the output that a head asks for", |block| block.ins[0].requests[0] = 1 << 12),
            ("the output that a packet holds", |block| block.ins[0].output_vc[0] = 63 << 4),
            ("the input that holds a VC", |block| block.outs[0].holder[0] = 63 << 4),
            ("the VC of the input that holds a VC", |block| block.outs[0].holder[0] = 15),
            ("the VC that a packet holds", |block| block.ins[0].output_vc[0] = 15),
            ("the class of a request", |block| block.outs[0].requested = 1 << 15),
            ("the queue of a flit that waits", |block| {
                (block.outs[0].vcs_with_flit, block.outs[0].holder[0], block.ins[0].head[0]) = (1, 0, NONE);
            }),
            ("the VC of a terminal", |block| block.terminals[0].vc = 16),
            ("the output of a request", |block| block.routers[0].vc_requests.set(63)),
            ("the packet of a terminal", |block| block.terminals[0].packet = 1 << 20),
            ("the packet of a segment", |block| block.segments[0].packet = 1 << 20),
            ("the output of a credit", |block| block.credits.push(150, 151, 1 << 20)),
        ];
        for (what, spoil) in spoiled {
            assert_eq!(restored(&spec, spoil), Err(Unreadable), "{what}");
        }
    }

    /// The checkpoint claims that a terminal without a job sends; such a terminal has no source that creates packets.
    #[test]
    fn a_checkpoint_in_which_a_terminal_without_a_job_sends_is_refused() {
        let mut spec = spec(HYPERX, r#"{"dimension_order": {}}"#, 4, 0.6, (100, 200));
        let population = weft_traffic::Population::of(6);
        let pattern = weft_traffic::PatternConfig::default().build(&population, "pattern").expect("a pattern");
        spec.traffic.jobs = vec![Job::steady("some", (0..6).collect(), pattern.into(), 0.6, 4)];
        let spoiled: [(&str, Spoil); 4] = [
            ("it is busy", |block| block.busy.set(7)),
            ("its source is due", |block| block.terminals[7].due = 200),
            ("it waits for a credit", |block| block.terminals[7].blocked = true),
            ("an alarm wakes it", |block| block.alarms.push(150, 151, 7)),
        ];
        let job = |block: Damaged<'_, 1, 8>| assert_eq!(block.terminals[7].job, NO_JOB);
        assert_eq!(restored(&spec, job), Ok(()));
        for (what, spoil) in spoiled {
            assert_eq!(restored(&spec, spoil), Err(Unreadable), "{what}");
        }
    }
}
