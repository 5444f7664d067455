//! Flits that wait for a channel, counted from the queues when agents ask. Nothing is counted as flits move.

use crate::block::Block;
use crate::net::Net;
use crate::parts::pace::cycle_near;
use weft_api::state::{ChannelEnd, NO_REQUEST, NONE, Segment, matching, occupied};

impl<const W: usize, const V: usize> Block<W, V> {
    /// Flits that wait for channel `o`. In a router these are flits of packets that have it as their output: those in the
    /// queues, and granted ones with others before them. Heads that have not chosen an output wait for none. At a terminal
    /// they are the unsent flits of the present packet.
    pub fn queued_for(&self, net: &Net, o: usize) -> u32 {
        let out = &self.wires.outs[o];
        if out.is(ChannelEnd::Injection) {
            let terminal = &self.interfaces.terminals[out.router as usize];
            return if terminal.packet == NONE { 0 } else { terminal.left.into() };
        }
        self.granted_to(net, o)
            + self.of_holders(o)
            + self.shortcuts.streams.arriving(o, self.now)
            + self.of_others(net, o)
    }

    /// Flits of packets that hold a VC of output `o`, in the queues of these packets.
    fn of_holders(&self, o: usize) -> u32 {
        let out = &self.wires.outs[o];
        let (held, base) =
            (self.policy.power.held_vcs(o, out), self.requests.routers[out.router as usize].base as usize);
        let holders = (0..V).filter(|&vc| held >> vc & 1 != 0).map(|vc| out.holder[vc]);
        holders.map(|holder| self.flits_of_head(base + usize::from(holder >> 4), usize::from(holder & 15))).sum()
    }

    /// Flits of heads that ask for output `o`, and of the packets behind heads that will.
    fn of_others(&self, net: &Net, o: usize) -> u32 {
        let r = self.wires.outs[o].router as usize;
        let base = self.requests.routers[r].base as usize;
        let end = self.requests.routers.get(r + 1).map_or(self.buffers.ins.len(), |next| next.base as usize);
        let leaves_by_it =
            |key: u16| key != NO_REQUEST && key < weft_api::state::UNDECIDED && net.port(key) == o - base;
        let fresh = self.shortcuts.fresh_flits.iter().filter(|fresh| {
            let (i, ..) = fresh.places::<V>();
            (base..end).contains(&i) && !fresh.chooses && leaves_by_it(fresh.key)
        });
        let fresh: u32 = fresh.map(|fresh| left(&self.buffers.segments.items[fresh.segment as usize])).sum();
        let asking = (base..end).map(|i| {
            let port = &self.buffers.ins[i];
            let heads = !matching(&port.requests, NO_REQUEST) & occupied(&port.head);
            let asks = |v: &usize| heads >> v & 1 != 0 && leaves_by_it(port.requests[*v]);
            let heads: u32 = (0..V).filter(asks).map(|v| self.flits_of_head(i, v)).sum();
            let behind: u32 =
                (0..V).filter(|v| port.queued >> v & 1 != 0).map(|v| self.behind(i, v, leaves_by_it)).sum();
            heads + behind
        });
        fresh + asking.sum::<u32>()
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
    fn granted_to(&self, net: &Net, o: usize) -> u32 {
        let free = cycle_near(self.now, self.next_free(o));
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
