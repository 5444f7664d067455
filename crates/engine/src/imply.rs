//! What a spec implies before it runs: zero-load latency, mean hops and the load at which a channel is full, worked out
//! from the traffic patterns of the first phases and the paths of the routing (minimal for an adaptive one, as it routes an
//! idle network). Means are over flits; replies are left out.

use crate::assemble;
use crate::net::Net;
use crate::routing::{Classes, Hop};
use crate::spec::Spec;
use crate::state::Packet;
use weft_topology::Peer;
use weft_units::Refusal;

/// Walks beyond this number are not made: the implications that need them are left out.
const MAX_WALKS: u64 = 1 << 27;

/// What a scenario implies before it runs (for `weft check`).
#[derive(Debug, Clone, PartialEq)]
pub struct Implied {
    /// Mean packet latency without contention over the pattern's pairs [cycles], where buffers cover the credit round
    /// trip; `None` if the network is too large.
    pub zero_load_latency: Option<f64>,
    /// Mean links between routers crossed by the pattern's packets without contention.
    pub mean_hops: Option<f64>,
    /// Load [flits/terminal/cycle] of the busiest terminal at which the busiest channel is full.
    pub channel_load_bound: Option<f64>,
    /// VC classes of the routing per link class, in the order of the graph's classes.
    pub vc_classes: Vec<u8>,
}

/// Checks that the spec can run (shapes, VC counts, cycles of channel dependencies) and says what it implies.
pub fn imply(spec: &Spec) -> Result<Implied, Refusal> {
    let (net, classes) = assemble::net(spec)?;
    spec.policy.build(spec.cycle_fs)?;
    Ok(Walker::new(spec, &net).imply(classes))
}

/// Weighted means over the pairs so far.
#[derive(Default)]
struct Means {
    weight: f64,
    hops: f64,
    /// Cycles of wire between routers.
    wire: f64,
}

impl Means {
    fn add(&mut self, weight: f64, (hops, wire): (f64, f64)) {
        self.weight += weight;
        self.hops += (hops - self.hops) * weight / self.weight;
        self.wire += (wire - self.wire) * weight / self.weight;
    }
}

struct Walker<'a> {
    spec: &'a Spec,
    net: &'a Net,
    /// What packets may draw for their whole way.
    draws: Vec<u32>,
    /// Flits per cycle on every channel (flat port index of its sender) when the busiest terminal offers 1.
    load: Vec<f64>,
}

impl<'a> Walker<'a> {
    fn new(spec: &'a Spec, net: &'a Net) -> Self {
        let ports = spec.graph.port_base(spec.graph.routers()) as usize;
        let draws = net.routing.whole_draws(Packet::default(), net.seed);
        Self { spec, net, draws, load: vec![0.0; ports] }
    }

    fn imply(mut self, vc_classes: Classes) -> Implied {
        let graph = &*self.spec.graph;
        let (terminals, routers) = (u64::from(graph.terminals()), u64::from(graph.routers()));
        let has_terminals =
            |&router: &u32| graph.ports(router).iter().any(|port| matches!(port.peer, Peer::Terminal(_)));
        let ends = (0..graph.routers()).filter(has_terminals).count() as u64;
        let routing = &self.net.routing;
        let unknown = Implied { zero_load_latency: None, mean_hops: None, channel_load_bound: None, vc_classes };
        let pairs = if routing.sees_terminals() { terminals * terminals } else { ends * ends };
        if terminals * terminals > 2 * MAX_WALKS || pairs.saturating_mul(routing.walks(routers)) > MAX_WALKS {
            return unknown;
        }
        let jobs = &self.spec.traffic.jobs;
        let first_loads = jobs.iter().flat_map(|job| &job.phases[0].load);
        let peak = first_loads.copied().fold(0.0, f64::max);
        if peak == 0.0 {
            return unknown;
        }
        let mut means = Means::default();
        let mut of_jobs = vec![0.0; jobs.len()];
        let mut to_router = vec![0.0; routers as usize];
        for from in 0..graph.routers() {
            to_router.fill(0.0);
            for port in graph.ports(from) {
                let Peer::Terminal(source) = port.peer else { continue };
                let Some(job) = jobs.get(self.net.job_of[source as usize] as usize) else { continue };
                let (j, rank, phase) = (self.net.job(source), self.net.rank(source), &job.phases[0]);
                let rate = phase.load[rank as usize] / peak;
                of_jobs[j] += rate;
                for (target, share) in phase.pattern.distribution(rank) {
                    let (router, port) = graph.terminal_at(self.net.terminal(j as u16, target));
                    to_router[router as usize] += rate * share;
                    self.load[(graph.port_base(router) + u32::from(port)) as usize] += rate * share;
                    if routing.sees_terminals() {
                        let packet = self.packet(source, target);
                        let mean = self.walk_pair(from, packet, rate * share);
                        means.add(rate * share, mean);
                    }
                }
            }
            for to in (0..graph.routers()).filter(|_| !routing.sees_terminals()) {
                let rate = to_router[to as usize];
                if rate > 0.0 {
                    let target = self.net.coords[to as usize];
                    let mean = self.walk_pair(from, Packet { target, dest: target, ..Packet::default() }, rate);
                    means.add(rate, mean);
                }
            }
        }
        let fixed = 2 * self.spec.links[0].latency + self.spec.router.ejection_delay - 1;
        let lengths = jobs.iter().zip(&of_jobs).map(|(job, rate)| f64::from(job.packet_flits) * rate);
        let length = match jobs.as_slice() {
            [job] => f64::from(job.packet_flits),
            _ => lengths.sum::<f64>() / of_jobs.iter().sum::<f64>(),
        };
        if routing.chooses() {
            self.spread_over_classes();
        }
        // an injection channel of the busiest terminal carries 1
        let busiest = self.load.iter().copied().fold(1.0, f64::max);
        Implied {
            zero_load_latency: Some(
                means.wire + (means.hops + 1.0) * self.spec.router.delay as f64 + (fixed as f64 + length),
            ),
            mean_hops: Some(means.hops),
            channel_load_bound: Some(1.0 / busiest),
            ..unknown
        }
    }

