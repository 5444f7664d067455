//! Tests of flaws, marks and remedies with summaries that each have one flaw.

use serde_json::{Map, Value, json};
use weft_diagnoses::kinds::{FEW_MARK, FEWEST_PACKETS, KINDS, NO_PACKET, QUEUES_UNSETTLED, TOO_FEW_PACKETS};
use weft_diagnoses::{Facts, flaws};

/// The facts of a settled point with one change.
fn point(change: Value) -> Facts {
    let mut summary = json!({
        "ending": "drained", "saturated": false, "packets": 999, "offered_load": 0.5, "accepted_load": 0.5, "load": 0.5,
        "warmup_settled": true, "power_settled": true, "queues_settled": true, "queueing_mean_cycles": 300.0,
        "warmup_cycles": 6000, "warmup_limit_cycles": 300_000, "window_cycles": 1000,
    });
    let Value::Object(change) = change else { panic!("an object: {change}") };
    summary.as_object_mut().expect("an object").extend(change);
    Facts::of(&&summary)
}

/// Changes with which the first packets of a point arrive 51 cycles after its window of 1,000 cycles has begun, and `more` changes.
fn filling(more: Value) -> Value {
    let mut change = json!({
        "warmup_settled": null, "warmup_cycles": 0, "packet_latency_mean_cycles": 51, "queueing_mean_cycles": 0.0,
    });
    let Value::Object(more) = more else { panic!("an object: {more}") };
    change.as_object_mut().expect("an object").extend(more);
    change
}

fn codes(facts: &Facts) -> Vec<&'static str> {
    facts.flaws().iter().map(|kind| kind.code.name).collect()
}

#[test]
fn each_flaw_is_found_and_marked() {
    let warning = |code: &str| json!([{"path": "measure.warmup", "code": code, "what": "w", "help": "h"}]);
    let phase =
        json!([{"phase": 1, "start_cycle": 0, "from_cycle": 0, "to_cycle": 9, "packets": 9, "saturated": true}]);
    let cases = [
        (json!({"ending": "stalled"}), "stalled", "stall"),
        (json!({"ending": "interrupted"}), "interrupted", ""),
        (json!({"ending": "not_complete"}), "not_complete", "cut"),
        (json!({"ending": "not_complete", "packets": 9}), "not_complete", "cut"),
        (json!({"saturated": true}), "saturated", "sat"),
        (json!({"phases": phase}), "saturated_in_a_phase", "sat"),
        (json!({"dropped_packets": 5}), "packets_dropped", "#"),
        (json!({"packets": 0}), "no_packet", ""),
        (json!({"saturated": null}), "not_judged", "?"),
        (json!({"packets": 29}), "too_few_packets", "*"),
        (json!({"below_path_bound": false, "path_bound_share": 1.0}), "at_path_bound", "~"),
        (json!({"power_settled": false}), "power_unsettled", "~"),
        (json!({"warnings": warning("warmup_of_policy")}), "power_unsettled", "~"),
        (json!({"warnings": warning("warmup_without_replies")}), "replies_unsettled", "~"),
        (json!({"warmup_settled": false}), "latencies_unsettled", "~"),
        (json!({"queues_settled": false}), "queues_unsettled", "~"),
        (filling(json!({})), "filling", "~"),
        (json!({"backlog_before_packets": 500, "accepted_load": 0.9}), "began_with_backlog", "~"),
        (json!({"whole_periods": false}), "part_of_period", "^"),
    ];
    assert_eq!(codes(&point(json!({}))), [""; 0]);
    for (change, code, sign) in cases {
        let facts = point(change.clone());
        assert_eq!(codes(&facts), [code], "{change}");
        assert_eq!(flaws::sign(&facts.flaws()), sign, "{change}");
        let diagnosis = &facts.diagnoses()[0];
        assert!(!diagnosis.remedy.text.is_empty() && !diagnosis.numbers.is_empty(), "{diagnosis:?}");
    }
    // a program next to a load ends the run: the scenario refuses a warm-up
    let jobs = json!([{"job": "program", "ranks": 8, "ended_ranks": 8}, {"job": "load"}]);
    assert_eq!(codes(&point(filling(json!({"jobs": jobs})))), [""; 0]);
    assert_eq!(codes(&point(filling(json!({"warmup_settled": true})))), [""; 0]);
    assert_eq!(
        codes(&point(json!({"packets": 29, "solution_seconds": 1.0}))),
        [""; 0],
        "a program is measured as a whole"
    );
}

