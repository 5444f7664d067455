//! Tests trunks whose members go off: the states in each cycle, on which both ends agree, lower limits of the energy, and refusals.

use crate::common::*;
use weft_engine::outcome::{ChannelCount, Ending};
use weft_engine::power::LinkState;
use weft_engine::spec::FlowControl::{VirtualCutThrough, Wormhole};
use weft_engine::spec::{Execution, Fault, Member, Part};
use weft_engine::{Outcome, Spec};
use weft_topology::Peer;

fn sleeps(spec: &mut Spec, parameters: &str) {
    policy(spec, &format!(r#"{{"trunk": {{{parameters}}}}}"#));
}

/// The channels of each trunk, ordered by member.
fn trunks<'a>(spec: &'a Spec, out: &'a Outcome) -> impl Iterator<Item = Vec<&'a ChannelCount>> {
    let first = |router: u32, port: u16| spec.graph.trunk(router, port).first == port;
    (0..spec.graph.routers()).flat_map(move |router| {
        let ports =
            (0..).zip(spec.graph.ports(router)).filter(move |(_, port)| matches!(port.peer, Peer::Router { .. }));
        ports.filter(move |&(number, _)| first(router, number)).map(move |(number, _)| {
            let members = spec.graph.trunk(router, number).members();
            let of = |port: u16| out.channels.iter().find(|c| (c.from, c.from_port) == (Some(router), u32::from(port)));
            members.map(|port| of(port).expect("a channel")).collect()
        })
    })
}

/// Checks that no packet is lost, and that member 0 of every trunk was always on.
#[track_caller]
fn check(spec: &Spec, out: &Outcome, what: &str) {
    assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0), "{what}");
    check_account(spec, out);
    for members in trunks(spec, out) {
        assert_eq!((members[0].cycles[LinkState::On], members[0].transitions), (out.window, 0), "{what}");
        members.iter().for_each(|c| assert_eq!(c.cycles.iter().sum::<u64>(), out.window, "{what}"));
        // the members with the highest numbers go off first, and wake last
        let off: Vec<u64> = members.iter().map(|c| c.cycles[LinkState::Off]).collect();
        assert!(off.is_sorted(), "{what}: {off:?}");
    }
}

