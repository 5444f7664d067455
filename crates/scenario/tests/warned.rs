//! Tests of warnings about scenarios that can run, but whose results would mislead. The tests also check a default that avoids a warning,
//! and the refusal of events that can never happen in a run.

use serde_json::json;
use weft_engine::spec::Execution;
use weft_scenario::{Point, expand};

const SMALL: &str = "\
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
routing: pal
traffic: {pattern: uniform, load: 0.1}
";
const TCEP: (&str, &str) =
    ("power.policy", "{tcep: {activation_epoch: 250cycles, deactivation_epoch: 1000cycles, wake: 120cycles}}");

fn try_point(sets: &[(&str, &str)]) -> Result<Point, String> {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    expand("warned.yaml", SMALL, &sets).map(|mut points| points.remove(0)).map_err(|error| error.text)
}

fn point(sets: &[(&str, &str)]) -> Point {
    try_point(sets).unwrap_or_else(|error| panic!("{error}"))
}

/// Path and text of each warning for the scenario `SMALL` with these settings.
fn warned(sets: &[(&str, &str)]) -> Vec<(String, String)> {
    point(sets)
        .warnings
        .into_iter()
        .map(|warning| (warning.path, format!("{}; {}", warning.what, warning.help)))
        .collect()
}

#[track_caller]
fn check(sets: &[(&str, &str)], path: &str, parts: &[&str]) {
    let warnings = warned(sets);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].0, path);
    for part in parts {
        assert!(warnings[0].1.contains(part), "{part} is not in: {}", warnings[0].1);
    }
}

#[test]
fn a_warm_up_ends_by_itself_under_a_policy_that_switches_links() {
    let warmup = |sets: &[(&str, &str)]| point(sets).resolved["measure"]["warmup"].clone();
    assert_eq!(warmup(&[]), "10000cycles");
    assert_eq!(warmup(&[("power.policy", "static")]), "10000cycles", "it never switches one");
    assert_eq!(warmup(&[TCEP]), "auto");
    assert_eq!(warmup(&[TCEP, ("measure.warmup", "3us")]), "3us");
    // the default is a fixed warm-up if the load changes or something fails
    assert_eq!(warmup(&[TCEP, ("traffic.phases", "[{from: 15us, load: 0.2}]")]), "10000cycles");
    assert_eq!(warmup(&[TCEP, ("faults", "[{link: [0, 1], at: 15us}]")]), "10000cycles");
    let batch = ("traffic.batch", "{per_terminal: 2000}");
    assert_eq!(warmup(&[TCEP, batch]), "10000cycles");
    assert_eq!(warmup(&[TCEP, batch, ("measure.stop", "complete")]), "0cycles");
}

#[test]
fn a_fixed_warm_up_that_is_too_short_for_the_policy_is_reported() {
    let fixed = |warmup: &'static str| [TCEP, ("measure.warmup", warmup)];
    let both = ["500 cycles (500ns)", "1000 cycles (1us)", "tcep", "write `measure.warmup: auto`"];
    check(&fixed("500cycles"), "measure.warmup", &both);
    check(&fixed("1us"), "measure.warmup", &["1000 cycles (1us) is not longer than 1000 cycles (1us)"]);
    for remedy in ["auto", "10000cycles"] {
        assert_eq!(warned(&fixed(remedy)), []);
    }
    assert_eq!(warned(&[("measure.warmup", "0cycles")]), [], "all links stay on");
    let slow = ("power.policy", "{idle_timeout: {idle: 1us, transition: 5us}}");
    let warnings = warned(&[slow, ("routing", "minimal"), ("measure.warmup", "2us")]);
    assert!(warnings[0].0 == "measure.warmup" && warnings[0].1.contains("11000 cycles (11us)"), "{warnings:?}");
    // if the load changes, the remedy is not an automatic warm-up. The remedy then also moves the phases, so that they keep their place
    // in the window
    let phases = |from: &'static str| ("traffic.phases", from);
    let warnings = warned(&[TCEP, ("measure.warmup", "1us"), phases("[{from: 3us, load: 0.2}]")]);
    assert!(warnings[0].1.contains("`measure.warmup: 10000cycles`") && !warnings[0].1.contains("auto"), "{warnings:?}");
    assert!(warnings[0].1.contains("begin and end each phase 9000 cycles later"), "{warnings:?}");
    for faults in [("faults", "[{link: [0, 1], at: 3us}]"), ("fault_model", "{links: {share: 50%, at: 3us}}")] {
        let warnings = warned(&[TCEP, ("measure.warmup", "1us"), faults]);
        assert!(warnings[0].1.contains("begin and end each fault 9000 cycles later"), "{warnings:?}");
    }
    let longer = |from| warned(&[TCEP, ("measure.warmup", "10000cycles"), phases(from)]);
    assert_eq!(longer("[{from: 12us, load: 0.2}]"), []);
    assert_eq!(
        longer("[{from: 3us, load: 0.2}]").len(),
        1,
        "the longer warm-up alone moves the phase out of the window"
    );
}

