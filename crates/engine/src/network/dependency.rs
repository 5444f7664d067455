//! The channel dependency graph (Dally and Seitz 1987). A node is a pair of a channel and a VC class. There is an edge from node a to node
//! b if a packet can hold a while it requests b. If the graph has no cycle, deadlock is impossible.
//!
//! The edges come from the functions of the routing: `walks.rs` follows packets between all source and destination routers, with every
//! choice of an adaptive routing. The two legs of a Valiant path are followed separately and joined at the intermediate.
//!
//! Some routings declare that an index rises with each hop: the VC class, or the dimension and then the VC class. In such a routing no
//! cycle is possible, because the index would have to rise with every hop of the cycle, but the cycle ends at its first index. For these
//! routings the check tests the declaration on a sample of paths from every router.
//!
//! If there are more than [`MANY_LEGS`] legs (parts of paths to or from an intermediate), the check follows a sample of them. If the rank
//! rises with each hop on the whole sample, the check follows no others.
//!
//! The check permits a cycle that is a ring with a bubble ([`rings`]).

use rings::Rings;
use std::collections::BTreeSet;
pub(crate) use walks::Lost;
use walks::Walks;
use weft_api::coordinates::Lines;
use weft_api::routing::{AnyRouting, Classes, Hop, RingEntry};
use weft_api::state::Packet;
use weft_api::walk::{Ports, Proof};
use weft_topology::{Graph, Grid, MAX_RADIX};
use weft_units::Refusal;

mod checks;
mod escape_rings;
mod rings;
mod walks;

/// A node is encoded as channel * classes + VC class. The number of a channel is the index of its sending port among the ports of all
/// routers. The members of a trunk count as one channel, which has the number of the first member. Reason: a head may take any member of
/// the trunk, not only the member that its routing returns, so it waits for all members.
type Node = u32;

/// Largest number of legs that the check follows in any case: those of all pairs of 4,096 routers. To follow this number of legs takes some
/// seconds.
const MANY_LEGS: u64 = 1 << 24;

/// The first and the last channels of all legs, which the check joins to complete paths. `departures` are indexed by the router that the
/// first channels leave, `arrivals` by the router to which the last channels lead.
struct Ends {
    arrivals: Vec<BTreeSet<Node>>,
    departures: Vec<BTreeSet<Node>>,
}

pub(crate) struct Dependencies<'a> {
    graph: &'a Graph,
    classes: u32,
    words: usize,
    /// The edges of each node: one bit for every pair (port, VC class) of the next router.
    edges: Vec<u64>,
    has_edges: bool,
    /// VC classes on which packets enter the rings that keep a bubble.
    ring_entries: Vec<RingEntry>,
    /// The nodes on which packets start. The set is filled only if there are ring entries.
    starts: BTreeSet<Node>,
}

/// Refuses a routing that the cycle loop cannot run. (Cycles of channel dependencies are checked by [`refuse_cycle`].)
pub(crate) fn refuse_misfit(graph: &Graph, routing: &dyn AnyRouting, name: &str) -> Result<(), Refusal> {
    let mut coords = routing.coordinates(graph);
    coords.sort_unstable();
    if let Some(same) = coords.windows(2).find(|two| two[0] == two[1]) {
        let what = format!(
            "gives several routers the same coordinates {:#x}, so it cannot distinguish these routers",
            same[0]
        );
        return Err(Lost::new(what, "let `coordinates` use the graph view that the routing uses").refusal(name));
    }
    Walks::of(graph, routing).check_needs().map_err(|lost| lost.refusal(name))
}

