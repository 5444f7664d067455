//! The structure of a graph: the regular order in which a topology has joined its routers. With the structure, routings and patterns
//! compute ports and distances instead of searching for them. Views contain only one link between two routers;
//! [`Graph::trunk`](crate::Graph::trunk) returns the parallel links.
//!
//! Every view is optional, and a network can have several views. A model requests the view that it needs, and refuses a network that does
//! not have it. No model reads the name of a topology. `tests/conformance.rs` checks every view against the wiring.

use super::arrangement::GlobalLinks;
use super::{CrossedLayers, Ring};

/// A layer: a named set of routers, with the classes of the links between them, and the structure of these links.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    pub name: String,
    /// The routers of the layer, in ascending order.
    pub routers: Vec<u32>,
    /// Link classes of the layer's ports, as indices into [`Graph::class_names`](crate::Graph::class_names), ascending.
    pub classes: Vec<u8>,
    pub structure: Structure,
}

/// The views of a layer. A network without a regular order has no views, and only a few networks have physical rings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Structure {
    pub grid: Option<Grid>,
    pub groups: Option<Groups>,
    pub levels: Option<Levels>,
    pub crossed: Option<CrossedLayers>,
    /// Physical rings. Each ring visits every router once, over separate links that belong to no other view.
    pub rings: Vec<Ring>,
}

/// Routers on a grid. Dimension 0 changes fastest: router id = sum of coordinate\[d\] * product of the widths before d. A single router is
/// a grid without dimensions.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    pub dimensions: Vec<Dimension>,
}

/// A dimension of a grid, with the ports of its links. The ports of a dimension have consecutive numbers, beginning with `first_port`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimension {
    /// Number of routers in each line.
    pub width: u32,
    pub line: Line,
    /// First port of the dimension. The number of the port is the same on every router.
    pub first_port: u16,
    pub class: u8,
}

/// The way in which links join the routers in one line of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// A link joins every two routers of the line. The port to coordinate c has number c if c is below the router's own coordinate,
    /// otherwise c - 1.
    Complete,
    /// A link joins each router to the next and to the previous router, and the last router to the first. Of the two ports of the
    /// dimension, port 0 leads up (+1) and port 1 leads down.
    Ring,
    /// Like [`Line::Ring`], but without the link that joins the last router to the first; the ports for this link are unused.
    Row,
}

/// A division of all routers into groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    pub count: u32,
    /// For each router, its group and its index in the group. The indices follow the order of the router ids.
    pub places: Vec<(u32, u32)>,
    /// Present if every two routers of a group are joined by a link (or a trunk).
    pub complete: Option<CompleteGroups>,
    /// Present if the links between groups follow one of the arrangements that Weft knows ([`Arrangement`](crate::Arrangement)).
    pub global: Option<GlobalLinks>,
}

/// Groups of equal size with consecutive router ids, in which a link joins every two routers. The port to index j is `first_port` + j if j
/// is below the router's own index, otherwise `first_port` + j - 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompleteGroups {
    pub first_port: u16,
    pub class: u8,
}

/// Routers on levels. Level 0 is at the bottom.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    pub count: u32,
    /// The level of each router.
    pub of_router: Vec<u32>,
    pub tree: Option<Tree>,
}

/// A fat tree. All routers of a level have the same number `down` of downward links and the same number `up` of upward links. The leaves
/// have the first router ids; each leaf has at most `down[0]` terminals.
///
/// The first ports of a router are its downward links, and its upward links follow. Consider port `down[l]` + u of a router on level l,
/// which leads up. The port leads to the router on level l + 1 that has u as digit l, and whose other digits are the same. The number of
/// the port at the upper router is digit l of the lower router. So a router of level l is above all leaves that have the same digits from
/// digit l on. The number of a leaf consists of its digits. The base of digit l is the number of downward links of level l + 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// For each level, the number of downward links of a router; for leaves, the number of ports for terminals.
    pub down: Vec<u32>,
    /// For each level except the top, the number of upward links of a router.
    pub up: Vec<u32>,
    /// The digits of each router, the lowest digit first. Digits from index (number of levels - 1) on are 0.
    pub digits: Vec<[u8; 8]>,
}

impl Tree {
    /// Number of upward links of each router below the top, if this number is also the number of its downward links; otherwise `None`.
    pub fn radix(&self) -> Option<u32> {
        let radix = self.down[0];
        let below_top = &self.down[..self.up.len()];
        self.up.iter().chain(below_top).all(|&links| links == radix).then_some(radix)
    }

    /// Number of downward links of a top router.
    pub fn top(&self) -> u32 {
        self.down[self.up.len()]
    }
}

