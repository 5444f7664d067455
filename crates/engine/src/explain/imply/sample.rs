//! Follows a sample of the paths, in networks with too many paths to follow all.
//!
//! The code takes eight samples, each with paths from every router that sends. A sample takes destinations and intermediates at equal
//! distances from the list of all destinations or intermediates. From router to router, a fixed step shifts the positions of these in the
//! list (a rank-1 lattice, shifted at random: I. H. Sloan, S. Joe, "Lattice Methods for Multiple Integration", 1994). Therefore all
//! destinations and intermediates occur about equally often, and the loads of channels have far less noise than with independent random
//! choices. The error of a mean follows from the spread of the eight samples.
//!
//! In one sample, the load of the busiest channel is too high on average, because this channel is the busiest partly by chance. If we
//! instead take the channel that is busiest in seven samples, its load in the eighth sample is too low on average, because the channel that
//! is really the busiest may be another one. The estimate is the midpoint between these two values, and its interval extends beyond both
//! values.

use super::{Cuts, Flow, Implied, MAX_STEPS, Means, Part, Walker, between_routers};
use crate::explain::serial::NO_LINKS;
use rand_pcg::Pcg32;
use weft_api::state::Packet;
use weft_api::state::rate::Rate;
use weft_traffic::below;
use weft_units::gcd;

const SAMPLES: usize = 8;
/// Maximum number of steps of all samples together.
const STEPS: u64 = MAX_STEPS / 2;
/// Student's t for 95 % and the 7 degrees of freedom of 8 samples.
const T95: f64 = 2.365;
/// Maximum number of parts into which the walk splits a packet that chooses again at each router.
const MAX_PARTS: u64 = 256;
/// Number of routers whose destinations are counted, to estimate whether the destinations of all routers can be listed.
const PROBES: usize = 4;

/// The stream of random numbers for all samples. The seed is fixed, so the same scenario always gets the same sample.
pub(super) fn stream() -> Pcg32 {
    weft_traffic::stream(0x5a, 0, 0)
}

/// Draws a random index of the list `weights`, with probabilities in proportion to the weights.
pub(super) fn draw(rng: &mut Pcg32, weights: &[f64]) -> usize {
    if weights.iter().all(|&weight| weight == weights[0]) {
        return below(rng, weights.len() as u32) as usize;
    }
    let mut rest = f64::from(below(rng, u32::MAX)) / f64::from(u32::MAX) * weights.iter().sum::<f64>();
    let is_it = |&weight: &f64| {
        rest -= weight;
        rest < 0.0
    };
    weights.iter().position(is_it).unwrap_or(weights.len() - 1)
}

/// Sampling errors of the predictions, if only a sample of the paths was followed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampled {
    /// Number of paths in the sample.
    pub paths: u64,
    /// Standard error of the zero-load latency [cycles], from the spread of the eight samples.
    pub zero_load_latency_error: f64,
    /// Standard error of the mean number of hops.
    pub mean_hops_error: f64,
    /// 95 % confidence interval of the load at which the busiest channel is full [flits/terminal/cycle].
    pub channel_load_bound: (f64, f64),
}

impl Sampled {
    /// Combines the sampling errors of predictions whose means come from one walk, and whose bound comes from another walk.
    pub(super) fn with_bound_of(means: Option<Self>, bound: Option<Self>, value: Option<f64>) -> Option<Self> {
        let some = means.or(bound)?;
        let exact = value.unwrap_or(1.0);
        Some(Self {
            paths: some.paths,
            zero_load_latency_error: means.map_or(0.0, |sampled| sampled.zero_load_latency_error),
            mean_hops_error: means.map_or(0.0, |sampled| sampled.mean_hops_error),
            channel_load_bound: bound.map_or((exact, exact), |sampled| sampled.channel_load_bound),
        })
    }
}

