//! Assigns packets to classes by their source and destination, for the recording `flows`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt::Formatter;
use weft_api::recording::NetworkSite;
use weft_units::Refusal;

/// Largest number of classes. Each terminal has a mask of 16 bits, in which each class has one bit.
const MOST: usize = 15;
/// Names of two more classes: `REST` for packets that fit no other class, and `CONTROL` for control packets.
pub const REST: &str = "rest";
pub const CONTROL: &str = "control";

/// A class of packets: all packets from terminals of one set to terminals of another set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowClass {
    /// Name of the class in tables.
    pub name: String,
    /// Terminals that send these packets (default: all): a list, the name of a job, or a group of its pattern such as
    /// `sources`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Terminals>,
    /// Terminals that receive these packets (default: all): a list, the name of a job, or a group of its pattern such as
    /// `targets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Terminals>,
}

/// A set of terminals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Terminals {
    /// The name of a job, or of a group of its pattern.
    Named(String),
    /// A list of terminal numbers.
    List(Vec<u32>),
}

impl JsonSchema for Terminals {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Terminals".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "array"], "examples": ["targets", [0, 5]] })
    }
}

impl<'de> Deserialize<'de> for Terminals {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrList)
    }
}

struct NameOrList;

impl<'de> Visitor<'de> for NameOrList {
    type Value = Terminals;

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of terminals such as [0, 5], or the name of a job or of a group of its pattern")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Terminals, E> {
        Ok(Terminals::Named(name.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Terminals, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Terminals::List)
    }
}

/// The classes of packets for a network. A packet belongs to the first class that it fits, or to [`REST`] if it fits none.
#[derive(Debug, Default)]
pub struct Classes {
    pub names: Vec<String>,
    /// For each terminal: mask of the classes whose packets it can send.
    from: Vec<u16>,
    /// For each terminal: mask of the classes whose packets it can receive.
    to: Vec<u16>,
    /// Number of classes that the user defined.
    named: usize,
}

impl Classes {
    /// Creates the classes for a network. Refuses an empty set of terminals, and a class that can have no packets. `path`: the path of the
    /// list of classes in the scenario.
    pub fn new(classes: &[FlowClass], network: &NetworkSite, path: &str) -> Result<Self, Refusal> {
        if !(1..=MOST).contains(&classes.len()) {
            let what = format!("{} classes of flows, but a run can distinguish 1 to {MOST}", classes.len());
            let help = "write at least one class, such as {name: hot, to: [0]}, and merge classes beyond the limit";
            return Err(Refusal::new(path, what, help));
        }
        let all = vec![0; network.terminals as usize];
        let mut found = Self { from: all.clone(), to: all, named: classes.len(), ..Self::default() };
        for (k, class) in classes.iter().enumerate() {
            let path = format!("{path}.{k}");
            refuse_name(&class.name, &classes[..k], &path)?;
            if let Some(whole) = classes[..k].iter().find(|class| class.takes_all()) {
                let what = format!("class `{}` contains all packets, so none is left for `{}`", whole.name, class.name);
                let help = format!("name terminals under `from` or `to` of `{}`, or write this class last", whole.name);
                return Err(Refusal::new(path, what, help));
            }
            mark(&mut found.from, k, class.from.as_ref(), network, &format!("{path}.from"))?;
            mark(&mut found.to, k, class.to.as_ref(), network, &format!("{path}.to"))?;
            found.names.push(class.name.clone());
        }
        if !classes.iter().any(FlowClass::takes_all) {
            found.names.push(REST.to_owned());
        }
        Ok(found)
    }

    /// Number of classes, including `rest`.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Index of the class of packets from terminal `src` to terminal `dst`.
    #[inline]
    pub fn of(&self, src: u32, dst: u32) -> usize {
        let both = self.from[src as usize] & self.to[dst as usize];
        (both.trailing_zeros() as usize).min(self.named)
    }

    /// For each class: number of terminals in jobs that could send packets of this class, whatever the traffic pattern.
    pub fn sources(&self, network: &NetworkSite) -> Vec<u64> {
        let mut receive: Vec<u16> = network.in_jobs.iter().map(|&t| self.to[t as usize]).collect();
        receive.sort_unstable();
        receive.dedup();
        let mut sources = vec![0; self.count()];
        for &terminal in &network.in_jobs {
            let classes = receive.iter().map(|to| {
                let both = self.from[terminal as usize] & to;
                1u32 << (both.trailing_zeros() as usize).min(self.named)
            });
            let classes = classes.fold(0, |all, one| all | one);
            sources.iter_mut().enumerate().for_each(|(k, count)| *count += u64::from(classes >> k & 1));
        }
        sources
    }
}

impl FlowClass {
    fn takes_all(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }
}

fn refuse_name(name: &str, before: &[FlowClass], path: &str) -> Result<(), Refusal> {
    let (what, help) = if name.is_empty() {
        ("the class has no name".to_owned(), "write a name, such as hot".to_owned())
    } else if [REST, CONTROL].contains(&name) {
        let of = if name == REST { "packets of no class" } else { "control packets of the power policy" };
        (format!("`{name}` is the name of the row for {of}"), format!("write another name than `{name}`"))
    } else if before.iter().any(|other| other.name == name) {
        (format!("`{name}` is also the name of another class"), "give each class its own name".to_owned())
    } else {
        return Ok(());
    };
    Err(Refusal::new(format!("{path}.name"), what, help))
}

/// Sets the bit of class `k` in `bits` for each terminal of a set.
fn mark(bits: &mut [u16], k: usize, set: Option<&Terminals>, network: &NetworkSite, path: &str) -> Result<(), Refusal> {
    let terminals = match set {
        None => {
            bits.iter_mut().for_each(|bits| *bits |= 1 << k);
            return Ok(());
        }
        Some(Terminals::List(list)) => list,
        Some(Terminals::Named(name)) => {
            let Some(set) = network.sets.iter().find(|set| set.name == *name) else {
                let known: Vec<_> = network.sets.iter().map(|set| format!("`{}`", set.name)).collect();
                let what = format!("no set of terminals is called `{name}`");
                let help = format!("write a list of terminals, or one of {}", known.join(", "));
                return Err(Refusal::new(path, what, help));
            };
            &set.terminals
        }
    };
    if terminals.is_empty() {
        let help = "write at least one terminal, or leave the class out";
        return Err(Refusal::new(path, "the list has no terminals, so the class has no packets", help));
    }
    for &terminal in terminals {
        let Some(bits) = bits.get_mut(terminal as usize) else {
            let all = network.terminals;
            let what = format!("there is no terminal {terminal}: the network has {all} terminals");
            return Err(Refusal::new(path, what, format!("write terminals from 0 to {}", all - 1)));
        };
        *bits |= 1 << k;
    }
    Ok(())
}
