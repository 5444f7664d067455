//! Each recording has a key in the schema, and an error in its parameters is shown at its place. A recording is written as a table that has
//! its name and the columns that it declares. A new recording needs only its file and its line in the registry.

use crate::newcomers::NewcomerConfig;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use weft_engine::recording::{Asked, RecordingConfig};
use weft_engine::spec::Execution;
use weft_scenario::{Finished, Point, Recordings, expand, recordings, schema};

const ONE: Execution = Execution::new(1, 1);
const FILE: &str = "\
topology: {hyperx: {widths: [2, 2], terminals_per_router: 1}}
routing: dimension_order
traffic: {pattern: uniform, load: 0.1, packet: 3flits}
measure: {warmup: 100cycles, window: 300cycles}
";

fn point(path: &str, value: &str) -> Point {
    let set = [(path.to_owned(), value.to_owned())];
    expand("recordings.yaml", FILE, &set).unwrap_or_else(|error| panic!("{error}")).remove(0)
}

/// Saves a result, and reads the columns of one of its tables and its number of rows.
fn saved(finished: &Finished, name: &str) -> (Vec<String>, i64) {
    let folder: PathBuf = std::env::temp_dir().join(format!("weft-{name}-{}", std::process::id()));
    finished.save(&folder).expect("saved");
    let read = |folder: &Path| {
        let file = std::fs::File::open(folder.join(format!("{name}.parquet"))).expect("a table");
        let table = SerializedFileReader::new(file).expect("Parquet");
        let columns = table.metadata().file_metadata().schema_descr().columns().to_vec();
        let rows = table.metadata().file_metadata().num_rows();
        (columns.iter().map(|column| column.name().to_owned()).collect(), rows)
    };
    let found = read(&folder);
    std::fs::remove_dir_all(&folder).expect("removed");
    found
}

#[test]
fn every_recording_is_a_key_and_a_table_with_the_columns_that_it_declares() {
    let (schema, listed) = (schema(), recordings());
    let listed = listed.as_array().expect("a list");
    assert_eq!(
        listed.iter().map(|one| one["name"].as_str()).collect::<Option<Vec<_>>>().as_deref(),
        Some(RecordingConfig::NAMES)
    );
    for one in listed {
        let text = |key: &str| one[key].as_str().expect("a text");
        let name = text("name");
        assert!(schema.pointer(&format!("/$defs/Measure/properties/{name}")).is_some(), "{name} is no key");
        let point = point(&format!("measure.{name}"), text("example"));
        assert_eq!(point.scenario.measure.recordings.0.len(), 1, "{name}");
        let again = expand("again.yaml", &point.resolved_yaml(), &[]).expect("sound");
        assert_eq!(again[0].hash, point.hash, "{name} is in the resolved scenario");
        let (columns, _) = saved(&point.run(ONE, &()).expect("a run"), name);
        let mut declared = one["columns"].as_array().expect("a list").iter().map(|column| column["name"].as_str());
        let in_order = columns.iter().all(|column| declared.any(|other| other == Some(column)));
        assert!(!columns.is_empty() && in_order, "{name}: {columns:?}");
    }
}

#[test]
fn a_key_without_a_value_has_all_defaults() {
    for name in ["link_states", "control_packets", "router_sleep"] {
        let text = FILE.replace("window: 300cycles", &format!("window: 300cycles, {name}: "));
        let bare = expand("bare.yaml", &text, &[]).expect("sound").remove(0);
        let path = format!("measure.{name}");
        assert_eq!(bare.hash, point(&path, "{}").hash, "{name}");
        // `null` on the command line removes the recording
        let none = expand("bare.yaml", &text, &[(path, "null".to_owned())]).expect("sound").remove(0);
        assert_eq!(none.hash, expand("file.yaml", FILE, &[]).expect("sound")[0].hash, "{name}");
    }
}

#[test]
fn recordings_are_in_the_order_of_their_registry() {
    let both =
        FILE.replace("window: 300cycles", "series: {every: 10cycles}, window: 300cycles, transient: {bin: 5cycles}");
    let point = expand("both.yaml", &both, &[]).expect("sound").remove(0);
    let names: Vec<_> = point.scenario.measure.recordings.0.iter().map(RecordingConfig::name).collect();
    assert_eq!(names, ["transient", "series"]);
    assert_eq!(point.resolved["measure"]["series"], json!({ "every": "10cycles", "of": "class" }));
}

#[test]
fn a_wrong_parameter_is_shown_at_its_place() {
    for (path, value, what) in [
        ("measure.series.every", "soon", "is not a time"),
        ("measure.series.every", "0cycles", "expected a time above 0, found 0 cycles"),
        ("measure.series.every", "1000000s", "more than 2^48"),
        ("measure.series.every", "1000000s", "write at most 281474976710656cycles"),
        ("measure.transient.bin", "1500ps", "not a whole number"),
        ("measure.link_states.max_spans", "many", "expected a whole number"),
        ("measure.router_sleep.of", "all", "`measure.router_sleep` has no `of`"),
    ] {
        let set = [(path.to_owned(), value.to_owned())];
        let error = expand("wrong.yaml", FILE, &set).expect_err("wrong").to_string();
        assert!(error.starts_with(&format!("error: {path}")) && error.contains(what), "{error}");
    }
}

#[test]
fn a_new_recording_is_its_file_and_its_line() {
    assert_eq!(NewcomerConfig::NAMES, ["longest_packet"]);
    // the new recording is a key of the schema
    let keys = schemars::schema_for!(Recordings<NewcomerConfig>).to_value();
    let parameters = keys.pointer("/properties/longest_packet/anyOf/0/$ref").and_then(Value::as_str).expect("a key");
    let parameters = keys.pointer(parameters.trim_start_matches('#')).expect("its parameters");
    assert_eq!(parameters["properties"]["every"]["description"], "Length of a span [time].");
    // the new recording is a table of a run
    let newcomer = NewcomerConfig::examples().remove(0);
    assert_eq!(
        serde_json::to_value(Recordings(vec![newcomer.clone()])).expect("JSON"),
        json!({ "longest_packet": { "every": "100cycles" } })
    );
    let point = point("name", "new");
    let mut spec = point.spec().expect("sound");
    spec.recordings.push(Asked { name: newcomer.name(), model: newcomer.model().share() });
    let outcome = weft_engine::run(&spec, ONE, &()).expect("a run");
    let finished = Finished::new(&point, &spec, &outcome).expect("priced");
    let (columns, rows) = saved(&finished, "longest_packet");
    // the table covers 100 cycles of warm-up, 300 cycles of window and at most 256 cycles of drain
    assert!(columns == ["packet_flits"] && (4..=7).contains(&rows), "{columns:?}, {rows} rows");
    assert_eq!((newcomer.declares().columns)()[0].name, "packet_flits");
    assert_eq!(NewcomerConfig::TABLE.len(), 1);
}
