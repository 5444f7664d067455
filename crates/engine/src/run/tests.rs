//! Tests with models that nothing else in Weft knows: a routing, a power policy and an allocator. Each is one file and
//! one line in a registry, and runs without any other change.

use crate::network::simulation::Simulation;
use crate::network::spec::{Execution, Spec};
use crate::network::{assemble, policy};
use crate::run::outcome::{Ending, Outcome};
use std::sync::Arc;
use weft_api::examples::small_networks;
use weft_api::policy::{Offers, Policy};
use weft_api::routing::AnyRouting;
use weft_kernel::net::Net;
use weft_kernel::switch_allocation::{Compile, SwitchAllocator};
use weft_models::allocation::AllocatorConfig;
use weft_models::power::PolicyConfig;
use weft_models::routing::RoutingConfig;
use weft_topology::{Graph, TopologyConfig};

mod closed_channels;
mod fewest_links_planner;
mod slac_sequencer;

mod routing {
    use weft_api::examples::Example;
    use weft_api::routing::{About, AnyRoutingModel, RoutingModel};

    weft_units::registry! {
        /// One member.
        pub enum Newcomers as AnyRoutingModel declares ABOUT: About, with examples of Example:
        "highest_first" => highest_first::HighestFirst,
    }
}

mod power {
    use weft_api::policy::{Offers, PolicyModel};

    weft_units::registry! {
        /// One member.
        pub enum Newcomers as PolicyModel declares OFFERS: Offers, with examples:
        "half_awake" => half_awake::HalfAwake,
    }
}

mod allocation {
    use weft_api::allocation::{AllocatorModel, UseAllocator};

    weft_units::registry! {
        /// One member.
        pub enum Newcomers as AllocatorModel, with examples, given to UseAllocator:
        "two_rounds" => two_rounds::TwoRounds,
    }
}

/// Models as the loop calls them; `None`: the model of the spec.
struct Models<'a> {
    routing: Option<Make<'a, Graph, Box<dyn AnyRouting>>>,
    policy: Option<Make<'a, Spec, Arc<dyn Policy>>>,
    allocator: Option<Make<'a, Net, Box<dyn SwitchAllocator<1, 8>>>>,
}

/// Makes a model from what it is built for.
type Make<'a, From, Model> = &'a dyn Fn(&From) -> Model;

const OF_THE_SPEC: Models = Models { routing: None, policy: None, allocator: None };

/// Runs the spec with these models in this many blocks.
fn run(spec: &Spec, models: &Models, blocks: usize) -> Outcome {
    let net = match models.routing {
        Some(routing) => assemble::net_with(spec, routing(&spec.graph).into(), assemble::jobs),
        None => assemble::net(spec),
    };
    let net = net.expect("a network");
    let policy = models.policy.map_or_else(|| policy::build(spec).expect("a policy"), |policy| policy(spec));
    let compile = Compile { single: net.single, by_age: net.by_age || net.rings };
    let allocator =
        models.allocator.map_or_else(|| spec.router.allocator.give_to(compile), |allocator| allocator(&net));
    let how = Execution::new(1, blocks);
    Simulation::<1, 8>::of_models(spec, how, net, &*policy, allocator).run(spec, &())
}

/// A short run at low load.
fn spec(topology: &TopologyConfig, routing: &RoutingConfig) -> Spec {
    let mut spec = Spec::new(topology, routing.clone()).expect("a spec");
    (spec.phases.warmup, spec.phases.window) = (0, 2000);
    spec
}

/// Checks that all packets arrive, in one block as in three.
fn check(spec: &Spec, models: &Models, what: &str) {
    let (one, three) = (run(spec, models, 1), run(spec, models, 3));
    assert_eq!((&one.ending, one.missing_packets, one.sums.flits), (&Ending::Drained, 0, one.offered_flits), "{what}");
    assert!(one.sums.packets > 0, "{what}");
    assert_eq!((&one.sums, &one.hop_counts), (&three.sums, &three.hop_counts), "{what}");
    for channel in &one.channels {
        assert_eq!(channel.cycles.iter().sum::<u64>(), one.window, "{what}: {channel:?}");
    }
}

/// Whether a scenario may use the name.
fn in_schema<T: schemars::JsonSchema>(name: &str) -> bool {
    schemars::schema_for!(T).to_value()["oneOf"][0]["properties"].get(name).is_some()
}

