//! The comparison of candidates in the loop, for heads that choose in every step and compare only credits.

/// A candidate without a VC that a head may take does not rank above this: only its low byte is not 0.
pub const CLOSED: u32 = 0xff;

/// Rank of a candidate by its credits, those of the VCs that a head may take; the highest wins. In the low byte a hash of
/// port and turn decides ties.
#[inline(always)]
pub fn rank(credits: u32, port: u16, turn: u32) -> u32 {
    credits << 8 | (u32::from(port) + turn).wrapping_mul(0x9e37_79b1) >> 24
}
