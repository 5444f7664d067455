//! Message classes, and the queues of network interfaces.
//!
//! Each class can have its own VCs, so that no class blocks another. A class may have priority over others, and its
//! queues in network interfaces may have a limited rate.

use crate::state::rate::Rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most message classes of a run.
pub const MAX_CLASSES: usize = 64;
/// The most queues of a network interface: a word has one bit for each.
pub const MAX_QUEUES: u32 = 64;

/// The VCs of a message class on each channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClassVcs {
    /// The class has an equal share of the VCs that no class has requested by number.
    #[default]
    Equal,
    /// The class has this number of VCs that no other class uses.
    Own(u32),
    /// All classes with this setting together use one equal share of the VCs.
    Shared,
}

/// A message class: its name, priority, VCs and largest rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageClass {
    pub name: String,
    /// Priority of the class: allocators prefer packets of a higher priority.
    pub priority: u8,
    pub vcs: ClassVcs,
    /// The most flits per cycle that the class's queue in a network interface injects; `None`: no limit.
    pub rate: Option<Rate>,
}

/// Decides which packets of a network interface share a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Queueing {
    /// All packets share one queue.
    #[default]
    One,
    /// Packets of the same message class.
    PerClass,
    /// Packets for the same terminal share a queue.
    PerDestination,
    /// Packets of a message class that have the same lane on the channel from the terminal share a queue.
    PerLane,
}

/// Selects the queue of a network interface that sends the next flit, among the queues that can send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InjectionRule {
    /// Queues are served round robin.
    #[default]
    RoundRobin,
    /// The queue whose first packet has the highest priority is served; queues of equal priority are served round robin.
    Priority,
    /// The queue whose first packet was created first is served.
    Oldest,
}

/// The queues of every network interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceSpec {
    pub queueing: Queueing,
    pub rule: InjectionRule,
    /// The most queues that hold packets at the same time, if there is a queue per destination: 1 to [`MAX_QUEUES`].
    pub queues: u32,
    /// The most packets in a queue, if there is a queue per destination or per lane. Otherwise a source keeps its packets until they can
    /// leave the terminal.
    pub depth: u16,
    /// The most flits per cycle that each queue injects; `None`: no limit.
    pub rate: Option<Rate>,
}

impl Default for InterfaceSpec {
    fn default() -> Self {
        Self { queueing: Queueing::One, rule: InjectionRule::RoundRobin, queues: MAX_QUEUES, depth: 16, rate: None }
    }
}
