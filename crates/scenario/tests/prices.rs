//! Tests of prices of link classes and of routers, and of the keys of a bill: their energies, and the refusals.

use crate::refusal::refused_in;
use serde_json::Value;
use weft_engine::Progress;
use weft_engine::power::LinkState;
use weft_engine::spec::Execution;
use weft_scenario::{Finished, Point, expand, read_bill};
use weft_units::fj_text;

/// Two routers with two terminals each. A flit has 10 bits and a cycle lasts 1 ns, so a microwatt is a femtojoule per cycle.
const FILE: &str = "\
flit: 10b
topology: {hyperx: {widths: [2], terminals_per_router: 2}}
routing: dimension_order
traffic: {pattern: uniform, load: 0.02}
power:
  policy: {idle_timeout: {idle: 20cycles, transition: 10cycles}}
  prices:
    on: {static: 7uW, per_bit: 1fJ/bit}
    draining: {static: 7uW, per_bit: 0fJ/bit}
    waking: {static: 7uW, per_bit: 0fJ/bit}
    off: {static: 1uW, per_bit: 0fJ/bit}
measure: {warmup: 100cycles, window: 1000cycles}
";
const ROUTERS: (&str, &str) = ("power.router_price", "{static: 1mW, per_port: 30uW, per_bit: 2fJ/bit}");
const TERMINALS: (&str, &str) = ("power.class_prices", "{terminal: {on: {static: 3uW, per_bit: 5fJ/bit}}}");

struct Quiet;

impl Progress for Quiet {
    fn tick(&self, _: u64, _: u64) -> bool {
        true
    }
}

fn point(sets: &[(&str, &str)]) -> Point {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    expand("prices.yaml", FILE, &sets).unwrap_or_else(|error| panic!("{error}")).remove(0)
}

fn run(sets: &[(&str, &str)]) -> Finished {
    point(sets).run(Execution::new(1, 0), &Quiet).unwrap_or_else(|error| panic!("{error}"))
}

fn fj(summary: &Value, key: &str) -> u128 {
    summary[key].as_str().unwrap_or_else(|| panic!("no {key}")).parse().expect("a whole number")
}

#[test]
fn without_prices_of_classes_and_routers_nothing_changes() {
    let plain = point(&[]);
    assert!(!plain.resolved_yaml().contains("class_prices") && !plain.resolved_yaml().contains("router_price"));
    let summary = run(&[]).summary;
    assert!(summary.as_object().expect("a mapping").keys().all(|key| !key.contains("routers")));
    let free = run(&[("power.router_price", "{}")]).summary;
    assert_eq!((fj(&free, "energy_routers_fj"), &free["energy_total_fj"]), (0, &summary["energy_total_fj"]));
}

#[test]
fn a_class_with_prices_of_its_own_pays_these_and_the_others_the_common_ones() {
    let (common, own) = (run(&[]), run(&[TERMINALS]));
    for (a, b) in common.channels.rows.iter().zip(&own.channels.rows) {
        assert_eq!(a.count, b.count, "prices change no behaviour");
        let flits: u64 = b.count.flits.iter().sum();
        match b.count.class {
            // 5 fJ/bit of a flit of 10 bits
            0 => assert_eq!(
                [b.energy.standing_yj, b.energy.dynamic_yj].map(fj_text),
                [1000 * 3, flits * 50].map(|fj| fj.to_string())
            ),
            _ => assert_eq!(a.energy, b.energy),
        }
    }
    // channels of terminals never sleep and have other prices in the second run. The always-on energy and the total energy
    // therefore differ by the same amount from those of the first run
    let difference = |key: &str| fj(&common.summary, key).abs_diff(fj(&own.summary, key));
    assert_eq!(difference("energy_always_on_fj"), difference("energy_total_fj"));
    assert!(difference("energy_total_fj") > 0);
}

