//! The data of the runs and streams of a block. `shortcuts/streams.rs` defines both terms and has the code that moves their
//! flits.

use weft_api::base::kept::Kept;
use weft_api::state::NONE;

/// Smallest length of a long packet [flits]. Streams are used in networks with long packets. At load 0.3 of a butterfly, streams
/// cost more than moving flits one by one for packets of 8 flits, and cost less for packets of 12 flits.
pub const LONG_PACKET: u32 = 12;

/// A stream opens only if more than this number of flits will follow. Short packets in a network with long packets therefore move
/// flit by flit.
pub(crate) const WORTH: u16 = 8;

/// Largest number of outputs for which an output number and a credit mark fit into one word.
pub const MAX_OUTPUTS: u64 = (ENDS >> 4) as u64;

/// Mark of the first credit of a run; `ENDS` marks the event after the last credit of a run.
pub const BEGINS: u32 = 1 << 31;
pub(crate) const ENDS: u32 = 1 << 30;

/// Value of `Sender::from` for a stream that a terminal has opened.
pub(crate) const TERMINAL: u32 = NONE - 1;
/// Value of `Sender::credits`: the stream spends exactly the credits that return.
pub(crate) const BALANCED: u32 = NONE - 1;
/// Value of `Receiver::place`: a stream takes the flits of the run.
pub(crate) const THROUGH: u32 = NONE - 1;

/// True if a credit is marked as part of a run.
#[inline(always)]
pub fn is_of_run(word: u32) -> bool {
    word >= ENDS
}

/// The output for which a credit returns, marked or not.
#[inline(always)]
pub fn output(word: u32) -> usize {
    ((word & !(BEGINS | ENDS)) >> 4) as usize
}

/// The data of a channel on the sender's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Kept)]
pub(crate) struct Sender {
    /// The first cycle of the stream whose flits are not settled (counted) yet.
    pub(crate) since: u64,
    /// The cycle in which the last run has ended at the far end. The next run begins later.
    pub(crate) ended: u64,
    /// Cycles from the switch traversal of a flit to its arrival.
    pub(crate) delay: u32,
    /// Origin of the stream: input * 16 + VC, or [`TERMINAL`]; `NONE` without a stream.
    pub(crate) from: u32,
    /// Index in `Streams::spending`, if the output is in that list.
    pub(crate) place: u32,
    /// Index in `Streams::returning` of the returning run of credits, or [`BALANCED`]; `NONE` without such a run.
    pub(crate) credits: u32,
    /// VC of the stream, and VC of the run of credits.
    pub(crate) vc: u8,
    pub(crate) credit_vc: u8,
}

/// The data of a channel on the receiver's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Kept)]
pub(crate) struct Receiver {
    /// The first cycle after the end of the last stream.
    pub(crate) closed: u64,
    /// Index in `Streams::incoming` of the incoming run, or [`THROUGH`]; `NONE` without a run.
    pub(crate) place: u32,
    /// The output by which the stream leaves.
    pub(crate) out: u32,
    /// VC of the run.
    pub(crate) vc: u8,
}

/// The runs and streams of a block; empty if the block does not use streams.
#[derive(Debug, Default, PartialEq, Eq, Kept)]
pub struct Streams {
    #[kept(each)]
    pub(crate) outs: Vec<Sender>,
    #[kept(each)]
    pub(crate) ins: Vec<Receiver>,
    /// Work lists for each cycle. `incoming`: inputs that receive a run flit by flit. `returning`: outputs that count the credits of a
    /// run. `spending`: outputs whose stream spends credits. `sources`: injection channels with a stream.
    pub(crate) incoming: Vec<u32>,
    pub(crate) returning: Vec<u32>,
    pub(crate) spending: Vec<u32>,
    pub(crate) sources: Vec<u32>,
    /// The first cycle in which streams have not moved their flits yet, and the first cycle in which runs have not been
    /// received yet.
    pub(crate) next: u64,
    pub(crate) received: u64,
}

/// Memory that a channel needs for its streams \[bytes\], if packets have at most `longest` flits.
pub fn bytes_per_channel(longest: u32) -> u64 {
    let of_both_ends = size_of::<Sender>() + size_of::<Receiver>() + 4 * size_of::<u32>();
    if longest >= LONG_PACKET { of_both_ends as u64 } else { 0 }
}

impl Sender {
    pub(crate) const IDLE: Self =
        Self { since: 0, ended: 0, delay: 0, from: NONE, place: NONE, credits: NONE, vc: 0, credit_vc: 0 };

    /// A stream on VC `vc` whose flits are counted from cycle `since` on.
    pub(crate) fn new(from: u32, vc: usize, since: u64, delay: u64) -> Self {
        Self { since, delay: delay as u32, from, vc: vc as u8, ..Self::IDLE }
    }
}

impl Streams {
    /// Number of flits of the stream of output `o` that have arrived in cycle `now` and have not crossed the switch yet.
    pub fn arriving(&self, o: usize, now: u64) -> u32 {
        let flows = |sender: &&Sender| sender.from != NONE && sender.from != TERMINAL;
        u32::from(self.outs.get(o).filter(flows).is_some() && self.received > self.next.max(now))
    }

    /// The streams of a block with this number of inputs and outputs.
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

    /// True if the block uses streams.
    #[inline(always)]
    pub fn are_on(&self) -> bool {
        !self.outs.is_empty()
    }

    /// True if a cycle without events needs no work.
    pub fn are_quiet(&self) -> bool {
        self.incoming.is_empty() && self.returning.is_empty() && self.spending.is_empty() && self.sources.is_empty()
    }

    /// True if all lists of a block with `ins` inputs and `outs` outputs contain valid ports, and all ports store valid VCs and list
    /// indices.
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

    /// Approximate number of flits in flight that belong to open streams.
    pub fn flits_under_way(&self) -> usize {
        self.outs.iter().filter(|sender| sender.from != NONE).map(|sender| sender.delay as usize).sum()
    }

    /// A copy for comparison: times are relative to `now`, and the order of the lists is ignored. All streams must be settled.
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

    /// Moves the time forward by `cycles`. The flits of these cycles are counted elsewhere.
    pub fn delay(&mut self, cycles: u64) {
        for sender in &mut self.outs {
            (sender.since, sender.ended) = (sender.since + cycles, sender.ended + cycles);
        }
        self.ins.iter_mut().for_each(|receiver| receiver.closed += cycles);
    }

    /// Opens the stream of output `o`. Returns true if a run of credits returns while the stream spends credits.
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

/// Removes the item at an index from a list. Returns the item that was moved to this index, if any.
#[inline(always)]
fn remove(list: &mut Vec<u32>, place: usize) -> Option<usize> {
    list.swap_remove(place);
    list.get(place).map(|&moved| moved as usize)
}
