//! The conformance tests of every family of models, as a library. A crate outside of this repository runs them on its own
//! models. `tests/members.rs` runs them on all registered models. A function here panics and names the fault, so a test is one
//! line:
//!
//! ```ignore
//! #[test]
//! fn my_routing_conforms() {
//!     weft_conformance::routing::<MyRouting>("my_routing");
//! }
//! ```
//!
//! A member runs in networks of its own `examples()`, and in small networks of the registered topologies. The files
//! `accounts`, `checkpoints`, `compare`, `members` and `specs` are also part of the tests of the engine
//! (`engine/tests/common`).

mod accounts;
pub mod allocator;
mod checkpoints;
mod compare;
mod lane_notes;
pub mod members;
pub mod policy;
pub mod queueing;
pub mod recording;
pub mod routing;
mod specs;
pub mod workload;

use accounts::{check_account, check_all_arrived};
use checkpoints::{assert_resumes, check_blocks, run_keeping};
use compare::assert_same;
use members::{Pair, PolicyExample, as_written, in_their_turns, pairs_of, policies_of};
use specs::{ONE, fitting_policy, in_turn, manage_what_can_be, packets, phases, rounds, router, run, run_as};
use weft_api::policy::{Offers, PolicyModel};
use weft_api::recording::{Asked, Recording};
use weft_api::routing::RoutingModel;
use weft_api::workload::WorkloadModel;
use weft_engine::outside::{Configuration, Models};
use weft_engine::power::PolicyConfig;
use weft_engine::routing::RoutingConfig;
use weft_engine::spec::Execution;
use weft_engine::workload::WorkloadConfig;
use weft_engine::{Outcome, Spec};

/// Runs the suite of routings on a routing that no registry knows. Its messages call it `name`.
///
/// # Panics
/// With what is wrong, if the routing does not conform.
pub fn routing<M: RoutingModel + Configuration>(name: &'static str) {
    let examples = <M as RoutingModel>::examples().into_iter();
    let examples: Vec<_> = examples.map(|example| example.map(|config| RoutingConfig::outside(name, config))).collect();
    let configs: Vec<RoutingConfig> = examples.iter().map(|example| example.config.clone()).collect();
    let models = Models::default().with_routing::<M>(name);
    check_reads_back(&configs, |json| models.routing(json, "routing"));
    routing::check(name, &configs, &pairs_of(examples));
}

/// Runs the suite of power policies on a policy that no registry knows, beside the registered routings that go with it.
/// `offers`: its offers to routings and faults.
///
/// # Panics
/// With what is wrong, if the policy does not conform.
pub fn policy<M: PolicyModel + Configuration>(name: &'static str, offers: Offers) {
    let examples = M::examples().into_iter();
    let examples: Vec<PolicyConfig> = examples.map(|config| PolicyConfig::outside(name, offers, config)).collect();
    let models = Models::default().with_policy::<M>(name, offers);
    check_reads_back(&examples, |json| models.policy(json, "power.policy"));
    let placed = policies_of(examples.clone(), |_| true);
    policy::check(name, &examples, &placed.iter().collect::<Vec<_>>());
}

/// Runs the suite of workloads on a workload that no registry knows, alone and beside the registered ones.
///
/// # Panics
/// With what is wrong, if the workload does not conform.
pub fn workload<M: WorkloadModel + Configuration>(name: &'static str) {
    let examples = M::examples().into_iter();
    let examples: Vec<WorkloadConfig> = examples.map(|config| WorkloadConfig::outside(name, config)).collect();
    let models = Models::default().with_workload::<M>(name);
    check_reads_back(&examples, |json| models.workload(json, "traffic.workload"));
    assert!(!examples.is_empty(), "{name} runs in no test: let its `examples()` give a configuration");
    for example in &examples {
        workload::check(example, &WorkloadConfig::examples());
    }
}

/// Runs the suite of recordings on a recording that no registry knows.
///
/// # Panics
/// With what is wrong, if the recording does not conform.
pub fn recording<R: Recording>(name: &'static str) {
    let examples = R::examples().into_iter();
    let asked: Vec<Asked> = examples.map(|model| Asked { name, model: std::sync::Arc::new(model) }).collect();
    recording::check(name, &asked, &R::TABLE);
}

/// Each configuration is the same after it was written and read.
fn check_reads_back<C: serde::Serialize + PartialEq + std::fmt::Debug>(
    examples: &[C],
    read: impl Fn(&str) -> Result<C, weft_units::Refusal>,
) {
    for example in examples {
        let json = as_written(example);
        let back =
            read(&json).unwrap_or_else(|refusal| panic!("{json} is not read again as it was written: {refusal}"));
        assert_eq!(&back, example, "{json} is read as another configuration than it was written from");
    }
}

/// A spec of this topology and this routing, as a scenario writes them in JSON.
fn spec(topology: &str, routing: &str) -> Spec {
    let read = "the configuration of a registered model";
    Spec::new(&serde_json::from_str(topology).expect(read), serde_json::from_str(routing).expect(read)).expect(read)
}

const HYPERX: &str = r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 2}}"#;
const UGAL_P: &str = r#"{"ugal_p": {"sensor": "used_credits"}}"#;
