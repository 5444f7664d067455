//! Link ends of a block that fail and return, and the heads without a path.

use crate::parts::broken::Broken;
use weft_api::agents::{Breakage, Cause, Parked};
use weft_api::base::kept::{Kept, Value};

/// The event that one end of a link notices at cycle `at` that the link or a router has failed or returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Event {
    pub at: u64,
    pub what: Breakage,
}

/// The state of a block for faults.
#[derive(Debug, Default, Kept)]
pub struct Faults {
    #[kept(fixed)]
    pub(crate) on: bool,
    /// Future events, the latest first.
    pub(crate) events: Vec<Event>,
    pub(crate) parked: Vec<Parked>,
    /// `dead`: routers that have failed. `dead_ends`: for each output, how many of the two routers at its ends have
    /// failed.
    #[kept(each)]
    pub(crate) dead: Vec<bool>,
    #[kept(each)]
    pub(crate) dead_ends: Vec<u8>,
    /// Heads (input, VC) of packets that will be discarded, because only a failed router could take them further.
    pub(crate) doomed: Vec<(u32, u8)>,
    /// Routers with news about links, whose heads have not looked for a path again yet.
    pub(crate) news: Vec<u32>,
    /// Routers that know of a fault.
    #[kept(each)]
    pub(crate) warned: Vec<bool>,
    pub(crate) broken: Broken,
}

impl Faults {
    /// The state for a block with this many ports and routers. Every block of a run with faults has one, even without a
    /// fault in the block.
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

    /// The first cycle from `now` on that has an event; `u64::MAX` if there is none.
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

    /// Notes that router `r` has news about links.
    pub fn note_news(&mut self, r: usize) {
        if self.on {
            self.news.push(r as u32);
        }
    }

    /// Notes that a head requests channel `o`, which is broken.
    pub fn note_asked(&mut self, o: usize) {
        self.broken.asked.push(o as u32);
    }

    /// Notes that the routing has new tables.
    pub fn hear_of_tables(&mut self) {
        self.broken.look_again = true;
    }

    /// Notes that router `r` knows of a fault.
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
