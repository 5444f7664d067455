//! Tests of jobs, phases, batches, requests and replies. Also tests warm-ups and windows that end by themselves, and recordings.

use crate::common::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use weft_engine::outcome::{Ending, JobOutcome, Measured, Saturation};
use weft_engine::power::{LinkState, Modes};
use weft_engine::spec::FlowControl::VirtualCutThrough;
use weft_engine::spec::{Execution, Job, LoadPhase, Stop};
use weft_engine::{Outcome, Progress, Spec};
use weft_traffic::{Lengths, Pattern, PatternConfig, Population};

fn uniform(ranks: u32) -> Arc<Pattern> {
    let config: PatternConfig = serde_json::from_str(r#"{"uniform": {}}"#).expect("a pattern");
    Arc::new(config.build(&Population::of(ranks), "pattern").expect("a pattern"))
}

fn job(name: &str, terminals: Vec<u32>, load: f64, flits: u32) -> Job {
    let pattern = uniform(terminals.len() as u32);
    Job::steady(name, terminals, pattern, load, flits)
}

/// A spec of 4 x 3 routers with 2 terminals each, in which row y has terminals 8 y to 8 y + 7.
fn rows(jobs: Vec<Job>) -> Spec {
    let mut spec = spec(HYPERX, DOR);
    spec.traffic.jobs = jobs;
    phases(&mut spec, 500, 2000);
    spec
}

/// Terminals at routers (0, 0) and (3, 2). The path between them has 2 links of 10 cycles, 2 terminal links of 1 cycle, 3 routers of 1
/// cycle, and 1 cycle for ejection.
const FAR: [u32; 2] = [0, 22];
fn t0(flits: u64) -> u64 {
    3 + 2 * 10 + 2 + 1 + flits - 1
}

// ---- jobs -----------------------------------------------------------------------------------------------------------

#[test]
fn jobs_that_share_no_channel_do_not_influence_each_other() {
    let first = |second: Job| -> (Vec<JobOutcome>, Vec<u64>) {
        let out = run(&rows(vec![job("row 0", (0..8).collect(), 0.3, 4), second]));
        assert_drained(&out);
        // channels within row 0, which are those of routers 0 to 3 and of their terminals
        let inside = |c: &&weft_engine::outcome::ChannelCount| {
            c.from.is_some_and(|r| r < 4) || (c.from.is_none() && c.from_port < 8)
        };
        (out.jobs.clone(), out.channels.iter().filter(inside).map(|c| c.flits[LinkState::On]).collect())
    };
    let quiet = first(job("row 1", (8..16).collect(), 0.05, 4));
    let mut replying = job("row 1", (8..16).rev().collect(), 0.2, 1);
    replying.workload = request_reply(4, Some(2));
    for second in [job("row 1", (8..16).collect(), 0.5, 2), job("row 1 and 2", (8..24).collect(), 0.3, 4), replying] {
        let other = first(second);
        assert!(quiet.0[0] == other.0[0], "the job of row 0 differs");
        assert_eq!(quiet.1, other.1);
    }
    assert!(quiet.0[0].packets.sums.packets > 100);
}

#[test]
fn jobs_add_up_and_terminals_in_none_are_silent() {
    // packets of 1 flit and of 8 flits share the same VCs
    let out = run(&rows(vec![job("short", vec![0, 9, 17, 3], 0.2, 1), job("long", vec![22, 1, 12], 0.4, 8)]));
    assert_drained(&out);
    let sum = |of: fn(&JobOutcome) -> u64| out.jobs.iter().map(of).sum::<u64>();
    assert_eq!(sum(|j| j.offered_flits), out.offered_flits);
    assert_eq!(sum(|j| j.injected_flits), out.injected_flits);
    assert_eq!(sum(|j| j.packets.sums.latency), out.sums.latency);
    assert_eq!(sum(|j| j.packets.latency.len()), out.latency.len());
    // tolerance for whole packets at the edges of the window: at most one packet of 8 flits for each terminal and edge
    assert!(sum(|j| j.accepted_flits).abs_diff(out.accepted_flits) <= 2 * 8 * 3);
    for c in out.channels.iter().filter(|c| c.from.is_none()) {
        assert_eq!(
            c.flits[LinkState::On] > 0,
            [0, 1, 3, 9, 12, 17, 22].contains(&c.from_port),
            "terminal {}",
            c.from_port
        );
    }
}

#[test]
fn what_is_no_set_of_jobs_is_refused() {
    let refused = |jobs: Vec<Job>| weft_engine::check(&rows(jobs)).expect_err("refused").path;
    let good = || job("a", vec![0, 1], 0.1, 1);
    assert_eq!(refused(vec![good(), job("b", vec![2, 1], 0.1, 1)]), "traffic.jobs.1.terminals");
    assert_eq!(refused(vec![job("b", vec![2, 24], 0.1, 1)]), "traffic.jobs.0.terminals");
    assert_eq!(refused(vec![job("b", vec![2, 3], 0.1, 0)]), "traffic.jobs.0.packet");
    let mut disordered = good();
    disordered.phases.push(LoadPhase { from: 0, ..disordered.phases[0].clone() });
    assert_eq!(refused(vec![disordered]), "traffic.jobs.0.phases.0.from");
    assert_eq!(refused(Vec::new()), "traffic.jobs");
}

/// A job with two packet lengths: half of the packets have 1 flit and half have 5. The mean is 3 flits.
fn of_two_lengths(load: f64) -> Job {
    Job { packets: Lengths::of(&[(1, 1.0), (5, 1.0)]), ..job("all", (0..24).collect(), load, 1) }
}

#[test]
fn a_terminal_sends_packets_of_several_lengths_at_its_load() {
    let mut spec = rows(vec![of_two_lengths(0.3)]);
    phases(&mut spec, 500, 20_000);
    let out = run(&spec);
    assert_drained(&out);
    let (flits, packets) = (out.sums.flits as f64, out.sums.packets as f64);
    // the number of packets N is binomial, 24 * 20,000 * 0.3 / 3; each packet adds 9 + 4 to the variance of the flits
    let expected = 24.0 * 20_000.0 * 0.1;
    assert!((packets - expected).abs() < 5.0 * f64::sqrt(expected), "{packets} packets");
    assert!((flits - 3.0 * expected).abs() < 5.0 * (13.0 * expected).sqrt(), "{flits} flits");
    assert_eq!(out.offered_flits, out.sums.flits);
}

#[test]
fn without_contention_packets_of_several_lengths_take_the_mean_of_their_latencies() {
    let mut pair = of_two_lengths(0.003);
    (pair.terminals, pair.phases) = (FAR.to_vec(), job("pair", FAR.to_vec(), 0.003, 1).phases);
    let mut spec = rows(vec![pair]);
    phases(&mut spec, 0, 400_000);
    let out = run(&spec);
    assert_drained(&out);
    let zero_load = weft_engine::imply(&spec).expect("a network").zero_load_latency.expect("a load");
    assert_eq!(zero_load, (t0(1) + t0(5)) as f64 / 2.0);
    let (latency, count) = (out.sums.latency as f64, out.sums.packets as f64);
    // each latency is t0(1) or t0(5), 2 cycles from the mean; queues at load 0.003 add less than 0.02 cycles
    assert!((latency / count - zero_load).abs() < 5.0 * 2.0 / count.sqrt() + 0.02, "{}", latency / count);
}

#[test]
fn the_lengths_of_a_terminal_depend_on_nothing_but_its_packets() {
    // a batch has the same packets for any load, and with any other terminals and jobs
    let flits = |load: f64, terminals: std::ops::Range<u32>| {
        let pattern = job("all", terminals.clone().collect(), load, 1);
        let batch = terminals.map(|t| if t == 3 { 50 } else { 0 }).collect();
        let mut spec = rows(vec![Job { packets: of_two_lengths(load).packets, batch: Some(batch), ..pattern }]);
        phases(&mut spec, 0, 1_000_000);
        spec.phases.stop = Stop::Complete;
        run(&spec).sums.flits
    };
    let first = flits(0.2, 0..24);
    assert!((50..=250).contains(&first));
    assert_eq!([flits(0.7, 0..24), flits(0.2, 0..8)], [first; 2]);
}

// ---- phases and batches ---------------------------------------------------------------------------------------------

#[test]
fn the_offered_load_follows_its_phases() {
    let mut spec = rows(vec![job("all", (0..24).collect(), 0.1, 1)]);
    phases(&mut spec, 0, 6000);
    record(&mut spec, r#"{"transient": {"bin": "1000cycles"}}"#);
    let first = spec.traffic.jobs[0].phases[0].clone();
    for (from, load) in [(2000, 0.4), (4000, 0.0), (5000, 0.2)] {
        spec.traffic.jobs[0].phases.push(LoadPhase { from, load: vec![load; 24], ..first.clone() });
    }
    let out = run(&spec);
    assert_drained(&out);
    let bins = table(&out, "transient");
    assert!(counts_in(bins, "bin_cycles").iter().all(|&width| width == 1000));
    let packets = counts_in(bins, "packets");
    let expected = [0.1, 0.1, 0.4, 0.4, 0.0, 0.2].map(|load| load * 24.0 * 1000.0);
    for (&packets, expected) in packets.iter().zip(expected) {
        // the counts are binomial, and the tolerance is 5 standard deviations
        assert!((packets as f64 - expected).abs() <= 5.0 * expected.sqrt(), "{packets} for {expected}");
    }
    assert_eq!(packets[..6].iter().sum::<u64>(), out.sums.packets);
    let means = floats_in(bins, "packet_latency_mean_cycles");
    let latency =
        |(&mean, &packets): (&f64, &u64)| if packets > 0 { (mean * packets as f64).round() as u64 } else { 0 };
    assert_eq!(means.iter().zip(&packets).take(6).map(latency).sum::<u64>(), out.sums.latency);
    assert_eq!(counts_in(bins, "packet_latency_max_cycles").into_iter().max(), Some(out.latency.max()));
}

#[test]
fn a_batch_completes_when_the_last_packet_is_delivered() {
    // each of two terminals of one router sends one packet per cycle: packet k is created in cycle k and takes 1 + 1 + 1 + 1 cycles
    let mut spec = spec(r#"{"single_router": {"terminals": 2}}"#, DOR);
    spec.set_load(1.0);
    phases(&mut spec, 0, 10_000);
    spec.phases.stop = Stop::Complete;
    for (batch, last) in [(vec![1, 1], 0), (vec![700, 300], 699), (vec![0, 40], 39)] {
        spec.traffic.jobs[0].batch = Some(batch.clone());
        let out = run(&spec);
        assert_drained(&out);
        let packets = u64::from(batch[0] + batch[1]);
        let done = out.jobs[0].batch.expect("a batch");
        assert_eq!((done.completed, done.delivered, done.packets), (Some(last + 4), packets, packets));
        assert_eq!((out.offered_flits, out.accepted_flits, out.sums.packets), (packets, packets, packets));
        assert_eq!(out.window, (last + 4 + 1).next_multiple_of(32), "the window ends with the batch");
        assert!(out.channels.iter().all(|c| c.cycles.iter().sum::<u64>() == out.window));
    }
    // a batch that needs more time than the window has
    spec.traffic.jobs[0].batch = Some(vec![20_000; 2]);
    let out = run(&spec);
    assert_eq!((out.ending.clone(), out.window), (Ending::NotComplete, 10_000));
    assert_eq!((out.saturated, out.jobs[0].batch.expect("a batch").completed), (Saturation::No, None));
}

// ---- request and reply ----------------------------------------------------------------------------------------------

/// The latencies that a job with requests and replies reports separately.
struct Exchange<'a> {
    requests: &'a Measured,
    replies: &'a Measured,
    round_trips: &'a Measured,
}

impl<'a> Exchange<'a> {
    fn of(job: &'a JobOutcome) -> Self {
        let named = |name: &str| &job.latencies.iter().find(|(own, _)| *own == name).expect("a latency").1;
        Self { requests: named("request_latency"), replies: named("reply_latency"), round_trips: named("round_trip") }
    }
}

#[test]
fn a_round_trip_without_contention_is_two_zero_load_latencies() {
    let mut pair = job("pair", FAR.to_vec(), 0.003, 3);
    pair.workload = request_reply(5, None);
    pair.batch = Some(vec![8, 0]);
    // the load is about one request every 1,000 cycles, so requests never overlap
    let mut spec = rows(vec![pair]);
    spec.traffic.jobs[0].workload = request_reply(5, Some(1));
    phases(&mut spec, 0, 100_000);
    spec.phases.stop = Stop::Complete;
    let out = run(&spec);
    assert_drained(&out);
    let exchange = Exchange::of(&out.jobs[0]);
    let (request, reply) = (t0(3), t0(5));
    assert_eq!((exchange.requests.sums.packets, exchange.requests.sums.latency), (8, 8 * request));
    assert_eq!((exchange.replies.sums.packets, exchange.replies.sums.latency), (8, 8 * reply));
    assert_eq!(exchange.round_trips.sums.latency, 8 * (request + reply));
    assert_eq!((out.offered_flits, out.accepted_flits, out.sums.flits), (8 * 8, 8 * 8, 8 * 8));
    assert_eq!(out.jobs[0].batch.map(|batch| batch.packets), Some(16));
}

#[test]
fn a_reply_waits_for_its_turnaround_which_is_a_part_of_its_latency() {
    let mut pair = job("pair", FAR.to_vec(), 0.003, 3);
    pair.workload =
        serde_json::from_str(r#"{"request_reply": {"packet": "5flits", "turnaround": "7cycles", "outstanding": 1}}"#)
            .expect("a workload");
    pair.batch = Some(vec![8, 0]);
    let mut spec = rows(vec![pair]);
    phases(&mut spec, 0, 100_000);
    spec.phases.stop = Stop::Complete;
    let out = run(&spec);
    assert_drained(&out);
    let exchange = Exchange::of(&out.jobs[0]);
    assert_eq!((exchange.requests.sums.latency, exchange.replies.sums.latency), (8 * t0(3), 8 * (t0(5) + 7)));
    assert_eq!(exchange.round_trips.sums.latency, 8 * (t0(3) + t0(5) + 7));
    let zero_load = weft_engine::imply(&spec).expect("a network").zero_load_latency;
    assert_eq!(zero_load, Some((t0(3) + t0(5) + 7) as f64 / 2.0));
}

#[test]
fn a_source_with_one_request_at_a_time_sends_one_per_round_trip() {
    let mut pair = job("pair", FAR.to_vec(), 1.0, 1);
    pair.workload = request_reply(1, Some(1));
    pair.phases[0].load[1] = 0.0;
    let mut spec = rows(vec![pair]);
    phases(&mut spec, 0, 1000);
    let out = run(&spec);
    assert_drained(&out);
    // the source waits for each reply, which arrives 2 T0 cycles after its request. At load 1 the source creates the next request one cycle
    // later. Therefore it creates requests in cycles 0, 2 T0 + 1, 2 (2 T0 + 1), ...
    assert_eq!(out.jobs[0].offered_flits / 2, 999 / (2 * t0(1) + 1) + 1);
}

/// With two outstanding requests at full load, a packet has often been created but is blocked at the end of the window. The reply that lets
/// the source continue arrives before that packet leaves. The source then continues inside the window.
#[test]
fn what_waits_for_replies_is_offered_in_full() {
    for (outstanding, seed) in [(2, 1), (2, 2), (5, 3), (64, 4)] {
        let mut all = job("all", (0..24).collect(), 1.0, 4);
        all.workload = request_reply(2, Some(outstanding));
        let mut spec = rows(vec![all]);
        spec.seed = seed;
        phases(&mut spec, 300, 700);
        let out = run(&spec);
        assert_drained(&out);
        let exchange = Exchange::of(&out.jobs[0]);
        assert_eq!(exchange.requests.sums.packets, exchange.replies.sums.packets);
        assert_eq!((out.jobs[0].missing_packets, out.jobs[0].offered_flits), (0, out.sums.flits));
    }
}

/// In this test, a granted flit reaches its terminal only after a quarter of the second half of the window.
#[test]
fn long_links_to_terminals_are_no_saturation() {
    let mut spec = spec(HYPERX, DOR);
    (spec.links[0].latency, spec.links[0].credit_latency, spec.links[0].buffer) = (500, 500, 400);
    spec.set_load(0.1);
    phases(&mut spec, 3000, 4000);
    assert_drained(&run(&spec));
    // the window has too few data for a verdict, so the drain decides
    phases(&mut spec, 3000, 900);
    assert_drained(&run(&spec));
}

#[test]
fn every_request_has_its_reply_at_any_load() {
    for (load, outstanding) in [(0.1, None), (1.0, Some(4)), (1.0, None)] {
        for (flits, reply) in [(1, 1), (1, 6), (4, 2)] {
            let mut all = job("all", (0..24).collect(), load, flits);
            all.workload = request_reply(reply, outstanding);
            all.batch = Some(vec![60; 24]);
            let mut spec = rows(vec![all]);
            phases(&mut spec, 0, 100_000);
            spec.phases.stop = Stop::Complete;
            let out = run(&spec);
            assert_drained(&out);
            let exchange = Exchange::of(&out.jobs[0]);
            assert_eq!((exchange.requests.sums.packets, exchange.replies.sums.packets), (1440, 1440));
            assert_eq!(out.sums.flits, 1440 * u64::from(flits + reply));
            let both = exchange.requests.sums.latency + exchange.replies.sums.latency;
            assert_eq!(exchange.round_trips.sums.latency, both);
        }
    }
}

// ---- warm-up, confidence, interruption ------------------------------------------------------------------------------

#[test]
fn a_warm_up_ends_when_latencies_have_settled_and_at_overload_at_its_limit() {
    let mut spec = spec(HYPERX, DOR);
    phases(&mut spec, 20_000, 3000);
    spec.phases.auto_warmup = true;
    spec.set_load(0.3);
    let out = run(&spec);
    assert_drained(&out);
    assert_eq!(out.decisions.settled, Some(true));
    assert!((5000..15_000).contains(&out.warmup), "{}", out.warmup);
    pattern(&mut spec, r#"{"hot_spot": {"targets": [0]}}"#);
    let out = run(&spec);
    assert_eq!((out.ending, out.decisions.settled), (Ending::Saturated, Some(false)));
    assert!(out.warmup <= 20_000);
}

#[test]
fn a_window_grows_until_the_mean_is_known() {
    let mut spec = spec(HYPERX, DOR);
    spec.set_load(0.3);
    phases(&mut spec, 1000, 500);
    let short = run(&spec);
    let mut last = 500;
    for share in [0.05, 0.01, 0.003] {
        spec.phases.stop = Stop::Confidence { share, window: 50_000 };
        let out = run(&spec);
        assert_drained(&out);
        assert_eq!(out.decisions.confident, Some(true), "{share}");
        assert!(out.window >= last && out.window.is_multiple_of(50), "{}", out.window);
        assert_eq!(out.batches.len() as u64, out.window / 50);
        last = out.window;
    }
    assert!(last > 500);
    // sources and network are the same, so the packets created in the shorter window are a part of those in the whole window
    assert!(short.sums.packets > 0);
    spec.phases.stop = Stop::Confidence { share: 0.0001, window: 2000 };
    let out = run(&spec);
    assert_eq!(out.decisions.confident, Some(false));
    assert!(out.window <= 2000);
}

/// Terminals answer requests from the end of the window only after the window. These replies also count.
#[test]
fn a_window_that_found_its_end_keeps_the_replies_made_after_it() {
    let mut all = job("all", (0..24).collect(), 0.2, 1);
    all.workload = request_reply(3, None);
    let mut spec = rows(vec![all]);
    spec.phases.stop = Stop::Confidence { share: 0.05, window: 50_000 };
    let out = run(&spec);
    assert!(out.window < 50_000);
    assert_drained(&out);
    let exchange = Exchange::of(&out.jobs[0]);
    assert_eq!(exchange.requests.sums.packets, exchange.replies.sums.packets);
    assert_eq!((out.sums.packets, out.jobs[0].missing_packets), (out.latency.len(), 0));
}

/// Stops the run at the n-th check of the run.
struct Stopper(AtomicU64);

impl Progress for Stopper {
    fn tick(&self, _: u64, _: u64) -> bool {
        self.0.fetch_sub(1, Relaxed) > 1
    }
}

#[test]
fn an_interrupted_run_reports_the_part_of_the_window_that_it_measured() {
    let mut spec = spec(HYPERX, DOR);
    phases(&mut spec, 500, 20_000);
    spec.set_load(0.2);
    let out = weft_engine::run(&spec, ONE, &Stopper(AtomicU64::new(6))).expect("a run");
    assert_eq!((out.ending.clone(), out.window), (Ending::Interrupted, out.cycles - 500));
    assert!(out.window < 20_000);
    let offered = out.offered_flits as f64 / (out.window * 24) as f64;
    assert!((offered - 0.2).abs() < 0.02, "{offered}");
    assert!(out.channels.iter().all(|c| c.cycles.iter().sum::<u64>() == out.window));
    // a run stopped in the warm-up has measured nothing
    let out = weft_engine::run(&spec, ONE, &Stopper(AtomicU64::new(1))).expect("a run");
    assert_eq!((out.window, out.offered_flits, out.channels[0].cycles[LinkState::On]), (0, 0, 0));
}

// ---- records --------------------------------------------------------------------------------------------------------

#[test]
fn a_series_counts_every_flit_and_stays_bounded() {
    let mut spec = spec(HYPERX, DOR);
    policy(&mut spec, IDLE_TIMEOUT);
    phases(&mut spec, 0, 100_000);
    spec.set_load(0.05);
    spec.phases.stop = Stop::Complete;
    spec.traffic.jobs[0].batch = Some(vec![200; 24]);
    for (of, channels) in [("class", false), ("channel", true)] {
        record(&mut spec, &format!(r#"{{"series": {{"every": "1cycle", "of": "{of}"}}}}"#));
        let out = run(&spec);
        let series = table(&out, "series");
        let width = if channels { out.channels.len() } else { spec.links.len() };
        let [from, lengths, sent] = ["from_cycle", "interval_cycles", "flits"].map(|name| counts_in(series, name));
        // thousands of cycles must fit into at most 1,024 samples
        assert!(lengths[0].is_power_of_two() && lengths[0] > 1 && sent.len() <= 1024 * width);
        assert_eq!(from.last().zip(lengths.last()).map(|(from, length)| from + length), Some(out.cycles));
        let modes = Modes::default();
        let states: Vec<_> = modes.names().map(|name| counts_in(series, &format!("channels_{name}"))).collect();
        let mut flits = vec![0; width];
        for (k, sample) in sent.chunks(width).enumerate() {
            sample.iter().zip(&mut flits).for_each(|(s, sum)| *sum += s);
            let all: u64 = states.iter().flat_map(|state| &state[k * width..(k + 1) * width]).sum();
            assert_eq!(all as usize, out.channels.len(), "every channel is in one state");
        }
        let row = |k: usize| if channels { k } else { usize::from(out.channels[k].class) };
        let mut expected = vec![0; width];
        (0..out.channels.len()).for_each(|k| expected[row(k)] += out.channels[k].flits.iter().sum::<u64>());
        assert_eq!(flits, expected);
    }
}

#[test]
fn a_series_goes_on_where_the_window_begins() {
    let mut spec = spec(HYPERX, DOR);
    policy(&mut spec, IDLE_TIMEOUT);
    phases(&mut spec, 300, 700);
    spec.set_load(0.2);
    record(&mut spec, r#"{"series": {"every": "100cycles", "of": "channel"}}"#);
    let out = run(&spec);
    let (series, width) = (table(&out, "series"), out.channels.len());
    assert_eq!((counts_in(series, "interval_cycles")[0], out.warmup, out.window), (100, 300, 700));
    let sent = counts_in(series, "flits");
    let flits =
        |samples: std::ops::Range<usize>, k: usize| -> u64 { samples.map(|sample| sent[sample * width + k]).sum() };
    for (k, channel) in out.channels.iter().enumerate() {
        assert_eq!(flits(3..10, k), channel.flits.iter().sum::<u64>(), "channel {k} in the window");
    }
    assert!((0..width).all(|k| flits(0..3, k) <= 300) && (0..width).any(|k| flits(0..3, k) > 0));
}

// ---- determinism ----------------------------------------------------------------------------------------------------

/// Compares all data that jobs and recordings add to a result.
fn assert_all_same(a: &Outcome, b: &Outcome, what: &str) {
    assert_same(a, b, what);
    assert!(a.jobs == b.jobs, "{what}: jobs");
    assert_eq!((a.warmup, a.decisions), (b.warmup, b.decisions), "{what}");
    // compared as text, because a NaN does not equal itself
    assert!(format!("{:?}", a.recorded) == format!("{:?}", b.recorded), "{what}: recordings");
}

#[test]
fn threads_and_blocks_change_nothing_for_any_workload() {
    let base = || {
        let mut spec = spec(DRAGONFLY, DF_UGAL);
        phases(&mut spec, 600, 800);
        record(&mut spec, r#"{"transient": {"bin": "1cycle"}}"#);
        record(&mut spec, r#"{"series": {"every": "7cycles", "of": "channel"}}"#);
        spec
    };
    let mut jobs = base();
    jobs.traffic.jobs = vec![
        job("long", (0..30).rev().collect(), 0.3, 8),
        job("asking", (30..60).step_by(2).collect(), 0.2, 2),
        job("bursts", (31..60).step_by(2).collect(), 0.1, 1),
    ];
    jobs.traffic.jobs[0].packets = Lengths::of(&[(8, 1.0), (1, 3.0)]);
    jobs.traffic.jobs[1].packets = Lengths::of(&[(2, 1.0), (3, 1.0)]);
    jobs.traffic.jobs[1].workload = request_reply(5, Some(3));
    jobs.traffic.jobs[2].injection =
        serde_json::from_str(r#"{"on_off": {"mean_on": "50cycles"}}"#).expect("an injection process");
    let again = LoadPhase { from: 700, load: vec![0.6; 15], ..jobs.traffic.jobs[2].phases[0].clone() };
    jobs.traffic.jobs[2].phases.push(again);
    let mut flood = base();
    flood.set_load(1.0);
    flood.traffic.jobs[0].workload = request_reply(2, None);
    let mut batch = base();
    phases(&mut batch, 0, 50_000);
    batch.phases.stop = Stop::Complete;
    batch.traffic.jobs[0].batch = Some((0..72).map(|t| t % 7 * 3).collect());
    let mut own_ends = base();
    own_ends.set_load(0.2);
    policy(&mut own_ends, IDLE_TIMEOUT);
    own_ends.phases.auto_warmup = true;
    own_ends.phases.warmup = 20_000;
    own_ends.phases.stop = Stop::Confidence { share: 0.01, window: 10_000 };
    let cases = [("jobs", jobs), ("flood", flood), ("batch", batch), ("own ends", own_ends)];
    for (case, (what, spec)) in cases.into_iter().enumerate() {
        let alone = run(&spec);
        for &(threads, blocks) in in_turn(case, &[(1, 3), (2, 5), (2, 36)]) {
            let other = run_as(&spec, Execution::new(threads, blocks));
            assert_all_same(&alone, &other, &format!("{what}: {threads} threads, {blocks} blocks"));
        }
    }
}

/// The results of all jobs, as integers.
fn job_numbers(out: &Outcome) -> Vec<u64> {
    let mut n = Vec::new();
    for job in &out.jobs {
        n.extend([job.offered_flits, job.injected_flits, job.accepted_flits, job.missing_packets]);
        n.extend(job.batch.map(|b| [b.delivered, b.packets, b.completed.unwrap_or(u64::MAX)]).unwrap_or_default());
        for part in std::iter::once(&job.packets).chain(job.latencies.iter().map(|(_, part)| part)) {
            n.extend(
                std::iter::once(&part.sums)
                    .chain(&part.batches)
                    .flat_map(|s| [s.packets, s.flits, s.latency, s.network_latency, s.hops, s.minimal]),
            );
            n.extend(part.latency.iter_recorded().flat_map(|bin| [bin.value_iterated_to(), bin.count_at_value()]));
        }
    }
    n
}

/// FNV-1a hash over all numbers of the cases below. The digest changes only if a workload or the network changes.
const DIGEST: u64 = 0x1255_4810_1c32_f31a;

#[test]
fn the_results_of_jobs_batches_and_replies_are_known() {
    let mut digest = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |out: &Outcome| {
        for byte in numbers(out).iter().chain(&job_numbers(out)).flat_map(|n| n.to_le_bytes()) {
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for (k, outstanding) in [None, Some(1), Some(3)].into_iter().enumerate() {
        for (flits, reply, load) in [(1, 1, 0.2), (1, 1, 1.0), (4, 2, 0.1), (2, 6, 1.0)] {
            let mut all = job("all", (0..24).collect(), load, flits);
            all.workload = request_reply(reply, outstanding);
            let mut spec = rows(vec![all]);
            phases(&mut spec, 300, 700);
            add(&run(&spec));
            spec.traffic.jobs[0].batch = Some((0..24).map(|t| t % 5 * 4).collect());
            phases(&mut spec, 0, 100_000);
            spec.phases.stop = Stop::Complete;
            add(&run(&spec));
            // a job of requests and replies runs next to a job of long packets, and next to a job of bursts that falls silent
            let mut asking = job("asking", (3..15).rev().collect(), load, flits);
            asking.workload = request_reply(reply, outstanding);
            let mut bursts = job("bursts", (15..24).collect(), 0.3, 1);
            bursts.injection = serde_json::from_str(r#"{"on_off": {"mean_on": "50cycles"}}"#).expect("a process");
            bursts.phases.push(LoadPhase { from: 500, load: vec![0.0; 9], ..bursts.phases[0].clone() });
            let mut mixed = rows(vec![job("long", vec![0, 1, 2], 0.3, 8), asking, bursts]);
            mixed.seed = k as u64;
            phases(&mut mixed, 400, 300);
            add(&run(&mixed));
        }
    }
    assert_eq!(digest, DIGEST, "the digest is {digest:#x} now");
}

/// Far above saturation, most packets of the window are still in their sources at its end. The numbers of created and waiting packets must
/// follow from the random streams of the terminals.
#[test]
fn what_an_open_loop_offers_is_created_or_backlog() {
    for load in [0.1, 1.0] {
        let mut spec = spec(HYPERX, UGAL_P);
        packets(&mut spec, 2, VirtualCutThrough, 8);
        spec.traffic.jobs = vec![job("all", (0..24).collect(), load, 2)];
        phases(&mut spec, 200, 500);
        spec.phases.drain_limit = 0;
        let created: usize = (0..24).map(|terminal| creations(&spec, terminal).len()).sum();
        let out = run(&spec);
        assert_eq!(out.offered_flits, 2 * created as u64, "load {load}");
        assert!(out.sums.packets > 0 && (load < 1.0 || out.backlog_packets > 100), "{}", out.backlog_packets);
    }
}

/// A terminal with at most `n` requests without a reply can send, by Little's law, at most `n` requests per round trip.
#[test]
fn no_terminal_has_more_requests_without_a_reply_than_allowed() {
    for outstanding in [1, 2, 5] {
        let json = format!(r#"{{"request_reply": {{"outstanding": {outstanding}}}}}"#);
        let workload = serde_json::from_str(&json).expect("a workload");
        let mut spec = spec(HYPERX, DOR);
        spec.traffic.jobs = vec![Job { workload, ..job("all", (0..24).collect(), 1.0, 2) }];
        phases(&mut spec, 0, 3000);
        let out = run(&spec);
        let latency = |name: &str| {
            let found = out.jobs[0].latencies.iter().find(|(own, _)| *own == name);
            found.map(|(_, measured)| measured.sums.latency as f64).expect("a latency")
        };
        // the sum of all round-trip times equals the sum, over all cycles, of the number of requests in flight
        let under_way = latency("round_trip") / (24.0 * out.cycles as f64);
        assert!(under_way <= f64::from(outstanding), "{under_way} of {outstanding}");
        assert!(under_way > 0.8 * f64::from(outstanding), "{under_way} of {outstanding}: the limit is reached");
    }
}
