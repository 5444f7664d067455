//! Tests queues that are set aside for congested outputs: all tokens and queues must be returned, and blocks and checkpoints must not
//! change results.

use crate::checkpoints::check_every_phase;
use crate::common::*;
use weft_engine::Spec;
use weft_engine::classes::Queueing;
use weft_engine::outcome::{Outcome, SetAside};
use weft_engine::spec::{Execution, Fault, FlowControl, Part};

const MESH_4X4: &str = r#"{"mesh": {"widths": [4, 4], "terminals_per_router": 1}}"#;
const RECN: &str = r#"{"recn": {"queues": 3, "detect": "50%", "spread": "1%", "linger": "500ns"}}"#;

/// A spec of a mesh under a queueing scheme, with `vcs` VCs of 16 flits each on every link.
fn under(queueing: &str, vcs: u8) -> Spec {
    let mut spec = spec(MESH_4X4, DOR);
    queues(&mut spec, vcs, 16);
    spec.queueing = serde_json::from_str(queueing).expect("a scheme");
    (spec.interface.queueing, spec.interface.queues) = (Queueing::PerDestination, 16);
    spec.interface.depth = 64;
    spec
}

/// A spec in which four terminals send to terminal 0 as fast as they can. The other 11 terminals send to each other at random, at load 0.4.
fn hot_spot(queueing: &str, vcs: u8) -> Spec {
    let mut spec = under(queueing, vcs);
    let senders = vec![0, 3, 7, 11, 15];
    let others = (1..16).filter(|terminal| !senders.contains(terminal)).collect();
    spec.traffic.jobs = hot_and_cold((senders, 1.0), (others, 0.4));
    phases(&mut spec, 4000, 6000);
    spec.phases.drain_limit = 1;
    spec
}

/// A spec in which every fourth terminal of a network sends to terminal 0 as fast as it can. The others send to each other at random at
/// load 0.4. Each lane has one VC.
pub fn hot_spot_on(topology: &str, routing: &str) -> Spec {
    let mut spec = spec(topology, routing);
    queues(&mut spec, 16, 16);
    spec.queueing = serde_json::from_str(RECN).expect("a scheme");
    (spec.interface.queueing, spec.interface.queues) = (Queueing::PerDestination, 16);
    spec.interface.depth = 64;
    let lanes = weft_engine::lanes(&spec).expect("lanes");
    for (link, counts) in spec.links.iter_mut().zip(&lanes.by_class) {
        link.vcs = counts.iter().sum();
    }
    spec.links[0].vcs = lanes.from_terminals;
    let terminals = spec.graph.terminals();
    let (hot, cold): (Vec<u32>, Vec<u32>) = (0..terminals).partition(|&t| t == 0 || t % 4 == 3);
    spec.traffic.jobs = hot_and_cold((hot, 1.0), (cold, 0.4));
    spec
}

/// Checks that all tokens and queues have been returned after the last packet. Also checks that results are the same with blocks and from
/// checkpoints. The sources send for `cycles` cycles.
fn check_everything_comes_back(mut spec: Spec, cycles: u64, what: &str) {
    weft_engine::check(&spec).unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
    mark_checked(&mut spec);
    spec.seed = 7;
    phases(&mut spec, cycles / 4, cycles * 3 / 4);
    spec.phases.drain_limit = 1;
    let out = check_every_phase(&spec, 2, what);
    check_tokens(&out);
    let SetAside { counts, .. } = set_aside_of(&out);
    assert!(counts.given > 0 && counts.line_cycles > 0, "{what}: {counts:?}");
    let mut sim = weft_engine::Simulation::new(&spec, Execution::new(1, 3)).expect("a run");
    sim.advance(cycles);
    sim.stop_sources();
    assert_eq!(sim.empty_within(90_000), 0, "{what}");
    sim.advance(sim.now() + 9 * 600);
    phases(&mut spec, 0, sim.now());
    let out = sim.run(&spec, &());
    let SetAside { counts, out: tokens, lines } = set_aside_of(&out);
    assert_eq!((tokens, lines, counts.sent), (0, 0, counts.arrived), "{what}: {counts:?}");
    assert_eq!(counts.given, counts.returned, "{what}");
}

