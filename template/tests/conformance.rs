//! Runs Weft's conformance suites on the models of this crate.

use weft_api::routing::RoutingModel as _;
use {{crate_name}}::{BowTie, HighestFirst, Mirror, Nap};

#[test]
fn the_topology_conforms() {
    weft_conformance::topology::<BowTie>("bow_tie");
}

#[test]
fn the_routing_conforms() {
    weft_conformance::routing::<HighestFirst>("highest_first");
    assert_eq!(HighestFirst::ROUTES, "hyperx");
}

#[test]
fn the_pattern_conforms() {
    weft_conformance::pattern::<Mirror>("mirror");
}

#[test]
fn the_policy_conforms() {
    weft_conformance::policy::<Nap>("nap", Nap::OFFERS);
}
