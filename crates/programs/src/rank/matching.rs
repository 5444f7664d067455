//! The matching of messages and receives: a receive gets the first message with a matching communicator, source and
//! tag.

use std::collections::VecDeque;
use weft_units::prefetch::prefetch_first_line;

/// The stored value of a wildcard: all bits are set, as in [`crate::form::Op`].
const ANY: u32 = u32::MAX;

/// The key by which messages and receives are matched. A source or tag with all bits set is a wildcard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The context is a number that separates messages: messages and receives of different contexts never match. The
    /// communicator of all ranks has context 0. Every other communicator and every collective has another number.
    pub context: u32,
    pub source: u32,
    pub tag: u32,
}

impl Key {
    fn fits(self, other: Self) -> bool {
        let equal = |a: u32, b: u32| a == b || a == ANY || b == ANY;
        self.context == other.context && equal(self.source, other.source) && equal(self.tag, other.tag)
    }

    fn is_exact(self) -> bool {
        self.source != ANY && self.tag != ANY
    }
}

/// A queue of receives that wait for messages, or of messages that wait for receives. Items are in the order in
/// which they were added.
#[derive(Debug, Clone)]
pub struct Queue<T> {
    items: VecDeque<(Key, T)>,
    /// Number of keys in the queue that have a wildcard.
    wild: usize,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { items: VecDeque::new(), wild: 0 }
    }
}

impl<T: Copy> Queue<T> {
    #[inline]
    pub fn push(&mut self, key: Key, item: T) {
        self.wild += usize::from(!key.is_exact());
        self.items.push_back((key, item));
    }

    /// Removes and returns the first item whose key matches.
    #[inline]
    pub fn take(&mut self, key: Key) -> Option<T> {
        let is_exact = self.wild == 0 && key.is_exact();
        let matches = |&(other, _): &(Key, T)| if is_exact { other == key } else { other.fits(key) };
        // usually the first item matches
        let place = if matches(self.items.front()?) { 0 } else { self.items.iter().position(matches)? };
        let (taken, item) = if place == 0 { self.items.pop_front() } else { self.items.remove(place) }?;
        self.wild -= usize::from(!taken.is_exact());
        Some(item)
    }

    /// Prefetches the first items of the queue.
    #[inline]
    pub fn bring(&self) {
        // an empty list may have no memory that could be prefetched
        if !self.items.is_empty() {
            prefetch_first_line(self.items.as_slices().0, 0);
        }
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the keys and items in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (Key, T)> {
        self.items.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(source: u32, tag: u32) -> Key {
        Key { context: 0, source, tag }
    }

    #[test]
    fn the_first_that_fits_is_taken() {
        let mut queue = Queue::default();
        for (place, (source, tag)) in [(1, 5), (2, 5), (ANY, 6), (1, ANY), (1, 5)].into_iter().enumerate() {
            queue.push(key(source, tag), place);
        }
        assert_eq!(queue.take(key(1, 6)), Some(2), "any source comes before any tag");
        assert_eq!(queue.take(key(1, 6)), Some(3));
        assert_eq!(queue.take(key(1, 6)), None);
        assert_eq!(queue.take(key(ANY, 5)), Some(0));
        assert_eq!(queue.take(key(1, ANY)), Some(4));
        assert_eq!(queue.take(Key { context: 1, ..key(2, 5) }), None, "another communicator");
        assert_eq!((queue.take(key(2, 5)), queue.len()), (Some(1), 0));
    }
}
