//! Broken channels of a block, and the heads that they affect.

use std::collections::VecDeque;
use weft_api::base::kept::Kept;
use weft_api::state::Packet;

/// Identifies a VC of an input: (input, VC).
pub type Place = (usize, usize);

/// Value of `Broken::since` for a head that has an escape.
pub const NEVER: u64 = u64::MAX;

/// The data of a block on broken channels.
#[derive(Debug, Default, Kept)]
pub struct Broken {
    #[kept(fixed)]
    pub(crate) vcs: usize,
    /// For each channel: number of faults that keep it broken.
    #[kept(each)]
    pub(crate) causes: Vec<u8>,
    /// Broken channels that still carry flits granted before the fault; when these flits have left, the channels are dark.
    pub(crate) fading: Vec<u32>,
    /// Broken channels that heads have requested since the last cycle.
    pub(crate) asked: Vec<u32>,
    /// Indexed by input * VCs + VC: a copy of the head packet from before the routing chose an output by the queues.
    pub(crate) undecided: Vec<Option<Packet>>,
    /// Indexed by input * VCs + VC: the first cycle in which the head, which chooses in every step, had no escape.
    pub(crate) since: Vec<u64>,
    /// Heads that wait for new tables, or for their link. Heads in this list request no output.
    pub(crate) parked: Vec<Place>,
    /// True if tables or links have changed since the parked heads last looked for a path.
    pub(crate) look_again: bool,
    /// Cycles in which heads without an escape give up: (cycle, first cycle without an escape, place), in order of time. If heads escape
    /// to a ring, this list has entries for all heads; in these cycles they check if the ring is broken.
    pub(crate) deadlines: VecDeque<(u64, u64, Place)>,
}

impl Broken {
    /// The initial data for a block with this number of ports and `vcs` VCs per port.
    pub fn new(ports: usize, vcs: usize) -> Self {
        Self { vcs, causes: vec![0; ports], ..Self::default() }
    }

    /// The first cycle, from `now` on, with an event; `u64::MAX` if there is no event.
    pub fn next(&self, now: u64) -> u64 {
        let is_calm = self.fading.is_empty() && self.asked.is_empty() && !self.look_again;
        let deadline = self.deadlines.front().map_or(u64::MAX, |&(at, ..)| at.max(now));
        if is_calm { deadline } else { now }
    }

    /// True if the head of VC `v` of input `i` waits for new tables, or for its link.
    pub fn waits(&self, i: usize, v: usize) -> bool {
        self.parked.contains(&(i, v))
    }

    pub fn number(&self, (i, v): Place) -> usize {
        i * self.vcs + v
    }
}
