//! Tests of the meaning of a scenario file: models without parameters, overrides, sweeps, defaults, hashes, the schema. A further test
//! checks that no text causes a panic in Weft.

use proptest::prelude::*;
use serde_json::{Value, json};
use weft_engine::power::LinkState;
use weft_scenario::{Point, expand, schema};
use weft_units::fj_text;

const SMALL: &str = "\
topology:
  hyperx: {widths: [2, 2], terminals_per_router: 2}
routing: ugal_p
traffic: {pattern: uniform, load: 0.3}
";
const EXAMPLES: [(&str, &str); 3] = [
    ("quickstart.yaml", include_str!("../../../examples/quickstart.yaml")),
    ("dragonfly.yaml", include_str!("../../../examples/dragonfly.yaml")),
    ("torus.yaml", include_str!("../../../examples/torus.yaml")),
];

fn points(text: &str, sets: &[(&str, &str)]) -> Vec<Point> {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    expand("test.yaml", text, &sets).unwrap_or_else(|error| panic!("{error}"))
}

fn point(text: &str, sets: &[(&str, &str)]) -> Point {
    let mut points = points(text, sets);
    assert_eq!(points.len(), 1);
    points.remove(0)
}

#[test]
fn a_bare_name_is_a_model_with_its_defaults() {
    let long = SMALL.replace("ugal_p", "{ugal_p: {}}").replace("pattern: uniform", "pattern: {uniform: {}}");
    assert_eq!(point(SMALL, &[]).resolved, point(&long, &[]).resolved);
    let spelt = point(SMALL, &[("router.allocator", "separable_input_first")]);
    assert_eq!(spelt.resolved["router"]["allocator"], json!({ "separable_input_first": { "iterations": 1 } }));
}

#[test]
fn a_set_reaches_into_bare_names_lists_and_absent_sections() {
    let sets = [
        ("routing.ugal_p.threshold", "5flits"),
        ("topology.hyperx.widths.1", "3"),
        ("links.terminal.latency", "2cycles"),
        ("power.policy", "{idle_timeout: {idle: 1us, transition: 10ns}}"),
        ("traffic.load", "0.5"),
    ];
    let resolved = point(SMALL, &sets).resolved;
    assert_eq!(resolved["routing"]["ugal_p"]["threshold"], "5flits");
    assert_eq!(resolved["topology"]["hyperx"]["widths"], json!([2, 3]));
    assert_eq!(resolved["links"]["terminal"]["credit_latency"], "2cycles");
    assert_eq!(resolved["links"]["dim1"]["latency"], "10cycles");
    assert_eq!(resolved["power"]["policy"]["idle_timeout"]["idle"], "1us");
    assert_eq!(resolved["traffic"]["load"], 0.5);
}

#[test]
fn sweeps_are_products_and_zips_advance_together() {
    let swept = format!(
        "{SMALL}sweep: {{seed: [1, 2], routing: [ugal_p, valiant]}}\nzip:\n  traffic.load: [0.1, 0.2]\n  name: [a, b]\n"
    );
    let coordinates: Vec<Value> = points(&swept, &[])
        .iter()
        .map(|point| Value::Array(point.coordinates.iter().map(|(_, value)| value.clone()).collect()))
        .collect();
    assert_eq!(coordinates.len(), 8);
    assert_eq!(coordinates[0], json!([1, "ugal_p", 0.1, "a"]));
    assert_eq!(coordinates[1], json!([1, "ugal_p", 0.2, "b"]));
    assert_eq!(coordinates[2], json!([1, "valiant", 0.1, "a"]));
    assert_eq!(coordinates[7], json!([2, "valiant", 0.2, "b"]));
}

