//! The laws that every pattern and every injection process must obey. Patterns must draw valid destinations with the probabilities of
//! `distribution`, and processes must create the requested load. Weft's tests check these laws for all examples. Crates outside of Weft
//! call these functions in the tests of their models.

use crate::{Pattern, Population, Process, stream};
use rand_pcg::Pcg32;
use std::collections::BTreeSet;
use std::fmt::Debug;

/// The machine on which the examples of patterns are tested. It has 64 terminals, because 64 = 2^6 = 8^2 = 4^3 is suitable for all
/// patterns. Patterns on routers see 4 x 4 routers with 4 terminals each. Patterns on groups see the same terminals as 8 groups of 8.
pub fn population() -> Population {
    Population {
        terminals: 64,
        terminals_per_router: Some(4),
        widths: Some(vec![4, 4]),
        terminals_per_group: Some(8),
        seed: 1,
    }
}

/// Checks the laws of patterns for a pattern built on [`population`]. Messages of failed checks show `config`.
///
/// # Panics
/// If the pattern breaks a law. The message names the law or the values that differ.
pub fn check_pattern(pattern: &Pattern, config: &dyn Debug) {
    check_distributions(pattern, config);
    check_draws(pattern, config);
}

fn check_distributions(pattern: &Pattern, config: &dyn Debug) {
    for source in 0..64 {
        let distribution = pattern.distribution(source);
        let destinations: BTreeSet<_> = distribution.iter().map(|&(destination, _)| destination).collect();
        assert_eq!(destinations.len(), distribution.len(), "{config:?}: a destination occurs twice");
        assert!(destinations.iter().all(|&destination| destination < 64), "{config:?}");
        assert!(distribution.iter().all(|&(_, probability)| probability > 0.0), "{config:?}");
        let total: f64 = distribution.iter().map(|&(_, probability)| probability).sum();
        let load = pattern.relative_load(source);
        assert!((0.0..=1.0).contains(&load), "{config:?}: relative load {load}");
        let expected = if load > 0.0 { 1.0 } else { 0.0 };
        assert!((total - expected).abs() < 1e-12, "{config:?}: the probabilities sum to {total}");
    }
}

/// Checks that destinations are drawn with the probabilities of `distribution`.
fn check_draws(pattern: &Pattern, config: &dyn Debug) {
    const DRAWS: u32 = 20_000;
    for source in [0, 5, 33, 63] {
        let mut rng = stream(7, 0, source.into());
        let mut counts = [0u32; 64];
        for _ in 0..DRAWS {
            let destination = pattern.destination(source, &mut rng);
            assert_eq!(destination.is_some(), pattern.relative_load(source) > 0.0, "{config:?}");
            destination.into_iter().for_each(|destination| counts[destination as usize] += 1);
        }
        let mut expected = [0.0; 64];
        for (destination, probability) in pattern.distribution(source) {
            expected[destination as usize] = probability;
        }
        for (&count, &probability) in counts.iter().zip(&expected) {
            // The number of draws of a destination is binomial, with the standard deviation sqrt(n p (1 - p)). The limit is 6 standard
            // deviations, because this test makes 8,000 such comparisons.
            let n = f64::from(DRAWS);
            let bound = 6.0 * (n * probability * (1.0 - probability)).sqrt();
            assert!((f64::from(count) - n * probability).abs() <= bound, "{config:?} from {source}: counts {counts:?}");
        }
    }
}

/// Checks that an injection process creates the requested load, and that its index of dispersion is right. The process must be built for a
/// load of 0.25 in packets of one flit. Messages of failed checks show `config`.
///
/// # Panics
/// If the process breaks a law. The message names the law or the values that differ.
pub fn check_process(process: &Process, config: &dyn Debug) {
    // The counts of 400 runs of 4,000 cycles also give the standard deviation of their mean. The limit is 5 standard deviations of the
    // mean.
    let counts: Vec<f64> = (0..400).map(|run| creations(process, 4000, &mut stream(6, run, 0)).len() as f64).collect();
    let mean = counts.iter().sum::<f64>() / 400.0;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 399.0;
    assert!((mean - 1000.0).abs() < 5.0 * (variance / 400.0).sqrt(), "{config:?}: mean {mean}, variance {variance}");
    // The test for saturation uses the stated variance as the size of the random variation, so it must not be too low. The variance over
    // 400 runs has a standard deviation of 7 %, and the limit allows for it.
    let said = process.dispersion() * mean;
    assert!(said > 0.7 * variance, "{config:?}: stated variance {said}, measured {variance}");
}

/// The cycles before `end` in which a source creates packets.
pub fn creations(process: &Process, end: u64, rng: &mut Pcg32) -> Vec<u64> {
    let mut state = process.start(rng);
    let first = process.first(&mut state, rng);
    let next = |&at: &u64| Some(process.next(at, &mut state, rng));
    std::iter::successors(Some(first), next).take_while(|&at| at < end).collect()
}
