//! Distances between routers, in links. A search finds the distances from one router. For diameter and mean over all pairs, a formula is
//! used if the structure of the graph is known.

use crate::{Dimension, Graph, Groups, Levels, Line, Peer, Structure, Tree};

impl Graph {
    /// Number of links on a shortest path from `router` to every router, by breadth-first search.
    pub fn distances_from(&self, router: u32) -> Vec<u32> {
        let mut distance = vec![u32::MAX; self.routers() as usize];
        distance[router as usize] = 0;
        let mut queue = vec![router];
        let mut next = 0;
        while let Some(&near) = queue.get(next) {
            next += 1;
            for far in self.neighbours(near) {
                if distance[far as usize] == u32::MAX {
                    distance[far as usize] = distance[near as usize] + 1;
                    queue.push(far);
                }
            }
        }
        distance
    }

    /// Number of links on the longest of the shortest paths between two routers.
    pub fn diameter(&self) -> u32 {
        match self.structure() {
            Structure { crossed: Some(crossed), .. } => {
                crossed.offsets().map(|(offset, _)| crossed.distance(offset)).max().unwrap_or(0)
            }
            Structure { grid: Some(grid), .. } => grid.dimensions.iter().map(longest).sum(),
            Structure { groups: Some(groups), .. } if are_within_three(groups) => {
                let pairs = self.pairs_within_three();
                (1..=3).rev().find(|&distance| pairs[distance] > 0).unwrap_or(0) as u32
            }
            // The most distant routers are on the same level and differ in all digits. A path goes up to the top and down to level 0, in
            // either order.
            Structure { levels: Some(Levels { count, tree: Some(tree), .. }), .. }
                if tree.down[1..].iter().all(|&n| n > 1) =>
            {
                2 * (count - 1)
            }
            _ => self.distances().diameter(),
        }
    }

    /// Mean number of links on a shortest path, over all ordered pairs of different routers; 0 for one router.
    pub fn mean_distance(&self) -> f64 {
        match self.structure() {
            Structure { crossed: Some(crossed), .. } => {
                let all =
                    crossed.offsets().map(|(offset, count)| u64::from(crossed.distance(offset)) * u64::from(count));
                all.sum::<u64>() as f64 / f64::from(self.routers() - 1)
            }
            Structure { grid: Some(grid), .. } => self.grid_mean(&grid.dimensions),
            Structure { groups: Some(groups), .. } if are_within_three(groups) => {
                let pairs = self.pairs_within_three();
                let links: u64 = (1..=3).map(|distance| distance as u64 * pairs[distance]).sum();
                links as f64 / pairs.iter().sum::<u64>() as f64
            }
            Structure { levels: Some(Levels { count, tree: Some(tree), .. }), .. }
                if tree.radix() == Some(tree.top()) =>
            {
                self.tree_mean(tree.top().into(), *count)
            }
            Structure { levels: Some(Levels { count: 3, tree: Some(tree), .. }), .. } if is_of_pods(tree) => {
                fat_tree_mean(tree.top().into())
            }
            _ => self.distances().mean(),
        }
    }

    /// Mean distance over ordered pairs of different routers on a grid. A distance is a sum over dimensions, so the mean is the sum of the
    /// means per dimension, over all ordered pairs of coordinates. Pairs of a router with itself add nothing to the sum, so only the
    /// denominator must exclude them.
    fn grid_mean(&self, dimensions: &[Dimension]) -> f64 {
        let routers = f64::from(self.routers());
        if routers < 2.0 {
            return 0.0;
        }
        let of_all: f64 = dimensions.iter().map(mean).sum();
        of_all * routers / (routers - 1.0)
    }

    /// Mean distance over ordered pairs of different routers in a k-ary tree of n levels. A path changes digit i between levels i and i+1.
    /// A path from level a to level b >= a goes down to the lowest differing digit, and up to one level above the highest differing digit.
    /// Such a path has b - a + 2 down(a) + 2 up(b) links. With random digits the lowest differing digit is below i + 1 with probability 1 -
    /// k^-(i+1). So down(a) has the mean f(a) = a - (1/k + ... + 1/k^a). By symmetry up(b) has the mean f(n-1-b). Of the n^2 ordered pairs
    /// of levels, 2 (n-1-a) + 1 have their lower end at a. The sum of |b - a| is n (n^2 - 1) / 3. Only the denominator must exclude pairs
    /// of a router with itself, as in [`Graph::grid_mean`].
    fn tree_mean(&self, k: f64, n: u32) -> f64 {
        let routers = f64::from(self.routers());
        if routers < 2.0 {
            return 0.0;
        }
        let (mut detours, mut f, mut share) = (0.0, 0.0, 1.0);
        for a in 0..n {
            detours += f64::from(2 * (n - 1 - a) + 1) * f;
            share /= k;
            f += 1.0 - share;
        }
        let levels = f64::from(n);
        let of_all = (levels * (levels * levels - 1.0) / 3.0 + 4.0 * detours) / (levels * levels);
        of_all * routers / (routers - 1.0)
    }

