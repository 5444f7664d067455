//! The widths of a tree: how many of its links up each router of a level uses, the first of them. An overseer publishes
//! them as one number; a routing goes by them, and notes in a packet which links up it has chosen.
//!
//! A link belongs to the router below it. It leads to a router whose digits up to the level of the link say which links
//! up a packet chose that goes over it, in either direction: the path down to a leaf has the digits that the path up had,
//! level by level. So a link is used if each of these digits is below the width of its level, and any widths of 1 or
//! more join all leaves. Where links have failed `links_up.rs` says more.

use crate::base::kept::Value;
use crate::coordinates::LEVEL;
use crate::state::Packet;
use weft_topology::{Graph, Levels, Tree};

/// The width of each level, one byte each, level 0 lowest.
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

    /// Whether links of `level` are used that lead up to a router with these coordinates.
    pub fn reach(self, upper: u64, level: usize) -> bool {
        (0..=level).all(|i| u32::from(upper.to_le_bytes()[i]) < self.of(i))
    }
}

/// The level of a link between routers with these coordinates (that of its lower end), and the coordinates of its upper
/// end.
pub fn link_between(a: u64, b: u64) -> (usize, u64) {
    let (lower, upper) = (a.min(b), a.max(b));
    ((lower >> LEVEL) as usize, upper)
}

/// The levels of a tree of equal routers that have links up, and how many each has below the top.
pub fn tree_of(graph: &Graph) -> Option<(&Levels, u32)> {
    let levels = graph.structure().levels.as_ref().filter(|levels| levels.count > 1)?;
    levels.tree.as_ref().and_then(Tree::radix).map(|radix| (levels, radix))
}

/// The packet has chosen link up `up` of a router of `level`. Its `target` keeps that in byte `level`, and its `phase` how
/// many levels have been chosen: from level 0 up, none left out.
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
        // digits 2, 0: the third link up of a leaf, then the first one
        let upper = 2u64 << LEVEL | 0x0002;
        assert!(widths.reach(upper, 0) && widths.reach(upper, 1));
        // digits 2, 1: the second link up of level 1 is not used
        assert!(widths.reach(upper | 0x0100, 0) && !widths.reach(upper | 0x0100, 1));
        assert!(!widths.with(0, 2).reach(upper, 1), "nobody comes to a router above the third link up of a leaf");
    }

    #[test]
    fn a_packet_keeps_its_choices_from_level_to_level() {
        let mut packet = Packet { target: u64::MAX, ..Packet::default() };
        note_choice(&mut packet, 0, 2);
        note_choice(&mut packet, 1, 0);
        assert_eq!((packet.phase, packet.target.to_le_bytes()[..2].to_vec()), (2, vec![2, 0]));
    }
}
