//! Means, confidence intervals and percentiles of the measured packets.

use hdrhistogram::Histogram;
use serde_json::{Map, Value, json};
use weft_engine::outcome::PacketSums;

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
            z + (z.powi(3) + z) / (4.0 * n) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
        }
    }
}

/// Half the width of the 95 % confidence interval of a mean, from independent batch means; `None` below two batches.
pub(crate) fn confidence95(means: &[f64]) -> Option<f64> {
    let n = means.len() as f64;
    if means.len() < 2 {
        return None;
    }
    let mean = means.iter().sum::<f64>() / n;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some(student_t95(means.len() - 1) * (variance / n).sqrt())
}

/// A sum per packet; `None` without packets.
pub(crate) fn per_packet(sum: u64, packets: u64) -> Option<f64> {
    (packets > 0).then(|| sum as f64 / packets as f64)
}

/// Mean, confidence interval and percentiles of one kind of latency, as `<name>_..._cycles`.
pub(crate) fn latency(
    name: &str,
    total: &PacketSums,
    batches: &[PacketSums],
    of: fn(&PacketSums) -> u64,
    histogram: &Histogram<u64>,
) -> Map<String, Value> {
    let means: Vec<_> = batches.iter().filter_map(|batch| per_packet(of(batch), batch.packets)).collect();
    let mut fields = Map::new();
    let mut put = |what: &str, value: Value| fields.insert(format!("{name}_{what}_cycles"), value);
    put("mean", json!(per_packet(of(total), total.packets)));
    put("ci95", json!(confidence95(&means)));
    let quantiles = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999), ("p99_99", 0.9999)];
    for (what, quantile) in quantiles {
        put(what, json!((!histogram.is_empty()).then(|| histogram.value_at_quantile(quantile))));
    }
    put("max", json!((!histogram.is_empty()).then(|| histogram.max())));
    fields
}

/// Recorded values and how often each was seen.
pub(crate) fn pairs(histogram: &Histogram<u64>) -> Vec<[u64; 2]> {
    histogram.iter_recorded().map(|step| [step.value_iterated_to(), step.count_at_value()]).collect()
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
}
