//! Helpers for tests of errors: a good scenario, and the error after an edit that makes the scenario bad.

use weft_scenario::expand;

pub const GOOD: &str = "\
name: bad
cycle: 1.6ns
flit: 48b
topology:
  hyperx: {widths: [4, 4], terminals_per_router: 2}
links:
  default: {latency: 10cycles, vcs: 4, buffer: 32flits}
routing: ugal_p
traffic:
  pattern: uniform
  load: 0.3
";

/// The error for the scenario `GOOD` after these edits, and with `--set` arguments. The text that an edit
/// replaces must be in the scenario.
pub fn refused(edits: &[(&str, &str)], sets: &[(&str, &str)]) -> String {
    let mut text = GOOD.to_owned();
    for (from, to) in edits {
        assert!(text.contains(from), "{from} is not in the scenario");
        text = text.replacen(from, to, 1);
    }
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    expand("bad.yaml", &text, &sets).expect_err("the scenario is bad").text
}

pub fn refused_file(text: &str) -> String {
    expand("bad.yaml", text, &[]).expect_err("the scenario is bad").text
}

/// The error for this file with `--set` arguments.
pub fn refused_in(name: &str, text: &str, sets: &[(&str, &str)]) -> String {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    expand(name, text, &sets).expect_err("the scenario is bad").text
}
