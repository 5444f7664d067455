//! Lengths of packets: the same length for all packets, or several lengths with weights.
//!
//! # Source
//! BookSim2 (N. Jiang et al., "A Detailed and Flexible Cycle-Accurate Network-on-Chip Simulator", ISPASS'13): its
//! `packet_size` and `packet_size_rate` draw a length for every packet.
//!
//! # Parameters
//! Lengths \[flits, 1 or more\], each with a weight \[any unit, above 0\].
//!
//! # Guarantees
//! A hash of the packet's address determines its length. So the lengths of different packets are independent, and drawing them does not
//! change other random numbers of a run. The probability of a length is its weight divided by the sum of weights, exact to 2^-52.
//!
//! # Not modelled
//! Lengths that depend on the destination or on earlier packets.
//!
//! # Validation
//! The tests of this file check the shares of lengths, the mean and the variance. `engine/tests/workload.rs` checks offered load and
//! zero-load latency with several lengths. `docs/howto/booksim.md` compares the latencies with those of BookSim2.

/// The lengths of packets, and the share of packets with each length.
#[derive(Debug, Clone, PartialEq)]
pub struct Lengths {
    /// The lengths [flits], each with its share of packets, in ascending order.
    shares: Vec<(u32, f64)>,
    /// For each length except the last: an upper bound of the hashes that give this length or a shorter one.
    bounds: Vec<u64>,
}

impl Lengths {
    /// All packets have `flits` flits.
    pub fn one(flits: u32) -> Self {
        Self { shares: vec![(flits, 1.0)], bounds: Vec::new() }
    }

    /// Lengths \[flits\] with weights. The list must not be empty, and the weights must be above 0 and have a finite sum.
    pub fn of(weights: &[(u32, f64)]) -> Self {
        let mut sorted = weights.to_vec();
        sorted.sort_by_key(|&(flits, _)| flits);
        let merged = |same: &[(u32, f64)]| (same[0].0, same.iter().map(|&(_, weight)| weight).sum::<f64>());
        let merged: Vec<(u32, f64)> = sorted.chunk_by(|a, b| a.0 == b.0).map(merged).collect();
        if let &[(flits, _)] = merged.as_slice() {
            return Self::one(flits);
        }
        let sum: f64 = merged.iter().map(|&(_, weight)| weight).sum();
        let mut below = 0.0;
        let bound = |&(_, weight): &(u32, f64)| {
            below += weight / sum;
            (below * 2f64.powi(64)) as u64
        };
        let bounds = merged[..merged.len() - 1].iter().map(bound).collect();
        Self { shares: merged.into_iter().map(|(flits, weight)| (flits, weight / sum)).collect(), bounds }
    }

    /// The lengths [flits] in ascending order, each with its share of packets.
    pub fn shares(&self) -> &[(u32, f64)] {
        &self.shares
    }

    /// The lengths [flits], each with the share of flits that are in packets of this length.
    pub fn flit_shares(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        let mean = self.mean();
        self.shares.iter().map(move |&(flits, share)| (flits, share * f64::from(flits) / mean))
    }

    /// The length of all packets [flits], if they have the same length; otherwise `None`.
    pub fn only(&self) -> Option<u32> {
        match self.shares.as_slice() {
            &[(flits, _)] => Some(flits),
            _ => None,
        }
    }

    /// The longest length [flits].
    pub fn longest(&self) -> u32 {
        self.shares.last().map_or(1, |&(flits, _)| flits)
    }

    /// Mean length [flits].
    pub fn mean(&self) -> f64 {
        self.mean_of(f64::from)
    }

    /// Variance of the lengths [flits^2]; 0 if all packets have the same length.
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        self.mean_of(|flits| (f64::from(flits) - mean).powi(2))
    }

    fn mean_of(&self, value: impl Fn(u32) -> f64) -> f64 {
        self.shares.iter().map(|&(flits, share)| value(flits) * share).sum()
    }

    /// The length [flits] of a packet; `hash` is the hash of its address.
    pub fn of_hash(&self, hash: u64) -> u32 {
        self.shares[self.bounds.partition_point(|&bound| bound <= hash)].0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix;

    #[test]
    fn packets_have_the_lengths_that_are_asked_for() {
        let lengths = Lengths::of(&[(9, 1.0), (1, 2.0), (5, 0.5), (1, 0.5)]);
        assert_eq!(lengths.shares(), [(1, 0.625), (5, 0.125), (9, 0.25)]);
        assert_eq!((lengths.longest(), lengths.only()), (9, None));
        // the mean is 0.625 * 1 + 0.125 * 5 + 0.25 * 9 = 3.5. The variance is 0.625 * 2.5^2 + 0.125 * 1.5^2 + 0.25 * 5.5^2 = 11.75
        assert_eq!((lengths.mean(), lengths.variance()), (3.5, 11.75));
        let draws = 100_000u64;
        for &(flits, share) in lengths.shares() {
            let found = (0..draws).filter(|&n| lengths.of_hash(mix(7, n, 3)) == flits).count() as f64;
            let mean = draws as f64 * share;
            // the number of packets with a length is binomial; the limit is 5 standard deviations
            assert!((found - mean).abs() < 5.0 * (mean * (1.0 - share)).sqrt(), "{flits}: {found} of {mean}");
        }
        assert_eq!([0, (0.625 * 2f64.powi(64)) as u64 - 1].map(|hash| lengths.of_hash(hash)), [1, 1]);
        assert_eq!([(0.625 * 2f64.powi(64)) as u64, u64::MAX].map(|hash| lengths.of_hash(hash)), [5, 9]);
    }

    #[test]
    fn one_length_is_exact() {
        for lengths in [Lengths::one(7), Lengths::of(&[(7, 0.1), (7, 0.2)])] {
            assert_eq!(lengths, Lengths::one(7));
            assert_eq!((lengths.mean(), lengths.variance(), lengths.only()), (7.0, 0.0, Some(7)));
            assert_eq!(lengths.of_hash(u64::MAX), 7);
        }
    }
}
