//! Describes the blocks of a network, so that the kernel can build them.

use super::division::Division;
use super::parameters;
use crate::network::bundles::Members;
use crate::network::episodes;
use crate::network::recordings::Setting;
use crate::network::spec::{LinkClass, Spec};
use weft_api::base::bits::Active;
use weft_api::base::wheel::Wheel;
use weft_api::policy::Policy;
use weft_api::state::link_class::Link;
use weft_api::state::{NO_JOB, NONE, Terminal};
use weft_api::workload::{JobSources, NOT_DUE, Place};
use weft_kernel::block::{Cut, Interfaces, Mail, MailRoom, Observers, PolicySide};
use weft_kernel::face::AnyBlock;
use weft_kernel::face::build::{Far, Plan, Port, Room, block};
use weft_kernel::face::views;
use weft_kernel::face::widths::AnyAllocator;
use weft_kernel::job_tally::Parts;
use weft_kernel::net::{Net, NetJob};
use weft_kernel::parts::control::Control;
use weft_kernel::parts::limits::Limits;
use weft_kernel::parts::power::Power;
use weft_kernel::parts::queues::{InterfaceRules, Queues, Stream};
use weft_kernel::parts::watch::Watch;
use weft_kernel::recorders::Recorders;
use weft_kernel::shortcuts::profile::Kind;
use weft_kernel::tally::Tally;
use weft_topology::{Peer, Trunk};

/// Builds the blocks.
pub(crate) fn blocks(
    spec: &Spec,
    net: &Net,
    policy: &dyn Policy,
    allocator: &AnyAllocator,
    division: &Division,
) -> Vec<Box<dyn AnyBlock>> {
    let (recordings, members) = (&Setting::new(spec), &Members::new(spec));
    let builder = |b| Builder { spec, net, policy, allocator, recordings, members, division, b };
    (0..division.blocks()).map(|b| builder(b).build()).collect()
}

pub(crate) struct Builder<'a> {
    pub spec: &'a Spec,
    pub net: &'a Net,
    pub policy: &'a dyn Policy,
    pub allocator: &'a AnyAllocator,
    pub recordings: &'a Option<Setting>,
    pub members: &'a Option<Members>,
    pub division: &'a Division,
    pub b: usize,
}

