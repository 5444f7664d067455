//! The sources of packets in one block, for a job that runs a program. Each source is one network interface of a node.

use super::All;
use super::bursts::{Incoming, Lent, Received};
use super::messages::{Handle, Part};
use super::node::{Node, Told};
use super::site::{Site, lock};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use weft_api::base::kept::{Kept, Reader, Unreadable, Writer};
use weft_api::state::Packet;
use weft_api::workload::{Backlog, NOT_DUE, NewPacket, Place, Sources};

/// A source: one interface of a node. Terminals without ranks have node numbers above that of the last node.
#[derive(Debug, Clone, Copy)]
struct Interface {
    node: u32,
    rail: u32,
}

/// The nodes of one block.
#[derive(Debug)]
pub struct Nodes {
    all: Arc<All>,
    sources: Vec<Interface>,
    /// For each source: true if the packet that it sent last is the last packet of a message.
    ends_message: Vec<bool>,
    /// For each source: the packets that its node has lent to it.
    lent: Vec<Lent>,
    /// For each source: the message that it receives without access to its node.
    incoming: Vec<Incoming>,
    /// The nodes that also have interfaces in other blocks, each with the list of its interfaces in this block.
    divided: Vec<(u32, Vec<usize>)>,
    /// The calendar: the cycles in which nodes have events other than arrivals of packets, the earliest cycle first. An entry is valid only
    /// if its cycle equals `Node::called_at` of its node.
    calendar: BinaryHeap<Reverse<(u64, u32)>>,
    /// Scratch: sources that are due earlier since the last call, with their new cycle.
    woken: Vec<(usize, u64)>,
    /// Number of events that the block's nodes have handled so far.
    acts: u64,
}

impl Nodes {
    /// `here` lists the terminals of the block.
    pub fn new(all: Arc<All>, here: &[Place]) -> Self {
        let rails = all.site.rails.count;
        let interface = |place: &Place| Interface { node: place.rank / rails, rail: place.rank % rails };
        let sources: Vec<Interface> = here.iter().map(interface).collect();
        let mut here = BTreeMap::<u32, Vec<usize>>::new();
        for (source, of) in (0..).zip(&sources) {
            let Some(node) = all.nodes.get(of.node as usize) else { continue };
            lock(node).number(of.rail as usize, source);
            here.entry(of.node).or_default().push(of.rail as usize);
        }
        here.retain(|_, own| own.len() < rails as usize);
        here.keys().for_each(|&node| lock(&all.nodes[node as usize]).is_divided = true);
        let (ends_message, lent) = (vec![false; sources.len()], vec![Lent::default(); sources.len()]);
        let (incoming, divided) = (vec![Incoming::default(); sources.len()], here.into_iter().collect());
        let (calendar, woken) = (BinaryHeap::new(), Vec::new());
        let mut nodes = Self { all, sources, ends_message, lent, incoming, divided, calendar, woken, acts: 0 };
        nodes.call_all();
        nodes
    }

    /// Calls `of` with the node of a source. Returns the result of `of`, and the cycle in which the source is due next.
    #[inline]
    fn with<T>(&mut self, source: usize, now: u64, of: impl FnOnce(&Site, &mut Node, usize) -> T) -> Option<(T, u64)> {
        let Self { all, sources, calendar, woken, lent, .. } = self;
        let Interface { node: number, rail } = sources[source];
        let (site, own) = (&all.site, rail as usize);
        let mut node = lock(all.nodes.get(number as usize)?);
        let result = of(site, &mut node, own);
        let due = node.own_due(own, now);
        if !node.is_divided {
            node.wake_given(site, now, &mut Told { woken, lent });
            call(calendar, site, (number, &mut node));
        }
        Some((result, due))
    }

    /// Does the work of `next` for a source without lent packets.
    #[inline(never)]
    fn next_of_node(&mut self, source: usize, due: &mut u64, now: u64) -> Option<NewPacket> {
        let Interface { node, rail } = self.sources[source];
        let mut node = lock(self.all.nodes.get(node as usize)?);
        let given = node.next(&self.all.site, rail as usize, now);
        *due = node.own_due(rail as usize, now);
        let (packet, is_last) = given?;
        self.ends_message[source] = is_last;
        self.lent[source] = Lent::of(&packet, node.lend(&self.all.site, rail as usize, packet.tag));
        Some(packet)
    }

    /// Records that a data packet of a message has arrived. If all packets have arrived, returns the cycle of the
    /// latest arrival, and the packet that arrived then. Otherwise the source can begin to receive the other packets
    /// without access to its node. The conditions are that it receives no other message in this way, and that all these
    /// packets come to this source.
    #[inline(never)]
    fn take(&mut self, source: usize, packet: &Packet, now: u64) -> Option<(u64, (u32, u32))> {
        let (site, number) = (&self.all.site, Part::of(packet.tag).1);
        let mut outbox = lock(&site.outboxes[site.node_of(packet.src) as usize]);
        let arrival = outbox.take(number, now, (packet.src, packet.seq));
        if arrival.is_none() && site.rails.are_single() && self.incoming[source].is_none() {
            let left = outbox.message(number).left();
            self.incoming[source] = Incoming::of((packet.src, packet.tag), left, (now, packet.seq));
        }
        arrival
    }

    /// Enters all nodes of the block in the calendar.
    fn call_all(&mut self) {
        self.calendar.clear();
        for number in self.own().collect::<Vec<_>>() {
            let mut node = lock(&self.all.nodes[number]);
            node.called_at = NOT_DUE;
            call(&mut self.calendar, &self.all.site, (number as u32, &mut node));
        }
    }

