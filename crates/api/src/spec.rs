//! The parts of a spec that name no model: links, phases of a run, watched packets.

use crate::state::rate::Rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Cycles;

/// One link class (index = `Port::class` of the graph; 0 = terminal links).
#[derive(Debug, Clone, PartialEq)]
pub struct LinkClass {
    /// Flit latency of a channel [cycles].
    pub latency: Cycles,
    /// Credit latency of the reverse side channel [cycles], without `RouterSpec::credit_delay`.
    pub credit_latency: Cycles,
    /// Virtual channels of a channel (for terminal links: of the injection and of the ejection channel).
    pub vcs: u8,
    /// Input buffer per VC [flits].
    pub buffer: u32,
    pub rate: Rate,
}

/// When a packet may take an output VC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowControl {
    /// Only when the next buffer has room for the whole packet.
    VirtualCutThrough,
    /// A head takes a VC as soon as its buffer has room for one flit.
    Wormhole,
}

/// How many flits leave an input port at the same time, where a flit takes longer than a cycle to leave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InputSpeedup {
    /// As many as the switch takes: a flit crosses it in an allocation step, however slow its link is.
    #[default]
    Unlimited,
    /// One of each VC: the next head of a VC may request an output when the link has taken the flit before it. Of the
    /// heads of an input one begins to leave in a cycle, whatever the `speedup`.
    Vcs,
    /// One in all: the heads of all VCs wait until then. For packets of one flit.
    One,
}

/// Warm-up, measured window, drain.
#[derive(Debug, Clone, PartialEq)]
pub struct Phases {
    /// Cycles before the window; the most of them if `auto_warmup`.
    pub warmup: Cycles,
    /// The window starts as soon as latencies and power state have settled (`warmup.rs`).
    pub auto_warmup: bool,
    /// Length of the window; the least of it with `Stop::Confidence`, the most with `Stop::Complete`.
    pub window: Cycles,
    pub stop: Stop,
    /// At most this many cycles after the window are spent on delivering the packets created in it.
    pub drain_limit: Cycles,
    /// The window is cut into this many batches for the confidence interval (at least 2).
    pub batches: u32,
    /// A network in which nothing moves for this long while packets wait is stalled.
    pub stall_limit: Cycles,
}

/// When the window ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stop {
    /// After `Phases::window` cycles.
    Window,
    /// As soon as half the width of the 95 % confidence interval of the mean packet latency is at most `share` of the
    /// mean, after at most `window` cycles.
    Confidence { share: f64, window: Cycles },
    /// When the batches of all jobs are delivered.
    Complete,
}

/// No window is open yet, or its end is not known.
pub const LATER: u64 = u64::MAX / 2;

impl Phases {
    /// The window when the run begins.
    pub fn first_window(&self) -> (u64, u64) {
        match (self.auto_warmup, self.stop) {
            (true, Stop::Window | Stop::Confidence { .. } | Stop::Complete) => (LATER, LATER),
            (false, Stop::Complete) => (self.warmup, LATER),
            (false, Stop::Window | Stop::Confidence { .. }) => (self.warmup, self.warmup + self.window),
        }
    }

    /// Parts that the window can have at most.
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

/// Which packets to watch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Watched {
    #[default]
    Nobody,
    /// (terminal, number of the packet among those that the terminal makes, from 0; replies have none).
    Packets(Vec<(u32, u32)>),
    /// As many of the packets created in the window: those that come to the head of their source queue first.
    First(usize),
}
