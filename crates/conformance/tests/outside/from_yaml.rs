//! Tests that scenarios can name models from an outside crate, and that lists show them, in the same way as registered models.

use super::announcement::{Announcement, DownTheLine};
use super::answer::Answer;
use super::bow_tie::BowTie;
use super::half_awake::HalfAwake;
use super::highest_first::HighestFirst;
use super::in_rounds::InRounds;
use std::sync::Arc;
use weft_api::routing::RoutingModel;
use weft_engine::Progress;
use weft_engine::allocation::AllocatorConfig;
use weft_engine::power::PolicyConfig;
use weft_engine::routing::RoutingConfig;
use weft_engine::spec::Execution;
use weft_programs::collectives::AlgorithmConfig;
use weft_programs::face::{LogGops, finish};
use weft_programs::generators::{GeneratorConfig, ProgramFile};
use weft_scenario::{Finished, expand, models, schema};
use weft_topology::TopologyConfig;
use weft_traffic::PatternConfig;
use weft_units::add_model;

add_model! { RoutingConfig: "highest_first" => HighestFirst, declares HighestFirst::ABOUT }
add_model! { PolicyConfig: "half_awake" => HalfAwake, declares HalfAwake::OFFERS }
add_model! { AllocatorConfig: "in_rounds" => InRounds, declares weft_engine::compiler::<InRounds>() }
add_model! { TopologyConfig: "bow_tie" => BowTie }
add_model! { PatternConfig: "answer" => Answer }
add_model! { GeneratorConfig: "announcement" => Announcement }
add_model! { AlgorithmConfig: "down_the_line" => DownTheLine }

struct Quiet;

impl Progress for Quiet {
    fn tick(&self, _: u64, _: u64) -> bool {
        true
    }
}

/// A scenario whose models are all from outside Weft, except the routing.
const BOW_TIE: &str = "\
topology: {bow_tie: {triangles: 3}}
routing: shortest_path
router: {allocator: {in_rounds: {rounds: 3}}}
traffic: {pattern: answer, load: 0.2}
power: {policy: half_awake}
measure: {warmup: 0cycles, window: 2000cycles}
";

const GRID: &str = "\
topology: {hyperx: {widths: [4, 4], terminals_per_router: 4}}
routing: {highest_first: {always: true}}
traffic: {pattern: {answer: {both: true}}, load: 0.2}
measure: {warmup: 0cycles, window: 2000cycles}
";

/// A scenario whose program, and the algorithm of its collective, are from outside Weft.
const NEWS: &str = "\
topology: {single_router: {terminals: 8}}
routing: dimension_order
flit: 1B
traffic:
  packet: 16flits
  workload:
    programs:
      program: {announcement: {ranks: 8, bytes: 100}}
      collectives: {algorithms: {broadcast: {down_the_line: {backwards: true}}}}
";

