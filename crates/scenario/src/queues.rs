//! Computes the time that packets wait in queues, and checks whether the run was long enough for queues of this length to settle.
//!
//! # Source
//! The relaxation time of a single queue, that is, the time after which its initial state has no effect, at a load near its capacity: D.
//! P. Gaver, "Diffusion approximations and models for certain congestion problems", J. Appl. Probability 5, 1968; J. Abate, W. Whitt,
//! "Transient behavior of regulated Brownian motion", Adv. Appl. Probability 19, 1987. Let the input of a queue have a variance of v
//! flits per cycle, and let packets wait w cycles in it on average. The effect of the queue's initial state falls by a factor e in 8 w^2
//! / v cycles. For a channel of c flits per cycle, the effect falls by this factor in 8 c w^2 / v cycles. In this formula v is still the
//! variance at a channel of one flit per cycle.
//!
//! # Guarantees
//! If the load equals the capacity, a queue grows, and the mean wait after t cycles is sqrt(2 v t / pi) cycles. Weft then computes 4 w^2 /
//! v = 2.5 t, so a growing queue never counts as settled. A queue can also remain from a time in which links were waking. If such a queue
//! needs longer to drain at the load of the run than the run lasts, it does not count as settled either.
//!
//! Weft uses the mean wait that the run itself measured. If the run was too short for its queues to grow, this wait is short, and the
//! queues seem to settle fast. For this reason, queues do not count as settled if latencies still grow in the window
//! (`engine/src/run/steady.rs`).
//!
//! The time that a packet waits for a sleeping link to wake does not count as time in queues. If the policy switched links, the longest
//! possible wait of this kind is subtracted from the mean.
//!
//! The time for which a workload delays a reply (turnaround) does not count as time in queues either. The run measures this time for each
//! reply, and Weft subtracts it.
//!
//! Without queues, the latency of a packet has four parts: router delays, link latencies, extra time of its head on slow links, time of
//! its other flits. The run measures the time of heads on slow links. A packet of P flits has P - 1 flits after its head, which need
//! (P - 1) s cycles. The factor s is the number of cycles that the slowest link of the path needs for a flit. Weft estimates the number
//! of packets that cross each kind of link from the flits of the channels in each state.
//!
//! In a scenario with message classes, Weft also judges the packets of each class. The verdict then uses the longest memory and the largest
//! growth of latencies among the classes. The memory of queues is the time after which their initial state has no effect.
//!
//! # Not modelled
//! Which packets cross slow links. If n of 10 flits cross links that need s cycles, the estimate assumes that n of 10 packets do the same.
//! The estimate assumes that each packet crosses at most one of these links. If a few packets cross several slow links each, the estimated
//! latency without queues is therefore too short. The difference is at most (P - 1) (s - 1) cycles for each additional slow link. The
//! number of packets that wait for sleeping links. If only a few packets wait for links, a queue with waits of the same length is not
//! detected. The router at which packets wait. Weft divides the waiting time evenly among the routers of a path. Weft counts the wait
//! before injection as one queue. If only a few terminals have a long backlog, the mean over all terminals shows it as a short one.

use serde_json::{Map, Value, json};
use weft_engine::Spec;
use weft_engine::outcome::{ChannelCount, Ending, Outcome, PacketSums, PhaseOutcome};
use weft_engine::steady::growth;
use weft_units::{Cycles, Refusal};

/// Queues count as settled if the run lasts at least this factor times w^2 / v. The header explains the mean wait w and the variance v. The
/// factor is half of the 8 in the relaxation time, because a mean over many queues varies less than the length of a single queue.
const RELAXATION: f64 = 4.0;

