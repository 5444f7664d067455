//! Tests of link modes that a scenario defines: exact energies, columns, and refusals with remedies that work.

use serde_json::json;
use weft_engine::power::LinkState;
use weft_engine::recording::Column;
use weft_engine::spec::Execution;
use weft_scenario::{Finished, expand};

type Sets<'a> = &'a [(&'a str, &'a str)];

/// Links of 12 lanes of 0.342 W each. The policy leaves one lane of an idle channel on. A cycle is 1 ns, so 1 mW is 1 pJ per cycle.
const LANES: &str = "
topology: {full_mesh: {routers: 2, terminals_per_router: 1}}
routing: minimal
traffic: {pattern: uniform, load: 0}
cycle: 1ns
power:
  policy: {idle_timeout: {idle: 40cycles, transition: 25cycles, to: one, changes: stop}}
  modes: [{name: six, rate: 6/12}, {name: one, rate: 1/12}, {name: nap, carries: false}]
  prices:
    on: {static: 4.104W, per_bit: 3fJ/bit}
    draining: {static: 4W, per_bit: 0pJ/bit}
    waking: {static: 4W, per_bit: 0pJ/bit}
    six: {static: 2.052W, per_bit: 0pJ/bit}
    one: {static: 0.342W, per_bit: 0pJ/bit}
    nap: {static: 1mW, per_bit: 0pJ/bit}
measure: {warmup: 0cycles, window: 1000cycles}
";

fn said(sets: Sets) -> Option<String> {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    match expand("lanes.yaml", LANES, &sets) {
        Ok(points) => points[0].check_network().err().map(|diagnostic| diagnostic.text),
        Err(diagnostic) => Some(diagnostic.text),
    }
}

fn run(sets: Sets) -> Finished {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    let points = expand("lanes.yaml", LANES, &sets).unwrap_or_else(|error| panic!("{error}"));
    points[0].run(Execution::new(1, 1), &()).unwrap_or_else(|error| panic!("{error}"))
}

/// Each of the 2 channels between routers is on for 40 cycles, in transition for 25 cycles, and has one lane on for 935 cycles. The policy
/// does not manage the 4 channels of terminals, which stay on.
#[test]
fn energy_is_the_sum_over_modes_of_cycles_and_prices() {
    let finished = run(&[]);
    let channel = 40 * 4104 + 25 * 4000 + 935 * 342; // in pJ, because 1 mW is 1 pJ per cycle
    let total: u64 = 2 * channel + 4 * 1000 * 4104;
    assert_eq!(finished.summary["energy_total_fj"], format!("{}", total * 1000));
    let shares =
        ["on", "draining", "one", "six", "nap", "off"].map(|mode| &finished.summary[format!("links_{mode}_share")]);
    assert_eq!(shares, [&json!(0.04), &json!(0.025), &json!(0.935), &json!(0.0), &json!(0.0), &json!(0.0)]);
    let listed = finished.summary["link_modes"].as_array().expect("modes");
    assert_eq!((listed.len(), &listed[5]), (8, &json!({"name": "six", "rate": 0.5, "carries": true})));
    assert_eq!(listed[7], json!({"name": "nap", "rate": 1.0, "carries": false}));
}

/// The scenario defines the mode `nap`, in which a channel carries no flits. This is a kind of sleep with a price of its own.
#[test]
fn a_mode_that_carries_nothing_is_a_sleep_with_a_price() {
    let nap = "{idle_timeout: {idle: 40cycles, transition: 25cycles, to: nap}}";
    let finished = run(&[("power.policy", nap)]);
    let channel = 40 * 4104 + 25 * 4000 + 935;
    assert_eq!(finished.summary["energy_total_fj"], format!("{}", (2 * channel + 4 * 1000 * 4104) * 1000_u64));
    let busy = run(&[("power.policy", nap), ("traffic.load", "0.02"), ("measure.window", "20000cycles")]);
    let nap = busy.channels.modes.find("nap").expect("a mode");
    let slept = busy.channels.rows.iter().map(|row| (row.count.cycles[nap], row.count.flits[nap]));
    let (cycles, flits) = slept.fold((0, 0), |(cycles, flits), own| (cycles + own.0, flits + own.1));
    assert!(cycles > 0 && flits == 0, "{cycles} {flits}");
    assert!(busy.channels.rows.iter().all(|row| row.count.flits[LinkState::Waking] == 0));
}