#[test]
fn a_policy_that_never_decides_has_no_time_in_which_it_settles() {
    let tcep =
        |keys: &str| format!("{{tcep: {{activation_epoch: 250cycles, deactivation_epoch: 1000cycles, {keys}}}}}");
    for (keys, count) in [("deactivate: false, initial: all_on", 0), ("deactivate: false", 1), ("initial: all_on", 1)] {
        let warnings = warned(&[("power.policy", &tcep(keys)), ("measure.warmup", "500cycles")]);
        assert_eq!(warnings.len(), count, "{keys}: {warnings:?}");
    }
}

#[test]
fn a_window_with_few_packets_is_reported() {
    // 8 terminals at 0.1 flits per cycle create 16 packets of one flit in 20 cycles. They need 37.5 cycles for the required 30 packets
    let short = [("measure.window", "20cycles")];
    check(&short, "measure.window", &["about 16.000 packets", "20 cycles (20ns)", "write 76cycles or more"]);
    let warning = json!(point(&short).warnings[0]);
    assert_eq!(warning["code"], "few_packets");
    let numbers = |key| warning["numbers"][key].as_f64().expect("a number");
    assert!((numbers("packets") - 16.0).abs() < 1e-9, "8 terminals * 0.1 * 20 cycles");
    assert_eq!((numbers("window_cycles"), numbers("enough_cycles")), (20.0, 76.0), "twice 37.5, rounded up");
    assert_eq!(warned(&[("measure.window", "76cycles")]), []);
    assert_eq!(warned(&[("measure.window", "38cycles")]), [], "30 on average");
}

#[test]
fn a_window_with_enough_packets_is_proposed_only_where_it_may_be_written() {
    // 8 * 1e-14 * 20,000 packets: twice the required 30 packets need 7.5e14 cycles, above the limit of 2^48
    let rare = |load| [("traffic.load", load)];
    // the test compares ten digits of each number, because 1e-14 is not a binary fraction, and both numbers are rounded up
    let parts = ["loads that are at least 3750000000", " times as high", " 7500000000", " cycles, is longer than"];
    check(&rare("0.00000000000001"), "measure.window", &parts);
    assert_eq!(warned(&rare("0.000375")), [], "3.75e10 times 1e-14");
    // 8 * 1e-7 * 20,000 packets: the remedy is a window for twice the required 30 packets
    check(&rare("0.0000001"), "measure.window", &["write 75000000cycles or more, or a higher load"]);
    // a growing window has at most 100,000 parts, each a tenth of its first length
    let grows = ("measure.stop", "{confidence: {half_width: 0.02}}");
    let what = ["longer than this scenario can measure"];
    check(&[rare("0.0000000001")[0], grows], "measure.stop.confidence.max_window", &what);
}

#[test]
fn links_that_go_off_sooner_than_they_switch_are_reported() {
    let policy = |idle| format!("{{idle_timeout: {{idle: {idle}, transition: 5us}}}}");
    let warned_at = |idle| warned(&[("routing", "minimal"), ("power.policy", &policy(idle))]);
    let (path, text) = &warned_at("1us")[0];
    assert_eq!((warned_at("1us").len(), path.as_str()), (1, "power.policy.idle_timeout.idle"));
    assert!(text.contains("can collapse") && text.contains("write an idle time of 5us or more"), "{text}");
    assert_eq!(warned_at("5us"), []);
}

