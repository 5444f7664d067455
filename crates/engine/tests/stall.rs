//! Tests that a network that can stall is refused before it runs. Also tests that a run that stalls ends after a limited time and reports
//! the reason.

use crate::common::*;
use weft_engine::outcome::{Cause, Ending};
use weft_engine::spec::FlowControl::{VirtualCutThrough, Wormhole};
use weft_engine::spec::{Execution, FlowControl};
use weft_engine::{Spec, imply};

const RING: &str = r#"{"torus": {"widths": [5], "terminals_per_router": 2}}"#;
const TORUS_4X4: &str = r#"{"torus": {"widths": [4, 4], "terminals_per_router": 1}}"#;

// ---- refusals -------------------------------------------------------------------------------------------------------

#[test]
fn a_ring_without_dateline_is_refused_with_its_cycle() {
    let refusal = imply(&spec(RING, NO_DATELINE)).unwrap_err();
    assert_eq!(refusal.path, "routing.dimension_order");
    // All five channels in one direction are in the cycle. Port 2 leads up, port 3 down.
    assert!(refusal.what.contains("a cycle of 5 channels"), "{}", refusal.what);
    let up = |r: u32| format!("router {r} port 2 to router {} class 0", (r + 1) % 5);
    let down = |r: u32| format!("router {r} port 3 to router {} class 0", (r + 4) % 5);
    let all = |channel: &dyn Fn(u32) -> String| (0..5).all(|r| refusal.what.contains(&channel(r)));
    assert!(all(&up) != all(&down), "{}", refusal.what);
    assert!(refusal.help.contains("allow_dependency_cycle"), "{}", refusal.help);
}

/// Checks that `needed` VCs on links of link class `class` are accepted, and that one VC less is refused. The message of the refusal must
/// contain the needed number.
fn check_vcs(topology: &str, routing: &str, class: usize, needed: u8) {
    let mut spec = spec(topology, routing);
    spec.links[class].vcs = needed;
    assert_eq!(imply(&spec).unwrap().vc_classes[class], needed);
    spec.links[class].vcs = needed - 1;
    let refusal = imply(&spec).unwrap_err();
    assert_eq!(refusal.path, format!("links.{}.vcs", spec.graph.class_names()[class]));
    assert!(refusal.what.contains(&format!("needs {needed} VC classes")), "{}", refusal.what);
    assert!(refusal.help.contains(&format!("at least {needed}")), "{}", refusal.help);
}

#[test]
fn too_few_vcs_are_refused_naming_the_number_needed() {
    check_vcs(TORUS, DOR, 1, 2); // one class before and one after the dateline
    check_vcs(TORUS, BUBBLE, 1, 1); // packets that enter a ring and packets that move on share their VCs
    check_vcs(TORUS, VALIANT, 2, 4); // the same classes in two phases
    check_vcs(HYPERX, MINIMAL, 1, 2); // one class per hop
    check_vcs(HYPERX, UGAL_P, 2, 2); // one class to the intermediate, one to the destination
    check_vcs(MESH, UGAL, 1, 2); // one class for each of two phases
    check_vcs(DRAGONFLY, DF_MINIMAL, 1, 2); // one class before and one after the global link
    check_vcs(DRAGONFLY, DF_UGAL, 1, 3); // classes before, between and after two global links
    check_vcs(DRAGONFLY, DF_UGAL, 2, 2);
    check_vcs(DRAGONFLY, DF_VALIANT_ROUTER, 1, 4); // in addition, classes on both sides of the intermediate
}

// ---- deadlock -------------------------------------------------------------------------------------------------------

/// A spec that deadlocks: a ring without dateline at full load. Every packet goes two hops up (tornado on 5: ceil(5 / 2) - 1 = 2), so
/// channels fill with packets that all need the next channel.
fn deadlocking() -> Spec {
    let mut spec = spec(RING, NO_DATELINE);
    spec.allow_dependency_cycle = true;
    pattern(&mut spec, TORNADO);
    queues(&mut spec, 1, 1);
    spec.set_load(1.0);
    phases(&mut spec, 1000, 50_000);
    spec.phases.stall_limit = 2000;
    spec
}