#[test]
fn a_set_below_a_swept_path_is_refused_whichever_of_them_comes_first() {
    let below = ("routing.ugal_p.threshold", "2flits");
    let sweep = ("sweep.routing", "[ugal_p, valiant]");
    let expanded = |sets: &[(&str, &str)]| {
        let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
        expand("test.yaml", SMALL, &sets).map(|points| points.len()).map_err(|error| error.to_string())
    };
    for sets in [[below, sweep], [sweep, below]] {
        let message = expanded(&sets).expect_err("the threshold would be lost");
        assert!(
            message.contains("`routing` is swept, and the values of the sweep replace everything below this path"),
            "{message}"
        );
        assert!(message.contains("--set:1:1") || message.contains("routing.ugal_p.threshold=2flits"), "{message}");
    }
    // checks that both remedies work
    assert_eq!(expanded(&[("sweep.routing", "[{ugal_p: {threshold: 2flits}}, valiant]")]), Ok(2));
    assert_eq!(expanded(&[sweep, ("routing", "{ugal_p: {threshold: 2flits}}")]), Ok(1));
    // a sweep that a later `--set` removes does not replace a value
    assert_eq!(expanded(&[below, sweep, ("sweep.routing", "null")]), Ok(1));
}

#[test]
fn a_set_of_a_swept_path_replaces_the_sweep() {
    let swept = format!("{SMALL}sweep: {{seed: [1, 2, 3], traffic.load: [0.1, 0.2]}}\n");
    assert_eq!(points(&swept, &[("seed", "7")]).len(), 2);
    assert_eq!(points(&swept, &[("sweep.seed", "[7, 8]")]).len(), 4);
}

#[test]
fn the_hash_follows_the_resolved_scenario_and_nothing_else() {
    let hash = point(SMALL, &[]).hash;
    assert_eq!(hash.len(), 16);
    let same =
        SMALL.replace("load: 0.3", "load: 3e-1, packet: 1 flit") + "# a remark\nlinks: {terminal: {latency: 1cycle}}\n";
    assert_eq!(point(&same, &[]).hash, hash);
    for (path, value) in ALTERNATIVES {
        assert_ne!(point(SMALL, &[(path, value)]).hash, hash, "{path}");
    }
    for (path, example) in recordings() {
        assert_ne!(point(SMALL, &[(&path, &example)]).hash, hash, "{path}");
    }
}

