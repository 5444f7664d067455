//! Bad input about speeds and modes: each causes one error at its place, with the arithmetic, and with a remedy that works.

use crate::refusal::GOOD;
use weft_scenario::expand;

type Sets<'a> = &'a [(&'a str, &'a str)];

/// The error of `weft check` for the scenario `GOOD` with these settings; `None` if there is no error.
fn said(sets: Sets) -> Option<String> {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    match expand("bad.yaml", GOOD, &sets) {
        Ok(points) => points[0].check_network().err().map(|diagnostic| diagnostic.text),
        Err(diagnostic) => Some(diagnostic.text),
    }
}

/// Checks that these settings are refused with these words, and that each remedy makes the scenario acceptable.
#[track_caller]
fn check(bad: Sets, words: &[&str], remedies: &[Sets]) {
    let message = said(bad).expect("refused");
    words.iter().for_each(|part| assert!(message.contains(part), "{part} is not in:\n{message}"));
    assert_eq!(message.matches("error").count(), 1, "{message}");
    for remedy in remedies {
        assert_eq!(said(&[bad, remedy].concat()), None, "{remedy:?}");
    }
}

const BANDWIDTH: &str = "links.default.bandwidth";
/// Path of the bandwidth of links in dimension 0; the key does not change links of terminals.
const DIM0: &str = "links.dim0.bandwidth";

#[test]
fn a_rate_of_nothing_is_refused() {
    for nothing in ["0flits/cycle", "0/5flits/cycle", "0Gb/s"] {
        let words = ["links.default.bandwidth", "0 flits per cycle", "never carry a flit", "0.5flits/cycle"];
        check(&[(BANDWIDTH, nothing)], &words, &[&[(BANDWIDTH, "0.5flits/cycle")]]);
    }
}

#[test]
fn a_rate_above_what_feeds_the_link_is_refused() {
    // the crossbar gives an output up to `speedup` flits per cycle; 90 Gb/s are 3 flits of 48 bits in a cycle of 1.6 ns
    let words =
        ["3 flits per cycle", "at most 2 flits per cycle to an output (router.speedup)", "router.speedup: 3 or more"];
    for class in ["links.dim0.bandwidth", "links.dim1.bandwidth"] {
        for fast in ["3flits/cycle", "90Gb/s"] {
            check(&[(class, fast)], &words, &[&[(class, "2flits/cycle")], &[("router.speedup", "3")]]);
        }
    }
    // a terminal sends at most one flit per cycle
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
        "longest possible period is 65536 cycles",
        "a simpler rate, such as 1flits/cycle, which is 2.0e-3 % more",
    ];
    check(&[(BANDWIDTH, "99989/99991flits/cycle")], &words, &[&[(BANDWIDTH, "1flits/cycle")]]);
    // one flit per cycle is 30 Gb/s, so 10.00001 Gb/s are 1000001 flits in 3000000 cycles
    let words = ["1000001 flits in 3000000 cycles", "such as 1/3flits/cycle, which is 1.0e-4 % less"];
    check(&[(BANDWIDTH, "10.00001Gb/s")], &words, &[&[(BANDWIDTH, "1/3flits/cycle")]]);
}

/// The rate that a help text proposes, written as in a scenario.
fn proposed(message: &str) -> &str {
    let (_, rest) = message.split_once("such as ").expect("a proposal");
    rest.split([',', '\n']).next().expect("a rate")
}

#[test]
fn a_rounder_rate_is_near_what_was_asked_and_works() {
    // fractions with numerators and denominators just above 2^16, at very different rates
    for (flits, cycles) in
        [(3, 65_537), (7, 458_751), (65_537, 3), (99_989, 99_991), (65_537, 65_539), (200_003, 131_101)]
    {
        let message = said(&[(DIM0, &format!("{flits}/{cycles}flits/cycle"))]).expect("refused");
        let near = proposed(&message);
        let rate: weft_units::Bandwidth = near.parse().unwrap_or_else(|why| panic!("{near}: {why}"));
        let (part, whole) = rate.flits_in_cycles(48, 1_600_000, "x").expect("flits and cycles");
        let error = (part as f64 / whole as f64) / (f64::from(flits) / f64::from(cycles)) - 1.0;
        assert!(error.abs() <= 1e-3, "{near} for {flits}/{cycles}: {error}");
        let now = said(&[(DIM0, near)]);
        // the proposed rate can still be above the speedup of the switch, but the number of cycles in the fraction is no
        // longer refused
        assert!(now.as_ref().is_none_or(|message| flits > cycles && message.contains("router.speedup")), "{now:?}");
    }
}

#[test]
fn a_rate_far_below_all_that_can_be_simulated_has_no_near_one() {
    // one flit per cycle is 30 Gb/s, so 100 kb/s are one flit in 300,000 cycles. This is 4.6 times slower than the limit of
    // one flit in 65,536 cycles
    let words = ["1 flits in 300000 cycles is slower than 1 flit in 65536 cycles", "write 1/65536flits/cycle or more"];
    let slowest: Sets = &[(DIM0, "1/65536flits/cycle")];
    check(&[(DIM0, "100kb/s")], &words, &[slowest, &[("flit", "9b")], &[("cycle", "8ns")]]);
    assert!(!said(&[(DIM0, "100kb/s")]).expect("refused").contains("simpler"));
}

/// A table of prices for these states, as YAML.
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
        ["power.prices", "`rate_ladder` can put a link into the state `quarter`, which has no price", "add `quarter"];
    check(
        &[&ladder[..], &[("power.prices", &few)]].concat(),
        &words,
        &[&[("power.prices", &all)], &[("power.prices", "null")]],
    );
    let idle = "{idle_timeout: {idle: 40cycles, transition: 25cycles, to: half}}";
    let on = prices(&["on", "waking"]);
    check(
        &[("routing", "dimension_order"), ("power.policy", idle), ("power.class_prices.dim0", &on)],
        &[
            "power.class_prices.dim0",
            "`dim0` link has no price in the state `half`",
            "`idle_timeout` puts the link in it",
        ],
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
    let words = ["power.policy.rate_ladder.epoch", "a single change takes 100 cycles"];
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
