//! Tests named modes: rates such as 1/12, dark modes, and transitions during which a channel carries nothing.

use crate::common::*;
use crate::theory::{check_t0, t0};
use weft_engine::outcome::{ChannelCount, Outcome};
use weft_engine::power::{LinkState, Mode, Modes, modes};
use weft_engine::spec::Execution;
use weft_engine::spec::FlowControl::VirtualCutThrough;
use weft_engine::{Spec, check};

/// Two routers with 4 terminals each.
const PAIR: &str = r#"{"full_mesh": {"routers": 2, "terminals_per_router": 4}}"#;
/// A pattern in which terminals send to the terminals of the next router.
const NEXT_ROUTER: &str = r#"{"neighbor": {}}"#;
/// A policy whose transition is longer than any run here. A channel in the lower mode stays in this mode, and carries its packets in it.
const NEVER_UP: &str = r#"{"idle_timeout": {"idle": "40ns", "transition": "100ms", "to": "one"}}"#;

/// Modes with 12, 6, 3 and 1 lanes, and a sleep mode that carries nothing.
fn lanes() -> Modes {
    let lanes = |name: &str, of: u128| Mode::carrying(name, modes::share(of, 12, "rate").expect("a rate"));
    let named = vec![lanes("six", 6), lanes("three", 3), lanes("one", 1), Mode::dark("nap")];
    Modes::new(named, "power.modes").expect("modes")
}

fn state(name: &str) -> LinkState {
    lanes().find(name).expect("a mode")
}

fn pair(policy_json: &str) -> Spec {
    let mut spec = spec(PAIR, DOR);
    spec.modes = lanes();
    pattern(&mut spec, NEXT_ROUTER);
    policy(&mut spec, policy_json);
    spec
}

fn between(out: &Outcome) -> impl Iterator<Item = &ChannelCount> {
    out.channels.iter().filter(|c| c.from.is_some() && c.to.is_some())
}

/// At 1/12 of the rate each flit takes as long as 12 flits at the full rate. Therefore a packet of n flits is complete 12 n - n cycles
/// later. The delay occurs once per path, because routers forward flits while they arrive.
#[test]
fn at_one_lane_of_twelve_a_flit_is_twelve_times_as_long() {
    for terminals in [false, true] {
        for flits in [1, 3] {
            let mut spec = pair(NEVER_UP);
            spec.managed[0] = terminals;
            packets(&mut spec, flits, VirtualCutThrough, 32);
            let slow = check_t0(spec.clone(), 0, |spec, hops| t0(spec, hops) + 11 * u64::from(flits));
            spec.policy = Default::default();
            packets(&mut spec, 12 * flits, VirtualCutThrough, 64);
            let long = check_t0(spec, 0, t0);
            assert_eq!((slow.len(), long.len()), (2, 2), "all packets cross the link");
        }
    }
}

/// A full channel at 1/12 of the rate carries a flit every 12 cycles.
#[test]
fn a_full_channel_carries_what_its_mode_does() {
    let mut spec = pair(NEVER_UP);
    spec.set_load(0.0);
    let idle = spec.traffic.jobs[0].phases[0].clone();
    let busy = weft_engine::spec::LoadPhase { from: 1000, load: vec![0.5; 8], ..idle };
    spec.traffic.jobs[0].phases.push(busy);
    phases(&mut spec, 3000, 12_000);
    spec.phases.drain_limit = 1;
    let out = run(&spec);
    for c in between(&out) {
        assert_eq!((c.cycles[state("one")], c.flits[state("one")]), (12_000, 1000), "{c:?}");
    }
}

