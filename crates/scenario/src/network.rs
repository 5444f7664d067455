//! Data for a drawing of a point's network: the positions of its routers, and the number of its channels.

use serde_json::{Map, Value, json};
use weft_engine::Spec;
use weft_engine::spec::LinkClass;
use weft_topology::{Graph, Grid, Levels, Line, Peer, Structure};

/// The positions of the routers, and the number of channels. Channels are counted as in the table of channels: two per link.
pub(crate) fn network(name: &str, spec: &Spec) -> Value {
    let graph = &*spec.graph;
    let ports = (0..graph.routers()).flat_map(|router| graph.ports(router));
    let between = ports.filter(|port| matches!(port.peer, Peer::Router { .. })).count();
    let mut network = Map::from_iter([("topology".to_owned(), json!(name))]);
    network.extend(places(graph));
    network.insert("router_count".to_owned(), json!(graph.routers()));
    // bandwidths of the link classes between routers
    network.insert("bandwidths".to_owned(), Value::Object(between_routers(spec).collect()));
    // each terminal sends on one channel and receives on another, so it adds two channels
    network.insert("channels".to_owned(), json!(between + 2 * graph.terminals() as usize));
    Value::Object(network)
}

/// Positions of routers for a drawing: `routers` contains the coordinates of each router. On a grid (or in crossed layers, which are drawn
/// as one grid) the coordinates are the digits of the router number, the lowest dimension first. For groups, the coordinates are the
/// router's group and its index in the group. For levels, the coordinates are the router's level (0: leaves) and its index in the level. In
/// a network without such an order, the coordinates are empty. `levels` contains the level of each router, also in networks of groups.
/// `complete` is true if each router of the grid has one link to every other router of its lines.
pub(crate) fn places(graph: &Graph) -> Map<String, Value> {
    let structure = graph.structure();
    let (widths, levels) = (structure.widths(), structure.levels.as_ref());
    let (kind, routers) = match structure {
        _ if widths.is_some() => ("grid", (0..graph.routers()).filter_map(|r| structure.coordinates(r)).collect()),
        Structure { groups: Some(groups), .. } => {
            ("groups", groups.places.iter().map(|&(group, index)| vec![group, index]).collect())
        }
        Structure { levels: Some(levels), .. } => ("levels", places_on(levels)),
        Structure { groups: None, levels: None, .. } => ("graph", Vec::new()),
    };
    let uniform = structure.grid.as_ref().filter(|_| widths.is_some()).and_then(Grid::uniform);
    let places = json!({
        "kind": kind,
        "widths": widths.unwrap_or_default(),
        "wraps": uniform == Some(Line::Ring),
        "complete": uniform == Some(Line::Complete) && !graph.has_trunks(),
        "routers": routers,
        "levels": levels.map(|levels| &levels.of_router),
        "names": graph.router_names(),
    });
    if let Value::Object(places) = places { places } else { Map::new() }
}

/// Flits per cycle that a channel of each link class between routers can carry.
fn between_routers(spec: &Spec) -> impl Iterator<Item = (String, Value)> + '_ {
    let rate = |(name, link): (&String, &LinkClass)| (name.clone(), json!(link.rate.per_cycle()));
    spec.graph.class_names().iter().zip(&spec.links).skip(1).map(rate)
}

/// Returns, for each router, its level and its index among the routers of this level.
fn places_on(levels: &Levels) -> Vec<Vec<u32>> {
    let mut next = vec![0; levels.count as usize];
    let place = |&level: &u32| {
        let index = next[level as usize];
        next[level as usize] += 1;
        vec![level, index]
    };
    levels.of_router.iter().map(place).collect()
}
