//! Marks: counts that are taken at equal distances during a window, for the verdict on saturation. Marks are needed in two cases. In the
//! first case, the window ends when the last batch of packets is delivered, so the middle of the window is not known in advance. In the
//! second case, the policy has periodic actions, so only whole periods are judged.
//!
//! Each mark counts the flits offered and accepted so far. When there are more than [`MOST`] distances between marks, every second mark is
//! dropped.

use crate::network::load_readings::Carried;
use crate::network::simulation::Simulation;
use crate::network::spec::{Spec, Stop};
use crate::run::course::Course;
use crate::run::outcome::{Ending, Saturation};
use weft_api::base::kept::Value;

/// The largest number of distances between marks.
const MOST: usize = 64;
/// Initial number of cycles between two marks, for a policy without periodic actions.
const APART: u64 = 64;

/// The marks of a window: the numbers of flits carried up to certain cycles.
#[derive(Debug, Clone, Value)]
pub(crate) struct Marks {
    start: u64,
    /// Number of cycles between two marks. If the policy has a period, it is a multiple of the period.
    apart: u64,
    landing: u64,
    period: Option<u64>,
    /// The counts at the start of the window and at each mark.
    kept: Vec<Carried>,
}

/// A span to be judged, with the counts at both of its ends. `to` is `None` if the span ends now.
#[derive(Debug, PartialEq)]
struct Judged {
    cycles: u64,
    from: Carried,
    to: Option<Carried>,
}

impl Marks {
    fn new(start: u64, period: Option<u64>, landing: u64) -> Self {
        // a mark counts the flits that arrive before a certain cycle, so it is taken earlier than this cycle by the landing time of a flit
        let apart = period.map_or(APART.max(landing + 1), |period| period * (landing / period + 1));
        Self { start, apart, landing, period, kept: vec![Carried::default()] }
    }

    /// The cycle in which the next mark is taken.
    pub fn due(&self) -> u64 {
        self.start + self.kept.len() as u64 * self.apart - self.landing
    }

    pub fn take(&mut self, carried: Carried) {
        self.kept.push(carried);
        if self.kept.len() > MOST {
            self.kept = self.kept.iter().copied().step_by(2).collect();
            self.apart *= 2;
        }
    }

    /// The span to be judged: the later half of the distances between marks in the window until `now`, at least one distance. Returns
    /// `None` if that half contains no whole period.
    fn judged(&self, now: u64) -> Option<Judged> {
        // a mark is taken before the cycle that it counts to, so the last mark can count to a cycle after the end of the window
        let last = (self.kept.len() - 1).min(((now - self.start) / self.apart) as usize);
        if last == 0 {
            let whole = Judged { cycles: now - self.start, from: self.kept[0], to: None };
            return self.period.is_none().then_some(whole);
        }
        let cycles = (last - last / 2) as u64 * self.apart;
        Some(Judged { cycles, from: self.kept[last / 2], to: Some(self.kept[last]) })
    }
}

impl Simulation {
    /// Creates the marks for a window that begins now. Returns `None` if the second half of the window is judged instead, or no job has a
    /// rate.
    pub(crate) fn marks(&self, spec: &Spec) -> Option<Marks> {
        let period = self.net.times.policy_repeats;
        let is_marked = period.is_some() || spec.phases.stop == Stop::Complete;
        let has_rate = self.net.jobs.iter().any(|job| job.workload.dispersion(0).is_some());
        (is_marked && has_rate && self.net.times.changes.is_empty())
            .then(|| Marks::new(self.now, period, self.net.times.landing))
    }

    /// Advances to cycle `until`, and takes the marks that are due on the way.
    pub(crate) fn advance_marking(&mut self, until: u64, look: u64, course: &mut Course) -> Option<Ending> {
        while let Some(due) = course.next_mark().filter(|&due| due <= until) {
            if let Some(ending) = self.advance_watched(due, look, course) {
                return Some(ending);
            }
            let carried = self.carried();
            course.take_mark(carried);
        }
        self.advance_watched(until, look, course)
    }

    /// Judges the present window, up to now, by its marks.
    pub(crate) fn judge_marks(&self, spec: &Spec, marks: &Marks) -> Saturation {
        let (judged, lasted) = (marks.judged(self.now), self.now - marks.start);
        let verdict = match (judged, marks.period) {
            (Some(Judged { cycles, from, to }), _) => {
                let verdict = self.judge(spec, 0, cycles, (from, to.unwrap_or_else(|| self.carried())));
                verdict.map(|verdict| {
                    verdict.of_span(spec, self.now.saturating_sub(cycles), cycles, || self.has_transitions())
                })
            }
            (None, Some(period)) => self.unjudged(spec, 0, lasted, period),
            (None, None) => None,
        };
        verdict.unwrap_or(Saturation::No)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried(flits: u64) -> Carried {
        Carried { offered: flits, accepted: flits }
    }

    /// The marks of a window after `cycles` cycles. The window begins in cycle 1000, and one flit is accepted in each cycle.
    fn after(cycles: u64, period: Option<u64>) -> Marks {
        let mut marks = Marks::new(1000, period, 20);
        while marks.due() <= 1000 + cycles {
            marks.take(carried(marks.due() + 20 - 1000));
        }
        marks
    }

    #[test]
    fn whole_periods_are_judged_wherever_the_window_ends() {
        for (cycles, judged) in [(99, None), (100, Some((0, 100))), (250, Some((100, 200))), (300, Some((100, 300)))] {
            let found = after(cycles, Some(100)).judged(1000 + cycles);
            let due = judged.map(|(from, to)| Judged { cycles: to - from, from: carried(from), to: Some(carried(to)) });
            assert_eq!(found, due, "{cycles} cycles");
        }
        // here the period is shorter than the landing time
        assert_eq!(after(28, Some(7)).judged(1028).map(|judged| judged.cycles), Some(21));
    }

    #[test]
    fn many_marks_are_thinned_and_their_distance_stays_whole_periods() {
        for cycles in [6400, 6500, 100_000] {
            let marks = after(cycles, Some(100));
            assert!(marks.kept.len() <= MOST && marks.apart.is_multiple_of(100));
            let Judged { cycles: span, from, to } = marks.judged(1000 + cycles).expect("whole periods");
            let to = to.expect("a mark").accepted;
            assert_eq!(to - from.accepted, span);
            assert!(to + marks.apart > cycles && 3 * marks.apart + 2 * span >= cycles, "{marks:?}");
        }
    }

    #[test]
    fn without_a_period_the_second_half_is_judged() {
        let short = after(10, None).judged(1010);
        assert_eq!(short, Some(Judged { cycles: 10, from: carried(0), to: None }), "all of it");
        for cycles in [128, 1000, 1_000_000] {
            let Judged { cycles: span, from, to } = after(cycles, None).judged(1000 + cycles).expect("a span");
            let to = to.expect("a mark").accepted;
            assert_eq!(to - from.accepted, span);
            let coarse = (cycles / 16).max(64);
            assert!(to + coarse > cycles && span.abs_diff(cycles / 2) <= coarse, "{from:?} to {to} of {cycles}");
        }
    }
}
