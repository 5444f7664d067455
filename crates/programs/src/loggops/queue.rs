//! The queue of events: a radix heap in which the first events are sorted.
//!
//! # Source
//! R. K. Ahuja, K. Mehlhorn, J. B. Orlin, R. E. Tarjan, "Faster algorithms for the shortest path problem" (J. ACM 37, 1990). The number
//! of a time's bucket is the position of the highest bit in which the time differs from a base time.
//!
//! # Guarantees
//! The queue returns events in the order of time, and at equal times in the order of their creation. A new event can be earlier than the
//! last returned event. The function [`Queue::ahead`] returns one of the next events, so that the caller can prefetch the data of this
//! event.

use super::event::Event;
use std::collections::BinaryHeap;

/// Largest number of events of a bucket that the queue sorts directly. If a larger bucket has different times, the queue first divides
/// it into smaller buckets.
const FEW: usize = 64;

/// Number of buckets: one for each highest bit in which two times can differ, and one for equal times.
const BUCKETS: usize = 65;

/// A bucket has two lists: events that have not waited, and events that have waited. Each list is almost in the order of creation, so
/// it is faster to sort the lists separately.
type Bucket = [Vec<Event>; 2];

#[derive(Debug)]
pub struct Queue {
    /// The first events in the order of time, from index `next`. The events in `early` are not included.
    sorted: Vec<Event>,
    next: usize,
    /// Events before `edge` that were added after the list `sorted` was made.
    early: BinaryHeap<Event>,
    /// All events in buckets have this time or a later one.
    edge: u64,
    /// The base time from which the buckets follow. It is at most `edge`.
    base: u64,
    buckets: [Bucket; BUCKETS],
    /// A bit mask of the non-empty buckets, without bucket 0: bit `k` is for bucket `k + 1`.
    used: u64,
}

impl Queue {
    pub fn new() -> Self {
        let buckets = std::array::from_fn(|_| Bucket::default());
        Self { sorted: Vec::new(), next: 0, early: BinaryHeap::new(), edge: 0, base: 0, buckets, used: 0 }
    }

    #[inline]
    pub fn push(&mut self, event: Event) {
        if event.biased() < self.edge {
            self.early.push(event);
        } else {
            self.put(event);
        }
    }

    /// Puts an event into its bucket.
    #[inline]
    fn put(&mut self, event: Event) {
        let bucket = u64::BITS - (event.biased() ^ self.base).leading_zeros();
        self.buckets[bucket as usize][usize::from(event.has_waited())].push(event);
        self.used |= 1u64.unbounded_shl(bucket.wrapping_sub(1));
    }

    /// Removes and returns the first event.
    #[inline]
    pub fn pop(&mut self) -> Option<Event> {
        if self.next == self.sorted.len() && self.early.is_empty() {
            return self.refill();
        }
        match (self.sorted.get(self.next), self.early.peek()) {
            (first, Some(early)) if first.is_none_or(|first| early.key() < first.key()) => self.early.pop(),
            (first, _) => {
                self.next += usize::from(first.is_some());
                first.copied()
            }
        }
    }

    /// Returns the event that the queue will return after `distance` other events, unless events that precede it are added.
    #[inline]
    pub fn ahead(&self, distance: usize) -> Option<&Event> {
        self.sorted.get(self.next + distance)
    }

