//! Slots for records that come and go: packets, segments, replies that wait.

use crate::base::kept::Kept;
use weft_units::prefetch::prefetch;

/// So many slots are taken before one that was asked for.
const FREE_AHEAD: usize = 8;

/// Slots in a vector. The free slot that was freed last is taken first, since it is most likely in the cache.
#[derive(Debug, Clone, Default, Kept)]
pub struct Pool<T> {
    pub items: Vec<T>,
    /// In an array of its own: slots that lead to each other would have to come from the memory one after the other.
    free: Vec<u32>,
}

impl<T: Copy + Default> Pool<T> {
    pub fn with_capacity(n: usize) -> Self {
        Self { items: Vec::with_capacity(n), free: Vec::with_capacity(n) }
    }

    #[inline(always)]
    pub fn add(&mut self, item: T) -> u32 {
        let id = self.take();
        self.items[id as usize] = item;
        id
    }

    /// A free slot; it still holds what its last user left.
    #[inline(always)]
    pub fn take(&mut self) -> u32 {
        match self.free.pop() {
            Some(id) => id,
            None => self.grow(),
        }
    }

    /// Brings a slot into the cache that will be taken soon.
    #[inline(always)]
    pub fn bring_free(&self) {
        if let Some(&id) = self.free.iter().nth_back(FREE_AHEAD) {
            prefetch(&self.items, id as usize);
        }
    }

    #[inline(never)]
    fn grow(&mut self) -> u32 {
        self.items.push(T::default());
        self.free.reserve(self.items.capacity()); // so that `remove` does not allocate; no slot is free now
        self.items.len() as u32 - 1
    }

    #[inline(always)]
    pub fn remove(&mut self, id: u32) {
        self.free.push(id);
    }

    /// Whether all free slots are slots.
    pub fn frees_slots(&self) -> bool {
        self.free.iter().all(|&id| (id as usize) < self.items.len())
    }

    /// Slots that were taken and not removed.
    pub fn in_use(&self) -> usize {
        self.items.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slot_that_was_removed_last_is_taken_first_and_removing_allocates_nothing() {
        let mut pool = Pool::<u32>::with_capacity(2);
        let ids: Vec<u32> = (0..100).map(|value| pool.add(value)).collect();
        assert_eq!((pool.in_use(), &pool.items[..]), (100, &ids[..]));
        let reserved = pool.free.capacity();
        ids.iter().for_each(|&id| pool.remove(id));
        assert_eq!((pool.in_use(), pool.free.capacity()), (0, reserved));
        pool.bring_free();
        assert_eq!([pool.take(), pool.take()], [99, 98]);
        assert_eq!((pool.in_use(), pool.items.len()), (2, 100));
    }
}
