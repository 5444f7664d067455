//! Counts the flits that wait for a channel, for agents and congestion control.
//!
//! # Counting method
//! In many networks the output of a flit is known when the flit arrives at a router, and does not change later. In these networks
//! the number of waiting flits of an output is a difference: its arrived flits minus its sent flits. Outputs always count their sent flits.
//! Routers count the flits that arrive for each output only if agents or congestion control need the number
//! ([`Fabric::count_queued`]). The cost then depends on the number of moving flits, and not on the number of waiting flits.
//!
//! In all other networks each call counts the flits in the queues of the router. Builds with debug assertions use both methods and compare
//! their results.

use crate::block::{Fabric, Interfaces, PolicySide, Reach, Routers, Wires};
use crate::net::Net;
use crate::parts::pace::cycle_near;
use crate::parts::queues::Stream;
use crate::shortcuts::Shortcuts;
use weft_api::routing::Decides;
use weft_api::state::{
    BODY, ChannelEnd, Flit, NO_JOB, NO_REQUEST, NONE, Segment, UNDECIDED, matching, occupied, port_and_vc,
};

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Number of flits that wait for channel `o`. In a router, flits of packets with this output count if they wait in the queues, or if
    /// they were granted the switch and wait behind other flits. A packet does not count until its head has chosen an output. At a
    /// terminal, all packets created before this cycle count with their unsent flits. At a terminal, the count stops at `most`.
    pub(crate) fn queued_for(&self, net: &Net, o: usize, most: u32) -> u32 {
        let Routers { fabric, beside } = &self.routers;
        let out = &fabric.wires.outs[o];
        if out.is(ChannelEnd::Injection) {
            return fabric.at_terminal(&self.interfaces, out.router as usize, most.into()) as u32;
        }
        let in_queues = || fabric.of_holders(&beside.policy, o) + fabric.of_others(&beside.shortcuts, net, o);
        let waiting = match fabric.wires.came_for.get(o) {
            None => in_queues(),
            Some(came) => {
                let counted = came.wrapping_sub(out.flits);
                debug_assert_eq!(counted, in_queues(), "flits that wait for output {o} in cycle {}", fabric.now);
                counted
            }
        };
        fabric.granted_to(&beside.shortcuts, net, o) + beside.shortcuts.streams().arriving(o, fabric.now) + waiting
    }
}

impl<const W: usize, const V: usize> Wires<W, V> {
    /// Counts flits that arrived for output `o` and left by it in the same cycle.
    pub(crate) fn pass_by(&mut self, o: usize, flits: u32) {
        if let Some(came) = self.came_for.get_mut(o) {
            *came = came.wrapping_add(flits);
        }
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Starts to count the flits that arrive for each output, if the output of every flit is known at its arrival
    /// ([`Net::counts_at_once`]). The queues must be empty at this call.
    pub(crate) fn count_queued(&mut self, net: &Net) {
        if net.counts_at_once() {
            self.wires.came_for = self.wires.outs[..self.buffers.ins.len()].iter().map(|out| out.flits).collect();
        }
    }

    /// True if routers count arriving flits by output.
    #[inline(always)]
    pub(crate) fn counts_queued(&self) -> bool {
        !self.wires.came_for.is_empty()
    }

    /// Counts the `len` flits of a chunk that starts at `first`, before the router receives them.
    #[inline(never)]
    pub(crate) fn count_arrivals(&mut self, net: &Net, (first, len): (u32, usize)) {
        for k in 0..len {
            let flit = self.wires.flits.items(first, len)[k];
            self.count_arrival(net, flit);
        }
    }

    /// Counts a flit before the router receives it, if arriving flits are counted.
    pub(crate) fn count_arrival(&mut self, net: &Net, flit: Flit) {
        if !self.counts_queued() {
            return;
        }
        let (i, v) = port_and_vc::<V>(flit.to);
        let port = &self.buffers.ins[i];
        let key = match flit {
            Flit { packet: NONE, key: BODY, .. } => self.buffers.segments.items[port.last(v) as usize].key,
            // a mark that begins or ends a run; the flits of the run are counted one by one
            Flit { packet: NONE, .. } => return,
            Flit { key, .. } => key,
        };
        let o = port.base(i) + net.port(key);
        self.wires.pass_by(o, 1);
    }
}

impl Net {
    /// True if the route key with which a packet arrives at a router names its output there.
    fn names_outputs(&self) -> bool {
        !self.chooses && self.needs.decides == Decides::Ahead && !self.faults.repair.any()
    }

