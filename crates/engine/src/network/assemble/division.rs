//! Determines the routers of each block. The routers are put into an order, and the order is cut into blocks.
//!
//! In most networks this order is the order of router numbers. A tree numbers its routers level by level, so this order would put all
//! leaves into one block and the routers above them into another. Therefore the blocks of a tree get the subtrees below the top in turn,
//! each with its share of the top routers. This division also helps programs, because ranks that send at the same time are often
//! neighbours. Because consecutive subtrees are in different blocks, all blocks have work at these times.

use std::sync::Arc;
use weft_api::base::kept::{Kept, Reader, Unreadable, Value, Writer};
use weft_topology::{Graph, Levels, Structure, Tree};

/// The division of a network: the routers of each block, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Division {
    /// All routers: first those of block 0, then those of block 1, and so on.
    routers: Vec<u32>,
    /// For each block, the index in `routers` of its first router; the last entry is the end.
    first: Vec<usize>,
    /// For each router, its block, and the index of its first port within the block.
    places: Arc<[(u32, u32)]>,
}

impl Division {
    /// `block_of`: for each router, its block. Returns `None` if a block other than the last has no router.
    fn of(graph: &Graph, block_of: &[u32]) -> Option<Self> {
        let blocks = block_of.iter().max().map_or(0, |&last| last as usize + 1);
        let (mut routers, mut first) = (vec![Vec::new(); blocks], vec![0]);
        (0..).zip(block_of).for_each(|(router, &block)| routers[block as usize].push(router));
        let mut places = vec![(0, 0); block_of.len()];
        for (block, routers) in (0..).zip(&routers) {
            let mut base = 0;
            for &router in routers {
                places[router as usize] = (block, base);
                base += graph.ports(router).len() as u32;
            }
            first.push(first[block as usize] + routers.len());
        }
        let is_none_empty = routers.iter().all(|routers| !routers.is_empty());
        is_none_empty.then(|| Self { routers: routers.concat(), first, places: places.into() })
    }

    pub fn blocks(&self) -> usize {
        self.first.len() - 1
    }

    /// The routers of block number `block`.
    pub fn routers(&self, block: usize) -> &[u32] {
        &self.routers[self.first[block]..self.first[block + 1]]
    }

    /// The index of the router among the routers of its block.
    pub fn number(&self, router: u32) -> u32 {
        let routers = self.routers(self.block(router) as usize);
        routers.binary_search(&router).expect("a router of its block") as u32
    }

    /// The block that contains the router.
    pub fn block(&self, router: u32) -> u32 {
        self.places[router as usize].0
    }

    /// The index of the router's first port within its block.
    pub fn base(&self, router: u32) -> u32 {
        self.places[router as usize].1
    }

    /// For each router, its block and the index of its first port in the block.
    pub fn places(&self) -> &Arc<[(u32, u32)]> {
        &self.places
    }

    /// For each channel that leaves a router, its block and its index in the block.
    pub fn channels(&self, graph: &Graph) -> Vec<(u32, u32)> {
        let of_router = |router: u32| {
            (0..graph.ports(router).len() as u32).map(move |port| (self.block(router), self.base(router) + port))
        };
        (0..graph.routers()).flat_map(of_router).collect()
    }

    /// Writes the division into a checkpoint, from which [`Self::read`] reads it.
    pub fn keep(&self, to: &mut Writer) {
        self.places.iter().map(|place| place.0).collect::<Vec<_>>().keep(to);
    }

    pub fn read(graph: &Graph, from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let block_of = Vec::<u32>::read(from)?;
        let is_right =
            block_of.len() == graph.routers() as usize && block_of.iter().all(|&block| block < graph.routers());
        if is_right { Self::of(graph, &block_of).ok_or(Unreadable) } else { Err(Unreadable) }
    }
}

/// The order of a network's routers, which is cut into blocks, and the units of this order.
#[derive(Debug)]
pub(super) struct Order {
    pub routers: Vec<u32>,
    /// Positions in the order at which units begin (rows, groups, subtrees); the last entry is the end. If possible, a unit is not divided
    /// between blocks.
    pub units: Vec<u32>,
}

