//! Indexing without a bounds check, for the most frequent lines of the loop: those that are executed for every flit at every hop. All other
//! code uses checked indexing, or [`arrays`](super::arrays), in which no index can fail.

/// Returns `number`. The compiler then assumes that the number is below `LIMIT`, so it needs no mask to index an array of this length.
///
/// # Safety
/// `number` is below `LIMIT`. Builds with debug assertions check that `number` is below the limit; the tests use such builds.
#[inline(always)]
pub unsafe fn below<const LIMIT: usize>(number: usize) -> usize {
    debug_assert!(number < LIMIT, "number {number} of {LIMIT}");
    // SAFETY: the caller guarantees it.
    unsafe { std::hint::assert_unchecked(number < LIMIT) };
    number
}

/// A list whose elements can be read without a bounds check.
pub trait Hot<T> {
    /// The element at an index.
    ///
    /// # Safety
    /// `index` is less than the length of the list. Builds with debug assertions check the index; the tests use such builds.
    unsafe fn hot(&self, index: usize) -> &T;

    /// The element at an index, for writing.
    ///
    /// # Safety
    /// The same as for [`hot`](Self::hot).
    unsafe fn hot_mut(&mut self, index: usize) -> &mut T;

    /// The elements from index `start` to the end.
    ///
    /// # Safety
    /// `start` is at most the length of the list.
    unsafe fn hot_from(&mut self, start: usize) -> &mut [T];
}

impl<T> Hot<T> for [T] {
    #[inline(always)]
    unsafe fn hot(&self, index: usize) -> &T {
        debug_assert!(index < self.len(), "index {index} of {}", self.len());
        // SAFETY: the caller guarantees it.
        unsafe { self.get_unchecked(index) }
    }

    #[inline(always)]
    unsafe fn hot_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(index < self.len(), "index {index} of {}", self.len());
        // SAFETY: the caller guarantees it.
        unsafe { self.get_unchecked_mut(index) }
    }

    #[inline(always)]
    unsafe fn hot_from(&mut self, start: usize) -> &mut [T] {
        debug_assert!(start <= self.len(), "from {start} of {}", self.len());
        // SAFETY: the caller guarantees it.
        unsafe { self.get_unchecked_mut(start..) }
    }
}
