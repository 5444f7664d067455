//! The order in the wiring of a topology. With it a routing or a pattern computes ports and distances instead of
//! searching for them. Views know one link in each place; [`Graph::trunk`](crate::Graph::trunk) knows the parallel
//! links.
//!
//! Every view is optional, and a network may offer several. A model asks for the view that it needs, and refuses a
//! network without it. No model reads the name of a topology. `tests/conformance.rs` checks every view against the
//! wiring.

use super::arrangement::GlobalLinks;
use super::{CrossedLayers, Ring};

/// A set of routers, the classes of the links between them, and the order in which these links join them.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    pub name: String,
    /// Its routers, ascending.
    pub routers: Vec<u32>,
    /// Classes of its ports: indices into [`Graph::class_names`](crate::Graph::class_names), ascending.
    pub classes: Vec<u8>,
    pub structure: Structure,
}

/// The views of a layer. A network whose wiring has no known order has no views, and few networks have rings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Structure {
    pub grid: Option<Grid>,
    pub groups: Option<Groups>,
    pub levels: Option<Levels>,
    pub crossed: Option<CrossedLayers>,
    /// Physical rings: each visits every router once, over links of its own that no other view knows.
    pub rings: Vec<Ring>,
}

/// Routers on a grid, dimension 0 fastest: router id = sum of coordinate\[d\] * product of the widths before d. A
/// single router is a grid without dimensions.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    pub dimensions: Vec<Dimension>,
}

/// A dimension of a grid. Its ports follow each other from `first_port` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimension {
    /// Routers in each line.
    pub width: u32,
    pub line: Line,
    /// The same port on every router.
    pub first_port: u16,
    pub class: u8,
}

/// Links among the routers of one line of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// Every two of them. The port to coordinate c is number c below the router's own coordinate, c - 1 above.
    Complete,
    /// Each to the next and the previous one, the ends too: port 0 leads up (+1), port 1 down.
    Ring,
    /// As [`Line::Ring`], but the ports that would join the two ends are unused.
    Row,
}

/// Routers in groups: any partition of the routers.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    pub count: u32,
    /// For each router its group, and its index among the routers of the group in ascending order.
    pub places: Vec<(u32, u32)>,
    /// Present if every two routers of a group are joined by one link, or trunk.
    pub complete: Option<CompleteGroups>,
    /// Present if the links between groups follow an arrangement.
    pub global: Option<GlobalLinks>,
}

/// Groups of equal size, one after the other by router id, in which every two routers are joined. The port to index j
/// is `first_port` + j below the router's own index, `first_port` + j - 1 above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompleteGroups {
    pub first_port: u16,
    pub class: u8,
}

/// Routers on levels, level 0 at the bottom.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    pub count: u32,
    /// The level of each router.
    pub of_router: Vec<u32>,
    pub tree: Option<Tree>,
}

/// Levels that make a fat tree whose routers of a level are equal: `down` links down and `up` links up from each of them.
/// The leaves are the first routers; each has `down[0]` terminals at most.
///
/// The ports of a router are its links down, then its links up. Port `down[l]` + u of a router of level l leads to the
/// router of level l + 1 whose digit l is u and whose other digits are the same; there it arrives at the port that is
/// digit l of the lower router. So a router of level l is above all leaves that share its digits from l on. The number
/// of a leaf has its digits: digit l counts the links down of level l + 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// Links down of a router, by level; of a leaf its ports for terminals.
    pub down: Vec<u32>,
    /// Links up of a router, by level, without the top.
    pub up: Vec<u32>,
    /// The digits of each router, the lowest first; those from the number of levels - 1 on are 0.
    pub digits: Vec<[u8; 8]>,
}

impl Tree {
    /// Links up of each router below the top, if each has as many links down.
    pub fn radix(&self) -> Option<u32> {
        let radix = self.down[0];
        let below_top = &self.down[..self.up.len()];
        self.up.iter().chain(below_top).all(|&links| links == radix).then_some(radix)
    }

    /// Links down of a router of the top.
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

    /// How many values each coordinate of a router has, the one that changes fastest with the router id first; `None`
    /// where routers have no coordinates. On a grid these are its widths; in crossed layers they are x, y and the layer.
    pub fn widths(&self) -> Option<Vec<u32>> {
        match self {
            Self { crossed: Some(crossed), .. } => Some(crossed.widths.to_vec()),
            Self { grid: Some(grid), .. } if !grid.dimensions.is_empty() => {
                Some(grid.dimensions.iter().map(|dimension| dimension.width).collect())
            }
            _ => None,
        }
    }

    /// The coordinates of a router, as [`Structure::widths`] counts them.
    pub fn coordinates(&self, router: u32) -> Option<Vec<u32>> {
        let digit = |rest: &mut u32, width: u32| Some((*rest % width, *rest /= width).0);
        Some(self.widths()?.into_iter().scan(router, digit).collect())
    }

    /// How many routers with consecutive ids belong together (a row, a group, the routers under the same parents). The
    /// network is partitioned into blocks at multiples of this number, so that few links, or long ones, lead from block
    /// to block. 1 if nothing is known.
    pub fn grain(&self) -> u32 {
        match self {
            // no two routers of a layer are neighbours, so that it is no better than any other run of routers
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
    /// Ports of a router in this dimension.
    pub fn ports(&self) -> u32 {
        match self.line {
            Line::Complete => self.width - 1,
            Line::Ring | Line::Row => 2,
        }
    }
}

impl Grid {
    /// The line that all dimensions share; complete lines where there is no dimension.
    pub fn uniform(&self) -> Option<Line> {
        let Some(first) = self.dimensions.first() else { return Some(Line::Complete) };
        self.dimensions.iter().all(|other| other.line == first.line).then_some(first.line)
    }

    /// The dimension along which a port leads; `None` for a port that leads out of the grid.
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
    /// Groups of `size` routers, one after the other.
    pub fn in_a_row(count: u32, size: u32) -> Self {
        let places = (0..count * size).map(|router| (router / size, router % size)).collect();
        Self { count, places, complete: None, global: None }
    }

    /// Routers of each group, where all groups are equal and their routers follow each other.
    pub fn run(&self) -> Option<u32> {
        let size = self.places.len() as u32 / self.count;
        (0..).zip(&self.places).all(|(router, &place)| place == (router / size, router % size)).then_some(size)
    }
}

impl Levels {
    /// Levels whose routers follow each other, `sizes` routers on each.
    pub fn in_rows(sizes: &[u32]) -> Self {
        let of_level = |(level, &size): (u32, &u32)| std::iter::repeat_n(level, size as usize);
        Self { count: sizes.len() as u32, of_router: (0..).zip(sizes).flat_map(of_level).collect(), tree: None }
    }

    /// Number of routers on a level.
    pub fn size(&self, level: u32) -> u32 {
        self.of_router.iter().filter(|&&own| own == level).count() as u32
    }
}
