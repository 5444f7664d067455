//! Models that no registry of Weft knows, as in a crate outside of this repository. Sound models pass the suites of their
//! families. For a broken model the suite names the fault.

mod half_awake;
mod highest_first;

use half_awake::HalfAwake;
use highest_first::HighestFirst;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::examples::Example;
use weft_api::policy::{Offers, Policy, PolicyModel, Site};
use weft_api::routing::RoutingModel;
use weft_engine::power::{LinkState, Modes};
use weft_engine::{Models, Spec};
use weft_topology::Graph;
use weft_units::{Cycles, Refusal};

#[test]
fn a_routing_from_outside_conforms() {
    weft_conformance::routing::<HighestFirst>("highest_first");
}

#[test]
fn a_policy_from_outside_conforms() {
    weft_conformance::policy::<HalfAwake>("half_awake", HalfAwake::OFFERS);
}

/// A registered model under another name is also one from outside.
#[test]
fn a_workload_and_a_recording_from_outside_conform() {
    weft_conformance::workload::<weft_engine::workload::open_loop::OpenLoop>("talk");
    weft_conformance::recording::<weft_engine::recording::transient::Transient>("over_time");
}

/// The message of the suite when it panics.
fn words(suite: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(suite).expect_err("the suite finds nothing");
    let text = panic.downcast_ref::<&str>().map(|&text| text.to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).expect("words")
}

/// As `HighestFirst`, but half of all packets turn the other way on the same VC class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct TurnsBothWays {}

impl RoutingModel for TurnsBothWays {
    type Routing = highest_first::Runtime;
    const ROUTES: &'static str = "hyperx";

    fn fits(graph: &Graph) -> bool {
        HighestFirst::fits(graph)
    }

    fn build(&self, graph: &Graph) -> Result<Self::Routing, Refusal> {
        HighestFirst { always: false }.build(graph)
    }

    fn examples() -> Vec<Example<Self>> {
        vec![Example::of("{}").only_on(&[r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 2}}"#])]
    }
}

#[test]
fn a_routing_whose_channels_depend_on_each_other_in_a_cycle_is_found_out() {
    let said = words(|| weft_conformance::routing::<TurnsBothWays>("turns_both_ways"));
    assert!(said.contains("turns_both_ways") && said.contains("channel dependencies have a cycle"), "{said}");
}

/// Its links are off in cycle 0, and it declares that they are always on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Secret {}

impl PolicyModel for Secret {
    fn states(&self, _: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(vec![LinkState::On])
    }

    fn settling_period(&self, _: &Graph, _: &Modes, _: u128) -> Result<Option<Cycles>, Refusal> {
        Ok(None)
    }

    fn build(&self, _: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        Ok(Arc::new(self.clone()))
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

impl Policy for Secret {
    fn first_state(&self, _: u32, _: u32) -> LinkState {
        LinkState::Off
    }
}

#[test]
fn a_policy_in_a_state_that_it_does_not_declare_is_found_out() {
    let said = words(|| weft_conformance::policy::<Secret>("secret", Offers::ALWAYS_ON));
    assert!(said.contains("secret") && said.contains("a channel is off for"), "{said}");
    assert!(said.contains("`states` of the policy does not declare"), "{said}");
}

#[test]
fn a_table_of_models_reads_those_from_outside_and_those_that_are_registered() {
    let models = Models::default().with_routing::<HighestFirst>("highest_first");
    let routing = models.routing(r#"{"highest_first": {"always": true}}"#, "routing").expect("a routing");
    assert_eq!(routing.name(), "highest_first");
    let registered = models.routing(r#"{"dimension_order": {}}"#, "routing").expect("a routing");
    assert_eq!(registered.name(), "dimension_order");
    // it is what runs
    let topology =
        serde_json::from_str(r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 2}}"#).expect("a topology");
    let spec = Spec::new(&topology, routing).expect("a spec");
    assert!(weft_engine::check(&spec).is_ok());
}

#[test]
fn a_model_that_no_table_has_is_refused_with_the_names_of_those_that_it_has() {
    let models = Models::default().with_routing::<HighestFirst>("highest_first");
    let refusal = |json: &str| models.routing(json, "routing").expect_err(json);
    let unknown = refusal(r#"{"lowest_first": {}}"#);
    assert_eq!((&*unknown.path, &*unknown.what), ("routing", "no model has the name lowest_first"));
    assert!(unknown.help.contains("highest_first, dimension_order"), "{unknown}");
    let incomplete = refusal(r#"{"highest_first": {}}"#);
    assert_eq!((&*incomplete.path, &*incomplete.what), ("routing.highest_first", "missing field `always`"));
    assert_eq!(refusal("{").path, "routing");
    assert_eq!(refusal("{}").what, "{} is not one model");
}

#[test]
#[should_panic(expected = "dimension_order is the name of a registered model")]
fn the_name_of_a_registered_model_is_taken() {
    let _ = Models::default().with_routing::<HighestFirst>("dimension_order");
}
