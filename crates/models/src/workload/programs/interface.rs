//! Presets of network interfaces: the times of known systems, with the source of each preset.
//!
//! A preset does not set a bandwidth of the network. An interface sends at the rate of its terminal link instead.

use super::rails::RailChoice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::{Bandwidth, Time};

const NS: u128 = 1_000_000;

/// Interfaces of a known system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interface {
    /// The interfaces of the TCEP paper (ISCA 2018, section V): a message takes 1 us from the processor to the interface. The paper states
    /// 15 GB/s as the rate of these interfaces. But its links carry a flit of 48 bits per cycle of 1 ns, which is 6 GB/s. Therefore the
    /// interfaces of this preset send at the rate of the link.
    Tcep,
    /// The nodes of the torus paper (JPDC 2019): 8 cores share an interface. Messages inside a node bypass the network. The paper
    /// gives no time for messages inside a node; 0.5 us is our choice.
    TorusOnOff,
    /// Accelerators, each with an interface of 400 Gb/s: rank k of a node sends over interface k. Messages inside the node have 450
    /// GB/s in each direction and a latency of 25 ns. These are the values of NVLink of the H100 (NVIDIA dgxc-benchmarking, and the
    /// topology of SimAI).
    Accelerator400g,
}

/// Times of network interfaces, and the rule that chooses the interface for a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    pub overhead: Time,
    pub injection_latency: Time,
    pub local_latency: Time,
    /// Bandwidth of messages between ranks of one node; `None` means no limit.
    pub local_bandwidth: Option<Bandwidth>,
    pub rail_choice: RailChoice,
}

impl Default for Times {
    fn default() -> Self {
        let none = Time::Femtoseconds(0);
        Self {
            overhead: none,
            injection_latency: none,
            local_latency: none,
            local_bandwidth: None,
            rail_choice: RailChoice::Striping,
        }
    }
}

impl Interface {
    pub fn times(self) -> Times {
        match self {
            Self::Tcep => Times { injection_latency: Time::Femtoseconds(1000 * NS), ..Times::default() },
            Self::TorusOnOff => Times { local_latency: Time::Femtoseconds(500 * NS), ..Times::default() },
            Self::Accelerator400g => Times {
                local_latency: Time::Femtoseconds(25 * NS),
                local_bandwidth: Some(Bandwidth::BitsPerSecond(8 * 450_000_000_000)),
                rail_choice: RailChoice::LocalRank,
                ..Times::default()
            },
        }
    }
}