#[test]
fn the_energy_of_routers_is_the_arithmetic_of_the_accounts_and_the_sum_closes() {
    let plain = run(&[TERMINALS]);
    let finished = run(&[TERMINALS, ROUTERS]);
    let s = &finished.summary;
    let leaving: Vec<_> = finished.channels.rows.iter().map(|row| &row.count).filter(|c| c.from.is_some()).collect();
    assert_eq!(leaving.len(), 2 + 4, "two directions of the link, four terminals");
    let flits: u64 = leaving.iter().flat_map(|count| &count.flits).sum();
    let off: u64 = leaving.iter().map(|count| count.cycles[LinkState::Off]).sum();
    assert!(off > 0 && flits > 0);
    assert_eq!(fj(s, "energy_routers_static_fj"), 2 * 1000 * 1000);
    assert_eq!(fj(s, "energy_routers_ports_fj"), u128::from(6 * 1000 - off) * 30);
    assert_eq!(fj(s, "energy_routers_dynamic_fj"), u128::from(flits) * 20);
    let parts = ["static", "ports", "dynamic"].map(|part| fj(s, &format!("energy_routers_{part}_fj")));
    assert_eq!(fj(s, "energy_routers_fj"), parts.iter().sum::<u128>());
    let rows: u128 = finished.channels.rows.iter().map(|row| row.energy.total_yj()).sum::<u128>() / 1_000_000_000;
    assert_eq!(fj(s, "energy_total_fj"), rows + fj(s, "energy_routers_fj"));
    assert_eq!(fj(s, "energy_total_fj"), fj(s, "energy_static_fj") + fj(s, "energy_dynamic_fj"));
    assert_eq!(fj(&plain.summary, "energy_total_fj"), rows, "routers come in addition");
    // in the always-on case every port is on; in the ideal case a port is on for one cycle per flit
    let more = |key: &str| fj(s, key) - fj(&plain.summary, key);
    assert_eq!(more("energy_always_on_fj"), parts[0] + 6 * 1000 * 30 + parts[2]);
    assert_eq!(more("energy_ideal_fj"), parts[0] + u128::from(flits) * 30 + parts[2]);
    let watts = |key: &str| s[key].as_f64().expect("a number");
    assert!((watts("power_routers_mean_w") / (fj(s, "energy_routers_fj") as f64 * 1e-15 / 1e-6) - 1.0).abs() < 1e-12);
    assert_eq!(s["energy_network_j"], plain.summary["energy_network_j"], "the network is the links between routers");
}

#[test]
fn the_power_of_phases_includes_that_of_routers() {
    let phases = ("traffic.phases", "[{from: 600cycles, load: 0.2}]");
    let (plain, finished) = (run(&[TERMINALS, phases]).summary, run(&[TERMINALS, ROUTERS, phases]).summary);
    let watts = |of: &Value, key: &str| of[key].as_f64().expect("a number");
    // the window has two phases of equal length, from cycle 100 to 600 and from 600 to 1100. So its mean power is the mean
    // over the phases
    for key in ["power_mean_w", "power_always_on_mean_w"] {
        for summary in [&plain, &finished] {
            let mean = (0..2).map(|phase| watts(&summary["phases"][phase], key)).sum::<f64>() / 2.0;
            assert!((mean / watts(summary, key) - 1.0).abs() < 1e-12, "{key}: {mean}");
        }
    }
    let routers = watts(&finished, "power_mean_w") - watts(&plain, "power_mean_w");
    assert!((routers / watts(&finished, "power_routers_mean_w") - 1.0).abs() < 1e-9);
}

#[test]
fn routers_of_links_that_never_sleep_cost_as_much_as_always_on() {
    let s = run(&[ROUTERS, ("power.policy", "always_on")]).summary;
    assert_eq!(s["energy_total_fj"], s["energy_always_on_fj"]);
    assert_eq!(s["power_routers_mean_w"], s["power_routers_always_on_mean_w"]);
}

