//! Prefetches records into the CPU cache before the engine reads them.

/// Prefetches the cache line of element `index`, and the next cache line if the element is longer than one line. Reads nothing.
#[inline(always)]
pub fn prefetch<T>(records: &[T], index: usize) {
    let record = records.as_ptr().wrapping_add(index).cast::<u8>();
    line(record);
    if size_of::<T>() > LINE {
        line(record.wrapping_add(LINE));
    }
}

/// Prefetches the first cache line of element `index`.
#[inline(always)]
pub fn prefetch_first_line<T>(records: &[T], index: usize) {
    line(records.as_ptr().wrapping_add(index).cast::<u8>());
}

/// Prefetches all cache lines of element `index`.
#[inline(always)]
pub fn prefetch_whole<T>(records: &[T], index: usize) {
    let record = records.as_ptr().wrapping_add(index).cast::<u8>();
    (0..size_of::<T>()).step_by(LINE).for_each(|offset| line(record.wrapping_add(offset)));
}

/// Size of a cache line [bytes].
const LINE: usize = 64;

#[inline(always)]
fn line(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
