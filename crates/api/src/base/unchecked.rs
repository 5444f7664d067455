//! Indexing in the loop: checked in debug builds (the tests run there), unchecked in release builds.
//!
//! Every index is set when the network is assembled, or comes from another record of the same block, and stays in range
//! for the whole run. Checks would cost about a tenth of the time.

pub trait Hot<T> {
    fn hot(&self, index: usize) -> &T;
    fn hot_mut(&mut self, index: usize) -> &mut T;
    /// The elements from `start` on, to read.
    fn hot_slice(&self, start: usize) -> &[T];
    /// The elements from `start` on.
    fn hot_from(&mut self, start: usize) -> &mut [T];
}

impl<T> Hot<T> for [T] {
    #[inline(always)]
    fn hot(&self, index: usize) -> &T {
        debug_assert!(index < self.len(), "index {index} of {}", self.len());
        // SAFETY: in range, see above.
        unsafe { self.get_unchecked(index) }
    }

    #[inline(always)]
    fn hot_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(index < self.len(), "index {index} of {}", self.len());
        // SAFETY: in range, see above.
        unsafe { self.get_unchecked_mut(index) }
    }

    #[inline(always)]
    fn hot_slice(&self, start: usize) -> &[T] {
        debug_assert!(start <= self.len(), "from {start} of {}", self.len());
        // SAFETY: in range, see above.
        unsafe { self.get_unchecked(start..) }
    }

    #[inline(always)]
    fn hot_from(&mut self, start: usize) -> &mut [T] {
        debug_assert!(start <= self.len(), "from {start} of {}", self.len());
        // SAFETY: in range, see above.
        unsafe { self.get_unchecked_mut(start..) }
    }
}
