//! Finds the lanes of a queueing scheme that packets reach. To find them, the code follows packets between all terminals through the
//! network.
//!
//! Most routings return one hop per router, and most schemes ignore the source. For such a routing and scheme, packets from many sources to
//! one destination share the rest of their paths. Each shared part is followed only once. The packets of other routings are followed
//! separately for each pair of terminals. If a pair has one path, the code follows its packet hop by hop. If a pair has several paths, the
//! code follows all states that its packet can reach.

use crate::network::lanes::place;
use foldhash::{HashSet, HashSetExt};
use weft_api::queueing::{Crossing, Scheme};
use weft_api::routing::{AnyRouting, Decides, Hop, Needs};
use weft_api::state::{Packet, RouteState};
use weft_topology::{Graph, Peer};

/// The largest number of lane look-ups. Each hop of a packet between terminals needs one look-up.
const MOST_STEPS: u64 = 1 << 24;
/// The largest number of entries in the table of lanes, over all VC classes and channels.
const MOST_NUMBERS: usize = 1 << 26;

/// A router with its terminals, each with its port.
type Host = (u32, Vec<(u32, u16)>);

/// A packet at a router, with the last hop that it took, if any.
struct Stand {
    at: u32,
    last: Option<(u32, Hop)>,
    packet: Packet,
}

/// A hop, with the state of the packet after it.
type HopState = (u32, u16, u8, u32, RouteState);

/// A packet to the destination that `follow` treats now. The packet has been followed from some router to the end of its path.
struct Followed {
    seq: u32,
    state: RouteState,
    hop: Hop,
    /// Number of channels on the rest of its path, including the channel into this router.
    channels: u64,
}

/// Follows packets between all terminals.
pub(crate) struct Reached<'a> {
    graph: &'a Graph,
    routing: &'a dyn AnyRouting,
    scheme: &'a dyn Scheme,
    coords: Vec<u64>,
    /// For each channel, VC class and lane: 1 if at least one packet uses the lane, otherwise 0.
    lanes: Vec<u8>,
    classes: usize,
    /// Whether the routing returns exactly one hop at each router.
    names_hops: bool,
    steps_left: u64,
    /// For each router, the packets to the destination that `follow` treats now that have been followed from this router.
    followed: Vec<Vec<Followed>>,
    /// Scratch memory: the path of the packet that is being followed, as indices into `followed`.
    path: Vec<(u32, usize)>,
    /// Scratch memory: packet states of a pair that still have to be followed.
    open: Vec<Stand>,
    /// Scratch memory: all states of the pair that have been found so far.
    seen: HashSet<HopState>,
}

impl<'a> Reached<'a> {
    /// Follows the packets. Returns, for each channel, VC class and lane, 1 if at least one packet uses the lane. Returns `None` if
    /// following the packets would take too many steps.
    pub(crate) fn follow(
        graph: &'a Graph,
        routing: &'a dyn AnyRouting,
        needs: &Needs,
        scheme: &'a dyn Scheme,
    ) -> Option<Vec<u8>> {
        let classes = usize::from(needs.classes.iter().copied().max().unwrap_or(1).max(1));
        let numbers = graph.port_base(graph.routers()) as usize * classes * scheme.lanes() as usize;
        if numbers > MOST_NUMBERS || u64::from(graph.terminals()).pow(2) > MOST_STEPS {
            return None;
        }
        let names_hops = needs.decides == Decides::Ahead && !routing.draws_hops();
        let mut reached = Self {
            graph,
            routing,
            scheme,
            coords: routing.all_coordinates(graph),
            lanes: vec![0; numbers],
            classes,
            names_hops,
            steps_left: MOST_STEPS,
            followed: (0..graph.routers()).map(|_| Vec::new()).collect(),
            path: Vec::new(),
            open: Vec::new(),
            seen: HashSet::new(),
        };
        let hosts = hosts(graph);
        let draws = routing.draws().outcomes(Packet::default(), 0);
        let shares = names_hops && !needs.draws_path && !needs.sees_terminals && !scheme.looks_at_sources();
        for to in &hosts {
            reached.followed.iter_mut().for_each(Vec::clear);
            // paths never leave their plane
            for from in hosts.iter().filter(|from| from.0 % graph.planes() == to.0 % graph.planes()) {
                if needs.sees_terminals {
                    reached.between_terminals(from, to)?;
                } else if shares {
                    reached.join(from, to, &draws)?;
                } else {
                    reached.between(from, to, &draws)?;
                }
            }
        }
        Some(reached.lanes)
    }

    /// Follows the packets from one router to another, until they reach a state that has already been followed for this destination. The
    /// routing must return exactly one hop at each router.
    fn join(&mut self, from: &Host, to: &Host, draws: &[u32]) -> Option<()> {
        let (at, dest) = (self.coords[from.0 as usize], self.coords[to.0 as usize]);
        let packet = Packet { dest, target: dest, dst_port: to.1[0].1, ..Packet::default() };
        let drawn = if self.routing.draws_between(at, dest) { draws.len() } else { 1 };
        let channels = draws[..drawn].iter().map(|&seq| self.join_one(from, to, Packet { seq, ..packet })).sum();
        self.count(channels, from, to)
    }

