//! The sources of a program in one block: each is an interface of a node.

use super::All;
use super::node::Node;
use super::site::{Site, lock};
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_api::base::kept::{Kept, Reader, Unreadable, Writer};
use weft_api::state::Packet;
use weft_api::workload::{Backlog, NOT_DUE, NewPacket, Place, Sources};

/// An interface of a node. Terminals behind the last node have no ranks.
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
    /// Source of each interface of a node that has several, by node and number.
    of_interface: BTreeMap<(u32, u32), usize>,
    /// Nodes with interfaces in other blocks as well, each with its interfaces here.
    divided: Vec<(u32, Vec<usize>)>,
    /// Scratch: sources that the last call made due earlier, and when.
    woken: Vec<(usize, u64)>,
}

impl Nodes {
    /// `here`: the terminals of the block.
    pub fn new(all: Arc<All>, here: &[Place]) -> Self {
        let rails = all.site.rails.count;
        let interface = |place: &Place| Interface { node: place.rank / rails, rail: place.rank % rails };
        let sources: Vec<Interface> = here.iter().map(interface).collect();
        let several = sources.iter().enumerate().filter(|_| rails > 1);
        let of_interface = several.map(|(source, of)| ((of.node, of.rail), source)).collect();
        let mut here = BTreeMap::<u32, Vec<usize>>::new();
        sources.iter().for_each(|of| here.entry(of.node).or_default().push(of.rail as usize));
        here.retain(|&node, own| own.len() < rails as usize && (node as usize) < all.nodes.len());
        here.keys().for_each(|&node| lock(&all.nodes[node as usize]).is_divided = true);
        Self { all, sources, of_interface, divided: here.into_iter().collect(), woken: Vec::new() }
    }

    /// Calls `of` for the node of a source. Returns its result, and when the source is due.
    fn with<T>(&mut self, source: usize, now: u64, of: impl FnOnce(&Site, &mut Node, usize) -> T) -> Option<(T, u64)> {
        let Interface { node, rail } = self.sources[source];
        let (site, own) = (&self.all.site, rail as usize);
        let mut locked = lock(self.all.nodes.get(node as usize)?);
        let result = of(site, &mut locked, own);
        let wake = |rail: usize, due| self.woken.push((self.of_interface[&(node, rail as u32)], due));
        Some((result, locked.settle_dues(site, own, now, wake)))
    }

    /// The nodes of this block that have ranks.
    fn own(&self) -> impl Iterator<Item = usize> + '_ {
        let nodes = self.sources.iter().filter(|of| of.rail == 0).map(|of| of.node as usize);
        nodes.filter(|&node| node < self.all.nodes.len())
    }

    /// Whether this block keeps what is counted of all ranks together: the block of the first node does.
    fn keeps_shared(&self) -> bool {
        self.sources.iter().any(|of| (of.node, of.rail) == (0, 0))
    }
}

impl Kept for Nodes {
    fn keep(&self, to: &mut Writer) {
        for node in self.own() {
            lock(&self.all.nodes[node]).keep(to);
            lock(&self.all.site.outboxes[node]).keep(to);
        }
        if self.keeps_shared() {
            lock(&self.all.site.shared).keep(to);
        }
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        for place in self.own() {
            let mut node = lock(&self.all.nodes[place]);
            node.restore(from)?;
            node.ranks.iter().filter(|rank| rank.has_ended).for_each(|rank| rank.tell_end(&self.all.site));
            lock(&self.all.site.outboxes[place]).restore(from)?;
        }
        if self.keeps_shared() {
            lock(&self.all.site.shared).restore(from)?;
        }
        Ok(())
    }
}

impl Sources for Nodes {
    fn start(&mut self, source: usize) -> u64 {
        self.with(source, 0, |_, _, _| ()).map_or(NOT_DUE, |((), due)| due)
    }

    fn next(&mut self, source: usize, due: &mut u64, now: u64) -> Option<NewPacket> {
        let (packet, next) = self.with(source, now, |site, node, rail| node.next(site, rail, now))?;
        *due = next;
        packet
    }

    fn sent(&mut self, source: usize, due: &mut u64, now: u64) {
        let next = self.with(source, now, |site, node, rail| node.sent(site, rail, now));
        *due = next.map_or(NOT_DUE, |((), due)| due);
    }

    fn delivered(&mut self, source: usize, packet: &Packet, due: &mut u64, now: u64) {
        let next = self.with(source, now, |site, node, _| node.deliver(site, packet, now));
        *due = next.map_or(NOT_DUE, |((), due)| due);
    }

    fn backlog(&self, source: usize, _due: u64, until: u64, window: (u64, u64)) -> Backlog {
        let Interface { node, rail } = self.sources[source];
        let node = self.all.nodes.get(node as usize);
        node.map_or_else(Backlog::default, |node| lock(node).backlog(&self.all.site, rail as usize, until, window))
    }

    fn exchange(&mut self, now: u64, until: u64) {
        let site = &self.all.site;
        for (node, own) in &self.divided {
            let mut locked = lock(&self.all.nodes[*node as usize]);
            if own.contains(&0) && until > now {
                locked.advance(site, until - 1);
            }
            let wake = |rail: usize, due| self.woken.push((self.of_interface[&(*node, rail as u32)], due));
            locked.wake_all(site, own, now, wake);
        }
    }

    fn take_woken(&mut self) -> Option<(usize, u64)> {
        self.woken.pop()
    }
}
