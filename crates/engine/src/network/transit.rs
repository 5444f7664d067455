//! Estimates for how long packets are in flight, from the latencies of links and the distances between routers. The estimate neither builds
//! a network nor follows packets.

use crate::network::jobs::Job;
use crate::network::spec::{LinkClass, Spec};
use weft_topology::{Graph, Peer};

/// Estimated ratio of the time in flight under load to the time in flight without queues.
const QUEUES: f64 = 1.5;
/// Number of routers from which the estimate measures distances.
const PROBES: u32 = 16;

/// An average packet: means over shortest paths from a sample of routers to all others.
pub(crate) struct Transit {
    /// Number of links between routers that the packet crosses.
    pub hops: f64,
    /// Cycles from its injection to its delivery in an idle network.
    cycles: f64,
}

impl Transit {
    pub(crate) fn of(spec: &Spec) -> Self {
        let (hops, wire, delay) = (mean_hops(&spec.graph), mean_latency(spec), spec.router.delay as f64);
        let cycles = 2.0 * spec.links[0].latency as f64
            + hops * (wire + delay)
            + delay
            + spec.router.ejection_delay as f64
            + f64::from(spec.traffic.longest()) * slowest(spec);
        Self { hops, cycles }
    }

    /// Cycles from its injection to its delivery in an idle network.
    pub(crate) fn without_queues(&self) -> f64 {
        self.cycles
    }

    /// Cycles from its injection to its delivery under load.
    pub(crate) fn with_queues(&self) -> f64 {
        self.cycles * QUEUES
    }
}

/// Flits per cycle that all terminals together send at the load of the spec. Each job counts with the phase in which it sends most.
pub(crate) fn offered_flits(spec: &Spec) -> f64 {
    let of_phase = |loads: &[f64]| loads.iter().sum::<f64>();
    let of_job = |job: &Job| job.phases.iter().map(|phase| of_phase(&phase.load)).fold(0.0, f64::max);
    spec.traffic.jobs.iter().map(of_job).sum::<f64>().min(f64::from(spec.graph.terminals()))
}

/// Length of the shortest packets [flits].
pub(crate) fn shortest(spec: &Spec) -> f64 {
    f64::from(spec.traffic.lengths().min().unwrap_or(1).max(1))
}

/// Mean number of packets in flight at the load of the spec, by Little's law.
pub(crate) fn packets_under_way(spec: &Spec) -> f64 {
    offered_flits(spec) * Transit::of(spec).with_queues() / shortest(spec)
}

/// Number of cycles that a flit takes on the slowest link, in the slowest state that the policy uses; at least 1.
fn slowest(spec: &Spec) -> f64 {
    let slowest = spec.slowest_mode();
    let of_link = |(link, &managed): (&LinkClass, &bool)| {
        let slowdown = if managed { f64::from(slowest.cycles()) / f64::from(slowest.flits()) } else { 1.0 };
        slowdown / link.rate.per_cycle()
    };
    spec.links.iter().zip(&spec.managed).map(of_link).fold(1.0, f64::max)
}

/// Mean distance from a sample of routers to all others, in links.
fn mean_hops(graph: &Graph) -> f64 {
    let probes = (0..graph.routers()).step_by(graph.routers().div_ceil(PROBES) as usize);
    let (mut links, mut pairs) = (0.0, 0.0);
    for distance in probes.flat_map(|router| graph.distances_from(router)).filter(|&distance| distance < u32::MAX) {
        links += f64::from(distance);
        pairs += 1.0;
    }
    links / f64::max(pairs, 1.0)
}

/// Mean latency of the links between routers [cycles].
fn mean_latency(spec: &Spec) -> f64 {
    let ports = (0..spec.graph.routers()).flat_map(|router| spec.graph.ports(router));
    let (mut cycles, mut count) = (0.0, 0.0);
    for port in ports.filter(|port| matches!(port.peer, Peer::Router { .. })) {
        cycles += spec.links[usize::from(port.class)].latency as f64;
        count += 1.0;
    }
    cycles / f64::max(count, 1.0)
}
