//! Compares the window and the phases with the period of a policy that repeats its actions. If a window contains only a part of a period,
//! the measured energy, latency and loads depend on which part it contains.

use crate::events::window_end;
use crate::warning::{Warning, long};
use weft_engine::Spec;
use weft_engine::outcome::Outcome;
use weft_engine::spec::Stop;
use weft_units::{Cycles, Refusal};

weft_units::codes! {
    PART_OF_POLICY_PERIOD = "part_of_policy_period", Warning,
        means: "The window, or a phase in the window, is not a whole number of periods of the policy. Energy, latency \
                and loads depend on the measured part of a period.",
        computed: "The remainder of the span divided by the period of the policy may be 1 % of the span. A span \
                   shorter than a period is never whole; then it is unknown whether the network carries its load.",
        helps: "Write a `measure.window` that is a multiple of the period, or a longer program or batch: 100 periods or more.";
}

/// A time counts as a whole number of periods if the remainder is at most 1 / `PARTS` of the time.
const PARTS: Cycles = 100;

/// True if this number of cycles is a whole number of periods, with a tolerance of 1 % of the cycles.
pub(crate) fn is_whole(cycles: Cycles, period: Cycles) -> bool {
    cycles >= period && (cycles % period).saturating_mul(PARTS) <= cycles
}

/// True if this number of cycles is a whole number of periods of the policy; `None` if the policy has no period.
pub(crate) fn whole(cycles: Cycles, spec: &Spec) -> Result<Option<bool>, Refusal> {
    Ok(spec.schedule()?.period.map(|period| is_whole(cycles, period)))
}

/// Rounds a number of cycles up to whole periods.
fn rounded_up(cycles: Cycles, period: Cycles) -> Cycles {
    cycles.div_ceil(period).max(1).saturating_mul(period)
}

/// Warns, before the run, if the window or the phases of the load in it will not consist of whole periods. For a window that ends with
/// the last batch, this is known only after the run (see `measured`).
pub(crate) fn planned(spec: &Spec) -> Result<Option<Warning>, Refusal> {
    let Some(period) = spec.schedule()?.period else { return Ok(None) };
    let (window, batches) = (spec.phases.window, Cycles::from(spec.phases.batches));
    Ok(match spec.phases.stop {
        Stop::Complete => None,
        Stop::Window | Stop::Confidence { .. } if !spec.traffic.changes().is_empty() => of_phases(spec, period),
        Stop::Window => (!is_whole(window, period)).then(|| {
            let enough = rounded_up(window, period);
            let help = format!("write `measure.window: {enough}cycles`");
            of_span("measure.window", "a window", [window, period, enough], spec, "", help)
        }),
        // a window with `stop: confidence` grows by whole batches
        Stop::Confidence { window: most, .. } => {
            let whole = |cycles: Cycles| cycles.is_multiple_of(period);
            (!whole(window) || !whole(window.div_ceil(batches))).then(|| {
                let least = rounded_up(window, period.saturating_mul(batches));
                let longest = if most < least { ", and a `max_window` that is at least as long" } else { "" };
                let parts = format!("; the window grows by parts of {}", long(window.div_ceil(batches), spec));
                let help = format!("write `measure.window: {least}cycles`{longest}");
                of_span("measure.window", "a window", [window, period, least], spec, &parts, help)
            })
        }
    })
}

/// The warning about a window or phase that does not consist of whole periods. `name`: text that names this window or phase. `enough`: a
/// length with which the warning would not appear (`enough_cycles` in the warning). `rest`: the end of the message.
fn of_span(
    path: &str,
    name: &str,
    [cycles, period, enough]: [Cycles; 3],
    spec: &Spec,
    rest: &str,
    help: String,
) -> Warning {
    let count = cycles as f64 / period as f64;
    let unknown = match cycles < period {
        true => ", and it is unknown whether the network carries its load",
        false => "",
    };
    let what = format!(
        "{name} of {} is {count:.3} periods of {}, not a whole number of periods of {}: energy, latency and loads \
         depend on the measured part of a period{unknown}{rest}",
        long(cycles, spec),
        long(period, spec),
        spec.policy.name()
    );
    let numbers = [("span_cycles", cycles as f64), ("period_cycles", period as f64), ("enough_cycles", enough as f64)];
    Warning::new(&PART_OF_POLICY_PERIOD, path, numbers, what, help)
}

/// Warns about phases in the window that do not consist of whole periods of the policy. The warning proposes phases that consist of whole
/// periods.
fn of_phases(spec: &Spec, period: Cycles) -> Option<Warning> {
    let (begin, end) = (spec.phases.warmup, window_end(spec));
    let starts: Vec<Cycles> = std::iter::once(0).chain(spec.traffic.changes()).collect();
    let ends = starts.iter().skip(1).copied().chain([Cycles::MAX]);
    let seen = starts.iter().zip(ends).map(|(&start, next)| (start.max(begin), next.min(end)));
    let seen: Vec<(Cycles, Cycles)> = seen.filter(|(from, to)| from < to).collect();
    let &(from, to) = seen.iter().find(|(from, to)| !is_whole(to - from, period))?;
    let mut next = begin;
    let ends = seen.iter().map(|(from, to)| {
        next = next.saturating_add(rounded_up(to - from, period));
        next
    });
    let ends: Vec<Cycles> = ends.collect();
    let (last, changes) = ends.split_last()?;
    let window = format!("`measure.window: {}cycles`", last - begin);
    let moved: Vec<String> = changes.iter().map(|cycle| format!("{cycle}cycles")).collect();
    let help = match moved.is_empty() {
        true => format!("write {window}"),
        false => format!("begin the phases of the window at {}, and write {window}", moved.join(", ")),
    };
    let name = format!("the phase that is measured from cycle {from}, a span");
    Some(of_span("traffic.phases", &name, [to - from, period, rounded_up(to - from, period)], spec, "", help))
}

/// Warns, after the run, about a window that ended with the last batch and did not consist of whole periods.
pub(crate) fn measured(spec: &Spec, outcome: &Outcome) -> Result<Option<Warning>, Refusal> {
    let Some(period) = spec.schedule()?.period.filter(|_| spec.phases.stop == Stop::Complete) else { return Ok(None) };
    Ok((!is_whole(outcome.window, period)).then(|| {
        let enough = period.saturating_mul(PARTS);
        // without `measure.stop`, a program ends the window too
        let own = spec.traffic.jobs.iter().any(|job| job.workload.model().has_own_demand());
        let (longer, otherwise) =
            if own { ("a program that lasts", "") } else { ("batches that last", ", or leave `measure.stop` out") };
        let help = format!(
            "write {longer} {} or longer, so that a part of a period hardly matters{otherwise}",
            long(enough, spec)
        );
        of_span("measure.stop.complete", "a window", [outcome.window, period, enough], spec, "", help)
    }))
}
