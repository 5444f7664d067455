//! A node: its ranks and its network interfaces. Each event of the node belongs to a cycle, and the node handles its events in the order of
//! their cycles. Before the node handles a packet, it handles all events up to the cycle of the packet.
//!
//! The calendar of the node's block (`sources.rs`) stores the cycle of the node's next event.
//!
//! A node whose interfaces are in several blocks is *divided*. The block of the first interface then handles all events of a window at the
//! beginning of this window. Blocks exchange mail at the end of each window. All notes (completion events) for the window have arrived by
//! then, because a note takes the host latency, and a window is not longer than that.

use super::agenda::Agenda;
use super::answers::{Ended, NewFlows};
use super::bursts::Lent;
use super::messages::{Handle, Message, Outgoing, Part};
use super::notes::{InHand, Note, Rail, Report};
use super::processors::{Rank, Task};
use super::rails::Choice;
use super::site::{Site, lock};
use std::sync::atomic::Ordering::Relaxed;
use weft_api::activity::Cause;
use weft_api::base::kept::Kept;
use weft_api::state::Packet;
use weft_api::workload::{Amount, Backlog, Counts, NOT_DUE, NewPacket};
use weft_programs::form::Kind;
use weft_programs::rank::{OpId, Ready};

/// An event of a node other than the arrival of a packet. The node handles events of one cycle in the order of this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A note (completion event) of an interface arrives.
    Note,
    /// A message from one rank of the node to another rank arrives.
    Local,
    /// A message, or the request of a rendezvous, reaches an interface from a processor.
    Handed,
    /// A processor of a rank finishes its task.
    End,
}

/// Data about the sources of a block that the nodes of this block change.
pub struct Told<'a> {
    /// Sources that are due earlier than the cycle that the loop has stored for them, each with its new cycle.
    pub woken: &'a mut Vec<(usize, u64)>,
    /// For each source: the packets that its node has lent to it. The source sends them without access to the node.
    pub lent: &'a mut [Lent],
}

#[derive(Debug, Kept)]
pub struct Node {
    #[kept(fixed)]
    me: u32,
    #[kept(each)]
    pub ranks: Vec<Rank>,
    #[kept(each)]
    rails: Vec<Rail>,
    /// Number of messages that the interfaces have accepted but not yet sent.
    accepted: u32,
    /// Messages between ranks of the node, sorted by the cycle of their arrival and by their number.
    local: Agenda<(u64, u32), ()>,
    /// Messages and requests on their way from a processor to an interface. They are sorted by the cycle in which they reach
    /// the interface, and by their number.
    handed: Agenda<(u64, u32), Outgoing>,
    /// Tasks of busy processors, sorted by the cycle in which they end, the rank and the processor.
    ends: Agenda<(u64, u32, u32), Task>,
    /// Notes (completion events) from the node's interfaces that the node has not read yet, each with the transfer that
    /// ended.
    notes: Agenda<Note, Cause>,
    /// The number of packets that the node has sent, and the number that it has received.
    packets: [u64; 2],
    pub new_flows: NewFlows,
    has_begun: bool,
    #[kept(fixed)]
    pub is_divided: bool,
    /// The cycle of the node's valid entry in the calendar of its block. Entries of this node for later cycles are
    /// void.
    #[kept(scratch)]
    pub called_at: u64,
    /// Scratch: interfaces to which the node has given packets in this call.
    #[kept(scratch)]
    given: Vec<u32>,
    /// Scratch: operations that became ready.
    #[kept(scratch)]
    ready: Vec<Ready>,
}

impl Node {
    pub fn new(site: &Site, me: u32, ranks: Vec<Rank>) -> Self {
        let rails = (0..site.rails.count).map(|_| Rail::new()).collect();
        Self {
            me,
            ranks,
            rails,
            accepted: 0,
            local: Agenda::new(),
            handed: Agenda::new(),
            ends: Agenda::new(),
            notes: Agenda::new(),
            packets: [0; 2],
            new_flows: NewFlows::default(),
            has_begun: false,
            is_divided: false,
            called_at: NOT_DUE,
            given: Vec::new(),
            ready: Vec::new(),
        }
    }