#[test]
fn a_class_without_a_price_for_a_state_that_it_enters_is_refused_and_the_remedy_works() {
    let refused = |path: &str, value: &str| refused_in("prices.yaml", FILE, &[(path, value)]);
    let message = refused("power.class_prices", "{dim0: {on: {static: 3W, per_bit: 5fJ/bit}}}");
    assert!(message.starts_with(
        "error: power.class_prices.dim0: a `dim0` link has no price in the states `draining`, `off`, `waking`, but the \
         policy `idle_timeout` puts the link in them"
    ));
    assert!(message.contains(
        "`off: {static: ..., per_bit: ...}` and `waking: {static: ..., per_bit: ...}`: the prices of a class"
    ));
    let more = "{dim0: {on: {static: 3uW, per_bit: 5fJ/bit}, draining: {static: 3uW, per_bit: 0fJ/bit}, \
                off: {static: 0W, per_bit: 0fJ/bit}, waking: {static: 3uW, per_bit: 0fJ/bit}}}";
    point(&[("power.class_prices", more)]).spec().expect("every state has a price");
    let message = refused("power.class_prices", "{terminal: {off: {static: 0W, per_bit: 0fJ/bit}}}");
    assert!(
        message.contains("a `terminal` link has no price in the state `on`, but the link is always in it"),
        "{message}"
    );
    let message = refused("power.class_prices", "{dim1: {on: {static: 3W, per_bit: 5fJ/bit}}}");
    assert!(
        message.contains("the topology `hyperx` has no link class `dim1`")
            && message.contains("its link classes: terminal, dim0"),
        "{message}"
    );
    let message = refused("power.router_price", "{static: 50}");
    assert!(message.contains("power.router_price.static") && message.contains("units: MW, kW, W, mW"), "{message}");
}

const EXAMPLE: &str = "bill: {price_per_kwh: 0.25EUR, profile: [{share: 1, load: 0.1}]}";
const BILL: &str = "{price_per_kwh: 0.25EUR, profile: [{share: 0.5, load: 0.1}, {share: 0.5, load: 0.2}]}";

#[test]
fn a_bill_is_no_part_of_the_hash_and_its_defaults_are_written_out() {
    let (with, without) = (point(&[("bill", BILL)]), point(&[]));
    assert_eq!(with.hash, without.hash);
    let bill = &with.resolved["bill"];
    assert_eq!((bill["pue"].as_f64(), &bill["period"]), (Some(1.0), &"day".into()));
    // a bill without the key `baseline` uses the default: links that are always on
    assert_eq!(bill.get("baseline"), None);
    let alone = read_bill("bill.yaml", BILL, EXAMPLE).expect("sound");
    assert_eq!(&alone, bill);
    assert_eq!(read_bill("bill.yaml", &format!("name: x\nbill: {BILL}"), EXAMPLE).expect("sound"), alone);
}

#[test]
fn a_scenario_without_a_bill_says_what_to_write_into_it_and_that_works() {
    for text in [FILE, ""] {
        let message = read_bill("day.yaml", text, EXAMPLE).expect_err("no bill").to_string();
        assert!(message.contains("day.yaml has neither a section `bill:` nor the keys of a bill"), "{message}");
        let (_, line) = message.split_once("write the line `").expect("what to write");
        let line = line.split('`').next().expect("a line");
        assert_eq!(line, EXAMPLE);
        let bill = read_bill("day.yaml", &format!("{text}\n{line}\n"), EXAMPLE).expect("as told");
        assert_eq!(bill["price_per_kwh"], "0.25EUR");
    }
    let message = read_bill("bill.yaml", "{price: 1EUR}", EXAMPLE).expect_err("a wrong key").to_string();
    assert!(message.contains("price_per_kwh"), "{message}");
}

#[test]
fn a_point_says_what_a_bill_may_name_of_it() {
    let steady = point(&[("traffic.load", "0.25")]);
    assert_eq!((steady.load().expect("sound"), steady.phases().expect("sound")), (Some(0.25), 1));
    let changing = [("traffic.phases", "[{from: 100cycles, load: 0.2}, {from: 200cycles, load: 0.1}]")];
    assert_eq!(point(&changing).phases().expect("sound"), 3);
    let refused = point(&[("bill", BILL)]).refusal("bill.profile.1.load", "WHAT", "HELP").to_string();
    assert!(refused.contains("bill.profile.1.load: WHAT") && refused.contains("help: HELP"), "{refused}");
}

