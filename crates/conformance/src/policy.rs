//! The conformance suite of power policies. No packet may be lost, and the account of every channel must be complete. Channels must enter
//! all states that the policy declares, and no others. The number of blocks and checkpoints must not change results.
//! (`engine/tests/conformance/faults.rs` tests policies with faults.)

use super::{ONE, PolicyExample, as_written, assert_same, check_account, check_blocks};
use super::{in_their_turns, in_turn, mark_checked, packets, phases, rounds, run, run_as};
use weft_engine::outcome::Ending;
use weft_engine::power::{LinkState, Modes, PolicyConfig};
use weft_engine::spec::FlowControl::VirtualCutThrough;
use weft_engine::spec::{LoadPhase, channel_ends};
use weft_engine::{Outcome, Spec};

/// Runs the conformance suite on one policy. `examples`: configurations of the policy; `placed`: these configurations with routings in
/// networks.
///
/// # Panics
/// Panics if the policy does not conform; the message names the fault.
pub fn check(name: &str, examples: &[PolicyConfig], placed: &[&PolicyExample]) {
    assert!(!examples.is_empty(), "{name} runs in no test: let its `examples()` return at least one configuration");
    for policy in examples {
        let what = as_written(policy);
        assert!(
            placed.iter().any(|e| e.policy == *policy),
            "no registered routing works with {what} on a small network: check the offers of the policy"
        );
    }
    let silent = check_placed(placed);
    check_states(name, placed, &silent);
    check_settles(name, placed, &silent);
}

/// Runs the tests that every single example must pass. Returns the outcomes of the runs whose sources stop (see [`falling_silent`]).
///
/// # Panics
/// Panics if an example does not pass; the message names the fault.
pub fn check_placed(placed: &[&PolicyExample]) -> Vec<Outcome> {
    let takes_both = placed.len() < FEW || rounds(1) > 1;
    let mut silent = Vec::new();
    for (number, (turn, e)) in in_their_turns(placed).enumerate() {
        let takes_both = takes_both || number == 0;
        for &load in in_turn(turn, &LOADS) {
            let (mut spec, what) = (example(e, load), format!("{e} at {load}"));
            let takes_blocks = (turn / LOADS.len()).is_multiple_of(2);
            let out = if takes_both || takes_blocks { check_blocks(&spec, &what) } else { run(&spec) };
            check_accounts(&spec, &out, &what);
            mark_checked(&mut spec);
            if takes_both || !takes_blocks {
                check_idle(&spec, &what);
            }
            silent.push(check_delivers(&spec, &what));
        }
    }
    silent
}

/// If a policy has fewer networks than this number, each network runs all checks. Otherwise, in `make test`, each network but the first
/// runs one of the two checks that need several runs: `check_blocks` or `check_idle`.
const FEW: usize = 6;

/// The spec of an example, with packets of 5 flits and the load `load` during the whole window.
fn example(e: &PolicyExample, load: f64) -> Spec {
    let mut spec = e.pair.spec();
    packets(&mut spec, 5, VirtualCutThrough, 16);
    (spec.policy, spec.managed) = (e.policy.clone(), e.managed.clone());
    spec.set_load(load);
    phases(&mut spec, 300, 4000);
    // bundles for the count of sleeping cycles: each channel separately, and all channels together
    let channels = 0..channel_ends(&spec.graph).len() as u32;
    spec.bundles = channels.clone().map(|row| vec![row]).chain([channels.collect()]).collect();
    spec
}

/// The loads of the tests, at which links go off, go on and are fully used. The examples of a policy take these loads
/// in turn.
const LOADS: [f64; 3] = [0.01, 0.2, 1.0];

/// Checks the account of every channel in the outcome of the spec.
fn check_accounts(spec: &Spec, out: &Outcome, what: &str) {
    check_account(spec, out);
    // a bundle of one channel sleeps while the channel is off, and the bundle of all channels sleeps no longer than any channel
    let off: Vec<u64> = out.channels.iter().map(|channel| channel.cycles[LinkState::Off]).collect();
    assert_eq!(out.asleep[..off.len()], off, "{what}");
    assert!(off.iter().all(|&cycles| out.asleep[off.len()] <= cycles), "{what}");
}

