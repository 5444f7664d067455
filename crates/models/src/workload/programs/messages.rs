//! The messages under way, as both ends know them, and the packets that the interface of a node has to send.

use super::site::Site;
use std::collections::BTreeMap;
use weft_api::activity::{self, Cause};
use weft_api::base::kept::{Kept, Value};
use weft_programs::rank::Key;

/// A message, by the node that sends it and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
pub struct Handle {
    pub node: u32,
    pub number: u32,
}

impl Handle {
    pub fn to_bits(self) -> u64 {
        u64::from(self.node) << 32 | u64::from(self.number)
    }

    pub fn from_bits(bits: u64) -> Self {
        Self { node: (bits >> 32) as u32, number: bits as u32 }
    }
}

/// The purpose of a packet: the highest bits of its tag. The others are the number of the message at its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub enum Part {
    /// A part of the data.
    Data,
    /// The request of a rendezvous.
    Request,
    /// The answer to a request: the receive is there.
    Clear,
}

/// Bits of a tag that hold the number of a message.
const NUMBER_BITS: u32 = 30;
const NUMBERS: u32 = 1 << NUMBER_BITS;

impl Part {
    pub fn tag(self, number: u32) -> u32 {
        let part = match self {
            Self::Data => 0,
            Self::Request => 1,
            Self::Clear => 2,
        };
        part << NUMBER_BITS | number
    }

    /// The purpose and the number of a tag.
    pub fn of(tag: u32) -> (Self, u32) {
        let part = match tag >> NUMBER_BITS {
            0 => Self::Data,
            1 => Self::Request,
            _ => Self::Clear,
        };
        (part, tag % NUMBERS)
    }
}

/// A message that has begun, and that either end still needs. Its sender writes it before its first packet leaves. From then on the sender
/// changes `sending`, and the receiver the rest.
#[derive(Debug, Clone, Copy, Value)]
pub struct Message {
    context: u32,
    tag: u32,
    /// The ranks at both ends.
    pub from: u32,
    pub to: u32,
    pub bytes: u64,
    /// The number of the processor of the sender. The receiver takes the message in on that of the same number.
    pub cpu: u8,
    /// The interface that sends its first packet, and over which request and answer go.
    pub rail: u32,
    /// Interfaces that have not sent their last packet of it.
    pub sending: u32,
    is_received: bool,
    /// The send, and for a rendezvous the receive that has matched: operations of the ranks.
    pub send: u64,
    pub receive: u64,
    pub is_rendezvous: bool,
    /// Packets of its data that have not arrived.
    left: u64,
    /// The cycle of the last arrival so far and its packet: source and number. Of packets of one cycle it is the one with the greatest source.
    latest: (u64, u32, u32),
    /// The cycle in which the sender had done its part.
    pub begun: u64,
    /// The cycle in which the receive of a rendezvous matched.
    pub matched: u64,
}

impl Message {
    /// `begun`: the cycle in which the sender has done its part. `packets`: of its data.
    pub fn new(
        key: Key,
        (from, to): (u32, u32),
        (bytes, packets): (u64, u64),
        (send, cpu): (u64, u8),
        begun: u64,
    ) -> Self {
        let (context, tag) = (key.context, key.tag);
        Self {
            context,
            tag,
            from,
            to,
            bytes,
            cpu,
            rail: 0,
            sending: 0,
            is_received: false,
            send,
            receive: 0,
            is_rendezvous: false,
            left: packets,
            latest: (0, 0, 0),
            begun,
            matched: 0,
        }
    }

    /// Its row in the record of messages, if it has arrived in cycle `now`.
    pub fn arrival(&self, now: u64) -> activity::Message {
        activity::Message { arrived: now, from: self.from, to: self.to, begun: self.begun, bytes: self.bytes }
    }

    /// A packet of its data, by source and number, has arrived in cycle `now`. Returns the last cycle and its packet if all have.
    pub fn take(&mut self, now: u64, (source, number): (u32, u32)) -> Option<(u64, (u32, u32))> {
        // interfaces in several blocks may call this in any order
        self.latest = self.latest.max((now, source, number));
        self.left -= 1;
        (self.left == 0).then_some((self.latest.0, (self.latest.1, self.latest.2)))
    }

    /// Its transfer, which `packet` ended.
    pub fn cause(&self, packet: Option<(u32, u32)>) -> Cause {
        Cause { peer: self.from, origin: self.from, since: self.begun, packet }
    }

    /// The transfer that its receiver let begin: of a rendezvous.
    pub fn cause_since_match(&self, peer: u32, packet: Option<(u32, u32)>) -> Cause {
        Cause { peer, origin: self.to, since: self.matched, packet }
    }

    pub fn key(&self) -> Key {
        Key { context: self.context, source: self.from, tag: self.tag }
    }
}

/// The messages under way of a node, by number.
#[derive(Debug, Default, Kept)]
pub struct Outbox {
    next: u32,
    pub under_way: BTreeMap<u32, Message>,
}

impl Outbox {
    /// The number of the next message.
    pub fn next_number(&self) -> u32 {
        self.next
    }

    /// Numbers a message.
    pub fn add(&mut self, message: Message) -> u32 {
        let number = self.next;
        self.next = (number + 1) % NUMBERS;
        self.under_way.insert(number, message);
        number
    }

    /// The message with this number, which an end still needs.
    pub fn message(&mut self, number: u32) -> &mut Message {
        self.under_way.get_mut(&number).expect("a message under way")
    }

    /// An interface has sent its last packet of a message. Returns the message if all have.
    pub fn sent(&mut self, number: u32) -> Option<Message> {
        let message = self.message(number);
        message.sending -= 1;
        let done = (message.sending == 0).then_some(*message);
        if done.is_some_and(|message| message.is_received) {
            self.under_way.remove(&number);
        }
        done
    }

    /// The receiver needs a message no longer.
    pub fn received(&mut self, number: u32) -> Message {
        let message = self.message(number);
        message.is_received = true;
        let copy = *message;
        if copy.sending == 0 {
            self.under_way.remove(&number);
        }
        copy
    }
}

/// Packets that an interface of a node has to send.
#[derive(Debug, Clone, Copy, Value)]
pub struct Outgoing {
    pub part: Part,
    pub number: u32,
    /// The node to which they go.
    pub to: u32,
    /// Flits that have not been sent.
    pub flits: u64,
    /// The cycle since which they wait.
    pub since: u64,
    /// The begin of the transfer that ends for the sender when they have left.
    pub cause: Cause,
}

impl Outgoing {
    /// Packets of at most the length of the site that are left.
    pub fn packets(&self, site: &Site) -> u64 {
        self.flits.div_ceil(site.packet_flits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_handles_come_back() {
        for part in [Part::Data, Part::Request, Part::Clear] {
            for number in [0, 1, NUMBERS - 1] {
                assert_eq!(Part::of(part.tag(number)), (part, number));
            }
        }
        let handle = Handle { node: 77, number: NUMBERS - 1 };
        assert_eq!(Handle::from_bits(handle.to_bits()), handle);
    }
}