impl Builder<'_> {
    fn build(&self) -> Box<dyn AnyBlock> {
        let here = self.division.routers(self.b).iter();
        let routers: Vec<_> = here.map(|&id| views::Place { id, base: self.division.base(id) }).collect();
        let ports = self.ports(&routers);
        let mut terminals = self.terminals(&ports);
        let sources = match &self.net.interface {
            None => (self.sources(&mut terminals), Queues::default()),
            Some(rules) => self.streams(&terminals, rules),
        };
        let room = self.room(&ports, terminals.len());
        let plan = Plan {
            trunks: self.trunks(),
            outbox: self.outbox(&ports),
            policy: self.policy_side(&routers, &ports),
            observers: self.observers(&terminals),
            interfaces: self.interfaces(terminals, sources, &room),
            room,
            routers,
            ports,
        };
        let mut block = block(self.net, plan, self.allocator);
        self.add_policy(&mut *block);
        block
    }

    /// The ports of the block's routers, with the far end of each.
    fn ports(&self, routers: &[views::Place]) -> Vec<Port> {
        let graph = &*self.spec.graph;
        let far = |peer| match peer {
            Peer::Unused => Far::Nowhere,
            Peer::Terminal(t) => Far::Terminal(t),
            Peer::Router { router, port } => {
                let (block, port) = (self.division.block(router), self.division.base(router) + u32::from(port));
                match block as usize == self.b {
                    true => Far::Here { port, router },
                    false => Far::Away { cut: Cut { block, port }, router },
                }
            }
        };
        let mut ports =
            Vec::with_capacity(routers.last().map_or(0, |last| last.base as usize + graph.ports(last.id).len()));
        for (router, place) in (0..).zip(routers) {
            let of_router = (0..).zip(graph.ports(place.id));
            let planned = |(port, at): (u16, &weft_topology::Port)| Port {
                router,
                port,
                class: at.class,
                back: graph.way_back(*at),
                far: far(at.peer),
            };
            ports.extend(of_router.map(planned));
        }
        ports
    }

    /// The terminals at these ports, in the order of the ports. Injection channels have the indices after those of the ports.
    fn terminals(&self, ports: &[Port]) -> Vec<Terminal> {
        let ids = ports.iter().filter_map(|port| match port.far {
            Far::Terminal(t) => Some(t),
            Far::Nowhere | Far::Here { .. } | Far::Away { .. } => None,
        });
        (ports.len() as u32..).zip(ids).map(|(out, id)| self.terminal(id, out)).collect()
    }

    /// The link class of each channel that leaves a port or a terminal.
    fn classes(ports: &[Port], terminals: usize) -> impl Iterator<Item = u8> + '_ {
        ports.iter().map(|port| port.class).chain(std::iter::repeat_n(0, terminals))
    }

    /// Maximum numbers of events that can be in flight at once, for which memory is reserved. Some maxima are far above the number of
    /// events in any real run; for these a smaller but still generous number is used.
    fn room(&self, ports: &[Port], terminals: usize) -> Room {
        let (net, spec) = (self.net, self.spec);
        let per_channel = |class: u8| net.links[usize::from(class)].capacity as usize;
        let shortest = spec.traffic.lengths().min().unwrap_or(1) as usize;
        let buffered = ports.iter().map(|port| per_channel(port.back)).sum::<usize>() / shortest;
        // flits on the link, and 32 flits that wait before it: room for 16 waiting flits was too little under overload
        let on_wire = |class: u8| {
            let link = &net.links[usize::from(class)];
            (link.latency + net.router.after_grant + 32).min(u64::from(link.capacity)) as usize
        };
        let control = self.policy.control().map_or(0, |plan| plan.queue);
        // credits return on the opposite channel, whose link class may be another one
        let credit = self.longest(|l| l.credit_latency);
        let longest = self.longest(|l| l.latency + credit + u64::from(l.capacity));
        let flit = net.common.rates.iter().map(|rate| rate.cycles_per_flit()).max().unwrap_or(1);
        let outs = || Self::classes(ports, terminals);
        let most = (1 << 20) + 64 * terminals;
        Room {
            packets: (buffered + ports.len() + terminals + self.to_deliver(terminals)).min(most),
            flits: outs().map(on_wire).sum(),
            credits: outs().map(|class| on_wire(class) + per_channel(class).min(64)).sum(),
            horizon: net.router.after_grant + 4 + (control + longest) * flit + self.slowed(),
        }
    }

    /// Maximum number of cycles that flits on any channel need in its slowest mode, in addition to the cycles at the full rate.
    fn slowed(&self) -> u64 {
        let of_class = |(c, link): (usize, &LinkClass)| parameters::slowed(self.spec, c, link);
        self.spec.links.iter().enumerate().map(of_class).max().unwrap_or(0)
    }

    /// Maximum number of deliveries in flight that will be reported to sources. A terminal receives at most one tail per cycle.
    fn to_deliver(&self, terminals: usize) -> usize {
        if self.net.tells { 64 * terminals } else { 0 }
    }

    /// Maximum of `of` over all link classes.
    fn longest(&self, of: impl Fn(&Link) -> u64) -> u64 {
        self.net.links.iter().map(of).max().unwrap_or(0)
    }

    fn interfaces(
        &self,
        terminals: Vec<Terminal>,
        (sources, queues): (Vec<JobSources>, Queues),
        room: &Room,
    ) -> Interfaces {
        let (net, to_deliver) = (self.net, self.to_deliver(terminals.len()));
        let terminal_of = if net.wakes { self.terminal_of(&terminals) } else { Vec::new() };
        Interfaces {
            next_act: sources.iter().map(|sources| sources.all().next_act()).min().unwrap_or(NOT_DUE),
            terminal_of,
            busy: Active::new(terminals.len()),
            // an alarm wakes a terminal when a source is due; a terminal with queues may set a second alarm while a later one is still in
            // the wheel
            alarms: Wheel::new(1024, if queues.each > 0 { 4 } else { 1 } * terminals.len() + 1),
            queues,
            limits: Limits::default(),
            sources,
            deliveries: Wheel::new(if net.tells { room.horizon + net.router.ejection_delay } else { 2 }, to_deliver),
            in_order: Vec::with_capacity(if net.wakes { terminals.len() } else { 0 }),
            terminals,
        }
    }

    /// For each job, the terminals of its sources, in the order of the sources in `sources` and `streams`.
    fn terminal_of(&self, terminals: &[Terminal]) -> Vec<Vec<u32>> {
        let is_in =
            |t: usize, j: usize| self.net.places.of(terminals[t].id).iter().any(|&(of, _)| usize::from(of) == j);
        let of_job = |(j, job): (usize, &NetJob)| {
            let here = (0..terminals.len()).filter(|&t| is_in(t, j));
            here.flat_map(|t| std::iter::repeat_n(t as u32, job.classes.len())).collect()
        };
        self.net.jobs.iter().enumerate().map(of_job).collect()
    }

    fn policy_side(&self, routers: &[views::Place], ports: &[Port]) -> PolicySide {
        let terminals = ports.iter().filter(|port| matches!(port.far, Far::Terminal(_))).count();
        let all_vcs = Self::classes(ports, terminals).map(|class| self.net.links[usize::from(class)].all).collect();
        let power = Power::new(all_vcs, self.spec.modes.count(), self.net.faults.repair.any());
        let faults = self.faults(routers, ports);
        PolicySide { power, agents: None, control: Control::none(), faults }
    }

    fn observers(&self, terminals: &[Terminal]) -> Observers {
        Observers {
            tally: self.tally(terminals),
            recorders: Recorders::default(),
            watch: Watch::new(&self.spec.watched),
        }
    }

    fn has_streams(&self) -> bool {
        self.net.shortcuts.has(Kind::Streams)
    }

    /// For each output of the routers, its trunk.
    fn trunks(&self) -> Vec<Trunk> {
        let graph = &*self.spec.graph;
        if !graph.has_trunks() {
            return Vec::new();
        }
        let ports = |r: u32| (0..graph.ports(r).len()).map(move |port| graph.trunk(r, port as u16));
        self.division.routers(self.b).iter().copied().flat_map(ports).collect()
    }

    /// The mailbox to each other block, with memory for all items that can be sent to that block in one window.
    fn outbox(&self, ports: &[Port]) -> Vec<Mail> {
        let net = self.net;
        let blocks = self.division.blocks();
        let mut channels = vec![0; blocks];
        for port in ports {
            if let Far::Away { cut, .. } = port.far {
                channels[cut.block as usize] += 1;
            }
        }
        let mut outbox = vec![Mail::default(); blocks];
        for (mail, channels) in outbox.iter_mut().zip(channels) {
            // a window is at most as long as the latency of a link, and each input or output passes at most one flit per allocation step
            let steps = self.longest(|l| (l.latency + net.router.after_grant) * u64::from(net.router.speedup));
            let most = channels * steps.min(self.longest(|l| 2 * u64::from(l.capacity))) as usize;
            // if runs of body flits are short, every second flit is followed by an event for the end of its run
            let events = if self.has_streams() { most + most / 2 } else { most };
            *mail = Mail::with_capacity(MailRoom {
                flits: events,
                packets: most,
                credits: events,
                slowed: if net.rates.is_some() { 4 * channels } else { 0 },
                notes: if net.set_aside.is_some() { 4 * channels } else { 0 },
                places: if net.ideal.is_some() { most } else { 0 },
                messages: if self.policy.control().is_some() { 4 * channels } else { 0 },
            });
        }
        outbox
    }

    fn tally(&self, terminals: &[Terminal]) -> Tally {
        let mut here = vec![false; self.net.jobs.len()];
        for &(job, _) in terminals.iter().flat_map(|terminal| self.net.places.of(terminal.id)) {
            here[usize::from(job)] = true;
        }
        let batches = self.spec.phases.most_batches(self.net.times.batch);
        let faults = episodes::tally(&self.spec.faults, &self.spec.phases);
        let parts =
            Parts::new(&self.net.jobs, self.spec.classes.len(), batches, &self.net.times.changes, faults, |job| {
                here[job]
            });
        Tally::new(self.spec.phases.first_window(), batches, parts)
    }

    fn terminal(&self, id: u32, out: u32) -> Terminal {
        Terminal {
            due: NOT_DUE,
            alarm: 0,
            packet: NONE,
            left: 0,
            job: self.net.places.job_of(id).unwrap_or(NO_JOB),
            source: 0,
            id,
            out,
            made: 0,
            brought_about: 0,
            vc: u8::MAX,
            blocked: false,
        }
    }

    /// For each job, builds the sources of its terminals in this block. The function also numbers the sources of each terminal, and sets
    /// the cycle in which each source is first due.
    fn sources(&self, terminals: &mut [Terminal]) -> Vec<JobSources> {
        let of_job = |(j, job): (usize, &NetJob)| {
            let mut here: Vec<&mut Terminal> = terminals.iter_mut().filter(|t| usize::from(t.job) == j).collect();
            let place = |t: &&mut Terminal| Place { terminal: t.id, rank: self.net.places.rank(t.id, j) };
            let mut sources = job.workload.sources(&here.iter().map(place).collect::<Vec<_>>());
            for (source, terminal) in here.iter_mut().enumerate() {
                (terminal.source, terminal.due) = (source as u32, sources.all_mut().start(source));
            }
            sources
        };
        self.net.jobs.iter().enumerate().map(of_job).collect()
    }

    /// For each job, builds the sources of its terminals in this block, and the queues of the network interfaces.
    fn streams(&self, terminals: &[Terminal], rules: &InterfaceRules) -> (Vec<JobSources>, Queues) {
        let mut streams = vec![Vec::new(); terminals.len()];
        let of_job = |(j, job): (usize, &NetJob)| {
            let is_here =
                |terminal: &Terminal| self.net.places.of(terminal.id).iter().any(|&(of, _)| usize::from(of) == j);
            let here: Vec<usize> = (0..terminals.len()).filter(|&t| is_here(&terminals[t])).collect();
            let place =
                |&t: &usize| Place { terminal: terminals[t].id, rank: self.net.places.rank(terminals[t].id, j) };
            let mut sources = job.workload.sources(&here.iter().map(place).collect::<Vec<_>>());
            let parts = here.iter().flat_map(|&t| (0..).zip(&job.classes).map(move |(part, &class)| (t, part, class)));
            for (source, (t, part, class)) in (0..).zip(parts) {
                let due = sources.all_mut().start(source as usize);
                streams[t].push(Stream { due, pending: NONE, job: j as u16, source, class, replies: part > 0 });
            }
            sources
        };
        let sources = self.net.jobs.iter().enumerate().map(of_job).collect();
        (sources, Queues::new(streams, rules, self.net.keeps))
    }
}
