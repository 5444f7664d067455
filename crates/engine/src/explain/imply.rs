//! Predictions about a spec before it runs: zero-load latency, mean hops, and the load at which the busiest channel is full. The
//! predictions follow from the traffic patterns of the jobs' first phases and from the paths of the routing. For an adaptive routing, they
//! use the paths that packets take in an idle network. Each mean is over all packets, including replies.
//!
//! A step looks up about one hop. If all paths need at most [`MAX_STEPS`] steps, the code follows all paths. Otherwise it follows only a
//! sample of the paths ([`sample`]), and the results have sampling errors.

mod accepted;
mod cuts;
mod fullest;
mod sample;
#[cfg(test)]
mod tests;

use crate::explain::serial::{NO_LINKS, Sequences};
use crate::network::assemble;
use crate::network::pairs;
use crate::network::policy;
use crate::network::rebuild;
use crate::network::routing::routing;
use crate::network::spec::{Job, Spec};
use cuts::Cuts;
pub(crate) use fullest::fullest;
use rand_pcg::Pcg32;
pub use sample::Sampled;
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_api::routing::{Classes, Decides, Hop, Needs, RingEntry};
use weft_api::state::Packet;
use weft_api::state::rate::Rate;
use weft_api::walk::{Outcomes, Step};
use weft_kernel::net::Net;
use weft_topology::Peer;
use weft_units::{Refusal, Remark, words};

/// Maximum number of steps for all paths; a step takes about 30 ns. If more steps are needed, the code follows only a
/// sample of the paths.
const MAX_STEPS: u64 = 1 << 23;
/// A hop that packets choose among several hops counts as this number of steps.
const STEPS_OF_CHOICE: u64 = 4;

/// The predictions about a scenario before it runs, for `weft check`.
#[derive(Debug, Clone, PartialEq)]
pub struct Implied {
    /// Mean packet latency without contention [cycles], over the pairs of the traffic pattern; `None` if no terminal sends in the first
    /// phase.
    pub zero_load_latency: Option<f64>,
    /// Mean number of links between routers that packets cross without contention; `None` if no terminal sends in the first phase.
    pub mean_hops: Option<f64>,
    /// Load of the busiest terminal, without its replies, at which the busiest channel is full [flits/terminal/cycle]. `None` if no
    /// terminal sends in the first phase.
    pub channel_load_bound: Option<f64>,
    /// Upper bound on the accepted load [flits/terminal/cycle, mean over the terminals of all jobs] that follows from the links to the
    /// terminals alone. `None` if this bound is not below the offered load, or is unknown.
    pub accepted_load_bound: Option<f64>,
    /// The kind of paths for which `channel_load_bound` is valid.
    pub bound_of: BoundOf,
    /// Whether packets have replies. If packets have replies, hops, latency and bound include the replies.
    pub has_replies: bool,
    /// Sampling errors of these predictions; `None` if all paths were followed, or if no terminal sends.
    pub sampled: Option<Sampled>,
    /// Number of VC classes of the routing on each link class, by number of the link class; two classes that share their VCs count once.
    pub vc_classes: Vec<u8>,
    /// For each link class, the number of VCs of its smallest VC class. The VC classes of rings that declare their own number of VCs do not
    /// count.
    pub vcs_of_class: Vec<u8>,
    /// Number of VCs that each message class may use on each link class.
    pub vcs_of_messages: Vec<Vec<u8>>,
    /// Whether the routing reads queues to choose a path.
    pub reads_queues: bool,
    /// Bias toward the minimal path [flits] of a routing that counts flits and credits in flight as a part of a queue; `None` for other
    /// routings.
    pub bias_of_used_credits: Option<i32>,
    /// The links that are broken from the start, if these predictions treat them as working; `None` otherwise.
    pub broken_links: Option<BrokenLinks>,
    /// Remarks of the routing about its parameters. Users see these remarks as hints.
    pub hints: Vec<Remark>,
}

/// Links that are broken from the start and that the predictions treat as working.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrokenLinks {
    pub links: usize,
    /// Why the predictions treat these links as working. True: without these links, some terminals would be cut off. False: the routing has
    /// no tables for the network without these links.
    pub cut_off: bool,
}