#[test]
fn a_null_leaves_a_section_out_and_an_empty_one_has_forgotten_its_keys() {
    for null in ["null", "~"] {
        assert_eq!(point(&[("bill", BILL), ("bill", null)]).resolved.get("bill"), None);
    }
    let message = expand("empty.yaml", &format!("{FILE}\nbill:\n"), &[]).expect_err("no keys").to_string();
    assert!(message.contains("bill.price_per_kwh: the key `price_per_kwh` is missing"), "{message}");
}

#[test]
fn a_bill_is_not_swept() {
    let sets = [("bill", BILL), ("sweep.bill.pue", "[1, 2]")];
    let message = refused_in("prices.yaml", FILE, &sets);
    assert!(message.contains("bill.pue: a bill does not change any result, so it can't be swept"), "{message}");
    assert!(message.contains("weft analyse bill RESULTS --bill FILE"), "{message}");
}

/// The error message about a bill. The message is the same for a bill in a scenario and in a separate file.
fn wrong(text: &str) -> String {
    let message = refused_in("prices.yaml", FILE, &[("bill", text)]);
    let alone = read_bill("bill.yaml", text, EXAMPLE).expect_err("refused, too").to_string();
    assert_eq!(alone.lines().next(), message.lines().next());
    message
}

#[test]
fn a_bill_that_can_not_be_computed_is_refused() {
    let profile = |parts: &str| format!("{{price_per_kwh: 0.25EUR, profile: {parts}}}");
    let one = "[{share: 1, load: 0.1}]";
    for (text, place, words, help) in [
        (
            profile("[{share: 0.5, load: 0.1}, {share: 0.3, load: 0.2}]"),
            "bill.profile:",
            "add up to 0.5 + 0.3 = 0.8, not to 1",
            "write 0.5 as the last share, so that the sum is 1",
        ),
        (
            profile("[{share: 1, load: 0}]"),
            "bill.profile.0.load:",
            "a load must be above 0 and at most 1, not 0",
            "write a small load such as 0.001",
        ),
        (profile("[{share: 1}]"), "bill.profile.0:", "neither a load nor a phase", "write `load: 0.1` or `phase: 1`"),
        (profile("[{share: 1, phase: 0}]"), "bill.profile.0.phase:", "counted from 1", "write 1 or more"),
        (profile("[{share: 0, load: 0.1}]"), "bill.profile.0.share:", "0 is not a valid share of the time", "above 0"),
        (
            profile("[{share: 0.5, load: 0.1}, {share: 0.5, phase: 1}]"),
            "bill.profile:",
            "some parts name a load and others a phase",
            "write `load` in all parts",
        ),
        (profile("[]"), "bill.profile:", "the profile has no parts", "write, for example,"),
        (
            format!("{{price_per_kwh: 0.25, profile: {one}}}"),
            "bill.price_per_kwh:",
            "0.25 has no currency",
            "such as 0.25EUR",
        ),
        (
            format!("{{price_per_kwh: 0.25eur, profile: {one}}}"),
            "bill.price_per_kwh:",
            "\"0.25eur\" is not a price",
            "such as 0.25EUR",
        ),
        (
            format!("{{pue: 0.9, price_per_kwh: 0.25EUR, profile: {one}}}"),
            "bill.pue:",
            "a PUE of 0.9 is below 1",
            "such as 1.3",
        ),
        (format!("{{profile: {one}}}"), "bill.price_per_kwh:", "`price_per_kwh` is missing", "0.25EUR"),
    ] {
        let message = wrong(&text);
        for part in [place, words, help] {
            assert!(message.contains(part), "{text} is said to be\n{message}");
        }
    }
    // checks that the remedies work
    for parts in
        ["[{share: 0.5, load: 0.1}, {share: 0.5, load: 0.2}]", "[{share: 1, load: 0.001}]", "[{share: 1, phase: 1}]"]
    {
        point(&[("bill", &profile(parts))]);
    }
}
