//! Readings for a run whose load changes in phases. In each cycle in which a phase begins or ends, the run reads the accepted flits and the
//! accounts of the link classes.

use crate::network::spec::{Phases, Stop};
use weft_api::base::kept::{Kept, Value};
use weft_api::spec::LATER;
use weft_api::state::Account;

/// Flits of the jobs that have a rate, since the beginning of the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct Carried {
    pub offered: u64,
    pub accepted: u64,
}

/// Counts of events before the cycle of the reading.
#[derive(Debug, Clone, Value)]
pub struct Reading {
    pub cycle: u64,
    /// Accepted flits: all flits that reach their terminals less than [`LoadReadings::landing`] cycles after the cycle of the reading.
    pub accepted: u64,
    /// Accepted and offered flits of the jobs that have a rate.
    pub carried: Carried,
    /// Sums of the channel accounts of each link class. Index 2 * class is for channels that leave routers, and index 2 * class + 1 for
    /// channels that leave terminals.
    pub classes: Vec<Account>,
    /// Number of cycles for which each bundle was asleep.
    pub asleep: Vec<u64>,
    /// Number of packets that wait in source queues.
    pub waiting: u64,
}

/// The part of a load phase that is inside the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
pub struct Span {
    /// First cycle of the phase, even if that cycle is before the window.
    pub start: u64,
    pub from: u64,
    pub to: u64,
}

impl Span {
    /// The cycle from which the results of the span are judged: the middle of the span. With a `period`, it is the beginning of the last
    /// half of the span's whole periods (at least one period). `None` if the span contains no whole period.
    pub fn judged_from(&self, period: Option<u64>) -> Option<u64> {
        let cycles = self.to - self.from;
        let Some(period) = period else { return Some(self.from + cycles / 2) };
        let periods = cycles / period;
        (periods > 0).then(|| self.to - (periods - periods / 2) * period)
    }
}

/// The readings that are planned, and the readings taken so far.
#[derive(Debug, Clone, Default, Kept)]
pub struct LoadReadings {
    /// The cycles of the planned readings, in descending order.
    due: Vec<u64>,
    pub spans: Vec<Span>,
    pub taken: Vec<Reading>,
    /// Cycles from the grant of a flit at its last router until the delivery of the flit.
    #[kept(fixed)]
    pub landing: u64,
}

impl LoadReadings {
    /// `changes`: the cycles after cycle 0 in which the load changes. Without changes, no reading is taken. `period`: the period after
    /// which the policy repeats its actions, if it has one.
    pub fn new(changes: &[u64], phases: &Phases, landing: u64, period: Option<u64>) -> Self {
        if changes.is_empty() {
            return Self::default();
        }
        let (begin, planned) = phases.first_window();
        // a window that ends when results have the required confidence can become longer than planned
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

    /// Starts the window at cycle `now`, which may be later than planned. Drops the readings that were planned before `now`.
    pub fn begin(&mut self, now: u64) {
        self.due.retain(|&cycle| cycle > now);
        self.spans.iter_mut().for_each(|span| span.from = span.from.max(now));
        self.spans.retain(|span| span.from < span.to);
    }

    /// The cycle of the next planned reading.
    pub fn next(&self) -> u64 {
        self.due.last().copied().unwrap_or(u64::MAX)
    }

    /// Stores the reading that was due, and removes its cycle from the list of planned readings.
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
