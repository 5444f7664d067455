//! The option `changes` of power policies: whether a channel carries traffic while it changes its mode (rate).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The changes of mode (rate) during which a channel carries no traffic. A change that stops traffic begins only when no packet holds the
/// channel any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Changes {
    /// Channels carry traffic during every change. A change to a lower rate takes effect at once. During a change to a higher rate, the
    /// channel carries traffic at the lower rate.
    Carry,
    /// Channels carry no traffic during any change.
    Stop,
    /// Only changes to a lower rate stop traffic.
    StopDown,
    /// Only changes to a higher rate stop traffic.
    StopUp,
}

impl Changes {
    pub fn all_stop(&self) -> bool {
        *self == Self::Stop
    }

    pub fn stop_down(self) -> bool {
        matches!(self, Self::Stop | Self::StopDown)
    }

    pub fn stop_up(self) -> bool {
        matches!(self, Self::Stop | Self::StopUp)
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Carry => "carry",
            Self::Stop => "stop",
            Self::StopDown => "stop_down",
            Self::StopUp => "stop_up",
        })
    }
}
