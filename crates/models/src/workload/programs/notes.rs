//! Notes (completion events) and interfaces. With a note, an interface reports an event to the processors of its node.
//! A note arrives after the host latency.
//!
//! A node reads the notes of one cycle in a fixed order. Therefore results do not depend on the order in which blocks
//! write notes.

use super::messages::{Handle, Outgoing, Part};
use std::collections::{BTreeMap, VecDeque};
use weft_api::activity::Cause;
use weft_api::base::kept::{Kept, Value};
use weft_api::workload::NOT_DUE;

/// The kind of event that a note reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub enum Report {
    /// The last packet of a message has left.
    Left,
    /// All data of an eager message, or the request of a rendezvous, have arrived.
    Arrived,
    /// All data of a rendezvous have arrived.
    Filled,
    /// The answer to a request has arrived.
    Clear,
}

/// A note: a completion event that an interface reports to its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Note {
    /// The cycle in which the node reads the note.
    pub at: u64,
    pub rail: u32,
    pub report: Report,
    /// The node that sends the message.
    pub node: u32,
    /// The number of the message at the sending node.
    pub number: u32,
}

impl Note {
    pub fn handle(&self) -> Handle {
        Handle { node: self.node, number: self.number }
    }
}

/// The last data packet of a message, while an interface sends it.
#[derive(Debug, Clone, Copy, Value)]
pub struct InHand {
    pub number: u32,
    pub cause: Cause,
}

/// A network interface.
#[derive(Debug, Kept)]
pub struct Rail {
    /// Requests and answers, which have priority over data.
    control: VecDeque<Outgoing>,
    data: VecDeque<Outgoing>,
    /// Packets that the node has given to the interface, but that reach it only later. They are sorted by the cycle in
    /// which they reach it.
    coming: BTreeMap<(u64, (Part, u32, u32)), Outgoing>,
    /// The packet that the interface sends at present, if it is the last packet of a message. (Other packets cause no event when they have
    /// left.)
    pub in_hand: Option<InHand>,
    /// The cycle that the cycle loop has stored for its next request for a packet from the interface.
    pub due: u64,
    /// The index of this interface among the sources of its block.
    #[kept(fixed)]
    pub source: u32,
    /// True if the node has lent packets to the interface (`bursts.rs`). A checkpoint contains no lent packets.
    #[kept(scratch)]
    pub is_lent: bool,
}

impl Rail {
    pub fn new() -> Self {
        let (control, data, coming) = (VecDeque::new(), VecDeque::new(), BTreeMap::new());
        Self { control, data, coming, in_hand: None, due: NOT_DUE, source: 0, is_lent: false }
    }

    /// Gives packets to the interface. They reach the interface `after` cycles after they began to wait at the node.
    pub fn give(&mut self, outgoing: Outgoing, after: u64) {
        if after == 0 {
            return self.take(outgoing);
        }
        let since = outgoing.since + after;
        let outgoing = Outgoing { since, ..outgoing };
        self.coming.insert((since, (outgoing.part, outgoing.to, outgoing.number)), outgoing);
    }

    fn take(&mut self, outgoing: Outgoing) {
        match outgoing.part {
            Part::Data => self.data.push_back(outgoing),
            Part::Request | Part::Clear => self.control.push_back(outgoing),
        }
    }

    /// Returns the queue entry from which the interface sends a packet in cycle `now`.
    pub fn front(&mut self, now: u64) -> Option<&mut Outgoing> {
        while let Some(entry) = self.coming.first_entry().filter(|entry| entry.key().0 <= now) {
            let outgoing = entry.remove();
            self.take(outgoing);
        }
        self.queue().front_mut()
    }

    /// True if the interface has no requests, answers or coming packets, which could get priority over the data at the front of its queue.
    pub fn may_lend(&self) -> bool {
        self.control.is_empty() && self.coming.is_empty()
    }

    /// True if the node has lent packets to the interface, but other packets can now get priority.
    pub fn is_recalled(&self) -> bool {
        self.is_lent && !self.may_lend()
    }

    /// Returns the data at the front of the interface's queue.
    pub fn first(&mut self) -> Option<&mut Outgoing> {
        self.data.front_mut()
    }

    fn queue(&mut self) -> &mut VecDeque<Outgoing> {
        if self.control.is_empty() { &mut self.data } else { &mut self.control }
    }

    /// Removes the entry that [`Self::front`] returns, after its last packet was sent.
    pub fn pop(&mut self) {
        self.queue().pop_front();
    }

    /// Returns the next cycle, at or after `now`, in which the interface has a packet to send.
    pub fn next(&self, now: u64) -> Option<u64> {
        if !self.control.is_empty() || !self.data.is_empty() {
            return Some(now);
        }
        self.coming.first_key_value().map(|(&(at, _), _)| at)
    }

    pub fn is_at_rest(&self) -> bool {
        self.control.is_empty() && self.data.is_empty() && self.coming.is_empty() && self.in_hand.is_none()
    }

    /// Returns the packets that have waited since before cycle `until`.
    pub fn waiting(&self, until: u64) -> impl Iterator<Item = &Outgoing> {
        let all = self.control.iter().chain(&self.data).chain(self.coming.values());
        all.filter(move |outgoing| outgoing.since < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outgoing(number: u32, since: u64) -> Outgoing {
        let cause = Cause { peer: 0, origin: 0, since, packet: None };
        Outgoing { part: Part::Data, number, to: 1, flits: 8, since, cause }
    }

    #[test]
    fn packets_come_after_the_latency_in_an_order_of_their_own() {
        let mut rail = Rail::new();
        [(5, 20), (9, 10), (3, 20)].into_iter().for_each(|(number, since)| rail.give(outgoing(number, since), 4));
        assert_eq!(rail.next(0), Some(14));
        assert!(rail.front(13).is_none());
        assert_eq!(rail.front(14).map(|front| (front.number, front.since)), Some((9, 14)));
        assert_eq!(rail.next(15), Some(15));
        assert_eq!(rail.waiting(24).count(), 1);
        rail.pop();
        assert_eq!(rail.front(30).map(|front| front.number), Some(3));
        rail.pop();
        assert_eq!(rail.front(30).map(|front| front.number), Some(5));
        assert!(!rail.is_at_rest());
        rail.pop();
        assert!(rail.is_at_rest());
    }
}
