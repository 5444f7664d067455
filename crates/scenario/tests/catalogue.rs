//! Tests of prices from the hardware catalogue: every figure is the median of its rows, and the energy of a network follows from
//! the figures.

use crate::refusal::refused_in;
use serde_json::{Value, json};
use weft_engine::spec::Execution;
use weft_scenario::{Finished, catalogue, catalogue_power, expand};

/// A fat tree of 16 switches and 16 terminals; flits of 400 bits in cycles of 1 ns give 400 Gb/s.
const TREE: &str = "
cycle: 1ns
flit: 400b
topology: {fat_tree: {k: 4}}
routing: up_down
traffic: {pattern: uniform, packet: 4flits, load: 0.1}
power: {catalogue: {speed: 400Gb/s, cables: dr}}
measure: {warmup: 1000cycles, window: 2000cycles}
";

fn point(sets: &[(&str, &str)]) -> weft_scenario::Point {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    expand("tree.yaml", TREE, &sets).unwrap_or_else(|error| panic!("{error}")).remove(0)
}

fn run(sets: &[(&str, &str)]) -> Finished {
    point(sets).run(Execution::new(1, 0), &()).unwrap_or_else(|error| panic!("{error}"))
}

fn figure<'a>(all: &'a Value, name: &str, gbps: Option<u32>) -> &'a Value {
    let figures = all["figures"].as_array().expect("figures");
    let found = figures.iter().find(|each| each["figure"] == name && each["speed_gbps"] == json!(gbps));
    found.unwrap_or_else(|| panic!("no {name} at {gbps:?}"))
}