#[test]
fn ranks_are_the_order_of_the_kinds() {
    assert!(KINDS.iter().enumerate().all(|(rank, kind)| kind.rank() == rank));
    let worst_first = point(json!({"whole_periods": false, "saturated": true, "packets": 3}));
    assert_eq!(codes(&worst_first), ["saturated", "too_few_packets", "part_of_period"]);
}

#[test]
fn a_run_that_was_cut_off_has_the_remedy_of_a_longer_one() {
    let cut = |jobs: Value| point(json!({"ending": "not_complete", "jobs": jobs})).diagnoses().swap_remove(0);
    let limit = |jobs: Value| cut(jobs).remedy.settings["measure.stop.complete.max_window"].clone();
    let batch = |delivered: u64| json!({"job": "a", "batch_packets": 100, "batch_delivered_packets": delivered});
    // expected limit: 2 x the window (1000 cycles) x 100 packets / delivered packets, but at least 4 windows, rounded up to two digits
    assert_eq!([30, 90].map(|delivered| limit(json!([batch(delivered)]))), ["6700cycles", "4000cycles"]);
    assert_eq!(limit(json!([batch(0)])), "100000000000cycles", "nothing says how long it takes");
    let program = json!({"job": "b", "ranks": 8, "ended_ranks": 3, "completion_cycles": null});
    let done = json!({"job": "c", "ranks": 4, "ended_ranks": 4, "completion_cycles": 77});
    let both = cut(json!([batch(30), program, done]));
    assert_eq!(both.remedy.settings["measure.stop.complete.max_window"], "100000000000cycles");
    let numbers = json!({
        "open_jobs": 2, "max_window_cycles": 1000, "ranks": 8, "ended_ranks": 3, "batch_packets": 100, "batch_delivered_packets": 30,
    });
    assert_eq!(Value::Object(both.numbers), numbers);
    let also_saturated = point(json!({"ending": "not_complete", "saturated": true}));
    assert_eq!(codes(&also_saturated), ["saturated", "not_complete"]);
    assert_eq!(flaws::sign(&also_saturated.flaws()), "sat");
}

fn settings(of: &[(&str, &str)]) -> Map<String, Value> {
    of.iter().map(|(path, value)| ((*path).to_owned(), json!(value))).collect()
}

#[test]
fn a_remedy_names_no_limit_that_did_not_end_the_warm_up_and_none_that_is_too_short() {
    let queues = |change: Value| point(change).remedy(&QUEUES_UNSETTLED);
    let early = queues(json!({"queues_settled": false}));
    let start =
        "write `measure.warmup: 30000cycles` and `measure.window: 4000cycles`, or more (in place of `auto` and of any ";
    assert!(early.text.starts_with(start), "{early:?}");
    assert_eq!(early.settings, settings(&[]), "a fixed warm-up is refused next to a `measure.warmup_limit`");
    let fixed = queues(json!({"queues_settled": false, "warmup_settled": null}));
    assert_eq!(fixed.settings, settings(&[("measure.warmup", "30000cycles"), ("measure.window", "4000cycles")]));
    let limited = queues(json!({"queues_settled": false, "power_settled": false}));
    assert_eq!(limited.settings["measure.warmup_limit"], "600000cycles", "more than the limit in force");
    let late = point(json!({"warmup_settled": false}));
    assert_eq!(late.to_settle(900_000.0)[0].settings["measure.warmup_limit"], "900000cycles", "as others of the sweep");
}

#[test]
fn a_remedy_has_no_settings_where_the_scenario_may_refuse_them_or_has_no_use_for_them() {
    let few = |change: Value| {
        let mut summary = json!({"packets": 20});
        summary.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        point(summary).diagnoses().swap_remove(0).remedy
    };
    assert_eq!(few(json!({})).settings, settings(&[("measure.window", "3000cycles")]));
    for change in [
        json!({"confidence_reached": true}),
        json!({"jobs": [{"job": "a", "packets": 20, "batch_packets": 20}]}),
        json!({"load": null}),
    ] {
        let remedy = few(change.clone());
        assert!(remedy.settings.is_empty() && remedy.text.contains("measure.window"), "{change}: {remedy:?}");
    }
    let near = point(json!({"queues_settled": false, "path_bound_share": 0.96, "warmup_settled": null}));
    assert!(near.remedy(&QUEUES_UNSETTLED).settings.is_empty(), "the warm-up is half of the remedy");
}

