//! The messages of one rank in a collective, round by round.

use super::call::Piece;
use crate::form::{Draft, Op, Ops, When};

/// Difference between the tags of two successive collectives.
const ROUNDS: u32 = 1 << 12;

/// Adds the number of the collective to the tag of a message. Before, the tag has only the round. So messages that were made for collective
/// 0 can be used for any other collective.
pub(crate) fn numbered(op: Op, instance: u32) -> Op {
    let tag = instance.wrapping_mul(ROUNDS).wrapping_add(op.tag().unwrap_or(0)) & (u32::MAX >> 1);
    op.tagged(tag)
}

/// Use of the data of a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Into {
    /// Replaces the data of the rank.
    Copy,
    /// Is summed with the data of the rank.
    Sum,
}

/// Data of an operation, which `crate::laws` follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    pub op: u32,
    pub pieces: Vec<Piece>,
    pub into: Into,
}

/// Sends and receives of a rank in rounds. An operation of a round starts when all operations of the previous round have finished. No
/// operation waits for the start of another operation, and no operation is a collective. A lane is a sequence of rounds. Lanes are
/// independent of each other.
#[derive(Debug, Default)]
pub struct Steps {
    draft: Draft,
    lanes: Vec<(Vec<u32>, Vec<u32>)>,
    lane: usize,
    /// Processor, interface and number of the collective.
    of: Option<Op>,
    /// Time of a sum \[fs per byte\]; 0 takes no time.
    sum_fs: u64,
    watched: Option<Vec<Watched>>,
}

impl Steps {
    /// Messages of collective `of`. A sum takes `sum_fs` \[fs per byte\].
    pub fn new(sum_fs: u64, of: Op) -> Self {
        Self { lanes: vec![Default::default()], sum_fs, of: Some(of), ..Self::default() }
    }

    /// Steps that also record the data of every message, for tests.
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

    /// The next round of lane 0 waits for the ends of all lanes.
    pub fn join(&mut self) {
        let mut all = Vec::new();
        for (before, now) in self.lanes.drain(..) {
            all.extend(if now.is_empty() { before } else { now });
        }
        self.lanes.push((all, Vec::new()));
        self.lane = 0;
    }

    /// Ends the round of this lane. Does nothing if the round has no operations of this rank.
    pub fn next(&mut self) {
        let (before, now) = &mut self.lanes[self.lane];
        if !now.is_empty() {
            *before = std::mem::take(now);
        }
    }

    fn add(&mut self, op: Op) -> u32 {
        // The tag contains the number of the collective and the round; messages with the same tag between two ranks keep their order.
        let op = self.of.map_or(op, |of| numbered(op, of.instance()).on(of.cpu(), of.nic()));
        let number = self.draft.add(op);
        let (before, now) = &mut self.lanes[self.lane];
        for &earlier in before.iter() {
            self.draft.depend(number, earlier, When::Finish);
        }
        now.push(number);
        number
    }

    /// Sends pieces of data to rank `to` in round `round`. The receiver uses the same round number. Without data there is no message.
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

    /// Receives pieces of data. No later round waits for this receive.
    pub fn receive_aside(&mut self, from: u32, round: u32, pieces: impl Iterator<Item = Piece> + Clone) {
        let before = self.lanes[self.lane].1.len();
        self.receive(from, round, Into::Copy, pieces);
        self.lanes[self.lane].1.truncate(before);
    }

    /// Sends a message without data, which only informs rank `to` that this rank has reached the round. It has 1 byte, like that of
    /// LogGOPSim's generator.
    pub fn notify(&mut self, to: u32, round: u32) {
        let op = self.add(Op::send(to, 1, Some(round)));
        self.watch(op, Into::Copy, std::iter::empty());
    }

    /// Receives a message of [`Self::notify`].
    pub fn hear(&mut self, from: u32, round: u32) {
        let op = self.add(Op::receive(Some(from), 1, Some(round)));
        self.watch(op, Into::Sum, std::iter::empty());
    }

    fn watch(&mut self, op: u32, into: Into, pieces: impl Iterator<Item = Piece>) {
        if let Some(watched) = &mut self.watched {
            watched.push(Watched { op, pieces: pieces.filter(|piece| piece.bytes > 0).collect(), into });
        }
    }

    /// Returns all operations that were added.
    pub fn finish(self) -> Ops {
        self.draft.unchecked()
    }

    /// The operations with their data.
    pub(crate) fn finish_watched(self) -> (Ops, Vec<Watched>) {
        (self.draft.unchecked(), self.watched.unwrap_or_default())
    }
}
