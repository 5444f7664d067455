//! Tests the link policies of Zahn et al. (HiPINEB 2019), as configurations of `idle_timeout`. Links go off, or they keep one lane until
//! enough flits wait for them.

use crate::common::*;
use crate::theory::{check_t0, check_t0_after, t0};
use weft_engine::outcome::{ChannelCount, Outcome};
use weft_engine::power::{LinkState, Mode, Modes, modes};
use weft_engine::spec::FlowControl::VirtualCutThrough;
use weft_engine::spec::{Execution, LoadPhase};
use weft_engine::{Spec, check};

/// Two routers with 4 terminals each.
const PAIR: &str = r#"{"full_mesh": {"routers": 2, "terminals_per_router": 4}}"#;
const ON_OFF: &str = r#"{"idle_timeout": {"rho": 0.8, "transition": "25ns"}}"#;
/// A policy with a break-even point of 506 cycles at 1 of 12 lanes. In flits, the break-even point is 506 / 11 = 46.
const HIGH_LOW: &str = r#"{"idle_timeout":
    {"idle": "600ns", "transition": "506ns", "to": "low", "changes": "stop", "switch_at": "break_even"}}"#;
const ENOUGH: u64 = 46;

fn lanes() -> Modes {
    let lanes = |name: &str, of: u128| Mode::carrying(name, modes::share(of, 12, "rate").expect("a rate"));
    Modes::new(vec![lanes("low", 1), lanes("half", 6), Mode::dark("nap")], "power.modes").expect("modes")
}

fn state(name: &str) -> LinkState {
    lanes().find(name).expect("a mode")
}