words! {
    /// The kind of paths for which a channel-load bound is valid.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BoundOf {
        /// The paths that packets always take, independent of queues.
        FixedPaths = "fixed_paths",
        /// The paths that packets take while all queues are empty. Under load packets may choose other paths, and the network may
    /// carry more or less.
        EmptyQueues = "empty_queues",
        /// The best choice of minimal paths on a grid: packets load all parallel channels (those of a cut) evenly, so no other choice of
        /// minimal paths carries more.
        BestChoice = "best_choice",
    }
}

impl BoundOf {
    fn of(needs: &Needs, counts_cuts: bool) -> Self {
        match needs.decides {
            _ if counts_cuts => Self::BestChoice,
            Decides::Ahead if needs.sensor.is_none() => Self::FixedPaths,
            Decides::Ahead | Decides::AtHead | Decides::EachStep => Self::EmptyQueues,
        }
    }
}

/// Checks that the spec can run (sizes, VC counts, dependency cycles), and returns the predictions about it.
pub fn imply(spec: &Spec) -> Result<Implied, Refusal> {
    let mut net = assemble::net(spec)?;
    let policy = policy::build(spec)?;
    let alone = "no block shares the routing";
    let routing = routing(spec)?;
    let (first, broken) = (rebuild::first_tables(spec, &*routing)?, rebuild::broken_first(spec));
    let ignored = Some(broken).filter(|&links| links > 0 && first.is_none());
    let broken_links = ignored.map(|links| BrokenLinks { links, cut_off: pairs::rebuilds(spec) });
    net.routing = first.unwrap_or(routing).into();
    Arc::get_mut(&mut net.routing).expect(alone).assume_first_links(&policy, &spec.managed);
    let vc_classes = (0..spec.links.len()).map(|link| net.needs.least_vcs(link)).collect();
    let mut implied = Walker::new(spec, &net).imply(vc_classes);
    implied.vcs_of_class = (0..spec.links.len()).map(|link| vcs_of_class(&net, link)).collect();
    implied.accepted_load_bound = accepted::bound(spec);
    implied.vcs_of_messages = vcs_of_messages(&net);
    implied.bias_of_used_credits = net.routing.bias_of_used_credits();
    implied.broken_links = broken_links;
    implied.hints = net.routing.hints(&|link, class| net.links[link].room_of(class));
    // the policy keeps the fewest links on in an idle network, to which the latency applies; the bound applies to a network with all links
    // on
    if Arc::get_mut(&mut net.routing).expect(alone).assume_all_links() {
        let full = Walker::new(spec, &net).imply(Vec::new());
        implied.channel_load_bound = full.channel_load_bound;
        implied.sampled = Sampled::with_bound_of(implied.sampled, full.sampled, implied.channel_load_bound);
    }
    Ok(implied)
}

/// Computes an entry of [`Implied::vcs_of_class`], for one link class.
fn vcs_of_class(net: &Net, link: usize) -> u8 {
    let own = |class: u8| {
        let is_own = |entry: &RingEntry| entry.vcs.is_some() && (entry.enter == class || entry.move_on == class);
        net.needs.ring_entries_on(link).any(|entry| is_own(&entry))
    };
    let classes = (0..net.needs.classes[link].max(1)).filter(|&class| !own(class));
    let of_class =
        |class: u8| (0..net.class_ranks.len()).map(move |of| net.vcs_for(of, link, class).count_ones() as u8);
    classes.flat_map(of_class).min().unwrap_or(0)
}

/// Computes [`Implied::vcs_of_messages`]: for each message class, the number of VCs that it may use on each link class.
fn vcs_of_messages(net: &Net) -> Vec<Vec<u8>> {
    let on_link = |of: usize, link: usize| {
        let classes = 0..net.needs.classes[link].max(1);
        classes.fold(0, |all, class| all | net.vcs_for(of, link, class)).count_ones() as u8
    };
    let of_class = |of: usize| (0..net.links.len()).map(|link| on_link(of, link)).collect();
    (0..net.class_ranks.len()).map(of_class).collect()
}

fn reads_queues(net: &Net) -> bool {
    net.needs.sensor.is_some() || net.needs.sees_grants
}

