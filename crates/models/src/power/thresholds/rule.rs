//! The rule of the threshold policies `trunk` and `width`: a measuring window, two thresholds, and the durations of changes.

use super::end::{Ladder, Wish};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::{Refusal, Time};

/// An Ethernet standard, which determines the durations of changes and a suitable window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Ethernet {
    #[serde(rename = "100BASE-TX")]
    Fast,
    #[serde(rename = "1000BASE-T")]
    Gigabit,
    #[default]
    #[serde(rename = "10GBASE-T")]
    TenGigabit,
}

impl Ethernet {
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The times to wake and to sleep in IEEE 802.3az, and the default window. The window is the smallest multiple of 8 us that is not
    /// below the sum of the two times.
    fn times(self) -> [Time; 3] {
        let picoseconds = match self {
            Self::Fast => [30_000_000, 200_000_000, 232_000_000],
            Self::Gigabit => [16_000_000, 182_000_000, 200_000_000],
            Self::TenGigabit => [4_160_000, 2_880_000, 8_000_000],
        };
        picoseconds.map(|ps| Time::Femtoseconds(1000 * ps))
    }
}

/// The utilisation that is compared with the thresholds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// Utilisation of the trunk: the mean over its members.
    #[default]
    Trunk,
    /// Utilisation of each member. If a trunk changes as a whole, the utilisation of its busiest member counts.
    Member,
}

impl Per {
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The parameters that the policies `trunk` and `width` share, with the values of the scenario.
pub(crate) struct Asked<'a> {
    /// Path of the policy in the scenario.
    pub path: &'a str,
    pub ethernet: Ethernet,
    pub wake: Option<Time>,
    pub sleep: Option<Time>,
    pub window: Option<Time>,
    pub u_on: f64,
    pub u_off: f64,
    pub step: u16,
}

/// The parameters of a policy, with all times in cycles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    pub window: u64,
    pub wake: u64,
    pub sleep: u64,
    u_on: f64,
    u_off: f64,
    pub step: u16,
}

impl Asked<'_> {
    pub fn rule(&self, cycle_fs: u128) -> Result<Rule, Refusal> {
        let [wake, sleep, window] = self.ethernet.times();
        let asked = [("wake", self.wake, wake), ("sleep", self.sleep, sleep), ("window", self.window, window)];
        let mut cycles = [0; 3];
        for ((key, own, standard), cycles) in asked.iter().zip(&mut cycles) {
            let path = format!("{}.{key}", self.path);
            *cycles = own.unwrap_or(*standard).duration(cycle_fs, &path)?.above_zero(&path)?.cycles;
        }
        let [wake, sleep, _] = cycles;
        let window_is = self.window.unwrap_or(window);
        let longer = if wake > sleep {
            ("wake", self.wake.unwrap_or(asked[0].2))
        } else {
            ("sleep", self.sleep.unwrap_or(asked[1].2))
        };
        if cycles[2] < wake.max(sleep) {
            let what = format!(
                "{window_is} is shorter than a change of a link: {} is {}. A window would end before the changes that the previous window \
                 started",
                longer.0, longer.1
            );
            let help = format!("write window: {} or more, preferably the sum of both times", longer.1);
            return Err(Refusal::new(format!("{}.window", self.path), what, help));
        }
        self.check_shares()?;
        Ok(Rule { window: cycles[2], wake, sleep, u_on: self.u_on, u_off: self.u_off, step: self.step })
    }

    fn check_shares(&self) -> Result<(), Refusal> {
        let refuse =
            |key: &str, what: String, help: &str| Err(Refusal::new(format!("{}.{key}", self.path), what, help));
        if !(self.u_on > 0.0 && self.u_on < 1.0) {
            let what = format!("{} is not a share that a utilisation can exceed", self.u_on);
            return refuse("u_on", what, "write a number above 0 and below 1, such as 0.5");
        }
        if !(self.u_off > 0.0 && self.u_off < 1.0) {
            let what = format!("{} is not a share that a utilisation can be below", self.u_off);
            return refuse("u_off", what, "write a number above 0 and below 1, such as 0.2");
        }
        if self.step == 0 {
            return refuse("step", "with a step of 0, no link would ever change".to_owned(), "write 1 or more");
        }
        Ok(())
    }
}

impl Rule {
    /// Refuses thresholds with which the level of links could alternate forever under a constant load. `capacities`: the capacity of each
    /// level, beginning with level 1. `level`: returns the name of a level for messages.
    pub fn check_rest(&self, path: &str, capacities: &[f64], level: impl Fn(usize) -> String) -> Result<(), Refusal> {
        let ladder = self.ladder(capacities.len() as u16);
        // the step down (from one level to the next lower one) that raises the utilisation most
        let drops = (2..=ladder.top).map(|from| (usize::from(from), usize::from(ladder.below(from))));
        let left = |&(from, to): &(usize, usize)| capacities[to - 1] / capacities[from - 1];
        let Some((from, to)) = drops.min_by(|a, b| left(a).total_cmp(&left(b))) else { return Ok(()) };
        let grows = capacities[from - 1] / capacities[to - 1];
        if self.u_off * grows < self.u_on {
            return Ok(());
        }
        let (u_on, u_off) = (self.u_on, self.u_off);
        let (most, after) = (shown(u_on / grows), shown(u_off * grows));
        let what = format!(
            "{u_off} is not below u_on / {} = {u_on} / {} = {most}: {} with a utilisation of almost {u_off} become {}, whose utilisation \
             is then {after}. This is not below u_on, {u_on}, so the change is reversed, and this repeats without end",
            shown(grows),
            shown(grows),
            level(from),
            level(to)
        );
        let half = shown(0.8 * u_on / grows);
        let more = if self.step > 1 { ", or a smaller step" } else { "" };
        let help = format!("write u_off below {most}, such as {half}{more}");
        Err(Refusal::new(format!("{path}.u_off"), what, help))
    }

