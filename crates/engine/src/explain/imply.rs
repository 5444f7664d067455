//! What a spec implies before it runs: zero-load latency, mean hops, and the load at which a channel is full. They
//! follow from the traffic patterns of the first phases and the paths of the routing (for an adaptive routing, the
//! paths that it takes in an idle network). Means are over flits; replies are left out.

mod cuts;

use crate::api::routing::{Classes, Decides, Hop};
use crate::network::assemble;
use crate::network::policy;
use crate::network::spec::Spec;
use crate::pipeline::net::Net;
use crate::state::Packet;
use cuts::Cuts;
use std::sync::Arc;
use weft_topology::Peer;
use weft_units::Refusal;

/// Most steps, of about 30 ns each. Numbers that need more steps are left out.
const MAX_STEPS: u64 = 1 << 23;
/// How many steps a hop counts as, if packets draw at every router.
const STEPS_OF_CHOICE: u64 = 4;

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
    /// VC classes of the routing per link class, in the order of the graph's classes; two that share their VCs are one.
    pub vc_classes: Vec<u8>,
    /// Whether the routing reads queues to choose a path.
    pub reads_queues: bool,
}

/// Checks that the spec can run (shapes, VC counts, cycles of channel dependencies) and says what it implies.
pub fn imply(spec: &Spec) -> Result<Implied, Refusal> {
    let mut net = assemble::net(spec)?;
    let policy = policy::build(spec)?;
    let alone = "no block shares the routing";
    net.routing = assemble::routing(spec)?.into();
    Arc::get_mut(&mut net.routing).expect(alone).assume_first_links(&policy, &spec.managed);
    let vc_classes = (0..spec.links.len()).map(|link| net.needs.least_vcs(link)).collect();
    let mut implied = Walker::new(spec, &net).imply(vc_classes);
    // an idle network has the fewest links on; at high load all of them may be on
    if Arc::get_mut(&mut net.routing).expect(alone).assume_all_links() {
        implied.channel_load_bound = Walker::new(spec, &net).imply(Vec::new()).channel_load_bound;
    }
    Ok(implied)
}

/// Weighted sums over the pairs so far.
#[derive(Default)]
struct Means {
    weight: f64,
    hops: f64,
    /// Cycles on links between routers.
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

struct Walker<'a> {
    spec: &'a Spec,
    net: &'a Net,
    /// The random choices that packets make once, for their whole path.
    draws: Vec<u32>,
    /// Flits per cycle on every channel (flat port index of its sender) when the busiest terminal offers 1.
    load: Vec<f64>,
    /// Used in place of the channels between routers if heads choose among minimal paths: the load of a channel then
    /// depends on the choices, but that of a cut does not.
    cuts: Option<Cuts>,
    /// Steps so far, and most steps allowed.
    steps: u64,
    allowed: u64,
}

impl<'a> Walker<'a> {
    fn new(spec: &'a Spec, net: &'a Net) -> Self {
        let ports = spec.graph.port_base(spec.graph.routers()) as usize;
        let draws = net.routing.draws().outcomes(Packet::default(), net.seed);
        let chooses = net.needs.decides == Decides::EachStep && net.routing.is_minimal();
        let cuts = if chooses { Cuts::of(&spec.graph) } else { None };
        Self { spec, net, draws, load: vec![0.0; ports], cuts, steps: 0, allowed: 0 }
    }

    fn imply(mut self, vc_classes: Classes) -> Implied {
        let unknown = Implied {
            zero_load_latency: None,
            mean_hops: None,
            channel_load_bound: None,
            vc_classes,
            reads_queues: self.net.needs.sensor.is_some(),
        };
        let jobs = &self.spec.traffic.jobs;
        let first_loads = jobs.iter().flat_map(|job| &job.phases[0].load);
        let peak = first_loads.copied().fold(0.0, f64::max);
        let mut of_jobs = vec![0.0; jobs.len()];
        let Some(means) = (peak > 0.0).then(|| self.walk_all(peak, &mut of_jobs)).flatten() else { return unknown };
        let fixed = 2 * self.spec.links[0].latency + self.spec.router.ejection_delay - 1;
        let lengths = jobs.iter().zip(&of_jobs).map(|(job, rate)| f64::from(job.packet_flits) * rate);
        let length = match jobs.as_slice() {
            [job] => f64::from(job.packet_flits),
            _ => lengths.sum::<f64>() / of_jobs.iter().sum::<f64>(),
        };
        // an injection channel of the busiest terminal carries 1
        let over_cuts = self.cuts.as_ref().map_or(1.0, Cuts::busiest);
        let busiest = self.load.iter().copied().fold(over_cuts.max(1.0), f64::max);
        Implied {
            zero_load_latency: Some(
                means.wire + (means.hops + 1.0) * self.spec.router.delay as f64 + (fixed as f64 + length),
            ),
            mean_hops: Some(means.hops),
            channel_load_bound: Some(1.0 / busiest),
            ..unknown
        }
    }

