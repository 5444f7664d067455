//! Sets of terminals for a hot spot: the user lists them, or Weft draws them with the seed.

use crate::{Population, below, stream};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt::Formatter;
use weft_units::Refusal;

/// A set of terminals: a list of ids, or a number of terminals that Weft draws with the seed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Chosen {
    /// These terminals.
    List(Vec<u32>),
    /// Terminals that Weft draws with the seed. Every set of the requested size has the same probability.
    Drawn(Drawn),
}

/// Terminals that the seed draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    /// A number of terminals, or a share of them.
    pub random: Amount,
}

/// The number of terminals that Weft draws.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// Number of terminals.
    Count(u32),
    /// Share of all terminals, above 0 and at most 1. The product is rounded to a whole number of terminals.
    Share(f64),
}

impl<'de> Deserialize<'de> for Chosen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListOrDrawn)
    }
}

impl JsonSchema for Chosen {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Chosen".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        // The schema permits a mapping or a list. In a mapping, `--set` can change single keys.
        json_schema!({
            "type": ["array", "object"],
            "properties": { "random": generator.subschema_for::<Amount>() },
            "required": ["random"],
            "additionalProperties": false,
            "examples": [[0, 5], { "random": { "count": 2 } }, { "random": { "share": 0.25 } }]
        })
    }
}

/// Deserialises a list as `Chosen::List` and a mapping as `Chosen::Drawn`. An untagged enum would hide the errors of the two types.
struct ListOrDrawn;

impl<'de> Visitor<'de> for ListOrDrawn {
    type Value = Chosen;

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of terminals such as [0, 5], or {random: {count: 2}}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Chosen, A::Error> {
        Vec::deserialize(serde::de::value::SeqAccessDeserializer::new(list)).map(Chosen::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Chosen, A::Error> {
        Drawn::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(Chosen::Drawn)
    }
}

/// Address of the random stream of a draw: the number `draw` from the scenario, and the purpose (targets or sources).
#[derive(Debug, Clone, Copy)]
pub(super) struct Address {
    pub draw: u32,
    pub purpose: u64,
}

impl Chosen {
    /// The ids of the terminals; drawn terminals are in increasing order. `taken`: terminals that a draw must not select.
    pub(super) fn terminals(
        &self,
        population: &Population,
        taken: &[u32],
        address: Address,
        path: &str,
    ) -> Result<Vec<u32>, Refusal> {
        match self {
            Self::List(list) => {
                members(list, population.terminals, path)?;
                Ok(list.clone())
            }
            Self::Drawn(Drawn { random: amount }) => {
                drawn(amount.of(population.terminals, path)?, population, taken, address, path)
            }
        }
    }
}

impl Amount {
    fn of(self, terminals: u32, path: &str) -> Result<u32, Refusal> {
        let (key, count, asked) = match self {
            Self::Count(count) => ("count", count, format!("{count} terminals")),
            Self::Share(share) if share > 0.0 && share <= 1.0 => {
                let exact = share * f64::from(terminals);
                ("share", exact.round() as u32, format!("a share of {share} of {terminals} terminals is {exact}"))
            }
            Self::Share(share) => {
                let what = format!("a share of {share} of the terminals is not possible");
                return Err(Refusal::new(format!("{path}.random.share"), what, "write a number above 0, up to 1"));
            }
        };
        if count == 0 {
            let least = 1.0 / f64::from(terminals);
            let help = match self {
                Self::Count(_) => "write 1 or more".to_owned(),
                Self::Share(_) => format!("write {least:.3} or more, or {{random: {{count: 1}}}}"),
            };
            return Err(Refusal::new(format!("{path}.random.{key}"), format!("{asked}: no terminal is drawn"), help));
        }
        Ok(count)
    }
}

fn drawn(
    count: u32,
    population: &Population,
    taken: &[u32],
    Address { draw, purpose }: Address,
    path: &str,
) -> Result<Vec<u32>, Refusal> {
    let is_taken = members_of(taken, population.terminals);
    let mut free: Vec<u32> = (0..population.terminals).filter(|&t| !is_taken[t as usize]).collect();
    if count as usize > free.len() {
        let (all, left) = (population.terminals, free.len());
        let what = format!(
            "{count} terminals must be drawn, but only {left} are available: {all} terminals minus {} that are already \
             named or drawn",
            all as usize - left
        );
        let help = match left {
            0 => "name or draw fewer of the other terminals".to_owned(),
            most => format!("draw 1 to {most} terminals"),
        };
        return Err(Refusal::new(path, what, help));
    }
    let mut rng = stream(population.seed, draw.into(), purpose);
    for k in 0..count as usize {
        let other = k + below(&mut rng, (free.len() - k) as u32) as usize;
        free.swap(k, other);
    }
    free.truncate(count as usize);
    free.sort_unstable();
    Ok(free)
}

/// For each terminal: true if its id is in the list.
pub(super) fn members_of(list: &[u32], terminals: u32) -> Vec<bool> {
    let mut is_member = vec![false; terminals as usize];
    list.iter().for_each(|&terminal| is_member[terminal as usize] = true);
    is_member
}

/// Refuses an empty list, ids out of range and repeated ids.
fn members(list: &[u32], terminals: u32, path: &str) -> Result<(), Refusal> {
    if list.is_empty() {
        return Err(Refusal::new(path, "the list is empty", "write at least one terminal id"));
    }
    let mut is_member = vec![false; terminals as usize];
    for &terminal in list {
        match is_member.get_mut(terminal as usize) {
            Some(member) if !*member => *member = true,
            Some(_) => {
                let what = format!("terminal {terminal} is listed twice");
                return Err(Refusal::new(path, what, "list each terminal once: all have the same weight"));
            }
            None => {
                let what = format!(
                    "terminal {terminal} does not exist: a pattern numbers the terminals of its job from 0 on, and this \
                     job has {terminals}"
                );
                let help = match terminals.checked_sub(1) {
                    Some(last) => format!("write 0 to {last}: positions in the job's list of terminals"),
                    None => "give the job terminals".to_owned(),
                };
                return Err(Refusal::new(path, what, help));
            }
        }
    }
    Ok(())
}
