//! Time that packets wait in queues, and whether a run was long enough for queues of this length.
//!
//! # Source
//! The relaxation time of a single queue near its capacity: D. P. Gaver, "Diffusion approximations and models for certain
//! congestion problems", J. Appl. Probability 5, 1968; J. Abate, W. Whitt, "Transient behavior of regulated Brownian motion", Adv.
//! Appl. Probability 19, 1987. Let the input of a queue have a variance of v flits per cycle, and let packets wait in it for w
//! cycles on average. Then its initial state fades by a factor e in 8 w^2 / v cycles. For a channel of c flits per cycle this takes
//! 8 c w^2 / v cycles. In this formula v is still that of a channel of one flit per cycle.
//!
//! # Guarantees
//! If the load equals the capacity, a queue grows, and its wait after t cycles is sqrt(2 v t / pi) cycles. So a growing queue never
//! counts as settled: 4 w^2 / v is 2.5 t. A queue may be left over from a time in which links woke. This queue does not count as
//! settled either, if it drains more slowly at this load than the run lasts.
//!
//! The wait is the mean wait in the run itself. If the run was too short for its queues to grow, the wait is short, and the queues
//! seem to fade fast. So a window with latencies that still grow (`engine/src/run/steady.rs`) does not count as settled either.
//!
//! The longest wait until a link is on again, which the policy imposes on a packet, does not count as queueing. This wait is
//! subtracted from the mean if links were switched.
//!
//! The time for which a workload holds a reply back does not count as queueing either. The run counts this time for each reply, and
//! it is subtracted.
//!
//! Without queues, the latency of a packet has four parts: delays, latencies, the time of heads on slow links, and the time of the
//! other flits. The run counts the time of heads. The other P - 1 flits take (P - 1) s cycles. The slowest link of the path takes s
//! cycles for a flit. The number of packets that cross each kind of link is estimated from the flits of the channels, by state.
//!
//! With message classes the packets of each class are also judged. The longest memory of queues counts, and the largest growth of
//! latencies.
//!
//! # Not modelled
//! The packets that cross slow links. If n of 10 flits cross links that take s cycles, the estimate assumes the same of n of 10
//! packets. No packet is assumed to cross two of these links. So if a few packets cross several slow links each, queues are longer
//! than the result. The difference is at most (P - 1) (s - 1) cycles for each further link. The number of packets that wait for
//! links: if only a few do, a queue as short as that wait is not detected. The place at which packets wait. Weft spreads the
//! waiting time evenly over the routers of a path. Weft counts the time before injection as one queue. A backlog of a few terminals
//! appears in the mean over all terminals as a short one.

use serde_json::{Map, Value, json};
use weft_engine::Spec;
use weft_engine::outcome::{ChannelCount, Ending, Outcome, PacketSums, PhaseOutcome};
use weft_engine::steady::growth;
use weft_units::{Cycles, Refusal};

/// A run must last this many times w^2 / v to count as settled. The limit is half of the relaxation time, because means over many
/// queues are known better than the length of a single queue.
const RELAXATION: f64 = 4.0;

/// The keys of the summary about queues: time in queues, the memory of these queues, the share by which latencies still grow, and
/// the verdict. The verdict is true if the run was longer than the memory and latencies do not grow. `named_faults`: whether links
/// or routers fail at set times.
///
/// If the network changes at set times, latencies may grow for this reason. Then only the length of the run is judged. Random
/// faults occur during the whole run, and so do the queues that they leave.
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

/// The longest memory of the queues in which packets of one message class wait; 0 without classes. The mean over all packets would
/// hide a few packets that wait long.
fn memory_of_classes(spec: &Spec, outcome: &Outcome, spent: &Spent) -> Result<f64, Refusal> {
    outcome.classes.iter().try_fold(0.0, |most: f64, class| {
        // assumes that a packet of a class meets the same times on its path as a packet of all classes
        let of_class = Spent { sums: &class.packets.sums, ..*spent };
        Ok(waited(spec, &of_class).map_or(Ok(0.0), |waited| memory(spec, waited, &of_class))?.max(most))
    })
}

