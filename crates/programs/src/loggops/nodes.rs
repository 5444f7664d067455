//! Nodes on an ideal network. The model estimates the time of a run without contention in the network.
//!
//! In LogGOPSim the receiver's processor is busy while the bytes of a message arrive. A send begins when its processor and its
//! interface are both free. A rank that sends and receives at the same time therefore takes longer in LogGOPSim than on nodes whose
//! interfaces work in parallel with processors. In this model a processor is busy only for its own work (o, and O per byte). An
//! interface sends and receives at the same time. A message between ranks of a node does not use an interface. A message above the
//! eager limit begins with a request and a reply (`rendezvous.rs`).

use super::{About, Executor, Parameters};
use crate::form::Cursor;
use weft_units::{Refusal, Time};

/// The nodes on which a program runs, in the time unit of its [`Parameters`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nodes {
    /// Number of ranks per node. Consecutive ranks are on the same node.
    ranks: u32,
    /// Number of interfaces per node. Each message uses one interface.
    interfaces: u32,
    /// True if the number of the receiving node determines which interface a message uses. False if the index of the sending rank in its
    /// node determines the interface.
    by_destination: bool,
    /// Latency of a message inside a node.
    latency: i64,
    /// Time per byte of a message inside a node.
    gap_per_byte: i64,
    /// Latency of the first data byte after a reply. This is the latency of a message without the time from a processor to
    /// its interface.
    pub(super) data: i64,
    /// Latency of a reply, including the time of its one flit. A request takes the whole time L, like a message, so that no later
    /// message overtakes the request.
    pub(super) reply: i64,
    /// Time between a processor and its interface, in each direction.
    pub(super) host: i64,
}

/// The next event of a message: at its receiver, or, for a reply, at its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The first byte of an eager message arrives.
    FirstByte,
    /// The whole message has arrived, and a processor of the receiver handles it.
    Whole,
    /// The request of a rendezvous has arrived, and a processor of the receiver handles it.
    Request,
    /// The reply arrives at the sender.
    Reply,
    /// The first byte of the data arrives.
    Data,
    /// The last byte of the data arrives.
    Filled,
}

/// The times of nodes that are not among the [`Parameters`] of the LogGOPS model.
#[derive(Debug, Clone, Copy)]
pub struct NodeTimes {
    /// Latency of a message inside a node.
    pub latency: Time,
    /// Time per byte of a message inside a node.
    pub gap_per_byte: Time,
    /// Part of L: the time of a message from a processor to its interface.
    pub injection: Time,
    /// Part of L, once for each end of a message: the time between a processor and its interface. The event that reports the end of a
    /// send also takes this time.
    pub host: Time,
    /// The time of the flit of a reply.
    pub flit: Time,
}

impl Nodes {
    /// `times` and `eager` are the arguments of [`Parameters::new`]. The other arguments are ranks per node, interfaces per node, and
    /// whether the receiving node determines the interface of a message. Refuses an `injection` above L, and all times that
    /// [`Parameters::new`] refuses.
    pub fn new(
        times: [(&str, Time); 5],
        eager: u64,
        (ranks, interfaces, by_destination): (u32, u32, bool),
        of: &NodeTimes,
    ) -> Result<(Self, Parameters), Refusal> {
        let [l, o, g, per_byte, overhead_per_byte] = times;
        let inside = [("node.L", of.latency), ("node.G", of.gap_per_byte)];
        let [injection, host, flit] =
            [("node.injection", of.injection), ("node.host", of.host), ("node.flit", of.flit)];
        let all = [l, o, g, per_byte, overhead_per_byte, inside[0], inside[1], injection, host, flit];
        let (unit_fs, units) = Parameters::in_units(all)?;
        let [l, overhead, gap, per_byte, overhead_per_byte, latency, gap_per_byte, injection, host, flit] = units;
        let at = Parameters { unit_fs, latency: l, overhead, gap, gap_per_byte: per_byte, overhead_per_byte, eager };
        let (ranks, interfaces, data) = (ranks.max(1), interfaces.max(1), l - injection);
        if data < 0 {
            let what = "the time from a processor to its interface is above L, of which it is a part";
            return Err(Refusal::new("node.injection", what, "write a larger L or a smaller node.injection"));
        }
        let reply = data + flit;
        Ok((Self { ranks, interfaces, by_destination, latency, gap_per_byte, data, reply, host }, at))
    }

    /// Returns the number of interfaces of all nodes together, if the nodes have `ranks` ranks.
    pub(super) fn interfaces_of(&self, ranks: u32) -> usize {
        ranks.div_ceil(self.ranks) as usize * self.interfaces as usize
    }

    /// Returns the index of the interface that sends or receives a message at rank `at`, among the interfaces of all nodes. Rank `at` is
    /// the sender `from` or the receiver `to`. Sender and receiver use interfaces with the same number.
    pub(super) fn interface(&self, at: u32, (from, to): (u32, u32)) -> usize {
        let chosen = if self.by_destination { to / self.ranks } else { from % self.ranks };
        (at / self.ranks) as usize * self.interfaces as usize + (chosen % self.interfaces) as usize
    }
}

impl<C: Cursor> Executor<C> {
    /// Called when a processor has finished its work for a send at `now`. Returns the next event of the message at its receiver,
    /// with its time. Messages inside a node are never a rendezvous.
    pub(super) fn leave(&mut self, nodes: Nodes, ends: (u32, u32), now: i64, size: u64) -> (i64, Stage) {
        if ends.0 / nodes.ranks == ends.1 / nodes.ranks {
            let bytes = i64::try_from(size).ok().and_then(|size| size.checked_mul(nodes.gap_per_byte));
            let bytes = self.bounded(bytes);
            return (self.later(now, nodes.latency.saturating_add(bytes)), Stage::Whole);
        }
        if size > self.at.eager {
            return (self.later(now, self.at.latency), Stage::Request);
        }
        let interface = nodes.interface(ends.0, ends);
        let begin = now.max(self.send_free[interface]);
        let bytes = self.of_bytes(size, self.at.gap_per_byte).max(0);
        self.send_free[interface] = self.later(begin, self.at.gap + bytes);
        (self.later(begin, self.at.latency), Stage::FirstByte)
    }

    /// Called when the first byte of a message has arrived at rank `rank`. The interface of this rank receives messages one after the
    /// other. The next event of this message is the arrival of its last byte.
    pub(super) fn come_in(&mut self, nodes: Nodes, time: i64, rank: u32, place: u32) {
        let message = self.messages.get_mut(place);
        message.stage = if message.stage == Stage::Data { Stage::Filled } else { Stage::Whole };
        let (size, from) = (message.size, message.from);
        let interface = nodes.interface(rank, (from, rank));
        let begin = time.max(self.receive_free[interface]);
        let bytes = self.of_bytes(size, self.at.gap_per_byte).max(0);
        self.receive_free[interface] = self.later(begin, self.at.gap + bytes);
        let end = self.later(begin, bytes);
        self.push(end, rank, About::Message(place));
    }
}
