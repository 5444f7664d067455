//! Lengths of packets as a scenario gives them: `4flits`, or `{mix: [{size: 1flit, weight: 3}, {size: 5flits, weight: 1}]}`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{IntoDeserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt::Formatter;
use weft_traffic::Lengths;
use weft_units::{Flits, Refusal};

/// Maximum length of a packet [flits]; lengths and credits are 16-bit numbers.
const LONGEST: u32 = u16::MAX as u32;

/// Length of packets [flits].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PacketConfig {
    /// All packets have the same length.
    One(Flits),
    /// Several lengths; each packet has one of them.
    Several(Several),
}

/// Several lengths of packets, with weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Several {
    /// The lengths and their weights. Each packet gets one of these lengths at random by weight, independent of its destination.
    pub mix: Vec<Size>,
}

/// A possible length of packets, with its weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Length of these packets [flits], 1 to 65535.
    pub size: Flits,
    /// Weight of this length, above 0. The share of packets with this length is its weight divided by the sum of all weights.
    pub weight: f64,
}

impl PacketConfig {
    /// Converts the lengths to the type of the engine. A refusal names the key at `path`. If there is only one length, it is not
    /// checked here, but later with its job.
    pub(crate) fn lengths(&self, path: &str) -> Result<Lengths, Refusal> {
        let mix = match self {
            Self::One(flits) => return Ok(Lengths::one(flits.0)),
            Self::Several(several) => &several.mix,
        };
        if mix.is_empty() {
            let help = "write at least one {size: 4flits, weight: 1}";
            return Err(Refusal::new(format!("{path}.mix"), "the list is empty", help));
        }
        for (i, Size { size, weight }) in mix.iter().enumerate() {
            if !(1..=LONGEST).contains(&size.0) {
                let help = "write 1flit or more, and send longer messages as several packets";
                let what = format!("a packet of {size} is not possible; a packet has 1 to {LONGEST} flits");
                return Err(Refusal::new(format!("{path}.mix.{i}.size"), what, help));
            }
            if !(*weight > 0.0 && weight.is_finite()) {
                let help = "write a number above 0, or leave this size out";
                return Err(Refusal::new(
                    format!("{path}.mix.{i}.weight"),
                    format!("a weight of {weight} is not a finite number above 0"),
                    help,
                ));
            }
        }
        let weights: Vec<(u32, f64)> = mix.iter().map(|one| (one.size.0, one.weight)).collect();
        if weights.iter().map(|&(_, weight)| weight).sum::<f64>().is_infinite() {
            let what = "the sum of the weights is too large";
            return Err(Refusal::new(format!("{path}.mix"), what, "write smaller weights"));
        }
        Ok(Lengths::of(&weights))
    }
}

impl PacketConfig {
    /// Mean length [flits].
    pub(crate) fn mean(&self) -> f64 {
        let mix = match self {
            Self::One(flits) => return flits.0.into(),
            Self::Several(several) => &several.mix,
        };
        let sum: f64 = mix.iter().map(|one| one.weight).sum();
        mix.iter().map(|one| one.weight / sum * f64::from(one.size.0)).sum()
    }

    /// True if some packets have the length `flits`.
    pub(crate) fn has(&self, flits: u32) -> bool {
        match self {
            Self::One(one) => one.0 == flits,
            Self::Several(several) => several.mix.iter().any(|one| one.size.0 == flits),
        }
    }
}

impl JsonSchema for PacketConfig {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PacketConfig".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "object"],
            "pattern": r"^[0-9]+(\.0+)? ?flits?$",
            "properties": { "mix": generator.subschema_for::<Vec<Size>>() },
            "required": ["mix"],
            "additionalProperties": false,
            "examples": ["4flits", { "mix": [{ "size": "1flit", "weight": 3 }, { "size": "5flits", "weight": 1 }] }]
        })
    }
}

impl<'de> Deserialize<'de> for PacketConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Sizes;
        impl<'de> Visitor<'de> for Sizes {
            type Value = PacketConfig;
            fn expecting(&self, f: &mut Formatter) -> std::fmt::Result {
                f.write_str("a number of flits such as 4flits, or {mix: [{size: 1flit, weight: 1}, ...]}")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<PacketConfig, E> {
                text.parse().map(PacketConfig::One).map_err(E::custom)
            }
            fn visit_u64<E: serde::de::Error>(self, bare: u64) -> Result<PacketConfig, E> {
                Flits::deserialize(bare.into_deserializer()).map(PacketConfig::One)
            }
            fn visit_i64<E: serde::de::Error>(self, bare: i64) -> Result<PacketConfig, E> {
                Flits::deserialize(bare.into_deserializer()).map(PacketConfig::One)
            }
            fn visit_f64<E: serde::de::Error>(self, bare: f64) -> Result<PacketConfig, E> {
                Flits::deserialize(bare.into_deserializer()).map(PacketConfig::One)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PacketConfig, A::Error> {
                Several::deserialize(MapAccessDeserializer::new(map)).map(PacketConfig::Several)
            }
        }
        deserializer.deserialize_any(Sizes)
    }
}
