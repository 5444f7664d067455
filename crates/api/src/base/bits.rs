//! Bit masks of ports (one, two or eight words long), and round-robin choices among the ports in a mask.

use crate::base::kept::Kept;
use crate::base::unchecked::Hot;
use std::num::NonZeroU64;

/// A set of ports of one router (up to `64 * W`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Kept)]
pub struct Bits<const W: usize>([u64; W]);

impl<const W: usize> Default for Bits<W> {
    fn default() -> Self {
        Self([0; W])
    }
}

impl<const W: usize> Bits<W> {
    /// The words of the mask, with one bit per port and 64 ports per word.
    #[inline(always)]
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// The set of ports whose bits in `ports` are set. `ports` has one bit for each of 128 ports; ports from `64 * W` on are ignored.
    #[inline(always)]
    pub fn of(ports: u128) -> Self {
        Self(std::array::from_fn(|word| if word < 2 { (ports >> (64 * word)) as u64 } else { 0 }))
    }

    #[inline(always)]
    pub fn set(&mut self, bit: usize) {
        self.0[if W == 1 { 0 } else { bit >> 6 }] |= 1 << (bit & 63);
    }

    #[inline(always)]
    pub fn clear(&mut self, bit: usize) {
        self.0[if W == 1 { 0 } else { bit >> 6 }] &= !(1 << (bit & 63));
    }

    #[inline(always)]
    pub fn contains(&self, bit: usize) -> bool {
        self.0[if W == 1 { 0 } else { bit >> 6 }] >> (bit & 63) & 1 != 0
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&w| w == 0)
    }

    /// Removes the first member from the set and returns it; `None` if the set is empty.
    #[inline(always)]
    pub fn take_first(&mut self) -> Option<usize> {
        for (k, w) in self.0.iter_mut().enumerate() {
            // with `NonZeroU64` the compiler knows that the word has fewer than 64 trailing zeros
            if let Some(bits) = NonZeroU64::new(*w) {
                *w &= *w - 1;
                return Some(k * 64 + bits.trailing_zeros() as usize);
            }
        }
        None
    }

    /// The members of this set that are not in `other`.
    #[inline(always)]
    pub fn without(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= !b);
        self
    }

    /// The first member at or after number `start` (modulo `64 * W`); if there is none, the first member. The set must not be empty.
    #[inline(always)]
    pub fn pick_from(&self, start: usize) -> usize {
        if W == 1 {
            let above = self.0[0] & (u64::MAX << (start & 63));
            let word = if above != 0 { above } else { self.0[0] };
            return word.trailing_zeros() as usize;
        }
        let first = (start >> 6) % W;
        for k in first..W {
            let keep = if k == first { u64::MAX << (start & 63) } else { u64::MAX };
            if self.0[k] & keep != 0 {
                return k * 64 + (self.0[k] & keep).trailing_zeros() as usize;
            }
        }
        let mut all = *self;
        all.take_first().unwrap_or(0)
    }
}

impl<const W: usize> std::ops::BitOr for Bits<W> {
    type Output = Self;

    #[inline(always)]
    fn bitor(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
        self
    }
}

/// The first set bit of `mask` at or after bit `start`; if there is none, the first set bit. `mask` must not be 0.
#[inline(always)]
pub fn pick16(mask: u16, start: u8) -> u8 {
    let above = u32::from(mask) & (u32::MAX << start);
    let word = if above != 0 { above } else { u32::from(mask) };
    word.trailing_zeros() as u8
}

/// A set of small numbers as bits. The cycle loop uses it for the routers and terminals that have work to do.
#[derive(Debug, Clone, Default, Kept)]
pub struct Active(#[kept(each)] pub Vec<u64>);

impl Active {
    pub fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)])
    }

    #[inline(always)]
    pub fn set(&mut self, i: usize) {
        self.0[i >> 6] |= 1 << (i & 63);
    }

    /// The same as [`set`](Self::set), without a bounds check.
    ///
    /// # Safety
    /// `i` is smaller than the number of members for which the set was made.
    #[inline(always)]
    pub unsafe fn set_hot(&mut self, i: usize) {
        // SAFETY: the caller guarantees that `i` is small enough, and the set has a word for each 64 numbers.
        *unsafe { self.0.hot_mut(i >> 6) } |= 1 << (i & 63);
    }

    #[inline(always)]
    pub fn clear(&mut self, i: usize) {
        self.0[i >> 6] &= !(1 << (i & 63));
    }

    /// The same as [`clear`](Self::clear), without a bounds check.
    ///
    /// # Safety
    /// The conditions are the same as for [`set_hot`](Self::set_hot).
    #[inline(always)]
    pub unsafe fn clear_hot(&mut self, i: usize) {
        // SAFETY: the caller guarantees that `i` is small enough.
        *unsafe { self.0.hot_mut(i >> 6) } &= !(1 << (i & 63));
    }

    #[inline(always)]
    pub fn contains(&self, i: usize) -> bool {
        self.0[i >> 6] >> (i & 63) & 1 != 0
    }

    /// Removes number `i` from the set. Returns whether it was a member.
    #[inline(always)]
    pub fn take(&mut self, i: usize) -> bool {
        let was_set = self.contains(i);
        self.clear(i);
        was_set
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&w| w == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picks<const W: usize>() {
        let members = [0, 5, 63, 64 * W - 1];
        let mut bits = Bits::<W>::default();
        members.iter().for_each(|&m| bits.set(m));
        for start in 0..64 * W {
            let want = members.iter().copied().find(|&m| m >= start).unwrap_or(0);
            assert_eq!(bits.pick_from(start), want, "start {start}");
        }
        assert_eq!(bits.pick_from(64 * W), 0);
        bits.clear(5);
        let mut seen = Vec::new();
        while let Some(b) = bits.take_first() {
            seen.push(b);
        }
        seen.dedup();
        assert!(!seen.contains(&5) && bits.is_empty() && seen[0] == 0);
    }

    #[test]
    fn round_robin_wraps_in_one_and_two_words() {
        picks::<1>();
        picks::<2>();
        assert_eq!((pick16(0b1001, 1), pick16(0b1001, 4), pick16(0b1001, 0)), (3, 0, 0));
    }
}
