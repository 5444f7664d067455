//! Every registered routing, on the networks of `PAIRS`. The same pairs go through `theory.rs` (the zero-load latency to
//! the cycle), `conservation.rs` (all is delivered, accounts close), `stall.rs` (tiny buffers never stall), `paths.rs`,
//! `watch.rs` (lives of packets add up) and `bounds.rs`.

use super::*;
use weft_engine::routing::RoutingConfig;
use weft_engine::spec::FlowControl::VirtualCutThrough;
use weft_topology::TopologyConfig;

#[test]
fn every_routing_runs() {
    let run: Vec<&str> = PAIRS.iter().map(|pair| pair.routing.name()).collect();
    assert_complete(RoutingConfig::NAMES, &run);
    for example in RoutingConfig::examples().into_iter().filter(|example| is_tested(&[example.config.name()])) {
        let what = as_written(&example.config);
        assert!(PAIRS.iter().any(|pair| pair.routing == example.config), "{what} fits no small network");
    }
}

#[test]
fn every_topology_runs() {
    let run: Vec<&str> = PAIRS.iter().map(|pair| pair.topology.name()).collect();
    assert_complete(TopologyConfig::NAMES, &run);
}

#[test]
fn every_pair_passes_the_checks_before_a_run() {
    for pair in PAIRS.iter() {
        let checked = weft_engine::check(&pair.spec());
        assert!(checked.is_ok(), "{pair}: {checked:?}");
    }
}

#[test]
fn every_pair_gives_the_same_result_in_one_block_and_in_three() {
    for (turn, pair) in in_their_turns(&PAIRS) {
        for &load in in_turn(turn, &[0.1, 1.0]) {
            let mut spec = pair.spec();
            packets(&mut spec, 5, VirtualCutThrough, 8);
            spec.set_load(load);
            phases(&mut spec, 200, 400);
            check_blocks(&spec, &format!("{pair} at {load}"));
        }
    }
}