#[test]
fn an_idle_trunk_keeps_one_member() {
    for (latency, credit_latency) in [(1, 1), (10, 10), (3, 40)] {
        let mut spec = spec(r#"{"hyperx": {"widths": [2], "terminals_per_router": 1, "trunk_width": 2}}"#, DOR);
        spec.links.iter_mut().for_each(|link| (link.latency, link.credit_latency) = (latency, credit_latency));
        let (window, wake, sleep) = (100, 50, 30);
        sleeps(&mut spec, &format!(r#""window": "{window}ns", "wake": "{wake}ns", "sleep": "{sleep}ns""#));
        spec.set_load(0.0);
        phases(&mut spec, 0, 1000);
        let out = run(&spec);
        let message = credit_latency + spec.router.credit_delay;
        // After its first window, router 1 requests fewer members. Router 0, the leader of the trunk, agrees after its second window and
        // closes its channel of the member. One message latency later router 1 closes its own channel. Another message latency later the
        // leader knows that both channels are drained, and switches its channel off. One message latency later the other end receives the
        // request to do the same. Therefore each channel is closed for two message latencies before it is off.
        for (router, members) in trunks(&spec, &out).enumerate() {
            let on = 2 * window + router as u64 * message;
            let draining = 2 * message + sleep;
            assert_eq!(members[1].cycles, [on, 0, draining, 1000 - on - draining, 0, 0, 0], "router {router}");
            assert_eq!((members[1].transitions, members[1].flits.iter().sum::<u64>()), (2, 0));
        }
        check(&spec, &out, &format!("latencies {latency} and {credit_latency}"));
    }
}

/// Power of the network divided by the power of the reference network, by Section 2 of Andujar et al., JPDC 2019. In this model, links draw
/// 65 % of the power of a switch. A port that is off draws 10 % of the power of an active port. The power of a switch is proportional to
/// its number of ports.
fn network_power(spec: &Spec, out: &Outcome, (reference_ports, reference_routers): (u32, u32)) -> f64 {
    let ports = out.channels.iter().filter(|c| c.from.is_some());
    let on: u64 = ports.map(|c| out.window - c.cycles[LinkState::Off]).sum();
    let all = f64::from(spec.graph.radix() * spec.graph.routers());
    let on = on as f64 / out.window as f64 / all;
    (0.35 + 0.65 * (0.1 + 0.9 * on)) * all / f64::from(reference_ports * reference_routers)
}

/// If one member of each trunk is on, (T + D) of the P ports of a router with T terminals and D trunks draw full power.
#[test]
fn networks_without_traffic_reach_the_floors_of_the_paper() {
    for (widths, dims, terminals, trunk_width, reference, floor) in [
        ("[4, 4]", 2, 4, 4, (7, 64), 0.464),
        ("[4]", 1, 16, 16, (7, 64), 0.272),
        ("[4, 4, 4]", 3, 4, 4, (9, 256), 0.485),
    ] {
        let torus = format!(
            r#"{{"torus": {{"widths": {widths}, "terminals_per_router": {terminals}, "trunk_width": {trunk_width}}}}}"#
        );
        let mut spec = spec(&torus, ADAPTIVE);
        spec.cycle_fs = 1_600_000;
        sleeps(&mut spec, "");
        spec.set_load(0.0);
        // each step takes two windows, one transition and three messages
        phases(&mut spec, (trunk_width - 1) * (2 * 5000 + 1800 + 100), 10_000);
        let out = run(&spec);
        check(&spec, &out, widths);
        let ports = spec.graph.radix();
        let on = f64::from(terminals + 2 * dims) / f64::from(ports);
        let expected = (0.35 + 0.65 * (0.1 + 0.9 * on)) * f64::from(ports * spec.graph.routers())
            / f64::from(reference.0 * reference.1);
        let measured = network_power(&spec, &out, reference);
        assert!((measured - expected).abs() < 1e-12, "{widths}: {measured}, and {expected} in closed form");
        assert!((measured - floor).abs() < 0.001, "{widths}: {measured}");
    }
}

/// Runs with various latencies of links and messages and various transition times. Buffers hold one packet, and members go off and on.
#[test]
fn nothing_is_lost_or_stalls_whatever_the_times() {
    let wide = r#"{"torus": {"widths": [4, 3], "terminals_per_router": 4, "trunk_width": 4}}"#;
    let mut cases_with_waking = 0;
    for (case, (latency, credit_latency)) in [(1, 1), (1, 90), (90, 1), (7, 60)].into_iter().enumerate() {
        for &(window, wake, sleep) in in_turn(case, &[(60, 5, 50), (1, 1, 1), (60, 50, 5)]) {
            let k = case + 3 * wake;
            let mut spec = spec([TRUNKS, wide][k % 2], [ADAPTIVE, ADAPTIVE_STAYS, DOR][k % 3]);
            packets(&mut spec, [1, 5][k / 2 % 2], VirtualCutThrough, 5);
            spec.links.iter_mut().for_each(|link| (link.latency, link.credit_latency) = (latency, credit_latency));
            let per = ["trunk", "member"][k % 2];
            let times = format!(r#""window": "{window}ns", "wake": "{wake}ns", "sleep": "{sleep}ns""#);
            sleeps(
                &mut spec,
                &format!(r#"{times}, "step": {}, "u_on": 0.1, "u_off": 0.02, "per": "{per}""#, 1 + k % 3),
            );
            load_steps(&mut spec, k as u64, 60_000);
            let out = run(&spec);
            let what = format!("latencies {latency} and {credit_latency}, window {window}, wake {wake}, sleep {sleep}");
            check(&spec, &out, &what);
            let switched = |members: Vec<&ChannelCount>| members[1..].iter().all(|c| c.transitions > 0);
            assert!(trunks(&spec, &out).all(switched), "{what}");
            let woke = trunks(&spec, &out).flatten().filter(|c| c.cycles[LinkState::Waking] > 0).count();
            cases_with_waking += usize::from(woke > 0);
        }
    }
    // if messages have a high latency, members go off only in the quiet time at the end
    assert!(cases_with_waking >= 2, "{cases_with_waking}");
}

#[test]
fn worms_get_through_while_members_come_and_go() {
    let mut spec = spec(TRUNKS, DOR);
    packets(&mut spec, 16, Wormhole, 2);
    sleeps(&mut spec, r#""window": "60ns", "wake": "50ns", "sleep": "20ns", "u_on": 0.1, "u_off": 0.04"#);
    load_steps(&mut spec, 3, 60_000);
    let out = run(&spec);
    check(&spec, &out, "worms");
    assert!(trunks(&spec, &out).flatten().any(|c| c.cycles[LinkState::Waking] > 0));
}

#[test]
fn trunks_of_every_topology_sleep_and_wake() {
    for (topology, routing) in [
        (r#"{"mesh": {"widths": [3, 3], "terminals_per_router": 3, "trunk_width": 3}}"#, ADAPTIVE),
        (r#"{"hyperx": {"widths": [3, 3], "terminals_per_router": 4, "trunk_width": 2}}"#, UGAL),
        (r#"{"fat_tree": {"k": 4, "trunk_width": 2}}"#, UP_DOWN_ADAPTIVE),
        (r#"{"k_ary_n_tree": {"k": 3, "n": 3, "trunk_width": 2}}"#, D_MOD_K),
        (
            r#"{"dragonfly": {"routers_per_group": 2, "terminals_per_router": 2, "global_links_per_router": 1, "trunk_width": 2}}"#,
            DF_UGAL,
        ),
        (r#"{"full_mesh": {"routers": 4, "terminals_per_router": 4, "trunk_width": 3}}"#, MINIMAL),
    ] {
        let mut spec = spec(topology, routing);
        packets(&mut spec, 5, VirtualCutThrough, 8);
        sleeps(&mut spec, r#""window": "100ns", "wake": "50ns", "sleep": "30ns", "u_on": 0.4, "u_off": 0.1"#);
        load_steps(&mut spec, 1, 60_000);
        let out = run(&spec);
        check(&spec, &out, topology);
        let asleep = trunks(&spec, &out).flatten().filter(|c| c.cycles[LinkState::Off] > 0).count();
        assert!(asleep > 0, "{topology}");
    }
}

/// As soon as its members are on, a trunk carries the same load as a trunk whose members were always on.
#[test]
fn a_trunk_that_wakes_carries_the_load() {
    let accepted_under = |policy_json: &str| {
        let mut spec = spec(r#"{"torus": {"widths": [5], "terminals_per_router": 4, "trunk_width": 4}}"#, DOR);
        policy(&mut spec, policy_json);
        packets(&mut spec, 8, VirtualCutThrough, 64);
        pattern(&mut spec, NEIGHBOR);
        spec.set_load(0.0);
        let silence = spec.traffic.jobs[0].phases[0].clone();
        let loud = weft_engine::spec::LoadPhase { from: 3000, load: vec![0.9; silence.load.len()], ..silence };
        spec.traffic.jobs[0].phases.push(loud);
        phases(&mut spec, 6000, 6000);
        let out = run(&spec);
        (accepted(&out), trunks(&spec, &out).flatten().map(|c| c.cycles[LinkState::On]).collect::<Vec<_>>())
    };
    let (always, _) = accepted_under(ALWAYS_ON);
    let quick = r#"{"trunk": {"window": "200ns", "wake": "100ns", "sleep": "70ns"}}"#;
    let (woken, _) = accepted_under(quick);
    assert!(always > 0.85 && woken > 0.98 * always, "{woken} and {always}");
}

#[test]
fn what_can_not_work_is_refused_with_a_remedy() {
    let refused = |spec: &Spec| weft_engine::check(spec).expect_err("a refusal");
    let with = |parameters: &str| {
        let mut spec = spec(TRUNKS, DOR);
        sleeps(&mut spec, parameters);
        spec
    };
    for (bad, key, what, good) in [
        (
            r#""u_off": 0.25"#,
            "u_off",
            "0.25 is not below u_on / 2 = 0.5 / 2 = 0.25: 2 members with a utilisation of almost 0.25 become 1 member, whose \
             utilisation is then 0.5",
            r#""u_off": 0.2"#,
        ),
        (
            r#""step": 3"#,
            "u_off",
            "0.2 is not below u_on / 4 = 0.5 / 4 = 0.125: 4 members",
            r#""step": 3, "u_off": 0.1"#,
        ),
        (r#""u_off": 0.0"#, "u_off", "0 is not a share", r#""u_off": 0.01"#),
        (r#""u_on": 1.0"#, "u_on", "1 is not a share", r#""u_on": 0.99"#),
        (r#""step": 0"#, "step", "with a step of 0, no link would ever change", r#""step": 1"#),
        (
            r#""window": "4us""#,
            "window",
            "4us is shorter than a change of a link: wake is 4.16us",
            r#""window": "4.16us""#,
        ),
        (
            r#""ethernet": "1000BASE-T", "window": "8us""#,
            "window",
            "8us is shorter than a change of a link: sleep is 182us",
            r#""ethernet": "1000BASE-T""#,
        ),
        (r#""wake": "0ns""#, "wake", "", r#""wake": "1ns""#),
    ] {
        let refusal = refused(&with(bad));
        assert_eq!(refusal.path, format!("power.policy.trunk.{key}"), "{refusal}");
        assert!(refusal.what.starts_with(what), "{refusal}");
        weft_engine::check(&with(good)).unwrap_or_else(|refusal| panic!("the remedy for {bad}: {refusal}"));
    }
    // a network whose trunks have one member
    let mut narrow = spec(TORUS, DOR);
    sleeps(&mut narrow, "");
    let refusal = refused(&narrow);
    assert!(
        refusal.path == "power.manages" && refusal.help.starts_with("give the trunks more members with trunk_width"),
        "{refusal}"
    );
    let mut some = spec(r#"{"torus": {"widths": [4, 4], "terminals_per_router": 2, "trunk_width": {"dim1": 2}}}"#, DOR);
    sleeps(&mut some, "");
    let refusal = refused(&some);
    assert!(refusal.what.starts_with("dim0: ") && refusal.help.starts_with("write manages: [dim1]"), "{refusal}");
    some.managed = vec![false, false, true];
    assert!(weft_engine::check(&some).is_ok(), "the remedy works");
    // links of terminals
    let mut terminals = with("");
    terminals.managed[0] = true;
    assert_eq!(refused(&terminals).path, "power.manages");
}

/// Each Ethernet standard has a window length that is compatible with its transition times.
#[test]
fn the_times_of_every_standard_fit_together() {
    // two windows, and the longer of the two transitions, in ns
    for (standard, settles) in
        [("100BASE-TX", 2 * 232_000 + 200_000), ("1000BASE-T", 2 * 200_000 + 182_000), ("10GBASE-T", 2 * 8_000 + 4_160)]
    {
        let mut spec = spec(TRUNKS, DOR);
        sleeps(&mut spec, &format!(r#""ethernet": "{standard}""#));
        assert!(weft_engine::check(&spec).is_ok(), "{standard}");
        let period = spec.policy.settling_period(&spec.graph, &spec.modes, spec.cycle_fs);
        assert_eq!(period.expect("sound"), Some(settles), "{standard}");
    }
}

/// With packets of 8 flits, the standard deviation of the utilisation in a window of 5,000 cycles is 0.04 sqrt(u / n). A settled load is at
/// least 3 deviations away from the thresholds. Random variation therefore switches no member in 20 windows.
#[test]
fn a_trunk_keeps_the_members_that_its_load_needs() {
    // 4 terminals share a trunk, so with 4 members the utilisation equals the load. 0.3 is 1.2 flits per cycle. 0.125 is 0.167 with 3
    // members and 0.25 with 2. 0.08 is 0.16 with 2 members and 0.32 with 1. 0.9 is 0.9 with 4 members
    for (load, members) in [(0.9, 4), (0.3, 4), (0.125, 2), (0.08, 1)] {
        let mut spec = spec(r#"{"hyperx": {"widths": [2], "terminals_per_router": 4, "trunk_width": 4}}"#, DOR);
        packets(&mut spec, 8, VirtualCutThrough, 64);
        pattern(&mut spec, NEIGHBOR);
        spec.set_load(load);
        sleeps(&mut spec, r#""window": "5us", "wake": "2.6us", "sleep": "1.8us""#);
        phases(&mut spec, 60_000, 50_000);
        let out = run(&spec);
        for trunk in trunks(&spec, &out) {
            let on: Vec<bool> = trunk.iter().map(|c| c.cycles[LinkState::On] == out.window).collect();
            assert_eq!(on, [0, 1, 2, 3].map(|k| k < members), "load {load}");
            assert!(trunk.iter().all(|c| c.transitions == 0), "load {load}");
        }
    }
}

/// Bursts of 2,000 cycles begin every 7,000 cycles. From the fourth burst on, all members that a trunk needed in earlier bursts are on when
/// a burst begins. Without a forecast, the policy has one member on at that time.
#[test]
fn members_are_on_before_a_burst_that_was_foreseen() {
    const EVERY: u64 = 7000;
    let on_at_bursts = |parameters: &str| {
        let mut spec = spec(r#"{"torus": {"widths": [5], "terminals_per_router": 4, "trunk_width": 4}}"#, DOR);
        packets(&mut spec, 8, VirtualCutThrough, 64);
        pattern(&mut spec, NEIGHBOR);
        let first = spec.traffic.jobs[0].phases[0].clone();
        let phase = |k: u64| {
            let load = if k % 2 == 1 { 0.9 } else { 0.0 };
            let from = k / 2 * EVERY + if k % 2 == 1 { 5000 } else { 0 };
            weft_engine::spec::LoadPhase { from, load: vec![load; first.load.len()], ..first.clone() }
        };
        spec.traffic.jobs[0].phases = (0..13).map(phase).collect();
        sleeps(&mut spec, &format!(r#""window": "200ns", "wake": "100ns", "sleep": "70ns"{parameters}"#));
        record_link_states(&mut spec, 100_000);
        phases(&mut spec, 0, 6 * EVERY + 4000);
        let out = run(&spec);
        check(&spec, &out, parameters);
        let states = link_states(&out);
        assert!(states.complete);
        let on =
            |at: u64| states.spans.iter().filter(|s| s.state == LinkState::On && s.from <= at && at < s.to).count();
        (0..6).map(|k| on(k * EVERY + 5000)).collect::<Vec<_>>()
    };
    // 5 trunks of 4 members in two directions; both directions of a member always have the same state
    let (one_each, all) = (10, 5 * 2 * 4);
    assert_eq!(on_at_bursts(""), [one_each; 6]);
    let foreseen = on_at_bursts(r#", "forecast": true"#);
    assert_eq!(foreseen[..3], [one_each; 3]);
    assert!(foreseen[3..].iter().all(|&on| on == all), "{foreseen:?}");
}

/// A member of a trunk fails for some time, once while terminals send and once in a quiet time. Under every routing the other members carry
/// its packets, so no packet is dropped. If all members except member 0 are off when member 0 fails, another member wakes.
#[test]
fn others_carry_what_a_failed_member_would() {
    let quick = r#"{"trunk": {"window": "200ns", "wake": "100ns", "sleep": "70ns", "u_on": 0.3, "u_off": 0.1}}"#;
    let foresees = &quick.replace("0.1}", r#"0.1, "forecast": true}"#);
    let (at, until) = (6000, 20_000);
    let cases = [(ALWAYS_ON, DOR), (ALWAYS_ON, ADAPTIVE), (quick, DOR), (quick, ADAPTIVE), (foresees, DOR)];
    for (k, (policy_json, routing)) in cases.into_iter().enumerate() {
        for number in [0, 2] {
            let mut spec = spec(r#"{"torus": {"widths": [5], "terminals_per_router": 4, "trunk_width": 4}}"#, routing);
            policy(&mut spec, policy_json);
            packets(&mut spec, 8, VirtualCutThrough, 64);
            load_steps(&mut spec, 5 + k as u64, 0);
            // here the fault is in the quiet time at the beginning, when members are off
            spec.traffic.jobs[0]
                .phases
                .iter_mut()
                .for_each(|phase| phase.from += if phase.from > 0 { 9000 } else { 0 });
            spec.traffic.jobs[0].phases[0].load.fill(0.02);
            phases(&mut spec, 0, 40_000);
            let member = Member { ends: [1, 2], class: None, number };
            spec.faults = vec![Fault { what: Part::Member(member), at, until: Some(until) }];
            record_link_states(&mut spec, 100_000);
            let out = run(&spec);
            let what = format!("{policy_json}, {routing}, member {number}");
            assert_eq!((&out.ending, out.missing_packets, out.dropped_packets), (&Ending::Drained, 0, 0), "{what}");
            check_channels(&out);
            let states = link_states(&out);
            let state = |channel: u32, at: u64| {
                let span = states.spans.iter().find(|s| s.channel == channel && s.from <= at && at < s.to);
                span.expect("a span").state
            };
            let of_link = |c: &ChannelCount| [Some(1), Some(2)].contains(&c.from) && [Some(1), Some(2)].contains(&c.to);
            for (channel, count) in (0..).zip(&out.channels).filter(|(_, count)| of_link(count)) {
                let trunk = spec.graph.trunk(count.from.expect("a router"), count.from_port as u16);
                let own = trunk.members().position(|port| u32::from(port) == count.from_port).expect("a member");
                // packets that hold a VC of the member when it fails cross it first, so it can be on for some cycles
                let is_dark = (at + 200..until).all(|at| state(channel, at) == LinkState::Off);
                assert!(own != usize::from(number) || is_dark, "{what}");
                // a working member must be on after one window and a few transitions
                let first_whole = usize::from(number == 0);
                let stays_on = (at + 1000..until).all(|at| state(channel, at) == LinkState::On);
                assert!(own != first_whole || stays_on, "{what}: member {own}");
            }
            for blocks in [2, 5] {
                let other = run_as(&spec, Execution::new(1, blocks));
                assert!(other.sums == out.sums && link_states(&other) == states, "{what} in {blocks} blocks");
            }
        }
    }
}

#[test]
fn faults_of_members_that_are_not_there_are_refused() {
    let fault =
        |number, at, until| Fault { what: Part::Member(Member { ends: [0, 1], class: None, number }), at, until };
    let refused = |topology: &str, faults: Vec<Fault>| {
        let routing = if topology.contains("dragonfly") { r#"{"dragonfly_minimal": {}}"# } else { DOR };
        let mut spec = spec(topology, routing);
        spec.faults = faults;
        weft_engine::check(&spec)
    };
    let wide = r#"{"torus": {"widths": [4], "terminals_per_router": 1, "trunk_width": 2}}"#;
    let narrow = r#"{"torus": {"widths": [4], "terminals_per_router": 1}}"#;
    // a trunk of two links within a group, and one more link that belongs to the ring
    let rings = r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2,
        "escape_rings": 1, "trunk_width": {"local": 2}}}"#;
    for (topology, faults, key, help) in [
        (narrow, vec![fault(0, 10, None)], "faults.0.member", "remove `member`"),
        (wide, vec![fault(2, 10, None)], "faults.0.member", "write member: 1"),
        (wide, vec![fault(0, 10, None), fault(1, 20, None)], "faults.1.member", "let one of these links work"),
        (rings, vec![fault(1, 10, None)], "faults.0.member", "write `class`, so that `member` names"),
    ] {
        let refusal = refused(topology, faults).expect_err("a refusal");
        assert!(refusal.path == key && refusal.help.starts_with(help), "{refusal}");
    }
    assert!(refused(wide, vec![fault(1, 10, None)]).is_ok());
    assert!(refused(wide, vec![fault(0, 10, Some(20)), fault(1, 20, None)]).is_ok());
    let link = Fault { what: Part::Link([0, 1]), at: 10, until: None };
    assert!(refused(narrow, vec![link]).is_ok() && refused(wide, vec![link]).is_ok());
}