/// The keys of the summary about queues: time in queues, memory of the queues, the share by which latencies still grow, and the verdict.
/// The verdict is true if the run was longer than the memory of its queues and latencies do not grow. `named_faults`: true if links or
/// routers fail at set times.
///
/// Faults at set times change the network, so latencies can grow because of them. With such faults Weft judges only the length of the run.
/// Random faults do not count here, because they and the queues that they cause occur during the whole run.
pub(crate) fn queues(spec: &Spec, outcome: &Outcome, named_faults: bool) -> Result<Map<String, Value>, Refusal> {
    let spent = Spent {
        sums: &outcome.sums,
        accepted: outcome.accepted_flits,
        serial_cycles: outcome.serial_cycles as f64,
        channels: &outcome.channels,
    };
    let waited = waited(spec, &spent);
    let is_judged = outcome.ending == Ending::Drained && offers_one_load(spec);
    let memory = match waited.filter(|_| is_judged) {
        Some(waited) => Some(memory(spec, waited, &spent)?.max(memory_of_classes(spec, outcome, &spent)?)),
        None => None,
    };
    let lasted = outcome.warmup.saturating_add(outcome.window) as f64;
    let changes = named_faults || !spec.schedule()?.once.is_empty();
    let of_classes = outcome.classes.iter().map(|class| &class.packets.batches);
    let all = std::iter::once(&outcome.batches).chain(of_classes);
    let most = || all.filter_map(|batches| growth(batches)).max_by(f64::total_cmp);
    let growth = memory.filter(|_| !changes).and_then(|_| most());
    Ok(Map::from_iter([
        ("queueing_mean_cycles".to_owned(), json!(waited.map(|waited| waited.in_all))),
        ("queue_memory_cycles".to_owned(), json!(memory.map(f64::ceil))),
        ("latency_growth_share".to_owned(), json!(growth)),
        ("queues_settled".to_owned(), json!(memory.map(|memory| memory <= lasted && growth.is_none()))),
    ]))
}

/// The memory of the queues of each message class, and of these the longest; 0 without classes. A mean over the packets of all classes
/// would hide a class with few packets that wait long.
fn memory_of_classes(spec: &Spec, outcome: &Outcome, spent: &Spent) -> Result<f64, Refusal> {
    outcome.classes.iter().try_fold(0.0, |most: f64, class| {
        // assumes that packets of this class need the same times on their paths as the packets of all classes
        let of_class = Spent { sums: &class.packets.sums, ..*spent };
        Ok(waited(spec, &of_class).map_or(Ok(0.0), |waited| memory(spec, waited, &of_class))?.max(most))
    })
}

/// The keys about queues for a phase of the load: the memory of its queues, and true if the phase had lasted longer than this memory. The
/// length of the phase is counted from its first cycle. Only a phase that began before the window is judged. A phase that begins in the
/// window shows the growth of its queues.
pub(crate) fn of_phase(spec: &Spec, outcome: &Outcome, phase: &PhaseOutcome) -> Result<Map<String, Value>, Refusal> {
    let sums = &phase.packets.sums;
    // the run counts the time on slow links only for the whole window, so each flit gets the same share of this time
    let per_flit = outcome.serial_cycles as f64 / (outcome.accepted_flits as f64).max(1.0);
    let accepted = phase.accepted_flits;
    let spent = Spent { sums, accepted, serial_cycles: per_flit * accepted as f64, channels: &phase.classes };
    let is_judged = phase.offered_flits.is_some() && phase.start < phase.from && keeps_its_load(spec);
    let memory = match waited(spec, &spent).filter(|_| is_judged) {
        Some(waited) => Some(memory(spec, waited, &spent)?),
        None => None,
    };
    let lasted = (phase.to - phase.start) as f64;
    Ok(Map::from_iter([
        ("queue_memory_cycles".to_owned(), json!(memory.map(f64::ceil))),
        ("queues_settled".to_owned(), json!(memory.map(|memory| memory <= lasted))),
    ]))
}

/// Time after which the initial state of queues with this mean wait has no effect \[cycles\].
fn memory(spec: &Spec, waited: Waited, spent: &Spent) -> Result<f64, Refusal> {
    let queue = (waited.in_one - for_links(spec, spent.channels)? as f64).max(0.0);
    Ok(RELAXATION * fastest(spec, spent) * queue.powi(2) / variance(spec)?)
}

/// Measurements of a set of packets: their latencies, the flits delivered in the same time, and the channels that carried them.
struct Spent<'a> {
    sums: &'a PacketSums,
    accepted: u64,
    /// Time of the heads of the delivered packets on slow links \[cycles\], summed over all packets.
    serial_cycles: f64,
    channels: &'a [ChannelCount],
}

/// Mean time that a packet waits in queues \[cycles\]: the sum over all queues, and the time in the longest queue, as far as known.
#[derive(Debug, Clone, Copy)]
struct Waited {
    in_all: f64,
    in_one: f64,
}

