//! The scenario keys that define the meaning of attributes in a graph file.

use super::draft::Problem;
use super::values::{self, Unit, Unread};
use crate::graph::facts::Latency;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::{Bandwidth, Time};

/// For each property of a network, the attribute of the graph file that contains it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attributes {
    /// The edge attribute that contains the bandwidth of a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<BandwidthFrom>,
    /// The edge attribute that contains the latency of a link, or its length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyFrom>,
    /// The edge attribute that contains the class of a link; default `class`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<From>,
    /// The node attribute that contains the number of terminals of a router; default `terminals`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminals: Option<From>,
}

/// The name of an attribute in a graph file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct From {
    /// Name of the attribute in the file.
    pub from: String,
}

/// An edge attribute that contains a bandwidth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BandwidthFrom {
    /// Name of the attribute in the file.
    pub from: String,
    /// Unit of the numbers: Tb/s, Gb/s, Mb/s, kb/s, b/s or flits/cycle. Values such as `100Gb/s` or `100G` already have a unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Rounds to the nearest multiple of this bandwidth, and to at least one multiple. Default: values are not rounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<Bandwidth>,
}

/// An edge attribute that contains a time or a length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyFrom {
    /// Name of the attribute in the file.
    pub from: String,
    /// Unit of the numbers: a time (s, ms, us, ns, ps, cycles) or a length (km, m, cm, mm, mi, ft). A length is converted into a latency
    /// of 5 ns per metre, the speed of light in a fibre. Leave the unit out if the values have their own unit, such as `2us` or `3m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Rounds up to a multiple of this time, and to whole cycles. Default: lengths are rounded up to whole cycles, and times that are not
    /// a whole number of cycles are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<Time>,
}

/// Rule that selects the nodes of a graph file that are hosts. Each host becomes a terminal of the router to which it has a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hosts {
    /// Name of the node attribute that identifies hosts; `id` is the id of the node.
    pub attribute: String,
    /// Value of this attribute that hosts have; `server*` matches every value that begins with `server`.
    pub value: String,
}

impl Hosts {
    pub fn fits(&self, text: &str) -> bool {
        match self.value.strip_suffix('*') {
            Some(start) => text.starts_with(start),
            None => text == self.value,
        }
    }
}

const ROUND: &str = "attributes.latency.round";

impl BandwidthFrom {
    /// Parses a string of the file as a bandwidth.
    pub fn read(&self, text: &str) -> Result<Bandwidth, Problem> {
        let read = values::bandwidth(text, self.unit.as_deref()).map_err(|unread| self.problem(&unread))?;
        if matches!(read, Bandwidth::BitsPerSecond(0) | Bandwidth::Flits { flits: 0, .. }) {
            let what = format!("`{}` is {text:?}, so the link has no bandwidth", self.from);
            return Err(Problem::new(what, "remove the link from the file, or correct its value"));
        }
        match (read, self.round) {
            (_, None) => Ok(read),
            (Bandwidth::BitsPerSecond(bits), Some(Bandwidth::BitsPerSecond(step @ 1..))) => {
                let multiple = (bits.saturating_add(step / 2) / step).max(1);
                Ok(Bandwidth::BitsPerSecond(multiple.saturating_mul(step)))
            }
            (_, Some(step)) => {
                let what = format!("`{}` is {read}, which cannot be rounded to a multiple of {step}", self.from);
                let help = "write `round` in bits per second, such as 1Gb/s, or remove `round`";
                Err(Problem::new(what, help).under("attributes.bandwidth.round"))
            }
        }
    }

    fn problem(&self, unread: &Unread) -> Problem {
        let units = "Tb/s, Gb/s, Mb/s, kb/s, b/s or flits/cycle";
        problem(&self.from, unread, units, "100Gb/s").under("attributes.bandwidth")
    }
}

impl LatencyFrom {
    /// Parses a string of the file as a latency.
    pub fn read(&self, text: &str) -> Result<Latency, Problem> {
        let (time, unit) = values::latency(text, self.unit.as_deref()).map_err(|unread| self.problem(&unread))?;
        if let Some(step @ (Time::Cycles(0) | Time::Femtoseconds(0))) = self.round {
            let what = format!("{step} has no multiples, so Weft cannot round `{}` up", self.from);
            return Err(Problem::new(what, "write a time above 0, such as 1cycle, or remove `round`").under(ROUND));
        }
        let multiple = match (self.round, unit) {
            (Some(Time::Cycles(cycles)), _) => Some(cycles),
            (Some(Time::Femtoseconds(_)), _) | (None, Unit::Length) => Some(1),
            (None, Unit::Time) => None,
        };
        let time = match (time, self.round) {
            (Time::Femtoseconds(fs), Some(Time::Femtoseconds(step))) => {
                Time::Femtoseconds(fs.div_ceil(step).saturating_mul(step))
            }
            (time, _) => time,
        };
        Ok(Latency { time, multiple })
    }

    fn problem(&self, unread: &Unread) -> Problem {
        let units = "a time (s, ms, us, ns, ps, cycles) or a length (km, m, cm, mm, mi, ft)";
        problem(&self.from, unread, units, "2us or 3m").under("attributes.latency")
    }
}

/// The error for a value of the attribute `from` that cannot be parsed.
fn problem(from: &str, unread: &Unread, units: &str, example: &str) -> Problem {
    let help = match unread {
        Unread::Unit(_) => {
            format!(
                "write `unit` next to `from`: {units}; or write the value with its unit in the file, such as {example}"
            )
        }
        Unread::Number(_) => format!(
            "correct the value in the file; or, if its values have another unit, write that unit as `unit`: {units}"
        ),
    };
    Problem::new(format!("`{from}` {}", unread.what()), help)
}
