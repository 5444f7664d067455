//! The machine as patterns see it: the numbers of terminals, routers and groups, and the seed, for patterns that draw
//! once.

/// If all routers have as many terminals, terminal t is on router t / terminals_per_router. On a grid, routers have
/// coordinates within `widths`, dimension 0 fastest. If the topology has groups, terminal t is in group t /
/// terminals_per_group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Population {
    pub terminals: u32,
    /// `None` if routers differ.
    pub terminals_per_router: Option<u32>,
    /// Widths of the router grid (HyperX, torus, mesh), else `None`.
    pub widths: Option<Vec<u32>>,
    /// Terminals per group (dragonfly), else `None`.
    pub terminals_per_group: Option<u32>,
    /// Seed of the run, for patterns that draw something once.
    pub seed: u64,
}

impl Population {
    /// A population of which nothing is known but the number of terminals.
    pub fn of(terminals: u32) -> Self {
        Self { terminals, terminals_per_router: None, widths: None, terminals_per_group: None, seed: 1 }
    }
}
