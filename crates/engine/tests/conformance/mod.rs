//! Every member of a family that has a registry runs here: a name without an example in `common/examples.rs` fails, so
//! that no new model goes untested.

mod allocator;
mod policy;
mod recording;
mod routing;
mod workload;

use crate::common::*;
use weft_engine::Spec;
use weft_engine::spec::Execution;

/// What to do about registered names that have no example; nothing if each has one.
fn missing(names: &[&str], examples: &[&str], advice: impl Fn(&str) -> String) -> Option<String> {
    let lacks = |name: &&&str| !examples.iter().any(|json| name_of(json) == **name);
    let lines: Vec<String> = names.iter().filter(lacks).map(|name| advice(name)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[track_caller]
fn assert_complete(names: &[&str], examples: &[&str], advice: impl Fn(&str) -> String) {
    assert!(names.len() > 1, "a registry has members");
    if let Some(text) = missing(names, examples, advice) {
        panic!("{text}");
    }
}

/// The result is the same in one block and in three.
fn check_blocks(spec: &Spec, what: &str) {
    assert_same(&run(spec), &run_as(spec, Execution { threads: 1, blocks: 3 }), what);
}

#[test]
fn a_name_without_an_example_is_told_what_to_add() {
    let advice = |name: &str| format!("add {name}");
    assert_eq!(missing(&["ecmp", "dal"], &[ECMP, DAL, DOR], advice), None);
    assert_eq!(missing(&["ecmp", "new", "newer"], &[ECMP, DAL], advice).as_deref(), Some("add new\nadd newer"));
}
