//! Tests the load that a HyperX accepts if packets choose their hops in transit.

use crate::common::in_turn;
use weft_engine::power::LinkState;
use weft_engine::routing::RoutingConfig;
use weft_engine::spec::Execution;
use weft_engine::{Outcome, Spec};

const SQUARE: &str = r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}"#;

/// Runs packets of 4 flits on a square of 16 routers with 4 terminals each.
fn run(routing: &str, pattern: &str, load: f64) -> Outcome {
    let routing: RoutingConfig = serde_json::from_str(routing).unwrap();
    let mut spec = Spec::new(&serde_json::from_str(SQUARE).unwrap(), routing).unwrap();
    spec.set_pattern(&serde_json::from_str(pattern).unwrap()).unwrap();
    for link in &mut spec.links {
        (link.latency, link.credit_latency, link.vcs, link.buffer) = (4, 4, 4, 32);
    }
    spec.set_packet(4);
    spec.router.speedup = 2;
    spec.set_load(load);
    (spec.phases.warmup, spec.phases.window) = (1500, 3000);
    weft_engine::run(&spec, Execution::new(1, 1), &()).unwrap()
}

/// Under policies that switch the links within a line, packets use only links that are on. The hub of each line is their escape.
#[test]
fn packets_arrive_while_policies_of_subnetworks_keep_links_off() {
    for policy in ["tcep", "static", "fewest_links"] {
        let mut spec = under(policy, "{}");
        spec.set_load(0.05);
        let out = weft_engine::run_to_rest(&spec, Execution::new(1, 2), 20_000, 20_000).expect(policy);
        assert!(out.sums.packets > 50_000, "{policy}: {}", out.sums.packets);
        let off: u64 = out.channels.iter().map(|channel| channel.cycles[LinkState::Off]).sum();
        assert!(off > 0, "{policy}: no link was off");
    }
}

/// A spec of the default network under policy `policy`, with its parameters.
fn under(policy: &str, parameters: &str) -> Spec {
    let routing = serde_json::from_str(&format!(r#"{{"hyperx_ofar": {parameters}}}"#)).unwrap();
    let mut spec = Spec::new(&serde_json::from_str(SQUARE).unwrap(), routing).unwrap();
    spec.policy = serde_json::from_str(&format!(r#"{{"{policy}": {{}}}}"#)).unwrap();
    spec
}

/// Packets that injection control holds at their sources must leave after the network has become empty.
#[test]
fn all_packets_of_a_burst_arrive_under_each_control_of_injection() {
    let injections = [r#"{"bubble": {"packets": 1}}"#, r#"{"escape_occupancy": {"most": 0.25}}"#, r#"{"free": {}}"#];
    for (case, injection) in injections.into_iter().enumerate() {
        for policy in in_turn(case, &["tcep", "static"]) {
            let mut spec = under(policy, &format!(r#"{{"injection": {injection}}}"#));
            spec.set_load(0.6);
            let out = weft_engine::run_to_rest(&spec, Execution::new(1, 1), 1000, 50_000);
            out.unwrap_or_else(|refusal| panic!("{policy}, {injection}: {refusal}"));
        }
    }
}

fn accepted(out: &Outcome) -> f64 {
    out.accepted_flits as f64 / (out.window * u64::from(out.terminals)) as f64
}

#[test]
fn detours_carry_more_than_minimal_paths_under_bit_complement() {
    // the 4 terminals of a router share one minimal link in each dimension, which gives 1/4
    let minimal = accepted(&run(r#"{"minimal": {}}"#, r#"{"bit_complement": {}}"#, 0.9));
    assert!(minimal <= 0.25 * 1.005, "{minimal}");
    for trigger in ["granted", "unavailable"] {
        let routing = format!(r#"{{"hyperx_ofar": {{"trigger": "{trigger}"}}}}"#);
        let got = accepted(&run(&routing, r#"{"bit_complement": {}}"#, 0.9));
        assert!(got > 1.3 * 0.25, "{trigger}: {got}");
    }
}

#[test]
fn uniform_traffic_is_carried_as_by_minimal_paths() {
    let of = |routing: &str, load: f64| accepted(&run(routing, r#"{"uniform": {}}"#, load));
    for load in [0.5, 0.9] {
        let (minimal, got) = (of(r#"{"minimal": {}}"#, load), of(r#"{"hyperx_ofar": {}}"#, load));
        assert!(got > 0.97 * minimal, "{load}: {got}, minimal {minimal}");
    }
}