#[test]
fn a_resolved_scenario_is_a_file_with_the_same_hash() {
    for (name, text) in EXAMPLES {
        for point in points(text, &[]) {
            let again = expand(name, &point.resolved_yaml(), &[]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(again[0].hash, point.hash);
            assert_eq!(again[0].resolved, point.resolved);
        }
    }
}

/// The keys of all recordings, each with an example of its parameters.
fn recordings() -> Vec<(String, String)> {
    let text = |recording: &Value, key: &str| recording[key].as_str().expect("a text").to_owned();
    let listed = weft_scenario::recordings();
    let key = |recording| (format!("measure.{}", text(recording, "name")), text(recording, "example"));
    listed.as_array().expect("a list").iter().map(key).collect()
}

/// A value other than the default for every key except recordings.
const ALTERNATIVES: &[(&str, &str)] = &[
    ("name", "another"),
    ("link_speed", "400Gb/s"),
    ("cycle", "2ns"),
    ("grain", "48b"),
    ("flit", "16B"),
    ("topology", "{hyperx: {widths: [3, 3], terminals_per_router: 1}}"),
    ("links.default.latency", "20ns"),
    ("links.default.credit_latency", "3cycles"),
    ("links.default.vcs", "8"),
    ("links.default.buffer", "16flits"),
    ("links.default.bandwidth", "0.5flits/cycle"),
    ("router.preset", "torus_2019"),
    ("router.delay", "3cycles"),
    ("router.delay_per_doubling", "1cycle"),
    ("router.routing_delay", "1cycle"),
    ("router.vc_realloc", "1"),
    ("router.hold_switch", "true"),
    ("router.priority", "age"),
    ("router.ejection_vcs", "2"),
    ("router.output_buffer", "1flit"),
    ("router.input_speedup", "vcs"),
    ("router.speedup", "1"),
    ("router.credit_delay", "2cycles"),
    ("router.ejection_delay", "2cycles"),
    ("router.flow_control", "wormhole"),
    ("router.allocator", "{islip: {iterations: 2}}"),
    ("routing", "valiant"),
    ("traffic.pattern", "tornado"),
    ("traffic.load", "0.4"),
    ("traffic.loads", "[{terminals: [1, 2], load: 0}]"),
    ("traffic.packet", "2flits"),
    ("traffic.injection", "{on_off: {mean_on: 50cycles}}"),
    ("traffic.phases", "[{from: 5us, load: 0.2}]"),
    ("traffic.batch", "{per_terminal: 10}"),
    ("traffic.workload", "{request_reply: {packet: 3flits}}"),
    ("traffic.reply", "{packet: 4flits}"),
    ("traffic.jobs", "[{name: a, terminals: {range: [0, 3]}}]"),
    ("classes", "{all: {}}"),
    ("queueing", "{dbbm: {queues: 2}}"),
    ("interface", "{queues: per_destination}"),
    ("power.catalogue", "{speed: 400Gb/s, cables: dr, terminal_cables: dac}"),
    ("power.policy", "{idle_timeout: {idle: 10cycles, transition: 5cycles}}"),
    ("power.manages", "[dim0]"),
    ("power.modes", "[{name: low, rate: 1/12}]"),
    ("power.prices", "{on: {static: 0.342W, per_bit: 1pJ/bit}}"),
    ("power.class_prices", "{dim0: {on: {static: 1W, per_bit: 1pJ/bit}}}"),
    ("power.router_price", "{static: 50W}"),
    ("power.groups", "{by: router}"),
    ("faults", "[{router: 0, at: 2us}]"),
    ("fault_model.rebuild_delay", "1us"),
    ("measure.warmup", "1us"),
    ("measure.window", "1us"),
    ("measure.stop", "{confidence: {half_width: 0.02}}"),
    ("measure.drain_limit", "1us"),
    ("measure.batches", "5"),
    ("measure.stall_limit", "1us"),
    ("seed", "2"),
    ("allow_dependency_cycle", "true"),
];

#[test]
fn the_limit_of_a_warm_up_has_room_for_what_it_needs() {
    let limit = |window: &str| {
        let point = point(SMALL, &[("measure.warmup", "auto"), ("measure.window", window)]);
        point.spec().expect("sound").phases.warmup
    };
    // the default of the limit is 5 windows, but at least 20,000 cycles. A cycle is 1 ns
    assert_eq!(["500cycles", "4us", "5000cycles"].map(limit), [20_000, 20_000, 25_000]);
    let under = |policy: &str, window: &str| {
        let sets = [("measure.warmup", "auto"), ("measure.window", window), ("power.policy", policy)];
        point(SMALL, &sets).spec().expect("sound").phases.warmup
    };
    // under a policy, the limit is also at least 30 decision periods of the policy. This period is the idle time plus two transitions
    let slow = "{idle_timeout: {idle: 9us, transition: 500ns}}";
    assert_eq!([under(slow, "4us"), under(slow, "100us")], [300_000, 500_000]);
    assert_eq!(under("{idle_timeout: {idle: 10cycles, transition: 5cycles}}", "4us"), 20_000);
}

#[test]
fn loads_of_terminals_hold_until_a_phase_names_a_load_even_the_same() {
    let sets = [
        ("traffic.phases", "[{from: 1us, pattern: tornado}, {from: 2us, load: 0.3}, {from: 3us, pattern: uniform}]"),
        ("traffic.loads", "[{terminals: [1, 1], load: 0.7}]"),
    ];
    let spec = point(SMALL, &sets).spec().expect("sound");
    let load =
        |terminal: usize| spec.traffic.jobs[0].phases.iter().map(|phase| phase.load[terminal]).collect::<Vec<_>>();
    assert_eq!((load(0), load(1)), (vec![0.3; 4], vec![0.7, 0.7, 0.3, 0.3]));
}

#[test]
fn every_documented_key_is_read() {
    let spec = |sets: &[(&str, &str)]| format!("{:?}", point(SMALL, sets).spec().expect("sound"));
    let before = spec(&[]);
    for (path, value) in ALTERNATIVES.iter().filter(|(path, _)| *path != "name") {
        assert_ne!(spec(&[(path, value)]), before, "{path} changes nothing");
    }
    // the limit applies only to an automatic warm-up
    let auto = |limit: &str| spec(&[("measure.warmup", "auto"), ("measure.warmup_limit", limit)]);
    assert_ne!(auto("10us"), auto("20us"));
    // congestion control limits rates only in queues per destination
    let controlled = |control: &str| {
        let queues = "{queues: per_destination}";
        spec(&[("interface", queues), ("congestion_control", control)])
    };
    assert_ne!(controlled("none"), controlled("{dcqcn: {}}"));
    let schema = schema();
    let sections = [
        ("", "/properties"),
        ("links.default.", "/$defs/Link/properties"),
        ("router.", "/$defs/Router/properties"),
        ("traffic.", "/$defs/Traffic/properties"),
        ("power.", "/$defs/PowerConfig/properties"),
        ("measure.", "/$defs/Measure/properties"),
    ];
    for (prefix, pointer) in sections {
        for key in schema.pointer(pointer).and_then(Value::as_object).expect(pointer).keys() {
            let path = format!("{prefix}{key}");
            let recorded = recordings().iter().any(|(known, _)| *known == path);
            let tested = recorded
                || ALTERNATIVES.iter().any(|(known, _)| *known == path || known.starts_with(&format!("{path}.")));
            // these keys are tested elsewhere: a bill changes no run (`prices.rs`); `class` needs a name under `classes` (`classes.rs`);
            // `port_buffer` replaces `buffer` (`queueing.rs`)
            let elsewhere =
                ["sweep", "zip", "warmup_limit", "bill", "class", "port_buffer", "split", "congestion_control"];
            assert!(tested || elsewhere.contains(&key.as_str()), "{path} has no alternative in this test");
        }
    }
}

#[test]
fn the_default_price_is_exact() {
    // A flit has 48 bits: 23.44 pJ/bit * 48 b = 1125.12 pJ, and 7.81 pJ/bit * 48 b = 374.88 pJ.
    let price = point(SMALL, &[]).spec().expect("sound").prices[0].of(LinkState::On).expect("on has a price");
    assert_eq!([price.static_parts_per_cycle, price.flit_yj].map(fj_text), ["1125120", "374880"]);
    // 0.342 W for 1 ns is 342 pJ
    let watts = [("power.prices", "{on: {static: 0.342W, per_bit: 0pJ/bit}}")];
    let price = point(SMALL, &watts).spec().expect("sound").prices[0].of(LinkState::On).expect("on has a price");
    assert_eq!(fj_text(price.static_parts_per_cycle), "342000");
}

#[test]
fn bombs_and_hostile_texts_are_one_clear_error() {
    let bomb =
        (1..30).fold("a0: &a0 [x, x]\n".to_owned(), |text, i| text + &format!("a{i}: &a{i} [*a{0}, *a{0}]\n", i - 1));
    assert!(expand("bomb.yaml", &bomb, &[]).expect_err("a bomb").what.contains("more than 100000 values"));
    let deep = "[".repeat(10_000);
    assert!(expand("deep.yaml", &deep, &[]).is_err());
    let file = std::env::temp_dir().join(format!("weft-not-utf8-{}.yaml", std::process::id()));
    std::fs::write(&file, b"name: a\nflit: \xff\n").expect("a temporary file");
    let error = weft_scenario::read(&file).expect_err("not UTF-8");
    std::fs::remove_file(&file).expect("removed");
    assert!(error.what.ends_with(":2: byte 14 of the file is not UTF-8 text"), "{error}");
    assert!(weft_scenario::read(&file).expect_err("gone").what.contains("can't be read"));
    assert!(weft_scenario::read(&std::env::temp_dir()).expect_err("a folder").help.contains("points/*/scenario.yaml"));
}

proptest! {
    #[test]
    fn no_text_makes_us_panic(text in any::<String>(), set in ".{0,20}") {
        let _ = expand("any.yaml", &text, &[]);
        let _ = expand("any.yaml", SMALL, &[(set.clone(), set)]);
    }

    #[test]
    fn no_mutation_makes_us_panic(
        example in 0usize..3,
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), 0usize..12, "[\\[\\]{}:,\\-\"'&*#\n\t 0-9a-z.]{0,4}"),
            1..4,
        ),
    ) {
        // removes the sweep, so that each case is one point
        let mut text = EXAMPLES[example].1.split("\nsweep:").next().expect("a first part").to_owned();
        for (at, length, with) in edits {
            let from = at.index(text.len());
            let to = (from + length).min(text.len());
            if text.is_char_boundary(from) && text.is_char_boundary(to) {
                text.replace_range(from..to, &with);
            }
        }
        let sets = [("routing".to_owned(), "minimal".to_owned()), ("traffic.load".to_owned(), "0.1".to_owned())];
        let _ = expand("mutated.yaml", &text, &sets);
    }

    #[test]
    fn any_name_survives_the_resolved_file(name in any::<String>()) {
        let quoted = serde_json::to_string(&name).expect("JSON");
        // JSON does not escape some characters that YAML forbids. A file with such characters is refused. If it is accepted, the name must
        // be the same after it is written and read again
        if let Ok(points) = expand("n.yaml", &format!("{SMALL}name: {quoted}\n"), &[]) {
            let again = expand("n.yaml", &points[0].resolved_yaml(), &[]).expect("reads back");
            prop_assert_eq!(&again[0].hash, &points[0].hash);
        }
    }
}

