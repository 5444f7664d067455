//! Tests of congestion control: fair shares and full use of a bottleneck, the fixed point of DCQCN, checkpoints, and refusals.

use crate::checkpoints::check_every_phase;
use crate::common::*;
use std::sync::Arc;
use weft_engine::Spec;
use weft_engine::classes::Queueing;
use weft_engine::outcome::{Congestion, Outcome};
use weft_engine::spec::{Execution, Fault, Job, Part};
use weft_traffic::{PatternConfig, Population};

const DCQCN: &str = r#"{"dcqcn": {}}"#;

/// A network in which terminals 1 to `sources` of a router send to terminal 0 as fast as they can. A packet is one flit of 1,000 bytes, and
/// takes 200 ns at 40 Gb/s. The links of terminals have a latency of 1 us.
fn greedy(control: &str, sources: u32) -> Spec {
    let topology = format!(r#"{{"mesh": {{"widths": [2], "terminals_per_router": {}}}}}"#, sources + 1);
    let mut spec = spec(&topology, DOR);
    queues(&mut spec, 1, 4000);
    (spec.cycle_fs, spec.flit_bits) = (200_000_000, 8000);
    spec.links.iter_mut().for_each(|link| (link.latency, link.credit_latency) = (5, 5));
    spec.congestion = serde_json::from_str(control).expect("a control");
    (spec.interface.queueing, spec.interface.queues) = (Queueing::PerDestination, 8);
    let config: PatternConfig =
        serde_json::from_str(r#"{"hot_spot": {"targets": [0], "share": 1.0}}"#).expect("a pattern");
    let pattern = Arc::new(config.build(&Population::of(sources + 1), "pattern").expect("it fits"));
    let mut job = Job::steady("hot", (0..=sources).collect(), pattern, 1.0, 1);
    job.phases[0].load[0] = 0.0;
    spec.traffic.jobs = vec![job];
    spec.phases.drain_limit = 1;
    spec
}

fn congestion_of(out: &Outcome) -> &Congestion {
    out.congestion.as_ref().expect("a control")
}

/// Number of flits that each of the sources injected in the window.
fn injected(spec: &Spec, out: &Outcome, sources: u32) -> Vec<f64> {
    // the channels from terminals are at the end of the list
    let first = out.channels.len() - spec.graph.terminals() as usize;
    let of = |terminal: u32| out.channels[first + terminal as usize].flits.by_state().map(|(_, n)| n).sum::<u64>();
    (1..=sources).map(|terminal| of(terminal) as f64).collect()
}

/// Jain's fairness index: the square of the sum of the shares, divided by their number and by the sum of their squares.
fn jain(shares: &[f64]) -> f64 {
    let (sum, squares) = (shares.iter().sum::<f64>(), shares.iter().map(|share| share * share).sum::<f64>());
    sum * sum / (shares.len() as f64 * squares)
}

/// Queue length [packets] at the fixed point of the fluid model of DCQCN (Zhu et al., CoNEXT 2016, section 3.1). The model has N flows, and
/// the receiver sends each of them one notification in `tau` cycles. Rates are in packets per cycle; each flow has the rate R = 1 / N. The
/// probability p of a mark solves a^2 alpha / ((b + d)(c + e)) = tau^2 R_AI R, with a = 1 - (1 - p)^(tau R), alpha = 1 - (1 - p)^(tau' R),
/// b = p / ((1 - p)^-B - 1), c = b (1 - p)^(F B), d = p / ((1 - p)^-(T R) - 1), e = d (1 - p)^(F T R). The left side of this equation rises
/// with p.
fn fixed_point(sources: f64, tau: f64) -> f64 {
    // conversion to cycles of 200 ns (55 us), packets of 1,000 bytes (10 MB), and shares of 40 Gb/s (40 Mb/s)
    let (alpha_time, timer, bytes, stages, increase) = (275.0, 275.0, 10_000.0, 5.0, 0.001);
    let rate = 1.0 / sources;
    let excess = |p: f64| {
        let kept = |packets: f64| (1.0 - p).powf(packets);
        let (a, alpha) = (1.0 - kept(tau * rate), 1.0 - kept(alpha_time * rate));
        let (b, d) = (p / (kept(-bytes) - 1.0), p / (kept(-timer * rate) - 1.0));
        let (c, e) = (b * kept(stages * bytes), d * kept(stages * timer * rate));
        a * a * alpha / ((b + d) * (c + e)) - tau * tau * increase * rate
    };
    let (mut low, mut high) = (1e-6, 0.01);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if excess(middle) < 0.0 { low = middle } else { high = middle }
    }
    // the probability of a mark rises from 0 at 5 packets to 1 % at 200 packets
    5.0 + 195.0 * low / 0.01
}

#[test]
fn the_formula_gives_the_published_queues() {
    // the paper's results in KB, for one notification in 50 us: 20.2, 41.8 and 122.6 for 2, 4 and 10 sources
    for (sources, queue) in [(2.0, 20.2), (4.0, 41.8), (10.0, 122.6)] {
        let found = fixed_point(sources, 250.0);
        assert!((found - queue).abs() < 0.05, "{sources}: {found}");
    }
}

#[test]
fn few_sources_of_dcqcn_are_at_the_fixed_point_and_fill_a_bottleneck() {
    // each source has 1/N of the link
    for sources in [2, 4, 10] {
        let mut spec = greedy(DCQCN, sources);
        phases(&mut spec, 400_000, 400_000);
        let out = run(&spec);
        for flits in injected(&spec, &out, sources) {
            let share = flits / out.window as f64 * f64::from(sources);
            assert!((share - 1.0).abs() < 0.1, "{sources} sources: a flow has {share} of its share");
        }
        check_shares(&spec, &out, sources, true);
    }
}

/// Checks that the sources share the bottleneck evenly and, if `fills` is true, that they use at least 95 % of it.
fn check_shares(spec: &Spec, out: &Outcome, sources: u32, fills: bool) {
    let (shares, used) = (injected(spec, out, sources), out.accepted_flits as f64 / out.window as f64);
    let control = &spec.congestion;
    assert!(!fills || used >= 0.95, "{control:?}, {sources} sources: {used}");
    assert!(jain(&shares) >= 0.99, "{control:?}, {sources} sources: {}", jain(&shares));
}

#[test]
fn the_queue_of_dcqcn_is_at_the_fixed_point_if_each_mark_is_notified() {
    // In the fluid model a mark can occur at any time. But for 50 us after a notification, a receiver sends no other one. It thus drops the
    // marks that follow a rate cut, when the gap to the target rate is widest. Queues are therefore 30 % longer (see the header of the
    // model). The target rate of a source grows from the sixth event on.
    let each = r#"{"dcqcn": {"notify_every": "200ns", "fast_recovery": 6}}"#;
    let mut spec = greedy(each, 4);
    phases(&mut spec, 400_000, 800_000);
    let out = run(&spec);
    let counts = congestion_of(&out).counts;
    let (queue, expected) = (counts.waited as f64 / counts.looked as f64, fixed_point(4.0, 1.0));
    assert!((queue / expected - 1.0).abs() < 0.1, "queue {queue}, fixed point {expected}");
}

#[test]
fn many_greedy_sources_share_a_bottleneck_and_fill_it() {
    // The cases below 95 % that the headers of the models list are excluded: DCQCN with 32 sources, and the delays of InfiniBand with few
    // sources.
    for (control, fills) in [(DCQCN, false), (r#"{"infiniband": {}}"#, true)] {
        let mut spec = greedy(control, 32);
        phases(&mut spec, 200_000, 100_000);
        check_shares(&spec, &run(&spec), 32, fills);
    }
}

/// A torus with flows to a hot terminal and other flows, under a control that marks at short queues.
fn mixed(control: &str) -> Spec {
    let mut spec = spec(r#"{"torus": {"widths": [4, 4], "terminals_per_router": 1}}"#, DOR);
    queues(&mut spec, 2, 8);
    (spec.cycle_fs, spec.flit_bits) = (200_000_000, 8000);
    spec.congestion = serde_json::from_str(control).expect("a control");
    (spec.interface.queueing, spec.interface.queues, spec.interface.depth) = (Queueing::PerDestination, 32, 64);
    let config: PatternConfig =
        serde_json::from_str(r#"{"hot_spot": {"targets": [5], "share": 0.5}}"#).expect("a pattern");
    let pattern = Arc::new(config.build(&Population::of(16), "pattern").expect("it fits"));
    spec.traffic.jobs = vec![Job::steady("mixed", (0..16).collect(), pattern, 0.3, 3)];
    phases(&mut spec, 500, 4000);
    spec
}

const EARLY: &str = r#"{"dcqcn": {"mark_from": "1KB", "mark_to": "8KB", "mark_share": 1.0, "notify_every": "4us", "alpha_timer": "20us",
    "rise_timer": "20us", "rise_bytes": "200KB"}}"#;

#[test]
fn blocks_threads_shortcuts_and_checkpoints_change_nothing() {
    let spec = mixed(EARLY);
    let out = run(&spec);
    assert!(
        congestion_of(&out).counts.marked > 100 && congestion_of(&out).counts.notices > 20,
        "{:?}",
        congestion_of(&out).counts
    );
    for (threads, blocks) in [(1, 3), (2, 4), (2, 8)] {
        let other = weft_engine::run(&spec, Execution::new(threads, blocks), &()).expect("a run");
        assert_same(&out, &other, &format!("{threads} threads, {blocks} blocks"));
    }
    let plain = weft_engine::run(&spec, Execution::new(1, 1).plain(), &()).expect("a run");
    assert_same(&out, &plain, "no shortcuts");
    check_every_phase(&spec, 6, "marks");
}

#[test]
fn nothing_is_lost_when_the_network_drains() {
    let mut spec = mixed(EARLY);
    spec.set_load(0.03);
    spec.phases.drain_limit = 100_000;
    let out = run(&spec);
    assert_eq!(out.missing_packets, 0);
    let counts = congestion_of(&out).counts;
    // at the end of the drain, only a few notifications are in flight
    assert!(counts.sent > 0 && counts.sent - counts.received < 16, "{counts:?}");
}

#[test]
fn a_control_that_never_marks_changes_nothing() {
    // all ports of a router together have space for 80 flits of 1 KB; at this load, 80 flits never wait for the same output
    let never = r#"{"infiniband": {"threshold": "79KB"}}"#;
    let (with, without) = (run(&mixed(never)), run(&mixed(r#"{"none": {}}"#)));
    assert_eq!(congestion_of(&with).counts.marked, 0);
    assert_same(&Outcome { congestion: None, ..with }, &without, "no marks");
}

#[test]
fn a_misfit_is_refused_with_a_remedy_that_works() {
    let mut spec = mixed(DCQCN);
    spec.interface.queueing = Queueing::One;
    let refusal = weft_engine::check(&spec).expect_err("no queue per destination");
    assert_eq!(
        (refusal.path.as_str(), refusal.help.as_str()),
        ("congestion_control", "write `interface: {queues: per_destination}`")
    );
    spec.interface.queueing = Queueing::PerDestination;
    weft_engine::check(&spec).expect("the remedy works");
    spec.interface.queues = 64;
    let refusal = weft_engine::check(&spec).expect_err("no queue is left for notifications");
    let what = "are 65; an interface has only 64";
    assert!(refusal.what.contains(what) && refusal.help == "write 63 or fewer", "{refusal:?}");
    spec.interface.queues = 63;
    weft_engine::check(&spec).expect("the remedy works");
}

#[test]
fn marks_begin_at_the_first_queue_with_a_chance() {
    // Each port has 2 VCs of 8 flits, which is 16 flits. Four such ports and the port of the terminal have buffers for 80 flits in total.
    // With a speedup of 2, granted flits can also fill the next buffer.
    let mut spec = mixed(EARLY);
    let marking = weft_engine::marking(&spec).expect("it fits").expect("a control");
    // the probability rises from 1 KB to 8 KB, in flits of 1 KB. The second flit is the first that can be marked, and above the eighth all
    // flits are marked
    assert_eq!((marking.first, marking.most, marking.highest), (2, (96, 1.0), 1.0));
    assert_eq!(marking.ports, [(16, 1.0); 3], "terminals and two dimensions");
    spec.router.speedup = 1;
    assert_eq!(weft_engine::marking(&spec).expect("it fits").expect("a control").most, (80, 1.0));
    spec.congestion =
        serde_json::from_str(r#"{"dcqcn": {"mark_from": "5KB", "mark_to": "165KB"}}"#).expect("a control");
    let marking = weft_engine::marking(&spec).expect("it fits").expect("a control");
    // the probability rises over 160 flits to 1 %; one port holds 11 flits above the beginning of the ramp, and all ports hold 75
    let chance = |flits: f64| 0.01 * flits / 160.0;
    assert!(
        (marking.ports[1].1 - chance(11.0)).abs() < 1e-12 && (marking.most.1 - chance(75.0)).abs() < 1e-12,
        "{marking:?}"
    );
    assert_eq!((marking.first, marking.highest), (6, 1.0));
}

#[test]
fn marks_that_no_queue_reaches_are_refused_with_a_remedy_that_works() {
    for (control, path) in [
        (r#"{"dcqcn": {"mark_from": "80KB"}}"#, "congestion_control.dcqcn.mark_from"),
        (r#"{"infiniband": {"threshold": "80KB"}}"#, "congestion_control.infiniband.threshold"),
    ] {
        let mut spec = mixed(control);
        spec.router.speedup = 1;
        let refusal = weft_engine::check(&spec).expect_err("80 flits are all that can wait");
        assert_eq!(refusal.path, path);
        assert!(refusal.what.contains("80000B: at most 80000B can wait") && refusal.what.contains("80 flits of 1000B"));
        assert_eq!(refusal.help, "write less than 80000B, or give ports more memory");
        spec.congestion = serde_json::from_str(&control.replace("80KB", "79999B")).expect("a control");
        weft_engine::check(&spec).expect("the remedy works");
        spec.congestion = serde_json::from_str(control).expect("a control");
        spec.links[1].buffer = 9;
        weft_engine::check(&spec).expect("more memory works, too");
    }
}

#[test]
fn what_a_failed_router_discards_is_counted_and_sources_are_notified_again() {
    let mut spec = mixed(EARLY);
    // router 6 is next to the router of the hot terminal, and the notifications of the hot terminal pass through it
    spec.faults = vec![Fault { what: Part::Router(6), at: 1000, until: Some(2000) }];
    phases(&mut spec, 0, 100_000);
    let mut sim = weft_engine::Simulation::new(&spec, Execution::new(1, 3)).expect("a run");
    sim.advance(4000);
    sim.stop_sources();
    assert_eq!(sim.empty_within(90_000), 0);
    phases(&mut spec, 0, sim.now());
    let out = sim.run(&spec, &());
    let counts = congestion_of(&out).counts;
    assert!(counts.lost > 0 && counts.lost_marks > 0, "{counts:?}");
    assert_eq!(counts.sent, counts.received + counts.lost, "{counts:?}");
    assert_eq!(
        out.sums.packets + out.dropped_packets,
        out.jobs[0].offered_flits / 3,
        "no notification is counted as a packet"
    );
}
