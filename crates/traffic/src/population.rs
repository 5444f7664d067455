//! The facts about the machine that patterns use: the numbers of terminals, routers and groups, and the seed for patterns that draw random
//! numbers once.

/// The facts about a machine that patterns use. If all routers have the same number of terminals, terminal t is on router t /
/// terminals_per_router. On a grid, routers have coordinates within `widths`. Router ids count through the coordinates, and dimension 0
/// changes fastest. If the topology has groups, terminal t is in group t / terminals_per_group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Population {
    pub terminals: u32,
    /// Number of terminals on each router; `None` if routers have different numbers of terminals.
    pub terminals_per_router: Option<u32>,
    /// Widths of the router grid (HyperX, torus, mesh), otherwise `None`.
    pub widths: Option<Vec<u32>>,
    /// Terminals per group (dragonfly), otherwise `None`.
    pub terminals_per_group: Option<u32>,
    /// Seed of the run, for patterns that draw random numbers once, when they are built.
    pub seed: u64,
}

impl Population {
    /// A population of `terminals` terminals whose routers, grid and groups are unknown.
    pub fn of(terminals: u32) -> Self {
        Self { terminals, terminals_per_router: None, widths: None, terminals_per_group: None, seed: 1 }
    }
}
