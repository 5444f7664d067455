//! Packets of one message that an interface sends or receives in succession. The interface counts these packets itself. Therefore most
//! packets of a long message need neither the state of their node nor the table of messages. Threads share the node and the table, so this
//! also avoids locks.
//!
//! A node whose interfaces are all in one block can lend packets to an interface. It lends the packets of the message at the front of the
//! interface's queue, except the last packet. When other packets could get priority, the node takes the lent packets back. If all packets
//! of a message arrive at one interface, this interface also receives them without the node. A checkpoint stores the queues of nodes as if
//! no packets were lent.

use weft_api::base::kept::Value;
use weft_api::workload::{Counts, NewPacket};

/// Packets of the greatest length that a node has lent to an interface. The interface sends them without access to the node.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lent {
    /// Number of remaining packets.
    pub packets: u64,
    /// The cycle since which the packets have waited.
    since: u64,
    to: u32,
    tag: u32,
    flits: u16,
}

impl Lent {
    /// Returns a burst of `packets` packets with the fields of this packet.
    pub fn of(packet: &NewPacket, packets: u64) -> Self {
        let &NewPacket { to, flits, created, tag, .. } = packet;
        Self { packets, since: created, to, tag, flits }
    }

    /// The next packet.
    #[inline]
    pub fn next(&mut self) -> Option<NewPacket> {
        self.packets = self.packets.checked_sub(1)?;
        let Self { since, to, tag, flits, .. } = *self;
        Some(NewPacket { to, flits, created: since, tag, counts: Counts::IfCreatedInWindow })
    }
}

/// The message that an interface receives without its node, if there is one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct Incoming {
    /// Number of packets that have not arrived; 0 means that there is no message.
    left: u64,
    /// The cycle of the latest arrival of a packet of the message, and the number of this packet.
    latest: (u64, u32),
    /// The terminal that sends the message.
    from: u32,
    /// The tag of the packets of the message.
    tag: u32,
}

/// The effect of an arriving packet on the message that an interface receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// The packet belongs to a message other than the one that the interface receives.
    Other,
    Part,
    /// The packet completes the message. The fields are the cycle of the latest arrival, and the number of the packet that arrived then.
    Last(u64, u32),
}

impl Incoming {
    /// Starts to receive a message without the node. `number`: the packet that has just arrived, in cycle `now`. `left`: number of packets
    /// that have not arrived.
    pub fn of((from, tag): (u32, u32), left: u64, (now, number): (u64, u32)) -> Self {
        Self { left, latest: (now, number), from, tag }
    }

    pub fn is_none(&self) -> bool {
        self.left == 0
    }

    /// Records that packet `number` from terminal `from` has arrived in cycle `now`.
    #[inline]
    pub fn receive(&mut self, (from, tag): (u32, u32), (now, number): (u64, u32)) -> Received {
        if self.left == 0 || (self.from, self.tag) != (from, tag) {
            return Received::Other;
        }
        self.latest = self.latest.max((now, number));
        self.left -= 1;
        if self.left > 0 { Received::Part } else { Received::Last(self.latest.0, self.latest.1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lent_packets_are_those_of_their_message() {
        let first = NewPacket { to: 4, flits: 16, created: 9, tag: 3, counts: Counts::IfCreatedInWindow };
        let mut lent = Lent::of(&first, 2);
        let of = |packet: Option<NewPacket>| packet.map(|packet| (packet.to, packet.flits, packet.created, packet.tag));
        assert_eq!([(); 3].map(|()| of(lent.next())), [Some((4, 16, 9, 3)), Some((4, 16, 9, 3)), None]);
    }

    #[test]
    fn the_last_packet_of_a_message_ends_it_with_its_latest_arrival() {
        let mut incoming = Incoming::default();
        assert_eq!(incoming.receive((0, 0), (1, 0)), Received::Other, "none has been taken over");
        incoming = Incoming::of((5, 2), 3, (10, 7));
        assert_eq!(incoming.receive((6, 2), (11, 0)), Received::Other, "from another terminal");
        assert_eq!(incoming.receive((5, 3), (11, 0)), Received::Other, "another message");
        assert_eq!(incoming.receive((5, 2), (12, 9)), Received::Part);
        assert_eq!(incoming.receive((5, 2), (13, 8)), Received::Part);
        assert_eq!(incoming.receive((5, 2), (13, 6)), Received::Last(13, 8));
        assert!(incoming.is_none());
    }
}