/// The first registered routing, and its small networks.
fn networks() -> (RoutingConfig, Vec<TopologyConfig>) {
    let routing = RoutingConfig::examples().swap_remove(0).config;
    let fits = small_networks().into_iter().filter(|(_, graph)| routing.fits(graph)).map(|(topology, _)| topology);
    let fits = fits.collect();
    (routing, fits)
}

#[test]
fn a_new_routing_runs_by_its_registration_alone() {
    assert_eq!(routing::Newcomers::NAMES, ["highest_first"]);
    assert_eq!(routing::Newcomers::ABOUT.len(), 1);
    assert!(in_schema::<routing::Newcomers>("highest_first"));
    let mut ran = 0;
    for example in routing::Newcomers::examples() {
        for (topology, graph) in small_networks().iter().filter(|(_, graph)| (example.config.declares().fits)(graph)) {
            let build = |graph: &Graph| example.config.model().build_any(graph).expect("a graph that fits");
            let models = Models { routing: Some(&build), ..OF_THE_SPEC };
            // messages use the name of a registered routing
            let stand_in = RoutingConfig::examples().swap_remove(0).config;
            check(&spec(topology, &stand_in), &models, &format!("{} on {topology:?}", example.config.name()));
            assert_eq!(graph.topology_name(), topology.name());
            ran += 1;
        }
        for bound in &example.bounds {
            let spec = spec(&bound.topology, &networks().0);
            let routing = example.config.model().build_any(&spec.graph).expect("a graph that fits");
            assert!(assemble::net_with(&spec, routing.into(), assemble::jobs).is_ok());
        }
    }
    assert!(ran > 3, "{ran} networks");
}

#[test]
fn a_new_routing_that_can_deadlock_is_found_out() {
    use weft_api::routing::RoutingModel;
    let topology = serde_json::from_str(r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 2}}"#).unwrap();
    let spec = spec(&topology, &networks().0);
    let liar = routing::highest_first::HighestFirst { always: false }.build(&spec.graph).unwrap();
    let refusal = assemble::net_with(&spec, Arc::new(liar), assemble::jobs).expect_err("turns both ways on one class");
    assert!(refusal.what.contains("channel dependencies have a cycle"), "{refusal}");
}

#[test]
fn a_new_policy_runs_by_its_registration_alone() {
    assert_eq!(power::Newcomers::NAMES, ["half_awake"]);
    assert_eq!(power::Newcomers::OFFERS, [("half_awake", Offers::ALWAYS_ON)]);
    assert!(in_schema::<power::Newcomers>("half_awake"));
    let (routing, networks) = networks();
    for config in power::Newcomers::examples() {
        assert_eq!((config.name(), config.declares()), ("half_awake", Offers::ALWAYS_ON));
        let build = |spec: &Spec| policy::with_site(spec, |site| config.model().build(site)).expect("a policy");
        for topology in &networks {
            let mut spec = spec(topology, &routing);
            // its states are priced and counted like those of any other policy
            spec.policy = PolicyConfig::default();
            assert_eq!(config.model().modes(), spec.policy.states());
            check(
                &spec,
                &Models { policy: Some(&build), ..OF_THE_SPEC },
                &format!("{} on {topology:?}", config.name()),
            );
        }
    }
}

#[test]
fn a_new_allocator_runs_by_its_registration_alone() {
    assert_eq!(allocation::Newcomers::NAMES, ["two_rounds"]);
    assert!(in_schema::<allocation::Newcomers>("two_rounds"));
    let (routing, networks) = networks();
    for config in allocation::Newcomers::examples() {
        assert_eq!((config.name(), config.model().iterations()), ("two_rounds", 2));
        let compile = |net: &Net| {
            let compile = Compile { single: net.single, by_age: net.by_age || net.rings };
            config.give_to(compile)
        };
        for topology in &networks {
            let spec = spec(topology, &routing);
            assert_ne!(spec.router.allocator.name(), config.name(), "{:?}", AllocatorConfig::NAMES);
            let models = Models { allocator: Some(&|net| compile(net)), ..OF_THE_SPEC };
            check(&spec, &models, &format!("{} on {topology:?}", config.name()));
        }
    }
}
