//! The recordings of a block: each part is told of the events that it may record. A run without recordings pays nothing
//! in the loop: deliveries are behind a flag that the loop tests anyway, and the other events are rare.

use weft_api::base::kept::Kept;
use weft_api::control::ControlPacket;
use weft_api::recording::{ControlArrival, Reading, Recorder};
use weft_api::state::{LinkState, OutputUnit, Packet};

/// The parts of all recordings in a block, in the order of the scenario.
#[derive(Debug, Default, Kept)]
pub struct Recorders {
    #[kept(each)]
    parts: Vec<Part>,
    /// What every channel had done when it was last read; empty if no recording takes samples.
    #[kept(each)]
    readings: Vec<Reading>,
    /// Number of control packets that the block has sent.
    control_packets: u32,
}

#[derive(Debug, Kept)]
pub struct Part {
    pub recorder: Box<dyn Recorder>,
    #[kept(fixed)]
    pub hears_deliveries: bool,
    /// Cycle of its last sample.
    pub sampled: u64,
}

impl Recorders {
    /// For a block with this many channels.
    pub fn new(parts: Vec<Part>, channels: usize) -> Self {
        let samples = parts.iter().any(|part| part.recorder.next_sample() < u64::MAX);
        let readings = vec![Reading::default(); if samples { channels } else { 0 }];
        Self { parts, readings, control_packets: 0 }
    }

    fn each(&mut self) -> impl Iterator<Item = &mut dyn Recorder> {
        self.parts.iter_mut().map(|part| &mut *part.recorder)
    }

    /// A channel goes from one power state to another.
    pub fn changed(&mut self, channel: usize, from: LinkState, to: LinkState, now: u64) {
        self.each().for_each(|part| part.changed(channel, from, to, now));
    }

    /// A packet is delivered at cycle `at`.
    #[inline(never)]
    pub fn delivered(&mut self, packet: &Packet, at: u64) {
        for part in self.parts.iter_mut().filter(|part| part.hears_deliveries) {
            part.recorder.delivered(packet, at);
        }
    }

    /// A control packet leaves. Returns its number if there is a recording.
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

    /// The cycle of the next sample.
    pub fn next_sample(&self) -> u64 {
        self.parts.iter().map(|part| part.recorder.next_sample()).min().unwrap_or(u64::MAX)
    }

    /// Brings the readings up to date. It must be called at least every 2^32 cycles, because the counters of the
    /// channels have 32 bits.
    pub fn look<const V: usize>(&mut self, outs: &[OutputUnit<V>]) {
        for (reading, out) in self.readings.iter_mut().zip(outs) {
            reading.flits += u64::from(out.flits.wrapping_sub(reading.flits as u32));
            reading.state = out.state;
        }
    }

    /// Takes the samples that are due.
    pub fn sample<const V: usize>(&mut self, outs: &[OutputUnit<V>], now: u64) {
        self.look(outs);
        for part in self.parts.iter_mut().filter(|part| part.recorder.next_sample() == now) {
            part.recorder.sample(&self.readings, now);
            part.sampled = now;
        }
    }

    pub fn window_begins(&mut self, now: u64) {
        self.each().for_each(|part| part.window_begins(now));
    }

    pub fn window_ends(&mut self, now: u64) {
        self.each().for_each(|part| part.window_ends(now));
    }

    /// Ends the recordings: takes a last sample of what has happened since the one before, and returns the parts.
    pub fn finish<const V: usize>(mut self, outs: &[OutputUnit<V>], now: u64) -> Vec<Box<dyn Recorder>> {
        self.look(outs);
        for part in &mut self.parts {
            if part.recorder.next_sample() < u64::MAX && part.sampled < now {
                part.recorder.sample(&self.readings, now);
            }
        }
        self.parts.into_iter().map(|part| part.recorder).collect()
    }
}
