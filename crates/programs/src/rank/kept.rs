//! Stores the state of a rank as a list of numbers, for callers that write checkpoints.

use super::counters::Counters;
use super::{Expansion, Key, Machine, OpId, Queue};
use crate::form::Cursor;

/// The part of a stored state that has not been read yet, as a list of numbers.
struct Numbers<'a>(&'a [u64]);

impl Numbers<'_> {
    fn next(&mut self) -> Option<u64> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn small(&mut self) -> Option<u32> {
        self.next()?.try_into().ok()
    }

    /// Reads the number of items of a list. Refuses a length above the number of unread numbers, because each item has
    /// at least one number.
    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.next()?).ok().filter(|&length| length <= self.0.len())
    }

    fn list(&mut self) -> Option<Vec<u32>> {
        (0..self.length()?).map(|_| self.small()).collect()
    }
}

fn write_list(list: &[u32], to: &mut Vec<u64>) {
    to.push(list.len() as u64);
    to.extend(list.iter().map(|&number| u64::from(number)));
}

fn write_queue<T: Copy>(queue: &Queue<T>, number: impl Fn(T) -> u64, to: &mut Vec<u64>) {
    to.push(queue.len() as u64);
    for (Key { context, source, tag }, item) in queue.iter() {
        to.extend([context.into(), source.into(), tag.into(), number(item)]);
    }
}

fn read_queue<T: Copy>(from: &mut Numbers<'_>, item: impl Fn(u64) -> T) -> Option<Queue<T>> {
    let mut queue = Queue::default();
    for _ in 0..from.length()? {
        let key = Key { context: from.small()?, source: from.small()?, tag: from.small()? };
        queue.push(key, item(from.next()?));
    }
    Some(queue)
}

impl<C: Cursor, Handle: Copy> Machine<C, Handle> {
    /// Returns the state that the rank has between two calls of the machine. `number` converts the caller's handle of a
    /// message to a number.
    pub fn state(&self, number: impl Fn(Handle) -> u64) -> Vec<u64> {
        let mut state = vec![u64::from(self.finished)];
        match &self.remaining {
            Counters::Dense(remaining) => write_list(remaining, &mut state),
            Counters::Sparse(seen) => {
                let mut seen: Vec<(u32, u32)> = seen.iter().map(|(&index, &count)| (index, count)).collect();
                seen.sort_unstable();
                write_list(&seen.into_iter().flat_map(|(index, count)| [index, count]).collect::<Vec<_>>(), &mut state);
            }
        }
        state.push(self.expansions.len() as u64);
        for expansion in &self.expansions {
            let Some(Expansion { remaining, left, parent, .. }) = expansion else {
                state.push(0);
                continue;
            };
            state.extend([1, u64::from(*parent), *left as u64]);
            write_list(remaining, &mut state);
        }
        write_queue(&self.posted, OpId::to_bits, &mut state);
        write_queue(&self.unexpected, number, &mut state);
        state
    }

    /// Restores a state of the same rank. Returns `None` if the numbers are not a valid state. The caller must then not
    /// use the machine.
    pub fn restore(&mut self, state: &[u64], handle: impl Fn(u64) -> Handle) -> Option<()> {
        let mut from = Numbers(state);
        self.finished = from.small()?;
        let counts = from.list()?;
        match &mut self.remaining {
            Counters::Dense(remaining) => {
                if counts.len() != remaining.len() {
                    return None;
                }
                *remaining = counts;
            }
            Counters::Sparse(seen) => *seen = counts.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
        }
        self.expansions.clear();
        for _ in 0..from.length()? {
            let expansion = match from.next()? {
                0 => None,
                _ => Some(self.expansion_of(&mut from)?),
            };
            self.expansions.push(expansion);
        }
        self.posted = read_queue(&mut from, OpId::from_bits)?;
        self.unexpected = read_queue(&mut from, handle)?;
        self.work.clear();
        from.0.is_empty().then_some(())
    }

    /// Reads an active collective. Its messages are not in the stored state, because the rules create the same messages
    /// again.
    fn expansion_of(&mut self, from: &mut Numbers<'_>) -> Option<Expansion> {
        let (parent, left) = (from.small()?, from.next()? as usize);
        if parent >= self.cursor.len() {
            return None;
        }
        let call = self.cursor.op(parent);
        let ops = self.messages_of(&Expansion::form(&call));
        let remaining = from.list()?;
        let begun = Expansion::new(ops, (parent, call), &self.comms);
        (remaining.len() == begun.remaining.len()).then_some(Expansion { remaining, left, ..begun })
    }
}