    /// Records that interface `rail` is the source with index `source` in its block.
    pub fn number(&mut self, rail: usize, source: u32) {
        self.rails[rail].source = source;
    }

    /// Returns the cycle of the next event other than the arrival of a packet.
    pub fn next_time(&self, site: &Site) -> u64 {
        let next = || self.next_event().map_or(NOT_DUE, |(at, _)| at);
        if self.has_begun { next() } else { site.start }
    }

    /// Computes the cycle in which interface `own` is due next, after the cycle loop has called its source. Stores and returns this cycle.
    pub fn own_due(&mut self, own: usize, now: u64) -> u64 {
        self.rails[own].due = self.rails[own].next(now).unwrap_or(NOT_DUE);
        self.rails[own].due
    }

    /// Wakes each interface to which the node has just given packets, if it is now due before the cycle that the cycle loop has stored
    /// for it. Takes back the packets that an interface can send without the node, if other packets now have priority.
    pub fn wake_given(&mut self, site: &Site, now: u64, told: &mut Told<'_>) {
        while let Some(rail) = self.given.pop() {
            self.wake(site, rail as usize, now, told);
        }
    }

    /// Does the work of [`Self::wake_given`] for the interfaces of a divided node that are in one block.
    pub fn wake_all(&mut self, site: &Site, of: &[usize], now: u64, told: &mut Told<'_>) {
        of.iter().for_each(|&rail| self.wake(site, rail, now, told));
        self.given.clear();
    }

    fn wake(&mut self, site: &Site, rail: usize, now: u64, told: &mut Told<'_>) {
        let source = self.rails[rail].source as usize;
        if self.rails[rail].is_recalled() {
            self.put_back(site, rail, std::mem::take(&mut told.lent[source].packets));
            self.rails[rail].is_lent = false;
        }
        let rail = &mut self.rails[rail];
        let due = rail.next(now).unwrap_or(NOT_DUE);
        if due < rail.due {
            rail.due = due;
            told.woken.push((source, due));
        }
    }

    /// Called after interface `rail` has sent a packet with tag `tag`. Lends the remaining packets of the message,
    /// except the last one, to the interface. Returns their number.
    pub fn lend(&mut self, site: &Site, rail: usize, tag: u32) -> u64 {
        let may_lend = !self.is_divided && self.rails[rail].may_lend();
        let first = self.rails[rail].first().filter(|first| may_lend && first.part.tag(first.number) == tag);
        let packets = first.map_or(0, |first| site.packets(first.flits) - 1);
        self.rails[rail].is_lent = packets > 0;
        self.take_out(site, rail, packets);
        packets
    }

    /// Takes `packets` packets of the greatest length from the message at the front of interface `rail`. The node counts these
    /// packets as sent.
    fn take_out(&mut self, site: &Site, rail: usize, packets: u64) {
        if let Some(first) = self.rails[rail].first() {
            first.flits -= packets * site.packet_flits;
            self.packets[0] += packets;
        }
    }

    /// Undoes [`Self::take_out`].
    fn put_back(&mut self, site: &Site, rail: usize, packets: u64) {
        if let Some(first) = self.rails[rail].first() {
            first.flits += packets * site.packet_flits;
            self.packets[0] -= packets;
        }
    }

    /// Calls `of` while all lent packets are back in the node's queues, as a checkpoint needs them. `lent`: the lent
    /// packets of each source.
    pub fn with_all_packets<T>(&mut self, site: &Site, lent: &[Lent], of: impl FnOnce(&Self) -> T) -> T {
        let packets = |rail: &Rail| if rail.is_lent { lent[rail.source as usize].packets } else { 0 };
        for rail in 0..self.rails.len() {
            self.put_back(site, rail, packets(&self.rails[rail]));
        }
        let result = of(self);
        for rail in 0..self.rails.len() {
            self.take_out(site, rail, packets(&self.rails[rail]));
        }
        result
    }

    /// Gives packets to interface `rail`, which sends them.
    fn give(&mut self, site: &Site, rail: usize, outgoing: Outgoing) {
        self.rails[rail].give(outgoing, site.host_cycles);
        if self.given.last() != Some(&(rail as u32)) {
            self.given.push(rail as u32);
        }
    }

