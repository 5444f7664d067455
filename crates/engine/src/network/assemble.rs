//! From a spec to a network: the last allocations before the loop.

use crate::api::age::Priority;
use crate::api::common::Common;
use crate::api::compiled::{ForPorts, Widths};
use crate::api::coordinates;
use crate::api::policy::{LinkKnowledge, Policy};
use crate::api::routing::{AnyRouting, Classes, Decides};
use crate::api::sensor::{History, Sensor};
use crate::api::spec::Watched;
use crate::api::subnetworks::{Subnets, Views};
use crate::api::workload::{JobSources, NOT_DUE, Place};
use crate::base::bits::{Active, Bits};
use crate::base::wheel::Wheel;
use crate::network::dependency;
use crate::network::pairs;
use crate::network::spec::{Fault, FlowControl, LinkClass, Spec};
use crate::pipeline::block::{Block, Cut, Mail};
use crate::pipeline::control::Control;
use crate::pipeline::job_tally::Parts;
use crate::pipeline::net::{Net, NetJob};
use crate::pipeline::power::Power;
use crate::pipeline::tally::Tally;
use crate::pipeline::watch::Watch;
use crate::state::link_class::Link;
use crate::state::{
    ChannelEnd, InputUnit, LinkState, Move, NO_JOB, NO_REQUEST, NONE, OutputUnit, Pool, Router, Terminal,
};
use std::sync::Arc;
use weft_topology::{Graph, Peer};
use weft_traffic::mix;
use weft_units::Refusal;

/// Longest delay of a link or a router [cycles]: what is on its way is kept by the cycle of arrival.
const MAX_DELAY: u64 = 1 << 20;
/// Purpose of the hashes that routings draw from; workloads have those below it.
const ROUTES: u64 = 3;

/// The routing of a run at its beginning.
pub(crate) fn routing(spec: &Spec) -> Result<Box<dyn AnyRouting>, Refusal> {
    let mut routing = spec.routing.build(&spec.graph)?;
    if let Some(stages) = spec.policy.model().first_stages(&spec.graph) {
        routing.begin_with_stages(stages);
    }
    Ok(routing)
}

/// Builds and checks everything that blocks only read.
pub(crate) fn net(spec: &Spec) -> Result<Net, Refusal> {
    net_with(spec, jobs)
}

