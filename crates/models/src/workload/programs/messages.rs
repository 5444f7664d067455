//! The messages in flight, with the data that sender and receiver share. Also the packets that an interface must send.

use std::collections::BTreeMap;
use weft_api::activity::{self, Cause};
use weft_api::base::kept::{Kept, Reader, Unreadable, Value, Writer};
use weft_programs::rank::Key;

/// Identifies a message: the node that sends it, and its number at this node.
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

/// The purpose of a packet, which is stored in the highest bits of the packet's tag. The lowest bits of the tag are the
/// number of the message at its sender. The bits in between distinguish programs that share nodes
/// (`scheduler/sources.rs`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub enum Part {
    /// A part of the data of a message.
    Data,
    /// The request of a rendezvous.
    Request,
    /// The answer to a request: the receiver has posted the matching receive.
    Clear,
}

/// Number of bits of a tag that store the number of a message.
pub const NUMBER_BITS: u32 = 24;
const NUMBERS: u32 = 1 << NUMBER_BITS;
/// Position of the lowest bit of a tag that stores the purpose.
const PART: u32 = 30;

impl Part {
    pub fn tag(self, number: u32) -> u32 {
        let part = match self {
            Self::Data => 0,
            Self::Request => 1,
            Self::Clear => 2,
        };
        part << PART | number
    }

    /// Returns the purpose and the message number that a tag stores.
    pub fn of(tag: u32) -> (Self, u32) {
        let part = match tag >> PART {
            0 => Self::Data,
            1 => Self::Request,
            _ => Self::Clear,
        };
        (part, tag % NUMBERS)
    }
}

/// The entry of a message that the sender or the receiver still needs. The sender writes the entry before the first packet leaves. After
/// that the sender changes only `sending`, and the receiver changes the other fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct Message {
    context: u32,
    tag: u32,
    /// The sending rank.
    pub from: u32,
    /// The receiving rank.
    pub to: u32,
    pub bytes: u64,
    /// The index of the processor that sends the message. At the receiver, the processor with the same index handles
    /// the message.
    pub cpu: u8,
    /// The interface that sends the first packet. The request and the answer also use this interface.
    pub rail: u32,
    /// Number of interfaces that still have packets of the message to send.
    pub sending: u32,
    is_received: bool,
    /// The send operation.
    pub send: u64,
    /// The receive operation that a rendezvous has matched.
    pub receive: u64,
    pub is_rendezvous: bool,
    /// Number of data packets that have not arrived.
    left: u64,
    /// The cycle of the latest arrival of a data packet, with the source and the number of this packet. If several packets arrived in this
    /// cycle, it is the packet with the greatest source.
    latest: (u64, u32, u32),
    /// The cycle in which the sender's processor finished its work for the message.
    pub begun: u64,
    /// The cycle in which the receive operation of a rendezvous matched.
    pub matched: u64,
}

impl Message {
    /// Creates the entry of a message. `begun`: the cycle in which the sender's processor finished its work for the
    /// message. `packets`: number of data packets.
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

    /// Returns the row for the recording of messages. The message has arrived in cycle `now`.
    pub fn arrival(&self, now: u64) -> activity::Message {
        activity::Message { arrived: now, from: self.from, to: self.to, begun: self.begun, bytes: self.bytes }
    }

    /// Records that the data packet with this source and number has arrived in cycle `now`. If all packets have arrived, returns the cycle
    /// of the latest arrival, and the packet that arrived then.
    fn take(&mut self, now: u64, (source, number): (u32, u32)) -> Option<(u64, (u32, u32))> {
        // the maximum does not depend on the order of calls, because interfaces in several blocks call this function in any order
        self.latest = self.latest.max((now, source, number));
        self.left -= 1;
        (self.left == 0).then_some((self.latest.0, (self.latest.1, self.latest.2)))
    }