    /// Number of packets that the node has sent, and number that it has received.
    pub fn packets(&self) -> [u64; 2] {
        self.packets
    }

    /// True if nothing happens at the node until a packet arrives.
    pub fn is_at_rest(&self) -> bool {
        self.has_begun && self.next_event().is_none() && self.rails.iter().all(Rail::is_at_rest)
    }

    /// Returns the next event other than the arrival of a packet, with its cycle.
    fn next_event(&self) -> Option<(u64, Event)> {
        let note = self.notes.first().map(|note| (note.at, Event::Note));
        let local = self.local.first().map(|(at, _)| (at, Event::Local));
        let handed = self.handed.first().map(|(at, _)| (at, Event::Handed));
        let end = self.ends.first().map(|(at, ..)| (at, Event::End));
        [note, local, handed, end].into_iter().flatten().min()
    }

    /// Processes all events that are due up to cycle `now`, in their order. Returns their number.
    pub fn advance(&mut self, site: &Site, now: u64) -> u64 {
        if !self.has_begun && site.start <= now {
            self.has_begun = true;
            for r in 0..self.ranks.len() {
                let rank = &mut self.ranks[r];
                rank.operations.0.begin(&mut rank.ready);
                self.settle(site, r, site.start, None);
            }
        }
        let mut events = 0;
        while let Some((at, event)) = self.next_event().filter(|&(at, _)| at <= now) {
            events += 1;
            match event {
                Event::Note => {
                    let (note, cause) = self.notes.pop().expect("the next event");
                    self.read(site, &note, cause, at);
                }
                Event::Local => self.arrive_local(site, at),
                Event::Handed => self.take_handed(site),
                Event::End => self.end(site, at),
            }
        }
        events
    }

    /// Called when an interface reports an event in cycle `now`. The node handles the event after the host latency.
    fn report(&mut self, site: &Site, now: u64, (rail, report, handle): (u32, Report, Handle), cause: Cause) {
        let note = Note { at: now + site.host_cycles, rail, report, node: handle.node, number: handle.number };
        if site.host_cycles > 0 || report == Report::Left {
            self.notes.insert(note, cause);
        } else {
            self.read(site, &note, cause, now);
        }
    }

    /// Handles a note (completion event) that has arrived.
    fn read(&mut self, site: &Site, note: &Note, cause: Cause, now: u64) {
        match note.report {
            Report::Left => self.has_left(site, note.number, cause, now),
            Report::Arrived => {
                let message = *lock(&site.outboxes[note.node as usize]).message(note.number);
                self.complete(site, note.handle(), &message, cause, now);
            }
            Report::Filled => self.fill(site, note.handle(), cause, now),
            Report::Clear => {
                let message = *lock(&site.outboxes[self.me as usize]).message(note.number);
                let (flits, to) = (site.flits(message.bytes), site.node(message.to));
                let data = Outgoing { part: Part::Data, number: note.number, to, flits, since: now, cause };
                self.send_data(site, message.rail, data);
            }
        }
    }

    /// Handles the end of a processor's task.
    fn end(&mut self, site: &Site, at: u64) {
        let Some(((_, r, place), task)) = self.ends.pop() else { return };
        let (r, place) = (r as usize, place as usize);
        let rank = &mut self.ranks[r];
        rank.processors[place].is_busy = false;
        let exact = rank.processors[place].free_fs;
        match task {
            Task::Operation(id) => {
                let ready = rank.machine().ready(OpId::from_bits(id));
                rank.turn(site, at, false, ready.op.kind() == Kind::Compute);
                match ready.op.kind() {
                    Kind::Compute => rank.finish(id),
                    Kind::Send => self.depart(site, r, &ready, at),
                    Kind::Receive | Kind::Collective(_) => unreachable!("no processor does that"),
                }
            }
            Task::TakeIn(handle) => {
                rank.turn(site, at, false, false);
                self.take_in(site, r, handle, at);
            }
        }
        self.settle(site, r, at, Some((place, exact)));
    }

