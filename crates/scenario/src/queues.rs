//! How long packets wait in queues, and whether a run was long enough for queues of this length.
//!
//! # Source
//! The relaxation time of a single queue near its capacity: D. P. Gaver, "Diffusion approximations and models for certain
//! congestion problems", J. Appl. Probability 5, 1968; J. Abate, W. Whitt, "Transient behavior of regulated Brownian
//! motion", Adv. Appl. Probability 19, 1987. A queue whose input varies by v flits per cycle, in variance, and which packets
//! wait in for w cycles on average, forgets how it began by a factor e in 8 w^2 / v cycles.
//!
//! # Guarantees
//! A queue that grows at a load equal to the capacity waits for sqrt(2 v t / pi) cycles after t cycles, so it is never taken
//! for settled: 4 w^2 / v is 2.5 t. Nor is a queue that was left by a time in which links woke, and that the load lets drain
//! more slowly than the run lasts.
//!
//! # Not modelled
//! Where in the network packets wait: the time is taken as spread evenly over the routers of a path, and that before
//! injection as one queue. A backlog that a few terminals have shows in the mean of all as a short one.

use serde_json::{Map, Value, json};
use weft_engine::Spec;
use weft_engine::outcome::{Ending, Outcome};
use weft_units::Refusal;

/// A run must last this many times w^2 / v: half of the relaxation time, as means over many queues are known better than
/// the length of one.
const RELAXATION: f64 = 4.0;

/// The keys of the summary: time in queues, how long queues of this length remember, and whether the run was longer.
pub(crate) fn queues(spec: &Spec, outcome: &Outcome) -> Result<Map<String, Value>, Refusal> {
    let waited = waited(spec, outcome);
    let memory = match waited.filter(|_| is_steady(spec) && outcome.ending == Ending::Drained) {
        Some(waited) => Some(RELAXATION * waited.in_one.powi(2) / variance(spec)?),
        None => None,
    };
    let lasted = outcome.warmup.saturating_add(outcome.window) as f64;
    Ok(Map::from_iter([
        ("queueing_mean_cycles".to_owned(), json!(waited.map(|waited| waited.in_all))),
        ("queue_memory_cycles".to_owned(), json!(memory.map(f64::ceil))),
        ("queues_settled".to_owned(), json!(memory.map(|memory| memory <= lasted))),
    ]))
}

/// Mean time of a packet in queues \[cycles\]: in all of them, and in the longest one as far as that is known.
#[derive(Debug, Clone, Copy)]
struct Waited {
    in_all: f64,
    in_one: f64,
}

/// `None` if nothing was delivered.
fn waited(spec: &Spec, outcome: &Outcome) -> Option<Waited> {
    let (sums, accepted) = (&outcome.sums, outcome.accepted_flits as f64);
    if sums.packets == 0 || outcome.accepted_flits == 0 {
        return None;
    }
    let per_packet = |sum: u64| sum as f64 / sums.packets as f64;
    let on_links = |c: &weft_engine::outcome::ChannelCount| {
        c.flits.iter().sum::<u64>() as f64 * spec.links[usize::from(c.class)].latency as f64
    };
    let on_links = outcome.channels.iter().map(on_links).sum::<f64>() / accepted;
    let routers = per_packet(sums.hops) + 1.0;
    let empty =
        routers * spec.router.delay as f64 + on_links + spec.router.ejection_delay as f64 + per_packet(sums.flits)
            - 1.0;
    let before = (per_packet(sums.latency) - per_packet(sums.network_latency)).max(0.0);
    let within = (per_packet(sums.network_latency) - empty).max(0.0);
    Some(Waited { in_all: before + within, in_one: before + within / routers })
}

/// Whether the run measures one load in a network that stays as it is, so that a mean latency is that of a steady state.
fn is_steady(spec: &Spec) -> bool {
    let jobs = &spec.traffic.jobs;
    spec.faults.is_empty() && jobs.iter().all(|job| job.batch.is_none() && job.phases.len() == 1)
}

/// By how much the flits that a full channel is offered vary \[flits^2/cycle\]: that of its most bursty source.
fn variance(spec: &Spec) -> Result<f64, Refusal> {
    let longest = f64::from(spec.traffic.longest());
    spec.traffic.jobs.iter().try_fold(longest, |most, job| {
        Ok(job.injection.variance(job.packet_flits, spec.cycle_fs, "traffic.injection")?.max(most))
    })
}
