//! An ideal map of queues: every destination has a queue at every input, however many there are, with places of its own.
//!
//! The packets of a VC stay in one list, in the order in which they came. The packets for a destination are its queue.
//! A packet may overtake packets for other destinations. So the first packet of any queue can leave if its next queue
//! has places. The places are reserved when the packet requests its output, so from then on it waits only for links.

use weft_api::base::kept::{Kept, Value};
use weft_api::base::wheel::Wheel;
use weft_api::state::NONE;

/// Rules of all channels of a run.
#[derive(Debug)]
pub struct IdealRules {
    /// Number of lanes. The lane of a destination is its number modulo this.
    pub lanes: u32,
    /// Most destinations of a lane.
    pub of_lane: u32,
    /// By link class: flits that a queue behind a channel holds.
    pub places: Vec<u16>,
    /// Places that a queue must have free for a packet.
    pub room: u16,
}

impl IdealRules {
    /// The queue of a destination among those of its channel, on VC `vc`.
    pub fn queue(&self, vc: usize, dst: u32) -> u32 {
        vc as u32 * self.of_lane + dst / self.lanes
    }
}

/// Places in a queue that have become free.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Place {
    /// The output whose channel leads to the queue.
    pub port: u32,
    pub queue: u32,
    pub flits: u16,
}

/// The queues of a block, as seen by the senders and by the receivers of its channels; empty without an ideal map.
#[derive(Debug, Kept)]
pub struct IdealQueues {
    /// Queues behind a channel.
    #[kept(fixed)]
    each: usize,
    /// By channel and queue: places that packets use or have reserved.
    #[kept(each)]
    taken: Vec<u16>,
    /// By input: stuck VCs, none of whose packets may request an output.
    #[kept(each)]
    pub stuck: Vec<u16>,
    /// By input * 16 + VC: the segment of the packet that came last.
    #[kept(each)]
    pub coming: Vec<u32>,
    /// By input * 16 + VC: the destination of the packet that leaves. Its record may be in another block before its tail has left.
    #[kept(each)]
    pub leaving: Vec<u32>,
    /// By output: the input that is served first when places become free.
    #[kept(each)]
    pub turns: Vec<u16>,
    pub returned: Wheel<Place, 16>,
    /// Scratch: heads that have come in this cycle. They take places at the same time, in an order that does not depend
    /// on blocks.
    #[kept(scratch)]
    pub asking: Vec<(u32, u8)>,
    /// Scratch: flits are arriving, so heads wait until all have come.
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

    /// `horizon`: most cycles until a freed place is known to the sender.
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

    /// Whether `queue` behind channel `o` has places for a packet. `most`: those of the queue; `room`: those that must be free.
    pub fn has_room(&self, (o, queue): (usize, u32), (most, room): (u16, u16)) -> bool {
        self.taken[o * self.each + queue as usize] + room <= most
    }

    /// Takes places for a packet.
    pub fn take(&mut self, (o, queue): (usize, u32), flits: u16) {
        self.taken[o * self.each + queue as usize] += flits;
    }

    /// Returns places.
    pub fn give_back(&mut self, place: Place) {
        self.taken[place.port as usize * self.each + place.queue as usize] -= place.flits;
    }

    /// Whether no packet has a place or waits for one.
    pub fn are_empty(&self) -> bool {
        self.taken.iter().all(|&flits| flits == 0) && self.stuck.iter().all(|&vcs| vcs == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_has_places_of_its_own() {
        // 5 destinations in 2 lanes: 3 at most in a lane
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
