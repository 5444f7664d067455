//! The queues of network interfaces: packets that are ready at a terminal, and the sources that fill these queues.

use weft_api::base::kept::{Kept, Value};
use weft_api::base::unchecked::Hot;
use weft_api::classes::{InjectionRule, Queueing};
use weft_api::state::rate::Rate;
use weft_api::state::{NONE, Pool};
use weft_api::workload::NOT_DUE;

/// Largest number of packets per queue for which memory is reserved. A queue with more packets allocates memory while it grows. At a depth
/// of 65,535, reserving all memory would take 34 GB for 4,096 terminals.
const RESERVED: u16 = 256;

/// The rules that apply to all network interfaces of a run.
#[derive(Debug, Clone)]
pub struct InterfaceRules {
    pub queueing: Queueing,
    pub rule: InjectionRule,
    /// Number of queues of a terminal.
    pub queues: usize,
    /// Largest number of packets in a queue.
    pub depth: u16,
    /// Rate limit of each queue; `None` without a limit.
    pub rates: Vec<Option<Rate>>,
    /// Number of lanes (groups of VCs) of an injection channel; 1 without a queueing scheme.
    pub lanes: u8,
    /// True if terminals notify the sources of packets that have congestion marks. Each terminal then has a separate queue for these
    /// notifications.
    pub notifies: bool,
    /// Indexed by message class * `lanes` + lane: the VCs of an injection channel that packets of this class and lane may use.
    pub vcs_of: Vec<u16>,
}

impl InterfaceRules {
    /// True if a source may put a packet into its queue while earlier packets still wait there.
    pub fn takes_early(&self) -> bool {
        match self.queueing {
            Queueing::One | Queueing::PerClass => false,
            Queueing::PerDestination | Queueing::PerLane => true,
        }
    }

    /// The queue that follows queue `q` in round-robin order. The queue for notifications has no place in this order.
    #[inline(always)]
    pub fn turn_after(&self, q: usize) -> u8 {
        if q + 1 == self.queues { 0 } else { (q + 1) as u8 }
    }

    /// The VCs of an injection channel that packets of message class `class` on lane `lane` may use.
    pub fn vcs(&self, class: u8, lane: u8) -> u16 {
        self.vcs_of[usize::from(class) * usize::from(self.lanes) + usize::from(lane)]
    }
}

/// The part of a source that creates packets of one message class at one terminal.
#[derive(Debug, Clone, Kept)]
pub struct Stream {
    /// The next cycle in which the cycle loop requests a packet of this part from the source.
    pub due: u64,
    /// A created packet that waits for space in its queue, or `NONE`.
    pub pending: u32,
    #[kept(fixed)]
    pub job: u16,
    /// Index of this part among the parts of the same job in this block.
    #[kept(fixed)]
    pub source: u32,
    #[kept(fixed)]
    pub class: u8,
    /// True if the packets of this part are replies to received packets.
    #[kept(fixed)]
    pub replies: bool,
}

/// A packet in a queue of a network interface, ready for injection.
#[derive(Debug, Clone, Copy, Default, Value)]
pub struct Ready {
    pub packet: u32,
    /// The next packet in the same queue, or `NONE`.
    pub next: u32,
    /// The part of a source that created the packet.
    pub stream: u32,
    pub created: u64,
    pub flits: u16,
    pub class: u8,
    /// The lane that the packet takes on the injection channel.
    pub lane: u8,
    /// If true, the packet is a reply: when it departs, the terminal releases the oldest packet in its receive buffer (`KeptList`).
    pub frees: bool,
}

/// A queue of a network interface.
#[derive(Debug, Clone, Kept)]
pub struct Queue {
    /// The destination of all packets in this queue, if each queue is for one destination; `NONE` if the queue is unassigned.
    pub to: u32,
    /// Index in `Queues::ready` of the first packet; `NONE` if the queue is empty.
    pub first: u32,
    /// Index in `Queues::ready` of the last packet; `NONE` if the queue is empty.
    pub last: u32,
    pub packets: u16,
    /// Number of flits of the first packet that still have to be injected.
    pub left: u16,
    /// VC of the first packet; `u8::MAX` until the head of the packet has left.
    pub vc: u8,
    /// First cycle in which the rate limit lets the next packet begin to leave.
    pub opens: u64,
    /// Fraction of a cycle after `opens` in which the rate limit still delays packets. The unit is 1 / `Rate::flits` of a cycle.
    pub owed: u32,
    pub rate: Option<Rate>,
}

/// A packet that has been delivered to its terminal but still occupies space in the terminal's buffer.
#[derive(Debug, Clone, Copy, Default, Value)]
pub struct Keeps {
    pub next: u32,
    pub flits: u16,
    pub vc: u8,
}

