//! Ranks candidate outputs by credits, for heads that choose in every step and compare only credits.

/// Highest rank of a closed candidate (an output without a VC that the head may take): only the low byte of its rank is not 0.
pub const CLOSED: u32 = 0xff;

/// Rank of a candidate output, from its credits over all VCs that the head may take. The highest rank wins. The low byte, a hash of the
/// port and `turn`, decides between equal credits.
#[inline(always)]
pub fn rank(credits: u32, port: u16, turn: u32) -> u32 {
    credits << 8 | (u32::from(port) + turn).wrapping_mul(0x9e37_79b1) >> 24
}
