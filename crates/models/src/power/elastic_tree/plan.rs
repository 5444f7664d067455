//! Chooses the upward links that packets use, for a given width (number of upward links per router) of each level. These are the first
//! links or, after failures, the links that join the most leaves.
//!
//! All pods use the same upward links. Therefore a plan is a set of choices. A choice is a sequence of indices of upward links, one per
//! level, from a leaf upwards. The cost of a choice is the number of leaves that its failed links cut off. From each level to the next, the
//! plan continues a choice by its cheapest upward links, as many as the width of the level. A choice joins two leaves if its links work on
//! the way up from both. If no choice of the plan joins two leaves, the plan also uses the first choice that does.

use std::collections::{BTreeMap, BTreeSet};
use weft_api::base::kept::Value;
use weft_api::coordinates::{DIGITS, LEVEL};
use weft_api::links_up::{LinksUp, Ups, choices_below, numbers_of};
use weft_api::widths::Widths;

/// The links that packets use, and the widths for which the plan was made.
#[derive(Debug, Clone, PartialEq, Eq, Value)]
pub(super) struct Plan {
    pub widths: Widths,
    pub links: LinksUp,
}

/// The size of the tree: upward links of a router (`radix`), number of levels with upward links, and coordinates of the leaves.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub radix: u32,
    pub levels: usize,
    pub leaves: Vec<u64>,
}

/// The failed upward links of each router. Key: the coordinates of the router. Value: a bit mask over the indices of its upward links.
pub(super) type Failed = BTreeMap<u64, Ups>;

/// A set of choices (sequences of upward links): a bit mask over the indices of choices.
type Reach = Vec<u64>;

impl Plan {
    /// A plan that uses the first upward links at each router.
    pub fn plain(tree: &Tree, widths: Widths) -> Self {
        let mut used = tree.unused();
        tree.fill(&mut used, widths, |_, _| 0);
        Self { widths, links: LinksUp { radix: tree.radix, used, ..LinksUp::default() } }
    }

    /// A plan that uses the upward links from which failed links cut off the fewest leaves.
    pub fn around(tree: &Tree, widths: Widths, failed: &Failed) -> Self {
        if failed.is_empty() {
            return Self::plain(tree, widths);
        }
        let costs = tree.costs(widths, failed);
        let mut used = tree.unused();
        tree.fill(&mut used, widths, |level, number| costs[level][number]);
        for level in (0..tree.levels).rev() {
            for number in tree.missing(level, &used, failed) {
                tree.add(&mut used, level, number);
            }
        }
        tree.fill(&mut used, widths, |level, number| costs[level][number]);
        Self { widths, links: LinksUp { radix: tree.radix, used, ..LinksUp::default() } }
    }

    /// True if the plan uses the first upward links at each router, as many as the widths.
    pub fn is_plain(&self, tree: &Tree) -> bool {
        self.links.used == Self::plain(tree, self.widths).links.used
    }
}

impl Tree {
    /// Number of different choices of upward links on the first `levels` levels.
    fn choices(&self, levels: usize) -> usize {
        (self.radix as usize).pow(levels as u32)
    }

    fn unused(&self) -> Vec<Vec<Ups>> {
        (0..self.levels).map(|level| vec![0; self.choices(level)]).collect()
    }

    /// Completes each used choice that ends below the top: adds its cheapest upward links on each further level, as many as the width of
    /// the level. Of links with equal costs, adds the first. `cost`: returns the cost \[leaves cut off\] of a choice, from its last level
    /// and its index.
    fn fill(&self, used: &mut [Vec<Ups>], widths: Widths, cost: impl Fn(usize, usize) -> u64) {
        let mut below = vec![0];
        for (level, used) in used.iter_mut().enumerate() {
            let step = self.choices(level);
            for &number in &below {
                if used[number] == 0 {
                    let mut ups: Vec<u32> = (0..self.radix).collect();
                    ups.sort_by_key(|&up| cost(level, number + up as usize * step));
                    ups.truncate(widths.of(level) as usize);
                    used[number] = ups.into_iter().fold(0, |ups, up| ups | 1 << up);
                }
            }
            let after = |&number: &usize| numbers_of(used[number]).map(move |up| number + up as usize * step);
            below = below.iter().flat_map(after).collect();
        }
    }

