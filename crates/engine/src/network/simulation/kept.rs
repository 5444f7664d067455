//! The state of a whole network in a checkpoint: its blocks, and what acts between two cycles.
//!
//! A checkpoint is made between two advances, when all mail has been taken. It belongs to the division into blocks that the
//! network has: threads share out the blocks, however many there are, and change nothing.

use super::Simulation;
use weft_api::base::kept::{Kept, Reader, Unreadable, Writer};

impl Simulation {
    /// Whether a checkpoint can be made: notes on watched packets are not kept.
    pub(crate) fn can_be_kept(&self) -> bool {
        !self.net.watches
    }

    /// The routing that is in force is kept as the number of those that are still to come.
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
        if self.routings_to_come() == to_come { Ok(()) } else { Err(Unreadable) }
    }
}