    /// Called when the sending rank has finished its work for a send. From now on the message is in flight.
    fn depart(&mut self, site: &Site, r: usize, send: &Ready, now: u64) {
        let me = self.rank_number(site, r);
        let (bytes, to) = (send.op.size(), send.op.peer().expect("a send names its receiver"));
        let (flits, node) = (site.flits(bytes), site.node(to));
        let id = send.id.to_bits();
        let packets = site.packets(flits);
        let mut message = Message::new(send.message_key(me), (me, to), (bytes, packets), (id, send.op.cpu()), now);
        let is_local = node == self.me;
        message.is_rendezvous = bytes > site.eager && !is_local;
        let waits = message.is_rendezvous;
        let mut outbox = lock(&site.outboxes[self.me as usize]);
        let choice = Choice { local_rank: r as u32, node, from: me, number: outbox.next_number() };
        message.rail = site.rails.first(choice);
        if !is_local {
            message.sending = site.rails.shares(message.rail, flits, site.packet_flits).count() as u32;
        }
        let first = message.rail;
        let number = outbox.add(message);
        drop(outbox);
        let rank = &mut self.ranks[r];
        rank.count.sent += 1;
        rank.count.sent_bytes += bytes;
        let cause = Cause { peer: to, origin: me, since: now, packet: None };
        let outgoing = Outgoing { part: Part::Data, number, to: node, flits, since: now, cause };
        if is_local {
            let arrival = site.cycle(site.fs(now) + site.local_time(bytes));
            self.local.insert((arrival, number), ());
            self.accepted -= 1;
        } else {
            let request = Outgoing { part: Part::Request, flits: 1, ..outgoing };
            self.hand_over(site, first, if waits { request } else { outgoing });
        }
        if !waits {
            self.ranks[r].finish(id);
        }
    }

    /// Passes a message, or its request, from a processor to the interfaces.
    fn hand_over(&mut self, site: &Site, first: u32, outgoing: Outgoing) {
        if site.injection_fs == 0 {
            return self.send(site, first, outgoing);
        }
        let at = site.cycle(site.fs(outgoing.since) + site.injection_fs);
        self.handed.insert((at, outgoing.number), Outgoing { since: at, ..outgoing });
    }

    fn take_handed(&mut self, site: &Site) {
        let Some(((_, number), outgoing)) = self.handed.pop() else { return };
        let first = lock(&site.outboxes[self.me as usize]).message(number).rail;
        self.send(site, first, outgoing);
    }

    fn send(&mut self, site: &Site, first: u32, outgoing: Outgoing) {
        match outgoing.part {
            Part::Data => self.send_data(site, first, outgoing),
            Part::Request | Part::Clear => self.give(site, first as usize, outgoing),
        }
    }

    /// Divides the data of a message among the interfaces that send it, beginning with interface `first`.
    fn send_data(&mut self, site: &Site, first: u32, data: Outgoing) {
        for (rail, flits) in site.rails.shares(first, data.flits, site.packet_flits) {
            self.give(site, rail, Outgoing { flits, ..data });
        }
    }

    fn rank_number(&self, site: &Site, r: usize) -> u32 {
        site.spread.first(self.me) + r as u32
    }

    /// Handles the arrival of a message between two ranks of the node.
    fn arrive_local(&mut self, site: &Site, now: u64) {
        let Some(((_, number), ())) = self.local.pop() else { return };
        let message = *lock(&site.outboxes[self.me as usize]).message(number);
        self.complete(site, Handle { node: self.me, number }, &message, message.cause(None), now);
    }

    /// Called when all data of an eager message, or the request of a rendezvous, have arrived. Queues the message for a
    /// processor of the receiving rank, and starts the tasks that this rank can now start.
    fn complete(&mut self, site: &Site, handle: Handle, message: &Message, cause: Cause, now: u64) {
        if !message.is_rendezvous {
            self.new_flows.record(site, message.arrival(now));
        }
        let r = site.place(message.to);
        let rank = &mut self.ranks[r];
        rank.hear(now, cause);
        rank.processor(message.cpu).waiting.push_back(Task::TakeIn(handle));
        self.settle(site, r, now, None);
    }