    /// Number of members with which the utilisation is at most `u_on`, for traffic that would fill `carried` members.
    pub fn members_for(&self, carried: f64) -> u16 {
        (carried / self.u_on).ceil().max(1.0) as u16
    }

    pub fn ladder(&self, top: u16) -> Ladder {
        Ladder { top, step: self.step }
    }

    /// The change that a direction requests if its utilisation in the last window was `utilisation`.
    pub fn wish(&self, utilisation: f64) -> Wish {
        if utilisation > self.u_on {
            Wish::More
        } else if utilisation < self.u_off {
            Wish::Less
        } else {
            Wish::Stay
        }
    }

    /// The longest time of one step: a window of the other end, then a window of the leader, then the change.
    pub fn settles_in(&self) -> u64 {
        self.window.saturating_mul(2).saturating_add(self.wake.max(self.sleep))
    }
}

#[cfg(test)]
impl Rule {
    /// A rule that moves one level at a time, for tests.
    pub fn of_times(window: u64, wake: u64, sleep: u64, (u_on, u_off): (f64, f64)) -> Self {
        Self { window, wake, sleep, u_on, u_off, step: 1 }
    }
}

/// Writes a number with at most four decimal places, without trailing zeros.
fn shown(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(u_on: f64, u_off: f64, step: u16) -> Rule {
        Rule { window: 10, wake: 1, sleep: 1, u_on, u_off, step }
    }

    /// The level after 100 windows under a constant load, or `None` if the level would still change then.
    fn rest(rule: Rule, capacities: &[f64], load: f64) -> Option<u16> {
        let ladder = rule.ladder(capacities.len() as u16);
        let next = |level: u16| match rule.wish(load / capacities[usize::from(level) - 1]) {
            Wish::More => ladder.above(level),
            Wish::Less => ladder.below(level),
            Wish::Stay => level,
        };
        let mut level = ladder.top;
        for _ in 0..100 {
            level = next(level);
        }
        (next(level) == level).then_some(level)
    }

    fn members(n: u16) -> Vec<f64> {
        (1..=n).map(f64::from).collect()
    }

    /// Loads from 0 up to the capacity of all members.
    fn loads(top: f64) -> impl Iterator<Item = f64> {
        (0..=4000).map(move |k| f64::from(k) * top / 4000.0)
    }

    #[test]
    fn an_even_load_comes_to_rest_exactly_where_the_condition_holds() {
        let lanes = vec![0.25, 0.5, 1.0];
        let (mut sound, mut unsound) = (0, 0);
        for capacities in [members(2), members(4), members(16), lanes] {
            for (u_on, step) in [(0.5, 1), (0.5, 2), (0.9, 1), (0.6, 3)] {
                for u_off in (1..20).map(|k| f64::from(k) * 0.025) {
                    let rule = rule(u_on, u_off, step);
                    let holds = rule.check_rest("p", &capacities, |n| n.to_string()).is_ok();
                    let top = capacities[capacities.len() - 1];
                    let unsettled = loads(top).find(|&load| rest(rule, &capacities, load).is_none());
                    assert!(!holds || unsettled.is_none(), "{rule:?} with {capacities:?} at {unsettled:?}");
                    // The second level carries twice as much as the first, so the bound for `u_off` is `u_on` / 2. If `u_off` is a little
                    // above this bound, the level alternates between the two forever at some load
                    if step == 1 && u_off > 1.1 * u_on / 2.0 {
                        assert!(unsettled.is_some(), "{rule:?} with {capacities:?} always rests");
                    }
                    (sound, unsound) = (sound + usize::from(holds), unsound + usize::from(unsettled.is_some()));
                }
            }
        }
        assert!(sound > 20 && unsound > 20, "{sound} and {unsound}");
    }

    #[test]
    fn the_remedy_of_thresholds_that_never_rest_is_taken() {
        for step in 1..6 {
            let (u_on, capacities) = (0.5, members(step + 1));
            let refusal =
                rule(u_on, 0.45, step).check_rest("p", &capacities, |n| n.to_string()).expect_err("a refusal");
            // the help says, for example, "write u_off below 0.25, such as 0.2": these are u_on / (step + 1), and 0.8 times this bound
            let bound = u_on / f64::from(step + 1);
            assert!(refusal.help.contains(&format!("such as {}", shown(0.8 * bound))), "{refusal}");
            assert!(rule(u_on, 0.8 * bound, step).check_rest("p", &capacities, |n| n.to_string()).is_ok());
            assert!(rule(u_on, bound, step).check_rest("p", &capacities, |n| n.to_string()).is_err());
        }
    }
}
