//! The network of a point as data for a drawing: where its routers stand, and how many channels it has.

use serde_json::{Value, json};
use weft_engine::Spec;
use weft_topology::{Peer, Shape};

/// `routers` holds the coordinates of each router: on a grid its digits, lowest dimension first; in groups its group and
/// its index there; on levels its level (0: leaves) and its index there; nothing where there is no such order. Numbers
/// of channels are those of the table of channels.
pub(crate) fn network(name: &str, spec: &Spec) -> Value {
    let (graph, shape) = (&*spec.graph, spec.graph.shape());
    let (kind, routers) = if let Some(widths) = shape.router_widths() {
        ("grid", (0..graph.routers()).map(|router| digits(router, widths)).collect())
    } else if let Some((_, each)) = shape.groups() {
        ("groups", (0..graph.routers()).map(|router| vec![router / each, router % each]).collect())
    } else if let Some(levels) = shape.levels() {
        let on = |(level, routers): (u32, std::ops::Range<u32>)| (0..routers.len() as u32).map(move |k| vec![level, k]);
        ("levels", (0..).zip(levels).flat_map(on).collect())
    } else {
        ("graph", Vec::new())
    };
    let ports = (0..graph.routers()).flat_map(|router| graph.ports(router));
    let between = ports.filter(|port| matches!(port.peer, Peer::Router { .. })).count();
    json!({
        "topology": name,
        "kind": kind,
        "widths": shape.router_widths().unwrap_or_default(),
        "wraps": matches!(shape, Shape::Torus { wrap: true, .. }),
        "routers": routers,
        "names": graph.router_names(),
        // each terminal sends on one and receives on one
        "channels": between + 2 * graph.terminals() as usize,
    })
}

fn digits(router: u32, widths: &[u32]) -> Vec<u32> {
    let mut rest = router;
    let digit = |width: &u32| {
        let own = rest % width;
        rest /= width;
        own
    };
    widths.iter().map(digit).collect()
}