/// The keys about queues for a phase of the load: the memory of its queues, and whether the phase had lasted longer than this
/// memory. The time since the first cycle of the phase counts. Only a phase that began before the window is judged, because a phase
/// that begins in it shows how its queues grow.
pub(crate) fn of_phase(spec: &Spec, outcome: &Outcome, phase: &PhaseOutcome) -> Result<Map<String, Value>, Refusal> {
    let sums = &phase.packets.sums;
    // the time on slow links is counted for the whole window, so each flit gets the same share of it
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

/// Memory of queues with a given mean wait \[cycles\].
fn memory(spec: &Spec, waited: Waited, spent: &Spent) -> Result<f64, Refusal> {
    let queue = (waited.in_one - for_links(spec, spent.channels)? as f64).max(0.0);
    Ok(RELAXATION * fastest(spec, spent) * queue.powi(2) / variance(spec)?)
}

/// The times of some packets: their latencies, the flits delivered meanwhile, and their channels.
struct Spent<'a> {
    sums: &'a PacketSums,
    accepted: u64,
    /// Time of the heads of the delivered packets on slow links \[cycles\], summed over all packets.
    serial_cycles: f64,
    channels: &'a [ChannelCount],
}

/// Mean time of a packet in queues \[cycles\]: in all queues, and in the longest queue, as far as that is known.
#[derive(Debug, Clone, Copy)]
struct Waited {
    in_all: f64,
    in_one: f64,
}

/// Returns `None` if nothing was delivered.
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

/// Bandwidth of channels, and their flits, for each state in which they carried flits.
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

/// Flits per cycle of the fastest link that carried flits.
fn fastest(spec: &Spec, spent: &Spent) -> f64 {
    carried(spec, spent).map(|(rate, _)| rate).fold(0.0, f64::max)
}

/// Number of cycles that the slowest link of a path takes for a flit, as a mean over packets; at least 1.
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

/// The longest wait of packets for a link that was off, without waits for other packets; 0 if no link was switched.
fn for_links(spec: &Spec, channels: &[ChannelCount]) -> Result<Cycles, Refusal> {
    match channels.iter().any(|channel| channel.transitions > 0) {
        true => spec.policy.longest_wait(spec.cycle_fs),
        false => Ok(0),
    }
}

/// Whether the run measures a single load, so that a mean latency is that of a steady state.
fn offers_one_load(spec: &Spec) -> bool {
    keeps_its_load(spec) && spec.traffic.jobs.iter().all(|job| job.phases.len() == 1)
}

/// Whether each phase has its own load. A load that follows the network keeps its queues short, and batches end.
fn keeps_its_load(spec: &Spec) -> bool {
    spec.traffic.jobs.iter().all(|job| job.batch.is_none() && !job.workload.model().follows_network())
}

/// Variance of the flits that are offered to a full channel \[flits^2/cycle\], if sources like the most bursty one fill it. For a
/// given process, the sources with the least load are the most bursty.
pub(crate) fn variance(spec: &Spec) -> Result<f64, Refusal> {
    let longest = f64::from(spec.traffic.longest());
    spec.traffic.jobs.iter().try_fold(longest, |most, job| {
        let loads = job.phases.iter().flat_map(|phase| &phase.load).copied().filter(|&load| load > 0.0);
        let Some(least) = loads.min_by(f64::total_cmp) else { return Ok(most) };
        let process = job.injection.build(least, job.packets.mean(), spec.cycle_fs, "traffic.injection")?;
        let (mean, scatter) = (job.packets.mean(), job.packets.variance());
        // variance over mean of the flits, because both the number of packets and their lengths vary
        Ok((process.dispersion() * mean + scatter / mean).max(most))
    })
}
