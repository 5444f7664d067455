//! The records of the runs and streams of a block: long packets whose body flits move without an event per flit. `shortcuts/streams.rs`
//! defines the two terms and has the code that moves the flits.

use weft_api::base::kept::Kept;
use weft_api::state::NONE;

/// Smallest length of a long packet [flits]. Streams are used only in networks with long packets. Measured for a butterfly at load 0.3:
/// streams make the simulation slower for packets of 8 flits, and faster for packets of 12 flits.
pub const LONG_PACKET: u32 = 12;

/// A stream opens only if more than this number of flits of the packet will follow. Short packets in a network with long packets therefore
/// move flit by flit.
pub(crate) const WORTH: u16 = 8;

/// Largest number of outputs of a block for which an output number, a VC and a credit mark fit into a word of 32 bits.
pub const MAX_OUTPUTS: u64 = (ENDS >> 4) as u64;

/// Mark in a credit word (output * 16 + VC) for the first credit of a run. `ENDS` marks the event after the last credit of a run.
pub const BEGINS: u32 = 1 << 31;
pub(crate) const ENDS: u32 = 1 << 30;

/// Value of `Sender::from` for a stream that a terminal has opened.
pub(crate) const TERMINAL: u32 = NONE - 1;
/// Value of `Sender::credits` if the stream spends exactly one credit for each credit that returns.
pub(crate) const BALANCED: u32 = NONE - 1;
/// Value of `Receiver::place` if a stream forwards the flits of the run.
pub(crate) const THROUGH: u32 = NONE - 1;

/// True if a credit word has a mark: it begins a run of credits, or follows the last credit of a run.
#[inline(always)]
pub fn is_of_run(word: u32) -> bool {
    word >= ENDS
}

/// The output for which a credit word returns a credit. Ignores marks.
#[inline(always)]
pub fn output(word: u32) -> usize {
    ((word & !(BEGINS | ENDS)) >> 4) as usize
}

/// The data that the sender of a channel stores about its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Kept)]
pub(crate) struct Sender {
    /// The first cycle from which on the flits of the stream are not yet settled (counted).
    pub(crate) since: u64,
    /// The cycle in which the last run of flits ended at the receiver. The next run must begin after this cycle.
    pub(crate) ended: u64,
    /// Cycles from the switch traversal of a flit to its arrival.
    pub(crate) delay: u32,
    /// Input VC from which the stream takes its flits (input * 16 + VC), or [`TERMINAL`]; `NONE` without a stream.
    pub(crate) from: u32,
    /// Index in `Streams::spending`, if the output is in that list; otherwise `NONE`.
    pub(crate) place: u32,
    /// Index in `Streams::returning` of the run of credits that returns, or [`BALANCED`]; `NONE` if no run of credits returns.
    pub(crate) credits: u32,
    /// VC of the stream.
    pub(crate) vc: u8,
    /// VC of the run of credits that returns.
    pub(crate) credit_vc: u8,
}

/// The data that the receiver of a channel stores about the incoming run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Kept)]
pub(crate) struct Receiver {
    /// The first cycle after the end of the last stream from this input.
    pub(crate) closed: u64,
    /// Index in `Streams::incoming` of the run that arrives, or [`THROUGH`]; `NONE` if no run arrives.
    pub(crate) place: u32,
    /// The output to which the stream forwards the flits.
    pub(crate) out: u32,
    /// VC of the incoming run.
    pub(crate) vc: u8,
}

/// The runs and streams of a block; empty if the block does not use streams.
#[derive(Debug, Default, PartialEq, Eq, Kept)]
pub struct Streams {
    #[kept(each)]
    pub(crate) outs: Vec<Sender>,
    #[kept(each)]
    pub(crate) ins: Vec<Receiver>,
    /// Channels to process in each cycle: inputs that receive a run flit by flit.
    pub(crate) incoming: Vec<u32>,
    /// Channels to process in each cycle: outputs to which a run of credits returns, counted credit by credit.
    pub(crate) returning: Vec<u32>,
    /// Channels to process in each cycle: outputs whose stream spends credits.
    pub(crate) spending: Vec<u32>,
    /// Channels to process in each cycle: injection channels with a stream that a terminal has opened.
    pub(crate) sources: Vec<u32>,
    /// The first cycle in which streams have not moved their flits yet.
    pub(crate) next: u64,
    /// The first cycle in which runs have not been received yet.
    pub(crate) received: u64,
}

/// Memory that each channel needs for streams \[bytes\], if the longest packet has `longest` flits.
pub fn bytes_per_channel(longest: u32) -> u64 {
    let of_both_ends = size_of::<Sender>() + size_of::<Receiver>() + 4 * size_of::<u32>();
    if longest >= LONG_PACKET { of_both_ends as u64 } else { 0 }
}

impl Sender {
    pub(crate) const IDLE: Self =
        Self { since: 0, ended: 0, delay: 0, from: NONE, place: NONE, credits: NONE, vc: 0, credit_vc: 0 };

    /// Creates the record of a stream on VC `vc`. The flits of the stream are counted from cycle `since` on.
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

    /// Creates the records for a block with `ins` inputs and `outs` outputs.
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

    /// True if streams cause no work in a cycle without events.
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

    /// A copy for comparing two states. The times of the copy are relative to `now`, and the copy ignores the order of the lists. All
    /// streams must be settled.
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

    /// Moves all stored times forward by `cycles`, for a jump over cycles that repeat earlier cycles. The caller counts the flits of the
    /// skipped cycles.
    pub fn delay(&mut self, cycles: u64) {
        for sender in &mut self.outs {
            (sender.since, sender.ended) = (sender.since + cycles, sender.ended + cycles);
        }
        self.ins.iter_mut().for_each(|receiver| receiver.closed += cycles);
    }

    /// Opens the stream of output `o`. Returns true if the stream spends credits while a run of credits returns.
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

/// Removes the item at an index from a list. Returns the item that was moved to this index, if any, so that the caller can update its
/// stored index.
#[inline(always)]
fn remove(list: &mut Vec<u32>, place: usize) -> Option<usize> {
    list.swap_remove(place);
    list.get(place).map(|&moved| moved as usize)
}