/// Weighted means over the packets that were followed so far.
#[derive(Debug, Clone, Copy, Default)]
struct Means {
    /// Number of packets per cycle, in the unit of [`Walker::packets`].
    weight: f64,
    hops: f64,
    /// Mean number of cycles: latency of the links between routers, time for the flits of a packet, and delays by slow links and by waits
    /// for credits.
    wire: f64,
}

impl Means {
    fn add(&mut self, weight: f64, (hops, wire): (f64, f64)) {
        if weight == 0.0 {
            return;
        }
        self.weight += weight;
        self.hops += (hops - self.hops) * weight / self.weight;
        self.wire += (wire - self.wire) * weight / self.weight;
    }
}

/// The packets from one router to another, or from one terminal to another if paths depend on terminals.
struct Flow {
    /// The router of the source terminal.
    from: u32,
    packet: Packet,
    /// Index in [`Walker::lengths`] of the length of these packets.
    length: u16,
    /// Flits per cycle of this flow when the busiest terminal offers 1 flit per cycle.
    rate: f64,
}

/// A part of the packets to one destination, at some router on their path.
struct Part {
    /// The router at which these packets are now.
    at: u32,
    packet: Packet,
    /// Index of the packet length, as in [`Flow`].
    length: u16,
    /// Flits per cycle of this part, or its share of the flow's rate.
    rate: f64,
    /// The sequence of links between routers that these packets have crossed ([`Sequences`]).
    links: u32,
}

struct Walker<'a> {
    spec: &'a Spec,
    net: &'a Net,
    /// Load of the busiest terminal in the first phases of the jobs.
    peak: f64,
    /// The different lengths of packets and replies [flits].
    lengths: Vec<u32>,
    /// Packet numbers, one for each possible outcome of the random choices that packets make once for their whole path.
    draws: Vec<u32>,
    /// For each job and each rank (a terminal of the job), the router of the terminal, and the index of its port among the ports of all
    /// routers.
    receivers: Vec<Vec<(u32, usize)>>,
    /// Flits per cycle on each channel when the busiest terminal offers 1 flit per cycle. The index is that of the sending port among the
    /// ports of all routers. If packets have replies, the list ends with the loads of the injection channels of all terminals.
    load: Vec<f64>,
    /// For each channel between routers, its load on each of the `vc_classes` VC classes. The list is empty if the caller does not need
    /// these loads.
    load_of_class: Vec<f64>,
    vc_classes: usize,
    sequences: Sequences<'a>,
    /// The loads of cuts, used in place of the loads of channels if heads choose among minimal paths. For these routings the load of a
    /// channel depends on the choices of heads, but the load of a cut does not.
    cuts: Option<Cuts>,
    /// Number of steps that the walk has used so far.
    steps: u64,
    /// Number of steps that the walk may use up to the sender that it follows now.
    allowed: u64,
    /// Maximum number of steps for the whole walk.
    most: u64,
    /// Maximum number of parts into which packets that choose again at a router are split. If there are more choices, the walk follows
    /// random ones.
    parts: usize,
    rng: Pcg32,
}

impl<'a> Walker<'a> {
    fn new(spec: &'a Spec, net: &'a Net) -> Self {
        let ports = spec.graph.port_base(spec.graph.routers()) as usize;
        let draws = net.routing.draws().outcomes(Packet::default(), net.seed);
        let chooses = net.needs.decides == Decides::EachStep && net.routing.is_minimal();
        let cuts = if chooses { Cuts::of(&spec.graph) } else { None };
        let peak = spec.traffic.loads(spec.graph.terminals()).into_iter().fold(0.0, f64::max);
        let injecting = if has_replies(spec) { spec.graph.terminals() as usize } else { 0 };
        let lengths = lengths(&spec.traffic.jobs);
        Self {
            spec,
            net,
            peak,
            draws,
            receivers: receivers(spec),
            load: vec![0.0; ports + injecting],
            load_of_class: Vec::new(),
            vc_classes: 0,
            sequences: Sequences::new(spec, net, lengths.clone()),
            lengths,
            cuts,
            steps: 0,
            allowed: 0,
            most: MAX_STEPS,
            parts: usize::MAX,
            rng: sample::stream(),
        }
    }

