//! The events of the executor. Events are small, because the event queue moves each of them several times.

use std::cmp::Ordering;

/// The subject of an event: an operation or a message, by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    Op(u32),
    Message(u32),
}

/// An event. Events are ordered by time, and at equal times in the order of their creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    pub time: i64,
    pub order: u64,
    /// The upper half is the rank. The lower half is the index of the subject, and two flag bits. These values are one number, because
    /// the queue moves events in parts of 8 bytes. With two separate numbers, the queue would read both at once just after they were
    /// written one by one. The processor would wait for such a read.
    place: u64,
}

/// The bit of [`Event::place`] that is set if the event is about a message.
const MESSAGE: u64 = 1 << 31;
/// The bit that is set if the event has waited: it was once first in the queue while its resources were not free.
const WAITED: u64 = 1 << 30;

/// Number of different indices that fit into an event: 2^30. The limit is no restriction, because 2^30 messages would take more than
/// 40 GB.
pub const PLACES: u32 = WAITED as u32;

impl Event {
    #[inline]
    pub fn new(time: i64, order: u64, rank: u32, about: About) -> Self {
        let subject = match about {
            About::Op(place) => u64::from(place),
            About::Message(place) => MESSAGE | u64::from(place),
        };
        Self { time, order, place: u64::from(rank) << 32 | subject }
    }

    #[inline]
    pub fn rank(&self) -> u32 {
        (self.place >> 32) as u32
    }

    #[inline]
    pub fn about(&self) -> About {
        let place = self.place as u32 & (PLACES - 1);
        if self.place & MESSAGE == 0 { About::Op(place) } else { About::Message(place) }
    }

    #[inline]
    pub fn has_waited(&self) -> bool {
        self.place & WAITED != 0
    }

    /// Returns this event, marked as one that was first in the queue while its resources were not free.
    #[must_use]
    pub fn waited(self) -> Self {
        Self { place: self.place | WAITED, ..self }
    }

    /// Returns this event with another time.
    #[inline]
    #[must_use]
    pub fn at(self, time: i64) -> Self {
        Self { time, ..self }
    }

    /// Returns the time of the event as an unsigned number. These numbers have the same order as the times, negative times included.
    #[inline]
    pub fn biased(&self) -> u64 {
        self.time as u64 ^ 1 << 63
    }

    /// Returns a number that sorts events by time, and events of the same time by their order of creation. The comparison of two such
    /// numbers needs no branch.
    #[inline]
    pub fn key(&self) -> u128 {
        u128::from(self.biased()) << 64 | u128::from(self.order)
    }
}

impl Ord for Event {
    /// The order is reversed, because [`std::collections::BinaryHeap`] returns its greatest item first.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Event {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_takes_24_bytes_and_keeps_its_subject_while_it_waits() {
        assert_eq!(size_of::<Event>(), 24);
        for about in [About::Op(0), About::Op(PLACES - 1), About::Message(0), About::Message(PLACES - 1)] {
            let event = Event::new(7, 8, 9, about);
            assert_eq!((event.rank(), event.about(), event.has_waited()), (9, about, false));
            let waited = event.waited();
            assert_eq!((waited.rank(), waited.about(), waited.has_waited()), (9, about, true));
        }
    }
}
