//! Tests a run whose threads at first share the work unevenly. The run starts again with other blocks, and its result must stay the same.

use crate::common::*;
use std::sync::Arc;
use weft_engine::spec::{Execution, Job};
use weft_engine::{Simulation, Spec, scaling::Shares};
use weft_traffic::{PatternConfig, Population};

/// A spec whose job uses only the first 64 of 256 terminals, each at a different router.
fn on_a_quarter() -> Spec {
    let mut spec = spec(r#"{"torus": {"widths": [16, 16], "terminals_per_router": 1}}"#, r#"{"dimension_order": {}}"#);
    let pattern = PatternConfig::default().build(&Population::of(64), "pattern").expect("a pattern");
    spec.traffic.jobs = vec![Job::steady("some", (0..64).collect(), Arc::new(pattern), 0.2, 4)];
    phases(&mut spec, 3000, 3000);
    spec
}

/// Share by which the work of the busier of two threads exceeds the mean, with the blocks chosen before the run.
fn imbalance_before(spec: &Spec) -> f64 {
    let mut simulation = Simulation::new(spec, Execution::new(2, 2)).expect("a simulation");
    let observed = simulation.advance_observed(3000, &|| 0.0);
    Shares::of(&observed.hops, 2, 1).imbalance().expect("flit-hops")
}

#[test]
fn threads_share_the_work_of_a_job_on_a_part_of_the_nodes() {
    let spec = on_a_quarter();
    assert!(imbalance_before(&spec) > 0.9, "the first thread has all the work: {}", imbalance_before(&spec));
    let shares = Shares::counted(&spec, 2, 3000).expect("a simulation");
    assert!(shares.imbalance().expect("flit-hops") < 0.1, "{shares:?}");
}

#[test]
fn a_run_that_begins_again_has_the_same_result() {
    let spec = on_a_quarter();
    let plain = run(&spec);
    for threads in [2, 3] {
        assert_same(&plain, &run_as(&spec, Execution::new(threads, 0)), &format!("{threads} threads"));
    }
    let (two, checkpoints) = run_keeping(&spec, Execution::new(2, 0));
    assert_same(&plain, &two, "two threads");
    assert_resumes(&spec, &two, &checkpoints, "with the blocks of the second start");
}

/// With uniform traffic the first blocks are good, so starting again would only cost time.
#[test]
fn blocks_stay_where_ports_tell_the_work() {
    let mut spec = spec(TORUS, UGAL);
    spec.set_load(0.3);
    let before = imbalance_before(&spec);
    let shares = Shares::counted(&spec, 2, 3000).expect("a simulation");
    assert_eq!(shares.imbalance(), Some(before));
}
