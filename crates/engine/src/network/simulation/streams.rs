//! Tests that streams of body flits do not change results (`kernel/src/shortcuts/streams.rs`).

use super::Simulation;
use super::trials::{self, HYPERX, NETWORKS, TORUS};
use crate::network::failures::{Fault, Part};
use crate::network::spec::{Execution, Spec};
use weft_api::base::hash::hash;
use weft_api::base::kept::{Kept, Reader, Writer};
use weft_api::spec::FlowControl;
use weft_kernel::shortcuts::profile::{Kind, Set};
use weft_kernel::shortcuts::streams::LONG_PACKET;
use weft_models::allocation::AllocatorConfig;
use weft_models::recording::RecordingConfig;

/// Number of random networks.
const CASES: u64 = 24;

fn spec(topology: &str, routing: &str, flits: u32, load: f64) -> Spec {
    trials::spec(topology, routing, flits, load, (300, 600))
}

fn simulation(spec: &Spec, blocks: usize) -> Simulation {
    Simulation::new(spec, Execution::new(1, blocks)).expect("a simulation")
}

/// Approximate number of flits in flight that move in streams.
fn under_way(simulation: &Simulation) -> usize {
    simulation.blocks.iter().map(|block| block.shortcuts().streams().flits_under_way()).sum()
}

/// Runs the spec, and returns the outcome as a string. `streams`: whether body flits may move in streams; otherwise each flit moves
/// separately.
fn outcome_of(spec: &Spec, blocks: usize, streams: bool) -> String {
    let among = if streams { Set::ALL } else { Set::ALL.without(Kind::Streams) };
    trials::outcome_among(spec, blocks, among, |simulation| {
        for block in &simulation.blocks {
            assert_eq!(block.shortcuts().streams().are_on(), streams, "both runs would be the same anyway");
        }
    })
}

/// Fails if results with and without streams differ, or if no stream began in the first cycles.
fn assert_same(spec: &Spec, what: &str) {
    assert!(is_same_with_streams(spec, what), "{what}: there was no stream");
}

/// Fails if results with and without streams differ. Returns whether a stream began in the first cycles.
fn is_same_with_streams(spec: &Spec, what: &str) -> bool {
    for blocks in trials::some_of(&[1, 3], what) {
        let without = outcome_of(spec, blocks, false);
        trials::assert_same(&outcome_of(spec, blocks, true), &without, &format!("{what}, {blocks} blocks"));
    }
    let mut simulation = simulation(spec, 1);
    (1..=300).any(|cycle| {
        simulation.advance(cycle);
        under_way(&simulation) > 0
    })
}

#[test]
fn streams_change_nothing_on_any_network() {
    for (topology, routing) in NETWORKS {
        for (flits, load) in [(LONG_PACKET, 0.4), (40, 0.1), (40, 1.0), (90, 0.3), (300, 0.2)] {
            let spec = spec(topology, routing, flits, load);
            assert_same(&spec, &format!("{topology}, {routing}, {flits} flits, load {load}"));
        }
    }
}

