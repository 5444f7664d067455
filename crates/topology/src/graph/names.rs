//! The names of routers: their numbers from 0, or their ids in a graph file.
//!
//! Only [`Graph::router_name`] and [`Graph::router_number`] convert a router into its name. Only [`Graph::router_named`] finds the router
//! with a given name.

use super::Graph;
use schemars::JsonSchema;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt::{Display, Formatter};

/// Largest id that tables write as a number, because columns of routers contain signed 32-bit integers.
const MAX_NUMBER: u32 = i32::MAX as u32;

/// The name of a router in a scenario: its number, or its id in a graph file. The values 1 and "1" name the same router.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RouterName {
    Number(i64),
    Text(String),
}

impl Display for RouterName {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl From<u32> for RouterName {
    fn from(router: u32) -> Self {
        Self::Number(router.into())
    }
}

impl JsonSchema for RouterName {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "RouterName".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["integer", "string"] })
    }
}

impl<'de> Deserialize<'de> for RouterName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = RouterName;
            fn expecting(&self, f: &mut Formatter) -> std::fmt::Result {
                f.write_str("a router: its number, or its id in the graph file")
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<RouterName, E> {
                Ok(RouterName::Number(number))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<RouterName, E> {
                Ok(i64::try_from(number).map_or_else(|_| RouterName::Text(number.to_string()), RouterName::Number))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<RouterName, E> {
                // converts the number to the same string as the reader of JSON graph files, for ids that are not integers
                Ok(RouterName::Text(serde_json::Value::from(number).to_string()))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<RouterName, E> {
                Ok(RouterName::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(Name)
    }
}

/// The ids of the routers in a graph file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ids {
    list: Vec<String>,
    /// The routers, sorted by id for the search.
    sorted: Vec<u32>,
    /// The ids as numbers; `None` if an id is not a number.
    numbers: Option<Vec<u32>>,
}

impl Ids {
    pub fn new(list: Vec<String>) -> Self {
        let mut sorted: Vec<u32> = (0..list.len() as u32).collect();
        sorted.sort_by_key(|&router| &list[router as usize]);
        let number =
            |id: &String| id.parse().ok().filter(|&number: &u32| number <= MAX_NUMBER && number.to_string() == *id);
        let numbers = list.iter().map(number).collect();
        Self { list, sorted, numbers }
    }
}

impl Graph {
    /// The ids of the routers in a graph file; `None` if routers have only numbers.
    pub fn router_names(&self) -> Option<&[String]> {
        self.router_ids.as_ref().map(|ids| &ids.list[..])
    }

    /// The name of a router: its id in a graph file, otherwise its number.
    pub fn router_name(&self, router: u32) -> Cow<'_, str> {
        match &self.router_ids {
            Some(ids) => Cow::Borrowed(&ids.list[router as usize]),
            None => Cow::Owned(router.to_string()),
        }
    }

    /// The name of the links between two routers: both names, joined by a hyphen. If a name contains a hyphen, the joining hyphen has
    /// spaces around it.
    pub fn link_name(&self, a: u32, b: u32) -> String {
        let [a, b] = [a, b].map(|router| self.router_name(router));
        let hyphen = if a.contains('-') || b.contains('-') { " - " } else { "-" };
        format!("{a}{hyphen}{b}")
    }

    /// True if the names of all routers are whole numbers.
    pub fn routers_have_numbers(&self) -> bool {
        self.router_ids.as_ref().is_none_or(|ids| ids.numbers.is_some())
    }

    /// The name of a router as a number, if the names of all routers are numbers.
    pub fn router_number(&self, router: u32) -> Option<u32> {
        match &self.router_ids {
            Some(ids) => ids.numbers.as_ref().map(|numbers| numbers[router as usize]),
            None => Some(router),
        }
    }

    /// Finds the router with a given name.
    pub fn router_named(&self, name: &str) -> Option<u32> {
        match &self.router_ids {
            Some(ids) => {
                let place = ids.sorted.binary_search_by_key(&name, |&router| &ids.list[router as usize]);
                place.ok().map(|place| ids.sorted[place])
            }
            None => name.parse().ok().filter(|&router: &u32| router < self.routers()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Graph, RouterName, TopologyConfig};

    fn graph(ids: [&str; 3]) -> Graph {
        let nodes = ids.map(|id| format!(r#"{{"id": {id}, "terminals": 1}}"#)).join(", ");
        let [a, b, c] = ids;
        let edges = format!(r#"[{{"source": {a}, "target": {b}}}, {{"source": {b}, "target": {c}}}]"#);
        let text = format!(r#"{{"nodes": [{nodes}], "edges": {edges}}}"#);
        let file = crate::graph_file::GraphFile::of(weft_units::InputFile::new("g.json", text.as_bytes()));
        TopologyConfig::GraphFile(file).build("topology").expect("a graph")
    }

    #[test]
    fn a_router_of_a_file_has_the_id_of_the_file() {
        for (ids, numbers) in [
            (["3", "1", "20"], Some([3, 1, 20])),
            ([r#""b""#, r#""1""#, "2.5"], None),
            // these ids are not numbers in a table: a leading zero would be lost, and the last id needs more than 31 bits
            ([r#""01""#, "1", "2"], None),
            (["2147483648", "1", "2"], None),
        ] {
            let graph = graph(ids);
            for (router, id) in (0..).zip(ids) {
                let id = id.trim_matches('"');
                assert_eq!((&*graph.router_name(router), graph.router_named(id)), (id, Some(router)));
                assert_eq!(graph.router_number(router), numbers.map(|numbers| numbers[router as usize]));
            }
            assert_eq!((graph.routers_have_numbers(), graph.router_named("0")), (numbers.is_some(), None));
        }
        let plain = serde_json::from_str::<TopologyConfig>(r#"{"torus": {"widths": [3], "terminals_per_router": 1}}"#);
        let plain = plain.expect("a torus").build("topology").expect("a graph");
        assert_eq!((&*plain.router_name(2), plain.router_number(2)), ("2", Some(2)));
        assert_eq!(["2", "3", "x"].map(|name| plain.router_named(name)), [Some(2), None, None]);
    }

    #[test]
    fn a_scenario_writes_a_name_as_a_number_or_as_text() {
        let names: Vec<RouterName> =
            serde_json::from_str(r#"[3, -1, "leaf 0", 2.50, 18446744073709551615]"#).expect("names");
        let shown: Vec<String> = names.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["3", "-1", "leaf 0", "2.5", "18446744073709551615"]);
        assert_eq!(serde_json::to_string(&names[..3]).expect("JSON"), r#"[3,-1,"leaf 0"]"#);
        assert!(serde_json::from_str::<RouterName>("[1]").is_err());
    }
}
