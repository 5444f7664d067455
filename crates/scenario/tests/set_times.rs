//! Tests of warnings about policies that act at set times. The window must consist of whole periods of the policy, and contain the times
//! at which the policy switches links off. Each test also follows the remedy of the warning.

use serde_json::Value;
use weft_engine::spec::Execution;
use weft_scenario::{Point, expand};

type Sets<'a> = &'a [(&'a str, &'a str)];

const SMALL: &str = "\
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
routing: minimal
traffic: {pattern: uniform, load: 0.1}
measure: {warmup: 20us, window: 20us}
";
/// A policy that switches links off for 3 us in each period of 10 us.
const REPEATS: (&str, &str) =
    ("power.policy", "{timetable: {off: [{from: 0us, until: 3us}], period: 10us, transition: 100cycles}}");
const SLEEPS: (&str, &str) = ("power.policy", "{idle_timeout: {idle: 100cycles, transition: 100cycles}}");

fn point(sets: Sets) -> Result<Point, String> {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    expand("times.yaml", SMALL, &sets).map(|mut points| points.remove(0)).map_err(|error| error.text)
}

fn warned(sets: Sets) -> Vec<(String, String)> {
    let warnings = point(sets).unwrap_or_else(|error| panic!("{error}")).warnings;
    warnings.into_iter().map(|each| (each.path, format!("{}; {}", each.what, each.help))).collect()
}

/// Checks that these settings give one warning, at this path and with these words, and that `remedy` gives no warning.
#[track_caller]
fn check(sets: Sets, path: &str, words: &[&str], remedy: Sets) {
    let warnings = warned(sets);
    assert!(warnings.len() == 1 && warnings[0].0 == path, "{warnings:?}");
    words.iter().for_each(|part| assert!(warnings[0].1.contains(part), "{part} is not in: {}", warnings[0].1));
    assert_eq!(warned(&[sets, remedy].concat()), [], "{remedy:?}");
}

fn summary(sets: Sets) -> Value {
    let run = point(sets).expect("sound").run(Execution::new(1, 0), &());
    run.unwrap_or_else(|error| panic!("{error}")).summary
}

#[test]
fn a_window_that_is_no_whole_number_of_periods_is_reported() {
    let window = |window: &'static str| [REPEATS, ("measure.window", window)];
    assert_eq!(warned(&[REPEATS]), []);
    check(
        &window("25us"),
        "measure.window",
        &["25000 cycles (25us) is 2.500 periods of 10000 cycles", "timetable", "write `measure.window: 30000cycles`"],
        &[("measure.window", "30000cycles")],
    );
    check(
        &window("5us"),
        "measure.window",
        &["it is unknown whether the network carries its load", "write `measure.window: 10000cycles`"],
        &[("measure.window", "10000cycles")],
    );
    // with `stop: confidence` the window grows by parts of a tenth of its first length, 2 us
    let grows = [REPEATS, ("measure.stop", "{confidence: {half_width: 0.05}}")];
    let words = ["grows by parts of 2000 cycles", "write `measure.window: 100000cycles`"];
    check(&grows, "measure.window", &words, &[("measure.window", "100000cycles")]);
    let most = [REPEATS, ("measure.stop", "{confidence: {half_width: 0.05, max_window: 40us}}")];
    let remedy =
        [("measure.window", "100000cycles"), ("measure.stop", "{confidence: {half_width: 0.05, max_window: 100us}}")];
    check(&most, "measure.window", &["and a `max_window` that is at least as long"], &remedy);
    assert_eq!(warned(&[("measure.window", "25us")]), [], "no policy that repeats itself");
}

#[test]
fn phases_that_are_no_whole_periods_are_reported() {
    let phases = |phases: &'static str| ("traffic.phases", phases);
    let changes = [
        REPEATS,
        ("measure.window", "30us"),
        phases("[{from: 10us, load: 0.3}, {from: 25us, load: 0.2}, {from: 42us, load: 0.1}]"),
    ];
    // the first phase ends before the window begins, about which there is another warning
    let warnings = warned(&changes);
    let part = warnings.iter().find(|(path, _)| path == "traffic.phases").expect("a warning");
    let help = "begin the phases of the window at 30000cycles, 50000cycles, and write `measure.window: 40000cycles`";
    assert!(part.1.contains("from cycle 20000, a span of 5000 cycles") && part.1.ends_with(help), "{part:?}");
    let followed = [
        REPEATS,
        ("measure.window", "40000cycles"),
        phases("[{from: 20us, load: 0.3}, {from: 30000cycles, load: 0.2}, {from: 50000cycles, load: 0.1}]"),
    ];
    assert_eq!(warned(&followed), []);
}

