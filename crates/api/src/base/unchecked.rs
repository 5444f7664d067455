//! Indexing without a bounds check, for the lines of the cycle loop that run for every flit at every hop. All other code uses checked
//! indexing, or [`arrays`](super::arrays), in which every index is valid.

/// Returns `number`, and lets the compiler assume that it is below `LIMIT`. An array of length `LIMIT` then needs no mask on the index.
///
/// # Safety
/// The argument `number` is below `LIMIT`. Builds with debug assertions, which the tests use, check this.
#[inline(always)]
pub unsafe fn below<const LIMIT: usize>(number: usize) -> usize {
    debug_assert!(number < LIMIT, "number {number} of {LIMIT}");
    // SAFETY: the caller guarantees that `number` is below `LIMIT`.
    unsafe { std::hint::assert_unchecked(number < LIMIT) };
    number
}

/// A list whose elements can be read without a bounds check.
pub trait Hot<T> {
    /// The element at index `index`, without a bounds check.
    ///
    /// # Safety
    /// The argument `index` is less than the length of the list. Builds with debug assertions, which the tests use, check the index.
    unsafe fn hot(&self, index: usize) -> &T;

    /// The element at index `index`, for writing, without a bounds check.
    ///
    /// # Safety
    /// The conditions are the same as for [`hot`](Self::hot).
    unsafe fn hot_mut(&mut self, index: usize) -> &mut T;

    /// The elements from index `start` to the end, without a bounds check.
    ///
    /// # Safety
    /// The argument `start` is at most the length of the list.
    unsafe fn hot_from(&mut self, start: usize) -> &mut [T];
}

impl<T> Hot<T> for [T] {
    #[inline(always)]
    unsafe fn hot(&self, index: usize) -> &T {
        debug_assert!(index < self.len(), "index {index} of {}", self.len());
        // SAFETY: the caller guarantees that `index` is less than the length.
        unsafe { self.get_unchecked(index) }
    }

    #[inline(always)]
    unsafe fn hot_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(index < self.len(), "index {index} of {}", self.len());
        // SAFETY: the caller guarantees that `index` is less than the length.
        unsafe { self.get_unchecked_mut(index) }
    }

    #[inline(always)]
    unsafe fn hot_from(&mut self, start: usize) -> &mut [T] {
        debug_assert!(start <= self.len(), "from {start} of {}", self.len());
        // SAFETY: the caller guarantees that `start` is at most the length.
        unsafe { self.get_unchecked_mut(start..) }
    }
}
