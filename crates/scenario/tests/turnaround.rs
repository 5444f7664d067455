//! Tests of replies that a workload delays (turnaround). A delayed reply does not count as queued, and its load does not count as missing.
//!
//! The tests use two routers with a terminal each, and only the first terminal sends requests. A flit takes 63 cycles: 2 routers of 1
//! cycle, 3 links of 20 cycles, and 1 cycle of ejection. A terminal creates at most one request per cycle, and links carry one packet per
//! cycle, so no packet ever waits for another. A reply is created when its request has arrived.

use serde_json::{Value, json};
use weft_engine::spec::Execution;
use weft_scenario::{Point, Warning, expand};

const ALONE: f64 = 63.0;

fn pair(turnaround: u64, measure: &str) -> String {
    format!(
        "topology: {{mesh: {{widths: [2], terminals_per_router: 1}}}}\nlinks: {{default: {{latency: 20cycles}}}}\n\
         routing: dimension_order\n\
         traffic: {{pattern: neighbor, load: 0, loads: [{{terminals: [0, 0], load: 0.4}}], \
         reply: {{turnaround: {turnaround}cycles}}}}\nmeasure: {{{measure}}}\n"
    )
}

fn tried(text: &str, sets: &[(&str, &str)]) -> Result<Point, String> {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    Ok(expand("pair.yaml", text, &sets).map_err(|error| error.text)?.remove(0))
}

fn run(text: &str, sets: &[(&str, &str)]) -> Value {
    let point = tried(text, sets).unwrap_or_else(|error| panic!("{error}"));
    point.run(Execution::new(1, 2), &()).unwrap_or_else(|error| panic!("{error}")).summary
}

fn warning(text: &str) -> Option<Warning> {
    let warnings = tried(text, &[]).unwrap_or_else(|error| panic!("{error}")).warnings;
    warnings.into_iter().find(|warning| warning.code.name == "warmup_without_replies")
}

#[test]
fn a_long_turnaround_is_no_queue() {
    let text = pair(2000, "warmup: 5000cycles, window: 5000cycles");
    assert_eq!(warning(&text), None);
    let s = run(&text, &[]);
    // the mean over requests and replies, whose numbers are equal
    assert_eq!(s["packet_latency_mean_cycles"], json!((ALONE + ALONE + 2000.0) / 2.0));
    assert_eq!(s["network_latency_mean_cycles"], json!(ALONE));
    assert_eq!([&s["queueing_mean_cycles"], &s["queue_memory_cycles"]], [&json!(0.0), &json!(0.0)]);
    assert_eq!([&s["queues_settled"], &s["saturated"]], [&json!(true), &json!(false)]);
    // 0.4 requests per cycle * 2,000 cycles: this number of replies waits for its turnaround at any time
    assert_eq!(
        [&s["backlog_before_packets"], &s["backlog_packets"], &s["missing_packets"]],
        [0, 0, 0].map(|n| json!(n)).each_ref()
    );
    assert_eq!(s["ending"], "drained");
}

#[test]
fn each_phase_of_a_load_is_judged_without_the_turnaround() {
    let phases = [("traffic.phases", "[{from: 8000cycles, load: 0.1}]")];
    let s = run(&pair(2000, "warmup: 5000cycles, window: 9000cycles"), &phases);
    for phase in s["phases"].as_array().expect("phases") {
        assert_eq!(phase["saturated"], json!(false), "{phase}");
    }
    // Weft judges only a phase that began before the window
    let first = &s["phases"][0];
    assert_eq!([&first["queue_memory_cycles"], &first["queues_settled"]], [&json!(0.0), &json!(true)]);
}

