//! Tests of trunks whose links sleep: the refusals of a scenario, and remedies that work.

use weft_scenario::expand;

const GOOD: &str = r#"
topology: {torus: {widths: [4, 4], terminals_per_router: 4, trunk_width: 4}}
router: {preset: torus_2019}
routing: minimal_adaptive
traffic: {pattern: uniform, packet: 8flits, load: 0.1}
power: {policy: {trunk: {}}}
"#;

/// The error of `weft check` with these settings; `None` if there is no error.
fn said(sets: &[(&str, &str)]) -> Option<String> {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    match expand("it.yaml", GOOD, &sets) {
        Ok(points) => points[0].check_network().err().map(|diagnostic| diagnostic.text),
        Err(diagnostic) => Some(diagnostic.text),
    }
}

/// Checks that these settings are refused with these words, and that each remedy makes the scenario acceptable.
#[track_caller]
fn check(bad: &[(&str, &str)], words: &[&str], remedies: &[&[(&str, &str)]]) {
    let message = said(bad).expect("refused");
    words.iter().for_each(|part| assert!(message.contains(part), "{part} is not in:\n{message}"));
    assert_eq!(message.matches("error").count(), 1, "{message}");
    for remedy in remedies {
        assert_eq!(said(&[bad, remedy].concat()), None, "{remedy:?}");
    }
}

#[test]
fn thresholds_and_times_are_checked_when_the_scenario_is_read() {
    assert_eq!(said(&[]), None);
    let u_off = "power.policy.trunk.u_off";
    check(
        &[(u_off, "0.3")],
        &[u_off, "0.3 is not below u_on / 2 = 0.5 / 2 = 0.25", "write u_off below 0.25, such as 0.2"],
        &[&[(u_off, "0.2")]],
    );
    let step = ("power.policy.trunk.step", "2");
    check(
        &[step],
        &["u_on / 3 = 0.5 / 3 = 0.1667", "such as 0.1333, or a smaller step"],
        &[&[(u_off, "0.1333")], &[("power.policy.trunk.step", "1")]],
    );
    let window = "power.policy.trunk.window";
    let slow = ("power.policy.trunk.ethernet", "1000BASE-T");
    check(
        &[slow, (window, "8us")],
        &[window, "8us is shorter than a change of a link: sleep is 182us", "write window: 182us or more"],
        &[&[(window, "182us")], &[(window, "null")]],
    );
    check(&[("power.policy.trunk.ethernet", "1GBASE-T")], &["100BASE-TX", "1000BASE-T", "10GBASE-T"], &[&[slow]]);
}

#[test]
fn links_without_trunks_are_refused() {
    let width = "topology.torus.trunk_width";
    check(
        &[(width, "1")],
        &["power.manages", "dim0, dim1: trunks of one member", "trunk_width: 2", "always_on"],
        &[&[(width, "2")], &[("power.policy", "always_on")]],
    );
    let some = (width, "{dim0: 4}");
    check(&[some], &["dim1: trunks of one member", "write manages: [dim0]"], &[&[("power.manages", "[dim0]")]]);
    check(
        &[("power.manages", "[all, terminal]")],
        &["under trunk packets avoid links that are off"],
        &[&[("power.manages", "[all]")]],
    );
}

#[test]
fn a_member_that_fails_is_one_of_a_trunk() {
    let fault = |keys: &str| format!("[{{{keys}, at: 1us}}]");
    assert_eq!(said(&[("faults", &fault("link: [0, 1], member: 1"))]), None);
    assert_eq!(said(&[("faults", &fault("link: [0, 1]"))]), None);
    check(
        &[("faults", &fault("link: [0, 1], member: 9"))],
        &["parallel links connect routers 0 and 1", "write member: "],
        &[&[("faults", &fault("link: [0, 1], member: 0"))]],
    );
    check(
        &[("faults", &fault("router: 0, member: 1"))],
        &["a router fails together with all its links", "leave member out, or write link: [0, 1]"],
        &[&[("faults", &fault("router: 0"))], &[("faults", &fault("link: [0, 1], member: 1"))]],
    );
}

/// If a link of a trunk fails, no packet is lost, so a program can continue.
#[test]
fn members_fail_while_programs_run() {
    let ring = "{programs: {program: {collective: {operation: all_reduce, ranks: 64, bytes: 1KiB}}}}";
    let program = [("traffic.workload", ring), ("traffic.pattern", "null"), ("traffic.load", "null")];
    let failing = |faults| [&program[..], &[("faults", faults)]].concat();
    assert_eq!(said(&failing("[{link: [0, 1], member: 0, at: 1us, until: 2us}]")), None);
    check(
        &failing("[{link: [0, 1], at: 1us, until: 2us}]"),
        &["this fault loses packets, and job", "write member: 0"],
        &[&[("faults", "[{link: [0, 1], member: 0, at: 1us, until: 2us}]")], &[("faults", "null")]],
    );
}

#[test]
fn a_width_needs_modes_and_thresholds_that_rest() {
    let width = ("power.policy", "{width: {}}");
    assert_eq!(said(&[width]), None);
    let third = ("power.modes", "[{name: third, rate: 1/3}]");
    let prices = "{on: {static: 3W, per_bit: 0pJ/bit}, third: {static: 1W, per_bit: 0pJ/bit}}";
    let price = ("power.prices", prices);
    check(
        &[width, third, price],
        &["0.2 is not below u_on / 3 = 0.5 / 3 = 0.1667", "such as 0.1333"],
        &[&[("power.policy", "{width: {u_off: 0.1333}}")]],
    );
}
