//! The link ends of a block that fail and are repaired, and the heads that have no path.

use crate::parts::broken::Broken;
use weft_api::agents::{Breakage, Cause, Parked};
use weft_api::base::kept::{Kept, Value};

/// An event that one end of a link detects in cycle `at`: the link or a router has failed, or was repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Event {
    pub at: u64,
    pub what: Breakage,
}

/// The data of a block about faults.
#[derive(Debug, Default, Kept)]
pub struct Faults {
    #[kept(fixed)]
    pub(crate) on: bool,
    /// Future events, in descending order of time.
    pub(crate) events: Vec<Event>,
    pub(crate) parked: Vec<Parked>,
    /// For each router: whether it has failed.
    #[kept(each)]
    pub(crate) dead: Vec<bool>,
    /// For each output: the number of failed routers (0 to 2) at the ends of its link.
    #[kept(each)]
    pub(crate) dead_ends: Vec<u8>,
    /// Heads (input, VC) whose packets will be discarded, because all their paths lead through a failed router.
    pub(crate) doomed: Vec<(u32, u8)>,
    /// Routers that have received news about links, but whose heads have not yet searched for a path again.
    pub(crate) news: Vec<u32>,
    /// For each router: whether it knows of a fault.
    #[kept(each)]
    pub(crate) warned: Vec<bool>,
    pub(crate) broken: Broken,
}

impl Faults {
    /// Creates the data for a block with this number of ports and routers. In a run with faults every block has these data, even a block in
    /// which nothing fails.
    pub fn new(mut events: Vec<Event>, ports: usize, routers: usize, vcs: usize) -> Self {
        events.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            on: true,
            events,
            dead: vec![false; routers],
            dead_ends: vec![0; ports],
            warned: vec![false; routers],
            broken: Broken::new(ports, vcs),
            ..Self::default()
        }
    }

    /// The first cycle, from `now` on, with an event; `u64::MAX` if there is no event.
    pub fn next(&self, now: u64) -> u64 {
        let event = self.events.last().map_or(u64::MAX, |event| event.at.max(now));
        if self.doomed.is_empty() { event.min(self.broken.next(now)) } else { now }
    }

    pub fn is_dead(&self, r: usize) -> bool {
        self.dead.get(r).is_some_and(|&dead| dead)
    }

    pub fn dead_ends(&self, o: usize) -> u8 {
        self.dead_ends.get(o).copied().unwrap_or(0)
    }

    pub fn parked(&self) -> &[Parked] {
        &self.parked
    }

    /// Records that router `r` has received news about links.
    pub fn note_news(&mut self, r: usize) {
        if self.on {
            self.news.push(r as u32);
        }
    }

    /// Records that a head requests the broken channel `o`.
    pub fn note_asked(&mut self, o: usize) {
        self.broken.asked.push(o as u32);
    }

    /// Records that the routing has new tables.
    pub fn hear_of_tables(&mut self) {
        self.broken.look_again = true;
    }

    /// Records that router `r` knows of a fault.
    pub fn warn(&mut self, r: usize) {
        self.warned[r] = true;
    }

    pub fn note(&mut self, r: usize, what: Breakage) {
        self.warned[r] = true;
        if what.cause != Cause::Link {
            let ends = &mut self.dead_ends[what.channel as usize];
            *ends = if what.breaks { *ends + 1 } else { *ends - 1 };
        }
        if what.cause == Cause::OwnRouter {
            self.dead[r] = what.breaks;
        }
    }
}
