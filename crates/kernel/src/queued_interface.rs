//! Network interfaces with queues. Several packets of a terminal can be ready at the same time, one in each queue.
//!
//! In each cycle the interface accepts the packets of sources that are due, if the queue of the packet has space. After that, one queue of
//! the interface sends a flit. The injection rule (`InjectionRule`) selects this queue among the queues that can send. Flits of packets on
//! different VCs may alternate on the injection channel, unless outputs must finish a packet before the next (`RouterRules::hold_switch`).

use crate::block::{Fabric, Interfaces, Observers, Reach, Routers};
use crate::deliveries::deliver;
use crate::net::Net;
use crate::network_interface::{Created, Sent};
use crate::parts::queues::{InterfaceRules, Ready};
use weft_api::base::unchecked::Hot;
use weft_api::classes::{InjectionRule, Queueing};
use weft_api::congestion::Control;
use weft_api::state::NONE;
use weft_api::workload::NOT_DUE;

impl Interfaces {
    /// Makes terminal `t` check its queues and sources in this cycle.
    pub(crate) fn look_at_queues(&mut self, t: usize) {
        self.terminals[t].blocked = false;
        self.busy.set(t);
    }

    /// Notifies the source of a stream (the packets of one part of a source) that the interface can accept the next packet.
    fn tell_stream(&mut self, net: &Net, stream: usize, now: u64) {
        let stream = &mut self.queues.streams[stream];
        if net.jobs[usize::from(stream.job)].hears_packets {
            let sources = self.sources[usize::from(stream.job)].all_mut();
            sources.sent(stream.source as usize, &mut stream.due, now);
            if net.wakes {
                let job = stream.job;
                self.wake_others(net, job, now);
            }
        }
    }

    /// True if a queue of terminal `t` has sent the head of a packet but not yet the tail.
    fn some_queue_is_amid(&self, t: usize) -> bool {
        let (queues, mut bits) = (&self.queues, self.queues.filled[t]);
        while bits != 0 {
            if queues.queue(t, bits.trailing_zeros() as usize).is_amid() {
                return true;
            }
            bits &= bits - 1;
        }
        false
    }

