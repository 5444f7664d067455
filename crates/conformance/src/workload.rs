//! The conformance suite of workloads. Each offered packet must be delivered or still wait, whether the workload runs alone or together
//! with another. Batches are completed. The number of blocks and checkpoints must not change results.

use super::{Execution, HYPERX, Spec, UGAL_P, check_blocks, packets, phases, run, run_as, spec};
use weft_engine::outcome::{Ending, Progress};
use weft_engine::spec::FlowControl::VirtualCutThrough;
use weft_engine::spec::{Job, LoadPhase, Stop};
use weft_engine::workload::WorkloadConfig;
use weft_traffic::{Pattern, PatternConfig, Population};

/// Runs the conformance suite on one workload: alone, and together with each of `others`, below and above saturation.
///
/// # Panics
/// Panics if the workload does not conform; the message names the fault.
pub fn check(workload: &WorkloadConfig, others: &[WorkloadConfig]) {
    if has_own_demand(workload) {
        return check_own_demand(workload, others);
    }
    let others: Vec<_> = others.iter().filter(|other| !has_own_demand(other)).collect();
    for load in [0.1, 1.0] {
        let mut all = vec![vec![job("all", 0..24, workload, load)]];
        // two jobs on terminals that share links of routers, with 3 terminals that belong to no job
        all.extend(
            others.iter().map(|other| vec![job("first", 0..9, workload, load), job("second", 9..21, other, load)]),
        );
        for jobs in all {
            let mut spec = spec(HYPERX, UGAL_P);
            packets(&mut spec, 2, VirtualCutThrough, 8);
            spec.traffic.jobs = jobs;
            phases(&mut spec, 200, 500);
            let what: Vec<_> = spec.traffic.jobs.iter().map(|job| job.workload.name()).collect();
            let what = format!("{what:?} at {load}");
            check_in_blocks(&spec, &what);
            check_delivers(spec.clone(), &what);
            check_missing(spec.clone(), &what);
            check_batches(spec, &what);
        }
    }
}

fn has_own_demand(workload: &WorkloadConfig) -> bool {
    workload.model().has_own_demand()
}

/// A spec in which a workload with its own demand runs alone, on 9 terminals. `None` if the workload sends at the load of its job.
pub(super) fn own_demand_alone(workload: &WorkloadConfig) -> Option<Spec> {
    has_own_demand(workload).then(|| until_done(vec![job("first", 0..9, workload, 0.0)]))
}

/// A spec with these jobs, which runs until all jobs are complete.
fn until_done(jobs: Vec<Job>) -> Spec {
    let mut spec = spec(HYPERX, UGAL_P);
    packets(&mut spec, 2, VirtualCutThrough, 8);
    spec.traffic.jobs = jobs;
    phases(&mut spec, 0, 200_000);
    spec.phases.stop = Stop::Complete;
    spec
}

/// Checks that a workload with its own demand ends on 9 terminals and all its packets are delivered: alone, and together with each of
/// `others`.
fn check_own_demand(workload: &WorkloadConfig, others: &[WorkloadConfig]) {
    let own = || job("first", 0..9, workload, 0.0);
    let beside = others.iter().filter(|other| !has_own_demand(other));
    let mut all: Vec<_> = beside.map(|other| vec![own(), job("second", 9..21, other, 0.1)]).collect();
    all.extend([vec![own()], vec![own(), job("second", 9..18, workload, 0.0)]]);
    for jobs in all {
        let spec = until_done(jobs);
        let what: Vec<_> = spec.traffic.jobs.iter().map(|job| job.workload.name()).collect();
        let what = format!("{what:?}");
        check_in_blocks(&spec, &what);
        let out = run(&spec);
        assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0), "{what}");
        assert_eq!(out.sums.flits, out.offered_flits, "{what}");
        assert!(matches!(out.jobs[0].progress, Progress::Ended(cycle) if cycle > 0 && cycle < out.window), "{what}");
        assert!(out.jobs[0].packets.sums.packets > 50, "{what}");
    }
}

/// A job that runs `workload` on `terminals`, with packets of 2 flits.
fn job(name: &str, terminals: std::ops::Range<u32>, workload: &WorkloadConfig, load: f64) -> Job {
    let uniform: PatternConfig = serde_json::from_str(r#"{"uniform": {}}"#).expect("a pattern");
    let uniform: Pattern = uniform.build(&Population::of(terminals.len() as u32), "pattern").expect("a pattern");
    Job { workload: workload.clone(), ..Job::steady(name, terminals.collect(), uniform.into(), load, 2) }
}

fn check_in_blocks(spec: &Spec, what: &str) {
    check_blocks(spec, what);
    let (one, three) = (run(spec), run_as(spec, Execution::new(1, 3)));
    assert!(one.jobs == three.jobs, "{what}");
}

/// Sets the loads of all jobs to 0 at cycle 2,000, and runs the spec. Checks that every created packet is delivered,
/// and that no packet still waits.
fn check_delivers(mut spec: Spec, what: &str) {
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
}

/// Checks a run that ends before its packets are delivered: each offered packet is delivered, in flight, or still at
/// its source.
fn check_missing(mut spec: Spec, what: &str) {
    phases(&mut spec, 0, 700);
    spec.phases.drain_limit = 0;
    let out = run(&spec);
    let offered: u64 = out.jobs.iter().map(|job| job.offered_flits).sum();
    assert_eq!(offered, out.offered_flits, "{what}");
    let delivered: u64 = out.jobs.iter().map(|job| job.packets.sums.packets).sum();
    let missing: u64 = out.jobs.iter().map(|job| job.missing_packets).sum();
    assert_eq!((delivered, missing), (out.sums.packets, out.missing_packets), "{what}");
    assert!(missing > 0 && out.missing_packets >= out.backlog_packets, "{what}: {missing} {}", out.backlog_packets);
}

fn check_batches(mut spec: Spec, what: &str) {
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
}
