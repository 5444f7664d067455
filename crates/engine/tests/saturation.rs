//! Which loads are saturated: those that burst, those that change, and those that wait for replies.

use crate::common::*;
use weft_engine::Spec;
use weft_engine::outcome::{Ending, Saturation};
use weft_engine::spec::{Job, LoadPhase};
use weft_traffic::{PatternConfig, Population};

/// 4x4 routers of one terminal; tornado traffic over intermediates, which carries 0.82 of what is offered at load 0.9.
/// Bursts of so many cycles on average, at full load.
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
        // the drain could deliver all of it
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
    let Saturation::Unknown(doubt) = run(&short).saturated else { panic!("bursts of 64 cycles at load 0.1") };
    // half the window less what a flit takes to land is judged: 4000 cycles; f = 0.1, p = 1/4, silences of 576 cycles:
    // dispersion 1 - 1/40 + 2 / 4 * 0.9 * (64 * 576 / 640 - 1) = 26.4; 1600 packets
    let expected = 3.0 * (26.445_f64 / 1600.0).sqrt();
    assert!((doubt.chance / expected - 1.0).abs() < 0.01, "{doubt:?}, expected {expected}");
    let mut longer = short;
    longer.phases.window = (8000.0 * doubt.longer()).ceil() as u64;
    assert_eq!(run(&longer).saturated, Saturation::No);
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
    let told: Vec<_> = out.phases.iter().map(|phase| phase.saturated).collect();
    assert_eq!(told, [Some(Saturation::No), Some(Saturation::Yes), Some(Saturation::No)]);
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
        // a batch that is sent as fast as it may, and is far from delivered at the end
        let batch = Job { batch: Some(vec![2500; 4]), ..job("batch", 12..16, 1.0) };
        spec.traffic.jobs = vec![job("background", 0..12, load), batch];
        let out = run(&spec);
        assert_eq!(out.saturated, expected, "load {load}, {:?}", out.ending);
    }
}

#[test]
fn terminals_that_wait_for_replies_offer_what_the_network_lets_them() {
    let mut spec = bursty(0.9, 16, 1);
    spec.traffic.jobs[0].workload = request_reply(4, Some(4));
    let out = run(&spec);
    assert_eq!((&out.ending, out.saturated), (&Ending::Drained, Saturation::No));
    assert!(out.offered_flits < 16 * 8000 * 9 / 10, "replies included, less than the requests alone at load 0.9");
    // without a limit they pile up
    spec.traffic.jobs[0].workload = request_reply(4, None);
    assert_eq!(run(&spec).saturated, Saturation::Yes);
}
