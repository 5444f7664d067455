//! The messages of one rank in a collective, round by round.

use super::call::Piece;
use crate::form::{Draft, Op, Ops, When};

/// Difference between the base tags of two successive collectives.
const ROUNDS: u32 = 1 << 12;

/// Adds the number `instance` of the collective to the tag of a message, which contains only the round before. Messages that were made
/// for collective 0 can therefore be used for any other collective.
pub(crate) fn numbered(op: Op, instance: u32) -> Op {
    let tag = instance.wrapping_mul(ROUNDS).wrapping_add(op.tag().unwrap_or(0)) & (u32::MAX >> 1);
    op.tagged(tag)
}

/// The way in which a rank uses received data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Into {
    /// The data replace the data of the rank.
    Copy,
    /// The rank adds the data to its own data.
    Sum,
}

/// The data that an operation sends or receives. The tests in `crate::laws` follow them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    pub op: u32,
    pub pieces: Vec<Piece>,
    pub into: Into,
}

/// Collects the sends and receives of a rank, in rounds. An operation of a round starts when all operations of the previous round
/// have finished. Operations wait only for the ends of other operations, and are never collectives. A lane is a sequence of
/// rounds. Lanes are independent of each other.
#[derive(Debug, Default)]
pub struct Steps {
    draft: Draft,
    lanes: Vec<(Vec<u32>, Vec<u32>)>,
    lane: usize,
    /// The collective itself. Its messages use its processor, interface and number.
    of: Option<Op>,
    /// Time that a rank needs to sum received data \[fs per byte\]; 0 means no time.
    sum_fs: u64,
    watched: Option<Vec<Watched>>,
}

impl Steps {
    /// Starts an empty list for the messages of collective `of`. A rank needs the time `sum_fs` \[fs per byte\] to sum received data.
    pub fn new(sum_fs: u64, of: Op) -> Self {
        Self { lanes: vec![Default::default()], sum_fs, of: Some(of), ..Self::default() }
    }

    /// Starts an empty list that also records the data of every message, for tests.
    pub(crate) fn watched() -> Self {
        Self { watched: Some(Vec::new()), lanes: vec![Default::default()], ..Self::default() }
    }

    /// Selects the lane to which the next operations are added.
    pub fn in_lane(&mut self, lane: usize) {
        self.lane = lane;
        if self.lanes.len() <= lane {
            self.lanes.resize(lane + 1, Default::default());
        }
    }

    /// Joins all lanes: lane 0 remains, and its next round waits for the ends of all lanes.
    pub fn join(&mut self) {
        let mut all = Vec::new();
        for (before, now) in self.lanes.drain(..) {
            all.extend(if now.is_empty() { before } else { now });
        }
        self.lanes.push((all, Vec::new()));
        self.lane = 0;
    }

    /// Ends the round of this lane. If this rank has no operations in the round, the previous round remains the one for which the next
    /// operations wait.
    pub fn next(&mut self) {
        let (before, now) = &mut self.lanes[self.lane];
        if !now.is_empty() {
            *before = std::mem::take(now);
        }
    }

    fn add(&mut self, op: Op) -> u32 {
        // the tag contains the number of the collective and the round; messages with the same tag between two ranks keep their order
        let op = self.of.map_or(op, |of| numbered(op, of.instance()).on(of.cpu(), of.nic()));
        let number = self.draft.add(op);
        let (before, now) = &mut self.lanes[self.lane];
        for &earlier in before.iter() {
            self.draft.depend(number, earlier, When::Finish);
        }
        now.push(number);
        number
    }

    /// Sends pieces of data to rank `to` in round `round`. The receiver must use the same round number. If the pieces are
    /// empty, no message is sent.
    pub fn send(&mut self, to: u32, round: u32, pieces: impl Iterator<Item = Piece> + Clone) {
        let bytes = pieces.clone().map(|piece| piece.bytes).sum();
        if bytes > 0 {
            let op = self.add(Op::send(to, bytes, Some(round)));
            self.watch(op, Into::Copy, pieces);
        }
    }

    /// Receives pieces of data from rank `from`.
    pub fn receive(&mut self, from: u32, round: u32, into: Into, pieces: impl Iterator<Item = Piece> + Clone) {
        let bytes = pieces.clone().map(|piece| piece.bytes).sum::<u64>();
        if bytes == 0 {
            return;
        }
        let op = self.add(Op::receive(Some(from), bytes, Some(round)));
        self.watch(op, into, pieces);
        let ns = u128::from(bytes) * u128::from(self.sum_fs) / 1_000_000;
        if into == Into::Sum && ns > 0 {
            let cpu = self.of.map_or(0, |of| of.cpu());
            let sum = self.draft.add(Op::compute(u64::try_from(ns).unwrap_or(u64::MAX)).on(cpu, 0));
            self.draft.depend(sum, op, When::Finish);
            self.lanes[self.lane].1.push(sum);
        }
    }

    /// Receives pieces of data aside from the rounds. Later rounds do not wait for this receive.
    pub fn receive_aside(&mut self, from: u32, round: u32, pieces: impl Iterator<Item = Piece> + Clone) {
        let before = self.lanes[self.lane].1.len();
        self.receive(from, round, Into::Copy, pieces);
        self.lanes[self.lane].1.truncate(before);
    }

    /// Sends a message without data. It only informs rank `to` that this rank has reached the round. The message has 1 byte,
    /// like that of LogGOPSim's generator.
    pub fn notify(&mut self, to: u32, round: u32) {
        let op = self.add(Op::send(to, 1, Some(round)));
        self.watch(op, Into::Copy, std::iter::empty());
    }

    /// Receives the message that another rank sends with [`Self::notify`].
    pub fn hear(&mut self, from: u32, round: u32) {
        let op = self.add(Op::receive(Some(from), 1, Some(round)));
        self.watch(op, Into::Sum, std::iter::empty());
    }

    fn watch(&mut self, op: u32, into: Into, pieces: impl Iterator<Item = Piece>) {
        if let Some(watched) = &mut self.watched {
            watched.push(Watched { op, pieces: pieces.filter(|piece| piece.bytes > 0).collect(), into });
        }
    }

    /// Returns all operations that were added, as a partial order.
    pub fn finish(self) -> Ops {
        self.draft.unchecked()
    }

    /// Returns the operations, together with the data of each message.
    pub(crate) fn finish_watched(self) -> (Ops, Vec<Watched>) {
        (self.draft.unchecked(), self.watched.unwrap_or_default())
    }
}
