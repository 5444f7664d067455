//! Tests links that go off after both ends have agreed: the states in each cycle, the control packets, and the refusals.

use crate::common::*;
use weft_engine::Spec;
use weft_engine::outcome::Ending;
use weft_engine::power::LinkState;
use weft_engine::spec::FlowControl::VirtualCutThrough;

const IDLE: u64 = 40;
const TRANSITION: u64 = 25;

/// Two routers with one terminal each, and a cycle of 1 ns.
fn pair() -> Spec {
    let mut spec = spec(r#"{"hyperx": {"widths": [2], "terminals_per_router": 1}}"#, DOR);
    sleeps(&mut spec, IDLE, TRANSITION);
    spec.set_load(0.0);
    phases(&mut spec, 0, 1000);
    spec
}

fn sleeps(spec: &mut Spec, idle: u64, transition: u64) {
    let times = format!(r#""idle": "{idle}ns", "transition": "{transition}ns""#);
    policy(spec, &format!(r#"{{"neighbour_sleep": {{{times}}}}}"#));
}

/// Number of control packets of the kinds sleep, agree and refuse over the window.
fn said(out: &weft_engine::Outcome) -> [u64; 3] {
    let control = out.control.as_ref().expect("control packets");
    ["sleep", "agree", "refuse"].map(|kind| control.of(kind))
}

#[test]
fn an_idle_link_goes_to_sleep_at_both_ends_and_stays_asleep() {
    for latency in [1, 10, 70] {
        let mut spec = pair();
        spec.links.iter_mut().for_each(|link| link.latency = latency);
        let out = run(&spec);
        // both ends send a request in cycle 40; each request leaves `delay` cycles later, and counts at the other end as the answer to that
        // end's request
        let on = IDLE + spec.router.delay + latency;
        for c in &out.channels {
            let asleep = [on, 0, TRANSITION, 1000 - on - TRANSITION, 0, 0, 0];
            assert_eq!(c.cycles, if c.class > 0 { asleep } else { [1000, 0, 0, 0, 0, 0, 0] }, "{c:?}");
            // the request is the only flit that the channel carries
            assert_eq!(c.flits[LinkState::On], u64::from(c.class > 0));
        }
        assert_eq!(said(&out), [2, 0, 0]);
        check_account(&spec, &out);
    }
}

#[test]
fn a_link_of_which_one_direction_is_busy_stays_on() {
    // terminal 0 sends a flit in every cycle, so only the channel in the other direction is idle; its end requests to sleep and is refused
    let mut spec = pair();
    pattern(&mut spec, r#"{"neighbor": {}}"#);
    spec.set_load_of(0, 1.0);
    let out = run(&spec);
    let between = out.channels.iter().filter(|c| c.class > 0);
    assert!(between.clone().all(|c| c.cycles[LinkState::On] == 1000 && c.transitions == 0), "{:?}", out.channels);
    // The idle end sends a request `idle` cycles after each refusal. A request and its answer take (1 + 10) + (1 + 10) cycles, so there is
    // one request every 62 cycles. The upper bound is one request every 40 cycles, in whatever cycle each of them is counted.
    let [sleep, agree, refuse] = said(&out);
    assert!(agree == 0 && refuse == sleep && (1000 / 62 - 1..=1000 / 40).contains(&sleep), "{sleep} requests");
}

/// For any latencies of links and messages and any transition times, the two ends never wait for each other forever.
#[test]
fn nothing_is_lost_whatever_the_times() {
    for (case, (latency, credit_latency)) in [(1, 1), (1, 90), (90, 1), (7, 60)].into_iter().enumerate() {
        for &(idle, transition) in in_turn(case, &[(1, 1), (3, 50), (50, 1)]) {
            let k = case + idle as usize;
            let mut spec = spec(if k.is_multiple_of(2) { HYPERX } else { TRUNKS }, DOR);
            packets(&mut spec, [1, 5][k % 2], VirtualCutThrough, 8);
            spec.links.iter_mut().for_each(|link| (link.latency, link.credit_latency) = (latency, credit_latency));
            sleeps(&mut spec, idle, transition);
            load_steps(&mut spec, k as u64, 60_000);
            let out = run(&spec);
            let what = format!("latencies {latency} and {credit_latency}, idle {idle}, transition {transition}");
            assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0), "{what}");
            check_account(&spec, &out);
            assert!(out.channels.iter().filter(|c| c.class > 0).all(|c| c.transitions > 0), "{what}");
        }
    }
}

#[test]
fn times_of_zero_and_links_of_terminals_are_refused() {
    let refused = |spec: &Spec| weft_engine::check(spec).expect_err("a refusal");
    for (idle, transition, key) in [(0, 25, "idle"), (40, 0, "transition")] {
        let mut spec = pair();
        sleeps(&mut spec, idle, transition);
        assert_eq!(refused(&spec).path, format!("power.policy.neighbour_sleep.{key}"));
    }
    let mut spec = pair();
    spec.managed[0] = true;
    let refusal = refused(&spec);
    assert_eq!(refusal.path, "power.manages");
    assert!(refusal.help.starts_with("leave terminal out of manages"), "{refusal}");
    spec.managed[0] = false;
    assert!(weft_engine::check(&spec).is_ok(), "the remedy works");
}

#[test]
fn an_idle_time_shorter_than_a_transition_is_warned_of() {
    for (idle, transition, warns) in [(40, 25, false), (25, 25, false), (24, 25, true)] {
        let mut spec = pair();
        sleeps(&mut spec, idle, transition);
        let risk = spec.policy.risk(spec.cycle_fs).expect("sound times");
        assert_eq!(risk.map(|risk| risk.path), warns.then(|| "power.policy.neighbour_sleep.idle".to_owned()));
    }
}
