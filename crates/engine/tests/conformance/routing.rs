//! Every registered routing, on the networks of `PAIRS`. The same pairs go through `theory.rs` (the zero-load latency to
//! the cycle), `conservation.rs` (all is delivered, accounts close), `stall.rs` (tiny buffers never stall) and `paths.rs`.

use super::*;
use weft_engine::routing::RoutingConfig;
use weft_engine::spec::FlowControl::VirtualCutThrough;
use weft_topology::TopologyConfig;

#[test]
fn every_routing_has_an_example() {
    let examples: Vec<&str> = PAIRS.iter().map(|&(_, routing)| routing).collect();
    assert_complete(RoutingConfig::NAMES, &examples, |name| {
        format!(
            "the routing {name} runs in no test: add (TOPOLOGY, r#\"{{\"{name}\": {{}}}}\"#) to PAIRS in \
             crates/engine/tests/common/examples.rs, with every kind of topology that it routes"
        )
    });
}

#[test]
fn every_topology_has_an_example() {
    let examples: Vec<&str> = PAIRS.iter().map(|&(topology, _)| topology).collect();
    assert_complete(TopologyConfig::NAMES, &examples, |name| {
        format!(
            "no routing runs on the topology {name}: add (r#\"{{\"{name}\": {{...}}}}\"#, ROUTING) to PAIRS in \
             crates/engine/tests/common/examples.rs, with every routing that it offers"
        )
    });
}

#[test]
fn every_pair_passes_the_checks_before_a_run() {
    for &(topology, routing) in PAIRS {
        let checked = weft_engine::check(&spec(topology, routing));
        assert!(checked.is_ok(), "{topology} {routing}: {checked:?}");
    }
}

#[test]
fn every_pair_gives_the_same_result_in_one_block_and_in_three() {
    for &(topology, routing) in PAIRS {
        for load in [0.1, 1.0] {
            let mut spec = spec(topology, routing);
            packets(&mut spec, 5, VirtualCutThrough, 8);
            spec.set_load(load);
            phases(&mut spec, 200, 400);
            check_blocks(&spec, &format!("{topology} {routing} at {load}"));
        }
    }
}
