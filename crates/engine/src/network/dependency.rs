//! Channel dependency graph (Dally and Seitz 1987): an edge from channel a to channel b, VC classes included, if some
//! packet can hold a and ask for b. No cycle, no deadlock.
//!
//! The edges come from walking the routing functions themselves: every source and destination router (and every choice
//! of an adaptive routing). The two legs of a Valiant path are walked apart and joined at the intermediate.
//!
//! Where a routing says that its class, or its dimension and then its class, rises with each hop there can be no cycle, as
//! it would have to rise all the way round: then packets are walked only to see that it is so, some over each router.
//!
//! A ring that keeps a bubble is a cycle that may be ([`rings`]).

mod rings;

use crate::api::coordinates::in_line;
use crate::api::routing::{Classes, Hop, RingEntry, Routing};
use crate::api::walk::{Ports, Proof, Step};
use crate::state::Packet;
use rings::Rings;
use std::collections::{BTreeSet, HashSet};
use weft_topology::{Graph, Peer};
use weft_units::Refusal;

/// (channel = flat port index of its sender) * classes + class.
type Node = u32;

/// Destinations to which walks are made where the class should rise.
const WALKED_TO: usize = 16;

/// First and last channels of legs, by the router that they leave and that they lead to.
struct Ends {
    arrivals: Vec<BTreeSet<Node>>,
    departures: Vec<BTreeSet<Node>>,
}

pub(crate) struct Dependencies<'a> {
    graph: &'a Graph,
    coords: Vec<u64>,
    classes: u32,
    words: usize,
    /// Per node, a bit for every (port, class) of the next router.
    edges: Vec<u64>,
    /// Packets are walked with all of these draws: both ways round a ring at half distance, every copy of a global link.
    draws: Vec<u32>,
    /// VC classes on which packets enter rings that keep a bubble.
    ring_entries: Vec<RingEntry>,
    /// If there are any: first channels of packets.
    starts: BTreeSet<Node>,
}

/// Refuses a routing whose channel dependencies have a cycle, and shows the cycle.
pub(crate) fn refuse_cycle(graph: &Graph, routing: &dyn Routing, classes: &Classes, name: &str) -> Result<(), Refusal> {
    let mut d = Dependencies::new(graph, routing, classes);
    d.enter(routing, routing.proof()).map_err(|lost| lost.refusal(name))?;
    let Some(cycle) = d.find_cycle() else { return Ok(()) };
    let shown: Vec<String> = cycle.iter().take(8).map(|&n| d.describe(n)).collect();
    Err(Refusal::new(
        format!("routing.{name}"),
        format!(
            "channel dependencies have a cycle of {} channels, so packets can deadlock: {}",
            cycle.len(),
            shown.join(" -> ")
        ),
        if d.ring_entries.is_empty() {
            "choose a routing (or dateline) with enough VC classes, or set allow_dependency_cycle: true to study the deadlock"
        } else {
            "let every hop into a ring, from terminals too, be on the VC class that enters it, and every hop round it on \
             the class that moves on; or set allow_dependency_cycle: true to study the deadlock"
        },
    ))
}

/// A routing names no hop at router `at` for a packet to router `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lost {
    at: u32,
    to: u32,
}

impl Lost {
    fn refusal(self, name: &str) -> Refusal {
        let what = format!("{name} names no hop at router {} for a packet to router {}", self.at, self.to);
        Refusal::new(format!("routing.{name}"), what, "choose another routing; its `steps` must list at least one hop")
    }
}

fn is_host(graph: &Graph, router: u32) -> bool {
    graph.ports(router).iter().any(|port| matches!(port.peer, Peer::Terminal(_)))
}

impl<'a> Dependencies<'a> {
    pub(crate) fn new(graph: &'a Graph, routing: &dyn Routing, classes: &Classes) -> Self {
        let classes = u32::from(classes.iter().copied().max().unwrap_or(1));
        let words = ((graph.radix() * classes) as usize).div_ceil(64);
        let nodes = (graph.port_base(graph.routers()) * classes) as usize;
        let draws = routing.draws().outcomes(Packet::default(), 0);
        // a check of fewer classes is one of a routing that merges them, and then no class enters anything
        let mut ring_entries = routing.needs().ring_entries;
        ring_entries.retain(|entry| u32::from(entry.enter.max(entry.move_on)) < classes);
        let edges = vec![0; nodes * words];
        let coords = routing.coordinates(graph);
        Self { graph, coords, classes, words, edges, draws, ring_entries, starts: BTreeSet::new() }
    }

