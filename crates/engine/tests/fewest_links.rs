//! `fewest_links`: which links its plans leave on, that what they carry is not lost, and that no throughput is.

use crate::common::*;
use crate::conservation::check_account;
use weft_engine::Spec;
use weft_engine::outcome::{Ending, Outcome};
use weft_engine::power::LinkState;
use weft_engine::spec::FlowControl::{VirtualCutThrough, Wormhole};

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
        spec.managed[2] = false; // global links join routers that are not all neighbours
    }
    spec
}

/// Mean share of the channels between routers that packets could take.
fn on(out: &Outcome) -> f64 {
    let between = out.channels.iter().filter(|c| c.from.is_some() && c.to.is_some() && c.class > 0);
    let (on, all) = between.fold((0, 0), |(on, all), c| (on + c.cycles[LinkState::On as usize], all + out.window));
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
        assert_eq!(channel.cycles[state as usize], 1000, "{ends:?}");
    }
}

#[test]
fn uniform_traffic_keeps_fewer_links_on_than_tcep_and_nothing_waits_for_more() {
    let long = r#"{"activation_epoch": "500ns", "deactivation_epoch": "5000ns", "wake": "500ns", "high_water": 0.95,
        "initial": "all_on"}"#;
    for load in [0.3, 0.45, 0.6] {
        let outs = ["tcep", "fewest_links"].map(|name| {
            let mut spec = under(LINE, &format!(r#"{{"{name}": {long}}}"#));
            spec.set_load(load);
            phases(&mut spec, 60_000, 20_000);
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
            phases(&mut spec, 20_000, 10_000);
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
