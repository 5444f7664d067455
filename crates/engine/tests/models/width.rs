//! Tests links that become narrower and wider: the states in each cycle, the width that a load needs, and refusals.

use crate::common::*;
use weft_engine::Spec;
use weft_engine::outcome::Ending;
use weft_engine::power::LinkState;
use weft_engine::spec::FlowControl::{VirtualCutThrough, Wormhole};

fn narrows(spec: &mut Spec, parameters: &str) {
    policy(spec, &format!(r#"{{"width": {{{parameters}}}}}"#));
}

fn pair() -> Spec {
    spec(r#"{"hyperx": {"widths": [2], "terminals_per_router": 1}}"#, DOR)
}

#[test]
fn an_idle_link_becomes_as_narrow_as_it_can() {
    for (latency, credit_latency) in [(1, 1), (10, 10), (3, 17)] {
        let mut spec = pair();
        spec.links.iter_mut().for_each(|link| (link.latency, link.credit_latency) = (latency, credit_latency));
        let (window, wake, sleep) = (100, 50, 30);
        narrows(&mut spec, &format!(r#""window": "{window}ns", "wake": "{wake}ns", "sleep": "{sleep}ns""#));
        spec.set_load(0.0);
        phases(&mut spec, 0, 1000);
        let out = run(&spec);
        let message = credit_latency + spec.router.credit_delay;
        // Router 0, the leader of the link, decides after its second window. After a message to the other end and its answer, the leader
        // starts the change to the lower rate. This change takes `sleep` cycles. The other end makes the same change one message latency
        // later. The next answer arrives four message latencies after the decision. When the answer arrives, each end has started its next
        // window, at the end of its change. The request of the other end arrives at the end of the leader's window. Therefore the leader
        // decides again in this cycle, and the sequence repeats.
        let (first, next) = (2 * window + 2 * message + sleep, window + 4 * message + sleep);
        for channel in out.channels.iter().filter(|c| c.class > 0) {
            let behind = channel.cycles[LinkState::On] - first;
            assert!(behind == 0 || behind == message, "{channel:?}");
            assert_eq!(channel.cycles[HALF], next, "{channel:?}");
            assert_eq!(channel.cycles[QUARTER], 1000 - first - behind - next, "{channel:?}");
        }
        check_account(&spec, &out);
    }
}

/// At a constant load, the standard deviation of the utilisation in a window of 2,000 cycles is 0.02 times the square root of the
/// utilisation.
#[test]
fn a_link_has_the_width_that_its_load_needs() {
    // at the full rate 0.3 is between u_off and u_on; 0.15 is too low for the full rate, but 0.3 of the half rate; 0.07 is 0.28 of the
    // quarter rate
    for (load, width) in [(0.9, LinkState::On), (0.3, LinkState::On), (0.15, HALF), (0.07, QUARTER)] {
        let mut spec = pair();
        pattern(&mut spec, NEIGHBOR);
        spec.set_load(load);
        narrows(&mut spec, r#""window": "2us", "wake": "1us", "sleep": "500ns""#);
        phases(&mut spec, 15_000, 20_000);
        let out = run(&spec);
        let mut between = out.channels.iter().filter(|c| c.class > 0);
        assert!(between.all(|c| c.cycles[width] == 20_000 && c.transitions == 0), "{load}: {:?}", out.channels);
    }
}

#[test]
fn nothing_is_lost_while_widths_change() {
    for (k, per) in [(0, "member"), (1, "trunk"), (2, "member")] {
        let mut spec = spec(TRUNKS, [ADAPTIVE, DOR][k % 2]);
        let (flits, flow) = if k == 1 { (16, Wormhole) } else { (5, VirtualCutThrough) };
        packets(&mut spec, flits, flow, 5);
        narrows(&mut spec, &format!(r#""window": "60ns", "wake": "50ns", "sleep": "20ns", "per": "{per}""#));
        load_steps(&mut spec, k as u64, 60_000);
        let out = run(&spec);
        assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0), "{per}");
        check_account(&spec, &out);
        let between = || out.channels.iter().filter(|c| c.class > 0);
        assert!(between().all(|c| c.cycles[QUARTER] > 0 && c.transitions > 2), "{per}: {:?}", out.channels);
    }
}

#[test]
fn what_can_not_work_is_refused_with_a_remedy() {
    let with = |parameters: &str| {
        let mut spec = pair();
        narrows(&mut spec, parameters);
        spec
    };
    for (bad, key, what, good) in [
        (
            r#""u_off": 0.25"#,
            "u_off",
            "0.25 is not below u_on / 2 = 0.5 / 2 = 0.25: links in the mode `half`",
            r#""u_off": 0.2"#,
        ),
        (
            r#""step": 2"#,
            "u_off",
            "0.2 is not below u_on / 4 = 0.5 / 4 = 0.125: links in the mode `on`",
            r#""step": 2, "u_off": 0.1"#,
        ),
        (r#""narrowest": "third""#, "narrowest", "no mode has the name `third`", r#""narrowest": "half""#),
        (
            r#""window": "1us""#,
            "window",
            "1us is shorter than a change of a link: wake is 4.16us",
            r#""window": "4160ns""#,
        ),
    ] {
        let refusal = weft_engine::check(&with(bad)).expect_err("a refusal");
        assert_eq!(refusal.path, format!("power.policy.width.{key}"), "{refusal}");
        assert!(refusal.what.starts_with(what), "{refusal}");
        weft_engine::check(&with(good)).unwrap_or_else(|refusal| panic!("the remedy for {bad}: {refusal}"));
    }
    let mut terminals = with("");
    terminals.managed[0] = true;
    assert_eq!(weft_engine::check(&terminals).expect_err("a refusal").path, "power.manages");
}
