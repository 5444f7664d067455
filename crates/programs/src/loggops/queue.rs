//! The queue of events: a radix heap whose first events are sorted.
//!
//! # Source
//! R. K. Ahuja, K. Mehlhorn, J. B. Orlin, R. E. Tarjan, "Faster algorithms for the shortest path problem" (J. ACM 37, 1990): buckets by
//! the highest bit in which a time differs from the first one.
//!
//! # Guarantees
//! Events are returned in the order of time, and at equal times in the order of their creation. A new event may be earlier than the last
//! returned event. [`Queue::ahead`] returns one of the next events, so that the caller can prefetch its data.

use super::event::Event;
use std::collections::BinaryHeap;

/// The longest bucket that is sorted directly. A longer bucket is first divided by time, if its times differ.
const FEW: usize = 64;

/// Buckets: one for each highest bit in which two times differ, and one for equal times.
const BUCKETS: usize = 65;

/// Two lists: events that have not waited, and events that have waited. Each list is almost in the order of creation, so sorting them
/// separately is faster.
type Bucket = [Vec<Event>; 2];

#[derive(Debug)]
pub struct Queue {
    /// The first events in order of time, from index `next`, without the events of `early`.
    sorted: Vec<Event>,
    next: usize,
    /// Events before `edge` that were added after `sorted` was made.
    early: BinaryHeap<Event>,
    /// All events in buckets have this time or a later one.
    edge: u64,
    /// The base time of the buckets: the bucket of an event follows from the highest bit in which its time differs from this time. At
    /// most `edge`.
    base: u64,
    buckets: [Bucket; BUCKETS],
    /// A bit mask of the buckets that have events.
    used: u128,
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
        let bucket = (u64::BITS - (event.biased() ^ self.base).leading_zeros()) as usize;
        self.buckets[bucket][usize::from(event.has_waited())].push(event);
        self.used |= 1 << bucket;
    }

    /// Takes out the first event.
    #[inline]
    pub fn pop(&mut self) -> Option<Event> {
        if self.next == self.sorted.len() && self.early.is_empty() {
            self.refill();
        }
        let first = self.sorted.get(self.next).copied();
        match self.early.peek() {
            Some(early) if first.is_none_or(|first| early.key() < first.key()) => self.early.pop(),
            Some(_) | None => {
                self.next += usize::from(first.is_some());
                first
            }
        }
    }

    /// The event that will be returned after `distance` other events, if no earlier event is added before.
    #[inline]
    pub fn ahead(&self, distance: usize) -> Option<&Event> {
        self.sorted.get(self.next + distance)
    }

    /// Sorts the events of the first bucket, which are the next events.
    fn refill(&mut self) {
        self.sorted.clear();
        self.next = 0;
        while self.used != 0 {
            let bucket = self.used.trailing_zeros() as usize;
            self.used &= !(1 << bucket);
            let mut events = std::mem::take(&mut self.buckets[bucket]);
            let times = events.iter().flatten().map(Event::biased);
            let (first, last) = times.fold((u64::MAX, 0), |(first, last), time| (first.min(time), last.max(time)));
            // the times of all later buckets differ from both in the same bit as from the old base
            self.base = first;
            let is_ready = first == last || events.iter().map(Vec::len).sum::<usize>() <= FEW;
            if is_ready {
                self.edge = last.saturating_add(1);
                events.iter_mut().for_each(|list| list.sort_by_key(Event::key));
                merge(&events, &mut self.sorted);
            } else {
                events.iter().flatten().for_each(|&event| self.put(event));
            }
            events.iter_mut().for_each(Vec::clear);
            self.buckets[bucket] = events;
            if is_ready {
                return;
            }
        }
    }
}

/// Appends the events of two sorted lists to `to` in their order.
fn merge([left, right]: &Bucket, to: &mut Vec<Event>) {
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

    /// Random times of events. Most are later than the last time, by very different steps. Some are earlier, and many are equal.
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
