//! NetworkX node-link JSON: `nodes` with `id`, and `links` or `edges` with `source` and `target`.

use super::draft::{DEFAULT_CLASS, Draft, Link, Names, Parallel, Problem, Router, Stated, known_end, new_router};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, SeqAccess, Unexpected, Visitor};
use serde_json::Value;
use std::fmt;

/// Most elements of an id that is a list.
const MAX_PARTS: usize = 32;

#[derive(Deserialize)]
struct NodeLink {
    #[serde(default)]
    directed: bool,
    /// Whether it has parallel links; NetworkX takes a file that does not say so for one that may have them.
    #[serde(default = "yes")]
    multigraph: bool,
    nodes: Vec<Node>,
    links: Option<Vec<Edge>>,
    edges: Option<Vec<Edge>>,
    /// What a file of NetworkX's adjacency format has in their place.
    adjacency: Option<IgnoredAny>,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
struct Node {
    id: Id,
    terminals: Option<u32>,
}

#[derive(Deserialize)]
struct Edge {
    source: Id,
    target: Id,
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
        (None, None) if data.adjacency.is_some() => {
            let help = "write it with networkx.node_link_data(networkx.adjacency_graph(data))";
            return Err(Problem::new(
                "`adjacency`, where `links` or `edges` belong: the adjacency format of NetworkX",
                help,
            ));
        }
        (None, None) => {
            let help = "list the links: \"edges\": [{\"source\": ..., \"target\": ...}]; a single router has none: []";
            return Err(Problem::new("neither `links` nor `edges` is given", help));
        }
    };
    let mut names = Names::default();
    let mut routers = Vec::with_capacity(data.nodes.len());
    for (index, node) in data.nodes.into_iter().enumerate() {
        let Id(name) = node.id;
        new_router(&mut names, &name, || format!("nodes[{index}]"))?;
        routers.push(Router { name, terminals: node.terminals });
    }
    let mut classes = Names::default();
    let mut links = Vec::with_capacity(edges.len());
    for (edge, place) in edges.iter().zip(0..) {
        let end = |id: &Id| known_end(&names, &id.0, || format!("{list}[{place}]"));
        let (from, to) = (end(&edge.source)?, end(&edge.target)?);
        let class = classes.number(edge.class.as_deref().unwrap_or(DEFAULT_CLASS));
        links.push(Link { from, to, class, place });
    }
    let stated = if data.directed { Stated::BothWays } else { Stated::Once };
    let parallel = match data.multigraph {
        true => Parallel::Links,
        false => Parallel::Refused("keep one of them, or write \"multigraph\": true if they are parallel links"),
    };
    let (classes, list) = (classes.into_list(), Some(list));
    Ok(Draft { routers, links, classes, stated, parallel, list, router_of: None })
}

/// An id as text: of a string itself, of a number or a list (a tuple of NetworkX) as it is written in JSON.
struct Id(String);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Reading { in_list: false }.deserialize(deserializer).map(Id)
    }
}

/// Reads an id without a tree of values, which would take many times the size of the file.
#[derive(Clone, Copy)]
struct Reading {
    in_list: bool,
}

impl<'de> DeserializeSeed<'de> for Reading {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reading {
    type Value = String;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "an id: text, a number, or a list of at most {MAX_PARTS} of these")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(if self.in_list { Value::from(text).to_string() } else { text.to_owned() })
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<String, E> {
        Ok(Value::from(number).to_string())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<String, A::Error> {
        if self.in_list {
            return Err(Error::invalid_type(Unexpected::Seq, &self));
        }
        let mut parts = Vec::new();
        while let Some(part) = list.next_element_seed(Reading { in_list: true })? {
            parts.push(part);
            if parts.len() > MAX_PARTS {
                return Err(Error::invalid_length(parts.len(), &self));
            }
        }
        Ok(format!("[{}]", parts.join(",")))
    }
}
