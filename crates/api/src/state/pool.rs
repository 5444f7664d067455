//! A pool of slots for records that are often created and removed: packets, segments, waiting replies.

use crate::base::kept::Kept;
use weft_units::prefetch::prefetch;

/// Prefetch distance [slots]: the pool prefetches the free slot that `take` will return after this number of other slots.
const FREE_AHEAD: usize = 8;

/// A pool of slots in one vector. A caller gets the slot that was freed last, because that slot is most likely in the cache.
#[derive(Debug, Clone, Default, Kept)]
pub struct Pool<T> {
    pub items: Vec<T>,
    /// The indices of free slots, in a separate array. In a linked list through the free slots, each load from memory would have to wait
    /// for the load before it.
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

    /// Takes a free slot, which still contains the data of its last user.
    #[inline(always)]
    pub fn take(&mut self) -> u32 {
        match self.free.pop() {
            Some(id) => id,
            None => self.grow(),
        }
    }

    /// Prefetches a free slot that a later `take` will return.
    #[inline(always)]
    pub fn bring_free(&self) {
        if let Some(&id) = self.free.iter().nth_back(FREE_AHEAD) {
            prefetch(&self.items, id as usize);
        }
    }

    #[inline(never)]
    fn grow(&mut self) -> u32 {
        self.items.push(T::default());
        self.free.reserve(self.items.capacity()); // reserved so that `remove` does not allocate; no slot is free now
        self.items.len() as u32 - 1
    }

    #[inline(always)]
    pub fn remove(&mut self, id: u32) {
        self.free.push(id);
    }

    /// Whether every entry of the free list is the index of a slot in the pool.
    pub fn frees_slots(&self) -> bool {
        self.free.iter().all(|&id| (id as usize) < self.items.len())
    }

    /// Number of slots that are taken at present.
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
