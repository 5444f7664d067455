//! A hash of (seed, place, purpose), for choices that must not depend on the order of events.

#[inline(always)]
pub(crate) fn hash(seed: u64, high: u32, low: u32, salt: u64) -> u64 {
    let mut x = seed ^ (u64::from(high) << 32 | u64::from(low)) ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