    fn imply(mut self, vc_classes: Classes) -> Implied {
        let unknown = Implied {
            zero_load_latency: None,
            mean_hops: None,
            channel_load_bound: None,
            accepted_load_bound: None,
            bound_of: BoundOf::of(&self.net.needs, self.cuts.is_some()),
            has_replies: has_replies(self.spec),
            sampled: None,
            vc_classes,
            vcs_of_class: Vec::new(),
            vcs_of_messages: Vec::new(),
            reads_queues: reads_queues(self.net),
            bias_of_used_credits: None,
            broken_links: None,
            hints: Vec::new(),
        };
        if self.peak == 0.0 {
            return unknown;
        }
        let Some(means) = self.walk_all() else {
            return Walker::new(self.spec, self.net).sample(unknown);
        };
        self.weigh_by_rates();
        let over_cuts = self.cuts.as_ref().map_or(0.0, |cuts| cuts.busiest(&self.net.common.rates));
        let busiest = self.load.iter().copied().fold(over_cuts.max(self.of_source()), f64::max);
        Implied {
            zero_load_latency: Some(self.latency(means)),
            mean_hops: Some(means.hops),
            channel_load_bound: Some(1.0 / busiest),
            ..unknown
        }
    }

    /// Mean packet latency without contention [cycles], computed from `means`.
    fn latency(&self, means: Means) -> f64 {
        let fixed = 2 * self.spec.links[0].latency + self.spec.router.ejection_delay - 1;
        means.wire + (means.hops + 1.0) * self.spec.router.delay as f64 + fixed as f64 + turnaround(self.spec)
    }

    /// Number of flits of a packet whose length has index `length`.
    fn flits(&self, length: u16) -> f64 {
        f64::from(self.lengths[usize::from(length)])
    }

    /// Converts flits per cycle to packets per cycle, where a packet of another length than `lengths[0]` counts in proportion to its
    /// length. If all packets have the same length, the result equals `flits`.
    fn packets(&self, flits: f64, length: u16) -> f64 {
        flits * f64::from(self.lengths[0]) / self.flits(length)
    }

    /// The index in `lengths` of the packet length `flits` [flits].
    fn length(&self, flits: u32) -> u16 {
        self.lengths.iter().position(|&length| length == flits).unwrap_or(0) as u16
    }

    /// Converts the load of each channel to a share of the channel's rate.
    fn weigh_by_rates(&mut self) {
        let rates = &self.net.common.rates;
        if rates.iter().all(|&rate| rate == Rate::ONE) {
            return;
        }
        let ports = (0..self.spec.graph.routers()).flat_map(|router| self.spec.graph.ports(router));
        let classes = ports.map(|port| usize::from(port.class)).chain(std::iter::repeat(0));
        for (load, class) in self.load.iter_mut().zip(classes) {
            *load /= rates[class].per_cycle();
        }
    }

    /// The load of the busiest terminal's injection channel, as a share of its rate, when this terminal offers 1 flit per cycle.
    fn of_source(&self) -> f64 {
        1.0 / self.net.common.rates[0].per_cycle()
    }

    /// Follows the packets of every router that sends; `None` if this needs too many steps.
    fn walk_all(&mut self) -> Option<Means> {
        let senders = self.senders();
        let mut means = Means::default();
        let mut by_target: BTreeMap<u64, Vec<Flow>> = BTreeMap::new();
        for (done, &from) in (1..).zip(&senders) {
            // each sender may use an equal share of the steps, so the walk stops early if the network is too large
            self.allowed = self.most / senders.len() as u64 * done;
            for flow in self.flows(from) {
                self.steps += 2;
                if self.cuts.is_some() {
                    let mean = self.cross_cuts(&flow, flow.rate);
                    means.add(self.packets(flow.rate, flow.length), mean);
                } else if self.net.needs.sees_terminals {
                    by_target.entry(flow.packet.dst.into()).or_default().push(flow);
                } else {
                    by_target.entry(flow.packet.dest).or_default().push(flow);
                }
            }
            if self.steps > self.allowed {
                return None;
            }
        }
        self.steps = 0;
        let targets = by_target.len() as u64;
        for (done, flows) in (1..).zip(by_target.into_values()) {
            self.allowed = self.most / targets * done;
            let (packets, mean) = self.walk_to(flows)?;
            means.add(packets, mean);
        }
        Some(means)
    }

