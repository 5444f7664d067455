//! A shortcut for uncontended flits: they bypass the allocator, because every allocator would let them cross.
//!
//! A flit that arrives at an empty queue crosses the switch in the same cycle under two conditions. First, no other flit requests its
//! output or leaves its input. Second, there is an output VC with a credit for the flit: the VC that its packet holds, or, for a head, a VC
//! that is open to the head. Most flits meet both conditions. The allocator handles all other flits. If heads choose in every step
//! (`choose.rs`), an arriving head chooses before uncontended flits cross. An arriving head must choose from the state that it would find
//! in the first allocation step. Therefore no flit of a router bypasses the allocator before all heads of that router have chosen. An
//! uncontended body flit may be the first flit of a stream (`streams.rs`).
//!
//! # When it applies
//!
//! The shortcut applies if no model depends on the order in which flits leave a router (`profile.rs` decides this). The allocator handles
//! flits for outputs with a limited rate (`pace.rs`). The allocator also handles outputs that a policy has closed. When a head requests a
//! closed output, the agents must find the same counts as without this shortcut.
//!
//! # State after the shortcut
//!
//! No records need an update: each flit that bypasses the allocator leaves the same state as with the allocator.

use crate::block::{Fabric, Observers, Reach, Routers};
use crate::depart::{Crossing, free_vc};
use crate::net::Net;
use crate::parts::bypass::BypassFlit;
use crate::parts::profile::Kind;
use crate::requests::has_open_vc;
use crate::shortcuts::facts::Facts;
use crate::shortcuts::streams;
use crate::shortcuts::{Shortcut, Shortcuts};
use weft_api::agents::Probes;
use weft_api::base::arrays::At;
use weft_api::base::bits::{Bits, pick16};
use weft_api::base::unchecked::Hot;
use weft_api::routing::Decides;
use weft_api::state::{
    BODY, ChannelEnd, Flit, InputUnit, NO_REQUEST, NONE, OutputUnit, RUN_BEGINS, Segment, UNDECIDED, occupied,
};
use weft_api::state::{port_and_vc, split};

/// Marker type for the shortcut that the header of this file describes.
pub struct Uncontended;

impl Shortcut for Uncontended {
    const SKIPS: &'static str = "the allocator, for flits for which nobody else competes";

    /// True if no model reads the queues while flits leave, and no model needs additional work for each flit.
    fn applies(facts: &Facts) -> bool {
        let heads_see_no_moves = if facts.slow_heads {
            false
        } else if facts.chooses() {
            // If heads have chosen but did not bypass the allocator, at least one of them must leave in the first step, because their
            // router would otherwise sleep too early. Therefore the shortcut is off if a head can choose an output that is reserved for
            // another packet, is full, or lacks the space to enter a ring.
            let any_can_leave = !facts.hold_switch && !facts.paced_links && facts.needs.ring_entries.is_empty();
            any_can_leave && !facts.needs.sees_grants && !facts.needs.reads_group
        } else {
            facts.needs.decides == Decides::Ahead
        };
        heads_see_no_moves
            && !facts.marks
            && !facts.keeps
            && facts.needs.sensor.is_none()
            && !facts.vc_realloc
            && !facts.fast_links
    }

    fn goes_beside(probes: Probes) -> bool {
        !probes.departures
    }
}

/// The key of a body flit that does not belong to a run, and the mark of its credit. [`FIRST_OF_RUN`] has these values for the first flit
/// of a run.
const IN_NO_RUN: (u16, u32) = (BODY, 0);
pub(super) const FIRST_OF_RUN: (u16, u32) = (RUN_BEGINS, streams::BEGINS);

/// Prefetch distance [flits].
const AHEAD: usize = 12;