/// The result of one of the samples.
#[derive(Clone)]
struct Sample {
    means: Means,
    load: Vec<f64>,
    cuts: Option<Cuts>,
    /// The offset of the sample's lattice.
    shift: f64,
    /// The step by which the lattice shifts from each router to the next.
    step: usize,
    /// The lattice's offset for intermediates. It is independent of the offset for destinations.
    start: f64,
}

/// Counts of the paths that a sample followed.
#[derive(Default)]
struct Followed {
    pairs: u64,
    /// Number of paths between the followed pairs.
    starts: u64,
    /// Number of these paths that were followed.
    paths: u64,
}

impl Walker<'_> {
    /// The predictions from eight samples of the paths.
    pub(super) fn sample(mut self, unknown: Implied) -> Implied {
        let senders = self.senders();
        let lists = self.can_list(&senders);
        let share = STEPS / (SAMPLES * senders.len()) as u64;
        (self.allowed, self.parts) = (u64::MAX, (share / 16).clamp(1, MAX_PARTS) as usize);
        let (pairs, paths) = self.plan(&senders, lists, share);
        let mut samples: Vec<Sample> = (0..SAMPLES).map(|k| self.begin(k, senders.len())).collect();
        let mut followed = Followed::default();
        for (place, &from) in senders.iter().enumerate() {
            let listed = if lists { self.flows(from) } else { Vec::new() };
            for sample in &mut samples {
                self.swap(sample);
                let drawn = if lists { Vec::new() } else { self.draw_flows(from, pairs) };
                let offset = sample.shift + (place * sample.step % senders.len()) as f64 / senders.len() as f64;
                for (flow, rate) in pick(if lists { &listed } else { &drawn }, pairs, offset.fract()) {
                    let mean = self.follow(flow, rate, (paths, sample.start), &mut followed);
                    sample.means.add(self.packets(rate, flow.length), mean);
                }
                self.swap(sample);
            }
        }
        let (hops, hops_error) = mean_and_error(samples.iter().map(|sample| sample.means.hops));
        let (latency, latency_error) = mean_and_error(samples.iter().map(|sample| self.latency(sample.means)));
        for sample in &mut samples {
            self.swap(sample);
            self.weigh_by_rates();
            self.swap(sample);
        }
        self.weigh_by_rates();
        let (bound, interval) = self.bound(&samples);
        Implied {
            zero_load_latency: Some(latency),
            mean_hops: Some(hops),
            channel_load_bound: Some(bound),
            sampled: Some(Sampled {
                paths: followed.paths,
                zero_load_latency_error: latency_error,
                mean_hops_error: hops_error,
                channel_load_bound: interval,
            }),
            ..unknown
        }
    }

    /// Number of destinations per router, and number of paths per destination, for a sample that takes about `steps` steps. The two numbers
    /// are about equal: too few destinations and too few paths cause equally large errors in the loads of channels.
    fn plan(&mut self, senders: &[u32], lists: bool, steps: u64) -> (usize, usize) {
        let mut scratch = self.begin(0, senders.len());
        self.swap(&mut scratch);
        let (mut followed, mut walked) = (Followed::default(), 0);
        for &from in senders.iter().step_by(senders.len().div_ceil(PROBES)) {
            let flows = if lists { self.flows(from) } else { self.draw_flows(from, PROBES) };
            let before = self.steps;
            for (flow, rate) in pick(&flows, PROBES, 0.5) {
                self.follow(flow, rate, (PROBES, 0.0), &mut followed);
            }
            walked += self.steps - before;
        }
        self.swap(&mut scratch);
        let all = (steps * followed.paths / walked.max(1)).max(1);
        let paths = all.isqrt().clamp(1, (followed.starts / followed.pairs.max(1)).max(1));
        ((all / paths) as usize, paths as usize)
    }

    fn begin(&mut self, k: usize, senders: usize) -> Sample {
        // the fractional parts of multiples of the golden ratio are spread evenly from 0 to 1, even if there are only a few
        let golden = (k + 1) as f64 * 0.618_033_988_749_895;
        let mut step = (golden.fract() * senders as f64) as usize;
        while gcd(step as u128, senders as u128) != 1 {
            step += 1;
        }
        let (shift, start) = (self.fraction(), self.fraction());
        Sample {
            means: Means::default(),
            load: vec![0.0; self.load.len()],
            cuts: self.cuts.clone(),
            shift,
            step,
            start,
        }
    }

    /// Exchanges the loads that the walker adds up with those of a sample.
    fn swap(&mut self, sample: &mut Sample) {
        std::mem::swap(&mut self.load, &mut sample.load);
        std::mem::swap(&mut self.cuts, &mut sample.cuts);
    }

    /// Whether the destinations of all terminals can be listed in at most `MAX_STEPS` steps.
    fn can_list(&self, senders: &[u32]) -> bool {
        let (mut probed, mut destinations, mut sources) = (0, 0, 0);
        for &router in senders.iter().step_by(senders.len().div_ceil(PROBES)) {
            for (source, j, _) in self.sources(router) {
                let pattern = &self.spec.traffic.jobs[j].phases[0].pattern;
                destinations += pattern.distribution(self.net.places.rank(source, j)).len() as u64;
                sources += 1;
            }
            probed += 1;
        }
        let in_all = sources * senders.len() as u64 / probed;
        destinations / sources.max(1) * in_all / 8 <= MAX_STEPS
    }

    /// Flows from random terminals of a router to random destinations, used if the destinations cannot be listed.
    fn draw_flows(&mut self, from: u32, count: usize) -> Vec<Flow> {
        let (spec, net) = (self.spec, self.net);
        let sources: Vec<_> = self.sources(from).collect();
        let total: f64 = sources.iter().map(|(_, _, load)| load).sum();
        let rate = total / self.peak / count as f64;
        let mut flows = Vec::with_capacity(count);
        for _ in 0..count {
            let mut rest = self.fraction() * total;
            let drawn = sources.iter().find(|(_, _, load)| {
                rest -= load;
                rest < 0.0
            });
            let &(source, j, _) = drawn.unwrap_or(&sources[0]);
            let job = &spec.traffic.jobs[j];
            let target = job.phases[0].pattern.destination(net.places.rank(source, j), &mut self.rng);
            let Some(target) = target.map(|target| job.terminals[target as usize]) else { continue };
            let router = spec.graph.terminal_at(target).0;
            let replied = self.exchange(j, (source, net.places.rank(target, j)), rate);
            let packet = |from: u32, to: u32, router: u32| match net.needs.sees_terminals {
                true => self.packet(from, to),
                false => between_routers(net.coords[router as usize]),
            };
            let packet_there = packet(source, target, router);
            flows.extend(job.packets.flit_shares().map(|(flits, part)| Flow {
                from,
                packet: packet_there,
                length: self.length(flits),
                rate: rate * part,
            }));
            flows.extend(job.workload.model().reply_flits().map(|flits| Flow {
                from: router,
                packet: packet(target, source, from),
                length: self.length(flits),
                rate: replied,
            }));
        }
        flows
    }

    /// Follows at most `paths` paths of a flow. Returns their mean hops and mean cycles ([`Means::wire`]).
    fn follow(&mut self, flow: &Flow, rate: f64, (paths, start): (usize, f64), followed: &mut Followed) -> (f64, f64) {
        let mut mean = (0.0, 0.0);
        followed.pairs += 1;
        if self.cuts.is_some() {
            mean = self.cross_cuts(flow, rate);
            (followed.starts, followed.paths) = (followed.starts + 1, followed.paths + 1);
        } else {
            // for each pair, start at another position in the list of intermediates
            let begin = (start + followed.pairs as f64 * 0.618_033_988_749_895).fract();
            let (picked, all) = self.pick_starts(flow.from, flow.packet, paths, begin);
            let (each, packets) = (rate / picked.len() as f64, self.packets(rate, flow.length));
            followed.starts += all as u64;
            followed.paths += picked.len() as u64;
            for packet in picked {
                let part = Part { at: flow.from, packet, length: flow.length, rate: each, links: NO_LINKS };
                let (hops, wire) = self.walk(vec![part]);
                mean = (mean.0 + hops / packets, mean.1 + wire / packets);
            }
        }
        mean
    }

    /// Picks at most `most` outcomes of the source's random choices for this packet, at equal distances in the list of all outcomes.
    /// Returns these outcomes and the length of that list. The function does not create the packets of other outcomes, because a network
    /// may have tens of thousands of intermediates.
    pub(super) fn pick_starts(&self, from: u32, packet: Packet, most: usize, begin: f64) -> (Vec<Packet>, usize) {
        let starts = self.starts(from, packet);
        let (all, count) = (starts.count(), starts.count().min(most));
        let place = |k: usize| ((k as f64 + begin) * all as f64 / count as f64) as usize;
        ((0..count).map(|k| starts.nth(place(k))).collect(), all)
    }

    /// The bound on the load and its confidence interval, computed as the header of this file describes.
    fn bound(&self, samples: &[Sample]) -> (f64, (f64, f64)) {
        let (low, load, high) = if self.cuts.is_some() {
            let rates: &[Rate] = &self.net.common.rates;
            let busiest = samples.iter().map(|sample| sample.cuts.as_ref().map_or(0.0, |cuts| cuts.busiest(rates)));
            let (mean, error) = mean_and_error(busiest);
            (mean - T95 * error, mean, mean + T95 * error)
        } else {
            busiest(samples)
        };
        // if destinations are listed, `load` has the exact loads of terminal channels; that of the busiest injection channel is always
        // exact
        let exact = self.load.iter().copied().fold(self.of_source(), f64::max);
        let bound = |load: f64| 1.0 / load.max(exact);
        (bound(load), (bound(high), bound(low)))
    }

    /// A random number from 0 to 1.
    fn fraction(&mut self) -> f64 {
        f64::from(below(&mut self.rng, 1 << 24)) / f64::from(1 << 24)
    }
}

