//! Reads NetworkX node-link JSON: `nodes` with `id`, and `links` or `edges` with `source` and `target`.

use super::draft::{Count, Draft, Parallel, Place, Problem, Stated};
use super::sheet::{Asked, Field, Sheet};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_json::Value;
use std::fmt;

/// Maximum number of elements in an id that is a list.
const MAX_PARTS: usize = 32;

#[derive(Deserialize)]
struct NodeLink {
    #[serde(default)]
    graph: Value,
    #[serde(default)]
    directed: bool,
    /// True if the file can have parallel links. NetworkX assumes true if the file does not contain this key.
    #[serde(default = "yes")]
    multigraph: bool,
    nodes: Vec<Item<false>>,
    links: Option<Vec<Item<true>>>,
    edges: Option<Vec<Item<true>>>,
    /// The links in NetworkX's adjacency format. This reader refuses the format.
    adjacency: Option<IgnoredAny>,
}

fn yes() -> bool {
    true
}

/// The name of the original file, if Weft's converter has made this file.
pub fn converted_from(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct About {
        #[serde(default)]
        graph: Value,
    }
    serde_json::from_str(text).ok().and_then(|about: About| origin(&about.graph).map(str::to_owned))
}

fn origin(graph: &Value) -> Option<&str> {
    graph.get("converted_from")?.get("file")?.as_str()
}

pub fn read(text: &str, asked: Asked) -> Result<Draft, Problem> {
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
            let help = "write the file with networkx.node_link_data(networkx.adjacency_graph(data))";
            let what = "the file has `adjacency` in place of `links` or `edges`: this is NetworkX's adjacency format";
            return Err(Problem::new(what, help));
        }
        (None, None) => {
            let help = "list the links: \"edges\": [{\"source\": ..., \"target\": ...}]; for a single router: []";
            return Err(Problem::new("neither `links` nor `edges` is given", help));
        }
    };
    let is_converted = origin(&data.graph).is_some();
    let count = if is_converted { Count::Converted } else { Count::List(list) };
    let mut sheet = Sheet::new(asked);
    for (index, Item { ids: [id, _], fields }) in data.nodes.iter().enumerate() {
        sheet.node(id, fields, || if is_converted { format!("node {id}") } else { format!("nodes[{index}]") })?;
    }
    for (Item { ids: [from, to], fields }, number) in edges.iter().zip(0..) {
        sheet.edge(fields, Place { count, number, ends: [from, to] })?;
    }
    let parallel = match data.multigraph {
        true => Parallel::Links,
        false => Parallel::Refused("keep one of them, or write \"multigraph\": true if they are parallel links"),
    };
    sheet.draft(if data.directed { Stated::BothWays } else { Stated::Once }, parallel, count)
}

/// A node with its id, or an edge with its two ends, and the attributes of the node or edge.
struct Item<const IS_EDGE: bool> {
    ids: [String; 2],
    fields: Vec<Field>,
}

impl<'de, const IS_EDGE: bool> Deserialize<'de> for Item<IS_EDGE> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys<const IS_EDGE: bool>;
        impl<'de, const IS_EDGE: bool> Visitor<'de> for Keys<IS_EDGE> {
            type Value = Item<IS_EDGE>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(if IS_EDGE { "an edge: {source, target}" } else { "a node: {id}" })
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Item<IS_EDGE>, A::Error> {
                let names: &[&'static str] = if IS_EDGE { &["source", "target"] } else { &["id"] };
                let (mut ids, mut fields) = ([None, None], Vec::new());
                while let Some(key) = map.next_key::<String>()? {
                    match names.iter().position(|name| *name == key) {
                        Some(place) if ids[place].is_some() => return Err(Error::duplicate_field(names[place])),
                        Some(place) => ids[place] = Some(map.next_value_seed(Reading { in_list: false })?),
                        None => {
                            let Scalar(text) = map.next_value()?;
                            fields.extend(text.map(|text| (key, text)));
                        }
                    }
                }
                if let Some((name, _)) = names.iter().zip(&ids).find(|(_, id)| id.is_none()) {
                    return Err(Error::missing_field(name));
                }
                Ok(Item { ids: ids.map(Option::unwrap_or_default), fields })
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

/// The value of an attribute as a string. `None` for `null`; empty for lists and mappings, because no scenario key uses them.
struct Scalar(Option<String>);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Option<String>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("the value of an attribute")
            }
            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
                Ok(Some(value.to_string()))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Some(text.to_owned()).filter(|text| !text.trim().is_empty()))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Some(number.to_string()))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Some(number.to_string()))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                Ok(Some(Value::from(number).to_string()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Some("[...]".to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Some("{...}".to_owned()))
            }
        }
        deserializer.deserialize_any(Any).map(Scalar)
    }
}

/// Parses an id without building a tree of JSON values, which would need many times the memory of the file.
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
