//! The widths of a tree: for each level, the number of upward links that each router uses, counted from upward link 0. An overseer
//! publishes the widths as one number. A routing uses the widths to choose upward links, and records its choices in the packet.
//!
//! Each link belongs to the router at its lower end. A packet that crosses a link on its way up has chosen certain upward links. Their
//! numbers are the digits of the upper router, up to the level of the link. On the way down, packets visit routers with the same digits,
//! level by level. Therefore, in both directions, a link is in use if each of these digits is below the width of the digit's level. If all
//! widths are at least 1, all leaves are connected. `links_up.rs` has the tables for trees with failed links.

use crate::base::kept::Value;
use crate::coordinates::LEVEL;
use crate::state::Packet;
use weft_topology::{Graph, Levels, Tree};

/// The widths of all levels in one number: one byte each, level 0 in the lowest byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
pub struct Widths(pub u64);

impl Widths {
    /// The same width on the first `levels` levels.
    pub fn equal(levels: usize, width: u32) -> Self {
        (0..levels).fold(Self(0), |widths, level| widths.with(level, width))
    }

    #[inline(always)]
    pub fn of(self, level: usize) -> u32 {
        u32::from(self.0.to_le_bytes()[level])
    }

    #[must_use]
    pub fn with(self, level: usize, width: u32) -> Self {
        let mut bytes = self.0.to_le_bytes();
        bytes[level] = width as u8;
        Self(u64::from_le_bytes(bytes))
    }

    /// Whether links in use lead from level `level` up to the router with coordinates `upper`.
    pub fn reach(self, upper: u64, level: usize) -> bool {
        (0..=level).all(|i| u32::from(upper.to_le_bytes()[i]) < self.of(i))
    }
}

/// For the link between the routers with coordinates `a` and `b`: the level of its lower end, and the coordinates of its upper end.
pub fn link_between(a: u64, b: u64) -> (usize, u64) {
    let (lower, upper) = (a.min(b), a.max(b));
    ((lower >> LEVEL) as usize, upper)
}

/// For a tree of equal routers with upward links: its levels, and the number of upward links of each router below the top.
/// `None` for other graphs.
pub fn tree_of(graph: &Graph) -> Option<(&Levels, u32)> {
    let levels = graph.structure().levels.as_ref().filter(|levels| levels.count > 1)?;
    levels.tree.as_ref().and_then(Tree::radix).map(|radix| (levels, radix))
}

/// Records in the packet that it has chosen upward link number `up` at a router of level `level`. Byte number `level` of the packet's
/// `target` stores this choice. The packet's `phase` stores the number of levels with a choice, which are always the lowest levels.
#[inline(always)]
pub fn note_choice(packet: &mut Packet, level: u32, up: u32) {
    let below = (1 << (8 * level)) - 1;
    packet.target = packet.target & below | u64::from(up) << (8 * level);
    packet.phase = level as u8 + 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_used_if_all_digits_up_to_it_are_below_the_widths() {
        let widths = Widths::equal(2, 3).with(1, 1);
        assert_eq!((widths.of(0), widths.of(1), widths.of(2)), (3, 1, 0));
        // digits 2, 0: the third upward link at a leaf, then the first upward link at level 1
        let upper = 2u64 << LEVEL | 0x0002;
        assert!(widths.reach(upper, 0) && widths.reach(upper, 1));
        // digits 2, 1: the second upward link at level 1 is not in use
        assert!(widths.reach(upper | 0x0100, 0) && !widths.reach(upper | 0x0100, 1));
        assert!(!widths.with(0, 2).reach(upper, 1), "nobody comes to a router above the third upward link of a leaf");
    }

    #[test]
    fn a_packet_keeps_its_choices_from_level_to_level() {
        let mut packet = Packet { target: u64::MAX, ..Packet::default() };
        note_choice(&mut packet, 0, 2);
        note_choice(&mut packet, 1, 0);
        assert_eq!((packet.phase, packet.target.to_le_bytes()[..2].to_vec()), (2, vec![2, 0]));
    }
}
