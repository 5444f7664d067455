//! Follows the packets of a routing from router to router, with the same functions as the cycle loop. Refuses a routing whose packets can't
//! be followed to their destinations.

use foldhash::{HashMap, HashSet, HashSetExt};
use std::borrow::Cow;
use weft_api::routing::{AnyRouting, Hop, Needs};
use weft_api::state::Packet;
use weft_api::walk::Step;
use weft_topology::{Graph, Peer};
use weft_units::Refusal;

/// Number of destinations in a sample, for checks that need no complete test.
pub(super) const SAMPLE: usize = 16;

/// An error in the code of a routing that makes it impossible to follow its packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lost {
    /// The description of the error, for the message. Messages put the name of the routing before this string.
    what: String,
    /// The remedy, for the developer of the routing.
    mend: &'static str,
}

impl Lost {
    pub(super) fn new(what: impl Into<String>, mend: &'static str) -> Self {
        Self { what: what.into(), mend }
    }

    pub(super) fn refusal(self, name: &str) -> Refusal {
        let help = format!("choose another routing; the developer of {name} must correct the routing: {}", self.mend);
        Refusal::new(format!("routing.{name}"), format!("{name} {}", self.what), help)
    }
}

/// A hop of a walk: the router that the packet leaves, and the hop.
pub(super) type Taken = (u32, Hop);

/// Follows the packets of one routing.
pub(super) struct Walks<'a> {
    pub(super) graph: &'a Graph,
    pub routing: &'a dyn AnyRouting,
    pub(super) needs: Needs,
    pub coords: Vec<u64>,
    /// The router at each coordinate.
    routers: HashMap<u64, u32>,
    /// Routers with terminals.
    pub hosts: Vec<u32>,
    /// Outcomes of the random choices of a source, such as the direction to a destination half way round a ring, or one of several parallel
    /// links. The check follows every packet once per outcome.
    pub draws: Vec<u32>,
    /// Number of hops of the longest walk. A packet with more hops has used at least one pair of a channel and a VC class twice.
    most_hops: u32,
}

impl<'a> Walks<'a> {
    pub fn of(graph: &'a Graph, routing: &'a dyn AnyRouting) -> Self {
        let (needs, coords) = (routing.needs(), routing.coordinates(graph));
        let classes = u32::from(needs.classes.iter().copied().max().unwrap_or(1));
        Self {
            routers: coords.iter().copied().zip(0..).collect(),
            hosts: (0..graph.routers()).filter(|&r| graph.terminals_of(r) > 0).collect(),
            draws: routing.draws().outcomes(Packet::default(), 0),
            most_hops: graph.port_base(graph.routers()) * classes,
            graph,
            routing,
            needs,
            coords,
        }
    }

