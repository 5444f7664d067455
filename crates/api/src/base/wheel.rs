//! Calendar wheel: a store of future events, with one slot per cycle. A slot is a list of chunks from one shared pool, so the wheel needs
//! memory only for the events in flight. If a slot needs a chunk, it takes the chunk that was freed last, because that chunk is most likely
//! in the cache.

use crate::base::kept::{Kept, Reader, Unreadable, Value, Writer};
use crate::base::unchecked::Hot;

/// Value in `ends` of a slot that has no events. The end of a chunk that has items never has this value. Like the end of a full chunk, this
/// value is a multiple of the chunk size. Therefore `push` detects with a single test that it needs a new chunk.
const EMPTY: u32 = 0;

/// A wheel for events of type `T`, at most `horizon - 1` cycles ahead, in chunks of `N` (a power of two). Events of the same cycle have no
/// order.
#[derive(Debug, Clone)]
pub struct Wheel<T, const N: usize> {
    /// For each slot (cycle), the index after the last item of its first chunk; `EMPTY` if the slot has no events. All items before this
    /// index in the same chunk belong to the same cycle.
    ends: Vec<u32>,
    mask: u64,
    /// Chunk k consists of items k * N to (k + 1) * N.
    items: Vec<T>,
    /// For each chunk, the end of the next chunk in the same slot.
    next: Vec<u32>,
    free: Vec<u32>,
}

impl<T: Copy + Default, const N: usize> Wheel<T, N> {
    /// `events`: the maximum number of events in flight at once. The wheel reserves memory for these events, but does not write to it
    /// before it is needed.
    pub fn new(horizon: u64, events: usize) -> Self {
        const { assert!(N.is_power_of_two()) };
        let slots = horizon.max(2).next_power_of_two();
        let chunks = events / N + slots.min(events as u64) as usize + 2;
        Self {
            ends: vec![EMPTY; slots as usize],
            mask: slots - 1,
            items: Vec::with_capacity(chunks * N),
            next: Vec::with_capacity(chunks),
            free: Vec::with_capacity(chunks),
        }
    }

    /// The wheel accepts only events that are fewer than this number of cycles ahead.
    pub fn horizon(&self) -> u64 {
        self.mask + 1
    }

    #[inline(always)]
    pub fn is_empty_at(&self, cycle: u64) -> bool {
        self.end_of((cycle & self.mask) as usize) == EMPTY
    }

    /// The first cycle in `from..until` in which an event is due; `until` if there is no such cycle. The caller guarantees that no event is
    /// due before cycle `from`.
    #[inline]
    pub fn next(&self, from: u64, until: u64) -> u64 {
        let cycles = until.saturating_sub(from).min(self.mask + 1) as usize;
        let first = (from & self.mask) as usize;
        let (before, after) = self.ends.split_at(first);
        let mut slots = after.iter().chain(before).take(cycles);
        slots.position(|&end| end != EMPTY).map_or(until, |distance| from + distance as u64)
    }

    #[inline(always)]
    pub fn push(&mut self, now: u64, at: u64, item: T) {
        debug_assert!(at >= now && at - now <= self.mask, "event {} cycles ahead, wheel holds {}", at - now, self.mask);
        let slot = (at & self.mask) as usize;
        let end = self.end_of(slot);
        if (end as usize).is_multiple_of(N) {
            let first = self.add_chunk(slot);
            self.items[first] = item;
            return;
        }
        // SAFETY: a slot exists for every number up to the mask, and the end of a chunk that is not full is within `items`. Only this file
        // writes these numbers, and `restore` refuses invalid ones.
        unsafe {
            *self.ends.hot_mut(slot) = end + 1;
            *self.items.hot_mut(end as usize) = item;
        }
    }

    /// The end of the first chunk of slot number `slot`. The slot number must be at most `mask`.
    #[inline(always)]
    fn end_of(&self, slot: usize) -> u32 {
        debug_assert!(slot as u64 <= self.mask);
        // SAFETY: a slot exists for every number up to the mask, and all callers apply the mask.
        unsafe { *self.ends.hot(slot) }
    }

    /// Puts a new chunk with one item at the front of slot `slot`. Returns the index of this item.
    #[inline(never)]
    fn add_chunk(&mut self, slot: usize) -> usize {
        let id = self.free.pop().unwrap_or_else(|| {
            self.items.resize(self.items.len() + N, T::default());
            self.next.push(EMPTY);
            self.next.len() as u32 - 1
        });
        let first = id * N as u32;
        self.next[id as usize] = std::mem::replace(&mut self.ends[slot], first + 1);
        first as usize
    }

    /// Whether the wheel has no events.
    pub fn is_empty(&self) -> bool {
        self.ends.iter().all(|&end| end == EMPTY)
    }

    /// The first chunk of cycle `cycle`, as the index of its first item and its number of items; `None` if the cycle has no chunk left.
    #[inline(always)]
    pub fn due(&self, cycle: u64) -> Option<(u32, usize)> {
        let end = self.end_of((cycle & self.mask) as usize);
        (end != EMPTY).then(|| (start::<N>(end), (end - start::<N>(end)) as usize))
    }

    /// Item number `index` of the chunk whose first item is at `first`.
    #[inline(always)]
    pub fn item(&self, first: u32, index: usize) -> T {
        self.items[first as usize + index]
    }

