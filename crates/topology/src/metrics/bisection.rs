//! Bisection: the smallest number of links between two halves of the network. The numbers of terminals of the halves differ by at most the
//! largest number of terminals on a router.
//!
//! The number is exact if a formula from theory gives the best cut. Without such a formula the number is an upper bound: the number of
//! links of the best cut that a search finds. The search starts from several cuts. Each cut separates the first routers of an order from
//! the others: by router id, by distance from a router, or at random. The search improves each cut by moving routers one at a time (C. M.
//! Fiduccia, R. M. Mattheyses, "A Linear-Time Heuristic for Improving Network Partitions", DAC'82).

use crate::{Graph, Grid, Line, Structure};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The result of a bisection: the smallest number of links between two halves of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bisection {
    /// Number of links that cross the cut; each link has one channel in each direction.
    pub links: u64,
    /// True if no cut has fewer links; otherwise `links` is an upper bound.
    pub exact: bool,
    /// The source of the number, as text: a formula or the search.
    pub method: &'static str,
}

const HAMMING: &str = "Lindsey 1964: best sets of a product of complete graphs";
const ARRAYS: &str = "Azizoglu and Egecioglu 2004: bisection of arrays and tori";
const TREE: &str = "rearrangeable: one link per terminal of the smaller half";
const SINGLE: &str = "one router";
const SEARCH: &str = "upper bound: best cut found (Fiduccia-Mattheyses)";

/// Two halves of a network that a search has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halves {
    /// Number of links between the halves.
    pub links: u64,
    /// For each router, true if it is in the second half.
    pub second: Vec<bool>,
}

impl Graph {
    /// Improves the halves that a partitioner has proposed. The function first balances the halves: their numbers of terminals then differ
    /// by at most the largest number of terminals on a router. The function then improves the halves as long as the search finds better
    /// halves.
    pub fn improved_halves(&self, second: &[bool]) -> Halves {
        if self.planes() > 1 {
            let of_first: Vec<bool> = second.iter().copied().step_by(self.planes() as usize).collect();
            let Halves { links, second } = self.plane().improved_halves(&of_first);
            return Halves { links: links * u64::from(self.planes()), second: self.in_all_planes(&second) };
        }
        let mut cut = Cut::new(self);
        // first the routers of the given half, by decreasing number of links inside this half; then the other routers by the same rule
        let inside = |router: u32| {
            let with = self.neighbours(router).filter(|&far| second[far as usize]).count() as i64;
            2 * with - self.neighbours(router).count() as i64
        };
        let mut order: Vec<u32> = (0..self.routers()).collect();
        order.sort_by_cached_key(|&router| {
            let own = second[router as usize];
            (!own, own == (cut.weights[router as usize] > 0), Reverse(inside(router)), router)
        });
        let links = cut.improved(&order);
        Halves { links, second: cut.side }
    }

    /// The bisection of the network. The number is exact for single routers, grids of lines of one kind, and trees, if all trunks have the
    /// same width. With trunks of w links each, every cut has w times the links that it has without trunks.
    pub fn bisection(&self) -> Bisection {
        if self.planes() > 1 {
            // two halves of the nodes are the same two halves of the routers in each plane
            let of_plane = self.plane().bisection();
            return Bisection { links: of_plane.links * u64::from(self.planes()), ..of_plane };
        }
        let Structure { grid, levels, .. } = self.structure();
        let known = grid.as_ref().and_then(|grid| self.cut_of_grid(grid)).or_else(|| {
            let tree = levels.as_ref()?.tree.as_ref()?;
            Some((self.cut_of_tree(tree.radix()?)? * u64::from(self.only_trunk_width()?), TREE))
        });
        match known {
            Some((links, method)) => Bisection { links, exact: true, method },
            None => Bisection { links: Cut::new(self).best(), exact: false, method: SEARCH },
        }
    }

    fn cut_of_grid(&self, grid: &Grid) -> Option<(u64, &'static str)> {
        let widths: Vec<u32> = grid.dimensions.iter().map(|dimension| dimension.width).collect();
        let (line, trunk) = (grid.uniform()?, u64::from(self.only_trunk_width()?));
        Some(match line {
            Line::Complete if widths.is_empty() => (0, SINGLE),
            Line::Complete => (self.links_out_of_half(&widths), HAMMING),
            Line::Ring => (2 * array_cut(&widths) * trunk, ARRAYS),
            Line::Row => (array_cut(&widths) * trunk, ARRAYS),
        })
    }

