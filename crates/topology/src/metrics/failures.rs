//! The number of random link failures that a network survives before it is disconnected.
//!
//! Links fail one after the other, in a random order. A network that is connected after k failures is also connected after fewer failures
//! in the same order. So a single number describes the result of an order: the largest number of failed links with which the network is
//! still connected. To find this number, the links are added in the reverse order until the network is connected. A union-find structure
//! detects this (R. E. Tarjan, "Efficiency of a Good But Not Linear Set Union Algorithm", J. ACM 22(2), 1975).

use super::bisection::scatter;
use crate::Graph;

/// The numbers of failures that a network survives in one random order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Survived {
    /// Number of links that can fail while all routers stay connected. After one more failure, some routers are disconnected.
    pub all_routers: u32,
    /// Number of links that can fail while all routers with terminals stay connected. Paths between such routers can cross routers without
    /// terminals.
    pub terminals: u32,
}

impl Graph {
    /// Computes the survived failures for each of `trials` random orders. Each link of a trunk fails separately. A seed always gives the
    /// same random orders.
    pub fn survived_failures(&self, trials: u32, seed: u64) -> Vec<Survived> {
        let ends: Vec<(u32, u32)> = self.links().map(|link| (link.ends[0].0, link.ends[1].0)).collect();
        let has_terminals: Vec<bool> = (0..self.routers()).map(|router| self.terminals_of(router) > 0).collect();
        let mut order: Vec<u32> = (0..ends.len() as u32).collect();
        let trial = |trial| {
            shuffle(&mut order, seed, trial);
            survived(&ends, &order, &has_terminals, self.planes() as usize)
        };
        (0..trials).map(trial).collect()
    }
}

/// Shuffles numbers into a random order (Fisher and Yates).
fn shuffle(order: &mut [u32], seed: u64, trial: u32) {
    let stream = scatter(scatter(seed) ^ u64::from(trial));
    for last in (1..order.len()).rev() {
        let draw = scatter(stream.wrapping_add(last as u64)) & u64::from(u32::MAX);
        // the high half of a product of two 32-bit numbers is a random number below the second factor
        let other = (draw * (last as u64 + 1)) >> 32;
        order.swap(last, other as usize);
    }
}

/// Adds the links in the reverse order of their failures, until each plane is connected.
fn survived(ends: &[(u32, u32)], order: &[u32], has_terminals: &[bool], planes: usize) -> Survived {
    let mut sets = Sets::new(has_terminals);
    let mut with_terminals = None;
    for failed in (0..=order.len()).rev() {
        // at this point, the links from index `failed` on are present
        if let Some(&link) = order.get(failed) {
            let (near, far) = ends[link as usize];
            sets.join(near, far);
        }
        if sets.with_terminals <= planes {
            with_terminals.get_or_insert(failed as u32);
        }
        if sets.count <= planes {
            return Survived { all_routers: failed as u32, terminals: with_terminals.unwrap_or(0) };
        }
    }
    Survived { all_routers: 0, terminals: with_terminals.unwrap_or(0) }
}

/// The sets of connected routers, as a union-find structure.
struct Sets {
    parent: Vec<u32>,
    size: Vec<u32>,
    /// For each root, true if its set contains a router with terminals.
    terminals: Vec<bool>,
    count: usize,
    with_terminals: usize,
}

impl Sets {
    fn new(has_terminals: &[bool]) -> Self {
        Self {
            parent: (0..has_terminals.len() as u32).collect(),
            size: vec![1; has_terminals.len()],
            terminals: has_terminals.to_vec(),
            count: has_terminals.len(),
            with_terminals: has_terminals.iter().filter(|&&has| has).count(),
        }
    }

    fn root(&mut self, mut router: u32) -> u32 {
        while self.parent[router as usize] != router {
            let above = self.parent[router as usize];
            self.parent[router as usize] = self.parent[above as usize];
            router = above;
        }
        router
    }

    fn join(&mut self, near: u32, far: u32) {
        let (near, far) = (self.root(near), self.root(far));
        if near == far {
            return;
        }
        let (small, large) = if self.size[near as usize] < self.size[far as usize] { (near, far) } else { (far, near) };
        self.parent[small as usize] = large;
        self.size[large as usize] += self.size[small as usize];
        self.count -= 1;
        if self.terminals[small as usize] && self.terminals[large as usize] {
            self.with_terminals -= 1;
        }
        self.terminals[large as usize] |= self.terminals[small as usize];
    }
}
