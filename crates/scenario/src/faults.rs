//! The scenario key `faults`: links and routers that fail at given times during the run.

use crate::assemble::Clock;
use crate::config::Scenario;
use crate::diagnostic::suggestion;
use crate::routers;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_engine::Spec;
use weft_engine::power::LinkState;
use weft_engine::spec::{Fault, Member, Part};
use weft_topology::{Graph, RouterName};
use weft_units::{Refusal, Time};

/// A link or a router that fails, and can return.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultConfig {
    /// The two routers of the link that fails: their numbers, or their ids in a graph file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<[RouterName; 2]>,
    /// Link class: among the links between these routers, only those of this class fail. Default: links of all classes fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Number of a parallel link, from 0. Only this link of the trunk fails. The links of a trunk are numbered in the order of the table
    /// `channels`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<u16>,
    /// The router that fails, instead of a link: its number, or its id in a graph file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router: Option<RouterName>,
    /// Time of the failure [time]. With 0, the part is broken from the start, and the first tables of a routing avoid it.
    pub at: Time,
    /// Time at which the link or router works again [time]. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

impl FaultConfig {
    /// Converts fault number `k` of the scenario to cycles, and to links and routers of this network.
    pub(crate) fn spec(&self, k: usize, clock: &Clock, graph: &Graph) -> Result<Fault, Refusal> {
        let cycles = |time: Time, key: &str| clock.cycles(time, &format!("faults.{k}.{key}"));
        let find = |name: &RouterName, key: &str| routers::find(graph, name, &format!("faults.{k}.{key}"));
        let what = match (&self.link, &self.router) {
            (Some([a, b]), None) => {
                let ends = [find(a, "link")?, find(b, "link")?];
                let class = self.class.as_deref().map(|class| number(class, graph.class_names(), k)).transpose()?;
                match (class, self.member) {
                    (class, Some(number)) => Part::Member(Member { ends, class, number }),
                    (Some(class), None) => Part::LinkOfClass(ends, class),
                    (None, None) => Part::Link(ends),
                }
            }
            (None, Some(_)) if self.member.is_some() => {
                let what = "a router fails together with all its links";
                return Err(Refusal::new(
                    format!("faults.{k}.member"),
                    what,
                    "leave member out, or write link: [0, 1]",
                ));
            }
            (None, Some(router)) if self.class.is_none() => Part::Router(find(router, "router")?),
            (None, Some(_)) => {
                let what = "a router fails together with all its links, of any class";
                return Err(Refusal::new(format!("faults.{k}.class"), what, "leave class out, or write link: [0, 1]"));
            }
            (link, _) => {
                let what = if link.is_some() {
                    "the fault names both a link and a router"
                } else {
                    "the fault names neither a link nor a router"
                };
                let help = "write link: [0, 1] or router: 0, with a separate entry for each link or router that fails";
                return Err(Refusal::new(format!("faults.{k}"), what, help));
            }
        };
        let until = self.until.map(|until| cycles(until, "until")).transpose()?;
        // at least cycle 1, which is the first cycle in which a link can carry a flit
        Ok(Fault { what, at: cycles(self.at, "at")?.max(1), until })
    }
}

/// The number of the link class that fault `k` names.
fn number(class: &str, classes: &[String], k: usize) -> Result<u8, Refusal> {
    let number = classes.iter().position(|name| name == class);
    number.map(|number| number as u8).ok_or_else(|| {
        let what = format!("the topology has no link class `{class}`");
        let valid: Vec<&str> = classes.iter().skip(1).map(String::as_str).collect();
        Refusal::new(format!("faults.{k}.class"), what, suggestion(class, "its link classes", &valid))
    })
}

impl Scenario {
    /// Refuses faults that are impossible. Also refuses a run with faults if links have no price in the state `off`.
    pub(crate) fn check_faults(&self, spec: &Spec) -> Result<(), Refusal> {
        spec.check_faults().map_err(|refusal| Refusal { path: self.place_of_fault(refusal.path), ..refusal })?;
        let unpriced = |&class: &usize| spec.prices[class].of(LinkState::Off).is_none();
        let Some(class) = (1..spec.prices.len()).find(unpriced).filter(|_| !spec.faults.is_empty()) else {
            return Ok(());
        };
        let name = &spec.graph.class_names()[class];
        let path = match self.power.class_prices.contains_key(name) {
            true => format!("power.class_prices.{name}"),
            false => "power.prices".to_owned(),
        };
        let what = format!("a `{name}` link that has failed is in the state `off`, which has no price");
        Err(Refusal::new(path, what, "add `off: {static: ..., per_bit: ...}`, or leave faults out"))
    }

    /// The path of the scenario key that caused a fault. A fault drawn at random has no key in `faults`.
    pub(crate) fn place_of_fault(&self, path: String) -> String {
        let number = path.strip_prefix("faults.").and_then(|rest| rest.split('.').next()?.parse::<usize>().ok());
        if number.is_none_or(|k| k < self.faults.len()) && !(self.faults.is_empty() && path == "faults") {
            return path;
        }
        let random = self.fault_model.as_ref().is_some_and(|model| model.random.is_some());
        if random { "fault_model.random" } else { "fault_model" }.to_owned()
    }
}
