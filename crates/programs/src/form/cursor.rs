//! The interface through which an executor reads a program while it runs.

use super::op::{Op, When};
use super::ops::Ops;
use std::sync::Arc;
use weft_units::Refusal;
use weft_units::prefetch::prefetch;

/// Access to the operations of one rank. [`InMemory`] is a cursor over operations in memory.
/// `readers::goal_binary::OnDisk` is a cursor over a file in the binary GOAL format, for programs that are larger than
/// the memory.
pub trait Cursor {
    /// Number of operations.
    fn len(&self) -> u32;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `each` with every operation without predecessors, in the order of the operations.
    fn roots(&mut self, each: impl FnMut(u32));

    /// Returns operation `index`. `index` must be below [`Cursor::len`].
    fn op(&mut self, index: u32) -> Op;

    /// Number of edges that lead to operation `index`.
    fn predecessors(&mut self, index: u32) -> u32;

    /// Calls `each` with every operation that waits for the start or the finish (`when`) of `index`, in the order of
    /// the edges.
    fn successors(&mut self, index: u32, when: When, each: impl FnMut(u32));

    /// Decrements `remaining` for each operation that waits for the start or the finish (`when`) of `index`. Then calls
    /// `each` with every operation whose value has become 0, in the order of the edges.
    #[inline]
    fn count_down(&mut self, index: u32, when: When, remaining: &mut [u32], mut each: impl FnMut(u32, &Op)) {
        let mut free = Vec::new();
        self.successors(index, when, |later| {
            remaining[later as usize] -= 1;
            if remaining[later as usize] == 0 {
                free.push(later);
            }
        });
        free.into_iter().for_each(|later| each(later, &self.op(later)));
    }

    /// Returns the sizes of the blocks of a collective \[bytes\], by the number from [`Op::sizes`].
    fn sizes(&mut self, list: u16) -> Option<Arc<[u64]>>;

    /// Prefetches the record that has the addresses of the lists of operations. Never changes results.
    fn bring_places(&self) {}

    /// Prefetches operation `index` and the indices of its successors. Never changes results.
    fn bring(&self, _index: u32) {}

    /// True if the program is in memory. The caller may then also store a number for each operation.
    fn is_in_memory(&self) -> bool;

    /// Returns the error if an operation could not be read. After an error the cursor returns no further operations.
    fn failure(&self) -> Option<Refusal> {
        None
    }
}

/// A cursor over operations in memory.
#[derive(Debug, Clone)]
pub struct InMemory(pub Arc<Ops>);

impl Cursor for InMemory {
    fn len(&self) -> u32 {
        self.0.len() as u32
    }

    fn roots(&mut self, each: impl FnMut(u32)) {
        self.0.roots().iter().copied().for_each(each);
    }

    #[inline]
    fn op(&mut self, index: u32) -> Op {
        self.0.op(index)
    }

    #[inline]
    fn predecessors(&mut self, index: u32) -> u32 {
        self.0.predecessors(index)
    }

    #[inline]
    fn successors(&mut self, index: u32, when: When, each: impl FnMut(u32)) {
        self.0.successors(index, when).iter().copied().for_each(each);
    }

    #[inline]
    fn count_down(&mut self, index: u32, when: When, remaining: &mut [u32], mut each: impl FnMut(u32, &Op)) {
        for &later in self.0.successors(index, when) {
            let left = &mut remaining[later as usize];
            *left -= 1;
            if *left == 0 {
                each(later, &self.0.ops()[later as usize]);
            }
        }
    }

    fn sizes(&mut self, list: u16) -> Option<Arc<[u64]>> {
        self.0.sizes(list).cloned()
    }

    fn bring_places(&self) {
        prefetch(std::slice::from_ref(&*self.0), 0);
    }

    fn bring(&self, index: u32) {
        self.0.bring(index);
    }

    fn is_in_memory(&self) -> bool {
        true
    }
}
