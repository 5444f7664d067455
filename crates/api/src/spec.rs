//! The parts of a spec that do not belong to a model: links, phases of a run, watched packets.

use crate::state::rate::Rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Cycles;

/// A link class (index = `Port::class` of the graph; 0 = terminal links).
#[derive(Debug, Clone, PartialEq)]
pub struct LinkClass {
    /// Flit latency of a channel [cycles].
    pub latency: Cycles,
    /// Credit latency of the reverse side channel [cycles], without `RouterSpec::credit_delay`.
    pub credit_latency: Cycles,
    /// Number of virtual channels of a channel. For terminal links it is the number of the injection channel and of the ejection channel.
    pub vcs: u8,
    /// Size of the input buffer for each VC [flits].
    pub buffer: u32,
    pub rate: Rate,
}

/// The condition under which a head may take an output VC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowControl {
    /// The next buffer has room for the whole packet.
    VirtualCutThrough,
    /// The next buffer has room for one flit.
    Wormhole,
}

/// Number of flits that may leave an input port at the same time, if a flit takes longer than a cycle to leave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InputSpeedup {
    /// No limit except the switch: a flit crosses the switch in one allocation step, even if its link is slow.
    #[default]
    Unlimited,
    /// Limit per VC: the next head of a VC may request an output when the link has taken the VC's previous flit. In each cycle only one
    /// head of an input begins to leave, independent of `speedup`.
    Vcs,
    /// Limit per input port: the heads of all VCs wait until the link has taken the previous flit. This limit is only for packets of one
    /// flit.
    One,
}

/// The phases of a run: warm-up, measured window, drain.
#[derive(Debug, Clone, PartialEq)]
pub struct Phases {
    /// Cycles before the window; with `auto_warmup`, the largest number of them.
    pub warmup: Cycles,
    /// If set, the window starts as soon as latencies and power state have settled (`warmup.rs`).
    pub auto_warmup: bool,
    /// Length of the window; the shortest length with `Stop::Confidence`, the longest with `Stop::Complete`.
    pub window: Cycles,
    pub stop: Stop,
    /// Longest drain: the most cycles after the window for the delivery of packets that were created in it.
    pub drain_limit: Cycles,
    /// The window is divided into this number of batches for the confidence interval (at least 2).
    pub batches: u32,
    /// A network is stalled if packets wait but nothing moves for this number of cycles.
    pub stall_limit: Cycles,
}

/// Condition that ends the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stop {
    /// The window ends after `Phases::window` cycles.
    Window,
    /// The window ends as soon as half the width of the 95 % confidence interval of the mean packet latency is at most `share` of the mean,
    /// and after `window` cycles at the latest.
    Confidence { share: f64, window: Cycles },
    /// The window ends when the batches of all jobs are delivered.
    Complete,
}

/// Stands for a cycle that is not known yet: no window is open, or its end is not known.
pub const LATER: u64 = u64::MAX / 2;

impl Phases {
    /// Start and end of the window, as known when the run begins.
    pub fn first_window(&self) -> (u64, u64) {
        match (self.auto_warmup, self.stop) {
            (true, Stop::Window | Stop::Confidence { .. } | Stop::Complete) => (LATER, LATER),
            (false, Stop::Complete) => (self.warmup, LATER),
            (false, Stop::Window | Stop::Confidence { .. }) => (self.warmup, self.warmup + self.window),
        }
    }

    /// The most batches that the window can have.
    pub fn most_batches(&self, batch: u64) -> usize {
        match self.stop {
            Stop::Confidence { window, .. } => (window.max(self.window)).div_ceil(batch) as usize,
            Stop::Window | Stop::Complete => self.batches as usize,
        }
    }
}

impl Default for Phases {
    fn default() -> Self {
        Self {
            warmup: 1000,
            auto_warmup: false,
            window: 5000,
            stop: Stop::Window,
            drain_limit: 20_000,
            batches: 10,
            stall_limit: 10_000,
        }
    }
}

/// Selects the packets to watch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Watched {
    #[default]
    Nobody,
    /// Packets given as (terminal, number of the packet among the packets that the terminal makes, from 0); replies have no such number.
    Packets(Vec<(u32, u32)>),
    /// The first packets created in the window, this many: those that first reach the head of their source queue.
    First(usize),
}
