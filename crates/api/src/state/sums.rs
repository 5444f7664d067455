//! Sums and statistics over delivered packets.

use crate::base::kept::Value;
use crate::state::{DETOUR, Packet};
use hdrhistogram::Histogram;

/// Sums over the delivered packets that were created in the window. All latencies are in cycles.
#[derive(Debug, Clone, Default, PartialEq, Eq, Value)]
pub struct PacketSums {
    pub packets: u64,
    pub flits: u64,
    /// Sum of the times from creation of a packet to delivery of its tail [cycles].
    pub latency: u64,
    /// Sum of the times from injection of the head to delivery of the tail [cycles].
    pub network_latency: u64,
    /// Number of links between routers that these packets crossed.
    pub hops: u64,
    /// Number of packets that took no detour.
    pub minimal: u64,
    /// The part of `latency` in which the workload did not allow terminals to send the packets; this time is not
    /// queueing.
    pub kept_back: u64,
}

impl PacketSums {
    /// Adds a delivered packet with its packet latency and its network latency [cycles].
    #[inline(always)]
    pub fn count(&mut self, packet: &Packet, latency: u64, network: u64) {
        self.packets += 1;
        self.flits += u64::from(packet.len);
        self.latency += latency;
        self.network_latency += network;
        self.hops += u64::from(packet.links_crossed);
        self.minimal += u64::from(packet.flags & DETOUR == 0);
    }

    pub fn add(&mut self, other: &PacketSums) {
        self.packets += other.packets;
        self.flits += other.flits;
        self.latency += other.latency;
        self.network_latency += other.network_latency;
        self.hops += other.hops;
        self.minimal += other.minimal;
        self.kept_back += other.kept_back;
    }
}

/// Counts of packets that terminals received, or routers discarded, in a span of time. The packets may have been
/// created earlier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct Arrived {
    pub packets: u64,
    pub flits: u64,
    /// Sum of the packet latencies, from creation to delivery of the tail [cycles].
    pub latency: u64,
    /// Sum of the squares of the packet latencies [cycles^2].
    pub squares: u128,
    /// Number of packets that were discarded because a link or a router had failed.
    pub dropped: u64,
}

impl Arrived {
    pub fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.flits += other.flits;
        self.latency += other.latency;
        self.squares += other.squares;
        self.dropped += other.dropped;
    }
}

/// Statistics of measured packets, for one kind of packets.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    pub sums: PacketSums,
    /// Sums for each batch (part of the window for the confidence interval). The creation time of a packet decides its
    /// batch.
    pub batches: Vec<PacketSums>,
    /// Packet latency [cycles].
    pub latency: Histogram<u64>,
}
