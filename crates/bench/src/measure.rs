//! Takes the samples of a case, and converts them to a row of the table.

use crate::booksim::Peer;
use crate::cases::Case;
use crate::child;
use crate::sample::{How, Sample};
use serde::Serialize;
use std::error::Error;
use std::path::PathBuf;

/// Settings of a measurement, the same for all cases.
#[derive(Debug, Clone)]
pub struct Plan {
    pub how: How,
    pub repeat: usize,
    /// Whether to count instructions (possible only if valgrind is installed).
    pub instructions: bool,
    pub booksim: Option<PathBuf>,
    /// The core that runs samples of a single thread, and BookSim; `None`: any core.
    pub core: Option<usize>,
}

/// The results of one case: medians over its samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    pub case: String,
    pub cpu_ns_per_flit_hop: f64,
    pub wall_ns_per_flit_hop: f64,
    /// Flit-hops per second. Here and in `cycles_per_second`, this is CPU time for a single thread, and wall time for
    /// several threads.
    pub flit_hops_per_second: f64,
    pub cycles_per_second: f64,
    pub instructions_per_flit_hop: Option<f64>,
    pub peak_mib: Option<f64>,
    pub setup_seconds: f64,
    /// Wall time divided by CPU time; if the ratio is far above 1, another process used the core.
    pub wall_over_cpu: f64,
    pub booksim_cycles_per_second: Option<f64>,
    /// CPU time of BookSim divided by CPU time of Weft, per simulated cycle.
    pub ratio: Option<f64>,
}

/// Measures a case and returns its row. If the user requests BookSim and it supports the network, BookSim runs between
/// the samples.
pub fn row(case: &Case, plan: &Plan) -> Result<Row, Box<dyn Error>> {
    let peer = plan.booksim.as_ref().and_then(|binary| Some((case.booksim()?, binary)));
    let (mut samples, mut peers) = (Vec::new(), Vec::new());
    for _ in 0..plan.repeat {
        samples.push(child::sample(case, plan.how, plan.core)?);
        if let Some((peer, binary)) = &peer {
            peers.push(Peer::seconds_per_cycle(peer, binary, plan.core)?);
        }
    }
    let mut row = summary(case.name.clone(), plan.how, &samples, peers);
    if plan.instructions {
        let hops_per_cycle = row.flit_hops_per_second / row.cycles_per_second;
        row.instructions_per_flit_hop = Some(child::instructions(case, plan.how, hops_per_cycle)?);
    }
    Ok(row)
}

fn summary(case: String, how: How, samples: &[Sample], peers: Vec<f64>) -> Row {
    let median = |of: &dyn Fn(&Sample) -> f64| median(samples.iter().map(of).collect());
    let single = how.threads * how.copies == 1;
    let seconds = |s: &Sample| if single { s.cpu_seconds } else { s.wall_seconds };
    let cpu_per_cycle = median(&|s| s.cpu_seconds / (s.cycles as f64 * how.copies as f64));
    let peer = (!peers.is_empty()).then(|| self::median(peers));
    Row {
        case,
        cpu_ns_per_flit_hop: median(&|s| 1e9 * s.cpu_seconds / s.flit_hops as f64),
        wall_ns_per_flit_hop: median(&|s| 1e9 * s.wall_seconds / s.flit_hops as f64),
        flit_hops_per_second: median(&|s| s.flit_hops as f64 / seconds(s)),
        cycles_per_second: median(&|s| (s.cycles * how.copies as u64) as f64 / seconds(s)),
        instructions_per_flit_hop: None,
        peak_mib: samples.iter().filter_map(|s| s.peak_mib).reduce(f64::max),
        setup_seconds: median(&|s| s.setup_seconds),
        wall_over_cpu: median(&|s| s.wall_seconds / s.cpu_seconds),
        booksim_cycles_per_second: peer.map(|seconds| 1.0 / seconds),
        ratio: peer.map(|seconds| seconds / cpu_per_cycle),
    }
}

/// The median: the middle value, or the mean of the two middle values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    (values[(n - 1) / 2] + values[n / 2]) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: How = How { threads: 1, blocks: 0, copies: 1, record: crate::sample::Record::Nothing, plain: false };

    fn sample(cpu_seconds: f64) -> Sample {
        let (cycles, flit_hops) = (1_000, 100_000);
        Sample { setup_seconds: 0.1, cpu_seconds, wall_seconds: 2.0 * cpu_seconds, cycles, flit_hops, peak_mib: None }
    }

    #[test]
    fn medians() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0]), 2.5);
    }

    #[test]
    fn one_thread_goes_by_cpu_time() {
        let row = summary("x".into(), ONE, &[sample(0.004), sample(0.002), sample(0.003)], vec![3e-4]);
        assert!((row.cpu_ns_per_flit_hop - 30.0).abs() < 1e-9);
        assert!((row.wall_ns_per_flit_hop - 60.0).abs() < 1e-9);
        assert!((row.cycles_per_second - 1_000.0 / 0.003).abs() < 1e-6);
        assert_eq!(row.ratio.map(f64::round), Some(100.0));
    }

    #[test]
    fn several_go_by_wall_time() {
        let row = summary("x".into(), How { copies: 2, ..ONE }, &[sample(0.002)], Vec::new());
        assert!((row.cycles_per_second - 2_000.0 / 0.004).abs() < 1e-6);
        assert_eq!(row.ratio, None);
    }
}