#[test]
fn each_flaw_that_has_not_settled_has_the_remedy_of_its_own() {
    let warning = |code: &str, help: &str| json!({"path": "measure.warmup", "code": code, "what": "w", "help": help});
    let warnings = [warning("warmup_of_policy", "longer"), warning("warmup_without_replies", "later")];
    let diagnoses = point(json!({"warnings": warnings, "warmup_settled": null, "queues_settled": false})).diagnoses();
    let remedies: Vec<_> = diagnoses.iter().map(|each| (each.code.name, each.remedy.text.as_str())).collect();
    assert_eq!(remedies[..2], [("power_unsettled", "longer"), ("replies_unsettled", "later")]);
    assert!(
        remedies[2].0 == "queues_unsettled" && remedies[2].1.starts_with("write `measure.warmup: "),
        "{remedies:?}"
    );
}

#[test]
fn a_window_without_a_verdict_has_the_remedy_of_the_verdict() {
    let warning = |code: &str, help: &str| json!({"path": "measure.window", "code": code, "what": "w", "help": help});
    let warnings = [warning("few_packets", "more packets"), warning("window_too_short", "longer")];
    let diagnosis = point(json!({"saturated": null, "warnings": warnings})).diagnoses().swap_remove(0);
    assert_eq!((diagnosis.code.name, diagnosis.remedy.text.as_str()), ("not_judged", "longer"));
}

#[test]
fn phases_and_doubts_are_diagnoses_too() {
    let phase = |number: u32, from: u32, saturated: bool| {
        json!({
            "phase": number, "start_cycle": from, "from_cycle": from, "to_cycle": from + 500, "packets": 999,
            "offered_load": 0.5, "accepted_load": 0.5, "saturated": saturated,
        })
    };
    let phases = json!([phase(1, 6000, true), phase(2, 6500, false)]);
    let diagnoses = point(json!({"phases": phases, "warmup_settled": null})).diagnoses();
    let found: Vec<_> = diagnoses.iter().map(|each| (each.code.name, each.phase)).collect();
    let expected = [
        ("saturated_in_a_phase", None),
        ("saturated", Some(1)),
        ("after_saturated_phase", Some(2)),
        ("warmup_not_judged", None),
    ];
    assert_eq!(found, expected);
    let short = point(json!({"packet_latency_mean_cycles": 5000.0})).diagnoses().swap_remove(0);
    assert_eq!((short.code.name, short.numbers["window_cycles"].clone()), ("window_below_latency", json!(1000)));
    assert_eq!(short.remedy.text, "write `measure.window: 50000cycles` or more");
}

#[test]
fn warnings_are_reported_once() {
    let warning = |path: &str| json!({"path": path, "what": "w", "help": "h"});
    let coded = json!({"code": "sleeps_too_soon", "path": "power.policy.a.b", "what": "w", "help": "h"});
    let warnings = json!([warning("measure.window"), warning("measure.warmup"), coded]);
    let unreported = |saturated: Value| point(json!({"warnings": warnings, "saturated": saturated})).unreported();
    assert_eq!(
        unreported(json!(null)),
        ["warning: measure.warmup: h", "warning: power.policy.a.b: w; h [sleeps_too_soon]"]
    );
    assert_eq!(unreported(json!(false))[0], "warning: measure.window: w; h");
}

#[test]
fn words_name_the_fewest_packets() {
    for words in [TOO_FEW_PACKETS.words, FEW_MARK.meaning] {
        assert!(words.contains(&format!("fewer than {FEWEST_PACKETS} packets")), "{words}");
    }
    assert!(NO_PACKET.code.helps.contains(&format!("twice {FEWEST_PACKETS} packets")));
}

