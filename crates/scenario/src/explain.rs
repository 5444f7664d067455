//! Properties of a network and the paths of its packets, for `weft explain`.

use crate::routers;
use serde_json::{Map, Value, json};
use weft_engine::Spec;
use weft_engine::paths::Explanation;
use weft_topology::Graph;

/// Degrees, distances, bisection and links of the network of a spec.
pub(crate) fn topology(name: &str, spec: &Spec) -> Value {
    let graph = &*spec.graph;
    let links = graph.links_by_class().into_iter().zip(&spec.links).map(|((class, count), link)| {
        (class, json!({ "links": count, "latency_cycles": link.latency, "vcs": link.vcs, "buffer_flits": link.buffer }))
    });
    let mut facts = network_facts(name, graph);
    facts.insert("links".to_owned(), Value::Object(links.collect()));
    facts.insert("links_of_two_classes".to_owned(), two_classes(graph));
    Value::Object(facts)
}

/// For the links whose two directions have different classes: the two classes, and the number of such links. Each of these links is counted
/// in both classes.
pub(crate) fn two_classes(graph: &Graph) -> Value {
    graph
        .links_of_two_classes()
        .into_iter()
        .map(|(classes, links)| json!({ "classes": classes, "links": links }))
        .collect()
}

/// Degrees, distances and bisection of a network.
pub(crate) fn network_facts(name: &str, graph: &Graph) -> Map<String, Value> {
    let (degrees, distances, bisection) = (graph.degrees(), graph.distances(), graph.bisection());
    let parts = graph.layers().iter().skip(1).map(|part| {
        let classes = part.classes.iter().map(|&class| &graph.class_names()[class as usize]);
        json!({ "name": part.name, "routers": part.routers.len(), "links": classes.collect::<Vec<_>>() })
    });
    let facts = json!({
        "topology": name,
        "routers": graph.routers(),
        // the layers are named sets of routers, such as leaf routers
        "layers": parts.collect::<Vec<_>>(),
        // each physical ring visits every router once
        "rings": graph.structure().rings.len(),
        "terminals": graph.terminals(),
        // number of trunks of parallel links, by the number of links in a trunk
        "trunks": Map::from_iter(graph.trunks_by_width().into_iter().map(|(width, count)| (width.to_string(), json!(count)))),
        "radix_ports": graph.radix(),
        "degree_min_links": degrees.least,
        "degree_max_links": degrees.most,
        "degree_mean_links": degrees.mean,
        "diameter_hops": distances.diameter(),
        "mean_distance_hops": distances.mean(),
        "mean_terminal_distance_hops": distances.terminal_mean(),
        "router_pairs_by_hops": distances.router_pairs,
        "terminal_pairs_by_hops": distances.terminal_pairs,
        "bisection_links": bisection.links,
        "bisection_exact": bisection.exact,
        "bisection_method": bisection.method,
        // each link has one channel in each direction, and half of the terminals send over the cut
        "bisection_per_terminal": bisection.links as f64 / (f64::from(graph.terminals()) / 2.0),
    });
    if let Value::Object(facts) = facts { facts } else { Map::new() }
}

/// The paths between two terminals, as JSON.
pub(crate) fn routing(spec: &Spec, explained: &Explanation) -> Value {
    routers::rename(json!(explained), &spec.graph)
}
