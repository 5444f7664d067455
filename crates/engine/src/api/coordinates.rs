//! The coordinates of routers, as routings get them: one number per router.

use crate::state::link_class::Trunk;
use weft_topology::{Graph, Shape};

/// Coordinates of every router: bytes of the grid, group << 16 | index, level and digits of a tree, or 0.
pub fn of_all(graph: &Graph) -> Vec<u64> {
    let shape = graph.shape();
    (0..graph.routers())
        .map(|r| match (shape.router_widths(), shape.groups()) {
            (Some(widths), _) => {
                let mut rest = r;
                widths.iter().enumerate().fold(0, |at, (d, &w)| {
                    let c = rest % w;
                    rest /= w;
                    at | u64::from(c) << (8 * d)
                })
            }
            (None, Some((_, per_group))) => u64::from(r / per_group) << 16 | u64::from(r % per_group),
            (None, None) => in_tree(r, shape).unwrap_or(0),
        })
        .collect()
}

/// Coordinates: digit i of the position in byte i, the level in byte 7.
pub const LEVEL: u32 = 56;
pub const DIGITS: u64 = (1 << LEVEL) - 1;

/// Coordinates of router `router` of a tree, `None` on other shapes.
fn in_tree(router: u32, shape: &Shape) -> Option<u64> {
    match *shape {
        Shape::KAryNTree { k, n } => {
            let width = k.pow(n - 1);
            Some(u64::from(router / width) << LEVEL | digits(router % width, k))
        }
        Shape::FatTree { k } => {
            // pods are the values of digit 1 below the top; a core has the aggregation index and its own there
            let half = k / 2;
            let (level, position) = (router / (k * half), router % (k * half));
            let (low, high) = (u64::from(position % half), u64::from(position / half));
            let (low, high) = if level == 2 { (high, low) } else { (low, high) };
            Some(u64::from(level) << LEVEL | high << 8 | low)
        }
        _ => None,
    }
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

/// The trunks of a graph: parallel links between neighbours of a torus.
pub fn trunk_of(graph: &Graph) -> Trunk {
    match graph.shape() {
        Shape::Torus { terminals, trunk, .. } => Trunk { first: *terminals as u8, width: *trunk as u8 },
        _ => Trunk { first: 0, width: 1 },
    }
}