#[test]
fn few_packets_of_batches_need_larger_batches() {
    // the remedies propose 60 packets (twice the minimum of 30), which is 6 times the 10 packets of the point
    let remedy = |change: Value| {
        let mut few = json!({"packets": 10, "warmup_cycles": 0});
        few.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        let facts = point(few);
        let found = facts.diagnoses().swap_remove(0);
        assert_eq!(found.code.name, "too_few_packets");
        let note = &facts.notes("short_window", 0.0).expect("a topic")[0].what;
        let is_larger = found.remedy.text.contains("batches");
        let more = if is_larger { "write larger batches or a longer program" } else { "write a longer measure.window" };
        assert!(note.ends_with(more), "{note}");
        (found.remedy.text.clone(), found.remedy.settings.len())
    };
    let longer = ("write `measure.window: 6000cycles` or more".to_owned(), 1);
    let larger = ("write larger batches, or a longer program, with 6 times as many packets or more".to_owned(), 0);
    let batch = json!({"job": "batch", "batch_packets": 10, "batch_delivered_packets": 10});
    let load = json!({"job": "load"});
    assert_eq!(remedy(json!({"jobs": [load]})), longer);
    // the batch ends the window, alone or next to a load
    assert_eq!(remedy(json!({"jobs": [batch], "completion_cycles": 990})), larger);
    assert_eq!(remedy(json!({"jobs": [batch, load], "completion_cycles": 990})), larger);
    // a batch that is done long before the end of a fixed window sends nothing more
    assert_eq!(remedy(json!({"jobs": [batch], "completion_cycles": 200})), larger);
    let text = remedy(json!({"jobs": [batch, load], "completion_cycles": 200})).0;
    assert_eq!(text, longer.0, "the load sends more packets in a longer window");
}

#[test]
fn the_limit_that_the_engine_proposes_is_read_from_its_numbers() {
    let limit_of = |warning: Value| {
        let at_limit = json!({"warmup_settled": false, "warmup_cycles": 300_000, "warnings": [warning]});
        point(at_limit).to_settle(0.0)[0].settings["measure.warmup_limit"].clone()
    };
    let warning = json!({"path": "measure.warmup_limit", "what": "w", "help": "h"});
    assert_eq!(limit_of(warning.clone()), "1200000cycles", "earlier versions kept no numbers: four times the limit");
    let mut numbered = warning;
    numbered["numbers"] = json!({"longer_limit_cycles": 5_000_000.0});
    assert_eq!(limit_of(numbered), "5000000cycles");
}

#[test]
fn a_remedy_of_a_scenario_with_a_grain_names_times_and_flits_that_it_writes() {
    let grain = json!([{
        "code": "coarse_grain", "path": "grain", "what": "w", "help": "h",
        "numbers": {"cycle_fs": 8e6, "grain_flits": 8.0, "grain_bits": 512.0},
    }]);
    let few = point(json!({"packets": 20, "warnings": grain})).diagnoses().swap_remove(0).remedy;
    assert_eq!(few.settings, settings(&[("measure.window", "24us")]), "3 times 1000 cycles of 8 ns");
    assert_eq!(few.text, "write `measure.window: 24us` or more");
    let short = json!([{"path": "links.a.buffer", "needed_flits": 10}, {"path": "links.b.buffer", "needed_flits": 5}]);
    let above = json!({
        "saturated": true, "offered_load": 0.5, "accepted_load": 0.1, "path_bound_share": 2.0, "path_bound_load": 0.25,
        "path_bound_buffers": short, "warnings": grain,
    });
    let text = point(above).diagnoses().pop().expect("a diagnosis").remedy.text;
    assert!(
        text.starts_with(
            "write a load of 0.095 or less: the network accepts 0.1, and the paths carry at most 0.25, or less if"
        ),
        "{text}"
    );
    let buffers = "or write `links.a.buffer: 80flits` and `links.b.buffer: 40flits`: buffers of this length";
    assert!(text.contains(buffers), "{text}");
}

#[test]
fn a_load_below_the_bound_of_its_paths_has_a_longer_run_as_its_remedy() {
    let at = |share: f64| point(json!({"below_path_bound": false, "path_bound_share": share, "warmup_settled": null}));
    let far = at(0.94).diagnoses().swap_remove(0).remedy;
    assert!(far.text.starts_with("write `measure.warmup: 30000cycles` and `measure.window: 4000cycles`"), "{far:?}");
    assert!(at(0.96).diagnoses()[0].remedy.text.starts_with("write a load of 0.495 or less"), "0.5 x 0.95 / 0.96");
}

#[test]
fn a_lower_load_comes_first_only_near_the_capacity() {
    let cases = [
        (json!({}), false),
        (json!({"queue_memory_cycles": 1_000_000_000}), false),
        (json!({"path_bound_share": 0.9}), false),
        (json!({"path_bound_share": 0.96}), true),
        (json!({"offered_load": 0.5, "accepted_load": 0.42}), true),
        (json!({"backlog_before_packets": 0, "backlog_packets": 99}), true),
        (json!({"backlog_before_packets": 999, "backlog_packets": 990}), true),
        (json!({"backlog_before_packets": 999, "backlog_packets": 99}), false),
    ];
    for (mut change, is_near) in cases {
        change["queues_settled"] = json!(false);
        let text = &point(change.clone()).to_settle(0.0)[0].text;
        assert_eq!(text.starts_with("write a load 5 % lower (0.475 in place of 0.5)"), is_near, "{change}: {text}");
    }
}

