//! Request and reply: what a delivered request brings about at its destination, and a delivered reply at its source.
//!
//! A reply is the record of its request turned round, in the pool of packets: it waits at its terminal in a list without
//! end, in the order of delivery, and is sent before any request. So requests are always consumed, and no VC class is
//! needed between the two kinds. The pool has room for a multiple of what the network holds; a terminal that is asked
//! for more than it can answer makes it grow.

use crate::base::unchecked::Hot;
use crate::base::wheel::Wheel;
use crate::pipeline::block::Block;
use crate::pipeline::net::Net;
use crate::state::{MEASURED, NONE, Packet, REPLY};

/// A request or reply that is delivered to a terminal of the block.
#[derive(Debug, Clone, Copy, Default)]
struct Arrival {
    packet: u32,
    terminal: u32,
}

/// What a terminal has to do with replies.
#[derive(Debug, Clone, Copy)]
struct Desk {
    /// Replies that wait to be sent; the next one's number is in `Packet::injected`.
    first: u32,
    last: u32,
    /// Replies made.
    made: u32,
    /// Requests without a reply.
    waiting: u32,
    /// When the terminal's alarm goes off; the others in the wheel are out of date.
    alarm: u64,
    /// The clock waits for a reply.
    halted: bool,
    /// A reply is being sent.
    sending: bool,
}

/// The state of request-reply traffic in a block; empty where no job has replies.
#[derive(Debug)]
pub struct Answers {
    desks: Vec<Desk>,
    arrivals: Wheel<Arrival, 32>,
}

impl Answers {
    pub fn new(terminals: usize, horizon: u64) -> Self {
        let desk =
            Desk { first: NONE, last: NONE, made: 0, waiting: 0, alarm: u64::MAX, halted: false, sending: false };
        // at most a tail per cycle and terminal is on its way
        let most = terminals * (horizon as usize).min(64);
        Self { desks: vec![desk; terminals], arrivals: Wheel::new(horizon, most) }
    }

    pub fn nothing_due(&self, now: u64) -> bool {
        self.arrivals.is_empty_at(now)
    }

    /// Requests of local terminal `t` without a reply.
    pub fn waiting(&self, t: usize) -> u32 {
        self.desks.get(t).map_or(0, |desk| desk.waiting)
    }

    /// Whether local terminal `t` is sending a reply.
    pub fn is_sending(&self, t: usize) -> bool {
        self.desks.get(t).is_some_and(|desk| desk.sending)
    }

    /// Replies that wait in their terminals.
    pub fn queued(&self, packets: &[Packet]) -> u64 {
        let mut count = 0;
        for desk in &self.desks {
            let mut id = desk.first;
            while id != NONE {
                count += 1;
                id = packets[id as usize].injected as u32;
            }
        }
        count
    }
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// A packet of a job with replies leaves output `o`, to be delivered at cycle `at`.
    pub(crate) fn arrange_answer(&mut self, o: usize, packet: u32, at: u64) {
        let injection = self.ins.hot(o).upstream as usize;
        let terminal = self.outs.hot(injection).router;
        self.answers.arrivals.push(self.now, at, Arrival { packet, terminal });
    }

    /// Requests and replies that are delivered in this cycle.
    #[inline(never)]
    pub(crate) fn answer(&mut self, net: &Net) {
        while let Some((first, len)) = self.answers.arrivals.due(self.now) {
            for k in 0..len {
                let Arrival { packet, terminal } = self.answers.arrivals.item(first, k);
                let t = terminal as usize;
                if self.packets.items.hot(packet as usize).flags & REPLY == 0 {
                    self.make_reply(net, t, packet);
                } else {
                    self.packets.remove(packet);
                    self.end_request(net, t);
                }
                let rests = !self.busy.contains(t) && !self.terminals.hot(t).waiting;
                if rests {
                    self.sleep_until_due(t, self.now);
                }
            }
            self.answers.arrivals.release(self.now);
        }
    }

