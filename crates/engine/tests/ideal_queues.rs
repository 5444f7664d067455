//! Tests a separate queue for each destination, in addition to the VCs: cold flows next to a hot spot, runs in blocks and from checkpoints,
//! and refusals.

use crate::checkpoints::check_every_phase;
use crate::common::*;
use std::collections::BTreeSet;
use weft_engine::Spec;
use weft_engine::classes::Queueing;
use weft_engine::spec::FlowControl;
use weft_units::Refusal;

const MESH_4X4: &str = r#"{"mesh": {"widths": [4, 4], "terminals_per_router": 1}}"#;
const TORUS: &str = r#"{"torus": {"widths": [4, 4, 4], "terminals_per_router": 1}}"#;
const DRAGONFLY: &str =
    r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}}"#;
const MINIMAL: &str = r#"{"dragonfly_minimal": {}}"#;
const VOQNET: &str = r#"{"voqnet": {}}"#;
const IDEAL: &str = r#"{"voqnet": {"ideal": true}}"#;

/// A network with a queue of 8 flits for each destination.
fn under(topology: &str, routing: &str, queueing: &str) -> Spec {
    let mut spec = spec(topology, routing);
    give_queues(&mut spec, queueing);
    spec
}

/// Gives the spec a queueing scheme with queues of 8 flits, and one VC for each lane.
fn give_queues(spec: &mut Spec, queueing: &str) {
    queues(spec, 16, 8);
    spec.queueing = serde_json::from_str(queueing).expect("a scheme");
    (spec.interface.queueing, spec.interface.queues, spec.interface.depth) = (Queueing::PerDestination, 32, 64);
    let Ok(lanes) = weft_engine::lanes(spec) else { return };
    for (link, counts) in spec.links.iter_mut().zip(&lanes.by_class) {
        link.vcs = counts.iter().sum();
    }
    spec.links[0].vcs = lanes.from_terminals;
}

/// Whether a terminal belongs to the hot spot: terminal 0 and its senders, a quarter of all terminals, in all rows and columns.
fn is_hot(terminal: u32) -> bool {
    (terminal + terminal / 4 + terminal / 16).is_multiple_of(4)
}

/// A quarter of the terminals send to terminal 0 at load `hot`. The other (cold) terminals send to each other at random, at load 0.3.
fn hot_spot(mut spec: Spec, hot: f64, seed: u64) -> Spec {
    spec.seed = seed;
    let (senders, others) = (0..spec.graph.terminals()).partition(|&terminal| is_hot(terminal));
    spec.traffic.jobs = hot_and_cold((senders, hot), (others, 0.3));
    phases(&mut spec, 1500, 2500);
    spec
}

/// Load that the cold terminals accept in a run with this seed.
fn cold_of_seed(spec: &Spec, hot: f64, seed: u64) -> f64 {
    let out = run(&hot_spot(spec.clone(), hot, seed));
    let others = (0..spec.graph.terminals()).filter(|&terminal| !is_hot(terminal)).count() as u64;
    out.jobs[1].accepted_flits as f64 / (out.window * others) as f64
}

/// Load that the cold terminals accept, over 5 seeds: its mean, and the standard deviation of the mean.
fn cold(spec: &Spec, hot: f64) -> (f64, f64) {
    let loads: Vec<f64> = (1..=5).map(|seed| cold_of_seed(spec, hot, seed)).collect();
    let mean = loads.iter().sum::<f64>() / 5.0;
    let variance = loads.iter().map(|load| (load - mean).powi(2)).sum::<f64>() / 4.0;
    (mean, (variance / 5.0).sqrt())
}

