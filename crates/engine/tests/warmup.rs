//! Tests warm-ups that end by themselves, by latencies and by the power state under policies that switch links.

use crate::common::*;
use weft_engine::outcome::Ending;
use weft_engine::power::LinkState;
use weft_engine::spec::LoadPhase;
use weft_engine::{Outcome, Spec};

/// The largest number of cycles between the decision that a run has settled and the beginning of the window (links of 10 cycles, buffers of
/// 32 flits).
const AHEAD: u64 = 500;
const OFF: LinkState = LinkState::Off;

/// A spec with an automatic warm-up of at most `limit` cycles.
fn auto(policy_json: &str, load: f64, limit: u64) -> Spec {
    let mut spec = spec(HYPERX, DOR);
    policy(&mut spec, policy_json);
    phases(&mut spec, limit, 3000);
    spec.phases.auto_warmup = true;
    spec.set_load(load);
    spec
}

/// A policy whose channels begin to go off 3,000 cycles after their last flit, and are off 500 cycles later. An observation takes 4,000
/// cycles.
const SLOW: &str = r#"{"idle_timeout": {"idle": "3000ns", "transition": "500ns"}}"#;
const PERIOD: u64 = 4000;

/// A spec whose load is 0.5 until cycle 15,000, and 0 from then on.
fn falling_silent(limit: u64) -> Spec {
    let mut spec = auto(SLOW, 0.5, limit);
    let job = &mut spec.traffic.jobs[0];
    let silence = LoadPhase { from: 15_000, load: vec![0.0; 24], ..job.phases[0].clone() };
    job.phases.push(silence);
    spec
}

#[test]
fn the_power_state_is_waited_for_when_latencies_have_settled() {
    let out = run(&falling_silent(100_000));
    assert_eq!((out.decisions.settled, out.decisions.power_settled), (Some(true), Some(true)));
    // The last flits leave around cycle 15,000. All channels are therefore off around cycle 18,500, which is in the fifth period. Of 5 + n
    // periods, MSER drops the first 5. The dropped periods must be less than half, so n = 6.
    let expected = 11 * PERIOD;
    assert!((expected..expected + AHEAD).contains(&out.warmup), "{}", out.warmup);
    assert!(out.channels.iter().filter(|c| c.class > 0).all(|c| c.cycles[OFF] == out.window));
    // without a policy, the window of the same load begins as soon as the latencies have settled
    let mut awake = falling_silent(100_000);
    policy(&mut awake, ALWAYS_ON);
    let out = run(&awake);
    assert_eq!((out.decisions.settled, out.decisions.power_settled), (Some(true), None));
    assert!(out.warmup < 15_000, "{}", out.warmup);
}

#[test]
fn a_power_state_that_still_changes_at_the_limit_has_not_settled() {
    // the limit is little more than 7 periods, of which 5 are not less than half
    let limit = 7 * PERIOD + 2000;
    let out = run(&falling_silent(limit));
    assert_eq!((out.decisions.settled, out.decisions.power_settled), (Some(true), Some(false)));
    assert!((limit - AHEAD..=limit).contains(&out.warmup), "{}", out.warmup);
}

#[test]
fn latencies_are_waited_for_when_the_power_state_has_settled() {
    let mut spec = auto(SLOW, 0.5, 40_000);
    pattern(&mut spec, r#"{"hot_spot": {"targets": [0]}}"#);
    let out = run(&spec);
    assert_eq!(out.ending, Ending::Saturated, "all terminals but one send half a flit per cycle to it");
    assert_eq!((out.decisions.settled, out.decisions.power_settled), (Some(false), Some(true)));
    assert!((40_000 - AHEAD..=40_000).contains(&out.warmup), "{}", out.warmup);
}

/// Share of the time in which the channels between routers were off.
fn off_share(out: &Outcome) -> f64 {
    let links = || out.channels.iter().filter(|c| c.class > 0);
    links().map(|c| c.cycles[OFF]).sum::<u64>() as f64 / (out.window * links().count() as u64) as f64
}

#[test]
fn channels_that_go_on_and_off_all_the_time_settle() {
    // Flits are 1 / (2 terminals * load * share of the channel) cycles apart, about 60 to 130 cycles, compared with the idle timeout of 40.
    let mut spec = auto(IDLE_TIMEOUT, 0.02, 50_000);
    spec.phases.window = 20_000;
    let out = run(&spec);
    assert_drained(&out);
    assert_eq!((out.decisions.settled, out.decisions.power_settled), (Some(true), Some(true)));
    let early = off_share(&out);
    assert!(early > 0.1 && early < 0.9, "{early}");
    // the share is still the same 50,000 cycles later
    (spec.phases.auto_warmup, spec.phases.warmup) = (false, 100_000);
    let late = off_share(&run(&spec));
    assert!((early - late).abs() < 0.02, "{early} and {late}");
}

#[test]
fn nobody_looks_where_no_channel_is_switched() {
    let fixed_set = (HYPERX, PAL, ROOT);
    for (topology, routing, policy_json) in [(HYPERX, DOR, ALWAYS_ON), fixed_set, (SINGLE, DOR, SLOW)] {
        let mut alone = spec(topology, routing);
        policy(&mut alone, policy_json);
        phases(&mut alone, 20_000, 1000);
        alone.phases.auto_warmup = true;
        let out = run(&alone);
        assert_eq!((out.decisions.settled, out.decisions.power_settled), (Some(true), None), "{topology}");
        // the policy SLOW would need 6 periods
        assert!(out.warmup < 6 * PERIOD, "{}", out.warmup);
    }
    let fixed = run(&Spec { phases: weft_engine::spec::Phases::default(), ..auto(SLOW, 0.1, 0) });
    assert_eq!((fixed.decisions.settled, fixed.decisions.power_settled), (None, None));
}

#[test]
fn a_limit_that_leaves_no_time_for_the_power_state_is_refused() {
    let refusal = weft_engine::run(&auto(SLOW, 0.1, 20_000), ONE, &()).expect_err("too short");
    assert_eq!(refusal.path, "measure.warmup_limit");
    // 6 * 4,000 cycles are more than the 12 * 500 cycles for latencies
    assert!(refusal.what.contains("6 observations of the power state of 4000 cycles"), "{}", refusal.what);
    let (_, needs) = refusal.what.split_once("because it needs ").expect("a sum");
    let least: u64 = needs.split(' ').next().expect("a number").parse().expect("cycles");
    assert!((6 * PERIOD..6 * PERIOD + AHEAD).contains(&least), "{least}");
    assert_eq!(run(&auto(SLOW, 0.1, least)).warmup, least, "just long enough to look once");
    // the limit that the help proposes is also enough for the run to settle
    let proposed: u64 =
        refusal.help.trim_start_matches("write ").split("cycles").next().expect("a time").parse().expect("cycles");
    let out = run(&auto(SLOW, 0.1, proposed));
    assert_eq!((out.decisions.settled, out.decisions.power_settled), (Some(true), Some(true)), "{proposed} cycles");
}