/// Moves the round-robin pointers as an allocator does, for a flit that crosses from VC `v` of input unit `i` to output unit `o`.
#[inline(always)]
fn take_turns<const V: usize>(port: &mut InputUnit<V>, out: &mut OutputUnit<V>, (i, v): (usize, usize), o: usize) {
    (port.rr_vc, port.rr_out) = ((v as u8 + 1) & 15, (o - port.base(i)) as u16 + 1);
    out.rr_in = port.port + 1;
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Sends the uncontended flits of this cycle, and passes the others to the allocator. `STREAMS`: an uncontended body flit may open a
    /// stream. `CHOOSE`: heads choose in every step.
    #[inline(never)]
    pub(crate) fn send_uncontended_flits<const SINGLE: bool, const STREAMS: bool, const CHOOSE: bool>(
        &mut self,
        net: &Net,
    ) {
        let Routers { fabric, beside } = &mut self.routers;
        debug_assert!(beside.shortcuts.bypass_flits.len() <= fabric.buffers.ins.len(), "an input has two flit flits");
        if CHOOSE && beside.shortcuts.chooses_late {
            fabric.choose_for_fresh(&mut beside.shortcuts, net);
        }
        let (earliest, hops) = (fabric.now + net.router.after_grant, beside.observers.tally.flit_hops);
        let mut bypass_flits = std::mem::take(&mut beside.shortcuts.bypass_flits);
        for (k, &flit) in bypass_flits.iter().enumerate() {
            if net.shortcuts.has(Kind::Prefetch)
                && let Some(later) = bypass_flits.get(k + AHEAD)
            {
                self.routers.fabric.bring_for_bypass(net, later);
            }
            if SINGLE {
                self.send_if_uncontended_head::<true, CHOOSE>(net, flit, earliest);
            } else if flit.key != NO_REQUEST {
                self.begin_if_uncontended::<CHOOSE>(net, flit, earliest);
            } else {
                self.send_if_uncontended_body::<STREAMS, CHOOSE>(net, flit, earliest);
            }
        }
        let beside = &mut self.routers.beside;
        beside.shortcuts.bypass_trial.tried += bypass_flits.len() as u64;
        beside.shortcuts.bypass_trial.crossed += beside.observers.tally.flit_hops - hops;
        bypass_flits.clear();
        beside.shortcuts.bypass_flits = bypass_flits;
    }
}

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Lets the head that arrived at VC `v` of input `i` in this cycle choose its output, as it would in the first allocation step. `key`:
    /// the head's route key. Called when all credits of the cycle have arrived and no flit has left a router yet. If agents act before the
    /// allocation step, the head waits until they have acted. Returns true if the head may bypass.
    #[inline(always)]
    pub(crate) fn let_choose_alone(&mut self, net: &Net, (i, v): (usize, usize), packet: u32, key: u16) -> bool {
        // SAFETY: a head waits at an existing input (checked by `assert_numbers`).
        let segment = *unsafe { self.fabric.buffers.ins.hot(i) }.head.at(v);
        let mut flit = BypassFlit { at: (i << 4 | v) as u32, out: NONE, segment, key, chooses: true };
        let tries = self.beside.shortcuts.chooses_late || self.fabric.choose_for_bypass(net, &mut flit, packet);
        if tries {
            self.beside.shortcuts.bypass_flits.push(flit);
        }
        tries
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Called before agents act. Heads that may bypass the allocator and have already chosen cancel their requests. The heads choose again
    /// after the agents have acted. Therefore the agents find the same requests as without this shortcut.
    #[inline(never)]
    pub(crate) fn take_choices_back(&mut self, shortcuts: &mut Shortcuts, net: &Net) {
        shortcuts.chooses_late = true;
        for flit in shortcuts.bypass_flits.iter_mut().filter(|flit| flit.chooses && flit.out != NONE) {
            let (i, _, _) = flit.places::<V>();
            let r = self.buffers.ins[i].router as usize;
            self.withdraw(net, r, i, flit.key);
            (flit.out, flit.key) = (NONE, self.buffers.segments.items[flit.segment as usize].key);
        }
    }

    /// Lets the heads that may bypass the allocator choose, after the agents have acted. A head without an open VC chooses in the first
    /// allocation step instead.
    #[inline(never)]
    fn choose_for_fresh(&mut self, shortcuts: &mut Shortcuts, net: &Net) {
        let mut kept = 0;
        for k in 0..shortcuts.bypass_flits.len() {
            let mut flit = shortcuts.bypass_flits[k];
            if flit.chooses {
                let packet = self.buffers.segments.items[flit.segment as usize].packet;
                if !self.choose_for_bypass(net, &mut flit, packet) {
                    continue;
                }
            }
            shortcuts.bypass_flits[kept] = flit;
            kept += 1;
        }
        shortcuts.bypass_flits.truncate(kept);
    }

    /// Lets the head `flit` choose an output. The head may bypass the allocator. The head requests the output if one of its VCs is open.
    /// Otherwise returns false, and the head chooses in the first allocation step.
    #[inline(always)]
    fn choose_for_bypass(&mut self, net: &Net, flit: &mut BypassFlit, packet: u32) -> bool {
        let (i, v) = port_and_vc::<V>(flit.at);
        if net.single {
            self.begin_segment(flit.segment, flit.key);
        }
        if let Some((p, class)) = self.first_choice(net, (i, v), packet, flit.key) {
            // SAFETY: a flit that may bypass stores a valid input number (checked by `assert_numbers`).
            let port = unsafe { self.buffers.ins.hot(i) };
            let (o, asks) = (port.base(i) + p, (port.router, port.port));
            if has_open_vc(net, &self.wires.outs[o], class) {
                self.note_request(net, (o, class), asks);
                (flit.out, flit.key) = (o as u32, net.key(p, class));
                return true;
            }
        }
        // SAFETY: a flit that may bypass stores a valid input number (checked by `assert_numbers`).
        *unsafe { self.buffers.ins.hot_mut(i) }.requests.at_mut(v) = UNDECIDED;
        self.let_choose(net, i, v);
        false
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Handles the head of a packet of any length. (This function and `send_uncontended_tail` are not inlined, to leave more registers for
    /// the code for body flits.)
    #[inline(never)]
    fn begin_if_uncontended<const CHOOSE: bool>(&mut self, net: &Net, flit: BypassFlit, earliest: u64) {
        self.send_if_uncontended_head::<false, CHOOSE>(net, flit, earliest);
    }

    #[inline(always)]
    fn send_if_uncontended_head<const SINGLE: bool, const CHOOSE: bool>(
        &mut self,
        net: &Net,
        flit: BypassFlit,
        earliest: u64,
    ) {
        let fabric = &mut self.routers.fabric;
        let (i, v, o) = flit.places::<V>();
        let class = if net.class_bits == 0 { 0 } else { split(flit.key, net.class_bits).1 };
        // SAFETY: a flit that may bypass stores a valid input number (checked by `assert_numbers`).
        let waits = CHOOSE && fabric.heads_are_to_choose(unsafe { fabric.buffers.ins.hot(i) }.router as usize);
        let room = if waits { 0 } else { fabric.room_for_uncontended_head::<SINGLE>(net, (i, v), o, class) };
        if room != 0 {
            self.send_uncontended_head::<SINGLE>(net, flit, class, room, earliest);
            return;
        }
        if CHOOSE && flit.chooses {
            fabric.let_choose_after(net, (i, v));
        } else if SINGLE {
            fabric.begin_segment(flit.segment, flit.key);
        }
        // SAFETY: a flit that may bypass stores a valid input number (checked by `assert_numbers`).
        let port = unsafe { fabric.buffers.ins.hot_mut(i) };
        *port.requests.at_mut(v) = flit.key;
        fabric.requests.ask_for_vc(port.router as usize, o - port.base(i));
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// True if a head of router `r` must still choose in the first step of this cycle. If so, no flit may leave the router before that
    /// step.
    #[inline(always)]
    fn heads_are_to_choose(&self, r: usize) -> bool {
        // SAFETY: an input stores the valid number of its router (checked by `assert_numbers`).
        let router = unsafe { self.requests.routers.hot(r) };
        !router.choosing.is_empty() && !self.requests.have_chosen.contains(r)
    }

    /// Called for a head of VC `v` of input `i` that has chosen but did not bypass the allocator. If no other head of its router chooses in
    /// the first step of this cycle, the head keeps its choice in that step. In later steps it chooses again.
    #[inline(always)]
    fn let_choose_after(&mut self, net: &Net, (i, v): (usize, usize)) {
        let r = self.buffers.ins[i].router as usize;
        if self.requests.routers[r].choosing.is_empty() {
            self.requests.have_chosen.set(r);
        }
        self.let_choose(net, i, v);
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    #[inline(always)]
    fn send_if_uncontended_body<const STREAMS: bool, const CHOOSE: bool>(
        &mut self,
        net: &Net,
        flit: BypassFlit,
        earliest: u64,
    ) {
        let Routers { fabric, beside } = &mut self.routers;
        let (i, v, o) = flit.places::<V>();
        // SAFETY: a flit that may bypass stores valid numbers of an input and an output (checked by `assert_numbers`).
        let (port, out) = unsafe { (fabric.buffers.ins.hot(i), fabric.wires.outs.hot(o)) };
        let (p, vc) = port_and_vc::<V>((*port.output_vc.at(v)).into());
        let r = port.router as usize;
        if out.vcs_with_flit != 1 << vc
            || out.requested != 0
            || out.is_closed()
            || net.links.of(out.class).paced
            || !fabric.is_input_uncontended(port, i, v)
            || CHOOSE && fabric.heads_are_to_choose(r)
        {
            fabric.requests.ask_for_switch(r, p);
            return;
        }
        // SAFETY: a flit that may bypass stores a valid number of its segment (checked by `assert_numbers`).
        let segment = unsafe { fabric.buffers.segments.items.hot(flit.segment as usize) };
        if segment.arrived == segment.len {
            self.send_uncontended_tail(net, flit, vc, earliest);
        } else if STREAMS && fabric.may_open_stream(&beside.shortcuts, net, (i, v), (o, vc)) {
            self.routers.open_stream(net, (i, v), (p, vc));
        } else {
            fabric.send_uncontended(&mut beside.observers, net, (i, v), (p, vc), earliest, IN_NO_RUN);
        }
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// True if no VC of input `i` other than `v` may send a flit or take an output VC now. `port` is the record of the input. The caller
    /// ensures that no other VC of the input has a flit that may bypass the allocator.
    #[inline(always)]
    fn is_input_uncontended(&self, port: &InputUnit<V>, i: usize, v: usize) -> bool {
        let mut others = occupied(&port.head) & !(1 << v);
        while others != 0 {
            let other = others.trailing_zeros() as usize;
            others &= others - 1;
            let held = *port.output_vc.at(other);
            let has_flit = || {
                // SAFETY: an input stores the valid number of the output on which it last held a VC (checked by `assert_numbers`).
                let out = unsafe { self.wires.outs.hot(port.base(i) + usize::from(held >> 4)) };
                out.vcs_with_flit >> (held & 15) & 1 != 0
            };
            if *port.requests.at(other) != NO_REQUEST || has_flit() {
                return false;
            }
        }
        true
    }

    /// VCs of output `o` that are open to the head of VC `v` of input `i`. Returns none if another flit may use this output or leave this
    /// input now.
    #[inline(always)]
    fn room_for_uncontended_head<const SINGLE: bool>(
        &self,
        net: &Net,
        (i, v): (usize, usize),
        o: usize,
        class: usize,
    ) -> u16 {
        // SAFETY: a flit that may bypass stores valid numbers of an input and an output, and its key stores a VC class of this output
        // (checked by `assert_numbers`).
        let (port, out, requesters) = unsafe {
            let requesters = self.requests.requesters.hot(net.slot(o, class));
            (self.buffers.ins.hot(i), self.wires.outs.hot(o), requesters)
        };
        let link = net.links.of(out.class);
        let mut only = Bits::default();
        only.set(usize::from(port.port));
        let others_send = !SINGLE && (out.vcs_with_flit != 0 || net.router.hold_switch && out.free_vcs != link.all);
        if out.requested != 1 << class
            || *requesters != only
            || others_send
            || link.paced
            || if SINGLE { occupied(&port.head) != 1 << v } else { !self.is_input_uncontended(port, i, v) }
        {
            return 0;
        }
        let open = out.available_vcs();
        if SINGLE && net.class_bits == 0 { open } else { link.open_to(out, open, class) }
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Moves a head across the switch to one of the VCs in `room` of its output. The VC is selected in round-robin order.
    #[inline(always)]
    fn send_uncontended_head<const SINGLE: bool>(
        &mut self,
        net: &Net,
        flit: BypassFlit,
        class: usize,
        room: u16,
        earliest: u64,
    ) {
        let (i, v, o) = flit.places::<V>();
        let fabric = &mut self.routers.fabric;
        // SAFETY: a flit that may bypass stores valid numbers of an input and an output, and its key stores a VC class of this output
        // (checked by `assert_numbers`).
        let (port, out, requesters) = unsafe {
            let requesters = fabric.requests.requesters.hot_mut(net.slot(o, class));
            (fabric.buffers.ins.hot_mut(i), fabric.wires.outs.hot_mut(o), requesters)
        };
        let vc = pick16(room, out.rr_vc);
        (out.rr_vc, out.requested) = ((vc + 1) & 15, 0);
        take_turns(port, out, (i, v), o);
        *requesters = Bits::default();
        let depart = out.depart(earliest);
        let (packet, len) = if SINGLE {
            (flit.segment, 1)
        } else {
            // SAFETY: a flit that may bypass stores a valid number of its segment (checked by `assert_numbers`).
            let segment = unsafe { fabric.buffers.segments.items.hot_mut(flit.segment as usize) };
            segment.sent = 1;
            (segment.packet, segment.len)
        };
        let tail = len == 1;
        if tail {
            *port.head.at_mut(v) = NONE;
        } else {
            port.hold(v as u8, o - port.base(i), vc);
            out.hold(vc, port.port.into(), v as u8);
            out.vcs_with_flit = 0;
        }
        let segment = if SINGLE { NONE } else { flit.segment };
        let crossing = Crossing { packet, segment, len, head: true, tail };
        self.traverse::<SINGLE>(net, (o, usize::from(vc)), depart, crossing);
        let Routers { fabric, beside } = &mut self.routers;
        if !SINGLE && tail {
            fabric.buffers.segments.remove(flit.segment);
        }
        fabric.return_credit(net, i, v);
        beside.observers.tally.flit_hops += 1;
    }

    /// Moves a tail across the switch to VC `vc` of its output. The tail is the only flit of its VC. The packet of the tail then frees both
    /// VCs. Called only if no head waits for the output.
    #[inline(never)]
    fn send_uncontended_tail(&mut self, net: &Net, flit: BypassFlit, vc: usize, earliest: u64) {
        let (i, v, o) = flit.places::<V>();
        let Routers { fabric, beside } = &mut self.routers;
        // SAFETY: a flit that may bypass stores valid numbers of an input, an output and its segment (checked by `assert_numbers`).
        let (port, out, segment) = unsafe {
            let segment = fabric.buffers.segments.items.hot(flit.segment as usize);
            (fabric.buffers.ins.hot_mut(i), fabric.wires.outs.hot_mut(o), segment)
        };
        let Segment { packet, len, .. } = *segment;
        *port.head.at_mut(v) = NONE;
        take_turns(port, out, (i, v), o);
        out.vcs_with_flit = 0;
        free_vc(&mut beside.policy.power, out, o, vc);
        let depart = out.depart(earliest);
        let crossing = Crossing { packet, segment: flit.segment, len, head: false, tail: true };
        self.traverse::<false>(net, (o, vc), depart, crossing);
        let Routers { fabric, beside } = &mut self.routers;
        fabric.buffers.segments.remove(flit.segment);
        fabric.return_credit(net, i, v);
        beside.observers.tally.flit_hops += 1;
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Moves a body flit across the switch to VC `vc` of output port `p`. The flit is the only one of VC `v` of input `i`. Returns the
    /// cycle in which the flit arrives at the other end of the channel. `marks`: whether a run begins with the flit, and whether a run
    /// begins with its credit ([`IN_NO_RUN`], [`FIRST_OF_RUN`]).
    #[inline(always)]
    pub(crate) fn send_uncontended(
        &mut self,
        observers: &mut Observers,
        net: &Net,
        (i, v): (usize, usize),
        (p, vc): (usize, usize),
        earliest: u64,
        (key, mark): (u16, u32),
    ) -> u64 {
        // SAFETY: `assert_numbers` checks the numbers: the packet has a segment in this input, and the output is one of the router's.
        let (port, out, o) = unsafe {
            let port = self.buffers.ins.hot_mut(i);
            let o = port.base(i) + p;
            self.buffers.segments.items.hot_mut(*port.head.at(v) as usize).sent += 1;
            (port, self.wires.outs.hot_mut(o), o)
        };
        take_turns(port, out, (i, v), o);
        out.vcs_with_flit = 0;
        out.spend::<false>(vc, net.router.room);
        let link = net.links.of(out.class);
        let at = out.depart(earliest) + link.latency;
        let (is_cut, peer) = (out.is(ChannelEnd::Remote), out.peer);
        if out.is(ChannelEnd::Ejection) {
            self.wires.credits.push(self.now, at + link.credit_latency, (o << 4 | vc) as u32 | mark);
            observers.tally.accepted(at + net.router.ejection_delay);
        } else {
            self.launch((is_cut, peer), at, Flit::of_run(vc as u32, key), NONE);
        }
        self.return_marked(net, (i, v), self.now, mark);
        observers.tally.flit_hops += 1;
        at
    }
}