#[test]
fn every_row_has_a_source_and_every_figure_its_rows() {
    let all = catalogue();
    let rows = all["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 136);
    for row in rows {
        assert!(row["source"].as_str().is_some_and(|source| source.len() > 10), "{row}");
        assert!(row["grade"].as_str().is_some_and(|grade| ["A", "B", "C", "D"].contains(&grade)), "{row}");
    }
    for each in all["figures"].as_array().expect("figures") {
        let number = |key: &str| each[key].as_f64().expect("a number");
        assert!(number("least") <= number("median") && number("median") <= number("most"), "{each}");
        let of = each["rows"].as_array().expect("rows");
        assert!(!of.is_empty() && of.iter().all(|row| rows.iter().any(|known| known["row"] == *row)), "{each}");
    }
}

#[test]
fn a_figure_is_the_median_of_what_its_sources_print() {
    let all = catalogue();
    let median = |name: &str, gbps| figure(&all, name, gbps)["median"].as_f64().expect("a number");
    // boxes of 400 Gb/s without optics draw 747 and 640 W (64 ports), 265 W (32 ports) and 1066 W (128 ports). These are 11.67, 10,
    // 8.28 and 8.33 W per port
    assert!((median("box per port", Some(400)) - (10.0 + 1066.0 / 128.0) / 2.0).abs() < 1e-12);
    // the rows have 9 W, 11 W and 12 W; the 12 W are a rated power
    assert_eq!(median("dr end", Some(400)), 11.0);
    // the rows have 3.2, 8.6, 9.0, 11, 12.1 and 21.5 pJ/bit
    assert_eq!(median("energy per bit", None), 10.0);
    assert_eq!(median("port", Some(400)), 1.82);
    // the rows have 0.834, 0.844, 0.873 and 0.879
    assert!((median("idle share", None) - (0.844 + 0.873) / 2.0).abs() < 1e-12);
}

#[test]
fn a_network_draws_what_its_boxes_ports_modules_and_bits_do() {
    let finished = run(&[]);
    let s = &finished.summary;
    let watts = |key: &str| s[key].as_f64().expect("a number");
    let (box_w, idle, port, bit) = ((10.0 + 1066.0 / 128.0) / 2.0, (0.844 + 0.873) / 2.0, 1.82, 10.0);
    // 20 routers have 4 ports each, and every port has a cable: there are 32 links between routers, and 16 links to terminals
    let boxes = 20.0 * 4.0 * (idle * box_w - port) + (2.0 * 32.0 + 16.0) * port;
    // an end of a cable between routers draws 11 W, and an end of a passive copper cable to a terminal draws 0.1 W
    let modules = 2.0 * 32.0 * 11.0 + 2.0 * 16.0 * 0.1;
    let leaving = finished.channels.rows.iter().map(|row| &row.count).filter(|count| count.from.is_some());
    let flits: u64 = leaving.flat_map(|count| &count.flits).sum();
    let traffic = flits as f64 * 400.0 * bit * 1e-12 / 2e-6;
    let expected = boxes + modules + traffic;
    assert!((watts("power_mean_w") / expected - 1.0).abs() < 1e-9, "{} for {expected}", watts("power_mean_w"));
    assert!(traffic > 1.0);
    assert_eq!(s["prices_from"], "catalogue of November 2026, 400 Gb/s, dr between routers, dac to terminals");
    let power = catalogue_power(&json!({ "speed": "400Gb/s", "cables": "dr" })).expect("known");
    assert_eq!(power["module_w"], 11.0);
}

#[test]
fn a_link_that_sleeps_saves_its_ports_but_not_its_modules() {
    let idle = ("power.policy", "{idle_timeout: {idle: 20cycles, transition: 10cycles}}");
    let nothing = ("traffic.load", "0");
    let (on, asleep) = (run(&[nothing]).summary, run(&[nothing, idle]).summary);
    let saved = on["power_mean_w"].as_f64().expect("watts") - asleep["power_mean_w"].as_f64().expect("watts");
    // both ports of 32 links are off during the whole window
    assert!((saved - 64.0 * 1.82).abs() < 1e-6, "{saved}");
}

#[test]
fn routers_that_are_parts_of_nodes_are_not_priced_as_switches() {
    let nodes = ("power.catalogue", "{speed: 400Gb/s, cables: dac, routers: nodes}");
    let s = run(&[nodes]).summary;
    // only the ends of 32 + 16 passive cables draw power
    assert!((s["power_mean_w"].as_f64().expect("watts") - 2.0 * 48.0 * 0.1).abs() < 1e-9);
    assert!(s["prices_from"].as_str().is_some_and(|from| from.ends_with("routers are parts of nodes")));
}

#[test]
fn a_resolved_scenario_reads_back_as_the_same_point() {
    let first = point(&[]);
    let again = expand("again.yaml", &first.resolved_yaml(), &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    assert_eq!(first.hash, again.hash);
    assert_eq!(
        point(&[("power.catalogue", "null")]).run(Execution::new(1, 0), &()).expect("runs").summary["prices_from"],
        "links of the TCEP paper (ISCA 2018), routers free (prices for links of 48 Gb/s, but links carry \
         400 Gb/s: set `power.prices` or `power.catalogue`)"
    );
}

#[test]
fn default_prices_of_a_far_rate_are_reported_and_other_prices_end_the_hint() {
    let hinted = |sets: &[(&str, &str)]| {
        let implied = point(sets).imply().unwrap_or_else(|error| panic!("{error}"));
        let hints = implied["hints"].as_array().expect("hints").clone();
        hints.into_iter().find(|hint| hint["code"] == "default_prices_of_other_rate")
    };
    let default = ("power.catalogue", "null");
    let hint = hinted(&[default]).expect("400 Gb/s are more than 8 times 48 Gb/s");
    assert_eq!((&hint["path"], &hint["numbers"]["link_gbps"]), (&json!("power.prices"), &json!(400.0)));
    assert!(
        hint["what"].as_str().is_some_and(|what| what.contains("links carry 400 Gb/s, but have the default prices"))
    );
    // both remedies work: the catalogue, and prices in the scenario
    assert_eq!(hinted(&[]), None);
    assert_eq!(hinted(&[default, ("power.prices", "{on: {static: 1W, per_bit: 0pJ/bit}}")]), None);
    // a flit of 96 bits per ns is twice the rate for which the default prices were published. This ratio still gives no hint
    assert_eq!(hinted(&[default, ("flit", "96b")]), None);
    assert!(hinted(&[default, ("flit", "97b")]).is_some());
    assert!(hinted(&[default, ("flit", "23b")]).is_some());
}

#[test]
fn hardware_that_no_source_names_is_refused_and_the_remedies_work() {
    let refused = |sets: &[(&str, &str)]| refused_in("tree.yaml", TREE, sets);
    let message = refused(&[("power.catalogue", "{speed: 100Gb/s, cables: dr}")]);
    for part in ["power.catalogue.cables", "lists no power of `dr` cables at 100 Gb/s", "write sr, fr, dac, aoc"] {
        assert!(message.contains(part), "{message}");
    }
    for cables in ["sr", "fr", "dac", "aoc"] {
        point(&[("power.catalogue", &format!("{{speed: 100Gb/s, cables: {cables}}}"))]);
    }
    let message = refused(&[("power.router_price", "{static: 50W}")]);
    assert!(message.contains("power.router_price") && message.contains("together with `catalogue`"), "{message}");
    point(&[("power.router_price", "{static: 50W}"), ("power.catalogue", "null")]);
}

/// No source gives the power of a port or a module at a fraction of its rate, so a policy that lowers rates is refused.
#[test]
fn a_policy_that_lowers_rates_has_no_prices_in_the_catalogue() {
    let cases =
        [("rate_ladder", "the states `half`, `quarter`"), ("{rate_ladder: {slowest: half}}", "the state `half`")];
    for (policy, states) in cases {
        let message = refused_in("tree.yaml", TREE, &[("power.policy", policy)]);
        let what = format!("error: power.policy: the policy `rate_ladder` can put a link into {states}");
        assert!(message.contains(&what) && message.contains("no power of ports and modules"), "{message}");
        assert!(message.contains("write policy: always_on, or leave `power.catalogue` out"), "{message}");
    }
    point(&[("power.policy", "always_on")]);
    point(&[("power.policy", "rate_ladder"), ("power.catalogue", "null")]);
    // the remedy works: policies that switch links on and off have prices
    point(&[("power.policy", "{idle_timeout: {idle: 20cycles, transition: 10cycles}}")]);
}

#[test]
fn links_of_another_speed_than_the_catalogue_are_reported() {
    assert!(point(&[]).warnings.iter().all(|warning| warning.code.name != "catalogue_speed"));
    let warning_of = |sets: &[(&str, &str)]| {
        let warnings = point(sets).warnings;
        warnings.into_iter().find(|warning| warning.code.name == "catalogue_speed")
    };
    let warning = warning_of(&[("flit", "48b")]).expect("48 Gb/s");
    assert_eq!((warning.numbers["link_gbps"], warning.numbers["catalogue_gbps"]), (48.0, 400.0));
    assert!(warning.help.contains("`flit: 400b` and `cycle: 1ns`"), "{}", warning.help);
}