    /// Called when a processor of the rank has received a message. The message matches a posted receive, or waits for
    /// one.
    fn take_in(&mut self, site: &Site, r: usize, handle: Handle, now: u64) {
        let key = lock(&site.outboxes[handle.node as usize]).message(handle.number).key();
        match self.ranks[r].machine().arrive(key, handle) {
            Some(receive) => self.matched(site, r, handle, receive.to_bits(), now),
            None => self.ranks[r].reopen(site),
        }
    }

    /// Called when a receive operation matches a message. An eager message is then complete. For a rendezvous, the node
    /// sends the answer to the request.
    fn matched(&mut self, site: &Site, r: usize, handle: Handle, receive: u64, now: u64) {
        let mut outbox = lock(&site.outboxes[handle.node as usize]);
        let message = outbox.message(handle.number);
        if message.is_rendezvous {
            (message.receive, message.matched) = (receive, now);
            let (number, to, cause) = (handle.number, handle.node, message.cause_since_match(message.to, None));
            let answer = Outgoing { part: Part::Clear, number, to, flits: 1, since: now, cause };
            let rail = message.rail as usize;
            drop(outbox);
            return self.give(site, rail, answer);
        }
        let bytes = outbox.received(handle.number).bytes;
        drop(outbox);
        self.ranks[r].receive(receive, bytes);
    }

    /// Called before the node handles a packet that ends a transfer. Handles all events of the node up to cycle `now`.
    /// For a divided node, `Sources::exchange` has already handled these events.
    fn catch_up(&mut self, site: &Site, now: u64) {
        if !self.is_divided {
            self.advance(site, now);
        }
    }

    /// Called when the last data packet of a message has arrived. `last`: the cycle of the latest arrival, and the
    /// packet that arrived then.
    pub fn deliver_last(&mut self, site: &Site, handle: Handle, last: (u64, (u32, u32)), now: u64) {
        self.catch_up(site, now);
        let message = *lock(&site.outboxes[handle.node as usize]).message(handle.number);
        self.packets[1] += site.packets(site.flits(message.bytes));
        let (last, packet) = last;
        let (report, cause) = match message.is_rendezvous {
            false => (Report::Arrived, message.cause(Some(packet))),
            true => (Report::Filled, message.cause_since_match(message.from, Some(packet))),
        };
        self.report(site, last, (site.rail_of(packet.0), report, handle), cause);
    }

    /// Called when a request for this node has arrived, or the answer to a request.
    pub fn deliver_control(&mut self, site: &Site, packet: &Packet, now: u64) {
        self.catch_up(site, now);
        self.packets[1] += 1;
        let (from, rail) = (site.node_of(packet.src), site.rail_of(packet.src));
        let (part, number) = Part::of(packet.tag);
        // the sender of the data is the node that sends the request and receives the answer
        let node = if part == Part::Request { from } else { self.me };
        let message = *lock(&site.outboxes[node as usize]).message(number);
        let (report, cause) = match part {
            Part::Request => (Report::Arrived, message.cause(Some((packet.src, packet.seq)))),
            Part::Data | Part::Clear => (Report::Clear, message.cause_since_match(message.to, None)),
        };
        self.report(site, now, (rail, report, Handle { node, number }), cause);
    }

    /// Called when all data of a rendezvous have arrived.
    fn fill(&mut self, site: &Site, handle: Handle, cause: Cause, now: u64) {
        let message = lock(&site.outboxes[handle.node as usize]).received(handle.number);
        self.new_flows.record(site, message.arrival(now));
        let r = site.place(message.to);
        self.ranks[r].hear(now, cause);
        self.ranks[r].split_idle(site, now);
        self.ranks[r].receive(message.receive, message.bytes);
        self.settle(site, r, now, None);
    }

