//! What faults did to what reached its terminal: before, during and after them, and how long until all was as before.
//!
//! # Source
//! None: what is usually asked of a network that loses a link.
//! # Guarantees
//! Everything is by the cycle in which a packet is delivered or dropped, in the window, whenever it was created: what a fault
//! holds up does not count as slow before it. *Before* is the window up to the first failure in it, *during* all of its
//! cycles from then on in which something is broken, *after* all in which all is whole again; they share the window among
//! them. The judgement compares bins of the window with those before the first fault. A bin is off if its mean latency is
//! above, or its flits are below, what the bins before would show by chance: [`LIMIT`] standard deviations of a bin, the
//! error of the mean included, and wider for bins of fewer packets. A bin alone counts only right behind the event: among
//! many bins one is off by chance now and then. Recovery ends with the first bin that is not off any more. Where nothing
//! can be compared there is no number, and a reason.
//! # Not modelled
//! Deviations shorter than a bin, or than two that do not begin with the event. Faster than before is no deviation: after a
//! fault more links may be on.
//! # Validation
//! Series made by hand, below; `scenario/tests/recovery.rs`: a run with a rebuild of known length.

use crate::statistics::per_packet;
use serde_json::{Map, Value, json};
use weft_engine::Spec;
use weft_engine::outcome::{Arrived, Ending, FaultOutcome, Outcome, PacketSums};
use weft_engine::spec::{Episode, Part, episodes};
use weft_engine::steady::growth;

/// A bin is off if it is this many standard deviations from the bins before the first fault.
const LIMIT: f64 = 4.0;
/// Fewest bins before the first fault, and fewest packets in one of them on average: fewer say little of chance.
const LEAST_BINS: usize = 8;
const LEAST_PACKETS: u64 = 30;
/// Most episodes that are listed, and most parts that one names.
const LISTED: usize = 200;
const NAMED: usize = 3;

/// The keys of the summary that tell of faults; none if nothing fails in the run.
pub(crate) fn of(spec: &Spec, outcome: &Outcome) -> Map<String, Value> {
    let Some(faults) = &outcome.faults else { return Map::new() };
    let window = (outcome.warmup, outcome.warmup + outcome.window);
    let hit: Vec<Episode> = episodes(&spec.faults)
        .into_iter()
        .filter(|e| e.from < window.1 && e.until.is_none_or(|until| until > window.0))
        .collect();
    let judge = Baseline::of(spec, outcome, faults, window, &hit);
    let judged: Vec<Judged> = (0..hit.len()).map(|k| Judged::of(&judge, window, &hit, k)).collect();
    let mut fields = Map::new();
    let parts = parts(faults, window, &hit, f64::from(terminals(outcome)));
    for part in &parts {
        let name = part["part"].as_str().unwrap_or_default();
        fields.insert(format!("latency_{name}_faults_cycles"), part["latency_cycles"].clone());
        fields.insert(format!("delivered_{name}_faults_share"), part["delivered_share"].clone());
    }
    let (recovery, why) = longest(judged.iter().map(|of| &of.recovery), &judge, "fault");
    let (back, why_back) = longest(judged.iter().map(|of| &of.back), &judge, "return");
    fields.extend([
        ("recovery_cycles".to_owned(), json!(recovery)),
        ("return_recovery_cycles".to_owned(), json!(back)),
        ("recovery_unknown".to_owned(), json!(why)),
        ("return_recovery_unknown".to_owned(), json!(why_back)),
        ("recovery_bin_cycles".to_owned(), json!(judge.as_ref().ok().map(|judge| judge.bin))),
        ("fault_parts".to_owned(), json!(parts)),
        ("fault_episodes".to_owned(), episodes_of(spec, faults, window, &hit, &judged)),
        ("fault_episodes_count".to_owned(), json!(hit.len())),
    ]);
    fields
}

fn terminals(outcome: &Outcome) -> u32 {
    outcome.jobs.iter().map(|job| job.terminals).sum()
}