#[test]
fn a_price_list_with_dear_sleep_is_reported() {
    let prices = |off: &str| {
        let rest = ["shadow", "draining", "waking"].map(|state| format!("{state}: {{static: 1W, per_bit: 0pJ/bit}}"));
        format!(
            "{{on: {{static: 1W, per_bit: 1pJ/bit}}, off: {{static: {off}, per_bit: 0pJ/bit}}, {}}}",
            rest.join(", ")
        )
    };
    check(&[TCEP, ("power.prices", &prices("2W"))], "power.prices.off.static", &["2000000 fJ", "1000000 fJ"]);
    assert_eq!(warned(&[TCEP, ("power.prices", &prices("1W"))]), []);
    assert_eq!(warned(&[("power.prices", &prices("2W"))]), [], "no link goes off");
    let of_class = format!("{{dim0: {}}}", prices("2W"));
    check(&[TCEP, ("power.class_prices", &of_class)], "power.class_prices.dim0.off.static", &["sleep costs energy"]);
}

#[test]
fn results_keep_the_warnings() {
    let quick = [("measure.window", "1us"), ("measure.warmup", "100cycles")];
    let summary = |sets: &[(&str, &str)]| {
        let how = Execution::new(1, 0);
        point(sets).run(how, &()).unwrap_or_else(|error| panic!("{error}")).summary
    };
    assert_eq!(summary(&quick)["warnings"], json!([]));
    let results = summary(&[quick[0], quick[1], TCEP]);
    assert_eq!(results["warnings"][0]["path"], "measure.warmup");
    assert!(results["warnings"][0]["help"].as_str().expect("a text").contains("auto"));
}

#[test]
fn what_begins_after_the_run_is_refused_with_both_times() {
    // the run ends after 10 us of warm-up, 20 us of window, and a drain of ten windows
    let error = try_point(&[("traffic.phases", "[{from: 5ms, load: 0.2}]")]).expect_err("too late");
    for part in ["traffic.phases.0.from", "5000000 cycles (5ms)", "230000 cycles (230us)", "30000 cycles (30us)"] {
        assert!(error.contains(part), "{part} is not in:\n{error}");
    }
    let error = try_point(&[TCEP, ("faults", "[{link: [0, 1], at: 1ms}]")]).expect_err("too late");
    assert!(error.contains("faults.0.at: this fault begins at 1000000 cycles (1ms)"), "{error}");
    let remedy = "[{from: 29999cycles, load: 0.2}]";
    assert!(
        error.contains("write less than 30000cycles") && warned(&[("traffic.phases", remedy)]).is_empty(),
        "{error}"
    );
}

#[test]
fn what_the_window_does_not_see_is_reported() {
    let phases = |text| ("traffic.phases", text);
    check(
        &[phases("[{from: 40us, load: 0.2}]")],
        "traffic.phases.0.from",
        &["40000 cycles (40us)", "30000 cycles (30us)"],
    );
    let early = "[{from: 2us, load: 0.2}, {from: 4us, load: 0.3}]";
    let warnings = warned(&[phases(early)]);
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].1.contains("the load before this phase ends at 2000 cycles (2us)"), "{warnings:?}");
    assert!(warnings[1].1.contains("10000 cycles (10us)"), "{warnings:?}");
    // a phase that begins with the window causes no warning: the user can intend another load in the warm-up
    assert_eq!(warned(&[phases("[{from: 10us, load: 0.2}]")]), []);
    let fault = [TCEP, ("measure.warmup", "10us"), ("faults", "[{link: [0, 1], at: 2us, until: 3us}]")];
    check(&fault, "faults.0.until", &["3000 cycles (3us)", "10000 cycles (10us)"]);
}

#[test]
fn batches_beside_the_window_are_reported() {
    // 50 packets of one flit at 0.1 flits per cycle take 500 cycles
    let batch = |n| ("traffic.batch", if n == 50 { "{per_terminal: 50}" } else { "{per_terminal: 5000}" });
    check(&[batch(50)], "traffic.batch", &["500 cycles (500ns)", "10000 cycles (10us)", "`measure.stop: complete`"]);
    assert_eq!(warned(&[batch(50), ("measure.stop", "complete")]), []);
    // 5,000 packets take 50,000 cycles, but the window ends in cycle 30,000
    check(&[batch(5000)], "traffic.batch", &["50000 cycles (50us)", "30000 cycles (30us)", "a longer measure.window"]);
    assert_eq!(warned(&[batch(5000), ("measure.window", "41us")]), []);
    // the longest window of a run that ends with its batches has a key of its own
    let complete = |cycles| ("measure.stop", if cycles == 1 { "{complete: {max_window: 1us}}" } else { "complete" });
    let all = [batch(5000), complete(1)];
    check(&all, "traffic.batch", &["50000 cycles (50us)", "a longer measure.stop.complete.max_window"]);
    assert_eq!(warned(&[batch(5000), complete(0)]), []);
    let jobs = "[{name: a, terminals: {range: [0, 3]}}, {name: b, terminals: {rest: {}}, batch: {per_job: 4}}]";
    check(&[("traffic.jobs", jobs), ("measure.warmup", "auto")], "traffic.jobs.1.batch", &["job `b`", "or later"]);
}

