//! Stall analysis: finds the packets that can never move again, and the reasons why they wait.
//!
//! A head can move if one of the VCs that it may use is free and has space, or will become free and get space. A VC will become free if the
//! packet that holds it can move. The VC will get space if the packets in the buffer at the far end of its channel can move. Packets at
//! ejection channels and in sources, and flits and credits in flight, can always move. A head that waits for a channel closed by the power
//! policy can move if the policy has further events, which might open the channel. The analysis repeatedly marks queues that can move,
//! until it finds no further queue of this kind. The remaining queues are stuck: they wait for each other in a cycle, or for a channel that
//! stays closed.

use crate::network::simulation::Simulation;
use crate::run::outcome::{self, Cause, PacketName, Stall, Waiting};
use std::collections::HashSet;
use weft_api::routing::Hop;
use weft_api::state::{ChannelEnd, NO_REQUEST, NONE, UNDECIDED};
use weft_kernel::face::AnyBlock;
use weft_kernel::face::views::Input;
use weft_kernel::net::Net;
use weft_kernel::shortcuts::streams;
use weft_topology::Trunk;

/// An input VC of the whole network: (block, input port, VC).
type Queue = (usize, usize, usize);

struct Map<'a> {
    net: &'a Net,
    blocks: &'a [Box<dyn AnyBlock>],
    now: u64,
    /// Whether the power policy will open no channel before a packet moves.
    policy_rests: bool,
    /// Credits in flight, as (block, output, VC).
    credits: HashSet<(usize, usize, usize)>,
    /// Flits in flight, as the queues that they will enter. In a run of body flits (a sequence with one flit per cycle), not every flit has
    /// an event: the event at the end of the run represents all its flits. A run that has not ended yet has no such event.
    flits: HashSet<Queue>,
}

/// Finds the packets that can never move, and the reason; `None` if there are no such packets.
pub(crate) fn find(simulation: &Simulation) -> Option<Stall> {
    let map = Map::new(&simulation.net, &simulation.blocks, simulation.now(), simulation.is_policy_at_rest());
    let mut stuck: HashSet<Queue> = map.queues().collect();
    loop {
        let moving: Vec<Queue> = stuck
            .iter()
            .copied()
            .filter(|&q| map.waits_for(q).is_none_or(|on| on.iter().any(|d| !stuck.contains(d))))
            .collect();
        if moving.is_empty() {
            break;
        }
        moving.iter().for_each(|q| _ = stuck.remove(q));
    }
    let mut path = vec![*stuck.iter().min_by_key(|&&q| map.order(q))?];
    let (from, last) = loop {
        let others = map.waits_for(path[path.len() - 1])?.into_iter().filter(|d| stuck.contains(d));
        let Some(next) = others.min_by_key(|&q| map.order(q)) else {
            break (0, None);
        };
        if let Some(from) = path.iter().position(|&p| p == next) {
            break (from, Some(next));
        }
        path.push(next);
    };
    let path = &path[from..];
    let next = path[1..].iter().copied().map(Some).chain([last]);
    let wait_for = path.iter().zip(next).map(|(&q, next)| map.waiting(q, next)).collect();
    Some(Stall { cycle: simulation.now(), packets: map.packets(&stuck), wait_for, halted: Vec::new() })
}

impl<'a> Map<'a> {
    fn new(net: &'a Net, blocks: &'a [Box<dyn AnyBlock>], now: u64, policy_rests: bool) -> Self {
        let (mut credits, mut flits) = (HashSet::new(), HashSet::new());
        for (b, records) in blocks.iter().map(|block| block.records()).enumerate() {
            records.credits.for_each(|w| _ = credits.insert((b, streams::output(w), (w & 15) as usize)));
            records.flits.for_each(|f| _ = flits.insert((b, (f.to >> 4) as usize, (f.to & 15) as usize)));
        }
        Self { net, blocks, now, policy_rests, credits, flits }
    }