/// Refuses a routing whose channel dependencies have a cycle, and lists the first channels of the cycle.
pub(crate) fn refuse_cycle(
    graph: &Graph,
    routing: &dyn AnyRouting,
    classes: &Classes,
    name: &str,
) -> Result<(), Refusal> {
    let mut d = Dependencies::new(graph, routing, classes);
    d.enter(routing, routing.proof()).map_err(|lost| lost.refusal(name))?;
    let Some(cycle) = d.find_cycle() else { return Ok(()) };
    let shown: Vec<String> = cycle.iter().take(8).map(|&n| d.describe(n)).collect();
    let what = format!(
        "channel dependencies have a cycle of {} channels, so packets can deadlock: {}",
        cycle.len(),
        shown.join(" -> ")
    );
    let remedy = match (routing.cycle_remedy(), d.ring_entries.is_empty()) {
        (Some(remedy), _) => remedy.to_owned(),
        (None, true) => format!("choose another routing, or parameters of {name} with more VC classes, if possible"),
        (None, false) => format!(
            "choose another routing; the developer of {name} must correct the routing: every hop into a ring, also from a terminal, must \
             use the VC class that enters the ring, and every hop along the ring must use the class that moves on"
        ),
    };
    let help =
        format!("{remedy}; with allow_dependency_cycle: true Weft runs the scenario anyway, to study the deadlock");
    Err(Refusal::new(format!("routing.{name}"), what, help))
}

impl<'a> Dependencies<'a> {
    pub(crate) fn new(graph: &'a Graph, routing: &dyn AnyRouting, classes: &Classes) -> Self {
        let classes = u32::from(classes.iter().copied().max().unwrap_or(1));
        let words = ((graph.radix() * classes) as usize).div_ceil(64);
        let nodes = (graph.port_base(graph.routers()) * classes) as usize;
        // a check with fewer classes models a routing that merges VC classes; such a routing has no separate class for entering a ring
        let mut ring_entries = routing.needs().ring_entries;
        ring_entries.retain(|entry| u32::from(entry.enter.max(entry.move_on)) < classes);
        Self {
            graph,
            classes,
            words,
            edges: vec![0; nodes * words],
            has_edges: false,
            ring_entries,
            starts: BTreeSet::new(),
        }
    }

    /// Adds every dependency between channels that packets of this routing can cause. The proof of the routing selects the method.
    pub(crate) fn enter(&mut self, routing: &dyn AnyRouting, proof: Proof) -> Result<(), Lost> {
        let walks = Walks::of(self.graph, routing);
        match self.seen_from_starts(proof) {
            Proof::EveryState => {
                walks.check_detours()?;
                self.every_state(routing)?;
            }
            Proof::Rises { link_first, or } => {
                walks.check_detours()?;
                if !self.rises(routing, link_first)? {
                    self.enter(routing, *or)?;
                }
            }
            Proof::OneLeg { by_line } => {
                if !(self.has_many_legs(&walks) && self.legs_rise(&walks, &[0], None)?) {
                    self.legs(&walks, 0, by_line)?;
                }
            }
            Proof::TwoLegs { by_line, minimal_phase } => {
                if !(self.has_many_legs(&walks) && self.legs_rise(&walks, &[0, 1], minimal_phase)?) {
                    self.two_legs(&walks, by_line, minimal_phase)?;
                }
            }
            Proof::Packets { routing, packets } => {
                let walks = Walks::of(self.graph, &*routing);
                for (from, packet) in packets {
                    self.walk(&walks, from, packet)?;
                }
            }
            Proof::Turns(each) => each(&mut |at, hop, onward| self.turn(at, hop, onward)),
            Proof::TurnsTo { destinations, turns } => {
                for (dest, count) in destinations.into_iter().zip(1u32..) {
                    turns(dest, &mut |at, port, onward| self.turns(at, port, onward));
                    // test at powers of two: in most graphs with a cycle, the cycle appears after a few steps
                    if count.is_power_of_two() && self.find_cycle().is_some() {
                        break;
                    }
                }
            }
            Proof::Escapes => self.escapes(&walks)?,
            Proof::EscapeRings(rings) => self.escape_rings(&walks, &rings)?,
            Proof::Together(routings) => {
                for routing in &routings {
                    Walks::of(self.graph, &**routing).check_detours()?;
                    if !self.rises(&**routing, false)? {
                        return routings.iter().try_for_each(|routing| self.every_state(&**routing));
                    }
                }
            }
        }
        Ok(())
    }

