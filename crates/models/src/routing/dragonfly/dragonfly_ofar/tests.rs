//! Tests of dragonfly OFAR: the hops of packets, the length of paths, and refusals.

use super::*;
use crate::routing::in_transit::is_in_ring;
use crate::routing::in_transit::tests::longest_way;
use weft_api::coordinates::of_all;
use weft_topology::{Arrangement, Peer, TopologyConfig};

fn graph(topology: &str) -> Graph {
    serde_json::from_str::<TopologyConfig>(topology).unwrap().build("topology").unwrap()
}

fn routing(parameters: &str, graph: &Graph) -> Runtime {
    serde_json::from_str::<DragonflyOfar>(parameters).unwrap().build(graph).unwrap()
}

/// Counts of hops, misroutes and departures from the ring on a packet's path so far.
#[derive(Debug, Clone, Copy, Default)]
struct Way {
    hops: u32,
    global_misroutes: u32,
    /// Number of local misroutes in the packet's present group.
    local_misroutes: u32,
    departures: u32,
}

/// Follows a packet through all possible choices of the routing, and checks the paper's limits on misroutes. Returns the length of the
/// longest path outside rings.
fn follow(graph: &Graph, routing: &Runtime, at: u32, packet: Packet, way: Way) -> u32 {
    let coords = of_all(graph);
    let here = coords[at as usize];
    let mut longest = way.hops;
    for step in routing.steps(here, &packet, 1) {
        let mut after = step.after;
        routing.taken(here, &mut after, step.hop);
        let Peer::Router { router, .. } = graph.ports(at)[usize::from(step.hop.port)].peer else {
            assert_eq!(here, packet.dest);
            continue;
        };
        if routing.in_transit.rings.direction(routing.router(here), step.hop).is_some() {
            continue; // hops in the ring need no check here, because the proof of deadlock freedom follows the ring
        }
        let is_global = !routing.groups.is_local(step.hop.port);
        let misroute = u32::from(step.hop.port != routing.minimal(here, &packet).0.port);
        let mut next = Way { hops: way.hops + 1, departures: way.departures + u32::from(is_in_ring(&packet)), ..way };
        if is_global {
            next.global_misroutes += misroute;
            next.local_misroutes = 0;
        } else {
            next.local_misroutes += misroute;
        }
        assert!(next.global_misroutes <= 1 && next.local_misroutes <= 1, "{next:?}");
        longest = longest.max(follow(graph, routing, router, after, next));
    }
    longest
}

#[test]
fn a_packet_misroutes_once_globally_and_once_in_each_group() {
    let graph = graph(EMBEDDED);
    let coords = of_all(&graph);
    let longest = |parameters: &str, to: u32| {
        let dest = coords[to as usize];
        let packet = Packet { dest, target: dest, ..Packet::default() };
        follow(&graph, &routing(parameters, &graph), 0, packet, Way::default())
    };
    // l: local, g: global. To other groups: l l g l l g l l, or l l g l g l without local misroutes. Inside a group: l l with local
    // misroutes, and l without them
    assert_eq!((1..36).map(|to| longest("{}", to)).max(), Some(8));
    assert_eq!((1..36).map(|to| longest(r#"{"local_misrouting": false}"#, to)).max(), Some(6));
    assert_eq!((longest("{}", 1), longest(r#"{"local_misrouting": false}"#, 1)), (2, 1));
    // Longest paths without local misroutes: l g l g l if the router after the first local hop may misroute globally, otherwise g l g l.
    // With local misroutes that never lead to a global misroute, it is g l l g l l.
    for (parameters, hops) in [
        (r#"{"local_misrouting": false, "global_misrouting": "current_router"}"#, 5),
        (r#"{"local_misrouting": false, "global_misrouting": "source_router"}"#, 4),
        (r#"{"global_misrouting": "source_router"}"#, 6),
    ] {
        assert_eq!((1..36).map(|to| longest(parameters, to)).max(), Some(hops), "{parameters}");
    }
}

#[test]
fn no_way_is_longer_than_the_limit_that_every_run_asserts() {
    for topology in [SMALL, PHYSICAL] {
        let graph = graph(topology);
        let coords = of_all(&graph);
        for (exits, directions, local) in [(0, 2, true), (1, 1, true), (2, 2, false), (4, 2, true)] {
            let ring = format!(r#""ring": {{"exits": {exits}, "directions": {directions}}}"#);
            let routing = routing(&format!(r#"{{"local_misrouting": {local}, {ring}}}"#), &graph);
            let longest = longest_way((&graph, &routing, &coords), graph.routers() - 1);
            let most = routing.most_hops().expect("a limit");
            assert!(longest <= most, "{exits} {directions} {local}: {longest} of {most}");
            // at least as long as the path along the ring from a router next to the destination
            assert!(longest >= graph.routers() / 2, "{exits} {directions} {local}: {longest}");
        }
    }
}

#[test]
fn a_packet_that_has_left_the_ring_often_enough_stays_in_it() {
    let graph = graph(EMBEDDED);
    let (coords, routing) = (of_all(&graph), routing(r#"{"ring": {"exits": 2, "directions": 1}}"#, &graph));
    let mut packet = Packet { dest: coords[35], target: coords[35], ..Packet::default() };
    for (departures, choices) in [(0, true), (1, true), (2, false)] {
        let at = coords[1];
        let onward = routing.in_transit.rings.all_onward(1).next().expect("a ring");
        routing.taken(at, &mut packet, onward);
        assert!(is_in_ring(&packet));
        assert_eq!(packet.lane, departures);
        assert_eq!(routing.possible(at, &packet).len() > 1, choices);
        let minimal = routing.minimal(at, &packet).0;
        routing.taken(at, &mut packet, minimal);
    }
}

#[test]
fn what_does_not_fit_is_refused_with_a_remedy() {
    let absolute = r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2,
                                     "arrangement": "absolute"}}"#;
    let refusal = |parameters: &str, topology: &str| {
        serde_json::from_str::<DragonflyOfar>(parameters).unwrap().build(&graph(topology)).unwrap_err()
    };
    assert_eq!(
        graph(absolute).structure().groups.as_ref().unwrap().global.as_ref().unwrap().arrangement,
        Arrangement::Absolute
    );
    let no_ring = refusal("{}", absolute);
    assert!(no_ring.help.contains("palm_tree") && no_ring.help.contains("escape_rings"), "{no_ring}");
    let no_wires = refusal(r#"{"ring": {"kind": "physical"}}"#, EMBEDDED);
    assert!(no_wires.help.contains("escape_rings: 1"), "{no_wires}");
    for key in ["rings", "vcs"] {
        let refused = refusal(&format!(r#"{{"ring": {{"{key}": 2}}}}"#), PHYSICAL);
        assert!(refused.path.ends_with(&format!("ring.{key}")) && refused.help.contains("kind: embedded"), "{refused}");
    }
    for (parameters, path) in [
        (r#"{"least_occupancy": 1.5}"#, "least_occupancy"),
        (r#"{"most_occupancy": {"relative": -0.1}}"#, "most_occupancy.relative"),
        (r#"{"ring": {"directions": 3}}"#, "ring.directions"),
        (r#"{"ring": {"rings": 0}}"#, "ring.rings"),
    ] {
        let refused = refusal(parameters, EMBEDDED);
        assert!(refused.path.ends_with(path), "{refused}");
    }
}