impl Order {
    /// The order of the routers for a division into `blocks` blocks.
    pub fn of(graph: &Graph, blocks: usize) -> Self {
        match graph.plane().structure() {
            Structure {
                levels: Some(levels @ Levels { tree: Some(tree), count, .. }),
                grid: None,
                groups: None,
                crossed: None,
                ..
            } if *count > 1 => Self::of_tree(graph, (levels, tree), blocks as u64),
            _ => {
                let (routers, grain) = (graph.routers(), graph.grain());
                let units = (0..routers).step_by(grain as usize).chain([routers]).collect();
                Self { routers: (0..routers).collect(), units }
            }
        }
    }

    fn of_tree(graph: &Graph, (levels, tree): (&Levels, &Tree), blocks: u64) -> Self {
        let (subtrees, planes) = (u64::from(tree.top()), graph.planes());
        let turns = if blocks <= subtrees { blocks } else { 1 };
        let mut places = Vec::with_capacity(levels.of_router.len());
        let mut before = vec![0u64; levels.count as usize];
        for (router, &level) in (0..).zip(&levels.of_router) {
            let (position, size) = (before[level as usize], u64::from(levels.size(level)));
            before[level as usize] += 1;
            let subtree = position * subtrees / size;
            // within a subtree, routers are sorted by this share, so routers of different levels that are above each other are neighbours
            // in the order
            let share = (2 * position + 1) * u64::from(u32::MAX) / size;
            places.push(((subtree % turns, subtree), share, level, router));
        }
        places.sort_unstable();
        let mut units: Vec<u32> = (0..)
            .zip(&places)
            .filter(|&(at, place): &(u32, _)| at == 0 || place.0 != places[at as usize - 1].0)
            .map(|(at, _)| at * planes)
            .collect();
        units.push(graph.routers());
        let routers = places.iter().flat_map(|&(.., router)| (0..planes).map(move |plane| router * planes + plane));
        Self { routers: routers.collect(), units }
    }

    /// Cuts the order at the positions `bounds`: the beginning of each block, and the end of the last block.
    pub fn divide(&self, graph: &Graph, bounds: &[u32]) -> Division {
        let mut block_of = vec![0; self.routers.len()];
        for (block, both) in (0..).zip(bounds.windows(2)) {
            self.routers[both[0] as usize..both[1] as usize]
                .iter()
                .for_each(|&router| block_of[router as usize] = block);
        }
        Division::of(graph, &block_of).expect("each block has a router")
    }

    /// For each router, its position in the order.
    pub fn place_of(&self) -> Vec<u32> {
        let mut place_of = vec![0; self.routers.len()];
        (0..).zip(&self.routers).for_each(|(place, &router)| place_of[router as usize] = place);
        place_of
    }

    /// For each router, the index of its unit.
    pub fn unit_of(&self) -> Vec<u32> {
        let mut unit_of = vec![0; self.routers.len()];
        for (unit, both) in (0..).zip(self.units.windows(2)) {
            self.routers[both[0] as usize..both[1] as usize].iter().for_each(|&router| unit_of[router as usize] = unit);
        }
        unit_of
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_topology::TopologyConfig;

    fn torus() -> Graph {
        let topology = r#"{"torus": {"widths": [3, 2], "terminals_per_router": 1}}"#;
        serde_json::from_str::<TopologyConfig>(topology).expect("a topology").build("").expect("a graph")
    }

    #[test]
    fn a_division_is_read_as_it_was_kept() {
        let graph = torus();
        let division = Division::of(&graph, &[1, 0, 1, 0, 2, 1]).expect("three blocks");
        assert_eq!((0..3).map(|b| division.routers(b)).collect::<Vec<_>>(), [&[1, 3][..], &[0, 2, 5], &[4]]);
        let ports = graph.ports(0).len() as u32;
        assert_eq!((division.block(5), division.base(5), division.number(5)), (1, 2 * ports, 2));
        let mut bytes = Writer::new();
        division.keep(&mut bytes);
        assert_eq!(Division::read(&graph, &mut Reader::new(&bytes)), Ok(division));
    }

    #[test]
    fn a_division_that_is_none_is_refused() {
        let graph = torus();
        for wrong in [&[0u32, 0, 0, 0, 0][..], &[0, 0, 0, 0, 0, 6], &[0, 0, 2, 0, 0, 0], &[]] {
            let mut bytes = Writer::new();
            wrong.to_vec().keep(&mut bytes);
            assert!(Division::read(&graph, &mut Reader::new(&bytes)).is_err(), "{wrong:?}");
        }
    }
}