    /// Follows all packets to one router, or to one terminal if paths depend on terminals. Returns packets per cycle, mean hops and mean
    /// cycles ([`Means::wire`]); `None` if this needs too many steps.
    fn walk_to(&mut self, flows: Vec<Flow>) -> Option<(f64, (f64, f64))> {
        let (mut parts, mut packets) = (Vec::with_capacity(flows.len()), 0.0);
        for Flow { from, packet, length, rate } in flows {
            let starts = self.starts(from, packet);
            let count = starts.count() as u64;
            if self.steps + count > self.allowed {
                return None;
            }
            let share = rate / count as f64;
            parts.extend(starts.all().map(|packet| Part { at: from, packet, length, rate: share, links: NO_LINKS }));
            self.steps += count;
            packets += self.packets(rate, length);
        }
        let (hops, wire) = self.walk(parts);
        (self.steps <= self.allowed).then_some((packets, (hops / packets, wire / packets)))
    }

    /// The routers that have at least one terminal that sends.
    fn senders(&self) -> Vec<u32> {
        let sends = |&router: &u32| self.sources(router).any(|(_, _, load)| load > 0.0);
        (0..self.spec.graph.routers()).filter(sends).collect()
    }

    /// The flows of the packets that the terminals of router `from` send, and of the replies to these packets. The function also adds these
    /// packets to the loads of the channels to and from the terminals.
    fn flows(&mut self, from: u32) -> Vec<Flow> {
        let (spec, net) = (self.spec, self.net);
        let mut flows = Vec::new();
        // rates by length, direction (away from this router or back to it), and the other router
        let mut between = vec![vec![0.0; spec.graph.routers() as usize]; 2 * self.lengths.len()];
        for (source, j, load) in self.sources(from) {
            let (job, rate) = (&spec.traffic.jobs[j], load / self.peak);
            let reply = job.workload.model().reply_flits();
            let back = reply.map(|flits| self.length(flits));
            let lengths: Vec<_> = job.packets.flit_shares().map(|(flits, part)| (self.length(flits), part)).collect();
            let targets = job.phases[0].pattern.distribution(net.places.rank(source, j));
            self.steps += targets.len() as u64 / 8;
            for (rank, share) in targets {
                let router = self.receivers[j][rank as usize].0;
                let target = job.terminals[rank as usize];
                let replied = self.exchange(j, (source, rank), rate * share);
                if net.needs.sees_terminals {
                    let packet = self.packet(source, target);
                    let flow = |&(length, part): &(u16, f64)| Flow { from, packet, length, rate: rate * share * part };
                    flows.extend(lengths.iter().map(flow));
                    flows.extend(back.map(|length| Flow {
                        from: router,
                        packet: self.packet(target, source),
                        length,
                        rate: replied,
                    }));
                } else {
                    for &(length, part) in &lengths {
                        between[2 * usize::from(length)][router as usize] += rate * share * part;
                    }
                    if let Some(length) = back {
                        between[2 * usize::from(length) + 1][router as usize] += replied;
                    }
                }
            }
        }
        for (place, rates) in between.into_iter().enumerate() {
            for (other, rate) in (0..).zip(rates).filter(|&(_, rate)| rate > 0.0) {
                let (from, to) = if place % 2 == 0 { (from, other) } else { (other, from) };
                let packet = between_routers(net.coords[to as usize]);
                flows.push(Flow { from, packet, length: (place / 2) as u16, rate });
            }
        }
        flows
    }

    /// Adds the flits per cycle that terminal `source` of job `j` sends to rank `rank`, and the flits of the replies, to the loads of the
    /// channels of both terminals. Returns the flits per cycle of the replies.
    fn exchange(&mut self, j: usize, (source, rank): (u32, u32), rate: f64) -> f64 {
        let job = &self.spec.traffic.jobs[j];
        self.load[self.receivers[j][rank as usize].1] += rate;
        let Some(reply) = job.workload.model().reply_flits() else {
            if has_replies(self.spec) {
                self.add_injected(source, rate);
            }
            return 0.0;
        };
        let replied = rate * f64::from(reply) / job.packets.mean();
        self.load[self.receivers[j][self.net.places.rank(source, j) as usize].1] += replied;
        self.add_injected(source, rate);
        self.add_injected(job.terminals[rank as usize], replied);
        replied
    }