/// The window before, during and after the faults: how long, and what arrived.
fn parts(faults: &FaultOutcome, window: (u64, u64), hit: &[Episode], terminals: f64) -> Vec<Value> {
    let first = hit.first().map_or(window.1, |episode| episode.from);
    let of = |part: &str, belongs: &dyn Fn(u64, bool) -> bool, empty: String| {
        let (mut cycles, mut all) = (0, Arrived::default());
        for span in faults.spans.iter().filter(|span| belongs(span.from, span.broken)) {
            cycles += span.to - span.from;
            all.add(&span.arrived);
        }
        let latency = per_packet(all.latency, all.packets);
        let none =
            (cycles > 0 && latency.is_none()).then(|| format!("no packet was delivered in these {cycles} cycles"));
        let slots = cycles as f64 * terminals;
        json!({
            "part": part,
            "cycles": cycles,
            "packets": all.packets,
            "dropped_packets": all.dropped,
            "accepted_load": (slots > 0.0).then(|| all.flits as f64 / slots),
            "latency_cycles": latency,
            "delivered_share": per_packet(all.packets, all.packets + all.dropped),
            "unknown": if cycles == 0 { Some(empty) } else { none },
        })
    };
    let begins = format!("the first fault is there in cycle {first}, and the window begins in cycle {}", window.0);
    let ends = format!("something is broken until the window ends in cycle {}", window.1);
    let none = format!("nothing is broken in the window, cycles {} to {}", window.0, window.1);
    vec![
        of("before", &|from, broken| !broken && from < first, begins),
        of("during", &|_, broken| broken, none.clone()),
        of("after", &|from, broken| !broken && from >= first, if hit.is_empty() { none } else { ends }),
    ]
}

/// What bins of the window are like without faults.
#[derive(Debug)]
struct Baseline {
    /// Length of a bin \[cycles\].
    bin: u64,
    /// All whole bins of the window.
    bins: Vec<(u64, Arrived)>,
    /// Mean and standard deviation over the bins before: of the mean latency of a bin \[cycles\], and of its flits.
    latency: (f64, f64),
    flits: (f64, f64),
    /// Packets of a bin, on average.
    packets: f64,
    count: f64,
}

impl Baseline {
    /// Why there is none in the other case.
    fn of(
        spec: &Spec,
        outcome: &Outcome,
        faults: &FaultOutcome,
        window: (u64, u64),
        hit: &[Episode],
    ) -> Result<Self, String> {
        let Some(first) = hit.first().map(|episode| episode.from) else {
            return Err("nothing fails in the window".to_owned());
        };
        if !spec.traffic.changes().is_empty() {
            return Err("the load changes at set times: later bins are not like earlier ones".to_owned());
        }
        if spec.traffic.jobs.iter().any(|job| job.batch.is_some()) {
            return Err("batches are sent, which have no steady load to come back to".to_owned());
        }
        if let Ending::Stalled(_) = outcome.ending {
            return Err("packets wait for each other for ever".to_owned());
        }
        if first <= window.0 {
            return Err(format!(
                "something is broken already when the window begins in cycle {}: write a shorter measure.warmup, or let the \
                 first fault be later (of random ones: fault_model.random.from)",
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
                    "before the first fault, in cycle {first}, the window has {} whole bins of {bin} cycles with {packets} \
                     packets in all, and chance is known from {LEAST_BINS} bins of {LEAST_PACKETS} packets",
                    before.len()
                );
                let later = enough(packets as f64 / (first - window.0) as f64, bin, window.0);
                return Err(match later.filter(|_| packets > 0) {
                    Some(cycle) => format!(
                        "{had}: let the first fault be in cycle {cycle} or later \
                         (of random ones: fault_model.random.from: {cycle}cycles)"
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
        Self { bin, bins, latency: moments(&latencies), flits: moments(&flits), packets, count }
    }

    fn is_off(&self, bin: &Arrived) -> bool {
        let (mean, deviation) = self.flits;
        let few = mean - LIMIT * deviation * (1.0 + 1.0 / self.count).sqrt();
        if (bin.flits as f64) < few * (1.0 - 1e-9) {
            return true;
        }
        let Some(latency) = per_packet(bin.latency, bin.packets) else { return false };
        let (mean, deviation) = self.latency;
        let slow = mean + LIMIT * deviation * (self.packets / bin.packets as f64 + 1.0 / self.count).sqrt();
        latency > slow * (1.0 + 1e-9)
    }

    /// Cycles from an event until a bin is as before again, if the next event is in cycle `end`; 0 if none is off.
    fn back(&self, (event, end): (u64, u64), next: &str) -> Result<u64, String> {
        let bins: Vec<_> = self.bins.iter().filter(|(from, _)| *from >= event && from + self.bin <= end).collect();
        if bins.is_empty() {
            return Err(format!(
                "no whole bin of {} cycles lies between cycle {event} and {next} in cycle {end}",
                self.bin
            ));
        }
        let off: Vec<bool> = bins.iter().map(|(_, arrived)| self.is_off(arrived)).collect();
        let beside = |k: usize| off.get(k + 1) == Some(&true) || off[k - 1];
        let Some(first) = (0..off.len()).find(|&k| off[k] && (k == 0 || beside(k))) else { return Ok(0) };
        match (first..off.len()).find(|&k| !off[k]) {
            Some(back) => Ok(bins[back].0 - event),
            None => Err(format!("not as before {next} in cycle {end}")),
        }
    }
}

/// The cycle up to which, at this many packets per cycle, the window has enough bins that begin with `begin`. They are at
/// least `bin` cycles long, and half as many packets more than needed are expected in one.
fn enough(packets: f64, mut bin: u64, begin: u64) -> Option<u64> {
    while packets * (bin as f64) < 1.5 * LEAST_PACKETS as f64 {
        bin = bin.checked_mul(2)?;
    }
    Some(begin.div_ceil(bin) * bin + LEAST_BINS as u64 * bin)
}

/// Neighbouring bins together, those with a number that is even and the one after it.
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

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0)).max(0.0).sqrt())
}

/// How an episode was overcome, in cycles, or why that is not known: from its begin, and from its end.
struct Judged {
    recovery: Result<u64, String>,
    back: Result<u64, String>,
}

impl Judged {
    fn of(judge: &Result<Baseline, String>, window: (u64, u64), hit: &[Episode], k: usize) -> Self {
        let (end, next) = match hit.get(k + 1) {
            Some(later) => (later.from, "the next fault"),
            None => (window.1, "the window ends"),
        };
        let baseline = judge.as_ref().map_err(Clone::clone);
        let recovery = baseline.clone().and_then(|judge| judge.back((hit[k].from, end), next));
        let back = match hit[k].until.filter(|&until| until < window.1) {
            None => Err(format!("something is broken until the window ends in cycle {}", window.1)),
            Some(until) => baseline.and_then(|judge| judge.back((until, end), next)),
        };
        Self { recovery, back }
    }
}

/// The longest of these times; if some are not known, why not.
fn longest<'a>(
    times: impl Iterator<Item = &'a Result<u64, String>>,
    judge: &Result<Baseline, String>,
    what: &str,
) -> (Option<u64>, Option<String>) {
    if let Err(why) = judge {
        return (None, Some(why.clone()));
    }
    let (mut known, mut unknown, mut why) = (Vec::new(), 0, None);
    for time in times {
        match time {
            Ok(cycles) => known.push(*cycles),
            Err(reason) => {
                unknown += 1;
                why = why.or(Some(reason));
            }
        }
    }
    let longest = known.iter().copied().max();
    let Some(why) = why else { return (longest, None) };
    let all = known.len() + unknown;
    if all == 1 {
        return (None, Some(why.clone()));
    }
    let others = longest.map_or_else(String::new, |cycles| format!("; the longest of the others is {cycles} cycles"));
    (None, Some(format!("after {unknown} of {all} {what}s it is not known ({why}){others}")))
}

