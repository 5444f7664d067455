//! Tests that the bypass of uncontended flits does not change results (`kernel/src/shortcuts/uncontended.rs`).

use super::trials::{self, CHOOSING, HYPERX, NETWORKS, TORUS};
use crate::network::simulation::Simulation;
use crate::network::spec::{Execution, Spec};
use weft_api::age::Priority;
use weft_api::spec::FlowControl;
use weft_kernel::shortcuts::profile::{Kind, Set};
use weft_models::allocation::AllocatorConfig;

fn spec(topology: &str, routing: &str, flits: u32, load: f64) -> Spec {
    trials::spec(topology, routing, flits, load, (300, 600))
}

/// Runs the spec, and returns the outcome as a string. `uncontended`: whether flits may bypass the allocator; otherwise the allocator
/// grants every flit.
fn outcome_of(spec: &Spec, blocks: usize, uncontended: bool) -> String {
    let among = Set::ALL.without(if uncontended { Kind::Streams } else { Kind::Uncontended });
    trials::outcome_among(spec, blocks, among, |simulation| {
        for block in &mut simulation.blocks {
            assert_eq!(
                block.shortcuts().profile().has(Kind::Uncontended),
                uncontended,
                "both runs would be the same anyway"
            );
            if uncontended {
                block.shortcuts_mut().try_to_bypass_without_end();
            }
        }
    })
}

/// Compares a run without the bypass to runs in which heads may bypass the allocator at all times, and to a run with the usual rule. By
/// this rule heads use the bypass only while it succeeds for many of them.
fn assert_same(spec: &Spec, what: &str) {
    let without = outcome_of(spec, 1, false);
    for how in trials::some_of(&["in 1 block", "in 3 blocks", "on trial"], what) {
        let with = match how {
            "on trial" => trials::outcome_of(spec, 1, |_| {}),
            "in 1 block" => outcome_of(spec, 1, true),
            _ => outcome_of(spec, 3, true),
        };
        trials::assert_same(&with, &without, &format!("{what}, {how}"));
    }
}

#[test]
fn uncontended_flits_change_nothing_on_any_network() {
    for (topology, routing) in NETWORKS.into_iter().chain(CHOOSING) {
        for (flits, load) in [(1, 0.1), (1, 0.7), (2, 0.3), (8, 0.1), (8, 0.6), (40, 0.2), (40, 1.0)] {
            let spec = spec(topology, routing, flits, load);
            assert_same(&spec, &format!("{routing}, {flits} flits, load {load}"));
        }
    }
}

/// The spec of a HyperX network with packets of `flits` flits, modified by `change`.
fn with(flits: u32, change: &dyn Fn(&mut Spec)) -> Spec {
    let mut spec = spec(HYPERX, r#"{"dimension_order": {}}"#, flits, 0.7);
    change(&mut spec);
    spec
}

#[test]
fn uncontended_flits_change_nothing_under_any_allocator() {
    for flits in [1, 8] {
        for allocator in AllocatorConfig::examples() {
            let what = format!("{allocator:?}, {flits} flits");
            assert_same(&with(flits, &|spec| spec.router.allocator = allocator.clone()), &what);
            for (topology, routing) in CHOOSING {
                let mut spec = spec(topology, routing, flits, 0.5);
                spec.router.allocator = allocator.clone();
                let what = format!("{what}, {topology}, {routing}");
                for speedup in trials::some_of(&[1, spec.router.speedup], &what) {
                    spec.router.speedup = speedup;
                    assert_same(&spec, &format!("{what}, speedup {speedup}"));
                }
            }
        }
        assert_same(&with(flits, &|spec| spec.router.speedup = 1), &format!("no speedup, {flits} flits"));
        let tight = |spec: &mut Spec| spec.links.iter_mut().for_each(|link| link.buffer = flits);
        assert_same(&with(flits, &tight), &format!("buffers of a packet, {flits} flits"));
    }
}

#[test]
fn uncontended_flits_change_nothing_in_any_router() {
    let with = |change: &dyn Fn(&mut Spec)| with(8, change);
    assert_same(&with(&|spec| spec.router.hold_switch = true), "packets are kept apart");
    let worms = |spec: &mut Spec| {
        spec.router.flow_control = FlowControl::Wormhole;
        spec.links.iter_mut().for_each(|link| link.buffer = 3);
    };
    assert_same(&with(&worms), "worms");
    // the rings keep a bubble, so the run uses the allocators that are compiled with arbiters by age
    for flits in [1, 8] {
        let bubble = spec(TORUS, r#"{"dimension_order": {"dateline": "bubble"}}"#, flits, 0.6);
        assert_eq!(bubble.router.priority, Priority::RoundRobin);
        assert_same(&bubble, &format!("a bubble in each ring, {flits} flits"));
    }
}

#[test]
fn heads_that_choose_and_cross_alone_change_nothing_in_any_router() {
    for (topology, routing) in CHOOSING {
        for flits in [1, 6] {
            let mut spec = spec(topology, routing, flits, 0.5);
            spec.links.iter_mut().for_each(|link| link.buffer = flits);
            assert_same(&spec, &format!("buffers of a packet, {flits} flits, {routing}"));
            spec.links.iter_mut().for_each(|link| link.buffer = 12);
            trials::answer(&mut spec, 7 - flits);
            assert_same(&spec, &format!("requests of {flits} flits and replies, {routing}"));
        }
    }
}

#[test]
fn heads_that_choose_cross_alone() {
    for (topology, routing) in CHOOSING {
        let spec = spec(topology, routing, 1, 0.1);
        let mut simulation = Simulation::new(&spec, Execution::new(1, 1)).expect("a simulation");
        simulation.advance(100); // shorter than the first trial
        let (crossed, hops) = (simulation.blocks[0].shortcuts().crossed_uncontended(), simulation.flit_hops());
        // at its last router a packet has no choice; this is less than half of its routers, so heads with a choice have bypassed too
        assert!(hops > 300 && crossed * 2 > hops, "{topology}, {routing}: {crossed} of {hops} crossed alone");
    }
}

#[test]
fn heads_that_choose_behind_a_packet_that_holds_the_switch_leave_it_to_the_allocator() {
    let mut spec = spec(TORUS, CHOOSING[0].1, 2, 0.1);
    spec.router.hold_switch = true;
    let simulation = Simulation::new(&spec, Execution::new(1, 1)).expect("a simulation");
    assert!(!simulation.blocks[0].shortcuts().profile().has(Kind::Uncontended));
}

/// Packets have different lengths: requests, and the replies that terminals send after each request.
#[test]
fn uncontended_flits_change_nothing_beside_other_lengths() {
    for (request, reply) in [(1, 1), (1, 6), (4, 1)] {
        let mut spec = spec(HYPERX, r#"{"dimension_order": {}}"#, request, 0.2);
        trials::answer(&mut spec, reply);
        spec.links.iter_mut().for_each(|link| link.buffer = 12);
        assert_same(&spec, &format!("requests of {request} flits, replies of {reply}"));
    }
}