#[test]
fn a_remedy_keeps_the_faults_of_the_window_and_does_not_blame_the_load() {
    let queues = |change: Value| {
        let mut summary = json!({"queues_settled": false, "warmup_settled": null, "queue_memory_cycles": 28_000});
        summary.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        point(summary)
    };
    let broken = |from: u64, to: Value| json!({"fault_episodes": [{"from_cycle": from, "to_cycle": to}], "fault_episodes_count": 1});
    let remedy = |change: Value| queues(change).remedy(&QUEUES_UNSETTLED);
    // 4 x the cube root of (28,000 cycles of memory / a run of 7,000 cycles) = 6.3 windows of 1,000 cycles
    let repaired = remedy(broken(6100, json!(6300)));
    assert_eq!(repaired.settings, settings(&[("measure.window", "7000cycles")]));
    assert!(!repaired.text.contains("capacity") && !repaired.text.contains("5 %"), "{repaired:?}");
    // parts that stay broken also let packets wait in the longer window: 4 x 28,000 cycles; the network may be too small without them
    let lasting = remedy(broken(6100, Value::Null));
    assert_eq!(lasting.settings, settings(&[("measure.window", "112000cycles")]));
    assert!(lasting.text.ends_with("the network with the broken parts may not carry this load"), "{lasting:?}");
    // 4 x the time until the parts return, 4,000 cycles after the warm-up
    assert_eq!(remedy(broken(6100, json!(10_000))).settings, settings(&[("measure.window", "16000cycles")]));
    // a fault that lasts from the start is in each window
    let always = remedy(broken(1, Value::Null));
    assert!(always.settings.contains_key("measure.warmup") && always.text.contains("near the capacity"), "{always:?}");
    // few of the created packets were accepted: the packets wait at the fault
    let mut behind = broken(6100, json!(6300));
    behind["accepted_load"] = json!(0.4);
    assert_eq!(queues(behind).to_judge().settings, settings(&[("measure.window", "7000cycles")]));
    let far = remedy(json!({"path_bound_share": 0.1}));
    assert!(far.settings.contains_key("measure.warmup") && !far.text.contains("capacity"), "{far:?}");
}

#[test]
fn a_later_window_moves_the_faults_in_it() {
    let mut early = json!({"backlog_before_packets": 500, "accepted_load": 0.9, "warmup_settled": null});
    let alone = point(early.clone()).diagnoses().swap_remove(0).remedy;
    assert_eq!(alone.settings.len(), 1, "{alone:?}");
    early["fault_episodes"] = json!([{"from_cycle": 6100, "to_cycle": 6300}]);
    let moved = point(early).diagnoses().swap_remove(0).remedy;
    assert!(moved.settings.is_empty(), "the warm-up is half of the remedy: {moved:?}");
    let end = ", and let each fault in the window begin and end 1300 cycles later, so that it stays there";
    assert_eq!(moved.text, format!("{}{end}", alone.text));
    let phases = json!([{
        "phase": 1, "start_cycle": 0, "from_cycle": 6000, "to_cycle": 7000, "packets": 999, "saturated": false,
        "queues_settled": false, "queue_memory_cycles": 9000,
    }]);
    let text = |episodes: Value| {
        let change = json!({"phases": phases, "fault_episodes": episodes, "warmup_settled": null});
        point(change).remedy(&QUEUES_UNSETTLED).text
    };
    assert!(text(json!([])).contains("near the capacity"));
    assert!(!text(json!([{"from_cycle": 6100, "to_cycle": 6300}])).contains("capacity"));
}

#[test]
fn equal_work_is_within_three_percent_and_chance() {
    let same = |loads: [f64; 2], packets: [Option<f64>; 2]| flaws::same_work(&loads.map(Some), &packets);
    let many = [Some(1e9); 2];
    assert!(same([0.100, 0.103], many) && !same([0.100, 0.104], many));
    let some = [Some(20_000.0); 2];
    assert!(same([0.100, 0.106], some) && !same([0.100, 0.107], some));
    assert!(!same([0.100, 0.106], [Some(20_000.0), None]), "nothing is put down to chance");
    assert!(!flaws::same_work(&[Some(0.1), None], &[Some(9.0), Some(9.0)]));
}
