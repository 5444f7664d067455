//! The times of computations: the times in the program, multiplied by a constant factor and by a random factor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;
use weft_traffic::mix;
use weft_units::Refusal;

/// Purpose of the random numbers for jitter (a part of their address).
const JITTER: u64 = 0x6a69_7474_6572;

/// Random differences between computations. The random factor of a computation depends only on the seed, and on its rank and its number in
/// the program. Therefore it is the same in all networks, policies and placements that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Jitter {
    /// The time is multiplied by a random number with a uniform distribution between 1 - `share` and 1 + `share`.
    Uniform {
        /// Largest difference of the random number from 1; between 0 and 1.
        #[schemars(range(min = 0.0, max = 1.0))]
        share: f64,
        /// Seed of the random numbers. Default: the seed of the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seed: Option<u64>,
    },
    /// The time is multiplied by a random number with a normal distribution of mean 1. Negative numbers count as 0.
    Normal {
        /// Standard deviation of the random number, at least 0.
        #[schemars(range(min = 0.0))]
        deviation: f64,
        /// Seed of the random numbers. Default: the seed of the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seed: Option<u64>,
    },
    /// The time is increased by a random share with an exponential distribution. This is similar to interruptions by an
    /// operating system.
    Exponential {
        /// Mean of the random share, at least 0.
        #[schemars(range(min = 0.0))]
        mean: f64,
        /// Seed of the random numbers. Default: the seed of the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seed: Option<u64>,
    },
}

impl Jitter {
    /// Returns the key of this jitter's parameter, its value, and its largest allowed value.
    fn number(&self) -> (&'static str, f64, f64) {
        match *self {
            Self::Uniform { share, .. } => ("uniform.share", share, 1.0),
            Self::Normal { deviation, .. } => ("normal.deviation", deviation, 100.0),
            Self::Exponential { mean, .. } => ("exponential.mean", mean, 100.0),
        }
    }

    fn seed(&self) -> Option<u64> {
        match *self {
            Self::Uniform { seed, .. } | Self::Normal { seed, .. } | Self::Exponential { seed, .. } => seed,
        }
    }

    /// Returns the random factor of a computation, computed from two random words.
    fn factor(&self, words: [u64; 2]) -> f64 {
        // random numbers of 53 bits, above 0 and up to 1
        let [u, v] = words.map(|word| ((word >> 11) + 1) as f64 / (1u64 << 53) as f64);
        match *self {
            Self::Uniform { share, .. } => 1.0 + share * (2.0 * u - 1.0),
            // the method of Box and Muller gives the normal distribution
            Self::Normal { deviation, .. } => (1.0 + deviation * (-2.0 * u.ln()).sqrt() * (TAU * v).cos()).max(0.0),
            Self::Exponential { mean, .. } => 1.0 - mean * u.ln(),
        }
    }
}

/// The largest `compute_scale`.
const MAX_SCALE: f64 = 1e6;

/// Refuses numbers that are out of range; `path` is the dotted path of the workload.
pub fn check(scale: f64, jitter: Option<&Jitter>, path: &str) -> Result<(), Refusal> {
    if !(0.0..=MAX_SCALE).contains(&scale) {
        let what = format!("computations can't take {scale} times as long");
        return Err(Refusal::new(
            format!("{path}.compute_scale"),
            what,
            format!("write a number from 0 to {MAX_SCALE}"),
        ));
    }
    if let Some((key, number, most)) = jitter.map(Jitter::number)
        && !(0.0..=most).contains(&number)
    {
        let what = format!("the jitter {number} is out of range");
        return Err(Refusal::new(format!("{path}.jitter.{key}"), what, format!("write a number from 0 to {most}")));
    }
    Ok(())
}

/// The rules that give the time of a computation.
#[derive(Debug, Clone, Copy)]
pub struct Compute {
    pub scale: f64,
    pub jitter: Option<Jitter>,
    pub seed: u64,
}

impl Compute {
    /// `seed` is the seed of the run.
    pub fn new(scale: f64, jitter: Option<Jitter>, seed: u64) -> Self {
        Self { scale, jitter, seed: jitter.and_then(|jitter| jitter.seed()).unwrap_or(seed) }
    }

    /// Returns the time \[fs\] of a computation whose time in the program is `fs`. `number`: identifies the operation
    /// at its rank.
    pub fn time(&self, fs: u128, rank: u32, number: (u32, u32)) -> u128 {
        let scaled = if self.scale == 1.0 { fs } else { (fs as f64 * self.scale).round() as u128 };
        let Some(jitter) = self.jitter else { return scaled };
        let place = u64::from(number.0) << 32 | u64::from(number.1);
        let word = |purpose| mix(mix(self.seed, rank.into(), JITTER + purpose), place, purpose);
        (scaled as f64 * jitter.factor([word(0), word(1)])).round() as u128
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the mean and the variance of the random factors of 40,000 computations.
    fn moments(jitter: &str) -> (f64, f64) {
        let jitter = serde_json::from_str(jitter).expect("a jitter");
        let compute = Compute::new(1.0, Some(jitter), 5);
        let factors: Vec<f64> = (0..40_000).map(|k| compute.time(1_000_000, k % 8, (k / 8, 0)) as f64 / 1e6).collect();
        let mean = factors.iter().sum::<f64>() / factors.len() as f64;
        (mean, factors.iter().map(|factor| (factor - mean).powi(2)).sum::<f64>() / factors.len() as f64)
    }

    #[test]
    fn factors_have_the_moments_of_their_distribution() {
        // the formulas give mean and variance; the standard deviation of the measured mean is sqrt(variance / 40,000),
        // and the test allows 5 times this value
        for (jitter, mean, variance) in [
            (r#"{"uniform": {"share": 0.3}}"#, 1.0, 0.3f64.powi(2) / 3.0),
            (r#"{"normal": {"deviation": 0.1}}"#, 1.0, 0.01),
            (r#"{"exponential": {"mean": 0.2}}"#, 1.2, 0.04),
        ] {
            let (found, scatter) = moments(jitter);
            assert!((found - mean).abs() < 5.0 * (variance / 40_000.0f64).sqrt(), "{jitter}: {found}");
            // the fourth moment is at most 9 times the squared variance (exponential); the test allows 5 standard deviations of the
            // estimate
            assert!((scatter / variance - 1.0).abs() < 5.0 * (8.0 / 40_000.0f64).sqrt(), "{jitter}: {scatter}");
        }
    }

    #[test]
    fn a_factor_depends_on_seed_rank_and_number_only() {
        let jitter = |seed| Some(Jitter::Uniform { share: 0.5, seed });
        let time = |compute: Compute, rank, number| compute.time(1_000_000_000, rank, number);
        let first = time(Compute::new(1.0, jitter(None), 3), 1, (2, 0));
        assert_eq!(first, time(Compute::new(1.0, jitter(Some(3)), 9), 1, (2, 0)), "a seed of its own");
        for (rank, number) in [(0, (2, 0)), (1, (3, 0)), (1, (2, 1))] {
            assert_ne!(first, time(Compute::new(1.0, jitter(None), 3), rank, number));
        }
    }

    #[test]
    fn scales_multiply() {
        for (scale, expected) in [(0.0, 0), (0.5, 1_500_000), (1.0, 3_000_000), (2.0, 6_000_000)] {
            assert_eq!(Compute::new(scale, None, 1).time(3_000_000, 0, (0, 0)), expected);
        }
    }
}
