//! The processors of a rank: each does one thing at a time, in the order in which things became ready.

use super::messages::Handle;
use std::collections::VecDeque;
use weft_api::base::kept::{Kept, Reader, Unreadable, Value, Writer};
use weft_programs::form::InMemory;
use weft_programs::rank::{Machine, OpId, Ready};

/// A thing that occupies a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
pub enum Task {
    /// A computation, or the part of the sender in a send.
    Operation(u64),
    /// The part of the receiver in a message.
    TakeIn(Handle),
}

#[derive(Debug, Default, Kept)]
pub struct Processor {
    /// Its task, and the cycle in which the task ends.
    pub now: Option<Task>,
    pub ends: u64,
    /// The exact time at which the task ends \[fs\]. A task that follows at once begins then, so that rounding to cycles does not add up.
    pub free_fs: u128,
    pub waiting: VecDeque<Task>,
}

/// The state machine of a rank, as a checkpoint keeps it.
#[derive(Debug)]
pub struct Operations(pub Machine<InMemory, Handle>);

impl Kept for Operations {
    fn keep(&self, to: &mut Writer) {
        self.0.state(Handle::to_bits).keep(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        let state: Vec<u64> = Value::read(from)?;
        self.0.restore(&state, Handle::from_bits).ok_or(Unreadable)
    }
}

/// The counts of a rank. Times are cycles.
#[derive(Debug, Clone, Copy, Default, Value)]
pub struct Count {
    /// When all was done; 0 if it is not.
    pub finish: u64,
    /// Time of processors in computations, and in messages.
    pub compute_fs: u128,
    pub overhead_fs: u128,
    /// Cycles in which no processor was busy: while the message under way for which the rank waited was in transfer, and others.
    pub transfer: u64,
    pub wait: u64,
    pub sent: u64,
    pub sent_bytes: u64,
    pub received: u64,
    pub received_bytes: u64,
}

#[derive(Debug, Kept)]
pub struct Rank {
    pub operations: Operations,
    #[kept(each)]
    pub processors: Vec<Processor>,
    pub count: Count,
    /// Processors that are busy, and since when none is.
    pub busy: u32,
    pub idle_since: u64,
    /// The message that was complete last: when, and when it had begun.
    pub heard: (u64, u64),
    pub has_ended: bool,
    /// Scratch: operations that have become ready.
    #[kept(scratch)]
    pub ready: Vec<Ready>,
}

impl Rank {
    pub fn new(machine: Machine<InMemory, Handle>, processors: usize, start: u64) -> Self {
        Self {
            operations: Operations(machine),
            processors: (0..processors.max(1)).map(|_| Processor::default()).collect(),
            count: Count::default(),
            busy: 0,
            idle_since: start,
            heard: (u64::MAX, 0),
            has_ended: false,
            ready: Vec::new(),
        }
    }

    pub fn machine(&mut self) -> &mut Machine<InMemory, Handle> {
        &mut self.operations.0
    }

    /// An operation has finished.
    pub fn finish(&mut self, id: u64) {
        self.operations.0.finish(OpId::from_bits(id), &mut self.ready);
    }

    /// The processor with this number, or the last one of the rank.
    pub fn processor(&mut self, number: u8) -> &mut Processor {
        let place = usize::from(number).min(self.processors.len() - 1);
        &mut self.processors[place]
    }

    /// Counts the time in which no processor was busy, which ends in cycle `now`.
    pub fn end_idle(&mut self, now: u64) {
        let idle = now - self.idle_since;
        let (heard, begun) = self.heard;
        let transfer = if heard == now { now - begun.clamp(self.idle_since, now) } else { 0 };
        self.count.transfer += transfer;
        self.count.wait += idle - transfer;
        self.idle_since = now;
    }

    /// When the first of its processors ends what it does.
    pub fn next_end(&self) -> Option<(u64, usize)> {
        let busy = self.processors.iter().enumerate().filter(|(_, processor)| processor.now.is_some());
        busy.map(|(place, processor)| (processor.ends, place)).min()
    }
}
