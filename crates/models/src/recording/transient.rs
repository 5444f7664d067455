//! Mean latency of packets by their creation time. The table shows how a network reacts to a change of load, or how it settles at the
//! beginning of a run.
//!
//! # Source
//! None. The table has the usual curve of a network's response to a change of load.
//! # Parameters
//! `bin` [time]: width of a bin of creation times. The width of bins doubles whenever there would be more than 1024 bins.
//! # Guarantees
//! Every delivered packet counts in the bin of its creation time. The latency of a packet includes the wait in the source queue. Memory has
//! an upper limit.
//! # Not modelled
//! Packets that have not been delivered by the end of the run: they are in no bin. Therefore the latency in the last bins of a saturated
//! run is too low.
//! # Validation
//! `engine/tests/workload.rs` checks that the bins add up to the totals of the measured window, and follow changes of the offered load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;
use weft_api::base::kept::{Kept, Value};
use weft_api::recording::{
    Column, Heading, Kind, NetworkSite, Packet, Recorded, Recorder, RecorderSite, Recording, Table, TableInfo,
};
use weft_units::{Refusal, Time};

/// Largest number of bins. If there are more, every two successive bins are joined.
const BINS: usize = 1024;

/// Latency of packets by their creation time, over the whole run including the warm-up, saved as transient.parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transient {
    /// Width of a bin of creation times [time]. The width of bins doubles whenever there would be more than 1024 bins.
    pub bin: Time,
}

impl Recording for Transient {
    const TABLE: TableInfo = TableInfo {
        meaning: "latency of packets by time of creation",
        rows: "A row per bin of creation times, over the whole run.",
        bounded: false,
        in_summary: false,
        columns: || {
            vec![
                Heading::new("from_cycle", Kind::Count, "cycles", "first cycle of the bin"),
                Heading::new("bin_cycles", Kind::Count, "cycles", "length of the bin"),
                Heading::new("packets", Kind::Count, "packets", "packets that were created in the bin and delivered"),
                Heading::new(
                    "packet_latency_mean_cycles",
                    Kind::Float,
                    "cycles",
                    "mean latency of these packets; NaN without packets",
                ),
                Heading::new("packet_latency_max_cycles", Kind::Count, "cycles", "longest latency of these packets"),
            ]
        },
    };
    const HEARS_DELIVERIES: bool = true;
    type Part = Bins;

    fn part(&self, network: &NetworkSite, _: &RecorderSite, path: &str) -> Result<Bins, Refusal> {
        let width = network.cycles(self.bin, &format!("{path}.bin"))?;
        let width = NonZeroU64::new(width).unwrap_or(NonZeroU64::MIN); // a width of 0 was refused before
        Ok(Bins { width, bins: Vec::with_capacity(BINS) })
    }

    fn table(&self, parts: Vec<Bins>, _: &Recorded) -> Table {
        let all = parts.into_iter().reduce(Bins::joined);
        let (width, bins) = all.map_or((0, Vec::new()), |all| (all.width.get(), all.bins));
        let counts = |of: fn(&Bin) -> u64| Column::Counts(bins.iter().map(of).collect());
        let mean = |bin: &Bin| bin.latency as f64 / bin.packets as f64;
        Table::whole([
            ("from_cycle", Column::Counts((0..bins.len() as u64).map(|k| k * width).collect())),
            ("bin_cycles", Column::Counts(vec![width; bins.len()])),
            ("packets", counts(|bin| bin.packets)),
            ("packet_latency_mean_cycles", Column::Floats(bins.iter().map(mean).collect())),
            ("packet_latency_max_cycles", counts(|bin| bin.longest)),
        ])
    }

    fn examples() -> Vec<Self> {
        vec![Self { bin: Time::Cycles(100) }, Self { bin: Time::Cycles(1) }]
    }
}

/// The packets that were created in one bin and delivered by the end of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
struct Bin {
    packets: u64,
    /// Sum of the packets' latencies [cycles].
    latency: u64,
    /// Longest of the packets' latencies [cycles].
    longest: u64,
}

impl Bin {
    fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.latency += other.latency;
        self.longest = self.longest.max(other.longest);
    }
}

/// The bins in which a block counts packets by their creation time.
#[derive(Debug, Kept)]
pub struct Bins {
    width: NonZeroU64,
    /// The bins up to the last one with a packet. The vector has reserved space for [`BINS`].
    bins: Vec<Bin>,
}

impl Recorder for Bins {
    fn delivered(&mut self, packet: &Packet, at: u64, _inside: bool) {
        self.count(packet.created, at - packet.created);
    }
}

impl Bins {
    #[inline(always)]
    fn count(&mut self, created: u64, latency: u64) {
        let mut bin = (created / self.width) as usize;
        if bin >= self.bins.len() {
            bin = self.reach(bin);
        }
        self.bins[bin].add(&Bin { packets: 1, latency, longest: latency });
    }

    /// Makes sure that the bin with index `bin` exists. Returns the new index of this bin, because joining bins changes indices.
    #[cold]
    fn reach(&mut self, mut bin: usize) -> usize {
        while bin >= BINS {
            self.halve();
            bin /= 2;
        }
        self.bins.resize(self.bins.len().max(bin + 1), Bin::default());
        bin
    }

    /// Joins every two successive bins, so that the width of a bin doubles.
    fn halve(&mut self) {
        self.width = self.width.saturating_add(self.width.get());
        for k in 0..self.bins.len().div_ceil(2) {
            let mut bin = self.bins[2 * k];
            if let Some(second) = self.bins.get(2 * k + 1) {
                bin.add(second);
            }
            self.bins[k] = bin;
        }
        self.bins.truncate(self.bins.len().div_ceil(2));
    }

    /// Adds the bins of another block to these bins, after both have the same width.
    fn joined(mut self, mut other: Self) -> Self {
        while self.width < other.width {
            self.halve();
        }
        while other.width < self.width {
            other.halve();
        }
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), Bin::default());
        }
        self.bins.iter_mut().zip(&other.bins).for_each(|(a, b)| a.add(b));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts 3,000 packets: packet k is created in cycle k and has a latency of k cycles. Because there are at most 1,024 bins, the bins
    /// of 1 cycle become bins of 4 cycles.
    #[test]
    fn bins_join_when_there_are_too_many_and_lose_nothing() {
        let fill = |cycles: std::ops::Range<u64>| {
            let mut part = Bins { width: NonZeroU64::MIN, bins: Vec::with_capacity(BINS) };
            cycles.for_each(|at| part.count(at, at));
            part
        };
        let all = fill(0..3000);
        assert_eq!((all.width.get(), all.bins.len()), (4, 750));
        for (k, bin) in all.bins.iter().enumerate() {
            let first = 4 * k as u64;
            let expected = Bin { packets: 4, latency: 4 * first + 6, longest: first + 3 };
            assert_eq!(*bin, expected, "bin {k}");
        }
        // two blocks: the first one has delivered only the packets that were created in the first 100 cycles
        let joined = fill(0..100).joined(fill(100..3000));
        assert_eq!((joined.width, &joined.bins), (all.width, &all.bins));
    }
}