    /// True if each flit counts as waiting from the cycle of its arrival. This requires that its packet's route key names the output, and
    /// that a head may always request this output at once.
    fn counts_at_once(&self) -> bool {
        self.names_outputs() && !self.router.closes_vcs && !self.maps_queues
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Number of flits that wait at terminal `t`, up to `most`: flits of the packet in transmission, of its interface's queues, and of its
    /// sources.
    fn at_terminal(&self, interfaces: &Interfaces, t: usize, most: u64) -> u64 {
        let (interfaces, now) = (&interfaces, self.now);
        let in_source = |job: u16, source: u32, due: u64| {
            let sources = interfaces.sources[usize::from(job)].all();
            sources.flits_due(source as usize, due, now, most)
        };
        let terminal = &interfaces.terminals[t];
        let waiting = if interfaces.queues.each > 0 {
            let flits = |packet: u32| u64::from(self.buffers.packets.items[packet as usize].len);
            let of_stream = |stream: &Stream| {
                let pending = if stream.pending == NONE { 0 } else { flits(stream.pending) };
                pending + in_source(stream.job, stream.source, stream.due)
            };
            let streams = &interfaces.queues.streams[interfaces.queues.streams_of(t)];
            interfaces.queues.flits_of(t) + streams.iter().map(of_stream).sum::<u64>()
        } else {
            let present = if terminal.packet == NONE { 0 } else { terminal.left.into() };
            let due = if terminal.job == NO_JOB { 0 } else { in_source(terminal.job, terminal.source, terminal.due) };
            present + due
        };
        waiting.min(most)
    }

    /// Largest number of flits by which `queued_for` can grow in one cycle: the largest number of flits that can arrive at the router in a
    /// cycle. `None` if flits do not count from their arrival on, because all flits of a queue can then start to count at once.
    pub(crate) fn queue_growth(&self, net: &Net, o: usize) -> Option<u32> {
        let out = &self.wires.outs[o];
        if out.is(ChannelEnd::Injection) || !net.counts_at_once() {
            return None;
        }
        let r = out.router as usize;
        let base = self.requests.routers[r].base as usize;
        let end = self.requests.routers.get(r + 1).map_or(self.buffers.ins.len(), |next| next.base as usize);
        let fastest = net.common.rates.iter().map(|rate| rate.per_cycle().ceil() as u32).max().unwrap_or(1);
        Some((end - base) as u32 * fastest.max(1))
    }

    /// Number of waiting flits of the packets that hold a VC of output `o`.
    fn of_holders(&self, policy: &PolicySide, o: usize) -> u32 {
        let out = &self.wires.outs[o];
        let (held, base) = (policy.power.held_vcs(o, out), self.requests.routers[out.router as usize].base as usize);
        let holders = (0..V).filter(|&vc| held >> vc & 1 != 0).map(|vc| out.holder[vc]);
        holders.map(|holder| self.flits_of_head(base + usize::from(holder >> 4), usize::from(holder & 15))).sum()
    }

    /// Number of flits of heads that request output `o`, and of packets that will request it once they become heads of their VCs.
    fn of_others(&self, shortcuts: &Shortcuts, net: &Net, o: usize) -> u32 {
        let r = self.wires.outs[o].router as usize;
        let base = self.requests.routers[r].base as usize;
        let end = self.requests.routers.get(r + 1).map_or(self.buffers.ins.len(), |next| next.base as usize);
        let leaves_by_it = |key: u16| key != NO_REQUEST && key < UNDECIDED && net.port(key) == o - base;
        let bypass = shortcuts.bypass_flits().iter().filter(|flit| {
            let (i, ..) = flit.places::<V>();
            (base..end).contains(&i) && !flit.chooses && leaves_by_it(flit.key)
        });
        let bypass: u32 = bypass.map(|flit| left(&self.buffers.segments.items[flit.segment as usize])).sum();
        let asking = (base..end).map(|i| {
            let port = &self.buffers.ins[i];
            let heads = !matching(&port.requests, NO_REQUEST) & occupied(&port.head);
            let asks = |v: &usize| heads >> v & 1 != 0 && leaves_by_it(port.requests[*v]);
            let heads: u32 = (0..V).filter(asks).map(|v| self.flits_of_head(i, v)).sum();
            let heads = heads + self.of_stuck(net, i, leaves_by_it);
            let behind: u32 =
                (0..V).filter(|v| port.queued >> v & 1 != 0).map(|v| self.behind(i, v, leaves_by_it)).sum();
            heads + behind
        });
        bypass + asking.sum::<u32>()
    }

    /// Number of flits of the first packets of stuck VCs of input `i` whose route keys lead to the output. (A VC is stuck if none of its
    /// packets may request an output.)
    fn of_stuck(&self, net: &Net, i: usize, leaves_by_it: impl Fn(u16) -> bool) -> u32 {
        if net.ideal.is_none() {
            return 0;
        }
        let stuck = (0..V).filter(|v| self.ideal.stuck[i] >> v & 1 != 0);
        let firsts = stuck.map(|v| self.buffers.front(i, v));
        firsts.filter(|first| leaves_by_it(first.key)).map(left).sum()
    }

    /// Number of flits of the packet at the head of VC `v` of input `i`.
    fn flits_of_head(&self, i: usize, v: usize) -> u32 {
        if self.buffers.ins[i].head[v] == NONE { 0 } else { left(self.buffers.front(i, v)) }
    }

    /// Number of flits of the packets behind the first packet of VC `v` of input `i`, if their route keys lead to the output.
    fn behind(&self, i: usize, v: usize, leaves_by_it: impl Fn(u16) -> bool) -> u32 {
        let (port, mut sum) = (&self.buffers.ins[i], 0);
        let mut id = port.head[v];
        while id != port.last(v) {
            id = self.buffers.segments.items[id as usize].next;
            let segment = &self.buffers.segments.items[id as usize];
            sum += if leaves_by_it(segment.key) { left(segment) } else { 0 };
        }
        sum
    }

    /// Number of flits that were granted output `o` and still wait for the link, behind other flits.
    fn granted_to(&self, shortcuts: &Shortcuts, net: &Net, o: usize) -> u32 {
        let free = cycle_near(self.now, self.next_free(shortcuts, o));
        let wait = free.saturating_sub(self.now + net.router.after_grant);
        let rate = self
            .wires
            .paces
            .of
            .get(o)
            .map_or(net.common.rates[usize::from(self.wires.outs[o].class)], |pace| pace.rate());
        rate.most_flits_in(wait) as u32
    }
}

/// Number of flits of a packet that have arrived and have not left.
fn left(segment: &Segment) -> u32 {
    u32::from(segment.arrived - segment.sent)
}
