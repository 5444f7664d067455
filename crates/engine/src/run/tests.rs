//! Tests that an allocator which the rest of Weft does not know needs only one file and one line in a registry.
//! (`conformance/tests/outside` tests routings and power policies from outside.)

use crate::network::simulation::Simulation;
use crate::network::spec::{Execution, Spec};
use crate::network::{assemble, policy};
use crate::run::outcome::{Ending, Outcome};
use weft_api::examples::small_networks;
use weft_kernel::face::widths::Compile;
use weft_models::allocation::AllocatorConfig;
use weft_models::routing::RoutingConfig;
use weft_topology::TopologyConfig;

mod closed_channels;
mod fewest_links_planner;
mod queued;
mod slac_sequencer;

mod allocation {
    use weft_api::allocation::{AllocatorModel, UseAllocator};

    weft_units::registry! {
        /// A registry of allocators with one member.
        pub enum Newcomers as AllocatorModel, with examples, given to UseAllocator:
        "two_rounds" => two_rounds::TwoRounds,
    }
}

/// Runs the spec with the allocator of this registry, in `blocks` blocks.
fn run(spec: &Spec, newcomer: &allocation::Newcomers, blocks: usize) -> Outcome {
    let net = assemble::net(spec).expect("a network");
    let policy = policy::build(spec).expect("a policy");
    let allocator = newcomer.give_to(Compile::of(&net, spec.width()));
    let how = Execution::new(1, blocks);
    Simulation::of_models(spec, how, net, &*policy, &allocator).run(spec, &())
}

/// A spec for a short run at low load.
fn spec(topology: &TopologyConfig, routing: &RoutingConfig) -> Spec {
    let mut spec = Spec::new(topology, routing.clone()).expect("a spec");
    (spec.phases.warmup, spec.phases.window) = (0, 2000);
    spec
}

/// Checks that all packets arrive, in one block and in three blocks.
fn check(spec: &Spec, newcomer: &allocation::Newcomers, what: &str) {
    let (one, three) = (run(spec, newcomer, 1), run(spec, newcomer, 3));
    assert_eq!((&one.ending, one.missing_packets, one.sums.flits), (&Ending::Drained, 0, one.offered_flits), "{what}");
    assert!(one.sums.packets > 0, "{what}");
    assert_eq!((&one.sums, &one.hop_counts), (&three.sums, &three.hop_counts), "{what}");
    for channel in &one.channels {
        assert_eq!(channel.cycles.iter().sum::<u64>(), one.window, "{what}: {channel:?}");
    }
}

/// Whether the schema of the configuration `T` contains the name.
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
fn a_new_allocator_runs_by_its_registration_alone() {
    assert_eq!(allocation::Newcomers::NAMES, ["two_rounds"]);
    assert!(in_schema::<allocation::Newcomers>("two_rounds"));
    let (routing, networks) = networks();
    for config in allocation::Newcomers::examples() {
        assert_eq!((config.name(), config.model().iterations()), ("two_rounds", 2));
        for topology in &networks {
            let spec = spec(topology, &routing);
            assert_ne!(spec.router.allocator.name(), config.name(), "{:?}", AllocatorConfig::NAMES);
            check(&spec, &config, &format!("{} on {topology:?}", config.name()));
        }
    }
}
