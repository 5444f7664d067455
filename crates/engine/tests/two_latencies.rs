//! Tests links whose two directions have different latencies: closed formulas for latency and throughput, in any number of blocks.

use super::theory::{check_t0, t0};
use crate::common::*;
use weft_engine::spec::FlowControl::VirtualCutThrough;
use weft_engine::{Spec, imply};
use weft_topology::{TopologyConfig, graph_file::GraphFile};
use weft_units::InputFile;

/// The network of an `anynet` file, with the latencies that the file contains.
pub fn network(text: &str) -> Spec {
    let file = InputFile::new("one-way.anynet", text.as_bytes());
    let mut spec = Spec::new(&TopologyConfig::GraphFile(GraphFile::of(file)), routing(r#"{"shortest_path": {}}"#))
        .expect("a spec");
    let stated =
        spec.graph.class_names().iter().map(|name| name.strip_prefix("latency").map(|cycles| cycles.parse().unwrap()));
    let stated: Vec<Option<u64>> = stated.collect();
    for (link, cycles) in spec.links.iter_mut().zip(stated) {
        let cycles = cycles.unwrap_or(link.latency);
        (link.latency, link.credit_latency) = (cycles, cycles);
    }
    spec
}

/// A network of two routers, with 15 cycles in one direction and 1 in the other, as BookSim interprets the file.
fn pair() -> Spec {
    network("router 0 node 0 router 1 15\nrouter 1 node 1")
}

/// A ring whose links take 7 cycles clockwise and 3 counter-clockwise.
fn ring(routers: u32) -> Spec {
    let line = |r: u32| {
        let (next, before) = ((r + 1) % routers, (r + routers - 1) % routers);
        format!("router {r} node {r} router {next} 7 router {before} 3\n")
    };
    network(&(0..routers).map(line).collect::<String>())
}

#[test]
fn a_packet_takes_the_latency_of_its_direction() {
    for length in [1, 5] {
        for (sender, latency) in [(0, 15), (1, 1)] {
            let mut spec = pair();
            packets(&mut spec, length, VirtualCutThrough, 32);
            // `t0` uses the latency of link class 1 (`latency1`) for each hop
            assert_eq!((spec.links[1].latency, spec.graph.class_names()[1].as_str()), (1, "latency1"));
            check_t0(spec, sender, move |spec, hops| t0(spec, hops) + hops * (latency - 1));
        }
    }
    // T0 is 5 cycles plus the mean latency of both directions, (15 + 1) / 2
    let latency = imply(&pair()).unwrap().zero_load_latency.unwrap();
    assert!((latency - 13.0).abs() < 1e-9, "{latency}");
}

/// A flit occupies its buffer slot from its grant until its credit can be used. The time of occupation is the sum of the router's delay,
/// the latency of the link, the latency of the opposite channel, and the credit delay. With 4 slots, a channel carries 4 flits in this
/// time.
#[test]
fn a_credit_returns_on_the_opposite_channel() {
    for sender in [0, 1] {
        let mut spec = pair();
        queues(&mut spec, 1, 4);
        // the terminal link has space for the waiting flits
        (spec.links[0].buffer, spec.links[0].vcs) = (64, 1);
        spec.set_load(0.0);
        spec.set_load_of(sender, 1.0);
        let round_trip = spec.router.delay + 15 + 1 + spec.router.credit_delay;
        phases(&mut spec, 100 * round_trip, 200 * round_trip);
        spec.phases.drain_limit = 0;
        let out = run(&spec);
        assert_eq!(
            out.accepted_flits,
            4 * out.window / round_trip,
            "terminal {sender} sends 4 flits in {round_trip} cycles"
        );
    }
}

#[test]
fn a_ring_with_other_latencies_clockwise_has_the_zero_load_latency_of_both_directions() {
    let spec = ring(5);
    // Two of the 4 other terminals are 1 link away (7 or 3 cycles), and two are 2 links away (14 or 6 cycles). The means are 7.5 cycles and
    // 1.5 links. A packet also takes a cycle in each of 2.5 routers, a cycle on each of two terminal links, and a cycle to eject.
    let latency = imply(&spec).unwrap().zero_load_latency.unwrap();
    assert!((latency - (7.5 + 2.5 + 2.0 + 1.0)).abs() < 1e-9, "{latency}");
}

#[test]
fn two_latencies_give_the_same_in_any_number_of_blocks() {
    for policies in
        [r#"{"always_on": {}}"#, IDLE_TIMEOUT, r#"{"neighbour_sleep": {"idle": "40ns", "transition": "25ns"}}"#]
    {
        for length in [1, 5] {
            let mut spec = ring(9);
            packets(&mut spec, length, VirtualCutThrough, 12);
            policy(&mut spec, policies);
            spec.managed[0] = false;
            spec.set_load(0.3);
            phases(&mut spec, 300, 2_000);
            check_blocks(&spec, policies);
        }
    }
}

#[test]
fn a_policy_manages_both_directions_of_a_link_or_neither() {
    let mut spec = ring(5);
    policy(&mut spec, IDLE_TIMEOUT);
    spec.managed = vec![false, true, false];
    let refusal = weft_engine::run(&spec, ONE, &()).unwrap_err();
    assert_eq!(refusal.path, "power.manages");
    assert!(
        refusal.what.contains(
            "has class latency3 in one direction and class latency7 in the other, but only latency3 is managed"
        ),
        "{refusal}"
    );
    // this is the remedy that the message proposes
    spec.managed = vec![false, true, true];
    assert!(run(&spec).sums.packets > 0);
}
