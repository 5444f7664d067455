//! The links up of a tree that packets may take after some links have failed. Without faults, the widths (`widths.rs`) describe these
//! links. With faults, an overseer publishes the links up that are in use and the links up that have failed.
//!
//! A link belongs to the router at its lower end. The lowest digits of a packet's present router show which links up the packet has chosen.
//! On its way down the packet visits the routers above its destination that have the same choices. Therefore a choice needs two working
//! links: the link of this router, and the same link of the opposite router above the destination. In addition, the router to which the
//! choice leads must have such a choice itself.

use crate::base::kept::Value;
use crate::coordinates::{DIGITS, LEVEL, is_above};
use std::collections::BTreeMap;

/// Links up of one router. Bit u represents the link up with number u.
pub type Ups = u128;

/// The links up in use, and all links up that have failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Value)]
pub struct LinksUp {
    /// Number of links up of each router.
    pub radix: u32,
    /// \[level\]\[choices below it\]: the links up in use at the routers that packets reach with these choices; none if no link in use
    /// leads to these routers. The table is the same for all pods.
    pub used: Vec<Vec<Ups>>,
    /// The same table for links that are about to be switched off: packets that have chosen these links may still use them.
    pub leaving: Vec<Vec<Ups>>,
    /// The links up that have failed, by the coordinates of the router at their lower end.
    pub broken: BTreeMap<u64, Ups>,
}

/// The choices below `level` that lead to a router with these coordinates, encoded as one number. (The choices of a packet use the same
/// code.)
#[inline(always)]
pub fn choices_below(coords: u64, level: usize, radix: u32) -> usize {
    let digits = coords.to_le_bytes();
    digits[..level].iter().rev().fold(0, |number, &digit| number * radix as usize + usize::from(digit))
}

/// The numbers of these links up, in ascending order.
pub fn numbers_of(mut ups: Ups) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let first = (ups != 0).then(|| ups.trailing_zeros())?;
        ups &= ups - 1;
        Some(first)
    })
}

/// The router to which link up number `up` of the router at `at` leads.
pub fn above(at: u64, up: u32) -> u64 {
    let level = at >> LEVEL;
    at & DIGITS & !(0xff << (8 * level)) | u64::from(up) << (8 * level) | (level + 1) << LEVEL
}

/// The router at the level of `at`, with the same choices as `at`, that is above the leaf `dest` or is this leaf.
fn opposite(at: u64, dest: u64) -> u64 {
    let chosen = (1 << (8 * (at >> LEVEL))) - 1;
    at & (chosen | !DIGITS) | dest & DIGITS & !chosen
}

impl LinksUp {
    /// Whether links in use lead from `level` up to a router with these coordinates.
    pub fn reach(&self, upper: u64, level: usize) -> bool {
        let up = upper.to_le_bytes()[level];
        self.used[level][choices_below(upper, level, self.radix)] >> up & 1 != 0
    }

    /// The links up that a packet may choose at the router `at`, which is not above its destination: those after which all further links
    /// work. If there are none, all links in use. None of these links is dark; a packet is discarded when it meets a failed link.
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

    /// The level and the choices, including the choice at that level, of each link that is in use here and not in `other`.
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

    /// Two links up on each of two levels, all in use.
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
        // link up 0 of the destination has failed: seen from its own pod and from other pods
        links.broken.insert(FAR, 1);
        assert_eq!((links.choices(LEAF, FAR), links.choices(LEAF, NEAR)), (2, 3));
        // core 1 above link up 1 cannot be reached from pod 3, core 0 can be
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
        // in use only before: link up 0 of the leaves, both links up above it, and link up 0 above link up 1
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
