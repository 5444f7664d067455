//! The faults of a scenario: links that fail during the run.

use crate::assemble::Clock;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_engine::spec::Fault;
use weft_units::{Refusal, Time};

/// A link that fails, and may return.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultConfig {
    /// The routers of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<[u32; 2]>,
    /// A router that fails: refused, because packets for it and in it would be lost, which this version does not count.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub router: Option<u32>,
    /// When it fails [time].
    pub at: Time,
    /// When it is whole again [time]; never if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

impl FaultConfig {
    /// Fault number `k` in cycles.
    pub(crate) fn spec(&self, k: usize, clock: &Clock) -> Result<Fault, Refusal> {
        if let Some(router) = self.router {
            let what = format!("router {router} can't fail in this version: only links can");
            return Err(Refusal::new(
                format!("faults.{k}.router"),
                what,
                "write link: and two routers, for each of its links",
            ));
        }
        let Some(link) = self.link else {
            let what = "nothing fails: the link is missing";
            return Err(Refusal::new(format!("faults.{k}"), what, "write link: and two routers, such as [0, 1]"));
        };
        let cycles = |time: Time, key: &str| clock.cycles(time, &format!("faults.{k}.{key}"));
        let until = self.until.map(|until| cycles(until, "until")).transpose()?;
        Ok(Fault { link, at: cycles(self.at, "at")?, until })
    }
}
