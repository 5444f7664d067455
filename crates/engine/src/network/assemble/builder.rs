//! Builds the blocks of a network: all units, pools and wheels in their first state.

use crate::network::bundles::Members;
use crate::network::episodes;
use crate::network::recordings::Setting;
use crate::network::spec::Spec;
use weft_api::base::bits::{Active, Bits};
use weft_api::base::wheel::Wheel;
use weft_api::board::Board;
use weft_api::compiled::{ForPorts, Widths};
use weft_api::policy::Policy;
use weft_api::sensor::{History, Sensor};
use weft_api::state::link_class::Link;
use weft_api::state::rate::Pace;
use weft_api::state::{ChannelEnd, Gate, InputUnit, LinkState, Move, NO_JOB, NONE, OutputUnit, Pool, Router, Terminal};
use weft_api::subnetworks::Views;
use weft_api::workload::{JobSources, NOT_DUE, Place};
use weft_kernel::block::{
    Block, Buffers, Cut, Interfaces, Mail, Observers, PolicySide, Requests, Shortcuts, Switch, Wires,
};
use weft_kernel::job_tally::Parts;
use weft_kernel::net::{Net, NetJob};
use weft_kernel::parts::control::Control;
use weft_kernel::parts::pace::{Paces, Rates};
use weft_kernel::parts::power::Power;
use weft_kernel::parts::watch::Watch;
use weft_kernel::recorders::Recorders;
use weft_kernel::shortcuts::fresh::LoneTrial;
use weft_kernel::shortcuts::profile::Crossing;
use weft_kernel::shortcuts::streams::Streams;
use weft_kernel::tally::Tally;
use weft_topology::{Peer, Trunk};

/// Builds the blocks. `bounds` is the result of [`partition`](super::partition()).
pub(crate) fn blocks<const W: usize, const V: usize>(
    spec: &Spec,
    net: &Net,
    policy: &dyn Policy,
    bounds: &[u32],
) -> Vec<Block<W, V>>
where
    Widths: ForPorts<V>,
{
    let (recordings, members) = (&Setting::new(spec), &Members::new(spec));
    (0..bounds.len() - 1).map(|b| Builder { spec, net, policy, recordings, members, bounds, b }.build()).collect()
}

pub(crate) struct Builder<'a> {
    pub spec: &'a Spec,
    pub net: &'a Net,
    pub policy: &'a dyn Policy,
    pub recordings: &'a Option<Setting>,
    pub members: &'a Option<Members>,
    pub bounds: &'a [u32],
    pub b: usize,
}

