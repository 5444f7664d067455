//! Tests queueing schemes: their lanes compared with numbers computed by hand, their effect on head-of-line blocking, and refusals.

use crate::common::*;
use weft_engine::classes::Queueing;
use weft_engine::queueing::QueueingConfig;
use weft_engine::spec::{Fault, FaultTimes, Part};
use weft_engine::{LaneCounts, Spec};
use weft_units::Refusal;

const MESH_4X4: &str = r#"{"mesh": {"widths": [4, 4], "terminals_per_router": 1}}"#;
const TREE: &str = r#"{"k_ary_n_tree": {"k": 4, "n": 3}}"#;
const DRAGONFLY: &str =
    r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}}"#;
const MINIMAL: &str = r#"{"dragonfly_minimal": {}}"#;

fn scheme(json: &str) -> QueueingConfig {
    serde_json::from_str(json).expect("a scheme")
}

/// A spec of a network under a queueing scheme, with 16 VCs on every link.
fn under(topology: &str, routing: &str, queueing: &str) -> Spec {
    let mut spec = spec(topology, routing);
    queues(&mut spec, 16, 8);
    spec.queueing = scheme(queueing);
    spec.interface.queueing = Queueing::PerLane;
    spec.interface.depth = u16::MAX;
    spec
}

fn lanes(spec: &Spec) -> LaneCounts {
    weft_engine::lanes(spec).expect("lanes with room")
}

/// Number of lanes on links of link class `class`, for each VC class of the routing.
fn on(spec: &Spec, class: &str) -> Vec<u8> {
    let link = spec.graph.class_names().iter().position(|name| name == class).expect("the class");
    lanes(spec).by_class[link].clone()
}

