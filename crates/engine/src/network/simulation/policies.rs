//! Tests that shortcuts do not change results in networks with paced channels, and with agents that switch links.

use super::Simulation;
use super::trials::{self, CHOOSING, HYPERX, NETWORKS};
use crate::network::assemble;
use crate::network::jobs::Job;
use crate::network::spec::{Execution, Rate, Spec, Stop};
use std::collections::BTreeMap;
use weft_api::base::hash::hash;
use weft_api::base::kept::{Kept, Reader, Writer};
use weft_api::spec::{FlowControl, InputSpeedup};
use weft_kernel::shortcuts::profile::{Kind, Profile, Set};
use weft_models::allocation::AllocatorConfig;
use weft_models::recording::RecordingConfig;

/// Number of random networks. In `make test-all` there are 4,000 networks.
fn cases() -> u64 {
    match trials::rounds() {
        1 => 60,
        rounds => 1_000 * rounds,
    }
}

fn spec(topology: &str, routing: &str, policy: &str, flits: u32, load: f64) -> Spec {
    let mut spec = trials::spec(topology, routing, flits, load, (300, 900));
    spec.policy = serde_json::from_str(policy).expect("a policy");
    spec
}

/// Fails if results differ from those of the cycle loop without shortcuts. Returns the shortcuts that the first block uses.
fn assert_same(spec: &Spec, what: &str) -> Profile {
    for blocks in trials::some_of(&[1, 3], what) {
        trials::assert_plain(spec, blocks, Set::ALL, what);
    }
    trials::with(spec, 1, Set::ALL).blocks[0].shortcuts().profile()
}

/// Policies whose agents do not receive events of flits.
const POLICIES: [&str; 6] = [
    r#"{"idle_timeout": {"idle": "40ns", "transition": "25ns"}}"#,
    r#"{"idle_timeout": {"idle": "15ns", "transition": "7ns"}}"#,
    r#"{"idle_timeout": {"idle": "40ns", "transition": "25ns", "to": "quarter"}}"#,
    r#"{"timetable": {"off": [{"classes": "all", "from": "20ns", "until": "60ns"}], "period": "100ns", "transition": "5ns"}}"#,
    r#"{"rate_ladder": {"epoch": "100ns", "transition": "30ns"}}"#,
    r#"{"neighbour_sleep": {"idle": "40ns", "transition": "25ns"}}"#,
];

#[test]
fn shortcuts_change_nothing_beside_agents() {
    let mut turn = 0;
    for policy in POLICIES {
        for (topology, routing) in NETWORKS.into_iter().chain(CHOOSING) {
            // each case takes the next two of the five kinds of packets
            turn += 2;
            let packets = [(1, 0.05), (8, 0.1), (40, 0.4), (1, 0.3), (40, 0.1)];
            for &(flits, load) in packets.iter().cycle().skip(turn % 5).take(2) {
                let spec = spec(topology, routing, policy, flits, load);
                let net = assemble::net(&spec).expect("a network");
                let profile =
                    assert_same(&spec, &format!("{policy}, {topology}, {routing}, {flits} flits, load {load}"));
                // a slower mode makes links paced; then heads that choose in every step do not bypass the allocator
                let is_left = net.rates.is_some() && CHOOSING.contains(&(topology, routing));
                assert_eq!(profile.has(Kind::Uncontended), !is_left, "{policy}, {routing}");
            }
        }
    }
}