    /// Number of data packets that have not arrived.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Describes the transfer of this message, which ended with the arrival of `packet`.
    pub fn cause(&self, packet: Option<(u32, u32)>) -> Cause {
        Cause { peer: self.from, origin: self.from, since: self.begun, packet }
    }

    /// Describes the transfer of a rendezvous. It begins when the receive operation matches, because the receiver then starts the transfer.
    pub fn cause_since_match(&self, peer: u32, packet: Option<(u32, u32)>) -> Cause {
        Cause { peer, origin: self.to, since: self.matched, packet }
    }

    pub fn key(&self) -> Key {
        Key { context: self.context, source: self.from, tag: self.tag }
    }
}

/// Value that marks a free slot. No message has this number.
const NONE: u32 = u32::MAX;

/// The messages in flight of a node, by number. This is a hash table with open addressing that is at most half full. A message is in the
/// slot that the hash of its number selects, or in a later slot.
#[derive(Debug)]
pub struct Outbox {
    next: u32,
    /// The message number in each slot; [`NONE`] if the slot is free. The number of slots is a power of two.
    numbers: Vec<u32>,
    messages: Vec<Message>,
    count: usize,
}

impl Outbox {
    pub fn new() -> Self {
        Self { next: 0, numbers: vec![NONE; 4], messages: vec![Message::default(); 4], count: 0 }
    }

    /// True if the node has no message in flight.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The number from which the search for the next message's number starts.
    pub fn next_number(&self) -> u32 {
        self.next
    }

    /// Stores a message, and returns its new number, which no other message in flight has.
    pub fn add(&mut self, message: Message) -> u32 {
        assert!(self.count < NUMBERS as usize, "a node has 16 million messages in flight, which is the limit");
        let mut number = self.next;
        while self.get(number).is_some() {
            number = (number + 1) % NUMBERS;
        }
        self.next = (number + 1) % NUMBERS;
        self.insert(number, message);
        number
    }

    fn insert(&mut self, number: u32, message: Message) {
        self.count += 1;
        if 2 * self.count > self.numbers.len() {
            self.grow();
        }
        let place = self.place(number);
        (self.numbers[place], self.messages[place]) = (number, message);
    }

    fn grow(&mut self) {
        let places = 2 * self.numbers.len();
        let numbers = std::mem::replace(&mut self.numbers, vec![NONE; places]);
        let messages = std::mem::replace(&mut self.messages, vec![Message::default(); places]);
        for (number, message) in numbers.into_iter().zip(messages).filter(|&(number, _)| number != NONE) {
            let place = self.place(number);
            (self.numbers[place], self.messages[place]) = (number, message);
        }
    }

    /// Returns the slot that the hash of a number selects. Consecutive numbers get distant slots (Knuth, "Sorting and Searching", section
    /// 6.4).
    #[inline]
    fn home(&self, number: u32) -> usize {
        (number.wrapping_mul(0x9e37_79b1) >> 8) as usize & (self.numbers.len() - 1)
    }

    /// Returns the slot of a number, or the free slot in which the number belongs.
    #[inline]
    fn place(&self, number: u32) -> usize {
        let mut place = self.home(number);
        while self.numbers[place] != number && self.numbers[place] != NONE {
            place = (place + 1) & (self.numbers.len() - 1);
        }
        place
    }

    /// Returns the message with this number; `None` if neither the sender nor the receiver needs it any more.
    pub fn get(&self, number: u32) -> Option<&Message> {
        let place = self.place(number);
        (self.numbers[place] == number).then(|| &self.messages[place])
    }

    /// Returns the message with this number. Panics if neither the sender nor the receiver needs it any more.
    #[inline]
    pub fn message(&mut self, number: u32) -> &mut Message {
        let place = self.place(number);
        assert_eq!(self.numbers[place], number, "no message in flight has this number");
        &mut self.messages[place]
    }