#[test]
fn a_load_of_nothing_is_reported() {
    let silent = ("traffic.loads", "[{terminals: [0, 7], load: 0}]");
    check(&[silent], "traffic.loads", &["load of 0 at all 8 terminals", "idle network"]);
    assert_eq!(warned(&[("traffic.loads", "[{terminals: [0, 6], load: 0}]")]), []);
    check(&[("traffic.phases", "[{from: 10us, load: 0}]")], "traffic.phases", &["load of 0"]);
    check(&[("traffic.load", "0")], "traffic.load", &["load of 0 at all 8 terminals", "idle network"]);
}

#[test]
fn terminals_without_a_destination_are_reported_and_the_remedies_end_it() {
    let half = ("traffic.pattern", "{within: {terminals: 4, pattern: uniform}}");
    check(&[half], "traffic.pattern", &["lets 4 of 8 terminals send nothing", "a job for the 4 terminals"]);
    assert_eq!(warned(&[("traffic.pattern", "uniform")]), [], "all send");
    let job = "[{name: a, terminals: {range: [0, 3]}, pattern: uniform}]";
    assert_eq!(warned(&[("traffic.jobs", job)]), [], "a job on those that send");
    let own = "[{name: a, terminals: {rest: {}}, pattern: {within: {terminals: 6, pattern: uniform}}}]";
    check(&[("traffic.jobs", own)], "traffic.jobs.0.pattern", &["job `a` has a pattern that lets 2 of 8"]);
    let later = ("traffic.phases", "[{from: 15us, pattern: uniform}]");
    assert_eq!(warned(&[half, later]), [], "all send in the second phase");
    assert_eq!(warned(&[("traffic.loads", "[{terminals: [0, 3], load: 0}]")]), [], "the scenario says so itself");
}

#[test]
fn a_warm_up_that_may_take_very_long_is_a_hint_of_check() {
    let hints = |sets: &[(&str, &str)]| -> Vec<String> {
        let implied = point(sets).imply().unwrap_or_else(|error| panic!("{error}"));
        let hints = implied["hints"].as_array().expect("a list");
        hints.iter().map(|hint| format!("{}: {}", hint["path"], hint["what"])).collect()
    };
    let slow = [
        ("routing", "minimal"),
        ("power.policy", "{idle_timeout: {idle: 1ms, transition: 100ns}}"),
        ("measure.window", "10us"),
    ];
    let slow_hints = hints(&slow);
    assert!(
        slow_hints.iter().any(|hint| hint.contains("measure.warmup_limit") && hint.contains("times as long")),
        "{slow_hints:?}"
    );
    let quick = [
        ("routing", "minimal"),
        ("power.policy", "{idle_timeout: {idle: 100ns, transition: 100ns}}"),
        ("measure.window", "10us"),
    ];
    assert!(!hints(&quick).iter().any(|hint| hint.contains("warmup_limit")));
}

#[test]
fn buffers_that_starve_links_are_a_hint_of_check() {
    let dragonfly =
        ("topology", "{dragonfly: {routers_per_group: 4, terminals_per_router: 2, global_links_per_router: 2}}");
    let hints = |routing: &'static str, sets: &[(&str, &str)]| {
        let all = [&[dragonfly, ("routing", routing), ("links.global.latency", "100cycles")], sets].concat();
        let implied = point(&all).imply().unwrap_or_else(|error| panic!("{error}"));
        let hints = implied["hints"].as_array().expect("a list").clone();
        hints.iter().map(|hint| (hint["path"].to_string(), hint["what"].to_string())).collect::<Vec<_>>()
    };
    // the round trip of a credit: 100 cycles for a flit, 1 cycle in the router, 100 cycles back and 1 more
    let starved = hints("dragonfly_minimal", &[]);
    assert_eq!(starved.len(), 1, "{starved:?}");
    assert!(starved[0].0.contains("links.global.buffer") && starved[0].1.contains("202 cycles"), "{starved:?}");
    let adaptive = hints("dragonfly_ugal", &[]);
    assert!(adaptive.iter().any(|(path, _)| path.contains("links.local.buffer")), "{adaptive:?}");
    let enough = [("links.global.buffer", "202flits"), ("links.local.buffer", "202flits")];
    assert_eq!(hints("dragonfly_ugal", &enough), []);
    let point = point(&[]);
    assert_eq!(point.imply().expect("sound")["hints"], json!([]), "defaults on links of one length");
}

