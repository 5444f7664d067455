//! Counts packets that are delivered or discarded, separately for times with a broken link or router and for times without. A packet counts
//! in the cycle of its delivery, not of its creation. Therefore packets that a fault delays do not count as slow packets from before the
//! fault.

use weft_api::base::kept::Kept;
use weft_api::state::Packet;
use weft_api::state::sums::Arrived;

/// The counts of a block, in a run with faults. In a run without faults, the lists are empty.
#[derive(Debug, Clone, Default, Kept)]
pub struct FaultTally {
    /// First cycle of each span of time; 0 for the first span. In the first span all links and routers work, in the second some are broken,
    /// in the third all work, and so on.
    #[kept(fixed)]
    starts: Vec<u64>,
    #[kept(each)]
    spans: Vec<Arrived>,
    /// Length of a bin [cycles]. The first bin begins in cycle 0. When a packet is counted after the last bin, bins are added to the list
    /// `bins`.
    #[kept(fixed)]
    width: u64,
    bins: Vec<Arrived>,
}

impl FaultTally {
    /// `changes`: the cycle in which a first part breaks, the cycle in which all parts work again, the cycle of the next break, and so on.
    /// `width`: length of a bin [cycles]; `bins`: the expected number of bins.
    pub fn new(changes: &[u64], width: u64, bins: usize) -> Self {
        if changes.is_empty() {
            return Self::default();
        }
        let starts: Vec<u64> = std::iter::once(0).chain(changes.iter().copied()).collect();
        Self { spans: vec![Arrived::default(); starts.len()], starts, width, bins: Vec::with_capacity(bins) }
    }

    /// Counts a packet that is delivered in cycle `at`.
    pub fn deliver(&mut self, packet: &Packet, at: u64) {
        let latency = at - packet.created;
        let squares = u128::from(latency).pow(2);
        self.count(at, &Arrived { packets: 1, flits: packet.len.into(), latency, squares, dropped: 0 });
    }

    /// Counts a packet that is discarded in cycle `at`.
    pub fn lose(&mut self, at: u64) {
        self.count(at, &Arrived { dropped: 1, ..Arrived::default() });
    }

    fn count(&mut self, at: u64, what: &Arrived) {
        if self.starts.is_empty() {
            return;
        }
        let span = self.starts.partition_point(|&start| start <= at) - 1;
        self.spans[span].add(what);
        let bin = (at / self.width) as usize;
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, Arrived::default());
        }
        self.bins[bin].add(what);
    }

    pub fn merge(&mut self, other: &Self) {
        self.spans.iter_mut().zip(&other.spans).for_each(|(a, b)| a.add(b));
        self.bins.resize(self.bins.len().max(other.bins.len()), Arrived::default());
        self.bins.iter_mut().zip(&other.bins).for_each(|(a, b)| a.add(b));
    }

    /// For each span: its first cycle, whether some part is broken in the span, and the counts of arrivals. The last span has no end.
    pub fn spans(&self) -> impl Iterator<Item = (u64, bool, &Arrived)> {
        self.starts.iter().zip(&self.spans).enumerate().map(|(k, (&start, arrived))| (start, k % 2 == 1, arrived))
    }

    /// The complete bins between the cycles `from` and `to`: the first cycle of each bin, and its counts of arrivals.
    pub fn bins(&self, (from, to): (u64, u64)) -> impl Iterator<Item = (u64, Arrived)> {
        let width = self.width.max(1);
        let last = if self.starts.is_empty() { 0 } else { to / width };
        (from.div_ceil(width)..last).map(move |k| (k * width, self.bins.get(k as usize).copied().unwrap_or_default()))
    }

    /// Length of a bin [cycles]; 0 in a run without faults.
    pub fn width(&self) -> u64 {
        self.width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_is_counted_by_the_cycle_of_its_arrival() {
        let mut tally = FaultTally::new(&[100, 130], 20, 4);
        for (created, at) in [(0, 99), (0, 100), (50, 129), (60, 130)] {
            tally.deliver(&Packet { created, len: 2, ..Packet::default() }, at);
        }
        tally.lose(110);
        let spans: Vec<_> =
            tally.spans().map(|(start, broken, a)| (start, broken, a.packets, a.latency, a.dropped)).collect();
        assert_eq!(spans, [(0, false, 1, 99, 0), (100, true, 2, 179, 1), (130, false, 1, 70, 0)]);
        let bins: Vec<_> = tally.bins((70, 150)).map(|(from, a)| (from, a.packets, a.flits, a.dropped)).collect();
        assert_eq!(bins, [(80, 1, 2, 0), (100, 1, 2, 1), (120, 2, 4, 0)]);
        let twice = {
            let mut sum = tally.clone();
            sum.merge(&tally);
            sum
        };
        assert_eq!(twice.spans().map(|(_, _, a)| a.packets).collect::<Vec<_>>(), [2, 4, 2]);
        let mut none = FaultTally::default();
        none.lose(3);
        assert_eq!((none.spans().count(), none.bins((0, 1000)).count()), (0, 0));
    }
}
