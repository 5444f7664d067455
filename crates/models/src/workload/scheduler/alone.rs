//! Computes the run time of a program that is alone on an ideal network. Also finds the scale, a factor for its
//! computations, that gives a requested run time.

use super::super::programs::Programs;
use std::sync::Arc;
use weft_programs::collectives::Rules;
use weft_programs::form::Program;
use weft_programs::loggops::{self, Parameters};
use weft_programs::transform::scaled;
use weft_units::{Refusal, Time};

/// Largest number of steps of the search for a scale.
const STEPS: u32 = 60;
/// The longest permitted run time [fs]: 2.2 hours of simulated time. The LogGOPS executor can count it in femtoseconds.
const LONGEST_FS: u128 = 8_000_000_000_000_000_000;
/// The search accepts a run time that differs from the requested one by less than this share, or by less than a cycle.
const CLOSE: f64 = 1e-6;
/// The unit to which times of computations are rounded [fs]: one nanosecond.
const ROUNDED_FS: f64 = 1e6;

/// A program on an ideal network: the LogGOPS model with the overhead of the interfaces and links of one flit per cycle. Each rank is at a
/// separate terminal.
pub struct Alone {
    program: Program,
    rules: Arc<Rules>,
    at: Parameters,
    /// Run time without computations [fs].
    bare_fs: u128,
    /// Run time with the unscaled computations [fs].
    whole_fs: u128,
    cycle_fs: u128,
}

impl Alone {
    /// Computes the run times with and without computations. Refuses a program that never ends. `path`: the dotted path
    /// of the workload `programs`.
    pub fn of(programs: &Programs, path: &str, units: (u128, u64), latency: Time) -> Result<Self, Refusal> {
        let (program, rules) = programs.make(path)?;
        let at = programs.on_an_ideal_network(units, latency, path)?;
        let mut alone = Self { program, rules: Arc::new(rules), at, bare_fs: 0, whole_fs: 0, cycle_fs: units.0 };
        let stuck = || {
            Refusal::new(
                path,
                "the program never ends on an ideal network",
                "run `weft trace loggops` on the program to see the receives that wait",
            )
        };
        alone.bare_fs = alone.time(0.0).ok_or_else(stuck)?;
        alone.whole_fs = alone.time(1.0).ok_or_else(stuck)?;
        Ok(alone)
    }

    /// Run time [fs] if computations take `scale` times as long.
    fn time(&self, scale: f64) -> Option<u128> {
        let answer = loggops::run(&scaled(&self.program, scale), &self.rules, self.at).ok()?;
        Some(u128::try_from(answer.last().0).ok()? * u128::from(self.at.unit_fs))
    }

    /// If no scale gives the run time `length_fs` [fs], returns the reason and the remedy. Otherwise returns `None`.
    pub fn misfit(&self, length_fs: u128) -> Option<(String, &'static str)> {
        let us = |fs: u128| fs as f64 / 1e9;
        let length = us(length_fs);
        if self.whole_fs == self.bare_fs {
            let what = format!("the program has no computations that could be scaled to {length} us");
            return Some((what, "name a program with computations in `runs`, or write `length: own`"));
        }
        if length_fs > LONGEST_FS {
            let most = us(LONGEST_FS);
            let what = format!("{length} us are longer than {most} us, the longest time of a scaled program");
            return Some((what, "write a larger `compression`, or `length: own`"));
        }
        (self.bare_fs > length_fs).then(|| {
            let what = format!("{length} us are shorter than the {} us of the program's messages", us(self.bare_fs));
            (what, "write a smaller `compression`, a smaller program, or `length: own`")
        })
    }

    /// Returns the scale of computations for which the run time is `length_fs` [fs]. [`Alone::misfit`] has checked that such
    /// a scale exists. The run time grows with the scale, so the method of false position with bisection finds the scale.
    pub fn scale(&self, length_fs: u128) -> f64 {
        let (mut low, mut high) = ((0.0, self.bare_fs as f64), (1.0, self.whole_fs as f64));
        let wanted = length_fs as f64;
        let close = (CLOSE * wanted).max(self.cycle_fs as f64);
        let computed = self.whole_fs.saturating_sub(self.bare_fs) as f64;
        while high.1 < wanted && high.0 < 1e9 {
            let next = high.0 * 2.0_f64.max(wanted / high.1);
            match self.time(next) {
                Some(time) => (low, high) = (high, (next, time as f64)),
                None => break,
            }
        }
        for step in 0..STEPS {
            // if the times of computations at the two scales differ by less than their rounding, the search cannot come closer
            if (high.1 - wanted).abs() <= close || (high.0 - low.0) * computed < ROUNDED_FS {
                return high.0;
            }
            let share = if step % 3 == 2 { 0.5 } else { (wanted - low.1) / (high.1 - low.1) };
            let middle = low.0 + (high.0 - low.0) * share;
            let Some(time) = self.time(middle) else { break };
            let middle = (middle, time as f64);
            if (middle.1 - wanted).abs() <= close {
                return middle.0;
            }
            if middle.1 < wanted { low = middle } else { high = middle }
        }
        high.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(program: &str) -> Alone {
        let programs: Programs = serde_json::from_str(&format!(r#"{{"program": {program}}}"#)).unwrap();
        Alone::of(&programs, "programs", (1_000_000, 128), Time::Femtoseconds(1_000_000_000)).unwrap()
    }

    #[test]
    fn a_computation_alone_is_scaled_exactly() {
        let one = alone(r#"{"compute": {"ranks": 4, "time": "1s"}}"#);
        for length_fs in [10_000_000_000, 3_600_000_000_000_000] {
            let scale = one.scale(length_fs);
            assert!((scale * 1e15 - length_fs as f64).abs() <= 1e6, "{scale}");
            assert_eq!(one.misfit(length_fs), None);
        }
    }

    #[test]
    fn a_program_with_messages_gets_the_length_that_was_asked_for() {
        let ring = alone(
            r#"{"collective": {"operation": "all_reduce", "ranks": 8, "bytes": "64KB", "repeat": 3, "gap": "20us"}}"#,
        );
        for length_us in [150, 200, 1_000, 50_000] {
            let scale = ring.scale(length_us * 1_000_000_000);
            let time = ring.time(scale).unwrap() as f64 / 1e9;
            assert!((time - length_us as f64).abs() < 2e-6 * length_us as f64 + 0.003, "{length_us} us: {time}");
        }
        let (message, _) = ring.misfit(1_000_000_000).unwrap();
        assert!(
            message.starts_with("1 us are shorter than the ") && message.ends_with(" us of the program's messages"),
            "{message}"
        );
        let bare = alone(r#"{"collective": {"operation": "all_reduce", "ranks": 8, "bytes": "64KB"}}"#);
        assert!(bare.misfit(1 << 60).unwrap().0.contains("no computations"));
    }
}
