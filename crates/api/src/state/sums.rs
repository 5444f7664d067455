//! Sums and statistics of packets.

use crate::base::kept::Value;
use crate::state::{DETOUR, Packet};
use hdrhistogram::Histogram;

/// Sums over the delivered packets that were created in the window. Latencies in cycles.
#[derive(Debug, Clone, Default, PartialEq, Eq, Value)]
pub struct PacketSums {
    pub packets: u64,
    pub flits: u64,
    /// Time from creation to delivery of the tail [cycles].
    pub latency: u64,
    /// From injection of the head to delivery of the tail.
    pub network_latency: u64,
    /// Links between routers that were crossed.
    pub hops: u64,
    /// Packets that took no detour.
    pub minimal: u64,
    /// The part of `latency` in which the workload kept packets back: they were no queue.
    pub kept_back: u64,
}

impl PacketSums {
    /// A packet is delivered, with these latencies [cycles].
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

/// Packets that reached terminals in some span of time, or were discarded in it, whenever they were created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct Arrived {
    pub packets: u64,
    pub flits: u64,
    /// Sum of the latencies, from creation to delivery of the tail [cycles].
    pub latency: u64,
    /// Sum of their squares [cycles^2].
    pub squares: u128,
    /// Packets that were discarded because a link or a router had failed.
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

/// Statistics of the measured packets of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    pub sums: PacketSums,
    /// Per batch of the window, by creation time.
    pub batches: Vec<PacketSums>,
    /// Packet latency [cycles].
    pub latency: Histogram<u64>,
}