#[test]
fn streams_change_nothing_in_any_router() {
    let with = |change: &dyn Fn(&mut Spec)| {
        let mut spec = spec(HYPERX, r#"{"dimension_order": {}}"#, 40, 0.5);
        change(&mut spec);
        spec
    };
    for allocator in AllocatorConfig::examples() {
        assert_same(&with(&|spec| spec.router.allocator = allocator.clone()), &format!("{allocator:?}"));
    }
    assert_same(&with(&|spec| spec.router.speedup = 1), "no speedup");
    assert_same(&with(&|spec| spec.router.speedup = 3), "speedup of 3");
    assert_same(&with(&|spec| spec.router.hold_switch = true), "packets are kept apart");
    assert_same(&with(&|spec| spec.router.ejection_delay += 5), "slow ejection");
    assert_same(&with(&|spec| spec.links.iter_mut().for_each(|link| link.vcs = 2)), "two VCs");
    for buffer in [3, 12] {
        // small buffers: flits wait for credits, and a stream without credits ends
        let worms = |spec: &mut Spec| {
            spec.router.flow_control = FlowControl::Wormhole;
            spec.links.iter_mut().for_each(|link| link.buffer = buffer);
        };
        assert_same(&with(&worms), &format!("worms, buffers of {buffer} flits"));
    }
}

/// Short packets are mixed with long packets: requests of 2 flits, and replies of 40 flits, which a terminal sends after each request.
#[test]
fn streams_change_nothing_beside_short_packets() {
    for (request, reply) in [(2, 40), (40, 1), (64, 64)] {
        let mut spec = spec(HYPERX, r#"{"dimension_order": {}}"#, request, 0.1);
        trials::answer(&mut spec, reply);
        spec.links.iter_mut().for_each(|link| link.buffer = 128);
        assert_same(&spec, &format!("requests of {request} flits, replies of {reply}"));
    }
}

/// Interfaces have several queues: a stream begins while only one queue has packets, and ends when a packet joins another queue.
#[test]
fn streams_change_nothing_beside_queues_of_interfaces() {
    for (k, (topology, routing)) in (0..).zip(NETWORKS) {
        for (flits, load) in [(40, 0.1), (LONG_PACKET, 0.4), (90, 0.7)] {
            let ways = [k % trials::WITH_STREAMS, (k + 1) % trials::WITH_STREAMS];
            for way in trials::some_of(&ways, &format!("{routing}, {flits} flits")) {
                let mut spec = spec(topology, routing, flits, load);
                trials::queue(&mut spec, way);
                assert_same(&spec, &format!("{topology}, {routing}, {flits} flits, load {load}, queues {way}"));
                trials::answer(&mut spec, 64);
                spec.links.iter_mut().for_each(|link| link.buffer = 180);
                assert_same(&spec, &format!("{topology}, {routing}, replies, load {load}, queues {way}"));
            }
        }
    }
}

/// In random networks with different lengths, loads, buffers, delays and switches, streams begin, are interrupted, and run out of credits.
#[test]
fn streams_change_nothing_in_networks_at_random() {
    let mut with_streams = 0;
    for case in 0..CASES {
        let draw = |what: u64, below: u64| hash(case, what as u32, 0, 17) % below;
        let (topology, routing) = NETWORKS[draw(0, NETWORKS.len() as u64) as usize];
        let flits = LONG_PACKET + draw(1, 90) as u32;
        let mut spec = spec(topology, routing, flits, 0.05 + draw(2, 19) as f64 / 20.0);
        let is_worm = draw(3, 3) == 0;
        if is_worm {
            spec.router.flow_control = FlowControl::Wormhole;
        }
        for (k, link) in (0..).zip(&mut spec.links) {
            link.latency = 1 + draw(10 + k, 12);
            link.credit_latency = 1 + draw(20 + k, 12);
            link.vcs = 4 + draw(30 + k, 4) as u8;
            link.buffer = if is_worm { 2 + draw(40 + k, 30) as u32 } else { flits + draw(40 + k, 60) as u32 };
        }
        spec.router.speedup = 1 + draw(4, 3) as u8;
        spec.router.delay += draw(5, 3);
        spec.router.hold_switch = !is_worm && draw(6, 4) == 0;
        if draw(7, 3) == 0 {
            trials::answer(&mut spec, 1 + draw(8, u64::from(flits)) as u32);
        }
        if draw(9, 3) == 0 {
            trials::queue(&mut spec, draw(60, trials::WITH_STREAMS));
        }
        spec.seed = case;
        with_streams += u64::from(is_same_with_streams(&spec, &format!("case {case}: {topology}, {flits} flits")));
    }
    assert!(2 * with_streams > CASES, "{with_streams} of {CASES} networks had a stream");
}

/// Tests that samples are equal although they are taken, and the window begins and ends, while streams flow.
#[test]
fn what_is_recorded_while_streams_flow_is_the_same() {
    let mut spec = spec(HYPERX, r#"{"dimension_order": {}}"#, 90, 0.4);
    (spec.phases.warmup, spec.phases.window) = (311, 457);
    let series = r#"{"series": {"every": "7cycles", "of": "channel"}}"#;
    spec.recordings.push(serde_json::from_str::<RecordingConfig>(series).expect("a recording").asked());
    assert_same(&spec, "a sample of each channel every 7 cycles");
}

/// A network is saved while streams flow and is restored. The restored network must continue in the same way as the original network.
#[test]
fn streams_go_on_from_a_checkpoint() {
    let plain = spec(HYPERX, r#"{"dimension_order": {}}"#, 90, 0.3);
    let mut queued = plain.clone();
    trials::queue(&mut queued, 1);
    for blocks in [1, 3] {
        assert_go_on(&plain, blocks, "without queues");
        assert_go_on(&queued, blocks, "with queues of interfaces");
    }
}

fn assert_go_on(spec: &Spec, blocks: usize, what: &str) {
    let state = |simulation: &Simulation| {
        let outs: Vec<_> = simulation.blocks.iter().flat_map(|block| block.outs()).collect();
        format!("{:?} {outs:?}", simulation.tally())
    };
    let (mut first, mut kept) = (simulation(spec, blocks), 0);
    for cycle in (100..=400).step_by(25) {
        first.advance(cycle);
        kept += usize::from(under_way(&first) > 0);
        let mut bytes = Writer::new();
        first.keep(&mut bytes);
        let mut second = simulation(spec, blocks);
        second.restore(&mut Reader::new(&bytes)).expect("a checkpoint");
        let mut third = simulation(spec, blocks);
        third.advance(cycle + 150);
        second.advance(cycle + 150);
        trials::assert_same(&state(&second), &state(&third), &format!("{what}, kept before cycle {cycle}"));
    }
    assert!(kept > 5, "{what}, {blocks} blocks: {kept} checkpoints with a stream");
}

/// A run uses no streams if its agents receive flits or its routing has a board. The run also uses no streams if it has links that fail,
/// rings with a bubble, arbiters by age, or short packets.
#[test]
fn streams_are_off_where_somebody_may_look_at_their_flits() {
    let off = |topology: &str, routing: &str, flits: u32, change: &dyn Fn(&mut Spec)| {
        let mut spec = spec(topology, routing, flits, 0.2);
        change(&mut spec);
        let simulation = simulation(&spec, 1);
        assert!(!simulation.blocks[0].shortcuts().streams().are_on(), "{topology}, {routing}, {flits} flits");
    };
    let order = r#"{"dimension_order": {}}"#;
    off(HYPERX, order, LONG_PACKET - 1, &|_| ());
    off(HYPERX, r#"{"lbr": {"sensor": "used_credits"}}"#, 40, &|_| ());
    off(HYPERX, r#"{"ugal": {}}"#, 40, &|_| ());
    off(TORUS, r#"{"dimension_order": {"dateline": "bubble"}}"#, 40, &|_| ());
    // these agents are notified of each departing flit
    off(HYPERX, r#"{"pal": {"sensor": "used_credits"}}"#, 40, &|spec| {
        spec.policy = serde_json::from_str(r#"{"tcep": {}}"#).expect("a policy")
    });
    off(TORUS, r#"{"ecmp": {}}"#, 40, &|spec| {
        spec.faults = vec![Fault { what: Part::Link([0, 1]), at: 100, until: None }];
    });
    off(HYPERX, order, 40, &|spec| spec.router.priority = weft_api::age::Priority::Age);
}
