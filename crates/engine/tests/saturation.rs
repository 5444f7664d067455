//! Tests which runs count as saturated: bursty loads, loads that change, and loads of terminals that wait for replies.

use crate::common::*;
use weft_engine::Spec;
use weft_engine::outcome::{Doubt, Ending, Saturation};
use weft_engine::spec::{Job, LoadPhase, Phases, Stop};
use weft_engine::steady::growth;
use weft_traffic::{PatternConfig, Population};

/// A spec of 4x4 routers with one terminal each, and tornado traffic over intermediates. At load 0.9 the network accepts 0.82 of the
/// offered load. Sources send in bursts of `burst` cycles on average, at full load during a burst.
fn bursty(load: f64, burst: u64, seed: u64) -> Spec {
    let mut spec = spec(r#"{"torus": {"widths": [4, 4], "terminals_per_router": 1}}"#, VALIANT);
    pattern(&mut spec, r#"{"tornado": {}}"#);
    spec.set_packet(4);
    queues(&mut spec, 4, 32);
    let process = format!(r#"{{"on_off": {{"mean_on": "{burst}cycles"}}}}"#);
    spec.traffic.jobs[0].injection = serde_json::from_str(&process).expect("an injection process");
    spec.set_load(load);
    spec.seed = seed;
    phases(&mut spec, 1000, 8000);
    spec
}

#[test]
fn bursts_that_pile_up_are_saturated_although_they_would_drain() {
    for seed in 1..4 {
        let over = run(&bursty(0.9, 64, seed));
        assert_eq!((&over.ending, over.saturated), (&Ending::Saturated, Saturation::Yes), "seed {seed}");
        // the number of missing packets is so small that the drain could deliver them
        assert!(over.missing_packets < over.sums.packets / 2, "{} are missing", over.missing_packets);
        let below = run(&bursty(0.3, 64, seed));
        assert_eq!((&below.ending, below.saturated), (&Ending::Drained, Saturation::No), "seed {seed}");
    }
}

#[test]
fn bursts_that_are_carried_are_no_alarm_in_short_windows() {
    for burst in [4, 16, 64] {
        for load in [0.1, 0.3, 0.6] {
            for seed in 1..=10 {
                let mut spec = bursty(load, burst, seed);
                spec.phases.window = 1000;
                assert_eq!(run(&spec).ending, Ending::Drained, "burst {burst}, load {load}, seed {seed}");
            }
        }
    }
}

#[test]
fn a_window_that_is_short_against_the_bursts_says_so_and_a_longer_one_decides() {
    let short = bursty(0.1, 64, 1);
    let Saturation::Unknown(Doubt::Bursts(doubt)) = run(&short).saturated else {
        panic!("bursts of 64 cycles at load 0.1")
    };
    // half of the window is judged, without the landing time of a flit: 4000 cycles; f = 0.1, p = 1/4, silences of 576 cycles: dispersion 1
    // - 1/40 + 2 / 4 * 0.9 * (64 * 576 / 640 - 1) = 26.4; 1600 packets
    let expected = 3.0 * (26.445_f64 / 1600.0).sqrt();
    assert!((doubt.chance / expected - 1.0).abs() < 0.01, "{doubt:?}, expected {expected}");
    let mut longer = short;
    longer.phases.window = (8000.0 * doubt.longer()).ceil() as u64;
    assert_eq!(run(&longer).saturated, Saturation::No);
}

/// Eight terminals with a load of 0.002, whose links sleep, and need `transition` cycles to wake. A window of 200 cycles.
fn sleepy(transition: u64, seed: u64) -> Spec {
    let mut spec = spec(r#"{"hyperx": {"widths": [4], "terminals_per_router": 2}}"#, DOR);
    policy(&mut spec, &format!(r#"{{"idle_timeout": {{"idle": "5us", "transition": "{transition}ns"}}}}"#));
    spec.set_load(0.002);
    spec.seed = seed;
    phases(&mut spec, 60_000, 200);
    spec.phases.drain_limit = 2000;
    spec
}

#[test]
fn a_window_shorter_than_the_wait_for_a_link_gets_no_verdict_and_a_longer_one_does() {
    let mut short = 0;
    for seed in 1..=5 {
        let mut spec = sleepy(5000, seed);
        let verdict = run(&spec).saturated;
        assert_ne!(verdict, Saturation::Yes, "seed {seed}");
        let Saturation::Unknown(Doubt::Short(found)) = verdict else { continue };
        // a packet can wait for two transitions at each link
        assert!(found.cycles < found.needed && found.needed >= 2 * 2 * 5000, "{found:?}");
        assert!(found.waits_for_links, "{found:?}");
        short += 1;
        spec.phases.window = 4 * found.needed;
        spec.phases.drain_limit = 40 * found.needed;
        assert_eq!(run(&spec).saturated, Saturation::No, "seed {seed}");
    }
    assert!(short > 0, "a drain of 2000 cycles is too short for links that need 5000 cycles to wake");
}

#[test]
fn an_overloaded_network_is_saturated_although_its_other_links_sleep_and_need_long_to_wake() {
    let mut spec = sleepy(6000, 1);
    pattern(&mut spec, TORNADO);
    spec.set_load(1.0);
    phases(&mut spec, 20_000, 20_000);
    spec.phases.drain_limit = 200_000;
    // two terminals send over one channel; the other channels have slept since the warm-up, so no packet waits for them
    let out = run(&spec);
    assert!(spec.policy.longest_wait(spec.cycle_fs).unwrap() > spec.phases.window / 2);
    assert_eq!(out.saturated, Saturation::Yes);
}

#[test]
fn a_long_drain_that_fails_decides_where_the_window_is_too_short() {
    let mut spec = sleepy(2000, 1);
    policy(&mut spec, r#"{"idle_timeout": {"idle": "100ns", "transition": "2000ns"}}"#);
    pattern(&mut spec, r#"{"hot_spot": {"targets": [0], "share": 1.0}}"#);
    spec.set_load(1.0);
    phases(&mut spec, 0, 4000);
    // seven terminals send to one: their packets would arrive in some 28,000 cycles
    spec.phases.drain_limit = 12_000;
    assert_eq!(run(&spec).saturated, Saturation::Yes);
    spec.phases.drain_limit = 4000;
    let Saturation::Unknown(Doubt::Short(found)) = run(&spec).saturated else { panic!("{:?}", run(&spec).saturated) };
    assert!(found.waits_for_links && found.needed > 4000, "{found:?}");
}

#[test]
fn a_window_that_ends_before_the_first_packets_arrive_gets_no_verdict() {
    let mut spec = spec(r#"{"hyperx": {"widths": [4], "terminals_per_router": 2}}"#, DOR);
    spec.links[1..].iter_mut().for_each(|link| (link.latency, link.credit_latency, link.buffer) = (200, 200, 500));
    spec.set_load(0.3);
    phases(&mut spec, 0, 300);
    let verdict = run(&spec).saturated;
    let Saturation::Unknown(Doubt::Short(found)) = verdict else { panic!("{verdict:?}") };
    assert!(!found.is_drain && !found.waits_for_links && found.cycles < found.needed, "{found:?}");
    phases(&mut spec, 0, 4 * found.needed);
    assert_eq!(run(&spec).saturated, Saturation::No);
}

/// A spec of eight routers, each of which sends the bursts of its four terminals over one channel. The channel carries a load of 1/4.
fn shared(load: f64, seed: u64) -> Spec {
    let mut spec = spec(r#"{"hyperx": {"widths": [8], "terminals_per_router": 4}}"#, DOR);
    pattern(&mut spec, r#"{"tornado": {}}"#);
    spec.set_packet(4);
    queues(&mut spec, 4, 32);
    spec.traffic.jobs[0].injection =
        serde_json::from_str(r#"{"on_off": {"mean_on": "32cycles"}}"#).expect("an injection process");
    spec.set_load(load);
    spec.seed = seed;
    spec.phases.batches = 10;
    phases(&mut spec, 1000, 8000);
    spec
}

#[test]
fn a_gap_that_bursts_may_explain_is_decided_by_the_window_that_is_named() {
    let mut open = 0;
    for seed in 1..=3 {
        // the network cannot carry 5.7 % of this load of 0.265
        let mut spec = shared(0.265, seed);
        let Saturation::Unknown(Doubt::Bursts(doubt)) = run(&spec).saturated else { continue };
        assert!(doubt.is_of_gap() && doubt.gap <= doubt.limit, "{doubt:?}");
        open += 1;
        spec.phases.window = (8000.0 * doubt.longer()).ceil() as u64;
        let verdict = run(&spec).saturated;
        assert_ne!(verdict.known(), None, "seed {seed}: {doubt:?}, then {verdict:?} in {} cycles", spec.phases.window);
    }
    assert!(open > 1, "gaps that bursts may explain occur");
}

#[test]
fn latencies_that_still_grow_are_distinguished_from_those_that_scatter() {
    let grows = |load: f64, window: u64| {
        let of = |seed| {
            let mut spec = shared(load, seed);
            spec.phases.window = window;
            growth(&run(&spec).batches).is_some()
        };
        (1..=10).filter(|&seed| of(seed)).count()
    };
    for load in [0.1, 0.15, 0.2] {
        assert_eq!(grows(load, 8000), 0, "no alarm up to four fifths of the capacity, here at {load}");
    }
    let found = grows(0.25, 8000);
    assert!(found >= 5, "at the capacity the latency grows as the root of time: found with {found} of 10 seeds");
}

#[test]
fn each_phase_of_a_load_that_bursts_is_judged() {
    let mut spec = bursty(0.3, 32, 1);
    let job = &mut spec.traffic.jobs[0];
    let next = |from, load| LoadPhase { from, load: vec![load; 16], ..job.phases[0].clone() };
    let later = [next(6000, 0.95), next(11_000, 0.2)];
    job.phases.extend(later);
    phases(&mut spec, 1000, 25_000);
    let out = run(&spec);
    assert_eq!(out.ending, Ending::Drained);
    let verdicts: Vec<_> = out.phases.iter().map(|phase| phase.saturated).collect();
    assert_eq!(verdicts, [Some(Saturation::No), Some(Saturation::Yes), Some(Saturation::No)]);
}

#[test]
fn a_load_beside_a_batch_is_judged_without_the_batch() {
    for (load, expected) in [(0.3, Saturation::No), (0.9, Saturation::Yes)] {
        let mut spec = bursty(load, 32, 1);
        let all = spec.traffic.jobs.remove(0);
        let uniform: PatternConfig = serde_json::from_str(r#"{"uniform": {}}"#).expect("a pattern");
        let job = |name: &str, terminals: std::ops::Range<u32>, load: f64| {
            let (ranks, mut job) = (terminals.len(), all.clone());
            let pattern = uniform.build(&Population::of(ranks as u32), "pattern").expect("a pattern");
            job.phases = vec![LoadPhase { from: 0, pattern: pattern.into(), load: vec![load; ranks] }];
            Job { name: name.into(), terminals: terminals.collect(), ..job }
        };
        // a batch that terminals send as fast as they can; at the end of the run, only a small part is delivered
        let batch = Job { batch: Some(vec![2500; 4]), ..job("batch", 12..16, 1.0) };
        spec.traffic.jobs = vec![job("background", 0..12, load), batch];
        let out = run(&spec);
        assert_eq!(out.saturated, expected, "load {load}, {:?}", out.ending);
        // the verdict must be the same if the window ends with the batch
        let job = &mut spec.traffic.jobs[1];
        (job.batch, spec.phases) =
            (Some(vec![1700; 4]), Phases { warmup: 0, window: 20_000, stop: Stop::Complete, ..spec.phases });
        let out = run(&spec);
        assert!(out.jobs[1].batch.is_some_and(|batch| batch.completed.is_some()), "load {load}");
        assert_eq!(out.saturated, expected, "load {load}, {:?} after {} cycles", out.ending, out.window);
    }
}

#[test]
fn terminals_that_wait_for_replies_offer_what_the_network_lets_them() {
    let mut spec = bursty(0.9, 16, 1);
    spec.traffic.jobs[0].workload = request_reply(4, Some(4));
    let out = run(&spec);
    assert_eq!((&out.ending, out.saturated), (&Ending::Drained, Saturation::No));
    assert!(out.offered_flits < 16 * 8000 * 9 / 10, "replies included, less than the requests alone at load 0.9");
    // without a limit of outstanding requests, packets accumulate in the network
    spec.traffic.jobs[0].workload = request_reply(4, None);
    assert_eq!(run(&spec).saturated, Saturation::Yes);
}

/// A spec in which two terminals of a router send over one link. In each period of 1,000 cycles, the link is off for 300 cycles from cycle
/// `from` on. The link therefore carries a load of 0.35.
fn by_timetable(load: f64, from: u64) -> Spec {
    let mut spec = spec(r#"{"hyperx": {"widths": [4], "terminals_per_router": 2}}"#, r#"{"dimension_order": {}}"#);
    pattern(&mut spec, r#"{"tornado": {}}"#);
    spec.set_packet(4);
    let table = format!(
        r#"{{"timetable": {{"off": [{{"from": "{from}ns", "until": "{}ns"}}], "period": "1000ns", "transition": "5ns"}}}}"#,
        from + 300
    );
    policy(&mut spec, &table);
    spec.set_load(load);
    phases(&mut spec, 5000, 4000);
    spec
}

#[test]
fn whole_periods_of_a_policy_are_judged_wherever_the_window_begins() {
    for from in [0, 250, 500, 750] {
        for window in [1000, 2000, 4000, 4100] {
            for (load, expected) in [(0.05, Saturation::No), (0.25, Saturation::No), (0.5, Saturation::Yes)] {
                let mut spec = by_timetable(load, from);
                spec.phases.window = window;
                assert_eq!(run(&spec).saturated, expected, "{load}: off from {from} on, window {window}");
            }
        }
        let mut short = by_timetable(0.25, from);
        short.phases.window = 999;
        let doubt = Doubt::PartOfPeriod { cycles: 999, period: 1000 };
        assert_eq!(run(&short).saturated, Saturation::Unknown(doubt), "off from {from} on");
    }
}

#[test]
fn each_phase_of_a_load_is_judged_by_whole_periods() {
    let mut spec = by_timetable(0.2, 700);
    let job = &mut spec.traffic.jobs[0];
    let next = |from, load| LoadPhase { from, load: vec![load; 8], ..job.phases[0].clone() };
    let later = [next(7000, 1.0), next(8500, 0.1), next(13_500, 0.3)];
    job.phases.extend(later);
    spec.phases.window = 9000;
    let verdicts: Vec<_> = run(&spec).phases.iter().map(|phase| phase.saturated).collect();
    let doubt = Doubt::PartOfPeriod { cycles: 500, period: 1000 };
    let [no, yes] = [Saturation::No, Saturation::Yes].map(Some);
    assert_eq!(verdicts, [no, yes, no, Some(Saturation::Unknown(doubt))]);
}
