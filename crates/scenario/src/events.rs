//! Checks that events at given times (phases, faults, links that a policy switches off, batches) are inside the measured window. Weft
//! refuses an event that can never happen, and warns about an event that is not measured. The message shows both times, because the likely
//! cause is a wrong unit (us instead of ms).

use crate::assemble::Clock;
use crate::config::Scenario;
use crate::fault_share::ShareTimes;
use crate::warning::{Warning, long};
use crate::warnings::{named, place};
use weft_engine::Spec;
use weft_engine::spec::{Job, Stop};
use weft_engine::workload::WorkloadConfig;
use weft_units::{Cycles, Refusal};

weft_units::codes! {
    AFTER_WINDOW = "after_window", Warning,
        means: "A phase of the load, a fault or a scheduled time of a policy begins after the window, so it is not \
                measured.",
        computed: "It begins in or after the last cycle in which the window can end. The usual cause is a wrong unit.",
        helps: "Write an earlier time or a longer window. The remedy names the key of the longest window.";
    BEFORE_WINDOW = "before_window", Warning,
        means: "A phase of the load, a fault or a scheduled time of a policy ends before the window, so it is not \
                measured.",
        computed: "It ends in or before the first cycle of the window. The usual cause is a wrong unit.",
        helps: "Write a later time or a shorter `measure.warmup`, unless the event belongs to the warm-up.";
    BATCH_BEFORE_WINDOW = "batch_before_window", Warning,
        means: "A batch is sent before the window begins. The window measures few of its packets, or none.",
        computed: "Packets of a terminal x flits of a packet / load, compared with the first cycle of the window.",
        helps: "Write `measure.stop: complete` without `warmup` and `window`, `measure.warmup: 0cycles` or a larger batch.";
    BATCH_AFTER_WINDOW = "batch_after_window", Warning,
        means: "A batch is not completely sent when the window ends.",
        computed: "Packets of a terminal x flits of a packet / load, compared with the last cycle of the window.",
        helps: "Write a smaller batch or a longer window. The remedy names the key of the longest window.";
}

/// The key that gives the longest possible window.
pub(crate) fn window_key(spec: &Spec) -> &'static str {
    match spec.phases.stop {
        Stop::Window => "measure.window",
        Stop::Confidence { .. } => "measure.stop.confidence.max_window",
        Stop::Complete => "measure.stop.complete.max_window",
    }
}

/// The first cycle after the latest possible measured window.
pub(crate) fn window_end(spec: &Spec) -> Cycles {
    let phases = &spec.phases;
    let longest = match phases.stop {
        Stop::Confidence { window, .. } => window,
        Stop::Window | Stop::Complete => phases.window,
    };
    phases.warmup.saturating_add(longest)
}

/// The measured window, as far as it is known before the run, and the end of the drain.
struct Frame {
    start: Cycles,
    end: Cycles,
    over: Cycles,
}

impl Frame {
    fn of(spec: &Spec) -> Result<Self, Refusal> {
        let end = window_end(spec);
        Ok(Self { start: spec.earliest_window()?, end, over: end.saturating_add(spec.phases.drain_limit) })
    }
}

/// An event that begins at a time given in the scenario.
struct Event {
    path: String,
    what: &'static str,
    at: Cycles,
}

/// Faults with times in the scenario: a fault of `faults`, or the share of links or routers that fails.
struct Timed {
    /// Path of the keys `at` and `until`.
    path: String,
    begins: &'static str,
    ends: &'static str,
    at: Cycles,
    until: Option<Cycles>,
}

/// Lists the faults with times in the scenario. Random faults are left out, because no key of the scenario lists them and they end with the
/// window.
fn faults(scenario: &Scenario, spec: &Spec) -> Result<Vec<Timed>, Refusal> {
    let named = spec.faults.iter().take(scenario.faults.len()).enumerate();
    let mut timed: Vec<Timed> = named
        .map(|(k, fault)| Timed {
            path: format!("faults.{k}"),
            begins: "this fault begins",
            ends: "this fault ends",
            at: fault.at,
            until: fault.until,
        })
        .collect();
    let clock = Clock { cycle_fs: spec.cycle_fs };
    let shares = scenario.fault_model.as_ref().map(|model| model.share_times(&clock)).transpose()?;
    for ShareTimes { key, at, until } in shares.into_iter().flatten() {
        let path = format!("fault_model.{key}");
        timed.push(Timed { path, begins: "these faults begin", ends: "these faults end", at, until });
    }
    Ok(timed)
}

/// Lists all phases, faults, and times at which a policy switches links off. An event of several jobs is listed once. Jobs without phases
/// use the phases of `traffic`.
fn events(scenario: &Scenario, spec: &Spec) -> Result<Vec<Event>, Refusal> {
    let mut events: Vec<Event> = Vec::new();
    for (j, job) in spec.traffic.jobs.iter().enumerate() {
        let list = place(scenario, j, "phases");
        for (k, phase) in job.phases.iter().skip(1).enumerate() {
            let path = format!("{list}.{k}.from");
            if events.iter().all(|event| event.path != path) {
                events.push(Event { path, what: "this phase starts", at: phase.from });
            }
        }
    }
    let timed = faults(scenario, spec)?.into_iter();
    events.extend(timed.map(|fault| Event { path: format!("{}.at", fault.path), what: fault.begins, at: fault.at }));
    let off = spec.schedule()?.once.into_iter();
    events.extend(off.map(|off| Event {
        path: format!("{}.from", off.path),
        what: "these links go off",
        at: off.from,
    }));
    Ok(events)
}

