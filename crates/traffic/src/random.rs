//! Random numbers with addresses: every random number of a run is a function of (seed, component, purpose, number of earlier draws).
//!
//! # Source
//! G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA'14 (the finaliser of
//! SplitMix64); M. E. O'Neill, "PCG", HMC-CS-2014-0905; D. Lemire, "Fast Random Integer Generation in an Interval",
//! ACM TOMACS 29(1), 2019.
//!
//! # Parameters
//! A seed, the number of a component and the number of a purpose \[64-bit words\].
//!
//! # Guarantees
//! If a model adds a component, or a draw in a component, the random streams of other components do not change. The random numbers never
//! change between versions of Weft: a test compares them with constants. The random numbers are the same on every machine, because the
//! generator uses only integer arithmetic.
//!
//! # Not modelled
//! Cryptographic strength.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

/// 2^64 / golden ratio. The hash adds this constant so that no small input is a fixed point of the finaliser.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of SplitMix64: a bijection in which every output bit depends on every input bit.
fn finalise(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A hash of three words, for random numbers without stored state. The hash is a bijection in each word if the other two words are fixed.
pub fn mix(a: u64, b: u64, c: u64) -> u64 {
    [a, b, c].into_iter().fold(0, |hash, word| finalise((hash ^ word).wrapping_add(GOLDEN)))
}

/// The random stream of one component for one purpose.
pub fn stream(seed: u64, component: u64, purpose: u64) -> Pcg32 {
    let state = mix(seed, component, purpose);
    // PCG's sequence number is also a hash of the address (seed, component and purpose). Generators with the same sequence number would be
    // shifted copies of each other.
    Pcg32::new(state, finalise(state.wrapping_add(GOLDEN)))
}

/// Draws a uniform number in 0..n, for n > 0, without bias. Lemire's method needs a division in only n / 2^32 of the draws.
#[inline]
pub fn below(rng: &mut Pcg32, n: u32) -> u32 {
    debug_assert!(n > 0, "no number is below 0");
    let mut product = u64::from(rng.next_u32()) * u64::from(n);
    if (product as u32) < n {
        let excess = n.wrapping_neg() % n;
        while (product as u32) < excess {
            product = u64::from(rng.next_u32()) * u64::from(n);
        }
    }
    (product >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finaliser_is_that_of_splitmix64() {
        // The constants are the first outputs of SplitMix64 for seed 0, as published with its reference implementation.
        let outputs = [1u64, 2, 3].map(|n| finalise(n.wrapping_mul(GOLDEN)));
        assert_eq!(outputs, [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F]);
    }

    #[test]
    fn values_are_pinned() {
        // A second implementation, written in Python from the papers, computed these constants.
        assert_eq!(mix(1, 2, 3), 0xD073_4750_FDE3_62B3);
        let mut rng = stream(1, 2, 3);
        assert_eq!([(); 4].map(|()| rng.next_u32()), [0x4C88_BBAA, 0xE29F_F812, 0x4361_5971, 0x6686_9E1B]);
        let mut rng = stream(1, 2, 3);
        assert_eq!([(); 8].map(|()| below(&mut rng, 100)), [29, 88, 26, 40, 95, 3, 94, 23]);
    }

    #[test]
    fn every_word_of_the_address_matters() {
        let streams = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1)];
        let mut firsts = streams.map(|(seed, component, purpose)| stream(seed, component, purpose).next_u64());
        firsts.sort_unstable();
        assert!(firsts.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn below_is_uniform() {
        for n in [1, 2, 3, 7, 100] {
            let mut rng = stream(5, n.into(), 0);
            let draws = 20_000 * n;
            let mut counts = vec![0u32; n as usize];
            (0..draws).for_each(|_| counts[below(&mut rng, n) as usize] += 1);
            // The counts are binomial, with mean 20,000 and a standard deviation < sqrt(20,000). The limit is 5 standard deviations.
            let bound = 5.0 * 20_000f64.sqrt();
            assert!(counts.iter().all(|&count| (f64::from(count) - 20_000.0).abs() <= bound), "{n}: {counts:?}");
        }
    }

    #[test]
    fn below_rejects_the_excess() {
        // n = 3 * 2^30: without rejection every third value would be twice as likely, so P(value % 3 == 0) would be 1/2 instead of 1/3. The
        // share over 30,000 draws has the binomial standard deviation sqrt(2/9 / 30,000).
        let mut rng = stream(6, 0, 0);
        let hits = (0..30_000).filter(|_| below(&mut rng, 3 << 30).is_multiple_of(3)).count();
        assert!((hits as f64 / 30_000.0 - 1.0 / 3.0).abs() < 5.0 * (2.0 / 9.0 / 30_000f64).sqrt(), "{hits}");
    }
}
