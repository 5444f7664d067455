//! The congestion sensor of adaptive routings: it measures the congestion of an output.

use crate::base::kept::Kept;
use crate::base::wheel::Wheel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The quantity [flits] that a routing uses as the congestion of an output port. Each routing has its own default sensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sensor {
    /// Flits that have crossed the switch and wait for the link.
    OutputQueue,
    /// Used credits, summed over the VCs of the output: flits on the link and in the buffer at its far end, and credits that have not
    /// returned yet. On long links this sensor reports congestion even without a queue ("phantom congestion").
    UsedCredits,
    /// Used credits minus the flits that the link has taken during the last credit round trip (history window; Won et al., HPCA 2015). The
    /// remaining flits wait for the link, or were sent on it before that round trip and have not left the buffer at its far end.
    HistoryWindow,
}

/// For each output, a count of flits that wait for the link, or were sent on it during the last credit round trip.
#[derive(Debug, Kept)]
pub struct History {
    #[kept(each)]
    sent: Vec<u32>,
    #[kept(fixed)]
    windows: Vec<u64>,
    wheel: Wheel<u32, 128>,
}

/// Number of waiting flits per output for which the wheel reserves memory, in addition to the flits of a window.
const STAGED: usize = 32;

impl History {
    /// The window of a link class is a credit round trip: twice the flit latency plus 2 cycles. Won et al. specify this window for Cascade
    /// (Cray's dragonfly). `most`: largest number of cycles for which a flit can wait for a link.
    pub fn new(outputs: usize, latencies: impl Iterator<Item = u64>, most: u64) -> Self {
        let windows: Vec<u64> = latencies.map(|l| 2 * l + 2).collect();
        let longest = windows.iter().copied().max().unwrap_or(2);
        let events = outputs * (longest as usize + STAGED);
        Self { sent: vec![0; outputs], wheel: Wheel::new(longest + most + 1, events), windows }
    }

    /// For each output, the number of flits that wait for the link or were sent on it during the window.
    pub fn sent(&self) -> &[u32] {
        &self.sent
    }

    #[inline(always)]
    pub fn sent_one(&mut self, now: u64, depart: u64, output: usize, class: u8) {
        self.sent[output] += 1;
        self.wheel.push(now, depart + self.windows[class as usize], output as u32);
    }

    /// Subtracts the flits whose window ends in cycle `now`.
    pub fn expire(&mut self, now: u64) {
        while let Some((chunk, len)) = self.wheel.due(now) {
            for k in 0..len {
                self.sent[self.wheel.item(chunk, k) as usize] -= 1;
            }
            self.wheel.release(now);
        }
    }

    /// The first cycle in `now..until` in which a flit leaves its window; `until` if there is none.
    pub fn next(&self, now: u64, until: u64) -> u64 {
        self.wheel.next(now, until)
    }

    /// Whether no flit is in the window of any output.
    pub fn is_empty(&self) -> bool {
        self.wheel.is_empty()
    }
}