/// Sets the load of the spec to 0 at cycle 2,000, long before the window ends. The packets offered before that cycle can take ten times as
/// long to arrive. For example, take a 3-ary 3-tree with one path for each pair of leaves: 3 of the 27 links of its upper level carry two
/// thirds of the flits.
fn falling_silent(mut spec: Spec) -> Spec {
    let first = &spec.traffic.jobs[0].phases[0];
    let silence = LoadPhase { from: 2000, load: vec![0.0; first.load.len()], ..first.clone() };
    spec.traffic.jobs[0].phases.push(silence);
    phases(&mut spec, 0, 40_000);
    spec
}

/// Checks that all packets have arrived some time after the sources stop.
fn check_delivers(spec: &Spec, what: &str) -> Outcome {
    let spec = falling_silent(spec.clone());
    let out = run(&spec);
    assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0), "{what}");
    assert!(out.sums.packets > 0, "{what}");
    assert_eq!((out.sums.flits, out.accepted_flits), (out.offered_flits, out.offered_flits), "{what}");
    check_account(&spec, &out);
    out
}

/// Checks that skipping idle cycles does not change results: bursts with pauses are compared with the cycle loop without shortcuts.
fn check_idle(spec: &Spec, what: &str) {
    let mut spec = spec.clone();
    let first = spec.traffic.jobs[0].phases[0].clone();
    let silence = LoadPhase { from: 500, load: vec![0.0; first.load.len()], ..first.clone() };
    let again = LoadPhase { from: 3800, ..first };
    spec.traffic.jobs[0].phases.extend([silence, again]);
    assert_same(&run(&spec), &run_as(&spec, ONE.plain()), what);
}

/// Checks that channels reach every state of the policy. (`check_account` checks that they enter no other states.) If channels have not
/// reached all states in the earlier runs `outs`, examples run at further loads.
fn check_states(name: &str, placed: &[&PolicyExample], outs: &[Outcome]) {
    let modes = Modes::default();
    let states = |policy: &PolicyConfig| policy.states(&modes).expect("modes of every run");
    let mut missing: Vec<LinkState> = placed.iter().flat_map(|e| states(&e.policy)).collect();
    let drop_reached = |missing: &mut Vec<LinkState>, out: &Outcome| {
        missing.retain(|&state| out.channels.iter().all(|c| c.cycles[state] == 0));
    };
    outs.iter().for_each(|out| drop_reached(&mut missing, out));
    for (e, load) in placed.iter().flat_map(|e| [(e, 0.2), (e, 1.0)]) {
        if states(&e.policy).iter().any(|state| missing.contains(state)) {
            drop_reached(&mut missing, &run(&falling_silent(example(e, load))));
        }
    }
    assert!(missing.is_empty(), "in no example of the policy {name} does a channel reach the states {missing:?}");
}

/// Checks that a policy has a settling period, for which `warmup: auto` waits, if and only if it switches links. (The examples of a
/// policy with a timetable repeat it periodically.) If a policy with a settling period has switched no link in the earlier runs `outs`, its
/// examples run at further loads.
fn check_settles(name: &str, placed: &[&PolicyExample], outs: &[Outcome]) {
    let mut specs = placed.iter().flat_map(|e| [0.2, 1.0].map(|load| falling_silent(example(e, load))));
    let settles = |spec: &Spec| spec.policy.settling_period(&spec.graph, &spec.modes, spec.cycle_fs).expect("sound");
    let first = settles(&specs.next().expect("an example"));
    let has_switched = |out: &Outcome| out.channels.iter().any(|c| c.transitions > 0);
    let switches = outs.iter().any(has_switched) || first.is_some() && specs.any(|spec| has_switched(&run(&spec)));
    assert_eq!(first.is_some(), switches, "{name} has the settling period {first:?}, but switches links: {switches}");
}
