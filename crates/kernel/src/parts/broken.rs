//! Broken channels of a block, and the heads that they affect.

use std::collections::VecDeque;
use weft_api::base::kept::Kept;
use weft_api::state::Packet;

/// Number of a VC of an input: (input, VC).
pub type Place = (usize, usize);

/// `Broken::since` of a head that has an escape.
pub const NEVER: u64 = u64::MAX;

/// The state of a block for broken channels.
#[derive(Debug, Default, Kept)]
pub struct Broken {
    #[kept(fixed)]
    pub(crate) vcs: usize,
    /// By channel: number of faults that keep it broken.
    #[kept(each)]
    pub(crate) causes: Vec<u8>,
    /// Broken channels that still carry flits granted before; afterwards they are dark.
    pub(crate) fading: Vec<u32>,
    /// Broken channels that heads have requested since the last cycle.
    pub(crate) asked: Vec<u32>,
    /// By input * VCs + VC: a copy of the packet at the head, made before its routing chose by the queues.
    pub(crate) undecided: Vec<Option<Packet>>,
    /// By input * VCs + VC: the cycle since which the head, which chooses in every step, has no escape.
    pub(crate) since: Vec<u64>,
    /// Heads that wait for new tables, or for their link. They request nothing.
    pub(crate) parked: Vec<Place>,
    /// Tables or links have changed since they last looked.
    pub(crate) look_again: bool,
    /// Cycles in which heads without an escape give up: (cycle, first cycle without an escape, place), in order of
    /// time. If heads escape to a ring, this has entries for all heads, which then check whether the ring is cut.
    pub(crate) deadlines: VecDeque<(u64, u64, Place)>,
}

impl Broken {
    /// For a block with this many ports, of `vcs` VCs each.
    pub fn new(ports: usize, vcs: usize) -> Self {
        Self { vcs, causes: vec![0; ports], ..Self::default() }
    }

    /// The first cycle from `now` on that has an event; `u64::MAX` if there is none.
    pub fn next(&self, now: u64) -> u64 {
        let is_calm = self.fading.is_empty() && self.asked.is_empty() && !self.look_again;
        let deadline = self.deadlines.front().map_or(u64::MAX, |&(at, ..)| at.max(now));
        if is_calm { deadline } else { now }
    }

    /// Whether the head of VC `v` of input `i` waits for new tables, or for its link.
    pub fn waits(&self, i: usize, v: usize) -> bool {
        self.parked.contains(&(i, v))
    }

    pub fn number(&self, (i, v): Place) -> usize {
        i * self.vcs + v
    }
}
