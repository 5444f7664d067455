//! Counts packets, flits and latencies in a block, for the results of a run. All counts are integers. The counts of blocks can therefore be
//! added in any order with the same result.

use crate::job_tally::Parts;
use crate::net::Net;
use hdrhistogram::Histogram;
use weft_api::base::arrays::At;
use weft_api::base::kept::Kept;
use weft_api::state::sums::PacketSums;
use weft_api::state::{MEASURED, Packet};
use weft_api::workload::Amount;

/// Latencies below this number of cycles are counted in an array, and longer ones in a histogram.
const SHORT: usize = 1024;

/// Length of the array of hop counts. The last entry counts all packets with longer paths.
const HOPS: usize = 64;

/// Creates a histogram for latencies up to 2^32 cycles with 3 significant digits.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 1 << 32, 3).expect("constant bounds are valid")
}

#[derive(Debug, Clone, Kept)]
pub struct Tally {
    /// The first cycle of the measured window, and the first cycle after the window.
    pub window: (u64, u64),
    /// Packets that terminals created in the window, except packets that a delivery caused.
    pub created: Amount,
    /// Measured packets that were delivered.
    pub delivered: u64,
    /// Measured packets that the network discarded.
    pub lost: u64,
    /// Flits of the discarded packets.
    pub lost_flits: u64,
    pub injected_flits: u64,
    pub accepted_flits: u64,
    pub flit_hops: u64,
    /// Cycles by which links needed longer for head flits than the previous links of their paths, summed over the heads sent in the window.
    pub serial_cycles: u64,
    #[kept(each)]
    pub batches: Vec<PacketSums>,
    latency: Histogram<u64>,
    network_latency: Histogram<u64>,
    /// Number of packets for each latency below [`SHORT`] cycles. Most latencies are short, and an update of an array is much faster than
    /// an update of a histogram.
    #[kept(each)]
    short_latency: Box<[u64; SHORT]>,
    #[kept(each)]
    short_network_latency: Box<[u64; SHORT]>,
    /// Number of packets for each number of hops. The last entry counts all packets with longer paths.
    pub hop_counts: [u64; HOPS],
    /// The largest number of hops of a measured packet, if it is beyond the end of `hop_counts`.
    longest_path: u32,
    pub parts: Parts,
}

impl Tally {
    pub fn new(window: (u64, u64), batches: usize, parts: Parts) -> Self {
        Self {
            window,
            created: Amount::default(),
            delivered: 0,
            lost: 0,
            lost_flits: 0,
            injected_flits: 0,
            accepted_flits: 0,
            flit_hops: 0,
            serial_cycles: 0,
            batches: vec![PacketSums::default(); batches],
            latency: histogram(),
            network_latency: histogram(),
            short_latency: Box::new([0; SHORT]),
            short_network_latency: Box::new([0; SHORT]),
            hop_counts: [0; HOPS],
            longest_path: 0,
            parts,
        }
    }

    #[inline(always)]
    pub fn inside(&self, at: u64) -> bool {
        at.wrapping_sub(self.window.0) < self.window.1 - self.window.0
    }

    /// Number of cycles of the window in the span from `from` to before `end`.
    pub fn cycles_inside(&self, from: u64, end: u64) -> u64 {
        end.min(self.window.1).saturating_sub(from.max(self.window.0))
    }

    #[inline(always)]
    pub fn accepted(&mut self, at: u64) {
        self.accepted_flits += u64::from(self.inside(at));
    }

    /// Adds to `serial_cycles` the additional cycles that a slow link needs for a head sent at `now`.
    #[inline(always)]
    pub fn delayed(&mut self, now: u64, cycles: u64) {
        self.serial_cycles += u64::from(self.inside(now)) * cycles;
    }

    /// The batch of the window in which a measured packet was created. A reply created after the window counts in the last batch.
    #[inline(always)]
    pub fn batch(&self, net: &Net, created: u64) -> usize {
        ((created.min(self.window.1 - 1) - self.window.0) / net.times.batch) as usize
    }

    /// The largest number of hops of a packet in `hop_counts`.
    pub fn most_counted(&self) -> usize {
        self.hop_counts.iter().rposition(|&packets| packets > 0).unwrap_or(0)
    }