/// The same with jobs that `jobs` builds once the traffic is checked.
pub(crate) fn net_with(spec: &Spec, jobs: impl FnOnce(&Spec) -> Result<Vec<NetJob>, Refusal>) -> Result<Net, Refusal> {
    let graph = &*spec.graph;
    let routing: Arc<dyn AnyRouting> = routing(spec)?.into();
    let needs = routing.needs();
    let classes: &Classes = &needs.classes;
    let links: Vec<Link> = spec
        .links
        .iter()
        .enumerate()
        .map(|(c, link)| link_of(spec, link, classes[c], &graph.class_names()[c]))
        .collect::<Result<_, _>>()?;
    if !spec.allow_dependency_cycle {
        dependency::refuse_cycle(graph, &*routing, classes, spec.routing.name())?;
    }
    spec.traffic.check(graph.terminals(), |j| format!("traffic.jobs.{j}"))?;
    spec.check_warmup()?;
    spec.check_faults()?;
    let jobs = jobs(spec)?;
    let (ranks, job_of) = places(spec);
    let after_grant = after_grant(spec)?;
    let tells = jobs.iter().any(|job| job.is_told);
    let apart = jobs.iter().any(|job| !job.workload.latencies().is_empty());
    let ends = jobs.iter().any(|job| job.workload.total().is_some());
    refuse_worms(spec, needs.decides)?;
    let watches = watches(spec)?;
    let trunk = coordinates::trunk_of(graph);
    let (chooses, by_age) = (needs.decides == Decides::EachStep || trunk.width > 1, by_age(spec)?);
    // what a job creates is counted only where there are several, or latencies that are told apart
    let by_job = apart || jobs.len() > 1;
    let others = by_job || tells || ends || spec.phases.auto_warmup;
    let faults = !spec.faults.is_empty();
    let delivery_slow_path = others || spec.records.transient.is_some();
    let single = spec.traffic.longest() == 1;
    let class_bits = needs.classes.iter().copied().max().unwrap_or(1).next_power_of_two().ilog2();
    let hold_switch = hold_switch(spec)?;
    let common = Common {
        links: links.clone(),
        trunk,
        sensor: needs.sensor,
        after_grant: after_grant as u32,
        single,
        class_bits,
        hold_switch,
    };
    Ok(Net {
        common,
        first_ports: routing.first_ports(),
        coords: routing.coordinates(graph),
        terminal_at: (0..graph.terminals()).map(|t| graph.terminal_at(t)).map(|(r, p)| (r, p as u8)).collect(),
        class_bits,
        links,
        chooses,
        by_age,
        priority: spec.router.priority,
        watches,
        creation_slow_path: by_job || watches,
        only_in_time: !others,
        crossing_slow_path: by_age || watches || spec.router.routing_delay > 0,
        heads_slow_path: chooses || by_age || watches || spec.router.routing_delay > 0 || faults,
        subnets: match pairs::knows_of_links(&spec.routing) {
            LinkKnowledge::Subnetworks => Subnets::of(graph),
            LinkKnowledge::Nothing | LinkKnowledge::Stages => None,
        },
        counts_sleep: spec.records.sleep,
        faults,
        routers_fail: spec.faults.iter().any(Fault::is_of_router),
        trunk,
        ahead: routing.clone().ahead(),
        routing,
        needs,
        delivery_slow_path,
        jobs,
        ranks,
        job_of,
        tells,
        single,
        after_grant,
        ejection_delay: spec.router.ejection_delay,
        routing_delay: routing_delay(spec)?,
        vc_realloc: spec.router.vc_realloc > 0,
        speedup: spec.router.speedup,
        hold_switch,
        flow_control: spec.router.flow_control,
        room: if spec.router.flow_control == FlowControl::VirtualCutThrough {
            spec.traffic.longest() as u16
        } else {
            1
        },
        landing: after_grant + spec.links[0].latency + spec.router.ejection_delay,
        lookahead: lookahead(spec)?,
        power_period: spec.power_period()?,
        batch: spec.phases.window.div_ceil(u64::from(spec.phases.batches)),
        // neighbouring seeds must not give neighbouring draws
        seed: mix(spec.seed, ROUTES, 0),
    })
}

fn jobs(spec: &Spec) -> Result<Vec<NetJob>, Refusal> {
    spec.traffic.jobs.iter().enumerate().map(|(j, job)| job.build(j, spec.cycle_fs, spec.seed)).collect()
}

/// Rank and job of every terminal, [`NO_JOB`] for one in no job.
fn places(spec: &Spec) -> (Vec<u32>, Vec<u16>) {
    let terminals = spec.graph.terminals();
    let (mut ranks, mut job_of) = (vec![0; terminals as usize], vec![NO_JOB; terminals as usize]);
    for (j, job) in spec.traffic.jobs.iter().enumerate() {
        for (rank, &t) in job.terminals.iter().enumerate() {
            (ranks[t as usize], job_of[t as usize]) = (rank as u32, j as u16);
        }
    }
    (ranks, job_of)
}

/// Whether packets are watched; refuses those of terminals that there are not.
fn watches(spec: &Spec) -> Result<bool, Refusal> {
    let terminals = spec.graph.terminals();
    if let Watched::Packets(names) = &spec.watched
        && let Some((terminal, seq)) = names.iter().find(|(terminal, _)| *terminal >= terminals)
    {
        let what = format!("packet {terminal}:{seq}: there is no terminal {terminal}, the network has {terminals}");
        return Err(Refusal::new("watch", what, format!("write a terminal from 0 to {}", terminals - 1)));
    }
    Ok(!matches!(&spec.watched, Watched::Nobody | Watched::First(0)))
}