fn finished(text: &str) -> Finished {
    let point = expand("outside.yaml", text, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let finished = point.run(Execution::new(1, 0), &Quiet).unwrap_or_else(|error| panic!("{error}"));
    // the resolved scenario, which a run saves in its folder of results, must give the same point again
    let again = expand("resolved.yaml", &point.resolved_yaml(), &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again[0].hash, point.hash);
    finished
}

/// Splits settings of the form `PATH=VALUE`, as on the command line.
fn set(settings: &[&str]) -> Vec<(String, String)> {
    let pair = |setting: &&str| setting.split_once('=').map(|(path, value)| (path.to_owned(), value.to_owned()));
    settings.iter().filter_map(pair).collect()
}

fn refused(text: &str, settings: &[&str]) -> String {
    let expanded = expand("outside.yaml", text, &set(settings));
    let ran = expanded.map_err(Box::new).and_then(|points| points[0].imply().map_err(Box::new));
    match ran {
        Ok(_) => panic!("{text} with {settings:?} is not refused"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_scenario_names_models_from_outside() {
    let summary = finished(BOW_TIE).summary;
    for (key, name) in [("pattern", "answer"), ("policy", "half_awake"), ("ending", "drained")] {
        assert_eq!(summary[key], name, "{key}");
    }
    // 3 of the 6 terminals send 0.2 flits per cycle each to their neighbour, so the mean is 0.1
    let accepted = summary["accepted_flits_per_terminal_cycle"].as_f64().or(summary["accepted"].as_f64());
    assert!(accepted.is_none_or(|accepted| (accepted - 0.1).abs() < 0.02), "{accepted:?}");
    let summary = finished(GRID).summary;
    assert_eq!((&summary["routing"], &summary["ending"]), (&"highest_first".into(), &"drained".into()));
}

#[test]
fn programs_and_collectives_from_outside_take_the_time_of_their_formula() {
    let with = r#"{"L": "1us", "o": "300ns", "g": "100ns", "G": "2ns", "O": "0ns", "S": "8KiB"}"#;
    let with = LogGops::from_json(with).unwrap_or_else(|error| panic!("{error}"));
    for (algorithm, last) in [("{}", 8), (r#"{"backwards": true}"#, 1)] {
        let text = format!(
            r#"{{"program": {{"announcement": {{"ranks": 9, "bytes": 400}}}},
                 "collectives": {{"algorithms": {{"broadcast": {{"down_the_line": {algorithm}}}}}}}}}"#
        );
        let file: ProgramFile = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
        let (made, rules) = file.make().unwrap_or_else(|error| panic!("{error}"));
        let answer = finish(&made.program, &Arc::new(rules), &with).unwrap_or_else(|error| panic!("{error}"));
        // 8 hops; for each hop the sender takes o, the transfer L, and the receiver o + (bytes - 1) G
        assert_eq!(answer["finish_ns"], 8 * (300 + 1000 + 300 + 399 * 2), "{answer}");
        assert_eq!((&answer["messages"], &answer["last_rank"]), (&8.into(), &last.into()), "{answer}");
    }
}

#[test]
fn a_scenario_runs_a_program_from_outside() {
    let summary = finished(NEWS).summary;
    // 7 messages, one after the other, of 100 flits each; the last flit of a message arrives 3 cycles after it has left
    assert_eq!(summary["completion_cycles"], 7 * (100 + 3));
    assert_eq!(summary["jobs"][0]["messages"], 7.0);
}

#[test]
fn parameters_of_a_model_from_outside_are_swept_and_set() {
    let text = format!("{BOW_TIE}sweep: {{topology.bow_tie.triangles: [2, 4]}}\n");
    let points = expand("outside.yaml", &text, &set(&["router.allocator.in_rounds.rounds=1"]));
    let points = points.unwrap_or_else(|error| panic!("{error}"));
    let terminals = points.iter().map(|point| point.imply().expect("a network")["terminals"].as_u64());
    assert_eq!(terminals.collect::<Vec<_>>(), [Some(4), Some(8)]);
    assert!(points.iter().all(|point| point.resolved_yaml().contains("rounds: 1")));
}

#[test]
fn bad_parameters_of_a_model_from_outside_are_refused_at_their_place() {
    for (setting, place, words) in [
        // the constructor of the topology refuses this number of triangles
        (
            "topology.bow_tie.triangles=0",
            "topology.bow_tie.triangles",
            ["0 triangles are not possible", "write 1 to 100"],
        ),
        ("topology.bow_tie.triangles=many", "topology.bow_tie.triangles", ["many", "Number of triangles, 1 to 100"]),
        ("topology.bow_tie.triangle=2", "topology.bow_tie", ["triangle", "triangles"]),
        ("topology={bow_tie: {}}", "topology.bow_tie.triangles", ["is missing", "Number of triangles, 1 to 100"]),
        ("router.allocator.in_rounds.rounds=300", "router.allocator.in_rounds.rounds", ["300", "Rounds of matching"]),
        ("traffic.pattern.answer.both=2", "traffic.pattern.answer.both", ["2", "odd terminal"]),
        ("traffic.pattern=answers", "traffic.pattern", ["answers", "answer"]),
        ("power.policy.half_awake.half=1", "power.policy.half_awake", ["half", "half_awake"]),
    ] {
        let said = refused(BOW_TIE, &[setting]);
        assert!(said.contains(place), "{setting}: no {place} in\n{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{setting}: not all of {words:?} in\n{said}");
    }
    for (setting, place, words) in [
        ("program.announcement.ranks=65", "program.announcement.ranks", ["65 ranks", "write 2 to 64"]),
        (
            "collectives.algorithms.all_reduce={down_the_line: {}}",
            "algorithms.all_reduce",
            ["down_the_line", "broadcast"],
        ),
    ] {
        let said = refused(NEWS, &[&format!("traffic.workload.programs.{setting}")]);
        assert!(said.contains(place), "{setting}: no {place} in\n{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{setting}: not all of {words:?} in\n{said}");
    }
    // the remedy that the message proposes must work
    expand("outside.yaml", BOW_TIE, &set(&["topology.bow_tie.triangles=1"])).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn lists_and_the_schema_name_models_from_outside() {
    let listed = models();
    let summary = |family: &str, name: &str| {
        let all = listed[family].as_array().unwrap_or_else(|| panic!("{family}"));
        let own = all.iter().find(|model| model["name"] == name).unwrap_or_else(|| panic!("{family} has no {name}"));
        own["summary"].as_str().expect("words").to_owned()
    };
    assert_eq!(summary("topology", "bow_tie"), "Triangles that share a router.");
    assert_eq!(summary("traffic.pattern", "answer"), "Terminals in pairs: the even one sends to the one after it.");
    assert_eq!(summary("router.allocator", "in_rounds"), "Matches in rounds.");
    summary("routing", "highest_first");
    summary("power.policy", "half_awake");
    let schema = schema().to_string();
    for name in ["bow_tie", "answer", "in_rounds", "highest_first", "half_awake", "announcement", "down_the_line"] {
        assert!(schema.contains(&format!("{{\"{name}\":")), "{name} is in no schema");
    }
}

/// Checks that the remedy of a refusal can name a model from outside Weft.
#[test]
fn refusals_propose_models_from_outside() {
    let said = refused(GRID, &["routing=up_down"]);
    assert!(said.contains("highest_first"), "{said}");
    let said = refused(BOW_TIE, &["routing={highest_first: {always: true}}"]);
    assert!(said.contains("highest_first is for hyperx, but the topology is bow_tie"), "{said}");
}
