//! Shared by the integration tests: short ways to say a network, and one way to run it.
#![allow(dead_code)]

use weft_engine::{Outcome, Spec, routing::RoutingConfig, spec::Execution};
use weft_topology::TopologyConfig;

/// YAML-free model names: JSON of the externally tagged configuration.
pub const DOR: &str = r#"{"dimension_order": {}}"#;
pub const UGAL_P: &str = r#"{"ugal_p": {}}"#;

pub fn routing(json: &str) -> RoutingConfig {
    serde_json::from_str(json).expect("a routing")
}

pub fn topology(json: &str) -> TopologyConfig {
    serde_json::from_str(json).expect("a topology")
}

pub fn pattern(spec: &mut Spec, json: &str) {
    let config = serde_json::from_str(json).expect("a pattern");
    spec.set_pattern(&config).expect("a pattern for this network");
}

pub fn spec(topology_json: &str, routing_json: &str) -> Spec {
    Spec::new(&topology(topology_json), routing(routing_json)).expect("a spec")
}

/// The 512-node flattened butterfly of the TCEP paper: 8x8 routers of 8 terminals, 10-cycle links, 6 VCs x 32 flits.
pub fn butterfly(routing_json: &str) -> Spec {
    spec(r#"{"hyperx": {"widths": [8, 8], "terminals_per_router": 8}}"#, routing_json)
}

pub fn run(spec: &Spec) -> Outcome {
    weft_engine::run(spec, Execution { threads: 1, blocks: 1 }, &()).expect("a run")
}
