//! The messages in flight, as both ends know them, and the packets that the interface of a node must send.

use std::collections::BTreeMap;
use weft_api::activity::{self, Cause};
use weft_api::base::kept::{Kept, Reader, Unreadable, Value, Writer};
use weft_programs::rank::Key;

/// A message, identified by the node that sends it and by its number there.
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

/// The purpose of a packet: the highest bits of its tag. The lowest bits are the number of the message at its sender. The bits
/// between them distinguish programs that share nodes (`scheduler/sources.rs`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub enum Part {
    /// A part of the data.
    Data,
    /// The request of a rendezvous.
    Request,
    /// The answer to a request: the matching receive is posted.
    Clear,
}

/// Number of bits of a tag for the number of a message.
pub const NUMBER_BITS: u32 = 24;
const NUMBERS: u32 = 1 << NUMBER_BITS;
/// Lowest of the tag's bits for the purpose.
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

    /// The purpose and the number in a tag.
    pub fn of(tag: u32) -> (Self, u32) {
        let part = match tag >> PART {
            0 => Self::Data,
            1 => Self::Request,
            _ => Self::Clear,
        };
        (part, tag % NUMBERS)
    }
}

/// A message that has begun, and that the sender or the receiver still needs. The sender of the message writes the entry before the
/// first packet leaves. From then on the sender changes `sending`, and the receiver changes the other fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct Message {
    context: u32,
    tag: u32,
    /// The sending rank (`from`) and the receiving rank (`to`).
    pub from: u32,
    pub to: u32,
    pub bytes: u64,
    /// The number of the sending processor. At the receiver, the processor with the same number handles the message.
    pub cpu: u8,
    /// The interface that sends the first packet; the request and the answer also use this interface.
    pub rail: u32,
    /// Number of interfaces that have not sent their last packet of the message.
    pub sending: u32,
    is_received: bool,
    /// The send operation and, for a rendezvous, the receive operation that has matched.
    pub send: u64,
    pub receive: u64,
    pub is_rendezvous: bool,
    /// Number of data packets that have not arrived.
    left: u64,
    /// The cycle of the last arrival so far, and the source and number of its packet. If several packets arrive in one cycle, the
    /// packet with the greatest source counts.
    latest: (u64, u32, u32),
    /// The cycle in which the sender's processor had done its part.
    pub begun: u64,
    /// The cycle in which the receive of a rendezvous matched.
    pub matched: u64,
}

impl Message {
    /// `begun`: the cycle in which the sender's processor has done its part. `packets`: number of data packets.
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

    /// The row of a message in the record of messages; the message has arrived in cycle `now`.
    pub fn arrival(&self, now: u64) -> activity::Message {
        activity::Message { arrived: now, from: self.from, to: self.to, begun: self.begun, bytes: self.bytes }
    }

    /// Called when a data packet, given by source and number, has arrived in cycle `now`. If all packets have arrived, returns the
    /// last cycle and its packet.
    fn take(&mut self, now: u64, (source, number): (u32, u32)) -> Option<(u64, (u32, u32))> {
        // interfaces in several blocks may call this in any order
        self.latest = self.latest.max((now, source, number));
        self.left -= 1;
        (self.left == 0).then_some((self.latest.0, (self.latest.1, self.latest.2)))
    }

    /// Number of data packets that have not arrived.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The transfer of this message, which `packet` ended.
    pub fn cause(&self, packet: Option<(u32, u32)>) -> Cause {
        Cause { peer: self.from, origin: self.from, since: self.begun, packet }
    }

    /// The transfer of a rendezvous since its match, because the receiver let it begin.
    pub fn cause_since_match(&self, peer: u32, packet: Option<(u32, u32)>) -> Cause {
        Cause { peer, origin: self.to, since: self.matched, packet }
    }

    pub fn key(&self) -> Key {
        Key { context: self.context, source: self.from, tag: self.tag }
    }
}

/// Marks a free slot; no message has this number.
const NONE: u32 = u32::MAX;

/// The messages in flight of a node, by number: a hash table with open addressing, which is at most half full. A message is in the
/// slot of its hash, or in a later slot.
#[derive(Debug)]
pub struct Outbox {
    next: u32,
    /// The number in each slot; [`NONE`]: the slot is free. The number of slots is a power of two.
    numbers: Vec<u32>,
    messages: Vec<Message>,
    count: usize,
}

impl Outbox {
    pub fn new() -> Self {
        Self { next: 0, numbers: vec![NONE; 4], messages: vec![Message::default(); 4], count: 0 }
    }

    /// Whether no message is in flight.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The number of the next message.
    pub fn next_number(&self) -> u32 {
        self.next
    }

    /// Gives a number to a message. The number of a message in flight is not given again.
    pub fn add(&mut self, message: Message) -> u32 {
        assert!(self.count < NUMBERS as usize, "a node has 16 million messages in flight, its largest possible number");
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

    /// The slot of a number according to its hash. Consecutive numbers get distant slots (Knuth, "Sorting and Searching", section 6.4).
    #[inline]
    fn home(&self, number: u32) -> usize {
        (number.wrapping_mul(0x9e37_79b1) >> 8) as usize & (self.numbers.len() - 1)
    }

    /// The slot of a number, or the free slot for it.
    #[inline]
    fn place(&self, number: u32) -> usize {
        let mut place = self.home(number);
        while self.numbers[place] != number && self.numbers[place] != NONE {
            place = (place + 1) & (self.numbers.len() - 1);
        }
        place
    }

    /// The message with this number, if the sender or the receiver still needs it.
    pub fn get(&self, number: u32) -> Option<&Message> {
        let place = self.place(number);
        (self.numbers[place] == number).then(|| &self.messages[place])
    }

    /// The message with this number, which the sender or the receiver still needs.
    #[inline]
    pub fn message(&mut self, number: u32) -> &mut Message {
        let place = self.place(number);
        assert_eq!(self.numbers[place], number, "no message in flight has this number");
        &mut self.messages[place]
    }

    /// Called when a data packet of a message, given by source and number, has arrived in cycle `now`. If all packets have arrived,
    /// returns the last cycle and its packet.
    #[inline]
    pub fn take(&mut self, number: u32, now: u64, packet: (u32, u32)) -> Option<(u64, (u32, u32))> {
        self.message(number).take(now, packet)
    }

    /// Frees the slot of a message. Later messages move to earlier slots, as far as their hashes allow.
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

    /// Called when an interface has sent its last packet of a message. Returns the message if all its interfaces have done so.
    pub fn sent(&mut self, number: u32) -> Option<Message> {
        let message = self.message(number);
        message.sending -= 1;
        let done = (message.sending == 0).then_some(*message);
        if done.is_some_and(|message| message.is_received) {
            self.remove(number);
        }
        done
    }

    /// Called when the receiver no longer needs a message.
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

/// Packets that an interface of a node must send.
#[derive(Debug, Clone, Copy, Value)]
pub struct Outgoing {
    pub part: Part,
    pub number: u32,
    /// The node to which the packets go.
    pub to: u32,
    /// Flits that have not been sent.
    pub flits: u64,
    /// The cycle since which the packets wait.
    pub since: u64,
    /// The begin of the transfer that ends for the sender when these packets have left.
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
        // each round adds 5 messages and removes one in three of those present, so that slots in the middle become free
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
