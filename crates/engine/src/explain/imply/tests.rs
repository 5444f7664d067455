//! Tests that predictions follow the hops that the routing takes in an idle network, and look up few other hops.

use super::*;
use std::collections::BTreeSet;
use weft_api::examples::small_networks;
use weft_api::routing::AnyRouting;
use weft_api::state::DETOUR;
use weft_api::walk::Step;
use weft_models::routing::RoutingConfig;
use weft_topology::Graph;

/// The first step, and the steps that directly follow it with the same cost and the same detour flag.
fn equal_to_first(steps: &[Step]) -> Vec<String> {
    let cost = |step: &Step| (step.cost.map(|cost| (cost.hops, cost.bias)), step.after.flags & DETOUR);
    let first = steps.first().map(cost);
    steps.iter().take_while(|step| Some(cost(step)) == first).map(|step| format!("{step:?}")).collect()
}

/// Follows a packet along the first of its `steps` at each router. Tests that `first_steps` returns all steps that are equal to the first
/// one, and few others.
fn follow(graph: &Graph, routing: &dyn AnyRouting, from: u32, mut packet: Packet) {
    let coords = routing.coordinates(graph);
    let mut at = from;
    // a path of two legs can cross the network twice: four links in a row of three routers
    for _ in 0..graph.routers().max(2 * graph.diameter() + 1) {
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
            // a routing table fits only one graph, so this routing refuses the others
            let Ok(routing) = example.config.build(graph) else { continue };
            if routing.needs().sees_terminals {
                continue; // its paths depend on the terminals, and it makes no choices
            }
            let coords = routing.coordinates(graph);
            let draws = routing.draws().outcomes(Packet::default(), 1);
            let hosts: Vec<u32> = (0..graph.routers()).filter(|&router| graph.terminals_of(router) > 0).collect();
            for &to in hosts.iter().skip(1) {
                let port = graph.ports(to).iter().position(|port| matches!(port.peer, Peer::Terminal(_)));
                let packet = between_routers(coords[to as usize]);
                let packet = Packet { dst_port: port.expect("a terminal") as u16, ..packet };
                for start in routing.starts(coords[hosts[0] as usize], packet, &draws).all().take(5) {
                    follow(graph, &*routing, hosts[0], start);
                    followed += 1;
                }
            }
        }
    }
    assert!(followed > 1000, "{followed}");
}

/// The output ports on the path of a packet, from repeated calls of `next`.
fn path(graph: &Graph, routing: &dyn AnyRouting, from: u32, mut packet: Packet) -> Vec<u16> {
    let (coords, mut at, mut ports) = (routing.coordinates(graph), from, Vec::new());
    while let Some(hop) = routing.take_next(coords[at as usize], &mut packet, 1)
        && let Peer::Router { router, .. } = graph.ports(at)[usize::from(hop.port)].peer
    {
        ports.push(hop.port);
        at = router;
    }
    ports
}

#[test]
fn the_outcomes_at_a_source_are_what_it_draws() {
    let mut compared = 0;
    for example in RoutingConfig::examples() {
        for (_, graph) in small_networks().iter().filter(|(_, graph)| example.config.fits(graph)) {
            let Ok(routing) = example.config.build(graph) else { continue };
            if routing.needs().sees_terminals || !routing.needs().draws_path || routing.draws_hops() {
                continue;
            }
            let (coords, draws) = (routing.coordinates(graph), routing.draws().outcomes(Packet::default(), 1));
            let hosts: Vec<u32> = (0..graph.routers()).filter(|&router| graph.terminals_of(router) > 0).collect();
            for &to in [hosts.get(1), hosts.last()].into_iter().flatten() {
                let port = graph.ports(to).iter().position(|port| matches!(port.peer, Peer::Terminal(_)));
                let dst_port = port.expect("a terminal") as u16;
                let created = Packet { dst_port, ..between_routers(coords[to as usize]) };
                let starts = routing.starts(coords[hosts[0] as usize], created, &draws);
                let count = starts.count();
                if count > 300 {
                    continue;
                }
                // 6,000 random packets miss one of 300 outcomes with a probability of 300 exp(-6000 / 300) = 6e-7
                let drawn = (0..6000).map(|seq| {
                    let mut packet = Packet { seq, ..created };
                    routing.inject(&mut packet, 1);
                    packet
                });
                let drawn: BTreeSet<_> = drawn.map(|packet| path(graph, &*routing, hosts[0], packet)).collect();
                let listed: BTreeSet<_> = starts.all().map(|packet| path(graph, &*routing, hosts[0], packet)).collect();
                assert_eq!(drawn, listed, "{:?} from router {} to {to}", example.config, hosts[0]);
                compared += count;
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn a_sample_makes_only_the_packets_that_it_follows() {
    let dragonfly =
        r#"{"dragonfly": {"routers_per_group": 8, "terminals_per_router": 4, "global_links_per_router": 4}}"#;
    let valiant = r#"{"dragonfly_valiant": {"intermediate": "router"}}"#;
    let topology = serde_json::from_str(dragonfly).expect("a topology");
    let spec = Spec::new(&topology, serde_json::from_str(valiant).expect("a routing")).expect("a spec");
    let net = assemble::net(&spec).expect("a network");
    let walker = Walker::new(&spec, &net);
    let (picked, all) = walker.pick_starts(0, between_routers(net.coords[200]), 3, 0.5);
    assert_eq!(all, spec.graph.routers() as usize);
    // three outcomes of 264 routers: the router in the middle of each third
    let middles = [44, 132, 220].map(|router: usize| net.coords[router]);
    assert_eq!(picked.iter().map(|packet| packet.target).collect::<Vec<_>>(), middles);
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
        // steps for each pair of routers: one for the start, at most two choices (`dragonfly_par` chooses twice), and three other hops
        let most = u64::from(spec.graph.routers()).pow(2) * (1 + 2 * STEPS_OF_CHOICE + 3);
        assert!(walker.steps <= most, "{routing}: {} steps, {} hops", walker.steps, means.hops);
    }
}
