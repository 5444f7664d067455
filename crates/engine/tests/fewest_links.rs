//! Tests of `fewest_links`: the links that its plans leave on. Also tests that no traffic is lost, and that throughput does not fall.

use crate::common::*;
use weft_engine::outcome::{Ending, Outcome};
use weft_engine::power::LinkState;
use weft_engine::spec::FlowControl::{VirtualCutThrough, Wormhole};
use weft_engine::{Simulation, Spec, spec::LoadPhase};
use weft_traffic::{PatternConfig, pattern::matrix::Matrix};
use weft_units::InputFile;

const LINE: &str = r#"{"hyperx": {"widths": [12], "terminals_per_router": 12}}"#;
const SQUARE: &str = r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}"#;
const WIDE: &str = r#"{"hyperx": {"widths": [5, 3], "terminals_per_router": 2}}"#;
const GROUPS: &str =
    r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}}"#;
const QUICK: &str = r#"{"fewest_links": {"activation_epoch": "100ns", "deactivation_epoch": "400ns", "wake": "60ns"}}"#;

fn under(topology: &str, policy_json: &str) -> Spec {
    let mut spec = spec(topology, PAL);
    policy(&mut spec, policy_json);
    if topology == GROUPS {
        spec.managed[2] = false; // global links connect routers that are not all neighbours
    }
    spec
}

/// Mean share of the channels between routers that packets were able to use.
fn on(out: &Outcome) -> f64 {
    let between = out.channels.iter().filter(|c| c.from.is_some() && c.to.is_some() && c.class > 0);
    let (on, all) = between.fold((0, 0), |(on, all), c| (on + c.cycles[LinkState::On], all + out.window));
    on as f64 / all as f64
}

#[test]
fn without_traffic_only_the_star_stays_on() {
    let initial = r#"{"fewest_links": {"activation_epoch": "100ns", "deactivation_epoch": "400ns", "wake": "60ns",
        "initial": "all_on", "hub": 3}}"#;
    let mut spec = under(LINE, initial);
    spec.set_load(0.0);
    phases(&mut spec, 1000, 1000);
    let out = run(&spec);
    for channel in out.channels.iter().filter(|c| c.class > 0) {
        let ends = [channel.from.unwrap(), channel.to.unwrap()];
        let state = if ends.contains(&3) { LinkState::On } else { LinkState::Off };
        assert_eq!(channel.cycles[state], 1000, "{ends:?}");
    }
}

#[test]
fn uniform_traffic_keeps_fewer_links_on_than_tcep_and_nothing_waits_for_more() {
    let long = r#"{"activation_epoch": "250ns", "deactivation_epoch": "2500ns", "wake": "250ns", "high_water": 0.95,
        "initial": "all_on"}"#;
    for load in [0.3, 0.45, 0.6] {
        let outs = ["tcep", "fewest_links"].map(|name| {
            let mut spec = under(LINE, &format!(r#"{{"{name}": {long}}}"#));
            spec.set_load(load);
            phases(&mut spec, 12_500, 5000);
            run(&spec)
        });
        let [tcep, ours] = outs.each_ref().map(on);
        let bound = 2.0 * load / (1.0 + load);
        assert!(ours > bound && ours < tcep - 0.02, "load {load}: {ours}, TCEP {tcep}, bound {bound}");
        let [theirs, ours] = outs.each_ref().map(accepted);
        assert!((ours / load - 1.0).abs() < 0.02 && (theirs / load - 1.0).abs() < 0.02, "{ours} {theirs} of {load}");
    }
}

#[test]
fn under_a_permutation_it_accepts_as_much_as_with_all_links_on() {
    for pattern_json in [r#"{"tornado": {}}"#, r#"{"bit_reverse": {}}"#] {
        let [all, ours] = [r#"{"always_on": {}}"#, QUICK].map(|policy_json| {
            let mut spec = under(SQUARE, policy_json);
            pattern(&mut spec, pattern_json);
            spec.set_load(1.0);
            phases(&mut spec, 8000, 5000);
            accepted(&run(&spec))
        });
        assert!(ours > 0.97 * all, "{pattern_json}: {ours}, with all links on {all}");
    }
}

#[test]
fn nothing_is_lost_while_the_load_goes_up_and_down() {
    let mut switched = 0;
    for (k, topology) in [LINE, SQUARE, WIDE, GROUPS].into_iter().enumerate() {
        for (flits, flow) in [(1, VirtualCutThrough), (5, VirtualCutThrough), (9, Wormhole)] {
            let mut spec = under(topology, QUICK);
            packets(&mut spec, flits, flow, 16);
            load_steps(&mut spec, k as u64 + u64::from(flits), 12_000);
            let out = run(&spec);
            let what = format!("{topology}, {flits} flits");
            assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0), "{what}");
            assert_eq!(out.accepted_flits, out.offered_flits, "{what}");
            check_account(&spec, &out);
            switched += out.channels.iter().map(|c| c.transitions).sum::<u64>();
        }
    }
    assert!(switched > 500, "{switched}");
}

// ---- speed of adaptation --------------------------------------------------------------------------------------------

