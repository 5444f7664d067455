//! The upward links of a tree that packets may take after some links have failed. Without faults, the widths (`widths.rs`) give the upward
//! links in use. With faults, an overseer publishes two sets: the upward links in use, and the upward links that have failed.
//!
//! In these tables an upward link belongs to the router at its lower end. The numbers of the links that a packet has chosen on its way up
//! are the lowest digits of its present router's coordinates. On its way down, the packet visits routers above its destination that have
//! the same lowest digits. Therefore a choice needs two working links: the upward link of the present router, and the upward link with the
//! same number of the opposite router. The opposite router has the same level and lowest digits as the present router, and is above the
//! destination. The router at the upper end of a chosen link must also have a choice with working links.

use crate::base::kept::Value;
use crate::coordinates::{DIGITS, LEVEL, is_above};
use std::collections::BTreeMap;

/// A set of upward links of one router. Bit u is set if the set has upward link number u.
pub type Ups = u128;

/// The upward links of a tree that are in use, and the upward links that have failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Value)]
pub struct LinksUp {
    /// Number of upward links of each router.
    pub radix: u32,
    /// Upward links in use, by level and by the choices below that level. A router that packets cannot reach by links in use has no upward
    /// link in use. All pods (subtrees below the top level) have the same upward links in use, so one table serves all pods.
    pub used: Vec<Vec<Ups>>,
    /// The same table for links that will be switched off soon: packets that have already chosen these links may still use them.
    pub leaving: Vec<Vec<Ups>>,
    /// The upward links that have failed, by the coordinates of the router at the lower end of each link.
    pub broken: BTreeMap<u64, Ups>,
}

/// The index that encodes the choices below `level` on the path up to the router with these coordinates. (A packet's choices are encoded in
/// the same way.)
#[inline(always)]
pub fn choices_below(coords: u64, level: usize, radix: u32) -> usize {
    let digits = coords.to_le_bytes();
    digits[..level].iter().rev().fold(0, |number, &digit| number * radix as usize + usize::from(digit))
}

/// The indices of the upward links in this set, in ascending order.
pub fn numbers_of(mut ups: Ups) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let first = (ups != 0).then(|| ups.trailing_zeros())?;
        ups &= ups - 1;
        Some(first)
    })
}

/// The router at the upper end of upward link number `up` of the router at `at`.
pub fn above(at: u64, up: u32) -> u64 {
    let level = at >> LEVEL;
    at & DIGITS & !(0xff << (8 * level)) | u64::from(up) << (8 * level) | (level + 1) << LEVEL
}

/// The router opposite `at`: it has the level and the choices of `at`, and is above the leaf `dest` or is this leaf.
fn opposite(at: u64, dest: u64) -> u64 {
    let chosen = (1 << (8 * (at >> LEVEL))) - 1;
    at & (chosen | !DIGITS) | dest & DIGITS & !chosen
}

impl LinksUp {
    /// Whether links in use lead from level `level` up to the router with coordinates `upper`.
    pub fn reach(&self, upper: u64, level: usize) -> bool {
        let up = upper.to_le_bytes()[level];
        self.used[level][choices_below(upper, level, self.radix)] >> up & 1 != 0
    }

    /// The upward links that a packet to `dest` may choose at the router `at`, which is not above `dest`. From each of these links, a path
    /// of working links leads on to `dest`. If there is no such link, the result is all links in use. These links are on, but they have
    /// possibly failed; a packet that meets a failed link is discarded.
    pub fn choices(&self, at: u64, dest: u64) -> Ups {
        match self.good(at, dest) {
            0 => self.open(at),
            good => good,
        }
    }

    fn open(&self, at: u64) -> Ups {
        let level = (at >> LEVEL) as usize;
        let number = choices_below(at, level, self.radix);
        match self.used[level][number] {
            0 => self.leaving.get(level).map_or(0, |leaving| leaving[number]),
            used => used,
        }
    }

    fn broken_of(&self, lower: u64) -> Ups {
        self.broken.get(&lower).copied().unwrap_or(0)
    }

    fn good(&self, at: u64, dest: u64) -> Ups {
        let whole = self.open(at) & !self.broken_of(at) & !self.broken_of(opposite(at, dest));
        let leads_on = |&up: &u32| is_above(above(at, up), dest) || self.good(above(at, up), dest) != 0;
        numbers_of(whole).filter(leads_on).fold(0, |ups, up| ups | 1 << up)
    }

    /// The links that are in use in this table and not in `other`: for each link its level and the choices up to this level, inclusive.
    pub fn beyond<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (usize, usize)> + 'a {
        let both = self.used.iter().zip(&other.used).enumerate();
        both.flat_map(move |(level, (here, there))| {
            let step = (self.radix as usize).pow(level as u32);
            let more = here.iter().zip(there).map(|(here, there)| here & !there).enumerate();
            more.flat_map(move |(below, ups)| numbers_of(ups).map(move |up| (level, below + up as usize * step)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree with two upward links on each of two levels, all in use.
    fn all() -> LinksUp {
        LinksUp { radix: 2, used: vec![vec![3], vec![3, 3]], ..LinksUp::default() }
    }

    const LEAF: u64 = 0x0000;
    const FAR: u64 = 0x0301;
    const NEAR: u64 = 0x0001;

    #[test]
    fn a_choice_needs_whole_links_on_both_sides_up_to_the_common_ancestor() {
        let mut links = all();
        assert_eq!((links.choices(LEAF, FAR), links.choices(LEAF, NEAR)), (3, 3));
        // upward link 0 of leaf `FAR` has failed: packets to `FAR` must not choose upward link 0, packets to `NEAR` can
        links.broken.insert(FAR, 1);
        assert_eq!((links.choices(LEAF, FAR), links.choices(LEAF, NEAR)), (2, 3));
        // core 1 above upward link 1 cannot be reached from pod 3, but core 0 can
        links.broken.insert(1 << LEVEL | 0x0301, 2);
        assert_eq!((links.choices(LEAF, FAR), links.choices(above(LEAF, 1), FAR)), (2, 1));
        links.broken.insert(1 << LEVEL | 0x0301, 3);
        assert_eq!(links.choices(LEAF, FAR), 3, "no path is left: it goes to where it is discarded");
        assert_eq!(links.choices(LEAF, NEAR), 3, "the others do not go over the cores");
    }

    #[test]
    fn links_that_go_off_are_for_packets_that_have_chosen_them_below() {
        let mut links = all();
        links.leaving = std::mem::replace(&mut links.used, vec![vec![2], vec![0, 2]]);
        assert_eq!((links.choices(LEAF, FAR), links.choices(above(LEAF, 0), FAR)), (2, 3));
        assert_eq!(links.choices(above(LEAF, 1), FAR), 2);
        let before = LinksUp { used: links.leaving.clone(), ..links.clone() };
        // links in use only before: upward link 0 of the leaves, both upward links above it, and upward link 0 above upward link 1
        assert!(before.beyond(&links).eq([(0, 0), (1, 0), (1, 2), (1, 1)]));
        assert!(links.beyond(&before).eq([]));
        assert!(links.reach(above(above(LEAF, 1), 1), 1) && !links.reach(above(above(LEAF, 1), 0), 1));
    }

    #[test]
    fn choices_are_the_lowest_digits() {
        assert_eq!(choices_below(0x02_01, 2, 3), 7);
        assert_eq!(above(above(FAR, 1), 0), 2 << LEVEL | 0x0001);
        assert_eq!(opposite(1 << LEVEL | 0x0001, FAR), 1 << LEVEL | 0x0301);
    }
}
