//! Every registered power policy, on the networks of `POLICIES`: nothing is lost, the account of every channel closes, its
//! states are those that the policy declares, and blocks change nothing.

use super::*;
use crate::integration::conservation::check_account;
use weft_engine::outcome::Ending;
use weft_engine::power::{LinkState, PolicyConfig};
use weft_engine::spec::FlowControl::VirtualCutThrough;
use weft_engine::spec::{LoadPhase, channel_ends};

/// The example with packets of 5 flits, at `load` in all of the window.
fn example(e: &PolicyExample, load: f64) -> Spec {
    let mut spec = e.pair.spec();
    packets(&mut spec, 5, VirtualCutThrough, 16);
    (spec.policy, spec.managed) = (e.policy.clone(), e.managed.clone());
    spec.set_load(load);
    phases(&mut spec, 300, 4000);
    // each channel alone, and all of them
    let channels = 0..channel_ends(&spec.graph).len() as u32;
    spec.bundles = channels.clone().map(|row| vec![row]).chain([channels.collect()]).collect();
    spec
}

/// Loads at which links go off, go on and are full.
const LOADS: [f64; 3] = [0.01, 0.2, 1.0];

/// Each policy on each of its networks, at one of the loads in turn.
fn check_all(check: impl Fn(&Spec, &str)) {
    for (turn, e) in in_their_turns(&POLICIES) {
        for &load in in_turn(turn, &LOADS) {
            check(&example(e, load), &format!("{e} at {load}"));
        }
    }
}

#[test]
fn every_policy_runs() {
    let run: Vec<&str> = POLICIES.iter().map(|e| e.policy.name()).collect();
    assert_complete(PolicyConfig::NAMES, &run);
    for policy in PolicyConfig::examples().into_iter().filter(|policy| is_tested(&[policy.name()])) {
        assert!(POLICIES.iter().any(|e| e.policy == policy), "{policy:?} goes with no routing on any small network");
    }
}

#[test]
fn under_every_policy_the_account_of_every_channel_closes() {
    check_all(|spec, what| {
        let out = run(spec);
        check_account(spec, &out);
        // a set of one channel sleeps while this one is off, and the set of all no longer than any of them
        let off: Vec<u64> = out.channels.iter().map(|channel| channel.cycles[LinkState::Off as usize]).collect();
        assert_eq!(out.asleep[..off.len()], off, "{what}");
        assert!(off.iter().all(|&cycles| out.asleep[off.len()] <= cycles), "{what}");
    });
}

/// Ends the load at cycle 2,000, long before the window ends. What is offered until then may need ten times as long: of a
/// 3-ary 3-tree on which every pair of leaves has one path, 3 of 27 links of the upper level carry two thirds of the flits.
fn falling_silent(mut spec: Spec) -> Spec {
    let first = &spec.traffic.jobs[0].phases[0];
    let silence = LoadPhase { from: 2000, load: vec![0.0; first.load.len()], ..first.clone() };
    spec.traffic.jobs[0].phases.push(silence);
    phases(&mut spec, 0, 40_000);
    spec
}

#[test]
fn under_every_policy_all_packets_arrive_when_the_sources_stop() {
    check_all(|spec, what| {
        let spec = falling_silent(spec.clone());
        let out = run(&spec);
        assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0), "{what}");
        assert!(out.sums.packets > 0, "{what}");
        assert_eq!((out.sums.flits, out.accepted_flits), (out.offered_flits, out.offered_flits), "{what}");
        check_account(&spec, &out);
    });
}

/// `check_account` sees that channels are in no other states.
#[test]
fn every_state_that_a_policy_declares_is_reached() {
    for name in PolicyConfig::NAMES.iter().filter(|name| is_tested(&[name])) {
        let examples = || POLICIES.iter().filter(|e| e.policy.name() == *name);
        let mut missing: Vec<LinkState> = examples().flat_map(|e| e.policy.states()).copied().collect();
        for (e, load) in examples().flat_map(|e| [(e, 0.2), (e, 1.0)]) {
            if e.policy.states().iter().any(|state| missing.contains(state)) {
                let out = run(&falling_silent(example(e, load)));
                missing.retain(|&state| out.channels.iter().all(|c| c.cycles[state as usize] == 0));
            }
        }
        assert!(missing.is_empty(), "no example of the policy {name} has a channel that is {missing:?}");
    }
}

/// `warmup: auto` waits for the power state of policies that have a settling period only. (The examples of a timetable
/// repeat.)
#[test]
fn a_policy_has_a_settling_period_if_it_switches_links() {
    for name in PolicyConfig::NAMES.iter().filter(|name| is_tested(&[name])) {
        let examples = POLICIES.iter().filter(|e| e.policy.name() == *name);
        let mut specs = examples.flat_map(|e| [0.2, 1.0].map(|load| falling_silent(example(e, load))));
        let settles = |spec: &Spec| spec.policy.settling_period(&spec.graph, spec.cycle_fs).expect("sound");
        let first = settles(&specs.next().expect("an example"));
        let switches = specs.any(|spec| run(&spec).channels.iter().any(|c| c.transitions > 0));
        assert_eq!(first.is_some(), switches, "{name} has the settling period {first:?}");
    }
}

#[test]
fn every_policy_gives_the_same_result_in_one_block_and_in_three() {
    check_all(check_blocks);
}
