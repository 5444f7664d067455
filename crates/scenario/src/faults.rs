//! The faults of a scenario: links and routers that fail during the run.

use crate::assemble::Clock;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_engine::spec::{Fault, Part};
use weft_units::{Refusal, Time};

/// A link or a router that fails, and may return.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultConfig {
    /// The routers of the link that fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<[u32; 2]>,
    /// The router that fails, in place of a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router: Option<u32>,
    /// When it fails [time].
    pub at: Time,
    /// When it works again [time]; never if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

impl FaultConfig {
    /// Fault number `k` in cycles.
    pub(crate) fn spec(&self, k: usize, clock: &Clock) -> Result<Fault, Refusal> {
        let cycles = |time: Time, key: &str| clock.cycles(time, &format!("faults.{k}.{key}"));
        let what = match (self.link, self.router) {
            (Some(link), None) => Part::Link(link),
            (None, Some(router)) => Part::Router(router),
            (link, _) => {
                let what = if link.is_some() { "both a link and a router" } else { "neither a link nor a router" };
                let help = "write link: [0, 1] or router: 0, and for each thing that fails an entry of its own";
                return Err(Refusal::new(format!("faults.{k}"), what, help));
            }
        };
        let until = self.until.map(|until| cycles(until, "until")).transpose()?;
        Ok(Fault { what, at: cycles(self.at, "at")?, until })
    }
}