/// The packets that still occupy the buffer of a terminal, the oldest first, as indices in `Queues::kept`.
#[derive(Debug, Clone, Copy, Value)]
pub struct KeptList {
    pub first: u32,
    pub last: u32,
}

/// The queues of all terminals of a block; empty if terminals have no queues.
#[derive(Debug, Default, Kept)]
pub struct Queues {
    /// Number of queues of a terminal.
    #[kept(fixed)]
    pub each: usize,
    /// Number of queues of a terminal for packets of sources. If terminals send congestion notifications, they have one more queue for
    /// these.
    #[kept(fixed)]
    pub of_sources: usize,
    /// For each terminal: index of its first stream. One more entry marks the end of the last terminal's streams.
    #[kept(fixed)]
    pub first_stream: Vec<u32>,
    #[kept(each)]
    pub streams: Vec<Stream>,
    #[kept(each)]
    pub of: Vec<Queue>,
    /// For each terminal, a mask with one bit per queue: set if the queue has a packet.
    #[kept(each)]
    pub filled: Vec<u64>,
    /// For each terminal: total length of the packets in its queues [flits]. The first packet of a queue counts with its whole length until
    /// its tail has left.
    #[kept(each)]
    pub flits: Vec<u64>,
    /// For each terminal: the queue that sends next in round-robin order.
    #[kept(each)]
    pub turns: Vec<u8>,
    pub ready: Pool<Ready>,
    #[kept(each)]
    pub keeps: Vec<KeptList>,
    pub kept: Pool<Keeps>,
}

impl Queue {
    pub fn new(rate: Option<Rate>) -> Self {
        Self { to: NONE, first: NONE, last: NONE, packets: 0, left: 0, vc: u8::MAX, opens: 0, owed: 0, rate }
    }

    /// True if the first packet of the queue has sent its head but not its tail.
    pub fn is_amid(&self) -> bool {
        self.vc != u8::MAX
    }

    /// Called when a packet of `flits` flits begins to leave in cycle `now`. Computes from the rate limit the first cycle in which the next
    /// packet may begin.
    pub fn begin(&mut self, now: u64, flits: u16) {
        let Some(rate) = self.rate else { return };
        let parts = u64::from(flits) * u64::from(rate.cycles()) + u64::from(self.owed);
        self.opens = now + parts / u64::from(rate.flits());
        self.owed = (parts % u64::from(rate.flits())) as u32;
    }
}

impl Stream {
    /// True if this part creates a packet in cycle `now` or has a packet that waits for its queue.
    pub fn is_due(&self, now: u64) -> bool {
        self.pending != NONE || self.due <= now
    }
}

impl Queues {
    /// Creates the queues of all terminals of a block. `streams`: the streams of each terminal.
    pub fn new(streams: Vec<Vec<Stream>>, rules: &InterfaceRules, keeps: bool) -> Self {
        let terminals = streams.len();
        let mut first_stream = vec![0];
        first_stream.extend(streams.iter().scan(0, |sum, of| {
            *sum += of.len() as u32;
            Some(*sum)
        }));
        let of_notices = rules.notifies.then(|| Queue::new(None));
        let of_terminal = || rules.rates.iter().map(|&rate| Queue::new(rate)).chain(of_notices.clone());
        Self {
            each: rules.queues + usize::from(rules.notifies),
            of_sources: rules.queues,
            first_stream,
            streams: streams.into_iter().flatten().collect(),
            of: (0..terminals).flat_map(|_| of_terminal()).collect(),
            filled: vec![0; terminals],
            flits: vec![0; terminals],
            turns: vec![0; terminals],
            ready: Pool::with_capacity(terminals * rules.queues.min(8) * usize::from(rules.depth.min(RESERVED))),
            keeps: vec![KeptList { first: NONE, last: NONE }; if keeps { terminals } else { 0 }],
            kept: Pool::with_capacity(if keeps { 64 * terminals } else { 0 }),
        }
    }

    /// Index range of the streams of terminal `t`.
    pub fn streams_of(&self, t: usize) -> std::ops::Range<usize> {
        self.first_stream[t] as usize..self.first_stream[t + 1] as usize
    }

    /// True if a stream of terminal `t` creates a packet in cycle `now` or has a packet that waits for its queue.
    #[inline(always)]
    pub(crate) fn some_stream_is_due(&self, t: usize, now: u64) -> bool {
        // SAFETY: the cycle loop uses valid terminal numbers, and the list of first streams has one more item than there are terminals
        // (checked by `assert_numbers`).
        let (first, end) = unsafe { (*self.first_stream.hot(t), *self.first_stream.hot(t + 1)) };
        // SAFETY: `first..end` are valid stream numbers (checked by `assert_numbers`).
        (first..end).any(|s| unsafe { self.streams.hot(s as usize) }.is_due(now))
    }

