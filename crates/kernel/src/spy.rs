//! A view of a router's queues that records each number that a routing compares when it chooses a hop.

use std::cell::RefCell;
use weft_api::routing::Hop;
use weft_api::view::{Queues, View};
use weft_api::walk::Cost;

/// A candidate, with the numbers by which the routing compared it.
#[derive(Debug, Clone, Copy)]
pub enum Weighed {
    /// A candidate with the congestion of its output and the resulting cost. The lowest cost wins.
    Cost { hop: Hop, cost: Cost, queue: i32, value: i32 },
    /// A candidate with the credits of the VCs that a head may take at once. The largest number wins; 0 means closed.
    Credits { hop: Hop, credits: u32 },
}

pub struct Spy<'a, const V: usize> {
    queues: &'a Queues<'a, V>,
    pub notes: RefCell<Vec<Weighed>>,
}

impl<'a, const V: usize> Spy<'a, V> {
    pub fn new(queues: &'a Queues<'a, V>) -> Self {
        Self { queues, notes: RefCell::default() }
    }
}

impl<const V: usize> View for Spy<'_, V> {
    weft_api::answers_as!(queues);

    fn member(&self, hop: Hop, turn: u32) -> (u32, Hop) {
        // records all members of the trunk that were compared, not only the best
        let credits = |port: u16| Weighed::Credits {
            hop: Hop { port, ..hop },
            credits: self.queues.open_credits(port, hop.class),
        };
        self.notes.borrow_mut().extend(self.queues.members(hop.port).map(credits));
        self.queues.member(hop, turn)
    }

    fn fallback(&self, hop: Hop) -> Hop {
        self.queues.fallback(hop)
    }

    fn credits(&self, hop: Hop) -> u32 {
        self.queues.credits(hop)
    }

    fn is_open(&self, hop: Hop) -> bool {
        self.notes.borrow_mut().push(Weighed::Credits { hop, credits: self.queues.open_credits(hop.port, hop.class) });
        self.queues.is_open(hop)
    }

    fn has_room(&self, hop: Hop) -> bool {
        self.notes.borrow_mut().push(Weighed::Credits { hop, credits: self.queues.open_credits(hop.port, hop.class) });
        self.queues.has_room(hop)
    }

    fn used(&self, hop: Hop) -> u32 {
        self.queues.used(hop)
    }

    fn occupancy(&self, hop: Hop) -> (f64, u32) {
        self.queues.occupancy(hop)
    }

    fn is_watched(&self) -> bool {
        true
    }

    fn weigh(&self, hop: Hop, cost: Cost, queue: i32) -> i32 {
        let value = self.queues.weigh(hop, cost, queue);
        self.notes.borrow_mut().push(Weighed::Cost { hop, cost, queue, value });
        value
    }
}
