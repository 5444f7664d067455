//! Rings that keep a bubble (bubble flow control), in the check of channel dependencies.
//!
//! A cycle of channels is such a ring under three conditions. All hops between its channels use the VC class for moving on. Each channel
//! has exactly one next channel in the cycle. All other hops into the cycle, including the first hops of new packets, use the VC class for
//! entering. A packet that enters the ring needs space for one packet more than a packet that moves on in it. Therefore the ring never
//! becomes full, and its packets can't all wait for each other (`network/bubbles.rs`). The packets of the ring can only wait for a resource
//! outside the ring. The ring therefore counts as one node of the graph, and hops inside the ring are not dependencies. A path of
//! dependencies that leaves the ring and returns to it closes a cycle, as for any other node.

use super::{Dependencies, Node};
use std::collections::BTreeMap;
use weft_api::routing::RingEntry;
use weft_api::walk::Proof;

/// All rings with a bubble that the check has found in a network.
#[derive(Default)]
pub(super) struct Rings {
    /// The next node in the ring, for each node of a ring.
    next: BTreeMap<Node, Node>,
    /// The node that represents the ring, for each node of a ring.
    first: BTreeMap<Node, Node>,
}

impl Rings {
    fn first(&self, node: Node) -> Node {
        self.first.get(&node).copied().unwrap_or(node)
    }

    /// The nodes that `node` represents: all nodes of its ring, or only `node` itself.
    fn members(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let first = (self.first(node) == node).then_some(node);
        std::iter::successors(first, move |last| self.next.get(last).copied().filter(|&next| next != node))
    }
}

impl Dependencies<'_> {
    /// If there are rings, replaces a proof that does not show where packets start by [`Proof::EveryState`]. The reason: the check must
    /// know the first hops of packets, because these must use the class for entering a ring.
    pub(super) fn seen_from_starts<'p>(&self, proof: Proof<'p>) -> Proof<'p> {
        if self.ring_entries.is_empty() {
            return proof;
        }
        match proof {
            Proof::EveryState | Proof::Packets { .. } | Proof::Turns(_) | Proof::TurnsTo { .. } | Proof::Escapes => {
                Proof::EveryState
            }
            Proof::Rises { .. }
            | Proof::OneLeg { .. }
            | Proof::TwoLegs { .. }
            | Proof::EscapeRings(_)
            | Proof::Together(_) => proof,
        }
    }

    /// Records that a packet may start on `node`.
    pub(super) fn start(&mut self, node: Node) {
        if !self.ring_entries.is_empty() {
            self.starts.insert(node);
        }
    }

    /// The ring entry on the link class of `node` for which `is` returns true; `None` if no entry matches. The function `is` also gets the
    /// VC class of `node`.
    fn entry(&self, node: Node, is: impl Fn(&RingEntry, u32) -> bool) -> Option<&RingEntry> {
        if self.ring_entries.is_empty() {
            return None;
        }
        let (router, port) = self.sender(node / self.classes);
        let link = self.graph.ports(router)[port as usize].class;
        self.ring_entries.iter().find(|entry| entry.link == link && is(entry, node % self.classes))
    }

    /// The node that represents the VCs of `node`. If the classes for entering and for moving on share VCs, it is the node of the class for
    /// moving on.
    pub(super) fn vcs_of(&self, node: Node) -> Node {
        let entry = self.entry(node, |entry, class| u32::from(entry.enter) == class);
        entry.map_or(node, |entry| node - node % self.classes + u32::from(entry.move_on))
    }

    fn moves_on(&self, node: Node) -> bool {
        self.entry(node, |entry, class| u32::from(entry.move_on) == class).is_some()
    }

    /// Finds the rings that keep a bubble.
    pub(super) fn rings(&self) -> Rings {
        let mut rings = Rings::default();
        if self.ring_entries.is_empty() {
            return rings;
        }
        // For each node: the only node to which packets move on, and the only node from which packets come. The value is `None` if there
        // are several.
        let mut next: BTreeMap<Node, Option<Node>> = BTreeMap::new();
        let mut before: BTreeMap<Node, Option<Node>> = BTreeMap::new();
        for from in 0..(self.edges.len() / self.words) as Node {
            for to in self.successors(from).filter(|&to| self.moves_on(to)) {
                next.entry(from).and_modify(|known| *known = None).or_insert(Some(to));
                before.entry(to).and_modify(|known| *known = None).or_insert(Some(from));
            }
        }
        // packets that start on a node of the class for moving on do not use the class for entering, so this node has no single predecessor
        before.extend(self.starts.iter().map(|&start| (start, None)));
        let onward = |from: Node| {
            let to = next.get(&from).copied().flatten()?;
            (before.get(&to) == Some(&Some(from))).then_some(to)
        };
        for &start in next.keys() {
            if rings.first.contains_key(&start) {
                continue;
            }
            let mut path = vec![start];
            // each node of the path has only one predecessor, so a path that does not end returns to its start
            let closes = loop {
                match onward(path[path.len() - 1]) {
                    Some(to) if to == start => break true,
                    Some(to) => path.push(to),
                    None => break false,
                }
            };
            if closes {
                rings.first.extend(path.iter().map(|&node| (node, start)));
                rings.next.extend(path.iter().zip(path.iter().cycle().skip(1)).map(|(&from, &to)| (from, to)));
            }
        }
        rings
    }

    /// The nodes to which `node` has edges. A ring counts as one node: the edges of all its nodes are returned, without those inside the
    /// ring.
    pub(super) fn onward<'a>(&'a self, rings: &'a Rings, node: Node) -> impl Iterator<Item = Node> + 'a {
        rings.members(node).flat_map(move |from| {
            let round = rings.next.get(&from).copied();
            let leave = self.successors(from).filter(move |&to| Some(to) != round);
            leave.map(move |to| rings.first(self.vcs_of(to)))
        })
    }
}

#[cfg(test)]
mod tests;
