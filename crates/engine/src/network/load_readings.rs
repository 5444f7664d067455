//! Readings of a run whose load changes in phases: accepted flits and accounts of the link classes, at the cycles at which phases begin and
//! end.

use crate::network::spec::{Phases, Stop};
use weft_api::base::kept::{Kept, Value};
use weft_api::spec::LATER;
use weft_api::state::Account;

/// Flits of the jobs that have a rate, counted from the beginning of the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct Carried {
    pub offered: u64,
    pub accepted: u64,
}

/// Counts of the events before a cycle.
#[derive(Debug, Clone, Value)]
pub struct Reading {
    pub cycle: u64,
    /// Accepted flits: the flits that reach their terminals less than [`LoadReadings::landing`] cycles after this cycle.
    pub accepted: u64,
    /// The accepted flits of the jobs that have a rate, and the flits that these jobs have offered until then.
    pub carried: Carried,
    /// Sums of the accounts of the channels of each link class: at index 2 * class for channels that leave routers, at the next index for
    /// channels that leave terminals.
    pub classes: Vec<Account>,
    /// Number of cycles that each bundle has slept.
    pub asleep: Vec<u64>,
    /// Number of packets that wait in source queues.
    pub waiting: u64,
}

/// The part of a phase of the load that is in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
pub struct Span {
    /// First cycle of the phase, even if it is before the window.
    pub start: u64,
    pub from: u64,
    pub to: u64,
}

impl Span {
    /// The cycle from which the span is judged, which is its middle. If there is a period, the span is judged from the beginning of the
    /// last half of its whole periods (at least one period). `None` if the span contains no whole period.
    pub fn judged_from(&self, period: Option<u64>) -> Option<u64> {
        let cycles = self.to - self.from;
        let Some(period) = period else { return Some(self.from + cycles / 2) };
        let periods = cycles / period;
        (periods > 0).then(|| self.to - (periods - periods / 2) * period)
    }
}

/// The readings to be taken, and those taken so far.
#[derive(Debug, Clone, Default, Kept)]
pub struct LoadReadings {
    /// Cycles of the readings that have not been taken yet, in descending order.
    due: Vec<u64>,
    pub spans: Vec<Span>,
    pub taken: Vec<Reading>,
    /// Cycles from the grant of a flit at its last router until its delivery.
    #[kept(fixed)]
    pub landing: u64,
}

impl LoadReadings {
    /// `changes`: the cycles after 0 in which the load changes; if there are none, no reading is taken. `period`: the period of a policy
    /// that repeats its actions.
    pub fn new(changes: &[u64], phases: &Phases, landing: u64, period: Option<u64>) -> Self {
        if changes.is_empty() {
            return Self::default();
        }
        let (begin, planned) = phases.first_window();
        // a window that ends with the required confidence may grow
        let end = if phases.stop == Stop::Window { planned } else { LATER };
        let starts = || std::iter::once(0).chain(changes.iter().copied());
        let ends = changes.iter().copied().chain([u64::MAX]);
        let spans = starts().zip(ends).map(|(start, next)| Span { start, from: start.max(begin), to: next.min(end) });
        let spans: Vec<Span> = spans.filter(|span| span.from < span.to).collect();
        let cycles = spans.iter().flat_map(|span| {
            let counts = [Some(span.from), span.judged_from(period)];
            counts.into_iter().flatten().map(|cycle| cycle.saturating_sub(landing)).chain([span.from])
        });
        let mut due: Vec<u64> = cycles.filter(|&cycle| cycle > begin).collect();
        due.sort_unstable_by(|a, b| b.cmp(a));
        due.dedup();
        Self { due, spans, taken: Vec::new(), landing }
    }

    /// Starts the window at cycle `now`, which may be later than planned. Readings that were planned before `now` are dropped.
    pub fn begin(&mut self, now: u64) {
        self.due.retain(|&cycle| cycle > now);
        self.spans.iter_mut().for_each(|span| span.from = span.from.max(now));
        self.spans.retain(|span| span.from < span.to);
    }

    /// The cycle of the next reading.
    pub fn next(&self) -> u64 {
        self.due.last().copied().unwrap_or(u64::MAX)
    }

    /// Stores the reading that was due, and removes its cycle from the due ones.
    pub fn take(&mut self, reading: Reading) {
        self.due.pop();
        self.taken.push(reading);
    }

    /// The reading that was taken in cycle `cycle`, if there is one.
    pub fn at(&self, cycle: u64) -> Option<&Reading> {
        let found = self.taken.binary_search_by_key(&cycle, |reading| reading.cycle).ok()?;
        self.taken.get(found)
    }
}
