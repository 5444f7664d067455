//! The topologies. Each has one file and one line of the registry.
//!
//! The conformance suite (`tests/conformance.rs`) builds the examples of every registered topology and checks every
//! view of their structure against the wiring.

mod galois;
mod global_links;
mod grid;

use crate::Graph;
use std::sync::LazyLock;
use weft_units::Refusal;

/// A topology: a configuration that builds a graph.
pub trait TopologyModel {
    /// Builds the graph. Refuses impossible sizes at `path` (the dotted path of this topology in the scenario).
    fn build(&self, path: &str) -> Result<Graph, Refusal>;

    /// Small configurations with important differences: ordinary, smallest and unusual sizes. Tests build all examples.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

weft_units::registry! {
    /// Every registered topology.
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
    /// Builds the graph. Refuses impossible sizes at `path` (the dotted path of this topology in the scenario).
    pub fn build(&self, path: &str) -> Result<Graph, Refusal> {
        self.model().build(path)
    }

    /// Names of the topologies that have an example for which `has` is true, for messages.
    pub fn names_with(has: impl Fn(&Graph) -> bool) -> Vec<&'static str> {
        // built only once: a search over many settings may be refused thousands of times
        static EXAMPLES: LazyLock<Vec<(&'static str, Graph)>> = LazyLock::new(|| {
            let all = TopologyConfig::examples().into_iter();
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