    /// Returns the nodes with ranks whose first interface is in this block.
    fn own(&self) -> impl Iterator<Item = usize> + '_ {
        let nodes = self.sources.iter().filter(|of| of.rail == 0).map(|of| of.node as usize);
        nodes.filter(|&node| node < self.all.nodes.len())
    }

    /// True if this block stores the statistics of all ranks in checkpoints. It is the block with the first interface of the first node.
    fn keeps_shared(&self) -> bool {
        self.sources.iter().any(|of| (of.node, of.rail) == (0, 0))
    }
}

/// Enters a node in the calendar, if the node's next event is earlier than its present entry.
#[inline]
fn call(calendar: &mut BinaryHeap<Reverse<(u64, u32)>>, site: &Site, (number, node): (u32, &mut Node)) {
    let next = node.next_time(site);
    if next < node.called_at {
        node.called_at = next;
        calendar.push(Reverse((next, number)));
    }
}

impl Kept for Nodes {
    fn keep(&self, to: &mut Writer) {
        self.ends_message.keep(to);
        self.incoming.keep(to);
        for node in self.own() {
            lock(&self.all.nodes[node]).with_all_packets(&self.all.site, &self.lent, |node| node.keep(to));
            lock(&self.all.site.outboxes[node]).keep(to);
        }
        if self.keeps_shared() {
            lock(&self.all.site.shared).keep(to);
        }
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        self.ends_message.restore(from)?;
        self.incoming.restore(from)?;
        if [self.ends_message.len(), self.incoming.len()] != [self.sources.len(); 2] {
            return Err(Unreadable);
        }
        self.lent.fill(Lent::default());
        for place in self.own() {
            let mut node = lock(&self.all.nodes[place]);
            node.restore(from)?;
            node.ranks.iter().filter(|rank| rank.has_ended).for_each(|rank| rank.tell_end(&self.all.site));
            lock(&self.all.site.outboxes[place]).restore(from)?;
        }
        if self.keeps_shared() {
            lock(&self.all.site.shared).restore(from)?;
        }
        self.call_all();
        Ok(())
    }
}

impl Sources for Nodes {
    fn start(&mut self, source: usize) -> u64 {
        self.with(source, 0, |_, _, _| ()).map_or(NOT_DUE, |((), due)| due)
    }

    #[inline]
    fn next(&mut self, source: usize, due: &mut u64, now: u64) -> Option<NewPacket> {
        if let Some(packet) = self.lent[source].next() {
            *due = now; // the last packet of the message is still at its node
            return Some(packet);
        }
        self.next_of_node(source, due, now)
    }

    fn sent(&mut self, source: usize, due: &mut u64, now: u64) {
        if !std::mem::take(&mut self.ends_message[source]) {
            // the node has not changed since it sent the packet, or it has reported the change (`woken`)
            return;
        }
        let next = self.with(source, now, |site, node, rail| node.sent(site, rail, now));
        *due = next.map_or(NOT_DUE, |((), due)| due);
    }

    fn delivered(&mut self, source: usize, packet: &Packet, due: &mut u64, now: u64) {
        let (part, number) = Part::of(packet.tag);
        let next = match part {
            Part::Data => {
                // only the last packet of a message causes an event of the node
                let last = match self.incoming[source].receive((packet.src, packet.tag), (now, packet.seq)) {
                    Received::Part => return,
                    Received::Last(at, seq) => (at, (packet.src, seq)),
                    Received::Other => match self.take(source, packet, now) {
                        Some(last) => last,
                        None => return,
                    },
                };
                let handle = Handle { node: self.all.site.node_of(packet.src), number };
                self.with(source, now, |site, node, _| node.deliver_last(site, handle, last, now))
            }
            Part::Request | Part::Clear => {
                self.with(source, now, |site, node, _| node.deliver_control(site, packet, now))
            }
        };
        *due = next.map_or(NOT_DUE, |((), due)| due);
    }

    fn backlog(&self, source: usize, _due: u64, until: u64, window: (u64, u64)) -> Backlog {
        let Interface { node, rail } = self.sources[source];
        let Some(node) = self.all.nodes.get(node as usize) else { return Backlog::default() };
        let site = &self.all.site;
        lock(node).with_all_packets(site, &self.lent, |node| node.backlog(site, rail as usize, until, window))
    }

    fn exchange(&mut self, now: u64, until: u64) {
        let site = &self.all.site;
        for (node, own) in &self.divided {
            let mut locked = lock(&self.all.nodes[*node as usize]);
            if own.contains(&0) && until > now {
                self.acts += locked.advance(site, until - 1);
            }
            locked.wake_all(site, own, now, &mut Told { woken: &mut self.woken, lent: &mut self.lent });
            if own.contains(&0) {
                call(&mut self.calendar, site, (*node, &mut locked));
            }
        }
    }

    fn next_act(&self) -> u64 {
        self.calendar.peek().map_or(NOT_DUE, |&Reverse((at, _))| at)
    }

    fn act(&mut self, now: u64) {
        let Self { all, calendar, woken, lent, acts, .. } = self;
        while let Some(&Reverse((at, number))) = calendar.peek().filter(|first| first.0.0 <= now) {
            calendar.pop();
            let mut node = lock(&all.nodes[number as usize]);
            if node.called_at != at {
                continue;
            }
            node.called_at = NOT_DUE;
            // a divided node handles its events only at the beginning of a window
            if !node.is_divided {
                *acts += node.advance(&all.site, now);
                node.wake_given(&all.site, now, &mut Told { woken, lent });
                call(calendar, &all.site, (number, &mut node));
            }
        }
    }

    fn acts(&self) -> u64 {
        self.acts
    }

    fn take_woken(&mut self) -> Option<(usize, u64)> {
        self.woken.pop()
    }
}