    /// Number of ordered pairs of different routers at distance 1, 2 and 3, for a graph with a diameter of at most 3. Index 0 is unused
    /// and 0. A search over two links from every router finds all distances below 3, with routers * degree^2 steps.
    fn pairs_within_three(&self) -> [u64; 4] {
        let routers = self.routers();
        let mut pairs = [0; 4];
        let mut seen_from = vec![u32::MAX; routers as usize];
        for source in 0..routers {
            seen_from[source as usize] = source;
            let mut first_seen = |router: u32| std::mem::replace(&mut seen_from[router as usize], source) != source;
            let near: Vec<u32> = self.neighbours(source).filter(|&router| first_seen(router)).collect();
            let two_away = near.iter().flat_map(|&router| self.neighbours(router)).filter(|&r| first_seen(r)).count();
            pairs[1] += near.len() as u64;
            pairs[2] += two_away as u64;
            pairs[3] += u64::from(routers) - 1 - near.len() as u64 - two_away as u64;
        }
        pairs
    }

    pub fn neighbours(&self, router: u32) -> impl Iterator<Item = u32> + '_ {
        self.ports(router).iter().filter_map(|port| match port.peer {
            Peer::Router { router, .. } => Some(router),
            Peer::Unused | Peer::Terminal(_) => None,
        })
    }
}

/// Largest distance between two coordinates of a dimension.
fn longest(dimension: &Dimension) -> u32 {
    match dimension.line {
        Line::Complete => u32::from(dimension.width > 1),
        Line::Ring => dimension.width / 2,
        Line::Row => dimension.width - 1,
    }
}

/// Mean distance between two random coordinates of a dimension. The two coordinates can be equal.
fn mean(dimension: &Dimension) -> f64 {
    let w = f64::from(dimension.width);
    match dimension.line {
        // The mean distance is the probability that the coordinates differ.
        Line::Complete => (w - 1.0) / w,
        // The mean distance is (0 + 1 + ... + 1 + 0) / w around a ring: floor(w^2 / 4) / w.
        Line::Ring => (w * w / 4.0).floor() / w,
        // The mean of |x - y| in a row is (w^2 - 1) / 3w.
        Line::Row => (w * w - 1.0) / (3.0 * w),
    }
}

/// True if a path of at most one local, one global and one local link joins any two routers.
fn are_within_three(groups: &Groups) -> bool {
    groups.complete.is_some() && groups.global.is_some()
}

/// True if a tree of three levels consists of pods, so that each top router has a link to each pod.
fn is_of_pods(tree: &Tree) -> bool {
    tree.radix().is_some_and(|radix| tree.top() == 2 * radix)
}

/// Mean distance over ordered pairs of different routers, in a fat tree of k pods. The formula sums the distances over pairs of each kind
/// of routers.
fn fat_tree_mean(k: f64) -> f64 {
    let half = k / 2.0;
    let (pods, routers) = (k, 5.0 * half * half);
    let other_pods = pods * (pods - 1.0);
    let edge_edge = pods * half * (half - 1.0) * 2.0 + other_pods * half * half * 4.0;
    let edge_aggregation = pods * half * half + other_pods * half * half * 3.0;
    let edge_core = pods * half * half * half * 2.0;
    // the path between two aggregation routers goes over an edge router of their pod, over a core if both have the same index, or over both
    let aggregation_aggregation =
        pods * half * (half - 1.0) * 2.0 + other_pods * half * 2.0 + other_pods * half * (half - 1.0) * 4.0;
    let aggregation_core = pods * half * half + pods * half * (half * half - half) * 3.0;
    let core_core = half * half * (half - 1.0) * 2.0 + half * half * (half * half - half) * 4.0;
    let of_all =
        edge_edge + aggregation_aggregation + core_core + 2.0 * (edge_aggregation + edge_core + aggregation_core);
    of_all / (routers * (routers - 1.0))
}
