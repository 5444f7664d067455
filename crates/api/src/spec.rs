//! Data of a spec (the typed input of the engine) that belong to no model: links, phases of a run, watched packets.

use crate::state::rate::Rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Cycles;

/// The properties of a link class (index = `Port::class` of the graph; 0 = terminal links).
#[derive(Debug, Clone, PartialEq)]
pub struct LinkClass {
    /// Flit latency of a channel [cycles].
    pub latency: Cycles,
    /// Credit latency of the reverse side channel [cycles], without `RouterSpec::credit_delay`.
    pub credit_latency: Cycles,
    /// Number of virtual channels (VCs) of a channel. For terminal links, the injection channel and the ejection channel each have this
    /// number of VCs.
    pub vcs: u8,
    /// Buffer size of each VC at the end of the channel [flits].
    pub buffer: u32,
    pub rate: Rate,
}

/// Flow control: the condition under which a head may take an output VC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowControl {
    /// The buffer at the far end has room for the whole packet.
    VirtualCutThrough,
    /// The buffer at the far end has room for one flit.
    Wormhole,
}

/// Limit on the flits that leave an input port at the same time. The limit matters if a flit takes longer than a cycle
/// to leave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InputSpeedup {
    /// No limit except the switch: a flit crosses it in one allocation step, even if the link of the output is slow.
    #[default]
    Unlimited,
    /// Limit per VC: the next head of a VC may request an output only when the link has taken the VC's previous flit. In each cycle only
    /// one head of an input starts to leave, whatever `speedup` is.
    Vcs,
    /// Limit per input port: all heads of the port wait until the link has taken the port's previous flit. The limit per input port works
    /// only for packets of one flit.
    One,
}

/// The phases of a run: warm-up, measured window, drain.
#[derive(Debug, Clone, PartialEq)]
pub struct Phases {
    /// Number of cycles before the window; with `auto_warmup`, the maximum number.
    pub warmup: Cycles,
    /// If set, the window starts as soon as latencies and power state have settled (`warmup.rs`).
    pub auto_warmup: bool,
    /// Length of the window; the shortest length with `Stop::Confidence`, the longest with `Stop::Complete`.
    pub window: Cycles,
    pub stop: Stop,
    /// Maximum length [cycles] of the drain: within this time after the window, the packets created in the window must be delivered.
    pub drain_limit: Cycles,
    /// Number of batches (at least 2) into which the window is divided to compute the confidence interval.
    pub batches: u32,
    /// A network counts as stalled if packets wait but nothing moves for this number of cycles.
    pub stall_limit: Cycles,
}

/// The condition that ends the measured window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stop {
    /// The window ends after `Phases::window` cycles.
    Window,
    /// The window ends as soon as the mean packet latency is known well enough, and after `window` cycles at the latest. The latency is
    /// known well enough if half the width of its 95 % confidence interval is at most `share` of the mean.
    Confidence { share: f64, window: Cycles },
    /// The window ends when all packets of the batches of all jobs are delivered.
    Complete,
}

/// Value for a cycle that is not known yet: the beginning or the end of the window.
pub const LATER: u64 = u64::MAX / 2;

impl Phases {
    /// First cycle of the window and first cycle after it, as known at the start of the run.
    pub fn first_window(&self) -> (u64, u64) {
        match (self.auto_warmup, self.stop) {
            (true, Stop::Window | Stop::Confidence { .. } | Stop::Complete) => (LATER, LATER),
            (false, Stop::Complete) => (self.warmup, LATER),
            (false, Stop::Window | Stop::Confidence { .. }) => (self.warmup, self.warmup + self.window),
        }
    }

    /// Maximum number of batches in the window. `batch`: length of a batch [cycles].
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

/// The packets that the user wants to watch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Watched {
    #[default]
    Nobody,
    /// Packets as pairs: the source terminal, and the number of the packet among the packets that the terminal creates, from 0. Replies
    /// have no such number.
    Packets(Vec<(u32, u32)>),
    /// This number of packets that were created in the window: those that reach the head of their source queue first.
    First(usize),
}
