//! Decides when a simulation has settled, and computes the confidence interval of its mean latency.
//!
//! # Source
//! K. P. White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output", Simulation 69(6), 1997
//! (MSER; MSER-5 on means of batches); M. G. Kendall, "A New Measure of Rank Correlation", Biometrika 30, 1938, used as
//! a test of trend by H. B. Mann, Econometrica 13, 1945; batch means: A. M. Law, "Simulation Modeling and Analysis".
//!
//! # Parameters
//! Latencies: at least [`LEAST`] observations are needed, of which at least [`LEAST_REST`] remain after the cut. Power state: at least
//! [`LEAST_PERIODS`] observations are needed, of which [`LEAST_PERIODS_REST`] remain. Shares of the managed channels that differ by less
//! than [`RESOLUTION`] count as equal. The rank correlation with time may be at most 1 / [`TREND`]. `warmup.rs` defines the observations.
//!
//! # Guarantees
//! Decisions depend only on integers that are summed over the whole network at fixed cycles. Therefore threads and blocks do not change a
//! decision.
//!
//! The power state (the share of channels that are not off) needs a separate rule. It has few observations, because each must be as long as
//! the time between two decisions of the policy (10,000 cycles under TCEP). In addition, the power state does not change between these
//! decisions.
//! * With only six observations, MSER must be allowed to cut the series down to three. MSER then cuts a straight ramp down to its last
//!   three observations, although a ramp is not a steady state.
//! * With MSER alone, the warm-up would not end while channels still change one by one: if nothing else varies, every change is
//!   significant. Therefore each observation counts as exact only to within [`RESOLUTION`] d, which adds d^2/12 to its variance. For a ramp
//!   of slope s the criterion is then m s^2/12 + d^2/(12 m) over the last m observations. The criterion has its minimum at m = d/s. The
//!   power state has therefore settled when it changes by less than d in the half that remains. Noise below d does not delay the decision.
//! * A staircase that is constant for two or three periods at a time looks like noise to MSER. For example, a router that may switch off
//!   one link per epoch finds such a link only in every second epoch. Rank correlation detects the staircase, because it takes the order
//!   into account. Among all pairs of the remaining observations, some rise and some fall by d or more. The numbers of rising and falling
//!   pairs may differ by at most a third of all pairs. Noise and oscillations around a constant level meet this condition for any
//!   amplitude. A drift also meets it if the drift is at most two standard deviations of the noise around it. A drift of this size has a
//!   correlation with time of 1/2, or a rank correlation of 1/3.
//!
//! A window of fixed length begins even if the network has not yet settled. The batches of such a window then show a trend. The latencies
//! of a window count as growing under two conditions. First, the mean of the second half exceeds that of the first half by [`MATTERS`], and
//! by more than the confidence interval of the difference. Second, four of five pairs of batches rise. Near the capacity of the network,
//! batches depend on each other. The confidence interval is then too narrow, but the order of the batches is less affected.
//!
//! # Not modelled
//! Correlation between batches: the confidence interval is correct only if batches are long enough. If the power state is constant for five
//! or more periods of the policy and then changes again, it still counts as settled.
//!
//! # Validation
//! `engine/tests/saturation.rs`: latencies that grow at a load equal to the capacity, and do not grow at lower loads. Tests below:
//! constants, ramps, staircases, decays, oscillations and noise; `engine/tests/warmup.rs`: real policies.

use weft_api::state::sums::PacketSums;

/// Number of latency observations that a run needs before it can count as settled.
pub(crate) const LEAST: usize = 12;
/// The smallest number of observations that remain after the cut. Fewer observations might differ little from each other by chance.
const LEAST_REST: usize = 5;
/// Number of power-state observations that a run needs before its power state can count as settled.
pub(crate) const LEAST_PERIODS: usize = 6;
const LEAST_PERIODS_REST: usize = 3;
/// Shares of the managed channels that differ by less than this value count as equal.
const RESOLUTION: f64 = 0.01;
/// The numbers of rising and of falling pairs may differ by at most 1 / `TREND` of all pairs.
const TREND: i64 = 3;

