//! The coordinates of routers, packed into one number per router: what a routing knows of the place of a router.

use crate::state::link_class::Trunk;
use weft_topology::{Graph, Levels, Line, Structure};

/// Coordinates of every router. Grid: one byte per dimension. Groups: group << 16 | index. Tree: level and digits. Else
/// 0.
pub fn of_all(graph: &Graph) -> Vec<u64> {
    let of_router = |r: u32| match graph.structure() {
        Structure { grid: Some(grid), .. } => {
            grid.coordinates(r).enumerate().map(|(d, c)| u64::from(c) << (8 * d)).sum()
        }
        Structure { groups: Some(groups), .. } => {
            let (group, index) = groups.places[r as usize];
            u64::from(group) << 16 | u64::from(index)
        }
        Structure { levels: Some(levels), .. } => in_tree(r, levels).unwrap_or(0),
        Structure { grid: None, groups: None, levels: None } => 0,
    };
    (0..graph.routers()).map(of_router).collect()
}

/// Coordinates in a tree: digit i of the position in byte i, the level in byte 7.
pub const LEVEL: u32 = 56;
pub const DIGITS: u64 = (1 << LEVEL) - 1;

/// Coordinates of a router of a tree; `None` if the levels are no tree.
fn in_tree(router: u32, levels: &Levels) -> Option<u64> {
    let digits = levels.tree.as_ref()?.digits[router as usize];
    Some(u64::from(levels.of_router[router as usize]) << LEVEL | u64::from_le_bytes(digits))
}

/// The digits of a position (or of any number), one per byte.
pub fn digits(mut number: u32, k: u32) -> u64 {
    let (mut packed, mut shift) = (0, 0);
    while number > 0 {
        packed |= u64::from(number % k) << shift;
        number /= k;
        shift += 8;
    }
    packed
}

/// Whether two routers of a grid differ in at most one dimension.
pub fn in_line(a: u64, b: u64) -> bool {
    let differ = a ^ b;
    differ == 0 || differ >> (differ.trailing_zeros() / 8 * 8) <= 0xff
}

/// The trunks of a graph: parallel links between neighbours on rings and rows, all of one width.
pub fn trunk_of(graph: &Graph) -> Trunk {
    let grid = graph.structure().grid.as_ref();
    match grid.and_then(|grid| Some((grid.dimensions.first()?, grid.uniform()?))) {
        Some((first, (Line::Ring | Line::Row, trunk))) => Trunk { first: first.first_port as u8, width: trunk as u8 },
        Some((_, (Line::Complete, _))) | None => Trunk { first: 0, width: 1 },
    }
}
