//! Tests runs that continue from a checkpoint, in every phase of a run and for every kind of ending. (`conformance` tests every member of
//! every family.)

use crate::common::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use weft_engine::outcome::Ending;
use weft_engine::spec::{Execution, FlowControl, LoadPhase, Stop, Watched};
use weft_engine::{Outcome, Progress, Spec};

/// Requests a checkpoint at every opportunity, and collects all checkpoints.
#[derive(Default)]
struct All(Mutex<Vec<Vec<u8>>>);

impl Progress for All {
    fn tick(&self, _: u64, _: u64) -> bool {
        true
    }

    fn wants_checkpoint(&self, _: u64) -> bool {
        true
    }

    fn keep(&self, checkpoint: Vec<u8>) {
        self.0.lock().expect("no panic while it keeps").push(checkpoint);
    }
}

/// Checks that a run continues to the same result from `some` of its checkpoints, spread evenly over all of them.
pub(super) fn check_every_phase(spec: &Spec, some: usize, what: &str) -> Outcome {
    let (plain, all) = (run(spec), All::default());
    let stopped = weft_engine::run(spec, Execution::new(1, 2), &all).expect("a run");
    assert_same(&plain, &stopped, what);
    let all = all.0.into_inner().expect("no panic while it kept");
    let step = all.len().div_ceil(some);
    let evenly: Vec<_> = all.iter().skip(step / 2).step_by(step).chain(all.last()).cloned().collect();
    assert_resumes(spec, &stopped, &evenly, what);
    plain
}

/// A network of 16 routers under TCEP with short epochs.
fn sleepy() -> Spec {
    let mut spec = spec(HYPERX, PAL);
    policy(
        &mut spec,
        r#"{"tcep": {"activation_epoch": "200cycles", "deactivation_epoch": "800cycles", "wake": "50ns"}}"#,
    );
    spec.set_load(0.1);
    spec
}

#[test]
fn a_warm_up_that_ends_by_itself_goes_on() {
    let mut spec = sleepy();
    (spec.phases.auto_warmup, spec.phases.warmup, spec.phases.window) = (true, 40_000, 2000);
    let out = check_every_phase(&spec, 12, "a warm-up under a policy");
    assert_eq!((out.decisions.settled, out.decisions.power_settled), (Some(true), Some(true)));
    // above saturation, so latencies grow without limit
    let mut spec = self::spec(TORUS, UGAL);
    spec.set_load(1.0);
    (spec.phases.auto_warmup, spec.phases.warmup, spec.phases.window) = (true, 9000, 2000);
    let out = check_every_phase(&spec, 6, "a warm-up that reaches its limit");
    assert_eq!(out.decisions.settled, Some(false));
}

#[test]
fn a_window_that_grows_until_a_confidence_is_reached_goes_on() {
    let mut spec = spec(TORUS, UGAL);
    phases(&mut spec, 500, 1000);
    spec.set_load(0.3);
    spec.phases.stop = Stop::Confidence { share: 0.01, window: 20_000 };
    let out = check_every_phase(&spec, 8, "until a confidence is reached");
    assert_eq!(out.decisions.confident, Some(true));
    assert!(out.window > 1000, "{}", out.window);
}

#[test]
fn a_window_that_ends_with_the_last_batch_goes_on() {
    let mut spec = spec(HYPERX, UGAL_P);
    phases(&mut spec, 0, 100_000);
    let job = &mut spec.traffic.jobs[0];
    job.batch = Some(vec![200; job.terminals.len()]);
    spec.phases.stop = Stop::Complete;
    let out = check_every_phase(&spec, 6, "until all batches are delivered");
    assert!(out.jobs[0].batch.expect("a batch").completed.is_some());
}