    /// A sort key that gives the queues an order that does not depend on the division into blocks.
    fn order(&self, q: Queue) -> (u32, u16, u8) {
        let outcome::Queue { router, port, vc } = self.place(q);
        (router, port, vc)
    }

    fn queues(&self) -> impl Iterator<Item = Queue> + '_ {
        self.blocks.iter().enumerate().flat_map(|(b, block)| {
            let full = |port: Input<'a>| (0..port.head.len()).filter(move |&v| port.head[v] != NONE);
            block.ins().enumerate().flat_map(move |(i, port)| full(port).map(move |v| (b, i, v)))
        })
    }

    /// Lists queues of which at least one must move before the head of `q` can move. Returns `None` if the head can already move, or waits
    /// for a failed link to return. An empty list means that the head can never move.
    fn waits_for(&self, (b, i, v): Queue) -> Option<Vec<Queue>> {
        let block = &self.blocks[b];
        let port = block.input(i);
        let segment = &block.records().segments.items[port.head[v] as usize];
        let base = block.router(port.router as usize).base as usize;
        if port.requests[v] == UNDECIDED && port.choosing >> v & 1 == 0 {
            return None; // the head waits for a failed link to return
        }
        if self.net.router.closes_vcs && port.opens[v] > self.now {
            return None; // the head requests an output when its VC opens
        }
        if port.requests[v] == NO_REQUEST {
            let (o, vc) = (base + usize::from(port.output_vc[v] >> 4), usize::from(port.output_vc[v] & 15));
            if segment.arrived == segment.sent {
                return self.body_behind((b, i, v)).map(|q| vec![q]);
            }
            return if block.output(o).credits[vc] == 0 { self.behind(b, o, vc) } else { None };
        }
        let mut on = Vec::new();
        for hop in self.hops((b, i, v)) {
            on.extend(self.waits_at(b, base, hop)?);
        }
        Some(on)
    }

    /// The hops that the head of `q` may request, if this head holds no output VC.
    fn hops(&self, (b, i, v): Queue) -> Vec<Hop> {
        let block = &self.blocks[b];
        let port = block.input(i);
        let segment = &block.records().segments.items[port.head[v] as usize];
        let trunk =
            |port_number: u16| Trunk::at(block.records().trunks, port.base(i) + usize::from(port_number), port_number);
        let members = |hop: Hop| trunk(hop.port).members().map(move |port| Hop { port, ..hop });
        if port.choosing >> v & 1 != 0 && segment.key == UNDECIDED {
            let router = block.router(port.router as usize).id;
            let at = self.net.coords[router as usize];
            let packet = &block.records().packets.items[segment.packet as usize];
            let steps = self.net.routing.steps(at, packet, self.net.seed);
            return steps.into_iter().flat_map(|step| members(self.net.as_taken(router, packet, step.hop))).collect();
        }
        let key = if port.choosing >> v & 1 != 0 { segment.key } else { port.requests[v] };
        let (p, class) = weft_api::state::split(key, self.net.class_bits);
        let hop = Hop { port: p as u16, class: class as u8 };
        if port.choosing >> v & 1 != 0 { members(hop).collect() } else { vec![hop] }
    }

    /// Lists queues of which at least one must move before a head can take `hop`. Returns `None` if the head can take it now.
    fn waits_at(&self, b: usize, base: usize, hop: Hop) -> Option<Vec<Queue>> {
        let o = base + usize::from(hop.port);
        let out = self.blocks[b].output(o);
        if out.is_closed() && !self.policy_rests {
            return None;
        }
        let held = out.held;
        let holder = |vc: usize| (b, base + usize::from(out.holder[vc] >> 4), usize::from(out.holder[vc] & 15));
        if out.is_closed() || self.net.router.hold_switch && held != 0 {
            // A closed channel opens only after the packets that hold its VCs have left, because the policy acts then. An output that holds
            // the switch for one packet finishes this packet first, even if other VCs are free.
            return Some((0..out.credits.len()).filter(|vc| held >> vc & 1 != 0).map(holder).collect());
        }
        let link = &self.net.links[out.class as usize];
        let allowed = link.vcs_of[usize::from(hop.class)];
        let room = if link.entering >> hop.class & 1 == 0 { self.net.router.room } else { link.room_to_enter };
        let mut on = Vec::new();
        for vc in (0..out.credits.len()).filter(|vc| allowed >> vc & 1 != 0) {
            if held >> vc & 1 != 0 {
                on.push(holder(vc));
            } else if out.credits[vc] >= room {
                return None;
            } else {
                on.extend(self.behind(b, o, vc)?);
            }
        }
        Some(on)
    }

    /// The queue behind output VC (b, o, vc) that must move before a credit returns; `None` if a credit returns in any case.
    fn behind(&self, b: usize, o: usize, vc: usize) -> Option<Vec<Queue>> {
        let out = self.blocks[b].output(o);
        let far = match out.kind {
            ChannelEnd::Ejection => return self.behind_terminal(b, o, vc),
            ChannelEnd::Local | ChannelEnd::Injection => (b, out.peer as usize, vc),
            ChannelEnd::Remote => {
                let cut = self.blocks[b].records().cuts[out.peer as usize];
                (cut.block as usize, cut.port as usize, vc)
            }
            ChannelEnd::Unused => return None,
        };
        let moving = self.credits.contains(&(b, o, vc)) || self.flits.contains(&far);
        let empty = self.blocks[far.0].input(far.1).head[vc] == NONE;
        (!moving && !empty).then(|| vec![far])
    }

    /// Lists queues of which at least one must move before the terminal at output `o` sends a reply and thereby frees space on ejection VC
    /// `vc`. Returns `None` if this space becomes free in any case.
    fn behind_terminal(&self, b: usize, o: usize, vc: usize) -> Option<Vec<Queue>> {
        let (rules, block) = (self.net.interface.as_ref().filter(|_| self.net.keeps)?, &self.blocks[b]);
        if self.credits.contains(&(b, o, vc)) {
            return None;
        }
        let injection = block.input(o).upstream as usize;
        let (out, queues) = (block.output(injection), &block.interfaces().queues);
        let t = out.router as usize;
        let oldest = queues.keeps[t].first;
        if oldest == NONE || out.is_closed() {
            return None; // the packets that the terminal keeps have no reply yet, or the policy will still act
        }
        // this loop visits the queues of the terminal's interface through which replies leave
        let mut on = Vec::new();
        for q in (0..queues.each).filter(|q| queues.filled[t] >> q & 1 != 0 && self.leads_to_reply(t, b, *q)) {
            let (queue, front) = (&queues.of[queues.place(t, q)], queues.front(t, q));
            let (vcs, room) = match queue.is_amid() {
                true => (1 << queue.vc, 1),
                false => (rules.vcs(front.class, front.lane), self.net.router.room),
            };
            for vc in (0..out.credits.len()).filter(|vc| vcs >> vc & 1 != 0) {
                if out.credits[vc] >= room {
                    return None;
                }
                on.extend(self.behind(b, injection, vc)?);
            }
        }
        (!on.is_empty()).then_some(on)
    }

    /// Whether queue `q` of terminal `t` contains a reply, or a new reply would have to join this queue behind its packets.
    fn leads_to_reply(&self, t: usize, b: usize, q: usize) -> bool {
        let queues = &self.blocks[b].interfaces().queues;
        let replies = |s: usize| {
            let job = &self.net.jobs[usize::from(queues.streams[s].job)];
            job.classes.last() == Some(&queues.streams[s].class)
        };
        let classes: Vec<u8> = queues.streams_of(t).filter(|&s| replies(s)).map(|s| queues.streams[s].class).collect();
        queues.each == 1 || classes.contains(&queues.front(t, q).class)
    }

    /// The queue of a previous router that still contains flits of the packet at the head of `q`; `None` if these flits are in flight.
    fn body_behind(&self, q: Queue) -> Option<Queue> {
        let (b, i, v) = q;
        let port = self.blocks[b].input(i);
        if self.flits.contains(&q) {
            return None;
        }
        let (ub, o) = if port.remote {
            let cut = self.blocks[b].records().cuts[port.upstream as usize];
            (cut.block as usize, cut.port as usize)
        } else {
            (b, port.upstream as usize)
        };
        let out = self.blocks[ub].output(o);
        if out.kind == ChannelEnd::Injection {
            return None;
        }
        let base = self.blocks[ub].router(out.router as usize).base as usize;
        let holder = out.holder[v];
        Some((ub, base + usize::from(holder >> 4), usize::from(holder & 15)))
    }

    fn packets(&self, stuck: &HashSet<Queue>) -> u64 {
        let mut count = 0;
        for &(b, i, v) in stuck {
            let mut id = self.blocks[b].input(i).head[v];
            while id != NONE {
                count += 1;
                id = self.blocks[b].records().segments.items[id as usize].next;
            }
        }
        count
    }

    /// The reason why the head of `q` waits: for the queue `next`, or for a channel that stays closed if there is no `next`.
    fn waiting(&self, q: Queue, next: Option<Queue>) -> Waiting {
        let (b, i, v) = q;
        let block = &self.blocks[b];
        let port = block.input(i);
        let segment = &block.records().segments.items[port.head[v] as usize];
        // after the head has left this router, perhaps to another block, the record may belong to another packet
        let packet = (segment.sent == 0).then(|| &block.records().packets.items[segment.packet as usize]);
        let at = self.place(q);
        let cause = match next.map(|next| (next, self.place(next))) {
            None => self.closed(q),
            Some((next, to)) if let Some(terminal) = self.answering(q, next) => Cause::Unanswered { terminal, to },
            Some((_, to)) if to.router == at.router => Cause::Held { by: to },
            Some((next, to)) if port.requests[v] == NO_REQUEST && self.body_behind(q) == Some(next) => {
                Cause::Behind { queue: to }
            }
            Some((next, to)) => Cause::NoRoom { port: self.output_to(next), to },
        };
        Waiting { packet: packet.map(|p| PacketName { seq: p.seq, src: p.src, dst: p.dst }), at, cause }
    }

    /// The terminal to which the next hop of the packet at the head of `q` leads; `None` if the hop leads to no terminal, or to a terminal
    /// that does not send into the queue `next`.
    fn answering(&self, (b, i, v): Queue, next: Queue) -> Option<u32> {
        let port = self.blocks[b].input(i);
        let p = match port.requests[v] {
            NO_REQUEST => usize::from(port.output_vc[v] >> 4),
            _ => usize::from(self.hops((b, i, v)).first()?.port),
        };
        let o = port.base(i) + p;
        let out = self.blocks[b].output(o);
        (out.kind == ChannelEnd::Ejection && (next.0, next.1) == (b, o)).then_some(out.peer)
    }

    /// The cause of a stall in which all channels that the head of `q` may take are closed: the first of these channels.
    fn closed(&self, q: Queue) -> Cause {
        let block = &self.blocks[q.0];
        let (port, hops) = (block.input(q.1), self.hops(q));
        let first = hops.first().map_or(0, |hop| hop.port);
        Cause::Closed { port: first.into(), to: block.records().next_router[port.base(q.1) + usize::from(first)] }
    }

    fn place(&self, (b, i, v): Queue) -> outcome::Queue {
        let port = self.blocks[b].input(i);
        let router = self.blocks[b].router(port.router as usize).id;
        outcome::Queue { router, port: port.port, vc: v as u8 }
    }

    /// The output port of the previous router whose channel leads to this queue.
    fn output_to(&self, (b, i, _): Queue) -> u32 {
        let port = self.blocks[b].input(i);
        let (b, o) = if port.remote {
            let cut = self.blocks[b].records().cuts[port.upstream as usize];
            (cut.block as usize, cut.port)
        } else {
            (b, port.upstream)
        };
        let out = self.blocks[b].output(o as usize);
        o - self.blocks[b].router(out.router as usize).base
    }
}

#[cfg(test)]
mod tests;