/// Largest number of batches with which a window is tested for a trend. If the window has more batches, neighbouring batches are joined. A
/// window with fewer than [`LEAST_BATCHES`] batches gets no verdict.
const BATCHES: usize = 10;
const LEAST_BATCHES: usize = 8;
/// Smallest growth of the mean latency that counts as a trend, as a share.
const MATTERS: f64 = 0.05;

/// Whether a series of mean latencies has settled: MSER drops less than half of it.
pub(crate) fn has_settled(latencies: &[f64]) -> bool {
    latencies.len() >= LEAST && 2 * mser(latencies, LEAST_REST, 0.0) < latencies.len()
}

/// Whether a series of shares (of channels that are not off, or of the last latency) has settled: MSER drops less than half of it, and the
/// rest has no trend.
pub(crate) fn is_level(shares: &[f64]) -> bool {
    let cut = mser(shares, LEAST_PERIODS_REST, RESOLUTION);
    shares.len() >= LEAST_PERIODS && 2 * cut < shares.len() && !has_trend(&shares[cut..])
}

/// Number of observations to drop at the start so that the mean of the rest is as exact as possible. The function minimises, over all
/// lengths of the rest, the sum of squared deviations of the rest divided by the square of its length. At least `least_rest` observations
/// remain. Each observation is exact only to within `resolution`.
fn mser(observations: &[f64], least_rest: usize, resolution: f64) -> usize {
    let n = observations.len();
    let rounding = resolution * resolution / 12.0;
    let (mut sum, mut squares) = (0.0, 0.0);
    let (mut best, mut cut) = (f64::INFINITY, n);
    for (start, x) in observations.iter().enumerate().rev() {
        sum += x;
        squares += x * x;
        let rest = (n - start) as f64;
        if n - start >= least_rest {
            let error = (squares - sum * sum / rest + rounding * rest) / (rest * rest);
            if error <= best {
                (best, cut) = (error, start);
            }
        }
    }
    cut
}

/// Whether the observations tend to rise or fall with time, by Kendall's rank correlation.
fn has_trend(shares: &[f64]) -> bool {
    let sign = |change: f64| i64::from(change >= RESOLUTION) - i64::from(change <= -RESOLUTION);
    let later = |(k, first): (usize, &f64)| shares[k + 1..].iter().map(|x| sign(x - first)).sum::<i64>();
    let surplus: i64 = shares.iter().enumerate().map(later).sum();
    let n = shares.len() as i64;
    TREND * surplus.abs() > n * (n - 1) / 2
}

/// Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom.
const T95: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// The 95 % quantile of Student's t. Up to 30 degrees of freedom it comes from the table, and above 30 from the expansion around the normal
/// quantile (Abramowitz and Stegun 26.7.5). The result is exact to 0.001.
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

/// Share by which the mean latency of the second half of a window exceeds the mean of the first half. Returns `None` if the difference can
/// be random variation.
pub fn growth(batches: &[PacketSums]) -> Option<f64> {
    let count = batches.len().min(BATCHES) / 2 * 2;
    let mean = |part: &[PacketSums]| {
        let (packets, latency) = part.iter().fold((0, 0), |(p, l), sums| (p + sums.packets, l + sums.latency));
        (packets > 0).then(|| latency as f64 / packets as f64)
    };
    let place = |k: usize| k * batches.len() / count.max(1);
    let means: Option<Vec<f64>> = (0..count).map(|k| mean(&batches[place(k)..place(k + 1)])).collect();
    growth_of(&means.filter(|means| means.len() >= LEAST_BATCHES)?)
}

/// The share by which the mean of the second half exceeds the mean of the first half, for an even number of means.
fn growth_of(means: &[f64]) -> Option<f64> {
    let halves = means.split_at(means.len() / 2);
    let mean = |half: &[f64]| half.iter().sum::<f64>() / half.len() as f64;
    let squares = |half: &[f64]| half.iter().map(|m| (m - mean(half)).powi(2)).sum::<f64>();
    let (first, second) = (mean(halves.0), mean(halves.1));
    let (n, degrees) = (halves.0.len() as f64, means.len() - 2);
    let variance = (squares(halves.0) + squares(halves.1)) / degrees as f64;
    let chance = student_t95(degrees) * (2.0 * variance / n).sqrt();
    let pairs = means.len() * (means.len() - 1) / 2;
    let rising: usize =
        means.iter().enumerate().map(|(k, m)| means[k + 1..].iter().filter(|later| *later > m).count()).sum();
    let grows = second - first > chance && second > (1.0 + MATTERS) * first && 5 * rising >= 4 * pairs;
    grows.then(|| second / first - 1.0)
}