/// Checks that a run ends as stalled soon after the stall limit, and reports a closed cycle of waiting packets.
fn check_stalls(spec: &Spec, how: Execution) -> Vec<String> {
    let out = run_as(spec, how);
    let Ending::Stalled(stall) = &out.ending else { panic!("ended as {:?}", out.ending) };
    // the network deadlocks within a few hundred cycles; the run notices this after the stall limit, and checks every 1,024 cycles
    assert!(out.cycles < 5000 + spec.phases.stall_limit + 2 * 1024, "{} cycles", out.cycles);
    assert!(stall.wait_for.len() >= 2 && stall.packets >= stall.wait_for.len() as u64, "{stall:?}");
    // each packet is in the queue for which the previous packet waits; it waits for a queue at the far end of a link of its router
    for (k, waiting) in stall.wait_for.iter().enumerate() {
        let next = &stall.wait_for[(k + 1) % stall.wait_for.len()];
        assert_eq!(waiting.cause.queue(), Some(next.at), "{:?}", stall.wait_for);
        if let Cause::NoRoom { port, to } = waiting.cause {
            let far = weft_topology::Peer::Router { router: to.router, port: to.port };
            assert_eq!(spec.graph.ports(waiting.at.router)[port as usize].peer, far);
        }
    }
    stall.wait_for.iter().map(|waiting| waiting.in_words(&spec.graph)).collect()
}

#[test]
fn a_ring_without_dateline_deadlocks_and_says_so() {
    let lines = check_stalls(&deadlocking(), ONE);
    assert_eq!(lines.len(), 5, "one packet in each channel of the ring: {lines:?}");
    // ports 0 and 1 are for the two terminals; port 2 leads up, and packets that go up arrive at port 3
    let room = " in router 1 port 3 VC 0 waits for room behind its link 1 -> 2 (output 2) in router 2 port 3 VC 0";
    assert!(lines[0].starts_with("packet ") && lines[0].ends_with(room), "{lines:?}");
}

#[test]
fn worms_deadlock_too() {
    let mut spec = deadlocking();
    packets(&mut spec, 8, Wormhole, 2);
    check_stalls(&spec, ONE);
}

#[test]
fn worms_that_hold_the_switch_are_refused_since_they_deadlock() {
    let mut spec = spec(MESH, VALIANT);
    packets(&mut spec, 6, Wormhole, 1);
    spec.router.hold_switch = true;
    assert_eq!(imply(&spec).unwrap_err().path, "router.hold_switch");
    // an output that holds the switch blocks both phases of Valiant; it thereby connects the VC classes that separate the phases
    spec.allow_dependency_cycle = true;
    spec.set_load(1.0);
    phases(&mut spec, 1000, 50_000);
    spec.phases.stall_limit = 2000;
    check_stalls(&spec, ONE);
}

#[test]
fn a_deadlock_is_the_same_in_any_number_of_blocks() {
    let spec = deadlocking();
    let (one, five) = (run(&spec), run_as(&spec, Execution::new(2, 5)));
    assert_eq!(packet_numbers(&one), packet_numbers(&five));
    assert_eq!(check_stalls(&spec, ONE).len(), check_stalls(&spec, Execution::new(2, 5)).len());
}

#[test]
fn the_dateline_cures_the_ring() {
    let mut spec = deadlocking();
    spec.routing = routing(DOR);
    spec.allow_dependency_cycle = false;
    queues(&mut spec, 2, 1);
    phases(&mut spec, 1000, 10_000);
    assert_eq!(run(&spec).ending, Ending::Saturated);
}

// ---- bubbles --------------------------------------------------------------------------------------------------------

