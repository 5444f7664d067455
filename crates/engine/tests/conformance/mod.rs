//! Every member of a family that has a registry runs here, in networks from its own examples (`common/members.rs`).

mod allocator;
mod faults;
mod policy;
mod random_faults;
mod recording;
mod routing;
mod workload;

use crate::integration::common::*;
use weft_engine::Spec;
use weft_engine::spec::Execution;

/// Each name that is tested has an example among those that run.
#[track_caller]
fn assert_complete(names: &[&str], run: &[&str]) {
    assert!(names.len() > 1, "a registry has members");
    let tested: Vec<&str> = names.iter().copied().filter(|name| is_tested(&[name])).collect();
    assert_run(&tested, run);
}

#[track_caller]
fn assert_run(names: &[&str], run: &[&str]) {
    for name in names {
        assert!(
            run.contains(name),
            "{name} runs in no test: its `examples()` are none, or no small network is for them"
        );
    }
}

/// The result is the same in one block and in three, and when the run is broken off and goes on from a checkpoint.
fn check_blocks(spec: &Spec, what: &str) {
    let (three, checkpoints) = run_keeping(spec, Execution::new(1, 3));
    assert_same(&run(spec), &three, what);
    assert_resumes(spec, &three, &checkpoints, what);
}

#[test]
#[should_panic(expected = "newer runs in no test")]
fn a_member_that_does_not_run_is_named() {
    assert_run(&["ecmp", "newer"], &["dal", "ecmp"]);
}
