//! Tests TCEP in the groups of a dragonfly, with a routing that decides in every step and escapes into a ring. The tests check the links
//! that TCEP switches, its cost, and that no packet is lost. The dragonflies have the palm-tree arrangement and a physical escape ring.

use crate::common::*;
use proptest::prelude::*;
use weft_engine::power::LinkState;
use weft_engine::spec::{Execution, FlowControl};
use weft_engine::{Outcome, Simulation, Spec, imply};

/// Parameters with short epochs for small networks. A deactivation epoch consists of 4 activation epochs.
const QUICK: &str = r#""activation_epoch": "250cycles", "deactivation_epoch": "1000cycles", "wake": "120cycles""#;
const NEXT: &str = r#"{"group_shift": {"shift": 1}}"#;
const UNIFORM: &str = r#"{"uniform": {}}"#;

/// A spec of a dragonfly with groups of 2h routers, each with h terminals and h global links.
fn dragonfly(h: u32, wires: u32, ofar: &str) -> Spec {
    let topology = format!(
        r#"{{"dragonfly": {{"routers_per_group": {}, "terminals_per_router": {h}, "global_links_per_router": {h},
            "escape_rings": {wires}}}}}"#,
        2 * h
    );
    spec(&topology, &format!(r#"{{"dragonfly_ofar": {{{ofar}}}}}"#))
}

/// Selects the policy TCEP, and makes it manage the links within groups.
fn tcep(spec: &mut Spec, keys: &str) {
    policy(spec, &format!(r#"{{"tcep": {{{keys}}}}}"#));
    spec.managed = spec.graph.class_names().iter().map(|name| name == "local").collect();
}

/// The link class of the links within groups.
fn local(spec: &Spec) -> usize {
    spec.graph.class_names().iter().position(|name| name == "local").expect("links in groups")
}

/// Mean share of the channels within groups that were not off.
fn share_on(spec: &Spec, out: &Outcome) -> f64 {
    let local = local(spec);
    let channels = || out.channels.iter().filter(|c| usize::from(c.class) == local);
    let off: u64 = channels().map(|c| c.cycles[LinkState::Off]).sum();
    1.0 - off as f64 / (channels().count() as u64 * out.window) as f64
}

fn latency(out: &Outcome) -> f64 {
    out.sums.latency as f64 / out.sums.packets as f64
}

// ---- states after settling ------------------------------------------------------------------------------------------

#[test]
fn without_switching_it_is_always_on_to_the_last_bit() {
    for (wires, pattern_json, load) in [(1, NEXT, 0.4), (1, UNIFORM, 0.9), (0, NEXT, 0.4)] {
        let [none, always_on] = [true, false].map(|managed| {
            let mut spec = dragonfly(2, wires, "");
            if managed {
                tcep(&mut spec, r#""initial": "all_on", "deactivate": false"#);
            }
            pattern(&mut spec, pattern_json);
            spec.set_load(load);
            phases(&mut spec, 500, 1500);
            run(&spec)
        });
        assert_same(&none, &always_on, pattern_json);
        assert_eq!(none.control.as_ref().expect("agents").packets.iter().sum::<u64>(), 0);
    }
}

/// At low load only the stars are on: 3 of the 6 links of a group of 4 routers, or 5 of the 15 links of a group of 6.
#[test]
fn at_low_load_groups_keep_their_stars_and_packets_the_latency_of_theory() {
    for (h, least) in [(2, 3.0 / 6.0), (3, 5.0 / 15.0)] {
        let mut spec = dragonfly(h, 1, "");
        tcep(&mut spec, "");
        spec.set_load(0.01);
        phases(&mut spec, 0, 25_000);
        let theory = imply(&spec).expect("a network that can run");
        let out = run(&spec);
        check_channels(&out);
        assert_drained(&out);
        assert!((share_on(&spec, &out) - least).abs() < 1e-9, "{}", share_on(&spec, &out));
        assert_eq!(out.control.as_ref().expect("agents").packets.iter().sum::<u64>(), 0);
        let (mean, alone) = (latency(&out), theory.zero_load_latency.expect("all send"));
        assert!(mean > alone - 0.3 && mean < alone + 1.0, "{mean} {alone}");
        let hops = out.sums.hops as f64 / out.sums.packets as f64;
        assert!((hops - theory.mean_hops.expect("all send")).abs() < 0.1, "{hops} {theory:?}");
    }
}

#[test]
fn from_all_on_groups_come_down_to_their_stars() {
    let mut spec = dragonfly(2, 1, "");
    tcep(&mut spec, &format!(r#"{QUICK}, "initial": "all_on""#));
    spec.set_load(0.02);
    phases(&mut spec, 12_000, 4000);
    let out = run(&spec);
    check_channels(&out);
    assert_drained(&out);
    assert_eq!(share_on(&spec, &out), 0.5);
}

#[test]
fn the_links_that_are_on_follow_the_load_and_nothing_is_carried_less() {
    let loads: [&[f64]; 2] =
        if all_cases() { [&[0.02, 0.2, 0.3, 0.4]; 2] } else { [&[0.02, 0.2, 0.4], &[0.02, 0.3, 0.4]] };
    for (pattern_json, loads) in [UNIFORM, NEXT].into_iter().zip(loads) {
        let mut before = 0.0;
        for &load in loads {
            let [always_on, out] = [false, true].map(|managed| {
                let mut spec = dragonfly(2, 1, "");
                pattern(&mut spec, pattern_json);
                spec.set_load(load);
                phases(&mut spec, 10_000, 3000);
                if managed {
                    tcep(&mut spec, QUICK);
                }
                let out = run(&spec);
                check_channels(&out);
                (share_on(&spec, &out), out)
            });
            let what = format!("{pattern_json} at {load}: {} on", out.0);
            assert_drained(&out.1);
            assert!(out.0 >= before && (load > 0.02 || out.0 == 0.5), "{what}, before {before}");
            before = out.0;
            // a path has at most one more hop, of 12 cycles, in each of two groups; TCEP keeps the load of its links below the high-water
            // mark
            let (slower, bar) = (latency(&out.1), latency(&always_on.1));
            assert!(slower < bar + 24.0, "{what}: {slower} {bar}");
            let (carried, bar) = (accepted(&out.1), accepted(&always_on.1));
            assert!((carried / bar - 1.0).abs() < 0.01, "{what}: {carried} {bar}");
        }
        assert!(before > 0.9, "{pattern_json}: {before} on under load");
    }
}

/// Above saturation all links must be on, and the network must carry the same load as without the policy.
#[test]
fn at_saturation_all_links_are_on() {
    for pattern_json in [UNIFORM, NEXT] {
        let [always_on, out] = [false, true].map(|managed| {
            let mut spec = dragonfly(2, 1, "");
            pattern(&mut spec, pattern_json);
            spec.set_load(1.0);
            phases(&mut spec, 2000, 1000);
            spec.phases.drain_limit = 0;
            if managed {
                tcep(&mut spec, QUICK);
                // four deactivation epochs, after which all links are on
                spec.phases.warmup = 4000;
            }
            let out = run(&spec);
            (share_on(&spec, &out), accepted(&out))
        });
        assert!(out.0 > 0.99 && out.1 > 0.97 * always_on.1, "{pattern_json}: {out:?} {always_on:?}");
    }
}

/// Two terminals of router 1 send a total of 0.84 flits/cycle to router 2, at first all over the hub. The utilisation of the link to the
/// hub is above the high-water mark. Only the direct link would have carried these packets.
#[test]
fn a_link_wakes_for_which_packets_crowd_the_hub() {
    let mut spec = dragonfly(2, 1, "");
    tcep(&mut spec, QUICK);
    pattern(&mut spec, r#"{"router_shift": {"shift": 1}}"#);
    spec.set_load(0.0);
    [2, 3].into_iter().for_each(|terminal| spec.set_load_of(terminal, 0.42));
    phases(&mut spec, 0, 1 << 20);
    let mut sim = Simulation::new(&spec, ONE).expect("a network");
    // number of links of the first group that are on but do not belong to a star
    let woken = |sim: &Simulation| {
        let class_of = |from: u32, port: u32| usize::from(spec.graph.ports(from)[port as usize].class);
        let is_on = |&(from, port, to, state): &(u32, u32, u32, LinkState)| {
            from.max(to) < 4 && from.min(to) > 0 && state == LinkState::On && class_of(from, port) == local(&spec)
        };
        sim.link_states().iter().filter(|link| is_on(link)).map(|&(from, _, to, _)| (from, to)).collect::<Vec<_>>()
    };
    // the traffic of the second epoch is enough, the routers evaluate the request in the next epoch, and the link wakes in 120 cycles
    sim.advance(501);
    assert_eq!(woken(&sim), []);
    sim.advance(1001);
    assert_eq!(woken(&sim), [(1, 2), (2, 1)]);
    // over the hub, a packet passes three routers; after the link is on, only packets whose detour OFAR has chosen do so
    let per_packet = |sim: &mut Simulation| {
        let before = sim.flit_hops();
        sim.advance(sim.now() + 2000);
        (sim.flit_hops() - before) as f64 / (2.0 * 0.42 * 2000.0)
    };
    let mut always_on = Simulation::new(&Spec { policy: Default::default(), ..spec.clone() }, ONE).expect("a network");
    always_on.advance(1001);
    let (routers, bar) = (per_packet(&mut sim), per_packet(&mut always_on));
    assert!(routers < 2.6 && (routers - bar).abs() < 0.1, "{routers} {bar}");
}

/// The receivers must count the same number of flits on detours as the senders.
#[test]
fn detours_are_counted_alike_at_both_ends() {
    for (flits, load) in [(1, 0.5), (5, 0.3)] {
        let mut spec = dragonfly(2, 1, "");
        tcep(&mut spec, QUICK);
        pattern(&mut spec, NEXT);
        packets(&mut spec, flits, FlowControl::VirtualCutThrough, 16);
        spec.set_load(load);
        phases(&mut spec, 0, 1_000_000);
        let mut sim = Simulation::new(&spec, ONE).expect("a network");
        sim.advance(4000);
        sim.stop_sources();
        drain(&mut sim, 100_000, "detours");
        // until no control packet is in flight any more
        sim.advance((sim.now() / 250 + 1) * 250 + 220);
        assert!(sim.assert_meters() > 1000);
    }
}

// ---- in every run ---------------------------------------------------------------------------------------------------

#[test]
fn the_same_on_any_number_of_blocks_and_threads() {
    let cases = [("", 0.6), (r#", "phase": "random", "initial": "all_on""#, 0.2), (r#", "tables": "delayed""#, 0.5)];
    for (turn, (keys, load)) in cases.into_iter().enumerate() {
        let mut spec = dragonfly(2, 1, "");
        tcep(&mut spec, &format!("{QUICK}{keys}"));
        pattern(&mut spec, NEXT);
        spec.set_load(load);
        phases(&mut spec, 500, 2000);
        record_control_packets(&mut spec, 100_000);
        let alone = run(&spec);
        assert!(alone.control.as_ref().expect("agents").flit_hops > 0);
        for &(threads, blocks) in in_turn(turn, &[(1, 2), (2, 4), (2, 36)]) {
            let other = run_as(&spec, Execution::new(threads, blocks));
            assert_same(&alone, &other, &format!("{keys}, {blocks} blocks"));
            assert_eq!(control_packets(&alone), control_packets(&other));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: rounds(8) as u32, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_over_load_steps(
        h in 1u32..3,
        adverse in any::<bool>(),
        loads in prop::collection::vec(0.0..1.0f64, 4),
        (epoch, ratio, wake) in (300u64..600, 1u64..6, 1u64..300),
        (random, all_on, short_shadow, delayed, even) in any::<(bool, bool, bool, bool, bool)>(),
        (flits, small) in (prop::sample::select(vec![1u32, 5]), any::<bool>()),
        (rotate, exits, directions) in (0u32..4, 0u32..3, 1u32..3),
        misrouting in prop::sample::select(vec![
            "mixed", "source_router", "current_router", "neighbour_router", "random_router",
        ]),
        trigger in prop::sample::select(vec!["granted", "granted_or_full", "unavailable"]),
        local in any::<bool>(),
        seed in 1u64..1000,
    ) {
        let pick = |choice: bool, yes: &'static str, no: &'static str| if choice { yes } else { no };
        let mut spec = dragonfly(h, 1, &format!(
            r#""local_misrouting": {local}, "global_misrouting": "{misrouting}", "trigger": "{trigger}",
            "ring": {{"exits": {exits}, "directions": {directions}}}"#
        ));
        spec.seed = seed;
        tcep(&mut spec, &format!(
            r#""activation_epoch": "{epoch}cycles", "deactivation_epoch": "{}cycles", "wake": "{wake}cycles", "phase": "{}",
            "initial": "{}", "shadow": "{}", "tables": "{}", "spares": {}, "rotate_hub": {rotate}"#,
            epoch * ratio,
            pick(random, "random", "together"), pick(all_on, "all_on", "root"),
            pick(short_shadow, "activation_epoch", "deactivation_epoch"), pick(delayed, "delayed", "broadcast"),
            pick(even, r#"{"even": {"from": 0.01, "target": 0.5}}"#, r#"{"outer": {}}"#),
        ));
        pattern(&mut spec, pick(adverse, NEXT, UNIFORM));
        packets(&mut spec, flits, FlowControl::VirtualCutThrough, if small { 1 } else { 16 });
        if small {
            let classes = imply(&spec).expect("a network that can run").vc_classes;
            spec.links.iter_mut().zip(classes).for_each(|(link, needed)| link.vcs = needed);
        }
        let first = spec.traffic.jobs[0].phases[0].clone();
        let phase = |(k, &load): (u64, &f64)| {
            weft_engine::spec::LoadPhase { from: 1500 * k, load: vec![load; first.load.len()], ..first.clone() }
        };
        spec.traffic.jobs[0].phases = (0..).zip(&loads).map(phase).collect();
        phases(&mut spec, 0, 1_000_000);
        let mut sim = Simulation::new(&spec, ONE).expect("a network");
        sim.advance(6000);
        sim.stop_sources();
        drain(&mut sim, 100_000, "tcep");
        phases(&mut spec, 0, sim.now());
        let out = sim.run(&spec, &());
        prop_assert_eq!((out.missing_packets, out.dropped_packets), (0, 0));
        check_channels(&out);
        let outside = 11; // the hops l l l g l l l g l l l (local and global)
        let stay = if directions == 2 { spec.graph.routers() / 2 } else { spec.graph.routers() - 1 };
        prop_assert!(u64::from(out.longest_path) <= u64::from((exits + 1) * (outside + stay)));
    }
}

// ---- refused --------------------------------------------------------------------------------------------------------

#[test]
fn a_ring_in_links_that_go_off_is_refused_and_its_remedy_works() {
    for (ring, kind) in [("", ""), (r#""ring": {"kind": "embedded"}"#, " and write kind: physical")] {
        let mut embedded = dragonfly(2, 0, ring);
        tcep(&mut embedded, "");
        let refusal = weft_engine::check(&embedded).expect_err("the ring runs over links that go off");
        assert_eq!(refusal.path, "routing.dragonfly_ofar.ring");
        assert!(refusal.help.contains(&format!("give the topology escape_rings: 1{kind}, and")), "{refusal}");
        // an embedded ring is possible if all links stay on
        tcep(&mut embedded, r#""initial": "all_on", "deactivate": false"#);
        weft_engine::check(&embedded).expect("no link goes off");
    }
    let mut physical = dragonfly(2, 1, r#""ring": {"kind": "physical"}"#);
    tcep(&mut physical, "");
    weft_engine::check(&physical).expect("the ring has wires of its own");
    policy(&mut physical, r#"{"static": {}}"#);
    weft_engine::check(&physical).expect("the ring has wires of its own");
}

/// For a routing that does not read link states, the refusal lists the routings that are compatible with the policy in this network.
#[test]
fn it_is_a_remedy_only_where_its_ring_has_wires_of_its_own() {
    for wires in [0, 1] {
        let mut spec = dragonfly(2, wires, "");
        tcep(&mut spec, "");
        spec.routing = routing(r#"{"dragonfly_ugal": {}}"#);
        let refusal = weft_engine::check(&spec).expect_err("blind to links");
        assert!(refusal.help.contains("set routing: "), "{refusal}");
        for name in ["pal", "dragonfly_ofar"] {
            spec.routing = routing(&format!(r#"{{"{name}": {{}}}}"#));
            assert_eq!(refusal.help.contains(name), weft_engine::check(&spec).is_ok(), "{wires} {name}: {refusal}");
        }
    }
}

#[test]
fn faults_are_refused_with_a_remedy_that_works() {
    let mut spec = dragonfly(2, 1, "");
    let fault = weft_engine::spec::Fault { what: weft_engine::spec::Part::Link([0, 1]), at: 100, until: None };
    spec.faults = vec![fault];
    for (keys, says) in [(r#"{"tcep": {}}"#, "to replace failed links"), (r#"{"static": {}}"#, "does not replace")] {
        tcep(&mut spec, "");
        policy(&mut spec, keys);
        let refusal = weft_engine::check(&spec).expect_err(keys);
        assert!(refusal.path == "faults" && refusal.what.contains(says), "{refusal}");
        assert!(refusal.help.contains("always_on"), "{refusal}");
        policy(&mut spec, r#"{"always_on": {}}"#);
        weft_engine::check(&spec).expect("the remedy");
    }
}
