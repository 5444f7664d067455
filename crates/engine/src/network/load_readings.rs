//! Readings of a run whose load changes in phases: accepted flits and accounts of the link classes, at the cycles that
//! bound the phases.

use crate::network::spec::{Phases, Stop};
use weft_api::base::kept::{Kept, Value};
use weft_api::spec::LATER;
use weft_api::state::Account;

/// Flits of the jobs that have a rate, from the begin of the window on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct Carried {
    pub offered: u64,
    pub accepted: u64,
}

/// Events before a cycle.
#[derive(Debug, Clone, Value)]
pub struct Reading {
    pub cycle: u64,
    /// Accepted flits: those that reach their terminals less than [`LoadReadings::landing`] cycles later.
    pub accepted: u64,
    /// The same of the jobs that have a rate, and what they offered until then.
    pub carried: Carried,
    /// Sums of the accounts of the channels of each link class: at 2 * class of those that leave routers, behind it of
    /// those that leave terminals.
    pub classes: Vec<Account>,
    /// Cycles that each bundle had slept.
    pub asleep: Vec<u64>,
    /// Packets that wait in source queues.
    pub waiting: u64,
}

/// A phase of the load, as far as it lies in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
pub struct Span {
    /// First cycle of the phase itself.
    pub start: u64,
    pub from: u64,
    pub to: u64,
}

impl Span {
    /// The cycle from which the span is judged: its middle, or the beginning of the last half of its whole periods (at least
    /// of one), if there is a period. `None` if it holds no whole one.
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
    /// Cycles of the readings that are still to be taken, the next one last.
    due: Vec<u64>,
    pub spans: Vec<Span>,
    pub taken: Vec<Reading>,
    /// Cycles from the grant of a flit at its last router until it is delivered.
    #[kept(fixed)]
    pub landing: u64,
}

impl LoadReadings {
    /// `changes`: the cycles after 0 in which the load changes; if there are none, nothing is read.
    /// `period`: of a policy that repeats itself.
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

    /// Starts the window at cycle `now`, which may be later than planned. Readings planned before `now` are left out.
    pub fn begin(&mut self, now: u64) {
        self.due.retain(|&cycle| cycle > now);
        self.spans.iter_mut().for_each(|span| span.from = span.from.max(now));
        self.spans.retain(|span| span.from < span.to);
    }

    /// The cycle of the next reading.
    pub fn next(&self) -> u64 {
        self.due.last().copied().unwrap_or(u64::MAX)
    }

    /// Keeps a reading.
    pub fn take(&mut self, reading: Reading) {
        self.due.pop();
        self.taken.push(reading);
    }

    /// The reading of this cycle.
    pub fn at(&self, cycle: u64) -> Option<&Reading> {
        let found = self.taken.binary_search_by_key(&cycle, |reading| reading.cycle).ok()?;
        self.taken.get(found)
    }
}
