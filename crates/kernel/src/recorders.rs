//! The recordings of a block. Each recorder is notified of the events that it may record. In a run without recordings, the cycle loop
//! spends no time on them: it tests its flags for deliveries and hops in any case, and other events are rare.

use crate::block::{Buffers, Fabric, Interfaces};
use weft_api::base::kept::Kept;
use weft_api::control::ControlPacket;
use weft_api::recording::{ControlArrival, PartCrossed, QueueReading, Reading, Recorder};
use weft_api::state::{ChannelEnd, InputUnit, LinkState, NO_REQUEST, NONE, OutputUnit, Packet};

/// The recorders of a block, one for each recording, in the order of the scenario.
#[derive(Debug, Default, Kept)]
pub struct Recorders {
    #[kept(each)]
    parts: Vec<Part>,
    /// The latest reading of every channel's counters; empty if no recording takes samples.
    #[kept(each)]
    readings: Vec<Reading>,
    /// Number of flits that wait in each input buffer; empty if no recording takes samples of queues.
    #[kept(scratch)]
    queues: Vec<QueueReading>,
    /// Number of control packets that the block has sent.
    control_packets: u32,
}

#[derive(Debug, Kept)]
pub struct Part {
    pub recorder: Box<dyn Recorder>,
    #[kept(fixed)]
    pub hears_deliveries: bool,
    #[kept(fixed)]
    pub hears_paths: bool,
    /// Cycle of the last sample of this recorder.
    pub sampled: u64,
}

impl Recorders {
    /// Creates the recorders for a block with `channels` channels and `inputs` input units.
    pub fn new(parts: Vec<Part>, channels: usize, inputs: usize) -> Self {
        let samples = parts.iter().any(|part| part.recorder.next_sample() < u64::MAX);
        let readings = vec![Reading::default(); if samples { channels } else { 0 }];
        let reads_queues = parts.iter().any(|part| part.recorder.samples_queues());
        let queues = vec![QueueReading::default(); if reads_queues { inputs } else { 0 }];
        Self { parts, readings, queues, control_packets: 0 }
    }

    fn each(&mut self) -> impl Iterator<Item = &mut dyn Recorder> {
        self.parts.iter_mut().map(|part| &mut *part.recorder)
    }

    /// Records that a channel changes from one power state to another.
    pub fn changed(&mut self, channel: usize, from: LinkState, to: LinkState, now: u64) {
        self.each().for_each(|part| part.changed(channel, from, to, now));
    }

    /// Records that a packet leaves the network on channel `channel` to its terminal. The terminal has received all its flits in cycle
    /// `at`. `inside`: true if cycle `at` is in the window.
    #[inline(never)]
    pub fn delivered(&mut self, channel: usize, packet: &Packet, at: u64, inside: bool) {
        for part in self.parts.iter_mut().filter(|part| part.hears_deliveries) {
            part.recorder.delivered(packet, at, inside);
        }
        self.crosses(channel, 0, packet);
    }

    /// Records that a whole packet (all its flits) crosses a channel on a VC.
    pub fn crosses(&mut self, channel: usize, vc: u8, packet: &Packet) {
        self.parts
            .iter_mut()
            .filter(|part| part.hears_paths)
            .for_each(|part| part.recorder.crosses(channel, vc, packet));
    }

    fn hear_paths(&self) -> bool {
        self.parts.iter().any(|part| part.hears_paths)
    }

    fn part_crossed(&mut self, packets: &[PartCrossed]) {
        self.parts.iter_mut().filter(|part| part.hears_paths).for_each(|part| part.recorder.part_crossed(packets));
    }

    /// Records that a control packet is sent. Returns the number of the packet; `None` if the run has no recordings.
    pub fn control_sent(&mut self, packet: &dyn Fn() -> ControlPacket) -> Option<u32> {
        if self.parts.is_empty() {
            return None;
        }
        let (number, packet) = (self.control_packets, packet());
        self.control_packets = number.saturating_add(1);
        self.each().for_each(|part| part.control_sent(number, &packet));
        Some(number)
    }

    pub fn control_arrived(&mut self, arrival: ControlArrival) {
        self.each().for_each(|part| part.control_arrived(arrival));
    }

    /// The cycle of the next sample of any recorder.
    pub fn next_sample(&self) -> u64 {
        self.parts.iter().map(|part| part.recorder.next_sample()).min().unwrap_or(u64::MAX)
    }

    /// Adds the flits since the last call to the stored readings of all channels. The engine must call this function at least every 2^32
    /// cycles, because the counters of the channels have 32 bits.
    pub fn look<const V: usize>(&mut self, outs: &[OutputUnit<V>]) {
        for (reading, out) in self.readings.iter_mut().zip(outs) {
            reading.flits += u64::from(out.flits.wrapping_sub(reading.flits as u32));
            reading.state = out.state;
        }
    }