    /// Number of links of a bisection of a tree. Between any two halves, each terminal of the smaller half can have a path over links that
    /// no other path uses. So no cut has fewer links than the smaller half has terminals. A cut along subtrees has exactly this number of
    /// links.
    ///
    /// `radix`: number of upward links, and also number of downward links, of each router. `None` if a leaf has a port without a terminal.
    fn cut_of_tree(&self, radix: u32) -> Option<u64> {
        let leaves = self.terminals() / self.terminals_per_router().filter(|each| *each == radix)?;
        Some(u64::from(radix) * u64::from(leaves / 2))
    }

    /// Number of links between the first half of the routers and the second, in lexicographic order; the widest dimension changes fastest.
    fn links_out_of_half(&self, widths: &[u32]) -> u64 {
        let mut order: Vec<usize> = (0..widths.len()).collect();
        order.sort_by_key(|&d| widths[d]);
        let place = |router: u32| {
            let mut rest = router;
            let coordinates: Vec<u32> = widths.iter().map(|width| (rest % width, rest /= width).0).collect();
            order.iter().fold(0, |place, &d| place * widths[d] + coordinates[d])
        };
        let half = self.routers() / 2;
        let first: Vec<bool> = (0..self.routers()).map(|router| place(router) < half).collect();
        let crosses = |near: u32, far: u32| first[near as usize] && !first[far as usize];
        let crossing = |near| self.neighbours(near).filter(|&far| crosses(near, far)).count() as u64;
        (0..self.routers()).map(crossing).sum()
    }
}

/// Number of links of a bisection of a mesh. The cut divides the widest dimension of even width in half. In a wider dimension, whose width
/// is odd, the routers of the middle coordinate are divided in the same way.
fn array_cut(widths: &[u32]) -> u64 {
    let mut widths = widths.to_vec();
    widths.sort_unstable_by_key(|&width| Reverse(width));
    let mut rest: u64 = widths.iter().map(|&width| u64::from(width)).product();
    let mut links = 0;
    for width in widths {
        rest /= u64::from(width);
        links += rest;
        if width % 2 == 0 {
            break;
        }
    }
    links
}

/// Number of starting cuts of the search that use a random order of the routers.
const RANDOM_STARTS: u64 = 4;
/// Maximum number of rounds of moves per start. The search ends earlier after a round without an improvement.
const ROUNDS: usize = 12;

/// A cut of a graph while the search improves it.
struct Cut<'a> {
    graph: &'a Graph,
    /// Number of terminals on every router. The next field contains their sum.
    weights: Vec<u64>,
    total: u64,
    heaviest: u64,
    side: Vec<bool>,
    /// For each router, the decrease in the number of crossing links if the router changes sides.
    gain: Vec<i64>,
    moved: Vec<bool>,
    links: i64,
    /// Number of terminals on the side whose routers have the value `true`.
    weight: u64,
}

impl<'a> Cut<'a> {
    fn new(graph: &'a Graph) -> Self {
        let routers = graph.routers() as usize;
        let weights: Vec<u64> = (0..graph.routers()).map(|router| graph.terminals_of(router)).collect();
        Self {
            graph,
            total: weights.iter().sum(),
            heaviest: weights.iter().copied().max().unwrap_or(0),
            weights,
            side: vec![false; routers],
            gain: vec![0; routers],
            moved: vec![false; routers],
            links: 0,
            weight: 0,
        }
    }

    /// Number of links of the best cut over all starts.
    fn best(mut self) -> u64 {
        let routers = self.graph.routers();
        let by_id: Vec<u32> = (0..routers).collect();
        let distance = self.graph.distances_from(0);
        let mut by_distance = by_id.clone();
        by_distance.sort_by_key(|&router| distance[router as usize]);
        let at_random = (0..RANDOM_STARTS).map(|start| {
            let mut order = by_id.clone();
            order.sort_by_key(|&router| (scatter(start << 32 | u64::from(router)), router));
            order
        });
        let starts: Vec<_> = [by_id.clone(), by_distance].into_iter().chain(at_random).collect();
        starts.iter().map(|order| self.improved(order)).min().unwrap_or(0)
    }

