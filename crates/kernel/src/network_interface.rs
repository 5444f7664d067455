//! Network interfaces. Every terminal in a job has a source, which creates its packets, and an injection channel of at most one flit per
//! cycle.
//!
//! An interface calls a source for its next packet when the source is due and the previous packet has left. Under overload the interface
//! calls the source later than the cycle in which the source is due, so no queue grows in the interface.

use crate::block::{Fabric, Interfaces, Observers, Reach, Routers};
use crate::deliveries::deliver;
use crate::depart::free_vc;
use crate::net::Net;
use crate::parts::profile::Kind;
use weft_api::base::bits::pick16;
use weft_api::base::unchecked::Hot;
use weft_api::state::{Flit, Gate, MEASURED, NONE, Packet};
use weft_api::workload::{Counts, JobSources, NOT_DUE, NewPacket};

/// A packet that a source has created.
#[derive(Clone, Copy)]
pub(crate) struct Created {
    pub to: u32,
    pub flits: u16,
    pub seq: u32,
    pub tag: u32,
    pub measured: bool,
    pub job: u16,
    pub class: u8,
}

/// The kind of flit that a terminal has sent in a cycle, if any.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    /// No flit: the terminal waits for a credit, a VC or its link.
    Nothing,
    Part,
    Tail,
}

impl Interfaces {
    /// Lets terminal `t` try to send again, if it waits for a credit or for its link. Returns true if the terminal was waiting.
    #[inline(always)]
    pub(crate) fn unblock(&mut self, t: usize) -> bool {
        let waited = std::mem::take(&mut self.terminals[t].blocked);
        if waited {
            self.busy.set(t);
        }
        waited
    }

    /// True if the alarm of terminal `t` for cycle `now` is void, because a delivery has changed the cycle in which the source is due.
    #[inline(never)]
    fn is_out_of_date(&self, t: usize, now: u64) -> bool {
        self.terminals[t].alarm != now || !self.is_idle(t)
    }

    /// In cycle `now`, sets an alarm that wakes terminal `t` when its source is due, but not before cycle `from`.
    #[inline(always)]
    pub(crate) fn sleep(&mut self, net: &Net, t: usize, (now, from): (u64, u64)) {
        // SAFETY: the cycle loop uses valid terminal numbers (checked by `assert_numbers`).
        let due = unsafe { self.terminals.hot(t) }.due;
        if due <= from {
            // SAFETY: as above, `t` is a valid terminal number; there is a bit for each terminal.
            unsafe { self.busy.set_hot(t) };
            return;
        }
        // SAFETY: the cycle loop uses valid terminal numbers, and there is a bit for each terminal (checked by `assert_numbers`).
        unsafe { self.busy.clear_hot(t) };
        let at = due.min(now + self.alarms.horizon() - 1);
        if !net.alarms_lapse || self.needs_alarm(t, now, at) {
            self.alarms.push(now, at, t as u32);
        }
    }

    /// True if terminal `t` needs an alarm in cycle `at`, because it has no alarm that is as early. If so, records the alarm. (An alarm can
    /// be later than `at`, because a delivery can make the source due earlier.)
    #[inline(never)]
    pub(crate) fn needs_alarm(&mut self, t: usize, now: u64, at: u64) -> bool {
        let terminal = &mut self.terminals[t];
        let is_set = terminal.alarm > now && terminal.alarm <= at;
        let needed = terminal.due != NOT_DUE && !is_set;
        if needed {
            terminal.alarm = at;
        }
        needed
    }

    /// Records that terminal `t` waits for a credit, or for its link.
    fn set_blocked(&mut self, t: usize) -> Sent {
        // SAFETY: the cycle loop uses valid terminal numbers (checked by `assert_numbers`).
        unsafe { self.terminals.hot_mut(t) }.blocked = true;
        self.busy.clear(t);
        Sent::Nothing
    }

    /// True if terminal `t` has nothing to inject before its source is due.
    pub(crate) fn is_idle(&self, t: usize) -> bool {
        // A terminal with a stream is neither busy nor waiting, but it is not idle. Without queues the test below detects this, because the
        // terminal has a packet. With queues, the `packet` of such a terminal is `NONE`. However, with queues this function is called only
        // while the network is empty, when no stream exists.
        let terminal = &self.terminals[t];
        !self.busy.contains(t) && !terminal.blocked && terminal.packet == NONE
    }

