//! The agents of the elastic tree: they count in each block how many packets are under way that have chosen each link up.
//! The overseer reads the counts.

use crate::api::agents::{Agents, Departures, Probes};
use crate::api::widths::choices_of;
use crate::base::unchecked::Hot;
use crate::state::Packet;

/// Counters of one block.
#[derive(Debug)]
pub struct Gauge {
    radix: usize,
    /// [level][link up]: packets that chose it in this block minus packets delivered in it that had chosen it anywhere.
    /// Summed over all blocks this is the number under way.
    chosen: Vec<i64>,
}

impl Agents for Gauge {
    fn probes(&self) -> Probes {
        Probes { departures: true, routed: true, ..Probes::default() }
    }

    /// A packet has chosen a link up of one more level, the last that it knows.
    fn routed(&mut self, packet: &Packet) {
        if let Some((level, up)) = choices_of(packet).next_back() {
            self.chosen[level * self.radix + up] += 1;
        }
    }

    fn depart(&mut self, batch: &Departures) {
        for packet in batch.flits.iter().filter_map(|flit| flit.delivered) {
            for (level, up) in choices_of(batch.packets.hot(packet as usize)) {
                self.chosen[level * self.radix + up] -= 1;
            }
        }
    }
}

impl Gauge {
    pub fn new(levels: usize, radix: usize) -> Self {
        Self { radix, chosen: vec![0; levels * radix] }
    }

    /// Packets that chose a link up of `level` from number `width` on, here, minus those delivered here.
    pub fn chosen_beyond(&self, level: usize, width: u32) -> i64 {
        self.chosen[level * self.radix..][width as usize..self.radix].iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::agents::Departure;
    use crate::api::widths::note_choice;

    #[test]
    fn packets_are_counted_from_their_choice_until_they_are_delivered() {
        let (mut here, mut there) = (Gauge::new(2, 3), Gauge::new(2, 3));
        let mut packet = Packet::default();
        note_choice(&mut packet, 0, 2);
        here.routed(&packet);
        note_choice(&mut packet, 1, 1);
        there.routed(&packet);
        let beyond = |here: &Gauge, there: &Gauge| {
            [(0, 2), (0, 3), (1, 1), (1, 2)].map(|(l, w)| here.chosen_beyond(l, w) + there.chosen_beyond(l, w))
        };
        assert_eq!(beyond(&here, &there), [1, 0, 1, 0]);
        let tail = Departure { input: 0, channel: 0, vc: 0, head: None, delivered: Some(0) };
        there.depart(&Departures { now: 9, flits: &[tail], packets: &[packet] });
        assert_eq!(beyond(&here, &there), [0; 4]);
    }
}
