//! The conformance suites of patterns and of injection processes: they check the laws of `weft_traffic::laws`. The suite of patterns also
//! sends packets of the pattern through a network.

use super::members::as_written;
use super::routing::check_drains;
use super::spec;
use weft_traffic::injection::InjectionConfig;
use weft_traffic::laws::{check_process, population};
use weft_traffic::pattern::PatternConfig;
use weft_traffic::{laws, stream};

/// A network of 16 routers with 4 terminals each, as in [`population`].
const GRID: &str = r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}"#;

/// Runs the conformance suite on one pattern.
///
/// # Panics
/// Panics if the pattern does not conform; the message names the fault.
pub fn check_pattern(config: &PatternConfig) {
    let what = as_written(config);
    let build = || config.build(&population(), "traffic.pattern").unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
    let (pattern, again) = (build(), build());
    assert_eq!(pattern.name(), config.name(), "{what}");
    laws::check_pattern(&pattern, config);
    let (mut one, mut other) = (stream(1, 2, 3), stream(1, 2, 3));
    for source in 0..population().terminals {
        let drawn = [pattern.destination(source, &mut one), again.destination(source, &mut other)];
        assert_eq!(drawn[0], drawn[1], "{what}: the same random stream gives different destinations");
    }
    let mut spec = spec(GRID, r#"{"dimension_order": {}}"#);
    spec.set_load(0.2);
    if let Err(refusal) = spec.set_pattern(config) {
        // some patterns need groups: the population has groups, but this network has none
        assert!(refusal.path.starts_with("traffic.pattern"), "{what}: {refusal}");
        return;
    }
    check_drains(&spec, 500, &what);
}

/// Runs the conformance suite on one injection process.
///
/// # Panics
/// Panics if the process does not conform; the message names the fault.
pub fn check_injection(config: &InjectionConfig) {
    let process = config.build(0.25, 1.0, 1_000_000, "traffic.injection");
    let process = process.unwrap_or_else(|refusal| panic!("{}: {refusal}", as_written(config)));
    check_process(&process, config);
}
