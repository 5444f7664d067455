//! Tests message classes, and the queues of network interfaces for them.

use crate::common::*;
use std::sync::Arc;
use weft_engine::classes::{ClassVcs, InjectionRule, InterfaceSpec, MessageClass, Queueing};
use weft_engine::outcome::{Cause, Ending};
use weft_engine::power::LinkState;
use weft_engine::spec::FlowControl::VirtualCutThrough;
use weft_engine::spec::{Execution, Job, Rate, Stop};
use weft_engine::workload::{WorkloadConfig, request_reply::RequestReply};
use weft_engine::{Outcome, Spec};
use weft_traffic::{Pattern, PatternConfig, Population, mix};
use weft_units::Flits;

const MESH_4X4: &str = r#"{"mesh": {"widths": [4, 4], "terminals_per_router": 1}}"#;

fn class(name: &str, priority: u8, vcs: ClassVcs) -> MessageClass {
    MessageClass { name: name.into(), priority, vcs, rate: None }
}

fn per_class(rule: InjectionRule) -> InterfaceSpec {
    InterfaceSpec { queueing: Queueing::PerClass, rule, ..InterfaceSpec::default() }
}

fn among(ranks: usize, json: &str) -> Arc<Pattern> {
    let config: PatternConfig = serde_json::from_str(json).expect("a pattern");
    config.build(&Population::of(ranks as u32), "pattern").expect("it fits").into()
}

