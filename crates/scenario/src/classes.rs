//! The scenario keys for message classes and for the queues of network interfaces.

use crate::assemble::Clock;
use crate::config::Scenario;
use crate::diagnostic::suggestion;
use crate::name;
use crate::warning::Warning;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt::Formatter;
use weft_engine::Spec;
use weft_engine::classes::{ClassVcs, InjectionRule, InterfaceSpec, MAX_QUEUES, MessageClass, Queueing};
use weft_engine::spec::Rate;
use weft_topology::Graph;
use weft_units::{Bandwidth, Refusal};

weft_units::codes! {
    PRIORITY_AT_TERMINALS_ONLY = "priority_at_terminals_only", Warning,
        means: "Priorities of message classes have an effect in network interfaces only.",
        computed: "`router.vc_realloc` is above 0. VCs are then allocated in a separate round-robin stage.",
        helps: "Write `router: {vc_realloc: 0}`.";
    PRIORITY_BEHIND_SWITCH = "priority_behind_switch", Warning,
        means: "Flits wait for their link after the switch, where priorities have no effect.",
        computed: "`router.speedup` is above 1 and `router.output_buffer` has no limit.",
        helps: "Write `router: {output_buffer: 2flits}`, or `router: {speedup: 1}`.";
}

/// A message class: a kind of packets with its own VCs and a priority.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClassConfig {
    /// Priority in allocation: packets of a higher priority win. Default: 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub priority: u8,
    /// Number of VCs of each channel that only this class may use, or `shared`: the class shares VCs with all other classes that
    /// are `shared`. Default: an equal share of the VCs that no class reserves by number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vcs: Option<ClassVcsConfig>,
    /// Largest rate at which the queue of this class in a network interface injects [bits per second, or flits per cycle], with
    /// `interface: {queues: per_class}`. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Bandwidth>,
}

/// The VCs of a message class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassVcsConfig {
    Own(u32),
    Shared,
}

/// The queues of every network interface. The queues hold the packets of a terminal that are ready.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InterfaceConfig {
    /// Rule that assigns packets of a terminal to queues. `one`: all packets share a queue. `per_class`: packets of the same message class
    /// share a queue. `per_destination`: packets for the same terminal share a queue. `per_lane`: packets share a queue if the queueing
    /// scheme puts them into the same lane of the link from the terminal. Default: `one`. With a queueing scheme: `per_lane`. With a scheme
    /// that sets queues aside, or with congestion control: `per_destination`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<Queueing>,
    /// Rule that chooses the queue for the next flit, among the queues that can send. `round_robin`: the queues in turn. `priority`: the
    /// queue whose first packet has the message class with the highest priority. `oldest`: the queue whose first packet was created first.
    pub rule: InjectionRule,
    /// Largest rate at which each queue injects [bits per second, or flits per cycle]. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Bandwidth>,
    /// Maximum number of destinations for which an interface has packets in queues at the same time, 1 to 64, with `queues:
    /// per_destination`. Default: 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub destinations: Option<u32>,
    /// Maximum number of packets in a queue, 1 to 65535, with `queues: per_destination` (default 16) or `per_lane` (default 65535). A
    /// source waits while the queue of its next packet is full.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub depth: Option<u16>,
}

fn is_zero(priority: &u8) -> bool {
    *priority == 0
}

impl InterfaceConfig {
    /// Converts the section `interface` to the type of the engine.
    fn spec(
        &self,
        (has_lanes, own_queues, is_controlled): (bool, bool, bool),
        rate: impl Fn(Bandwidth, &str) -> Result<Rate, Refusal>,
    ) -> Result<InterfaceSpec, Refusal> {
        let mut usual = InterfaceSpec::default();
        let by_default = match (is_controlled || own_queues, has_lanes) {
            (true, _) => Queueing::PerDestination,
            (false, true) => Queueing::PerLane,
            (false, false) => usual.queueing,
        };
        let queueing = self.queues.unwrap_or(by_default);
        if is_controlled {
            usual.queues = MAX_QUEUES - 1; // one of the queues is for notifications of congestion
        }
        if queueing == Queueing::PerLane {
            usual.depth = u16::MAX; // a packet for a free lane must not wait for space in another lane's queue
        }
        let (to_destinations, is_deep) = match queueing {
            Queueing::One | Queueing::PerClass => (false, false),
            Queueing::PerDestination => (true, true),
            Queueing::PerLane => (false, true),
        };
        let unused = [
            ("destinations", self.destinations.is_some() && !to_destinations),
            ("depth", self.depth.is_some() && !is_deep),
        ];
        if let Some((key, _)) = unused.into_iter().find(|(_, unused)| *unused) {
            let what = "this key applies only to queues per destination, and the interface has none";
            let help = format!("write `queues: per_destination`, or leave {key} out");
            return Err(Refusal::new(format!("interface.{key}"), what, help));
        }
        if queueing == Queueing::PerLane && !has_lanes {
            let what = "per_lane is set, but there is no queueing scheme, so all packets have the same lane";
            let help = "write a scheme, such as `queueing: {dbbm: {queues: 4}}`, or leave the key out";
            return Err(Refusal::new("interface.queues", what, help));
        }
        Ok(InterfaceSpec {
            queueing,
            rule: self.rule,
            queues: self.destinations.unwrap_or(usual.queues),
            depth: self.depth.unwrap_or(usual.depth),
            rate: self.rate.map(|limit| rate(limit, "interface.rate")).transpose()?,
        })
    }
}

