//! Compares candidate outputs in the loop, for heads that choose in every step and compare only credits.

/// The rank of a candidate without a VC that the head may take is at most this: only the low byte of the rank is not 0.
pub const CLOSED: u32 = 0xff;

/// Rank of a candidate by its credits, counted over the VCs that the head may take; the highest rank wins. A hash of the port and the turn,
/// in the low byte, decides ties.
#[inline(always)]
pub fn rank(credits: u32, port: u16, turn: u32) -> u32 {
    credits << 8 | (u32::from(port) + turn).wrapping_mul(0x9e37_79b1) >> 24
}
