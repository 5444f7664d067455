//! Tests packets that escape into a ring. At full load with the smallest buffers, packets must be delivered continuously, and the rings
//! must become empty after the sources stop. The tests use dragonflies in the palm-tree arrangement, with 9 groups of 4 routers and 72
//! terminals, and a HyperX with 16 routers and 64 terminals.
//!
//! `WEFT_TEST_ROUNDS=1000` runs each case for a million cycles.

use crate::common::*;
use weft_engine::spec::FlowControl::VirtualCutThrough;
use weft_engine::{Simulation, Spec, imply};

/// A pattern in which the 8 terminals of a group of the dragonfly send all packets to the next group, over one global link. Many packets
/// wait, and many must escape into the ring.
const NEXT: &str = r#"{"group_shift": {"shift": 1}}"#;
const UNIFORM: &str = r#"{"uniform": {}}"#;

/// The dragonfly with `wires` physical escape rings, and OFAR with the keys `ring` and `more`.
fn ofar(wires: u32, ring: &str, more: &str) -> Spec {
    let topology = format!(
        r#"{{"dragonfly": {{"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2,
            "escape_rings": {wires}}}}}"#
    );
    spec(&topology, &format!(r#"{{"dragonfly_ofar": {{"ring": {{{ring}}}{more}}}}}"#))
}

/// A HyperX with the routing `hyperx_ofar`, and with the keys `ring` and `more`.
fn hyperx(ring: &str, more: &str) -> Spec {
    let topology = r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}"#;
    spec(topology, &format!(r#"{{"hyperx_ofar": {{"ring": {{{ring}}}{more}}}}}"#))
}

/// Cycles that a packet needs, without other traffic, to go round the ring and to its terminal, and for its credits to return. Links take 1
/// cycle.
fn round(spec: &Spec) -> u64 {
    let hop = 1 + spec.router.delay + 1;
    u64::from(spec.graph.routers()) * hop + u64::from(spec.traffic.longest()) + 2 * hop
}

/// Runs at full load with the fewest VCs and the smallest buffers that are permitted. Checks that in every interval of the length of
/// [`round`], at least one packet is delivered. At the end the sources stop, and all packets that they have sent must arrive. `outside`:
/// number of hops of the longest path outside the rings.
fn check_with(mut spec: Spec, pattern_json: &str, flits: u32, outside: u32) {
    pattern(&mut spec, pattern_json);
    packets(&mut spec, flits, VirtualCutThrough, 1);
    let classes = imply(&spec).expect("a network that can run").vc_classes;
    mark_checked(&mut spec);
    spec.links.iter_mut().zip(classes).for_each(|(link, needed)| link.vcs = needed);
    spec.links.iter_mut().for_each(|link| (link.latency, link.credit_latency) = (1, 1));
    spec.set_load(1.0);
    let what = format!("{:?} {flits} flits, {pattern_json}", spec.routing);
    phases(&mut spec, 0, 1 << 40);
    let mut sim = Simulation::new(&spec, ONE).expect("a network");
    let (cycles, round) = (rounds(1000), round(&spec));
    sim.advance(round); // the first packets are in flight
    while sim.now() < cycles {
        let before = sim.accepted();
        sim.advance(sim.now() + round);
        assert!(sim.accepted() > before, "{what}: nothing has arrived in {round} cycles before cycle {}", sim.now());
    }
    sim.stop_sources();
    drain(&mut sim, 100_000, &what);
    let end = sim.now();
    phases(&mut spec, 0, end);
    let out = sim.run(&spec, &());
    assert_eq!((out.sums.flits, out.missing_packets, out.dropped_packets), (out.offered_flits, 0, 0), "{what}");
    assert!(out.longest_path > outside, "{what}: no packet was in a ring");
}

fn check(spec: Spec, pattern_json: &str, flits: u32) {
    // the longest path has the hops l l g l l g l l (local and global)
    check_with(spec, pattern_json, flits, 8);
}

#[test]
fn rings_of_their_own_wires_never_stall_and_empty() {
    for (case, (directions, exits)) in [(1, 4), (2, 0)].into_iter().enumerate() {
        for &flits in in_turn(case, &[1, 3]) {
            let ring = format!(r#""directions": {directions}, "exits": {exits}"#);
            check(ofar(1, &ring, ""), NEXT, flits);
            check(ofar(2, &ring, r#", "trigger": "unavailable""#), UNIFORM, flits);
            check(ofar(2, &ring, r#", "trigger": "granted_or_full""#), NEXT, flits);
        }
    }
}

#[test]
fn embedded_rings_never_stall_and_empty() {
    for directions in [1, 2] {
        for rings in [1, 2] {
            for &flits in in_turn(directions + rings, &[1, 3]) {
                let ring = format!(r#""rings": {rings}, "directions": {directions}"#);
                check(ofar(0, &ring, ""), UNIFORM, flits);
                check(ofar(0, &ring, r#", "trigger": "unavailable""#), NEXT, flits);
                check(ofar(0, &ring, r#", "trigger": "granted_or_full""#), NEXT, flits);
            }
        }
    }
}

#[test]
fn packets_that_escape_at_once_and_without_local_misroutes_never_stall() {
    for wires in [0, 1] {
        let from_sources = r#""from_sources": true, "exits": 1"#;
        check(ofar(wires, from_sources, r#", "local_misrouting": false"#), NEXT, 1);
    }
}

#[test]
fn rings_of_a_hyperx_never_stall_and_empty() {
    const COMPLEMENT: &str = r#"{"bit_complement": {}}"#;
    // the longest path has one minimal hop and one detour in each of the two dimensions
    let check = |ring: &str, more: &str, pattern: &str, flits: u32| check_with(hyperx(ring, more), pattern, flits, 4);
    for (case, trigger) in ["granted", "granted_or_full", "unavailable"].into_iter().enumerate() {
        for &flits in in_turn(case, &[1, 3]) {
            let free = format!(r#", "trigger": "{trigger}", "injection": {{"free": {{}}}}"#);
            check(r#""directions": 1"#, &free, COMPLEMENT, flits);
            check(r#""exits": 0"#, &free, UNIFORM, flits);
            check(r#""rings": 3, "exits": 1, "from_sources": true"#, &free, COMPLEMENT, flits);
        }
    }
    [1, 3].into_iter().for_each(|flits| check("", "", COMPLEMENT, flits));
}

#[test]
fn more_room_than_there_is_behind_a_source_is_refused_and_the_remedies_work() {
    for flits in [1, 4] {
        let with = |packets: u32| {
            let injection = format!(r#", "injection": {{"bubble": {{"packets": {packets}}}}}"#);
            let mut spec = ofar(1, "", &injection);
            self::packets(&mut spec, flits, VirtualCutThrough, 16);
            spec.set_load(0.1);
            phases(&mut spec, 100, 500);
            spec
        };
        let refusal = weft_engine::check(&with(40)).expect_err("no packet leaves its source");
        assert_eq!(refusal.path, "routing.dragonfly_ofar.injection.bubble.packets");
        let most: u32 = refusal.help.strip_prefix("write at most ").expect("a number").parse().expect("a number");
        let out = run(&with(most));
        assert_eq!((out.missing_packets, out.sums.packets > 0), (0, true), "{most} of {flits} flits");
        assert!(weft_engine::check(&with(most + 1)).is_err(), "{most} of {flits} flits");
    }
}