/// An escape helps packets at the head of a queue. With virtual cut-through every blocked packet is, or stands behind one
/// that is; the head of a worm may be stuck behind the tail of another one, whose head is stuck elsewhere.
fn refuse_worms(spec: &Spec, decides: Decides) -> Result<(), Refusal> {
    let worms = spec.router.flow_control == FlowControl::Wormhole && spec.traffic.longest() > 1;
    if worms && decides == Decides::EachStep && !spec.allow_dependency_cycle {
        return Err(Refusal::new(
            "router.flow_control",
            format!(
                "wormhole, but under {} a head behind the tail of another packet can't ask for its escape, and packets \
                 of {} flits can deadlock",
                spec.routing.name(),
                spec.traffic.longest()
            ),
            "write router.flow_control: virtual_cut_through, or take another routing",
        ));
    }
    Ok(())
}

fn by_age(spec: &Spec) -> Result<bool, Refusal> {
    let by_age = spec.router.priority != Priority::RoundRobin;
    if by_age && spec.router.vc_realloc > 0 {
        return Err(Refusal::new(
            "router.priority",
            "by age, but with vc_realloc 1 VCs are allocated in a stage of their own, which goes round robin",
            "set router.vc_realloc to 0, or priority to round_robin",
        ));
    }
    Ok(by_age)
}

fn hold_switch(spec: &Spec) -> Result<bool, Refusal> {
    if spec.router.hold_switch && spec.router.vc_realloc > 0 {
        return Err(Refusal::new(
            "router.hold_switch",
            "true, but with vc_realloc 1 several packets hold VCs of an output before they cross the switch",
            "set router.vc_realloc to 0, or hold_switch to false",
        ));
    }
    let worms = spec.router.flow_control == FlowControl::Wormhole && spec.traffic.longest() > 1;
    if spec.router.hold_switch && worms && !spec.allow_dependency_cycle {
        return Err(Refusal::new(
            "router.hold_switch",
            "true, but with wormhole a packet that waits for credits would hold its output against all VC classes, and \
             cycles that the classes break would be closed again",
            "set router.flow_control to virtual_cut_through, or hold_switch to false",
        ));
    }
    Ok(spec.router.hold_switch)
}

/// Cycles from the grant to the link, so that a lone head flit spends `delay` cycles in a router.
fn after_grant(spec: &Spec) -> Result<u64, Refusal> {
    let router = &spec.router;
    // with separate VC and switch allocation steps the grant comes a step, hence at speedup 1 a cycle, after arrival
    let waits = u64::from(router.vc_realloc > 0 && router.speedup == 1);
    router.delay.checked_sub(waits).ok_or_else(|| {
        Refusal::new(
            "router.delay",
            "0 cycles, but with vc_realloc 1 and speedup 1 a head flit waits 1 cycle for the switch",
            "set router.delay to at least 1cycle, or vc_realloc to 0",
        )
    })
}

/// A part of the delay, which a head behind another packet waits for again.
fn routing_delay(spec: &Spec) -> Result<u64, Refusal> {
    let router = &spec.router;
    if router.routing_delay > router.delay {
        let what = format!(
            "{} cycles, but a head spends {} cycles in a router, its routing included",
            router.routing_delay, router.delay
        );
        let help = format!("set router.routing_delay to at most {}cycles, or router.delay to more", router.delay);
        return Err(Refusal::new("router.routing_delay", what, help));
    }
    Ok(router.routing_delay)
}

/// No delivery is known more cycles ahead.
pub(crate) fn lookahead(spec: &Spec) -> Result<u64, Refusal> {
    let link = |link: &LinkClass| link.latency + u64::from(link.buffer) * u64::from(link.vcs);
    Ok(after_grant(spec)? + 4 + spec.router.ejection_delay + spec.links.iter().map(link).max().unwrap_or(0))
}

