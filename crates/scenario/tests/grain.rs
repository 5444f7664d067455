//! Tests of coarse flits (`grain`): times, buffers and packets are converted, and the energy stays the same. The remedies in messages
//! work.

use crate::refusal::refused_in;
use weft_engine::Spec;
use weft_engine::spec::Execution;
use weft_scenario::{Point, expand};

/// A flit of 64 B takes 1 ns. A packet, and a grain, of 4 KiB has 64 such flits. A link and the router before it take 30 + 2 ns together.
const TORUS: &str = "
link_speed: 512Gb/s
flit: 64B
topology: {torus: {widths: [4, 4], terminals_per_router: 1}}
links:
  default: {latency: 160ns, vcs: 4, buffer: 1000flits}
  terminal: {latency: 63ns}
router: {delay: 2ns, ejection_delay: 1ns}
routing: dimension_order
traffic: {pattern: uniform, packet: 64flits, load: 0.2}
power: {policy: {idle_timeout: {idle: 500ns, transition: 100cycles}}, manages: [dim0, dim1]}
measure: {warmup: 19200ns, window: 192us}
seed: 3
";

fn point(sets: &[(&str, &str)]) -> Point {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    expand("torus.yaml", TORUS, &sets).unwrap_or_else(|error| panic!("{error}")).remove(0)
}

fn spec(sets: &[(&str, &str)]) -> Spec {
    point(sets).spec().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn times_become_whole_cycles_of_the_grain_and_buffers_whole_grains() {
    let spec = spec(&[("grain", "4KiB")]);
    assert_eq!(spec.cycle_fs, 64_000_000);
    // a coarse cycle is 64 ns. Links between routers need (160 + 2) / 64 = 2.5 coarse cycles, rounded to 3. Terminal links need (63 + 1) /
    // 64 = 1
    let latencies: Vec<_> = spec.links.iter().map(|link| (link.latency, link.credit_latency)).collect();
    assert_eq!(latencies, [(1, 1), (3, 3), (3, 3)]);
    assert_eq!(spec.links[1].buffer, 15, "1,000 flits hold 15 grains of 64");
    // the last flit of a grain arrives 63 ns after the first flit, so ejection takes (1 + 63) / 64 cycles
    assert_eq!((spec.router.delay, spec.router.credit_delay, spec.router.ejection_delay), (0, 0, 1));
    assert_eq!((spec.phases.warmup, spec.phases.window), (300, 3000));
    let policy = format!("{:?}", spec.policy);
    assert!(policy.contains("512000000") && policy.contains("128000000"), "500 ns -> 8, 100 ns -> 2 cycles: {policy}");
}

/// The saved scenario and its hash have the units that the user wrote.
#[test]
fn the_scenario_is_kept_as_it_was_written() {
    let (fine, coarse) = (point(&[]), point(&[("grain", "4KiB")]));
    assert_ne!(fine.hash, coarse.hash);
    assert_eq!((&coarse.resolved["grain"], &coarse.resolved["cycle"]), (&"32768b".into(), &"1ns".into()));
    let again = expand("again.yaml", &coarse.resolved_yaml(), &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((&again[0].hash, again[0].spec().unwrap().cycle_fs), (&coarse.hash, 64_000_000));
}

/// Each packet crosses the same number of links as in the run with fine flits. Latencies differ because the times of hops are rounded, and
/// energy differs by random variation.
#[test]
fn latency_and_energy_are_those_of_the_fine_flits_but_for_rounding() {
    let run = |grain: &[(&str, &str)]| {
        let always_on = [("power.policy", "always_on"), ("traffic.load", "0.02")];
        let point = point(&[&always_on, grain].concat());
        let summary = point.run(Execution::new(1, 1), &()).unwrap_or_else(|error| panic!("{error}")).summary;
        let number = |key: &str| summary[key].as_f64().unwrap_or_else(|| panic!("{key}"));
        let ns = number("packet_latency_min_cycles") * number("cycle_seconds") * 1e9;
        (ns, number("energy_per_bit_pj"), number("accepted_load"))
    };
    let (fine, coarse) = (run(&[]), run(&[("grain", "4KiB")]));
    // mean latencies in ns, rounded. With fine flits, 2 terminal links take 2 * 63, 2 routers 2 * 2, a link 160, ejection 1, and the other
    // 63 flits 63. The sum is 354 ns. With coarse flits these are 1 + 3 + 1 + 1 coarse cycles, or 384 ns
    assert_eq!((fine.0.round(), coarse.0.round()), (354.0, 384.0));
    // links are always on, so both runs have the same power, and the energy per bit depends only on the delivered bits per time
    let power = |(_, energy, accepted): (f64, f64, f64)| energy * accepted;
    assert!((power(coarse) / power(fine) - 1.0).abs() < 0.01, "{fine:?} {coarse:?}");
}

#[test]
fn what_it_changes_is_said() {
    let warnings = point(&[("grain", "4KiB")]).warnings;
    let warning = warnings.iter().find(|warning| warning.code.name == "coarse_grain").expect("a warning");
    assert!(
        warning.what.contains("`dim0` links and the router before them 160ns + 2ns -> 3 cycles (192ns)"),
        "{warning:?}"
    );
    assert_eq!(warning.numbers["cycle_fs"], 64e6);
}

#[test]
fn a_grain_that_does_not_fit_is_refused_with_a_remedy_that_works() {
    type Sets<'a> = &'a [(&'a str, &'a str)];
    let cases: [(Sets, &str, Sets); 4] = [
        (&[("grain", "1000B")], "a grain of 1KB is not a whole number of flits of 64B", &[("grain", "960B")]),
        (
            &[("grain", "3KiB")],
            "packets of 64flits (4KiB) are not a whole number of grains of 3KiB",
            &[("grain", "1KiB")],
        ),
        (
            &[("grain", "4KiB"), ("router.flow_control", "wormhole"), ("links.default.buffer", "60flits")],
            "a buffer of 60flits (3840B) has no room for a grain of 4KiB",
            &[("grain", "4KiB"), ("router.flow_control", "wormhole"), ("links.default.buffer", "64flits")],
        ),
        (&[("grain", "32B")], "a grain of 32B is not a whole number of flits of 64B", &[("grain", "64B")]),
    ];
    for (bad, what, remedy) in cases {
        let said = refused_in("torus.yaml", TORUS, bad);
        assert!(said.contains(what), "{said}");
        let (key, value) = remedy[remedy.len() - 1];
        assert!(said.contains(value), "{key}: {said}");
        let lengths: Sets = if value == "960B" { &[("traffic.packet", "60flits")] } else { &[] };
        spec(&[remedy, lengths].concat());
    }
}
