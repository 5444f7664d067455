//! Events that wait for the same processor and interface of a rank.
//!
//! These events wait until both are free, and then the event that was created first begins. So only this event is in the event queue, and
//! the others are parked here. LogGOPSim puts all waiting events into its queue again. This takes a time that grows with the square of
//! their number.

use super::event::Event;
use std::collections::BinaryHeap;

/// Value that means that no event of the list is in the queue.
const NONE: u64 = u64::MAX;
/// Most lists. In a program with more processors and interfaces, events wait in the queue, as in LogGOPSim.
const MOST: usize = 1 << 22;

/// Resources that an event needs: a processor; a processor and the sending side of an interface; a processor and the receiving side of an
/// interface.
#[derive(Debug, Clone, Copy)]
pub enum Needs {
    Cpu,
    Sender,
    Receiver,
}

/// The events that wait for the same resources.
#[derive(Debug, Clone)]
struct List {
    /// The creation number of the event of this list that is in the queue: the one that was created first.
    queued: u64,
    /// The other events, all with time 0, so that the one that was created first is the first in the heap.
    parked: BinaryHeap<Event>,
}

/// The lists of all ranks.
#[derive(Debug)]
pub struct Waiting {
    lists: Vec<List>,
    cpus: usize,
    nics: usize,
}

impl Waiting {
    pub fn new(ranks: usize, (cpus, nics): (usize, usize)) -> Self {
        let lists = ranks.saturating_mul(cpus).saturating_mul(nics).saturating_mul(3);
        let lists = if lists <= MOST { lists } else { 0 };
        Self { lists: vec![List { queued: NONE, parked: BinaryHeap::new() }; lists], cpus, nics }
    }

    fn list(&mut self, needs: Needs, rank: u32, (cpu, nic): (u8, u8)) -> Option<&mut List> {
        let place = (rank as usize * self.cpus + usize::from(cpu)) * self.nics + usize::from(nic);
        self.lists.get_mut(3 * place + needs as usize)
    }

    /// Called when an event can't begin. Returns true if the event is parked; otherwise the event must stay in the queue.
    pub fn park(&mut self, event: &Event, needs: Needs, of: (u8, u8)) -> bool {
        let Some(list) = self.list(needs, event.rank(), of) else { return false };
        if event.order <= list.queued {
            list.queued = event.order;
            return false;
        }
        list.parked.push(event.at(0));
        true
    }

    /// Called when an event that has waited begins. Returns the event that replaces it in the queue.
    pub fn next(&mut self, event: &Event, needs: Needs, of: (u8, u8)) -> Option<Event> {
        let list = self.list(needs, event.rank(), of)?;
        if list.queued != event.order {
            return None;
        }
        let next = list.parked.pop();
        list.queued = next.map_or(NONE, |next| next.order);
        next
    }
}