impl Structure {
    pub fn of_grid(dimensions: Vec<Dimension>) -> Self {
        Self { grid: Some(Grid { dimensions }), ..Self::default() }
    }

    pub fn of_groups(groups: Groups) -> Self {
        Self { groups: Some(groups), ..Self::default() }
    }

    pub fn of_levels(levels: Levels) -> Self {
        Self { levels: Some(levels), ..Self::default() }
    }

    /// For each coordinate of a router, the number of its possible values. The coordinate that changes fastest with the router id is first.
    /// `None` if routers have no coordinates. On a grid these numbers are the widths; in crossed layers they are the numbers for x, y and
    /// the layer.
    pub fn widths(&self) -> Option<Vec<u32>> {
        match self {
            Self { crossed: Some(crossed), .. } => Some(crossed.widths.to_vec()),
            Self { grid: Some(grid), .. } if !grid.dimensions.is_empty() => {
                Some(grid.dimensions.iter().map(|dimension| dimension.width).collect())
            }
            _ => None,
        }
    }

    /// The coordinates of a router, in the order of [`Structure::widths`].
    pub fn coordinates(&self, router: u32) -> Option<Vec<u32>> {
        let digit = |rest: &mut u32, width: u32| Some((*rest % width, *rest /= width).0);
        Some(self.widths()?.into_iter().scan(router, digit).collect())
    }

    /// Number of routers with consecutive ids that form a unit: a row, a group, or the routers below the same parents. Blocks begin at
    /// multiples of this number, so that only few links, or long links, lead from block to block. The number is 1 if the structure is
    /// unknown.
    pub fn grain(&self) -> u32 {
        match self {
            // the units are rows of a layer; whole layers have no advantage as units, because no two routers of a layer are neighbours
            Self { crossed: Some(crossed), .. } => crossed.widths[0],
            Self { groups: Some(groups), .. } => groups.run().unwrap_or(1),
            Self { grid: Some(grid), .. } => grid.dimensions.first().map_or(1, |dimension| dimension.width),
            Self { levels: Some(Levels { count, tree: Some(tree), of_router }), .. } if *count > 1 => {
                tree.radix().filter(|radix| of_router.len().is_multiple_of(*radix as usize)).unwrap_or(1)
            }
            _ => 1,
        }
    }
}

impl Dimension {
    /// Number of ports of a router in this dimension.
    pub fn ports(&self) -> u32 {
        match self.line {
            Line::Complete => self.width - 1,
            Line::Ring | Line::Row => 2,
        }
    }
}

impl Grid {
    /// The kind of line, if it is the same in all dimensions. A grid without dimensions counts as complete lines.
    pub fn uniform(&self) -> Option<Line> {
        let Some(first) = self.dimensions.first() else { return Some(Line::Complete) };
        self.dimensions.iter().all(|other| other.line == first.line).then_some(first.line)
    }

    /// The dimension to which a port belongs; `None` for a port that leads out of the grid.
    pub fn dimension_of(&self, port: u16) -> Option<usize> {
        let port = u32::from(port);
        self.dimensions.iter().position(|dimension| {
            let first = u32::from(dimension.first_port);
            (first..first + dimension.ports()).contains(&port)
        })
    }

    /// Coordinates of a router, dimension 0 first.
    pub fn coordinates(&self, router: u32) -> impl Iterator<Item = u32> {
        let mut rest = router;
        self.dimensions.iter().map(move |dimension| {
            let own = rest % dimension.width;
            rest /= dimension.width;
            own
        })
    }
}

impl Groups {
    /// Divides routers into `count` groups of `size` routers with consecutive ids.
    pub fn in_a_row(count: u32, size: u32) -> Self {
        let places = (0..count * size).map(|router| (router / size, router % size)).collect();
        Self { count, places, complete: None, global: None }
    }

    /// Number of routers in each group, if all groups are equal and have consecutive router ids.
    pub fn run(&self) -> Option<u32> {
        let size = self.places.len() as u32 / self.count;
        (0..).zip(&self.places).all(|(router, &place)| place == (router / size, router % size)).then_some(size)
    }
}

impl Levels {
    /// Levels with consecutive router ids; `sizes` contains the number of routers of each level.
    pub fn in_rows(sizes: &[u32]) -> Self {
        let of_level = |(level, &size): (u32, &u32)| std::iter::repeat_n(level, size as usize);
        Self { count: sizes.len() as u32, of_router: (0..).zip(sizes).flat_map(of_level).collect(), tree: None }
    }

    /// Number of routers on a level.
    pub fn size(&self, level: u32) -> u32 {
        self.of_router.iter().filter(|&&own| own == level).count() as u32
    }
}