    /// The largest number of hops of a measured packet.
    pub fn longest_path(&self) -> u32 {
        self.longest_path.max(self.most_counted() as u32)
    }

    /// Counts `packet`, whose tail reaches its terminal at cycle `at`.
    #[inline(never)]
    pub fn deliver(&mut self, net: &Net, packet: &Packet, at: u64) {
        self.count(net, packet, at);
    }

    /// Counts `packet` as discarded in cycle `now`.
    pub fn lose(&mut self, net: &Net, packet: &Packet, now: u64) {
        if self.inside(now) {
            self.parts.faults.lose(now);
        }
        let job = usize::from(packet.job);
        self.parts.lose(job, packet, net.jobs[job].workload.unborn(packet), now);
        if packet.flags & MEASURED != 0 {
            self.lost += 1;
            self.lost_flits += u64::from(packet.len);
        }
    }

    /// Adds `packet` to the sums of the window.
    #[inline(always)]
    fn count(&mut self, net: &Net, packet: &Packet, at: u64) {
        if packet.flags & MEASURED == 0 {
            return;
        }
        self.delivered += 1;
        let (latency, network) = (at - packet.created, at - packet.injected);
        let hops = packet.links_crossed as usize;
        self.hop_counts[hops.min(HOPS - 1)] += 1;
        if hops >= HOPS {
            self.longest_path = self.longest_path.max(packet.links_crossed);
        }
        let batch = self.batch(net, packet.created);
        self.batches[batch].count(packet, latency, network);
        if latency < SHORT as u64 {
            *self.short_latency.at_mut(latency as usize) += 1;
            *self.short_network_latency.at_mut(network as usize) += 1;
        } else {
            self.count_long(latency, network);
        }
    }

    /// Counts a packet with a packet latency of [`SHORT`] cycles or more. The network latency of the packet can be shorter.
    #[inline(never)]
    fn count_long(&mut self, latency: u64, network: u64) {
        self.latency.saturating_record(latency);
        match self.short_network_latency.get_mut(network as usize) {
            Some(count) => *count += 1,
            None => self.network_latency.saturating_record(network),
        }
    }

    /// The longest latency of a measured packet so far [cycles].
    pub fn longest_latency(&self) -> u64 {
        let short = self.short_latency.iter().rposition(|&count| count > 0).unwrap_or(0) as u64;
        if self.latency.is_empty() { short } else { self.latency.max() }
    }

    /// The histograms of packet latency and of network latency.
    pub fn histograms(&self) -> (Histogram<u64>, Histogram<u64>) {
        let all = |long: &Histogram<u64>, short: &[u64]| {
            let mut sum = long.clone();
            for (cycles, &count) in short.iter().enumerate().filter(|&(_, &count)| count > 0) {
                sum.saturating_record_n(cycles as u64, count);
            }
            sum
        };
        (all(&self.latency, &self.short_latency[..]), all(&self.network_latency, &self.short_network_latency[..]))
    }

    pub fn merge(&mut self, other: &Tally) {
        self.created += other.created;
        self.delivered += other.delivered;
        self.lost += other.lost;
        self.lost_flits += other.lost_flits;
        self.injected_flits += other.injected_flits;
        self.accepted_flits += other.accepted_flits;
        self.flit_hops += other.flit_hops;
        self.serial_cycles += other.serial_cycles;
        self.batches.iter_mut().zip(&other.batches).for_each(|(a, b)| a.add(b));
        self.latency.add(&other.latency).expect("same bounds");
        self.network_latency.add(&other.network_latency).expect("same bounds");
        self.short_latency.iter_mut().zip(&other.short_latency[..]).for_each(|(a, b)| *a += b);
        self.short_network_latency.iter_mut().zip(&other.short_network_latency[..]).for_each(|(a, b)| *a += b);
        self.hop_counts.iter_mut().zip(&other.hop_counts).for_each(|(a, b)| *a += b);
        self.longest_path = self.longest_path.max(other.longest_path);
        self.parts.merge(&other.parts);
    }
}
