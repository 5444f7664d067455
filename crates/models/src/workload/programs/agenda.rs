//! A queue of future events: a priority queue that returns the item with the smallest key first.

use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Debug;
use weft_api::base::kept::{Kept, Reader, Unreadable, Value, Writer};

/// An item of an [`Agenda`]. The ordering of items is reversed, because the heap returns its greatest item first.
#[derive(Debug, Clone, Copy)]
struct Item<K, T> {
    key: K,
    item: T,
}

impl<K: Ord, T> PartialEq for Item<K, T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<K: Ord, T> Eq for Item<K, T> {}

impl<K: Ord, T> Ord for Item<K, T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.key.cmp(&self.key)
    }
}

impl<K: Ord, T> PartialOrd for Item<K, T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Items in the order of their keys, the smallest key first. All keys are different, so this order does not depend on
/// the order of insertion.
#[derive(Debug)]
pub struct Agenda<K, T>(BinaryHeap<Item<K, T>>);

impl<K: Ord + Copy, T: Copy> Agenda<K, T> {
    pub fn new() -> Self {
        Self(BinaryHeap::new())
    }

    #[inline]
    pub fn insert(&mut self, key: K, item: T) {
        self.0.push(Item { key, item });
    }

    /// Returns the smallest key; `None` if there are no items.
    #[inline]
    pub fn first(&self) -> Option<K> {
        self.0.peek().map(|first| first.key)
    }

    /// Removes the item with the smallest key, and returns it with its key.
    #[inline]
    pub fn pop(&mut self) -> Option<(K, T)> {
        self.0.pop().map(|Item { key, item }| (key, item))
    }
}

impl<K: Value + Ord + Copy, T: Value + Copy> Kept for Agenda<K, T> {
    fn keep(&self, to: &mut Writer) {
        self.0.iter().map(|each| (each.key, each.item)).collect::<BTreeMap<K, T>>().keep(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        let mut kept = BTreeMap::<K, T>::new();
        kept.restore(from)?;
        self.0 = kept.into_iter().map(|(key, item)| Item { key, item }).collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_by_their_keys_and_so_they_do_after_a_checkpoint() {
        let mut agenda = Agenda::new();
        [(7, 1), (2, 5), (2, 3), (9, 0)].into_iter().for_each(|key: (u64, u32)| agenda.insert(key, key.1 * 10));
        assert_eq!(agenda.pop(), Some(((2, 3), 30)));
        let mut bytes = Writer::new();
        agenda.keep(&mut bytes);
        let mut again = Agenda::<(u64, u32), u32>::new();
        again.restore(&mut Reader::new(&bytes)).unwrap();
        assert_eq!(again.first(), Some((2, 5)));
        let rest: Vec<u32> = std::iter::from_fn(|| again.pop()).map(|(_, item)| item).collect();
        assert_eq!(rest, [50, 10, 0]);
    }
}