    /// Request `id` has reached terminal `t`: its record becomes the reply, at the end of the list there.
    fn make_reply(&mut self, net: &Net, t: usize, id: u32) {
        let desk = self.answers.desks.hot_mut(t);
        let packet = self.packets.items.hot_mut(id as usize);
        let request = *packet;
        let (router, port) = *net.terminal_at.hot(request.src as usize);
        let dest = *net.coords.hot(router as usize);
        // counted down, away from the numbers of the requests that the terminal makes
        let seq = !desk.made;
        desk.made = desk.made.wrapping_add(1);
        let job = net.job(request.src);
        *packet = Packet {
            created: self.now,
            injected: u64::from(NONE),
            target: dest,
            dest,
            src: request.dst,
            dst: request.src,
            seq,
            len: net.jobs.hot(job).reply_flits,
            dst_port: port,
            flags: request.flags & MEASURED | REPLY,
            request_age: (self.now - request.created).min(u64::from(u32::MAX)) as u32,
            ..Packet::default()
        };
        if net.needs.draws_path {
            net.routing.inject(packet, net.seed);
        }
        let last = std::mem::replace(&mut desk.last, id);
        if last == NONE {
            desk.first = id;
        } else {
            self.packets.items.hot_mut(last as usize).injected = u64::from(id);
        }
    }

    /// A request of terminal `t` has its reply: a clock that waited for one goes on.
    fn end_request(&mut self, net: &Net, t: usize) {
        let desk = self.answers.desks.hot_mut(t);
        desk.waiting -= 1;
        if std::mem::take(&mut desk.halted) {
            let (waiting, terminal) = (desk.waiting, self.terminals.hot_mut(t));
            terminal.next_packet = net.next_packet(terminal, self.memory.hot_mut(t), self.now, waiting);
        }
    }

    /// Terminal `t` takes what it sends next: a reply first, else the packet that is due. False if there is neither.
    #[inline(never)]
    pub(crate) fn take_up<const SINGLE: bool>(&mut self, net: &Net, t: usize) -> bool {
        let (desk, terminal) = (self.answers.desks.hot_mut(t), self.terminals.hot_mut(t));
        if desk.first != NONE {
            let packet = self.packets.items.hot(desk.first as usize);
            (terminal.packet, terminal.left) = (desk.first, packet.len);
            terminal.vc = u8::MAX;
            desk.sending = true;
            desk.first = packet.injected as u32;
            if desk.first == NONE {
                desk.last = NONE;
            }
            return true;
        }
        if terminal.next_packet > self.now {
            self.sleep_until_due(t, self.now);
            return false;
        }
        let made = self.create::<SINGLE>(net, t);
        self.answers.desks.hot_mut(t).waiting += u32::from(made);
        made
    }

    /// Terminal `t` has sent the tail of a reply or of a packet of its own.
    #[inline(never)]
    pub(crate) fn put_down(&mut self, net: &Net, t: usize) {
        let (desk, terminal) = (self.answers.desks.hot_mut(t), self.terminals.hot_mut(t));
        if !std::mem::take(&mut desk.sending) {
            let after = terminal.next_packet;
            desk.halted = desk.waiting >= net.jobs.hot(net.job(terminal.id)).outstanding;
            terminal.next_packet = net.next_packet(terminal, self.memory.hot_mut(t), after, desk.waiting);
        }
        self.sleep_until_due(t, self.now + 1);
    }

    /// An alarm of terminal `t` goes off. True if it is the one that counts and the terminal begins to send.
    #[inline(never)]
    pub(crate) fn wakes(&mut self, t: usize) -> bool {
        if self.answers.desks.hot(t).alarm != self.now || self.busy.contains(t) || self.terminals.hot(t).waiting {
            return false;
        }
        self.sleep_until_due(t, self.now);
        self.busy.contains(t)
    }

    /// Terminal `t` goes on at cycle `from` if it has something to send, or else sleeps until its next packet is due.
    pub(crate) fn sleep_until_due(&mut self, t: usize, from: u64) {
        let (desk, due) = (self.answers.desks.hot_mut(t), self.terminals.hot(t).next_packet);
        if desk.first != NONE || due <= from {
            self.busy.set(t);
            return;
        }
        self.busy.clear(t);
        let set = desk.alarm > self.now && desk.alarm != u64::MAX;
        if due != u64::MAX && !set {
            desk.alarm = due.min(self.now + self.alarms.horizon() - 1);
            let at = desk.alarm;
            self.alarms.push(self.now, at, t as u32);
        }
    }
}
