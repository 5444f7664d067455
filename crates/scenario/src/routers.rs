//! Names of routers in scenarios and in results. The name of a router of a graph file is its id in the file.

use crate::diagnostic::suggestion;
use schemars::JsonSchema;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use std::fmt::Formatter;
use std::sync::Arc;
use weft_engine::recording::{Column, Table};
use weft_topology::{Graph, RouterName};
use weft_units::Refusal;

/// Maximum number of names that a message lists.
const LISTED: usize = 12;

/// Keys in the results whose values are routers.
const KEYS: [&str; 4] = ["router", "next_router", "via_router", "queue_router"];

/// A set of routers in a scenario: one router, or all routers whose names are numbers in a range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RouterSet {
    One(RouterName),
    /// First and last number, both included.
    Range([RouterName; 2]),
}

impl JsonSchema for RouterSet {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RouterSet".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["integer", "string", "array"], "minItems": 2, "maxItems": 2 })
    }
}

impl<'de> Deserialize<'de> for RouterSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Set;
        /// Creates the set that contains only the router with this name.
        fn one<'de, T: IntoDeserializer<'de, E>, E: Error>(value: T) -> Result<RouterSet, E> {
            RouterName::deserialize(value.into_deserializer()).map(RouterSet::One)
        }
        impl<'de> Visitor<'de> for Set {
            type Value = RouterSet;
            fn expecting(&self, f: &mut Formatter) -> std::fmt::Result {
                f.write_str("a router, or a range of routers: [first, last]")
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<RouterSet, E> {
                one(number)
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<RouterSet, E> {
                one(number)
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<RouterSet, E> {
                one(number)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<RouterSet, E> {
                one(text)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<RouterSet, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(RouterSet::Range)
            }
        }
        deserializer.deserialize_any(Set)
    }
}

impl RouterSet {
    /// The routers of the set. Refuses names that the network does not have, and invalid ranges; the refusal names `path`.
    pub(crate) fn of(&self, graph: &Graph, path: &str) -> Result<Vec<u32>, Refusal> {
        let [first, last] = match self {
            Self::One(name) => return Ok(vec![find(graph, name, path)?]),
            Self::Range(ends) => ends,
        };
        if graph.router_names().is_none() {
            let ends = [first, last].map(|end| graph.router_named(&end.to_string()));
            return match ends {
                [Some(first), Some(last)] if first <= last => Ok((first..=last).collect()),
                _ => {
                    let what = format!("{first} to {last} is not a range of the {} routers", graph.routers());
                    Err(Refusal::new(path, what, format!("write [first, last] within 0 to {}", graph.routers() - 1)))
                }
            };
        }
        let ends = [find(graph, first, path)?, find(graph, last, path)?].map(|router| graph.router_number(router));
        match ends {
            [Some(from), Some(to)] if from <= to => {
                let lies_inside =
                    |&router: &u32| graph.router_number(router).is_some_and(|id| (from..=to).contains(&id));
                Ok((0..graph.routers()).filter(lies_inside).collect())
            }
            [Some(_), Some(_)] => {
                let what = format!("the range of ids is empty: {first} is above {last}");
                Err(Refusal::new(path, what, format!("write [{last}, {first}]")))
            }
            _ => {
                let what = format!(
                    "a range from {first} to {last} needs ids that are numbers, but the ids of the routers are not \
                     numbers"
                );
                Err(Refusal::new(path, what, "name each router, such as `A: [leaf0, leaf1]`"))
            }
        }
    }
}

/// Finds the router with this name. Refuses a name that no router has; the refusal names `path`.
pub(crate) fn find(graph: &Graph, name: &RouterName, path: &str) -> Result<u32, Refusal> {
    let text = name.to_string();
    if let Some(router) = graph.router_named(&text) {
        return Ok(router);
    }
    let routers = graph.routers();
    let Some(ids) = graph.router_names() else {
        let what = format!("there is no router {name}; the network has {routers} routers");
        return Err(Refusal::new(path, what, format!("write routers from 0 to {}", routers - 1)));
    };
    let what = format!("there is no router `{name}` in the graph file, which has {routers} routers");
    let all: Vec<&str> = ids.iter().map(String::as_str).collect();
    let help = match all.len() > LISTED {
        false => suggestion(&text, "its ids", &all),
        true => {
            let near = crate::diagnostic::nearest(&text, all.iter().copied());
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            format!("{near}its first ids: {}", all[..LISTED].join(", "))
        }
    };
    Err(Refusal::new(path, what, help))
}

/// The name of a router as a value in results: a number if all names of routers are numbers, otherwise text.
pub(crate) fn value(graph: &Graph, router: u32) -> Value {
    graph.router_number(router).map_or_else(|| json!(graph.router_name(router)), |number| json!(number))
}

/// Replaces router numbers by router names, under all keys of results whose values are routers.
pub(crate) fn rename(mut results: Value, graph: &Graph) -> Value {
    if graph.router_names().is_some() {
        rename_in(&mut results, graph);
    }
    results
}

fn rename_in(value: &mut Value, graph: &Graph) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                let router = field.as_u64().filter(|_| KEYS.contains(&&**key));
                match router.and_then(|router| u32::try_from(router).ok()) {
                    Some(router) => *field = self::value(graph, router),
                    None => rename_in(field, graph),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename_in(item, graph)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A column of a table with the names of routers.
pub(crate) fn column(graph: &Graph, routers: impl Iterator<Item = Option<u32>>) -> Column {
    match graph.routers_have_numbers() {
        true => Column::MaybeNumbers(routers.map(|router| graph.router_number(router?)).collect()),
        false => {
            let names: Vec<Arc<str>> = (0..graph.routers()).map(|router| graph.router_name(router).into()).collect();
            Column::MaybeTexts(routers.map(|router| Some(names[router? as usize].clone())).collect())
        }
    }
}

/// Replaces the router numbers in a table by the names of the routers.
pub(crate) fn named(table: Table, graph: &Graph) -> Table {
    let columns = table.columns.into_iter().map(|(name, cells)| match cells {
        Column::Routers(routers) => (name, column(graph, routers.into_iter())),
        cells => (name, cells),
    });
    Table { columns: columns.collect(), ..table }
}
