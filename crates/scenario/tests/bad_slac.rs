//! Errors about the power policy SLaC in networks and scenarios on which it cannot work.

use crate::refusal::GOOD;
use weft_scenario::expand;

/// The error for the good scenario with this routing, this policy and these widths of the network.
fn refused_on(widths: &str, routing: &str, power: &str) -> String {
    let text = GOOD
        .replace("widths: [4, 4]", widths)
        .replace("routing: ugal_p", &format!("routing: {routing}\npower: {power}"));
    match expand("bad.yaml", &text, &[]) {
        Err(diagnostic) => diagnostic.text,
        Ok(points) => points[0].check_network().expect_err("the scenario is bad").text,
    }
}

fn refused_with(routing: &str, power: &str) -> String {
    refused_on("widths: [4, 4]", routing, power)
}

#[track_caller]
fn check(error: &str, parts: &[&str]) {
    for part in parts {
        assert!(error.contains(part), "{part} is not in:\n{error}");
    }
}

#[test]
fn parameters_without_sense_are_named_with_the_remedy() {
    let with = |parameters: &str| refused_with("slac", &format!("{{policy: {{slac: {parameters}}}}}"));
    check(&with("{low: 0.8}"), &["power.policy.slac.high", "0.75 is not above low, 0.8", "write more than 0.8"]);
    check(&with("{high: 75}"), &["power.policy.slac.high", "75 is not a share", "at most 1"]);
    // 1ns is 0.625 cycles, because a cycle is 1.6 ns
    check(&with("{wake_per_link: 1ns}"), &["power.policy.slac.wake_per_link", "0.625 cycles", "write 1.6ns"]);
    check(&with("{averaging: 0cycles}"), &["power.policy.slac.averaging", "write at least 1 cycle"]);
}

#[test]
fn the_policy_needs_two_dimensions_all_their_links_and_its_routing() {
    let cube = refused_on("widths: [4, 4, 2]", "ugal_p", "{policy: slac}");
    check(&cube, &["power.policy.slac", "this is a grid of 3 dimensions", "choose another policy"]);
    let blind = refused_with("ugal_p", "{policy: slac}");
    check(&blind, &["power.policy.slac", "ugal_p does not read link states", "set routing: slac"]);
    let partly = refused_with("slac", "{policy: slac, manages: [dim0]}");
    check(&partly, &["power.manages", "leaves out dim1", "leave manages out"]);
}

#[test]
fn the_routing_goes_with_its_policy_or_none() {
    let sleepy = refused_with("slac", "{policy: {idle_timeout: {idle: 10cycles, transition: 5cycles}}}");
    check(&sleepy, &["routing.slac", "idle_timeout switches links in another way", "slac or always_on"]);
}