    /// Records that a data packet of message `number` has arrived in cycle `now`. `packet`: its source and number. If all packets have
    /// arrived, returns the cycle of the latest arrival, and the packet that arrived then.
    #[inline]
    pub fn take(&mut self, number: u32, now: u64, packet: (u32, u32)) -> Option<(u64, (u32, u32))> {
        self.message(number).take(now, packet)
    }

    /// Frees the slot of a message. Messages in later slots then move to earlier slots, but not before the slot that
    /// their hash selects.
    fn remove(&mut self, number: u32) {
        let (mut free, last) = (self.place(number), self.numbers.len() - 1);
        let mut place = free;
        loop {
            place = (place + 1) & last;
            if self.numbers[place] == NONE {
                break;
            }
            let from_home = place.wrapping_sub(self.home(self.numbers[place])) & last;
            if from_home >= (place.wrapping_sub(free) & last) {
                (self.numbers[free], self.messages[free]) = (self.numbers[place], self.messages[place]);
                free = place;
            }
        }
        self.numbers[free] = NONE;
        self.count -= 1;
    }

    /// Records that an interface has sent its last packet of a message. Returns the message if all its interfaces have
    /// sent their last packet.
    pub fn sent(&mut self, number: u32) -> Option<Message> {
        let message = self.message(number);
        message.sending -= 1;
        let done = (message.sending == 0).then_some(*message);
        if done.is_some_and(|message| message.is_received) {
            self.remove(number);
        }
        done
    }

    /// Records that the receiver no longer needs a message, and returns the message.
    pub fn received(&mut self, number: u32) -> Message {
        let message = self.message(number);
        message.is_received = true;
        let copy = *message;
        if copy.sending == 0 {
            self.remove(number);
        }
        copy
    }
}

impl Kept for Outbox {
    fn keep(&self, to: &mut Writer) {
        self.next.keep(to);
        let used = self.numbers.iter().zip(&self.messages).filter(|&(&number, _)| number != NONE);
        used.map(|(&number, &message)| (number, message)).collect::<BTreeMap<u32, Message>>().keep(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        *self = Self::new();
        self.next.restore(from)?;
        let mut kept = BTreeMap::new();
        kept.restore(from)?;
        kept.into_iter().for_each(|(number, message)| self.insert(number, message));
        Ok(())
    }
}

/// Packets of one message that an interface of a node must send.
#[derive(Debug, Clone, Copy, Value)]
pub struct Outgoing {
    pub part: Part,
    pub number: u32,
    /// The node to which the packets go.
    pub to: u32,
    /// Number of flits that have not been sent.
    pub flits: u64,
    /// The cycle since which the packets have waited.
    pub since: u64,
    /// The transfer that ends for the sending rank when these packets have left.
    pub cause: Cause,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: u64) -> Message {
        Message::new(Key { context: 0, source: 0, tag: 0 }, (0, 1), (bytes, 1), (0, 0), 0)
    }

    #[test]
    fn the_table_of_messages_is_that_of_a_map() {
        let (mut outbox, mut map) = (Outbox::new(), BTreeMap::new());
        // each round adds 5 messages and removes a third of the stored messages, so that slots in the middle become
        // free
        for round in 0..200u64 {
            for k in 0..5 {
                let message = message(5 * round + k);
                map.insert(outbox.add(message), message);
            }
            let gone: Vec<u32> = map.keys().copied().filter(|&number| (u64::from(number) + round) % 3 == 0).collect();
            for number in gone {
                let message = map.remove(&number);
                assert_eq!(Some(Message { is_received: false, ..outbox.received(number) }), message);
            }
            for number in 0..=5 * round as u32 + 4 {
                assert_eq!(outbox.get(number), map.get(&number), "number {number} in round {round}");
            }
        }
        let mut bytes = Writer::new();
        outbox.keep(&mut bytes);
        let mut again = Outbox::new();
        again.restore(&mut Reader::new(&bytes)).unwrap();
        assert!(map.iter().all(|(&number, message)| again.get(number) == Some(message)));
        assert_eq!((again.count, again.next_number()), (map.len(), 1000));
    }

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
