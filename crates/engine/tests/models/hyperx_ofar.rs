//! What packets reach that choose in transit on a HyperX.

use weft_engine::routing::RoutingConfig;
use weft_engine::spec::Execution;
use weft_engine::{Outcome, Spec};

const SQUARE: &str = r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}"#;

/// Packets of 4 flits on the square of 16 routers with 4 terminals each.
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
    (spec.phases.warmup, spec.phases.window) = (2000, 6000);
    weft_engine::run(&spec, Execution::new(1, 1), &()).unwrap()
}

/// No policy of subnetworks knows the ring. The refusal says so, and the routings and policies that it names can run.
#[test]
fn policies_of_subnetworks_are_refused_because_of_the_ring_with_remedies_that_work() {
    let read = |routing: &str| serde_json::from_str::<RoutingConfig>(&format!(r#"{{"{routing}": {{}}}}"#)).unwrap();
    for policy in ["tcep", "static", "fewest_links"] {
        let mut spec = Spec::new(&serde_json::from_str(SQUARE).unwrap(), read("hyperx_ofar")).unwrap();
        spec.policy = serde_json::from_str(&format!(r#"{{"{policy}": {{}}}}"#)).unwrap();
        let refusal = weft_engine::check(&spec).expect_err(policy);
        assert_eq!(refusal.path, format!("power.policy.{policy}"));
        assert!(refusal.what.contains("because its escape ring uses links of all dimensions"), "{refusal}");
        let mut named = 0;
        for &name in RoutingConfig::NAMES {
            let instead = serde_json::from_str::<RoutingConfig>(&format!(r#"{{"{name}": {{}}}}"#));
            let words = refusal.help.split(|c: char| !c.is_alphanumeric() && c != '_');
            if let (Ok(routing), true) = (instead, words.into_iter().any(|word| word == name)) {
                weft_engine::check(&Spec { routing, ..spec.clone() }).unwrap_or_else(|other| panic!("{name}: {other}"));
                named += 1;
            }
        }
        assert!(named > 1, "{refusal}");
        assert!(refusal.help.contains("always_on"), "{refusal}");
        spec.policy = Default::default();
        weft_engine::check(&spec).expect("always_on");
    }
}

fn accepted(out: &Outcome) -> f64 {
    out.accepted_flits as f64 / (out.window * u64::from(out.terminals)) as f64
}

#[test]
fn detours_carry_more_than_minimal_paths_under_bit_complement() {
    // the 4 terminals of a router share one minimal link in each dimension: 1/4
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
