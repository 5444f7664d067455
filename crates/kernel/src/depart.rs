//! Departures: a granted flit leaves its input queue, and enters the link to the next router or to its terminal.

use crate::block::{Fabric, Interfaces, PolicySide, Reach, Requests, Routers};
use crate::net::Net;
use crate::parts::power::Power;
use crate::parts::profile::Kind;
use weft_api::agents::{Departure, Departures};
use weft_api::base::arrays::At;
use weft_api::base::unchecked::{Hot, below};
use weft_api::routing::Hop;
use weft_api::state::{BODY, ChannelEnd, Flit, MARKED, Move, NONE, NOTICE, OutputUnit, Segment};
use weft_units::prefetch::prefetch;

/// A flit that crosses the switch: its packet, the segment and the length of the packet, and flags for head and tail.
pub struct Crossing {
    pub packet: u32,
    /// Index of the segment; `NONE` if all packets have one flit.
    pub segment: u32,
    pub len: u16,
    pub head: bool,
    pub tail: bool,
}

/// Number of flits in mail that fit into one cache line.
const FLITS_OF_A_LINE: usize = 64 / size_of::<(u64, Flit)>();

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Carries out the first `count` moves that the allocator has granted at router `r`.
    #[inline(never)]
    pub(crate) fn send_all<const SINGLE: bool>(&mut self, net: &Net, r: usize, count: usize) {
        let Routers { fabric, beside } = &mut self.routers;
        // SAFETY: the caller passes the number of a router of the block (checked by `assert_numbers`).
        let base = unsafe { fabric.requests.routers.hot(r) }.base as usize;
        let earliest = fabric.now + net.router.after_grant;
        if beside.policy.power.probes.departures {
            fabric.tell_of_departures(&mut beside.policy, base, count);
        }
        if net.slow.moves {
            fabric.note_moves(net, r, count);
        }
        if net.shortcuts.has(Kind::Prefetch) && !SINGLE {
            fabric.bring_for_moves(base, count);
        }
        for k in 0..count {
            self.send::<SINGLE>(net, r, base, k, earliest);
        }
        self.routers.beside.observers.tally.flit_hops += count as u64;
        self.ask_for_closed(net);
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Records the first `count` moves of router `r`: the granted outputs for the routing, and the departures for the queueing scheme.
    #[inline(never)]
    fn note_moves(&mut self, net: &Net, r: usize, count: usize) {
        if net.needs.sees_grants {
            self.note_grants(net, r, count);
        }
        let base = self.requests.routers[r].base as usize;
        if let Some(rules) = &net.set_aside {
            self.note_departures(rules, base, count);
        }
        if let Some(rules) = &net.ideal {
            self.return_places(net, rules, base, count);
        }
    }

    /// Records which outputs the first `count` moves of router `r` grant to heads, and lets heads that have settled on one of these outputs
    /// choose again.
    #[inline(always)]
    fn note_grants(&mut self, net: &Net, r: usize, count: usize) {
        let base = self.requests.routers[r].base as usize;
        for k in 0..count {
            let Move { i, v, p, .. } = self.switch.moves(count)[k];
            // SAFETY: a move stores an input of its router, and the queue at this input has a segment (checked by `assert_numbers`).
            let segment = unsafe {
                let head = *self.buffers.ins.hot(base + usize::from(i)).head.at(usize::from(v));
                self.buffers.segments.items.hot(head as usize)
            };
            if segment.sent == 0 {
                self.wires.granted[base + usize::from(p)] = self.now as u32;
            }
            self.unsettle(net, r, p.into());
        }
    }

    /// Notifies the agents of the flits that the first `count` moves will send.
    #[inline(never)]
    fn tell_of_departures(&mut self, policy: &mut PolicySide, base: usize, count: usize) {
        let Self { now, switch, buffers, wires, .. } = self;
        let departure = |m: &Move| {
            let (input, channel) = (base + usize::from(m.i), base + usize::from(m.p));
            let segment = &buffers.segments.items[buffers.ins[input].head[usize::from(m.v)] as usize];
            let goes_home = segment.sent + 1 == segment.len && wires.outs[channel].is(ChannelEnd::Ejection);
            Departure {
                input: input as u32,
                channel: channel as u32,
                vc: m.vc,
                head: (segment.sent == 0).then_some(segment.packet),
                delivered: goes_home.then_some(segment.packet),
            }
        };
        let flits = switch.departures(count, departure);
        if let Some(agents) = &mut policy.agents {
            agents.depart(&Departures { now: *now, flits, packets: &buffers.packets.items });
        }
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Sends the next flit of an input VC on an output VC; move `k` of router `r` names both VCs. `earliest`: the first cycle in which the
    /// flit can be on the link.
    #[inline(always)]
    fn send<const SINGLE: bool>(&mut self, net: &Net, r: usize, base: usize, k: usize, earliest: u64) {
        let Routers { fabric, beside } = &mut self.routers;
        // SAFETY: the allocator has entered more than `k` moves (`Allocator`). Each move stores a VC of its input, and an output VC that a
        // record of the output or the input stored before (checked by `assert_numbers`).
        let (m, vc, v) = unsafe {
            let m = fabric.switch.moved(k);
            (m, below::<V>(m.vc.into()), below::<V>(m.v.into()))
        };
        let (p, i) = (usize::from(m.p), base + usize::from(m.i));
        let o = base + p;
        // SAFETY: a move stores an input and an output of its router, and the queue at this input has a segment (checked by
        // `assert_numbers`).
        let (segment, out, id) = unsafe {
            let id = *fabric.buffers.ins.hot(i).head.at(v);
            (fabric.buffers.segments.items.hot_mut(id as usize), fabric.wires.outs.hot_mut(o), id)
        };
        let (packet, head, tail, len) = if SINGLE {
            (id, true, true, 1)
        } else {
            segment.sent += 1;
            (segment.packet, segment.sent == 1, segment.sent == segment.len, segment.len)
        };
        if !SINGLE || net.router.vc_realloc {
            let dry = SINGLE || segment.sent == segment.arrived;
            keep_or_free((&mut fabric.requests, &mut beside.policy.power), out, (r, o, p), vc, tail, dry);
        }
        let class = out.class;
        let depart = if net.links.of(class).paced {
            self.routers.depart_paced(net, (i, v), o, earliest, head)
        } else {
            out.depart(earliest)
        };
        let fabric = &mut self.routers.fabric;
        if let Some(history) = &mut fabric.wires.history {
            history.sent_one(fabric.now, depart, o, class);
        }
        self.traverse::<SINGLE>(
            net,
            (o, vc),
            depart,
            Crossing { packet, segment: if SINGLE { NONE } else { id }, len, head, tail },
        );
        self.routers.leave::<SINGLE>(net, i, v, id, tail);
    }

    /// Puts a flit onto VC `vc` of the link of output `o`, in cycle `depart`.
    #[inline(always)]
    pub(crate) fn traverse<const SINGLE: bool>(
        &mut self,
        net: &Net,
        (o, vc): (usize, usize),
        depart: u64,
        Crossing { packet, segment, len, head, tail }: Crossing,
    ) {
        let fabric = &mut self.routers.fabric;
        // SAFETY: a flit leaves by an output of the block (checked by `assert_numbers`).
        let out = unsafe { fabric.wires.outs.hot_mut(o) };
        out.spend::<SINGLE>(vc, net.router.room);
        let (is_cut, peer, link) = (out.is(ChannelEnd::Remote), out.peer, net.links.of(out.class));
        let at = depart + link.latency;
        if out.is(ChannelEnd::Ejection) {
            // a flit frees its slot in the buffer of a terminal at once, unless its packet keeps the slot
            if !(net.keeps && fabric.stays_at_terminal(&mut self.interfaces, net, (o, vc), packet, tail)) {
                fabric.wires.credits.push(fabric.now, at + link.credit_latency, (o << 4 | vc) as u32);
            }
            self.eject(net, o, packet, tail, at + net.router.ejection_delay);
            return;
        }
        let (packet, key) = if head { (packet, self.prepare(net, o, vc, packet)) } else { (NONE, BODY) };
        self.routers.fabric.launch((is_cut, peer), at, Flit { to: vc as u32, packet, key, len }, segment);
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Puts a flit, or the event at the end of a run of flits, onto a channel between routers or from a terminal. The flit or event arrives
    /// in cycle `at`; its field `to` is the VC. `peer`: the input at the far end; if the channel leads to another block (`is_cut`), its
    /// index among these channels. `segment`: the segment of the packet, if the flit is a head of a packet with several flits; otherwise
    /// `NONE`.
    #[inline(always)]
    pub(crate) fn launch(&mut self, (is_cut, peer): (bool, u32), at: u64, flit: Flit, segment: u32) {
        if is_cut {
            self.mail_flit(peer, at, flit, segment);
        } else {
            self.wires.flits.push(self.now, at, Flit { to: peer << 4 | flit.to, ..flit });
        }
    }

    /// True if a flit of `packet` keeps its slot in the buffer of the terminal behind output `o`. If so, and the flit is the tail, records
    /// the packet.
    #[inline(never)]
    fn stays_at_terminal(
        &mut self,
        interfaces: &mut Interfaces,
        net: &Net,
        (o, vc): (usize, usize),
        packet: u32,
        tail: bool,
    ) -> bool {
        let packet = &self.buffers.packets.items[packet as usize];
        let stays = net.jobs[usize::from(packet.job)].workload.keeps(packet);
        if stays && tail {
            let t = self.terminal_behind(o);
            interfaces.queues.keep(t, vc as u8, packet.len);
        }
        stays
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Called for a flit that leaves output `o` to its terminal, and is delivered in cycle `at`.
    #[inline(always)]
    fn eject(&mut self, net: &Net, o: usize, packet: u32, tail: bool, at: u64) {
        let Routers { fabric, beside } = &mut self.routers;
        beside.observers.tally.accepted(at);
        if tail {
            // SAFETY: a segment stores a valid packet number (checked by `assert_numbers`).
            let delivered = unsafe { fabric.buffers.packets.items.hot(packet as usize) };
            if !net.slow.delivery {
                beside.observers.tally.deliver(net, delivered, at);
            } else if net.slow.only_recorded {
                beside.observers.recorders.delivered(o, delivered, at, beside.observers.tally.inside(at));
                beside.observers.tally.deliver(net, delivered, at);
            } else {
                return self.eject_slow_path(net, o, packet, at);
            }
            fabric.buffers.packets.remove(packet);
        }
    }

    /// Called for a delivery that must be counted by job, recorded, or reported to the workload.
    #[inline(never)]
    fn eject_slow_path(&mut self, net: &Net, o: usize, id: u32, at: u64) {
        if let Some(control) = &net.congestion {
            self.mark(net, &**control, o, id);
            if self.routers.fabric.buffers.packets.items[id as usize].flags & NOTICE != 0 {
                // the flit of a congestion notification does not count as accepted load
                self.routers.beside.observers.tally.accepted_flits -=
                    u64::from(self.routers.beside.observers.tally.inside(at));
                return self.routers.fabric.announce(&mut self.interfaces, o, id, at);
            }
        }
        let Routers { fabric, beside } = &mut self.routers;
        let packet = &fabric.buffers.packets.items[id as usize];
        beside.observers.recorders.delivered(o, packet, at, beside.observers.tally.inside(at));
        beside.observers.tally.deliver(net, packet, at);
        let job = usize::from(packet.job);
        beside.observers.tally.deliver_to_job(net, job, packet, at);
        if net.jobs[job].hears_packets || packet.flags & MARKED != 0 {
            fabric.announce(&mut self.interfaces, o, id, at);
        } else {
            fabric.buffers.packets.remove(id);
        }
    }

    /// Computes the route key that a head will have at the next router, which the head reaches by VC `vc` of output `o`.
    #[inline(always)]
    fn prepare(&mut self, net: &Net, o: usize, vc: usize, packet: u32) -> u16 {
        if net.slow.hops {
            self.note_hop(net, o, vc, packet);
        }
        let fabric = &mut self.routers.fabric;
        // SAFETY: a head leaves by an output of the block, and a segment stores a valid packet number (checked by `assert_numbers`).
        let (router, packet) =
            unsafe { (*fabric.wires.next_router.hot(o), fabric.buffers.packets.items.hot_mut(packet as usize)) };
        packet.links_crossed += 1;
        net.route_ahead(router as usize, packet)
    }

    /// Records the hop that a head has taken, for recordings and for the routing.
    #[inline(never)]
    fn note_hop(&mut self, net: &Net, o: usize, vc: usize, packet: u32) {
        if let Some(control) = &net.congestion {
            self.mark(net, &**control, o, packet);
        }
        let Routers { fabric, beside } = &mut self.routers;
        if net.slow.paths && fabric.buffers.packets.items[packet as usize].flags & NOTICE == 0 {
            beside.observers.recorders.crosses(o, vc as u8, &fabric.buffers.packets.items[packet as usize]);
        }
        if net.needs.remembers {
            fabric.remember(&mut beside.policy, net, o, vc, packet);
        }
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Stores the hop of a head in its packet, for a routing that reads it later.
    fn remember(&mut self, policy: &mut PolicySide, net: &Net, o: usize, vc: usize, packet: u32) {
        // SAFETY: a head leaves by an output, which stores the number of its router, and the router stores its number in the network
        // (checked by `assert_numbers`).
        let (out, router, at) = unsafe {
            let out = self.wires.outs.hot(o);
            let router = self.requests.routers.hot(out.router as usize);
            (out, router, *net.coords.hot(router.id as usize))
        };
        let port = o - router.base as usize;
        let class = net.links.of(out.class).class_of(vc);
        let hop = net.as_routed(router.id, Hop { port: port as u16, class });
        if net.subnets.is_some() {
            let base = router.base as usize;
            let note = net.routing.tells(at, &self.buffers.packets.items[packet as usize], hop);
            policy.tell_of_hop(self.now, (base, port), (packet, Some(vc as u8)), note);
        }
        net.routing.taken(at, &mut self.buffers.packets.items[packet as usize], hop);
    }
}

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Updates the queue of VC `v` of input `i` after a flit has left it.
    #[inline(always)]
    pub(crate) fn leave<const SINGLE: bool>(&mut self, net: &Net, i: usize, v: usize, id: u32, tail: bool) {
        self.fabric.return_credit(net, i, v);
        if tail {
            // SAFETY: a packet leaves the queue of an input, in which it has a segment (checked by `assert_numbers`).
            let next = unsafe {
                let next = self.fabric.buffers.segments.items.hot(id as usize).next;
                self.fabric.buffers.ins.hot_mut(i).follow(v, next);
                next
            };
            if !SINGLE {
                self.fabric.buffers.segments.remove(id);
            }
            if next != NONE {
                // SAFETY: a segment stores the valid number of the next segment in its queue (checked by `assert_numbers`).
                let Segment { packet, key, .. } = *unsafe { self.fabric.buffers.segments.items.hot(next as usize) };
                self.new_head::<false, false>(net, i, v, packet, key);
            }
        }
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Returns a credit to the sender, for VC `v` of input `i`.
    #[inline(always)]
    pub(crate) fn return_credit(&mut self, net: &Net, i: usize, v: usize) {
        self.return_marked(net, (i, v), self.now, 0);
    }

    /// Returns a credit to the sender, for VC `v` of input `i`. The buffer slot becomes free in cycle `free`. `mark`: bits that state
    /// whether the credit begins or ends a run (`shortcuts/streams.rs`).
    #[inline(always)]
    pub(crate) fn return_marked(&mut self, net: &Net, (i, v): (usize, usize), free: u64, mark: u32) {
        // SAFETY: a flit leaves an input of the block (checked by `assert_numbers`).
        let port = unsafe { self.buffers.ins.hot(i) };
        let (upstream, credit_at) = (port.upstream(), free + net.links.of(port.class).credit_latency);
        if port.is_remote() {
            self.mail_credit(upstream, v as u32 | mark, credit_at);
        } else {
            self.wires.credits.push(self.now, credit_at, upstream << 4 | v as u32 | mark);
        }
    }

    #[inline(never)]
    fn mail_credit(&mut self, cut: u32, vc_and_mark: u32, at: u64) {
        let (mail, port) = self.wires.mail_to(cut);
        mail.credits.push((at, port << 4 | vc_and_mark));
    }

    /// Sends a flit, whose field `to` is the VC, to another block. If the flit is a head, the packet is also sent. Also prefetches the
    /// memory for the next flit to that block, because the mail of many blocks does not fit into the nearest caches.
    #[inline(never)]
    pub(crate) fn mail_flit(&mut self, cut: u32, at: u64, mut flit: Flit, segment: u32) {
        let (mail, port) = self.wires.mail_to(cut);
        flit.to |= port << 4;
        if flit.packet != NONE {
            mail.packets.push(self.buffers.packets.items[flit.packet as usize]);
            self.buffers.packets.remove(flit.packet);
            if segment != NONE {
                self.buffers.segments.items[segment as usize].packet = NONE;
            }
            flit.packet = mail.packets.len() as u32 - 1;
            prefetch(&mail.packets, mail.packets.len());
        }
        mail.flits.push((at, flit));
        prefetch(&mail.flits, mail.flits.len() + FLITS_OF_A_LINE);
    }
}

/// Frees VC `vc` of output `o` after its packet has left it. Returns true if another packet may take the VC.
#[inline(always)]
pub fn free_vc<const V: usize>(power: &mut Power, out: &mut OutputUnit<V>, o: usize, vc: usize) -> bool {
    let is_open = !out.is_closed();
    if is_open {
        out.free_vcs |= 1 << vc;
    } else {
        power.leave_closed(o, vc);
    }
    is_open
}

/// Called when VC `vc` of output `o` has sent a flit. Output `o` is output `p` of router `r`. Frees the VC if the flit was a tail. After
/// other flits the packet keeps the VC. `dry`: whether no other flit of the packet is in this router.
#[inline(always)]
fn keep_or_free<const W: usize, const V: usize>(
    (requests, power): (&mut Requests<W>, &mut Power),
    out: &mut OutputUnit<V>,
    (r, o, p): (usize, usize, usize),
    vc: usize,
    tail: bool,
    dry: bool,
) {
    if tail && free_vc(power, out, o, vc) && out.requested != 0 {
        // SAFETY: the caller passes the number of a router of the block (checked by `assert_numbers`).
        unsafe { requests.routers.hot_mut(r) }.vc_requests.set(p);
    }
    if tail || dry {
        out.vcs_with_flit &= !(1 << vc);
        if out.vcs_with_flit == 0 {
            // SAFETY: the caller passes the number of a router of the block (checked by `assert_numbers`).
            unsafe { requests.routers.hot_mut(r) }.switch_requests.clear(p);
        }
    }
}
