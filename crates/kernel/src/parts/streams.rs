//! The runs and streams of a block, as data: `shortcuts/streams.rs` says what they are, and moves them.

use weft_api::base::kept::Kept;
use weft_api::state::NONE;

/// Flits from which on packets are long: networks that have some have streams. At load 0.3 of a butterfly, packets of 8 flits would cost
/// more in streams than flit by flit, and those of 12 cost less.
pub const LONG_PACKET: u32 = 12;

/// A stream opens only if more flits than these are still to come. So short packets beside long ones move flit by flit.
pub(crate) const WORTH: u16 = 8;

/// So many outputs can be told apart in a word beside the marks of credits.
pub const MAX_OUTPUTS: u64 = (ENDS >> 4) as u64;

/// Marks of a credit that is the first of a run, and of the event after the last one.
pub const BEGINS: u32 = 1 << 31;
pub(crate) const ENDS: u32 = 1 << 30;

/// `Sender::from` of a stream that a terminal has opened.
pub(crate) const TERMINAL: u32 = NONE - 1;
/// `Sender::credits`: the credits that come back are those that the stream spends.
pub(crate) const BALANCED: u32 = NONE - 1;
/// `Receiver::place`: a stream takes the flits of the run.
pub(crate) const THROUGH: u32 = NONE - 1;

/// Whether a credit is marked as one of a run.
#[inline(always)]
pub fn is_of_run(word: u32) -> bool {
    word >= ENDS
}

/// The output to which a credit comes, marked or not.
#[inline(always)]
pub fn output(word: u32) -> usize {
    ((word & !(BEGINS | ENDS)) >> 4) as usize
}

/// The sender's side of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Kept)]
pub(crate) struct Sender {
    /// The first cycle of the stream that is not settled yet.
    pub(crate) since: u64,
    /// When the last run has ended at the far end. The next one begins later.
    pub(crate) ended: u64,
    /// Cycles from the cycle in which a flit crosses to that in which it arrives.
    pub(crate) delay: u32,
    /// Where its stream comes from: input * 16 + VC, or [`TERMINAL`]; `NONE` without a stream.
    pub(crate) from: u32,
    /// Place among `Streams::spending`, if it is there.
    pub(crate) place: u32,
    /// A run of credits comes back: its place among `Streams::returning`, or [`BALANCED`]; `NONE` without one.
    pub(crate) credits: u32,
    /// VC of the stream, and of the run of credits.
    pub(crate) vc: u8,
    pub(crate) credit_vc: u8,
}

/// The receiver's side of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Kept)]
pub(crate) struct Receiver {
    /// The first cycle without the last stream.
    pub(crate) closed: u64,
    /// A run comes in: its place among `Streams::incoming`, or [`THROUGH`]; `NONE` without one.
    pub(crate) place: u32,
    /// The output by which its stream leaves.
    pub(crate) out: u32,
    /// VC of the run.
    pub(crate) vc: u8,
}

/// The runs and streams of a block; empty if it has none.
#[derive(Debug, Default, PartialEq, Eq, Kept)]
pub struct Streams {
    #[kept(each)]
    pub(crate) outs: Vec<Sender>,
    #[kept(each)]
    pub(crate) ins: Vec<Receiver>,
    /// What is done in each cycle: inputs whose run is received flit by flit; outputs whose credits come back in a run and are
    /// counted; outputs whose stream spends credits; injection channels with a stream.
    pub(crate) incoming: Vec<u32>,
    pub(crate) returning: Vec<u32>,
    pub(crate) spending: Vec<u32>,
    pub(crate) sources: Vec<u32>,
    /// The first cycle whose streams have not flowed, and the first one whose runs have not been received.
    pub(crate) next: u64,
    pub(crate) received: u64,
}

/// Bytes that a channel takes for its streams, where packets have at most so many flits.
pub fn bytes_per_channel(longest: u32) -> u64 {
    let of_both_ends = size_of::<Sender>() + size_of::<Receiver>() + 4 * size_of::<u32>();
    if longest >= LONG_PACKET { of_both_ends as u64 } else { 0 }
}

impl Sender {
    pub(crate) const IDLE: Self =
        Self { since: 0, ended: 0, delay: 0, from: NONE, place: NONE, credits: NONE, vc: 0, credit_vc: 0 };

    /// A stream on VC `vc` that is counted from cycle `since` on.
    pub(crate) fn new(from: u32, vc: usize, since: u64, delay: u64) -> Self {
        Self { since, delay: delay as u32, from, vc: vc as u8, ..Self::IDLE }
    }
}

impl Streams {
    /// Flits of the stream of output `o` that have come in cycle `now` and not crossed yet.
    pub fn arriving(&self, o: usize, now: u64) -> u32 {
        let flows = |sender: &&Sender| sender.from != NONE && sender.from != TERMINAL;
        u32::from(self.outs.get(o).filter(flows).is_some() && self.received > self.next.max(now))
    }

