//! The agents of the elastic tree. In each block, they count the packets in flight that have chosen each upward link. The overseer reads
//! the counts.

use weft_api::agents::{Agents, Departures, Probes};
use weft_api::base::kept::Kept;
use weft_api::links_up::choices_below;
use weft_api::state::Packet;

/// The counters of one block.
#[derive(Debug, Kept)]
pub struct Gauge {
    #[kept(fixed)]
    radix: u32,
    /// Indexed by level and by the upward links chosen up to this level: a number of packets. Packets that make these choices in this block
    /// raise it. Packets with these choices that are delivered or discarded in this block lower it. A packet can end in another block than
    /// the one in which it chose. The sum over all blocks is the number of packets in flight with these choices.
    #[kept(each)]
    chosen: Vec<Vec<i64>>,
}

impl Agents for Gauge {
    fn probes(&self) -> Probes {
        Probes { departures: true, routed: true, ..Probes::default() }
    }

    /// Counts a packet that has just chosen an upward link, one level above its previous choice.
    fn routed(&mut self, packet: &Packet) {
        self.count_last(packet, 1);
    }

    /// Counts a packet under its new choice, if it has replaced its last upward link by another one of the same level.
    fn rerouted(&mut self, before: &Packet, now: &Packet) {
        self.count_last(before, -1);
        self.count_last(now, 1);
    }

    fn depart(&mut self, batch: &Departures) {
        for packet in batch.flits.iter().filter_map(|flit| flit.delivered) {
            self.forget(&batch.packets[packet as usize]);
        }
    }

    fn discard(&mut self, _now: u64, _input: usize, _flits: u16, packet: Option<&Packet>) {
        packet.into_iter().for_each(|packet| self.forget(packet));
    }

    fn under_way(&self) -> Vec<i64> {
        self.chosen.concat()
    }
}

impl Gauge {
    /// Creates the gauge for a tree with `levels` levels of links.
    pub fn new(levels: usize, radix: u32) -> Self {
        let chosen = (1..=levels as u32).map(|level| vec![0; (radix as usize).pow(level)]).collect();
        Self { radix, chosen }
    }

    fn count_last(&mut self, packet: &Packet, more: i64) {
        if let Some(level) = usize::from(packet.phase).checked_sub(1) {
            self.chosen[level][choices_below(packet.target, level + 1, self.radix)] += more;
        }
    }

    /// Removes a packet that is no longer in flight.
    fn forget(&mut self, packet: &Packet) {
        for level in 0..usize::from(packet.phase) {
            self.chosen[level][choices_below(packet.target, level + 1, self.radix)] -= 1;
        }
    }

    /// Number of packets that made `choices` up to `level` in this block, minus the packets with these choices that were delivered or
    /// discarded in this block.
    pub fn chosen(&self, level: usize, choices: usize) -> i64 {
        self.chosen[level][choices]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_api::agents::Departure;
    use weft_api::widths::note_choice;

    fn both(here: &Gauge, there: &Gauge) -> Vec<(usize, i64)> {
        let sums = here.under_way().into_iter().zip(there.under_way()).map(|(a, b)| a + b);
        sums.enumerate().filter(|&(_, sum)| sum != 0).collect()
    }

    #[test]
    fn packets_are_counted_from_their_choices_until_they_are_delivered_or_discarded() {
        let (mut here, mut there) = (Gauge::new(2, 3), Gauge::new(2, 3));
        let mut packet = Packet::default();
        note_choice(&mut packet, 0, 2);
        here.routed(&packet);
        let before = packet;
        note_choice(&mut packet, 1, 0);
        there.routed(&packet);
        // level 0 has 3 entries, then level 1 has 9; the choice of link 2 and then link 0 has index 2 among the 9
        assert_eq!(both(&here, &there), [(2, 1), (3 + 2, 1)]);
        let mut other = before;
        note_choice(&mut other, 1, 1);
        there.rerouted(&packet, &other);
        assert_eq!(both(&here, &there), [(2, 1), (3 + 2 + 3, 1)]);
        let tail = Departure { input: 0, channel: 0, vc: 0, head: None, delivered: Some(0) };
        there.depart(&Departures { now: 9, flits: &[tail], packets: &[other] });
        assert_eq!(both(&here, &there), []);
        here.routed(&before);
        there.discard(9, 0, 2, None);
        assert_eq!(both(&here, &there), [(2, 1)], "its tail is still to come");
        there.discard(11, 0, 2, Some(&before));
        assert_eq!(both(&here, &there), []);
    }
}
