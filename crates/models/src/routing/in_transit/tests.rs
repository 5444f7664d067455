//! Functions for the tests of several in-transit routings.

use std::collections::HashMap;
use weft_api::routing::Routing;
use weft_api::state::{Packet, RouteState};
use weft_topology::{Graph, Peer};

/// Follows a packet to its destination through all possible choices, including rings. Returns the length of the longest path [links].
/// Panics if the packet could move without end.
fn longest_from(
    (graph, routing, coords): (&Graph, &dyn Routing, &[u64]),
    at: u32,
    packet: &Packet,
    known: &mut HashMap<(u32, RouteState), Option<u32>>,
) -> u32 {
    let here = coords[at as usize];
    if here == packet.dest {
        return 0;
    }
    let state = (at, packet.route_state());
    if let Some(known) = known.get(&state) {
        return known.expect("a packet comes back to a state in which it was before");
    }
    known.insert(state, None);
    let mut longest = 0;
    for step in routing.steps(here, packet, 1) {
        let mut after = step.after;
        routing.taken(here, &mut after, step.hop);
        let Peer::Router { router, .. } = graph.ports(at)[usize::from(step.hop.port)].peer else {
            panic!("a hop to {:?}", step.hop)
        };
        longest = longest.max(1 + longest_from((graph, routing, coords), router, &after, known));
    }
    known.insert(state, Some(longest));
    longest
}

/// Returns the length of the longest path [links] to router `to` from any router, over all possible choices of a
/// packet.
pub fn longest_way((graph, routing, coords): (&Graph, &dyn Routing, &[u64]), to: u32) -> u32 {
    let dest = coords[to as usize];
    let packet = Packet { dest, target: dest, ..Packet::default() };
    let mut known = HashMap::new();
    let from = |from: u32| longest_from((graph, routing, coords), from, &packet, &mut known);
    (0..graph.routers()).map(from).max().expect("routers")
}
