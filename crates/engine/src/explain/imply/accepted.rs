//! Upper bound on the accepted load that follows from the links to the terminals. The bound is valid for every routing, buffer size and
//! number of VCs.

use super::has_replies;
use crate::network::spec::Spec;

/// Maximum number of pairs of terminals for which the bound is computed.
const MAX_PAIRS: u64 = 1 << 24;
/// Tolerance for rounding errors in sums of loads. Two loads count as equal if their relative difference is below this
/// value.
const ROUNDING: f64 = 1e-9;

/// Upper bound on the accepted load [flits/terminal/cycle, mean over the terminals of all jobs] in the first phases of the jobs. Each
/// destination accepts the flits that terminals send to it, but at most the rate of its link. Returns `None` if no destination limits the
/// load. The function also returns `None` if it cannot compute the bound: for traffic with replies, for batches, and for more than
/// [`MAX_PAIRS`] pairs.
pub(super) fn bound(spec: &Spec) -> Option<f64> {
    let jobs = &spec.traffic.jobs;
    let pairs: u64 = jobs.iter().map(|job| (job.terminals.len() as u64).pow(2)).sum();
    let follows = jobs.iter().any(|job| job.batch.is_some() || job.workload.model().follows_network());
    if has_replies(spec) || follows || pairs > MAX_PAIRS {
        return None;
    }
    let mut demand = vec![0.0; spec.graph.terminals() as usize];
    for job in jobs {
        let first = &job.phases[0];
        for (rank, &load) in (0..).zip(&first.load).filter(|&(_, &load)| load > 0.0) {
            for (target, share) in first.pattern.distribution(rank) {
                demand[job.terminals[target as usize] as usize] += load * share;
            }
        }
    }
    let rate = spec.links[0].rate.per_cycle();
    let offered: f64 = demand.iter().sum();
    let accepted: f64 = demand.iter().map(|load| load.min(rate)).sum();
    (accepted < offered * (1.0 - ROUNDING)).then(|| accepted / f64::from(spec.traffic.members()))
}
