//! NetworkX node-link JSON: `nodes` with `id`, and `links` or `edges` with `source` and `target`.

use super::draft::{DEFAULT_CLASS, Draft, Link, Names, Problem, Router, Stated, known_end, new_router};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

#[derive(Deserialize)]
struct NodeLink {
    #[serde(default)]
    directed: bool,
    nodes: Vec<Node>,
    links: Option<Vec<Edge>>,
    edges: Option<Vec<Edge>>,
}

#[derive(Deserialize)]
struct Node {
    id: Value,
    terminals: Option<u32>,
}

#[derive(Deserialize)]
struct Edge {
    source: Value,
    target: Value,
    class: Option<String>,
}

pub fn read(text: &str) -> Result<Draft, Problem> {
    let data: NodeLink = serde_json::from_str(text).map_err(|error| {
        Problem::new(
            error.to_string(),
            "write the file with networkx.node_link_data: {nodes: [{id, terminals}], edges: \
            [{source, target, class}]}",
        )
    })?;
    let (list, edges) = match (data.links, data.edges) {
        (None, Some(edges)) => ("edges", edges),
        (Some(links), None) => ("links", links),
        (Some(_), Some(_)) => return Err(Problem::new("both `links` and `edges` are given", "keep one of them")),
        (None, None) => return Err(Problem::new("neither `links` nor `edges` is given", "add `edges`: []")),
    };
    let mut names = Names::default();
    let mut routers = Vec::with_capacity(data.nodes.len());
    for (index, node) in data.nodes.into_iter().enumerate() {
        let name = name(&node.id);
        new_router(&mut names, &name, || format!("nodes[{index}]"))?;
        routers.push(Router { name: name.into_owned(), terminals: node.terminals });
    }
    let mut classes = Names::default();
    let mut links = Vec::with_capacity(edges.len());
    for (edge, place) in edges.iter().zip(0..) {
        let end = |id| known_end(&names, &name(id), || format!("{list}[{place}]"));
        let (from, to) = (end(&edge.source)?, end(&edge.target)?);
        let class = classes.number(edge.class.as_deref().unwrap_or(DEFAULT_CLASS));
        links.push(Link { from, to, class, place });
    }
    let stated = if data.directed { Stated::BothWays } else { Stated::Once };
    let (classes, list) = (classes.into_list(), Some(list));
    Ok(Draft { routers, links, classes, stated, list, router_of: None })
}

/// An id as text: of a string itself, of anything else as it is written in JSON.
fn name(id: &Value) -> Cow<'_, str> {
    match id {
        Value::String(name) => Cow::Borrowed(name),
        other => Cow::Owned(other.to_string()),
    }
}
