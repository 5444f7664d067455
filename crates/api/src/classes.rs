//! Message classes, and the queues of network interfaces.
//!
//! Each message class can have its own VCs, so that no class blocks another. A message class may have priority over others, and a limit on
//! the rate at which its queues in network interfaces inject flits.

use crate::state::rate::Rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of message classes in a run.
pub const MAX_CLASSES: usize = 64;
/// Maximum number of queues in a network interface: a 64-bit word has one bit for each queue.
pub const MAX_QUEUES: u32 = 64;

/// How a message class gets its VCs on each channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClassVcs {
    /// The class gets an equal share of the VCs that remain after all classes with `Own`.
    #[default]
    Equal,
    /// The class gets this number of VCs that no other class uses.
    Own(u32),
    /// All classes with this setting together get one equal share, and use its VCs in common.
    Shared,
}

/// A message class of a scenario: its name, priority, VCs and maximum rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageClass {
    pub name: String,
    /// Priority of the class: allocators prefer packets of a higher priority.
    pub priority: u8,
    pub vcs: ClassVcs,
    /// Maximum number of flits per cycle that the class's queue in a network interface injects; `None`: no limit.
    pub rate: Option<Rate>,
}

/// Decides which packets of a network interface share a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Queueing {
    /// All packets share one queue.
    #[default]
    One,
    /// Packets of the same message class share a queue.
    PerClass,
    /// Packets for the same terminal share a queue.
    PerDestination,
    /// Packets of a message class that have the same lane on the channel from the terminal share a queue.
    PerLane,
}

/// The rule by which a network interface chooses the queue for the next flit, among the queues with a flit that can
/// leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InjectionRule {
    /// The queues send in round-robin order.
    #[default]
    RoundRobin,
    /// The queue whose first packet has the highest priority sends; queues of equal priority send in round-robin order.
    Priority,
    /// The queue whose first packet was created first sends.
    Oldest,
}

/// The queues that every network interface of a run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceSpec {
    pub queueing: Queueing,
    pub rule: InjectionRule,
    /// Maximum number of non-empty queues, if there is a queue per destination: 1 to [`MAX_QUEUES`].
    pub queues: u32,
    /// Maximum number of packets in a queue, if there is a queue per destination or per lane. With other kinds of queues, a source keeps
    /// its packets until they can leave the terminal.
    pub depth: u16,
    /// Maximum number of flits per cycle that each queue injects; `None`: no limit.
    pub rate: Option<Rate>,
}

impl Default for InterfaceSpec {
    fn default() -> Self {
        Self { queueing: Queueing::One, rule: InjectionRule::RoundRobin, queues: MAX_QUEUES, depth: 16, rate: None }
    }
}