#[test]
fn a_load_that_changes_and_a_policy_that_repeats_itself_go_on() {
    let mut spec = spec(HYPERX, DOR);
    let off = r#"[{"from": "200cycles", "until": "500cycles"}]"#;
    policy(
        &mut spec,
        &format!(r#"{{"timetable": {{"off": {off}, "period": "1000cycles", "transition": "20cycles"}}}}"#),
    );
    phases(&mut spec, 1000, 6000);
    spec.set_load(0.1);
    check_every_phase(&spec, 5, "a timetable");
    let first = spec.traffic.jobs[0].phases[0].clone();
    let later = LoadPhase { from: 4000, load: vec![0.2; first.load.len()], ..first };
    spec.traffic.jobs[0].phases.push(later);
    let out = check_every_phase(&spec, 5, "a timetable and a load that changes");
    assert_eq!(out.phases.len(), 2);
}

/// The load phases of a window that grows cover the whole window, and their flits add up to the flits of the window.
#[test]
fn a_load_that_changes_in_a_window_that_grows_goes_on() {
    let mut spec = spec(TORUS, DOR);
    packets(&mut spec, 5, FlowControl::VirtualCutThrough, 16);
    phases(&mut spec, 100, 1000);
    spec.set_load(0.1);
    spec.phases.stop = Stop::Confidence { share: 0.005, window: 4000 };
    let first = spec.traffic.jobs[0].phases[0].clone();
    // one change of the load is within the first window length, and one after it
    for (from, load) in [(400, 0.3), (2000, 0.2)] {
        let later = LoadPhase { from, load: vec![load; first.load.len()], ..first.clone() };
        spec.traffic.jobs[0].phases.push(later);
    }
    let out = check_every_phase(&spec, 5, "phases in a window that grows");
    assert_eq!(out.window, 4000);
    let spans: Vec<_> = out.phases.iter().map(|phase| (phase.from, phase.to)).collect();
    assert_eq!(spans, [(100, 400), (400, 2000), (2000, 4100)]);
    let accepted: u64 = out.phases.iter().map(|phase| phase.accepted_flits).sum();
    assert_eq!(accepted, out.accepted_flits);
    let offered: Option<u64> = out.phases.iter().map(|phase| phase.offered_flits).sum();
    assert_eq!(offered, Some(out.offered_flits));
}

#[test]
fn long_drains_and_overload_go_on() {
    let mut spec = spec(TORUS, UGAL);
    phases(&mut spec, 200, 3000);
    for (load, ending) in [(0.55, Ending::Drained), (1.0, Ending::Saturated)] {
        spec.set_load(load);
        assert_eq!(check_every_phase(&spec, 6, &format!("load {load}")).ending, ending);
    }
}

/// Stops the run at the fifth call of `tick`, and requests a checkpoint at that time.
#[derive(Default)]
struct Stopper {
    ticks: Mutex<u32>,
    stopped: AtomicBool,
    kept: Mutex<Vec<Vec<u8>>>,
}

impl Progress for Stopper {
    fn tick(&self, _: u64, _: u64) -> bool {
        let mut ticks = self.ticks.lock().expect("no panic while it counts");
        *ticks += 1;
        self.stopped.store(*ticks >= 5, Relaxed);
        *ticks < 5
    }

    fn wants_checkpoint(&self, _: u64) -> bool {
        self.stopped.load(Relaxed)
    }

    fn keep(&self, checkpoint: Vec<u8>) {
        self.kept.lock().expect("no panic while it keeps").push(checkpoint);
    }
}

#[test]
fn a_run_that_is_stopped_leaves_a_checkpoint() {
    let mut spec = sleepy();
    (spec.phases.auto_warmup, spec.phases.warmup, spec.phases.window) = (true, 40_000, 2000);
    let stopper = Stopper::default();
    let out = weft_engine::run(&spec, ONE, &stopper).expect("a run");
    assert_eq!(out.ending, Ending::Interrupted);
    let kept = stopper.kept.into_inner().expect("no panic while it kept");
    assert_eq!(kept.len(), 1);
    assert_resumes(&spec, &run(&spec), &kept, "after a stop");
}

#[test]
fn runs_that_watch_packets_make_no_checkpoints() {
    let mut spec = sleepy();
    phases(&mut spec, 1000, 3000);
    spec.watched = Watched::First(3);
    assert!(run_keeping(&spec, ONE).1.is_empty());
}

/// Arbitrary bytes are either refused or can be read; the checkpoint of another network is always refused.
#[test]
fn what_is_no_checkpoint_of_the_run_is_refused() {
    let mut spec = sleepy();
    phases(&mut spec, 1000, 2000);
    let (_, kept) = run_keeping(&spec, ONE);
    let whole = &kept[0];
    let refusal = |bytes: &[u8]| weft_engine::resume(&spec, ONE, &(), bytes).map(|_| ()).expect_err("cut off");
    for length in [0, 1, 2, whole.len() / 3, whole.len() - 1] {
        assert_eq!(refusal(&whole[..length]).path, "checkpoint", "{length} bytes");
    }
    assert_eq!(refusal(&[whole.as_slice(), &[0]].concat()).path, "checkpoint");
    assert_eq!(refusal(&[0xff; 4096]).path, "checkpoint");
    let mut other = self::spec(TORUS, UGAL);
    phases(&mut other, 1000, 2000);
    let refused = weft_engine::resume(&other, ONE, &(), whole).expect_err("another network");
    assert!(refused.what.contains("another scenario"), "{refused}");
}