    /// Follows the packets of every router that sends; `None` if that takes too many steps.
    fn walk_all(&mut self, peak: f64, of_jobs: &mut [f64]) -> Option<Means> {
        let spec = self.spec;
        let routers = spec.graph.routers();
        let senders = (0..routers).filter(|&r| self.sources(r).any(|(_, _, load)| load > 0.0)).count() as u64;
        let mut done = 0;
        let mut means = Means::default();
        let mut to_router = vec![0.0; routers as usize];
        for from in 0..routers {
            to_router.fill(0.0);
            let mut sends = false;
            // each sender gets an equal share of the steps, so that the walk stops early if the network is too large
            self.allowed = MAX_STEPS / senders.max(1) * (done + 1);
            for (source, j, load) in self.sources(from).collect::<Vec<_>>() {
                let rate = load / peak;
                sends |= rate > 0.0;
                of_jobs[j] += rate;
                let targets = spec.traffic.jobs[j].phases[0].pattern.distribution(self.net.ranks[source as usize]);
                self.steps += targets.len() as u64 / 8;
                for (target, share) in targets {
                    let target = spec.traffic.jobs[j].terminals[target as usize];
                    let (router, port) = spec.graph.terminal_at(target);
                    to_router[router as usize] += rate * share;
                    self.load[(spec.graph.port_base(router) + u32::from(port)) as usize] += rate * share;
                    if self.net.needs.sees_terminals {
                        let mean = self.walk_pair(from, self.packet(source, target), rate * share)?;
                        means.add(rate * share, mean);
                    }
                }
            }
            for to in (0..routers).filter(|_| !self.net.needs.sees_terminals) {
                let rate = to_router[to as usize];
                if rate > 0.0 {
                    let target = self.net.coords[to as usize];
                    let mean = self.walk_pair(from, Packet { target, dest: target, ..Packet::default() }, rate)?;
                    means.add(rate, mean);
                }
            }
            done += u64::from(sends);
            if self.steps > self.allowed {
                return None;
            }
        }
        Some(means)
    }

    /// Terminals of a router that belong to a job, with that job and their load in its first phase.
    fn sources(&self, router: u32) -> impl Iterator<Item = (u32, usize, f64)> + use<'a> {
        let (spec, net) = (self.spec, self.net);
        spec.graph.ports(router).iter().filter_map(|port| {
            let Peer::Terminal(source) = port.peer else { return None };
            let job = spec.traffic.jobs.get(net.job_of[source as usize] as usize)?;
            Some((source, net.job(source), job.phases[0].load[net.ranks[source as usize] as usize]))
        })
    }

    /// The packet as its source creates it.
    fn packet(&self, src: u32, dst: u32) -> Packet {
        let (router, port) = self.net.terminal_at[dst as usize];
        let dest = self.net.coords[router as usize];
        Packet { src, dst, dst_port: port, dest, target: dest, ..Packet::default() }
    }

    /// Adds a packet at router `from` to the loads of all paths that it may draw. Returns its mean hops and mean cycles
    /// on links; `None` if that takes too many steps.
    fn walk_pair(&mut self, from: u32, packet: Packet, rate: f64) -> Option<(f64, f64)> {
        let (mut hops, mut wire) = (0.0, 0.0);
        if let Some(cuts) = &mut self.cuts {
            cuts.cross(self.net.coords[from as usize], packet.dest, rate, |class, links| {
                hops += f64::from(links);
                wire += f64::from(links) * self.spec.links[usize::from(class)].latency as f64;
            });
            self.steps += 1 + hops as u64 / 8;
            return Some((hops, wire));
        }
        let starts = self.net.routing.starts(self.net.coords[from as usize], packet, &self.draws);
        let share = 1.0 / starts.len() as f64;
        for start in starts {
            let (h, w) = self.walk(from, start, rate * share);
            hops += share * h;
            wire += share * w;
            if self.steps > self.allowed {
                return None;
            }
        }
        Some((hops, wire))
    }

    /// Follows a packet whose random choices at the source are made, and adds it to the loads of its paths. Where the
    /// packet draws again at a router, it is split into parts. Parts that meet at a router after the same number of
    /// hops are joined.
    fn walk(&mut self, from: u32, packet: Packet, rate: f64) -> (f64, f64) {
        let (graph, net) = (&*self.spec.graph, self.net);
        let (mut hops, mut wire) = (0.0, 0.0);
        let mut parts: Vec<(u32, Packet, f64)> = vec![(from, packet, 1.0)];
        let mut next: Vec<(u32, Packet, f64)> = Vec::new();
        while !parts.is_empty() {
            for (at, packet, part) in parts.drain(..) {
                let mut go = |hop: Hop, after: Packet, part: f64, steps: u64| {
                    self.steps += steps + next.len() as u64 / 8;
                    let port = graph.ports(at)[hop.port as usize];
                    let Peer::Router { router, .. } = port.peer else { return };
                    let members = net.trunk.members(hop.port);
                    let each = rate * part / members.len() as f64;
                    members.for_each(|m| self.load[(graph.port_base(at) + u32::from(m)) as usize] += each);
                    hops += part;
                    wire += part * self.spec.links[port.class as usize].latency as f64;
                    match next.iter_mut().find(|(r, p, _)| *r == router && p.route_state() == after.route_state()) {
                        Some((_, _, sum)) => *sum += part,
                        None => next.push((router, after, part)),
                    }
                };
                let (here, mut after) = (net.coords[at as usize], packet);
                match net.routing.take_next(here, &mut after, net.seed) {
                    Some(hop) if !net.routing.draws_hops() => go(hop, after, part, 1),
                    _ => {
                        let choices = net.routing.idle_steps(here, &packet, net.seed);
                        let part = part / choices.len() as f64;
                        choices.into_iter().for_each(|c| go(c.hop, c.after, part, STEPS_OF_CHOICE));
                    }
                }
            }
            std::mem::swap(&mut parts, &mut next);
        }
        (hops, wire)
    }
}
