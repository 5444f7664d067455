//! Random permutation: Weft draws a permutation of the terminals once, and every packet of a source goes to the image of the source.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), section 3.2; BookSim
//! `randperm` (which has fixed points).
//!
//! # Parameters
//! `fixed_points`: allows a terminal to send to itself \[true or false\]. `draw`: selects one of several independent permutations from the
//! same seed \[number\].
//!
//! # Guarantees
//! All permutations are equally likely. If `fixed_points` is false, all permutations without fixed points are equally likely. For a given
//! number of terminals, the permutation depends only on (seed, draw). The permutation is the same in every run with this seed, and
//! independent of all other random numbers.
//!
//! # Not modelled
//! Permutations that change during a run.
//!
//! # Validation
//! `traffic/tests/conformance.rs` checks that destinations are valid and drawn with the stated probabilities, and that the pattern is a
//! bijection. The tests in this file check that all permutations are equally likely, and that draws are independent and repeatable. The
//! pattern was not compared with another simulator.

use super::PatternModel;
use super::permutation::Permutation;
use crate::{Population, below, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Purpose of the random stream that draws the permutation. The address of a random stream includes its purpose.
const PERMUTATION: u64 = 0x7065_726D;

/// Sends by a permutation of the terminals that Weft draws once with the seed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomPermutation {
    /// Allows a terminal to send to itself.
    #[serde(default)]
    pub fixed_points: bool,
    /// Index of the random draw. Permutations with different indices are independent (default 0).
    #[serde(default)]
    pub draw: u32,
}

impl PatternModel for RandomPermutation {
    type To = Permutation;

    fn build(&self, population: &Population, path: &str) -> Result<Permutation, Refusal> {
        let terminals = population.terminals;
        if terminals == 0 || (terminals == 1 && !self.fixed_points) {
            let what = format!("{terminals} terminals: a source has no other terminal to send to");
            return Err(Refusal::new(path, what, "use at least 2 terminals, or write fixed_points: true"));
        }
        let mut rng = stream(population.seed, self.draw.into(), PERMUTATION);
        let mut image: Vec<u32> = (0..terminals).collect();
        // The shuffle of Fisher and Yates makes all permutations equally likely. A share of about 1/e = 37 % of them has no fixed point. If
        // the draw is repeated until it has no fixed point, all permutations without fixed points are equally likely.
        loop {
            for last in (1..terminals).rev() {
                image.swap(last as usize, below(&mut rng, last + 1) as usize);
            }
            if self.fixed_points || (0..).zip(&image).all(|(source, &image)| source != image) {
                return Ok(Permutation::new(population, |source| image[source as usize]));
            }
        }
    }

    fn examples() -> Vec<Self> {
        [true, false].map(|fixed_points| Self { fixed_points, draw: 0 }).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Counts how often each permutation of 4 terminals occurs for 4,800 seeds.
    fn counts(fixed_points: bool) -> BTreeMap<Vec<u32>, u32> {
        let mut counts = BTreeMap::new();
        for seed in 0..4800 {
            let population = Population { seed, ..Population::of(4) };
            let permutation = RandomPermutation { fixed_points, draw: 0 }.build(&population, "p").unwrap();
            *counts.entry((0..4).map(|s| permutation.image(s)).collect()).or_default() += 1;
        }
        counts
    }

    #[test]
    fn all_permutations_are_equally_likely() {
        // 4 terminals have 4! = 24 permutations, and 9 of them have no fixed points. The count of each permutation is binomial, and the
        // limit is 5 standard deviations.
        for (fixed_points, number) in [(true, 24), (false, 9)] {
            let counts = counts(fixed_points);
            assert_eq!(counts.len(), number);
            let mean = 4800.0 / number as f64;
            assert!(counts.values().all(|&count| (f64::from(count) - mean).abs() < 5.0 * mean.sqrt()), "{counts:?}");
            assert!(fixed_points || counts.keys().all(|image| (0..).zip(image).all(|(s, &t)| s != t)));
        }
    }

    #[test]
    fn draws_are_independent_and_repeatable() {
        let of = |draw| RandomPermutation { fixed_points: false, draw }.build(&Population::of(64), "p").unwrap();
        let images = |draw| (0..64).map(|s| of(draw).image(s)).collect::<Vec<_>>();
        assert_eq!(images(3), images(3));
        assert_ne!(images(3), images(4));
        assert!(RandomPermutation::default().build(&Population::of(1), "p").is_err());
    }
}
