//! A set of link classes, as a scenario writes it.

use serde::de::{SeqAccess, Visitor, value::SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};

/// Names of link classes. A scenario can write a single name without a list. `all` means every available class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkClasses(pub Vec<String>);

impl LinkClasses {
    /// True if `all` is among the names.
    pub fn has_all(&self) -> bool {
        self.0.iter().any(|name| name == "all")
    }
}

impl schemars::JsonSchema for LinkClasses {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LinkClasses".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["string", "array"],
            "items": { "type": "string" },
            "examples": ["all", ["dim0"]]
        })
    }
}

impl<'de> Deserialize<'de> for LinkClasses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = LinkClasses;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("the name of a link class, or a list of such names")
            }
            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<LinkClasses, E> {
                Ok(LinkClasses(vec![name.to_owned()]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, names: A) -> Result<LinkClasses, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(names)).map(LinkClasses)
            }
        }
        deserializer.deserialize_any(Names)
    }
}
