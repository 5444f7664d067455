//! Tests networks of several planes. Each plane is a separate network, and each node has a terminal in each plane.

use crate::common::*;
use crate::programs::{finish, spec_of};
use weft_engine::outcome::Ending;
use weft_engine::spec::Execution;
use weft_engine::{Outcome, Spec, imply};

fn planes(count: u32, of: &str) -> String {
    format!(r#"{{"planes": {{"count": {count}, "of": {of}}}}}"#)
}

/// Runs a ring all-reduce of 6 nodes over two planes. Each step sends a message of 200 flits in 13 packets. The plane of the first packet
/// carries 7 of them, including the short one: 200 - 6 * 16 = 104 flits.
#[test]
fn messages_go_over_all_planes_to_the_cycle() {
    let ring = r#"{"programs": {"program": {"collective": {"operation": "all_reduce", "ranks": 6, "bytes": "1200B"}},
        "collectives": {"algorithms": {"all_reduce": {"ring": {}}}}, "eager": "1MB"}}"#;
    let spec = spec_of(&planes(2, r#"{"single_router": {"terminals": 6}}"#), DOR, ring, 16);
    // 2 (P - 1) steps; in each step the router and the links take 3 cycles
    assert_eq!(finish(&spec), 10 * (104 + 3));
}

/// An all-to-all of nodes, each with a terminal in each of three planes.
fn all_to_all() -> Spec {
    let workload = r#"{"programs": {"program": {"collective": {"operation": "all_to_all", "ranks": 24, "bytes": "210B", "gap": "33ns"}},
        "overhead": "20ns", "eager": "150B"}}"#;
    spec_of(&planes(3, TORUS), DOR, workload, 16)
}

#[test]
fn programs_over_planes_change_no_bit_with_blocks_threads_and_checkpoints() {
    let spec = all_to_all();
    let one = run(&spec);
    assert_eq!((&one.ending, one.missing_packets), (&Ending::Drained, 0));
    for (threads, blocks) in [(1, 3), (2, 3), (1, 8), (2, 8)] {
        let other = run_as(&spec, Execution::new(threads, blocks));
        assert_same(&one, &other, &format!("{threads} threads, {blocks} blocks"));
        assert!(one.jobs == other.jobs && one.recorded == other.recorded);
    }
    check_blocks(&spec, "an all-to-all over planes");
}

fn at_load(network: &str, routing_of: &str, policy_of: &str) -> Outcome {
    let mut spec = spec(network, routing_of);
    phases(&mut spec, 1000, 8000);
    spec.set_load(0.2);
    policy(&mut spec, policy_of);
    let out = run(&spec);
    assert_same(&out, &run_as(&spec, Execution::new(2, 5)), routing_of);
    assert_drained(&out);
    out
}

/// Every plane must carry the load of a separate network, also under policies for channels and for subnetworks. Packets are counted over
/// all planes together. The number of packets per terminal and cycle is a sum of independent random choices, whose variance is below its
/// mean. The tolerance is 5 standard deviations.
#[test]
fn each_plane_is_a_network_of_its_own() {
    let tcep =
        r#"{"tcep": {"activation_epoch": "200cycles", "deactivation_epoch": "2000cycles", "wake": "200cycles"}}"#;
    let sleep = r#"{"idle_timeout": {"idle": "50cycles", "transition": "20cycles"}}"#;
    for (network, routing, policy) in
        [(TORUS, DOR, sleep), (HYPERX, r#"{"pal": {}}"#, tcep), (HYPERX, DOR, "{\"always_on\": {}}")]
    {
        let (one, three) = (at_load(network, routing, policy), at_load(&planes(3, network), routing, policy));
        let expected = 3.0 * one.sums.packets as f64;
        let deviation = (3.0 * expected).sqrt();
        assert!((three.sums.packets as f64 - expected).abs() < 5.0 * deviation, "{policy}: {}", three.sums.packets);
    }
}

#[test]
fn what_is_implied_is_that_of_a_plane() {
    for (network, routing) in [(TORUS, DOR), (HYPERX, SHORTEST), (DRAGONFLY, SHORTEST)] {
        let [one, two] =
            [network.to_owned(), planes(2, network)].map(|network| imply(&spec(&network, routing)).expect("bounds"));
        let close = |a: Option<f64>, b: Option<f64>| (a.expect("a number") - b.expect("a number")).abs() < 1e-9;
        assert!(close(one.channel_load_bound, two.channel_load_bound), "{network}");
        assert!(close(one.mean_hops, two.mean_hops), "{network}");
    }
}

#[test]
fn what_planes_can_not_do_is_refused() {
    let refused = |spec: &Spec| imply(spec).expect_err("a refusal").to_string();
    // a job on only half of the terminals of a node
    let mut half = spec(&planes(2, TORUS), DOR);
    half.traffic.jobs[0].terminals.pop();
    half.traffic.jobs[0].phases[0].load.pop();
    assert!(refused(&half).contains("has only some of the 2 terminals of a node"), "{}", refused(&half));
    // a routing whose routers use numbers posted by other routers
    let posts = spec(&planes(2, DRAGONFLY), r#"{"dragonfly_pb": {}}"#);
    let help = "choose a routing that reads only the queues of its own router";
    assert!(refused(&posts).contains(help), "{}", refused(&posts));
    imply(&spec(&planes(2, DRAGONFLY), r#"{"dragonfly_ugal": {}}"#)).expect("it reads its own");
    imply(&spec(&planes(1, DRAGONFLY), r#"{"dragonfly_pb": {}}"#)).expect("one plane");
    // numbers of interfaces per node that are incompatible with the planes
    let workload = r#"{"programs": {"program": {"collective": {"operation": "all_reduce", "ranks": 4, "bytes": "1KB"}}, "rails": 2}}"#;
    let three = spec_of(&planes(3, TORUS), DOR, workload, 16);
    assert!(refused(&three).contains("write `rails: 3`"), "{}", refused(&three));
}
