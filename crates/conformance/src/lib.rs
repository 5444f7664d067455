//! The conformance tests of every family of models, as a library. A crate outside this repository can run these tests on its own models.
//! `tests/members.rs` runs them on all registered models. Each function here panics if a model has a fault, and names the fault. A test
//! therefore needs only one line:
//!
//! ```ignore
//! #[test]
//! fn my_routing_conforms() {
//!     weft_conformance::routing::<MyRouting>("my_routing");
//! }
//! ```
//!
//! The functions run a model in the networks of its own `examples()`, and in small networks of the registered topologies. The tests of the
//! engine also include the files `accounts`, `checkpoints`, `compare`, `members` and `specs` (`engine/tests/common`).

mod accounts;
pub mod allocator;
mod checkpoints;
mod compare;
pub mod congestion;
mod lane_notes;
pub mod members;
pub mod policy;
pub mod queueing;
pub mod recording;
pub mod routing;
mod specs;
pub mod topology;
pub mod traffic;
pub mod workload;

use accounts::{check_account, check_all_arrived};
use checkpoints::{assert_resumes, check_blocks, run_keeping};
use compare::assert_same;
use erased_serde::Deserializer as AnyText;
use members::{Pair, PolicyExample, as_written, in_their_turns, pairs_of, policies_of};
use serde::Serialize;
use serde_json::Value;
use specs::{
    ONE, fitting_policy, in_turn, manage_what_can_be, mark_checked, packets, phases, rounds, router, run, run_as,
};
use std::collections::BTreeMap;
use std::fmt::Debug;
use weft_api::allocation::{Allocator, AllocatorModel};
use weft_api::congestion::CongestionModel;
use weft_api::examples::Example;
use weft_api::policy::{Offers, PolicyModel};
use weft_api::queueing::QueueingModel;
use weft_api::recording::{Asked, Recording};
use weft_api::routing::RoutingModel;
use weft_api::workload::WorkloadModel;
use weft_engine::Outcome;
use weft_engine::Spec;
use weft_engine::allocation::{AddedAllocator, AllocatorConfig};
use weft_engine::congestion::{AddedCongestion, CongestionConfig};
use weft_engine::power::{AddedPolicy, PolicyConfig};
use weft_engine::queueing::{AddedQueueing, QueueingConfig};
use weft_engine::recording::{AddedRecording, RecordingConfig};
use weft_engine::routing::{AddedRouting, RoutingConfig};
use weft_engine::spec::Execution;
use weft_engine::workload::{AddedWorkload, WorkloadConfig};
use weft_programs::collectives::algorithms::AddedAlgorithm;
use weft_programs::collectives::tables::AddedTable;
use weft_programs::collectives::{AlgorithmConfig, Chooses, Expands, TableConfig};
use weft_programs::generators::{AddedGenerator, Generates, GeneratorConfig};
use weft_programs::laws;
use weft_topology::{AddedTopology, TopologyConfig, TopologyModel};
use weft_traffic::injection::{AddedInjection, InjectionConfig, InjectionModel};
use weft_traffic::pattern::{AddedPattern, PatternConfig, PatternModel};
use weft_units::outside::{Addition, Configuration};

/// Runs the conformance suite of routings on a routing that is not registered. Messages of the tests call the routing
/// `name`.
///
/// # Panics
/// Panics if the routing does not conform; the message names the fault.
pub fn routing<M: RoutingModel + Configuration>(name: &'static str) {
    let examples = <M as RoutingModel>::examples().into_iter();
    let of = |example: Example<M>| example.map(|config| RoutingConfig::outside(name, M::ABOUT, config));
    let examples: Vec<_> = examples.map(of).collect();
    let configs: Vec<RoutingConfig> = examples.iter().map(|example| example.config.clone()).collect();
    check_reads_back(&configs, &AddedRouting::new::<M>(name, M::ABOUT));
    routing::check(name, &configs, &pairs_of(examples));
}

