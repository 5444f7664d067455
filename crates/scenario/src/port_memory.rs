//! Divides the memory of an input port among its queues, and computes the table of lanes that `weft check` prints.

use crate::config::{FlowControl, Scenario};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use weft_engine::{LaneCounts, Spec};
use weft_units::{Bits, Flits, Refusal};

/// The memory of an input port: "64KiB", or "512flits".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortMemory {
    Flits(Flits),
    Bits(Bits),
}

/// Rule that determines the number of equal parts into which the memory of a port is divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// A part for each queue of the queueing scheme in each VC class of the routing, including queues that packets never reach.
    #[default]
    Nominal,
    /// A part for each queue that packets reach on links of the class.
    Reachable,
}

impl PortMemory {
    /// Number of whole flits that fit into the memory.
    fn flits(self, flit: Bits) -> u64 {
        match self {
            Self::Flits(flits) => flits.0.into(),
            Self::Bits(bits) => bits.0 / flit.0.max(1),
        }
    }

    /// Returns a memory of `flits` flits as text, in the unit in which this memory was written.
    fn like(self, flits: u64, flit: Bits) -> String {
        match self {
            Self::Flits(_) => format!("{flits}flits"),
            Self::Bits(_) => {
                let bits = flits * flit.0;
                if bits.is_multiple_of(8) { format!("{}B", bits / 8) } else { format!("{bits}b") }
            }
        }
    }
}

/// The division of the memory of a port of a link class.
struct Parts {
    /// Number of queues among which the port's memory is divided.
    parts: u64,
    /// Maximum number of VCs of a lane.
    vcs_of_lane: u64,
}

impl Parts {
    fn of(spec: &Spec, lanes: &LaneCounts, link: usize, split: Split) -> Self {
        let sets = spec.sets_of_vcs() as u64;
        let counts = &lanes.by_class[link];
        let all: u64 = counts.iter().map(|&lanes| u64::from(lanes)).sum();
        let reached = if link == 0 { u64::from(lanes.from_terminals) } else { all }.max(1);
        let nominal = u64::from(spec.queueing.model().parts(&spec.graph, counts.len().max(1) as u32));
        if lanes.ideal.is_some() {
            // each destination has a queue with one part of the memory, so the number of VCs does not matter
            return Self { parts: nominal * sets, vcs_of_lane: 1 };
        }
        let parts = match split {
            Split::Nominal => nominal.max(1),
            Split::Reachable => reached,
        };
        Self { parts: parts * sets, vcs_of_lane: u64::from(spec.links[link].vcs).div_ceil(reached * sets).max(1) }
    }

    fn pieces(&self) -> u64 {
        self.parts * self.vcs_of_lane
    }
}

impl Scenario {
    /// Sets the buffers of VCs for link classes whose memory is given per port (`port_buffer`).
    pub(crate) fn split_ports(&self, spec: &mut Spec) -> Result<(), Refusal> {
        let names = spec.graph.class_names().to_vec();
        let given: Vec<(usize, PortMemory, Split)> = (0..)
            .zip(&names)
            .filter_map(|(k, name)| {
                let link = self.links.get(name)?;
                Some((k, link.port_buffer?, link.split.unwrap_or_default()))
            })
            .collect();
        if given.is_empty() {
            return Ok(());
        }
        let lanes = weft_engine::lanes(spec)?;
        for (link, memory, split) in given {
            let parts = Parts::of(spec, &lanes, link, split);
            let (flits, pieces) = (memory.flits(self.flit), parts.pieces());
            let (least, worms) = spec.least_buffers()?;
            let worms = worms && self.router.flow_control == FlowControl::Wormhole;
            let (each, least) = (flits / pieces, if worms { 1 } else { u64::from(least[link]) });
            if each < least {
                let what = format!(
                    "{} of port memory are {flits} flits, in {} parts{} of {each} flits each: {each} < {least}, the \
                     room that a head needs",
                    memory.like(flits, self.flit),
                    parts.parts,
                    if parts.vcs_of_lane > 1 { format!(" of {} VCs", parts.vcs_of_lane) } else { String::new() },
                );
                let fewer = Parts::of(spec, &lanes, link, Split::Reachable);
                let enough = memory.like(least * pieces, self.flit);
                let help = match split == Split::Nominal && flits / fewer.pieces() >= least {
                    true => format!("write {enough} or more, or `split: reachable`, which makes {} parts", fewer.parts),
                    false if lanes.ideal.is_some() => {
                        format!("write {enough} or more, or a `buffer` for each queue of the ideal map")
                    }
                    false => format!("write {enough} or more, or choose a scheme with fewer queues"),
                };
                return Err(Refusal::new(format!("links.{}.port_buffer", names[link]), what, help));
            }
            spec.links[link].buffer = u32::try_from(each).unwrap_or(u32::MAX);
        }
        Ok(())
    }

    /// The lanes and the memory of ports of each link class, which `weft check` prints. Null for a scenario without a queueing scheme and
    /// without `port_buffer`.
    pub(crate) fn lane_facts(&self, spec: &Spec) -> Result<Value, Refusal> {
        let divides = self.links.values().any(|link| link.port_buffer.is_some());
        if spec.queueing.is_usual() && !divides {
            return Ok(Value::Null);
        }
        let lanes = weft_engine::lanes(spec)?;
        let of = |(k, name): (usize, &String)| {
            let link = &spec.links[k];
            let given = self.links.get(name);
            let memory = given.and_then(|given| given.port_buffer);
            let parts = Parts::of(spec, &lanes, k, given.and_then(|given| given.split).unwrap_or_default());
            // in an ideal scheme each VC class has a queue per destination, and no real router has memory for all these queues
            let pieces = lanes.ideal.map_or(u64::from(link.vcs), |_| parts.pieces());
            let facts = json!({
                "lanes": lanes.by_class[k],
                "lanes_from_terminals": (k == 0).then_some(lanes.from_terminals),
                "vcs": link.vcs,
                "vc_buffer_flits": link.buffer,
                "parts": memory.map(|_| parts.pieces()),
                "port_memory_flits": memory.map(|memory| memory.flits(self.flit)),
                "used_memory_flits": u64::from(link.buffer) * pieces,
            });
            (name.clone(), facts)
        };
        let links = Map::from_iter(spec.graph.class_names().iter().enumerate().map(of));
        let (scheme, queues, ideal) = (spec.queueing.name(), lanes.queues, lanes.ideal);
        Ok(json!({ "scheme": scheme, "queues": queues, "ideal_queues": ideal, "links": links }))
    }
}

impl<'de> Deserialize<'de> for PortMemory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        weft_units::with_unit(deserializer, ("a memory size", "B", "64KiB"), |text| {
            if text.ends_with("flit") || text.ends_with("flits") {
                return text.parse().map(Self::Flits);
            }
            text.parse().map(Self::Bits).map_err(|error: String| {
                let what = error.lines().next().unwrap_or_default();
                format!("{what}\nwrite a size in B, KB, KiB, MB or MiB, or in flits; for example \"64KiB\"")
            })
        })
    }
}

impl Serialize for PortMemory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Flits(flits) => flits.serialize(serializer),
            Self::Bits(bits) => bits.serialize(serializer),
        }
    }
}

impl JsonSchema for PortMemory {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PortMemory".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            // the pattern ends like the pattern of a number of flits, because the conversion to coarse flits (`grain.rs`) finds numbers
            // of flits by this end
            "pattern": r"^[0-9]+(\.[0-9]+)?( ?(b|[KM]?B|[KM]iB)| ?flits?)$",
            "examples": ["64KiB", "512flits"]
        })
    }
}