    /// Improves the cut whose first side consists of the first routers of this order; returns its number of links.
    fn improved(&mut self, order: &[u32]) -> u64 {
        self.start(order);
        for _ in 0..ROUNDS {
            if !self.round() {
                break;
            }
        }
        self.links as u64
    }

    fn start(&mut self, order: &[u32]) {
        self.side.fill(false);
        self.weight = 0;
        for &router in order {
            let after = self.weight + self.weights[router as usize];
            if after.abs_diff(self.total - after) > self.weight.abs_diff(self.total - self.weight) {
                break;
            }
            self.side[router as usize] = true;
            self.weight = after;
        }
        let mut crossing = 0;
        for router in 0..self.graph.routers() {
            let gain = |far: u32| if self.side[far as usize] == self.side[router as usize] { -1 } else { 1 };
            self.gain[router as usize] = self.graph.neighbours(router).map(gain).sum();
            let crosses = |&far: &u32| self.side[far as usize] != self.side[router as usize];
            crossing += self.graph.neighbours(router).filter(crosses).count() as i64;
        }
        self.links = crossing / 2;
    }

    /// True if the numbers of terminals of the halves differ by at most the largest number of terminals on a router, plus `slack`.
    /// `weight`: number of terminals of one half.
    fn balanced(&self, weight: u64, slack: u64) -> bool {
        weight.abs_diff(self.total - weight) <= self.heaviest + slack
    }

    /// Moves every router once, the router with the highest gain first, and then restores the best balanced cut that occurred. Returns true
    /// if this cut is better than the cut before the round.
    fn round(&mut self) -> bool {
        self.moved.fill(false);
        let mut waiting = [BinaryHeap::new(), BinaryHeap::new()];
        for router in 0..self.graph.routers() {
            waiting[usize::from(self.side[router as usize])].push((self.gain[router as usize], Reverse(router)));
        }
        let before = self.links;
        let (mut best, mut kept, mut moves) = (before, 0, Vec::new());
        while let Some(router) = self.next(&mut waiting) {
            self.flip(router, &mut waiting);
            self.moved[router as usize] = true;
            moves.push(router);
            if self.links < best && self.balanced(self.weight, 0) {
                (best, kept) = (self.links, moves.len());
            }
        }
        for &router in moves[kept..].iter().rev() {
            self.flip(router, &mut waiting);
        }
        best < before
    }

    /// The router to move next: the router with the highest gain, among those whose move keeps the halves nearly equal.
    fn next(&self, waiting: &mut [BinaryHeap<(i64, Reverse<u32>)>; 2]) -> Option<u32> {
        let mut best = None;
        for side in [false, true] {
            let heap = &mut waiting[usize::from(side)];
            while let Some(&(gain, Reverse(router))) = heap.peek() {
                let at = router as usize;
                // removes an outdated entry: when a gain changes, the old entry remains in the heap
                if self.moved[at] || self.side[at] != side || self.gain[at] != gain {
                    heap.pop();
                    continue;
                }
                let weight = if side { self.weight - self.weights[at] } else { self.weight + self.weights[at] };
                if self.balanced(weight, 2 * self.heaviest) && best.is_none_or(|(most, _)| gain > most) {
                    best = Some((gain, router));
                }
                break;
            }
        }
        best.map(|(_, router)| router)
    }

    fn flip(&mut self, router: u32, waiting: &mut [BinaryHeap<(i64, Reverse<u32>)>; 2]) {
        let at = router as usize;
        let from = self.side[at];
        self.links -= self.gain[at];
        self.gain[at] = -self.gain[at];
        self.side[at] = !from;
        self.weight = if from { self.weight - self.weights[at] } else { self.weight + self.weights[at] };
        for far in self.graph.neighbours(router) {
            // links to the side that the router has left now cross the cut
            let far_at = far as usize;
            self.gain[far_at] += if self.side[far_at] == from { 2 } else { -2 };
            if !self.moved[far_at] {
                waiting[usize::from(self.side[far_at])].push((self.gain[far_at], Reverse(far)));
            }
        }
    }
}

/// A hash of a number, from which the search gets the same random orders in every run.
pub(super) fn scatter(number: u64) -> u64 {
    let mixed = (number ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 16
}
