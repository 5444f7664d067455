//! SLaC where it can't run: what a user sees.

mod refusal;
use refusal::*;

/// The good scenario under the policy, with these parameters.
fn slac(parameters: &str) -> Vec<(&'static str, String)> {
    vec![("routing: ugal_p", format!("routing: slac\npower:\n  policy: {{slac: {parameters}}}"))]
}

fn refused_with(edits: &[(&'static str, String)]) -> String {
    let edits: Vec<(&str, &str)> = edits.iter().map(|(from, to)| (*from, to.as_str())).collect();
    refused(&edits, &[])
}

#[test]
fn a_high_threshold_below_the_low_one() {
    insta::assert_snapshot!(refused_with(&slac("{low: 0.8}")), @r"");
}

#[test]
fn a_threshold_that_is_no_share() {
    insta::assert_snapshot!(refused_with(&slac("{high: 75}")), @r"");
}

#[test]
fn a_warm_up_that_is_no_whole_number_of_cycles() {
    insta::assert_snapshot!(refused_with(&slac("{wake_per_link: 1us}")), @r"");
}

#[test]
fn the_policy_on_three_dimensions() {
    let mut edits = slac("{}");
    edits.push(("widths: [4, 4]", "widths: [4, 4, 2]".to_owned()));
    insta::assert_snapshot!(refused_with(&edits), @r"");
}

#[test]
fn the_policy_beside_a_routing_that_is_blind_to_it() {
    let edits = [("routing: ugal_p", "routing: ugal_p\npower: {policy: slac}".to_owned())];
    insta::assert_snapshot!(refused_with(&edits), @r"");
}

#[test]
fn the_routing_beside_another_policy() {
    let policy = "routing: slac\npower: {policy: {idle_timeout: {idle: 10cycles, transition: 5cycles}}}";
    insta::assert_snapshot!(refused_with(&[("routing: ugal_p", policy.to_owned())]), @r"");
}

#[test]
fn only_one_dimension_managed() {
    let edits = [("routing: ugal_p", "routing: slac\npower: {policy: slac, manages: [dim0]}".to_owned())];
    insta::assert_snapshot!(refused_with(&edits), @r"");
}
