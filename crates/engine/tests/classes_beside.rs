//! Tests message classes together with power policies, faults and slow injection links. Also tests when a run with classes counts as
//! settled.

use super::theory::{check_t0, t0};
use crate::common::*;
use std::collections::BTreeMap;
use weft_engine::classes::{ClassVcs, InjectionRule, InterfaceSpec, MessageClass, Queueing};
use weft_engine::outcome::Ending;
use weft_engine::power::{LinkState, PolicyConfig};
use weft_engine::spec::FlowControl::VirtualCutThrough;
use weft_engine::spec::{Execution, Fault, Job, LoadPhase, Part, Rate, Stop};
use weft_engine::{Outcome, Spec};

/// Splits a job into two message classes with separate VCs. A quarter of the load has the high priority.
fn in_two_classes(spec: &mut Spec, flits: u32) {
    let class = |name: &str, priority| MessageClass { name: name.into(), priority, vcs: ClassVcs::Equal, rate: None };
    spec.classes = vec![class("bulk", 0), class("control", 1)];
    spec.interface =
        InterfaceSpec { queueing: Queueing::PerClass, rule: InjectionRule::Priority, ..InterfaceSpec::default() };
    packets(spec, flits, VirtualCutThrough, 2 * flits);
    spec.links.iter_mut().for_each(|link| link.vcs *= 2);
    let share = |job: &mut Job, share: f64| {
        let loads = job.phases.iter_mut().flat_map(|phase| &mut phase.load);
        loads.for_each(|load| *load *= share);
    };
    let mut high = Job { name: "control".into(), class: 1, ..spec.traffic.jobs[0].clone() };
    share(&mut spec.traffic.jobs[0], 0.75);
    share(&mut high, 0.25);
    spec.traffic.jobs.push(high);
}

/// Sets the load of all jobs to 0 from cycle `at` on.
fn silent_from(spec: &mut Spec, at: u64) {
    for job in &mut spec.traffic.jobs {
        let first = &job.phases[0];
        let silence = LoadPhase { from: at, load: vec![0.0; first.load.len()], ..first.clone() };
        job.phases.push(silence);
    }
}

/// Checks that the sums over the classes equal the sums of the run, and that 3 blocks give the same results as 1 block.
fn check_classes(spec: &Spec, what: &str) -> Outcome {
    let out = run(spec);
    let of_classes = |of: fn(&weft_engine::outcome::ClassOutcome) -> u64| out.classes.iter().map(of).sum::<u64>();
    assert_eq!(out.ending, Ending::Drained, "{what}");
    assert_eq!(of_classes(|class| class.packets.sums.packets), out.sums.packets, "{what}");
    assert_eq!(of_classes(|class| class.accepted_flits), out.accepted_flits, "{what}");
    assert_eq!(of_classes(|class| class.injected_flits), out.injected_flits, "{what}");
    assert!(out.classes.iter().all(|class| class.packets.sums.packets > 0), "{what}");
    let other = run_as(spec, Execution::new(1, 3));
    assert_same(&out, &other, what);
    let sums_of = |out: &Outcome| format!("{:?}", out.classes.iter().map(|c| &c.packets.sums).collect::<Vec<_>>());
    assert_eq!(sums_of(&out), sums_of(&other), "{what}");
    out
}

#[test]
fn under_every_policy_both_classes_arrive_and_accounts_close() {
    let most = if all_cases() { 2 } else { 1 };
    let mut ran: BTreeMap<&str, u32> = BTreeMap::new();
    for (turn, e) in in_their_turns(&POLICIES) {
        if ran.get(e.policy.name()).is_some_and(|&times| times >= most) {
            continue;
        }
        let mut spec = e.pair.spec();
        (spec.policy, spec.managed) = (e.policy.clone(), e.managed.clone());
        spec.set_load(0.1);
        in_two_classes(&mut spec, [1, 5][turn % 2]);
        silent_from(&mut spec, 1500);
        // four times as long as the load lasts, because links go off and wake repeatedly
        phases(&mut spec, 0, 6000);
        if weft_engine::check(&spec).is_err_and(|refusal| refusal.what.contains("VCs")) {
            continue; // the links have too few VCs for twice the routing's classes
        }
        let what = format!("{e}");
        let out = check_classes(&spec, &what);
        check_account(&spec, &out);
        assert_eq!((out.missing_packets, out.sums.flits), (0, out.offered_flits), "{what}");
        *ran.entry(e.policy.name()).or_insert(0) += 1;
    }
    assert!(ran.len() == PolicyConfig::NAMES.len() || !all_are_tested(), "{ran:?}");
}

