//! Streams: body flits that follow each other through a router, one in each cycle, are moved by what changes and not one by one.
//!
//! A *run* is what a channel carries while one packet sends a body flit on it in each cycle. Two events go over the channel: one
//! with the first flit, and one in the cycle after the last. A *stream* takes the flits of a run from an input to an output in the
//! cycle in which they come, and makes a run of them on the next channel, and a run of the credits that it gives back. It begins
//! with a flit that is alone (`lone.rs`), so every allocator would let each of its flits cross. It ends when somebody else asks for
//! its output or has something in its input, when credits run out, or with its run, which is over before the tail comes. Its flits
//! then go one by one again. So results are the same as without, whenever a stream begins or ends.
//!
//! While a stream is open nothing is done for it in a cycle, but that its output spends credits as long as none come back. What its
//! flits have changed (counts of flits, when the link is free) is brought up to date when it ends, and between two advances.

use crate::base::kept::Kept;
use crate::base::unchecked::Hot;
use crate::pipeline::block::Block;
use crate::pipeline::net::Net;
use crate::state::{ChannelEnd, Flit, NONE, RUN_BEGINS, RUN_ENDS};

/// Marks of a credit that is the first of a run, and of the event after the last one.
pub(crate) const BEGINS: u32 = 1 << 31;
pub(crate) const ENDS: u32 = 1 << 30;

/// The output to which a credit comes, with or without a mark.
#[inline(always)]
pub(crate) fn output(word: u32) -> usize {
    ((word & !(BEGINS | ENDS)) >> 4) as usize
}

/// More flits than these are still to come when a stream begins: begin and end cost about as much as three, and most streams of short
/// packets are broken.
const WORTH: u16 = 4;

/// `Sender::from` of a stream that begins at a terminal.
const TERMINAL: u32 = NONE - 1;
/// `Sender::credits`: the credits that come back are those that the stream spends.
const BALANCED: u32 = NONE - 1;
/// `Receiver::place`: a stream takes the flits of the run.
const THROUGH: u32 = NONE - 1;

/// The sender's side of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Kept)]
pub(crate) struct Sender {
    /// The first cycle of the stream that is not counted yet.
    since: u64,
    /// When the last run has ended at the far end. The next one begins later.
    ended: u64,
    /// Cycles from the cycle in which a flit crosses to that in which it arrives.
    delay: u32,
    /// Where its stream comes from: input * 16 + VC, or [`TERMINAL`]; `NONE` without a stream.
    from: u32,
    /// Place among `Streams::spending`, if it is there.
    place: u32,
    /// A run of credits comes back: its place among `Streams::returning`, or [`BALANCED`]; `NONE` without one.
    credits: u32,
    /// VC of the stream, and of the run of credits.
    vc: u8,
    credit_vc: u8,
}

/// The receiver's side of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Kept)]
pub(crate) struct Receiver {
    /// The first cycle without the last stream.
    closed: u64,
    /// A run comes in: its place among `Streams::incoming`, or [`THROUGH`]; `NONE` without one.
    place: u32,
    /// The output by which the stream leaves.
    out: u32,
    /// VC of the run.
    vc: u8,
}

/// The runs and streams of a block; empty if none may begin.
#[derive(Debug, Default, PartialEq, Eq, Kept)]
pub(crate) struct Streams {
    #[kept(each)]
    outs: Vec<Sender>,
    #[kept(each)]
    ins: Vec<Receiver>,
    /// What is done in each cycle: inputs whose run is received flit by flit; outputs whose credits come back in a run and are
    /// counted; outputs whose stream spends credits; injection channels with a stream.
    incoming: Vec<u32>,
    returning: Vec<u32>,
    spending: Vec<u32>,
    sources: Vec<u32>,
    /// The first cycle whose streams have not flowed.
    next: u64,
}

impl Streams {
    /// For a block with so many inputs and outputs.
    pub fn new(ins: usize, outs: usize) -> Self {
        let sender =
            Sender { since: 0, ended: 0, delay: 0, from: NONE, place: NONE, credits: NONE, vc: 0, credit_vc: 0 };
        let receiver = Receiver { closed: 0, place: NONE, out: NONE, vc: 0 };
        Self {
            outs: vec![sender; outs],
            ins: vec![receiver; ins],
            incoming: Vec::with_capacity(ins),
            returning: Vec::with_capacity(outs),
            spending: Vec::with_capacity(outs),
            sources: Vec::with_capacity(outs),
            next: 0,
        }
    }

