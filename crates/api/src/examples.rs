//! Example configurations, which each model declares in its own file for tests. Tests of a family run all examples of all members, so a new
//! model needs no entry in another list.

use serde::de::DeserializeOwned;
use weft_topology::{Graph, TopologyConfig};
use weft_traffic::PatternConfig;

/// Reads configurations from JSON texts with the keys of a scenario.
pub fn written<M: DeserializeOwned>(texts: &[&str]) -> Vec<M> {
    texts.iter().map(|text| read(text)).collect()
}

fn read<M: DeserializeOwned>(text: &str) -> M {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("the example {text}: {error}"))
}

/// An example configuration of a routing, with the networks in which tests run it.
#[derive(Debug, Clone)]
pub struct Example<M> {
    pub config: M,
    /// The networks for this example; `None`: all small networks ([`small_networks`]) on which the routing works.
    pub networks: Option<Vec<TopologyConfig>>,
    pub bounds: Vec<Bound>,
}

/// The load that a network accepts under a routing if only the bandwidth of links limits it. The author of the routing derives the load by
/// hand, usually for the routing's worst traffic pattern.
#[derive(Debug, Clone)]
pub struct Bound {
    pub topology: TopologyConfig,
    pub pattern: PatternConfig,
    pub accepts: Accepts,
}

/// Accepted load \[flits/terminal/cycle\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Accepts {
    /// The network accepts all offered load up to this load, and never more. At higher offered loads it accepts at most this load.
    UpTo(f64),
    /// The network accepts all offered load up to this load, and possibly more.
    AtLeast(f64),
    /// With detours the network can carry this load, which is more than minimal paths can carry. A routing that chooses by queue lengths
    /// must reach at least half of this load.
    WithDetours(f64),
}

impl<M: DeserializeOwned> Example<M> {
    /// An example whose configuration has these parameters, written in JSON.
    pub fn of(parameters: &str) -> Self {
        Self::new(read(parameters))
    }
}

impl<M> Example<M> {
    pub fn new(config: M) -> Self {
        Self { config, networks: None, bounds: Vec::new() }
    }

    /// Restricts the example to networks with these topologies.
    #[must_use]
    pub fn only_on(self, topologies: &[&str]) -> Self {
        Self { networks: Some(written(topologies)), ..self }
    }

    /// Adds a bound: the load that the routing accepts in this network under this traffic pattern. The caller writes the derivation of this
    /// load next to the call.
    #[must_use]
    pub fn bound(mut self, topology: &str, pattern: &str, accepts: Accepts) -> Self {
        self.bounds.push(Bound { topology: read(topology), pattern: read(pattern), accepts });
        self
    }

    pub fn map<N>(self, to: impl FnOnce(M) -> N) -> Example<N> {
        Example { config: to(self.config), networks: self.networks, bounds: self.bounds }
    }
}

/// The most routers of a small network, and the range of its number of terminals.
const ROUTERS: u32 = 40;
const TERMINALS: std::ops::RangeInclusive<u32> = 8..=72;
/// The longest path of a small network \[links\]. On paths of at most this length, a routing that needs a VC class per hop has enough VCs.
const DIAMETER: u32 = 5;

/// The examples of topologies that are small enough to run with every routing, each with its graph.
pub fn small_networks() -> Vec<(TopologyConfig, Graph)> {
    let built = TopologyConfig::examples().into_iter().map(|topology| {
        let graph = topology.build("topology").unwrap_or_else(|refusal| panic!("{topology:?}: {refusal}"));
        (topology, graph)
    });
    built.filter(|(_, graph)| is_small(graph)).collect()
}

/// Whether the network is small and has only one plane. Networks of several planes refuse some routings, such as routings that read numbers
/// posted by other routers; `engine/tests/planes.rs` tests them.
fn is_small(graph: &Graph) -> bool {
    graph.planes() == 1
        && graph.routers() <= ROUTERS
        && TERMINALS.contains(&graph.terminals())
        && graph.diameter() <= DIAMETER
}