fn pair(policy_json: &str) -> Spec {
    let mut spec = spec(PAIR, DOR);
    spec.modes = lanes();
    pattern(&mut spec, r#"{"neighbor": {}}"#);
    policy(&mut spec, policy_json);
    spec
}

/// Sets load 0 until cycle `from`, and load `load` at each terminal from then on.
fn busy_from(spec: &mut Spec, from: u64, load: f64) {
    spec.set_load(0.0);
    let idle = spec.traffic.jobs[0].phases[0].clone();
    let busy = LoadPhase { from, load: vec![load; idle.load.len()], ..idle };
    spec.traffic.jobs[0].phases.push(busy);
}

fn between(out: &Outcome) -> impl Iterator<Item = &ChannelCount> {
    out.channels.iter().filter(|c| c.from.is_some() && c.to.is_some())
}

#[test]
fn an_idle_channel_is_on_for_the_transition_over_rho() {
    // idle time = transition / rho: 25 / 0.8 = 31.25 cycles are rounded up; 20 / 0.8 = 25 and 9 / 0.9 = 10 are whole numbers
    for (rho, transition, idle) in [(0.8, 25, 32), (0.8, 20, 25), (0.9, 9, 10), (1.0, 25, 25)] {
        for (to, rest) in [("off", "off"), ("low", "low")] {
            let mut spec = pair(&format!(
                r#"{{"idle_timeout": {{"rho": {rho}, "transition": "{transition}ns", "to": "{to}", "changes": "stop"}}}}"#
            ));
            spec.set_load(0.0);
            phases(&mut spec, 0, 1000);
            for c in between(&run(&spec)) {
                let cycles = ["on", "draining", rest].map(|name| c.cycles[state(name)]);
                assert_eq!(cycles, [idle, transition, 1000 - idle - transition], "{rho}: {c:?}");
            }
        }
    }
}

/// Each link of the path is off, and wakes when the packet requests this link.
#[test]
fn a_packet_through_sleeping_links_waits_for_each_of_them() {
    for (flits, terminals) in [(1, false), (5, false), (1, true), (5, true)] {
        let mut spec = spec(HYPERX, DOR);
        policy(&mut spec, ON_OFF);
        spec.managed[0] = terminals;
        packets(&mut spec, flits, VirtualCutThrough, 32);
        // a packet waits for the link of its terminal before it enters the network
        let wait = 25 * u64::from(terminals);
        check_t0_after(wait, spec, 3, |spec, hops| t0(spec, hops) + 25 * hops + 2 * wait);
    }
}

/// A packet of n flits takes 11 n additional cycles over channels with 1 of 12 lanes. The delay occurs once, for any number of such
/// channels on the path. One such packet does not cause a change of mode.
#[test]
fn a_packet_through_a_low_link_crosses_at_once_and_changes_nothing() {
    for (flits, terminals) in [(1, false), (5, false), (1, true), (5, true)] {
        let mut spec = pair(HIGH_LOW);
        spec.managed[0] = terminals;
        packets(&mut spec, flits, VirtualCutThrough, 32);
        check_t0(spec.clone(), 0, |spec, hops| t0(spec, hops) + 11 * u64::from(flits));
        alone(&mut spec, 0, 300);
        phases(&mut spec, 2000, 4000);
        let out = run(&spec);
        assert!(between(&out).all(|c| c.cycles[state("low")] == 4000 && c.transitions == 0));
    }
}

/// From cycle 2,000 on, 4 terminals send one flit per cycle each. The flits of cycle c arrive at the router in cycle c + 1, because their
/// link takes 1 cycle. The link sends one of these flits every 12 cycles, and no flit waits behind the switch. Each cycle 4 flits arrive,
/// so 46 flits wait after 12 cycles; at most 2 have left.
#[test]
fn the_change_begins_when_enough_flits_wait() {
    for blocks in [1, 2] {
        let mut spec = pair(HIGH_LOW);
        (spec.router.output_buffer, spec.phases.drain_limit) = (Some(0), 1);
        queues(&mut spec, 4, 32);
        record_link_states(&mut spec, 1 << 16);
        // without traffic, links are in the low mode from cycle 600 + 506 on
        busy_from(&mut spec, 2000, 1.0);
        phases(&mut spec, 0, 4000);
        let out = run_as(&spec, Execution::new(1, blocks));
        let Spans { spans, .. } = link_modes(&out, &lanes());
        for (number, _) in out.channels.iter().enumerate().filter(|(_, c)| c.from.is_some() && c.to.is_some()) {
            let own: Vec<_> = spans.iter().filter(|span| span.channel == number as u32).collect();
            let states: Vec<LinkState> = own.iter().map(|span| span.state).collect();
            let names = ["on", "draining", "low", "waking", "on"].map(state);
            assert_eq!(states, names, "{own:?}");
            let enough = 2001 + ENOUGH.div_ceil(4);
            // the flit that is on the link when enough flits wait takes at most 12 more cycles
            assert!((enough..=enough + 1 + 12).contains(&own[3].from), "{own:?}");
            assert_eq!(own[3].to - own[3].from, 506);
            assert_eq!((own[0].to, own[1].to), (600, 1106));
        }
    }
}

#[test]
fn a_terminal_counts_the_packets_that_wait_at_its_sources() {
    for queued in [false, true] {
        let mut spec = pair(HIGH_LOW);
        spec.managed[0] = true;
        if queued {
            let class = weft_engine::classes::MessageClass {
                name: "all".into(),
                priority: 0,
                vcs: weft_engine::classes::ClassVcs::Equal,
                rate: None,
            };
            spec.classes = vec![class];
            spec.interface.queueing = weft_engine::classes::Queueing::PerClass;
        }
        busy_from(&mut spec, 2000, 0.5);
        phases(&mut spec, 0, 4000);
        record_link_states(&mut spec, 1 << 16);
        let out = run(&spec);
        let Spans { spans, .. } = link_modes(&out, &lanes());
        for (number, _) in out.channels.iter().enumerate().filter(|(_, c)| c.from.is_none()) {
            let up = spans.iter().find(|span| span.channel == number as u32 && span.state == LinkState::Waking);
            // per cycle, 0.5 flits arrive and 1/12 leaves, so 46 flits wait after 110 cycles; the tolerance is 3 deviations of a Bernoulli
            // count (5 each)
            let up = up.expect("a change").from;
            assert!((2000 + 70..2000 + 170).contains(&up), "{queued}: {up}");
        }
    }
}

#[test]
fn no_flit_crosses_a_channel_in_transition_and_residencies_sum_up() {
    let high_low = |rest: &str| {
        let text = r#"{"idle_timeout": {"idle": "30ns", "transition": "25ns", "to": "low", REST}}"#;
        text.replace("REST", rest)
    };
    let policies = [
        ON_OFF.to_owned(),
        high_low(r#""changes": "stop", "switch_at": "break_even""#),
        high_low(r#""changes": "carry", "switch_at": "48B""#),
        high_low(r#""changes": "stop_up", "switch_at": "100B""#),
        high_low(r#""changes": "stop_down", "switch_at": "1b""#),
    ];
    let networks = [(DOR, false, 1), (DOR, true, 5), (ADAPTIVE, true, 1), (UGAL, false, 5)];
    for (case, policy_json) in policies.into_iter().enumerate() {
        for &(routing_json, terminals, flits) in in_turn(case, &networks) {
            let mut spec = spec(r#"{"hyperx": {"widths": [3, 3], "terminals_per_router": 2}}"#, routing_json);
            spec.modes = lanes();
            policy(&mut spec, &policy_json);
            spec.managed[0] = terminals;
            packets(&mut spec, flits, VirtualCutThrough, 16);
            load_steps(&mut spec, 7, 30_000);
            let what = format!("{policy_json}, {routing_json}, {terminals}, {flits} flits");
            let out = run(&spec);
            assert_drained(&out);
            check_account(&spec, &out);
            for c in &out.channels {
                assert_eq!(c.flits[LinkState::Draining] + c.flits[LinkState::Waking], 0, "{what}: {c:?}");
            }
            let moved = |c: &ChannelCount| c.transitions > 4 && c.flits[LinkState::On] > 0;
            assert!(between(&out).any(moved), "{what}: no channel comes back");
            assert_same(&out, &run_as(&spec, Execution::new(2, 3)), &what);
            assert_same(&out, &run_as(&spec, Execution::new(1, 1).plain()), &what);
        }
    }
}

/// Long packets in buffers of two flits (worms) hold channels whose mode must change.
#[test]
fn worms_get_through_links_that_change() {
    let mut spec = spec(TORUS, DOR);
    spec.modes = lanes();
    policy(
        &mut spec,
        r#"{"idle_timeout": {"idle": "30ns", "transition": "25ns", "to": "half", "changes": "stop", "switch_at": "64B"}}"#,
    );
    packets(&mut spec, 12, weft_engine::spec::FlowControl::Wormhole, 2);
    load_steps(&mut spec, 3, 60_000);
    assert_drained(&run(&spec));
}

#[test]
fn parameters_that_contradict_each_other_are_refused_with_the_arithmetic() {
    let message_of = |rest: &str| {
        let spec = pair(&format!(r#"{{"idle_timeout": {{"transition": "25ns", {rest}}}}}"#));
        let refusal = check(&spec).expect_err(rest);
        format!("{}: {}; {}", refusal.path, refusal.what, refusal.help)
    };
    for (rest, expected) in [
        (
            r#""rho": 1.25"#,
            "idle_timeout.rho: 1.25: a channel would go down after 25ns / 1.25 = 20 cycles, but a change takes longer: 25 cycles",
        ),
        (r#""rho": 0"#, "idle_timeout.rho: 0 is not a valid share of the idle time"),
        (r#""rho": -1"#, "idle_timeout.rho: -1 is not a valid share of the idle time"),
        (r#""rho": 0.9, "idle": "40ns""#, "idle_timeout.rho: 0.9, and idle is 40ns"),
        (r#""to": "off""#, "power.policy.idle_timeout: the key `idle` is missing"),
        (
            r#""idle": "40ns", "switch_at": "break_even""#,
            "idle_timeout.switch_at: this key needs a mode in which packets cross the channel at a lower rate",
        ),
        (r#""idle": "40ns", "to": "nap", "switch_at": "break_even""#, "write `to: low` or `to: half`"),
    ] {
        let said = message_of(rest);
        assert!(said.contains(expected), "{said}");
    }
    // 4 terminals send to the link; each has a buffer of 2 VCs with 5 flits at the router
    let mut small = pair(HIGH_LOW);
    queues(&mut small, 2, 5);
    let refusal = check(&small).expect_err("too small");
    let what = "46 flits must wait for a channel of class dim0, but the buffers of router 0 hold at most 40 flits of \
                packets for this channel";
    assert!(refusal.path.ends_with("idle_timeout.switch_at") && refusal.what.contains(what), "{refusal}");
    assert!(refusal.help.contains("write `switch_at: 5120b` or less, or larger links.*.buffer"), "{refusal}");
    policy(&mut small, &HIGH_LOW.replace("break_even", "5120b"));
    check(&small).expect("the size that the message says");
    // the values that the remedies of other messages propose must work
    for rest in [r#""rho": 1"#, r#""idle": "20cycles""#, r#""idle": "40ns", "to": "low", "switch_at": "break_even""#] {
        check(&pair(&format!(r#"{{"idle_timeout": {{"transition": "25ns", {rest}}}}}"#))).expect(rest);
    }
}