    /// Makes packet `id` the next packet that terminal `t` sends. `flits`: length of the packet.
    #[inline(always)]
    fn take_in_hand(&mut self, t: usize, id: u32, flits: u16) {
        // SAFETY: the caller passes a valid terminal number (checked by `assert_numbers`).
        let terminal = unsafe { self.terminals.hot_mut(t) };
        (terminal.left, terminal.vc, terminal.packet) = (flits, u8::MAX, id);
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    pub(crate) fn inject<const SINGLE: bool>(&mut self, net: &Net) {
        if let Some(rules) = &net.interface {
            return self.inject_queued(net, rules);
        }
        let now = self.routers.fabric.now;
        let measured = u64::from(self.routers.beside.observers.tally.inside(now));
        if net.tells {
            deliver(&mut self.interfaces, &mut self.routers.fabric.buffers, net, now);
        }
        if net.wakes {
            self.interfaces.act(net, now);
        }
        if !SINGLE && self.routers.beside.shortcuts.has_streams() {
            self.send_from_busy::<false, true>(net, measured);
        } else {
            self.send_from_busy::<SINGLE, false>(net, measured);
        }
        while let Some((chunk, len)) = self.interfaces.alarms.due(now) {
            if net.shortcuts.has(Kind::Prefetch) {
                self.routers.fabric.bring_for_alarms(&self.interfaces, (chunk, len));
            }
            for k in 0..len {
                let t = self.interfaces.alarms.item(chunk, k) as usize;
                if net.tells && self.interfaces.is_out_of_date(t, now) {
                    continue;
                }
                // SAFETY: alarms store valid terminal numbers (checked by `assert_numbers`).
                let due = unsafe { self.interfaces.terminals.hot(t) }.due;
                if due <= now {
                    if !SINGLE {
                        self.interfaces.busy.set(t);
                    }
                    self.send_from::<SINGLE>(net, t, measured);
                } else if due < NOT_DUE {
                    self.interfaces.sleep(net, t, (now, now));
                }
            }
            self.interfaces.alarms.release(now);
        }
    }

    /// Sends one flit from each terminal that has a packet. `STREAMS`: whether body flits may leave in streams.
    #[inline(always)]
    fn send_from_busy<const SINGLE: bool, const STREAMS: bool>(&mut self, net: &Net, measured: u64) {
        for word in 0..self.interfaces.busy.0.len() {
            let mut bits = self.interfaces.busy.0[word];
            while bits != 0 {
                let t = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if SINGLE || !self.sends_body::<STREAMS>(net, t, measured) {
                    self.send_from::<SINGLE>(net, t, measured);
                }
            }
        }
    }

    /// Sends one flit from terminal `t`. The terminal already has a packet, or first gets one from its source. `measured`: 1 if a flit of
    /// this cycle counts in the window, otherwise 0.
    fn send_from<const SINGLE: bool>(&mut self, net: &Net, t: usize, measured: u64) {
        // SAFETY: alarms, masks and channels store valid terminal numbers (checked by `assert_numbers`).
        if unsafe { self.interfaces.terminals.hot(t) }.packet == NONE
            && !self.routers.fabric.create::<SINGLE>(&mut self.interfaces, &mut self.routers.beside.observers, net, t)
        {
            return;
        }
        if self.send_flit::<SINGLE, false>(net, t, measured, u16::MAX) == Sent::Tail {
            // SAFETY: alarms, masks and channels store valid terminal numbers (checked by `assert_numbers`).
            unsafe { self.interfaces.terminals.hot_mut(t) }.packet = NONE;
            if net.tells {
                self.interfaces.tell_sent(net, t, self.routers.fabric.now);
            }
            self.interfaces.sleep(net, t, (self.routers.fabric.now, self.routers.fabric.now + 1));
        }
    }

    /// Sends the next flit of the packet of terminal `t`. `QUEUED`: whether flits of several packets may mix on the channel. With `QUEUED`,
    /// this packet may use only `vcs`.
    #[inline(always)]
    pub(crate) fn send_flit<const SINGLE: bool, const QUEUED: bool>(
        &mut self,
        net: &Net,
        t: usize,
        measured: u64,
        vcs: u16,
    ) -> Sent {
        let slow_path = net.slow.injection;
        if slow_path && !self.link_takes_flit(net, t) {
            return self.interfaces.set_blocked(t);
        }
        let fabric = &mut self.routers.fabric;
        // SAFETY: the caller passes a valid terminal number, and a terminal stores the number of its injection channel (checked by
        // `assert_numbers`).
        let (terminal, out) = unsafe {
            let terminal = self.interfaces.terminals.hot_mut(t);
            let out = fabric.wires.outs.hot_mut(terminal.out as usize);
            (terminal, out)
        };
        let head = SINGLE || terminal.vc == u8::MAX;
        let vc = if head {
            let open = out.available_vcs() & if QUEUED { vcs } else { u16::MAX };
            if open == 0 {
                return self.interfaces.set_blocked(t);
            }
            let vc = pick16(open, out.rr_vc);
            terminal.vc = vc;
            out.rr_vc = (vc + 1) & 15;
            vc as usize
        } else {
            terminal.vc as usize
        };
        if !SINGLE && out.vcs_with_credit >> vc & 1 == 0 {
            return self.interfaces.set_blocked(t);
        }
        out.spend::<SINGLE>(vc, net.router.room);
        let mut flit = Flit::of_body(out.peer << 4 | vc as u32);
        if head {
            // SAFETY: a terminal stores the number of the packet that it injects.
            let packet = unsafe { fabric.buffers.packets.items.hot_mut(terminal.packet as usize) };
            packet.injected = fabric.now;
            flit.packet = terminal.packet;
            flit.len = if SINGLE { 1 } else { packet.len };
            // SAFETY: a terminal stores its number in the network (checked by `assert_numbers`).
            let (router, _) = unsafe { *net.terminal_at.hot(terminal.id as usize) };
            flit.key = net.route_ahead(router as usize, packet);
        }
        let depart = if slow_path { self.sent_slow_path(net, t, vc, head) } else { fabric.now };
        let Routers { fabric, beside } = &mut self.routers;
        fabric.wires.flits.push(fabric.now, depart + net.links.of(0).latency, flit);
        beside.observers.tally.injected_flits += measured;
        // SAFETY: the caller passes a valid terminal number (checked by `assert_numbers`).
        let terminal = unsafe { self.interfaces.terminals.hot_mut(t) };
        if !SINGLE {
            terminal.left -= 1;
            let (o, is_tail) = (terminal.out as usize, terminal.left == 0);
            if QUEUED && head {
                fabric.wires.outs[o].free_vcs &= !(1 << vc);
            }
            if !is_tail {
                return Sent::Part;
            }
            if QUEUED {
                free_vc(&mut beside.policy.power, &mut fabric.wires.outs[o], o, vc);
            }
        }
        Sent::Tail
    }

    /// Sends the next flit of terminal `t`, if this is a body flit that can leave now. Otherwise does nothing and returns false. `STREAMS`:
    /// whether the flit may open a stream, which also sends the flits after it.
    #[inline(always)]
    pub(crate) fn sends_body<const STREAMS: bool>(&mut self, net: &Net, t: usize, measured: u64) -> bool {
        let Routers { fabric, beside } = &mut self.routers;
        // SAFETY: the mask of busy terminals contains valid terminal numbers, and a terminal stores the number of its injection channel
        // (checked by `assert_numbers`).
        let (terminal, out) = unsafe {
            let terminal = self.interfaces.terminals.hot(t);
            (terminal, fabric.wires.outs.hot(terminal.out as usize))
        };
        let vc = usize::from(terminal.vc);
        // a terminal without a packet has no flits left, and a terminal whose head has not left still has all flits left
        if terminal.left < 2 || terminal.vc == u8::MAX || out.vcs_with_credit >> vc & 1 == 0 || net.slow.injection {
            return false;
        }
        if STREAMS && fabric.opens_source(&mut self.interfaces, &mut beside.shortcuts, net, t, vc) {
            return true;
        }
        // SAFETY: the mask of busy terminals contains valid terminal numbers (checked by `assert_numbers`).
        let terminal = unsafe { self.interfaces.terminals.hot_mut(t) };
        terminal.left -= 1;
        fabric.inject_body(&mut beside.observers, net, terminal.out as usize, vc, measured);
        true
    }

    /// True if the injection channel of terminal `t`, which has a limited rate or can go off, can take the next flit. If the next flit is a
    /// head and the channel is closed, the head requests the channel.
    #[inline(never)]
    fn link_takes_flit(&mut self, net: &Net, t: usize) -> bool {
        let terminal = &self.interfaces.terminals[t];
        let (o, head) = (terminal.out as usize, terminal.vc == u8::MAX);
        if head {
            self.routers.fabric.wires.outs[o].requested = 1;
            if self.routers.fabric.wires.outs[o].gate() != Gate::Open {
                self.wait_for_link(net, o);
            }
            if self.routers.fabric.wires.outs[o].gate() != Gate::Open {
                return false;
            }
        }
        !net.links.of(0).paced || self.routers.fabric.is_open_to_terminal(&mut self.interfaces, t)
    }

    /// Called when terminal `t` has sent a flit on VC `vc` of a channel that has a limited rate or can go off. Records that the packet of
    /// the flit holds the VC, or leaves it. Returns the cycle in which the flit is completely on the link.
    #[inline(never)]
    fn sent_slow_path(&mut self, net: &Net, t: usize, vc: usize, head: bool) -> u64 {
        let Routers { fabric, beside } = &mut self.routers;
        let terminal = &self.interfaces.terminals[t];
        let (o, tail, id) = (terminal.out as usize, terminal.left == 1, terminal.packet);
        let out = &mut fabric.wires.outs[o];
        if head {
            out.requested = 0;
            out.free_vcs &= !(1 << vc);
        }
        if tail {
            free_vc(&mut beside.policy.power, out, o, vc);
        }
        if net.links.of(0).paced {
            let left = fabric.inject_paced(&mut self.interfaces, &mut beside.observers, net, t, head);
            if head && net.watches {
                fabric.watch_injection(&mut beside.observers, t, id, left);
            }
            return left;
        }
        fabric.wires.outs[o].next_free = (fabric.now + 1) as u32;
        fabric.now
    }

    /// Lets terminals whose links the agents have opened in this cycle send in the same cycle. (Heads at routers also use opened links in
    /// the same cycle.)
    #[inline(never)]
    pub(crate) fn send_from_woken(&mut self, net: &Net) {
        let measured = u64::from(self.routers.beside.observers.tally.inside(self.routers.fabric.now));
        let mut woken = std::mem::take(&mut self.routers.beside.policy.power.woken);
        for t in woken.drain(..).map(|t| t as usize) {
            if let Some(rules) = &net.interface {
                self.send_queued(net, rules, t, measured);
            } else if net.single {
                self.send_from::<true>(net, t, measured);
            } else {
                self.send_from::<false>(net, t, measured);
            }
        }
        self.routers.beside.policy.power.woken = woken;
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Creates the next packet of terminal `t`, by a call of its source. Returns false if the source has no packet at present.
    #[inline(always)]
    fn create<const SINGLE: bool>(
        &mut self,
        interfaces: &mut Interfaces,
        observers: &mut Observers,
        net: &Net,
        t: usize,
    ) -> bool {
        // SAFETY: `send_from` has used this terminal number before.
        let terminal = unsafe { interfaces.terminals.hot_mut(t) };
        // SAFETY: a terminal that creates packets is in a job (checked by `assert_numbers`).
        let sources = unsafe { interfaces.sources.hot_mut(terminal.job.into()) };
        let JobSources::Clocks(clocks) = sources else {
            return self.create_asked(interfaces, observers, net, t);
        };
        let created = terminal.due;
        let Some((to, flits)) = clocks.create(terminal.source as usize, &mut terminal.due) else {
            interfaces.sleep(net, t, (self.now, self.now + 1));
            return false;
        };
        let flits = if SINGLE { 1 } else { flits };
        let number = terminal.made;
        terminal.made = number.wrapping_add(1);
        let measured = observers.tally.inside(created);
        let job = terminal.job;
        let new = Created { to, flits, seq: number, tag: 0, measured, job, class: 0 };
        let id = self.add_packet(interfaces, net, t, created, new);
        interfaces.take_in_hand(t, id, flits);
        self.count_created(interfaces, observers, net, (t, id), flits, measured);
        true
    }

    /// Does the work of `create` for workloads other than random sources.
    #[inline(never)]
    fn create_asked(&mut self, interfaces: &mut Interfaces, observers: &mut Observers, net: &Net, t: usize) -> bool {
        let terminal = &mut interfaces.terminals[t];
        let job = terminal.job;
        let sources = interfaces.sources[usize::from(job)].all_mut();
        let new = sources.next(terminal.source as usize, &mut terminal.due, self.now);
        if net.wakes {
            interfaces.wake_others(net, job, self.now);
        }
        let Some(new) = new else {
            interfaces.sleep(net, t, (self.now, self.now + 1));
            return false;
        };
        let (own, created) = self.numbered(interfaces, observers, t, &new);
        let id = self.add_packet(interfaces, net, t, new.created, created);
        interfaces.take_in_hand(t, id, new.flits);
        if own {
            self.count_created(interfaces, observers, net, (t, id), new.flits, created.measured);
        } else {
            self.note_injection(interfaces, observers, net, t, id);
        }
        true
    }

    /// Gives a packet that the source of terminal `t` has created its sequence number. Returns a flag (true if no delivery caused the
    /// packet) and the packet.
    pub(crate) fn numbered(
        &mut self,
        interfaces: &mut Interfaces,
        observers: &mut Observers,
        t: usize,
        new: &NewPacket,
    ) -> (bool, Created) {
        let terminal = &mut interfaces.terminals[t];
        let &NewPacket { to, flits, created, tag, counts } = new;
        let (own, measured, seq) = match counts {
            Counts::IfCreatedInWindow => {
                let number = terminal.made;
                terminal.made = number.wrapping_add(1);
                (true, observers.tally.inside(created), number)
            }
            Counts::AsItsCause { measured } => {
                let number = terminal.brought_about;
                terminal.brought_about = number.wrapping_add(1);
                (false, measured, !number)
            }
        };
        let job = interfaces.terminals[t].job;
        (own, Created { to, flits, seq, tag, measured, job, class: 0 })
    }

    /// Sends a body flit on VC `vc` of injection channel `o`. The VC must have a credit.
    #[inline(always)]
    pub(crate) fn inject_body(&mut self, observers: &mut Observers, net: &Net, o: usize, vc: usize, measured: u64) {
        // SAFETY: a terminal stores the valid number of its injection channel (checked by `assert_numbers`).
        let out = unsafe { self.wires.outs.hot_mut(o) };
        out.spend::<false>(vc, net.router.room);
        let flit = Flit::of_body(out.peer << 4 | vc as u32);
        self.wires.flits.push(self.now, self.now + net.links.of(0).latency, flit);
        observers.tally.injected_flits += measured;
    }

    /// Adds a packet of terminal `t` to the packets of the block. Returns the index of this packet.
    #[inline(always)]
    pub(crate) fn add_packet(
        &mut self,
        interfaces: &mut Interfaces,
        net: &Net,
        t: usize,
        created: u64,
        new: Created,
    ) -> u32 {
        let (router, port) = net.terminal_at[new.to as usize];
        // SAFETY: each terminal is attached to an existing router (checked by `assert_numbers`).
        let dest = unsafe { *net.coords.hot(router as usize) };
        let id = self.new_packet(net.single);
        if net.shortcuts.has(Kind::Prefetch) {
            self.buffers.packets.bring_free();
        }
        // SAFETY: the caller passes a valid terminal number (checked by `assert_numbers`), and `new_packet` made a place for the packet.
        let (src, packet) = unsafe {
            let src = interfaces.terminals.hot(t).id;
            (src, self.buffers.packets.items.hot_mut(id as usize))
        };
        *packet = Packet {
            created,
            target: dest,
            dest,
            src,
            dst: new.to,
            seq: new.seq,
            len: new.flits,
            dst_port: port,
            flags: if new.measured { MEASURED } else { 0 },
            class: new.class,
            job: new.job,
            tag: new.tag,
            ..Packet::default()
        };
        if net.needs.draws_path {
            net.routing.inject(packet, net.seed);
        }
        id
    }

    /// Records that terminal `t` has created packet `id` without a delivery as cause.
    #[inline(always)]
    pub(crate) fn count_created(
        &mut self,
        interfaces: &mut Interfaces,
        observers: &mut Observers,
        net: &Net,
        (t, id): (usize, u32),
        flits: u16,
        measured: bool,
    ) {
        let times = u64::from(measured);
        observers.tally.created.packets += times;
        observers.tally.created.flits += times * u64::from(flits);
        if net.slow.creation {
            self.created_slow_path(interfaces, observers, net, t, id, measured);
        }
    }

    /// Records that terminal `t` has created packet `id`, for any reason, and will send it next. (Packets that join a queue are recorded
    /// when they leave it, in `send_queued`.)
    pub(crate) fn note_injection(
        &mut self,
        interfaces: &mut Interfaces,
        observers: &mut Observers,
        net: &Net,
        t: usize,
        id: u32,
    ) {
        if net.slow.paths && net.interface.is_none() {
            let channel = interfaces.channel_of(t);
            observers.recorders.crosses(channel, 0, &self.buffers.packets.items[id as usize]);
        }
    }

    /// Counts packet `id` for its job, and watches it if necessary. Terminal `t` has created this packet without a delivery as cause.
    #[inline(never)]
    fn created_slow_path(
        &mut self,
        interfaces: &mut Interfaces,
        observers: &mut Observers,
        net: &Net,
        t: usize,
        id: u32,
        measured: bool,
    ) {
        self.note_injection(interfaces, observers, net, t, id);
        if measured {
            let &Packet { job, class, len, .. } = &self.buffers.packets.items[id as usize];
            observers.tally.parts.created(job, class, len);
        }
        if net.watches {
            self.watch_creation(observers, net, t, id, measured);
        }
    }
}
