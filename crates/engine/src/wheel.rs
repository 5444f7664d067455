//! Calendar wheel: what happens at a later cycle. Slots are lists of chunks from one pool, so memory follows what is in
//! flight, and the most recently freed (hottest) chunk is used next.

use crate::hot::Hot;

/// The end of every list: a chunk without items that counts as full, so that one test finds both an empty slot and a
/// full chunk.
const END: u32 = 0;

#[derive(Debug, Clone)]
struct Chunk<T, const N: usize> {
    next: u32,
    len: u32,
    items: [T; N],
}

/// Events of type `T` at most `horizon - 1` cycles ahead, in chunks of `N`. The order inside a cycle carries no meaning.
#[derive(Debug, Clone)]
pub struct Wheel<T, const N: usize> {
    slots: Vec<u32>,
    mask: u64,
    chunks: Vec<Chunk<T, N>>,
    free: Vec<u32>,
}

impl<T: Copy + Default, const N: usize> Wheel<T, N> {
    /// `events` bounds what is in flight at once: memory is reserved for it (touched only when used).
    pub fn new(horizon: u64, events: usize) -> Self {
        let slots = horizon.max(2).next_power_of_two();
        let chunks = events / N + slots.min(events as u64) as usize + 2;
        let mut all = Vec::with_capacity(chunks);
        all.push(Chunk { next: END, len: N as u32, items: [T::default(); N] });
        Self {
            slots: vec![END; slots as usize],
            mask: slots - 1,
            chunks: all,
            free: Vec::with_capacity(chunks),
        }
    }

    /// Cycles ahead that still fit.
    pub fn horizon(&self) -> u64 {
        self.mask + 1
    }

    #[inline(always)]
    pub fn is_empty_at(&self, cycle: u64) -> bool {
        *self.slots.hot((cycle & self.mask) as usize) == END
    }

    #[inline(always)]
    pub fn push(&mut self, now: u64, at: u64, item: T) {
        debug_assert!(at >= now && at - now <= self.mask, "event {} cycles ahead, wheel holds {}", at - now, self.mask);
        let slot = (at & self.mask) as usize;
        let mut chunk = *self.slots.hot(slot);
        if self.chunks.hot(chunk as usize).len as usize == N {
            chunk = self.add_chunk(chunk);
            *self.slots.hot_mut(slot) = chunk;
        }
        let c = self.chunks.hot_mut(chunk as usize);
        *c.items.hot_mut(c.len as usize) = item;
        c.len += 1;
    }

    #[inline(never)]
    fn add_chunk(&mut self, next: u32) -> u32 {
        if let Some(id) = self.free.pop() {
            let c = &mut self.chunks[id as usize];
            (c.next, c.len) = (next, 0);
            return id;
        }
        self.chunks.push(Chunk { next, len: 0, items: [T::default(); N] });
        self.chunks.len() as u32 - 1
    }

    /// The first chunk due at `cycle`: its number of items and its id; `None` when nothing is left.
    #[inline(always)]
    pub fn due(&self, cycle: u64) -> Option<(u32, usize)> {
        let id = *self.slots.hot((cycle & self.mask) as usize);
        (id != END).then(|| (id, self.chunks.hot(id as usize).len as usize))
    }

    #[inline(always)]
    pub fn item(&self, chunk: u32, index: usize) -> T {
        *self.chunks.hot(chunk as usize).items.hot(index)
    }

    /// Gives the first chunk due at `cycle` back.
    #[inline(always)]
    pub fn release(&mut self, cycle: u64) {
        let slot = (cycle & self.mask) as usize;
        let id = self.slots[slot];
        let c = &self.chunks[id as usize];
        self.slots[slot] = c.next;
        self.free.push(id);
    }

    /// Everything in flight, for reports about a stalled network.
    pub fn for_each(&self, mut f: impl FnMut(T)) {
        for &slot in &self.slots {
            let mut id = slot;
            while id != END {
                let c = &self.chunks[id as usize];
                c.items[..c.len as usize].iter().for_each(|&t| f(t));
                id = c.next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delivers_every_event_in_its_cycle_and_reuses_chunks() {
        let mut wheel = Wheel::<u32, 4>::new(16, 64);
        let mut got = Vec::new();
        for now in 0..1000u64 {
            while let Some((chunk, len)) = wheel.due(now) {
                (0..len).for_each(|i| got.push((now, wheel.item(chunk, i))));
                wheel.release(now);
            }
            for k in 0..(now % 7) {
                wheel.push(now, now + 1 + (now * 5 + k) % 15, (now * 16 + 1 + (now * 5 + k) % 15) as u32);
            }
        }
        assert!(got.iter().all(|&(now, x)| u64::from(x / 16) + u64::from(x % 16) == now));
        assert!(wheel.chunks.len() <= 40, "{} chunks", wheel.chunks.len());
    }
}
