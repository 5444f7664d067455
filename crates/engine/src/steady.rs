//! When a simulation has settled, and how sure its mean is.
//!
//! # Source
//! K. P. White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output", Simulation 69(6), 1997
//! (MSER; MSER-5 on means of batches); batch means: A. M. Law, "Simulation Modeling and Analysis".
//!
//! # Parameters
//! [`OBSERVATION`] cycles of deliveries make an observation; [`LEAST`] observations are needed.
//!
//! # Guarantees
//! Decisions are functions of integers summed over the whole network at fixed cycles: they do not depend on threads or
//! blocks.
//!
//! # Not modelled
//! Correlation between batches: an interval is as good as the batches are long.

use crate::assemble;
use crate::spec::Spec;
use weft_units::Refusal;

/// Cycles of an observation: the mean latency of the packets delivered in it.
pub(crate) const OBSERVATION: u64 = 500;
/// Observations needed before a run may count as settled.
const LEAST: usize = 12;

impl Spec {
    /// Refuses a limit of the warm-up before which it can't end by itself.
    pub fn check_warmup(&self) -> Result<(), Refusal> {
        let (limit, ahead) = (self.phases.warmup, assemble::lookahead(self)?);
        let least = LEAST as u64 * OBSERVATION + ahead;
        if !self.phases.auto_warmup || limit >= least {
            return Ok(());
        }
        let what = format!(
            "a warm-up of at most {limit} cycles can't end by itself: {LEAST} observations of {OBSERVATION} cycles, and \
             {ahead} cycles between the decision and the window, are {least}"
        );
        Err(Refusal::new("measure.warmup_limit", what, format!("write {least}cycles or more, or a fixed warm-up")))
    }
}

/// Whether a series of observations has settled: dropping its first part, shorter than half of it, makes the mean of
/// the rest as sure as it gets, that is the sum of squares over (length of the rest)^2 is least.
pub(crate) fn has_settled(observations: &[f64]) -> bool {
    let n = observations.len();
    if n < LEAST {
        return false;
    }
    let (mut sum, mut squares) = (0.0, 0.0);
    let (mut best, mut cut) = (f64::INFINITY, n);
    for (start, x) in observations.iter().enumerate().rev() {
        sum += x;
        squares += x * x;
        let rest = (n - start) as f64;
        // fewer than five at the end vary little by chance
        if n - start >= 5 {
            let error = (squares - sum * sum / rest) / (rest * rest);
            if error <= best {
                (best, cut) = (error, start);
            }
        }
    }
    2 * cut < n
}

/// Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom.
const T95: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// Student's t: the table, and above it the expansion around the normal quantile (Abramowitz and Stegun 26.7.5), which
/// is good to 0.001 from 30 degrees on.
fn student_t95(degrees: usize) -> f64 {
    match degrees.checked_sub(1).and_then(|i| T95.get(i)) {
        Some(t) => *t,
        None => {
            let (z, n) = (1.959_964_f64, degrees as f64);
            let (z3, z5) = (z * z * z, z * z * z * z * z);
            z + (z3 + z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
        }
    }
}

/// Half the width of the 95 % confidence interval of a mean, from independent batch means; `None` below two batches.
pub fn confidence95(means: &[f64]) -> Option<f64> {
    let n = means.len() as f64;
    if means.len() < 2 {
        return None;
    }
    let mean = means.iter().sum::<f64>() / n;
    let variance = means.iter().map(|m| (m - mean) * (m - mean)).sum::<f64>() / (n - 1.0);
    Some(student_t95(means.len() - 1) * (variance / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expansion_continues_the_table() {
        // t(31) = 2.0395, t(120) = 1.9799, t(infinity) = 1.9600.
        for (degrees, t) in [(31, 2.0395), (120, 1.9799), (1_000_000, 1.9600)] {
            assert!((student_t95(degrees) - t).abs() < 1e-3, "t({degrees}) = {}", student_t95(degrees));
        }
    }

    #[test]
    fn the_interval_of_four_batches() {
        // Means 1, 2, 3, 4: s^2 = 5/3, t(3) = 3.182, so 3.182 * sqrt(5/12).
        let half = confidence95(&[1.0, 2.0, 3.0, 4.0]).expect("four batches");
        assert!((half - 3.182 * (5.0f64 / 12.0).sqrt()).abs() < 1e-12);
        assert_eq!(confidence95(&[1.0]), None);
    }

    #[test]
    fn what_grows_never_settles_and_what_decays_does() {
        let growing: Vec<f64> = (0..200).map(|k| 20.0 + 3.0 * f64::from(k)).collect();
        assert!((0..=200).all(|n| !has_settled(&growing[..n])));
        // an exponential decay under a small wave: about 6 observations are biased by more than the wave
        let decaying: Vec<f64> =
            (0..100).map(|k| 20.0 + 30.0 * 0.5f64.powi(k) + if k % 2 == 0 { 0.5 } else { -0.5 }).collect();
        let first = (0..=100).find(|&n| has_settled(&decaying[..n])).expect("settles");
        assert!((12..=20).contains(&first), "{first}");
    }
}
