//! Computes the number of links of each router, and the distances between all routers.

use crate::Graph;

/// Number of routers from which one search starts at once; each of them has one bit of a word.
const SOURCES: u32 = u64::BITS;

/// Numbers of pairs of routers, and of pairs of terminals, at each distance \[links\].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DistanceProfile {
    /// Number of ordered pairs of different routers at each distance; index 0 is unused.
    pub router_pairs: Vec<u64>,
    /// Number of ordered pairs of different terminals at each distance of their routers.
    pub terminal_pairs: Vec<u64>,
}

impl DistanceProfile {
    /// Number of links on the longest of the shortest paths between two routers.
    pub fn diameter(&self) -> u32 {
        self.router_pairs.len() as u32 - 1
    }

    /// Mean number of links between two different routers; 0 for one router.
    pub fn mean(&self) -> f64 {
        mean(&self.router_pairs)
    }

    /// Mean number of links between the routers of two different terminals; 0 for one terminal.
    pub fn terminal_mean(&self) -> f64 {
        mean(&self.terminal_pairs)
    }
}

fn mean(pairs: &[u64]) -> f64 {
    let links: u64 = pairs.iter().zip(0..).map(|(&pairs, distance)| pairs * distance).sum();
    links as f64 / pairs.iter().sum::<u64>().max(1) as f64
}

/// Statistics of the number of links per router.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Degrees {
    pub least: u32,
    pub most: u32,
    pub mean: f64,
}

impl Graph {
    /// Statistics of the number of links per router, without links to terminals and unused ports.
    pub fn degrees(&self) -> Degrees {
        let (mut least, mut most, mut ends) = (u32::MAX, 0, 0);
        for router in 0..self.routers() {
            let degree = self.neighbours(router).count() as u32;
            (least, most, ends) = (least.min(degree), most.max(degree), ends + u64::from(degree));
        }
        Degrees { least, most, mean: ends as f64 / f64::from(self.routers()) }
    }

    /// Distances between all pairs of routers, by a breadth-first search from 64 routers at once.
    pub fn distances(&self) -> DistanceProfile {
        let routers = self.routers();
        let terminals: Vec<u64> = (0..routers).map(|router| self.terminals_of(router)).collect();
        // other terminals on the same router have distance 0
        let at_home = terminals.iter().map(|&own| own * own.saturating_sub(1)).sum();
        let mut profile = DistanceProfile { router_pairs: vec![0], terminal_pairs: vec![at_home] };
        let mut search = Search::new(routers as usize);
        for first in (0..routers).step_by(SOURCES as usize) {
            search.run(self, first..routers.min(first + SOURCES), &terminals, &mut profile);
        }
        profile
    }
}

/// State of a breadth-first search from up to 64 routers at once. Bit s of a word belongs to source s.
struct Search {
    seen: Vec<u64>,
    /// For each router, the sources that reached it in the last step.
    frontier: Vec<u64>,
    next: Vec<u64>,
}

impl Search {
    fn new(routers: usize) -> Self {
        Self { seen: vec![0; routers], frontier: vec![0; routers], next: vec![0; routers] }
    }

    /// Adds the distances from the routers in `sources` to all routers to `profile`.
    fn run(&mut self, graph: &Graph, sources: std::ops::Range<u32>, terminals: &[u64], profile: &mut DistanceProfile) {
        self.seen.fill(0);
        // Bit s of `planes[b]` is bit b of the number of terminals on source s. With these words, the sum of terminals over a set of
        // sources is computed by counting bits.
        let mut planes = [0u64; 8];
        for (source, bit) in sources.zip(0..) {
            self.seen[source as usize] = 1 << bit;
            for (b, plane) in planes.iter_mut().enumerate() {
                *plane |= (terminals[source as usize] >> b & 1) << bit;
            }
        }
        self.frontier.copy_from_slice(&self.seen);
        for distance in 1.. {
            for router in 0..graph.routers() {
                let near = self.frontier[router as usize];
                if near != 0 {
                    graph.neighbours(router).for_each(|far| self.next[far as usize] |= near);
                }
            }
            let (mut routers, mut pairs) = (0, 0);
            for (router, reached) in self.next.iter_mut().enumerate() {
                let new = *reached & !self.seen[router];
                self.seen[router] |= new;
                self.frontier[router] = new;
                *reached = 0;
                let weighted = |(b, plane): (usize, &u64)| u64::from((new & plane).count_ones()) << b;
                routers += u64::from(new.count_ones());
                if new != 0 && terminals[router] > 0 {
                    pairs += terminals[router] * planes.iter().enumerate().map(weighted).sum::<u64>();
                }
            }
            if routers == 0 {
                return;
            }
            if profile.router_pairs.len() == distance {
                profile.router_pairs.push(0);
                profile.terminal_pairs.push(0);
            }
            profile.router_pairs[distance] += routers;
            profile.terminal_pairs[distance] += pairs;
        }
    }
}
