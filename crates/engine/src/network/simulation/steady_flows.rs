//! Tests that skipping the time of steady flows does not change results (`network/steady.rs`).

use super::Simulation;
use super::trials::{self, DRAGONFLY, HYPERX, TORUS, TREE, outcome_among, outcome_of};
use crate::network::spec::{Execution, Spec};
use weft_api::spec::FlowControl;
use weft_kernel::shortcuts::profile::{Kind, Set};
use weft_models::allocation::AllocatorConfig;

/// A spec with long packets. At a low load each packet then has a large part of the network for itself.
fn spec(topology: &str, routing: &str, flits: u32, load: f64) -> Spec {
    let mut spec = trials::spec(topology, routing, flits, load, (2_000, 6_000));
    spec.phases.drain_limit = 12_000;
    spec
}

/// Runs the spec with and without skipping, in one block or in three blocks, and compares the results. Returns how many of the first
/// 10,000 cycles the run in one block skipped.
fn assert_same(spec: &Spec, what: &str) -> u64 {
    for blocks in trials::some_of(&[1, 3], what) {
        let without = outcome_among(spec, blocks, Set::ALL.without(Kind::Steady), |_| ());
        trials::assert_same(&outcome_of(spec, blocks, |_| ()), &without, &format!("{what}, {blocks} blocks"));
    }
    let mut simulation = Simulation::new(spec, Execution::new(1, 1)).expect("a simulation");
    (1..=10).for_each(|k| simulation.advance(1000 * k));
    simulation.skipped_cycles()
}

#[test]
fn steady_flows_are_skipped_on_any_network_and_change_nothing() {
    let networks = [
        (TORUS, r#"{"dimension_order": {}}"#),
        (TORUS, r#"{"minimal_adaptive": {}}"#),
        (HYPERX, r#"{"dimension_order": {}}"#),
        (HYPERX, r#"{"valiant": {}}"#),
        (HYPERX, r#"{"ugal": {"sensor": "used_credits"}}"#),
        (DRAGONFLY, r#"{"dragonfly_minimal": {}}"#),
        (TREE, r#"{"up_down": {}}"#),
        (TORUS, r#"{"ecmp": {}}"#),
    ];
    for (k, (topology, routing)) in networks.into_iter().enumerate() {
        let all = [(1000, 0.02), (3000, 0.1), (3000, 0.6)];
        for &(flits, load) in &all[..if k == 0 { 3 } else { 2 }] {
            let what = format!("{topology}, {routing}, {flits} flits, load {load}");
            let skipped = assert_same(&spec(topology, routing, flits, load), &what);
            assert!(load > 0.1 || skipped > 0, "{what}: nothing was skipped");
        }
    }
}

#[test]
fn steady_flows_change_nothing_in_any_router() {
    let with = |change: &dyn Fn(&mut Spec)| {
        let mut spec = spec(HYPERX, r#"{"dimension_order": {}}"#, 2000, 0.05);
        change(&mut spec);
        spec
    };
    for allocator in AllocatorConfig::examples() {
        let skipped = assert_same(&with(&|spec| spec.router.allocator = allocator.clone()), &format!("{allocator:?}"));
        assert!(skipped > 0, "{allocator:?}");
    }
    assert!(assert_same(&with(&|spec| spec.router.speedup = 1), "no speedup") > 0);
    assert!(assert_same(&with(&|spec| spec.router.hold_switch = true), "packets are kept apart") > 0);
    assert!(assert_same(&with(&|spec| spec.router.vc_realloc = 1), "VC allocation as a stage of its own") > 0);
    let worms = |spec: &mut Spec| {
        spec.router.flow_control = FlowControl::Wormhole;
        // few VCs or small buffers, so that flits have to wait for credits
        spec.links.iter_mut().for_each(|link| link.buffer = 3);
    };
    assert!(assert_same(&with(&worms), "worms") > 0);
}