#[test]
fn the_hot_spot_of_a_large_network_is_hidden_from_the_others() {
    for (topology, routing) in [(TORUS, DOR), (DRAGONFLY, MINIMAL)] {
        let ideal = under(topology, routing, VOQNET);
        // throttled sources: a quarter of the terminals send a total of 0.8 flits per cycle to a terminal that accepts 1 flit per cycle
        let senders = (1..ideal.graph.terminals()).filter(|&terminal| is_hot(terminal)).count();
        let (control, own) = cold(&ideal, 0.8 / senders as f64);
        let (free, other) = cold(&ideal, 1.0);
        let deviation = own.hypot(other);
        assert!(
            (free - control).abs() <= 3.0 * deviation,
            "{topology}: {free} beside {control}, deviation {deviation}"
        );
        // with one queue in each VC class, full queues spread from the hot spot like a tree
        let blocked = cold_of_seed(&under(topology, routing, r#"{"one_queue": {}}"#), 1.0, 1);
        assert!(blocked < control - 10.0 * deviation, "{topology}: {blocked} beside {control}");
    }
}

#[test]
fn the_map_accepts_what_queues_that_are_vcs_accept() {
    let (exact, own) = cold(&under(MESH_4X4, DOR, VOQNET), 1.0);
    let (ideal, other) = cold(&under(MESH_4X4, DOR, IDEAL), 1.0);
    let deviation = own.hypot(other);
    assert!((exact - ideal).abs() <= 3.0 * deviation, "{exact} beside {ideal}, deviation {deviation}");
}

#[test]
fn blocks_and_checkpoints_change_nothing() {
    for flits in [1, 5] {
        let mut spec = hot_spot(under(TORUS, DOR, VOQNET), 1.0, 1);
        packets(&mut spec, flits, FlowControl::VirtualCutThrough, 10);
        phases(&mut spec, 200, 400);
        check_every_phase(&spec, 4, &format!("{flits} flits"));
    }
}

#[test]
fn the_smallest_queues_drain_at_full_load_in_any_blocks() {
    let mut networks = BTreeSet::new();
    for pair in PAIRS.iter() {
        let mut spec = pair.spec();
        give_queues(&mut spec, IDEAL);
        if networks.contains(pair.topology.name()) || weft_engine::check(&spec).is_err() {
            continue; // paths are not fixed
        }
        networks.insert(pair.topology.name());
        mark_checked(&mut spec);
        for flits in [1, 5] {
            let what = format!("{pair}, {flits} flits");
            packets(&mut spec, flits, FlowControl::VirtualCutThrough, flits);
            spec.set_load(1.0);
            // the run fails unless all buffer slots are free at its end and all credits have returned to their senders
            let out = weft_engine::run_to_rest(&spec, ONE, 300, 300_000);
            out.unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
            phases(&mut spec, 100, 200);
            check_blocks(&spec, &what);
        }
    }
    assert!(networks.len() > 4, "{networks:?}");
}

fn refused(spec: &Spec) -> Refusal {
    weft_engine::check(spec).expect_err("a refusal")
}

#[test]
fn what_does_not_go_with_the_map_is_refused_with_a_remedy_that_works() {
    let good = under(TORUS, DOR, VOQNET);
    weft_engine::check(&good).expect("a run");

    let mut spec = good.clone();
    spec.interface.queueing = Queueing::PerLane;
    let refusal = refused(&spec);
    assert_eq!((&*refusal.path, &*refusal.help), ("interface.queues", "write `interface: {queues: per_destination}`"));

    let mut spec = good.clone();
    spec.set_packet(5);
    spec.router.flow_control = FlowControl::Wormhole;
    assert_eq!(refused(&spec).path, "router.flow_control");
    spec.router.flow_control = FlowControl::VirtualCutThrough;
    weft_engine::check(&spec).expect("as the remedy says");

    // 64 terminals in 8 lanes are 8 destinations for each VC; a VC has space for 65,535 flits
    let mut spec = good.clone();
    spec.links[1].buffer = 9000;
    let refusal = refused(&spec);
    assert_eq!(refusal.path, "links.dim0.buffer");
    assert!(refusal.what.contains("are 72000") && refusal.help.contains("write 8191flits"), "{refusal}");
    spec.links[1].buffer = 8191;
    weft_engine::check(&spec).expect("as the remedy says");

    let mut spec = good;
    spec.links[1].vcs = 14;
    assert_eq!(refused(&spec).path, "links.dim0.vcs");
    spec.routing = routing(r#"{"minimal_adaptive": {}}"#);
    spec.links.iter_mut().for_each(|link| link.vcs = 16);
    assert!(refused(&spec).help.contains("computes all hops in advance"), "{}", refused(&spec));
}
