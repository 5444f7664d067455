//! Nodes on an ideal network, to estimate a run without contention in the network.
//!
//! In LogGOPSim the receiver's processor is busy for the bytes of a message, and a send begins when its processor and its interface are
//! both free. So a rank that sends and receives at the same time takes longer than with interfaces that work in parallel. In this model a
//! processor is only busy for its own part (o, and O per byte), and an interface sends and receives at the same time. A message between
//! ranks of a node does not use an interface.

use super::{About, Executor, Parameters};
use crate::form::Cursor;
use weft_units::{Refusal, Time};

/// The nodes of a program, in the units of its [`Parameters`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nodes {
    /// Number of ranks per node. Consecutive ranks are on the same node.
    ranks: u32,
    /// Number of interfaces per node. Each message uses one interface.
    interfaces: u32,
    /// True if the number of the receiving node determines the interface of a message. False if the place of the sender in its node does.
    by_destination: bool,
    /// Latency of a message inside a node, and its time per byte.
    latency: i64,
    gap_per_byte: i64,
}

impl Nodes {
    /// The first two arguments are those of [`Parameters::new`]. The next are ranks and interfaces per node, and whether the receiving node
    /// determines the interface. The last pair is L and G inside a node.
    pub fn new(
        times: [(&str, Time); 5],
        eager: u64,
        (ranks, interfaces, by_destination): (u32, u32, bool),
        (latency, gap_per_byte): (Time, Time),
    ) -> Result<(Self, Parameters), Refusal> {
        let [l, o, g, per_byte, overhead_per_byte] = times;
        let all = [l, o, g, per_byte, overhead_per_byte, ("node.L", latency), ("node.G", gap_per_byte)];
        let (unit_fs, [l, overhead, gap, per_byte, overhead_per_byte, latency, gap_per_byte]) =
            Parameters::in_units(all)?;
        let at = Parameters { unit_fs, latency: l, overhead, gap, gap_per_byte: per_byte, overhead_per_byte, eager };
        let (ranks, interfaces) = (ranks.max(1), interfaces.max(1));
        Ok((Self { ranks, interfaces, by_destination, latency, gap_per_byte }, at))
    }

    /// Interfaces of all nodes that `ranks` ranks need.
    pub(super) fn interfaces_of(&self, ranks: u32) -> usize {
        ranks.div_ceil(self.ranks) as usize * self.interfaces as usize
    }

    /// The interface that sends or receives a message at rank `at`, which is one end of the message. Its number is the same at both nodes.
    fn interface(&self, at: u32, (from, to): (u32, u32)) -> usize {
        let chosen = if self.by_destination { to / self.ranks } else { from % self.ranks };
        (at / self.ranks) as usize * self.interfaces as usize + (chosen % self.interfaces) as usize
    }
}

impl<C: Cursor> Executor<C> {
    /// A processor has finished its part of a send at `now`. Returns the time of arrival, and whether the message is complete at that time.
    pub(super) fn leave(&mut self, nodes: Nodes, ends: (u32, u32), now: i64, size: u64) -> (i64, bool) {
        if ends.0 / nodes.ranks == ends.1 / nodes.ranks {
            let bytes = i64::try_from(size).ok().and_then(|size| size.checked_mul(nodes.gap_per_byte));
            let bytes = self.bounded(bytes);
            return (self.later(now, nodes.latency.saturating_add(bytes)), true);
        }
        let interface = nodes.interface(ends.0, ends);
        let begin = now.max(self.send_free[interface]);
        let bytes = self.of_bytes(size, self.at.gap_per_byte).max(0);
        self.send_free[interface] = self.later(begin, self.at.gap + bytes);
        (self.later(begin, self.at.latency), false)
    }

    /// The first byte of a message has arrived at rank `rank`. Its interface receives messages one after the other. A processor can process
    /// this message when the last byte has arrived.
    pub(super) fn come_in(&mut self, nodes: Nodes, time: i64, rank: u32, place: u32) {
        let message = self.messages.get_mut(place);
        message.is_in = true;
        let (size, from) = (message.size, message.from);
        let interface = nodes.interface(rank, (from, rank));
        let begin = time.max(self.receive_free[interface]);
        let bytes = self.of_bytes(size, self.at.gap_per_byte).max(0);
        self.receive_free[interface] = self.later(begin, self.at.gap + bytes);
        let end = self.later(begin, bytes);
        self.push(end, rank, About::Message(place));
    }
}
