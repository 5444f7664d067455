//! Latency and bandwidth of link classes that come with a topology.

use weft_units::{Bandwidth, Time};

/// Facts of a link class that come with the topology. A scenario overrides them in `links`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Facts {
    pub latency: Option<Latency>,
    pub bandwidth: Option<Bandwidth>,
    /// The parallel links of which each link is the sum, if it is one.
    pub sum_of: Option<Sum>,
}

/// Parallel links of which the capacities add up to that of one link.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sum {
    /// Class of the parallel links.
    pub class: String,
    /// Number of the parallel links.
    pub links: u32,
}

/// A latency that a topology states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Latency {
    pub time: Time,
    /// Where a time in seconds is rounded up, the cycles of which it becomes a multiple. `None`: only whole cycles are
    /// taken.
    pub multiple: Option<u64>,
}

impl Latency {
    /// So many cycles.
    pub fn cycles(cycles: u64) -> Self {
        Self { time: Time::Cycles(cycles), multiple: None }
    }

    /// As it is with cycles of this length \[fs\]: rounded up, if it may be.
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
