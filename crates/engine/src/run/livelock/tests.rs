//! Tests that the check finds a packet that takes more hops than its routing guarantees.

use super::refuse;
use crate::network::simulation::Simulation;
use crate::network::spec::{Execution, Spec};
use crate::network::{assemble, policy};
use crate::run::outcome::Outcome;
use std::sync::Arc;
use weft_api::routing::{Hop, Needs, Routing};
use weft_api::state::Packet;
use weft_api::walk::Step;
use weft_kernel::face::widths::Compile;
use weft_models::routing::RoutingConfig;

/// A test routing on a ring of four routers. All packets go up the ring, so a path has at most 3 links.
#[derive(Debug, Clone, Copy)]
struct Up {
    /// The routing delivers a packet only after it has crossed at least this number of links; `None`: it never delivers a packet.
    least: Option<u8>,
    promises: u32,
}

impl Routing for Up {
    fn needs(&self) -> Needs {
        Needs { classes: vec![1, 1], ..Needs::default() }
    }

    fn next(&self, at: u64, packet: &mut Packet, _: u64) -> Option<Hop> {
        if at == packet.dest && self.least.is_some_and(|least| packet.lane >= least) {
            return Some(Hop::to_terminal(packet));
        }
        packet.lane = packet.lane.saturating_add(1);
        Some(Hop { port: 1, class: 0 })
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        Step::named(self, at, packet, seed)
    }

    fn most_hops(&self) -> Option<u32> {
        Some(self.promises)
    }
}

/// A short run at low load, in two blocks.
fn run(routing: Up) -> Outcome {
    run_for(routing, 0.005, 2000)
}

fn run_for(routing: Up, load: f64, window: u64) -> Outcome {
    let torus = serde_json::from_str(r#"{"torus": {"widths": [4], "terminals_per_router": 1}}"#).unwrap();
    let mut spec = Spec::new(&torus, RoutingConfig::examples().swap_remove(0).config).unwrap();
    spec.set_load(load);
    (spec.phases.warmup, spec.phases.window, spec.phases.drain_limit) = (0, window, 1000);
    spec.allow_dependency_cycle = true;
    let net = assemble::net_with(&spec, Arc::new(routing), assemble::jobs).unwrap();
    let allocator = spec.router.allocator.give_to(Compile::of(&net, spec.width()));
    let policy = policy::build(&spec).unwrap();
    let how = Execution::new(1, 2);
    Simulation::of_models(&spec, how, net, &*policy, &allocator).run(&spec, &())
}

#[test]
fn a_packet_beyond_the_limit_of_its_routing_is_found() {
    let routing = Up { least: Some(0), promises: 2 };
    let longest = run(routing).longest_path;
    assert_eq!(longest, 3);
    let refusal = refuse("up", routing.most_hops(), longest).expect_err("3 links");
    assert!(refusal.what.contains("crosses at most 2 links, but in this run a packet crossed 3"), "{refusal}");
    assert_eq!(refuse("up", Some(3), longest), Ok(()), "as the developer mends it");
    assert_eq!(refuse("up", None, longest), Ok(()), "it promises nothing");
}

#[test]
fn the_longest_of_paths_that_are_not_counted_one_by_one_is_known() {
    let out = run(Up { least: Some(100), promises: 3 });
    assert_eq!((out.hop_counts.len(), out.hop_counts[63]), (64, out.sums.packets));
    assert!(out.sums.packets > 0 && (100..=103).contains(&out.longest_path), "{}", out.longest_path);
}

#[test]
fn a_packet_that_never_arrives_is_found() {
    let out = run(Up { least: None, promises: 3 });
    assert_eq!(out.sums.packets, 0);
    assert!(out.longest_path > 100, "{}", out.longest_path);
    assert!(refuse("up", Some(3), out.longest_path).is_err());
}

/// Tests a guarantee of more than 2^16 links. Routings guarantee millions of links if packets may leave an escape ring of thousands of
/// routers hundreds of times.
#[test]
fn more_links_than_fit_into_16_bits_are_counted() {
    // only a few packets are sent; each one crosses a link in 10 cycles and the next router in one or two more cycles
    let out = run_for(Up { least: None, promises: 1 << 20 }, 5e-6, 1_200_000);
    assert!(out.longest_path > 1 << 16 && out.longest_path < 120_000, "{}", out.longest_path);
    assert_eq!(refuse("up", Some(1 << 20), out.longest_path), Ok(()));
    assert!(refuse("up", Some(1 << 16), out.longest_path).is_err());
}