    /// Sorts the events of the first non-empty bucket, which are the next events. Removes and returns the first of these events.
    fn refill(&mut self) -> Option<Event> {
        self.sorted.clear();
        self.next = 0;
        while let Some(bucket) = self.first_bucket() {
            if let [[event], []] = self.buckets[bucket].each_ref().map(Vec::as_slice) {
                let event = *event;
                self.base = event.biased();
                self.edge = self.base.saturating_add(1);
                self.buckets[bucket][0].clear();
                return Some(event);
            }
            let mut events = std::mem::take(&mut self.buckets[bucket]);
            let [fresh, waited] = &mut events;
            let (mut first, mut last) = (u64::MAX, 0);
            for time in fresh.iter().chain(waited.iter()).map(Event::biased) {
                (first, last) = (first.min(time), last.max(time));
            }
            // events of later buckets stay in their buckets, because their times differ from the new base in the same highest bit as
            // from the old base
            self.base = first;
            let is_ready = first == last || fresh.len() + waited.len() <= FEW;
            if is_ready {
                self.edge = last.saturating_add(1);
                fresh.sort_by_key(Event::key);
                waited.sort_by_key(Event::key);
                merge(fresh, waited, &mut self.sorted);
            } else {
                fresh.iter().chain(waited.iter()).for_each(|&event| self.put(event));
            }
            fresh.clear();
            waited.clear();
            self.buckets[bucket] = events;
            if is_ready {
                self.next = 1;
                return self.sorted.first().copied();
            }
        }
        None
    }

    /// Returns the first non-empty bucket. From now on this bucket counts as empty.
    #[inline]
    fn first_bucket(&mut self) -> Option<usize> {
        if self.buckets[0].iter().any(|list| !list.is_empty()) {
            return Some(0);
        }
        let bucket = (self.used != 0).then(|| self.used.trailing_zeros() as usize + 1)?;
        self.used &= self.used - 1;
        Some(bucket)
    }
}

/// Appends the events of two sorted lists to `to` in their order.
fn merge(left: &[Event], right: &[Event], to: &mut Vec<Event>) {
    if right.is_empty() {
        return to.extend_from_slice(left);
    }
    let mut rest = right.iter().peekable();
    for event in left {
        while let Some(before) = rest.next_if(|other| other.key() < event.key()) {
            to.push(*before);
        }
        to.push(*event);
    }
    to.extend(rest);
}

#[cfg(test)]
mod tests {
    use super::super::event::About;
    use super::*;
    use rand_pcg::Pcg64Mcg;
    use rand_pcg::rand_core::{Rng, SeedableRng};

    fn event(time: i64, order: u64) -> Event {
        Event::new(time, order, 0, About::Op(0))
    }

    /// The queue must return events in the same order as a heap. The times of events are random: most are later than the
    /// last one, by steps of very different lengths, some are earlier, and many are equal.
    #[test]
    fn events_come_as_from_a_heap() {
        for seed in 0..30 {
            let mut random = Pcg64Mcg::seed_from_u64(seed);
            let (mut queue, mut heap) = (Queue::new(), BinaryHeap::new());
            let (mut now, mut order) = (-5_000, 0);
            for _ in 0..3_000 {
                for _ in 0..random.next_u64() % 5 {
                    let step = (random.next_u64() % (1 << (random.next_u64() % 30))) as i64;
                    let time = if random.next_u64() % 8 == 0 { now - step % 1000 } else { now + step };
                    let event = event(time, order);
                    let event = if random.next_u64() % 3 == 0 { event.waited() } else { event };
                    order += 1;
                    queue.push(event);
                    heap.push(event);
                }
                for _ in 0..random.next_u64() % 5 {
                    let first = queue.pop();
                    assert_eq!(first, heap.pop());
                    now = first.map_or(now, |first| first.time);
                }
            }
            while let Some(first) = heap.pop() {
                assert_eq!(queue.pop(), Some(first));
            }
            assert_eq!(queue.pop(), None);
        }
    }

    #[test]
    fn the_extremes_of_time_come_in_their_order() {
        let mut queue = Queue::new();
        let times = [i64::MAX, 0, i64::MIN, -1, i64::MAX, i64::MIN];
        times.into_iter().zip(0..).for_each(|(time, order)| queue.push(event(time, order)));
        let out: Vec<(i64, u64)> = std::iter::from_fn(|| queue.pop()).map(|event| (event.time, event.order)).collect();
        let expected = [(i64::MIN, 2), (i64::MIN, 5), (-1, 3), (0, 1), (i64::MAX, 0), (i64::MAX, 4)];
        assert_eq!(out, expected);
        queue.push(event(i64::MAX, 6));
        assert_eq!(queue.pop().map(|event| event.order), Some(6));
    }
}