fn link_of(spec: &Spec, link: &LinkClass, classes: u8, name: &str) -> Result<Link, Refusal> {
    let path = |key: &str| format!("links.{name}.{key}");
    if link.vcs < classes {
        return Err(Refusal::new(
            path("vcs"),
            format!(
                "{} needs {classes} VC classes on {name} links, but there are {} VCs",
                spec.routing.name(),
                link.vcs
            ),
            format!("set vcs of {name} links to at least {classes}"),
        ));
    }
    let needs = if spec.router.flow_control == FlowControl::VirtualCutThrough { spec.traffic.longest() } else { 1 };
    if link.buffer > u32::from(u16::MAX) {
        let what = format!("{} flits; the buffer of a VC has at most {} flits", link.buffer, u16::MAX);
        return Err(Refusal::new(path("buffer"), what, format!("write at most {}flits", u16::MAX)));
    }
    if link.buffer < needs {
        return Err(Refusal::new(
            path("buffer"),
            format!("{} flits, but a packet of {needs} flits must fit", link.buffer),
            format!("set buffer to at least {needs}flits, or flow_control to wormhole"),
        ));
    }
    if link.latency == 0 {
        return Err(Refusal::new(path("latency"), "0 cycles", format!("write 1cycle to {MAX_DELAY}cycles")));
    }
    let delays = [
        (path("latency"), link.latency),
        (path("credit_latency"), link.credit_latency),
        ("router.delay".to_owned(), spec.router.delay),
        ("router.credit_delay".to_owned(), spec.router.credit_delay),
        ("router.ejection_delay".to_owned(), spec.router.ejection_delay),
    ];
    if let Some((path, cycles)) = delays.into_iter().find(|(_, cycles)| *cycles > MAX_DELAY) {
        let what = format!("{cycles} cycles; a delay of links and routers has at most {MAX_DELAY}");
        return Err(Refusal::new(path, what, format!("write at most {MAX_DELAY}cycles")));
    }
    let vcs = u32::from(link.vcs);
    let usable = if name == "terminal" { spec.router.ejection_vcs.map_or(vcs, u32::from) } else { vcs };
    if usable == 0 || usable > vcs {
        return Err(Refusal::new(
            "router.ejection_vcs",
            format!("{usable}, but terminal links have {vcs} VCs"),
            format!("write 1 to {vcs}"),
        ));
    }
    let mut vcs_of = [0u16; 16];
    for c in 0..u32::from(classes.max(1)) {
        let (from, to) = (c * usable / u32::from(classes.max(1)), (c + 1) * usable / u32::from(classes.max(1)));
        vcs_of[c as usize] = ((1u32 << to) - (1u32 << from)) as u16;
    }
    Ok(Link {
        latency: link.latency,
        credit_latency: (link.credit_latency + spec.router.credit_delay).max(1),
        buffer: link.buffer as u16,
        all: ((1u32 << vcs) - 1) as u16,
        vcs_of,
        capacity: vcs * link.buffer,
    })
}

/// First router of every block, and the end of the last. `whole_groups`: routers look into others of their group, which
/// therefore is in one block, and there are at most as many blocks as groups.
pub(crate) fn partition(graph: &Graph, blocks: usize, whole_groups: bool) -> Vec<u32> {
    let routers = graph.routers();
    let grain = graph.structure().grain();
    let units = routers.div_ceil(grain);
    let blocks = (blocks.min(MAX_BLOCKS) as u32).clamp(1, if whole_groups { units } else { routers });
    // whole groups stay together while there are enough of them
    let (units, grain) = if blocks <= units { (units, grain) } else { (routers, 1) };
    (0..=blocks)
        .map(|b| (u64::from(b) * u64::from(units) / u64::from(blocks)) as u32 * grain)
        .map(|r| r.min(routers))
        .collect()
}

/// Blocks at most: more of them cost memory and meetings, and no machine has so many cores.
const MAX_BLOCKS: usize = 4096;

/// Blocks that keep the state of a block in the second-level cache, where the whole does not fit anyway.
pub(crate) fn blocks_by_size(graph: &Graph) -> usize {
    let bytes = u64::from(graph.port_base(graph.routers())) * 192;
    if bytes < 8 << 20 { 1 } else { (bytes / (768 << 10)) as usize }
}