/// A scenario accepts every example of a model, below the key of its family.
#[test]
fn every_example_of_a_model_can_be_written() {
    let examples = weft_scenario::examples();
    for (family, configs) in examples.as_object().expect("families") {
        for config in configs.as_array().expect("configurations") {
            // a workload of programs accepts neither a pattern nor a load
            let has_own_demand = ["programs", "scheduler"].iter().any(|name| config.get(name).is_some());
            let (pattern, load) = if has_own_demand { ("null", "null") } else { ("uniform", "0.1") };
            // buffers with space for queues above the thresholds of congestion control
            let buffer = ("links.default.buffer", "1000flits");
            let sets = [("traffic.pattern", pattern), ("traffic.load", load), buffer, (family, &config.to_string())];
            let written = points(SMALL, &sets);
            let resolved = family.split('.').fold(&written[0].resolved, |at, key| &at[key]);
            // the resolved scenario omits a key of a job that has its default
            assert!(resolved == config || resolved.is_null(), "{family}: {resolved} of {config}");
        }
    }
}

#[test]
fn the_summary_of_a_model_is_a_whole_sentence() {
    for (family, models) in weft_scenario::models().as_object().expect("families") {
        for model in models.as_array().expect("models") {
            let summary = model["summary"].as_str().expect("a text");
            let brackets = |of: char| summary.matches(of).count();
            assert!(summary.ends_with('.') && brackets('(') == brackets(')'), "{family}: {model}");
        }
    }
}