    /// True if all indices that the queues store are valid. `terminals`: number of terminals of the block.
    pub fn numbers_are_right(&self, terminals: usize) -> bool {
        let are_complete = || {
            let lengths = [self.filled.len(), self.turns.len(), self.flits.len(), self.first_stream.len() - 1];
            lengths == [terminals; 4] && self.of.len() == terminals * self.each
        };
        let has_queue = |&filled: &u64| self.each >= 64 || filled >> self.each == 0;
        let has_turn = |&turn: &u8| usize::from(turn) < self.of_sources;
        self.each == 0
            || are_complete()
                && self.first_stream.is_sorted()
                && self.first_stream[terminals] as usize == self.streams.len()
                && self.filled.iter().all(has_queue)
                && self.turns.iter().all(has_turn)
    }

    /// The queue for notifications, if terminals send notifications.
    pub fn of_notices(&self) -> usize {
        self.of_sources
    }

    /// The queues of terminal `t` for packets of sources.
    pub fn queues_of_sources(&self, t: usize) -> &[Queue] {
        &self.of[t * self.each..t * self.each + self.of_sources]
    }

    /// Index in `Queues::of` of queue `q` of terminal `t`.
    pub fn place(&self, t: usize, q: usize) -> usize {
        t * self.each + q
    }

    /// Queue `q` of terminal `t`.
    #[inline(always)]
    pub(crate) fn queue(&self, t: usize, q: usize) -> &Queue {
        // SAFETY: the cycle loop uses valid numbers of terminals and their queues (checked by `assert_numbers`).
        unsafe { self.of.hot(self.place(t, q)) }
    }

    /// Queue `q` of terminal `t`, as a mutable reference.
    #[inline(always)]
    pub(crate) fn queue_mut(&mut self, t: usize, q: usize) -> &mut Queue {
        let place = self.place(t, q);
        // SAFETY: the cycle loop uses valid numbers of terminals and their queues (checked by `assert_numbers`).
        unsafe { self.of.hot_mut(place) }
    }

    /// Appends packet `ready` to queue `q` of terminal `t`.
    #[inline]
    pub fn join(&mut self, t: usize, q: usize, ready: Ready) {
        let id = self.ready.add(Ready { next: NONE, ..ready });
        self.flits[t] += u64::from(ready.flits);
        let place = self.place(t, q);
        let queue = &mut self.of[place];
        if queue.first == NONE {
            (queue.first, queue.left, queue.vc) = (id, ready.flits, u8::MAX);
            self.filled[t] |= 1 << q;
        } else {
            self.ready.items[queue.last as usize].next = id;
        }
        queue.last = id;
        queue.packets += 1;
    }

    /// Removes the first packet of queue `q` of terminal `t` after its tail has left. Returns the removed packet.
    pub fn leave(&mut self, t: usize, q: usize) -> Ready {
        let place = self.place(t, q);
        let queue = &mut self.of[place];
        let id = queue.first;
        let ready = self.ready.items[id as usize];
        self.ready.remove(id);
        self.flits[t] -= u64::from(ready.flits);
        (queue.first, queue.vc) = (ready.next, u8::MAX);
        queue.packets -= 1;
        if ready.next == NONE {
            (queue.last, queue.left) = (NONE, 0);
            self.filled[t] &= !(1 << q);
        } else {
            queue.left = self.ready.items[ready.next as usize].flits;
        }
        ready
    }

    /// The first packet of queue `q` of terminal `t`. The queue must not be empty.
    pub fn front(&self, t: usize, q: usize) -> &Ready {
        &self.ready.items[self.of[self.place(t, q)].first as usize]
    }

    /// Returns the queue of terminal `t` for packets to destination `to`: the queue that already contains such packets, otherwise a free
    /// queue. `None` if no queue is free in cycle `now`.
    pub fn to_destination(&mut self, t: usize, to: u32, now: u64) -> Option<usize> {
        let queues = &mut self.of[t * self.each..t * self.each + self.of_sources];
        let free = |queue: &Queue| queue.packets == 0 && queue.opens <= now;
        let own = queues.iter().position(|queue| queue.to == to);
        let q = own
            .or_else(|| queues.iter().position(|queue| queue.to == NONE))
            .or_else(|| queues.iter().position(free))?;
        queues[q].to = to;
        Some(q)
    }

