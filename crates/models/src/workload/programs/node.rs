//! A node: its ranks and its network interfaces. Each event has a cycle. Before it handles a packet, a node handles all earlier events of
//! its own.

use super::answers::Ended;
use super::messages::{Handle, Message, Outgoing, Part};
use super::processors::{Rank, Task};
use super::rails::Choice;
use super::site::{Site, lock};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering::Relaxed;
use weft_api::activity::Cause;
use weft_api::base::kept::{Kept, Value};
use weft_api::state::Packet;
use weft_api::workload::{Amount, Backlog, Counts, NOT_DUE, NewPacket};
use weft_programs::form::Kind;
use weft_programs::rank::{OpId, Ready};

/// The packet that an interface sends: of which message, and whether it is its last one of the data.
#[derive(Debug, Clone, Copy, Value)]
struct InHand {
    number: u32,
    is_last: bool,
    cause: Cause,
}

/// A network interface.
#[derive(Debug, Kept)]
struct Rail {
    /// Requests and answers to requests go before data.
    control: VecDeque<Outgoing>,
    data: VecDeque<Outgoing>,
    in_hand: Option<InHand>,
    /// The cycle from which on the last packet of a message has left, and this packet.
    left: Option<(u64, InHand)>,
    /// When the loop will ask it for its next packet, as far as the loop knows.
    due: u64,
}

impl Rail {
    fn new(start: u64) -> Self {
        Self { control: VecDeque::new(), data: VecDeque::new(), in_hand: None, left: None, due: start }
    }
}

/// An event of a node that no packet causes. Events of one cycle come in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The last packet of a message has left this interface.
    Left(usize),
    /// A message inside the node arrives.
    Local,
    /// An interface gets a message, or the request for one.
    Handed,
    /// A processor of a rank ends what it does.
    End(usize, usize),
}

#[derive(Debug, Kept)]
pub struct Node {
    #[kept(fixed)]
    me: u32,
    #[kept(each)]
    pub ranks: Vec<Rank>,
    #[kept(each)]
    rails: Vec<Rail>,
    /// Messages of data that the interfaces have accepted and not sent.
    accepted: u32,
    /// Messages between ranks of the node, by the cycle of their arrival and their number.
    local: BTreeMap<(u64, u32), u32>,
    /// Messages and requests that the processor has handed over and no interface has yet, by the cycle in which it will, and their number.
    handed: BTreeMap<(u64, u32), Outgoing>,
    /// Packets that it has sent and received.
    packets: [u64; 2],
    has_begun: bool,
}

impl Node {
    pub fn new(site: &Site, me: u32, ranks: Vec<Rank>) -> Self {
        let rails = (0..site.rails.count).map(|_| Rail::new(site.start)).collect();
        let (local, handed) = (BTreeMap::new(), BTreeMap::new());
        Self { me, ranks, rails, accepted: 0, local, handed, packets: [0; 2], has_begun: false }
    }

    /// When an interface is to be asked for its next packet. All interfaces are asked when an event is due, because an event
    /// may give each of them a packet.
    fn due(&self, site: &Site, rail: usize, now: u64) -> u64 {
        if !self.has_begun {
            return site.start;
        }
        let Rail { control, data, .. } = &self.rails[rail];
        if !control.is_empty() || !data.is_empty() {
            return now;
        }
        self.next_event().map_or(NOT_DUE, |(at, _)| at)
    }

    /// The loop has called the source of interface `own`. Returns when that is due, and calls `wake` for each other interface that
    /// is due earlier than the loop knows.
    pub fn settle_dues(&mut self, site: &Site, own: usize, now: u64, mut wake: impl FnMut(usize, u64)) -> u64 {
        for rail in 0..self.rails.len() {
            let due = self.due(site, rail, now);
            if rail != own && due < self.rails[rail].due {
                wake(rail, due);
            }
            if rail == own || due < self.rails[rail].due {
                self.rails[rail].due = due;
            }
        }
        self.rails[own].due
    }

    /// Packets that it has sent and received.
    pub fn packets(&self) -> [u64; 2] {
        self.packets
    }

    /// Whether it does nothing more before a packet comes.
    pub fn is_at_rest(&self) -> bool {
        let rests = |rail: &Rail| rail.control.is_empty() && rail.data.is_empty() && rail.in_hand.is_none();
        self.has_begun && self.next_event().is_none() && self.rails.iter().all(rests)
    }

    /// The next thing that happens by itself, and its cycle.
    fn next_event(&self) -> Option<(u64, Event)> {
        let left = self.rails.iter().enumerate();
        let left = left.filter_map(|(k, rail)| rail.left.map(|(at, _)| (at, Event::Left(k))));
        let local = self.local.first_key_value().map(|(&(at, _), _)| (at, Event::Local));
        let handed = self.handed.first_key_value().map(|(&(at, _), _)| (at, Event::Handed));
        let ends = self.ranks.iter().enumerate();
        let ends = ends.filter_map(|(r, rank)| rank.next_end().map(|(at, place)| (at, Event::End(r, place))));
        ends.chain(local).chain(handed).chain(left).min()
    }

