//! Runs every routing and every power policy under faults, in networks from their own examples (`conformance/src/members.rs`). The suites
//! of the families are in the crate `weft-conformance`.

mod faults;
mod random_faults;

use crate::common::*;
use weft_engine::Spec;

/// Checks that each tested name has an example among the examples that run.
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

#[test]
#[should_panic(expected = "newer runs in no test")]
fn a_member_that_does_not_run_is_named() {
    assert_run(&["ecmp", "newer"], &["dal", "ecmp"]);
}