    /// Enters every dependency between channels that packets of this routing can cause, as its proof says.
    pub(crate) fn enter(&mut self, routing: &dyn Routing, proof: Proof) -> Result<(), Lost> {
        match self.seen_from_starts(proof) {
            Proof::EveryState => return self.every_state(routing),
            Proof::Rises { link_first, or } => {
                if !self.rises(routing, link_first)? {
                    return self.enter(routing, *or);
                }
            }
            Proof::OneLeg { by_line } => _ = self.legs(routing, 0, by_line),
            Proof::TwoLegs { by_line, minimal_phase } => self.two_legs(routing, by_line, minimal_phase),
            Proof::Packets { routing, packets } => self.packets(&*routing, packets),
            Proof::Turns(each) => each(&mut |at, hop, onward| self.turn(at, hop, onward)),
            Proof::TurnsTo { destinations, turns } => {
                for (dest, count) in destinations.into_iter().zip(1u32..) {
                    turns(dest, &mut |at, port, onward| self.turns(at, port, onward));
                    // most graphs close a cycle soon
                    if count.is_power_of_two() && self.find_cycle().is_some() {
                        break;
                    }
                }
            }
            Proof::Escapes => self.escapes(routing),
            Proof::Together(routings) => {
                for routing in &routings {
                    if !self.rises(&**routing, false)? {
                        return routings.iter().try_for_each(|routing| self.every_state(&**routing));
                    }
                }
            }
        }
        Ok(())
    }

    fn node(&self, router: u32, port: u8, class: u8) -> Node {
        (self.graph.port_base(router) + u32::from(port)) * self.classes + self.known(class)
    }

    /// Classes above those of this check count as its last: a check of fewer classes is one of a routing that merges them.
    fn known(&self, class: u8) -> u32 {
        u32::from(class).min(self.classes - 1)
    }

    fn neighbour(&self, router: u32, port: u8) -> Option<u32> {
        match self.graph.ports(router)[port as usize].peer {
            Peer::Router { router, .. } => Some(router),
            _ => None,
        }
    }

    /// `from` leads to `router`, whose (port, class) is asked for.
    fn add(&mut self, from: Node, port: u8, class: u8) {
        let bit = usize::from(port) * self.classes as usize + self.known(class) as usize;
        let from = self.vcs_of(from);
        self.edges[from as usize * self.words + bit / 64] |= 1 << (bit % 64);
    }

    /// Walks one packet; returns its first and last channel and the router where phase `phase` ends.
    fn walk(&mut self, routing: &dyn Routing, from: u32, mut packet: Packet, phase: u8) -> Option<(Node, Node, u32)> {
        let (mut at, mut first, mut last) = (from, None, None);
        loop {
            let hop = routing.next(self.coords[at as usize], &mut packet, 0)?;
            let left_phase = phase == 0 && packet.phase == 1;
            let Some(next) = self.neighbour(at, hop.port).filter(|_| !left_phase) else {
                return first.zip(last).map(|(f, l)| (f, l, at));
            };
            if let Some(previous) = last {
                self.add(previous, hop.port, hop.class);
            }
            let node = self.node(at, hop.port, hop.class);
            if first.is_none() {
                first = Some(node);
                self.start(node);
            }
            (last, at) = (Some(node), next);
        }
    }

    /// On one class: packets go from `router` by `port` to the next router, and on by each port of the mask `onward`.
    fn turns(&mut self, router: u32, port: u8, onward: &Ports) {
        debug_assert_eq!(self.classes, 1);
        let place = self.node(router, port, 0) as usize * self.words;
        self.edges[place..place + self.words].iter_mut().zip(onward).for_each(|(edges, ports)| *edges |= ports);
    }

    /// A packet goes from `router` by `hop` to the next router, and on by `onward`.
    fn turn(&mut self, router: u32, hop: Hop, onward: Hop) {
        self.add(self.node(router, hop.port, hop.class), onward.port, onward.class);
    }

