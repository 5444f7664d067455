//! Links and routers that fail: what a scenario says of them, and what is refused.

use weft_engine::spec::{Fault, Part};
use weft_scenario::expand;

const GOOD: &str = "\
cycle: 2ns
topology:
  hyperx: {widths: [3, 4], terminals_per_router: 1}
routing: pal
power: {policy: tcep}
traffic: {pattern: uniform, load: 0.1}
faults:
  - {link: [1, 4], at: 10us, until: 30us}
  - {link: [0, 2], at: 500cycles}
  - {router: 5, at: 1us, until: 2us}
";

fn refused(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from} is not in the scenario");
    expand("faults.yaml", &GOOD.replacen(from, to, 1), &[]).expect_err("the scenario is bad").text
}

#[test]
fn times_become_cycles() {
    let points = expand("faults.yaml", GOOD, &[]).expect("good");
    let spec = points[0].scenario.spec().expect("good");
    let fault = |what, at, until| Fault { what, at, until };
    let faults = [
        fault(Part::Link([1, 4]), 5000, Some(15_000)),
        fault(Part::Link([0, 2]), 500, None),
        fault(Part::Router(5), 500, Some(1000)),
    ];
    assert_eq!(spec.faults, faults);
}

#[test]
fn faults_need_a_network_that_goes_round_them() {
    let text = refused("{policy: tcep}", "{policy: always_on}");
    assert!(
        text.contains("faults: under always_on and pal nothing finds a way round a link or router that fails"),
        "{text}"
    );
    let text = refused("{policy: tcep}", "{policy: {tcep: {rotate_hub: 2}}}");
    assert!(text.contains("rotate_hub: 2, but faults move hubs themselves"), "{text}");
}

#[test]
fn what_fails_is_a_managed_link() {
    for (link, what) in [
        ("[1, 5]", "faults.0.link: there is no link between routers 1 and 5 that the policy manages"),
        ("[1, 1]", "faults.0.link: there is no link between routers 1 and 1"),
        ("[1, 12]", "faults.0.link: there is no router 12, the network has 12"),
    ] {
        let text = refused("[1, 4]", link);
        assert!(text.contains(what) && text.contains("faults.yaml:8:"), "{text}");
    }
    let text = refused("link: [1, 4]", "switch: 1");
    assert!(text.contains("faults.0.switch: unknown key `switch`"), "{text}");
    let text = refused("link: [1, 4], ", "");
    assert!(text.contains("faults.0: neither a link nor a router"), "{text}");
    let text = refused("link: [1, 4], ", "link: [1, 4], router: 1, ");
    assert!(text.contains("faults.0: both a link and a router"), "{text}");
    let text = refused("power: {policy: tcep}", "power: {policy: tcep, manages: dim0}");
    assert!(text.contains("no link between routers 1 and 4 that the policy manages"), "{text}");
}

#[test]
fn times_of_a_link_follow_each_other() {
    let text = refused("at: 10us", "at: 0ns");
    assert!(text.contains("faults.0.at: cycle 0"), "{text}");
    let text = refused("router: 5, at: 1us", "router: 5, at: 3us");
    assert!(text.contains("faults.2.until: cycle 1000, but router 5 fails in cycle 1500"), "{text}");
    let text = refused("until: 2us}", "until: 2us}\n  - {router: 5, at: 2us}");
    assert!(text.contains("faults.3: router 5 is broken then already by faults.2"), "{text}");
    let text = refused("until: 30us", "until: 10us");
    assert!(
        text.contains("faults.0.until: cycle 5000, but the link between routers 1 and 4 fails in cycle 5000"),
        "{text}"
    );
    let text = refused("[0, 2], at: 500cycles", "[4, 1], at: 29us");
    assert!(text.contains("faults.1: the link between routers 4 and 1 is broken then already by faults.0"), "{text}");
}

#[test]
fn a_router_fails_where_its_neighbours_see_it_and_nobody_waits_for_what_is_lost() {
    let text = refused("router: 5", "router: 12");
    assert!(text.contains("faults.2.router: there is no router 12, the network has 12"), "{text}");
    // only the links along dimension 1 are managed, and its fault is left
    let only = GOOD.replace("  - {link: [0, 2], at: 500cycles}\n", "");
    let text = expand("faults.yaml", &only.replace("{policy: tcep}", "{policy: tcep, manages: dim1}"), &[]);
    let text = text.expect_err("dim0 fails, too").text;
    assert!(text.contains("its dim0 links fail with it, but the policy does not manage them"), "{text}");
    let text = refused(
        "traffic: {pattern: uniform, load: 0.1}",
        "traffic: {jobs: [{name: a, terminals: {range: [0, 11]}, pattern: uniform, load: 0.1, reply: {packet: 1flit}}]}",
    );
    assert!(text.contains("packets are lost with it, and job a would wait for their replies"), "{text}");
}

#[test]
fn a_link_does_not_fail_with_a_router_that_is_dead() {
    for (at, refused_too) in [("999ns", false), ("1us", true), ("2us", true), ("2002ns", false)] {
        let from = "until: 2us}\n";
        let text = GOOD.replacen(from, &format!("until: 2us}}\n  - {{link: [5, 4], at: {at}, until: 5us}}\n"), 1);
        let result = expand("faults.yaml", &text.replace("cycle: 2ns", "cycle: 1ns"), &[]);
        assert_eq!(result.is_err(), refused_too, "{at}");
        if let Err(refusal) = result {
            let what = "faults.3: the link between routers 5 and 4 is broken then already by faults.2, as router 5";
            assert!(refusal.text.contains(what), "{}", refusal.text);
        }
    }
}

#[test]
fn some_router_stays() {
    let all: String = (0..12).map(|router| format!("  - {{router: {router}, at: 1us}}\n")).collect();
    let begin = GOOD.find("  - {link").expect("faults");
    let text = expand("faults.yaml", &format!("{}{all}", &GOOD[..begin]), &[]).expect_err("nobody is left").text;
    assert!(text.contains("every router fails for ever"), "{text}");
}

#[test]
fn every_pair_keeps_a_way_for_ever() {
    // of routers 0, 1 and 2 in a row only one is between the other two
    let text = refused("{link: [1, 4], at: 10us, until: 30us}", "{link: [1, 2], at: 10us}");
    assert!(text.contains("no other router keeps links to both routers 1 and 2 for ever"), "{text}");
}
