//! Predicts bursts that come at regular intervals, in one direction of a trunk. With this prediction, the links are on when the next burst
//! begins.
//!
//! A burst is a series of successive measuring windows (`window` of the policy) in which the traffic needs more than one member of the
//! trunk. Predictions start when two successive intervals between the beginnings of bursts are equal within a tolerance. The next burst is
//! then expected after another interval of this length. Shortly before that time, the direction requests as many members as the last burst
//! needed. If an expected burst does not come, predictions end.

use super::end::{Ladder, Wish};
use super::rule::Rule;
use weft_api::base::kept::Value;

/// Tolerance [windows]. Two intervals count as equal if they differ by at most this time. An expected burst may be late by at most this
/// time.
const ALIKE: u64 = 2;

/// Data on the bursts of one direction of a trunk so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub(crate) struct Forecast {
    /// The cycle in which the last burst began, if there was one.
    began: Option<u64>,
    /// Interval between the beginnings of the last two bursts [cycles]; 0 before the second burst.
    interval: u64,
    /// True if the last two intervals were equal within the tolerance.
    is_even: bool,
    /// True if the last window was part of a burst.
    in_burst: bool,
    /// Number of members that the last burst needed.
    members: u16,
}

impl Forecast {
    /// True if a burst is expected or in progress. Then even a window without traffic can affect the next decision.
    pub fn expects(&self) -> bool {
        self.is_even || self.in_burst
    }

    /// Called when a window has ended in cycle `now`. `carried`: the traffic of the direction in this window, as the number of members that
    /// it would fill.
    pub fn saw(&mut self, now: u64, carried: f64, rule: &Rule) {
        let needed = rule.members_for(carried);
        if needed > 1 && !self.in_burst {
            self.begins(now - rule.window, rule);
            self.members = needed;
        }
        (self.in_burst, self.members) = (needed > 1, self.members.max(if needed > 1 { needed } else { 0 }));
        self.is_even &= now < self.due() + ALIKE * rule.window;
    }

    fn begins(&mut self, at: u64, rule: &Rule) {
        if let Some(before) = self.began.replace(at) {
            let interval = at - before;
            self.is_even = self.interval > 0 && interval.abs_diff(self.interval) <= ALIKE * rule.window;
            self.interval = interval;
        }
    }

    /// The cycle in which the next burst is expected.
    fn due(&self) -> u64 {
        self.began.unwrap_or(0).saturating_add(self.interval)
    }

    /// Returns the change of the level that the direction requests in cycle `now`. If the next burst is near, the direction requests more
    /// members until it has as many as the last burst needed. Otherwise it requests `own`, the change that follows from its utilisation.
    pub fn wish(&self, own: Wish, now: u64, level: u16, (ladder, rule): (Ladder, &Rule)) -> Wish {
        if !self.is_even || self.in_burst {
            return own;
        }
        let target = self.members.min(ladder.top);
        // Each step takes the time to wake, and up to a window until the next decision. A further window is added because this function is
        // called only once per window
        let steps = u64::from(target.saturating_sub(level).div_ceil(ladder.step)).max(1);
        let ahead = steps * (rule.wake + rule.window) + rule.window;
        if now + ahead < self.due() {
            return own;
        }
        match own {
            _ if level < target => Wish::More,
            Wish::Less | Wish::Stay => Wish::Stay,
            Wish::More => Wish::More,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: u64 = 100;

    fn rule() -> Rule {
        Rule::of_times(WINDOW, 50, 30, (0.5, 0.2))
    }

    /// The requests of one direction of a trunk, window by window. The trunk has 4 members, of which one is on. `carried`: traffic of the
    /// direction in window k, as the number of members that it would fill.
    fn wishes(windows: u64, carried: impl Fn(u64) -> f64) -> Vec<Wish> {
        let (rule, mut forecast) = (rule(), Forecast::default());
        let see = |k: u64| {
            let now = (k + 1) * WINDOW;
            forecast.saw(now, carried(k), &rule);
            forecast.wish(rule.wish(carried(k)), now, 1, (rule.ladder(4), &rule))
        };
        (0..windows).map(see).collect()
    }

    /// Bursts of 3 windows that need 4 members, every 20 windows. The interval is known when the third burst has begun.
    #[test]
    fn after_three_even_bursts_members_wake_before_the_next_one() {
        let is_burst = |k: u64| k % 20 >= 17;
        let wishes = wishes(120, |k| if is_burst(k) { 1.9 } else { 0.0 });
        let early: Vec<u64> = (0..120).filter(|&k| wishes[k as usize] == Wish::More && !is_burst(k)).collect();
        // To wake three more members takes three steps of 50 + 100 cycles (wake and window), plus a window: 550 cycles. Windows 11 to 16
        // end 500 to 0 cycles before the burst
        let expected: Vec<u64> = (60..120).filter(|k| (11..17).contains(&(k % 20))).collect();
        assert_eq!(early, expected);
    }

    #[test]
    fn uneven_bursts_are_not_foreseen() {
        let begins = [10, 25, 60, 80, 117, 130];
        let is_burst = |k: u64| begins.iter().any(|&at| (at..at + 3).contains(&k));
        let wishes = wishes(140, |k| if is_burst(k) { 1.9 } else { 0.0 });
        assert!((0..140).all(|k| (wishes[k as usize] == Wish::More) == is_burst(k)));
    }

    /// If an expected burst does not come, the direction waits for it for two windows. From then on, its requests follow from its
    /// utilisation again.
    #[test]
    fn a_burst_that_does_not_come_ends_the_forecast() {
        let is_burst = |k: u64| k < 60 && k % 20 >= 17;
        let wishes = wishes(200, |k| if is_burst(k) { 1.9 } else { 0.0 });
        // the fourth burst would begin with window 77
        assert!((72..78).all(|k| wishes[k] == Wish::More));
        assert!((79..200).all(|k| wishes[k] == Wish::Less));
    }

    /// Windows that need only one member are no bursts. Before an expected burst, as many members wake as the last burst needed.
    #[test]
    fn it_wakes_as_many_members_as_the_last_burst_needed() {
        let (rule, mut forecast) = (rule(), Forecast::default());
        let mut at = |level: u16, k: u64, carried: f64| {
            let now = (k + 1) * WINDOW;
            forecast.saw(now, carried, &rule);
            forecast.wish(rule.wish(carried / f64::from(level)), now, level, (rule.ladder(4), &rule))
        };
        for k in 0..60 {
            at(1, k, if k % 20 >= 17 { 0.9 } else { 0.3 });
        }
        // traffic that would fill 0.9 members needs two members, because the utilisation of one member would be above u_on = 0.5
        assert_eq!((at(2, 75, 0.0), at(1, 76, 0.0)), (Wish::Stay, Wish::More));
    }
}