/// An enum in the schema consists only of words, or only of models, because the code that reads the schema would ignore models among words.
#[test]
fn no_choice_mixes_words_and_models() {
    fn check(at: &Value) {
        if let Some(choices) = at.get("oneOf").and_then(Value::as_array) {
            let models = choices.iter().filter(|choice| choice.get("properties").is_some()).count();
            // the schema lists the names of all models, because a model can be given without parameters
            let names = |choice: &Value| choice["enum"].as_array().is_some_and(|names| names.len() == models);
            let words = choices.iter().filter(|choice| choice.get("properties").is_none() && !names(choice)).count();
            assert!(words == 0 || models == 0, "{at}");
        }
        match at {
            Value::Array(items) => items.iter().for_each(check),
            Value::Object(keys) => keys.values().for_each(check),
            _ => {}
        }
    }
    check(&schema());
}

#[test]
fn a_link_speed_sets_what_is_left_out_of_cycle_and_flit() {
    let of = |sets: &[(&str, &str)]| {
        let resolved = point(SMALL, sets).resolved;
        (resolved["cycle"].as_str().unwrap().to_owned(), resolved["flit"].as_str().unwrap().to_owned())
    };
    let speed = ("link_speed", "400Gb/s");
    // 400 Gb/s are 400 bits in 1 ns, 512 bits in 512 / 400 ns, and 800 bits in 2 ns
    assert_eq!(of(&[speed]), ("1ns".into(), "400b".into()));
    assert_eq!(of(&[speed, ("flit", "64B")]), ("1.28ns".into(), "512b".into()));
    assert_eq!(of(&[speed, ("cycle", "2ns")]), ("2ns".into(), "800b".into()));
    assert_eq!(of(&[speed, ("cycle", "2ns"), ("flit", "800b")]), ("2ns".into(), "800b".into()));
    // the resolved scenario contains all three values, and is the same point
    let resolved = point(SMALL, &[speed, ("flit", "64B")]);
    assert_eq!(point(&resolved.resolved_yaml(), &[]).hash, resolved.hash);
    let swept: Vec<_> = points(SMALL, &[("sweep.link_speed", "[100Gb/s, 800Gb/s]")]);
    let flits: Vec<_> = swept.iter().map(|point| point.resolved["flit"].as_str().unwrap()).collect();
    assert_eq!(flits, ["100b", "800b"]);
}