/// Routings whose packets choose among several hops: among the members of trunks, in each step, or at one router.
const OTHER_PATHS: [(&str, &str); 8] = [
    (TRUNKS, DOR),
    (r#"{"mesh": {"widths": [4, 4], "terminals_per_router": 1, "trunk_width": 3}}"#, ADAPTIVE),
    (r#"{"mesh": {"widths": [4, 4], "terminals_per_router": 1}}"#, ADAPTIVE),
    (DRAGONFLY, DF_UGAL),
    (DRAGONFLY, r#"{"dragonfly_par": {}}"#),
    (HYPERX, UGAL),
    (HYPERX, r#"{"omniwar": {}}"#),
    (TREE, UP_DOWN_ADAPTIVE),
];

#[test]
fn queues_are_set_aside_on_trunks_and_under_routings_that_choose() {
    for (topology, routing) in OTHER_PATHS {
        check_everything_comes_back(hot_spot_on(topology, routing), 2400, &format!("{routing} on {topology}"));
    }
}

#[test]
fn queues_and_tokens_come_back_from_links_and_routers_that_fail() {
    let mesh = r#"{"mesh": {"widths": [4, 4], "terminals_per_router": 1}}"#;
    let trunks = r#"{"mesh": {"widths": [4, 4], "terminals_per_router": 1, "trunk_width": 2}}"#;
    let cases = [
        (mesh, DOR),
        (mesh, ADAPTIVE),
        (trunks, DOR),
        (HYPERX, UGAL),
        (TREE, UP_DOWN_ADAPTIVE),
        (TREE, D_MOD_K),
        (HYPERX, ECMP),
        (HYPERX, SHORTEST),
    ];
    for (turn, (topology, routing)) in cases.into_iter().enumerate() {
        // a link near the hot terminal fails, or a router beyond it, or both; they work again later
        let mut spec = hot_spot_on(topology, routing);
        let next = spec.graph.neighbours(0).next().expect("a neighbour");
        let link = Fault { what: Part::Link([0, next]), at: 1500, until: Some(3000) };
        let router = Fault { what: Part::Router(next), at: 2500, until: Some(3300) };
        for faults in in_turn(turn, &[vec![link], vec![router], vec![link, router]]) {
            spec.faults.clone_from(faults);
            let what = format!("{routing} on {topology}, {:?}", spec.faults);
            check_everything_comes_back(spec.clone(), 4000, &what);
        }
    }
}

/// Under a routing that chooses in each step, cold flows accept their offered load. With one queue they accept far less.
#[test]
fn cold_flows_are_free_of_a_hot_spot_under_an_adaptive_routing() {
    let cold = |mut spec: Spec| {
        phases(&mut spec, 4000, 6000);
        spec.phases.drain_limit = 1;
        let out = run(&spec);
        out.jobs[1].accepted_flits as f64 / (out.window * 26) as f64
    };
    let mut set_aside = hot_spot_on(r#"{"mesh": {"widths": [6, 6], "terminals_per_router": 1}}"#, ADAPTIVE);
    set_aside.traffic.jobs[0].phases[0].load[1..].fill(0.5);
    set_aside.traffic.jobs[1].phases[0].load.fill(0.3);
    let mut one_queue = set_aside.clone();
    one_queue.queueing = weft_engine::queueing::QueueingConfig::default();
    one_queue.links.iter_mut().for_each(|link| link.vcs /= 4);
    let (with, without) = (cold(set_aside), cold(one_queue));
    assert!(with > 0.29 && without < 0.25, "{with} {without}");
}

fn set_aside_of(out: &Outcome) -> SetAside {
    out.set_aside.expect("a scheme that sets queues aside")
}

/// Checks that each token belongs to a queue that is set aside, or is in flight.
fn check_tokens(out: &Outcome) {
    let SetAside { counts, out, lines } = set_aside_of(out);
    assert_eq!(counts.given - counts.returned, out);
    assert_eq!(out, lines + counts.sent - counts.arrived);
}

#[test]
fn all_queues_come_back_when_the_congestion_is_over() {
    let mut spec = hot_spot(RECN, 4);
    let mut sim = weft_engine::Simulation::new(&spec, Execution::new(1, 3)).expect("a run");
    sim.advance(4000);
    sim.stop_sources();
    assert_eq!(sim.empty_within(90_000), 0);
    // an empty queue stays set aside for 500 cycles, then its token returns over a link; a path has at most 7 channels
    sim.advance(sim.now() + 7 * 600);
    phases(&mut spec, 0, sim.now());
    let out = sim.run(&spec, &());
    let SetAside { counts, out: tokens, lines } = set_aside_of(&out);
    assert!(counts.given > 0);
    assert_eq!((tokens, lines, counts.sent), (0, 0, counts.arrived), "{counts:?}");
    assert_eq!(counts.given, counts.returned);
}

#[test]
fn blocks_and_checkpoints_change_nothing_while_queues_are_set_aside() {
    for (flits, flow_control) in
        [(1, FlowControl::VirtualCutThrough), (5, FlowControl::VirtualCutThrough), (5, FlowControl::Wormhole)]
    {
        let mut spec = hot_spot(RECN, 4);
        packets(&mut spec, flits, flow_control, 16);
        phases(&mut spec, 500, 1000);
        let out = check_every_phase(&spec, 4, &format!("{flits} flits, {flow_control:?}"));
        check_tokens(&out);
        assert!(set_aside_of(&out).counts.returned > 0, "{:?}", set_aside_of(&out));
    }
}