/// Computes the mean wait in queues. Returns `None` if no packet was delivered.
fn waited(spec: &Spec, spent: &Spent) -> Option<Waited> {
    let (sums, accepted) = (spent.sums, spent.accepted as f64);
    if sums.packets == 0 || spent.accepted == 0 {
        return None;
    }
    let per_packet = |sum: u64| sum as f64 / sums.packets as f64;
    let on_links =
        |c: &ChannelCount| c.flits.iter().sum::<u64>() as f64 * spec.links[usize::from(c.class)].latency as f64;
    let on_links = spent.channels.iter().map(on_links).sum::<f64>() / accepted;
    let routers = per_packet(sums.hops) + 1.0;
    let flits = per_packet(sums.flits);
    let heads = spent.serial_cycles * flits / accepted;
    let serial = heads + (flits - 1.0) * cycles_per_flit(spec, spent);
    let empty = routers * spec.router.delay as f64 + on_links + spec.router.ejection_delay as f64 + serial;
    let before = per_packet(sums.latency) - per_packet(sums.network_latency) - per_packet(sums.kept_back);
    let before = before.max(0.0);
    let within = (per_packet(sums.network_latency) - empty).max(0.0);
    Some(Waited { in_all: before + within, in_one: before + within / routers })
}

/// For each channel and each state in which it carried flits: the bandwidth and the number of flits.
fn carried<'a>(spec: &'a Spec, spent: &'a Spent) -> impl Iterator<Item = (f64, u64)> + 'a {
    let of_channel = move |channel: &'a ChannelCount| {
        let rate = spec.links[usize::from(channel.class)].rate.per_cycle();
        let carrying = channel.flits.by_state().filter(|&(_, flits)| flits > 0);
        carrying.map(move |(state, flits)| {
            let share = spec.modes.rate(state);
            (rate / (f64::from(share.cycles()) / f64::from(share.flits())), flits)
        })
    };
    spent.channels.iter().flat_map(of_channel)
}

/// Bandwidth of the fastest link that carried flits [flits/cycle].
fn fastest(spec: &Spec, spent: &Spent) -> f64 {
    carried(spec, spent).map(|(rate, _)| rate).fold(0.0, f64::max)
}

/// Number of cycles that the slowest link of a path needs for a flit, as a mean over packets; at least 1.
fn cycles_per_flit(spec: &Spec, spent: &Spent) -> f64 {
    let mut slow: Vec<_> = carried(spec, spent).filter(|&(rate, _)| rate < 1.0).collect();
    slow.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut mean, mut rest) = (0.0, 1.0);
    for (rate, flits) in slow {
        let share = (flits as f64 / spent.accepted as f64).min(rest);
        (mean, rest) = (mean + share / rate, rest - share);
    }
    mean + rest
}

/// The longest possible wait of a packet for a link that is off, without waits for other packets; 0 if the policy switched no link.
fn for_links(spec: &Spec, channels: &[ChannelCount]) -> Result<Cycles, Refusal> {
    match channels.iter().any(|channel| channel.transitions > 0) {
        true => spec.policy.longest_wait(spec.cycle_fs),
        false => Ok(0),
    }
}

/// True if the run measures only one load, so that its mean latency is that of a steady state.
fn offers_one_load(spec: &Spec) -> bool {
    keeps_its_load(spec) && spec.traffic.jobs.iter().all(|job| job.phases.len() == 1)
}

/// True if the load of each phase is constant. A load that adapts to the network keeps queues short, and a batch ends, so these loads are
/// not constant.
fn keeps_its_load(spec: &Spec) -> bool {
    spec.traffic.jobs.iter().all(|job| job.batch.is_none() && !job.workload.model().follows_network())
}

/// Upper estimate of the variance of the flits that are offered to a full channel \[flits^2/cycle\]. It assumes the largest bursts of any
/// source for all sources. With a given injection process, the sources with the lowest load have the largest bursts.
pub(crate) fn variance(spec: &Spec) -> Result<f64, Refusal> {
    let longest = f64::from(spec.traffic.longest());
    spec.traffic.jobs.iter().try_fold(longest, |most, job| {
        let loads = job.phases.iter().flat_map(|phase| &phase.load).copied().filter(|&load| load > 0.0);
        let Some(least) = loads.min_by(f64::total_cmp) else { return Ok(most) };
        let process = job.injection.build(least, job.packets.mean(), spec.cycle_fs, "traffic.injection")?;
        let (mean, scatter) = (job.packets.mean(), job.packets.variance());
        // uses variance / mean of the flits, because both the number of packets and their lengths vary
        Ok((process.dispersion() * mean + scatter / mean).max(most))
    })
}