#[test]
fn a_link_speed_that_does_not_fit_is_refused_with_a_remedy_that_works() {
    let refused = |sets: &[(&str, &str)]| {
        let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
        expand("test.yaml", SMALL, &sets).unwrap_err().text
    };
    let both = refused(&[("link_speed", "400Gb/s"), ("cycle", "1ns"), ("flit", "64B")]);
    assert!(
        both.contains("a link that carries a flit of 512b in a cycle of 1ns does not have the speed 400Gb/s"),
        "{both}"
    );
    // 100 Mb/s are 0.1 bit in 1 ns; a second has 10^15 fs, so 1 bit takes 10^7 fs
    let slow = refused(&[("link_speed", "100Mb/s")]);
    assert!(slow.contains("100Mb/s carries 0.1 bits in a cycle of 1ns") && slow.contains("a multiple of 1b"), "{slow}");
    assert_eq!(point(SMALL, &[("link_speed", "100Mb/s"), ("flit", "1b")]).resolved["cycle"], "10ns");
    // at 3 * 10^9 b/s, 3 bits take 10^6 fs. A number of bits that is not a multiple of 3 takes no whole number of fs
    let odd = refused(&[("link_speed", "3Gb/s"), ("flit", "64b")]);
    assert!(odd.contains("write a `flit` that is a multiple of 3b"), "{odd}");
    assert_eq!(point(SMALL, &[("link_speed", "3Gb/s"), ("flit", "66b")]).resolved["cycle"], "22ns");
    assert!(refused(&[("link_speed", "1flit/cycle")]).contains("write bits per second, such as 400Gb/s"));
    assert!(refused(&[("link_speed", "0b/s")]).contains("write bits per second, such as 400Gb/s"));
    assert!(refused(&[("link_speed", "400")]).contains("bare number"));
}
