//! The sensor of congestion of an output for an adaptive routing.

use crate::base::kept::Kept;
use crate::base::wheel::Wheel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Defines the congestion of an output port, in flits. Each routing has its own default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sensor {
    /// Flits that have crossed the switch and wait for the link.
    OutputQueue,
    /// Credits in use, summed over the VCs: flits in the buffer at the far end and on the link, and credits that have not returned yet. On
    /// long links this sensor reports congestion without any queue ("phantom congestion").
    UsedCredits,
    /// Credits in use minus the flits that the link has taken during the last credit round trip (history window; Won et al., HPCA 2015).
    /// The remaining flits wait for the link, or have been in the buffer at its far end for longer than that time.
    HistoryWindow,
}

/// For each output, the flits that wait for the link or were sent on it during the last credit round trip of its link class.
#[derive(Debug, Kept)]
pub struct History {
    #[kept(each)]
    sent: Vec<u32>,
    #[kept(fixed)]
    windows: Vec<u64>,
    wheel: Wheel<u32, 128>,
}

/// Number of flits waiting for an overloaded link for which memory is reserved.
const STAGED: usize = 32;

impl History {
    /// The window of a class is twice its flit latency plus 2 cycles (spec of Cascade's variant: a credit round trip). `most`: largest
    /// number of cycles that a flit can wait for a link.
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

    /// Subtracts the flits that leave the window at `now`.
    pub fn expire(&mut self, now: u64) {
        while let Some((chunk, len)) = self.wheel.due(now) {
            for k in 0..len {
                self.sent[self.wheel.item(chunk, k) as usize] -= 1;
            }
            self.wheel.release(now);
        }
    }

    /// The first cycle from `now` on, before `until`, in which a flit leaves its window; `until` if there is none.
    pub fn next(&self, now: u64, until: u64) -> u64 {
        self.wheel.next(now, until)
    }

    /// Whether all windows are empty.
    pub fn is_empty(&self) -> bool {
        self.wheel.is_empty()
    }
}
