//! Statistics of measured packets for each phase of a changing load. A packet counts in the phase of its creation.

use crate::job_tally::histogram;
use hdrhistogram::Histogram;
use weft_api::base::kept::Kept;
use weft_api::state::Packet;
use weft_api::state::sums::{Measured, PacketSums};

/// The statistics of the phases of a changing load; empty if the load never changes.
#[derive(Debug, Clone, Default, Kept)]
pub struct PhaseTally {
    /// First cycle of each phase, 0 for the first phase.
    #[kept(fixed)]
    starts: Vec<u64>,
    #[kept(each)]
    phases: Vec<(PacketSums, Histogram<u64>)>,
}

impl PhaseTally {
    /// `changes`: the cycles after 0 in which the load of any job changes, in ascending order.
    pub fn new(changes: &[u64]) -> Self {
        if changes.is_empty() {
            return Self::default();
        }
        let starts: Vec<u64> = std::iter::once(0).chain(changes.iter().copied()).collect();
        let phases = vec![(PacketSums::default(), histogram()); starts.len()];
        Self { starts, phases }
    }

    /// Counts a measured packet when it is delivered.
    pub fn count(&mut self, packet: &Packet, latency: u64, network: u64) {
        if let Some(phase) = self.phase(packet) {
            let (sums, histogram) = &mut self.phases[phase];
            sums.count(packet, latency, network);
            histogram.saturating_record(latency);
        }
    }

    /// Adds the cycles for which the workload delayed the creation of a measured packet.
    pub fn keep_back(&mut self, packet: &Packet, cycles: u64) {
        if let Some(phase) = self.phase(packet) {
            self.phases[phase].0.kept_back += cycles;
        }
    }

    /// The phase in which a packet was created; `None` if the load never changes.
    fn phase(&self, packet: &Packet) -> Option<usize> {
        self.starts.partition_point(|&start| start <= packet.created).checked_sub(1)
    }

    pub fn merge(&mut self, other: &Self) {
        for ((sums, histogram), (other_sums, other_histogram)) in self.phases.iter_mut().zip(&other.phases) {
            sums.add(other_sums);
            histogram.add(other_histogram).expect("same bounds");
        }
    }

    /// The statistics of the phase that begins in cycle `start`, without those of batches.
    pub fn of(&self, start: u64) -> Option<Measured> {
        let phase = self.starts.binary_search(&start).ok()?;
        let (sums, latency) = self.phases.get(phase)?;
        Some(Measured { sums: sums.clone(), batches: Vec::new(), latency: latency.clone() })
    }
}