/// A job of message class `class`. Its terminals send to each other at random.
fn job(name: &str, class: u8, terminals: Vec<u32>, load: f64, flits: u32) -> Job {
    let pattern = among(terminals.len(), r#"{"uniform": {}}"#);
    Job { class, ..Job::steady(name, terminals, pattern, load, flits) }
}

/// Every terminal offers full load of packets of the low class, each with `low` flits. In addition, the two terminals in the corners of the
/// mesh send each other a few packets of one flit, in the high class.
fn critical_beside_bulk(low: u32) -> Spec {
    let mut spec = spec(MESH_4X4, DOR);
    queues(&mut spec, 4, 64);
    spec.router.speedup = 1;
    spec.classes = vec![class("bulk", 0, ClassVcs::Equal), class("control", 1, ClassVcs::Equal)];
    spec.interface = per_class(InjectionRule::Priority);
    let corners = Job { ..job("control", 1, vec![0, 15], 0.02, 1) };
    spec.traffic.jobs = vec![job("bulk", 0, (0..16).collect(), 0.98, low), corners];
    phases(&mut spec, 2000, 8000);
    spec
}

/// The latency of a single packet between the corners, without other traffic. The corners are 6 links and 7 routers apart; each router
/// takes `delay`, and each link its latency.
fn alone(spec: &Spec) -> u64 {
    7 * spec.router.delay + 6 * spec.links[1].latency + 2 * spec.links[0].latency + spec.router.ejection_delay
}

#[test]
fn the_high_class_does_not_notice_low_packets_whose_flits_give_way() {
    for (low, plain) in [(1, false), (16, false), (16, true)] {
        let spec = critical_beside_bulk(low);
        let how = Execution::new(1, 1);
        let out = run_as(&spec, if plain { how.plain() } else { how });
        let high = &out.classes[1].packets;
        // Each output gets one flit per step, so no flit waits behind the switch for the link. The flit of the high class wins each step.
        // The VCs of the high class are free, because the load of the two terminals is only 0.02.
        assert!(high.sums.packets > 200, "{}", high.sums.packets);
        assert_eq!((high.latency.min(), high.latency.max()), (alone(&spec), alone(&spec)), "{low} flits");
        // packets of the low class fill the channels in the middle, so some of them wait long
        assert!(out.classes[0].packets.latency.max() > 10 * alone(&spec));
    }
}

#[test]
fn one_low_packet_per_hop_is_all_that_the_high_class_waits_for() {
    let mut spec = critical_beside_bulk(16);
    spec.router.hold_switch = true;
    let out = run(&spec);
    let high = &out.classes[1].packets;
    // An output that has begun a packet of 16 flits finishes this packet first. At the terminal and at each of 7 routers, a head therefore
    // waits for the 15 other flits of that packet. The head waits one more step, because the tail frees the output in the step in which it
    // leaves.
    let most = alone(&spec) + 8 * 16;
    assert!(high.latency.min() >= alone(&spec));
    assert!(high.latency.max() > alone(&spec), "some packet waits");
    assert!(high.latency.max() <= most, "{} cycles, at most {most}", high.latency.max());
}

#[test]
fn without_priority_the_classes_share_a_full_channel_evenly() {
    // four terminals of a router send flits of both classes to the fifth terminal, more than its channel carries
    let mut spec = spec(r#"{"single_router": {"terminals": 8}}"#, DOR);
    queues(&mut spec, 4, 16);
    let to_first = among(8, r#"{"hot_spot": {"targets": [0], "share": 1.0}}"#);
    let one = |name: &str, class: u8| Job { class, ..Job::steady(name, (0..8).collect(), to_first.clone(), 0.4, 1) };
    spec.classes = vec![class("a", 0, ClassVcs::Own(2)), class("b", 0, ClassVcs::Own(2))];
    spec.interface = per_class(InjectionRule::RoundRobin);
    spec.traffic.jobs = vec![one("a", 0), one("b", 1)];
    phases(&mut spec, 1000, 4000);
    let out = run(&spec);
    let [a, b] = [0, 1].map(|k: usize| out.classes[k].accepted_flits);
    assert!((a + b).abs_diff(4000) <= 2, "the channel is full: {a} + {b}");
    // round-robin arbiters choose among inputs and VCs, which contain both classes equally, so the classes differ by at most 5 %
    assert!(a.abs_diff(b) < 200, "{a} and {b}");
    spec.classes[1].priority = 1;
    spec.interface.rule = InjectionRule::Priority;
    // 8 terminals offer a total of 3.2 flits per cycle of the high class, but the channel carries 1 flit per cycle
    let low = |change: fn(&mut Spec)| {
        let mut spec = spec.clone();
        change(&mut spec);
        run(&spec).classes[0].accepted_flits
    };
    assert!(low(|spec| spec.router.speedup = 1) < 40);
    assert!(low(|spec| spec.router.output_buffer = Some(2)) < 40);
    // at speedup 2, granted flits wait behind the switch for the link, in the order of their grants, up to the number of credits
    assert!(low(|_| {}) > 1000);
}

#[test]
fn queues_that_hold_one_class_change_nothing() {
    for (flits, load) in [(1, 0.3), (5, 0.3), (5, 1.0), (40, 0.6)] {
        for workload in [WorkloadConfig::default(), request_reply(3, None), request_reply(3, Some(2))] {
            for network in [TORUS, HYPERX] {
                let mut spec = spec(network, DOR);
                packets(&mut spec, flits, VirtualCutThrough, 64);
                phases(&mut spec, 300, 1200);
                spec.traffic.jobs[0].workload = workload.clone();
                spec.set_load(load);
                let usual = run(&spec);
                spec.classes = vec![class("all", 0, ClassVcs::Equal)];
                for queueing in [Queueing::One, Queueing::PerClass] {
                    spec.interface.queueing = queueing;
                    let out = run(&spec);
                    let what = format!("{flits} flits at {load} under {}", workload.name());
                    assert_eq!((&out.ending, &out.sums), (&usual.ending, &usual.sums), "{what}");
                    assert_eq!(out.backlog_packets, usual.backlog_packets, "{what}");
                    assert_eq!(out.jobs[0].injected_flits, usual.injected_flits, "{what}");
                    assert_eq!(out.classes[0].packets.sums, usual.sums, "{what}");
                }
            }
        }
    }
}

#[test]
fn a_limited_queue_injects_at_its_rate() {
    let mut spec = spec(r#"{"single_router": {"terminals": 8}}"#, DOR);
    queues(&mut spec, 4, 32);
    spec.classes = vec![class("slow", 0, ClassVcs::Equal), class("fast", 0, ClassVcs::Equal)];
    spec.classes[0].rate = Some(Rate::new(3, 16, "rate").expect("a rate"));
    spec.interface = per_class(InjectionRule::RoundRobin);
    spec.traffic.jobs = vec![job("slow", 0, (0..8).collect(), 0.5, 4), job("fast", 1, (0..8).collect(), 0.2, 4)];
    phases(&mut spec, 1600, 16_000);
    let out = run(&spec);
    // 8 terminals each send 3 flits in 16 cycles, that is, 8 x 3,000 in the window. At each end of the window the error is at most one
    // packet of 4 flits
    assert!(out.classes[0].injected_flits.abs_diff(24_000) <= 8 * 4, "{}", out.classes[0].injected_flits);
    // the other class is not limited: 8 x 16,000 x 0.2 flits in packets of 4 flits, with 3 standard deviations of a Bernoulli count
    let (expected, deviation) = (25_600.0, 4.0 * 6_400f64.sqrt());
    let fast = out.classes[1].injected_flits as f64;
    assert!((fast - expected).abs() < 3.0 * deviation, "{fast}");
}

#[test]
fn a_packet_does_not_wait_behind_one_for_another_terminal() {
    // terminals 4 to 7 fill the channel of terminal 0; terminal 1 sends equal numbers of packets to terminals 0 and 2
    let blocked = |queueing: Queueing| {
        let mut spec = spec(r#"{"single_router": {"terminals": 8}}"#, DOR);
        queues(&mut spec, 8, 2);
        let hot = among(5, r#"{"hot_spot": {"targets": [0], "share": 1.0}}"#);
        let both = among(3, r#"{"hot_spot": {"targets": [0], "share": 0.5}}"#);
        spec.classes = vec![class("hot", 0, ClassVcs::Shared), class("both", 0, ClassVcs::Shared)];
        spec.interface = InterfaceSpec { queueing, depth: 4000, ..InterfaceSpec::default() };
        let mut two = Job { class: 1, ..Job::steady("both", vec![0, 1, 2], both, 0.0, 1) };
        two.phases[0].load[1] = 0.4;
        let four = Job::steady("hot", vec![0, 4, 5, 6, 7], hot, 1.0, 1);
        spec.traffic.jobs = vec![four, two];
        phases(&mut spec, 1000, 4000);
        let out = run(&spec);
        let to = |t: u32| {
            out.channels.iter().find(|c| c.to.is_none() && c.to_port == t).expect("a channel").flits[LinkState::On]
        };
        (to(0), to(2))
    };
    // Terminal 1 gets at most a fifth of the flits on the hot channel. By its pattern, terminal 1 sends 0.3 of 0.4 flits per cycle to
    // terminal 0: half of the packets, and half of the other packets. The other packets are uniform. Terminal 1 sends 0.1 to terminal 2.
    let (hot, cold) = blocked(Queueing::PerDestination);
    assert!(hot.abs_diff(4000) <= 2, "{hot}");
    let deviation = (4000.0f64 * 0.1 * 0.9).sqrt();
    assert!((cold as f64 - 400.0).abs() < 3.0 * deviation, "{cold} of 400");
    let (hot, slow) = blocked(Queueing::One);
    assert!(hot.abs_diff(4000) <= 2, "{hot}");
    assert!(slow < cold, "{slow} and {cold}");
}

/// Requests of 2 flits and replies of `reply` flits on the mesh of these tests, with finite buffers at the terminals.
fn finite(reply: u32, vcs: ClassVcs) -> Spec {
    let mut spec = spec(MESH_4X4, DOR);
    queues(&mut spec, 4, reply.max(2));
    spec.links[0].buffer = 2 * reply.max(2);
    spec.classes = vec![class("requests", 0, vcs), class("replies", 0, vcs)];
    spec.interface = per_class(InjectionRule::RoundRobin);
    let config = RequestReply {
        packet: Flits(reply),
        reply_class: Some("replies".into()),
        finite_buffers: true,
        ..RequestReply::default()
    };
    spec.traffic.jobs =
        vec![Job { workload: WorkloadConfig::RequestReply(config), ..job("all", 0, (0..16).collect(), 0.9, 2) }];
    phases(&mut spec, 0, 3000);
    (spec.phases.stall_limit, spec.phases.drain_limit) = (1000, 200_000);
    spec
}

#[test]
fn requests_and_replies_on_the_same_vcs_stall_with_finite_buffers() {
    let mut spec = finite(8, ClassVcs::Shared);
    let refusal = weft_engine::check(&spec).expect_err("refused");
    assert!(refusal.path.ends_with("request_reply.finite_buffers"), "{}", refusal.path);
    assert!(refusal.what.contains("`requests` and `replies` share VCs"), "{}", refusal.what);
    spec.allow_dependency_cycle = true;
    let out = run(&spec);
    let Ending::Stalled(stall) = &out.ending else { panic!("{:?}", out.ending) };
    let over_terminals = stall.wait_for.iter().any(|waits| matches!(waits.cause, Cause::Unanswered { .. }));
    assert!(over_terminals, "{:?}", stall.wait_for);
    for (waits, next) in stall.wait_for.iter().zip(stall.wait_for.iter().cycle().skip(1)) {
        assert_eq!(waits.cause.queue(), Some(next.at), "a circle");
    }
}

#[test]
fn requests_and_replies_on_vcs_of_their_own_never_stall() {
    // 100 rounds, or 10,000 with WEFT_TEST_ROUNDS=100; networks, lengths, buffers, loads and seeds are random
    for round in 0..rounds(100) {
        let draw = |what: u64, below: u64| mix(round, 36, what) % below;
        let network = [MESH_4X4, HYPERX, TORUS][draw(0, 3) as usize];
        let (request, reply) = (1 + draw(1, 6) as u32, 1 + draw(2, 9) as u32);
        let mut spec = spec(network, DOR);
        queues(&mut spec, 4, request.max(reply) + draw(3, 3) as u32);
        spec.classes = vec![class("requests", 0, ClassVcs::Equal), class("replies", draw(4, 2) as u8, ClassVcs::Equal)];
        spec.interface = per_class(InjectionRule::RoundRobin);
        let config = RequestReply {
            packet: Flits(reply),
            reply_class: Some("replies".into()),
            finite_buffers: true,
            outstanding: (draw(5, 2) == 0).then_some(1 + draw(6, 8) as u32),
            ..RequestReply::default()
        };
        let terminals = (0..spec.graph.terminals()).collect();
        let load = 0.2 + draw(7, 9) as f64 / 10.0;
        let workload = WorkloadConfig::RequestReply(config);
        spec.traffic.jobs = vec![Job {
            workload,
            batch: Some(vec![20; spec.graph.terminals() as usize]),
            ..job("all", 0, terminals, load.min(1.0), request)
        }];
        (spec.phases.stop, spec.phases.window, spec.phases.stall_limit) = (Stop::Complete, 200_000, 1000);
        (spec.phases.warmup, spec.seed) = (0, round);
        let out = run(&spec);
        assert_eq!(out.ending, Ending::Drained, "round {round}");
        // one request and one reply for each of the 20 packets of a terminal
        assert_eq!(out.sums.packets, 40 * u64::from(spec.graph.terminals()), "round {round}");
    }
}

/// Test cases with every kind of interface queue, and with packets of one flit and of several flits.
fn cases() -> Vec<(&'static str, Spec)> {
    let mut adaptive = critical_beside_bulk(5);
    adaptive.routing = routing(UGAL);
    queues(&mut adaptive, 8, 64);
    let mut single = critical_beside_bulk(1);
    single.interface.queueing = Queueing::One;
    let mut destinations = critical_beside_bulk(3);
    (destinations.interface.queueing, destinations.interface.depth) = (Queueing::PerDestination, 3);
    destinations.interface.queues = 5;
    let mut limited = critical_beside_bulk(4);
    limited.classes[0].rate = Some(Rate::new(2, 7, "rate").expect("a rate"));
    vec![
        ("adaptive", adaptive),
        ("one queue", single),
        ("destinations", destinations),
        ("limited", limited),
        ("finite", finite(8, ClassVcs::Equal)),
    ]
}

#[test]
fn blocks_threads_and_checkpoints_change_nothing() {
    for (what, mut spec) in cases() {
        phases(&mut spec, 200, 600);
        let one = run_as(&spec, Execution::new(1, 1));
        for how in [Execution::new(1, 3), Execution::new(2, 4), Execution::new(1, 1).plain()] {
            let other = run_as(&spec, how);
            assert_same(&one, &other, what);
            let by_class = |out: &Outcome| {
                out.classes
                    .iter()
                    .map(|c| (c.injected_flits, c.accepted_flits, c.packets.sums.clone()))
                    .collect::<Vec<_>>()
            };
            assert_eq!(by_class(&one), by_class(&other), "{what}");
        }
        let (plain, checkpoints) = run_keeping(&spec, Execution::new(1, 2));
        assert_resumes(&spec, &plain, &checkpoints, what);
    }
}

#[test]
fn all_packets_of_a_load_that_is_carried_arrive() {
    for (what, mut spec) in cases() {
        phases(&mut spec, 500, 3000);
        // little more than this load is possible, because replies are four times as long as requests and buffers have space for one packet
        spec.set_load(0.02);
        let out = run(&spec);
        assert_eq!(out.ending, Ending::Drained, "{what}");
        check_account(&spec, &out);
        let classes: u64 = out.classes.iter().map(|class| class.packets.sums.packets).sum();
        let jobs: u64 = out.jobs.iter().map(|job| job.packets.sums.packets).sum();
        assert_eq!((classes, jobs, out.missing_packets), (out.sums.packets, out.sums.packets, 0), "{what}");
        assert_eq!(out.jobs.iter().map(|job| job.injected_flits).sum::<u64>(), out.injected_flits, "{what}");
    }
}

#[test]
fn classes_that_can_not_work_are_refused() {
    let refused = |change: &dyn Fn(&mut Spec)| {
        let mut spec = critical_beside_bulk(4);
        change(&mut spec);
        let refusal = weft_engine::check(&spec).expect_err("refused");
        (refusal.path, refusal.what)
    };
    let (path, what) = refused(&|spec| spec.classes[1].vcs = ClassVcs::Own(4));
    assert_eq!(path, "classes.bulk.vcs");
    assert!(what.contains("has 0 of the 4 VCs"), "{what}");
    assert_eq!(refused(&|spec| spec.classes.push(class("idle", 0, ClassVcs::Equal))).0, "classes.idle");
    assert_eq!(refused(&|spec| spec.classes[1].priority = 0).0, "interface.rule");
    let without = refused(&|spec| {
        spec.classes.clear();
        spec.traffic.jobs.truncate(1);
    });
    assert_eq!(without.0, "interface.queues");
    let reply = |class: &str| {
        let config = RequestReply { reply_class: Some(class.into()), finite_buffers: true, ..RequestReply::default() };
        WorkloadConfig::RequestReply(config)
    };
    let unknown = refused(&|spec| spec.traffic.jobs[0].workload = reply("controls"));
    assert_eq!(unknown.0, "traffic.jobs.0.workload.request_reply.reply_class");
    // here class bulk waits for class control, and class control waits for class bulk
    let (path, what) = refused(&|spec| {
        spec.traffic.jobs[0].workload = reply("control");
        spec.traffic.jobs[1].workload = reply("bulk");
    });
    assert_eq!(path, "traffic.jobs.0.workload.request_reply.finite_buffers");
    assert!(what.contains("in a cycle"), "{what}");
    let (_, what) = refused(&|spec| {
        spec.traffic.jobs[0].workload = reply("control");
        spec.interface.queueing = Queueing::One;
    });
    assert!(what.contains("the replies may then never leave"), "{what}");
}
