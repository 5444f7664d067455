//! Latencies and bandwidths of link classes that a topology states, for example from a graph file.

use weft_units::{Bandwidth, Time};

/// Properties of a link class that the topology states. A scenario can override them in `links`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Facts {
    pub latency: Option<Latency>,
    pub bandwidth: Option<Bandwidth>,
    /// The parallel links that one link of this class replaces, if it replaces several links. The bandwidth of the link is then the sum of
    /// their bandwidths.
    pub sum_of: Option<Sum>,
}

/// Parallel links that are replaced by one link with the sum of their bandwidths.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sum {
    /// Class of the parallel links.
    pub class: String,
    /// Number of parallel links that are replaced.
    pub links: u32,
}

/// A latency that a topology states for a link class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Latency {
    pub time: Time,
    /// If set, a time in seconds is rounded up to a multiple of this number of cycles. `None`: the time must be a whole number of
    /// cycles.
    pub multiple: Option<u64>,
}

impl Latency {
    /// Creates a latency of `cycles` cycles.
    pub fn cycles(cycles: u64) -> Self {
        Self { time: Time::Cycles(cycles), multiple: None }
    }

    /// The latency for cycles of this length \[fs\], rounded up if `multiple` allows rounding.
    pub fn rounded(self, cycle_fs: u128) -> Time {
        match (self.time, self.multiple) {
            (Time::Femtoseconds(fs), Some(multiple)) => {
                let step = cycle_fs.saturating_mul(u128::from(multiple)).max(1);
                Time::Femtoseconds(fs.div_ceil(step).saturating_mul(step))
            }
            (exact, _) => exact,
        }
    }
}