    /// Number of packets in the queues of terminal `t` that have not begun to leave.
    pub fn waiting(&self, t: usize) -> u64 {
        let queues = &self.of[t * self.each..(t + 1) * self.each];
        let queued: u64 = queues.iter().map(|queue| u64::from(queue.packets) - u64::from(queue.is_amid())).sum();
        queued + self.streams[self.streams_of(t)].iter().filter(|stream| stream.pending != NONE).count() as u64
    }

    /// Number of flits in the queues of terminal `t` that have not left.
    pub fn flits_of(&self, t: usize) -> u64 {
        let queues = self.of[t * self.each..(t + 1) * self.each].iter().filter(|queue| queue.first != NONE);
        let gone = queues.map(|queue| u64::from(self.ready.items[queue.first as usize].flits - queue.left));
        self.flits[t] - gone.sum::<u64>()
    }

    /// Records that a delivered packet of `flits` flits still occupies space on VC `vc` of the buffer of terminal `t`.
    pub fn keep(&mut self, t: usize, vc: u8, flits: u16) {
        let id = self.kept.add(Keeps { next: NONE, flits, vc });
        let list = &mut self.keeps[t];
        if list.first == NONE {
            list.first = id;
        } else {
            self.kept.items[list.last as usize].next = id;
        }
        list.last = id;
    }

    /// Releases the buffer space of the oldest packet that terminal `t` keeps.
    pub fn free_oldest(&mut self, t: usize) -> Option<Keeps> {
        let list = &mut self.keeps[t];
        let id = list.first;
        if id == NONE {
            return None;
        }
        let oldest = self.kept.items[id as usize];
        self.kept.remove(id);
        list.first = oldest.next;
        Some(oldest)
    }

    /// Stops all sources: from now on no source creates a packet.
    pub fn stop(&mut self) {
        self.streams.iter_mut().for_each(|stream| stream.due = NOT_DUE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(depth: u16, rate: Option<Rate>) -> InterfaceRules {
        let (queueing, rule) = (Queueing::PerDestination, InjectionRule::RoundRobin);
        InterfaceRules {
            queueing,
            rule,
            queues: 2,
            depth,
            rates: vec![rate; 2],
            lanes: 1,
            notifies: false,
            vcs_of: vec![1],
        }
    }

    #[test]
    fn a_limited_queue_begins_packets_at_the_exact_rate() {
        // a rate of 3 flits in 8 cycles: packets of 1 flit begin in cycles 0, 2, 5, 8, which is 3 packets in every 8 cycles
        let mut queue = Queue::new(Some(Rate::new(3, 8, "rate").unwrap()));
        let mut starts = Vec::new();
        for now in 0..24 {
            if queue.opens <= now {
                starts.push(now);
                queue.begin(now, 1);
            }
        }
        assert_eq!(starts, [0, 2, 5, 8, 10, 13, 16, 18, 21]);
    }

    #[test]
    fn a_destination_has_one_queue_and_a_queue_one_destination_at_a_time() {
        let stream = Stream { due: 0, pending: NONE, job: 0, source: 0, class: 0, replies: false };
        let mut queues = Queues::new(vec![vec![stream]], &rules(4, None), false);
        let ready = |packet: u32| Ready { packet, flits: 1, ..Ready::default() };
        for (packet, to) in [(0, 7), (1, 9), (2, 7)] {
            let q = queues.to_destination(0, to, 0).unwrap();
            queues.join(0, q, ready(packet));
        }
        assert_eq!((queues.to_destination(0, 5, 0), queues.filled[0]), (None, 0b11));
        assert_eq!((queues.leave(0, 0).packet, queues.leave(0, 0).packet), (0, 2));
        assert_eq!(queues.to_destination(0, 5, 0), Some(0));
        assert_eq!(queues.waiting(0), 1);
    }

    #[test]
    fn flits_of_a_terminal_are_those_that_have_not_left() {
        let stream = Stream { due: 0, pending: NONE, job: 0, source: 0, class: 0, replies: false };
        let mut queues = Queues::new(vec![vec![stream.clone()], vec![stream]], &rules(4, None), false);
        for (q, flits) in [(0, 5), (1, 2), (0, 3)] {
            queues.join(1, q, Ready { flits, ..Ready::default() });
        }
        assert_eq!((queues.flits_of(0), queues.flits_of(1)), (0, 10));
        let place = queues.place(1, 0);
        queues.of[place].left = 1; // four of five flits of the first packet have left
        assert_eq!(queues.flits_of(1), 6);
        queues.of[place].left = 0;
        queues.leave(1, 0);
        assert_eq!(queues.flits_of(1), 5);
        queues.leave(1, 0);
        queues.leave(1, 1);
        assert_eq!(queues.flits_of(1), 0);
    }
}
