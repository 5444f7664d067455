//! The conformance suite of topologies: the laws of `weft_topology::laws`, and runs with the registered routings that
//! work on them.

use super::members::{Pair, as_written};
use super::routing::check_pairs;
use std::collections::BTreeSet;
use weft_engine::routing::RoutingConfig;
use weft_topology::{Graph, TopologyConfig, laws};

/// Number of routings that run on each network. The first compatible routings in the order of the registry are chosen.
const ROUTINGS: usize = 3;

/// Maximum numbers of terminals and routers of a network in which runs take little time.
const SMALL: (u32, u32) = (72, 40);

/// Runs the conformance suite on all examples of a topology.
///
/// # Panics
/// Panics if the topology does not conform; the message names the fault.
pub fn check(examples: &[TopologyConfig]) {
    let mut ran = 0;
    for example in examples {
        let what = as_written(example);
        let graph = example.build("topology").unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
        assert_eq!(graph.topology_name(), example.name(), "{what}: the graph has another name than the topology");
        laws::check(&graph);
        if graph.terminals() <= SMALL.0 && graph.routers() <= SMALL.1 {
            let pairs = pairs_on(example, &graph);
            ran += pairs.len();
            check_pairs(&pairs);
        }
    }
    assert!(ran > 0, "no example of {} is small enough to run and supported by a routing", examples[0].name());
}

/// Pairs of this network with routings that work on it. Each routing runs with its first example that names no networks.
fn pairs_on(topology: &TopologyConfig, graph: &Graph) -> Vec<Pair> {
    let mut seen = BTreeSet::new();
    let all = RoutingConfig::examples().into_iter().filter(|example| example.networks.is_none());
    let fitting = all.map(|example| example.config).filter(|routing| routing.fits(graph));
    let one_each = fitting.filter(|routing| seen.insert(routing.name()));
    let pair = |routing| Pair { topology: topology.clone(), routing };
    // some routings refuse a graph although `fits` accepts it
    one_each.map(pair).filter(|pair| weft_engine::check(&pair.spec()).is_ok()).take(ROUTINGS).collect()
}
