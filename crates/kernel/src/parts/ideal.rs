//! An ideal map of queues: every destination has its own queue, with its own places, at every input. The number of queues is not limited.
//!
//! The packets of a VC stay in one list, in the order of their arrival. The packets for one destination form its queue. A packet may
//! overtake packets for other destinations. Therefore the first packet of any queue can leave if its next queue has free places. The
//! places are reserved when the packet requests its output, so from then on it waits only for links.

use weft_api::base::kept::{Kept, Value};
use weft_api::base::wheel::Wheel;
use weft_api::state::NONE;

/// The rules for all channels of a run.
#[derive(Debug)]
pub struct IdealRules {
    /// Number of lanes. The lane of a destination is the number of the destination modulo `lanes`.
    pub lanes: u32,
    /// Largest number of destinations that share a lane.
    pub of_lane: u32,
    /// For each link class: number of flits that a queue behind a channel can store.
    pub places: Vec<u16>,
    /// Number of free places that a queue needs to accept a packet.
    pub room: u16,
}

impl IdealRules {
    /// Index, among the queues of a channel, of the queue for a destination on VC `vc`.
    pub fn queue(&self, vc: usize, dst: u32) -> u32 {
        vc as u32 * self.of_lane + dst / self.lanes
    }
}

/// Places in a queue that have become free, as a message to the sender.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Place {
    /// The output with the channel that leads to the queue.
    pub port: u32,
    pub queue: u32,
    pub flits: u16,
}

/// The queues of a block, both from the view of the senders and of the receivers of its channels; empty without an ideal map.
#[derive(Debug, Kept)]
pub struct IdealQueues {
    /// Number of queues behind a channel.
    #[kept(fixed)]
    each: usize,
    /// For each channel and queue: number of places that packets use or have reserved.
    #[kept(each)]
    taken: Vec<u16>,
    /// For each input: stuck VCs. None of their packets may request an output at present.
    #[kept(each)]
    pub stuck: Vec<u16>,
    /// Indexed by input * 16 + VC: the segment of the packet that arrived last.
    #[kept(each)]
    pub coming: Vec<u32>,
    /// Indexed by input * 16 + VC: the destination of the packet that leaves. The record of this packet may be in another block before
    /// its tail has left.
    #[kept(each)]
    pub leaving: Vec<u32>,
    /// For each output: the input that is served first when places become free.
    #[kept(each)]
    pub turns: Vec<u16>,
    pub returned: Wheel<Place, 16>,
    /// Scratch: heads that have arrived in this cycle. These heads reserve places at the same time, in an order that does not depend on
    /// the division into blocks.
    #[kept(scratch)]
    pub asking: Vec<(u32, u8)>,
    /// Scratch: true while flits arrive. Heads then wait until all flits of the cycle have arrived.
    #[kept(scratch)]
    pub defers: bool,
    /// Scratch: places that become free in this cycle.
    #[kept(scratch)]
    pub due: Vec<Place>,
}

impl IdealQueues {
    pub fn none() -> Self {
        let rules = IdealRules { lanes: 1, of_lane: 0, places: Vec::new(), room: 0 };
        Self::new(&rules, (0, 0), 0, 0)
    }

    /// `horizon`: largest number of cycles until the sender knows of a freed place.
    pub fn new(rules: &IdealRules, (inputs, channels): (usize, usize), vcs: usize, horizon: u64) -> Self {
        let each = vcs * rules.of_lane as usize;
        Self {
            each,
            taken: vec![0; each * channels],
            stuck: vec![0; inputs],
            coming: vec![NONE; inputs * 16],
            leaving: vec![0; inputs * 16],
            turns: vec![0; inputs],
            returned: Wheel::new(horizon, inputs),
            asking: Vec::with_capacity(inputs),
            defers: false,
            due: Vec::with_capacity(inputs),
        }
    }

    /// True if `queue` behind channel `o` has enough free places for a packet. `most`: number of places of the queue; `room`: required
    /// number of free places.
    pub fn has_room(&self, (o, queue): (usize, u32), (most, room): (u16, u16)) -> bool {
        self.taken[o * self.each + queue as usize] + room <= most
    }

    /// Reserves places for the flits of a packet in a queue of the input behind channel `o`.
    pub fn take(&mut self, (o, queue): (usize, u32), flits: u16) {
        self.taken[o * self.each + queue as usize] += flits;
    }

    /// Frees the places that a packet had reserved.
    pub fn give_back(&mut self, place: Place) {
        self.taken[place.port as usize * self.each + place.queue as usize] -= place.flits;
    }

    /// True if no packet has a place or waits for a place.
    pub fn are_empty(&self) -> bool {
        self.taken.iter().all(|&flits| flits == 0) && self.stuck.iter().all(|&vcs| vcs == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_has_places_of_its_own() {
        // 5 destinations in 2 lanes: at most 3 in a lane
        let rules = IdealRules { lanes: 2, of_lane: 3, places: vec![4], room: 2 };
        let queues: Vec<_> = (0..5).map(|dst| rules.queue((dst % 2) as usize, dst)).collect();
        assert_eq!(queues, [0, 3, 1, 4, 2]);
        let mut ideal = IdealQueues::new(&rules, (1, 2), 2, 8);
        ideal.take((1, 3), 2);
        assert!(ideal.has_room((1, 3), (4, 2)));
        ideal.take((1, 3), 2);
        assert!(!ideal.has_room((1, 3), (4, 2)), "4 of 4 places are taken");
        assert!(ideal.has_room((1, 4), (4, 2)) && ideal.has_room((0, 3), (4, 2)), "other queues are empty");
        ideal.give_back(Place { port: 1, queue: 3, flits: 2 });
        assert!(ideal.has_room((1, 3), (4, 2)) && !ideal.are_empty());
        ideal.give_back(Place { port: 1, queue: 3, flits: 2 });
        assert!(ideal.are_empty());
    }
}