    /// Returns the next packet of interface `rail`, and true if it is the last packet of a message. The packet goes to the interface with
    /// the same index at the other node.
    pub fn next(&mut self, site: &Site, rail: usize, now: u64) -> Option<(NewPacket, bool)> {
        let interface = &mut self.rails[rail];
        let outgoing = interface.front(now)?;
        let flits = outgoing.flits.min(site.packet_flits);
        outgoing.flits -= flits;
        let &mut Outgoing { part, number, to, flits: left, since, cause } = outgoing;
        if left == 0 {
            interface.pop();
        }
        let is_last = part == Part::Data && left == 0;
        interface.in_hand = is_last.then_some(InHand { number, cause });
        self.packets[0] += 1;
        let (to, tag) = (site.terminal(to, rail), part.tag(number));
        Some((NewPacket { to, flits: flits as u16, created: since, tag, counts: Counts::IfCreatedInWindow }, is_last))
    }

    /// Called when interface `rail` has sent the last packet of a message: the packet's tail is on the link in cycle `now`.
    pub fn sent(&mut self, site: &Site, rail: usize, now: u64) {
        if let Some(InHand { number, cause }) = self.rails[rail].in_hand.take() {
            let handle = Handle { node: self.me, number };
            self.report(site, now + 1, (rail as u32, Report::Left, handle), cause);
        }
    }

    /// Called when an interface has sent its last packet of a message. When all interfaces that send parts of this message have done so,
    /// the node can accept another message.
    fn has_left(&mut self, site: &Site, number: u32, cause: Cause, now: u64) {
        let Some(message) = lock(&site.outboxes[self.me as usize]).sent(number) else { return };
        self.accepted -= 1;
        // if the number of accepted messages is limited, any rank of the node has possibly waited for this
        let others = site.accepted < u32::MAX;
        self.ranks.iter_mut().for_each(|rank| rank.hear(now, cause));
        if message.is_rendezvous {
            let rank = &mut self.ranks[site.place(message.from)];
            rank.split_idle(site, now);
            rank.finish(message.send);
        }
        let sender = site.place(message.from);
        for r in (0..self.ranks.len()).filter(|&r| others || r == sender) {
            self.settle(site, r, now, None);
        }
    }

    /// Returns the number of packets that wait at an interface since a cycle before `until`, and how many of them were
    /// created in the window.
    pub fn backlog(&self, site: &Site, rail: usize, until: u64, window: (u64, u64)) -> Backlog {
        let mut backlog = Backlog::default();
        for outgoing in self.rails[rail].waiting(until) {
            let packets = site.packets(outgoing.flits);
            (backlog.packets, backlog.flits) = (backlog.packets + packets, backlog.flits + outgoing.flits);
            if (window.0..window.1).contains(&outgoing.since) {
                backlog.in_window += Amount { packets, flits: outgoing.flits };
            }
        }
        backlog
    }
}

impl Node {
    /// Starts all operations of rank `r` that are ready in cycle `now`. `ended`: the processor that has just finished a task, if any, with
    /// the exact time of the end [fs].
    fn settle(&mut self, site: &Site, r: usize, now: u64, ended: Option<(usize, u128)>) {
        loop {
            while !self.ranks[r].ready.is_empty() {
                let mut ready = std::mem::take(&mut self.ready);
                std::mem::swap(&mut ready, &mut self.ranks[r].ready);
                ready.drain(..).for_each(|ready| self.admit(site, r, &ready, now));
                self.ready = ready;
            }
            let places = 0..self.ranks[r].processors.len();
            let began = places.fold(false, |began, place| {
                let exact = ended.filter(|&(other, _)| other == place).map(|(_, exact)| exact);
                self.begin_task(site, (r, place), now, exact) || began
            });
            if !began && self.ranks[r].ready.is_empty() {
                break;
            }
        }
        let rank = &mut self.ranks[r];
        rank.note_collectives(site, now);
        rank.end_if_done(site, now);
    }

    /// Called when an operation can start. A receive is posted at once. Computations and sends wait for their
    /// processor.
    fn admit(&mut self, site: &Site, r: usize, ready: &Ready, now: u64) {
        let rank = &mut self.ranks[r];
        match ready.op.kind() {
            Kind::Compute | Kind::Send => {
                rank.processor(ready.op.cpu()).waiting.push_back(Task::Operation(ready.id.to_bits()));
            }
            Kind::Receive => {
                rank.operations.0.start(ready.id, &mut rank.ready);
                if let Some(handle) = rank.machine().post(ready) {
                    self.matched(site, r, handle, ready.id.to_bits(), now);
                }
            }
            Kind::Collective(_) => unreachable!("the machine expands collectives"),
        }
    }

