//! Warnings about uncertain results of a run: bursts can hide whether the network carries the load, and values can be unsettled. Weft saves
//! these warnings with the results.

use crate::measure::DRAIN_WINDOWS;
use crate::warning::{Warning, long};
use crate::{periods, unused_links};
use weft_engine::Spec;
use weft_engine::outcome::{Doubt, Outcome, Saturation, Short};
use weft_engine::spec::Stop;
use weft_units::{Cycles, MAX_CYCLES, Refusal};

weft_units::codes! {
    BURSTS_UNDECIDED = "bursts_undecided", Warning,
        means: "The run is too short for the bursts of the load. It is unknown whether the network carries the load.",
        computed: "In the second half of the window or phase, gap = 1 - accepted / offered. Chance is three standard \
                   deviations of the offered flits. The code appears if the gap is above 3 % and below the limit, \
                   which is 3 % plus chance. It also appears if chance is above 20 %. A span that is longer by the \
                   factor (chance / 2 %)^2, or (chance / 20 %)^2, decides.",
        helps: "Write a longer `measure.window` or phase. The remedy states the length.";
    WINDOW_TOO_SHORT = "window_too_short", Warning,
        means: "The window, a phase in it, or the drain after it is shorter than the time that packets need in a \
                network without queues. It is unknown whether the network carries the load.",
        computed: "The point would count as saturated. But its judged span is shorter than the longest wait for one \
                   sleeping link or begins before the first packets arrive, or its drain is shorter than the needed \
                   time. The needed time is twice the latency of a mean path without queues plus the longest waits \
                   for the links of this path. Waits count only if a link was asleep or waking in the window.",
        helps: "Write a longer `measure.window` or phase, or larger batches. The remedy states a length of 4 times the \
                needed time.";
    MEASURED_FROM_START = "measured_from_start", Warning,
        means: "A window that ends with the last batch begins in cycle 0, when the links are still in the initial \
                state of the policy.",
        computed: "The window is shorter than 10 times the time in which the policy makes each of its decisions once.",
        helps: "Write larger batches or a program that runs longer. The remedy states the factor.";
    LATENCIES_AT_LIMIT = "latencies_at_limit", Warning,
        means: "The latencies had not settled when the automatic warm-up ended at its limit.",
        computed: "Means over 500 cycles still changed by more than their scatter. The remedy is 4 times the limit.",
        helps: "Write a longer `measure.warmup_limit`. If the point is saturated, use only its accepted load.";
}

/// Warnings about the uncertainties in the results of a run.
pub(crate) fn of(spec: &Spec, outcome: &Outcome) -> Result<Vec<Warning>, Refusal> {
    let mut doubts: Vec<Warning> = unused_links::warning(spec, outcome).into_iter().collect();
    doubts.extend(saturation(spec, outcome));
    doubts.extend(periods::measured(spec, outcome)?);
    doubts.extend(from_the_start(spec, outcome)?);
    doubts.extend(latencies(spec, outcome));
    Ok(doubts)
}

/// Warns if the run cannot show whether the network carries the load. The warning names the first undecided phase, otherwise the whole
/// window.
fn saturation(spec: &Spec, outcome: &Outcome) -> Option<Warning> {
    let doubt = match outcome.saturated {
        Saturation::Unknown(Doubt::Bursts(doubt)) => doubt,
        Saturation::Unknown(Doubt::Short(short)) => return Some(too_short(spec, outcome, &short)),
        // the file `periods` warns about these cases
        Saturation::Unknown(Doubt::PartOfPeriod { .. }) | Saturation::No | Saturation::Yes => return None,
    };
    let phase = outcome.phases.iter().find(|phase| phase.saturated == Some(outcome.saturated));
    let (span, path, help) = match phase {
        Some(phase) => {
            let times = doubt.longer();
            let help = format!("make this phase at least {times:.1} times as long");
            (format!("in the second half of the phase that begins in cycle {}", phase.start), "traffic.phases", help)
        }
        None => {
            // twice the length that must be judged, because only the second half of a window is judged. If the window grows, this is its
            // first length
            let window = (2.0 * doubt.cycles as f64 * doubt.longer()).ceil() as Cycles;
            let help = match window <= MAX_CYCLES {
                true => format!("write `measure.window: {window}cycles` or more"),
                false => "write shorter bursts: no possible window is long enough for these bursts".to_owned(),
            };
            ("in the second half of the window".to_owned(), "measure.window", help)
        }
    };
    let span = format!("{span} ({})", long(doubt.cycles, spec));
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let what = match doubt.is_of_gap() {
        // the message has the whole limit, and not only the part that bursts explain, because a reader compares the missing load with this
        // limit
        true => format!(
            "{span} the network accepted {} less than the offered load. A difference of up to {} is tolerated or may \
             come from bursts, so it is unknown whether the network carries the load",
            percent(doubt.gap),
            percent(doubt.limit)
        ),
        false => format!(
            "{span} bursts alone may change the load by {}, so it is unknown whether the network carries the load",
            percent(doubt.chance)
        ),
    };
    let numbers = [
        ("judged_cycles", doubt.cycles as f64),
        ("gap_share", doubt.gap),
        ("limit_share", doubt.limit),
        ("chance_share", doubt.chance),
        ("longer_times", doubt.longer()),
    ];
    Some(Warning::new(&BURSTS_UNDECIDED, path, numbers, what, help))
}