    /// Whether the rank (`link_first`: the class of the link, then the rank) rises with each hop on every walk that is
    /// tried: from every router to some others, at each router by another of its choices.
    pub(crate) fn rises(&self, routing: &dyn Routing, link_first: bool) -> Result<bool, Lost> {
        if !self.ring_entries.is_empty() {
            return Ok(false); // different ranks may share their VCs
        }
        let hosts: Vec<u32> = (0..self.graph.routers()).filter(|&r| is_host(self.graph, r)).collect();
        let apart = hosts.len().div_ceil(WALKED_TO);
        for &to in hosts.iter().step_by(apart) {
            for &from in &hosts {
                if !self.rises_between(routing, link_first, from, to)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn rises_between(&self, routing: &dyn Routing, link_first: bool, from: u32, to: u32) -> Result<bool, Lost> {
        let target = self.coords[to as usize];
        let (mut at, mut packet, mut last) = (from, Packet { target, dest: target, ..Packet::default() }, None);
        loop {
            let mut choices = self.choices(routing, at, to, &packet)?;
            // another choice at each router, or the walk of a packet that chooses again would always choose alike
            let Step { hop, after, .. } = choices.swap_remove((from + to + at) as usize % choices.len());
            let Some(next) = self.neighbour(at, hop.port) else { return Ok(true) };
            let link = if link_first { self.graph.ports(at)[hop.port as usize].class } else { 0 };
            let class =
                (link, routing.rank(self.coords[at as usize], Hop { class: self.known(hop.class) as u8, ..hop }));
            if last.is_some_and(|last| last >= class) {
                return Ok(false);
            }
            (at, packet, last) = (next, after, Some(class));
        }
    }

    /// What a packet to router `to` may do at router `at`: at least one thing.
    fn choices(&self, routing: &dyn Routing, at: u32, to: u32, packet: &Packet) -> Result<Vec<Step>, Lost> {
        let choices = routing.steps(self.coords[at as usize], packet, 0);
        if choices.is_empty() { Err(Lost { at, to }) } else { Ok(choices) }
    }

    /// Walks every leg of a phase. What a packet does in one dimension of a grid does not depend on the others, so there
    /// only routers of one line are paired, and legs in one dimension are joined to those in higher ones.
    fn legs(&mut self, routing: &dyn Routing, phase: u8, on_grid: bool) -> Ends {
        let routers = self.graph.routers();
        let mut ends = Ends { arrivals: vec![BTreeSet::new(); routers as usize], departures: Vec::new() };
        ends.departures = ends.arrivals.clone();
        for from in 0..routers {
            for to in 0..routers {
                let [own, target] = [from, to].map(|router| self.coords[router as usize]);
                if on_grid && !in_line(own, target) {
                    continue;
                }
                let draws = if routing.draws_between(own, target) { self.draws.len() } else { 1 };
                for i in 0..draws {
                    let packet = routing.leg(phase, target, self.draws[i]);
                    if let Some((first, last, at)) = self.walk(routing, from, packet, phase) {
                        ends.departures[from as usize].insert(first);
                        ends.arrivals[at as usize].insert(last);
                    }
                }
            }
        }
        if on_grid {
            // the link class is the dimension
            let dimension = |graph: &Graph, router: u32, port: u32| graph.ports(router)[port as usize].class;
            self.join(&ends.arrivals, &ends.departures, |d, a, b| {
                let [a, b] = [a, b].map(|node| d.sender(node / d.classes)).map(|(r, p)| dimension(d.graph, r, p));
                a < b
            });
        }
        ends
    }

    /// A packet that arrives at a router by one of `arrivals` may leave by each of `departures` that it `may` take.
    fn join(
        &mut self,
        arrivals: &[BTreeSet<Node>],
        departures: &[BTreeSet<Node>],
        may: impl Fn(&Self, Node, Node) -> bool,
    ) {
        for (router, (arrivals, departures)) in (0..).zip(arrivals.iter().zip(departures)) {
            for &a in arrivals {
                for &b in departures {
                    if may(self, a, b) {
                        let port = b / self.classes - self.graph.port_base(router);
                        self.add(a, port as u8, (b % self.classes) as u8);
                    }
                }
            }
        }
    }

    /// Routings that know packets which together take every turn; each with the router it starts from.
    fn packets(&mut self, routing: &dyn Routing, packets: impl Iterator<Item = (u32, Packet)>) {
        for (from, packet) in packets {
            self.walk(routing, from, packet, 0);
        }
    }

    /// Routings with an escape (Duato 1993): wherever a packet is it may ask for its escape, so packets wait for each other
    /// for ever only if escape channels do. Of two escape channels one leads to the other if a packet that came on the
    /// first has the second as its escape. With virtual cut-through a blocked packet holds one buffer, so it may leave the
    /// escape and come back; worms, which hold more, may not (`assemble` refuses that).
    fn escapes(&mut self, routing: &dyn Routing) {
        let routers = self.graph.routers();
        for to in 0..routers {
            let target = self.coords[to as usize];
            for from in (0..routers).filter(|&from| from != to) {
                let Some(hop) = routing.escape(self.coords[from as usize], target) else { continue };
                let Some(at) = self.neighbour(from, hop.port) else { continue };
                if let Some(next) = routing.escape(self.coords[at as usize], target) {
                    self.add(self.node(from, hop.port, hop.class), next.port, next.class);
                }
            }
        }
    }

    /// Routings over an intermediate: every first leg, every second leg, and every join of the two.
    fn two_legs(&mut self, routing: &dyn Routing, by_line: bool, minimal_phase: Option<u8>) {
        let arrivals = self.legs(routing, 0, by_line).arrivals;
        let departures = self.legs(routing, 1, by_line).departures;
        self.join(&arrivals, &departures, |_, _, _| true);
        if let Some(phase) = minimal_phase {
            self.legs(routing, phase, by_line);
        }
    }

    /// Routings that choose at each hop: every state that a packet can reach, of all that tells it from another one.
    pub(crate) fn every_state(&mut self, routing: &dyn Routing) -> Result<(), Lost> {
        let hosts: Vec<u32> = (0..self.graph.routers()).filter(|&r| is_host(self.graph, r)).collect();
        for &to in &hosts {
            let mut seen = HashSet::new();
            let target = self.coords[to as usize];
            let start = |&seq: &u32| Packet { target, dest: target, seq, ..Packet::default() };
            let starts: Vec<Packet> = self.draws.iter().map(start).collect();
            let from = |&r: &u32| starts.iter().map(move |&start| (r, None, start));
            let mut open: Vec<(u32, Option<Node>, Packet)> = hosts.iter().flat_map(from).collect();
            while let Some((at, last, packet)) = open.pop() {
                for Step { hop, after, .. } in self.choices(routing, at, to, &packet)? {
                    let Some(next) = self.neighbour(at, hop.port) else { continue };
                    let node = self.node(at, hop.port, hop.class);
                    match last {
                        Some(last) => self.add(last, hop.port, hop.class),
                        None => self.start(node),
                    }
                    if seen.insert((node, after.seq, after.route_state())) {
                        open.push((next, Some(node), after));
                    }
                }
            }
        }
        Ok(())
    }

    fn successors(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let channel = node / self.classes;
        let router = self.receiver(channel);
        let bits = &self.edges[node as usize * self.words..(node as usize + 1) * self.words];
        let base = router.map_or(0, |r| self.graph.port_base(r)) * self.classes;
        bits.iter().enumerate().flat_map(move |(w, &word)| {
            (0..64u32).filter(move |b| word >> b & 1 != 0).map(move |b| base + w as u32 * 64 + b)
        })
    }

    fn sender(&self, channel: u32) -> (u32, u32) {
        let (mut low, mut high) = (0, self.graph.routers());
        while high - low > 1 {
            let mid = (low + high) / 2;
            if self.graph.port_base(mid) <= channel { low = mid } else { high = mid }
        }
        (low, channel - self.graph.port_base(low))
    }

    fn receiver(&self, channel: u32) -> Option<u32> {
        let (router, port) = self.sender(channel);
        self.neighbour(router, port as u8)
    }

    fn describe(&self, node: Node) -> String {
        let (router, port) = self.sender(node / self.classes);
        let to = self.receiver(node / self.classes).map_or("terminal".into(), |r| format!("router {r}"));
        format!("router {router} port {port} to {to} class {}", node % self.classes)
    }

    /// A cycle, if there is one, where each ring that keeps a bubble is one node: nodes without a way in are removed
    /// until none is left.
    pub(crate) fn find_cycle(&self) -> Option<Vec<Node>> {
        let nodes = self.edges.len() / self.words;
        let (mut indegree, rings) = (vec![0u32; nodes], self.rings());
        for n in 0..nodes as u32 {
            self.onward(&rings, n).for_each(|s| indegree[s as usize] += 1);
        }
        let mut open: Vec<Node> = (0..nodes as u32).filter(|&n| indegree[n as usize] == 0).collect();
        while let Some(n) = open.pop() {
            for s in self.onward(&rings, n) {
                indegree[s as usize] -= 1;
                if indegree[s as usize] == 0 {
                    open.push(s);
                }
            }
        }
        let start = (0..nodes as u32).find(|&n| indegree[n as usize] > 0 && self.onward(&rings, n).next().is_some())?;
        self.follow(start, &rings, &indegree)
    }

    /// From a node of a remaining part, follows remaining successors (each such part has one) until a node repeats.
    fn follow(&self, start: Node, rings: &Rings, indegree: &[u32]) -> Option<Vec<Node>> {
        // walk backward-free: depth first search for a back edge inside the remaining nodes
        let mut state = vec![0u8; indegree.len()];
        let mut path = vec![start];
        state[start as usize] = 1;
        let mut iterators = vec![self.onward(rings, start).collect::<Vec<_>>()];
        while let Some(rest) = iterators.last_mut() {
            match rest.pop() {
                Some(n) if indegree[n as usize] == 0 => {}
                Some(n) if state[n as usize] == 1 => {
                    let from = path.iter().position(|&p| p == n)?;
                    return Some(path[from..].to_vec());
                }
                Some(n) if state[n as usize] == 0 => {
                    state[n as usize] = 1;
                    path.push(n);
                    iterators.push(self.onward(rings, n).collect());
                }
                Some(_) => {}
                None => {
                    iterators.pop();
                    if let Some(n) = path.pop() {
                        state[n as usize] = 2;
                    }
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