    /// The same item as [`item`](Self::item) returns, without a bounds check.
    ///
    /// # Safety
    /// [`due`](Self::due) has returned `first` and more than `index` items, and the chunk was not released after that call.
    #[inline(always)]
    pub unsafe fn hot_item(&self, first: u32, index: usize) -> T {
        // SAFETY: the items of a chunk that is due are in `items`, from which nothing is removed.
        unsafe { *self.items.hot(first as usize + index) }
    }

    /// The first `len` items of the chunk whose first item is at `first`.
    #[inline(always)]
    pub fn items(&self, first: u32, len: usize) -> &[T] {
        &self.items[first as usize..first as usize + len]
    }

    /// Frees the first chunk of cycle `cycle`, after the caller has processed it.
    #[inline(always)]
    pub fn release(&mut self, cycle: u64) {
        let slot = (cycle & self.mask) as usize;
        let id = start::<N>(self.ends[slot]) / N as u32;
        self.ends[slot] = self.next[id as usize];
        self.free.push(id);
    }

    /// Calls `f` for every event in the wheel, for reports about a stalled network.
    pub fn for_each(&self, mut f: impl FnMut(T)) {
        self.all(|&t| {
            f(t);
            true
        });
    }

    /// Whether `f` is true for every event in the wheel. Stops at the first event for which `f` is false.
    pub fn all(&self, mut f: impl FnMut(&T) -> bool) -> bool {
        self.ends.iter().all(|&end| self.chunks(end).all(|chunk| chunk.iter().all(&mut f)))
    }

    /// The items of each chunk in a slot; `end` is the end of the first chunk.
    fn chunks(&self, end: u32) -> impl Iterator<Item = &[T]> {
        let mut end = end;
        std::iter::from_fn(move || {
            let first = (end != EMPTY).then(|| start::<N>(end) as usize)?;
            let chunk = &self.items[first..end as usize];
            end = self.next[first / N];
            Some(chunk)
        })
    }

    /// Every event in the wheel, with the number of cycles from `now` until the event is due, in order of time.
    pub fn by_distance(&self, now: u64) -> Vec<(u64, T)>
    where
        T: Ord,
    {
        let slot = |distance: u64| {
            let end = self.ends[((now + distance) & self.mask) as usize];
            self.chunks(end).flatten().map(move |&item| (distance, item))
        };
        let mut all: Vec<_> = (0..=self.mask).flat_map(slot).collect();
        all.sort_unstable();
        all
    }

    /// Removes all events.
    pub fn take_all(&mut self) -> Vec<T> {
        let mut all = Vec::new();
        self.for_each(|item| all.push(item));
        for cycle in 0..=self.mask {
            while !self.is_empty_at(cycle) {
                self.release(cycle);
            }
        }
        all
    }

    /// Delays all events by `cycles` cycles. The caller then moves its present cycle forward by the same number.
    pub fn delay(&mut self, cycles: u64) {
        self.ends.rotate_right((cycles & self.mask) as usize);
    }
}

impl<T: Value, const N: usize> Kept for Wheel<T, N> {
    fn keep(&self, to: &mut Writer) {
        let Self { ends, mask: _, items, next, free } = self;
        ends.as_slice().keep(to);
        items.keep(to);
        next.keep(to);
        free.keep(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        let Self { ends, mask: _, items, next, free } = self;
        ends.as_mut_slice().restore(from)?;
        items.restore(from)?;
        next.restore(from)?;
        free.restore(from)?;
        // check all indices of chunks and items here, because the cycle loop does not
        let chunks_are_there = next.len() * N == items.len();
        let ends_are_there = ends.iter().chain(&*next).all(|&end| end as usize <= items.len());
        let free_are_there = free.iter().all(|&id| (id as usize) < next.len());
        if chunks_are_there && ends_are_there && free_are_there { Ok(()) } else { Err(Unreadable) }
    }
}

/// Index of the first item of the chunk whose last used item is directly before `end`.
#[inline(always)]
fn start<const N: usize>(end: u32) -> u32 {
    (end - 1) & !(N as u32 - 1)
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
        assert!(wheel.next.len() <= 40, "{} chunks", wheel.next.len());
    }

    #[test]
    fn the_next_event_is_the_first_in_the_order_of_time() {
        for now in [0, 5, 15, 16_003] {
            let mut wheel = Wheel::<u32, 4>::new(16, 64);
            assert_eq!(wheel.next(now, now + 1000), now + 1000, "an empty wheel");
            for ahead in [15, 7, 3, 0] {
                wheel.push(now, now + ahead, 1);
                assert_eq!(wheel.next(now, now + 1000), now + ahead);
                assert_eq!(wheel.next(now, now + 2), now + ahead.min(2), "none before the bound");
                assert_eq!(wheel.next(now, now), now);
            }
        }
    }

    #[test]
    fn a_wheel_that_is_moved_on_with_the_time_holds_the_same_at_the_same_distances() {
        let mut wheel = Wheel::<u32, 4>::new(16, 64);
        (0..40).for_each(|k| wheel.push(21, 21 + u64::from(k * 7 % 16), k));
        let then = wheel.by_distance(21);
        assert_eq!(then.len(), 40);
        assert!(then.iter().all(|&(distance, k)| distance == u64::from(k * 7 % 16)));
        wheel.delay(5 + 16 * 1000);
        assert_eq!(wheel.by_distance(26 + 16 * 1000), then);
        assert!(wheel.all(|&k| k < 40) && !wheel.all(|&k| k != 17));
        let mut all = wheel.take_all();
        all.sort_unstable();
        assert!(wheel.is_empty() && all == (0..40).collect::<Vec<_>>());
    }
}
