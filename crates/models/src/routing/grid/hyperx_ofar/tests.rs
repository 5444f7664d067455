//! Tests of HyperX OFAR: the hops of packets, the length of paths, and refusals.

use super::*;
use crate::routing::in_transit::tests::longest_way;
use weft_api::coordinates::of_all;
use weft_topology::{Peer, TopologyConfig};

fn graph(topology: &str) -> Graph {
    serde_json::from_str::<TopologyConfig>(topology).unwrap().build("topology").unwrap()
}

fn routing(parameters: &str, graph: &Graph) -> Runtime {
    serde_json::from_str::<HyperXOfar>(parameters).unwrap().build(graph).unwrap()
}

/// Follows a packet through all possible choices of hops outside of rings. Returns the largest number of hops on a path, and the largest
/// number of detours.
fn follow(graph: &Graph, routing: &Runtime, at: u32, packet: Packet) -> (u32, u32) {
    let coords = of_all(graph);
    let here = coords[at as usize];
    let mut longest = (0, packet.phase.count_ones());
    for step in routing.steps(here, &packet, 1) {
        let mut after = step.after;
        routing.taken(here, &mut after, step.hop);
        let Peer::Router { router, .. } = graph.ports(at)[usize::from(step.hop.port)].peer else { continue };
        if step.hop.class == 0 {
            let (hops, detours) = follow(graph, routing, router, after);
            longest = (longest.0.max(hops + 1), longest.1.max(detours));
        }
    }
    longest
}

#[test]
fn a_packet_makes_at_most_one_detour_in_each_dimension_that_it_crosses() {
    let graph = graph(CUBE);
    let (coords, routing) = (of_all(&graph), routing("{}", &graph));
    for to in 1..graph.routers() {
        let dest = coords[to as usize];
        let packet = Packet { dest, target: dest, ..Packet::default() };
        let crossed: Vec<u8> = routing.grid.differences(0, dest).map(|d| routing.grid.widths[d]).collect();
        // a dimension of two routers offers no third router, so the packet can make no detour there
        let detours = crossed.iter().filter(|&&width| width > 2).count() as u32;
        assert_eq!(follow(&graph, &routing, 0, packet), (crossed.len() as u32 + detours, detours), "{to}");
    }
}

#[test]
fn the_number_of_a_router_is_that_of_the_graph() {
    let graph = graph(CUBE);
    let routing = routing("{}", &graph);
    let numbers: Vec<usize> = of_all(&graph).into_iter().map(|at| routing.router(at)).collect();
    assert_eq!(numbers, (0..graph.routers() as usize).collect::<Vec<_>>());
}

#[test]
fn a_packet_prefers_each_unaligned_dimension_equally_often() {
    let graph = graph(CUBE);
    let (coords, routing) = (of_all(&graph), routing("{}", &graph));
    for to in 1..graph.routers() {
        let dest = coords[to as usize];
        let minimal: Vec<Hop> = routing.minimal(0, &Packet { dest, ..Packet::default() }).collect();
        let mut times = vec![0.0; minimal.len()];
        for seq in 0..2000 {
            let preferred = routing.preferred(0, &Packet { dest, seq, ..Packet::default() });
            times[minimal.iter().position(|&hop| hop == preferred).expect("a minimal hop")] += 1.0;
        }
        let expected = 2000.0 / minimal.len() as f64;
        // each minimal hop is preferred equally often, within four standard deviations
        assert!(times.iter().all(|count| (count - expected).abs() <= 4.0 * expected.sqrt()), "{to}: {times:?}");
    }
}

#[test]
fn no_way_is_longer_than_the_limit_that_every_run_asserts() {
    for topology in [CUBE, r#"{"full_mesh": {"routers": 5, "terminals_per_router": 1}}"#] {
        let graph = graph(topology);
        let coords = of_all(&graph);
        for (exits, directions) in [(0, 2), (1, 1), (2, 2)] {
            let parameters = format!(r#"{{"ring": {{"exits": {exits}, "directions": {directions}}}}}"#);
            let routing = routing(&parameters, &graph);
            let longest = longest_way((&graph, &routing, &coords), graph.routers() - 1);
            let most = routing.most_hops().expect("a limit");
            assert!(longest <= most, "{parameters}: {longest} of {most}");
            // at least as long as the path along the ring from a router next to the destination
            assert!(longest >= graph.routers() / 2, "{parameters}: {longest}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_with_a_remedy() {
    let graph = graph(SQUARE);
    let refusal = |parameters: &str| serde_json::from_str::<HyperXOfar>(parameters).unwrap().build(&graph).unwrap_err();
    let no_wires = refusal(r#"{"ring": {"kind": "physical"}}"#);
    assert_eq!((&no_wires.path[..], &no_wires.help[..]), ("routing.hyperx_ofar.ring.kind", "write kind: embedded"));
    // each router has 6 links, and each ring uses two of them, so at most 3 rings have no common link
    let too_many = refusal(r#"{"ring": {"rings": 4}}"#);
    assert_eq!((&too_many.path[..], &too_many.help[..]), ("routing.hyperx_ofar.ring.rings", "write at most 3"));
    let no_share = refusal(r#"{"most_occupancy": {"relative": 2}}"#);
    assert_eq!(no_share.path, "routing.hyperx_ofar.most_occupancy.relative");
    for small in
        [r#"{"hyperx": {"widths": [2, 1], "terminals_per_router": 2}}"#, r#"{"single_router": {"terminals": 2}}"#]
    {
        assert!(!HyperXOfar::fits(&self::graph(small)), "{small}");
    }
}
