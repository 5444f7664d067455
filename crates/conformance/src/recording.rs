//! The conformance suite of recordings. A table must have rows, and the columns that its recording declares. The number of blocks and
//! checkpoints must not change the table, and the table must not change other results.

use super::workload::own_demand_alone;
use super::{Execution, HYPERX, Outcome, Spec, assert_resumes, assert_same, phases, run, run_as, run_keeping, spec};
use std::sync::LazyLock;
use weft_api::recording::{Asked, Table, TableInfo};
use weft_engine::workload::WorkloadConfig;

/// The spec for the tests: packets of several flits, under a policy that sends control packets and switches links.
fn busy() -> Spec {
    let mut spec = spec(HYPERX, r#"{"pal": {"sensor": "used_credits"}}"#);
    let quick = r#""activation_epoch": "200cycles", "deactivation_epoch": "800cycles", "wake": "50ns""#;
    let policy = format!(r#"{{"tcep": {{{quick}, "initial": "all_on"}}}}"#);
    spec.policy = serde_json::from_str(&policy).expect("the configuration of a registered model");
    phases(&mut spec, 1000, 4000);
    spec.set_load(0.2);
    spec
}

/// The result of the `busy` spec without recordings.
static PLAIN: LazyLock<Outcome> = LazyLock::new(|| run(&busy()));

/// Runs the conformance suite on one recording. `examples`: configurations of the recording; `info`: the description of
/// its table.
///
/// # Panics
/// Panics if the recording does not conform; the message names the fault.
pub fn check(name: &str, examples: &[Asked], info: &TableInfo) {
    assert!(!examples.is_empty(), "the recording {name} runs in no test: let its `examples()` return a configuration");
    check_info(name, info);
    for asked in examples {
        check_example(asked, info);
    }
}

/// Checks that the description of a recording's table is complete: its meaning, its rows, and distinct columns with
/// meanings.
fn check_info(name: &str, info: &TableInfo) {
    assert!(!info.meaning.is_empty() && info.rows.starts_with("A row per"), "{name}");
    let headings = (info.columns)();
    for (k, heading) in headings.iter().enumerate() {
        assert!(!heading.meaning.is_empty(), "{name}: the column {} has no meaning", heading.name);
        assert!(headings[..k].iter().all(|other| other.name != heading.name), "{name}: two columns {}", heading.name);
    }
}

fn check_example(asked: &Asked, info: &TableInfo) {
    let what = format!("{} {:?}", asked.name, asked.model);
    // programs write tables of their own, so select the table of this recording
    let own = |out: &Outcome| out.recorded.iter().find(|(name, _)| *name == asked.name).map(|(_, table)| table.clone());
    let has_rows = |out: &Outcome| own(out).is_some_and(|table| table.columns[0].1.rows() > 0);
    let recorded = |mut spec: Spec| {
        spec.recordings = vec![asked.clone()];
        let out = run(&spec);
        (spec, out)
    };
    let (mut spec, mut out) = recorded(busy());
    assert_same(&PLAIN, &out, &what);
    // some tables have rows only if programs run, so try workloads with programs
    let mut others = WorkloadConfig::examples().into_iter().filter_map(|workload| own_demand_alone(&workload));
    while !has_rows(&out) {
        let other = others.next().unwrap_or_else(|| panic!("{what} has no rows, neither under load nor with programs"));
        let plain = run(&other);
        (spec, out) = recorded(other);
        assert_same(&plain, &out, &what);
    }
    check_columns(info, &own(&out).expect("its table"), &what);
    let (three, checkpoints) = run_keeping(&spec, Execution::new(1, 3));
    assert_resumes(&spec, &out, &checkpoints, &what);
    let twelve = run_as(&spec, Execution::new(2, 12));
    for (other, blocks) in [(three, 3), (twelve, 12)] {
        // the tables are compared as text, because a value that is not a number (NaN) does not equal itself
        assert_eq!(format!("{:?}", other.recorded), format!("{:?}", out.recorded), "{what}, {blocks} blocks");
    }
}

/// Checks that the recording declares all columns of its table, in the same order, and that the columns have equal
/// length.
fn check_columns(info: &TableInfo, table: &Table, what: &str) {
    let mut declared = (info.columns)().into_iter();
    for (name, column) in &table.columns {
        let heading = declared.find(|heading| heading.name == *name);
        let heading = heading.unwrap_or_else(|| panic!("{what} does not declare {name}, or in another order"));
        assert_eq!(heading.kind, column.kind(), "{what}: {name}");
        assert_eq!(column.rows(), table.columns[0].1.rows(), "{what}: {name}");
    }
    assert_eq!(table.complete.is_some(), info.bounded, "{what}");
}

/// Checks that each recording gives the same table in a run with all recordings as in a run alone.
///
/// # Panics
/// Panics if one recording changes the table of another.
pub fn check_together(all: Vec<Asked>) {
    let mut spec = busy();
    spec.recordings = all;
    let together = run(&spec);
    for (asked, both) in spec.recordings.clone().into_iter().zip(&together.recorded) {
        spec.recordings = vec![asked];
        assert_eq!(format!("{:?}", run(&spec).recorded[0]), format!("{both:?}"));
    }
}