#[test]
fn a_share_that_fails_beside_the_window_is_reported() {
    let sets = |share: &'static str| [("fault_model", share)];
    let warnings = warned(&sets("{links: {share: 10%, at: 2us, until: 5us}}"));
    assert_eq!(warnings[0].0, "fault_model.links.until");
    assert!(warnings[0].1.contains("these faults end at 5000 cycles (5us), but the window starts"), "{warnings:?}");
    let warnings = warned(&sets("{routers: {share: 25%, at: 60us}}"));
    assert_eq!(warnings[0].0, "fault_model.routers.at");
    assert!(warnings[0].1.contains("these faults begin at 60000 cycles (60us), but the window ends"), "{warnings:?}");
    assert_eq!(warned(&sets("{links: {share: 10%, at: 25us, until: 26us}}")), []);
    let error = point(&sets("{links: {share: 10%, at: 1ms}}")).expect_err("after the run");
    assert!(error.contains("fault_model.links.at"), "{error}");
}

#[test]
fn off_times_beside_the_window_are_reported() {
    let rows =
        |rows: &str| [("power.policy", format!("{{timetable: {{off: [{rows}], transition: 100cycles}}}}"))].to_vec();
    let sets = |rows: &[(&'static str, String)]| rows.iter().map(|(k, v)| warned(&[(k, v)])).next().expect("a policy");
    let warnings = sets(&rows("{from: 2us, until: 5us}, {from: 25us, until: 30us}, {from: 60us, until: 70us}"));
    let paths: Vec<&str> = warnings.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["power.policy.timetable.off.2.from", "power.policy.timetable.off.0.until"]);
    assert!(
        warnings[0].1.contains("these links go off at 60000 cycles (60us), but the window ends at 40000"),
        "{warnings:?}"
    );
    assert!(
        warnings[1].1.contains("these links are on again at 5000 cycles (5us), but the window starts"),
        "{warnings:?}"
    );
    assert!(warnings[0].1.contains("write less than 40000cycles"));
    assert_eq!(sets(&rows("{from: 2us, until: 25us}, {from: 39us, until: 70us}")), []);
    let (key, late) = rows("{from: 1ms, until: 2ms}").remove(0);
    let error = point(&[(key, &late)]).expect_err("after the run");
    assert!(error.contains("power.policy.timetable.off.0.from: these links go off at 1000000 cycles"), "{error}");
}

#[test]
fn a_timetable_asks_for_no_longer_warm_up_than_it_needs() {
    let phases = ("traffic.phases", "[{from: 30us, load: 0.3}]");
    let once = "{timetable: {off: [{from: 2us, until: 29us}], transition: 100cycles}}";
    assert_eq!(warned(&[("power.policy", once), phases]), [], "its state is known from cycle 0");
    // the remedy moves the phases with the window. Each phase then begins at the same place in the policy's period as before
    let early = [REPEATS, ("measure.warmup", "5us"), ("traffic.phases", "[{from: 15us, load: 0.3}]")];
    let words = [
        "write several times that length, such as `measure.warmup: 25000cycles`, and begin",
        "phase 20000 cycles later",
    ];
    let remedy = [("measure.warmup", "25000cycles"), ("traffic.phases", "[{from: 35us, load: 0.3}]")];
    check(&early, "measure.warmup", &words, &remedy);
}

#[test]
fn a_policy_without_links_is_reported() {
    let none = [SLEEPS, ("power.manages", "[]")];
    let words = ["no link to switch: all links stay on", "write `power.manages: [dim0]`, or write policy: always_on"];
    check(&none, "power.manages", &words, &[("power.manages", "[dim0]")]);
    assert_eq!(warned(&[none[0], none[1], ("power.policy", "always_on")]), []);
    let alone = [SLEEPS, ("topology", "{single_router: {terminals: 4}}")];
    let help = point(&alone).map(|point| point.warnings[0].help.clone());
    assert_eq!(help.as_deref(), Ok("choose a topology with links between routers, or write policy: always_on"));
}

#[test]
fn a_point_says_whether_it_measured_whole_periods() {
    let sets = |window| [REPEATS, ("measure.window", window), ("traffic.load", "0.02")];
    let part = summary(&sets("5us"));
    assert_eq!((&part["whole_periods"], &part["saturated"]), (&false.into(), &Value::Null));
    let whole = summary(&sets("10us"));
    assert_eq!((&whole["whole_periods"], &whole["saturated"]), (&true.into(), &false.into()));
    // packets wait up to 3 us for sleeping links, but this wait does not count as time in queues
    assert!(whole["queueing_mean_cycles"].as_f64().is_some_and(|wait| wait > 100.0), "{whole}");
    assert_eq!(whole["queues_settled"], true);
    assert_eq!(summary(&[("measure.window", "5us")])["whole_periods"], Value::Null);
    let closed = [SLEEPS, ("traffic.reply", "{packet: 8flits, outstanding: 2}"), ("measure.window", "2us")];
    assert_eq!(summary(&closed)["queues_settled"], Value::Null, "the load follows the network");
}

/// A job without a batch runs next to a batch that ends the window. The window begins in the first cycle.
#[test]
fn a_window_that_ends_with_a_batch_is_long_enough_for_the_policy() {
    let jobs = |packets: u32| {
        format!(
            "[{{name: a, terminals: {{range: [0, 3]}}, pattern: uniform, load: 0.1}}, {{name: b, terminals: {{rest: {{}}}}, \
             pattern: uniform, batch: {{per_terminal: {packets}}}}}]"
        )
    };
    let run = |policy, packets| {
        let jobs = jobs(packets);
        let stop = "{complete: {max_window: 100us}}";
        let sets = [
            policy,
            ("traffic", "{packet: 4flits}"),
            ("traffic.jobs", &jobs),
            ("measure", "{}"),
            ("measure.stop", stop),
        ];
        let results = summary(&sets);
        let warnings = results["warnings"].as_array().expect("a list").clone();
        let texts = warnings.iter().map(|each| (each["path"].to_string(), each["help"].to_string()));
        (results["window_cycles"].as_u64().expect("a window"), texts.collect::<Vec<_>>())
    };
    // the policy makes all its decisions once in 300 cycles, and 10 times this is 3000
    let (window, warnings) = run(SLEEPS, 40);
    let times = (2.0 * 3000.0 / window as f64).ceil() as u32;
    let help = format!("\"write batches that are at least {times} times as large\"");
    assert_eq!(warnings, [("\"measure.warmup\"".to_owned(), help)]);
    let (window, warnings) = run(SLEEPS, 40 * times);
    assert!(window >= 3000 && warnings.is_empty(), "{window}: {warnings:?}");
    let (window, warnings) = run(("power.policy", "always_on"), 40);
    assert!(window < 3000 && warnings.is_empty(), "{window}: {warnings:?}");
    let (_, warnings) = run(REPEATS, 400);
    assert!(
        warnings.iter().any(|(path, help)| path.contains("complete") && help.contains("1000000 cycles")),
        "{warnings:?}"
    );
}

#[test]
fn a_warm_up_of_a_load_that_changes_has_a_length_of_its_own() {
    let changes = |from: &'static str| [("measure.warmup", "auto"), ("traffic.phases", from)];
    let early = changes("[{from: 3000cycles, load: 0.3}]");
    let limited = [early[0], early[1], ("measure.warmup_limit", "40us")];
    for refused in [&early[..], &limited] {
        let error = point(refused).map(|_| ()).expect_err("it never settles");
        assert!(error.contains("write a time without `warmup_limit`, such as 3000cycles, or leave the phases out"));
    }
    assert_eq!(warned(&[("measure.warmup", "3000cycles"), early[1]]), []);
    let late = point(&changes("[{from: 15us, load: 0.3}]")).map(|_| ()).expect_err("it never settles");
    assert!(late.contains("such as 10000cycles"), "{late}");
    assert_eq!(warned(&[("measure.warmup", "10000cycles"), changes("[{from: 15us, load: 0.3}]")[1]]), []);
    assert!(point(&limited[..1]).is_ok() && point(&[limited[0], limited[2]]).is_ok(), "without the phases");
}