/// How much can be on its way in a block at once (memory is reserved for it), and how many cycles ahead an event can
/// lie.
struct Room {
    packets: usize,
    /// Packets on their way to a terminal whose workload hears of the delivery.
    to_deliver: usize,
    flits: usize,
    credits: usize,
    horizon: u64,
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
                let mut input = InputUnit::new(r - first, p as u8, port.class);
                let mut output = out_port(net, r - first, port.class);
                next_router.push(0);
                match port.peer {
                    Peer::Unused => (output.kind, output.free_vcs) = (ChannelEnd::Unused, 0),
                    Peer::Terminal(t) => {
                        (output.kind, output.peer) = (ChannelEnd::Ejection, t);
                        // heads see only the VCs that packets may use
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

    /// Computes how much can be on its way at once. Where that is far more than any run reaches, a generous part of it
    /// is enough.
    fn room<const V: usize>(&self, ins: &[InputUnit<V>], outs: &[OutputUnit<V>], terminals: usize) -> Room {
        let (net, spec) = (self.net, self.spec);
        let per_channel = |class: u8| net.links[class as usize].capacity as usize;
        let shortest = spec.traffic.lengths().min().unwrap_or(1) as usize;
        let buffered = ins.iter().map(|i| per_channel(i.class)).sum::<usize>() / shortest;
        // packets to be delivered: at most one tail per cycle is on its way to each terminal
        let to_deliver = if net.tells { 64 * terminals } else { 0 };
        // on the link, and staged before it: in overload 16 were too few
        let on_wire = |o: &OutputUnit<V>| {
            let link = &net.links[o.class as usize];
            (link.latency + net.after_grant + 32).min(u64::from(link.capacity)) as usize
        };
        let control = self.policy.control().map_or(0, |plan| plan.queue);
        let longest = self.longest(|l| l.latency + l.credit_latency + u64::from(l.capacity));
        let flit = net.common.rates.iter().map(|rate| rate.cycles_per_flit()).max().unwrap_or(1);
        Room {
            packets: (buffered + ins.len() + terminals + to_deliver).min((1 << 20) + 64 * terminals),
            to_deliver,
            flits: outs.iter().map(on_wire).sum(),
            credits: outs.iter().map(|o| on_wire(o) + per_channel(o.class).min(64)).sum(),
            horizon: net.after_grant + 4 + (control + longest) * flit,
        }
    }

    /// The largest value of `of` over all link classes.
    fn longest(&self, of: impl Fn(&Link) -> u64) -> u64 {
        self.net.links.iter().map(of).max().unwrap_or(0)
    }

    /// Reserves the memory of the pools and wheels.
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
        let sources = self.sources(&mut terminals);
        let room = self.room(&ins, &outs, terminals.len());
        let (inputs, outputs) = (ins.len(), outs.len());
        let mut block = Block {
            now: 0,
            routing: Widths::compiled(&self.net.routing),
            policy: self.policy_side(&routers, &outs, &next_router, inputs),
            observers: self.observers(&terminals),
            switch: self.switch::<W, V>(&routers, inputs),
            shortcuts: self.shortcuts(inputs, outputs),
            wires: self.wires(outs, next_router, cuts, routers.len(), &room),
            buffers: self.buffers(ins, &room),
            requests: self.requests::<W, V>(routers, inputs),
            interfaces: self.interfaces(terminals, sources, &room),
            posts: vec![0; self.net.common.board.as_ref().map_or(0, Board::numbers)],
        };
        self.start(&mut block);
        block
    }

    fn wires<const W: usize, const V: usize>(
        &self,
        outs: Vec<OutputUnit<V>>,
        next_router: Vec<u32>,
        cuts: Vec<Cut>,
        routers: usize,
        room: &Room,
    ) -> Wires<W, V> {
        let net = self.net;
        let history = (net.needs.sensor == Some(Sensor::HistoryWindow))
            .then(|| History::new(outs.len(), net.links.iter().map(|l| l.latency), room.horizon));
        Wires {
            trunks: self.trunks(),
            flits: Wheel::new(room.horizon, room.flits),
            credits: Wheel::new(room.horizon, room.credits),
            paces: Paces::new(self.paces(&outs), routers, room.horizon),
            next_router,
            outbox: self.outbox(&cuts),
            cuts,
            history,
            granted: vec![u32::MAX; if net.needs.sees_grants { outs.len() } else { 0 }],
            outs,
        }
    }

    fn buffers<const V: usize>(&self, ins: Vec<InputUnit<V>>, room: &Room) -> Buffers<V> {
        let net = self.net;
        let closed = net.routing_delay.max(if net.closes_vcs { room.horizon } else { 0 });
        let vcs = if net.closes_vcs { ins.len() * V } else { 0 };
        Buffers {
            ins,
            segments: Pool::with_capacity(room.packets),
            packets: Pool::with_capacity(room.packets),
            opens: vec![0; vcs],
            turning: Wheel::new(closed + 2, vcs),
        }
    }

    fn requests<const W: usize, const V: usize>(&self, routers: Vec<Router<W>>, inputs: usize) -> Requests<W> {
        let net = self.net;
        let of_vcs = |needed: bool| if needed { inputs * V } else { 0 };
        Requests {
            requesters: vec![Bits::default(); inputs << net.class_bits],
            active: Active::new(routers.len()),
            asking: vec![Bits::default(); if net.needs.sees_grants { routers.len() } else { 0 }],
            candidates: vec![Bits::default(); of_vcs(net.shortcuts.compares_credits_of.is_some())],
            ages: vec![0; of_vcs(net.by_age || net.rings)],
            have_chosen: Active::new(if net.chooses { routers.len() } else { 0 }),
            routers,
        }
    }

    fn switch<const W: usize, const V: usize>(&self, routers: &[Router<W>], inputs: usize) -> Switch<W> {
        let bases = routers.iter().map(|r| r.base).chain([inputs as u32]).collect::<Vec<_>>();
        let radix = bases.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(1) as usize;
        let of_vcs = |ports: usize| if self.net.vc_realloc { ports * V } else { 0 };
        Switch {
            grants: vec![Bits::default(); radix],
            offers: vec![0; radix],
            moves: vec![Move::default(); radix],
            departures: Vec::with_capacity(radix),
            vc_turns: vec![0; of_vcs(inputs)],
            vc_accepts: vec![0; of_vcs(inputs)],
            vc_grants: vec![0; of_vcs(radix)],
            fresh: vec![0; radix],
        }
    }

    fn interfaces(&self, terminals: Vec<Terminal>, sources: Vec<JobSources>, room: &Room) -> Interfaces {
        let net = self.net;
        Interfaces {
            busy: Active::new(terminals.len()),
            alarms: Wheel::new(1024, terminals.len() + 1),
            sources,
            deliveries: Wheel::new(if net.tells { room.horizon + net.ejection_delay } else { 2 }, room.to_deliver),
            terminals,
        }
    }

    fn policy_side<const W: usize, const V: usize>(
        &self,
        routers: &[Router<W>],
        outs: &[OutputUnit<V>],
        next_router: &[u32],
        inputs: usize,
    ) -> PolicySide {
        let all_vcs = outs.iter().map(|o| self.net.links[o.class as usize].all).collect();
        let mut power = Power::new(all_vcs);
        power.is_managed = self.net.faults.any();
        let faults = self.faults(routers, &outs[..inputs], next_router);
        PolicySide { power, agents: None, control: Control::none(), views: Views::none(), faults }
    }

    fn observers(&self, terminals: &[Terminal]) -> Observers {
        Observers {
            tally: self.tally(terminals),
            recorders: Recorders::default(),
            watch: Watch::new(&self.spec.watched),
        }
    }

    fn shortcuts(&self, inputs: usize, outputs: usize) -> Shortcuts {
        let profile = self.net.shortcuts;
        Shortcuts {
            profile,
            streams: if self.has_streams() { Streams::new(inputs, outputs) } else { Streams::default() },
            fresh_flits: Vec::with_capacity(if profile.crossing == Crossing::Allocated { 0 } else { inputs }),
            lone_trial: LoneTrial::default(),
        }
    }

    fn has_streams(&self) -> bool {
        self.net.shortcuts.crossing == Crossing::Streams
    }

    /// The trunk of each output of a router.
    fn trunks(&self) -> Vec<Trunk> {
        let graph = &*self.spec.graph;
        if !graph.has_trunks() {
            return Vec::new();
        }
        let ports = |r: u32| (0..graph.ports(r).len()).map(move |port| graph.trunk(r, port as u8));
        (self.bounds[self.b]..self.bounds[self.b + 1]).flat_map(ports).collect()
    }

    /// The pace of each output; none if no link is paced.
    fn paces<const V: usize>(&self, outs: &[OutputUnit<V>]) -> Vec<Pace> {
        let of = |rates: &Rates| outs.iter().map(|out| rates.pace(out.class)).collect();
        self.net.rates.as_ref().map(of).unwrap_or_default()
    }

    /// Mail for every block, with memory for what one window can bring to it.
    fn outbox(&self, cuts: &[Cut]) -> Vec<Mail> {
        let net = self.net;
        let blocks = self.bounds.len() - 1;
        let mut outbox = vec![Mail::default(); blocks];
        for (block, mail) in outbox.iter_mut().enumerate() {
            let channels = cuts.iter().filter(|c| c.block as usize == block).count();
            // A window is at most as long as the latency of a link, and an input or output passes one flit per
            // allocation step.
            let steps = self.longest(|l| (l.latency + net.after_grant) * u64::from(net.speedup));
            let most = channels * steps.min(self.longest(|l| 2 * u64::from(l.capacity))) as usize;
            // of short runs, every second flit is followed by the end of its run
            let events = if self.has_streams() { most + most / 2 } else { most };
            *mail = Mail {
                flits: Vec::with_capacity(events),
                packets: Vec::with_capacity(most),
                credits: Vec::with_capacity(events),
                slowed: Vec::with_capacity(if net.rates.is_some() { 4 * channels } else { 0 }),
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
        let faults = episodes::tally(self.spec);
        let parts = Parts::new(&self.net.jobs, batches, &self.net.changes, faults, |job| here[job]);
        Tally::new(self.spec.phases.first_window(), batches, parts)
    }

    fn start<const W: usize, const V: usize>(&self, block: &mut Block<W, V>) {
        for t in 0..block.interfaces.terminals.len() {
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

    /// The sources of the terminals of each job. Numbers the terminals, and sets when each source is first due.
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
        gate: Gate::Open,
    }
}
