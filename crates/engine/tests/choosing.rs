//! Tests heads that choose again in every step: ties between hops, trunks, and members of trunks that are off.

use crate::common::*;
use crate::conservation::check_drains;
use weft_engine::outcome::Ending;
use weft_engine::spec::{FlowControl, Rate};
use weft_engine::{Outcome, Spec};

/// Number of flits that router `from` sent on output `port`.
fn sent(out: &Outcome, from: u32, port: u32) -> u64 {
    let channel = out.channels.iter().find(|c| c.from == Some(from) && c.from_port == port).expect("a channel");
    channel.flits.iter().sum()
}

/// A spec in which only terminal 0 sends: one packet every 20 cycles, always to `target`.
fn one_flow(topology: &str, target: u32) -> Spec {
    let mut spec = spec(topology, ADAPTIVE);
    pattern(&mut spec, &format!(r#"{{"hot_spot": {{"targets": [{target}]}}}}"#));
    spec.set_load(0.0);
    spec.set_load_of(0, 0.05);
    phases(&mut spec, 0, 20_000);
    spec
}

/// Checks that `count` is within 5 standard deviations of the mean of `n` fair draws.
#[track_caller]
fn check_fair(count: u64, n: u64) {
    let (count, n) = (count as f64, n as f64);
    assert!((count - n / 2.0).abs() < 5.0 * (n / 4.0).sqrt(), "{count} of {n}");
}

#[test]
fn half_way_round_a_ring_both_ways_are_taken() {
    // port 0 leads to the terminal, port 1 up the ring, port 2 down
    let out = run(&one_flow(r#"{"torus": {"widths": [4], "terminals_per_router": 1}}"#, 2));
    let (up, down) = (sent(&out, 0, 1), sent(&out, 0, 2));
    assert_eq!(up + down, out.sums.packets);
    check_fair(up, up + down);
}

#[test]
fn of_two_dimensions_both_go_first() {
    // terminal 4 is at router (1, 1) of the 3x3 mesh; from router (0, 0) it is one hop up in each dimension (ports 1 and 3)
    let out = run(&one_flow(r#"{"mesh": {"widths": [3, 3], "terminals_per_router": 1}}"#, 4));
    let (x, y) = (sent(&out, 0, 1), sent(&out, 0, 3));
    assert_eq!(x + y, out.sums.packets);
    check_fair(x, x + y);
}

#[test]
fn a_trunk_carries_as_much_as_its_members_together() {
    // 4 terminals of each router send to the router 4 steps up the ring (tornado on 9), so the links of a direction carry 16 flits per
    // cycle at load 1
    let mut spec = spec(r#"{"torus": {"widths": [9], "terminals_per_router": 4, "trunk_width": 4}}"#, DOR);
    pattern(&mut spec, TORNADO);
    spec.links.iter_mut().for_each(|link| (link.vcs, link.buffer) = (8, 64));
    spec.router.speedup = 3;
    phases(&mut spec, 2000, 4000);
    // 97 % of the bound, which is 4 links for 16 flits
    spec.set_load(0.97 * 0.25);
    assert_eq!(run(&spec).ending, Ending::Drained);
    spec.set_load(0.3);
    let out = run(&spec);
    assert!(out.ending == Ending::Saturated && accepted(&out) < 0.25 * 1.005, "{}", accepted(&out));
}

#[test]
fn sleeping_members_of_a_trunk_wake_when_they_are_needed() {
    // 4 terminals send to the next router up the ring, and need 2.8 of the 4 links. Heads request a link that is off when the credits of
    // the other links are used up. The network therefore does not accept all packets while some links are off. The network would accept
    // 0.25 with one link on, and 0.5 with two links
    let mut spec = spec(r#"{"torus": {"widths": [5], "terminals_per_router": 4, "trunk_width": 4}}"#, DOR);
    pattern(&mut spec, NEIGHBOR);
    policy(&mut spec, r#"{"idle_timeout": {"idle": "40ns", "transition": "25ns"}}"#);
    spec.set_load(0.01);
    let mut burst = spec.traffic.jobs[0].phases[0].clone();
    burst.from = 5000;
    burst.load.fill(0.7);
    spec.traffic.jobs[0].phases.push(burst);
    phases(&mut spec, 7000, 5000);
    let out = run(&spec);
    assert!(accepted(&out) > 0.6, "{}", accepted(&out));
}

#[test]
fn a_head_that_must_go_on_over_a_sleeping_link_wakes_it() {
    // After a local misroute, OFAR takes only global links of the router that it reaches. Possibly all global links of that router are off.
    const OFAR: &str = r#"{"dragonfly_ofar": {"trigger": "unavailable", "ring": {"rings": 2, "directions": 1}}}"#;
    for seed in [3, 5, 2437] {
        let mut spec = spec(DRAGONFLY, OFAR);
        packets(&mut spec, 1, FlowControl::VirtualCutThrough, 4);
        policy(&mut spec, IDLE_TIMEOUT);
        for (link, (flits, cycles)) in spec.links.iter_mut().zip([(2, 3), (1, 2), (1, 1)]) {
            link.rate = Rate::new(flits, cycles, "links").expect("a rate");
        }
        spec.set_load(0.02);
        spec.seed = seed;
        check_drains(&mut spec, 1000);
    }
}