    /// If processor `place` of rank `r` is free, starts the first task in its queue that can start. Returns true if a task has started.
    fn begin_task(&mut self, site: &Site, (r, place): (usize, usize), now: u64, exact: Option<u128>) -> bool {
        let has_room = self.accepted < site.accepted;
        let me = self.rank_number(site, r);
        let rank = &mut self.ranks[r];
        if rank.processors[place].is_busy {
            return false;
        }
        let Some((nth, task, op)) = rank.first_task(place, has_room) else { return false };
        rank.processors[place].waiting.remove(nth);
        rank.turn(site, now, true, op.is_some_and(|ready| ready.op.kind() == Kind::Compute));
        let lasts = match op {
            Some(ready) if ready.op.kind() == Kind::Compute => {
                let number = rank.operations.0.number(ready.id);
                let lasts = site.compute.time(u128::from(ready.op.size()) * 1_000_000, me, number);
                rank.count.compute_fs += lasts;
                lasts
            }
            Some(_) | None => {
                rank.count.overhead_fs += site.overhead_fs;
                site.overhead_fs
            }
        };
        let begins = exact.filter(|&exact| site.cycle(exact) == now).unwrap_or_else(|| site.fs(now));
        let processor = &mut rank.processors[place];
        (processor.is_busy, processor.free_fs) = (true, begins + lasts);
        self.ends.insert((site.cycle(begins + lasts), r as u32, place as u32), task);
        if let Some(ready) = op {
            rank.operations.0.start(ready.id, &mut rank.ready);
            self.accepted += u32::from(ready.op.kind() == Kind::Send);
        }
        true
    }
}

impl Rank {
    /// Returns the first task in a processor's queue that can start: its index, the task, and its operation if it has one. A send
    /// can start only if the interfaces can accept a message.
    fn first_task(&mut self, place: usize, has_room: bool) -> Option<(usize, Task, Option<Ready>)> {
        for nth in 0..self.processors[place].waiting.len() {
            let task = self.processors[place].waiting[nth];
            let op = match task {
                Task::Operation(id) => Some(self.operations.0.ready(OpId::from_bits(id))),
                Task::TakeIn(_) => None,
            };
            if has_room || op.is_none_or(|ready| ready.op.kind() != Kind::Send) {
                return Some((nth, task, op));
            }
        }
        None
    }

    /// Completes a receive operation that has its message.
    fn receive(&mut self, receive: u64, bytes: u64) {
        self.count.received += 1;
        self.count.received_bytes += bytes;
        self.finish(receive);
    }

    /// Called for a message without a matching receive. If the rank had ended, it is active again.
    fn reopen(&mut self, site: &Site) {
        if std::mem::take(&mut self.has_ended) {
            site.open.fetch_add(1, Relaxed);
        }
    }

    fn end_if_done(&mut self, site: &Site, now: u64) {
        let is_done = self.busy == 0 && self.operations.0.is_done();
        if !is_done || self.has_ended {
            return;
        }
        self.has_ended = true;
        self.split_idle(site, now);
        self.count.finish = now;
        self.tell_end(site);
    }

    /// Reduces the number of ranks that have not ended by this rank.
    pub fn tell_end(&self, site: &Site) {
        site.open.fetch_sub(1, Relaxed);
        site.last.fetch_max(self.count.finish, Relaxed);
    }

    fn note_collectives(&mut self, site: &Site, now: u64) {
        let mut noted = Vec::new();
        self.operations.0.take_noted(|note| noted.push(note));
        for note in noted {
            let (op, comm) = self.operations.0.call(note.index);
            let (number, ranks) = comm.map_or((0, site.ranks), |comm| (comm.number, comm.members.len() as u32));
            lock(&site.shared).call(&op, (number, ranks), Ended { at: now, has_ended: note.has_ended });
        }
    }
}
