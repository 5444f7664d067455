//! Arrays in which every index is valid, so the cycle loop reads them without a bounds check.

use super::kept::{Kept, Reader, Unreadable, Writer};
use super::unchecked::Hot;
use std::ops::{Index, IndexMut};

/// An array whose length is a power of two, such as the credits of an output (one element per VC).
pub trait At<T> {
    /// The element at index `place`. If the index is too large, only its lower bits count; builds with debug assertions panic instead.
    fn at(&self, place: usize) -> &T;
    /// The element at index `place`, for writing.
    fn at_mut(&mut self, place: usize) -> &mut T;
}

impl<T, const N: usize> At<T> for [T; N] {
    #[inline(always)]
    fn at(&self, place: usize) -> &T {
        const { assert!(N.is_power_of_two()) };
        debug_assert!(place < N, "place {place} of {N}");
        &self[place & (N - 1)]
    }

    #[inline(always)]
    fn at_mut(&mut self, place: usize) -> &mut T {
        const { assert!(N.is_power_of_two()) };
        debug_assert!(place < N, "place {place} of {N}");
        &mut self[place & (N - 1)]
    }
}

/// An array with one element for each port that a mask of `W` words can contain ([`Bits`](super::bits::Bits)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerPort<T, const W: usize>([[T; 64]; W]);

impl<T: Copy, const W: usize> PerPort<T, W> {
    pub fn new(value: T) -> Self {
        Self([[value; 64]; W])
    }

    /// Number of ports for which the array has elements.
    pub const LEN: usize = 64 * W;

    /// The element of a port. Unlike `index`, it does not limit the index by a mask.
    ///
    /// # Safety
    /// `port` is below [`LEN`](Self::LEN).
    #[inline(always)]
    pub unsafe fn hot(&self, port: usize) -> &T {
        // SAFETY: the caller guarantees that `port` is below the length.
        unsafe { self.0.as_flattened().hot(port) }
    }

    /// The element of a port, for writing. Unlike `index_mut`, it does not limit the index by a mask.
    ///
    /// # Safety
    /// The conditions are the same as for [`hot`](Self::hot).
    #[inline(always)]
    pub unsafe fn hot_mut(&mut self, port: usize) -> &mut T {
        // SAFETY: the caller guarantees that `port` is below the length.
        unsafe { self.0.as_flattened_mut().hot_mut(port) }
    }

    /// The elements of the first `count` ports.
    pub fn first(&self, count: usize) -> &[T] {
        &self.0.as_flattened()[..count]
    }
}

impl<T, const W: usize> Index<usize> for PerPort<T, W> {
    type Output = T;

    /// The element of a port number. If the number is too large, only its lower bits count, as in [`At::at`].
    #[inline(always)]
    fn index(&self, port: usize) -> &T {
        self.0.at(port >> 6).at(port & 63)
    }
}

impl<T, const W: usize> IndexMut<usize> for PerPort<T, W> {
    #[inline(always)]
    fn index_mut(&mut self, port: usize) -> &mut T {
        self.0.at_mut(port >> 6).at_mut(port & 63)
    }
}

impl<T: Kept, const W: usize> Kept for PerPort<T, W> {
    fn keep(&self, to: &mut Writer) {
        self.0.as_flattened().iter().for_each(|value| value.keep(to));
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        self.0.as_flattened_mut().iter_mut().try_for_each(|value| value.restore(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_port_has_a_place_of_its_own() {
        let mut of = PerPort::<usize, 2>::new(0);
        (0..PerPort::<usize, 2>::LEN).for_each(|port| of[port] = port);
        assert!((0..128).all(|port| of[port] == port));
    }

    #[test]
    fn an_array_is_read_at_all_its_places() {
        let mut of = [0; 8];
        (0..8).for_each(|v| *of.at_mut(v) = v);
        assert!((0..8).all(|v| *of.at(v) == v));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "place 8 of 8")]
    fn a_place_beyond_the_array_is_refused_in_debug_builds() {
        [0; 8].at(8);
    }
}