    /// A sample of the routers with terminals.
    pub fn sample(&self) -> impl Iterator<Item = u32> + '_ {
        self.hosts.iter().copied().step_by(self.hosts.len().div_ceil(SAMPLE).max(1))
    }

    /// Packets from one router to another, as their sources create them: one packet, or one for each pair of terminals if paths depend on
    /// terminals.
    pub fn packets(&self, from: u32, to: u32) -> Vec<Packet> {
        let dest = self.coords[to as usize];
        let packet = Packet { dest, target: dest, dst_port: self.ejection_port(to), ..Packet::default() };
        if !self.needs.sees_terminals {
            return vec![packet];
        }
        let pair = |(src, _)| self.terminals(to).map(move |(dst, port)| Packet { src, dst, dst_port: port, ..packet });
        self.terminals(from).flat_map(pair).collect()
    }

    /// The outcomes of a packet's random choices at its source. The outcomes apply to the whole path of the packet.
    fn draws_of(&self, packet: Packet) -> Cow<'_, [u32]> {
        if packet.src == 0 {
            return Cow::Borrowed(&self.draws);
        }
        // the packet has a source terminal, on whose hash its random choices also depend
        Cow::Owned(self.routing.draws().outcomes(packet, 0))
    }

    fn terminals(&self, router: u32) -> impl Iterator<Item = (u32, u16)> + '_ {
        self.graph.ports(router).iter().zip(0..).filter_map(|(port, number)| match port.peer {
            Peer::Terminal(terminal) => Some((terminal, number)),
            Peer::Router { .. } | Peer::Unused => None,
        })
    }

    /// The port to the first terminal of a router; `u16::MAX` if the router has no terminal.
    fn ejection_port(&self, router: u32) -> u16 {
        self.terminals(router).next().map_or(u16::MAX, |(_, port)| port)
    }

    /// The router to which a hop leads, for a packet to router `to`; `None` if it leads to the terminal.
    pub(super) fn cross(&self, at: u32, to: u32, hop: Hop, packet: &Packet) -> Result<Option<u32>, Lost> {
        if at == to && hop.port == packet.dst_port {
            return Ok(None);
        }
        let wrong = |what: String| Err(Lost::new(what, "check `next`, `steps`, `escape` and `coordinates`"));
        let name = |router| self.graph.router_name(router);
        let port = hop.port;
        let there = self.graph.ports(at).get(usize::from(port));
        match there.map(|port| port.peer) {
            Some(Peer::Router { router, .. }) => {
                let link = there.map_or(0, |port| usize::from(port.class));
                let declared = self.needs.classes.get(link).map_or(1, |&classes| classes.max(1));
                if hop.class < declared {
                    return Ok(Some(router));
                }
                let (at, link) = (name(at), &self.graph.class_names()[link]);
                let (class, last) = (hop.class, declared - 1);
                wrong(format!(
                    "sends a packet on VC class {class} of a {link} link of router {at}, but declares only classes 0 to {last} for these \
                     links"
                ))
            }
            Some(Peer::Terminal(terminal)) => {
                let (at, to) = (name(at), name(to));
                wrong(format!("delivers a packet for router {to} at router {at}, to terminal {terminal}"))
            }
            Some(Peer::Unused) | None => {
                let (at, to) = (name(at), name(to));
                wrong(format!("sends a packet for router {to} from router {at} to port {port}, which is not connected"))
            }
        }
    }

    /// The hops that a packet to router `to` may take at router `at`, according to the routing. Refuses a routing that returns no hop.
    pub fn steps(&self, at: u32, to: u32, packet: &Packet) -> Result<Vec<Step>, Lost> {
        let mut steps = self.routing.steps(self.coords[at as usize], packet, 0);
        if steps.is_empty() {
            return Err(no_hop(self.graph, at, to));
        }
        steps.iter_mut().try_for_each(|step| self.take(at, &mut step.after, step.hop))?;
        Ok(steps)
    }

    /// Calls the routing's `taken` for a hop of a packet, and refuses a change of the packet that the routing's needs do not declare. (The
    /// loop calls `taken` only if the needs declare it.)
    pub(super) fn take(&self, at: u32, packet: &mut Packet, hop: Hop) -> Result<(), Lost> {
        let (before, here) = (*packet, self.coords[at as usize]);
        self.routing.taken(here, packet, hop);
        let link = self.graph.ports(at).get(usize::from(hop.port)).map_or(0, |port| port.class);
        if let Some(entry) = self.needs.ring_entries_on(link.into()).find(|entry| entry.enter == hop.class) {
            let mut moved_on = before;
            self.routing.taken(here, &mut moved_on, Hop { class: entry.move_on, ..hop });
            if moved_on.route_state() != packet.route_state() {
                let what =
                    "stores in `taken` whether a packet entered a ring or moved on in it, which the loop does not know";
                return Err(Lost::new(what, "let `taken` do the same for both VC classes of a ring"));
            }
        }
        if self.needs.remembers || packet.route_state() == before.route_state() {
            return Ok(());
        }
        let what = "writes into packets in `taken`, which the loop does not call: `Needs::remembers` is off";
        Err(Lost::new(what, "set `Needs::remembers` to true"))
    }

    /// Follows the hops that `next` returns, from router `from` to the destination. If a packet changes from phase 0 to phase 1 (the second
    /// leg), the function follows it only to the end of its first leg. Calls `each` with every hop between routers. Returns the router at
    /// which the walk ends.
    pub fn follow(&self, from: u32, packet: Packet, mut each: impl FnMut(Taken)) -> Result<u32, Lost> {
        let Some(&to) = self.routers.get(&packet.dest) else {
            let what = format!("sends a packet to coordinates {:#x}, which no router has", packet.dest);
            return Err(Lost::new(what, "check `coordinates`, and the packets of `proof`"));
        };
        let mut packet = Packet { dst_port: self.ejection_port(to), ..packet };
        let (mut at, first_leg) = (from, packet.phase == 0);
        for _ in 0..self.most_hops {
            let named = self.routing.next(self.coords[at as usize], &mut packet, 0);
            let hop = named.ok_or_else(|| no_hop(self.graph, at, to))?;
            if first_leg && packet.phase == 1 {
                return Ok(at);
            }
            let Some(next) = self.cross(at, to, hop, &packet)? else { return Ok(at) };
            self.take(at, &mut packet, hop)?;
            each((at, hop));
            at = next;
        }
        Err(never_arrives(self.graph, from, to))
    }

    /// Follows one packet along one possible path: at each router it takes one of its possible hops. The index of the chosen hop differs
    /// between routers, because a packet that always takes the same index would reach few states. Calls `goes_on` with every hop between
    /// routers. Stops and returns false when `goes_on` returns false; returns true when the packet has reached its destination.
    pub fn some_path(&self, from: u32, to: u32, mut goes_on: impl FnMut(Taken) -> bool) -> Result<bool, Lost> {
        let pick = |at: u32, of: usize| (from + to + at) as usize % of;
        let mut packets = self.packets(from, to);
        let created = packets.swap_remove(pick(0, packets.len()));
        let draws = self.draws_of(created);
        let starts = self.routing.starts(self.coords[from as usize], created, &draws);
        let (mut at, mut packet) = (from, starts.nth(pick(0, starts.count())));
        for _ in 0..self.most_hops {
            let mut choices = self.steps(at, to, &packet)?;
            let Step { hop, after, .. } = choices.swap_remove(pick(at, choices.len()));
            let Some(next) = self.cross(at, to, hop, &packet)? else { return Ok(true) };
            if !goes_on((at, hop)) {
                return Ok(false);
            }
            (at, packet) = (next, after);
        }
        Err(never_arrives(self.graph, from, to))
    }

    /// Calls `visit` with every state that a packet to router `to` can reach. A state consists of the last hop, the router, and the hops
    /// that the packet may take there. Two packets with equal states count as one.
    pub fn each_state(
        &self,
        to: u32,
        visit: impl FnMut(Option<Taken>, u32, &[Step]) -> Result<(), Lost>,
    ) -> Result<(), Lost> {
        self.some_states(to, usize::MAX, visit)
    }

    /// Does the same as `each_state`, but follows only a sample of the sources and visits at most about `most` states.
    pub fn some_states(
        &self,
        to: u32,
        most: usize,
        mut visit: impl FnMut(Option<Taken>, u32, &[Step]) -> Result<(), Lost>,
    ) -> Result<(), Lost> {
        let mut seen = HashSet::new();
        let sources: Vec<u32> = if most == usize::MAX { self.hosts.clone() } else { self.sample().collect() };
        for &from in &sources {
            let last_of_source = (most / sources.len()).saturating_add(seen.len());
            for packet in self.packets(from, to) {
                let draws = self.draws_of(packet);
                let starts = self.routing.starts(self.coords[from as usize], packet, &draws);
                let mut open: Vec<_> = starts.all().map(|start| (from, None, start)).collect();
                while let Some((at, last, packet)) = open.pop()
                    && seen.len() <= last_of_source
                {
                    let mut steps = self.steps(at, to, &packet)?;
                    let cross = |step: &Step| self.cross(at, to, step.hop, &packet);
                    let next = steps.iter().map(cross).collect::<Result<Vec<_>, _>>()?;
                    // a hop to a terminal is no choice between routers, so it is removed
                    let mut between = next.iter();
                    steps.retain(|_| between.next().is_some_and(Option::is_some));
                    visit(last, at, &steps)?;
                    for (Step { hop, after, .. }, next) in steps.into_iter().zip(next.into_iter().flatten()) {
                        let flow = (after.src, after.dst, after.seq);
                        if seen.insert((at, hop.port, hop.class, flow, after.route_state())) {
                            open.push((next, Some((at, hop)), after));
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

fn no_hop(graph: &Graph, at: u32, to: u32) -> Lost {
    let [at, to] = [at, to].map(|router| graph.router_name(router));
    let what = format!("returns no hop at router {at} for a packet to router {to}");
    Lost::new(what, "let `steps` list at least one hop; a proof by legs or packets needs a `next` with every hop")
}

fn never_arrives(graph: &Graph, from: u32, to: u32) -> Lost {
    let [from, to] = [from, to].map(|router| graph.router_name(router));
    let what = format!("never brings a packet from router {from} to router {to}");
    Lost::new(what, "check `next` and `steps`")
}