    /// Adds flits per cycle to the load of a terminal's injection channel, if packets have replies.
    fn add_injected(&mut self, terminal: u32, rate: f64) {
        let ports = self.load.len() - self.spec.graph.terminals() as usize;
        self.load[ports + terminal as usize] += rate;
    }

    /// The terminals of the router that belong to jobs. Each terminal has the number of its job, and its load in the
    /// first phase of that job.
    fn sources(&self, router: u32) -> impl Iterator<Item = (u32, usize, f64)> + use<'a> {
        let (spec, net) = (self.spec, self.net);
        let terminals = spec.graph.ports(router).iter().filter_map(|port| match port.peer {
            Peer::Terminal(source) => Some(source),
            Peer::Router { .. } | Peer::Unused => None,
        });
        terminals.flat_map(move |source| {
            let load = |j: u16, rank: u32| spec.traffic.jobs[usize::from(j)].phases[0].load[rank as usize];
            net.places.of(source).iter().map(move |&(j, rank)| (source, usize::from(j), load(j, rank)))
        })
    }

    /// The packet as its source terminal creates it.
    fn packet(&self, src: u32, dst: u32) -> Packet {
        let (router, port) = self.net.terminal_at[dst as usize];
        let dest = self.net.coords[router as usize];
        Packet { src, dst, dst_port: port, dest, target: dest, ..Packet::default() }
    }

    /// Adds the packets of a flow, with this rate in flits per cycle, to the loads of the cuts that they cross. Returns the number of hops
    /// of these packets, and their cycles ([`Means::wire`]).
    fn cross_cuts(&mut self, flow: &Flow, rate: f64) -> (f64, f64) {
        let (mut hops, mut wire, mut sequence) = (0.0, 0.0, NO_LINKS);
        if let Some(cuts) = &mut self.cuts {
            cuts.cross(self.net.coords[flow.from as usize], flow.packet.dest, rate, |class, links| {
                hops += f64::from(links);
                wire += f64::from(links) * self.spec.links[usize::from(class)].latency as f64;
                (0..links).for_each(|_| sequence = self.sequences.after(sequence, class));
            });
            wire += self.sequences.adds(sequence, flow.length) + self.flits(flow.length);
        }
        self.steps += 1 + hops as u64 / 8;
        (hops, wire)
    }

    /// The packet as it leaves its source: one packet per possible outcome of the source's random choices. All outcomes are equally likely.
    fn starts(&self, from: u32, packet: Packet) -> Outcomes<'_> {
        self.net.routing.starts(self.net.coords[from as usize], packet, &self.draws)
    }

    /// Follows packets to one destination after their sources have made their random choices. `parts`: for each of these packets, its
    /// router, the packet, and its rate. The function adds the packets to the loads of the channels on their paths. If a packet chooses
    /// again at a router, it becomes several parts with smaller rates. Parts are joined if they meet at a router after the same number of
    /// hops, and their remaining hops are equal. Returns two sums over the packets: hops times packets per cycle, and cycles
    /// ([`Means::wire`]) times packets per cycle.
    fn walk(&mut self, mut parts: Vec<Part>) -> (f64, f64) {
        let (graph, net) = (&*self.spec.graph, self.net);
        let (mut hops, mut wire) = (0.0, 0.0);
        // number of hops that `idle_steps` returned, but that no packet takes in an idle network
        let mut listed = 0;
        let mut next: Vec<Part> = Vec::new();
        while !parts.is_empty() {
            let room = self.parts / parts.len().min(self.parts);
            for Part { at, packet, length, rate: part, links } in parts.drain(..) {
                let flits = f64::from(self.lengths[usize::from(length)]);
                let packets = f64::from(self.lengths[0]) / flits;
                let mut go = |hop: Hop, after: Packet, part: f64, steps: u64| {
                    self.steps += steps;
                    let port = graph.ports(at)[hop.port as usize];
                    let Peer::Router { router, .. } = port.peer else {
                        wire += part * packets * (self.sequences.adds(links, length) + flits);
                        return;
                    };
                    let trunk = graph.trunk(at, hop.port);
                    let each = part / f64::from(trunk.width);
                    for member in trunk.members() {
                        let channel = (graph.port_base(at) + u32::from(member)) as usize;
                        self.load[channel] += each;
                        let of_class = self.vc_classes * channel + usize::from(hop.class);
                        self.load_of_class.get_mut(of_class).into_iter().for_each(|load| *load += each);
                    }
                    hops += part * packets;
                    wire += part * packets * self.spec.links[port.class as usize].latency as f64;
                    let links = self.sequences.after(links, port.class);
                    next.push(Part { at: router, packet: after, length, rate: part, links });
                };
                let (here, mut after) = (net.coords[at as usize], packet);
                match net.routing.take_next(here, &mut after, net.seed) {
                    Some(hop) if !net.routing.draws_hops() => go(hop, after, part, 1),
                    _ => {
                        let (mut choices, others) = net.routing.idle_steps(here, &packet, net.seed);
                        listed += others as u64;
                        let weight = |c: &Step| net.routing.weight(here, &packet, c, net.seed);
                        let mut weights: Vec<f64> = choices.iter().map(weight).collect();
                        if choices.len() > room {
                            let picked = sample::draw(&mut self.rng, &weights);
                            (choices, weights) = (vec![choices.swap_remove(picked)], vec![1.0]);
                        }
                        let part = part / weights.iter().sum::<f64>();
                        let choices = choices.into_iter().zip(weights);
                        choices.for_each(|(c, weight)| go(c.hop, c.after, part * weight, STEPS_OF_CHOICE));
                    }
                }
            }
            join(&mut next);
            std::mem::swap(&mut parts, &mut next);
        }
        self.steps += listed;
        (hops, wire)
    }
}

