//! The queues of a router with a notebook: what a routing compared in a decision, number by number.

use super::sensor::{Congestion, Sensor};
use super::{Hop, steps::Cost};
use std::cell::RefCell;

/// A candidate and the number that decided about it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Weighed {
    /// Congestion of an output, and the cost that comes of it: the least wins.
    Cost { hop: Hop, cost: Cost, queue: i32, value: i32 },
    /// Credits of what a head may take at once: the most win, 0 is closed.
    Credits { hop: Hop, credits: u32 },
}

pub(crate) struct Spy<'a, C> {
    pub queues: &'a C,
    pub notes: RefCell<Vec<Weighed>>,
}

impl<'a, C: Congestion> Spy<'a, C> {
    pub fn new(queues: &'a C) -> Self {
        Self { queues, notes: RefCell::default() }
    }
}

impl<C: Congestion> Congestion for Spy<'_, C> {
    fn read(&self, sensor: Sensor, port: u8) -> i32 {
        self.queues.read(sensor, port)
    }

    fn read_of(&self, sensor: Sensor, away: i32, port: u8) -> i32 {
        self.queues.read_of(sensor, away, port)
    }

    fn member(&self, hop: Hop, turn: u32) -> (u32, Hop) {
        let (credits, hop) = self.queues.member(hop, turn);
        self.notes.borrow_mut().push(Weighed::Credits { hop, credits });
        (credits, hop)
    }

    fn fallback(&self, hop: Hop) -> Hop {
        self.queues.fallback(hop)
    }

    fn weigh(&self, hop: Hop, cost: Cost, queue: i32) -> i32 {
        let value = self.queues.weigh(hop, cost, queue);
        self.notes.borrow_mut().push(Weighed::Cost { hop, cost, queue, value });
        value
    }
}