#[test]
fn outputs_at_the_next_router_are_counted_by_hand() {
    // The network has groups of 4 routers with 2 terminals and 2 global links each, and minimal routing. After a local link of the source
    // group (on VC class 0), a packet goes to one of 2 global links or 2 terminals. In the destination group (on class 1), it goes to one
    // of 2 terminals. After a global link, a packet goes to one of 3 local links or 2 terminals. From a terminal, a packet goes to one of 3
    // local and 2 global links, or to the other terminal.
    let spec = under(DRAGONFLY, MINIMAL, r#"{"voqsw": {}}"#);
    assert_eq!((on(&spec, "local"), on(&spec, "global")), (vec![4, 2], vec![5]));
    assert_eq!(lanes(&spec).from_terminals, 6);

    // The network is a 4x4 mesh with one terminal per router and dimension-order routing. After a link of dimension 0, a packet continues
    // straight on, goes up or down in dimension 1, or goes to the terminal. After a link of dimension 1, it continues straight on or goes
    // to the terminal. From a terminal, a packet goes to one of 4 links.
    let spec = under(MESH_4X4, DOR, r#"{"voqsw": {}}"#);
    assert_eq!((on(&spec, "dim0"), on(&spec, "dim1")), (vec![4], vec![2]));
    assert_eq!(lanes(&spec).from_terminals, 4);
    // a router has ports for 4 links and a terminal
    assert_eq!(lanes(&spec).queues, 5);
}

#[test]
fn levels_of_queues_on_a_dragonfly_share_no_link_of_a_vc_class() {
    // The network has 9 groups of 4 routers with 2 terminals and 2 global links each. After a local link of the source group, a packet goes
    // to one of the 2 groups that this router reaches, or it has arrived. The lanes are 3 of 6. On a local link of the destination group,
    // the lane is the residue of one of the 2 terminals, 0 or 1. After a global link, the lane depends on which of the 4 routers of the
    // group is the destination.
    let spec = under(DRAGONFLY, MINIMAL, r#"{"h2lq": {}}"#);
    assert_eq!((on(&spec, "local"), on(&spec, "global")), (vec![3, 2], vec![4]));
    // from a terminal, packets go to 8 other groups, whose numbers modulo 6 give all residues
    assert_eq!(lanes(&spec).from_terminals, 6);
}

#[test]
fn residues_of_four_collapse_on_a_4_ary_tree_in_one_order_of_digits() {
    // If digits are used from the lowest up, a leaf sends a packet for D up by digit 0 of D, which is D mod 4. Therefore all packets on an
    // up link have the same residue, and so do all packets on the down links after it. If digits are used from the highest down, the lowest
    // digit selects no up link in a tree of 3 levels. The tree has 2 levels of up links, for digits 2 and 1, and every link carries all
    // residues.
    let levels = |routing: &str| {
        let spec = under(TREE, routing, r#"{"dbbm": {"queues": 4}}"#);
        let links: Vec<Vec<u8>> = lanes(&spec).by_class.into_iter().skip(1).collect();
        (links.concat(), lanes(&spec).from_terminals)
    };
    assert_eq!(levels(r#"{"up_down": {"ascent": "d_mod_k"}}"#), (vec![1, 1], 4));
    assert_eq!(levels(r#"{"up_down": {"ascent": "d_mod_k_high_first"}}"#), (vec![4, 4], 4));
}

#[test]
fn a_table_of_residues_is_the_scheme_of_residues() {
    let residues: Vec<String> = (0..16).map(|terminal| (terminal % 4).to_string()).collect();
    let table = format!(r#"{{"map": {{"lanes": [[{}]]}}}}"#, residues.join(","));
    let run_under = |queueing: &str| {
        let mut spec = under(MESH_4X4, DOR, queueing);
        spec.set_load(0.5);
        phases(&mut spec, 200, 1000);
        run(&spec)
    };
    assert_same(&run_under(r#"{"dbbm": {"queues": 4}}"#), &run_under(&table), "mod 4");
}

#[test]
fn packets_that_are_followed_together_reach_the_lanes_of_those_followed_by_pairs() {
    // Two equal rows of the table for groups of sources have the same effect as a single row. Because this scheme depends on the sources,
    // the engine follows packets pair by pair.
    let networks = [
        (r#"{"torus": {"widths": [6, 4], "terminals_per_router": 1}}"#, DOR, 24),
        (TREE, r#"{"up_down": {"ascent": "d_mod_k"}}"#, 64),
        (DRAGONFLY, MINIMAL, 72),
    ];
    for (topology, routing, terminals) in networks {
        let row = (0..terminals).map(|terminal| (terminal / 2 % 3).to_string()).collect::<Vec<_>>().join(",");
        let together = under(topology, routing, &format!(r#"{{"map": {{"lanes": [[{row}]]}}}}"#));
        let by_pairs = format!(r#"{{"map": {{"lanes": [[{row}], [{row}]], "rows": "source_group"}}}}"#);
        let by_pairs = under(topology, routing, &by_pairs);
        assert_eq!(lanes(&together), lanes(&by_pairs), "{topology}");
        let run_of = |mut spec: Spec| {
            spec.set_load(0.5);
            phases(&mut spec, 100, 400);
            run(&spec)
        };
        assert_same(&run_of(together), &run_of(by_pairs), topology);
    }
}

/// A spec in which the last terminals of all rows send to terminal 0 at load `hot`, over every link that leads down in dimension 0. The
/// other 11 (cold) terminals send to each other at random, at load 0.4.
fn hot_spot(queueing: &str, hot: f64, seed: u64) -> Spec {
    let mut spec = under(MESH_4X4, DOR, queueing);
    spec.seed = seed;
    let senders = vec![0, 3, 7, 11, 15];
    let others = (1..16).filter(|terminal| !senders.contains(terminal)).collect();
    spec.traffic.jobs = hot_and_cold((senders, hot), (others, 0.4));
    phases(&mut spec, 2000, 6000);
    spec
}

/// Load that the cold terminals accept, over 5 seeds: its mean, and the standard deviation of the mean.
fn cold(queueing: &str, hot: f64) -> (f64, f64) {
    let of_seed = |seed| {
        let mut spec = hot_spot(queueing, hot, seed);
        if spec.queueing.is_usual() {
            queues(&mut spec, 1, 16 * 8); // a single queue with the memory of 16 queues
        }
        let out = run(&spec);
        out.jobs[1].accepted_flits as f64 / (out.window * 11) as f64
    };
    let loads: Vec<f64> = (1..=5).map(of_seed).collect();
    let mean = loads.iter().sum::<f64>() / 5.0;
    let variance = loads.iter().map(|load| (load - mean).powi(2)).sum::<f64>() / 4.0;
    (mean, (variance / 5.0).sqrt())
}

#[test]
fn a_queue_per_destination_hides_the_hot_spot_from_the_others() {
    // With throttled sources, the four terminals send a total of 0.8 flits per cycle to a terminal that accepts 1. With this load, full
    // queues do not spread from the hot spot. Without throttling, these terminals offer 3.6 flits per cycle.
    let (control, own) = cold(r#"{"voqnet": {}}"#, 0.2);
    let (free, other) = cold(r#"{"voqnet": {}}"#, 0.9);
    let deviation = own.hypot(other);
    assert!((free - control).abs() <= 3.0 * deviation, "{free} beside {control}, deviation {deviation}");
    // with one queue of the same memory, full queues spread from the hot spot
    let (blocked, _) = cold(r#"{"one_queue": {}}"#, 0.9);
    assert!(blocked < control - 10.0 * deviation, "{blocked} beside {control}");
}

fn refused(spec: &Spec) -> Refusal {
    weft_engine::check(spec).expect_err("a refusal")
}

#[test]
fn too_many_lanes_are_refused_with_a_number_that_fits() {
    // a terminal has 24 other destinations, and each has a different residue
    let mesh_5x5 = r#"{"mesh": {"widths": [5, 5], "terminals_per_router": 1}}"#;
    let refusal = refused(&under(mesh_5x5, DOR, r#"{"dbbm": {"queues": 25}}"#));
    assert_eq!(refusal.path, "queueing.dbbm");
    assert!(refusal.what.contains("24 > 16") && refusal.help.contains("fewer `queues`"), "{refusal}");
    weft_engine::check(&under(mesh_5x5, DOR, r#"{"dbbm": {"queues": 16}}"#)).expect("as the remedy says");

    // The links that lead up from column 0 reach 12 destinations, 4 r + c with c from 1 to 3, and these have all residues modulo 7.
    let mut spec = under(MESH_4X4, DOR, r#"{"dbbm": {"queues": 7}}"#);
    queues(&mut spec, 6, 8);
    let refusal = refused(&spec);
    assert_eq!(refusal.path, "links.terminal.vcs");
    assert!(refusal.what.contains("7 lanes") && refusal.help.contains("to 7"), "{refusal}");
    spec.links[0].vcs = 7;
    let refusal = refused(&spec);
    assert_eq!((&*refusal.path, &*refusal.help), ("links.dim0.vcs", "set vcs of dim0 links to at least 7"));
    spec.links[1].vcs = 7;
    weft_engine::check(&spec).expect("as the remedy says");
}

#[test]
fn schemes_are_refused_where_they_have_nothing_to_go_by() {
    let of = |topology: &str, routing: &str, queueing: &str| refused(&under(topology, routing, queueing));
    let refusal = of(TREE, r#"{"up_down": {"ascent": "d_mod_k"}}"#, r#"{"iodet": {}}"#);
    assert_eq!(refusal.path, "queueing.iodet");
    assert!(refusal.what.contains("dimensions"), "{refusal}");
    assert!(of(MESH_4X4, DOR, r#"{"flow2sl": {}}"#).what.contains("fat trees"));
    assert!(of(MESH_4X4, DOR, r#"{"h2lq": {}}"#).what.contains("groups"));
    assert!(of(MESH_4X4, DOR, r#"{"map": {"lanes": [[0, 1]]}}"#).help.contains("16 numbers"));
    assert!(of(MESH_4X4, DOR, r#"{"bbq": {"queues": 0}}"#).help.contains("1 to"));
    // a torus whose rings keep a bubble
    let torus = r#"{"torus": {"widths": [4, 4], "terminals_per_router": 1}}"#;
    let refusal = of(torus, r#"{"dimension_order": {"dateline": "bubble"}}"#, r#"{"dbbm": {}}"#);
    assert!(refusal.what.contains("bubble"), "{refusal}");
    // heads choose their output at the router, so the output is unknown before that
    let refusal = of(torus, r#"{"minimal_adaptive": {}}"#, r#"{"voqsw": {}}"#);
    assert!(refusal.help.contains("computes all hops in advance"), "{refusal}");
    weft_engine::check(&under(torus, DOR, r#"{"voqsw": {}}"#)).expect("as the remedy says");
    weft_engine::check(&under(torus, r#"{"minimal_adaptive": {}}"#, r#"{"dbbm": {}}"#)).expect("as the remedy says");
}

/// A scheme with one queue changes no result. Results stay the same even if paths around faults need more VC classes than paths without
/// faults.
#[test]
fn one_queue_changes_nothing_where_paths_grow_longer() {
    let mut one = spec(r#"{"slim_fly": {"q": 3, "terminals_per_router": 2}}"#, ECMP);
    queues(&mut one, 8, 16);
    let broken = |ends, at, until| Fault { what: Part::Link(ends), at, until: Some(until) };
    one.faults = vec![broken([9, 14], 700, 900), broken([8, 15], 300, 800)];
    one.fault_times = FaultTimes { patience: 40, rebuild_delay: 50 };
    phases(&mut one, 100, 1000);
    one.set_load(0.3);
    one.queueing = scheme(r#"{"dbbm": {"queues": 1}}"#);
    let none = Spec { queueing: QueueingConfig::default(), ..one.clone() };
    assert_same(&run(&one), &run(&none), "one queue");
}
