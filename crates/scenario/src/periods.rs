//! Spans beside the period of a policy that repeats itself: energy, latency and loads of a part of a period depend on which
//! part it is.

use crate::events::window_end;
use crate::warnings::{Warning, long};
use weft_engine::Spec;
use weft_engine::outcome::Outcome;
use weft_engine::spec::Stop;
use weft_units::{Cycles, Refusal};

/// The remainder may be one part in this many of a span.
const PARTS: Cycles = 100;

/// True if a number of cycles is a whole number of periods, up to 1 % of them.
pub(crate) fn is_whole(cycles: Cycles, period: Cycles) -> bool {
    cycles >= period && (cycles % period).saturating_mul(PARTS) <= cycles
}

/// True if a number of cycles is a whole number of periods of the policy; `None` if it does not repeat itself.
pub(crate) fn whole(cycles: Cycles, spec: &Spec) -> Result<Option<bool>, Refusal> {
    Ok(spec.schedule()?.period.map(|period| is_whole(cycles, period)))
}

/// The least number of whole periods that is not shorter.
fn rounded_up(cycles: Cycles, period: Cycles) -> Cycles {
    cycles.div_ceil(period).max(1).saturating_mul(period)
}

/// A window, or phases in it, that will not be whole periods. Of a window that ends with the last batch that is known after
/// the run.
pub(crate) fn planned(spec: &Spec) -> Result<Option<Warning>, Refusal> {
    let Some(period) = spec.schedule()?.period else { return Ok(None) };
    let (window, batches) = (spec.phases.window, Cycles::from(spec.phases.batches));
    Ok(match spec.phases.stop {
        Stop::Complete => None,
        Stop::Window | Stop::Confidence { .. } if !spec.traffic.changes().is_empty() => of_phases(spec, period),
        Stop::Window => (!is_whole(window, period)).then(|| {
            let help = format!("write `measure.window: {}cycles`", rounded_up(window, period));
            Warning::new("measure.window", of_span("a window", window, period, spec), help)
        }),
        // it grows by whole batches
        Stop::Confidence { window: most, .. } => {
            let whole = |cycles: Cycles| cycles.is_multiple_of(period);
            (!whole(window) || !whole(window.div_ceil(batches))).then(|| {
                let least = rounded_up(window, period.saturating_mul(batches));
                let longest = if most < least { ", and a `max_window` of as much or more" } else { "" };
                let what = format!(
                    "{}; it grows by parts of {}",
                    of_span("a window", window, period, spec),
                    long(window.div_ceil(batches), spec)
                );
                Warning::new("measure.window", what, format!("write `measure.window: {least}cycles`{longest}"))
            })
        }
    })
}

fn of_span(name: &str, cycles: Cycles, period: Cycles, spec: &Spec) -> String {
    let count = cycles as f64 / period as f64;
    let unknown = match cycles < period {
        true => ", and whether the network carries its load is not known",
        false => "",
    };
    format!(
        "{name} of {} is {count:.3} periods of {}, not a whole number of those of {}: energy, latency and loads depend on which \
         part of a period it sees{unknown}",
        long(cycles, spec),
        long(period, spec),
        spec.policy.name()
    )
}

/// The phases of a load that are not whole periods, as far as the window sees them, and phases that are.
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
    let name = format!("the phase that is measured from cycle {from} on, a span");
    Some(Warning::new("traffic.phases", of_span(&name, to - from, period, spec), help))
}

/// A window that ended with the last batch, and was not whole periods.
pub(crate) fn measured(spec: &Spec, outcome: &Outcome) -> Result<Option<Warning>, Refusal> {
    let Some(period) = spec.schedule()?.period.filter(|_| spec.phases.stop == Stop::Complete) else { return Ok(None) };
    Ok((!is_whole(outcome.window, period)).then(|| {
        let help = format!(
            "write batches that take {} or longer, so that a part of a period hardly matters, or leave `measure.stop` out",
            long(period.saturating_mul(PARTS), spec)
        );
        Warning::new("measure.stop.complete", of_span("a window", outcome.window, period, spec), help)
    }))
}
