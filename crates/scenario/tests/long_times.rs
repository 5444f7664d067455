//! Tests that no time causes an arithmetic overflow: a time of more than 2^48 cycles is refused, and a time of 2^48 cycles
//! works.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use weft_engine::examples::{Example, small_networks};
use weft_engine::recording::RecordingConfig;
use weft_engine::routing::RoutingConfig;
use weft_engine::spec::Execution;
use weft_scenario::{Point, expand};
use weft_topology::TopologyConfig;
use weft_units::{MAX_CYCLES, Time};

fn tried(text: &str, sets: &[(String, String)]) -> Result<Point, String> {
    let point = expand("long.yaml", text, sets).map_err(|error| error.text)?.remove(0);
    point.check_network().map_err(|error| error.text)?;
    Ok(point)
}

/// Scenarios for every routing, each on a few small networks on which the routing works, and with all recordings.
fn networks() -> Vec<String> {
    let recordings = RecordingConfig::examples();
    let recordings: BTreeMap<&str, Value> = recordings
        .iter()
        .map(|config| (config.name(), serde_json::to_value(config).expect("a configuration")[config.name()].clone()))
        .collect();
    let recordings: String = recordings.iter().map(|(name, keys)| format!(", {name}: {keys}")).collect();
    let small = small_networks();
    let of_routing = |example: Example<RoutingConfig>| {
        let routing = example.config;
        let fitting = small.iter().filter(|(_, graph)| routing.fits(graph)).map(|(topology, _)| topology);
        let networks = example.networks.unwrap_or_else(|| fitting.take(3).cloned().collect());
        let text = |topology: &TopologyConfig| {
            let [topology, routing] = [written(topology), written(&routing)];
            format!(
                "topology: {topology}\nrouting: {routing}\nlinks: {{default: {{vcs: 8}}}}\n\
                 traffic: {{pattern: uniform, load: 0.1}}\n\
                 measure: {{warmup: 0cycles, window: 200cycles, drain_limit: 200cycles{recordings}}}\n"
            )
        };
        networks.iter().map(text).collect::<Vec<_>>()
    };
    let mut known = BTreeSet::new();
    let first = RoutingConfig::examples().into_iter().filter(|example| known.insert(example.config.name()));
    first.flat_map(of_routing).collect()
}

fn written(config: &impl serde::Serialize) -> String {
    serde_json::to_string(config).expect("a configuration")
}

/// Scenario keys with times that do not belong to models.
const OTHERS: [&str; 4] = [
    "faults: [{link: [0, 1], at: 20cycles, until: 90cycles}]\nfault_model: {rebuild_delay: 10cycles, patience: 10cycles}\n",
    "fault_model: {links: {share: 20%, at: 20cycles, until: 90cycles}}\n",
    "fault_model: {random: {of: links, mtbf: 200cycles, mttr: 20cycles, from: 9cycles}}\n",
    "measure: {warmup: auto, warmup_limit: 90000cycles, stop: {confidence: {half_width: 0.5, max_window: 90000cycles}}}\n",
];

/// Points that together set every key with a time. Each model with times is tested in the first network on which it works.
fn points() -> Vec<Point> {
    let networks = networks();
    let examples = weft_scenario::examples();
    let families = examples.as_object().expect("families").iter();
    let configs =
        families.flat_map(|(family, configs)| configs.as_array().expect("a list").iter().map(move |c| (family, c)));
    let timed = configs.filter(|(_, config)| !times(config, "").is_empty());
    let mut points: Vec<Point> = timed
        .map(|(family, config)| {
            let set = (family.clone(), config.to_string());
            // a workload such as a program determines what terminals send, and accepts no pattern, load or length of the
            // window
            let nothing =
                ["traffic.pattern", "traffic.load", "measure.window"].map(|key| (key.to_owned(), "null".to_owned()));
            let alone: Vec<_> = nothing.into_iter().chain([set.clone()]).collect();
            // a queueing scheme that sets queues aside needs one VC per queue
            let few = ["2", "4"].map(|vcs| [set.clone(), ("links.default.vcs".to_owned(), vcs.to_owned())]);
            let fits = |text: &String| {
                let ways = [std::slice::from_ref(&set), &alone, &few[0], &few[1]];
                ways.iter().find_map(|sets| tried(text, sets).ok())
            };
            let found = networks.iter().find_map(fits);
            found.unwrap_or_else(|| panic!("no network for {family}: {config}"))
        })
        .collect();
    let plain = "topology: {hyperx: {widths: [4], terminals_per_router: 2}}\nrouting: minimal\n\
                 traffic: {pattern: uniform, load: 0.1}\n";
    points.extend(OTHERS.iter().map(|more| tried(&format!("{plain}{more}"), &[]).expect("sound")));
    let phases = [("traffic.phases".to_owned(), "[{from: 100cycles, load: 0.2}]".to_owned())];
    points.push(tried(plain, &phases).expect("sound"));
    points
}

/// The dotted paths of all times in a value.
fn times(at: &Value, path: &str) -> Vec<String> {
    let under = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match at {
        Value::String(text) if text.parse::<Time>().is_ok() => vec![path.to_owned()],
        Value::Array(items) => {
            items.iter().enumerate().flat_map(|(k, item)| times(item, &under(&k.to_string()))).collect()
        }
        Value::Object(fields) => fields.iter().flat_map(|(key, value)| times(value, &under(key))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

#[test]
fn a_time_of_any_length_runs_or_is_refused_at_its_key() {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for point in points() {
        for path in times(&point.resolved, "") {
            known.entry(path).or_insert_with(|| point.resolved_yaml());
        }
    }
    let mut wrong = Vec::new();
    // in a resolved scenario each link class has its own times, so those of `links.default` are not used
    for (path, text) in known.iter().filter(|(path, _)| !path.starts_with("links.default.")) {
        let set = |time: Time| tried(text, &[(path.clone(), time.to_string())]);
        match set(Time::Cycles(10u64.pow(18))) {
            Err(error) if error.starts_with(&format!("error: {path}: ")) => {}
            Err(error) => wrong.push(format!("{path}: {error}")),
            // the run only divides by this time, and never waits for it, so no limit is necessary
            Ok(_) if path.ends_with(".slowdown_bound") => {}
            Ok(_) => wrong.push(format!("{path}: 10^18 cycles pass")),
        }
        // runs the point with the longest accepted time, except for times of the measurement, with which the run would not
        // end
        if let Ok(point) = set(Time::Cycles(MAX_CYCLES))
            && !path.starts_with("measure.")
            // excludes the scheduler, which makes a pass once per period, so a program of 2^48 cycles has too many passes
            && !path.contains(".scheduler.traces.")
        {
            let _ = point.run(Execution::new(1, 1), &());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
