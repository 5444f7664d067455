//! The processors of a rank. Each processor does one task at a time. It starts its tasks in the order in which they became ready, but skips
//! sends while the interfaces accept no further message.

use super::messages::Handle;
use super::site::{Site, lock};
use std::collections::VecDeque;
use weft_api::activity::{Cause, Span, State};
use weft_api::base::kept::{Kept, Reader, Unreadable, Value, Writer};
use weft_programs::form::InMemory;
use weft_programs::rank::{Machine, OpId, Ready};

/// A task that occupies a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
pub enum Task {
    /// A computation, or the sender's work for a message.
    Operation(u64),
    /// The receiver's work for a message.
    TakeIn(Handle),
}

#[derive(Debug, Default, Kept)]
pub struct Processor {
    pub is_busy: bool,
    /// The exact time at which the task ends \[fs\]. If another task follows at once, it begins at this exact time. Therefore errors by
    /// rounding to cycles do not add up.
    pub free_fs: u128,
    pub waiting: VecDeque<Task>,
}

/// The state machine of a rank, in a type that checkpoints can store.
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

/// The statistics of a rank. Times are in cycles, unless the name says otherwise.
#[derive(Debug, Clone, Copy, Default, Value)]
pub struct Count {
    /// The cycle in which the last operation ended; 0 before that.
    pub finish: u64,
    /// Time that the processors spent in computations.
    pub compute_fs: u128,
    /// Time that the processors spent on messages.
    pub overhead_fs: u128,
    /// Cycles in which all processors were idle while the message for which the rank waited was in transfer.
    pub transfer: u64,
    /// All other cycles in which all processors were idle.
    pub wait: u64,
    /// Cycles in which at least one processor did a computation.
    pub computing: u64,
    pub sent: u64,
    pub sent_bytes: u64,
    pub received: u64,
    pub received_bytes: u64,
}

impl Count {
    /// Returns the cycles without a computation from the start of the program to the end of the rank; `None` if the rank has not
    /// ended.
    pub fn exposed(&self, start: u64) -> Option<u64> {
        (self.finish > 0).then(|| (self.finish - start).saturating_sub(self.computing))
    }
}

#[derive(Debug, Kept)]
pub struct Rank {
    pub operations: Operations,
    #[kept(each)]
    pub processors: Vec<Processor>,
    pub count: Count,
    #[kept(fixed)]
    number: u32,
    /// Number of busy processors.
    pub busy: u32,
    /// Number of busy processors that do a computation.
    computing: u32,
    /// The cycle since which the rank is in its present state.
    since: u64,
    /// The last transfer that has ended for this rank, and the cycle of its end.
    heard: Option<(u64, Cause)>,
    /// The last time span, if it can still become longer.
    open: Option<Span>,
    pub has_ended: bool,
    /// Scratch: operations that have become ready.
    #[kept(scratch)]
    pub ready: Vec<Ready>,
}

impl Rank {
    pub fn new(machine: Machine<InMemory, Handle>, number: u32, processors: usize, start: u64) -> Self {
        Self {
            operations: Operations(machine),
            processors: (0..processors.max(1)).map(|_| Processor::default()).collect(),
            count: Count::default(),
            number,
            busy: 0,
            computing: 0,
            since: start,
            heard: None,
            open: None,
            has_ended: false,
            ready: Vec::new(),
        }
    }

    pub fn machine(&mut self) -> &mut Machine<InMemory, Handle> {
        &mut self.operations.0
    }

    /// Records that an operation has finished.
    pub fn finish(&mut self, id: u64) {
        self.operations.0.finish(OpId::from_bits(id), &mut self.ready);
    }

    /// Returns the processor with index `number`, or the last processor if the rank has no processor with this index.
    pub fn processor(&mut self, number: u8) -> &mut Processor {
        let place = usize::from(number).min(self.processors.len() - 1);
        &mut self.processors[place]
    }

    /// Called when a processor begins (`begins`) or ends a task in cycle `now`. `computes`: true if the task is a computation.
    pub fn turn(&mut self, site: &Site, now: u64, begins: bool, computes: bool) {
        let before = self.busy_state();
        let count = |count: u32| if begins { count + 1 } else { count - 1 };
        self.busy = count(self.busy);
        if computes {
            self.computing = count(self.computing);
        }
        if self.busy_state() != before {
            self.close(site, before, now);
        }
    }

    /// The state of the rank if a processor is busy; `None` if all are idle.
    fn busy_state(&self) -> Option<State> {
        match (self.computing, self.busy) {
            (0, 0) => None,
            (0, _) => Some(State::Overhead),
            (_, _) => Some(State::Compute),
        }
    }

    /// Records that a transfer for which the rank possibly waits ends in cycle `now`.
    pub fn hear(&mut self, now: u64, cause: Cause) {
        self.heard = Some((now, cause));
    }

    /// Called when an operation that occupies no processor ends, such as the receive of a rendezvous, or when the rank ends. If all
    /// processors are idle, ends the present span of idle time in cycle `now`.
    pub fn split_idle(&mut self, site: &Site, now: u64) {
        if self.busy == 0 {
            self.close(site, None, now);
        }
    }

    /// Counts the time that the rank spent in `state` until cycle `now`. With `None`, all processors were idle.
    fn close(&mut self, site: &Site, state: Option<State>, now: u64) {
        let (from, rank) = (self.since, self.number);
        self.since = now;
        if let Some(state) = state {
            self.count.computing += if state == State::Compute { now - from } else { 0 };
            self.note(site, Span { to: now, rank, from, state, cause: None });
            return;
        }
        let cause = self.heard.filter(|(at, _)| *at == now).map(|(_, cause)| cause);
        let begun = cause.map_or(now, |cause| cause.since.clamp(from, now));
        self.count.transfer += now - begun;
        self.count.wait += begun - from;
        self.note(site, Span { to: begun, rank, from, state: State::Wait, cause });
        self.note(site, Span { to: now, rank, from: begun, state: State::Transfer, cause });
    }

    fn note(&mut self, site: &Site, span: Span) {
        if span.from == span.to || site.wanted.spans == 0 {
            return;
        }
        let grows = |open: &Span| open.to == span.from && open.state == span.state && span.cause.is_none();
        match self.open.as_mut().filter(|open| grows(open) && open.cause.is_none()) {
            Some(open) => open.to = span.to,
            None => self.open.replace(span).into_iter().for_each(|done| lock(&site.shared).span(done)),
        }
    }

    /// Returns the time spans that are not in the log yet, if the run ends in cycle `end`.
    pub fn last_spans(&self, end: u64) -> impl Iterator<Item = Span> {
        let unended = Span {
            to: end,
            rank: self.number,
            from: self.since,
            state: self.busy_state().unwrap_or(State::Wait),
            cause: None,
        };
        let unended = (!self.has_ended && unended.from < end).then_some(unended);
        self.open.into_iter().chain(unended)
    }
}