    /// Number of nodes of the graph: pairs of a channel and a VC class.
    fn nodes(&self) -> usize {
        self.edges.len() / self.words
    }

    fn node(&self, router: u32, port: u16, class: u8) -> Node {
        (self.graph.port_base(router) + u32::from(self.graph.trunk(router, port).first)) * self.classes
            + self.known(class)
    }

    /// The index of a VC class among the classes of the check. VC classes above the last class of the check count as the last class,
    /// because a check with fewer classes models a routing that merges classes.
    fn known(&self, class: u8) -> u32 {
        u32::from(class).min(self.classes - 1)
    }

    fn neighbour(&self, router: u32, port: u16) -> Option<u32> {
        self.graph.neighbour(router, port).map(|(router, _)| router)
    }

    /// Adds an edge from node `from` to the pair (port, class) of the router to which the channel of `from` leads.
    fn add(&mut self, from: Node, mut port: u16, class: u8) {
        self.has_edges = true;
        if self.graph.has_trunks()
            && let Some(router) = self.receiver(from / self.classes)
        {
            port = self.graph.trunk(router, port).first;
        }
        let bit = usize::from(port) * self.classes as usize + self.known(class) as usize;
        let from = self.vcs_of(from);
        self.edges[from as usize * self.words + bit / 64] |= 1 << (bit % 64);
    }

    /// Follows one packet. Returns the nodes of its first and last channel, and the router at which its path ends.
    fn walk(&mut self, walks: &Walks, from: u32, packet: Packet) -> Result<Option<(Node, Node, u32)>, Lost> {
        let (mut first, mut last) = (None, None);
        let end = walks.follow(from, packet, |(at, hop)| {
            if let Some(previous) = last {
                self.add(previous, hop.port, hop.class);
            }
            let node = self.node(at, hop.port, hop.class);
            if first.is_none() {
                first = Some(node);
                self.start(node);
            }
            last = Some(node);
        })?;
        Ok(first.zip(last).map(|(first, last)| (first, last, end)))
    }

    /// Adds turns whose hops all have one VC class: a packet leaves `router` by `port`, and leaves the next router by any port in the mask
    /// `onward`.
    fn turns(&mut self, router: u32, port: u16, onward: &Ports) {
        debug_assert_eq!(self.classes, 1);
        self.has_edges = true;
        let node = self.node(router, port, 0);
        if self.graph.has_trunks() {
            let ports = (0..MAX_RADIX as u16).filter(|&port| onward[usize::from(port / 64)] >> (port % 64) & 1 != 0);
            return ports.for_each(|port| self.add(node, port, 0));
        }
        let place = node as usize * self.words;
        self.edges[place..place + self.words].iter_mut().zip(onward).for_each(|(edges, ports)| *edges |= ports);
    }

    /// Adds one turn: a packet leaves `router` by `hop`, and leaves the next router by `onward`.
    fn turn(&mut self, router: u32, hop: Hop, onward: Hop) {
        self.add(self.node(router, hop.port, hop.class), onward.port, onward.class);
    }

