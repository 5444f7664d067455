//! Tests routers with more than 128 ports, up to 512 (`Width::Widest`): latencies and shares from closed formulas, under every allocator.

use super::theory::{check_t0, t0};
use super::two_latencies::network;
use crate::common::*;
use weft_engine::allocation::AllocatorConfig;
use weft_engine::spec::FlowControl::VirtualCutThrough;
use weft_engine::{Spec, Width};

const TERMINALS: u32 = 400;

/// A network of one router with 400 terminals.
fn star() -> Spec {
    let spec = spec(&format!(r#"{{"single_router": {{"terminals": {TERMINALS}}}}}"#), DOR);
    assert_eq!(spec.width(), Width::Widest);
    spec
}

/// A network of routers with one terminal each, and a link from each router to all others.
fn full_mesh(routers: u32, routing: &str) -> Spec {
    let spec = spec(&format!(r#"{{"full_mesh": {{"routers": {routers}, "terminals_per_router": 1}}}}"#), routing);
    assert_eq!(spec.width(), Width::Widest);
    spec
}

#[test]
fn packets_alone_take_t0_across_a_router_of_400_ports_and_a_mesh_of_200_routers() {
    for length in [1, 5] {
        for sender in [0, 77, 131, 399] {
            let mut star = star();
            packets(&mut star, length, VirtualCutThrough, 32);
            check_t0(star, sender, t0);
        }
        for (routing, sender) in [(DOR, 3), (DOR, 199), (r#"{"minimal_adaptive": {}}"#, 150), (r#"{"ecmp": {}}"#, 170)]
        {
            let mut mesh = full_mesh(200, routing);
            packets(&mut mesh, length, VirtualCutThrough, 32);
            let hops = check_t0(mesh, sender, t0);
            assert_eq!(hops.len(), 2, "packets of 0 hops (none if the pattern has no self) and 1 hop: {hops:?}");
        }
    }
}

/// Number of flits that each terminal sent in the window.
fn sent(spec: &Spec) -> Vec<u64> {
    let out = run(spec);
    let from_terminals = out.channels.iter().filter(|channel| channel.from.is_none());
    from_terminals.map(|channel| channel.flits.iter().sum()).collect()
}

/// In this test every terminal sends to terminal 0 as fast as it can. The link of terminal 0 carries one flit per cycle, so each of `n`
/// other terminals sends one flit every n cycles. If an arbiter ignored some inputs, the terminals at these inputs would send nothing.
#[test]
fn every_input_of_a_wide_router_has_its_turn() {
    for allocator in AllocatorConfig::examples() {
        let mut spec = star();
        spec.router.allocator = allocator.clone();
        pattern(&mut spec, r#"{"hot_spot": {"targets": [0], "share": 1.0}}"#);
        spec.set_load(1.0);
        // the buffers are full after at most 400 * 192 flits, which leave in the same number of cycles
        phases(&mut spec, 10_000, 8_000);
        spec.phases.drain_limit = 0;
        spec.links.iter_mut().for_each(|link| (link.buffer, link.vcs) = (2, 2));
        let sent = sent(&spec);
        assert_eq!(sent.len(), TERMINALS as usize);
        let share = 8_000 / u64::from(TERMINALS);
        let fair = |&flits: &u64| flits.abs_diff(share) <= 3;
        assert!(sent.iter().all(fair), "{allocator:?}: {share} flits each are fair, and they sent {sent:?}");
    }
}

/// In this test each terminal sends to a different terminal, which receives packets from no other. Therefore packets never meet, and the
/// router carries the full load.
#[test]
fn a_permutation_at_full_load_is_carried_by_a_wide_router() {
    let mut spec = star();
    pattern(&mut spec, r#"{"random_permutation": {}}"#);
    spec.set_load(1.0);
    phases(&mut spec, 200, 2_000);
    let out = run(&spec);
    assert_eq!(out.accepted_flits, 2_000 * u64::from(TERMINALS));
    // flits follow each other without waiting
    assert_eq!(out.latency.max(), t0(&spec, 0));
}

#[test]
fn wide_routers_give_the_same_in_any_number_of_blocks_and_on_threads() {
    for routing in [DOR, r#"{"minimal_adaptive": {}}"#, r#"{"valiant": {}}"#] {
        let mut spec = full_mesh(140, routing);
        packets(&mut spec, 3, VirtualCutThrough, 16);
        spec.set_load(0.4);
        phases(&mut spec, 100, 400);
        weft_engine::check(&spec).expect("a network that can run");
        mark_checked(&mut spec);
        check_blocks(&spec, routing);
    }
}

/// A network from a file: a hub with a link to every other router. The hub and all other routers have one terminal each.
fn hub(ports: u32) -> Spec {
    let hub: String = (1..ports).map(|router| format!(" router {router} 3")).collect();
    let others: String = (1..ports).map(|router| format!("router {router} node {router} router 0 3\n")).collect();
    let spec = network(&format!("router 0 node 0{hub}\n{others}"));
    assert_eq!((spec.graph.radix(), spec.width()), (ports, Width::Widest));
    spec
}

#[test]
fn a_hub_of_a_graph_file_carries_packets_between_all_its_links() {
    for (case, ports) in [300, 512].into_iter().enumerate() {
        let mut empty = hub(ports);
        weft_engine::check(&empty).expect("a network that can run");
        mark_checked(&mut empty);
        for &sender in in_turn(case, &[[0, ports - 1], [1, 130]]).flatten() {
            let mut spec = empty.clone();
            packets(&mut spec, 3, VirtualCutThrough, 32);
            let hops = check_t0(spec, sender, t0);
            // the longest path has one link from the hub itself, and two links from the other routers; a path to the own router has none
            let farthest = if sender == 0 { 1 } else { 2 };
            assert_eq!(hops.len(), 1 + farthest, "{ports} ports, from {sender}: {hops:?}");
        }
        // all terminals send at the same time; each sends to one other terminal and receives from one, so no link gets more requests than
        // it can carry
        let mut spec = empty;
        pattern(&mut spec, r#"{"random_permutation": {}}"#);
        spec.set_load(1.0);
        phases(&mut spec, 200, 500);
        let out = run(&spec);
        assert_eq!(out.accepted_flits, 500 * u64::from(ports));
        if ports == 300 || rounds(1) > 1 {
            check_blocks(&spec, &format!("a hub of {ports} ports"));
        }
    }
}