/// Refuses events that begin after the end of the run.
pub(crate) fn check(scenario: &Scenario, spec: &Spec) -> Result<(), Refusal> {
    let Frame { end, over, .. } = Frame::of(spec)?;
    match events(scenario, spec)?.into_iter().find(|event| event.at >= over) {
        None => Ok(()),
        Some(Event { path, what, at }) => {
            let what = format!(
                "{what} at {}, but the run is over at {} at the latest, because the window ends at {}",
                long(at, spec),
                long(over, spec),
                long(end, spec)
            );
            let key = window_key(spec);
            Err(Refusal::new(path, what, format!("write less than {end}cycles, or a longer {key}")))
        }
    }
}

/// Warns about events outside the window, and about events that are only partly in it.
pub(crate) fn warnings(scenario: &Scenario, spec: &Spec) -> Result<Vec<Warning>, Refusal> {
    let frame = Frame::of(spec)?;
    let late =
        events(scenario, spec)?.into_iter().filter(|event| event.at >= frame.end).map(|Event { path, what, at }| {
            let what = format!(
                "{what} at {}, but the window ends at {} at the latest, so this event is not measured",
                long(at, spec),
                long(frame.end, spec)
            );
            let numbers = [("at_cycle", at as f64), ("window_end_cycle", frame.end as f64)];
            let help = format!("write less than {}cycles, or a longer {}", frame.end, window_key(spec));
            Warning::new(&AFTER_WINDOW, path, numbers, what, help)
        });
    let mut warnings: Vec<Warning> = late.collect();
    let mut add = |warning: Warning| {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    };
    for fault in faults(scenario, spec)? {
        if let Some(until) = fault.until.filter(|&until| until <= frame.start) {
            add(early(format!("{}.until", fault.path), fault.ends, until, &frame, spec));
        }
    }
    for off in spec.schedule()?.once.into_iter().filter(|off| off.until <= frame.start) {
        add(early(format!("{}.until", off.path), "these links are on again", off.until, &frame, spec));
    }
    for (j, job) in spec.traffic.jobs.iter().enumerate() {
        for (k, phase) in job.phases.iter().skip(1).enumerate().filter(|(_, phase)| phase.from < frame.start) {
            let what = match k {
                0 => "the load before this phase ends",
                _ => "the phase before this one ends",
            };
            add(early(format!("{}.{k}.from", place(scenario, j, "phases")), what, phase.from, &frame, spec));
        }
        if let Some(warning) = batch(scenario, spec, (j, job), &frame) {
            add(warning);
        }
    }
    Ok(warnings)
}

/// Warns about an event that is over before the window begins.
fn early(path: String, what: &str, until: Cycles, frame: &Frame, spec: &Spec) -> Warning {
    let what = format!(
        "{what} at {}, but the window starts at {}{}, so nothing before that time is measured",
        long(until, spec),
        long(frame.start, spec),
        if spec.phases.auto_warmup { " or later" } else { "" }
    );
    let numbers = [("until_cycle", until as f64), ("window_start_cycle", frame.start as f64)];
    let help = "write a later time, or a shorter measure.warmup, unless the event belongs to the warm-up";
    Warning::new(&BEFORE_WINDOW, path, numbers, what, help)
}

/// Warns about a batch that is sent before the window begins, or that is not yet sent when the window ends.
fn batch(scenario: &Scenario, spec: &Spec, (j, job): (usize, &Job), frame: &Frame) -> Option<Warning> {
    let packets = job.batch.as_ref()?;
    if job.phases.len() > 1 || job.workload != WorkloadConfig::default() {
        return None; // no warning, because the sending rate depends on more than the load
    }
    let times = packets.iter().zip(&job.phases[0].load).filter(|(_, load)| **load > 0.0);
    let longest = times.map(|(&n, load)| f64::from(n) * job.packets.mean() / load).fold(0.0, f64::max);
    let sent = longest.ceil() as Cycles;
    let sends = format!("{} sends its batch within about {}", named(scenario, spec, j), long(sent, spec));
    let path = place(scenario, j, "batch");
    if sent > 0 && sent <= frame.start {
        let later = if spec.phases.auto_warmup { " or later" } else { "" };
        let start = long(frame.start, spec);
        let what = format!(
            "{sends}, but the window starts at {start}{later}, so few packets of the batch are measured, or none"
        );
        let help = match spec.traffic.jobs.iter().all(|job| job.batch.is_some()) {
            true => {
                "write `measure.stop: complete` without `warmup` and `window`, which measures from cycle 0, or a larger \
                 batch"
            }
            false => "write `measure.warmup: 0cycles`, or a larger batch",
        };
        let numbers = [("sent_cycles", sent as f64), ("window_start_cycle", frame.start as f64)];
        return Some(Warning::new(&BATCH_BEFORE_WINDOW, path, numbers, what, help));
    }
    (sent > frame.end).then(|| {
        let key = window_key(spec);
        let what = format!("{sends}, but the window ends at {} at the latest", long(frame.end, spec));
        let numbers = [("sent_cycles", sent as f64), ("window_end_cycle", frame.end as f64)];
        Warning::new(&BATCH_AFTER_WINDOW, path, numbers, what, format!("write a smaller batch, or a longer {key}"))
    })
}