    /// Whether the rank of the VC class rises with each hop on all tested paths, which lead from every router to a sample of routers. With
    /// `link_first` the index of the link class is compared before the rank.
    pub(crate) fn rises(&self, routing: &dyn AnyRouting, link_first: bool) -> Result<bool, Lost> {
        if !self.ring_entries.is_empty() {
            return Ok(false); // different ranks may share their VCs
        }
        let walks = Walks::of(self.graph, routing);
        for to in walks.sample() {
            for &from in &walks.hosts {
                let mut last = None;
                let rises = walks.some_path(from, to, |(at, hop)| {
                    let link = if link_first { self.graph.ports(at)[hop.port as usize].class } else { 0 };
                    let known = Hop { class: self.known(hop.class) as u8, ..hop };
                    let rank = (link, routing.rank(walks.coords[at as usize], known));
                    last.replace(rank).is_none_or(|last| last < rank)
                })?;
                if !rises {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether it would take minutes to follow all legs. There is one leg for each pair of routers and each outcome of the random choices,
    /// for example the choice among parallel links.
    fn has_many_legs(&self, walks: &Walks) -> bool {
        u64::from(self.graph.routers()).pow(2) * walks.draws.len() as u64 > MANY_LEGS
    }

    /// Whether the rank rises with each hop on all tested legs, which lead from every router to a sample of routers. The legs of each phase
    /// in `phases` follow those of the previous phase, so all their ranks must be higher. The legs of phase `alone` follow no other legs.
    fn legs_rise(&self, walks: &Walks, phases: &[u8], alone: Option<u8>) -> Result<bool, Lost> {
        let mut below = None;
        for &phase in phases {
            let mut highest = below;
            if !self.ranks_rise(walks, phase, |rank| {
                highest = highest.max(Some(rank));
                below < Some(rank)
            })? {
                return Ok(false);
            }
            below = highest;
        }
        alone.map_or(Ok(true), |phase| self.ranks_rise(walks, phase, |_| true))
    }

    /// Whether the rank rises with each hop on the tested legs of a phase, and `fits` is true for all ranks.
    fn ranks_rise(&self, walks: &Walks, phase: u8, mut fits: impl FnMut(u32) -> bool) -> Result<bool, Lost> {
        if !self.ring_entries.is_empty() {
            return Ok(false); // different ranks may share their VCs
        }
        for to in walks.sample() {
            for from in 0..self.graph.routers() {
                let target = walks.coords[to as usize];
                let draw = walks.draws[(from + to) as usize % walks.draws.len()];
                let (mut last, mut rises) = (None, true);
                walks.follow(from, walks.routing.leg(phase, target, draw), |(at, hop)| {
                    let known = Hop { class: self.known(hop.class) as u8, ..hop };
                    let rank = walks.routing.rank(walks.coords[at as usize], known);
                    rises &= last.replace(rank) < Some(rank) && fits(rank);
                })?;
                if !rises {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Follows every leg of a phase (0: legs to an intermediate, or whole paths; 1: legs from an intermediate). Returns the first and last
    /// channels of the legs. `by_line`: the hops of a packet in one dimension of a grid do not depend on its coordinates in other
    /// dimensions. The function then pairs only routers of the same line, and joins the legs of each dimension to the legs of higher
    /// dimensions.
    fn legs(&mut self, walks: &Walks, phase: u8, by_line: bool) -> Result<Ends, Lost> {
        let (graph, routing) = (self.graph, walks.routing);
        let mut ends = Ends { arrivals: vec![BTreeSet::new(); graph.routers() as usize], departures: Vec::new() };
        ends.departures = ends.arrivals.clone();
        // many legs begin or end with the same channel, so the ends of most walks are already stored
        let (mut departed, mut arrived) = (vec![false; self.nodes()], vec![false; self.nodes()]);
        let all: Vec<u32> = (0..graph.routers()).collect();
        let lines = by_line.then(|| Lines::of(&walks.coords));
        for from in 0..graph.routers() {
            let in_line = lines.as_ref().map(|lines| lines.through(from));
            for &to in in_line.as_ref().unwrap_or(&all) {
                let [own, target] = [from, to].map(|router| walks.coords[router as usize]);
                let draws = if routing.draws_between(own, target) { walks.draws.len() } else { 1 };
                for &draw in &walks.draws[..draws] {
                    if let Some((first, last, at)) = self.walk(walks, from, routing.leg(phase, target, draw))? {
                        if !std::mem::replace(&mut departed[first as usize], true) {
                            ends.departures[from as usize].insert(first);
                        }
                        if !std::mem::replace(&mut arrived[last as usize], true) {
                            ends.arrivals[at as usize].insert(last);
                        }
                    }
                }
            }
        }
        if by_line {
            let Some(grid) = &graph.structure().grid else {
                let what =
                    "proves with the lines of a grid that packets can't deadlock, but this network is not a grid";
                return Err(Lost::new(what, "return another `proof`"));
            };
            let dimensions = self.dimensions(grid);
            let dimension = |d: &Self, node: Node| dimensions[(node / d.classes) as usize];
            self.join(&ends.arrivals, &ends.departures, |d, a, b| dimension(d, a) < dimension(d, b));
        }
        Ok(ends)
    }

    /// For each channel, the dimension of the grid in which it leads; `None` for channels of terminals.
    fn dimensions(&self, grid: &Grid) -> Vec<Option<u8>> {
        let ports = (0..self.graph.routers()).flat_map(|router| 0..self.graph.ports(router).len() as u16);
        ports.map(|port| grid.dimension_of(port).map(|dimension| dimension as u8)).collect()
    }

    /// At each router, adds edges from its `arrivals` to its `departures`, for pairs for which `may` is true.
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
                        self.add(a, port as u16, (b % self.classes) as u8);
                    }
                }
            }
        }
    }

    /// Checks routings with an escape (Duato 1993). A packet may request its escape at every router. Packets can therefore wait for each
    /// other forever only if escape channels have a cycle of dependencies. An edge leads from one escape channel to another if a packet
    /// that arrived on the first can have the second as its escape. With virtual cut-through a blocked packet occupies only one buffer, so
    /// the packet may leave the escape channels and return to them. A wormhole packet occupies more than one buffer, so `assemble` refuses
    /// wormhole flow control here.
    fn escapes(&mut self, walks: &Walks) -> Result<(), Lost> {
        walks.check_escapes(|(at, hop), onward| self.turn(at, hop, onward))
    }

    /// Checks routings over an intermediate: follows every first leg and every second leg, and joins the legs at each intermediate.
    fn two_legs(&mut self, walks: &Walks, by_line: bool, minimal_phase: Option<u8>) -> Result<(), Lost> {
        let arrivals = self.legs(walks, 0, by_line)?.arrivals;
        let departures = self.legs(walks, 1, by_line)?.departures;
        self.join(&arrivals, &departures, |_, _, _| true);
        if let Some(phase) = minimal_phase {
            self.legs(walks, phase, by_line)?;
        }
        Ok(())
    }

    /// Checks routings that choose at each hop, by following every state that a packet can reach.
    pub(crate) fn every_state(&mut self, routing: &dyn AnyRouting) -> Result<(), Lost> {
        let walks = Walks::of(self.graph, routing);
        walks.hosts.iter().try_for_each(|&to| {
            walks.each_state(to, |last, at, steps| {
                for step in steps {
                    match last {
                        Some((before, hop)) => self.turn(before, hop, step.hop),
                        None => self.start(self.node(at, step.hop.port, step.hop.class)),
                    }
                }
                Ok(())
            })
        })
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
        self.neighbour(router, port as u16)
    }

    fn describe(&self, node: Node) -> String {
        let (router, port) = self.sender(node / self.classes);
        let to = self
            .receiver(node / self.classes)
            .map_or("terminal".into(), |r| format!("router {}", self.graph.router_name(r)));
        let router = self.graph.router_name(router);
        format!("router {router} port {port} to {to} class {}", node % self.classes)
    }

    /// The nodes of a cycle of the graph; `None` if there is no cycle. Each ring that keeps a bubble counts as a single node. The search
    /// removes nodes without incoming edges until every remaining node has an incoming edge.
    pub(crate) fn find_cycle(&self) -> Option<Vec<Node>> {
        if !self.has_edges {
            return None;
        }
        let nodes = self.nodes();
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

    /// Finds a cycle: walks from a remaining node along remaining edges until a node repeats. (Each remaining component contains a cycle.)
    fn follow(&self, start: Node, rings: &Rings, indegree: &[u32]) -> Option<Vec<Node>> {
        // a depth-first search in the remaining nodes finds an edge back to a node of the current path
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