    /// Does the work of [`Reached::join`] for one outcome of the random choices. Returns the number of channels that the packet crosses.
    fn join_one(&mut self, from: &Host, to: &Host, mut packet: Packet) -> u64 {
        let (mut at, mut last) = (from.0, None);
        let mut channels = loop {
            let (seq, state) = (packet.seq, packet.route_state());
            let known = self.followed[at as usize].iter().find(|known| (known.seq, known.state) == (seq, state));
            if let Some(&Followed { hop, channels, .. }) = known {
                self.enter(last, at, hop, from, to);
                break channels;
            }
            let Some(hop) = self.routing.take_next(self.coords[at as usize], &mut packet, 0) else { break 0 };
            self.enter(last, at, hop, from, to);
            let followed = &mut self.followed[at as usize];
            self.path.push((at, followed.len()));
            followed.push(Followed { seq, state, hop, channels: 0 });
            let Peer::Router { router, .. } = self.graph.ports(at)[usize::from(hop.port)].peer else { break 0 };
            (last, at) = (Some((at, hop)), router);
        };
        for (router, place) in self.path.drain(..).rev() {
            channels += 1;
            self.followed[router as usize][place].channels = channels;
        }
        channels
    }

    /// Follows packets of routings whose paths depend only on the two routers, not on the terminals.
    fn between(&mut self, from: &Host, to: &Host, draws: &[u32]) -> Option<()> {
        let dest = self.coords[to.0 as usize];
        let packet = Packet { dest, target: dest, dst_port: to.1[0].1, ..Packet::default() };
        self.paths(packet, from, to, draws)
    }

    /// Follows packets of routings whose paths depend on the pair of terminals.
    fn between_terminals(&mut self, from: &Host, to: &Host) -> Option<()> {
        let dest = self.coords[to.0 as usize];
        for &source in &from.1 {
            for &sink in &to.1 {
                let (src, dst) = (source.0, sink.0);
                let packet = Packet { dest, target: dest, src, dst, dst_port: sink.1, ..Packet::default() };
                let draws = self.routing.draws().outcomes(packet, 0);
                self.paths(packet, &(from.0, vec![source]), &(to.0, vec![sink]), &draws)?;
            }
        }
        Some(())
    }

    /// Follows every path of a packet between two routers, and records the lanes that packets between their terminals (in `from` and `to`)
    /// use.
    fn paths(&mut self, packet: Packet, from: &Host, to: &Host, draws: &[u32]) -> Option<()> {
        let routing = self.routing;
        let starts = routing.starts(self.coords[from.0 as usize], packet, draws);
        if self.names_hops && starts.count() == 1 {
            return self.only_path(starts.nth(0), from, to);
        }
        self.seen.clear();
        for start in starts.all() {
            self.open.push(Stand { at: from.0, last: None, packet: start });
            while let Some(Stand { at, last, packet }) = self.open.pop() {
                for step in routing.choices(self.coords[at as usize], &packet, 0) {
                    self.enter(last, at, step.hop, from, to);
                    self.count(1, from, to)?;
                    let Peer::Router { router, .. } = self.graph.ports(at)[usize::from(step.hop.port)].peer else {
                        continue;
                    };
                    let state = (at, step.hop.port, step.hop.class, step.after.seq, step.after.route_state());
                    if self.seen.insert(state) {
                        self.open.push(Stand { at: router, last: Some((at, step.hop)), packet: step.after });
                    }
                }
            }
        }
        Some(())
    }

    /// Does the same as [`Reached::paths`] for a packet with only one path.
    fn only_path(&mut self, mut packet: Packet, from: &Host, to: &Host) -> Option<()> {
        let (mut at, mut last) = (from.0, None);
        while let Some(hop) = self.routing.take_next(self.coords[at as usize], &mut packet, 0) {
            self.enter(last, at, hop, from, to);
            self.count(1, from, to)?;
            let Peer::Router { router, .. } = self.graph.ports(at)[usize::from(hop.port)].peer else { break };
            (last, at) = (Some((at, hop)), router);
        }
        Some(())
    }

    /// Counts `channels` steps for each packet between these terminals. Returns `None` if the total exceeds the limit of steps.
    fn count(&mut self, channels: u64, from: &Host, to: &Host) -> Option<()> {
        let steps = channels * (from.1.len() * to.1.len()) as u64;
        self.steps_left = self.steps_left.checked_sub(steps)?;
        Some(())
    }

    /// Records the lanes of packets that arrive at router `at` over the channel `last` (or from their terminals) and leave by `hop`.
    fn enter(&mut self, last: Option<(u32, Hop)>, at: u32, hop: Hop, from: &Host, to: &Host) {
        let arrived = matches!(self.graph.ports(at)[usize::from(hop.port)].peer, Peer::Terminal(_));
        // on a channel between routers, packets from all terminals of a router have one lane, unless the scheme depends on the source
        let alike = last.is_some() && !self.scheme.looks_at_sources();
        let each = self.scheme.lanes() as usize;
        let mut mark = |(src, port): (u32, u16), (dst, sink): (u32, u16)| {
            let onward = if arrived { sink } else { hop.port };
            let (out, class, from) = match last {
                Some((router, hop)) => ((router, hop.port), hop.class, Some((router, hop.port))),
                None => ((at, port), 0, None),
            };
            let lane = self.scheme.lane(&Crossing { src, dst, from, to: at, onward }) as usize;
            let channel = place(self.graph, out.0, out.1) as usize * self.classes + usize::from(class);
            self.lanes[channel * each + lane] = 1;
        };
        for &sink in &to.1 {
            let others = from.1.iter().filter(|source| source.0 != sink.0);
            others.take(if alike { 1 } else { usize::MAX }).for_each(|&source| mark(source, sink));
        }
    }
}

/// The routers that have terminals.
fn hosts(graph: &Graph) -> Vec<Host> {
    let terminals = |router: u32| {
        let here = (0u16..).zip(graph.ports(router));
        here.filter_map(|(number, port)| match port.peer {
            Peer::Terminal(terminal) => Some((terminal, number)),
            Peer::Router { .. } | Peer::Unused => None,
        })
    };
    let hosts = (0..graph.routers()).map(|router| (router, terminals(router).collect::<Vec<_>>()));
    hosts.filter(|(_, terminals)| !terminals.is_empty()).collect()
}
