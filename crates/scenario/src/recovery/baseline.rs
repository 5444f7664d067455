//! Measures recovery: the time for which a failure, or the return of a failed part, changes latency and throughput.
//!
//! # Source
//! None: the usual questions about a network that loses a link.
//! # Guarantees
//! The window is divided into bins of equal length. Each bin after the first fault is compared with the bins before this fault. A bin
//! counts as deviating (off) if it lost more packets at faults than any bin before this fault. A bin is also off if random variation does
//! not explain how high its mean latency is, or how few flits it delivered. The bins before this fault give the mean and the standard
//! deviation of each quantity. Random variation explains a difference of up to [`LIMIT`] standard deviations, and a little more, because
//! the mean itself has an error. For bins with few packets, it explains a larger difference in latency. A bin without packets is always
//! off, even if the number of flits varies strongly from bin to bin. In the bin that contains a failure only lost packets are judged,
//! because this bin begins before the failure. Among many bins, a few are off by chance. A bin that is off without losses therefore counts
//! only in two cases. In the first, it directly follows the failure or return. In the second, another bin that is off is less than
//! [`HOLD`] bins away. Recovery ends with the last bin that counts, but not before the routing has its new tables. The recovery time is
//! known only if [`HOLD`] good bins follow. A bin whose true value is exactly at the limit is good with probability 1/2. All 8 ([`HOLD`])
//! such bins are good by chance with probability 1/256. Bins after a failure are judged only until the next failure or return. The
//! recovery time after a failure therefore describes the network with the broken part. The recovery time after the return of the part is a
//! separate number.
//!
//! Each recovery time has an interval. The interval begins at the end of the last bin that is above the limit by [`CERTAIN`] standard
//! errors of this bin. The interval ends with the first later bin that is below the limit by [`CERTAIN`] standard errors. The standard
//! error of a bin is computed from its own packets. It is therefore large if a bin has a few very late packets. The results of runs with
//! other seeds differ by about this interval.
//! # Not modelled
//! Deviations of less than [`LIMIT`] standard deviations of the bins before the fault are not detected. Deviations shorter than two bins
//! are not detected, unless they begin with the event. A latency shorter than before does not count as a deviation, because after a fault
//! more links can be on.
//! # Validation
//! `tests.rs` checks series of bins written by hand. `scenario/tests/recovery.rs` checks runs in which the time until new tables is known.

use crate::statistics::per_packet;
use weft_engine::Spec;
use weft_engine::outcome::{Arrived, Ending, FaultOutcome, Outcome, PacketSums};
use weft_engine::spec::{Episode, Stop};
use weft_engine::steady::growth;

/// A bin counts as off if it differs from the mean over the bins before the first fault by more than this number of standard deviations.
const LIMIT: f64 = 4.0;
/// Number of standard errors by which a bin must be above or below the limit to end the interval of a recovery time.
const CERTAIN: f64 = 2.0;
/// Number of good bins that must follow the last bin that is off, for a known recovery time.
const HOLD: usize = 8;
/// Minimum number of bins before the first fault, and minimum mean number of packets in a bin. With fewer bins or packets, the random
/// variation cannot be estimated.
const LEAST_BINS: usize = 8;
const LEAST_PACKETS: u64 = 30;

/// Time from an event (failure or return) until packets arrive as before the faults [cycles].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Time {
    pub cycles: u64,
    /// Earliest and latest possible value of the recovery time. The latest value is `None` if no later bin is certainly as before the
    /// faults.
    pub interval: (u64, Option<u64>),
}

/// The part of the window in which the effects of an event are searched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub event: u64,
    /// Losses in bins that begin in this cycle or later belong to the event. The event can be in the middle of such a bin.
    pub lost_from: u64,
    /// The state of the network during this time, as text: "while parts are broken".
    pub lasts: &'static str,
    /// The first cycle in which packets can use new paths.
    pub rebuilt: u64,
    /// The next event as text, such as "the window ends". `end` has the cycle of this event.
    pub next: &'static str,
    pub end: u64,
}

/// The usual values of the bins before the first fault, with which later bins are compared.
#[derive(Debug)]
pub(super) struct Baseline {
    /// Length of a bin \[cycles\].
    pub bin: u64,
    /// All whole bins of the window.
    bins: Vec<(u64, Arrived)>,
    /// Mean latency of a bin \[cycles\]: mean and standard deviation over the bins before the first fault.
    latency: (f64, f64),
    /// Number of flits of a bin: mean and standard deviation over the bins before the first fault.
    flits: (f64, f64),
    /// Mean number of packets in a bin before the first fault.
    packets: f64,
    count: f64,
    /// Maximum number of packets that a bin before the first fault lost at faults.
    dropped: u64,
}