    /// All that happens by itself up to cycle `now`, in its order.
    pub fn advance(&mut self, site: &Site, now: u64) {
        if !self.has_begun && site.start <= now {
            self.has_begun = true;
            for r in 0..self.ranks.len() {
                let rank = &mut self.ranks[r];
                rank.operations.0.begin(&mut rank.ready);
                self.settle(site, r, site.start, None);
            }
        }
        while let Some((at, event)) = self.next_event().filter(|&(at, _)| at <= now) {
            match event {
                Event::Left(rail) => self.has_left(site, rail, at),
                Event::Local => self.arrive_local(site, at),
                Event::Handed => self.take_handed(site),
                Event::End(r, place) => self.end(site, (r, place), at),
            }
        }
    }

    /// A processor ends what it does.
    fn end(&mut self, site: &Site, (r, place): (usize, usize), at: u64) {
        let rank = &mut self.ranks[r];
        let processor = &mut rank.processors[place];
        let (task, exact) = (processor.now.take(), processor.free_fs);
        let computes = rank.computes(task);
        rank.turn(site, at, false, computes);
        match task {
            Some(Task::Operation(id)) => {
                let ready = rank.machine().ready(OpId::from_bits(id));
                match ready.op.kind() {
                    Kind::Compute => rank.finish(id),
                    Kind::Send => self.depart(site, r, &ready, at),
                    Kind::Receive | Kind::Collective(_) => unreachable!("no processor does that"),
                }
            }
            Some(Task::TakeIn(handle)) => self.take_in(site, r, handle, at),
            None => {}
        }
        self.settle(site, r, at, Some((place, exact)));
    }