#[test]
fn tables_have_a_column_for_each_mode_and_no_other() {
    let finished = run(&[("measure.series", "{every: 100cycles}"), ("measure.link_states", "{}")]);
    let columns: Vec<String> =
        finished.channels.part(0, &finished.channels.rows).into_iter().map(|(name, _)| name).collect();
    let of =
        |what: &str| columns.iter().filter_map(|name| name.strip_prefix(what)).map(str::to_owned).collect::<Vec<_>>();
    let modes = ["on", "shadow", "draining", "off", "waking", "six", "one", "nap"];
    assert_eq!(of("cycles_"), modes);
    assert_eq!(of("flits_"), modes);
    let table = |name: &str| &finished.recorded.iter().find(|(own, _)| *own == name).expect("a table").1;
    let series: Vec<&str> =
        table("series").columns.iter().filter_map(|(name, _)| name.strip_prefix("channels_")).collect();
    assert_eq!(series, modes);
    let states = table("link_states").columns.iter().find(|(name, _)| name == "state");
    let Some((_, Column::Texts(states))) = states else { panic!("texts") };
    assert!(states.iter().any(|state| &**state == "one"), "{states:?}");
}

#[test]
fn a_scenario_that_names_no_modes_has_half_and_quarter_and_says_nothing_of_modes() {
    let sets: Sets = &[("power.modes", "null"), ("power.prices", "null"), ("power.policy", "{rate_ladder: {}}")];
    assert_eq!(said(sets), None);
    let finished = run(&[("power.modes", "null"), ("power.prices", "null"), ("power.policy", "always_on")]);
    assert!(finished.summary.get("link_modes").is_none() && finished.summary.get("links_quarter_share").is_some());
}

#[test]
fn modes_without_sense_are_refused_with_remedies_that_work() {
    let modes = "power.modes";
    let one = |rest: &str| format!("[{{name: six, rate: 6/12}}, {{name: nap, carries: false}}, {{{rest}}}]");
    let sound = one("name: one, rate: 1/12");
    for (bad, words) in [
        ("name: one, rate: 0", vec!["power.modes.2.rate: with a rate of 0", "such as 1/12, or write carries: false"]),
        ("name: one, rate: 13/12", vec!["power.modes.2.rate: 13/12 exceeds the bandwidth", "at most 1"]),
        ("name: one, rate: 1/5000", vec!["power.modes.2.rate", "at most 4096", "such as 1/4096"]),
        ("name: one, rate: fast", vec!["power.modes.2.rate", "not a fraction", "1/12"]),
        ("name: six, rate: 1/12", vec!["power.modes.2.name: two modes have the name `six`"]),
        ("name: off, rate: 1/12", vec!["power.modes.2.name: every run already has a mode `off`"]),
        ("name: One lane, rate: 1/12", vec!["power.modes.2.name", "not a valid name of a mode", "such as `low`"]),
        ("name: one, rate: 1/12, carries: false", vec!["power.modes.2.rate: the mode has a rate, but carries nothing"]),
    ] {
        let message = said(&[(modes, &one(bad))]).expect("refused");
        words.iter().for_each(|part| assert!(message.contains(part), "{bad}: {part} is not in:\n{message}"));
        assert_eq!(said(&[(modes, &sound)]), None);
    }
}

#[test]
fn a_role_that_no_mode_has_and_a_mode_without_a_price_are_refused() {
    let to = "power.policy.idle_timeout.to";
    let message = said(&[(to, "two")]).expect("refused");
    assert!(message.contains("error: power.policy.idle_timeout.to: no mode has the name `two`"), "{message}");
    assert!(
        message.contains("write one of: off, six, one, nap; or add {name: two, rate: 1/2} to power.modes"),
        "{message}"
    );
    // refused: the new mode `two` has no price
    let two = "[{name: six, rate: 6/12}, {name: one, rate: 1/12}, {name: nap, carries: false}, {name: two, rate: 1/2}]";
    let message = said(&[(to, "two"), ("power.modes", two)]).expect("refused");
    assert!(
        message.contains("error: power.prices:") && message.contains("add `two: {static: ..., per_bit: ...}`"),
        "{message}"
    );
    let price: Sets = &[("power.prices.two", "{static: 1W, per_bit: 0pJ/bit}")];
    assert_eq!(said(&[&[(to, "two"), ("power.modes", two)], price].concat()), None);
    // the default table has no price for `two`; prices in a scenario replace the whole table
    let message = said(&[(to, "two"), ("power.modes", two), ("power.prices", "null")]).expect("refused");
    assert!(message.contains("for each of: on, draining, two, waking"), "{message}");
    let all =
        ["on", "draining", "two", "waking"].map(|name| format!("{name}: {{static: 1W, per_bit: 0pJ/bit}}")).join(", ");
    assert_eq!(said(&[(to, "two"), ("power.modes", two), ("power.prices", &format!("{{{all}}}"))]), None);
    // refused: the price is for a mode that does not exist
    let message = said(price).expect("refused");
    assert!(message.contains("error: power.prices.two: no mode has the name `two`"), "{message}");
    assert_eq!(said(&[&[("power.modes", two)], price].concat()), None);
}