/// A spec of a ring of four routers at full load, with buffers for two packets. Terminals send to their own router or half way round the
/// ring.
fn half_way_round(routing_json: &str, flits: u32) -> Spec {
    let mut spec = spec(r#"{"torus": {"widths": [4], "terminals_per_router": 2}}"#, routing_json);
    pattern(&mut spec, r#"{"asymmetric": {}}"#);
    packets(&mut spec, flits, VirtualCutThrough, 2 * flits);
    spec.links.iter_mut().for_each(|link| (link.latency, link.credit_latency, link.vcs) = (1, 1, 1));
    spec.set_load(1.0);
    phases(&mut spec, 1000, if all_cases() { 400_000 } else { 40_000 });
    spec.phases.stall_limit = 2000;
    spec
}

#[test]
fn a_ring_that_keeps_a_bubble_does_not_stall_where_one_that_does_not_stalls() {
    for flits in [1, 2, 5] {
        for variant in [(1, 0, 1), (1, 0, 2), (1, 1, 1)] {
            let mut spec = half_way_round(BUBBLE, flits);
            router(&mut spec, variant);
            let out = run(&spec);
            assert_eq!(out.ending, Ending::Saturated, "{flits} flits, {variant:?}");
            assert!(accepted(&out) > 0.1, "{flits} flits, {variant:?}: {}", accepted(&out));
            // this routing needs space for only one packet, for entering the ring and for moving on
            spec.routing = routing(NO_DATELINE);
            spec.allow_dependency_cycle = true;
            check_stalls(&spec, ONE);
        }
    }
}

// ---- accepted routings never stall ----------------------------------------------------------------------------------

/// Runs 2,000 cycles (100,000 in `make test-all`) at full load, with the smallest permitted numbers of VCs and sizes of buffers.
fn check_never_stalls(mut spec: Spec, flits: u32, flow_control: FlowControl, hold_switch: bool) {
    let what = format!("{:?} on {:?}, {flits} flits", spec.routing, spec.graph.topology_name());
    packets(&mut spec, flits, flow_control, 1);
    spec.router.hold_switch = hold_switch;
    let classes = imply(&spec).expect("a legal pair").vc_classes;
    mark_checked(&mut spec);
    spec.links.iter_mut().zip(classes).for_each(|(link, needed)| link.vcs = needed);
    for link in &mut spec.links {
        (link.latency, link.credit_latency) = (1, 1);
    }
    spec.set_load(1.0);
    let cycles = if all_cases() { 100_000 } else { 2000 };
    phases(&mut spec, 1000, cycles - 1000);
    spec.phases.stall_limit = 1000;
    // no part of the network is stuck either, because `run` searches for packets that can never move if a run is saturated
    let out = run(&spec);
    let what = format!("{what}: {:?}", out.ending);
    assert!(matches!(out.ending, Ending::Saturated | Ending::Drained), "{what}");
    // worms in a chain of 1-flit buffers are slow: one flit per credit loop of 4 cycles, over several hops and phases
    assert!(accepted(&out) > 0.02, "{what}, accepted {}", accepted(&out));
}

#[test]
fn worms_that_may_not_reach_their_escape_are_refused() {
    let mut spec = spec(TORUS, ADAPTIVE_STAYS);
    spec.router.flow_control = Wormhole;
    assert!(imply(&spec).is_ok(), "packets of one flit are no worms");
    spec.set_packet(5);
    assert_eq!(imply(&spec).expect_err("they could deadlock").path, "router.flow_control");
}

/// Number of flits of a packet, flow control, and whether a packet holds the switch.
const PACKETS: [(u32, FlowControl, bool); 3] =
    [(1, VirtualCutThrough, false), (6, VirtualCutThrough, true), (6, Wormhole, false)];

#[test]
fn tiny_buffers_never_stall_any_pair() {
    for (turn, pair) in half_of_pairs(1) {
        for &(flits, flow_control, hold_switch) in in_turn(turn, &PACKETS) {
            check_never_stalls(pair.spec(), flits, flow_control, hold_switch);
        }
    }
}

#[test]
fn tiny_buffers_never_stall_tori_on_which_half_of_a_ring_is_a_tie() {
    for routing in [DOR, ENTRY, BUBBLE, UGAL, ADAPTIVE] {
        for (flits, flow_control, hold_switch) in PACKETS {
            check_never_stalls(spec(TORUS_4X4, routing), flits, flow_control, hold_switch);
        }
    }
}