    /// Whether there is nothing to do in a cycle in which no event comes.
    pub fn is_quiet(&self) -> bool {
        self.incoming.is_empty() && self.returning.is_empty() && self.spending.is_empty() && self.sources.is_empty()
    }

    /// Whether flits of runs come in that are received one by one.
    #[inline(always)]
    pub fn has_runs(&self) -> bool {
        !self.incoming.is_empty()
    }

    /// The flits that open streams have on their way, about.
    pub fn flits(&self) -> usize {
        self.outs.iter().filter(|sender| sender.from != NONE).map(|sender| sender.delay as usize).sum()
    }

    /// The same with times as cycles from `now`, and without the order of the lists. All streams are settled.
    pub fn by_distance(&self, now: u64) -> Self {
        let list = |place: u32| if place < THROUGH { 0 } else { place };
        let outs = self.outs.iter().map(|&sender| Sender {
            since: 0,
            ended: sender.ended.saturating_sub(now),
            place: list(sender.place),
            credits: list(sender.credits),
            ..sender
        });
        let ins = self.ins.iter().map(|&receiver| Receiver {
            closed: receiver.closed.saturating_sub(now),
            place: list(receiver.place),
            ..receiver
        });
        Self { outs: outs.collect(), ins: ins.collect(), ..Self::default() }
    }

    /// The time is moved on by so many cycles, in which flits flow that are counted elsewhere.
    pub fn delay(&mut self, cycles: u64) {
        self.outs
            .iter_mut()
            .for_each(|sender| (sender.since, sender.ended) = (sender.since + cycles, sender.ended + cycles));
        self.ins.iter_mut().for_each(|receiver| receiver.closed += cycles);
    }

    /// The number of outputs whose credits come back in a run and are counted.
    #[inline(always)]
    pub fn returning(&self) -> usize {
        self.returning.len()
    }

    /// One of these outputs, and the VC.
    #[inline(always)]
    pub fn returning_at(&self, k: usize) -> (usize, u32) {
        let o = *self.returning.hot(k) as usize;
        (o, u32::from(self.outs.hot(o).credit_vc))
    }

    /// Whether output `o` has credits that last: some come back in a run, or `credits` are enough for two flits.
    fn has_credits(&self, o: usize, vc: usize, credits: u16) -> bool {
        let sender = self.outs.hot(o);
        credits > 1 || sender.credits != NONE && usize::from(sender.credit_vc) == vc
    }

    /// The stream of output `o` begins. Returns whether its credits are balanced.
    fn begin(&mut self, o: usize, stream: Sender) -> bool {
        let sender = self.outs.hot_mut(o);
        let (credits, credit_vc) = (sender.credits, sender.credit_vc);
        *sender = Sender { credits, credit_vc, ..stream };
        let balanced = credits != NONE && credit_vc == stream.vc;
        if balanced {
            self.stop_returning(o, BALANCED);
        } else {
            self.start_spending(o);
        }
        balanced
    }

    fn start_spending(&mut self, o: usize) {
        self.outs.hot_mut(o).place = self.spending.len() as u32;
        self.spending.push(o as u32);
    }

    fn stop_spending(&mut self, o: usize) {
        let place = std::mem::replace(&mut self.outs.hot_mut(o).place, NONE) as usize;
        self.spending.swap_remove(place);
        if let Some(&moved) = self.spending.get(place) {
            self.outs.hot_mut(moved as usize).place = place as u32;
        }
    }

    fn start_returning(&mut self, o: usize, vc: u8) {
        let sender = self.outs.hot_mut(o);
        (sender.credits, sender.credit_vc) = (self.returning.len() as u32, vc);
        self.returning.push(o as u32);
    }

    fn stop_returning(&mut self, o: usize, credits: u32) {
        let place = std::mem::replace(&mut self.outs.hot_mut(o).credits, credits) as usize;
        self.returning.swap_remove(place);
        if let Some(&moved) = self.returning.get(place) {
            self.outs.hot_mut(moved as usize).credits = place as u32;
        }
    }

