//! Tests that a run allocates no memory after assembly: at any load, the cycle loop uses only the memory reserved before.

use crate::common::*;
use crate::programs::spec_of;
use crate::recn::hot_spot_on;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use weft_engine::spec::{Execution, FlowControl::VirtualCutThrough};
use weft_engine::{Simulation, Spec};

/// Counts the allocations of each thread separately, so that tests that run at the same time do not disturb each other.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Whether the next allocation prints where it occurs (WEFT_TRACE_ALLOCATION=1).
    static TRACE: Cell<bool> = const { Cell::new(false) };
}

fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    if TRACE.replace(false) {
        eprintln!("{}", std::backtrace::Backtrace::force_capture());
    }
}

// SAFETY: every call is forwarded unchanged to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: every call is forwarded unchanged to the allocator of the system.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: every call is forwarded unchanged to the allocator of the system.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: every call is forwarded unchanged to the allocator of the system.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Checks that no memory is allocated between cycles 2,000 and 3,000, in 3 blocks that exchange mail. `make test-all` checks up to cycle
/// 10,000, and also with 1 block.
fn check_no_allocation(what: &str, spec: &Spec) {
    for &blocks in in_turn(0, &[3, 1]) {
        assert_eq!(allocations(spec, blocks), 0, "{what}: allocations in {blocks} blocks");
    }
}

/// Number of tested steps of 1,000 cycles.
fn steps() -> u64 {
    if all_cases() { 8 } else { 1 }
}

/// Number of allocations in the tested cycles.
fn allocations(spec: &Spec, blocks: usize) -> u64 {
    let trace = std::env::var_os("WEFT_TRACE_ALLOCATION").is_some();
    let mut sim = Simulation::new(spec, Execution::new(1, blocks)).expect("a network");
    sim.advance(2000);
    let steps = steps(); // called before the count, because it reads the environment, which allocates
    let (before, hops) = (ALLOCATIONS.get(), sim.flit_hops());
    TRACE.set(trace);
    // advances in steps, as `run` does
    (1..=steps).for_each(|k| sim.advance(2000 + k * 1000));
    TRACE.set(false);
    let after = ALLOCATIONS.get();
    assert!(sim.flit_hops() > hops);
    after - before
}

/// Checks a load below saturation and an overload, with packets of 1 and of 8 flits.
fn check_all_loads(what: &str, mut spec: Spec) {
    for flits in [1, 8] {
        packets(&mut spec, flits, VirtualCutThrough, 32);
        for load in [0.3, 1.0] {
            spec.set_load(load);
            check_no_allocation(&format!("{what}, {flits} flits at {load}"), &spec);
        }
    }
}

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(Box::new(7)));
    assert_eq!(ALLOCATIONS.get() - before, 1);
}

/// Runs each example of a routing in one network, at low or full load, with short or long packets.
#[test]
fn no_allocation_under_any_routing() {
    let cases = [(1, 0.3), (8, 1.0), (1, 1.0), (8, 0.3)];
    let firsts = PAIRS.chunk_by(|a, b| a.routing == b.routing).map(|pairs| &pairs[0]);
    for (pair, (flits, load)) in firsts.zip(cases.into_iter().cycle()) {
        let mut spec = pair.spec();
        mark_checked(&mut spec); // by `stall.rs` and `conservation.rs`
        packets(&mut spec, flits, VirtualCutThrough, 32);
        spec.set_load(load);
        check_no_allocation(&format!("{pair}, {flits} flits at {load}"), &spec);
    }
}

#[test]
fn no_allocation_on_a_hyperx() {
    check_all_loads("dimension_order", spec(HYPERX, DOR));
    check_all_loads("ugal_p", spec(HYPERX, UGAL_P_HISTORY));
}

#[test]
fn no_allocation_on_a_dragonfly() {
    check_all_loads("dragonfly_ugal", spec(DRAGONFLY, DF_UGAL));
}

#[test]
fn no_allocation_on_a_torus() {
    check_all_loads("torus", spec(TORUS, DOR));
}

/// The body flits of packets move in streams, which begin and end frequently.
#[test]
fn no_allocation_where_body_flits_stream() {
    for (what, topology) in [("hyperx", HYPERX), ("torus", TORUS)] {
        for load in [0.1, 0.5, 1.0] {
            let mut spec = spec(topology, DOR);
            packets(&mut spec, 40, VirtualCutThrough, 80);
            spec.set_load(load);
            check_no_allocation(&format!("{what}, 40 flits at {load}"), &spec);
        }
    }
}

/// Heads that choose in every step also compare the queues that are set aside for their outputs.
#[test]
fn no_allocation_with_queues_set_aside() {
    for (topology, routing) in [(TRUNKS, DOR), (MESH, ADAPTIVE), (DRAGONFLY, DF_UGAL)] {
        check_no_allocation(&format!("recn: {routing} on {topology}"), &hot_spot_on(topology, routing));
    }
}

#[test]
fn no_allocation_with_links_that_sleep() {
    let mut spec = spec(HYPERX, UGAL_P);
    policy(&mut spec, IDLE_TIMEOUT);
    check_all_loads("idle_timeout", spec);
}

#[test]
fn no_allocation_with_stages() {
    let mut spec = spec(HYPERX, SLAC);
    policy(&mut spec, QUICK_STAGES);
    check_all_loads("slac", spec);
}

#[test]
fn no_allocation_with_jobs_and_replies() {
    let mut spec = spec(HYPERX, DOR);
    let mut second = spec.traffic.jobs[0].clone();
    second.name = "second".into();
    let pattern = serde_json::from_str::<weft_traffic::PatternConfig>(r#"{"uniform": {}}"#).expect("a pattern");
    let pattern = pattern.build(&weft_traffic::Population::of(12), "pattern").expect("a pattern");
    for (job, first) in [(&mut spec.traffic.jobs[0], 0), (&mut second, 12)] {
        let pattern = std::sync::Arc::new(pattern.clone());
        *job = weft_engine::spec::Job::steady(&job.name, (first..first + 12).collect(), pattern, 0.1, 1);
        job.workload = request_reply(2, Some(8));
    }
    spec.traffic.jobs.push(second);
    record(&mut spec, r#"{"transient": {"bin": "10cycles"}}"#);
    check_all_loads("jobs and replies", spec);
}

/// Ranks of nodes with three interfaces send messages to each other. The deliveries need sorting, because a node processes the earliest one
/// first. Only lists of messages grow, although most cycles have deliveries.
#[test]
fn deliveries_to_nodes_of_several_interfaces_allocate_less_than_once_in_20_cycles() {
    let program = r#"{"programs": {"program": {"collective": {"operation": "all_to_all", "ranks": 24, "bytes": "7KB", "repeat": 9}},
        "overhead": "20ns", "eager": "1MB", "collectives": {"algorithms": {"all_to_all": {"linear": {}}}}}}"#;
    let network = format!(r#"{{"planes": {{"count": 3, "of": {HYPERX}}}}}"#);
    let spec = spec_of(&network, DOR, program, 16);
    let (all, cycles) = (allocations(&spec, 3), 1000 * steps());
    assert!(20 * all < cycles, "{all} allocations in {cycles} cycles");
}