    /// Marks all upward links of a choice up to `level` as used.
    fn add(&self, used: &mut [Vec<Ups>], level: usize, number: usize) {
        for (l, used) in used.iter_mut().enumerate().take(level + 1) {
            let (below, up) = (number % self.choices(l), number / self.choices(l) % self.radix as usize);
            used[below] |= 1 << up;
        }
    }

    fn is_used(&self, used: &[Vec<Ups>], level: usize, number: usize) -> bool {
        let below = self.choices(level);
        used[level][number % below] >> (number / below) & 1 != 0
    }

    /// The costs of choices, indexed by level and by choice up to this level. The cost is the number of leaves that failed links cut off
    /// from the choice, or from its best continuations further up.
    fn costs(&self, widths: Widths, failed: &Failed) -> Vec<Vec<u64>> {
        let mut costs: Vec<Vec<u64>> = (0..self.levels).map(|level| vec![0; self.choices(level + 1)]).collect();
        for (&lower, &ups) in failed {
            let level = (lower >> LEVEL) as usize;
            let number = choices_below(lower, level, self.radix);
            // `choices(level)` is also the number of leaves below the lower end of the link
            numbers_of(ups).for_each(|up| {
                costs[level][number + up as usize * self.choices(level)] += self.choices(level) as u64;
            });
        }
        for level in (1..self.levels).rev() {
            let step = self.choices(level);
            for number in 0..step {
                let mut above: Vec<u64> = (0..self.radix as usize).map(|up| costs[level][number + up * step]).collect();
                above.sort_unstable();
                costs[level - 1][number] += above[..widths.of(level) as usize].iter().sum::<u64>();
            }
        }
        costs
    }

    /// Returns the unused choices up to `level` that the plan must add. Checks each pair of leaves whose nearest common ancestors are just
    /// above `level`. If no used choice joins the pair, but another choice does, the result contains the first of these.
    fn missing(&self, level: usize, used: &[Vec<Ups>], failed: &Failed) -> Vec<usize> {
        let words = self.choices(level + 1).div_ceil(64);
        let mut taken = vec![0; words];
        (0..self.choices(level + 1))
            .filter(|&number| self.is_used(used, level, number))
            .for_each(|number| taken[number / 64] |= 1 << (number % 64));
        // key: the part of the tree below common ancestors; value: its children, each with the set of choices that reach one of its leaves
        let mut parts: BTreeMap<u64, BTreeSet<(u8, Reach)>> = BTreeMap::new();
        for &leaf in &self.leaves {
            let part = leaf >> (8 * (level + 1));
            let child = leaf.to_le_bytes()[level];
            parts.entry(part).or_default().insert((child, self.reach(leaf, level, failed)));
        }
        let mut missing = Vec::new();
        for part in parts.values() {
            for (k, (child, here)) in part.iter().enumerate() {
                for (_, there) in part.iter().skip(k + 1).filter(|(other, _)| other != child) {
                    let joins = || here.iter().zip(there).map(|(here, there)| here & there);
                    if joins().zip(&taken).any(|(joins, taken)| joins & taken != 0) {
                        continue;
                    }
                    if let Some((word, joins)) = joins().enumerate().find(|&(_, joins)| joins != 0) {
                        taken[word] |= joins & joins.wrapping_neg();
                        missing.push(word * 64 + joins.trailing_zeros() as usize);
                    }
                }
            }
        }
        missing
    }

    /// The set of choices up to `level` that use only working links on the way up from `leaf`.
    fn reach(&self, leaf: u64, level: usize, failed: &Failed) -> Reach {
        let all = self.choices(level + 1);
        let mut reach = vec![u64::MAX; all.div_ceil(64)];
        if !all.is_multiple_of(64) {
            reach[all / 64] = (1 << (all % 64)) - 1;
        }
        for (&lower, &ups) in failed {
            let own = (lower >> LEVEL) as usize;
            let digits = |coords: u64| (coords & DIGITS) >> (8 * own);
            if own > level || digits(lower) != digits(leaf) {
                continue;
            }
            // a choice that uses the failed link does not work from this leaf
            let (below, step) = (choices_below(lower, own, self.radix), self.choices(own + 1));
            for up in numbers_of(ups) {
                let first = below + up as usize * self.choices(own);
                (first..all).step_by(step).for_each(|number| reach[number / 64] &= !(1 << (number % 64)));
            }
        }
        reach
    }
}

#[cfg(test)]
mod tests;