#[test]
fn a_window_before_the_first_replies_is_reported_and_is_no_saturation() {
    let text = pair(2000, "warmup: 500cycles, window: 1000cycles");
    let early = warning(&text).expect("500 <= 2,000");
    assert_eq!(early.path, "measure.warmup");
    // the remedy is a warm-up that is longer by two turnarounds of 2,000 cycles
    let numbers = ["warmup_cycles", "turnaround_cycles", "enough_cycles"].map(|name| early.numbers[name]);
    assert_eq!(numbers, [500.0, 2000.0, 4500.0]);
    assert_eq!(early.help, "write `measure.warmup: 4500cycles` or more");
    let s = run(&text, &[]);
    // the window accepts only requests, because replies come later, but this does not count as saturation
    assert_eq!([&s["saturated"], &s["ending"]], [&json!(false), &json!("drained")]);
    let [offered, accepted] = ["offered_load", "accepted_load"].map(|key| s[key].as_f64().expect("a load"));
    assert!(accepted < 0.6 * offered, "{accepted} of {offered}");
    // checks that the remedy works
    assert_eq!(warning(&pair(2000, "warmup: 4500cycles, window: 1000cycles")), None);
    // the remedy also moves events at given times, because the window moves
    let moved = tried(&text, &[("traffic.phases", "[{from: 900cycles, load: 0.2}]")]).expect("sound").warnings;
    let moved = moved.iter().find(|warning| warning.code.name == "warmup_without_replies").expect("it is told");
    assert!(moved.help.contains("and begin and end each phase 4000 cycles later"), "{}", moved.help);
    // a batch has no warm-up, so there is no warning
    let batch = [
        ("traffic.batch", "{per_terminal: 9}"),
        ("measure", "{stop: complete}"),
        ("traffic.loads", "[]"),
        ("traffic.load", "0.4"),
    ];
    assert!(tried(&text, &batch).expect("sound").warnings.iter().all(|w| w.code.name != "warmup_without_replies"));
}

#[test]
fn a_warm_up_that_ends_by_itself_waits_for_replies() {
    let s = run(&pair(7300, "warmup: auto, window: 3000cycles"), &[]);
    assert_eq!([&s["warmup_settled"], &s["saturated"]], [&json!(true), &json!(false)]);
    // observations of latency before cycle 7,000 contain no replies; the warm-up needs 12 observations of 500 cycles after that
    assert!(s["warmup_cycles"].as_u64().expect("cycles") >= 7000 + 12 * 500, "{}", s["warmup_cycles"]);
    assert_eq!(s["packet_latency_mean_cycles"], json!((ALONE + ALONE + 7300.0) / 2.0));
    // the limit of a warm-up must be long enough for these observations. A limit that follows the remedy is long enough
    let error =
        tried(&pair(17_300, "warmup: auto, warmup_limit: 20000cycles"), &[]).expect_err("17,000 + 6,000 > 20,000");
    assert!(
        error.starts_with("error: measure.warmup_limit: ") && error.contains("17000 cycles without replies"),
        "{error}"
    );
    let (_, written) = error.rsplit_once("write ").expect("a remedy");
    let (limit, _) = written.split_once(" or more").expect("a limit");
    tried(&pair(17_300, &format!("warmup: auto, warmup_limit: {limit}")), &[]).expect("the remedy works");
}

#[test]
fn a_drain_that_ends_before_the_last_replies_is_refused() {
    let text = pair(20_000, "warmup: 50000cycles, window: 1000cycles");
    let error = tried(&text, &[]).expect_err("the drain has 10,000 cycles");
    for part in [
        "error: traffic.reply.turnaround: a reply is sent 20000 cycles",
        "10000 cycles",
        "`measure.drain_limit: 30000cycles`",
    ] {
        assert!(error.contains(part), "{part} is not in: {error}");
    }
    let s = run(&text, &[("measure.drain_limit", "30000cycles")]);
    assert_eq!([&s["ending"], &s["saturated"]], [&json!("drained"), &json!(false)]);
    // the error is at the key that the user wrote
    let long = "{request_reply: {turnaround: 20000cycles}}";
    let error = tried(&text, &[("traffic.reply", "null"), ("traffic.workload", long)]).expect_err("refused");
    assert!(error.starts_with("error: traffic.workload.request_reply.turnaround: "), "{error}");
    let jobs = "[{name: a, terminals: {range: [0, 1]}, pattern: uniform, load: 0.1, reply: {turnaround: 20000cycles}}]";
    let error = tried(&text, &[("traffic.loads", "[]"), ("traffic.jobs", jobs)]).expect_err("refused");
    assert!(error.starts_with("error: traffic.jobs.0.reply.turnaround: "), "{error}");
    // no drain limit can be longer than 2^48 cycles, so the remedy is a shorter turnaround instead of a longer limit
    let longest = [("traffic.reply.turnaround", "281474976710656cycles")];
    let error = tried(&text, &longest).expect_err("refused");
    assert!(error.contains("write a shorter turnaround, of less than 10000cycles"), "{error}");
    tried(&text, &[("traffic.reply.turnaround", "9999cycles")]).expect("the remedy works");
}