/// Half the width of the 95 % confidence interval of a mean, computed from independent batch means; `None` for fewer than two batches.
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
        // Tabulated values: t(31) = 2.0395, t(120) = 1.9799, t(infinity) = 1.9600.
        for (degrees, t) in [(31, 2.0395), (120, 1.9799), (1_000_000, 1.9600)] {
            assert!((student_t95(degrees) - t).abs() < 1e-3, "t({degrees}) = {}", student_t95(degrees));
        }
    }

    #[test]
    fn the_interval_of_four_batches() {
        // By hand: means 1, 2, 3, 4 have s^2 = 5/3, and t(3) = 3.182, so the result is 3.182 * sqrt(5/12).
        let half = confidence95(&[1.0, 2.0, 3.0, 4.0]).expect("four batches");
        assert!((half - 3.182 * (5.0f64 / 12.0).sqrt()).abs() < 1e-12);
        assert_eq!(confidence95(&[1.0]), None);
    }

    #[test]
    fn a_window_whose_latencies_grow_is_distinguished_from_one_that_scatters() {
        let batches = |count: u32, latency: &dyn Fn(f64) -> f64| -> Vec<PacketSums> {
            let sums = |k| PacketSums {
                packets: 100,
                latency: (100.0 * latency(f64::from(k))) as u64,
                ..PacketSums::default()
            };
            (0..count).map(sums).collect()
        };
        // latencies that grow as the square root of time after a start, in 10 batch means of which each half has 5
        let root = |k: f64| 100.0 * (k + 5.5).sqrt();
        let half = |from: u32| (from..from + 5).map(|k| root(f64::from(k))).sum::<f64>();
        let grown = growth(&batches(10, &root)).expect("it grows");
        assert!((grown - (half(5) / half(0) - 1.0)).abs() < 1e-3, "{grown}");
        // 100 batches are joined in groups of ten; with too few batches there is no verdict
        assert!(growth(&batches(100, &|k| root(k / 10.0))).is_some());
        assert_eq!([growth(&batches(7, &root)), growth(&[]), growth(&batches(10, &|k| 100.0 + 0.3 * k))], [None; 3]);
        assert_eq!(growth(&batches(10, &|k| 2000.0 - root(k))), None, "it falls");
        // noise of this amplitude causes growth by mistake in at most 10 of 2,000 windows of 10 batches
        let alarms = (0..2000).filter(|&seed| {
            let noise = noise(seed);
            growth(&batches(10, &|k| 500.0 + 50.0 * noise[k as usize])).is_some()
        });
        assert!(alarms.count() <= 10);
    }

    #[test]
    fn what_grows_never_settles_and_what_decays_does() {
        let growing: Vec<f64> = (0..200).map(|k| 20.0 + 3.0 * f64::from(k)).collect();
        assert!((0..=200).all(|n| !has_settled(&growing[..n])));
        // an exponential decay with a small oscillation; the decay exceeds the oscillation in about the first 6 observations
        let decaying: Vec<f64> =
            (0..100).map(|k| 20.0 + 30.0 * 0.5f64.powi(k) + if k % 2 == 0 { 0.5 } else { -0.5 }).collect();
        let first = (0..=100).find(|&n| has_settled(&decaying[..n])).expect("settles");
        assert!((12..=20).contains(&first), "{first}");
    }

    /// The number of observations of a series after which the series first counts as level.
    fn level_after(shares: &[f64]) -> Option<usize> {
        (1..=shares.len()).find(|&n| is_level(&shares[..n]))
    }

    /// A series of 60 shares, each computed from its index.
    fn series(share: impl Fn(u32) -> f64) -> Vec<f64> {
        (0..60).map(share).collect()
    }

    /// Nearly normal noise with standard deviation 1, as the sum of 12 uniform random numbers.
    fn noise(seed: u64) -> Vec<f64> {
        let mut random = weft_traffic::stream(seed, 0, 0);
        let mut uniform = || f64::from(weft_traffic::below(&mut random, 1 << 20)) / f64::from(1 << 20);
        (0..60).map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0).collect()
    }

    #[test]
    fn what_never_changes_is_level_as_soon_as_may_be() {
        for share in [0.0, 0.25, 1.0] {
            assert_eq!(level_after(&series(|_| share)), Some(LEAST_PERIODS));
        }
        // one of 448 links is switched on and off, which is 0.2 % of the links and therefore below the resolution
        assert_eq!(level_after(&series(|k| f64::from(112 + k % 2) / 448.0)), Some(LEAST_PERIODS));
    }

    #[test]
    fn what_still_falls_or_climbs_is_not_level() {
        // if the share changes by 2 % or more after every 1 to 4 periods, the series does not settle before the last change
        for period in 1..=4 {
            for step in [0.02, 0.05, 0.1] {
                let levels = (0.9 / step) as u32;
                let falling = series(|k| 1.0 - step * f64::from(k / period));
                let last = ((levels * period) as usize).min(60);
                assert_eq!(level_after(&falling[..last]), None, "{step} every {period}");
                let climbing: Vec<f64> = falling.iter().map(|share| 1.0 - share).collect();
                assert_eq!(level_after(&climbing[..last]), None, "{step} every {period}, upward");
            }
        }
    }

    #[test]
    fn a_level_counts_when_it_lasts_longer_than_the_way_to_it() {
        // all `way` observations of the ramp must be dropped, and must be less than half of the series, so it needs 2 * way + 1
        // observations
        for way in [4, 7, 12] {
            let to_the_top = series(|k| (0.1 + 0.9 / f64::from(way) * f64::from(k)).min(1.0));
            assert_eq!(level_after(&to_the_top), Some(2 * way as usize + 1), "saturates after {way}");
        }
        // the share rises within one period, then falls by 3 % of the channels in each of 12 periods
        let consolidating = series(|k| if k == 0 { 0.25 } else { 0.9 - 0.03 * f64::from(k.min(12)) });
        let level = level_after(&consolidating).expect("level at last");
        // MSER may drop or keep changes below the resolution
        assert!((2 * 12..=2 * 12 + 3).contains(&level), "{level}");
    }

    #[test]
    fn a_decay_is_level_where_it_moves_less_than_the_resolution() {
        for time in [1.0, 2.0, 4.0] {
            let decay = series(|k| 0.3 + 0.7 * (-f64::from(k) / time).exp());
            let level = level_after(&decay).expect("level at last");
            // less than half of the series is dropped, and the rest changes by less than about twice the resolution
            let kept = decay[(level - 1) / 2] - decay[level - 1];
            assert!(kept < 2.0 * RESOLUTION, "{time}: level after {level}, kept {kept}");
        }
    }

    #[test]
    fn an_oscillation_between_two_levels_is_steady() {
        for half in 1..=6 {
            let wave = series(|k| 0.3 + 0.1 * f64::from(k / half % 2));
            let level = level_after(&wave).expect("steady");
            // the series has settled at the latest when each level has occurred twice
            assert!(level <= (4 * half as usize).max(LEAST_PERIODS), "{half}: {level}");
        }
    }

    #[test]
    fn noise_around_a_level_delays_and_does_not_hide() {
        for wide in [0.002, 0.01, 0.05] {
            let mut levels: Vec<usize> = (0..200)
                .map(|seed| noise(seed).iter().map(|x| 0.5 + wide * x).collect::<Vec<_>>())
                .map(|shares| level_after(&shares).expect("level"))
                .collect();
            levels.sort_unstable();
            assert!(levels[100] <= 9 && levels[199] <= 30, "{wide}: median {}, most {}", levels[100], levels[199]);
        }
        // a drift of 5 % per observation is visible above noise of 1 %
        for seed in 0..200 {
            let shares: Vec<f64> =
                noise(seed)[..18].iter().enumerate().map(|(k, x)| 0.95 - 0.05 * k as f64 + 0.01 * x).collect();
            assert_eq!(level_after(&shares), None, "seed {seed}");
        }
    }
}