/// Runs the conformance suite of power policies on a policy that is not registered, with all registered routings that are compatible with
/// it. `offers`: the constant `OFFERS` of the policy.
///
/// # Panics
/// Panics if the policy does not conform; the message names the fault.
pub fn policy<M: PolicyModel + Configuration>(name: &'static str, offers: Offers) {
    let examples = M::examples().into_iter();
    let examples: Vec<PolicyConfig> = examples.map(|config| PolicyConfig::outside(name, offers, config)).collect();
    check_reads_back(&examples, &AddedPolicy::new::<M>(name, offers));
    let placed = policies_of(examples.clone(), |_| true);
    policy::check(name, &examples, &placed.iter().collect::<Vec<_>>());
}

/// Runs the conformance suite of allocators on an allocator that is not registered.
///
/// # Panics
/// Panics if the allocator does not conform; the message names the fault.
pub fn allocator<M: Allocator + AllocatorModel + Configuration>(name: &'static str) {
    let compiler = weft_engine::compiler::<M>();
    let of = |config| AllocatorConfig::outside(name, compiler, config);
    let examples: Vec<AllocatorConfig> = M::examples().into_iter().map(of).collect();
    check_reads_back(&examples, &AddedAllocator::new::<M>(name, compiler));
    assert_some(name, &examples);
    examples.iter().for_each(allocator::check);
}

/// Runs the conformance suite of queueing schemes on a scheme that is not registered.
///
/// # Panics
/// Panics if the scheme does not conform; the message names the fault.
pub fn queueing<M: QueueingModel + Configuration>(name: &'static str) {
    let examples = M::examples().into_iter();
    let examples: Vec<QueueingConfig> = examples.map(|config| QueueingConfig::outside(name, (), config)).collect();
    check_reads_back(&examples, &AddedQueueing::new::<M>(name, ()));
    assert_some(name, &examples);
    examples.iter().for_each(queueing::check);
}

/// Runs the conformance suite of congestion controls on a control that is not registered.
///
/// # Panics
/// Panics if the control does not conform; the message names the fault.
pub fn congestion<M: CongestionModel + Configuration>(name: &'static str) {
    let examples = M::examples().into_iter();
    let examples: Vec<CongestionConfig> = examples.map(|config| CongestionConfig::outside(name, (), config)).collect();
    check_reads_back(&examples, &AddedCongestion::new::<M>(name, ()));
    assert_some(name, &examples);
    congestion::check(&examples);
}

/// Runs the conformance suite of workloads on a workload that is not registered, alone and together with registered
/// workloads.
///
/// # Panics
/// Panics if the workload does not conform; the message names the fault.
pub fn workload<M: WorkloadModel + Configuration>(name: &'static str) {
    let examples = M::examples().into_iter();
    let examples: Vec<WorkloadConfig> = examples.map(|config| WorkloadConfig::outside(name, (), config)).collect();
    check_reads_back(&examples, &AddedWorkload::new::<M>(name, ()));
    assert_some(name, &examples);
    for example in &examples {
        workload::check(example, &WorkloadConfig::examples());
    }
}

/// Runs the conformance suite of recordings on a recording that is not registered.
///
/// # Panics
/// Panics if the recording does not conform; the message names the fault.
pub fn recording<R: Recording + Configuration>(name: &'static str) {
    let examples = R::examples().into_iter();
    let examples: Vec<_> = examples.map(|config| RecordingConfig::outside(name, R::TABLE, config)).collect();
    check_reads_back(&examples, &AddedRecording::new::<R>(name, R::TABLE));
    let asked: Vec<Asked> = examples.iter().map(RecordingConfig::asked).collect();
    recording::check(name, &asked, &R::TABLE);
}

/// Runs the conformance suite of topologies on a topology that is not registered, with the registered routings that support its examples.
///
/// # Panics
/// Panics if the topology does not conform; the message names the fault.
pub fn topology<M: TopologyModel + Configuration>(name: &'static str) {
    let examples = M::examples().into_iter();
    let examples: Vec<TopologyConfig> = examples.map(|config| TopologyConfig::outside(name, (), config)).collect();
    check_reads_back(&examples, &AddedTopology::new::<M>(name, ()));
    assert_some(name, &examples);
    topology::check(&examples);
}