    /// For a block with so many inputs and outputs.
    pub fn new(ins: usize, outs: usize) -> Self {
        Self {
            outs: vec![Sender::IDLE; outs],
            ins: vec![Receiver { closed: 0, place: NONE, out: NONE, vc: 0 }; ins],
            incoming: Vec::with_capacity(ins),
            returning: Vec::with_capacity(outs),
            spending: Vec::with_capacity(outs),
            sources: Vec::with_capacity(outs),
            next: 0,
            received: 0,
        }
    }

    /// Whether the block has streams at all.
    #[inline(always)]
    pub fn are_on(&self) -> bool {
        !self.outs.is_empty()
    }

    /// Whether there is nothing to do in a cycle in which no event comes.
    pub fn are_quiet(&self) -> bool {
        self.incoming.is_empty() && self.returning.is_empty() && self.spending.is_empty() && self.sources.is_empty()
    }

    /// Whether all lists of a block with `ins` inputs and `outs` outputs name ports, and all ports name VCs and places in the lists.
    pub fn numbers_are_right<const V: usize>(&self, ins: usize, outs: usize) -> bool {
        let all_below = |list: &[u32], count: usize| list.iter().all(|&number| (number as usize) < count);
        let stands_in = |place: u32, list: &[u32]| place >= THROUGH || (place as usize) < list.len();
        let outputs_are_right = self.outs.iter().all(|sender| {
            let comes_from =
                sender.from >= TERMINAL || ((sender.from >> 4) as usize) < ins && (sender.from & 15) < V as u32;
            let has_vcs = usize::from(sender.vc.max(sender.credit_vc)) < V;
            comes_from
                && has_vcs
                && stands_in(sender.place, &self.spending)
                && stands_in(sender.credits, &self.returning)
        });
        !self.are_on()
            || (self.ins.len(), self.outs.len()) == (ins, outs)
                && all_below(&self.incoming, ins)
                && [&self.returning, &self.spending, &self.sources].into_iter().all(|list| all_below(list, outs))
                && outputs_are_right
                && self.sources.iter().all(|&o| o as usize >= ins)
                && self.ins.iter().all(|receiver| {
                    let leaves = receiver.out == NONE || (receiver.out as usize) < outs;
                    leaves && usize::from(receiver.vc) < V && stands_in(receiver.place, &self.incoming)
                })
    }

    /// About how many flits open streams have on their way.
    pub fn flits_under_way(&self) -> usize {
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
        for sender in &mut self.outs {
            (sender.since, sender.ended) = (sender.since + cycles, sender.ended + cycles);
        }
        self.ins.iter_mut().for_each(|receiver| receiver.closed += cycles);
    }

    /// The stream of output `o` opens. Returns whether the credits that it spends come back.
    #[inline(always)]
    pub(crate) fn open(&mut self, o: usize, stream: Sender) -> bool {
        let sender = &mut self.outs[o];
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

    pub(crate) fn start_spending(&mut self, o: usize) {
        self.outs[o].place = self.spending.len() as u32;
        self.spending.push(o as u32);
    }

    pub(crate) fn stop_spending(&mut self, o: usize) {
        let place = std::mem::replace(&mut self.outs[o].place, NONE) as usize;
        if let Some(moved) = remove(&mut self.spending, place) {
            self.outs[moved].place = place as u32;
        }
    }

    pub(crate) fn start_returning(&mut self, o: usize, vc: u8) {
        let sender = &mut self.outs[o];
        (sender.credits, sender.credit_vc) = (self.returning.len() as u32, vc);
        self.returning.push(o as u32);
    }

    pub(crate) fn stop_returning(&mut self, o: usize, credits: u32) {
        let place = std::mem::replace(&mut self.outs[o].credits, credits) as usize;
        if let Some(moved) = remove(&mut self.returning, place) {
            self.outs[moved].credits = place as u32;
        }
    }

    pub(crate) fn start_receiving(&mut self, i: usize, vc: u8) {
        let receiver = &mut self.ins[i];
        debug_assert!(matches!(receiver.place, NONE | THROUGH), "two runs come into input {i}");
        (receiver.place, receiver.vc) = (self.incoming.len() as u32, vc);
        self.incoming.push(i as u32);
    }

    pub(crate) fn stop_receiving(&mut self, i: usize, place: u32) {
        let place = std::mem::replace(&mut self.ins[i].place, place) as usize;
        if let Some(moved) = remove(&mut self.incoming, place) {
            self.ins[moved].place = place as u32;
        }
    }
}

/// Takes what stands at a place out of a list. Returns what stands there now, if something does.
#[inline(always)]
fn remove(list: &mut Vec<u32>, place: usize) -> Option<usize> {
    list.swap_remove(place);
    list.get(place).map(|&moved| moved as usize)
}
