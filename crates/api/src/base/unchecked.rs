//! Indexing without a check of bounds, for the hottest lines of the loop: those that every flit passes at every hop. All other code
//! indexes as usual, or through [`arrays`](super::arrays), where no index can fail.

/// `number`. The compiler knows from now on that it is below `LIMIT`, so it masks no index of an array of this length.
///
/// # Safety
/// `number` is below `LIMIT`. Builds with debug assertions check it; the tests run there.
#[inline(always)]
pub unsafe fn below<const LIMIT: usize>(number: usize) -> usize {
    debug_assert!(number < LIMIT, "number {number} of {LIMIT}");
    // SAFETY: the caller says so.
    unsafe { std::hint::assert_unchecked(number < LIMIT) };
    number
}

/// A list whose places can be read without a check.
pub trait Hot<T> {
    /// The element at a place.
    ///
    /// # Safety
    /// `index` is less than the length of the list. Builds with debug assertions check it; the tests run there.
    unsafe fn hot(&self, index: usize) -> &T;

    /// The same, to write.
    ///
    /// # Safety
    /// As for [`hot`](Self::hot).
    unsafe fn hot_mut(&mut self, index: usize) -> &mut T;

    /// The elements from a place on.
    ///
    /// # Safety
    /// `start` is at most the length of the list.
    unsafe fn hot_from(&mut self, start: usize) -> &mut [T];
}

impl<T> Hot<T> for [T] {
    #[inline(always)]
    unsafe fn hot(&self, index: usize) -> &T {
        debug_assert!(index < self.len(), "index {index} of {}", self.len());
        // SAFETY: the caller says so.
        unsafe { self.get_unchecked(index) }
    }

    #[inline(always)]
    unsafe fn hot_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(index < self.len(), "index {index} of {}", self.len());
        // SAFETY: the caller says so.
        unsafe { self.get_unchecked_mut(index) }
    }

    #[inline(always)]
    unsafe fn hot_from(&mut self, start: usize) -> &mut [T] {
        debug_assert!(start <= self.len(), "from {start} of {}", self.len());
        // SAFETY: the caller says so.
        unsafe { self.get_unchecked_mut(start..) }
    }
}
