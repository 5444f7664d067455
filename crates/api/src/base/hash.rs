//! Hashes used in place of random streams, for choices that must not depend on the order of events.

/// A random number from a hash of (seed, high, low, salt).
#[inline(always)]
pub fn hash(seed: u64, high: u32, low: u32, salt: u64) -> u64 {
    let mut x = seed ^ (u64::from(high) << 32 | u64::from(low)) ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Maps a hash to a number from 0 to n - 1 (bias below n / 2^32).
#[inline(always)]
pub fn below(hash: u64, n: u32) -> u32 {
    (((hash >> 32) * u64::from(n)) >> 32) as u32
}