/// For each job and rank, the router of the terminal, and the index of its port.
fn receivers(spec: &Spec) -> Vec<Vec<(u32, usize)>> {
    let place = |&terminal: &u32| {
        let (router, port) = spec.graph.terminal_at(terminal);
        (router, (spec.graph.port_base(router) + u32::from(port)) as usize)
    };
    spec.traffic.jobs.iter().map(|job| job.terminals.iter().map(place).collect()).collect()
}

/// Whether packets of at least one job get replies.
fn has_replies(spec: &Spec) -> bool {
    spec.traffic.jobs.iter().any(|job| job.workload.model().reply_flits().is_some())
}

/// Mean number of cycles that packets of the first phases wait at their terminal before they may leave. Only replies wait, but the mean is
/// over packets and replies.
fn turnaround(spec: &Spec) -> f64 {
    let (mut cycles, mut all) = (0.0, 0.0);
    for job in &spec.traffic.jobs {
        let (model, packets) = (job.workload.model(), job.phases[0].load.iter().sum::<f64>() / job.packets.mean());
        all += packets;
        if model.reply_flits().is_some() {
            cycles += packets * model.turnaround(spec.cycle_fs, "traffic").unwrap_or(0) as f64;
            all += packets;
        }
    }
    cycles / all
}

/// The different lengths of the jobs' packets and replies [flits].
fn lengths(jobs: &[Job]) -> Vec<u32> {
    let own = |job: &Job| job.packets.shares().iter().map(|&(flits, _)| flits).collect::<Vec<_>>();
    let of_job = |job: &Job| own(job).into_iter().chain(job.workload.model().reply_flits());
    let mut lengths: Vec<u32> = jobs.iter().flat_map(of_job).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Joins parts that are at the same router and have equal remaining hops. The parts must also have the same source and packet number,
/// because these decide random choices.
fn join(parts: &mut Vec<Part>) {
    let key =
        |part: &Part| (part.at, part.length, part.packet.src, part.packet.seq, part.packet.route_state(), part.links);
    if parts.len() > 1 {
        parts.sort_by_key(key);
        parts.dedup_by(|later, first| {
            let same = key(later) == key(first);
            if same {
                first.rate += later.rate;
            }
            same
        });
    }
}

/// A packet to the router with coordinates `dest`, for paths that do not depend on terminals.
fn between_routers(dest: u64) -> Packet {
    Packet { target: dest, dest, ..Packet::default() }
}
