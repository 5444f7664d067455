//! Control packets that are recorded: noted where they leave, and again where they come, which may be in another block.

use super::message::ControlPacket;

/// What a block has noted.
#[derive(Debug)]
pub(crate) struct Log {
    sent: Vec<ControlPacket>,
    arrivals: Vec<Arrival>,
    most: usize,
}

/// A packet has come.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    /// Block of its sender, and place in what was sent there.
    block: u32,
    place: u32,
    cycle: u64,
    hops: u8,
}

impl Log {
    /// Room for `most` packets.
    pub fn new(most: usize) -> Self {
        Self { sent: Vec::new(), arrivals: Vec::new(), most }
    }

    /// A packet leaves; gives its place, unless there is no room. One more than there is room for tells where that ended.
    pub fn leaves(&mut self, packet: ControlPacket) -> Option<u32> {
        let place = self.sent.len();
        (place <= self.most).then(|| {
            self.sent.push(packet);
            place as u32
        })
    }

    /// The packet that left `block` with that place comes after so many links.
    pub fn comes(&mut self, block: u32, place: u32, cycle: u64, hops: u8) {
        self.arrivals.push(Arrival { block, place, cycle, hops });
    }
}

/// What the blocks, in their order, have noted: in the order of cycles, up to the cycle of the first packet that has no
/// room, and whether that is all.
pub(crate) fn finish<'a>(logs: impl Iterator<Item = &'a Log>, most: usize) -> (Vec<ControlPacket>, bool) {
    let logs: Vec<_> = logs.collect();
    let mut sent: Vec<_> = logs.iter().map(|log| log.sent.clone()).collect();
    for arrival in logs.iter().flat_map(|log| &log.arrivals) {
        let packet = &mut sent[arrival.block as usize][arrival.place as usize];
        packet.arrival = Some((arrival.cycle, arrival.hops));
    }
    let mut all = sent.concat();
    all.sort_unstable();
    let cut = all.get(most).map(|packet| packet.cycle);
    all.retain(|packet| cut.is_none_or(|cut| packet.cycle < cut));
    (all, cut.is_none())
}
