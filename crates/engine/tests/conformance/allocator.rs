//! Every switch allocator: nothing is lost at any load, whatever the packets, and blocks change nothing.

use super::*;
use crate::integration::conservation::check_drains;
use weft_engine::allocation::AllocatorConfig;
use weft_engine::spec::FlowControl::{VirtualCutThrough, Wormhole};

/// One router, heads that know their output, heads that choose in every step, a detour, rings that keep a bubble.
const NETWORKS: [(&str, &str); 5] =
    [(SINGLE, DOR), (HYPERX, UGAL_P), (TORUS, ADAPTIVE), (DRAGONFLY, DF_VALIANT), (TORUS, BUBBLE)];

/// Every allocator on every network, with packets of one flit, of five, and worms.
fn check_all(check: impl Fn(&mut Spec, &str)) {
    for allocator in AllocatorConfig::examples() {
        for (topology, routing) in NETWORKS {
            for (flits, flow_control, buffer) in
                [(1, VirtualCutThrough, 4), (5, VirtualCutThrough, 8), (5, Wormhole, 2)]
            {
                let mut spec = spec(topology, routing);
                packets(&mut spec, flits, flow_control, buffer);
                spec.router.allocator = allocator.clone();
                check(&mut spec, &format!("{allocator:?}, {routing} on {topology}, {flits} flits, {flow_control:?}"));
            }
        }
    }
}

#[test]
fn every_allocator_has_an_example() {
    let examples = AllocatorConfig::examples();
    let names: Vec<&str> = examples.iter().map(AllocatorConfig::name).collect();
    assert_complete(AllocatorConfig::NAMES, &names);
}

#[test]
fn every_allocator_delivers_all_below_saturation_and_at_overload() {
    check_all(|spec, _| {
        for load in [0.1, 1.0] {
            spec.set_load(load);
            check_drains::<1, 8>(spec, 500);
        }
    });
}

#[test]
fn every_allocator_gives_the_same_result_in_one_block_and_in_three() {
    check_all(|spec, what| {
        spec.set_load(1.0);
        phases(spec, 100, 300);
        check_blocks(spec, what);
    });
}