#[test]
fn the_hint_on_buffers_counts_the_vcs_that_packets_have_beside_an_embedded_ring() {
    let hints_of = |routing: &'static str| {
        let dragonfly =
            ("topology", "{dragonfly: {routers_per_group: 4, terminals_per_router: 2, global_links_per_router: 2}}");
        let sets = [dragonfly, ("routing", routing), ("links.default", "{vcs: 4, buffer: 4flits}")];
        let implied = point(&sets).imply().unwrap_or_else(|error| panic!("{error}"));
        let hints = implied["hints"].as_array().expect("a list").clone();
        hints.iter().map(|hint| hint["what"].as_str().expect("a text").to_owned()).collect::<Vec<_>>().join("\n")
    };
    // the ring uses 1 of 4 VCs, and then 2; the other VCs are all in one class
    for (routing, vcs) in [("dragonfly_ofar", 3), ("{dragonfly_ofar: {ring: {vcs: 2}}}", 2)] {
        let text = hints_of(routing);
        assert!(text.contains(&format!("the VCs of one VC class ({vcs})")), "{text}");
    }
    assert!(hints_of("dragonfly_minimal").contains("the VCs of one VC class (2)"), "two classes on local links");
}

#[test]
fn a_saturation_bit_that_no_queue_sets_is_a_hint_of_check_whose_remedy_ends_it() {
    let hints = |h: u32, sets: &[(&str, &str)]| -> Vec<(String, String)> {
        let shape = format!("routers_per_group: {}, terminals_per_router: {h}, global_links_per_router: {h}", 2 * h);
        let dragonfly = format!("{{dragonfly: {{{shape}}}}}");
        // each class has one VC with space for 32 flits
        let routing = ("routing", "{dragonfly_pb: {sensor: class_credits}}");
        let network = [("topology", &*dragonfly), routing, ("links.global.vcs", "2")];
        let implied = point(&[&network, sets].concat()).imply().unwrap_or_else(|error| panic!("{error}"));
        let hints = implied["hints"].as_array().expect("a list").clone();
        let text = |hint: &serde_json::Value, key: &str| hint[key].as_str().expect("a text").to_owned();
        // excludes another hint, which says that this sensor counts credits in flight
        let hints = hints.iter().filter(|hint| hint["code"] != "credits_under_way");
        hints.map(|hint| (text(hint, "path"), text(hint, "what") + "; " + &text(hint, "help"))).collect()
    };
    let (coefficient, margin) = ("routing.dragonfly_pb.coefficient", "routing.dragonfly_pb.margin");
    // `dragonfly_pb` compares a queue q with the coefficient 2 times the mean of the queues, plus the margin 5. With 2 global links the
    // condition q > 2 x (q + 0) / 2 + 5 is never true, for any size of the buffer
    let two = hints(2, &[]);
    assert_eq!((two.len(), two[0].0.as_str()), (1, coefficient), "{two:?}");
    assert!(
        two[0].1.contains("a full queue of 32 flits next to empty queues is not above 2 x 32 / 2 + 5 = 37"),
        "{two:?}"
    );
    // `history_window` counts the flits of all 2 VCs
    let window = hints(2, &[("routing.dragonfly_pb.sensor", "history_window")]);
    assert!(window[0].1.contains("a full queue of 64 flits next to empty queues"), "{window:?}");
    // the proposed coefficient is 0.75 of the largest one with an effect: 0.75 x 2 x (1 - 5/32) = 1.26
    assert!(two[0].1.contains("write `coefficient: 1.26` or less"), "{two:?}");
    for value in ["1.26", "1.25", "0"] {
        assert_eq!(hints(2, &[(coefficient, value)]), [], "{value}");
    }
    // with 4 links the condition is q > 2 x q / 4 + margin, so the margin must be less than half of the buffer
    assert_eq!(hints(4, &[]), []);
    let wide = hints(4, &[(margin, "16flits")]);
    assert_eq!((wide.len(), wide[0].0.as_str()), (1, margin), "{wide:?}");
    assert!(wide[0].1.contains("write `margin: 15flits` or less"), "{wide:?}");
    assert_eq!(hints(4, &[(margin, "15flits")]), []);
    // the buffer has space for 4 flits: the remedies are a margin of 1, and a coefficient of 0.75 x 2 x 3/4
    let both = hints(2, &[("links.global.buffer", "4flits")]);
    let both = both.iter().find(|(path, _)| path == coefficient).expect("a hint");
    assert!(both.1.contains("write `coefficient: 1.12` and `margin: 1flits`, or less"), "{both:?}");
    let mended = hints(2, &[("links.global.buffer", "4flits"), (coefficient, "1.12"), (margin, "1flits")]);
    assert!(mended.iter().all(|(path, _)| !path.contains("dragonfly_pb")), "{mended:?}");
}

