//! Coordinates of routers, packed into one number per router. Coordinates give the position of a router in the form that a routing uses.
//! The position comes from a view of the topology: grid, groups, tree or crossed layers. The method `coordinates` of a routing selects the
//! view.

use std::collections::BTreeMap;
use weft_topology::Graph;

/// Coordinates of routers on a grid: one byte per dimension, dimension 0 in the lowest byte.
pub fn on_grid(graph: &Graph) -> Option<Vec<u64>> {
    let grid = graph.structure().grid.as_ref()?;
    let packed = |r: u32| grid.coordinates(r).enumerate().map(|(d, c)| u64::from(c) << (8 * d)).sum();
    Some((0..graph.routers()).map(packed).collect())
}

/// Coordinates of routers in groups: `group << 16 | index`.
pub fn in_groups(graph: &Graph) -> Option<Vec<u64>> {
    let groups = graph.structure().groups.as_ref()?;
    Some(groups.places.iter().map(|&(group, index)| u64::from(group) << 16 | u64::from(index)).collect())
}

/// Coordinates of routers in crossed layers: x, y and the layer, one byte each, x in the lowest byte.
pub fn in_crossed_layers(graph: &Graph) -> Option<Vec<u64>> {
    let crossed = graph.structure().crossed.as_ref()?;
    let packed = |r: u32| crossed.coordinates(r).into_iter().rev().fold(0, |packed, c| packed << 8 | u64::from(c));
    Some((0..graph.routers()).map(packed).collect())
}

/// Coordinates of routers in a tree: digit i of the position in byte i, and the level in byte 7.
pub fn in_tree(graph: &Graph) -> Option<Vec<u64>> {
    let levels = graph.structure().levels.as_ref()?;
    let of_router = levels.of_router.iter().zip(&levels.tree.as_ref()?.digits);
    Some(of_router.map(|(&level, &digits)| u64::from(level) << LEVEL | u64::from_le_bytes(digits)).collect())
}

/// The router numbers as coordinates, for topologies without a view.
pub fn numbers(graph: &Graph) -> Vec<u64> {
    (0..u64::from(graph.routers())).collect()
}

/// Coordinates in the first of these views that the graph has; router numbers if it has none. In a network of several
/// planes, the coordinates give the position of a router in its plane.
pub fn of_all(graph: &Graph) -> Vec<u64> {
    let plane = graph.plane();
    let of_plane = on_grid(plane).or_else(|| in_groups(plane)).or_else(|| in_tree(plane));
    graph.in_all_planes(&of_plane.unwrap_or_else(|| numbers(plane)))
}

/// Bit position of the level, and mask of the digits, in the coordinates of a tree.
pub const LEVEL: u32 = 56;
pub const DIGITS: u64 = (1 << LEVEL) - 1;

/// Whether the router at coordinates `at` is above the leaf router `dest` of a tree, or is this leaf. Links down from a router lead to
/// routers that differ from it only in the digits below its level. Therefore all leaves below a router have the router's digits from its
/// level on.
#[inline(always)]
pub fn is_above(at: u64, dest: u64) -> bool {
    ((at ^ dest) & DIGITS) >> (8 * (at >> LEVEL)) == 0
}

/// The lines of a grid, to find the routers that share a line. Two routers are on the same line if they differ in at
/// most one dimension.
pub struct Lines<'a> {
    coords: &'a [u64],
    /// The dimensions in which not all routers have the same coordinate.
    dimensions: Vec<u32>,
    /// The routers of each line. The key is the line's dimension, and the coordinates in all other dimensions.
    routers: BTreeMap<(u32, u64), Vec<u32>>,
}

impl<'a> Lines<'a> {
    /// Finds all lines of the routers with these coordinates.
    pub fn of(coords: &'a [u64]) -> Self {
        let differ = coords.iter().fold(0, |differ, at| differ | at ^ coords[0]);
        let dimensions: Vec<u32> = (0..8).filter(|d| differ >> (8 * d) & 0xff != 0).collect();
        let mut routers: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for (&at, router) in coords.iter().zip(0..) {
            dimensions.iter().for_each(|&d| routers.entry(line(d, at)).or_default().push(router));
        }
        Self { coords, dimensions, routers }
    }

    /// The routers on all lines through a router, including the router itself, in the order of their numbers.
    pub fn through(&self, router: u32) -> Vec<u32> {
        let at = self.coords[router as usize];
        let mut found = vec![router];
        self.dimensions.iter().for_each(|&d| found.extend(&self.routers[&line(d, at)]));
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The key of the line through `at` in dimension `dimension`.
fn line(dimension: u32, at: u64) -> (u32, u64) {
    (dimension, at & !(0xff << (8 * dimension)))
}