impl Baseline {
    /// Computes the baseline, or returns the reason why it cannot be computed.
    pub fn of(
        spec: &Spec,
        outcome: &Outcome,
        faults: &FaultOutcome,
        window: (u64, u64),
        hit: &[Episode],
    ) -> Result<Self, String> {
        let Some(first) = hit.first().map(|episode| episode.from) else {
            return Err("no part fails in the window".to_owned());
        };
        if !spec.traffic.changes().is_empty() {
            return Err(
                "the load changes at fixed times, so later bins are not comparable with earlier ones".to_owned()
            );
        }
        if spec.traffic.jobs.iter().any(|job| job.batch.is_some()) {
            return Err("jobs send batches, which have no steady load to return to".to_owned());
        }
        if spec.phases.stop == Stop::Complete {
            return Err("the run ends with its jobs, so there is no steady load to return to".to_owned());
        }
        if let Ending::Stalled(_) = outcome.ending {
            return Err("packets wait for each other forever".to_owned());
        }
        if first <= window.0 {
            return Err(format!(
                "a part is already broken when the window begins in cycle {}: write a shorter measure.warmup, or let \
                 the first fault occur later (random faults: fault_model.random.from)",
                window.0
            ));
        }
        Self::from_bins(faults.bin, &faults.bins, window, first)
    }

    fn from_bins(width: u64, bins: &[(u64, Arrived)], window: (u64, u64), first: u64) -> Result<Self, String> {
        let (mut bin, mut bins) = (width, bins.to_vec());
        loop {
            let before: Vec<Arrived> =
                bins.iter().filter(|(from, _)| from + bin <= first).map(|&(_, arrived)| arrived).collect();
            let packets: u64 = before.iter().map(|arrived| arrived.packets).sum();
            if before.len() < LEAST_BINS {
                let had = format!(
                    "before the first fault, in cycle {first}, the window has {} whole bins of {bin} cycles with \
                     {packets} packets in total, but an estimate of chance needs {LEAST_BINS} bins of {LEAST_PACKETS} \
                     packets",
                    before.len()
                );
                let later = enough(packets as f64 / (first - window.0) as f64, bin, window.0);
                return Err(match later.filter(|_| packets > 0) {
                    Some(cycle) => format!(
                        "{had}: let the first fault occur in cycle {cycle} or later (random faults: \
                         fault_model.random.from: {cycle}cycles)"
                    ),
                    None => had,
                });
            }
            if packets >= LEAST_PACKETS * before.len() as u64 {
                let sums = |a: &Arrived| PacketSums { packets: a.packets, latency: a.latency, ..PacketSums::default() };
                if growth(&before.iter().map(sums).collect::<Vec<_>>()).is_some() {
                    return Err(
                        "latencies still grow before the first fault: measure after a longer warm-up".to_owned()
                    );
                }
                return Ok(Self::of_bins(bin, bins, &before));
            }
            bins = joined(&bins, bin);
            bin *= 2;
        }
    }

    fn of_bins(bin: u64, bins: Vec<(u64, Arrived)>, before: &[Arrived]) -> Self {
        let latencies: Vec<f64> = before.iter().filter_map(|a| per_packet(a.latency, a.packets)).collect();
        let flits: Vec<f64> = before.iter().map(|a| a.flits as f64).collect();
        let count = before.len() as f64;
        let packets = before.iter().map(|a| a.packets).sum::<u64>() as f64 / count;
        let dropped = before.iter().map(|a| a.dropped).max().unwrap_or(0);
        Self { bin, bins, latency: moments(&latencies), flits: moments(&flits), packets, count, dropped }
    }

    /// A baseline for tests, from which no bin differs.
    #[cfg(test)]
    pub fn flat() -> Self {
        Self { bin: 1, bins: Vec::new(), latency: (1.0, 0.0), flits: (1.0, 0.0), packets: 1.0, count: 8.0, dropped: 0 }
    }

    /// True if the bin differs from the bins before the fault by more than random variation. With `errors` above 0, the bin must be off by
    /// `errors` standard errors more. With `errors` below 0, it is enough if the bin is this close to the limit.
    fn is_off(&self, bin: &Arrived, errors: f64) -> bool {
        let (mean, deviation) = self.flits;
        let few = mean - (LIMIT + errors) * deviation * (1.0 + 1.0 / self.count).sqrt();
        if self.has_lost(bin) || (bin.flits as f64) < few * (1.0 - 1e-9) {
            return true;
        }
        let Some(latency) = per_packet(bin.latency, bin.packets) else { return true };
        let (mean, deviation) = self.latency;
        let slow = mean + LIMIT * deviation * (self.packets / bin.packets as f64 + 1.0 / self.count).sqrt();
        latency - errors * standard_error(bin, latency) > slow * (1.0 + 1e-9)
    }

