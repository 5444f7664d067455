//! Topologies: functions that return plain data, a [`Graph`] (routers, ports, links) with its [`Shape`].
//! Nothing is dispatched after construction; a routing takes the shape it needs, or refuses.
//!
//! One file per topology, one line of the registry each; the conformance suite (`tests/conformance.rs`) has instances
//! of every registered name and fails when one is missing.

mod bisection;
mod builder;
mod distance;
mod graph;
mod grid;
mod structure;

pub use bisection::Bisection;
pub use builder::{GraphBuilder, MAX_PORTS, MAX_RADIX};
pub use graph::{Graph, Link, Peer, Port, Shape};
pub use structure::{Degrees, DistanceProfile};
use weft_units::Refusal;

weft_units::registry! {
    /// Every topology Weft can build.
    pub enum TopologyConfig:
    "single_router" => single_router::SingleRouter,
    "hyperx" => hyperx::HyperX,
    "torus" => torus::Torus,
    "mesh" => mesh::Mesh,
    "dragonfly" => dragonfly::Dragonfly,
    "k_ary_n_tree" => k_ary_n_tree::KAryNTree,
    "fat_tree" => fat_tree::FatTree,
    "full_mesh" => full_mesh::FullMesh,
    "graph" => graph_file::GraphFile,
}

impl TopologyConfig {
    /// Builds the graph. Refuses impossible sizes at `path` (the dotted path of this topology in the scenario).
    pub fn build(&self, path: &str) -> Result<Graph, Refusal> {
        match self {
            Self::SingleRouter(c) => c.build(path),
            Self::HyperX(c) => c.build(path),
            Self::Torus(c) => c.build(path),
            Self::Mesh(c) => c.build(path),
            Self::Dragonfly(c) => c.build(path),
            Self::KAryNTree(c) => c.build(path),
            Self::FatTree(c) => c.build(path),
            Self::FullMesh(c) => c.build(path),
            Self::GraphFile(c) => c.build(path),
        }
    }
}
