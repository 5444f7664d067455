//! The rows of a timetable as spans of cycles.

use weft_api::base::kept::Value;
use weft_units::{Cycles, Duration, Refusal};

/// The parameters of the policy `timetable` [cycles].
#[derive(Debug)]
pub struct Times {
    pub rows: Vec<Span>,
    pub period: Option<Cycles>,
    pub transition: Cycles,
}

/// The time of a row, in which a channel is not on [cycles].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
pub struct Span {
    pub from: Cycles,
    pub until: Cycles,
}

impl Span {
    /// Creates the span of a row from `from` to `until`. Refuses invalid rows. `at`: returns the path of a key of the row in the scenario.
    pub fn of_row(
        from: Duration,
        until: Duration,
        transition: Duration,
        period: Option<Duration>,
        at: impl Fn(&str) -> String,
    ) -> Result<Self, Refusal> {
        let refuse = |key: &str, what: String, help: String| Err(Refusal::new(at(key), what, help));
        // `later` cycles after the beginning of the row, as a time in the unit of `until`
        let end = |later: Cycles| until.like(from.cycles.saturating_add(later));
        if from.cycles >= until.cycles {
            let help = match period {
                Some(period) => {
                    format!("write {} for the next period", until.like(until.cycles.saturating_add(period.cycles)))
                }
                None => format!("write a time after {}", end(0)),
            };
            return refuse("until", format!("{until} is not later than from, {from}"), help);
        }
        let long = until.cycles - from.cycles;
        let least = transition.cycles.saturating_mul(2).saturating_add(1);
        if long < least {
            let long = until.like(long);
            let what = format!(
                "{until} - {from} = {long} leaves no time in which the link is off, because going down and waking take 2 x {transition}"
            );
            return refuse("until", what, format!("write at least {}, or a shorter transition", end(least)));
        }
        let Some(period) = period else { return Ok(Self { from: from.cycles, until: until.cycles }) };
        if long >= period.cycles {
            let long = until.like(long);
            let what = format!("{until} - {from} = {long} fills the period of {period}: the link would never be on");
            return refuse("until", what, format!("write less than {}, or a longer period", end(period.cycles)));
        }
        if from.cycles >= period.cycles {
            let what = format!("{from} is not within the period of {period}");
            return refuse("from", what, format!("write less than {}", from.like(period.cycles)));
        }
        Ok(Self { from: from.cycles, until: until.cycles })
    }

    /// True if the two rows overlap in any period, or one begins exactly when the other ends.
    pub fn meets(&self, other: &Self, period: Option<Cycles>) -> bool {
        // both rows begin within a period and are shorter than a period, so only rows of the same period and of neighbouring periods can
        // meet
        let meet = |a: &Self, b: &Self, later: Cycles| {
            a.from.saturating_add(later) <= b.until && b.from <= a.until.saturating_add(later)
        };
        let period = period.unwrap_or(0);
        meet(self, other, 0) || period > 0 && (meet(self, other, period) || meet(other, self, period))
    }
}