    /// True if the bin lost more packets than any bin before the first fault.
    fn has_lost(&self, bin: &Arrived) -> bool {
        bin.dropped > self.dropped
    }

    /// The recovery time: from an event to the end of the last bin that counts as off, or to the new tables if they come later. The time is
    /// 0 if no bin counts as off and the tables do not change. If the time is unknown, the result is the reason: fewer than [`HOLD`] bins
    /// are left after the event, or fewer than [`HOLD`] good bins follow.
    pub fn back(&self, span: &Span) -> Result<Time, String> {
        let Span { event, lost_from, lasts, rebuilt, next, end } = *span;
        let bins: Vec<_> = self.bins.iter().filter(|(from, _)| *from >= event && from + self.bin <= end).collect();
        let until = format!("until {next} in cycle {end}");
        if bins.len() < HOLD {
            let (count, bin) = (bins.len(), self.bin);
            return Err(format!(
                "not known {lasts}: only {count} whole bins of {bin} cycles are between cycle {event} and cycle {end}, \
                 in which {next}, but {HOLD} bins are needed"
            ));
        }
        let off: Vec<bool> = bins.iter().map(|(_, arrived)| self.is_off(arrived, 0.0)).collect();
        let counts = |k: usize| {
            let near = k.saturating_sub(HOLD - 1)..(k + HOLD).min(off.len());
            off[k] && (k == 0 || self.has_lost(&bins[k].1) || near.into_iter().any(|other| other != k && off[other]))
        };
        let back = (0..off.len()).rev().find(|&k| counts(k)).map_or(0, |last| last + 1);
        // the end of the bin that contains the event, if this bin has lost packets
        let of_event = |(from, _): &&(u64, Arrived)| (lost_from..event).contains(from) && from + self.bin > event;
        let begin = self.bins.iter().find(of_event).filter(|(_, arrived)| self.has_lost(arrived));
        let begin = begin.map_or(event, |(from, _)| from + self.bin);
        // cycles from the event to the beginning of a bin, or to the new tables if they come later
        let since = |bin: usize| if bin == 0 { begin } else { bins[bin - 1].0 + self.bin }.max(rebuilt) - event;
        let held = bins.iter().filter(|(from, _)| *from >= event + since(back)).count();
        if held >= HOLD {
            let surely_off = |&k: &usize| self.is_off(&bins[k].1, CERTAIN);
            let surely_back = |&k: &usize| !self.is_off(&bins[k].1, -CERTAIN);
            let earliest = (0..back).rev().find(surely_off).map_or(0, |last| last + 1);
            let latest = (back..bins.len()).find(surely_back);
            return Ok(Time { cycles: since(back), interval: (since(earliest), latest.map(since)) });
        }
        Err(match off.len() - back {
            0 => format!("not {lasts}: latency, delivered flits or losses differ from those before the fault {until}"),
            HOLD.. => format!(
                "not known {lasts}: the new tables are used from cycle {rebuilt}, too late for a decision {until}"
            ),
            few => {
                format!("not known {lasts}: only the last {few} bins {until} are as before, but {HOLD} bins are needed")
            }
        })
    }
}

/// Standard error of the mean latency of a bin, from the variance of its own packets.
fn standard_error(bin: &Arrived, mean: f64) -> f64 {
    let packets = bin.packets as f64;
    let variance = (bin.squares as f64 / packets - mean.powi(2)).max(0.0) / (packets - 1.0).max(1.0);
    variance.sqrt()
}

/// Returns the earliest cycle of a first fault before which the window has enough bins with enough packets. The window begins in cycle
/// `begin`. `packets` is the number of packets per cycle. The length of a bin is doubled from `bin` cycles until a bin contains on average
/// one and a half times the required packets.
fn enough(packets: f64, mut bin: u64, begin: u64) -> Option<u64> {
    while packets * (bin as f64) < 1.5 * LEAST_PACKETS as f64 {
        bin = bin.checked_mul(2)?;
    }
    Some(begin.div_ceil(bin) * bin + LEAST_BINS as u64 * bin)
}

/// Joins each bin with an even number and the bin after it to one bin of twice the length.
fn joined(bins: &[(u64, Arrived)], bin: u64) -> Vec<(u64, Arrived)> {
    let pairs = bins.windows(2).filter(|pair| (pair[0].0 / bin).is_multiple_of(2));
    pairs
        .map(|pair| {
            let mut both = pair[0].1;
            both.add(&pair[1].1);
            (pair[0].0, both)
        })
        .collect()
}

/// Mean and standard deviation of the values.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0)).max(0.0).sqrt())
}

#[cfg(test)]
mod tests;
