//! What patterns know of the machine: numbers of terminals, routers and groups; and the seed, for what is drawn once.

/// Terminal t sits on router t / terminals_per_router where all routers have as many; router r has coordinates in
/// `widths` (dimension 0 fastest) where the topology is a grid, and belongs to group t / terminals_per_group where it
/// has groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Population {
    pub terminals: u32,
    /// `None` where routers differ.
    pub terminals_per_router: Option<u32>,
    /// Widths of the router grid (HyperX, torus, mesh), else `None`.
    pub widths: Option<Vec<u32>>,
    /// Terminals per group (dragonfly), else `None`.
    pub terminals_per_group: Option<u32>,
    /// Seed of the run, for patterns that draw something once.
    pub seed: u64,
}

impl Population {
    /// Terminals of which nothing is known but their number.
    pub fn of(terminals: u32) -> Self {
        Self { terminals, terminals_per_router: None, widths: None, terminals_per_group: None, seed: 1 }
    }
}