    fn start_receiving(&mut self, i: usize, vc: u8) {
        let receiver = self.ins.hot_mut(i);
        debug_assert!(matches!(receiver.place, NONE | THROUGH), "two runs come into input {i}");
        (receiver.place, receiver.vc) = (self.incoming.len() as u32, vc);
        self.incoming.push(i as u32);
    }

    fn stop_receiving(&mut self, i: usize, place: u32) {
        let place = std::mem::replace(&mut self.ins.hot_mut(i).place, place) as usize;
        self.incoming.swap_remove(place);
        if let Some(&moved) = self.incoming.get(place) {
            self.ins.hot_mut(moved as usize).place = place as u32;
        }
    }
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// Receives the flits of this cycle that come in runs.
    #[inline(never)]
    pub(crate) fn receive_runs(&mut self, net: &Net) {
        let mut k = 0;
        // streams that end meanwhile add their runs
        while k < self.streams.incoming.len() {
            let i = *self.streams.incoming.hot(k);
            k += 1;
            let vc = self.streams.ins.hot(i as usize).vc;
            self.receive_body(net, i << 4 | u32::from(vc));
        }
    }

    /// A run begins, or has ended, as `flit` says.
    #[inline(never)]
    pub(crate) fn receive_run(&mut self, net: &Net, flit: Flit) {
        let (i, vc) = ((flit.to >> 4) as usize, (flit.to & 15) as u8);
        if flit.key == RUN_BEGINS {
            return self.streams.start_receiving(i, vc);
        }
        let receiver = self.streams.ins.hot_mut(i);
        if receiver.place == THROUGH {
            receiver.place = NONE;
            let o = receiver.out as usize;
            self.close_stream(net, o);
        } else {
            self.streams.stop_receiving(i, NONE);
        }
    }

    /// A run of credits begins, or has ended, as `word` says (output * 16 + VC, and a mark).
    #[inline(never)]
    pub(crate) fn receive_credit_run(&mut self, net: &Net, word: u32) {
        let (o, vc) = (output(word), (word & 15) as u8);
        let &Sender { from, vc: own, credits, .. } = self.streams.outs.hot(o);
        let balances = from != NONE && own == vc;
        if word & BEGINS != 0 && balances {
            self.streams.stop_spending(o);
            let sender = self.streams.outs.hot_mut(o);
            (sender.credits, sender.credit_vc) = (BALANCED, vc);
        } else if word & BEGINS != 0 {
            self.streams.start_returning(o, vc);
        } else if credits != BALANCED {
            self.streams.stop_returning(o, NONE);
        } else {
            self.streams.outs.hot_mut(o).credits = NONE;
            self.streams.start_spending(o);
            if *self.outs.hot(o).credits.hot(usize::from(vc)) == 0 {
                self.break_stream(net, o);
            }
        }
    }

    /// Streams flow in this cycle: their flits cross.
    #[inline(always)]
    pub(crate) fn flow(&mut self, net: &Net) {
        self.streams.next = self.now + 1;
        if !self.streams.spending.is_empty() {
            self.spend(net);
        }
        if !self.streams.sources.is_empty() {
            self.flow_from_terminals(net);
        }
    }

    #[inline(never)]
    fn spend(&mut self, net: &Net) {
        let mut k = 0;
        while k < self.streams.spending.len() {
            let o = *self.streams.spending.hot(k) as usize;
            let sender = self.streams.outs.hot(o);
            let vc = usize::from(sender.vc);
            let out = self.outs.hot_mut(o);
            out.use_credit::<false>(vc, net.room);
            if *out.credits.hot(vc) == 0 && sender.from != TERMINAL {
                self.break_stream(net, o);
            } else {
                k += 1;
            }
        }
    }

    #[inline(never)]
    fn flow_from_terminals(&mut self, net: &Net) {
        self.tally.injected_flits += u64::from(self.tally.inside(self.now)) * self.streams.sources.len() as u64;
        let mut k = 0;
        while k < self.streams.sources.len() {
            let o = *self.streams.sources.hot(k) as usize;
            let sender = self.streams.outs.hot(o);
            let out = self.outs.hot(o);
            let is_dry = sender.credits != BALANCED && *out.credits.hot(usize::from(sender.vc)) == 0;
            let terminal = self.terminals.hot_mut(out.router as usize);
            terminal.left -= 1;
            if is_dry || terminal.left == 1 {
                self.streams.sources.swap_remove(k);
                self.busy.set(out.router as usize);
                self.close_stream(net, o);
            } else {
                k += 1;
            }
        }
    }

