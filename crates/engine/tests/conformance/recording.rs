//! Every recording, on its own examples: its table has rows and the columns that it declares, blocks change nothing in
//! it, and recording changes nothing else.

use super::*;
use weft_engine::recording::{RecordingConfig, Table, TableInfo};

/// A network under a policy that has routers talk and that switches links, with packets of several flits.
fn busy() -> Spec {
    let mut spec = spec(HYPERX, PAL);
    let quick = r#""activation_epoch": "200cycles", "deactivation_epoch": "800cycles", "wake": "50ns""#;
    policy(&mut spec, &format!(r#"{{"tcep": {{{quick}, "initial": "all_on"}}}}"#));
    phases(&mut spec, 1000, 4000);
    spec.set_load(0.2);
    spec
}

/// The columns are among those that the recording declares, in their order, and of one length.
fn check_columns(info: &TableInfo, table: &Table, what: &str) {
    let mut declared = (info.columns)().into_iter();
    for (name, column) in &table.columns {
        let heading = declared.find(|heading| heading.name == *name);
        let heading = heading.unwrap_or_else(|| panic!("{what} does not declare {name}, or not in this place"));
        assert_eq!(heading.kind, column.kind(), "{what}: {name}");
        assert_eq!(column.rows(), table.columns[0].1.rows(), "{what}: {name}");
    }
    assert_eq!(table.complete.is_some(), info.bounded, "{what}");
}

#[test]
fn every_recording_keeps_what_it_declares_and_changes_nothing() {
    let plain = run(&busy());
    for recording in RecordingConfig::examples() {
        let what = format!("{recording:?}");
        let mut spec = busy();
        spec.recordings = vec![recording.asked()];
        let out = run(&spec);
        assert_same(&plain, &out, &what);
        let [(name, table)] = &out.recorded[..] else { panic!("{what}: one table") };
        assert_eq!(*name, recording.name());
        assert!(table.columns[0].1.rows() > 0, "{what} has no rows");
        check_columns(&recording.table(), table, &what);
        let (three, checkpoints) = run_keeping(&spec, Execution::new(1, 3));
        assert_resumes(&spec, &out, &checkpoints, &what);
        let twelve = run_as(&spec, Execution::new(2, 12));
        for (other, blocks) in [(three, 3), (twelve, 12)] {
            // by their text, as no fraction that is not a number equals itself
            assert_eq!(format!("{:?}", other.recorded), format!("{:?}", out.recorded), "{what}, {blocks} blocks");
        }
    }
}

#[test]
fn all_recordings_together_are_what_they_are_alone() {
    let mut spec = busy();
    spec.recordings = RecordingConfig::examples().iter().map(RecordingConfig::asked).collect();
    let together = run(&spec);
    for (asked, both) in spec.recordings.clone().into_iter().zip(&together.recorded) {
        spec.recordings = vec![asked];
        assert_eq!(format!("{:?}", run(&spec).recorded[0]), format!("{both:?}"));
    }
}

#[test]
fn every_recording_says_what_its_table_is() {
    assert_eq!(RecordingConfig::tables().len(), RecordingConfig::NAMES.len());
    for name in RecordingConfig::NAMES {
        let has_example = RecordingConfig::examples().iter().any(|example| example.name() == *name);
        assert!(has_example, "the recording {name} runs in no test: let its examples() give a configuration");
    }
    for (name, info) in RecordingConfig::tables() {
        assert!(!info.meaning.is_empty() && info.rows.starts_with("A row per"), "{name}");
        let headings = (info.columns)();
        for (k, heading) in headings.iter().enumerate() {
            assert!(!heading.meaning.is_empty(), "{name}: {}", heading.name);
            assert!(headings[..k].iter().all(|other| other.name != heading.name), "{name}: {} twice", heading.name);
        }
    }
}
