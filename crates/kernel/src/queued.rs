//! Flits that wait for a channel, counted from the queues when agents ask. Nothing is counted as flits move.

use crate::block::{Fabric, Interfaces, PolicySide, Reach, Routers, Shortcuts};
use crate::net::Net;
use crate::parts::pace::cycle_near;
use crate::parts::queues::Stream;
use weft_api::routing::Decides;
use weft_api::state::{ChannelEnd, NO_JOB, NO_REQUEST, NONE, Segment, matching, occupied};

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Flits that wait for channel `o`. In a router these are flits of packets that have it as their output: those in the
    /// queues, and granted ones with others before them. Heads that have not chosen an output wait for none. At a terminal
    /// they are the flits of all packets that were created before this cycle and are not sent, counted up to `most`.
    pub fn queued_for(&self, net: &Net, o: usize, most: u32) -> u32 {
        let Routers { fabric, beside } = &self.routers;
        let out = &fabric.wires.outs[o];
        if out.is(ChannelEnd::Injection) {
            return fabric.at_terminal(&self.interfaces, out.router as usize, most.into()) as u32;
        }
        fabric.granted_to(&beside.shortcuts, net, o)
            + fabric.of_holders(&beside.policy, o)
            + beside.shortcuts.streams.arriving(o, fabric.now)
            + fabric.of_others(&beside.shortcuts, net, o)
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Flits that wait at terminal `t`, up to `most`: of its present packet, in the queues of its interface, and in its sources.
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

    /// Most flits by which `queued_for` can grow in a cycle; `None` if all flits of a queue may count at once. Where routes are known
    /// as flits come, it grows by the flits that come to the router.
    pub fn queue_growth(&self, net: &Net, o: usize) -> Option<u32> {
        let out = &self.wires.outs[o];
        let is_known = !net.chooses && net.needs.decides == Decides::Ahead && !net.faults.repair.any();
        if out.is(ChannelEnd::Injection) || !is_known {
            return None;
        }
        let r = out.router as usize;
        let base = self.requests.routers[r].base as usize;
        let end = self.requests.routers.get(r + 1).map_or(self.buffers.ins.len(), |next| next.base as usize);
        let fastest = net.common.rates.iter().map(|rate| rate.per_cycle().ceil() as u32).max().unwrap_or(1);
        Some((end - base) as u32 * fastest.max(1))
    }

    /// Flits of packets that hold a VC of output `o`, in the queues of these packets.
    fn of_holders(&self, policy: &PolicySide, o: usize) -> u32 {
        let out = &self.wires.outs[o];
        let (held, base) = (policy.power.held_vcs(o, out), self.requests.routers[out.router as usize].base as usize);
        let holders = (0..V).filter(|&vc| held >> vc & 1 != 0).map(|vc| out.holder[vc]);
        holders.map(|holder| self.flits_of_head(base + usize::from(holder >> 4), usize::from(holder & 15))).sum()
    }

    /// Flits of heads that ask for output `o`, and of the packets behind heads that will.
    fn of_others(&self, shortcuts: &Shortcuts, net: &Net, o: usize) -> u32 {
        let r = self.wires.outs[o].router as usize;
        let base = self.requests.routers[r].base as usize;
        let end = self.requests.routers.get(r + 1).map_or(self.buffers.ins.len(), |next| next.base as usize);
        let leaves_by_it =
            |key: u16| key != NO_REQUEST && key < weft_api::state::UNDECIDED && net.port(key) == o - base;
        let fresh = shortcuts.fresh_flits.iter().filter(|fresh| {
            let (i, ..) = fresh.places::<V>();
            (base..end).contains(&i) && !fresh.chooses && leaves_by_it(fresh.key)
        });
        let fresh: u32 = fresh.map(|fresh| left(&self.buffers.segments.items[fresh.segment as usize])).sum();
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
        fresh + asking.sum::<u32>()
    }

    /// Flits of the first packets of VCs of input `i` of which no packet may ask for its output, if such are their route keys.
    fn of_stuck(&self, net: &Net, i: usize, leaves_by_it: impl Fn(u16) -> bool) -> u32 {
        if net.ideal.is_none() {
            return 0;
        }
        let stuck = (0..V).filter(|v| self.ideal.stuck[i] >> v & 1 != 0);
        let firsts = stuck.map(|v| &self.buffers.segments.items[self.buffers.ins[i].head[v] as usize]);
        firsts.filter(|first| leaves_by_it(first.key)).map(left).sum()
    }

    /// Flits of the packet at the head of VC `v` of input `i`.
    fn flits_of_head(&self, i: usize, v: usize) -> u32 {
        let head = self.buffers.ins[i].head[v];
        if head == NONE { 0 } else { left(&self.buffers.segments.items[head as usize]) }
    }

    /// Flits of the packets behind that head whose route keys are such.
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

    /// Flits that were granted output `o` and wait for the link, as others are before them.
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

/// Flits of a packet, or of the part of it that has come, that have not left.
fn left(segment: &Segment) -> u32 {
    u32::from(segment.arrived - segment.sent)
}
