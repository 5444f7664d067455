//! Runs the conformance suite of its family on every registered member, as a separate test for each:
//! `cargo test -p weft-conformance --test members omniwar`. The environment variable WEFT_TEST_ONLY=NAME restricts the networks to those of
//! one routing, topology or power policy (`members::is_tested`).

use libtest_mimic::{Arguments, Trial};
use weft_api::recording::Asked;
use weft_conformance::members::{PAIRS, POLICIES, Pair, PolicyExample, all_are_tested, is_tested};
use weft_conformance::{allocator, congestion, policy, queueing, recording, routing, workload};
use weft_engine::allocation::AllocatorConfig;
use weft_engine::congestion::CongestionConfig;
use weft_engine::power::PolicyConfig;
use weft_engine::queueing::QueueingConfig;
use weft_engine::recording::RecordingConfig;
use weft_engine::routing::RoutingConfig;
use weft_engine::workload::WorkloadConfig;

fn main() {
    let mut trials = vec![test("every_topology_runs".into(), every_topology_runs)];
    trials.extend(of_each("routing", RoutingConfig::NAMES, of_routing));
    trials.extend(of_each("policy", PolicyConfig::NAMES, of_policy));
    if all_are_tested() {
        trials.extend(of_each("allocator", AllocatorConfig::NAMES, of_allocator));
        trials.extend(of_each("queueing", QueueingConfig::NAMES, of_queueing));
        trials.extend(of_each("congestion_control", CongestionConfig::NAMES, of_congestion));
        trials.extend(of_each("workload", WorkloadConfig::NAMES, of_workload));
        trials.extend(of_each("recording", RecordingConfig::NAMES, of_recording));
        trials.push(test("recordings_together".into(), recordings_together));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Makes one test for each of these members of a family.
fn of_each(family: &str, names: &[&'static str], run: fn(&str)) -> Vec<Trial> {
    names.iter().map(move |&name| test(format!("{family}::{name}"), move || run(name))).collect()
}

fn test(name: String, run: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        run();
        Ok(())
    })
}

fn every_topology_runs() {
    for name in weft_topology::TopologyConfig::NAMES.iter().filter(|name| is_tested(&[name])) {
        assert!(
            PAIRS.iter().any(|pair| pair.topology.name() == *name),
            "{name} runs in no test: it has no small network"
        );
    }
}

fn of_routing(name: &str) {
    let examples = RoutingConfig::examples().into_iter().map(|example| example.config);
    let examples: Vec<RoutingConfig> = examples.filter(|config| config.name() == name).collect();
    let pairs: Vec<Pair> = PAIRS.iter().filter(|pair| pair.routing.name() == name).cloned().collect();
    if is_tested(&[name]) {
        routing::check(name, &examples, &pairs);
    } else {
        routing::check_pairs(&pairs);
    }
}

fn of_policy(name: &str) {
    let examples: Vec<PolicyConfig> =
        PolicyConfig::examples().into_iter().filter(|config| config.name() == name).collect();
    let placed: Vec<&PolicyExample> = POLICIES.iter().filter(|e| e.policy.name() == name).collect();
    if is_tested(&[name]) {
        policy::check(name, &examples, &placed);
    } else {
        policy::check_placed(&placed);
    }
}

fn of_allocator(name: &str) {
    let examples: Vec<_> = AllocatorConfig::examples().into_iter().filter(|config| config.name() == name).collect();
    assert!(!examples.is_empty(), "{name} runs in no test: let its `examples()` return at least one configuration");
    examples.iter().for_each(allocator::check);
}

fn of_queueing(name: &str) {
    let examples: Vec<_> = QueueingConfig::examples().into_iter().filter(|config| config.name() == name).collect();
    assert!(!examples.is_empty(), "{name} runs in no test: let its `examples()` return at least one configuration");
    examples.iter().for_each(queueing::check);
}

fn of_congestion(name: &str) {
    let examples: Vec<_> = CongestionConfig::examples().into_iter().filter(|config| config.name() == name).collect();
    assert!(!examples.is_empty(), "{name} runs in no test: let its `examples()` return at least one configuration");
    congestion::check(&examples);
}

/// Runs the suite on this workload alone, and together with each workload before it in the registry.
fn of_workload(name: &str) {
    let examples = WorkloadConfig::examples();
    let own = (0..examples.len()).filter(|&k| examples[k].name() == name);
    let ran = own.map(|k| workload::check(&examples[k], &examples[..k])).count();
    assert!(ran > 0, "{name} runs in no test: let its `examples()` return at least one configuration");
}

fn of_recording(name: &str) {
    let (_, info) = RecordingConfig::tables().find(|(own, _)| *own == name).expect("a registered name");
    let examples: Vec<Asked> = asked().into_iter().filter(|asked| asked.name == name).collect();
    recording::check(name, &examples, &info);
}

fn recordings_together() {
    recording::check_together(asked());
}

fn asked() -> Vec<Asked> {
    RecordingConfig::examples().iter().map(RecordingConfig::asked).collect()
}
