//! The work of the cycle loop for queues that are set aside for congested outputs.
//!
//! In two cases a router sends a note (a token) upstream, to the sender of the channel on which a packet arrived. In the first case, the
//! packet's head is in a normal queue, and too many flits wait for its output. In the second case, the packet's queue at the next router is
//! itself set aside, and is filled up to a threshold. After receiving the note, the sender puts packets that will cross the congested
//! output (the root) into a separate queue. Notes travel on a side channel next to the link, as credits do.
//!
//! The first packet in a queue that is set aside waits at the receiving router until older packets in other queues of the channel have
//! left. Therefore the packets of a flow stay in order.

use crate::block::{Fabric, Interfaces, Routers};
use crate::net::Net;
use crate::parts::set_aside::{Given, Line, Note, OfChannel, SetAsideRules, Token};
use weft_api::base::arrays::At;
use weft_api::state::{
    COUNTED, ChannelEnd, FENCED, Flit, Move, NO_REQUEST, NONE, Segment, UNDECIDED, key_of, port_and_vc, split,
};

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Receives notes, and frees empty queues. Fenced heads (which wait for older packets) request their outputs if these packets have
    /// left.
    #[inline(never)]
    pub(crate) fn keep_set_asides(&mut self, interfaces: &mut Interfaces, net: &Net, rules: &SetAsideRules) {
        let fabric = &mut self.fabric;
        let now = fabric.now;
        let due = fabric.due_notes();
        for &note in &due {
            if note.returns {
                fabric.take_token_back(note);
            } else {
                fabric.set_asides.lines.assign(note.port as usize, note.root, now);
                fabric.sort_heads(interfaces, net, rules, note.port as usize);
            }
        }
        self.fabric.set_asides.due = due;
        let mut opened = std::mem::take(&mut self.fabric.set_asides.opened);
        opened.sort_unstable();
        for &(i, v) in &opened {
            self.head_asks(net, i as usize, v.into());
        }
        opened.clear();
        // heads that were released during this call request their outputs in the next cycle
        opened.append(&mut self.fabric.set_asides.opened);
        self.fabric.set_asides.opened = opened;
        self.fabric.free_empty(interfaces, net, rules);
        if self.beside.observers.tally.inside(now) {
            let asides = &mut self.fabric.set_asides;
            asides.counts.line_cycles += asides.lines.in_use.len() as u64;
        }
    }

    /// The route key of packet `id`, which is first in VC `v` of input `i`. The key names the VC class of the packet's queue at the next
    /// router. If the head has not yet chosen its output or a member of a trunk, this choice will determine the queue. `None` if the packet
    /// must wait for older packets in other queues.
    #[inline(never)]
    pub(crate) fn key_set_aside(
        &mut self,
        net: &Net,
        rules: &SetAsideRules,
        (i, v): (usize, usize),
        id: u32,
        key: u16,
    ) -> Option<u16> {
        let fabric = &mut self.fabric;
        if fabric.set_asides.fenced[i] >> v & 1 != 0 {
            return None;
        }
        let is_normal = fabric.channel_into(rules, i).lane_of[v] == 0;
        if let Some(token) = fabric.congested(net, rules, (i, is_normal), id, key) {
            match fabric.set_asides.tokens.give(i, token) {
                Given::Now => fabric.tell_upstream(net, i, token),
                Given::Before => {}
                Given::Never => {
                    let counts = self.beside.observers.tally.inside(fabric.now);
                    fabric.set_asides.counts.unserved += u64::from(counts);
                }
            }
        }
        Some(fabric.key_on_lane(net, i, id, key))
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// The assignment of VCs to queues on the incoming channel of input `i`.
    pub(crate) fn channel_into<'a>(&self, rules: &'a SetAsideRules, i: usize) -> &'a OfChannel {
        if self.buffers.ins[i].class == 0 {
            return rules.from_terminals();
        }
        rules.between(self.set_asides.back[i])
    }

    /// The assignment of VCs to queues on channel `o`. The channel must lead to a router.
    fn channel_out<'a>(&self, rules: &'a SetAsideRules, o: usize) -> &'a OfChannel {
        let out = &self.wires.outs[o];
        if out.is(ChannelEnd::Injection) { rules.from_terminals() } else { rules.between(out.class) }
    }

    /// Sends a token to the sender of the channel into input `i`.
    fn tell_upstream(&mut self, net: &Net, i: usize, token: Token) {
        if token.because_of != NONE {
            let o = token.because_of as usize;
            let lane = self.set_asides.lines.lane(o, token.root);
            self.set_asides.lines.at(o, lane).tokens += 1;
        }
        self.set_asides.counts.given += 1;
        let port = &self.buffers.ins[i];
        let (upstream, at) = (port.upstream(), self.now + net.links.of(port.class).credit_latency);
        self.send_note(port.is_remote(), upstream, at, Note { port: 0, root: token.root, returns: false });
    }

    /// Sends a note to the other end of a channel. If `is_cut` is false, the other end is `port` of this block. Otherwise the other end is
    /// in another block, to which channel `port` leads.
    fn send_note(&mut self, is_cut: bool, port: u32, at: u64, note: Note) {
        self.set_asides.counts.sent += 1;
        if is_cut {
            let (mail, port) = self.wires.mail_to(port);
            mail.notes.push((at, Note { port, ..note }));
        } else {
            self.set_asides.notes.push(self.now, at, Note { port, ..note });
        }
    }

    /// Returns the notes that arrive in this cycle, in an order that does not depend on the division into blocks.
    fn due_notes(&mut self) -> Vec<Note> {
        let mut due = std::mem::take(&mut self.set_asides.due);
        due.clear();
        while let Some((first, len)) = self.set_asides.notes.due(self.now) {
            due.extend((0..len).map(|k| self.set_asides.notes.item(first, k)));
            self.set_asides.notes.release(self.now);
        }
        due.sort_unstable();
        self.set_asides.counts.arrived += due.len() as u64;
        due
    }

    fn take_token_back(&mut self, note: Note) {
        self.set_asides.counts.returned += 1;
        let because_of = self.set_asides.tokens.take_back(note.port as usize, note.root);
        if because_of != NONE {
            let lane = self.set_asides.lines.lane(because_of as usize, note.root);
            self.set_asides.lines.at(because_of as usize, lane).tokens -= 1;
        }
    }

    /// Called when channel `o` has set a queue aside. Each head that waits for the channel now requests the queue of its packet.
    fn sort_heads(&mut self, interfaces: &mut Interfaces, net: &Net, rules: &SetAsideRules, o: usize) {
        let out = &self.wires.outs[o];
        if out.is(ChannelEnd::Injection) {
            interfaces.unblock(out.router as usize);
            return;
        }
        let (r, lanes) = (out.router as usize, *rules.between(out.class));
        let (base, end) = self.inputs_of(r);
        self.requests.active.set(r); // heads that choose in every step choose again
        for i in base..end {
            for v in 0..V {
                self.count_again(net, (i, v), o);
                if self.buffers.ins[i].choosing >> v & 1 != 0 {
                    self.unsettle_head(net, i, v);
                    continue;
                }
                let old = *self.buffers.ins[i].requests.at(v);
                if old == NO_REQUEST || old == UNDECIDED || base + net.port(old) != o {
                    continue;
                }
                let (p, class) = split(old, net.class_bits);
                let packet = self.buffers.front(i, v).packet;
                let lane = self.lane_ahead(net, (o, class), &self.buffers.packets.items[packet as usize]);
                let class = class - usize::from(lanes.lane_of[self.vc_of(net, o, class)]) + usize::from(lane);
                let key = key_of(p, class, net.class_bits);
                if key != old {
                    *self.buffers.ins[i].requests.at_mut(v) = key;
                    self.withdraw(net, r, i, old);
                    self.request_vc(net, i, p, class);
                }
            }
        }
    }

    /// Called for VC `v` of input `i` when output `o` has set a queue aside. Packets for which a separate queue now exists no longer count
    /// as waiting for the trunk of `o`.
    fn count_again(&mut self, net: &Net, (i, v): (usize, usize), o: usize) {
        let (base, trunk) = (self.buffers.ins[i].base(i), self.first_of_trunk(o));
        let mut id = *self.buffers.ins[i].head.at(v);
        while id != NONE {
            let Segment { packet, next, sent, key, .. } = self.buffers.segments.items[id as usize];
            if sent == 0 && self.is_counted_at(packet, trunk) {
                let (p, class) = split(key, net.class_bits);
                if self.has_a_queue_ahead(net, (base + p, class), packet) {
                    self.count_no_more(packet);
                }
            }
            id = next;
        }
    }

    /// Frees queues that have been empty for `linger` cycles and whose tokens have all returned.
    fn free_empty(&mut self, interfaces: &mut Interfaces, net: &Net, rules: &SetAsideRules) {
        let mut free = std::mem::take(&mut self.set_asides.free);
        let in_use = std::mem::take(&mut self.set_asides.lines.in_use);
        for &(o, lane) in &in_use {
            let empty = self.is_empty(net, rules, o as usize, lane);
            let line = self.set_asides.lines.at(o as usize, lane);
            if !empty || line.tokens > 0 {
                line.used = self.now;
            } else if self.now - line.used >= rules.rules.linger {
                free.push((o as usize, lane));
            }
        }
        self.set_asides.lines.in_use = in_use;
        for (o, lane) in free.drain(..) {
            let root = self.set_asides.lines.release(o, lane);
            let out = &self.wires.outs[o];
            let (is_cut, peer) = (out.is(ChannelEnd::Remote), out.peer);
            let at = self.now + net.router.after_grant + net.links.of(out.class).latency;
            if out.is(ChannelEnd::Injection) {
                interfaces.unblock(out.router as usize);
            }
            self.send_note(is_cut, peer, at, Note { port: 0, root, returns: true });
        }
        self.set_asides.free = free;
    }

    /// True if queue `lane` behind channel `o` contains no packet and no packet is about to enter it.
    fn is_empty(&self, net: &Net, rules: &SetAsideRules, o: usize, lane: u8) -> bool {
        let out = &self.wires.outs[o];
        let vcs = self.channel_out(rules, o).vcs_of[usize::from(lane)];
        let buffer = net.links.of(out.class).buffer;
        let home = |vc: usize| vcs >> vc & 1 == 0 || out.credits[vc] == buffer;
        let asks = |class: usize| out.requested >> class & 1 != 0 && net.vcs(out.class, class) & vcs != 0;
        let asked = !out.is(ChannelEnd::Injection) && out.requested != 0 && (0..16).any(asks);
        !asked && out.free_vcs & vcs == vcs && (0..V).all(home)
    }

    /// Called when a flit, possibly a head, arrives at a router. For a head, counts its packet.
    #[inline(never)]
    pub(crate) fn note_arrival(&mut self, net: &Net, rules: &SetAsideRules, flit: Flit) {
        if flit.packet == NONE {
            return;
        }
        let (i, v) = port_and_vc::<V>(flit.to);
        let packet = self.buffers.packets.items[flit.packet as usize];
        let channel = self.channel_into(rules, i);
        let (lane, group) = (channel.lane_of[v], channel.group_of[v]);
        if lane == 0 {
            self.count_packet(net, i, flit);
        } else if packet.flags & FENCED != 0 {
            let fenced = self.set_asides.fence((i, v), group);
            self.set_asides.counts.fenced += u64::from(fenced);
        }
        self.set_asides.held[i * 16 + v] += 1;
    }

    /// Adds a packet to the count of its output, after its head has arrived in a normal queue of input `i`. A packet whose head chooses its
    /// output in every step is not counted, because routers upstream cannot know whether the packet will cross a congested output.
    fn count_packet(&mut self, net: &Net, i: usize, flit: Flit) {
        let (p, class) = split(flit.key, net.class_bits);
        let o = self.buffers.ins[i].base(i) + p;
        if flit.key == UNDECIDED || self.has_a_queue_ahead(net, (o, class), flit.packet) {
            return;
        }
        let place = self.first_of_trunk(o);
        let packet = &mut self.buffers.packets.items[flit.packet as usize];
        packet.flags |= COUNTED;
        self.set_asides.waiting[place] += u32::from(packet.len);
        self.set_asides.count_at(flit.packet, place);
    }

    /// Called before the router whose ports begin at `base` makes its first `count` moves. Removes the departing packets from the counts,
    /// and marks the first packet that enters each VC of a queue that is set aside.
    #[inline(never)]
    pub(crate) fn note_departures(&mut self, rules: &SetAsideRules, base: usize, count: usize) {
        for k in 0..count {
            let Move { i, v, p, vc } = self.switch.moves(count)[k];
            let (i, v, o) = (base + usize::from(i), usize::from(v), base + usize::from(p));
            let Segment { packet, sent, len, .. } = *self.buffers.front(i, v);
            let (head, tail) = (sent == 0, sent + 1 == len);
            if head {
                self.count_no_more(packet);
                let to = (o, usize::from(vc));
                self.mark_if_first(rules, to, packet);
                self.has_begun(rules, to);
            }
            if tail {
                self.set_asides.leave(i, v);
            }
        }
    }

    fn is_counted_at(&self, id: u32, place: usize) -> bool {
        let counted = self.buffers.packets.items[id as usize].flags & COUNTED != 0;
        counted && self.set_asides.counted[id as usize] as usize == place
    }

    /// Removes packet `id` from the count of its output. Called when the packet no longer waits for this output, or when a queue is set
    /// aside for it.
    fn count_no_more(&mut self, id: u32) {
        let packet = &mut self.buffers.packets.items[id as usize];
        if packet.flags & COUNTED != 0 {
            packet.flags &= !COUNTED;
            let place = self.set_asides.counted[id as usize] as usize;
            self.set_asides.waiting[place] -= u32::from(packet.len);
        }
    }

    /// Called when flits of packet `id`, the first of VC `v` of input `i`, are discarded. `tail`: true if the tail is one of them.
    pub(crate) fn note_discard(&mut self, (i, v): (usize, usize), id: u32, tail: bool) {
        self.count_no_more(id);
        if tail {
            self.set_asides.leave(i, v);
        }
    }

    /// Called before packet `id` is sent on VC `vc` of channel `o`. Marks the packet if it is the first on this VC since the queue was set
    /// aside.
    fn mark_if_first(&mut self, rules: &SetAsideRules, (o, vc): (usize, usize), id: u32) {
        let first = self.line_of(rules, o, vc).is_some_and(|line| line.unused >> vc & 1 != 0);
        let flags = &mut self.buffers.packets.items[id as usize].flags;
        *flags = if first { *flags | FENCED } else { *flags & !FENCED };
    }

    /// Called when the head of a packet has left on VC `vc` of channel `o`. Later packets on this VC are then not the first.
    fn has_begun(&mut self, rules: &SetAsideRules, (o, vc): (usize, usize)) {
        if let Some(line) = self.line_of(rules, o, vc) {
            line.unused &= !(1 << vc);
        }
    }

    /// The record of the queue that is set aside and contains VC `vc` of channel `o`; `None` if the VC belongs to a normal queue.
    fn line_of(&mut self, rules: &SetAsideRules, o: usize, vc: usize) -> Option<&mut Line> {
        if self.wires.outs[o].is(ChannelEnd::Ejection) || !self.set_asides.lines.any(o) {
            return None;
        }
        match self.channel_out(rules, o).lane_of[vc] {
            0 => None,
            lane => Some(self.set_asides.lines.at(o, lane)),
        }
    }

    /// Called when packet `id` may begin to leave its terminal on channel `o`, on the only VC in `vcs`. Marks the packet if it is the first
    /// on this VC since the queue was set aside.
    pub(crate) fn mark_from_terminal(&mut self, net: &Net, o: usize, vcs: u16, id: u32) {
        if let Some(rules) = &net.set_aside {
            self.mark_if_first(rules, (o, vcs.trailing_zeros() as usize), id);
        }
    }

    /// Called when a packet has begun to leave its terminal on VC `vc` of channel `o`.
    pub(crate) fn has_left_terminal(&mut self, net: &Net, o: usize, vc: usize) {
        if let Some(rules) = &net.set_aside {
            self.has_begun(rules, (o, vc));
        }
    }
}
