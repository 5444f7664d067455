//! Every registered workload: what it offers is delivered or still waits, alone and beside others, and blocks change
//! nothing.

use super::*;
use weft_engine::outcome::Ending;
use weft_engine::spec::FlowControl::VirtualCutThrough;
use weft_engine::spec::{Job, LoadPhase, Stop};
use weft_engine::workload::WorkloadConfig;
use weft_traffic::{Pattern, PatternConfig, Population};

/// A job on `terminals`, with packets of 2 flits.
fn job(name: &str, terminals: std::ops::Range<u32>, workload: &WorkloadConfig, load: f64) -> Job {
    let uniform: PatternConfig = serde_json::from_str(r#"{"uniform": {}}"#).expect("a pattern");
    let uniform: Pattern = uniform.build(&Population::of(terminals.len() as u32), "pattern").expect("a pattern");
    Job { workload: workload.clone(), ..Job::steady(name, terminals.collect(), uniform.into(), load, 2) }
}

/// Each workload alone, and each beside each other on terminals that share routers' links, below saturation and above.
fn check_all(check: impl Fn(Spec, &str)) {
    let workloads = WorkloadConfig::examples();
    for load in [0.1, 1.0] {
        for (k, workload) in workloads.iter().enumerate() {
            let mut alone = vec![vec![job("all", 0..24, workload, load)]];
            alone.extend(workloads[..k].iter().map(|other| {
                vec![job("first", 0..9, workload, load), job("second", 9..21, other, load)] // and 3 terminals in no job
            }));
            for jobs in alone {
                let mut spec = spec(HYPERX, UGAL_P);
                packets(&mut spec, 2, VirtualCutThrough, 8);
                spec.traffic.jobs = jobs;
                phases(&mut spec, 200, 500);
                let what: Vec<_> = spec.traffic.jobs.iter().map(|job| job.workload.name()).collect();
                check(spec, &format!("{what:?} at {load}"));
            }
        }
    }
}

#[test]
fn every_workload_runs() {
    let run: Vec<&str> = WorkloadConfig::examples().iter().map(WorkloadConfig::name).collect();
    assert_complete(WorkloadConfig::NAMES, &run);
}

#[test]
fn every_workload_gives_the_same_result_in_one_block_and_in_three() {
    check_all(|spec, what| {
        check_blocks(&spec, what);
        let (one, three) = (run(&spec), run_as(&spec, Execution::new(1, 3)));
        assert!(one.jobs == three.jobs, "{what}");
    });
}

/// The loads end at cycle 2,000: all that was created is delivered, and nothing waits.
#[test]
fn under_every_workload_all_that_is_offered_is_delivered_when_the_load_ends() {
    check_all(|mut spec, what| {
        for job in &mut spec.traffic.jobs {
            let first = &job.phases[0];
            let silence = LoadPhase { from: 2000, load: vec![0.0; first.load.len()], ..first.clone() };
            job.phases.push(silence);
        }
        phases(&mut spec, 0, 100_000);
        let out = run(&spec);
        assert_eq!((&out.ending, out.missing_packets, out.backlog_packets), (&Ending::Drained, 0, 0), "{what}");
        assert_eq!((out.sums.flits, out.accepted_flits), (out.offered_flits, out.offered_flits), "{what}");
        assert_eq!(out.injected_flits, out.offered_flits, "{what}");
        for job in &out.jobs {
            assert!(job.packets.sums.packets > 100, "{what}");
            assert_eq!((job.missing_packets, job.packets.sums.flits), (0, job.offered_flits), "{what}");
        }
    });
}

/// A run that ends in the middle: what is offered is delivered, under way, or still to come.
#[test]
fn under_every_workload_offered_is_delivered_and_missing() {
    check_all(|mut spec, what| {
        phases(&mut spec, 0, 700);
        spec.phases.drain_limit = 0;
        let out = run(&spec);
        let offered: u64 = out.jobs.iter().map(|job| job.offered_flits).sum();
        assert_eq!(offered, out.offered_flits, "{what}");
        let delivered: u64 = out.jobs.iter().map(|job| job.packets.sums.packets).sum();
        let missing: u64 = out.jobs.iter().map(|job| job.missing_packets).sum();
        assert_eq!((delivered, missing), (out.sums.packets, out.missing_packets), "{what}");
        assert!(missing > 0 && out.missing_packets >= out.backlog_packets, "{what}: {missing} {}", out.backlog_packets);
    });
}

/// Far above saturation most packets of the window are not made when it ends: created and backlog are what the random
/// streams of the terminals say.
#[test]
fn what_an_open_loop_offers_is_created_or_backlog() {
    for load in [0.1, 1.0] {
        let mut spec = spec(HYPERX, UGAL_P);
        packets(&mut spec, 2, VirtualCutThrough, 8);
        spec.traffic.jobs = vec![job("all", 0..24, &WorkloadConfig::default(), load)];
        phases(&mut spec, 200, 500);
        spec.phases.drain_limit = 0;
        let created: usize = (0..24).map(|terminal| creations(&spec, terminal).len()).sum();
        let out = run(&spec);
        assert_eq!(out.offered_flits, 2 * created as u64, "load {load}");
        assert!(out.sums.packets > 0 && (load < 1.0 || out.backlog_packets > 100), "{}", out.backlog_packets);
    }
}

#[test]
fn every_workload_completes_its_batches() {
    check_all(|mut spec, what| {
        for job in &mut spec.traffic.jobs {
            job.batch = Some((0..job.terminals.len() as u32).map(|rank| rank % 3 * 10).collect());
        }
        phases(&mut spec, 0, 100_000);
        spec.phases.stop = Stop::Complete;
        let out = run(&spec);
        assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0), "{what}");
        for job in &out.jobs {
            let batch = job.batch.expect("a batch");
            assert_eq!((batch.delivered, batch.completed.is_some()), (batch.packets, true), "{what}");
            assert_eq!(batch.packets, job.packets.sums.packets, "{what}");
        }
    });
}

/// By Little's law a terminal that never has more than `n` requests without a reply sends at most one per `n`-th part of a
/// round trip.
#[test]
fn no_terminal_has_more_requests_without_a_reply_than_allowed() {
    for outstanding in [1, 2, 5] {
        let json = format!(r#"{{"request_reply": {{"outstanding": {outstanding}}}}}"#);
        let mut spec = spec(HYPERX, DOR);
        spec.traffic.jobs = vec![job("all", 0..24, &serde_json::from_str(&json).expect("a workload"), 1.0)];
        phases(&mut spec, 0, 3000);
        let out = run(&spec);
        let latency = |name: &str| {
            let found = out.jobs[0].latencies.iter().find(|(own, _)| *own == name);
            found.map(|(_, measured)| measured.sums.latency as f64).expect("a latency")
        };
        // the sum over round trips of their cycles is the sum over cycles of those under way
        let under_way = latency("round_trip") / (24.0 * out.cycles as f64);
        assert!(under_way <= f64::from(outstanding), "{under_way} of {outstanding}");
        assert!(under_way > 0.8 * f64::from(outstanding), "{under_way} of {outstanding}: the limit is reached");
    }
}
