//! Events that wait for the same processor and interface of a rank.
//!
//! All of them wait until both are free, and then the one that was created first begins. So only that one is in the queue of events, and the others are
//! parked here. LogGOPSim puts all of them into its queue again, which takes a time that grows with the square of their number.

use super::event::Event;
use std::collections::BinaryHeap;

/// No event is in the queue.
const NONE: u64 = u64::MAX;
/// Most lists: a program that names more processors and interfaces waits in the queue, as LogGOPSim does.
const MOST: usize = 1 << 22;

/// Resources of an event: a processor; a processor and an interface as sender; these as receiver.
#[derive(Debug, Clone, Copy)]
pub enum Needs {
    Cpu,
    Sender,
    Receiver,
}

/// The events that wait for the same.
#[derive(Debug, Clone)]
struct List {
    /// The number of the event of these that is in the queue and was created first.
    queued: u64,
    /// The others, all with time 0, so that the one that was created first comes first.
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

    /// An event can't begin. Returns whether it is parked; else it has to stay in the queue.
    pub fn park(&mut self, event: &Event, needs: Needs, of: (u8, u8)) -> bool {
        let Some(list) = self.list(needs, event.rank, of) else { return false };
        if event.order <= list.queued {
            list.queued = event.order;
            return false;
        }
        list.parked.push(event.at(0));
        true
    }

    /// An event that has waited begins. Returns the one that takes its place in the queue.
    pub fn next(&mut self, event: &Event, needs: Needs, of: (u8, u8)) -> Option<Event> {
        let list = self.list(needs, event.rank, of)?;
        if list.queued != event.order {
            return None;
        }
        let next = list.parked.pop();
        list.queued = next.map_or(NONE, |next| next.order);
        next
    }
}
