//! The ideal map of queues (one queue per destination), in the cycle loop. A head requests its output only if the queue of its destination
//! at the next router has enough free places (flit slots).
//!
//! If no packet of a VC may request its output, the VC is called stuck. The cycle loop checks a stuck VC again when a packet arrives, or
//! when places for one of its packets become free. Inputs that wait for the same places get them round robin. Like credits, free places
//! return to the sender after the tail of a packet has left. At most two packets at a time may request the output to a terminal. If more
//! packets requested it, they would block packets for other destinations.

use crate::block::{Fabric, Interfaces, Routers};
use crate::net::Net;
use crate::parts::ideal::{IdealRules, Place};
use weft_api::base::arrays::At;
use weft_api::state::{ChannelEnd, Move, NONE, Segment, split};

/// The largest number of packets that may request an output to a terminal at the same time. With two, one packet can leave while the places
/// of the packet before return to the sender.
const AT_TERMINAL: u16 = 2;

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Counts the places that become free in this cycle. Packets that wait for these places then request their outputs. This phase runs
    /// before flits arrive.
    #[inline(never)]
    pub(crate) fn keep_places(&mut self, interfaces: &mut Interfaces, net: &Net, rules: &IdealRules) {
        let fabric = &mut self.fabric;
        let mut due = std::mem::take(&mut fabric.ideal.due);
        while let Some((first, len)) = fabric.ideal.returned.due(fabric.now) {
            due.extend_from_slice(fabric.ideal.returned.items(first, len));
            fabric.ideal.returned.release(fabric.now);
        }
        due.sort_unstable();
        for &place in &due {
            fabric.ideal.give_back(place);
        }
        for &Place { port, queue, .. } in &due {
            let out = &self.fabric.wires.outs[port as usize];
            if out.is(ChannelEnd::Injection) {
                interfaces.unblock(out.router as usize);
            } else {
                self.offer_places(net, rules, (port as usize, queue));
            }
        }
        due.clear();
        self.fabric.ideal.due = due;
        self.fabric.ideal.defers = true;
    }

    /// Lets the heads that have arrived in this cycle request their outputs.
    #[inline(never)]
    pub(crate) fn settle_arrivals(&mut self, net: &Net) {
        self.fabric.ideal.defers = false;
        let mut asking = std::mem::take(&mut self.fabric.ideal.asking);
        asking.sort_unstable();
        asking.dedup();
        for (i, v) in asking.drain(..) {
            self.ask_if_stuck(net, i as usize, v.into());
        }
        self.fabric.ideal.asking = asking;
    }

    /// If VC `v` of input `i` is stuck, checks whether one of its packets may now request its output.
    fn ask_if_stuck(&mut self, net: &Net, i: usize, v: usize) {
        if self.fabric.ideal.stuck[i] >> v & 1 != 0 {
            self.head_asks(net, i, v);
        }
    }

    /// Called when queue `queue` at the far end of output `o` has free places again. Lets the inputs that have packets for this queue use
    /// the places, round robin.
    fn offer_places(&mut self, net: &Net, rules: &IdealRules, (o, queue): (usize, u32)) {
        let r = self.fabric.wires.outs[o].router as usize;
        let base = self.fabric.requests.routers[r].base as usize;
        let routers = &self.fabric.requests.routers;
        let end = routers.get(r + 1).map_or(self.fabric.buffers.ins.len(), |next| next.base as usize);
        let (count, turn) = (end - base, usize::from(self.fabric.ideal.turns[o]));
        for k in 0..count {
            let i = base + (turn + k) % count;
            let mut stuck = self.fabric.ideal.stuck[i];
            while stuck != 0 {
                let v = stuck.trailing_zeros() as usize;
                stuck &= stuck - 1;
                if !self.fabric.has_room(rules, (o, queue)) {
                    return;
                }
                if self.fabric.waits_for(net, rules, (i, v), (o, queue)) {
                    self.fabric.ideal.turns[o] = ((i - base + 1) % count) as u16;
                    self.ask_if_stuck(net, i, v);
                }
            }
        }
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Selects the first packet in VC `v` of input `i` whose queue at the next router has free places. Makes this packet the head of the
    /// VC, and reserves the places. Returns the packet, with its route key. Returns `None` if the VC is stuck, or if a packet is still
    /// arriving.
    #[inline(never)]
    pub(crate) fn with_a_place(&mut self, net: &Net, rules: &IdealRules, (i, v): (usize, usize)) -> Option<(u32, u16)> {
        self.ideal.stuck[i] |= 1 << v;
        if self.ideal.defers {
            self.ideal.asking.push((i as u32, v as u8));
            return None;
        }
        let base = self.buffers.ins[i].base(i);
        let (mut before, mut id) = (NONE, *self.buffers.ins[i].head.at(v));
        while id != NONE {
            let Segment { packet, key, next, .. } = self.buffers.segments.items[id as usize];
            let record = &self.buffers.packets.items[packet as usize];
            let (dst, len) = (record.dst, record.len);
            let place = self.place_of(net, rules, (base, key), dst);
            if self.has_room(rules, place) {
                self.ideal.take(place, len);
                self.ideal.stuck[i] &= !(1 << v);
                if before != NONE {
                    let first = self.buffers.ins[i].bring_forward(v, before, id);
                    self.buffers.segments.items[before as usize].next = next;
                    self.buffers.segments.items[id as usize].next = first;
                }
                return Some((packet, key));
            }
            (before, id) = (id, next);
        }
        None
    }

    /// True if a packet in VC `v` of input `i` waits for free places in queue `place`.
    fn waits_for(&self, net: &Net, rules: &IdealRules, (i, v): (usize, usize), place: (usize, u32)) -> bool {
        let base = self.buffers.ins[i].base(i);
        self.buffers.queue(i, v).any(|&Segment { packet, key, .. }| {
            let dst = self.buffers.packets.items[packet as usize].dst;
            self.place_of(net, rules, (base, key), dst) == place
        })
    }

    /// For a packet to `dst` with this route key: the output channel, and the queue at the far end of this channel. The ports of the
    /// packet's router begin at `base`.
    fn place_of(&self, net: &Net, rules: &IdealRules, (base, key): (usize, u16), dst: u32) -> (usize, u32) {
        let (p, class) = split(key, net.class_bits);
        let o = base + p;
        let vc = net.vcs(self.wires.outs[o].class, class).trailing_zeros() as usize;
        (o, rules.queue(vc, dst))
    }

    fn has_room(&self, rules: &IdealRules, (o, queue): (usize, u32)) -> bool {
        let out = &self.wires.outs[o];
        let most = match out.is(ChannelEnd::Ejection) {
            true => AT_TERMINAL * rules.room,
            false => rules.places[usize::from(out.class)],
        };
        self.ideal.has_room((o, queue), (most, rules.room))
    }

    /// Called when a head has arrived at an input VC (`to`, as in [`weft_api::state::Flit::to`]). If this VC is stuck, schedules another
    /// check of its packets.
    pub(crate) fn note_coming(&mut self, to: u32) {
        let (i, v) = ((to >> 4) as usize, (to & 15) as usize);
        self.ideal.coming[to as usize] = self.buffers.ins[i].last(v);
        if self.ideal.stuck[i] >> v & 1 != 0 {
            self.ideal.asking.push((i as u32, v as u8));
        }
    }

    /// Called before the first `count` moves of the router whose ports begin at `base` are carried out. Returns to their senders the places
    /// of packets whose tails leave with these moves.
    pub(crate) fn return_places(&mut self, net: &Net, rules: &IdealRules, base: usize, count: usize) {
        for k in 0..count {
            let Move { i, v, p, .. } = self.switch.moves(count)[k];
            let (i, v, o) = (base + usize::from(i), usize::from(v), base + usize::from(p));
            let Segment { packet, sent, len, key, .. } = *self.buffers.front(i, v);
            if sent == 0 {
                self.ideal.leaving[i * 16 + v] = self.buffers.packets.items[packet as usize].dst;
            }
            if sent + 1 != len {
                continue;
            }
            let dst = self.ideal.leaving[i * 16 + v];
            if self.wires.outs[o].is(ChannelEnd::Ejection) {
                let (_, queue) = self.place_of(net, rules, (base, key), dst);
                let place = Place { port: o as u32, queue, flits: len };
                // this flit leaves only after the flits that already wait for the link
                let out = &self.wires.outs[o];
                let wait = out.departure(self.now) - self.now;
                self.ideal.returned.push(self.now, self.now + 1 + wait, place);
            }
            let port = &self.buffers.ins[i];
            let place = Place { port: port.upstream(), queue: rules.queue(v, dst), flits: len };
            let at = self.now + net.links.of(port.class).credit_latency;
            if port.is_remote() {
                let (mail, port) = self.wires.mail_to(place.port);
                mail.places.push((at, Place { port, ..place }));
            } else {
                self.ideal.returned.push(self.now, at, place);
            }
        }
    }

    /// True if the queue for a packet to `dst` has free places, behind VC `vc` of injection channel `o`.
    pub(crate) fn has_place_from_terminal(&self, rules: &IdealRules, (o, vc): (usize, usize), dst: u32) -> bool {
        self.has_room(rules, (o, rules.queue(vc, dst)))
    }

    /// Reserves the places for a packet that begins to leave its terminal by VC `vc` of injection channel `o`.
    pub(crate) fn take_from_terminal(&mut self, rules: &IdealRules, (o, vc): (usize, usize), packet: u32) {
        let record = self.buffers.packets.items[packet as usize];
        self.ideal.take((o, rules.queue(vc, record.dst)), record.len);
    }
}
