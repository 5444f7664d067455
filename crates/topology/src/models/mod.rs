//! The topology models. Each topology has one file and one line of the registry.
//!
//! A test (`tests/conformance.rs`) builds the examples of every registered topology, and checks every view of their
//! structure against the wiring.

mod galois;
mod global_links;
mod grid;

use crate::Graph;
use std::sync::LazyLock;
use weft_units::Refusal;

/// A topology model: parameters from which it builds a graph.
pub trait TopologyModel {
    /// Builds the graph. Refuses impossible sizes; the refusal names `path` (the dotted path of this topology in the scenario).
    fn build(&self, path: &str) -> Result<Graph, Refusal>;

    /// The topology of which the network consists in several copies; `None` for a topology that is not made of another topology.
    fn copied(&self) -> Option<&TopologyConfig> {
        None
    }

    /// Small configurations for tests, with important differences: ordinary, smallest and unusual sizes. Weft's tests build all examples.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

weft_units::registry! {
    /// A registered topology, with its parameters.
    pub enum TopologyConfig as TopologyModel, with examples, open to AddedTopology:
    "single_router" => single_router::SingleRouter,
    "hyperx" => hyperx::HyperX,
    "torus" => torus::Torus,
    "mesh" => mesh::Mesh,
    "dragonfly" => dragonfly::Dragonfly,
    "dragonfly_plus" => dragonfly_plus::DragonflyPlus,
    "k_ary_n_tree" => k_ary_n_tree::KAryNTree,
    "fat_tree" => fat_tree::FatTree,
    "full_mesh" => full_mesh::FullMesh,
    "flex" => flex::Flex,
    "slim_fly" => slim_fly::SlimFly,
    "polarfly" => polarfly::PolarFly,
    "graph" => graph_file::GraphFile,
    "planes" => planes::Planes,
}

impl TopologyConfig {
    /// Builds the graph. Refuses impossible sizes; the refusal names `path` (the dotted path of this topology in the scenario).
    pub fn build(&self, path: &str) -> Result<Graph, Refusal> {
        self.model().build(path)
    }

    /// Names of the topologies with at least one example for which `has` is true. Messages list these names. The list leaves out networks
    /// that are copies of another topology, because these have a property only if the copied topology has it.
    pub fn names_with(has: impl Fn(&Graph) -> bool) -> Vec<&'static str> {
        // the examples are built only once, because a search over many settings can cause thousands of refusals with such a list
        static EXAMPLES: LazyLock<Vec<(&'static str, Graph)>> = LazyLock::new(|| {
            let all = TopologyConfig::examples().into_iter().filter(|example| example.model().copied().is_none());
            all.filter_map(|example| Some((example.name(), example.build("").ok()?))).collect()
        });
        let mut names: Vec<&str> = Vec::new();
        for (name, graph) in EXAMPLES.iter() {
            if !names.contains(name) && has(graph) {
                names.push(name);
            }
        }
        names
    }
}
