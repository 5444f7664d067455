//! That the walk over an idle network takes what the routing takes, and that its work does not grow with what is not taken.

use super::*;
use crate::api::examples::small_networks;
use crate::api::routing::AnyRouting;
use crate::api::walk::Step;
use crate::models::routing::RoutingConfig;
use weft_topology::Graph;

/// The first step, and those behind it that cost as much.
fn equal_to_first(steps: &[Step]) -> Vec<String> {
    let cost = |step: &Step| step.cost.map(|cost| (cost.hops, cost.bias));
    let first = steps.first().map(cost);
    steps.iter().take_while(|step| Some(cost(step)) == first).map(|step| format!("{step:?}")).collect()
}

/// Follows a packet by its first steps; all of them must be named by `first_steps`, with few others.
fn follow(graph: &Graph, routing: &dyn AnyRouting, from: u32, mut packet: Packet) {
    let coords = routing.coordinates(graph);
    let mut at = from;
    for _ in 0..graph.routers() {
        let here = coords[at as usize];
        let (all, first) = (routing.steps(here, &packet, 1), routing.first_steps(here, &packet, 1));
        assert_eq!(equal_to_first(&all), equal_to_first(&first), "{routing:?} at {at}: {packet:?}");
        let (_, others) = routing.idle_steps(here, &packet, 1);
        assert!(others < graph.radix() as usize, "{routing:?} lists {others} choices that lose");
        let mut step = first.into_iter().next().expect("a step");
        let Peer::Router { router, .. } = graph.ports(at)[usize::from(step.hop.port)].peer else { return };
        routing.taken(here, &mut step.after, step.hop);
        (at, packet) = (router, step.after);
    }
    panic!("{routing:?} never delivers a packet of router {from}");
}

#[test]
fn first_steps_are_the_first_of_all_steps() {
    let mut followed = 0;
    for example in RoutingConfig::examples() {
        for (_, graph) in small_networks().iter().filter(|(_, graph)| example.config.fits(graph)) {
            // a table is for one graph only
            let Ok(routing) = example.config.build(graph) else { continue };
            if routing.needs().sees_terminals {
                continue; // its paths belong to pairs of terminals, and it chooses nothing
            }
            let coords = routing.coordinates(graph);
            let draws = routing.draws().outcomes(Packet::default(), 1);
            let hosts: Vec<u32> = (0..graph.routers()).filter(|&router| graph.terminals_of(router) > 0).collect();
            for &to in hosts.iter().skip(1) {
                let port = graph.ports(to).iter().position(|port| matches!(port.peer, Peer::Terminal(_)));
                let packet = between_routers(coords[to as usize]);
                let packet = Packet { dst_port: port.expect("a terminal") as u8, ..packet };
                for start in routing.starts(coords[hosts[0] as usize], packet, &draws).into_iter().take(5) {
                    follow(graph, &*routing, hosts[0], start);
                    followed += 1;
                }
            }
        }
    }
    assert!(followed > 1000, "{followed}");
}

#[test]
fn all_paths_of_ugal_in_a_dragonfly_are_followed_without_its_detours() {
    let dragonfly =
        r#"{"dragonfly": {"routers_per_group": 8, "terminals_per_router": 4, "global_links_per_router": 4}}"#;
    let topology = serde_json::from_str(dragonfly).expect("a topology");
    for routing in [r#"{"dragonfly_ugal": {}}"#, r#"{"dragonfly_par": {}}"#] {
        let spec = Spec::new(&topology, serde_json::from_str(routing).expect("a routing")).expect("a spec");
        let net = assemble::net(&spec).expect("a network");
        let mut walker = Walker::new(&spec, &net);
        let means = walker.walk_all().expect("few enough steps");
        // a pair is one start; at most two choices, as the adaptive one chooses again, and a step per other hop
        let most = u64::from(spec.graph.routers()).pow(2) * (1 + 2 * STEPS_OF_CHOICE + 3);
        assert!(walker.steps <= most, "{routing}: {} steps, {} hops", walker.steps, means.hops);
    }
}