    /// Whether terminal `t`, which has body flits and a credit for VC `vc`, sends a stream from now on.
    #[inline(always)]
    pub(crate) fn open_source(&mut self, net: &Net, t: usize, vc: usize) -> bool {
        self.terminals.hot(t).left > WORTH && self.lone_flits_cross && self.begin_source(net, t, vc)
    }

    #[inline(never)]
    fn begin_source(&mut self, net: &Net, t: usize, vc: usize) -> bool {
        let (o, delay) = (self.terminals.hot(t).out as usize, net.links.hot(0).latency);
        if self.now + delay <= self.streams.outs.hot(o).ended {
            return false;
        }
        let stream = Sender {
            since: self.now,
            ended: 0,
            delay: delay as u32,
            from: TERMINAL,
            place: NONE,
            credits: NONE,
            vc: vc as u8,
            credit_vc: 0,
        };
        let out = self.outs.hot_mut(o);
        self.flits.push(self.now, self.now + delay, Flit::of_body(out.peer << 4 | vc as u32, RUN_BEGINS));
        if self.streams.begin(o, stream) {
            // the credit of this cycle was counted
            out.use_credit::<false>(vc, net.room);
        }
        self.streams.sources.push(o as u32);
        self.busy.clear(t);
        true
    }

    /// Whether the flit that crosses now from VC `v` of input `i` to VC `vc` of output `o` may be the first of a stream: so many flits of
    /// its packet are `to_come`.
    #[inline(always)]
    pub(crate) fn may_stream(&self, net: &Net, (i, v): (usize, usize), (o, vc): (usize, usize), to_come: u16) -> bool {
        let receiver = self.streams.ins.hot(i);
        to_come > WORTH
            && receiver.place < THROUGH
            && usize::from(receiver.vc) == v
            && self.begins_stream(net, i, (o, vc))
    }

    #[inline(never)]
    fn begins_stream(&self, net: &Net, i: usize, (o, vc): (usize, usize)) -> bool {
        let out = self.outs.hot(o);
        let at = out.departure(self.now + net.after_grant) + net.links.hot(usize::from(out.class)).latency;
        self.streams.ins.hot(i).closed < self.now
            && self.streams.outs.hot(o).ended < at
            && self.streams.has_credits(o, vc, *out.credits.hot(vc))
    }

    /// The flit that crosses in this cycle from VC `v` of input `i` to VC `vc` of output `o`, where it arrives at cycle `at`, was
    /// the first of a stream.
    #[inline(never)]
    pub(crate) fn begin_stream(&mut self, (i, v): (usize, usize), (o, vc): (usize, usize), at: u64) {
        self.streams.stop_receiving(i, THROUGH);
        self.streams.ins.hot_mut(i).out = o as u32;
        let stream = Sender {
            since: self.now + 1,
            ended: 0,
            delay: (at - self.now) as u32,
            from: (i << 4 | v) as u32,
            place: NONE,
            credits: NONE,
            vc: vc as u8,
            credit_vc: 0,
        };
        self.streams.begin(o, stream);
        let port = self.ins.hot(i);
        let router = self.routers.hot_mut(port.router as usize);
        router.fed.set(usize::from(port.port));
        router.streams.set(o - router.base as usize);
    }

    /// Input `i` has something for output `o`: streams of the two end, and their flits go on one by one.
    #[inline(always)]
    pub(crate) fn interrupt(&mut self, net: &Net, i: usize, o: usize) {
        let port = self.ins.hot(i);
        let router = self.routers.hot(port.router as usize);
        let is_fed = router.fed.contains(usize::from(port.port));
        if is_fed | router.streams.contains(o - port.base(i)) {
            self.interrupt_both(net, i, o, is_fed);
        }
    }