/// The first episodes, each with what failed and what it did.
fn episodes_of(spec: &Spec, faults: &FaultOutcome, window: (u64, u64), hit: &[Episode], judged: &[Judged]) -> Value {
    let row = |(k, (episode, judged)): (usize, (&Episode, &Judged))| {
        let during = faults.spans.iter().find(|span| span.broken && span.from == episode.from.max(window.0));
        let arrived = during.map(|span| span.arrived).unwrap_or_default();
        let mut why: Vec<&str> = [&judged.recovery, &judged.back]
            .iter()
            .filter_map(|time| time.as_ref().err().map(String::as_str))
            .collect();
        why.dedup();
        json!({
            "episode": k + 1,
            "failed": failed(spec, episode),
            "from_cycle": episode.from,
            "to_cycle": episode.until,
            "latency_cycles": per_packet(arrived.latency, arrived.packets),
            "packets": arrived.packets,
            "dropped_packets": arrived.dropped,
            "delivered_share": per_packet(arrived.packets, arrived.packets + arrived.dropped),
            "recovery_cycles": judged.recovery.as_ref().ok(),
            "return_recovery_cycles": judged.back.as_ref().ok(),
            "unknown": (!why.is_empty()).then(|| why.join("; ")),
        })
    };
    hit.iter().zip(judged).take(LISTED).enumerate().map(row).collect()
}

/// What fails in an episode, in words.
fn failed(spec: &Spec, episode: &Episode) -> String {
    let within = |at: u64| at >= episode.from && episode.until.is_none_or(|until| at < until);
    let mut faults: Vec<_> = spec.faults.iter().filter(|fault| within(fault.at)).collect();
    faults.sort_by_key(|fault| fault.at);
    let link = |[a, b]: [u32; 2]| spec.graph.link_name(a, b);
    let words = faults.iter().take(NAMED).map(|fault| match fault.what {
        Part::Link(ends) => format!("link {}", link(ends)),
        Part::LinkOfClass(ends, class) => {
            format!("{} link {}", spec.graph.class_names()[usize::from(class)], link(ends))
        }
        Part::Router(router) => format!("router {}", spec.graph.router_name(router)),
    });
    let named = words.collect::<Vec<_>>().join(", ");
    if faults.len() > NAMED { format!("{named} and {} more", faults.len() - NAMED) } else { named }
}

#[cfg(test)]
mod tests;