impl Scenario {
    /// Converts the message classes of the scenario, by name, to those of the engine.
    pub(crate) fn message_classes(
        &self,
        clock: &Clock,
        graph: &Graph,
    ) -> Result<(Vec<MessageClass>, InterfaceSpec), Refusal> {
        let rate = |limit: Bandwidth, path: &str| {
            let (flits, cycles) = limit.flits_in_cycles(self.flit.0, clock.cycle_fs, path)?;
            Rate::new(flits, cycles, path)
        };
        let class = |(key, config): (&String, &ClassConfig)| {
            let path = |part: &str| format!("classes.{key}.{part}");
            name::check_line(&format!("classes.{key}"), key)?;
            if config.vcs == Some(ClassVcsConfig::Own(0)) {
                let what = "a message class with 0 VCs can't send packets";
                return Err(Refusal::new(path("vcs"), what, "write 1 or more, `shared`, or leave the key out"));
            }
            Ok(MessageClass {
                name: key.clone(),
                priority: config.priority,
                vcs: match config.vcs {
                    None => ClassVcs::Equal,
                    Some(ClassVcsConfig::Own(vcs)) => ClassVcs::Own(vcs),
                    Some(ClassVcsConfig::Shared) => ClassVcs::Shared,
                },
                rate: config.rate.map(|limit| rate(limit, &path("rate"))).transpose()?,
            })
        };
        let classes = self.classes.iter().map(class).collect::<Result<_, Refusal>>()?;
        let queueing = self.queueing.model();
        let own_queues = queueing.sets_aside() || queueing.ideal_queues(graph).is_some();
        let has = (!self.queueing.is_usual(), own_queues, !self.congestion_control.is_usual());
        Ok((classes, self.interface.spec(has, rate)?))
    }

    /// Number of the message class that a job names at `path`. If the job names no class, the number of the only class.
    pub(crate) fn class_number(&self, class: Option<&str>, path: &str) -> Result<u8, Refusal> {
        let names: Vec<&str> = self.classes.keys().map(String::as_str).collect();
        match class {
            Some(class) => names.iter().position(|name| *name == class).map(|k| k as u8).ok_or_else(|| {
                let help = match names.is_empty() {
                    true => format!("name it under `classes`: `classes: {{{class}: {{}}}}`"),
                    false => suggestion(class, "the classes", &names),
                };
                Refusal::new(path, format!("there is no class `{class}`"), help)
            }),
            None if names.len() < 2 => Ok(0),
            None => {
                let what =
                    format!("no message class is named, although there are {}: {}", names.len(), names.join(", "));
                Err(Refusal::new(path, what, format!("write the class of the packets, such as `class: {}`", names[0])))
            }
        }
    }

    /// Refuses message classes and interfaces that cannot work; the refusal names the key that the user wrote.
    pub(crate) fn check_classes(&self, spec: &Spec) -> Result<(), Refusal> {
        let path = |j: usize| if self.traffic.jobs.is_empty() { "traffic".into() } else { format!("traffic.jobs.{j}") };
        spec.check_classes(path).map_err(|refusal| self.at_workload(refusal))
    }
}

/// Warns if priorities of message classes have no effect in a part of the router. With `vc_realloc` this part is VC allocation. With a
/// speedup it is the output, where flits wait for their link in the order of their grants.
pub(crate) fn warning(spec: &Spec) -> Option<Warning> {
    if spec.has_priorities() && spec.router.vc_realloc > 0 {
        let what = "with 1, VCs are allocated in a separate round-robin stage, so priorities of message classes have \
                    an effect only in network interfaces";
        let help = "write `router: {vc_realloc: 0}`";
        return Some(Warning::new(&PRIORITY_AT_TERMINALS_ONLY, "router.vc_realloc", [], what, help));
    }
    let waits = spec.router.speedup > 1 && spec.router.output_buffer.is_none();
    (spec.has_priorities() && waits).then(|| {
        let speedup = spec.router.speedup;
        let what = format!(
            "message classes have priorities, but at speedup {speedup} flits wait for their link after the switch. \
             They wait in the order of their grants, up to the number of credits, and priorities have no effect there"
        );
        let help =
            "write `router: {output_buffer: 2flits}`, so that flits wait before the switch, or `router: {speedup: 1}`";
        let numbers = [("speedup", f64::from(speedup))];
        Warning::new(&PRIORITY_BEHIND_SWITCH, "router.speedup", numbers, what, help)
    })
}

impl<'de> Deserialize<'de> for ClassVcsConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Vcs;
        impl Visitor<'_> for Vcs {
            type Value = ClassVcsConfig;

            fn expecting(&self, f: &mut Formatter) -> std::fmt::Result {
                f.write_str("a number of VCs, or `shared`")
            }

            fn visit_u64<E: Error>(self, vcs: u64) -> Result<Self::Value, E> {
                u32::try_from(vcs)
                    .map(ClassVcsConfig::Own)
                    .map_err(|_| E::custom("a link has at most 16 VCs\nwrite 1 to 16"))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                match text {
                    "shared" => Ok(ClassVcsConfig::Shared),
                    _ => Err(E::custom(format!("\"{text}\" is not a number of VCs\nwrite 1 to 16, or shared"))),
                }
            }
        }
        deserializer.deserialize_any(Vcs)
    }
}

impl Serialize for ClassVcsConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Own(vcs) => serializer.serialize_u32(*vcs),
            Self::Shared => serializer.serialize_str("shared"),
        }
    }
}

impl JsonSchema for ClassVcsConfig {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ClassVcs".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["integer", "string"],
            "minimum": 1,
            "maximum": 16,
            "pattern": "^shared$",
            "examples": [2, "shared"]
        })
    }
}
