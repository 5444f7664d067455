//! Divides the flits of a source router among the candidate paths to one destination. Like water, the flits fill the paths with the
//! shortest queues first, up to a common level.
//!
//! # Source
//! M. Jeon et al., "FleX", IEEE Access 10 (2022), eqs. (9) and (10). The paper computes the level over all paths, and removes the paths
//! with queues above this level only once. After this removal, the level over the remaining paths is lower. If the queue of a remaining
//! path is above the new level, its share is negative. Therefore `Shares` repeats the removal until no queue is above the level.

/// Largest number of candidate paths of a pair of routers.
pub const MOST: usize = 16;

/// The shares of traffic that the candidate paths of a pair of routers get.
#[derive(Debug, Clone, Copy)]
pub struct Shares<'a> {
    queues: &'a [u32],
    /// Bit mask of the paths that get flits.
    in_use: u32,
    /// Number of the paths that get flits.
    count: u64,
    /// The common level up to which the paths in use are filled \[flits\], multiplied by `count`.
    level: u64,
    /// Sum of the weights of all paths.
    sum: u64,
}

impl<'a> Shares<'a> {
    /// Computes the shares. `injected`: number of flits that the source sent in an interval, at least 1. `queues`: for each path, the
    /// number of flits that wait on it.
    #[inline]
    pub fn of(injected: u32, queues: &'a [u32]) -> Self {
        let injected = u64::from(injected.max(1));
        let mut in_use = (1u32 << queues.len()) - 1;
        loop {
            let count = u64::from(in_use.count_ones());
            let (mut level, mut longest) = (injected, 0);
            for (p, &queue) in queues.iter().enumerate() {
                if in_use >> p & 1 != 0 {
                    level += u64::from(queue);
                    longest = longest.max(queue);
                }
            }
            // a path is full (gets no flits) if its queue is at least level / count; the path with the shortest queue is never full
            let full = |queue: u32| u64::from(queue) * count >= level;
            if !full(longest) {
                return Self { queues, in_use, count, level, sum: injected * count };
            }
            in_use &= !(0..queues.len()).fold(0u32, |bits, p| bits | u32::from(full(queues[p])) << p);
        }
    }

    /// The share of a path, multiplied by the sum of the weights of all paths.
    #[inline]
    fn weight(&self, path: usize) -> u64 {
        let is_used = self.in_use >> path & 1 != 0;
        if is_used { self.level - u64::from(self.queues[path]) * self.count } else { 0 }
    }

    /// The path that the number `random` selects. The probability of a path is its share.
    #[inline]
    pub fn pick(&self, random: u64) -> usize {
        let mut rest = ((u128::from(random) * u128::from(self.sum)) >> 64) as u64;
        for path in 0..self.queues.len() {
            let weight = self.weight(path);
            if rest < weight {
                return path;
            }
            rest -= weight;
        }
        unreachable!("the weights sum to {}", self.sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_api::base::hash::{below, hash};

    /// Test case number `case`: injected flits, and random queues of 1 to 16 paths, of which some are short, some long, and some equal.
    fn random_queues(case: u32) -> (u32, Vec<u32>) {
        let draw = |k: u64, most: u32| below(hash(7, case, 0, k), most + 1);
        let most = [0, 3, 100, u32::MAX - 1][draw(0, 3) as usize];
        let queues = (0..=draw(1, 15)).map(|k| draw(2 + u64::from(k), most)).collect();
        (draw(40, [2, 50, 100_000][draw(41, 2) as usize]), queues)
    }

    fn weights(shares: &Shares<'_>) -> Vec<u64> {
        (0..shares.queues.len()).map(|path| shares.weight(path)).collect()
    }

    #[test]
    fn shares_sum_to_one_and_fill_the_paths_in_use_to_one_level() {
        for case in 0..100_000 {
            let (injected, queues) = random_queues(case);
            let shares = Shares::of(injected, &queues);
            let (sum, weights) = (shares.sum, weights(&shares));
            assert_eq!(weights.iter().sum::<u64>(), sum, "{injected} over {queues:?}");
            // On all paths in use, share and queue add up to the level: weight / sum * injected + queue = level / count. The queue of an
            // unused path is not below the level
            let count = sum / u64::from(injected.max(1));
            let filled = |p: usize| weights[p] + u64::from(queues[p]) * count;
            let level = (0..queues.len()).filter(|&p| weights[p] > 0).map(filled).max().expect("some path is used");
            for p in 0..queues.len() {
                let is_level = if weights[p] > 0 { filled(p) == level } else { filled(p) >= level };
                assert!(is_level, "{injected} over {queues:?}: path {p} of {weights:?}");
            }
            assert_eq!((0..queues.len()).filter(|&p| weights[p] > 0).count() as u64, count);
        }
    }

    #[test]
    fn the_example_in_which_one_pass_gives_a_negative_share() {
        // 4 flits and queues of 0, 9, 10 and 100: over all paths the level is (4 + 119) / 4 = 30.75. Without the queue of 100 it is 23 / 3,
        // below 9
        let shares = Shares::of(4, &[0, 9, 10, 100]);
        assert_eq!((weights(&shares), shares.sum), (vec![4, 0, 0, 0], 4));
        // equal queues give equal shares
        assert_eq!(weights(&Shares::of(8, &[5; 4])), [8; 4]);
        // 6 flits fill the queues 1 and 3 up to 5
        assert_eq!(weights(&Shares::of(6, &[3, 1, 5, 9])), [4, 8, 0, 0]);
    }

    #[test]
    fn picks_follow_the_shares() {
        let shares = Shares::of(6, &[3, 1, 5, 9]);
        let mut picked = [0; 4];
        (0..12_000u32).for_each(|k| picked[shares.pick(hash(1, k, 0, 0))] += 1);
        assert!((3_800..4_200).contains(&picked[0]), "{picked:?}");
        assert_eq!((picked[0] + picked[1], picked[2], picked[3]), (12_000, 0, 0));
        assert_eq!([shares.pick(0), shares.pick(u64::MAX)], [0, 1]);
    }
}