    /// A rank has done its part in a send: the message is on its way.
    fn depart(&mut self, site: &Site, r: usize, send: &Ready, now: u64) {
        let me = self.rank_number(site, r);
        let (bytes, to) = (send.op.size(), send.op.peer().expect("a send names its receiver"));
        let (flits, node) = (site.flits(bytes), site.node(to));
        let id = send.id.to_bits();
        let packets = flits.div_ceil(site.packet_flits);
        let mut message = Message::new(send.message_key(me), (me, to), (bytes, packets), (id, send.op.cpu()), now);
        let is_local = node == self.me;
        message.is_rendezvous = bytes > site.eager && !is_local;
        let waits = message.is_rendezvous;
        let mut outbox = lock(&site.outboxes[self.me as usize]);
        let choice = Choice { local_rank: r as u32, node, from: me, number: outbox.next_number() };
        message.rail = site.rails.first(choice);
        message.sending = site.rails.shares(message.rail, flits, site.packet_flits).count() as u32;
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
            self.local.insert((arrival, number), to);
            self.accepted -= 1;
        } else {
            let request = Outgoing { part: Part::Request, flits: 1, ..outgoing };
            self.hand_over(site, first, if waits { request } else { outgoing });
        }
        if !waits {
            self.ranks[r].finish(id);
        }
    }

    /// A processor hands a message, or the request for one, to the interfaces.
    fn hand_over(&mut self, site: &Site, first: u32, outgoing: Outgoing) {
        if site.injection_fs == 0 {
            return self.send(site, first, outgoing);
        }
        let at = site.cycle(site.fs(outgoing.since) + site.injection_fs);
        self.handed.insert((at, outgoing.number), Outgoing { since: at, ..outgoing });
    }

    fn take_handed(&mut self, site: &Site) {
        let Some(((_, number), outgoing)) = self.handed.pop_first() else { return };
        let first = lock(&site.outboxes[self.me as usize]).under_way[&number].rail;
        self.send(site, first, outgoing);
    }

    fn send(&mut self, site: &Site, first: u32, outgoing: Outgoing) {
        match outgoing.part {
            Part::Data => self.send_data(site, first, outgoing),
            Part::Request | Part::Clear => self.rails[first as usize].control.push_back(outgoing),
        }
    }

    /// Hands the data of a message to the interfaces that send it, beginning with `first`.
    fn send_data(&mut self, site: &Site, first: u32, data: Outgoing) {
        for (rail, flits) in site.rails.shares(first, data.flits, site.packet_flits) {
            self.rails[rail].data.push_back(Outgoing { flits, ..data });
        }
    }

    fn rank_number(&self, site: &Site, r: usize) -> u32 {
        self.me * site.per_node + r as u32
    }

    /// A message between two ranks of the node arrives.
    fn arrive_local(&mut self, site: &Site, now: u64) {
        let Some(((_, number), to)) = self.local.pop_first() else { return };
        let handle = Handle { node: self.me, number };
        self.complete(site, handle, site.place(to), None, now);
        self.settle(site, site.place(to), now, None);
    }

    /// All data of an eager message have arrived, or the request of another one: a processor takes it in.
    fn complete(&mut self, site: &Site, handle: Handle, r: usize, packet: Option<(u32, u32)>, now: u64) {
        let (cpu, done, cause) = {
            let outbox = lock(&site.outboxes[handle.node as usize]);
            let message = &outbox.under_way[&handle.number];
            let cause = Cause { peer: message.from, origin: message.from, since: message.begun, packet };
            (message.cpu, (!message.is_rendezvous).then(|| message.arrival(now)), cause)
        };
        done.into_iter().for_each(|message| lock(&site.shared).flow(message));
        let rank = &mut self.ranks[r];
        rank.hear(now, cause);
        rank.processor(cpu).waiting.push_back(Task::TakeIn(handle));
    }

    /// A rank has taken a message in: it is matched, or waits for a receive.
    fn take_in(&mut self, site: &Site, r: usize, handle: Handle, now: u64) {
        let key = lock(&site.outboxes[handle.node as usize]).under_way[&handle.number].key();
        match self.ranks[r].machine().arrive(key, handle) {
            Some(receive) => self.matched(site, r, handle, receive.to_bits(), now),
            None => self.ranks[r].reopen(site),
        }
    }

    /// A receive has its message, or may have its data.
    fn matched(&mut self, site: &Site, r: usize, handle: Handle, receive: u64, now: u64) {
        let mut outbox = lock(&site.outboxes[handle.node as usize]);
        let message = outbox.under_way.get_mut(&handle.number).expect("a message under way");
        if message.is_rendezvous {
            (message.receive, message.matched) = (receive, now);
            let (number, to) = (handle.number, handle.node);
            let cause = Cause { peer: message.to, origin: message.to, since: now, packet: None };
            self.rails[message.rail as usize].control.push_back(Outgoing {
                part: Part::Clear,
                number,
                to,
                flits: 1,
                since: now,
                cause,
            });
            return;
        }
        let bytes = message.bytes;
        outbox.under_way.remove(&handle.number);
        drop(outbox);
        self.ranks[r].receive(receive, bytes);
    }

    /// A packet has come for this node.
    pub fn deliver(&mut self, site: &Site, packet: &Packet, now: u64) {
        self.advance(site, now);
        self.packets[1] += 1;
        let (part, number) = Part::of(packet.tag);
        let from = site.node_of(packet.src);
        match part {
            Part::Data => {
                self.deliver_data(site, Handle { node: from, number }, (packet.src, packet.seq), now);
            }
            Part::Request => {
                let handle = Handle { node: from, number };
                let to = lock(&site.outboxes[from as usize]).under_way[&number].to;
                self.complete(site, handle, site.place(to), Some((packet.src, packet.seq)), now);
                self.settle(site, site.place(to), now, None);
            }
            Part::Clear => {
                let (bytes, first, cause) = {
                    let message = &lock(&site.outboxes[self.me as usize]).under_way[&number];
                    let origin = message.to;
                    let cause = Cause { peer: origin, origin, since: message.matched, packet: None };
                    (message.bytes, message.rail, cause)
                };
                let flits = site.flits(bytes);
                let data = Outgoing { part: Part::Data, number, to: from, flits, since: now, cause };
                self.send_data(site, first, data);
            }
        }
    }

    fn deliver_data(&mut self, site: &Site, handle: Handle, packet: (u32, u32), now: u64) {
        let mut outbox = lock(&site.outboxes[handle.node as usize]);
        let message = outbox.under_way.get_mut(&handle.number).expect("a message under way");
        message.left -= 1;
        if message.left > 0 {
            return;
        }
        let r = site.place(message.to);
        if !message.is_rendezvous {
            drop(outbox);
            self.complete(site, handle, r, Some(packet), now);
        } else {
            let message = outbox.under_way.remove(&handle.number).expect("a message under way");
            drop(outbox);
            lock(&site.shared).flow(message.arrival(now));
            // the receiver let the data come
            let (peer, origin) = (message.from, message.to);
            self.ranks[r].hear(now, Cause { peer, origin, since: message.matched, packet: Some(packet) });
            self.ranks[r].split_idle(site, now);
            self.ranks[r].receive(message.receive, message.bytes);
        }
        self.settle(site, r, now, None);
    }

    /// The next packet of an interface. It goes to the interface of the same number of the other node.
    pub fn next(&mut self, site: &Site, rail: usize, now: u64) -> Option<NewPacket> {
        self.advance(site, now);
        let Rail { control, data, in_hand, .. } = &mut self.rails[rail];
        let queue = if control.is_empty() { data } else { control };
        let outgoing = queue.front_mut()?;
        let flits = outgoing.flits.min(site.packet_flits);
        outgoing.flits -= flits;
        let &mut Outgoing { part, number, to, flits: left, since, cause } = outgoing;
        if left == 0 {
            queue.pop_front();
        }
        self.packets[0] += 1;
        *in_hand = Some(InHand { number, is_last: part == Part::Data && left == 0, cause });
        let (to, tag) = (site.terminal(to, rail), part.tag(number));
        Some(NewPacket { to, flits: flits as u16, created: since, tag, counts: Counts::IfCreatedInWindow })
    }

    /// The tail of the packet that interface `rail` gave last is on its link in cycle `now`.
    pub fn sent(&mut self, site: &Site, rail: usize, now: u64) {
        self.advance(site, now);
        let rail = &mut self.rails[rail];
        let in_hand = rail.in_hand.take().filter(|packet| packet.is_last);
        rail.left = rail.left.or(in_hand.map(|packet| (now + 1, packet)));
    }

    /// An interface has sent its last packet of a message. When all have, there is room for another message.
    fn has_left(&mut self, site: &Site, rail: usize, now: u64) {
        let Some((_, InHand { number, cause, .. })) = self.rails[rail].left.take() else { return };
        // the receiver removes the message when its last packet arrives, which takes a cycle more than this
        let mut outbox = lock(&site.outboxes[self.me as usize]);
        let message = outbox.under_way.get_mut(&number).expect("a message under way");
        message.sending -= 1;
        if message.sending > 0 {
            return;
        }
        let finished = message.is_rendezvous.then_some((message.from, message.send));
        drop(outbox);
        self.accepted -= 1;
        // any rank of the node may have waited for room
        self.ranks.iter_mut().for_each(|rank| rank.hear(now, cause));
        if let Some((from, send)) = finished {
            let rank = &mut self.ranks[site.place(from)];
            rank.split_idle(site, now);
            rank.finish(send);
        }
        for r in 0..self.ranks.len() {
            self.settle(site, r, now, None);
        }
    }

    /// The packets that wait at an interface since before `until`, and those of them that belong to the window.
    pub fn backlog(&self, site: &Site, rail: usize, until: u64, window: (u64, u64)) -> Backlog {
        let mut backlog = Backlog::default();
        let Rail { control, data, .. } = &self.rails[rail];
        for outgoing in control.iter().chain(data).filter(|outgoing| outgoing.since < until) {
            let packets = outgoing.packets(site);
            (backlog.packets, backlog.flits) = (backlog.packets + packets, backlog.flits + outgoing.flits);
            if (window.0..window.1).contains(&outgoing.since) {
                backlog.in_window += Amount { packets, flits: outgoing.flits };
            }
        }
        backlog
    }
}

