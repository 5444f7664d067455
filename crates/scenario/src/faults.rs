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
    pub link: [u32; 2],
    /// When it fails [time].
    pub at: Time,
    /// When it is whole again [time]; never if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

impl FaultConfig {
    /// Fault number `k` in cycles.
    pub(crate) fn spec(&self, k: usize, clock: &Clock) -> Result<Fault, Refusal> {
        let cycles = |time: Time, key: &str| clock.cycles(time, &format!("faults.{k}.{key}"));
        let until = self.until.map(|until| cycles(until, "until")).transpose()?;
        Ok(Fault { link: self.link, at: cycles(self.at, "at")?, until })
    }
}