    /// The packet as its source makes it.
    fn packet(&self, src: u32, dst: u32) -> Packet {
        let (router, port) = self.net.terminal_at[dst as usize];
        let dest = self.net.coords[router as usize];
        Packet { src, dst, dst_port: port, dest, target: dest, ..Packet::default() }
    }

    /// Where heads choose among minimal paths the load of a channel is up to the traffic; at best a class of links, all of
    /// whose channels are alike to the routing, shares its load evenly.
    fn spread_over_classes(&mut self) {
        let graph = &*self.spec.graph;
        let links = (0..graph.routers()).flat_map(|r| graph.ports(r)).enumerate();
        let links = links.filter(|(_, port)| matches!(port.peer, Peer::Router { .. }));
        let mut sums = vec![(0.0, 0.0); graph.class_names().len()];
        for (channel, port) in links.clone() {
            let (load, channels) = &mut sums[port.class as usize];
            *load += self.load[channel];
            *channels += 1.0;
        }
        for (channel, port) in links {
            let (load, channels) = sums[port.class as usize];
            self.load[channel] = load / channels;
        }
    }

    /// Loads the paths of a packet at router `from`, all that it may draw; mean hops and cycles of wire.
    fn walk_pair(&mut self, from: u32, packet: Packet, rate: f64) -> (f64, f64) {
        let starts = self.net.routing.starts(self.net.coords[from as usize], packet, &self.draws);
        let share = 1.0 / starts.len() as f64;
        let (mut hops, mut wire) = (0.0, 0.0);
        for start in starts {
            let (h, w) = self.walk(from, start, rate * share);
            hops += share * h;
            wire += share * w;
        }
        (hops, wire)
    }

    /// Loads the paths of a packet that has drawn what holds for its whole way. Where it draws again at a router it is
    /// split; parts that meet at a router after as many hops go on as one.
    fn walk(&mut self, from: u32, packet: Packet, rate: f64) -> (f64, f64) {
        let (graph, net) = (&*self.spec.graph, self.net);
        let (mut hops, mut wire) = (0.0, 0.0);
        let mut parts: Vec<(u32, Packet, f64)> = vec![(from, packet, 1.0)];
        let mut next: Vec<(u32, Packet, f64)> = Vec::new();
        while !parts.is_empty() {
            for (at, packet, part) in parts.drain(..) {
                let mut go = |hop: Hop, after: Packet, part: f64| {
                    let port = graph.ports(at)[hop.port as usize];
                    let Peer::Router { router, .. } = port.peer else { return };
                    let members = net.trunk.members(hop.port);
                    let each = rate * part / members.len() as f64;
                    members.for_each(|m| self.load[(graph.port_base(at) + u32::from(m)) as usize] += each);
                    hops += part;
                    wire += part * self.spec.links[port.class as usize].latency as f64;
                    match next.iter_mut().find(|(r, p, _)| *r == router && p.goes_on_as(&after)) {
                        Some((_, _, sum)) => *sum += part,
                        None => next.push((router, after, part)),
                    }
                };
                let (here, mut after) = (net.coords[at as usize], packet);
                match net.routing.next(here, &mut after, net.seed) {
                    Some(hop) if !net.routing.draws_hops() => go(hop, after, part),
                    _ => {
                        let choices = net.routing.idle_steps(here, &packet, net.seed);
                        let part = part / choices.len() as f64;
                        choices.into_iter().for_each(|c| go(c.hop, c.after, part));
                    }
                }
            }
            std::mem::swap(&mut parts, &mut next);
        }
        (hops, wire)
    }
}