impl Node {
    /// Rank `r` begins all that is ready in cycle `now`. `ended`: the processor that has just ended something, and the exact
    /// time of that.
    fn settle(&mut self, site: &Site, r: usize, now: u64, ended: Option<(usize, u128)>) {
        loop {
            while !self.ranks[r].ready.is_empty() {
                let ready = std::mem::take(&mut self.ranks[r].ready);
                ready.iter().for_each(|ready| self.admit(site, r, ready, now));
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

    /// An operation may start. A receive does at once; others wait for their processor.
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

    /// A processor that is free begins the first thing that it may. Returns whether it did.
    fn begin_task(&mut self, site: &Site, (r, place): (usize, usize), now: u64, exact: Option<u128>) -> bool {
        let has_room = self.accepted < site.accepted;
        let me = self.rank_number(site, r);
        let rank = &mut self.ranks[r];
        if rank.processors[place].now.is_some() {
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
        processor.free_fs = begins + lasts;
        (processor.now, processor.ends) = (Some(task), site.cycle(begins + lasts));
        if let Some(ready) = op {
            rank.operations.0.start(ready.id, &mut rank.ready);
            self.accepted += u32::from(ready.op.kind() == Kind::Send);
        }
        true
    }
}

impl Rank {
    /// Whether a task is a computation.
    fn computes(&mut self, task: Option<Task>) -> bool {
        match task {
            Some(Task::Operation(id)) => self.operations.0.ready(OpId::from_bits(id)).op.kind() == Kind::Compute,
            Some(Task::TakeIn(_)) | None => false,
        }
    }

    /// The first thing that a processor may begin: its place, and the operation, if it is one. A send needs room in the interface.
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

    /// A receive has its message.
    fn receive(&mut self, receive: u64, bytes: u64) {
        self.count.received += 1;
        self.count.received_bytes += bytes;
        self.finish(receive);
    }

    /// A message has come that no receive waits for: a rank that was done is so no longer.
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

    /// Counts a rank that has ended among all.
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
