//! Events that wait for the same processor and interface of a rank.
//!
//! The events wait until both resources are free. Then the event that was created first begins. The event queue therefore needs only
//! this one event, and the other events are stored in this module ("parked"). LogGOPSim instead puts all waiting events back into
//! its queue again and again. The time for this grows with the square of the number of waiting events.

use super::event::Event;
use std::collections::BinaryHeap;

/// Value of [`List::queued`] if no event of the list is in the event queue.
const NONE: u64 = u64::MAX;
/// Largest number of lists. If the processors and interfaces of a program need more lists, events wait in the event queue, as in
/// LogGOPSim.
const MOST: usize = 1 << 22;

/// Resources that an event needs: only a processor, or a processor and the sending or receiving side of an interface.
#[derive(Debug, Clone, Copy)]
pub enum Needs {
    Cpu,
    Sender,
    Receiver,
}

/// The events that wait for the same resources.
#[derive(Debug, Clone)]
struct List {
    /// The creation number of the one event of this list that is in the event queue. It was created first.
    queued: u64,
    /// The other events. All have time 0 here, so that the heap returns the event that was created first.
    parked: BinaryHeap<Event>,
}

/// The lists of waiting events of all ranks.
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

    /// Called when an event cannot begin. Returns true if the event is parked. Otherwise the event must stay in the
    /// event queue.
    pub fn park(&mut self, event: &Event, needs: Needs, of: (u8, u8)) -> bool {
        let Some(list) = self.list(needs, event.rank(), of) else { return false };
        if event.order <= list.queued {
            list.queued = event.order;
            return false;
        }
        list.parked.push(event.at(0));
        true
    }

    /// Called when an event that has waited begins. Returns the event that replaces it in the event queue.
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