/// Builds the blocks. `bounds` is the result of [`partition`].
pub(crate) fn blocks<const W: usize, const V: usize>(
    spec: &Spec,
    net: &Net,
    policy: &dyn Policy,
    bounds: &[u32],
) -> Vec<Block<W, V>>
where
    Widths: ForPorts<V>,
{
    (0..bounds.len() - 1).map(|b| Builder { spec, net, policy, bounds, b }.build()).collect()
}

pub(super) struct Builder<'a> {
    pub spec: &'a Spec,
    pub net: &'a Net,
    pub policy: &'a dyn Policy,
    pub bounds: &'a [u32],
    pub b: usize,
}

impl Builder<'_> {
    fn build<const W: usize, const V: usize>(&self) -> Block<W, V>
    where
        Widths: ForPorts<V>,
    {
        let (graph, net) = (&*self.spec.graph, self.net);
        let (first, last) = (self.bounds[self.b], self.bounds[self.b + 1]);
        let base = graph.port_base(first);
        let ports = (graph.port_base(last) - base) as usize;
        let mut outs: Vec<OutputUnit<V>> = Vec::with_capacity(ports);
        let mut ins: Vec<InputUnit<V>> = Vec::with_capacity(ports);
        let mut next_router = Vec::with_capacity(ports);
        let mut cuts = Vec::new();
        let mut nics = Vec::new();
        for r in first..last {
            for (p, port) in graph.ports(r).iter().enumerate() {
                let mut input = in_port(net, r - first, graph.port_base(r) - base, p as u8, port.class);
                let mut output = out_port(net, r - first, port.class);
                next_router.push(0);
                match port.peer {
                    Peer::Unused => (output.kind, output.free_vcs) = (ChannelEnd::Unused, 0),
                    Peer::Terminal(t) => {
                        (output.kind, output.peer) = (ChannelEnd::Ejection, t);
                        // the only VCs that packets may use, as far as heads can see
                        output.vcs_with_credit = net.links[port.class as usize].vcs_of[0];
                        output.vcs_with_room = output.vcs_with_credit;
                        input.upstream = (ports + nics.len()) as u32;
                        nics.push((t, ins.len() as u32));
                    }
                    Peer::Router { router, port } => {
                        *next_router.last_mut().expect("just pushed") = router;
                        let block = self.bounds.partition_point(|&r| r <= router) - 1;
                        let far = graph.port_base(router) + u32::from(port) - graph.port_base(self.bounds[block]);
                        if block == self.b {
                            (output.peer, input.upstream) = (far, far);
                        } else {
                            (output.kind, output.peer) = (ChannelEnd::Remote, cuts.len() as u32);
                            (input.remote, input.upstream) = (true, cuts.len() as u32);
                            cuts.push(Cut { block: block as u32, port: far });
                        }
                    }
                }
                ins.push(input);
                outs.push(output);
            }
        }
        let mut terminals = Vec::with_capacity(nics.len());
        for (local, &(t, input)) in nics.iter().enumerate() {
            terminals.push(self.terminal(t, (ports + local) as u32));
            outs.push(OutputUnit { kind: ChannelEnd::Injection, peer: input, ..out_port(net, local as u32, 0) });
        }
        let routers = (first..last).map(|r| Router { base: graph.port_base(r) - base, id: r, ..Router::default() });
        self.finish(routers.collect(), ins, outs, next_router, cuts, terminals)
    }

    /// Reserves the pools and wheels for the largest number of packets and flits that can be under way (or a generous
    /// share of it where that bound is far beyond what any run reaches).
    #[allow(clippy::too_many_arguments)]
    fn finish<const W: usize, const V: usize>(
        &self,
        routers: Vec<Router<W>>,
        ins: Vec<InputUnit<V>>,
        outs: Vec<OutputUnit<V>>,
        next_router: Vec<u32>,
        cuts: Vec<Cut>,
        mut terminals: Vec<Terminal>,
    ) -> Block<W, V>
    where
        Widths: ForPorts<V>,
    {
        let (net, spec) = (self.net, self.spec);
        let sources = self.sources(&mut terminals);
        let per_channel = |class: u8| net.links[class as usize].capacity as usize;
        let shortest = spec.traffic.lengths().min().unwrap_or(1) as usize;
        let buffered = ins.iter().map(|i| per_channel(i.class)).sum::<usize>() / shortest;
        // packets that are to be delivered: at most a tail per cycle and terminal is on its way
        let to_deliver = if net.tells { 64 * terminals.len() } else { 0 };
        let packets = (buffered + ins.len() + terminals.len() + to_deliver).min((1 << 20) + 64 * terminals.len());
        let on_wire = |o: &OutputUnit<V>| {
            let link = &net.links[o.class as usize];
            (link.latency + net.after_grant + 16).min(u64::from(link.capacity)) as usize
        };
        let flits: usize = outs.iter().map(on_wire).sum();
        let credits: usize = outs.iter().map(|o| on_wire(o) + per_channel(o.class).min(64)).sum();
        let longest = |f: &dyn Fn(&Link) -> u64| net.links.iter().map(f).max().unwrap_or(0);
        let control = self.policy.control().map_or(0, |plan| plan.queue);
        let buffered = longest(&|l| l.latency + l.credit_latency + u64::from(l.capacity));
        let horizon = net.after_grant + 4 + control + buffered;
        let all_vcs: Vec<u16> = outs.iter().map(|o| net.links[o.class as usize].all).collect();
        let radix = routers.iter().map(|r| r.base).chain([ins.len() as u32]).collect::<Vec<_>>();
        let radix = radix.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(1) as usize;
        let history = (net.needs.sensor == Some(Sensor::HistoryWindow))
            .then(|| History::new(outs.len(), net.links.iter().map(|l| l.latency), horizon));
        let faults = self.faults(&routers, &outs[..ins.len()], &next_router);
        let mut block = Block {
            now: 0,
            routing: Widths::compiled(&self.net.routing),
            requesters: vec![Bits::default(); ins.len() << net.class_bits],
            active: Active::new(routers.len()),
            busy: Active::new(terminals.len()),
            segments: Pool::with_capacity(packets),
            packets: Pool::with_capacity(packets),
            flits: Wheel::new(horizon, flits),
            credits: Wheel::new(horizon, credits),
            alarms: Wheel::new(1024, terminals.len() + 1),
            turning: Wheel::new(net.routing_delay + 2, if net.routing_delay > 0 { ins.len() * V } else { 0 }),
            opens: vec![0; if net.routing_delay > 0 { ins.len() * V } else { 0 }],
            outbox: self.outbox(&cuts),
            cuts,
            next_router,
            grants: vec![Bits::default(); radix],
            fresh: vec![0; radix],
            ages: vec![0; if net.by_age { ins.len() * V } else { 0 }],
            moves: vec![Move::default(); radix],
            vc_turns: vec![0; if net.vc_realloc { ins.len() * V } else { 0 }],
            vc_accepts: vec![0; if net.vc_realloc { ins.len() * V } else { 0 }],
            vc_grants: vec![0; if net.vc_realloc { radix * V } else { 0 }],
            power: Power::new(all_vcs, self.spec.records.link_states),
            agents: None,
            control: Control::none(),
            faults,
            departures: Vec::with_capacity(radix),
            history,
            views: Views::none(),
            sources,
            deliveries: Wheel::new(if net.tells { horizon + net.ejection_delay } else { 2 }, to_deliver),
            tally: self.tally(&terminals),
            watch: Watch::new(&self.spec.watched),
            routers,
            ins,
            outs,
            terminals,
        };
        self.start(&mut block);
        block
    }

    /// Mail for every block, with room for what a window can bring to it.
    fn outbox(&self, cuts: &[Cut]) -> Vec<Mail> {
        let net = self.net;
        let longest = |f: &dyn Fn(&Link) -> u64| net.links.iter().map(f).max().unwrap_or(0);
        let blocks = self.bounds.len() - 1;
        let mut outbox = vec![Mail::default(); blocks];
        for (block, mail) in outbox.iter_mut().enumerate() {
            let channels = cuts.iter().filter(|c| c.block as usize == block).count();
            // a window is at most as long as a link, and an input or output passes a flit per allocation step
            let steps = longest(&|l| (l.latency + net.after_grant) * u64::from(net.speedup));
            let most = channels * steps.min(longest(&|l| 2 * u64::from(l.capacity))) as usize;
            *mail = Mail {
                flits: Vec::with_capacity(most),
                packets: Vec::with_capacity(most),
                credits: Vec::with_capacity(most),
                messages: Vec::with_capacity(if self.policy.control().is_some() { 4 * channels } else { 0 }),
            };
        }
        outbox
    }

    fn tally(&self, terminals: &[Terminal]) -> Tally {
        let mut here = vec![false; self.net.jobs.len()];
        for terminal in terminals.iter().filter(|t| t.job != NO_JOB) {
            here[usize::from(terminal.job)] = true;
        }
        let batches = self.spec.phases.most_batches(self.net.batch);
        let parts = Parts::new(&self.net.jobs, &self.spec.records, batches, |job| here[job]);
        Tally::new(self.spec.phases.first_window(), batches, parts)
    }

    fn start<const W: usize, const V: usize>(&self, block: &mut Block<W, V>) {
        for t in 0..block.terminals.len() {
            block.sleep(self.net, t, 0);
        }
        self.add_policy(block);
    }

    fn terminal(&self, id: u32, out: u32) -> Terminal {
        Terminal {
            due: NOT_DUE,
            alarm: 0,
            packet: NONE,
            left: 0,
            job: self.net.job_of[id as usize],
            source: 0,
            id,
            out,
            made: 0,
            brought_about: 0,
            vc: u8::MAX,
            waiting: false,
        }
    }

    /// The sources of the terminals of each job, which number them and say when they are due first.
    fn sources(&self, terminals: &mut [Terminal]) -> Vec<JobSources> {
        let of_job = |(j, job): (usize, &NetJob)| {
            let mut here: Vec<&mut Terminal> = terminals.iter_mut().filter(|t| usize::from(t.job) == j).collect();
            let place = |t: &&mut Terminal| Place { terminal: t.id, rank: self.net.ranks[t.id as usize] };
            let mut sources = job.workload.sources(&here.iter().map(place).collect::<Vec<_>>());
            for (source, terminal) in here.iter_mut().enumerate() {
                (terminal.source, terminal.due) = (source as u32, sources.all_mut().start(source));
            }
            sources
        };
        self.net.jobs.iter().enumerate().map(of_job).collect()
    }
}