#[test]
fn deadlock_between_tables_that_follow_each_other_is_not_proven_and_the_remedy_ends_the_warning() {
    let one = ("routing", "{ecmp: {classes: one}}");
    let named = ("faults", "[{link: [0, 1], at: 2us, until: 3us}]");
    let random = ("fault_model", "{random: {of: links, mtbf: 50us, mttr: 1us}}");
    let soon = ("measure.warmup", "1us");
    let what = "Weft has no proof that packets can't deadlock after a fault";
    check(&[one, named, soon], "faults", &[what, "choose a routing whose VC class rises with each hop"]);
    check(&[one, random, soon], "fault_model.random", &[what]);
    for faults in [named, random] {
        assert!(warned(&[("routing", "ecmp"), faults, soon]).is_empty());
    }
}

/// Codes and numbers of the warnings about marks.
fn of_marks(control: &str) -> Vec<(&'static str, Vec<f64>)> {
    let warnings = point(&[("congestion_control", control)]).warnings.into_iter();
    let of_marks = warnings.filter(|warning| warning.path.starts_with("congestion_control"));
    of_marks.map(|warning| (warning.code.name, warning.numbers.into_values().collect())).collect()
}

#[test]
fn marks_that_begin_late_or_stay_rare_are_warned_of() {
    let control = "{infiniband: {threshold: 1B}}";
    let facts = point(&[("congestion_control", control)]).imply().expect("a network")["congestion_control"].clone();
    let number = |value: &serde_json::Value| value.as_u64().expect("a whole number");
    let (port, most) = (&facts["port_memory"]["dim0"], &facts["most_queued"]);
    // every flit is larger than 1 B, so every packet is marked. The longest queue for an output comes from 3 links and 2 terminals of a
    // router, and granted flits fill one more buffer
    assert_eq!((number(&facts["first_mark"]["flits"]), &port["mark_chance"]), (1, &json!(1.0)), "{facts}");
    assert_eq!(number(&most["flits"]), 6 * number(&port["flits"]), "{facts}");
    let flit = number(&port["bytes"]) / number(&port["flits"]);
    let mark_above = |bytes: u64| format!("{{infiniband: {{threshold: {bytes}B}}}}");
    let numbers = vec![number(&port["flits"]) as f64 + 1.0, number(&port["flits"]) as f64];
    assert_eq!(of_marks(&mark_above(number(&port["bytes"]))), [("marks_above_a_port", numbers)]);
    // the remedy works: marking begins at a shorter queue
    assert_eq!(of_marks(&mark_above(number(&port["bytes"]) - flit)), []);
    let ramp = |to: u64| format!("{{dcqcn: {{mark_from: 0B, mark_to: {to}B, mark_share: 0.5}}}}");
    // when all ports are full, the queue is at the end of the ramp, where half of the packets are marked. Only a longer queue would mark
    // each packet
    let numbers = vec![1.0, 0.5, number(&most["flits"]) as f64];
    assert_eq!(of_marks(&ramp(number(&most["bytes"]))), [("marks_stay_rare", numbers)]);
    // the remedy works: a steeper ramp
    assert_eq!(of_marks(&ramp(number(&most["bytes"]) - flit)), []);
    // with a threshold above the memory of all ports, no packet is ever marked
    let said = try_point(&[("congestion_control", &mark_above(number(&most["bytes"])))]).map(|_| ());
    let said = said.expect_err("no queue is so long");
    assert!(
        said.contains("congestion_control.infiniband.threshold") && said.contains("can wait for an output"),
        "{said}"
    );
}
