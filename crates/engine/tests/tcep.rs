//! Tests of TCEP: the links that it switches, when it switches them, and its guarantees.

use crate::common::*;
use proptest::prelude::*;
use std::collections::HashSet;
use weft_engine::power::LinkState;
use weft_engine::spec::{Execution, FlowControl};
use weft_engine::{Outcome, Simulation, Spec};

const TORNADO_AND_UNIFORM: [&str; 2] = [TORNADO, UNIFORM_SELF];
/// Parameters with short epochs for small networks. A deactivation epoch consists of 4 activation epochs.
const QUICK: &str = r#""activation_epoch": "250cycles", "deactivation_epoch": "1000cycles", "wake": "120cycles""#;

fn tcep(spec: &mut Spec, keys: &str) {
    policy(spec, &format!(r#"{{"tcep": {{{keys}}}}}"#));
}

/// Mean share of the managed channels that were not off.
fn share_on(spec: &Spec, out: &Outcome) -> f64 {
    let managed = || out.channels.iter().filter(|c| spec.managed[usize::from(c.class)]);
    let off: u64 = managed().map(|c| c.cycles[LinkState::Off]).sum();
    1.0 - off as f64 / (managed().count() as u64 * out.window) as f64
}

// ---- states after settling ------------------------------------------------------------------------------------------

#[test]
fn without_switching_it_is_always_on_to_the_last_bit() {
    for pattern_json in TORNADO_AND_UNIFORM {
        let [none, always_on] = [true, false].map(|managed| {
            let mut spec = butterfly(PAL_HISTORY);
            if managed {
                tcep(&mut spec, &format!(r#"{QUICK}, "initial": "all_on", "deactivate": false"#));
            }
            pattern(&mut spec, pattern_json);
            spec.set_load(0.6);
            phases(&mut spec, 250, 1000);
            run(&spec)
        });
        assert_same(&none, &always_on, pattern_json);
        assert_eq!(none.control.as_ref().expect("agents").packets.iter().sum::<u64>(), 0);
    }
}

/// 16 routers in a row at load 0.6: tests which links are on, under each rule that selects the links that may go off.
#[test]
fn links_that_are_used_alike_are_fewer_from_a_demand_on() {
    let settled = (40_000, 5000);
    // below the demand both are Algorithm 1, which a few deactivation epochs show
    let begun = (4000, 2000);
    let cases = [("outer", settled), ("even", settled), ("outer", begun), ("never", begun)];
    let [outer, even, soon, never] = cases.map(|(choice, (warmup, window))| {
        let mut spec = spec(r#"{"hyperx": {"widths": [16], "terminals_per_router": 16}}"#, PAL_HISTORY);
        let spares = match choice {
            "outer" => r#"{"outer": {}}"#,
            "even" => r#"{"even": {}}"#,
            // this demand is more than a router can send to each of the others
            _ => r#"{"even": {"from": 0.99}}"#,
        };
        tcep(&mut spec, &format!(r#"{QUICK}, "initial": "all_on", "high_water": 0.95, "spares": {spares}"#));
        for link in &mut spec.links[1..] {
            (link.latency, link.credit_latency) = (3, 3);
        }
        spec.set_load(0.6);
        phases(&mut spec, warmup, window);
        let out = run(&spec);
        check_channels(&out);
        assert_eq!((out.missing_packets, out.sums.flits), (0, out.offered_flits));
        (share_on(&spec, &out), out)
    });
    assert!(soon.0 < 1.0);
    assert_same(&soon.1, &never.1, "below the demand it is Algorithm 1");
    assert!(even.0 < outer.0 - 0.01 && outer.0 < 0.95, "{} and {}", even.0, outer.0);
}

#[test]
fn at_low_load_it_stays_at_least_power() {
    let mut spec = butterfly(PAL_HISTORY);
    tcep(&mut spec, "");
    spec.set_load(0.01);
    phases(&mut spec, 0, 25_000);
    let out = run(&spec);
    check_channels(&out);
    assert_eq!(share_on(&spec, &out), 112.0 / 448.0);
    assert_eq!(out.control.as_ref().expect("agents").packets.iter().sum::<u64>(), 0);
    let t0 = 11.0 * 3.0625 * 512.0 / 511.0 + 4.0;
    let mean = out.sums.latency as f64 / out.sums.packets as f64;
    assert!(mean > t0 - 0.3 && mean < t0 + 0.5, "{mean} {t0}");
}

#[test]
fn from_all_on_it_comes_down_to_least_power() {
    let mut spec = spec(r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 2}}"#, PAL);
    tcep(&mut spec, &format!(r#"{QUICK}, "initial": "all_on""#));
    spec.set_load(0.02);
    phases(&mut spec, 60_000, 4000);
    let out = run(&spec);
    check_channels(&out);
    // in rows of 4 routers, 3 of 6 links are on; in columns of 3 routers, 2 of 3
    assert_eq!(share_on(&spec, &out), f64::from(3 * 3 + 4 * 2) / f64::from(3 * 6 + 4 * 3));
}

#[test]
fn at_high_load_the_links_come_on_and_carry_what_always_on_does() {
    let mut spec = spec(r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}"#, PAL);
    spec.set_load(0.75);
    phases(&mut spec, 15_000, 3000);
    let always_on = run(&spec);
    tcep(&mut spec, QUICK);
    let out = run(&spec);
    check_channels(&out);
    assert!(share_on(&spec, &out) > 0.9, "{}", share_on(&spec, &out));
    let (accepted, bar) = (accepted(&out), accepted(&always_on));
    assert!(accepted > 0.97 * bar, "{accepted} {bar}");
}

// ---- messages -------------------------------------------------------------------------------------------------------

/// A spec of one row of `routers` routers with 4 terminals each, under tornado traffic. Only the terminals of the `senders`, pairs (router,
/// load), send. In rows of 3 or 4 routers, they send to the next router.
fn row(routers: u32, senders: &[(u32, f64)], keys: &str) -> Spec {
    let topology_json = format!(r#"{{"hyperx": {{"widths": [{routers}], "terminals_per_router": 4}}}}"#);
    let mut spec = spec(&topology_json, PAL);
    tcep(&mut spec, &format!("{QUICK}{keys}"));
    pattern(&mut spec, TORNADO);
    spec.set_load(0.0);
    for &(router, load) in senders {
        (0..4).for_each(|k| spec.set_load_of(4 * router + k, load));
    }
    record_control_packets(&mut spec, 10_000);
    record_link_states(&mut spec, 10_000);
    phases(&mut spec, 0, 4001);
    spec
}

/// The control packets as text, with one line for each packet.
fn said(out: &Outcome) -> Vec<String> {
    let (packets, complete) = control_packets(out);
    assert!(complete);
    let word = |p: &Said| {
        let about = p.about.map_or(String::new(), |about| format!(" {about}"));
        let flag = if p.kind == "state" && p.flag { " active" } else { "" };
        let kind = &p.kind;
        format!("{} {}>{} {kind}{about}{flag}", p.cycle, p.from, p.to)
    };
    packets.iter().map(word).collect()
}

/// Changes of the channels between routers `a` and `b`: sending router, new state, and cycle.
fn changes(out: &Outcome, a: u32, b: u32) -> Vec<(u32, LinkState, u64)> {
    let mut all = Vec::new();
    for span in link_states(out).spans {
        let c = &out.channels[span.channel as usize];
        if (c.from, c.to) == (Some(a), Some(b)) || (c.from, c.to) == (Some(b), Some(a)) {
            all.push((c.from.expect("a router"), span.state, span.from));
        }
    }
    all.sort_by_key(|&(from, _, at)| (at, from));
    all
}

/// The lines whose cycles are in the range `cycles`.
fn said_in(lines: &[String], cycles: std::ops::Range<u64>) -> Vec<&str> {
    let cycle = |line: &str| line.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
    lines.iter().map(String::as_str).filter(|line| cycles.contains(&cycle(line))).collect()
}

#[test]
fn a_router_that_sends_round_activates_its_direct_link() {
    let out = run(&row(3, &[(1, 0.9)], ""));
    let states = ["642 1>0 state 2 active", "642 1>2 state 2 active"];
    assert_eq!(said(&out), [&["250 1>2 activate", "500 2>1 ack"][..], &states].concat());
    // the request goes over the hub, where it may have to wait for a flit; the new link may not carry the first control packet about itself
    let (packets, _) = control_packets(&out);
    let hops: Vec<_> = packets.iter().map(|packet| packet.arrival.expect("came").1).collect();
    assert_eq!(hops, [2, 2, 1, 1]);
    assert_eq!(packets[1].arrival, Some((522, 2)));
    assert!(packets[0].value.expect("of a request") > 0 && packets[1..].iter().all(|packet| packet.value.is_none()));
    // the answer goes over the hub: 2 links of 10 cycles and 2 routers of 1 cycle. Then each end wakes for 120 cycles, and 11 cycles pass
    // on the side channel
    let (waking, on) = (LinkState::Waking, LinkState::On);
    let off = [(1, LinkState::Off, 0), (2, LinkState::Off, 0)];
    let up = [(2, waking, 500), (1, waking, 522), (1, on, 642), (2, on, 653)];
    assert_eq!(changes(&out, 1, 2), [&off[..], &up].concat());
}

#[test]
fn a_worm_asks_for_its_direct_link_in_every_epoch_in_which_it_is_under_way() {
    let mut spec = row(3, &[], "");
    packets(&mut spec, 2000, FlowControl::Wormhole, 32);
    spec.set_load_of(4, 0.5);
    // the head leaves so late in the first epoch that the utilisation of the link to the hub is not above the high-water mark (187 flits)
    while !matches!(creations(&spec, 4)[..], [first, ref later @ ..] if (100..200).contains(&first) && later.first() > Some(&3000))
    {
        spec.seed += 1;
    }
    let out = run(&spec);
    let (packets, _) = control_packets(&out);
    let first = &packets[0];
    assert_eq!((first.cycle, first.from, first.to, &*first.kind), (500, 1, 2, "activate"));
    // in the second epoch, one flit crosses in each cycle
    assert_eq!(first.value, Some(250));
    assert_eq!(said_in(&said(&out), 501..900), ["750 2>1 ack", "892 1>0 state 2 active", "892 1>2 state 2 active"]);
}

#[test]
fn two_routers_that_both_ask_agree_and_drain_and_a_packet_takes_the_shadow_link_back() {
    let idle = row(3, &[], r#", "initial": "all_on""#);
    let mut calm = idle.clone();
    calm.set_load(0.05);
    let out = run(&calm);
    // the request of the lower end becomes invalid
    let states = ["2000 1>0 state 2", "2000 1>2 ack", "2000 1>2 state 2"];
    assert_eq!(said(&out), [&["1000 1>2 deactivate", "1000 2>1 deactivate"][..], &states].concat());
    let [shadow, draining, off] = [LinkState::Shadow, LinkState::Draining, LinkState::Off];
    let down = [(1, shadow, 2000), (2, shadow, 2024), (1, draining, 3000), (2, draining, 3000)];
    assert_eq!(changes(&out, 1, 2)[2..6], down);
    assert_eq!(changes(&out, 1, 2)[6..], [(1, off, 3012), (2, off, 3012)]);
    let mut sudden = idle;
    steps(&mut sudden, &[0.02, 0.9], 2300);
    let lines = said(&run(&sudden));
    let later = said_in(&lines, 2300..3000);
    assert_eq!(later.iter().filter(|line| line.ends_with("reactivate")).count(), 1, "{later:?}");
}

#[test]
fn a_router_agrees_to_one_request_and_the_other_asker_withdraws() {
    let lines = said(&run(&row(4, &[(1, 0.6), (2, 0.4)], "")));
    // router 2 agrees with router 1, because router 1 needs the link more than router 2 needs its own link to 3. Router 3 has already
    // agreed to that link
    let first = ["250 1>2 activate", "250 2>3 activate", "500 2>1 ack", "500 3>2 ack", "522 2>3 withdraw"];
    assert_eq!(lines[..5], first);
    let next = said_in(&lines, 750..1100);
    assert_eq!(next, ["750 1>3 activate", "750 2>3 activate", "1000 3>1 nack", "1000 3>2 ack"]);
}

#[test]
fn a_router_asks_another_for_a_link_that_it_has_not() {
    let lines = said(&run(&row(4, &[(1, 1.0)], "")));
    // router 1 requests its direct link, then its link to 3, and then the link from 3 to 2
    let asked: Vec<&str> = lines.iter().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
    let order =
        ["1>2 activate", "1>3 activate", "1>3 activate_yours 2", "3>2 activate", "2>3 ack", "2>1 state 3 active"];
    let places: Vec<_> = order.iter().map(|what| asked.iter().position(|line| line == what)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{lines:?}");
}

#[test]
fn the_hub_moves_when_the_next_star_is_up() {
    let mut spec = row(4, &[], r#", "rotate_hub": 2"#);
    spec.set_load(0.01);
    let out = run(&spec);
    let lines = said(&out);
    assert_eq!(said_in(&lines, 0..2600), ["2250 1>2 activate", "2500 2>1 ack"]);
    assert_eq!(said_in(&lines, 4000..4001), ["4000 1>0 hub", "4000 1>2 hub", "4000 1>3 hub"]);
    check_channels(&out);
    assert_drained(&out);
}

// ---- in every run ---------------------------------------------------------------------------------------------------

/// Checks that each packet has arrived, except packets that were sent near the end. Also checks that a packet takes at least the latency of
/// its links plus a cycle in each router on its path.
fn check_arrivals(spec: &Spec, out: &Outcome) {
    let (packets, _) = control_packets(out);
    for packet in &packets {
        let Some((cycle, hops)) = packet.arrival else {
            assert!(out.cycles - packet.cycle < 1000, "{packet:?}");
            continue;
        };
        let class = spec.graph.class_names().iter().position(|name| *name == packet.link_class).expect("a class");
        let least = (spec.links[class].latency + 1) * hops;
        assert!(hops > 0 && cycle - packet.cycle >= least, "{packet:?}");
    }
}

#[test]
fn every_link_that_a_control_packet_crosses_is_counted() {
    let mut spec = row(4, &[(1, 1.0)], "");
    record_control_packets(&mut spec, 10_000);
    let out = run(&spec);
    let (packets, complete) = control_packets(&out);
    // packets in flight at the end of the run have also crossed links
    let (sent, crossed) =
        (packets.len() as u64, packets.iter().filter_map(|p| p.arrival).map(|(_, hops)| hops).sum::<u64>());
    let control = out.control.as_ref().expect("agents");
    let away = packets.iter().filter(|packet| packet.arrival.is_none()).count() as u64;
    assert!(complete && sent == control.packets.iter().sum::<u64>());
    assert!(crossed <= control.flit_hops && control.flit_hops <= crossed + 2 * away, "{crossed} {control:?} {away}");
    check_arrivals(&spec, &out);
}

#[test]
fn the_same_on_any_number_of_blocks_and_threads() {
    let cases = [("", 0.9), (r#", "phase": "random", "initial": "all_on""#, 0.2), (r#", "tables": "delayed""#, 0.5)];
    for (case, (keys, load)) in cases.into_iter().enumerate() {
        let mut spec = spec(r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}"#, PAL_HISTORY);
        tcep(&mut spec, &format!("{QUICK}{keys}"));
        pattern(&mut spec, TORNADO);
        spec.set_load(load);
        phases(&mut spec, 1000, 5000);
        record_control_packets(&mut spec, 100_000);
        let alone = run(&spec);
        assert!(alone.control.as_ref().expect("agents").flit_hops > 0);
        check_arrivals(&spec, &alone);
        for &(threads, blocks) in in_turn(case, &[(1, 2), (2, 4), (2, 16)]) {
            let other = run_as(&spec, Execution::new(threads, blocks));
            assert_same(&alone, &other, &format!("{keys}, {blocks} blocks"));
            assert_eq!(control_packets(&alone), control_packets(&other));
        }
    }
}

#[test]
fn timers_that_end_together_do_so_in_one_order() {
    // with 64 routers, a requesting router wakes 22 cycles after the end of an epoch, and its link is on at the end of the next epoch
    let mut spec = spec(r#"{"hyperx": {"widths": [8, 8], "terminals_per_router": 2}}"#, PAL);
    tcep(&mut spec, r#""activation_epoch": "500cycles", "deactivation_epoch": "1000cycles", "wake": "478cycles""#);
    pattern(&mut spec, TORNADO);
    spec.set_load(0.8);
    phases(&mut spec, 500, 2000);
    let alone = run(&spec);
    for blocks in [2, 8, 64] {
        assert_same(&alone, &run_as(&spec, Execution::new(1, blocks)), &format!("{blocks} blocks"));
    }
}

#[test]
fn broadcasts_in_a_wide_row_with_small_buffers_lose_nothing() {
    let mut spec = spec(r#"{"hyperx": {"widths": [32], "terminals_per_router": 1}}"#, PAL);
    queues(&mut spec, 2, 2);
    spec.links.iter_mut().for_each(|link| (link.latency, link.credit_latency) = (1, 1));
    tcep(
        &mut spec,
        r#""activation_epoch": "400cycles", "deactivation_epoch": "400cycles", "wake": "50cycles", "initial": "all_on""#,
    );
    spec.set_load(0.2);
    phases(&mut spec, 0, 8000);
    let out = run(&spec);
    check_channels(&out);
    assert!(out.control.as_ref().expect("agents").flit_hops > 100);
}

/// Checks that the stars around the hubs are on in these states, so that all routers can reach each other.
fn check_connected(spec: &Spec, states: &[(u32, u32, u32, LinkState)]) {
    let on: HashSet<(u32, u32)> = states.iter().filter(|s| s.3 == LinkState::On).map(|s| (s.0, s.2)).collect();
    let (mut seen, mut open) = (HashSet::from([0]), vec![0]);
    while let Some(at) = open.pop() {
        for &(from, to) in &on {
            if from == at && on.contains(&(to, from)) && seen.insert(to) {
                open.push(to);
            }
        }
    }
    assert_eq!(seen.len() as u32, spec.graph.routers());
}

const SMALL: [&str; 7] = [
    r#"{"hyperx": {"widths": [16], "terminals_per_router": 2}}"#,
    r#"{"hyperx": {"widths": [2], "terminals_per_router": 3}}"#,
    r#"{"hyperx": {"widths": [7], "terminals_per_router": 3}}"#,
    r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 2}}"#,
    r#"{"hyperx": {"widths": [5, 1, 2], "terminals_per_router": 2}}"#,
    r#"{"hyperx": {"widths": [3, 3, 3], "terminals_per_router": 1}}"#,
    DRAGONFLY,
];

proptest! {
    #![proptest_config(ProptestConfig { cases: rounds(24) as u32, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_all_stay_connected_over_load_steps(
        topology_json in prop::sample::select(&SMALL[..]),
        adverse in any::<bool>(),
        loads in prop::collection::vec(0.0..1.0f64, 4),
        (epoch, ratio, wake) in (300u64..600, 1u64..6, 1u64..300),
        hub in 0u8..2,
        (random, all_on, short_shadow, delayed, printed) in any::<(bool, bool, bool, bool, bool)>(),
        flits in prop::sample::select(vec![1u32, 5]),
        rotate in 0u32..4,
        (even, outgoing, unguarded, history) in any::<(bool, bool, bool, bool)>(),
        seed in 1u64..1000,
    ) {
        let mut spec = spec(topology_json, if history { PAL_HISTORY } else { PAL });
        spec.seed = seed;
        let pick = |choice: bool, yes: &'static str, no: &'static str| if choice { yes } else { no };
        tcep(&mut spec, &format!(
            r#""activation_epoch": "{epoch}cycles", "deactivation_epoch": "{}cycles", "wake": "{wake}cycles", "hub": {hub},
            "phase": "{}", "initial": "{}", "shadow": "{}", "tables": "{}", "algorithm": "{}", "rotate_hub": {rotate},
            "spares": {}, "utilisation": "{}", "guard": {}"#,
            epoch * ratio,
            pick(random, "random", "together"), pick(all_on, "all_on", "root"),
            pick(short_shadow, "activation_epoch", "deactivation_epoch"),
            pick(delayed, "delayed", "broadcast"), pick(printed, "printed", "corrected"),
            pick(even, r#"{"even": {"from": 0.01, "target": 0.5}}"#, r#"{"outer": {}}"#), pick(outgoing, "outgoing", "larger"), !unguarded,
        ));
        if spec.graph.structure().groups.is_some() {
            spec.managed[2] = false;
        }
        if adverse && spec.graph.structure().grid.is_some() {
            pattern(&mut spec, TORNADO);
        }
        packets(&mut spec, flits, FlowControl::VirtualCutThrough, 8);
        steps(&mut spec, &loads, 1500);
        phases(&mut spec, 0, 1_000_000);
        let mut sim = Simulation::new(&spec, ONE).expect("a network");
        let mut before = Vec::new();
        while sim.now() < 6000 {
            sim.advance(sim.now() + 7);
            let states = sim.link_states();
            if states != before {
                check_connected(&spec, &states);
                before = states;
            }
        }
        sim.stop_sources();
        drain(&mut sim, 60_000, "tcep");
        phases(&mut spec, 0, sim.now());
        let out = sim.run(&spec, &());
        prop_assert_eq!(out.missing_packets, 0);
        check_channels(&out);
    }
}

/// Sets the loads `loads` one after the other, each for `length` cycles.
fn steps(spec: &mut Spec, loads: &[f64], length: u64) {
    let job = &mut spec.traffic.jobs[0];
    let first = job.phases[0].clone();
    let phase = |(k, &load): (u64, &f64)| {
        let mut phase = first.clone();
        phase.from = k * length;
        phase.load.fill(load);
        phase
    };
    job.phases = (0..).zip(loads).map(phase).collect();
}

// ---- refused --------------------------------------------------------------------------------------------------------

#[test]
fn what_it_cannot_manage_is_refused_with_the_place_and_a_way_out() {
    let on_butterfly = |keys: &str| {
        let mut spec = butterfly(PAL);
        tcep(&mut spec, keys);
        weft_engine::check(&spec).expect_err(keys)
    };
    for (keys, path, says) in [
        (r#""high_water": 0.0"#, "high_water", "between 0 and 1"),
        (r#""high_water": 1.0"#, "high_water", "between 0 and 1"),
        (r#""hub": 8"#, "hub", "8 routers"),
        (r#""wake": "1001cycles""#, "activation_epoch", "shorter than the wake-up delay of 1001"),
        (r#""wake": "0cycles""#, "wake", "0 cycles"),
        (r#""activation_epoch": "100cycles", "wake": "10cycles""#, "activation_epoch", "over the hub"),
        (r#""deactivation_epoch": "10500cycles""#, "deactivation_epoch", "not a multiple"),
        (r#""deactivation_epoch": "2000000000000cycles""#, "deactivation_epoch", "32 bits"),
    ] {
        let refusal = on_butterfly(keys);
        assert_eq!(refusal.path, format!("power.policy.tcep.{path}"), "{keys}");
        assert!(refusal.what.contains(says) && !refusal.help.is_empty(), "{keys}: {}", refusal.what);
    }
    let refused = |topology_json: &str, routing_json: &str, policy_json: &str, managed: &[bool]| {
        let mut spec = spec(topology_json, routing_json);
        policy(&mut spec, policy_json);
        spec.managed = managed.to_vec();
        weft_engine::check(&spec).expect_err(policy_json)
    };
    const TCEP: &str = r#"{"tcep": {}}"#;
    let all = [false, true, true];
    // the refused cases: a routing that ignores link states, a routing that would never wake links, a network without subnetworks, global
    // links, and no managed links
    let blind = refused(HYPERX, UGAL_P, TCEP, &all);
    assert_eq!((&blind.path[..], blind.what.contains("ugal_p does not read link states")), ("power.policy.tcep", true));
    assert!(["routing: pal", "always_on", "idle_timeout"].iter().all(|name| blind.help.contains(name)), "{blind}");
    let sleepy = refused(HYPERX, PAL, IDLE_TIMEOUT, &all);
    assert_eq!(
        (&sleepy.path[..], sleepy.help.contains("static, tcep or always_on")),
        ("routing.pal", true),
        "{sleepy}"
    );
    assert_eq!(refused(TORUS, DOR, TCEP, &all).path, "power.policy.tcep");
    assert_eq!(refused(DRAGONFLY, PAL, TCEP, &all).path, "power.manages");
    assert_eq!(refused(HYPERX, PAL, TCEP, &[false; 3]).path, "power.manages");
    assert_eq!(refused(HYPERX, PAL, TCEP, &[true; 3]).path, "power.manages");
    let far = refused(HYPERX, PAL, r#"{"static": {"on": {"links": [[0, 1], [0, 5]]}}}"#, &all);
    assert!(far.path.starts_with("power.policy.static.on"), "{far:?}");
}
