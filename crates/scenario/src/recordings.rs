//! Recordings that a scenario requests with keys of `measure`. Each key is the name of a recording, and its value contains the parameters.
//! The engine's registry lists the recordings. The code of this crate uses no name of a recording.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use weft_engine::recording::{Heading, Kind, RecordingConfig, TableInfo};

/// The requested recordings of a family (by default the engine's recordings), in the order of its registry, each at most once.
#[derive(Debug, Clone, PartialEq)]
pub struct Recordings<R = RecordingConfig>(pub Vec<R>);

impl<R> Default for Recordings<R> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<R: Serialize> Recordings<R> {
    /// Returns the recordings as keys of `measure` with their parameters.
    pub(crate) fn keys(&self) -> serde_json::Result<Map<String, Value>> {
        let mut keys = Map::new();
        for recording in &self.0 {
            // a recording is serialised as a mapping with its name as the only key
            if let Value::Object(key) = serde_json::to_value(recording)? {
                keys.extend(key);
            }
        }
        Ok(keys)
    }
}

impl<R: Serialize> Serialize for Recordings<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.keys().map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// The schema of `measure` gets a key for each recording of the family. A key without a value requests the recording with all defaults.
impl<R: JsonSchema> JsonSchema for Recordings<R> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Recordings".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let family = R::json_schema(generator).to_value();
        let members = family.get("oneOf").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let key = |member: &Value| {
            let (name, parameters) = member.get("properties")?.as_object()?.iter().next()?;
            Some((name.clone(), json!({ "anyOf": [parameters, { "type": "null" }] })))
        };
        let keys: Map<String, Value> = members.iter().filter_map(key).collect();
        schemars::json_schema!({ "type": "object", "properties": keys })
    }
}

/// Reads a mapping in which some keys are recordings. This type keeps the keys of recordings, and passes the other keys to the type that
/// reads them.
pub(crate) struct Taking<A> {
    map: A,
    taken: Vec<RecordingConfig>,
}

impl<A> Taking<A> {
    pub fn new(map: A) -> Self {
        Self { map, taken: Vec::new() }
    }

    /// The recordings found in the mapping, in the order of the registry.
    pub fn recordings(mut self) -> Recordings {
        let place = |recording: &RecordingConfig| {
            RecordingConfig::names().iter().position(|name| *name == recording.name()).unwrap_or(usize::MAX)
        };
        self.taken.sort_by_key(place);
        Recordings(self.taken)
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for &mut Taking<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.map.next_key::<String>()? {
            match RecordingConfig::names().iter().find(|name| **name == key) {
                Some(&name) => self.taken.push(self.map.next_value_seed(Member(name))?),
                None => return seed.deserialize(key.into_deserializer()).map(Some),
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// Deserialises the parameters of the recording with this name.
struct Member(&'static str);

impl<'de> DeserializeSeed<'de> for Member {
    type Value = RecordingConfig;

    fn deserialize<D: Deserializer<'de>>(self, parameters: D) -> Result<RecordingConfig, D::Error> {
        let member = Tagged { name: Some(self.0), parameters: Some(parameters) };
        RecordingConfig::deserialize(MapAccessDeserializer::new(member))
    }
}

/// The mapping `{name: parameters}` of one recording, in the form from which a registry reads its members.
struct Tagged<D> {
    name: Option<&'static str>,
    parameters: Option<D>,
}

impl<'de, D: Deserializer<'de>> MapAccess<'de> for Tagged<D> {
    type Error = D::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, D::Error> {
        self.name.take().map(|name| seed.deserialize(name.into_deserializer())).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, D::Error> {
        let parameters = self.parameters.take().ok_or_else(|| D::Error::custom("a key without a value"))?;
        seed.deserialize(parameters)
    }
}

/// All recordings as JSON: name, example of the parameters, and meaning of the tables.
pub fn recordings() -> Value {
    RecordingConfig::tables().map(|(name, info)| described(name, &info, &RecordingConfig::examples())).collect()
}

fn described(name: &str, info: &TableInfo, examples: &[RecordingConfig]) -> Value {
    let example = examples.iter().find(|example| example.name() == name).and_then(|e| serde_json::to_value(e).ok());
    let column = |heading: Heading| {
        let cells = match heading.kind {
            Kind::Count => "whole number",
            Kind::MaybeCount | Kind::MaybeNumber => "whole number or null",
            Kind::Float => "number",
            Kind::Energy => "decimal number",
            Kind::Text => "text",
            Kind::MaybeText => "text or null",
            Kind::Router => "whole number or null; text if an id of the graph file is not a number",
        };
        json!({ "name": heading.name, "cells": cells, "unit": heading.unit, "meaning": heading.meaning })
    };
    json!({
        "name": name,
        "meaning": info.meaning,
        "rows": info.rows,
        "example": example.map_or_else(|| "{}".to_owned(), |example| in_a_line(&example[name])),
        "columns": (info.columns)().into_iter().map(column).collect::<Vec<_>>(),
    })
}

/// Parameters of a recording as YAML in one line.
fn in_a_line(value: &Value) -> String {
    match value {
        Value::Object(keys) => {
            let keys: Vec<_> = keys.iter().map(|(key, value)| format!("{key}: {}", in_a_line(value))).collect();
            format!("{{{}}}", keys.join(", "))
        }
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}
