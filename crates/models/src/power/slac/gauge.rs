//! The agents of SLaC. In each block they measure the mean occupancy of input buffers, and count the packets in flight. The sequencer reads
//! both.

use weft_api::agents::{Agents, Arrivals, BlockSite, ChannelSite, Departures, Probes};
use weft_api::base::kept::Kept;
use weft_api::state::Packet;
use weft_topology::Peer;

/// The number of flits in an input buffer (all VCs together), and the integral of this number over time.
#[derive(Debug, Clone, Copy, Default, Kept)]
struct Buffer {
    flits: u64,
    /// The sum of (departure cycle + 1) over all departures, minus the sum of the arrival cycles over all arrivals (modulo 2^64). The
    /// integral of `flits` over time is then `moment + flits * now` \[flit cycles\].
    moment: u64,
    /// Value of the integral at the last reading.
    read: u64,
}

/// The counters of one block.
#[derive(Debug, Kept)]
pub struct Gauge {
    /// Counters for each input port.
    #[kept(each)]
    buffers: Vec<Buffer>,
    /// For each input port that comes from another router: its number, its router (numbered in the whole network), and its buffer size
    /// \[flits\].
    #[kept(fixed)]
    inputs: Vec<(usize, u32, u32)>,
    /// Indexed by a number n of stages: a number of packets that are pinned to the first n stages. A packet is pinned to the stages that
    /// were on when it started: it may use only these. Packets pinned in this block raise the entry. Packets delivered in this block lower
    /// the entry. The sum over all blocks is the number of packets in flight. Entry 0 counts packets that cross no link and therefore were
    /// never pinned.
    #[kept(each)]
    pinned: Vec<i64>,
}

impl Agents for Gauge {
    fn probes(&self) -> Probes {
        Probes { arrivals: true, departures: true, routed: true, ..Probes::default() }
    }

    fn arrive(&mut self, batch: &Arrivals) {
        batch.flits.iter().for_each(|flit| self.enter((flit.to >> 4) as usize, batch.now));
    }

    fn depart(&mut self, batch: &Departures) {
        for flit in batch.flits {
            self.leave(flit.input as usize, batch.now);
            if let Some(packet) = flit.delivered {
                self.deliver(batch.packets[packet as usize].lane);
            }
        }
    }

    fn discard(&mut self, now: u64, input: usize, flits: u16, packet: Option<&Packet>) {
        (0..flits).for_each(|_| self.leave(input, now));
        if let Some(packet) = packet {
            self.deliver(packet.lane);
        }
    }

    fn routed(&mut self, packet: &Packet) {
        self.pin(packet.lane);
    }

    /// The entries of `pinned` and then, as the last entry, the number of flits in buffers.
    fn under_way(&self) -> Vec<i64> {
        let flits = self.buffers.iter().map(|buffer| buffer.flits as i64).sum();
        self.pinned[1..].iter().copied().chain([flits]).collect()
    }
}

impl Gauge {
    pub fn new(site: &BlockSite, stages: usize) -> Self {
        // the output channel of a port belongs to the same link as its input channel, so the same router is at its other end
        let is_between_routers = |channel: &ChannelSite| matches!(channel.peer, Peer::Router { .. });
        let inputs = site.channels.iter().enumerate().filter(|(_, channel)| is_between_routers(channel));
        let inputs = inputs.map(|(i, input)| (i, site.routers[input.router as usize].id, input.buffer)).collect();
        Self { inputs, ..Self::of(site.channels.len(), stages) }
    }

    fn of(inputs: usize, stages: usize) -> Self {
        Self { buffers: vec![Buffer::default(); inputs], inputs: Vec::new(), pinned: vec![0; stages + 1] }
    }

    /// For every router of the block, raises its entry of `used` to the utilisation of its fullest input buffer over the last `window`
    /// cycles.
    pub fn read(&mut self, used: &mut [f64], window: u64, now: u64) {
        for k in 0..self.inputs.len() {
            let (input, router, buffer) = self.inputs[k];
            let room = window * u64::from(buffer);
            let used = &mut used[router as usize];
            *used = used.max(self.flit_cycles(input, now) as f64 / room as f64);
        }
    }

    /// True if all measured buffers have been empty since the last reading.
    pub fn is_still(&self) -> bool {
        let mut read = self.inputs.iter().map(|&(input, ..)| self.buffers[input]);
        read.all(|buffer| buffer.flits == 0 && buffer.moment == buffer.read)
    }

    #[inline(always)]
    pub fn enter(&mut self, input: usize, now: u64) {
        let buffer = &mut self.buffers[input];
        buffer.flits += 1;
        buffer.moment = buffer.moment.wrapping_sub(now);
    }

    /// Counts a flit that leaves in cycle `now`. The flit still occupies buffer space during this cycle. A flit that crosses the router in
    /// the cycle of its arrival therefore occupies space for one cycle.
    #[inline(always)]
    pub fn leave(&mut self, input: usize, now: u64) {
        let buffer = &mut self.buffers[input];
        buffer.flits -= 1;
        buffer.moment = buffer.moment.wrapping_add(now + 1);
    }

    #[inline(always)]
    pub fn pin(&mut self, stages: u8) {
        self.pinned[stages as usize] += 1;
    }

    #[inline(always)]
    pub fn deliver(&mut self, stages: u8) {
        self.pinned[stages as usize] -= 1;
    }

    /// The sum, over all cycles since the last reading, of the number of flits in an input buffer.
    pub fn flit_cycles(&mut self, input: usize, now: u64) -> u64 {
        let buffer = &mut self.buffers[input];
        let integral = buffer.flits.wrapping_mul(now).wrapping_add(buffer.moment);
        integral.wrapping_sub(std::mem::replace(&mut buffer.read, integral))
    }

    /// The sum of `pinned` over `stages` and larger numbers of stages. The sum over all blocks is the number of packets in flight that may
    /// use at least `stages` stages.
    pub fn pinned_to(&self, stages: usize) -> i64 {
        self.pinned[stages..].iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Gauge;

    #[test]
    fn flit_cycles_are_the_residence_of_every_flit_inside_the_window() {
        let mut gauge = Gauge::of(2, 1);
        // one flit is in the buffer in cycles 3 to 12, another in 5 to 25; the integral is read before cycles 10, 20 and 30
        gauge.enter(1, 3);
        gauge.enter(1, 5);
        assert_eq!((gauge.flit_cycles(1, 10), gauge.flit_cycles(0, 10)), (7 + 5, 0));
        gauge.leave(1, 12);
        assert_eq!(gauge.flit_cycles(1, 20), 3 + 10);
        gauge.leave(1, 25);
        assert_eq!(gauge.flit_cycles(1, 30), 6);
        assert_eq!(gauge.flit_cycles(1, 40), 0);
    }

    #[test]
    fn a_flit_that_leaves_in_the_cycle_in_which_it_came_was_there_for_one() {
        let mut gauge = Gauge::of(1, 1);
        (20..40).for_each(|now| {
            gauge.enter(0, now);
            gauge.leave(0, now);
        });
        assert_eq!(gauge.flit_cycles(0, 120), 20);
    }

    #[test]
    fn packets_are_counted_by_the_stages_that_they_need() {
        let (mut here, mut there) = (Gauge::of(0, 3), Gauge::of(0, 3));
        [1, 2, 3, 3].into_iter().for_each(|stages| here.pin(stages));
        [3, 2, 0].into_iter().for_each(|stages| there.deliver(stages));
        let under_way = |stages| here.pinned_to(stages) + there.pinned_to(stages);
        assert_eq!([1, 2, 3].map(under_way), [2, 1, 1]);
    }
}