    /// Marks terminal `t` as sleeping, because it can send nothing now. The terminal wakes when a credit returns, a source is due, or a
    /// rate-limited queue may send again.
    pub(crate) fn rest(&mut self, t: usize, now: u64) {
        let (mut due, mut is_blocked, mut some_wait) = (NOT_DUE, false, false);
        let queues = &self.queues;
        for stream in &queues.streams[queues.streams_of(t)] {
            some_wait |= stream.pending != NONE;
            // a source that is already due finds its queue full; it continues when a packet leaves, so it needs no alarm
            if stream.due > now && stream.pending == NONE {
                due = due.min(stream.due);
            }
        }
        let mut bits = queues.filled[t];
        while bits != 0 {
            let queue = queues.queue(t, bits.trailing_zeros() as usize);
            bits &= bits - 1;
            if !queue.is_amid() && queue.opens > now {
                due = due.min(queue.opens);
            } else {
                is_blocked = true;
            }
        }
        if some_wait {
            // a packet for which no queue is free waits for a packet to leave, or for an empty queue whose rate limit has not passed
            let held = queues.queues_of_sources(t).iter().map(|queue| queue.opens);
            due = held.filter(|&opens| opens > now).fold(due, u64::min);
        }
        let terminal = &mut self.terminals[t];
        (terminal.due, terminal.blocked) = (due, is_blocked);
        self.busy.clear(t);
        let at = due.min(now + self.alarms.horizon() - 1);
        if self.needs_alarm(t, now, at) {
            self.alarms.push(now, at, t as u32);
        }
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Injects flits from the queues of all terminals, for one cycle.
    #[inline(never)]
    pub(crate) fn inject_queued(&mut self, net: &Net, rules: &InterfaceRules) {
        let Routers { fabric, beside } = &mut self.routers;
        let measured = u64::from(beside.observers.tally.inside(fabric.now));
        if net.tells {
            match &net.congestion {
                Some(control) => fabric.deliver_marked(&mut self.interfaces, &mut beside.observers, net, &**control),
                None => deliver(&mut self.interfaces, &mut fabric.buffers, net, fabric.now),
            }
        }
        if net.wakes {
            self.interfaces.act(net, fabric.now);
        }
        while let Some((chunk, len)) = self.interfaces.alarms.due(fabric.now) {
            for k in 0..len {
                let t = self.interfaces.alarms.item(chunk, k) as usize;
                if self.interfaces.terminals[t].alarm == fabric.now {
                    self.interfaces.look_at_queues(t);
                }
            }
            self.interfaces.alarms.release(fabric.now);
        }
        // true if round-robin order alone selects the queue that sends
        let by_turns = !net.single && !net.slow.injection && !rules.notifies && rules.rule == InjectionRule::RoundRobin;
        for word in 0..self.interfaces.busy.0.len() {
            let mut bits = self.interfaces.busy.0[word];
            while bits != 0 {
                let t = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if !by_turns || !self.sends_body_in_turn(net, rules, t, measured) {
                    self.send_queued(net, rules, t, measured);
                }
            }
        }
    }

    /// Sends a body flit of the queue of terminal `t` that is next in round-robin order, if this flit can leave, no source is due, and no
    /// stream is possible. Otherwise returns false, and `send_queued` handles the terminal.
    #[inline(always)]
    fn sends_body_in_turn(&mut self, net: &Net, rules: &InterfaceRules, t: usize, measured: u64) -> bool {
        let Routers { fabric, beside } = &mut self.routers;
        if self.interfaces.queues.some_stream_is_due(t, fabric.now) {
            return false;
        }
        // SAFETY: the mask of busy terminals contains valid terminal numbers (checked by `assert_numbers`).
        let (filled, turn, o) = unsafe {
            let Interfaces { queues, terminals, .. } = &self.interfaces;
            (*queues.filled.hot(t), u32::from(*queues.turns.hot(t)), terminals.hot(t).out as usize)
        };
        if filled == 0 {
            return false;
        }
        let q = (turn + filled.rotate_right(turn).trailing_zeros()) as usize % 64;
        // SAFETY: a terminal stores the valid number of its injection channel (checked by `assert_numbers`).
        let (queue, out) = unsafe { (self.interfaces.queues.queue(t, q), fabric.wires.outs.hot(o)) };
        let (left, vc) = (queue.left, queue.vc);
        let is_body = queue.is_amid() && left > 1;
        if !is_body
            || out.vcs_with_credit >> vc & 1 == 0
            || filled & (filled - 1) == 0 && beside.shortcuts.may_stream(o, left)
        {
            return false;
        }
        debug_assert_eq!(fabric.next_queue(&self.interfaces, net, rules, t), Some((q, u16::MAX)), "terminal {t}");
        fabric.inject_body(&mut beside.observers, net, o, vc.into(), measured);
        // SAFETY: the mask of busy terminals contains valid terminal numbers (checked by `assert_numbers`).
        let (terminal, turn) =
            unsafe { (self.interfaces.terminals.hot_mut(t), self.interfaces.queues.turns.hot_mut(t)) };
        (terminal.left, terminal.vc, *turn) = (left - 1, vc, rules.turn_after(q));
        self.interfaces.count_body(&mut beside.observers.tally, (t, q), measured > 0);
        true
    }

    /// Accepts the packets that the sources of terminal `t` create. After that, sends a flit if one of the terminal's queues can send.
    pub(crate) fn send_queued(&mut self, net: &Net, rules: &InterfaceRules, t: usize, measured: u64) {
        let Routers { fabric, beside } = &mut self.routers;
        if self.interfaces.queues.some_stream_is_due(t, fabric.now) {
            fabric.fill(&mut self.interfaces, &mut beside.observers, net, rules, t);
        }
        let streams = self.routers.beside.shortcuts.has_streams();
        if streams && self.keeps_stream(net, t) {
            return;
        }
        let fabric = &self.routers.fabric;
        let Some((q, vcs)) = fabric.next_queue(&self.interfaces, net, rules, t) else {
            return self.interfaces.rest(t, fabric.now);
        };
        let is_amid = self.interfaces.queues.queue(t, q).is_amid();
        if net.single || !is_amid || !self.sends_body_of_queue(net, rules, (t, q), measured, streams) {
            self.send_first_or_last(net, rules, (t, q), vcs, measured);
        }
    }

    /// Sends the next flit of queue `q` of terminal `t`. The flit is a head, a tail, or a flit that a rule may delay. If the flit is a
    /// head, it may use one of `vcs`.
    #[inline(never)]
    fn send_first_or_last(
        &mut self,
        net: &Net,
        rules: &InterfaceRules,
        (t, q): (usize, usize),
        vcs: u16,
        measured: u64,
    ) {
        let queue = self.interfaces.queues.queue(t, q);
        let (left, vc) = (queue.left, queue.vc);
        let &Ready { packet, flits, class, stream, .. } = &self.interfaces.queues.ready.items[queue.first as usize];
        let notice = stream == NONE;
        let measured = if notice { 0 } else { measured };
        let terminal = &mut self.interfaces.terminals[t];
        (terminal.packet, terminal.left, terminal.vc) = (packet, left, vc);
        let begins = vc == u8::MAX && net.maps_queues;
        if begins {
            let o = terminal.out as usize;
            self.routers.fabric.mark_from_terminal(net, o, vcs, packet);
        }
        let sent = if net.single {
            self.send_flit::<true, true>(net, t, measured, vcs)
        } else {
            self.send_flit::<false, true>(net, t, measured, vcs)
        };
        let terminal = &mut self.interfaces.terminals[t];
        terminal.packet = NONE;
        if sent == Sent::Nothing {
            return;
        }
        let queue = self.interfaces.queues.queue_mut(t, q);
        (queue.left, queue.vc) = (terminal.left, terminal.vc);
        if begins {
            let (o, vc) = (terminal.out as usize, usize::from(queue.vc));
            self.routers.fabric.has_left_terminal(net, o, vc);
            if let Some(rules) = &net.ideal {
                self.routers.fabric.take_from_terminal(rules, (o, vc), packet);
            }
        }
        if left == flits {
            queue.begin(self.routers.fabric.now, flits);
            self.has_begun(net, (t, q), (packet, flits), notice);
        }
        if measured > 0 && self.routers.beside.observers.tally.parts.are_counted() {
            let job = self.interfaces.queues.streams[stream as usize].job;
            self.routers.beside.observers.tally.parts.inject(job, class);
        }
        if !notice {
            self.interfaces.queues.turns[t] = rules.turn_after(q);
        }
        if sent == Sent::Tail {
            self.routers.fabric.leave_queue(&mut self.interfaces, net, rules, t, q);
        }
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Called when terminal `t` has sent the head of a packet from queue `q`.
    #[inline(always)]
    fn has_begun(&mut self, net: &Net, (t, q): (usize, usize), (packet, flits): (u32, u16), is_notice: bool) {
        let Routers { fabric, beside } = &mut self.routers;
        if let Some(control) = &net.congestion {
            fabric.limit_flow(&mut self.interfaces, &**control, (t, q), packet, flits);
        }
        if net.slow.paths && !is_notice {
            let terminal = &self.interfaces.terminals[t];
            let (channel, vc) = (terminal.out as usize, terminal.vc);
            beside.observers.recorders.crosses(channel, vc, &fabric.buffers.packets.items[packet as usize]);
        }
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Called when the tail of the first packet of queue `q` has left terminal `t`.
    fn leave_queue(&mut self, interfaces: &mut Interfaces, net: &Net, rules: &InterfaceRules, t: usize, q: usize) {
        let Ready { stream, frees, .. } = interfaces.queues.leave(t, q);
        if frees {
            self.free_kept(interfaces, net, t);
        }
        if !rules.takes_early() && stream != NONE {
            interfaces.tell_stream(net, stream as usize, self.now);
        }
    }

    /// Called when terminal `t` begins to send a packet from queue `q`. The packet's flow may have a rate limit. Sets the cycle in which
    /// the limit lets the next packet of the queue begin.
    #[inline(never)]
    fn limit_flow(
        &mut self,
        interfaces: &mut Interfaces,
        control: &dyn Control,
        (t, q): (usize, usize),
        packet: u32,
        flits: u16,
    ) {
        let to = self.buffers.packets.items[packet as usize].dst;
        if q != interfaces.queues.of_notices()
            && let Some(opens) = interfaces.limits.sends(control, (t as u32, to), self.now, flits)
        {
            let queue = interfaces.queues.queue_mut(t, q);
            queue.opens = queue.opens.max(opens);
        }
    }

    /// Releases the oldest received packet that terminal `t` keeps in its buffer, and returns the credits for its space.
    #[inline(never)]
    fn free_kept(&mut self, interfaces: &mut Interfaces, net: &Net, t: usize) {
        let Some(kept) = interfaces.queues.free_oldest(t) else { return };
        let o = self.ejection_of(interfaces, t) as u32;
        for _ in 0..kept.flits {
            let at = self.now + net.links[0].credit_latency;
            self.wires.credits.push(self.now, at, o << 4 | u32::from(kept.vc));
        }
    }

    /// The router's output that leads to terminal `t`.
    fn ejection_of(&self, interfaces: &Interfaces, t: usize) -> usize {
        // this output has the same number as the input port to which the injection channel leads
        self.wires.outs[interfaces.channel_of(t)].peer as usize
    }

    /// Accepts the packets that the sources of terminal `t` create now, as long as the queues of these packets have space.
    #[inline(never)]
    fn fill(
        &mut self,
        interfaces: &mut Interfaces,
        observers: &mut Observers,
        net: &Net,
        rules: &InterfaceRules,
        t: usize,
    ) {
        while let Some(s) = self.next_stream(interfaces, net, rules, t) {
            let pending = interfaces.queues.streams[s].pending;
            let packet = if pending != NONE { Some(pending) } else { self.ask(interfaces, observers, net, t, s) };
            let Some(packet) = packet else { continue };
            interfaces.queues.streams[s].pending = packet;
            if let Some(q) = self.queue_of(interfaces, net, rules, t, s, packet) {
                interfaces.queues.streams[s].pending = NONE;
                self.queue_up(interfaces, net, rules, (t, q), s, packet);
            }
        }
    }

    /// Selects the stream (part of a source) of terminal `t` that creates the next packet. The injection rule decides. The selected stream
    /// is due, and the queue for its packet has space.
    fn next_stream(&self, interfaces: &Interfaces, net: &Net, rules: &InterfaceRules, t: usize) -> Option<usize> {
        let queues = &interfaces.queues;
        let own = queues.streams_of(t);
        if own.len() == 1 {
            // the most frequent case: the terminal has one stream
            let s = own.start;
            return (queues.streams[s].is_due(self.now) && self.has_place(interfaces, net, rules, t, s)).then_some(s);
        }
        let due = own.filter(|&s| queues.streams[s].is_due(self.now) && self.has_place(interfaces, net, rules, t, s));
        due.min_by_key(|&s| {
            let stream = &queues.streams[s];
            let rank = net.class_ranks[usize::from(stream.class)];
            match rules.rule {
                // a terminal sends replies before requests
                InjectionRule::RoundRobin => (0, !stream.replies, stream.due),
                InjectionRule::Priority => (rank, !stream.replies, stream.due),
                InjectionRule::Oldest => (0, false, stream.due),
            }
        })
    }

    /// True if the queue for the next packet of stream `s` has space, or if this queue is known only after the creation of the packet.
    fn has_place(&self, interfaces: &Interfaces, net: &Net, rules: &InterfaceRules, t: usize, s: usize) -> bool {
        let queues = &interfaces.queues;
        let has_room = |q: usize| queues.queue(t, q).packets < rules.depth;
        let stream = &queues.streams[s];
        match rules.queueing {
            Queueing::One => has_room(0),
            Queueing::PerClass => has_room(stream.class.into()),
            // the destination of a packet is known only after its creation
            Queueing::PerDestination | Queueing::PerLane if stream.pending == NONE => true,
            Queueing::PerDestination => {
                let to = self.buffers.packets.items[stream.pending as usize].dst;
                let own = queues.queues_of_sources(t);
                match own.iter().find(|queue| queue.to == to) {
                    Some(queue) => queue.packets < rules.depth,
                    None => own.iter().any(|queue| queue.packets == 0 && queue.opens <= self.now),
                }
            }
            Queueing::PerLane => {
                has_room(self.queue_of_lane(interfaces, net, rules, t, (stream.class, stream.pending)))
            }
        }
    }

    /// The queue for `packet` of stream `s`; `None` if that queue has no space now.
    fn queue_of(
        &mut self,
        interfaces: &mut Interfaces,
        net: &Net,
        rules: &InterfaceRules,
        t: usize,
        s: usize,
        packet: u32,
    ) -> Option<usize> {
        let to = self.buffers.packets.items[packet as usize].dst;
        let class = interfaces.queues.streams[s].class;
        let q = match rules.queueing {
            Queueing::One => return Some(0),
            Queueing::PerClass => return Some(class.into()),
            Queueing::PerDestination => interfaces.queues.to_destination(t, to, self.now)?,
            Queueing::PerLane => self.queue_of_lane(interfaces, net, rules, t, (class, packet)),
        };
        let queues = &interfaces.queues;
        (queues.queue(t, q).packets < rules.depth).then_some(q)
    }

    /// The lane of a packet on the injection channel of terminal `t`.
    pub(crate) fn lane_of(&self, interfaces: &Interfaces, net: &Net, t: usize, packet: u32) -> u8 {
        let (id, packet) = (interfaces.terminals[t].id, &self.buffers.packets.items[packet as usize]);
        net.refined.as_ref().map_or(0, |refined| refined.from_terminal(net.terminal_at[id as usize], packet, net.seed))
    }

    /// The queue for a packet if terminals have a queue for each message class and lane.
    fn queue_of_lane(
        &self,
        interfaces: &Interfaces,
        net: &Net,
        rules: &InterfaceRules,
        t: usize,
        (class, packet): (u8, u32),
    ) -> usize {
        usize::from(class) * usize::from(rules.lanes) + usize::from(self.lane_of(interfaces, net, t, packet))
    }

    /// Appends `packet` of stream `s` to queue `q` of terminal `t`.
    fn queue_up(
        &mut self,
        interfaces: &mut Interfaces,
        net: &Net,
        rules: &InterfaceRules,
        (t, q): (usize, usize),
        s: usize,
        packet: u32,
    ) {
        let lane = match rules.queueing {
            Queueing::PerLane => (q % usize::from(rules.lanes)) as u8, // see `queue_of_lane`
            Queueing::One | Queueing::PerClass | Queueing::PerDestination => self.lane_of(interfaces, net, t, packet),
        };
        let record = &self.buffers.packets.items[packet as usize];
        let frees = net.keeps && net.jobs[usize::from(record.job)].workload.frees(record);
        let ready = Ready {
            packet,
            next: NONE,
            stream: s as u32,
            created: record.created,
            flits: record.len,
            class: record.class,
            lane,
            frees,
        };
        interfaces.queues.join(t, q, ready);
        if rules.takes_early() {
            interfaces.tell_stream(net, s, self.now);
        }
    }

    /// Gets the next packet from the source of stream `s` of terminal `t`, and creates it. The stream must be due.
    #[inline(never)]
    fn ask(
        &mut self,
        interfaces: &mut Interfaces,
        observers: &mut Observers,
        net: &Net,
        t: usize,
        s: usize,
    ) -> Option<u32> {
        let stream = &mut interfaces.queues.streams[s];
        let (job, class) = (stream.job, stream.class);
        let sources = interfaces.sources[usize::from(job)].all_mut();
        let new = sources.next(stream.source as usize, &mut stream.due, self.now);
        if net.wakes {
            interfaces.wake_others(net, job, self.now);
        }
        let new = new?;
        let (own, created) = self.numbered(interfaces, observers, t, &new);
        let created = Created { job, class, ..created };
        let id = self.add_packet(interfaces, net, t, new.created, created);
        if own {
            self.count_created(interfaces, observers, net, (t, id), new.flits, created.measured);
        } else {
            self.note_injection(interfaces, observers, net, t, id);
        }
        Some(id)
    }

    /// Selects the queue of terminal `t` that sends the next flit, and the VCs that a head may use. `None` if no queue can send.
    #[inline(always)]
    fn next_queue(&self, interfaces: &Interfaces, net: &Net, rules: &InterfaceRules, t: usize) -> Option<(usize, u16)> {
        let queues = &interfaces.queues;
        let (filled, turn) = (queues.filled[t], u32::from(queues.turns[t]));
        if filled == 0 {
            return None;
        }
        if filled & (filled - 1) != 0 && (rules.notifies || rules.rule != InjectionRule::RoundRobin) {
            return self.next_by_rule(interfaces, net, rules, t);
        }
        // at low load usually at most one queue contains packets
        let mut bits = filled.rotate_right(turn);
        loop {
            let q = ((turn + bits.trailing_zeros()) % 64) as usize;
            let vcs = self.can_send(interfaces, net, rules, (t, q));
            bits &= bits - 1;
            if vcs.is_some() || bits == 0 {
                return vcs.map(|vcs| (q, vcs));
            }
        }
    }

    /// Does the work of `next_queue` for injection rules other than plain round robin.
    #[inline(never)]
    fn next_by_rule(
        &self,
        interfaces: &Interfaces,
        net: &Net,
        rules: &InterfaceRules,
        t: usize,
    ) -> Option<(usize, u16)> {
        let queues = &interfaces.queues;
        let (filled, turn) = (queues.filled[t], usize::from(queues.turns[t]));
        let notices = queues.of_notices();
        if rules.notifies
            && filled >> notices & 1 != 0
            && let Some(vcs) = self.can_send(interfaces, net, rules, (t, notices))
        {
            return Some((notices, vcs));
        }
        let mut bits = filled.rotate_right(turn as u32);
        let mut best: Option<(u64, usize, u16)> = None;
        while bits != 0 {
            let q = (turn + bits.trailing_zeros() as usize) % 64;
            bits &= bits - 1;
            let Some(vcs) = self.can_send(interfaces, net, rules, (t, q)) else { continue };
            let score = match rules.rule {
                InjectionRule::RoundRobin => return Some((q, vcs)),
                InjectionRule::Priority => net.class_ranks[usize::from(queues.front(t, q).class)],
                InjectionRule::Oldest => queues.front(t, q).created,
            };
            if best.is_none_or(|(least, ..)| score < least) {
                best = Some((score, q, vcs));
            }
        }
        best.map(|(_, q, vcs)| (q, vcs))
    }

    /// For queue `q` of terminal `t`, if the queue contains a packet: the VCs that a head may use, or all VCs for other flits. `None` if
    /// the queue cannot send a flit now.
    #[inline(always)]
    fn can_send(
        &self,
        interfaces: &Interfaces,
        net: &Net,
        rules: &InterfaceRules,
        (t, q): (usize, usize),
    ) -> Option<u16> {
        let queue = interfaces.queues.queue(t, q);
        if queue.is_amid() {
            let out = &self.wires.outs[interfaces.channel_of(t)];
            return (out.vcs_with_credit >> queue.vc & 1 != 0).then_some(u16::MAX);
        }
        self.head_can_leave(interfaces, net, rules, (t, q))
    }

    /// The VCs on which the first packet of queue `q` of terminal `t` may begin now. If the channel is closed, the head requests it, unless
    /// another packet must finish first.
    #[inline(never)]
    fn head_can_leave(
        &self,
        interfaces: &Interfaces,
        net: &Net,
        rules: &InterfaceRules,
        (t, q): (usize, usize),
    ) -> Option<u16> {
        let queue = interfaces.queues.queue(t, q);
        let out = &self.wires.outs[interfaces.channel_of(t)];
        let waits_for_tails = net.router.hold_switch || out.is_closed();
        if queue.opens > self.now || waits_for_tails && interfaces.some_queue_is_amid(t) {
            return None;
        }
        let vcs = self.vcs_of_front(interfaces, net, rules, (t, q));
        (out.is_closed() || out.available_vcs() & vcs != 0).then_some(vcs)
    }

    /// The VCs that the first packet of queue `q` of terminal `t` may use; none if the queue for its destination at the router has no
    /// space.
    fn vcs_of_front(&self, interfaces: &Interfaces, net: &Net, rules: &InterfaceRules, (t, q): (usize, usize)) -> u16 {
        let front = interfaces.queues.front(t, q);
        let lane = match &net.set_aside {
            None => front.lane,
            Some(_) => {
                let packet = &self.buffers.packets.items[front.packet as usize];
                self.lane_ahead(net, (interfaces.channel_of(t), 0), packet)
            }
        };
        let vcs = rules.vcs(front.class, lane);
        if let Some(ideal) = &net.ideal {
            let (o, vc) = (interfaces.channel_of(t), vcs.trailing_zeros() as usize);
            let dst = self.buffers.packets.items[front.packet as usize].dst;
            return if self.has_place_from_terminal(ideal, (o, vc), dst) { vcs } else { 0 };
        }
        vcs
    }
}