/// Runs the conformance suite of patterns on a pattern that is not registered.
///
/// # Panics
/// Panics if the pattern does not conform; the message names the fault.
pub fn pattern<M: PatternModel + Configuration>(name: &'static str) {
    let examples = <M as PatternModel>::examples().into_iter();
    let examples: Vec<PatternConfig> = examples.map(|config| PatternConfig::outside(name, (), config)).collect();
    check_reads_back(&examples, &AddedPattern::new::<M>(name, ()));
    assert_some(name, &examples);
    examples.iter().for_each(traffic::check_pattern);
}

/// Runs the conformance suite of injection processes on a process that is not registered.
///
/// # Panics
/// Panics if the process does not conform; the message names the fault.
pub fn injection<M: InjectionModel + Configuration>(name: &'static str) {
    let examples = M::examples().into_iter();
    let examples: Vec<InjectionConfig> = examples.map(|config| InjectionConfig::outside(name, (), config)).collect();
    check_reads_back(&examples, &AddedInjection::new::<M>(name, ()));
    assert_some(name, &examples);
    examples.iter().for_each(traffic::check_injection);
}

/// Checks the laws (required properties) of program generators on a generator that is not registered.
///
/// # Panics
/// Panics if the generator does not conform; the message names the fault.
pub fn generator<M: Generates + Configuration>(name: &'static str) {
    let examples = M::examples().into_iter();
    let examples: Vec<GeneratorConfig> = examples.map(|config| GeneratorConfig::outside(name, (), config)).collect();
    let added = AddedGenerator::new::<M>(name, ());
    check_reads_back(&examples, &added);
    assert_some(name, &examples);
    for example in &examples {
        laws::check_generator(example, &|parameters| {
            added.read(&mut <dyn AnyText<'_>>::erase(parameters)).map_err(|error| error.to_string())
        });
    }
}

/// Checks the laws (required properties) of collective algorithms on an algorithm that is not registered.
///
/// # Panics
/// Panics if the algorithm does not conform; the message names the fault.
pub fn algorithm<M: Expands + Configuration>(name: &'static str) {
    let examples = M::examples().into_iter();
    let examples: Vec<AlgorithmConfig> = examples.map(|config| AlgorithmConfig::outside(name, (), config)).collect();
    check_reads_back(&examples, &AddedAlgorithm::new::<M>(name, ()));
    assert_some(name, &examples);
    examples.iter().for_each(laws::check_algorithm);
}

/// Checks the laws (required properties) of algorithm tables on a table that is not registered.
///
/// # Panics
/// Panics if the table does not conform; the message names the fault.
pub fn table<M: Chooses + Configuration>(name: &'static str) {
    let examples = M::examples().into_iter();
    let examples: Vec<TableConfig> = examples.map(|config| TableConfig::outside(name, (), config)).collect();
    check_reads_back(&examples, &AddedTable::new::<M>(name, ()));
    assert_some(name, &examples);
    examples.iter().for_each(laws::check_table);
}

/// Checks that writing and reading a configuration does not change it.
fn check_reads_back<C: Serialize + PartialEq + Debug>(examples: &[C], added: &impl Addition<C>) {
    for example in examples {
        let json = as_written(example);
        let mut written: BTreeMap<String, Value> = serde_json::from_str(&json).expect("JSON");
        let parameters = written.remove(added.name()).unwrap_or_else(|| panic!("{json} has no key {}", added.name()));
        let back = added.read(&mut <dyn AnyText<'_>>::erase(parameters));
        let back = back.unwrap_or_else(|error| panic!("{json} was written, but cannot be read: {error}"));
        assert_eq!(&back, example, "{json} is read as a different configuration from the one that was written");
    }
}

fn assert_some<C>(name: &str, examples: &[C]) {
    assert!(!examples.is_empty(), "{name} runs in no test: let its `examples()` return at least one configuration");
}

/// A spec with this topology and this routing, both as JSON texts with the keys of a scenario.
fn spec(topology: &str, routing: &str) -> Spec {
    let read = "the configuration of a registered model";
    Spec::new(&serde_json::from_str(topology).expect(read), serde_json::from_str(routing).expect(read)).expect(read)
}

const HYPERX: &str = r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 2}}"#;
const UGAL_P: &str = r#"{"ugal_p": {"sensor": "used_credits"}}"#;
