//! An ideal map of queues. Every destination has a separate queue, with its own places (flit slots), at every input. The number of queues
//! has no limit.
//!
//! The packets of a VC are in one list, in the order of their arrival. The packets of this list that have the same destination form a
//! queue. A packet may overtake packets for other destinations. Therefore the first packet of each queue can leave if its queue at the next
//! router has free places. A packet reserves these places when it requests its output. From then on it waits only for links.

use weft_api::base::kept::{Kept, Value};
use weft_api::base::wheel::Wheel;
use weft_api::state::NONE;

/// The rules of the ideal map, for all channels of a run.
#[derive(Debug)]
pub struct IdealRules {
    /// Number of lanes. The lane of a destination is the number of the destination modulo `lanes`.
    pub lanes: u32,
    /// The largest number of destinations that share a lane.
    pub of_lane: u32,
    /// For each link class: number of flits that a queue behind a channel can store.
    pub places: Vec<u16>,
    /// Number of free places that a queue must have to accept a packet.
    pub room: u16,
}

impl IdealRules {
    /// Index of the queue for destination `dst` on VC `vc`, among the queues of a channel.
    pub fn queue(&self, vc: usize, dst: u32) -> u32 {
        vc as u32 * self.of_lane + dst / self.lanes
    }
}

/// Places that have become free in a queue. The receiver reports them to the sender.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Place {
    /// The output whose channel leads to the queue.
    pub port: u32,
    pub queue: u32,
    pub flits: u16,
}

/// The queues of a block, for the senders and for the receivers of its channels; empty without an ideal map.
#[derive(Debug, Kept)]
pub struct IdealQueues {
    /// Number of queues behind a channel.
    #[kept(fixed)]
    each: usize,
    /// For each channel and queue: number of places that packets use or have reserved.
    #[kept(each)]
    taken: Vec<u16>,
    /// For each input, the mask of its stuck VCs. In a stuck VC no packet may request an output at present.
    #[kept(each)]
    pub stuck: Vec<u16>,
    /// Indexed by input * 16 + VC: the segment of the packet that arrived last.
    #[kept(each)]
    pub coming: Vec<u32>,
    /// Indexed by input * 16 + VC: the destination of the packet that is leaving. The record of this packet can move to another block
    /// before its tail has left.
    #[kept(each)]
    pub leaving: Vec<u32>,
    /// For each output, the input that is served first when places become free.
    #[kept(each)]
    pub turns: Vec<u16>,
    pub returned: Wheel<Place, 16>,
    /// Scratch memory: heads that have arrived in this cycle. All these heads reserve places together, in an order that does not depend on
    /// the division into blocks.
    #[kept(scratch)]
    pub asking: Vec<(u32, u8)>,
    /// Scratch memory: true while flits arrive. Heads then wait for places until all flits of the cycle have arrived.
    #[kept(scratch)]
    pub defers: bool,
    /// Scratch memory: places that become free in this cycle.
    #[kept(scratch)]
    pub due: Vec<Place>,
}

impl IdealQueues {
    pub fn none() -> Self {
        let rules = IdealRules { lanes: 1, of_lane: 0, places: Vec::new(), room: 0 };
        Self::new(&rules, (0, 0), 0, 0)
    }

    /// `horizon`: the largest number of cycles until the sender is informed of a free place.
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

    /// True if `queue` behind channel `o` has enough free places to accept a packet. `most`: number of places that the queue has. `room`:
    /// required number of free places.
    pub fn has_room(&self, (o, queue): (usize, u32), (most, room): (u16, u16)) -> bool {
        self.taken[o * self.each + queue as usize] + room <= most
    }

    /// Reserves places for `flits` flits in a queue at the input behind channel `o`.
    pub fn take(&mut self, (o, queue): (usize, u32), flits: u16) {
        self.taken[o * self.each + queue as usize] += flits;
    }

    /// Frees the places that a packet had reserved in a queue.
    pub fn give_back(&mut self, place: Place) {
        self.taken[place.port as usize * self.each + place.queue as usize] -= place.flits;
    }

    /// True if no packet has places or waits for places.
    pub fn are_empty(&self) -> bool {
        self.taken.iter().all(|&flits| flits == 0) && self.stuck.iter().all(|&vcs| vcs == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_has_places_of_its_own() {
        // 5 destinations in 2 lanes, so at most 3 share a lane
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
