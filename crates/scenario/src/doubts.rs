//! What a run leaves open: whether a load that bursts is carried, and what had not settled. Kept in the results as warnings.

use crate::warnings::{Warning, long};
use weft_engine::Spec;
use weft_engine::outcome::{Ending, Outcome, Saturation};
use weft_units::Cycles;

/// The doubts in the results of a run.
pub(crate) fn of(spec: &Spec, outcome: &Outcome) -> Vec<Warning> {
    let mut doubts: Vec<Warning> = saturation(spec, outcome).into_iter().collect();
    doubts.extend(latencies(spec, outcome));
    doubts
}

/// Whether the network carries the load in the whole window, or else in the first phase in which that is not known.
fn saturation(spec: &Spec, outcome: &Outcome) -> Option<Warning> {
    let Saturation::Unknown(doubt) = outcome.saturated else { return None };
    let phase = outcome.phases.iter().find(|phase| phase.saturated == Some(outcome.saturated));
    let (span, path, help) = match phase {
        Some(phase) => {
            let times = doubt.longer();
            let help = format!("let this phase last at least {times:.1} times as long");
            (format!("in the second half of the phase that begins in cycle {}", phase.start), "traffic.phases", help)
        }
        None => {
            // half of a window is judged; one that grows begins with this length
            let window = (2.0 * doubt.cycles as f64 * doubt.longer()).ceil() as Cycles;
            let help = format!("write `measure.window: {window}cycles` or more");
            ("in the second half of the window".to_owned(), "measure.window", help)
        }
    };
    let span = format!("{span} ({})", long(doubt.cycles, spec));
    let chance = format!("{:.0} %", 100.0 * doubt.chance);
    let what = match doubt.is_of_chance() {
        true => {
            format!("{span} bursts alone may change the load by {chance}: whether the network carries it is not known")
        }
        false => format!(
            "{span} the network accepted {:.1} % less than it was offered, which bursts may explain ({chance}): whether it \
             carries the load is not known",
            100.0 * doubt.gap
        ),
    };
    Some(Warning::new(path, what, help))
}

/// Latencies that had not settled when a warm-up came to its limit.
fn latencies(spec: &Spec, outcome: &Outcome) -> Option<Warning> {
    if outcome.decisions.settled != Some(false) {
        return None;
    }
    let at = long(outcome.warmup, spec);
    let what = match outcome.ending {
        Ending::Saturated => format!(
            "the latencies had not settled when the warm-up ended at its limit, after {at}: the point is saturated, and at a \
             load that the network can't carry they grow without end"
        ),
        Ending::Drained | Ending::Stalled(_) | Ending::Interrupted => format!(
            "the latencies had not settled when the warm-up ended at its limit, after {at}: their means over 500 cycles each \
             still changed more than they scatter"
        ),
    };
    let help = match outcome.ending {
        Ending::Saturated => "look at its accepted load only, or write a lower load".to_owned(),
        Ending::Drained | Ending::Stalled(_) | Ending::Interrupted => {
            format!(
                "write a longer limit, such as `measure.warmup_limit: {}cycles`",
                spec.phases.warmup.saturating_mul(4)
            )
        }
    };
    Some(Warning::new("measure.warmup_limit", what, help))
}