    #[inline(never)]
    fn interrupt_both(&mut self, net: &Net, i: usize, o: usize, is_fed: bool) {
        if is_fed {
            self.break_stream(net, self.streams.ins.hot(i).out as usize);
        }
        if self.streams.outs.hot(o).from != NONE {
            self.break_stream(net, o);
        }
    }

    /// The stream of output `o` ends. The flits that it would have taken go on one by one.
    #[inline(never)]
    fn break_stream(&mut self, net: &Net, o: usize) {
        let from = self.streams.outs.hot(o).from;
        self.close_stream(net, o);
        if from == TERMINAL {
            self.streams.sources.retain(|&other| other as usize != o);
            self.busy.set(self.outs.hot(o).router as usize);
        } else {
            self.streams.start_receiving((from >> 4) as usize, (from & 15) as u8);
        }
    }

    /// The stream of output `o` ends: from the first cycle on whose streams have not flowed, no flit of it crosses.
    fn close_stream(&mut self, net: &Net, o: usize) {
        let end = self.streams.next.max(self.now);
        self.settle_stream(net, o, end);
        let sender = self.streams.outs.hot_mut(o);
        let &mut Sender { from, vc, delay, credits, .. } = sender;
        let at = end + u64::from(delay);
        (sender.from, sender.ended) = (NONE, at);
        let out = self.outs.hot_mut(o);
        if credits != BALANCED {
            self.streams.stop_spending(o);
        } else {
            if end == self.now {
                // the credit that has come in this cycle is not spent
                out.regain_credit(usize::from(vc), net.room);
            }
            self.streams.start_returning(o, vc);
        }
        let (kind, peer, vc) = (out.kind, out.peer, u32::from(vc));
        match kind {
            ChannelEnd::Local | ChannelEnd::Injection => {
                self.flits.push(self.now, at, Flit::of_body(peer << 4 | vc, RUN_ENDS));
            }
            ChannelEnd::Remote => self.mail_flit::<false>(peer, at, Flit::of_body(vc, RUN_ENDS), NONE),
            ChannelEnd::Ejection | ChannelEnd::Unused => {
                let credit_at = at + net.links.hot(usize::from(out.class)).credit_latency;
                self.credits.push(self.now, credit_at, ENDS | (o as u32) << 4 | vc);
            }
        }
        if from != TERMINAL {
            let (i, v) = ((from >> 4) as usize, (from & 15) as usize);
            self.streams.ins.hot_mut(i).closed = end;
            self.return_marked(net, (i, v), end, ENDS);
            let port = self.ins.hot(i);
            let router = self.routers.hot_mut(port.router as usize);
            router.fed.clear(usize::from(port.port));
            router.streams.clear(o - router.base as usize);
        }
    }

    /// Counts the flits of the stream of output `o` before cycle `end`.
    fn settle_stream(&mut self, net: &Net, o: usize, end: u64) {
        let sender = self.streams.outs.hot_mut(o);
        let flits = end - std::mem::replace(&mut sender.since, end);
        let out = self.outs.hot_mut(o);
        out.flits = out.flits.wrapping_add(flits as u32);
        if sender.from == TERMINAL {
            return;
        }
        out.next_free = out.next_free.wrapping_add(flits as u32);
        let (i, v) = ((sender.from >> 4) as usize, (sender.from & 15) as usize);
        let segment = self.segments.items.hot_mut(*self.ins.hot(i).head.hot(v) as usize);
        segment.arrived += flits as u16;
        segment.sent += flits as u16;
        self.tally.flit_hops += flits;
        if out.kind == ChannelEnd::Ejection {
            let landed = end + u64::from(sender.delay) + net.ejection_delay;
            self.tally.accepted_flits += self.tally.cycles_inside(landed - flits, landed);
        }
    }

    /// Brings all that streams have changed up to date.
    pub(crate) fn settle_streams(&mut self, net: &Net) {
        for k in 0..self.streams.sources.len() {
            self.settle_stream(net, self.streams.sources[k] as usize, self.now);
        }
        if self.streams.outs.is_empty() {
            return;
        }
        for r in 0..self.routers.len() {
            let (base, mut outputs) = (self.routers[r].base as usize, self.routers[r].streams);
            while let Some(p) = outputs.take_first() {
                self.settle_stream(net, base + p, self.now);
            }
        }
    }
}
