//! The conformance suite of routings. A routing must pass the checks before a run, including the dependency check. All packets must be
//! delivered, at loads below saturation and far above it. The number of blocks and checkpoints must not change results. (`engine/tests` has
//! more tests of registered routings: `theory.rs`, `stall.rs`, `paths.rs`, `watch.rs`, `bounds.rs` and `conformance/faults.rs`.)

use super::{ONE, router};
use super::{
    Pair, as_written, check_all_arrived, check_blocks, fitting_policy, in_their_turns, in_turn, packets, phases,
};
use weft_engine::Spec;
use weft_engine::age::Priority;
use weft_engine::allocation::AllocatorConfig;
use weft_engine::routing::RoutingConfig;
use weft_engine::spec::FlowControl::{self, VirtualCutThrough, Wormhole};

/// Runs the conformance suite on one routing. `examples`: configurations of the routing; `pairs`: these configurations
/// with networks.
///
/// # Panics
/// Panics if the routing does not conform; the message names the fault.
pub fn check(name: &str, examples: &[RoutingConfig], pairs: &[Pair]) {
    check_fits(name, examples, pairs);
    check_pairs(pairs);
}

/// Runs the tests that every single pair of routing and network must pass.
///
/// # Panics
/// Panics if a pair does not pass; the message names the fault.
pub fn check_pairs(pairs: &[Pair]) {
    check_before_a_run(pairs);
    check_in_blocks(pairs);
    for (flits, flow_control, buffer) in PACKETS {
        check_all_drain(pairs, flits, flow_control, buffer);
    }
}

/// Checks that each configuration of the routing runs in some network.
fn check_fits(name: &str, examples: &[RoutingConfig], pairs: &[Pair]) {
    assert!(!examples.is_empty(), "{name} runs in no test: let its `examples()` return at least one configuration");
    for example in examples {
        let what = as_written(example);
        let fits = pairs.iter().any(|pair| pair.routing == *example);
        assert!(fits, "{what} supports no small network: let `fits` accept one, or name some with `Example::only_on`");
    }
}

fn check_before_a_run(pairs: &[Pair]) {
    for pair in pairs {
        if let Err(refusal) = weft_engine::check(&pair.spec()) {
            panic!("{pair} can't run: {refusal}");
        }
    }
}

fn check_in_blocks(pairs: &[Pair]) {
    for (turn, pair) in in_their_turns(pairs) {
        for &load in in_turn(turn, &[0.1, 1.0]) {
            let mut spec = pair.spec();
            packets(&mut spec, 5, VirtualCutThrough, 8);
            spec.set_load(load);
            phases(&mut spec, 200, 400);
            check_blocks(&spec, &format!("{pair} at {load}"));
        }
    }
}

/// Test conditions: flits per packet, flow control, and flits per buffer. Packets have one flit, cut through, or are
/// worms over several buffers.
const PACKETS: [(u32, FlowControl, u32); 4] =
    [(1, VirtualCutThrough, 2), (5, VirtualCutThrough, 6), (5, Wormhole, 2), (40, Wormhole, 8)];
const PRIORITIES: [Priority; 4] = [Priority::RoundRobin, Priority::Age, Priority::NetworkAge, Priority::Transit];
/// Test conditions: (delay, vc_realloc, speedup) of the routers.
const ROUTERS: [(u64, u8, u8); 4] = [(1, 0, 2), (1, 1, 1), (0, 0, 1), (2, 1, 2)];

/// Runs every pair at a load below saturation or far above it; the pairs use the other settings in turn.
fn check_all_drain(pairs: &[Pair], flits: u32, flow_control: FlowControl, buffer: u32) {
    let allocators = AllocatorConfig::examples();
    for (k, pair) in in_their_turns(pairs) {
        for &(j, load) in in_turn(k + flits as usize, &[(0, 0.1), (1, 1.0)]) {
            let mut spec = pair.spec();
            packets(&mut spec, flits, flow_control, buffer);
            router(&mut spec, ROUTERS[(k + j) % ROUTERS.len()]);
            spec.router.routing_delay = (k as u64 % 3).min(spec.router.delay);
            let may_hold = spec.router.vc_realloc == 0 && flow_control == VirtualCutThrough;
            spec.router.hold_switch = may_hold && k % 3 > 0;
            spec.router.allocator = allocators[k % allocators.len()].clone();
            if spec.router.vc_realloc == 0 {
                spec.router.priority = PRIORITIES[(k / 3 + j) % PRIORITIES.len()];
            }
            fitting_policy(&mut spec, (k / 2 + j) % 2 == 1);
            spec.set_load(load);
            check_drains(&spec, 1000, &format!("{pair} at {load}, {flits} flits"));
        }
    }
}

/// Runs the spec with sources that stop in cycle `stop`. The check then requires that all packets arrive and all
/// credits return.
pub(super) fn check_drains(spec: &Spec, stop: u64, what: &str) {
    let out = weft_engine::run_to_rest(spec, ONE, stop, 300_000).unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
    check_all_arrived(spec, &out);
}
