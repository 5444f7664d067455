//! Bad input about speeds and modes: one error at its place, with the arithmetic, and a remedy that works.

use crate::refusal::GOOD;
use weft_scenario::expand;

type Sets<'a> = &'a [(&'a str, &'a str)];

/// What `weft check` says of the good scenario with these settings; nothing if it is sound.
fn said(sets: Sets) -> Option<String> {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    match expand("bad.yaml", GOOD, &sets) {
        Ok(points) => points[0].check_network().err().map(|diagnostic| diagnostic.text),
        Err(diagnostic) => Some(diagnostic.text),
    }
}

/// These settings are refused with these words, and no longer with the remedies beside them.
#[track_caller]
fn check(bad: Sets, words: &[&str], remedies: &[Sets]) {
    let told = said(bad).expect("refused");
    words.iter().for_each(|part| assert!(told.contains(part), "{part} is not in:\n{told}"));
    assert_eq!(told.matches("error").count(), 1, "{told}");
    for remedy in remedies {
        assert_eq!(said(&[bad, remedy].concat()), None, "{remedy:?}");
    }
}

const BANDWIDTH: &str = "links.default.bandwidth";

#[test]
fn a_rate_of_nothing_is_refused() {
    for nothing in ["0flits/cycle", "0/5flits/cycle", "0Gb/s"] {
        let words = ["links.default.bandwidth", "0 flits per cycle", "never carry anything", "0.5flits/cycle"];
        check(&[(BANDWIDTH, nothing)], &words, &[&[(BANDWIDTH, "0.5flits/cycle")]]);
    }
}

#[test]
fn a_rate_above_what_feeds_the_link_is_refused() {
    // the crossbar gives an output as many flits per cycle as its speedup; 90 Gb/s are 3 flits of 48 bits in 1.6 ns
    let words = ["3 flits per cycle", "at most 2 flits per cycle (router.speedup)", "router.speedup: 3 or more"];
    for class in ["links.dim0.bandwidth", "links.dim1.bandwidth"] {
        for fast in ["3flits/cycle", "90Gb/s"] {
            check(&[(class, fast)], &words, &[&[(class, "2flits/cycle")], &[("router.speedup", "3")]]);
        }
    }
    // a terminal never sends more than a flit per cycle
    let words = ["links.terminal.bandwidth", "2 flits per cycle", "at most 1 flit per cycle", "at most 1flit/cycle"];
    check(
        &[("links.terminal.bandwidth", "60Gb/s")],
        &words,
        &[&[("links.terminal.bandwidth", "1flit/cycle")], &[("cycle", "0.8ns")]],
    );
}

#[test]
fn a_rate_whose_pattern_hardly_repeats_is_refused() {
    let words = [
        "99989 flits in 99991 cycles",
        "repeats only after 99991 cycles",
        "longest period is 65536",
        "a rounder rate, such as 1flits/cycle",
    ];
    check(&[(BANDWIDTH, "99989/99991flits/cycle")], &words, &[&[(BANDWIDTH, "1flits/cycle")]]);
    // 10.00001 Gb/s of 30 Gb/s: 1000001 flits in 3000000 cycles
    let words = ["1000001 flits in 3000000 cycles", "such as 0.333flits/cycle"];
    check(&[(BANDWIDTH, "10.00001Gb/s")], &words, &[&[(BANDWIDTH, "0.333flits/cycle")]]);
}

/// Prices of these states.
fn prices(states: &[&str]) -> String {
    let each = states.iter().map(|state| format!("{state}: {{static: 1W, per_bit: 1pJ/bit}}"));
    format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
}

#[test]
fn a_mode_without_a_price_is_refused() {
    let ladder =
        [("routing", "dimension_order"), ("power.policy", "{rate_ladder: {epoch: 1000cycles, transition: 100cycles}}")];
    let (few, all) = (prices(&["on", "waking", "half"]), prices(&["on", "waking", "half", "quarter"]));
    let words =
        ["power.prices", "`rate_ladder` can put a link in the state `quarter`, which has no price", "add `quarter"];
    check(
        &[&ladder[..], &[("power.prices", &few)]].concat(),
        &words,
        &[&[("power.prices", &all)], &[("power.prices", "null")]],
    );
    let idle = "{idle_timeout: {idle: 40cycles, transition: 25cycles, to: half}}";
    let on = prices(&["on", "waking"]);
    check(
        &[("routing", "dimension_order"), ("power.policy", idle), ("power.class_prices.dim0", &on)],
        &["power.class_prices.dim0", "`dim0` link has no price in the state `half`", "`idle_timeout` puts it in it"],
        &[&[("power.class_prices.dim0", &all)]],
    );
}

#[test]
fn thresholds_and_times_of_the_ladder_without_sense_are_refused() {
    let with = |keys: &str| format!("{{rate_ladder: {{epoch: 1000cycles, transition: 100cycles{keys}}}}}");
    let (wrong, right) = (with(", up: 0.3, down: 0.5"), with(", up: 0.5, down: 0.3"));
    let routing = ("routing", "dimension_order");
    let words = ["power.policy.rate_ladder.down", "0.5 is above up, 0.3"];
    check(&[routing, ("power.policy", &wrong)], &words, &[&[("power.policy", &right)]]);
    let short = "{rate_ladder: {epoch: 100cycles, transition: 100cycles}}";
    let words = ["power.policy.rate_ladder.epoch", "a change alone takes 100 cycles"];
    check(&[routing, ("power.policy", short)], &words, &[&[("power.policy", &right)]]);
}

#[test]
fn groups_without_channels_are_refused() {
    let group = |by: &'static str| [("power.groups", by)];
    check(
        &group("{by: cabinet, cabinets: {A: []}}"),
        &["`A` has no routers, so it has no channels"],
        &[&group("{by: cabinet, cabinets: {A: [[0, 15]]}}")],
    );
    check(
        &group("{by: cabinet, routers_per_cabinet: 0}"),
        &["0 routers has no channels", "write 1 to 16"],
        &[&group("{by: cabinet, routers_per_cabinet: 16}")],
    );
    let single = [("topology", "{single_router: {terminals: 4}}"), ("routing", "dimension_order")];
    let bad = [&single[..], &group("{by: trunk}")].concat();
    check(&bad, &["no link between two routers", "so there is no trunk"], &[&group("{by: router}")]);
}