/// Policies whose agents receive arrivals. Uncontended flits bypass the allocator also under these policies.
#[test]
fn uncontended_flits_change_nothing_beside_agents_that_hear_of_arrivals() {
    for (load, loads) in [(0.05, "few"), (0.3, "some"), (0.7, "many")] {
        let spec = spec(HYPERX, r#"{"minimal_adaptive": {}}"#, r#"{"tcep": {}}"#, 1, load);
        let profile = assert_same(&spec, loads);
        assert!(profile.has(Kind::Uncontended) && !profile.has(Kind::Streams), "{loads}");
    }
}

/// Tests that a batch is complete in the same cycle with and without shortcuts, even if there is other traffic. One packet of the batch
/// waits for a link, which a timer opens later.
#[test]
fn a_batch_beside_long_messages_is_complete_when_its_last_packet_has_waited_for_a_link() {
    for transition in [300, 1000, 3000] {
        let policy = format!(r#"{{"idle_timeout": {{"idle": "30ns", "transition": "{transition}ns"}}}}"#);
        let mut spec = spec(HYPERX, NETWORKS[0].1, &policy, 20_000, 0.9);
        spec.links.iter_mut().for_each(|link| link.buffer = 20_000);
        // the terminals of the first router send continuously to each other, and all other terminals send one short packet each
        let within = spec.graph.terminals_per_router().expect("as many for each");
        let job = |name: &str, terminals: std::ops::Range<u32>, load: f64, flits: u32| {
            let population = weft_traffic::Population::of(terminals.len() as u32);
            let pattern = weft_traffic::PatternConfig::default().build(&population, "pattern").expect("a pattern");
            Job::steady(name, terminals.collect(), std::sync::Arc::new(pattern), load, flits)
        };
        let mut batch = job("batch", within..spec.graph.terminals(), 0.2, 2);
        batch.batch = Some(vec![1; batch.terminals.len()]);
        spec.traffic.jobs = vec![job("messages", 0..within, 0.9, 20_000), batch];
        (spec.phases.warmup, spec.phases.window, spec.phases.stop) = (0, 60_000, Stop::Complete);
        assert_same(&spec, &format!("transition {transition}"));
    }
}

/// Tests a job that uses only some of the terminals. The other terminals never act, even if the cycle loop prefetches records.
#[test]
fn shortcuts_change_nothing_beside_terminals_without_a_job() {
    let mut spec = spec(HYPERX, NETWORKS[0].1, r#"{"always_on": {}}"#, 4, 0.3);
    let pattern = weft_traffic::PatternConfig::default().build(&weft_traffic::Population::of(6), "pattern");
    spec.traffic.jobs = vec![Job::steady("some", (0..6).collect(), pattern.expect("a pattern").into(), 0.3, 4)];
    (spec.phases.warmup, spec.phases.window) = (0, 3_000);
    assert_same(&spec, "terminals without a job");
}

/// Long messages flow steadily while other links switch off and wake.
#[test]
fn steady_flows_end_at_timers_and_go_on_behind_them() {
    for (k, policy) in POLICIES.into_iter().enumerate() {
        let mut spec = spec(HYPERX, NETWORKS[0].1, policy, 3000, 0.02);
        (spec.phases.warmup, spec.phases.window, spec.phases.drain_limit) = (2_000, 6_000, 12_000);
        spec.managed[1] = k % 2 == 0;
        assert_same(&spec, policy);
    }
    // agents also have timers for links without traffic
    let skipped = |policy: &str| {
        let spec = spec(HYPERX, NETWORKS[0].1, policy, 3000, 0.1);
        let mut simulation = Simulation::new(&spec, Execution::new(1, 1)).expect("a simulation");
        (1..=10).for_each(|k| simulation.advance(1000 * k));
        simulation.skipped_cycles()
    };
    let (awake, sleepless) = (skipped(r#"{"always_on": {}}"#), skipped(SLEEPLESS));
    assert!(awake > 500 && sleepless == awake, "{sleepless} of {awake} cycles skipped");
    // a timer that finds its link in use changes nothing, so it does not end a steady flow
    let with_timers = skipped(r#"{"idle_timeout": {"idle": "300ns", "transition": "25ns"}}"#);
    assert!(2 * with_timers > awake, "{with_timers} of {awake} cycles skipped, beside timers that end");
}

/// A policy whose idle timeout is longer than any test, so its links never go off.
const SLEEPLESS: &str = r#"{"idle_timeout": {"idle": "100000ns", "transition": "25ns"}}"#;

/// Routings that decide by the lengths of queues.
const BY_QUEUES: [(&str, &str); 2] =
    [(HYPERX, r#"{"ugal": {"sensor": "used_credits"}}"#), (HYPERX, r#"{"ugal": {"sensor": "history_window"}}"#)];

/// Checks that a run that is saved and restored in the middle gives the same results as an uninterrupted run.
fn assert_goes_on(spec: &Spec, what: &str) {
    let simulation = || Simulation::new(spec, Execution::new(1, 3)).expect("a simulation");
    let state = |simulation: &Simulation| {
        let outs: Vec<_> = simulation.blocks.iter().flat_map(|block| block.outs()).collect();
        let tally = simulation.tally();
        // the comparison leaves out histograms: their largest value is less exact after a restore
        let sums = (tally.flit_hops, tally.injected_flits, tally.accepted_flits, tally.delivered, &tally.batches);
        format!("{sums:?} {outs:?}")
    };
    let mut first = simulation();
    for cycle in [130, 470, 815] {
        first.advance(cycle);
        let mut bytes = Writer::new();
        first.keep(&mut bytes);
        let mut second = simulation();
        second.restore(&mut Reader::new(&bytes)).expect("a checkpoint");
        let mut third = simulation();
        third.advance(cycle);
        third.advance(cycle + 150);
        second.advance(cycle + 150);
        trials::assert_same(&state(&second), &state(&third), &format!("{what}, kept before cycle {cycle}"));
    }
}

/// Checks that shortcuts leave no change pending at the end of an advance: counts, link states and held VCs then equal those of the plain
/// loop. Credits are not compared, because a stream counts its credits separately.
fn assert_settled(spec: &Spec, what: &str) {
    let state = |simulation: &Simulation| {
        let outs = simulation.blocks.iter().flat_map(|block| block.outs());
        let outs: Vec<_> = outs.map(|out| (out.flits, out.state, out.gate, out.held)).collect();
        let tally = simulation.tally();
        format!("{:?} {outs:?}", (tally.flit_hops, tally.injected_flits, tally.accepted_flits, tally.delivered))
    };
    let (mut all, mut none) = (trials::with(spec, 1, Set::ALL), trials::with(spec, 1, Set::NONE));
    for cycle in [97, 311, 512, 733, 1024] {
        all.advance(cycle);
        none.advance(cycle);
        trials::assert_same(&state(&all), &state(&none), &format!("{what}, settled before cycle {cycle}"));
    }
}

/// A random number below `below`, which depends only on the case and on `what`, the number of the choice.
fn draw(case: u64, what: u64, below: u64) -> u64 {
    hash(case, what as u32, 0, 23) % below
}

/// The spec of a random case, and a description of it: network, packets and policy are random.
fn drawn(case: u64) -> (Spec, String) {
    let draw = |what: u64, below: u64| draw(case, what, below);
    let all: Vec<_> = NETWORKS.into_iter().chain(CHOOSING).chain(BY_QUEUES).collect();
    let (topology, routing) = all[draw(0, all.len() as u64) as usize];
    let flits = [1, 1, 3, 8, 20, 60][draw(1, 6) as usize];
    let flits = if flits > 1 { flits + draw(2, 3) as u32 } else { 1 };
    // one case in six has no agents
    let policy = POLICIES.get(draw(3, POLICIES.len() as u64 + 1) as usize).copied().unwrap_or(r#"{"always_on": {}}"#);
    let mut spec = spec(topology, routing, policy, flits, 0.02 + draw(4, 10) as f64 / 20.0);
    let is_worm = draw(5, 4) == 0 && !routing.contains("adaptive");
    draw_router(&mut spec, case, is_worm);
    draw_links(&mut spec, case, flits, is_worm);
    if draw(8, 3) == 0 {
        trials::answer(&mut spec, 1 + draw(9, u64::from(flits)) as u32);
    }
    if draw(80, 3) == 0 {
        let every = 7 + draw(81, 50);
        let samples = format!(r#"{{"series": {{"every": "{every}cycles", "of": "channel"}}}}"#);
        let samples: RecordingConfig = serde_json::from_str(&samples).expect("a recording");
        spec.recordings.push(samples.asked());
    }
    if draw(95, 4) == 0 {
        // a pause between two bursts
        spec.phases.window += 3_000;
        super::idle::set_loads(&mut spec, &[(0, 0.3), (400 + draw(96, 400), 0.0), (3_000 + draw(97, 900), 0.1)]);
    }
    if draw(98, 2) == 0 && NETWORKS.contains(&(topology, routing)) {
        trials::queue(&mut spec, draw(99, trials::QUEUED));
    }
    spec.seed = case;
    (spec, format!("case {case}: {topology}, {routing}, {policy}, {flits} flits"))
}

/// Chooses latencies, VCs, buffers and rates of the links at random, and which links the policy manages.
fn draw_links(spec: &mut Spec, case: u64, flits: u32, is_worm: bool) {
    let draw = |what: u64, below: u64| draw(case, what, below);
    for (k, link) in (0..).zip(&mut spec.links) {
        link.latency = 1 + draw(10 + k, 12);
        link.credit_latency = 1 + draw(20 + k, 12);
        link.vcs = 4 + draw(30 + k, 4) as u8;
        link.buffer = if is_worm { 2 + draw(40 + k, 30) as u32 } else { flits + draw(40 + k, 60) as u32 };
        if k > 0 && draw(50 + k, 4) == 0 {
            let (flits, cycles) = [(1, 2), (1, 3), (2, 3), (3, 4), (5, 7)][draw(60 + k, 5) as usize];
            link.rate = Rate::new(flits, cycles, "links").expect("a rate");
        }
        spec.managed[k as usize] = draw(70 + k, 3) > 0;
    }
    spec.managed[0] &= spec.check_policy().is_ok(); // not all policies can switch links of terminals
    let none_is_managed = !spec.managed.contains(&true);
    spec.managed[1] |= none_is_managed;
}

/// Chooses allocator, flow control and pipeline of the routers at random.
fn draw_router(spec: &mut Spec, case: u64, is_worm: bool) {
    let draw = |what: u64, below: u64| draw(case, what, below);
    let allocators = AllocatorConfig::examples();
    spec.router.allocator = allocators[draw(90, allocators.len() as u64) as usize].clone();
    if is_worm {
        spec.router.flow_control = FlowControl::Wormhole;
    }
    spec.router.speedup = 1 + draw(6, 3) as u8;
    spec.router.delay += draw(7, 3);
    spec.router.vc_realloc = u8::from(draw(91, 8) == 0);
    if draw(94, 6) == 0 {
        spec.router.input_speedup = InputSpeedup::Vcs;
    }
    spec.router.hold_switch = !is_worm && spec.router.vc_realloc == 0 && draw(92, 6) == 0;
}

/// Runs networks whose topology, router, packets, rates and policy are random.
#[test]
fn shortcuts_change_nothing_in_networks_at_random() {
    let (mut rows, mut taken) = (BTreeMap::new(), BTreeMap::new());
    for case in 0..cases() {
        let (spec, what) = drawn(case);
        let draw = |what: u64, below: u64| draw(case, what, below);
        let profile = assert_same(&spec, &what);
        if trials::rounds() > 1 || draw(120, 3) == 0 {
            let some = Set::of(|kind| draw(100 + kind as u64, 2) > 0);
            trials::assert_plain(&spec, 1, some, &format!("{what}, some shortcuts"));
        }
        if draw(95, 3) == 0 {
            assert_settled(&spec, &what);
        }
        if draw(93, 4) == 0 {
            assert_goes_on(&spec, &what);
        }
        for &kind in Kind::ALL {
            // prefetching is decided for the whole network
            let ran = profile.has(kind) || kind == Kind::Prefetch;
            *taken.entry(kind).or_insert(0) += u64::from(ran);
        }
        let row = [Kind::Uncontended, Kind::Streams, Kind::Steady].map(|kind| profile.has(kind));
        *rows.entry(row).or_insert(0) += 1;
    }
    for kind in Kind::ALL {
        assert!(taken[kind] > 1, "{} in few networks of {taken:?}", kind.name());
    }
    let with_queues = [true, true, false];
    let others =
        [[false, false, false], [false, false, true], [true, false, false], [true, false, true], [true, true, true]];
    for row in others.into_iter().chain([with_queues]) {
        assert!(rows.get(&row).is_some_and(|&times| times > 1), "{row:?} of {rows:?}");
    }
}