fn out_port<const V: usize>(net: &Net, router: u32, class: u8) -> OutputUnit<V> {
    let link = &net.links[class as usize];
    let mut credits = [0; V];
    for (vc, c) in credits.iter_mut().enumerate() {
        *c = if link.all >> vc & 1 != 0 { link.buffer } else { 0 };
    }
    OutputUnit {
        credits,
        holder: [0; V],
        free_vcs: link.all,
        vcs_with_flit: 0,
        vcs_with_credit: link.all,
        vcs_with_room: link.all,
        requested: 0,
        class,
        state: LinkState::On as u8,
        next_free: 0,
        flits: 0,
        peer: NONE,
        router,
        rr_in: 0,
        rr_vc: 0,
        kind: ChannelEnd::Local,
    }
}

fn in_port<const V: usize>(net: &Net, router: u32, base: u32, port: u8, class: u8) -> InputUnit<V> {
    InputUnit {
        requests: [NO_REQUEST; V],
        output_vc: [0; V],
        head: [NONE; V],
        tail: [NONE; V],
        upstream: NONE,
        credit_latency: net.links[class as usize].credit_latency as u32,
        router,
        base,
        port,
        class,
        rr_out: 0,
        rr_vc: 0,
        remote: false,
        choosing: 0,
    }
}