#[test]
fn what_fails_takes_nothing_of_a_class_with_it_that_is_not_counted() {
    let link = |a, b, at, until| Fault { what: Part::Link([a, b]), at, until };
    let router = |router, at, until| Fault { what: Part::Router(router), at, until };
    let all = [
        vec![link(0, 1, 200, Some(900))],
        vec![link(0, 1, 200, Some(900)), router(6, 400, Some(800))],
        vec![router(5, 300, None)],
    ];
    for (network, routing) in [(TORUS, DOR), (HYPERX, ADAPTIVE), (MESH, r#"{"up_down_any": {}}"#), (TORUS, ECMP)] {
        for (flits, faults) in [1, 5, 1].into_iter().zip(&all) {
            for policy_json in [ALWAYS_ON, IDLE_TIMEOUT] {
                let mut spec = spec(network, routing);
                policy(&mut spec, policy_json);
                spec.set_load(0.2);
                in_two_classes(&mut spec, flits);
                silent_from(&mut spec, 1200);
                phases(&mut spec, 0, 12_000);
                spec.links.iter_mut().for_each(|link| link.vcs = 16);
                spec.faults.clone_from(faults);
                let what = format!("{network}, {routing}, {policy_json}, {faults:?}");
                weft_engine::check(&spec).unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
                mark_checked(&mut spec);
                let out = check_classes(&spec, &what);
                assert_eq!((out.missing_packets, out.sums.flits + out.dropped_flits), (0, out.offered_flits), "{what}");
                let dark =
                    |c: &weft_engine::outcome::ChannelCount| c.flits[LinkState::Off] + c.flits[LinkState::Waking];
                assert!(out.channels.iter().all(|c| dark(c) == 0), "{what}");
                assert!(out.channels.iter().all(|c| c.cycles.iter().sum::<u64>() == out.window), "{what}");
            }
        }
    }
}

/// Gives the spec one message class, whose packets wait in a queue of the network interface.
fn queued(spec: &mut Spec, rule: InjectionRule) {
    spec.classes = vec![MessageClass { name: "all".into(), priority: 0, vcs: ClassVcs::Equal, rate: None }];
    spec.interface = InterfaceSpec { queueing: Queueing::PerClass, rule, ..InterfaceSpec::default() };
}

#[test]
fn a_packet_of_a_queue_takes_the_time_of_its_slow_injection_link() {
    // A flit takes 4 cycles on the links of terminals. The next link receives the whole flit 3 cycles later than at full rate, and each
    // further flit follows 4 cycles after the previous flit. The fast link is followed by the link to the destination terminal, which again
    // takes 4 cycles for the flit.
    for flits in [1, 2, 7] {
        for rule in [InjectionRule::RoundRobin, InjectionRule::Oldest] {
            let mut spec = spec(HYPERX, DOR);
            packets(&mut spec, flits, VirtualCutThrough, 32);
            spec.links[0].rate = Rate::new(1, 4, "rate").expect("a rate");
            queued(&mut spec, rule);
            check_t0(spec, 3, |spec, hops| t0(spec, hops) + 3 * u64::from(flits) + 3 * hops.min(1));
        }
    }
}

#[test]
fn the_queues_of_a_slow_injection_link_share_its_rate() {
    // each class alone offers more than the link of its terminal carries, which is 2/5 of a flit per cycle
    let mut spec = spec(SINGLE, DOR);
    pattern(&mut spec, r#"{"random_permutation": {}}"#);
    spec.set_load(1.0);
    in_two_classes(&mut spec, 1);
    spec.traffic.jobs.iter_mut().for_each(|job| job.phases[0].load.fill(0.5));
    spec.interface.rule = InjectionRule::RoundRobin;
    spec.links[0].rate = Rate::new(2, 5, "rate").expect("a rate");
    phases(&mut spec, 1000, 5000);
    let out = run(&spec);
    let injected: Vec<u64> = out.classes.iter().map(|class| class.injected_flits).collect();
    assert_eq!(injected.iter().sum::<u64>(), 8 * 2000, "{injected:?}");
    // Queues take turns, so each of 8 terminals sends the same number of flits of both classes. At each end of the window the numbers may
    // differ by a flit.
    assert!(injected[0].abs_diff(injected[1]) <= 2 * 8, "{injected:?}");
    spec.interface.rule = InjectionRule::Priority;
    let out = run(&spec);
    // the high class offers more flits than the link carries, so packets of the low class wait forever
    assert_eq!(out.classes[1].injected_flits, 8 * 2000);
}

// ---- settling -------------------------------------------------------------------------------------------------------

/// Each terminal sends one flit of the high class per cycle, and the latencies of this class are all equal. The link of the terminal has no
/// cycles left for the low class, which offers `low` flits per cycle.
fn low_class_starves(low: f64) -> Spec {
    let mut spec = spec(SINGLE, DOR);
    pattern(&mut spec, r#"{"random_permutation": {}}"#);
    in_two_classes(&mut spec, 1);
    queues(&mut spec, 4, 16);
    for (job, load) in spec.traffic.jobs.iter_mut().zip([low, 1.0]) {
        job.phases[0].load.fill(load);
    }
    (spec.phases.drain_limit, spec.phases.window) = (100, 2000);
    spec
}

#[test]
fn a_warm_up_waits_for_the_class_that_settles_last() {
    for (low, settles) in [(0.01, false), (0.0, true)] {
        let mut spec = low_class_starves(low);
        (spec.phases.auto_warmup, spec.phases.warmup) = (true, 20_000);
        let out = run(&spec);
        assert_eq!(out.decisions.settled, Some(settles), "{low} flits per cycle of the low class");
        assert_eq!(out.classes[0].packets.sums.packets, 0);
    }
}

#[test]
fn a_mean_is_known_well_enough_when_that_of_each_class_is() {
    for (low, confident) in [(0.01, false), (0.0, true)] {
        let mut spec = low_class_starves(low);
        spec.phases.stop = Stop::Confidence { share: 0.1, window: 20_000 };
        spec.phases.warmup = 1000;
        assert_eq!(run(&spec).decisions.confident, Some(confident), "{low} flits per cycle of the low class");
    }
}