/// A row of 8 routers. All routers are neighbours, so there are 28 links.
const ROW: &str = r#"{"hyperx": {"widths": [8], "terminals_per_router": 8}}"#;
/// Activation epoch [cycles]; a deactivation epoch consists of ten activation epochs.
const EPOCH: u64 = 300;
const LONG: u64 = 10 * EPOCH;
const WAKE: u64 = 200;

/// The row of 8 routers with changing loads. Each pair is a first cycle and the load from that cycle on.
fn changing(initial: &str, loads: &[(u64, f64)]) -> Simulation {
    let keys = format!(
        r#""activation_epoch": "{EPOCH}cycles", "deactivation_epoch": "{LONG}cycles", "wake": "{WAKE}cycles", "initial": "{initial}""#
    );
    let mut spec = under(ROW, &format!(r#"{{"fewest_links": {{{keys}}}}}"#));
    let first = spec.traffic.jobs[0].phases[0].clone();
    let phase = |&(from, load): &(u64, f64)| LoadPhase { from, load: vec![load; first.load.len()], ..first.clone() };
    spec.traffic.jobs[0].phases = loads.iter().map(phase).collect();
    phases(&mut spec, 0, 1_000_000);
    Simulation::new(&spec, ONE).expect("a network")
}

/// Number of links between routers that are in state `state`.
fn links(sim: &Simulation, state: LinkState) -> usize {
    sim.link_states().iter().filter(|(.., own)| *own == state).count() / 2
}

#[test]
fn in_a_surge_links_wake_at_the_end_of_its_activation_epoch_and_are_on_when_they_have_woken() {
    // the load rises in the middle of a deactivation epoch, 180 cycles before an activation epoch ends
    let (jump, end) = (8 * LONG + 3 * EPOCH - 180, 8 * LONG + 3 * EPOCH);
    let mut sim = changing("root", &[(0, 0.1), (jump, 0.6)]);
    sim.advance(end);
    let before = links(&sim, LinkState::On);
    assert!(before < 12, "{before} links for load 0.1");
    // the overseer acts between the last cycle of the epoch and the next cycle
    sim.advance(end + 2);
    let waking = links(&sim, LinkState::Waking);
    assert_eq!(links(&sim, LinkState::On), before);
    assert!(waking > 4, "{waking} links wake");
    sim.advance(end + WAKE + 2);
    assert_eq!((links(&sim, LinkState::Waking), links(&sim, LinkState::On)), (0, before + waking));
    // the higher load was present in three fifths of that epoch, and is present in the whole of the next epochs
    sim.advance(end + 3 * EPOCH);
    let (on, bound) = (links(&sim, LinkState::On), 28.0 * 1.2 / 1.6);
    assert!(on as f64 > bound, "{on} links for load 0.6, of which {bound} are needed");
}

#[test]
fn wherever_in_a_deactivation_epoch_the_load_rises_the_links_that_it_needs_are_on_soon_and_stay() {
    let tenths: &[u64] = if all_cases() { &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9] } else { &[0, 3, 6, 9] };
    for tenth in tenths {
        let jump = 8 * LONG + tenth * EPOCH + EPOCH / 2;
        let mut sim = changing("root", &[(0, 0.1), (jump, 0.6)]);
        // the first whole epoch with the new load ends one and a half epochs later, and then links wake
        for k in 0..40 {
            sim.advance(jump + 3 * EPOCH + k * EPOCH);
            let on = links(&sim, LinkState::On);
            assert!(on >= needed(0.6), "jump in epoch {tenth}, epoch {k} after it: {on} links");
        }
    }
}

#[test]
fn traffic_that_stays_the_same_is_no_surge() {
    // under this policy, links wake only at the ends of deactivation epochs
    for load in [0.1, 0.4] {
        let mut sim = changing("root", &[(0, load)]);
        sim.advance(LONG + 2);
        for k in 1..90 {
            sim.advance(LONG + k * EPOCH + 2);
            let (wake, may_wake) = (links(&sim, LinkState::Waking), k % 10 == 0);
            assert!(may_wake || wake == 0, "load {load}, epoch {k}: {wake} wake");
        }
    }
}

/// Number of links, of 28, that a load needs if the links carry it evenly.
fn needed(load: f64) -> usize {
    (28.0 * 2.0 * load / (1.0 + load)) as usize
}

/// Number of links that are on, at the end of each of the first `epochs` deactivation epochs after cycle `from`.
fn over_time(sim: &mut Simulation, from: u64, epochs: u64) -> Vec<usize> {
    let at = |k: u64| {
        sim.advance(from + k * LONG - 1);
        links(sim, LinkState::On)
    };
    (1..=epochs).map(at).collect()
}

#[test]
fn six_deactivation_epochs_after_a_start_or_a_rise_it_has_the_links_that_it_keeps() {
    for (initial, loads) in [
        ("root", &[(0, 0.45)][..]),
        ("all_on", &[(0, 0.45)]),
        ("root", &[(0, 0.2), (8 * LONG, 0.6)]),
        ("all_on", &[(0, 0.1), (8 * LONG + 2 * EPOCH, 0.4)]),
    ] {
        let (changed, load) = loads[loads.len() - 1];
        let on = over_time(&mut changing(initial, loads), changed, 14);
        assert!(on[6..].iter().all(|each| each.abs_diff(on[13]) <= 1), "{initial} {loads:?}: {on:?}");
        assert!(on.iter().all(|&each| each >= needed(load)), "{initial} {loads:?}: {on:?}");
    }
}

#[test]
fn after_a_fall_it_comes_down_step_by_step() {
    let on = over_time(&mut changing("root", &[(0, 0.6), (8 * LONG, 0.2)]), 8 * LONG, 16);
    assert!(on.is_sorted_by(|a, b| a >= b), "{on:?}");
    // half of the change takes at most five deactivation epochs; after twelve, at most an eighth of all links is still to change
    assert!(2 * (on[4] - on[15]) <= on[0] - on[15] && on[11] - on[15] <= 3, "{on:?}");
}

// ---- hot pairs ------------------------------------------------------------------------------------------------------

#[test]
fn a_pair_of_routers_that_sends_more_than_its_link_takes_gets_through_also_from_and_to_the_hub() {
    for (from, to) in [(5, 0), (0, 5), (4, 7)] {
        // loads [flits/terminal/cycle]: a total of 1.5 flits per cycle for one link, and 0.01 from each other terminal to all terminals
        let (hot, other) = (1.5 / 12.0, 0.01);
        let cell = |s: usize, d: usize| match (s / 12 == from, d / 12 == to) {
            (true, true) => hot / 12.0,
            (true, false) => 0.0,
            (false, _) => other / 144.0,
        };
        let line = |s: usize| (0..144).map(|d| cell(s, d).to_string()).collect::<Vec<_>>().join(",");
        let text = (0..144).map(line).collect::<Vec<_>>().join("\n");
        let file = InputFile::new("pair.csv", text.as_bytes());
        let [all, ours] = [r#"{"always_on": {}}"#, QUICK].map(|policy_json| {
            let mut spec = under(LINE, policy_json);
            spec.set_pattern(&PatternConfig::Matrix(Matrix { file: file.clone() })).expect("a pattern");
            spec.set_load(hot);
            phases(&mut spec, 6000, 4000);
            let out = run(&spec);
            assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0), "{from} to {to}");
            (out.accepted_flits as f64 / out.offered_flits as f64, on(&out))
        });
        assert!((all.0 - 1.0).abs() < 0.02 && (ours.0 - 1.0).abs() < 0.02, "{from} to {to}: {ours:?}, all on {all:?}");
        // the star alone is 11 of 66 links
        assert!(ours.1 < 0.35, "{from} to {to}: {} of the links on", ours.1);
    }
}