/// Load of the busiest channel: the lowest likely value, the estimate, and the highest likely value.
fn busiest(samples: &[Sample]) -> (f64, f64, f64) {
    let channels = samples[0].load.len();
    let sums: Vec<f64> = (0..channels).map(|c| samples.iter().map(|sample| sample.load[c]).sum()).collect();
    let most = |load: &dyn Fn(usize) -> f64| (0..channels).max_by(|&a, &b| load(a).total_cmp(&load(b))).unwrap_or(0);
    let by_chance = most(&|c| sums[c]);
    let (naive, naive_error) = mean_and_error(samples.iter().map(|sample| sample.load[by_chance]));
    let elsewhere = |sample: &Sample| sample.load[most(&|c| sums[c] - sample.load[c])];
    let (other, other_error) = mean_and_error(samples.iter().map(elsewhere));
    let load = (naive + other) / 2.0;
    ((other - T95 * other_error).min(load), load, (naive + T95 * naive_error).max(load))
}

/// Picks `count` flows at equal distances in the running sum of the flows' rates, and gives each an equal share of the total rate.
fn pick(flows: &[Flow], count: usize, offset: f64) -> Vec<(&Flow, f64)> {
    let total: f64 = flows.iter().map(|flow| flow.rate).sum();
    let each = total / count as f64;
    let (mut passed, mut picked) = (0.0, Vec::with_capacity(count));
    for (place, flow) in flows.iter().enumerate() {
        passed += flow.rate;
        let is_last = place + 1 == flows.len();
        while picked.len() < count && (passed > (picked.len() as f64 + offset) * each || is_last) {
            picked.push((flow, each));
        }
    }
    picked
}

/// The mean of the values, and its standard error.
fn mean_and_error(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}