    /// Takes the samples that are due in cycle `now`.
    pub fn sample<const V: usize>(&mut self, outs: &[OutputUnit<V>], buffers: &Buffers<V>, now: u64) {
        self.look(outs);
        self.look_at_queues(buffers);
        for part in self.parts.iter_mut().filter(|part| part.recorder.next_sample() == now) {
            part.sample(&self.readings, &self.queues, now);
        }
    }

    /// Reads the queues, if a recording takes samples of them.
    fn look_at_queues<const V: usize>(&mut self, buffers: &Buffers<V>) {
        for (reading, input) in self.queues.iter_mut().zip(&buffers.ins) {
            *reading = waiting(input, buffers);
        }
    }

    pub fn window_begins(&mut self, now: u64) {
        self.each().for_each(|part| part.window_begins(now));
    }

    pub fn window_ends(&mut self, now: u64) {
        self.each().for_each(|part| part.window_ends(now));
    }

    /// Ends the recordings. Takes a last sample over the time since the previous sample, and returns the recorders.
    pub fn finish<const V: usize>(
        mut self,
        outs: &[OutputUnit<V>],
        buffers: &Buffers<V>,
        now: u64,
    ) -> Vec<Box<dyn Recorder>> {
        self.look(outs);
        self.look_at_queues(buffers);
        for part in &mut self.parts {
            if part.recorder.next_sample() < u64::MAX && part.sampled < now {
                part.sample(&self.readings, &self.queues, now);
            }
        }
        self.parts.into_iter().map(|part| part.recorder).collect()
    }
}

impl Part {
    fn sample(&mut self, readings: &[Reading], queues: &[QueueReading], now: u64) {
        self.recorder.sample(readings, now);
        if self.recorder.samples_queues() {
            self.recorder.sample_queues(queues, now);
        }
        self.sampled = now;
    }
}

/// The number of flits that wait in an input unit.
fn waiting<const V: usize>(input: &InputUnit<V>, buffers: &Buffers<V>) -> QueueReading {
    let mut all = QueueReading::default();
    for &head in &input.head {
        let (mut flits, mut next) = (0, head);
        while next != NONE {
            let segment = &buffers.segments.items[next as usize];
            flits += u32::from(segment.arrived - segment.sent);
            next = segment.next;
        }
        all = QueueReading { flits: all.flits + flits, fullest: all.fullest.max(flits) };
    }
    all
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// For recorders that count packets by channel: reports the packets of which only a part has crossed a channel.
    pub(crate) fn tell_part_crossed(&self, interfaces: &Interfaces, recorders: &mut Recorders) {
        if !recorders.hear_paths() {
            return;
        }
        let mut packets = Vec::new();
        for terminal in interfaces.terminals.iter().filter(|terminal| terminal.packet != NONE) {
            let (channel, missing) = (terminal.out as usize, terminal.left.into());
            packets.push(PartCrossed { channel, vc: 0, packet: None, missing });
        }
        let queues = &interfaces.queues;
        for (t, terminal) in interfaces.terminals.iter().enumerate().filter(|_| queues.each > 0) {
            let of_terminal = &queues.of[t * queues.each..(t + 1) * queues.each];
            for queue in of_terminal.iter().filter(|queue| queue.is_amid()) {
                let (channel, missing) = (terminal.out as usize, queue.left.into());
                packets.push(PartCrossed { channel, vc: queue.vc, packet: None, missing });
            }
        }
        for (i, input) in self.buffers.ins.iter().enumerate() {
            for (v, &head) in input.head.iter().enumerate().filter(|&(_, &head)| head != NONE) {
                let segment = &self.buffers.segments.items[head as usize];
                // the head of a packet that is being discarded requests an output but holds no VC
                if segment.sent == 0 || segment.sent == segment.len || input.requests[v] != NO_REQUEST {
                    continue;
                }
                let (channel, vc) =
                    (input.base(i) + usize::from(input.output_vc[v] >> 4), (input.output_vc[v] & 15) as u8);
                let (packet, missing) = match self.wires.outs[channel].kind() {
                    // a packet counts on the channel to its terminal only when its tail leaves
                    ChannelEnd::Ejection => {
                        (Some(&self.buffers.packets.items[segment.packet as usize]), -i64::from(segment.sent))
                    }
                    ChannelEnd::Local | ChannelEnd::Remote => (None, i64::from(segment.len - segment.sent)),
                    ChannelEnd::Injection | ChannelEnd::Unused => continue,
                };
                packets.push(PartCrossed { channel, vc, packet, missing });
            }
        }
        recorders.part_crossed(&packets);
    }
}