// ---- refused --------------------------------------------------------------------------------------------------------

#[test]
fn what_it_cannot_work_with_is_refused_with_the_place_and_a_way_out() {
    for (keys, path, says) in [
        (r#""high_water": 0.0"#, "high_water", "0 is not between 0 and 1"),
        (r#""high_water": 1.0"#, "high_water", "1 is not between 0 and 1"),
        (r#""high_water": -0.5"#, "high_water", "-0.5 is not between 0 and 1"),
        (r#""hub": 12"#, "hub", "12, but a subnetwork has only 12 routers"),
        (r#""wake": "0cycles""#, "wake", "0"),
        (r#""activation_epoch": "0cycles""#, "activation_epoch", "0"),
        (r#""deactivation_epoch": "0cycles""#, "deactivation_epoch", "0"),
        (
            r#""deactivation_epoch": "10500cycles""#,
            "deactivation_epoch",
            "not a multiple of the activation epoch of 1000",
        ),
        (
            r#""deactivation_epoch": "500cycles""#,
            "deactivation_epoch",
            "not a multiple of the activation epoch of 1000",
        ),
    ] {
        let refusal = weft_engine::check(&under(LINE, &format!(r#"{{"fewest_links": {{{keys}}}}}"#))).expect_err(keys);
        assert_eq!(refusal.path, format!("power.policy.fewest_links.{path}"), "{keys}");
        assert!(refusal.what.contains(says) && !refusal.help.is_empty(), "{keys}: {}", refusal.what);
    }
    const OURS: &str = r#"{"fewest_links": {}}"#;
    let refused = |topology_json: &str, routing_json: &str, managed: &[bool]| {
        let mut spec = spec(topology_json, routing_json);
        policy(&mut spec, OURS);
        spec.managed = managed.to_vec();
        weft_engine::check(&spec).expect_err(topology_json)
    };
    // the refused cases: a routing that ignores link states, a network without subnetworks, links between groups, and no managed links
    let all = [false, true, true];
    let blind = refused(HYPERX, UGAL_P, &all);
    assert_eq!(blind.path, "power.policy.fewest_links");
    assert!(blind.what.contains("ugal_p does not read link states") && blind.help.contains("routing: pal"), "{blind}");
    assert_eq!(refused(TORUS, DOR, &all).path, "power.policy.fewest_links");
    assert_eq!(refused(GROUPS, PAL, &all).path, "power.manages");
    assert_eq!(refused(HYPERX, PAL, &[false; 3]).path, "power.manages");
}