/// Runs all kinds of transitions under the policies that support modes. Checks that no flit crosses in a dark mode or during a transition
/// that stops traffic. Accounts are complete. Also checks that blocks and shortcuts do not change results.
#[test]
fn no_flit_crosses_a_channel_whose_mode_carries_none() {
    let idle = |rest: &str| format!(r#"{{"idle_timeout": {{"idle": "30ns", "transition": "25ns", {rest}}}}}"#);
    let ladder = |rest: &str| format!(r#"{{"rate_ladder": {{"epoch": "150ns", "transition": "25ns", {rest}}}}}"#);
    let policies = [
        (idle(r#""to": "nap""#), vec!["nap"]),
        (idle(r#""to": "one""#), vec!["one"]),
        (idle(r#""to": "three", "changes": "stop""#), vec!["three"]),
        (idle(r#""to": "one", "changes": "stop_up""#), vec!["one"]),
        (idle(r#""to": "six", "changes": "stop_down""#), vec!["six"]),
        (ladder(r#""changes": "stop""#), vec!["six", "three", "one"]),
        (ladder(r#""changes": "carry""#), vec!["six", "three", "one"]),
        (ladder(r#""changes": "stop_up", "slowest": "three""#), vec!["six", "three"]),
        (ladder(r#""changes": "stop_down""#), vec!["six", "three", "one"]),
    ];
    for (case, (policy_json, reached)) in policies.into_iter().enumerate() {
        for &(managed_terminals, flits) in in_turn(case, &[(false, 1), (true, 5)]) {
            let mut spec = spec(r#"{"hyperx": {"widths": [3, 3], "terminals_per_router": 2}}"#, DOR);
            spec.modes = lanes();
            policy(&mut spec, &policy_json);
            spec.managed[0] = managed_terminals;
            packets(&mut spec, flits, VirtualCutThrough, 16);
            load_steps(&mut spec, 7, 20_000);
            let out = run(&spec);
            assert_drained(&out);
            check_account(&spec, &out);
            let stopped = spec.states().expect("modes").contains(&LinkState::Draining);
            for c in out.channels.iter().filter(|_| stopped) {
                assert_eq!(c.flits[LinkState::Draining], 0, "{policy_json}: {c:?}");
            }
            for name in &reached {
                assert!(between(&out).any(|c| c.cycles[state(name)] > 0), "{policy_json}: no channel is {name}");
            }
            assert_same(&out, &run_as(&spec, Execution::new(2, 3)), &policy_json);
            assert_same(&out, &run_as(&spec, Execution::new(1, 1).plain()), &policy_json);
        }
    }
}

/// 4 terminals share the link, so it carries 4 times the load of a terminal. The channel changes to a slower rate if it would use less than
/// half of that rate: below load 1/4 to 6 lanes, below 1/8 to 3, below 1/24 to 1.
#[test]
fn a_ladder_of_lanes_comes_to_rest_where_its_thresholds_say() {
    for changes in ["stop", "carry"] {
        for (carried, rests) in [(0.4, "on"), (0.19, "six"), (0.08, "three"), (0.02, "one")] {
            let ladder =
                format!(r#"{{"rate_ladder": {{"epoch": "2us", "transition": "100ns", "changes": "{changes}"}}}}"#);
            let mut spec = pair(&ladder);
            spec.set_load(carried / 4.0);
            phases(&mut spec, 12_000, 10_000);
            let out = run(&spec);
            for c in between(&out) {
                assert_eq!(c.cycles[state(rests)], 10_000, "{carried} {changes}: {c:?}");
            }
            assert_drained(&out);
        }
    }
}

/// An idle channel is on for `idle` cycles. It then changes to the lower mode, for `transition` cycles if the change stops traffic, and
/// stays there.
#[test]
fn an_idle_channel_is_in_each_mode_for_the_cycles_given() {
    for (changes, draining) in [("carry", 0), ("stop", 25), ("stop_up", 0), ("stop_down", 25)] {
        let idle = r#"{"idle_timeout": {"idle": "40ns", "transition": "25ns", "to": "one", "changes": "CHANGES"}}"#;
        let mut spec = pair(&idle.replace("CHANGES", changes));
        spec.set_load(0.0);
        phases(&mut spec, 0, 1000);
        for c in between(&run(&spec)) {
            let cycles = ["on", "draining", "one"].map(|name| c.cycles[state(name)]);
            assert_eq!(cycles, [40, draining, 960 - draining], "{changes}: {c:?}");
        }
    }
}

/// If transitions upward stop traffic, a packet that finds a channel in the lower mode waits for the whole transition, and crosses at the
/// full rate.
#[test]
fn a_packet_waits_for_a_change_that_stops_and_crosses_at_the_full_rate() {
    let mut spec = pair(r#"{"idle_timeout": {"idle": "40ns", "transition": "25ns", "to": "one", "changes": "stop"}}"#);
    packets(&mut spec, 3, VirtualCutThrough, 32);
    check_t0(spec, 0, |spec, hops| t0(spec, hops) + 25 * hops);
}

#[test]
fn modes_that_do_not_exist_and_ladders_without_rungs_are_refused() {
    let message_of = |policy_json: &str, modes: Modes| {
        let mut spec = pair(policy_json);
        spec.modes = modes;
        let refusal = check(&spec).expect_err("refused");
        format!("{}: {}; {}", refusal.path, refusal.what, refusal.help)
    };
    let idle = |rest: &str| format!(r#"{{"idle_timeout": {{"idle": "40ns", "transition": "25ns", {rest}}}}}"#);
    let none = || Modes::new(vec![Mode::dark("nap")], "power.modes").expect("modes");
    let equal = ["a", "b"].map(|name| Mode::carrying(name, modes::share(1, 2, "rate").expect("a rate"))).to_vec();
    let equal = Modes::new(equal, "power.modes").expect("modes");
    for (said, expected) in [
        (
            message_of(&idle(r#""to": "two""#), lanes()),
            "idle_timeout.to: no mode has the name `two`; write one of: off, six,",
        ),
        (message_of(&idle(r#""to": "waking""#), lanes()), "idle_timeout.to: links only pass through the mode `waking`"),
        (message_of(&idle(r#""to": "nap", "changes": "carry""#), lanes()), "carries no packets in the mode `nap`"),
        (
            message_of(r#"{"rate_ladder": {}}"#, none()),
            "power.modes: no mode of power.modes carries traffic at a lower rate than `on`",
        ),
        (message_of(r#"{"rate_ladder": {}}"#, equal), "power.modes: two steps of the ladder have the same rate: a, b"),
        (
            message_of(r#"{"rate_ladder": {"slowest": "nap"}}"#, lanes()),
            "rate_ladder.slowest: the mode `nap` does not carry traffic",
        ),
    ] {
        assert!(said.contains(expected), "{said}");
    }
}
