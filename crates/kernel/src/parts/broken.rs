//! The data of a block about broken channels, and about the heads that these channels affect.

use std::collections::VecDeque;
use weft_api::base::kept::Kept;
use weft_api::state::Packet;

/// A VC of an input: (input, VC).
pub type Place = (usize, usize);

/// Value of `Broken::since` for a head that still has an escape.
pub const NEVER: u64 = u64::MAX;

/// The data of a block about broken channels.
#[derive(Debug, Default, Kept)]
pub struct Broken {
    #[kept(fixed)]
    pub(crate) vcs: usize,
    /// For each channel: the number of faults that break it at present.
    #[kept(each)]
    pub(crate) causes: Vec<u8>,
    /// Broken channels that still carry flits granted before the fault. Such a channel becomes dark when these flits have left.
    pub(crate) fading: Vec<u32>,
    /// Broken channels that heads have requested since the last cycle.
    pub(crate) asked: Vec<u32>,
    /// Indexed by input * VCs + VC: a copy of the head packet from before the routing chose an output by the lengths of queues, so that the
    /// routing can choose again.
    pub(crate) undecided: Vec<Option<Packet>>,
    /// Indexed by input * VCs + VC: the first cycle in which the head had no escape. Used for heads that choose in every step.
    pub(crate) since: Vec<u64>,
    /// Heads that wait for new tables, or for the repair of their link. A head in this list requests no output.
    pub(crate) parked: Vec<Place>,
    /// True if tables or links have changed since the parked heads last searched for a path.
    pub(crate) look_again: bool,
    /// Cycles in which heads without an escape give up: (cycle, first cycle without an escape, place), in ascending order. If heads escape
    /// to a ring, this list has entries for all heads, and a head gives up in its cycle only if the ring is broken then.
    pub(crate) deadlines: VecDeque<(u64, u64, Place)>,
}

impl Broken {
    /// The initial data for a block with `ports` ports, each with `vcs` VCs.
    pub fn new(ports: usize, vcs: usize) -> Self {
        Self { vcs, causes: vec![0; ports], ..Self::default() }
    }

    /// The first cycle, from `now` on, with an event; `u64::MAX` if there is no event.
    pub fn next(&self, now: u64) -> u64 {
        let is_calm = self.fading.is_empty() && self.asked.is_empty() && !self.look_again;
        let deadline = self.deadlines.front().map_or(u64::MAX, |&(at, ..)| at.max(now));
        if is_calm { deadline } else { now }
    }

    /// True if the head of VC `v` of input `i` waits for new tables, or for the repair of its link.
    pub fn waits(&self, i: usize, v: usize) -> bool {
        self.parked.contains(&(i, v))
    }

    pub fn number(&self, (i, v): Place) -> usize {
        i * self.vcs + v
    }
}