/// A window or phase is long enough for a verdict if it lasts this many times the time that packets need without queues. The factor is
/// above 2, because only the second half of a window or phase is judged.
const JUDGED: Cycles = 4;

/// The warning about a window, phase or drain that is shorter than the time that packets need in a network without queues.
fn too_short(spec: &Spec, outcome: &Outcome, short: &Short) -> Warning {
    let &Short { cycles, needed, .. } = short;
    let phase = outcome.phases.iter().find(|phase| phase.saturated == Some(outcome.saturated));
    let ends_with_jobs = spec.phases.stop == Stop::Complete;
    let (path, span) = match phase {
        Some(phase) => ("traffic.phases", format!("the second half of the phase that begins in cycle {}", phase.start)),
        None if short.is_drain => ("measure.window", "the time for the drain after the window".to_owned()),
        None if ends_with_jobs => ("measure.stop.complete", "the second half of the window".to_owned()),
        None => ("measure.window", "the second half of the window".to_owned()),
    };
    let what = format!(
        "{span} lasts {}, but a packet may need {} even in a network without queues{}, so it is unknown whether the \
         network carries the load",
        long(cycles, spec),
        long(needed, spec),
        if short.waits_for_links { ", because it may wait for links to wake" } else { "" }
    );
    let enough = needed.saturating_mul(JUDGED);
    // a drain limit that the scenario sets does not grow with the window
    let is_set = spec.phases.drain_limit != spec.phases.window.saturating_mul(DRAIN_WINDOWS.into());
    let drain = match is_set && spec.phases.drain_limit < enough {
        true => format!(" and `measure.drain_limit: {enough}cycles`"),
        false => String::new(),
    };
    let help = match phase {
        _ if enough > MAX_CYCLES => {
            "shorten the times in which links wake: no possible window is long enough".to_owned()
        }
        Some(_) => format!("make this phase last for {enough}cycles or more{drain}"),
        None if ends_with_jobs => {
            format!("write larger batches, so that the window lasts {enough}cycles or more{drain}")
        }
        None => format!("write `measure.window: {enough}cycles`{drain} or more"),
    };
    let numbers =
        [("judged_cycles", cycles as f64), ("needed_cycles", needed as f64), ("enough_cycles", enough as f64)];
    Warning::new(&WINDOW_TOO_SHORT, path, numbers, what, help)
}

/// Minimum length of a window that begins in cycle 0, in decision periods of the policy. In one decision period the policy takes all its
/// decisions once.
const SETTLED: Cycles = 10;

/// Warns if the initial states that the policy gives to links influence a large part of the window. This can happen in windows that end
/// with the last batch, because such windows begin in cycle 0.
fn from_the_start(spec: &Spec, outcome: &Outcome) -> Result<Option<Warning>, Refusal> {
    if spec.phases.stop != Stop::Complete || !spec.managed.contains(&true) {
        return Ok(None);
    }
    let period = spec.policy.settling_period(&spec.graph, &spec.modes, spec.cycle_fs)?.unwrap_or(0);
    let least = period.saturating_mul(SETTLED);
    Ok((outcome.window < least).then(|| {
        let what = format!(
            "the window begins in cycle 0, with the links in the initial state of {}. It lasted {}, less than \
             {SETTLED} times {}, the time in which the policy makes each of its decisions once. Energy and latency are \
             those of a network that still changes",
            spec.policy.name(),
            long(outcome.window, spec),
            long(period, spec)
        );
        // a factor of 2 more than the ratio, because the time of the last packets of a batch does not grow with the batch
        let times = (2.0 * least as f64 / outcome.window.max(1) as f64).ceil();
        let own = spec.traffic.jobs.iter().any(|job| job.workload.model().has_own_demand());
        let larger = if own { "a program that runs at least" } else { "batches that are at least" };
        let size = if own { "as long" } else { "as large" };
        let numbers =
            [("window_cycles", outcome.window as f64), ("decision_cycles", period as f64), ("enough_times", times)];
        Warning::new(
            &MEASURED_FROM_START,
            "measure.warmup",
            numbers,
            what,
            format!("write {larger} {times} times {size}"),
        )
    }))
}

/// Warns about latencies that were still changing when a warm-up reached its limit.
fn latencies(spec: &Spec, outcome: &Outcome) -> Option<Warning> {
    if outcome.decisions.settled != Some(false) {
        return None;
    }
    let at = long(outcome.warmup, spec);
    let is_over = outcome.saturated == Saturation::Yes;
    let what = match is_over {
        true => format!(
            "the latencies had not settled when the warm-up ended at its limit, after {at}: the point is saturated, \
             and latencies grow without limit at a load that the network can't carry"
        ),
        false => format!(
            "the latencies had not settled when the warm-up ended at its limit, after {at}: means over 500 cycles \
             still changed by more than their scatter"
        ),
    };
    let longer = spec.phases.warmup.saturating_mul(4);
    let help = match is_over {
        true => "use only the accepted load of this point, or write a lower load".to_owned(),
        false => {
            format!("write a longer limit, such as `measure.warmup_limit: {longer}cycles`")
        }
    };
    let numbers = [("warmup_cycles", outcome.warmup as f64)];
    let mut warning = Warning::new(&LATENCIES_AT_LIMIT, "measure.warmup_limit", numbers, what, help);
    if !is_over {
        warning.numbers.insert("longer_limit_cycles".into(), longer as f64);
    }
    Some(warning)
}
