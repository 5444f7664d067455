//! Computes means, confidence intervals and percentiles of the measured packets.

use hdrhistogram::Histogram;
use serde_json::{Map, Value, json};
use weft_engine::outcome::PacketSums;
use weft_engine::steady::confidence95;

/// The mean of a sum over packets; `None` without packets.
pub(crate) fn per_packet(sum: u64, packets: u64) -> Option<f64> {
    (packets > 0).then(|| sum as f64 / packets as f64)
}

/// The fields of the summary for one kind of latency: mean, confidence interval and percentiles, named `<name>_..._cycles`.
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
    put("min", json!((!histogram.is_empty()).then(|| histogram.min())));
    let quantiles = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999), ("p99_99", 0.9999)];
    for (what, quantile) in quantiles {
        put(what, json!((!histogram.is_empty()).then(|| histogram.value_at_quantile(quantile))));
    }
    put("max", json!((!histogram.is_empty()).then(|| histogram.max())));
    fields
}

/// The recorded values of a histogram, each with its number of occurrences.
pub(crate) fn pairs(histogram: &Histogram<u64>) -> Vec<[u64; 2]> {
    histogram.iter_recorded().map(|step| [step.value_iterated_to(), step.count_at_value()]).collect()
}

/// Jain's fairness index of some loads, (sum)^2 / (n * sum of squares). The index is 1 if all n loads are equal, and 1 / n if one source
/// has the whole load. `None` if nothing was sent.
pub(crate) fn jain(loads: &[u64]) -> Option<f64> {
    let sum: f64 = loads.iter().map(|&x| x as f64).sum();
    let squares: f64 = loads.iter().map(|&x| x as f64 * x as f64).sum();
    (squares > 0.0).then(|| sum * sum / (loads.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_of_jain() {
        assert_eq!(jain(&[3, 3, 3, 3]), Some(1.0));
        assert_eq!(jain(&[8, 0, 0, 0]), Some(0.25));
        // (1 + 2 + 3)^2 / (3 * 14)
        assert_eq!(jain(&[1, 2, 3]), Some(36.0 / 42.0));
        assert_eq!(jain(&[0, 0]), None);
    }
}
