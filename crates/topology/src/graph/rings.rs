//! Rings: closed paths through the network that visit every router once (Hamiltonian rings). Packets that are blocked on all other paths
//! escape to a ring.
//!
//! A ring is physical or embedded. A physical ring has its own wires and ports: the topology builds it, and the graph lists it in
//! [`Structure::rings`](super::Structure::rings). An embedded ring uses existing links of the network. Two kinds of embedded rings exist.
//! [`Ring::in_label_order`] is the escape ring of M. Garcia et al., "Bubble Flow Control in High-Radix Hierarchical Networks". This ring
//! exists in dragonflies with the arrangement `palm_tree` and the largest number of groups. The function [`Ring::disjoint`] finds several
//! rings without a common link, so that a broken link interrupts only one ring.

mod disjoint;
mod search;

use super::{Graph, Peer, Port};
use weft_units::Refusal;

/// A closed path through the network that visits every router once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ring {
    /// For each router, the output port to the next router on the ring. If the next router is at the end of a trunk, it is the port of the
    /// first link.
    pub forward: Vec<u16>,
    /// For each router, the output port to the previous router on the ring, over the same link as the `forward` port of that router.
    pub backward: Vec<u16>,
    /// For each router, its position on the ring. Router 0 has position 0.
    pub place: Vec<u32>,
}

/// Minimum number of routers of an embedded ring. With two routers, the links forward and backward would be the same link.
const LEAST_ROUTERS: u32 = 3;

impl Ring {
    /// The ring 0, 1, 2, ... and back to router 0, over links that are not part of the network's physical rings. Refuses, at `path`, a
    /// network in which a router has no link to the next router.
    pub fn in_label_order(graph: &Graph, path: &str) -> Result<Self, Refusal> {
        refuse_few_routers(graph, path)?;
        let order: Vec<u32> = (0..graph.routers()).collect();
        Self::along(graph, &order).map_err(|(from, to)| no_link(graph, from, to, path))
    }

    /// Finds `count` rings over links that are not part of the network's physical rings. No two rings have a link in common. If the groups
    /// form a palm tree with one link between every two groups, the first ring is the ring in label order. Refuses, at `path`, more rings
    /// than exist or than the search finds.
    pub fn disjoint(graph: &Graph, count: u32, path: &str) -> Result<Vec<Self>, Refusal> {
        refuse_few_routers(graph, path)?;
        disjoint::rings(graph, count, path)
    }

    /// The routers in the order in which the ring visits them, router 0 first.
    pub fn order(&self) -> Vec<u32> {
        let mut order = vec![0; self.place.len()];
        (0..).zip(&self.place).for_each(|(router, &place)| order[place as usize] = router);
        order
    }

    /// Checks that the ring is valid in this network. The ports of the ring lead to routers, and the forward port of a router leads to the
    /// backward port of the next router. The ring contains each router once, at its position. The error is a text about the fault.
    pub fn check(&self, graph: &Graph) -> Result<(), String> {
        let routers = graph.routers();
        let lengths = [self.forward.len(), self.backward.len(), self.place.len()];
        if let Some(length) = lengths.into_iter().find(|&length| length != routers as usize) {
            return Err(format!("the ring lists {length} routers; the network has {routers}"));
        }
        for router in 0..routers {
            self.check_at(graph, router)?;
        }
        let (mut at, mut visited) = (0, 0);
        while visited == 0 || at != 0 {
            if self.place[at as usize] != visited {
                let place = self.place[at as usize];
                return Err(format!("router {at} is {visited} hops after router 0, but its position is {place}"));
            }
            at = self.ends(graph, at)?.0;
            visited += 1;
        }
        match visited {
            all if all == routers => Ok(()),
            _ => Err(format!("the ring returns to router 0 after {visited} of {routers} routers")),
        }
    }

    /// Checks every ring, and checks that no two rings have a link in common. The error names the invalid ring, counted from 0.
    pub fn check_all(rings: &[Self], graph: &Graph) -> Result<(), String> {
        for (number, ring) in rings.iter().enumerate() {
            ring.check(graph).map_err(|what| format!("ring {number}: {what}"))?;
            for (other, before) in rings[..number].iter().enumerate() {
                let shares = |&router: &u32| {
                    let [own, next, last] =
                        [&ring.forward, &before.forward, &before.backward].map(|ports| ports[router as usize]);
                    own == next || own == last
                };
                if let Some(router) = (0..graph.routers()).find(shares) {
                    let port = ring.forward[router as usize];
                    return Err(format!("rings {other} and {number} share the link at port {port} of router {router}"));
                }
            }
        }
        Ok(())
    }

    /// Checks that the forward link of a router is the backward link of the next router. The forward link and the backward link of a router
    /// must be different links.
    fn check_at(&self, graph: &Graph, router: u32) -> Result<(), String> {
        let (next, landing) = self.ends(graph, router)?;
        let (forward, back) = (self.forward[router as usize], self.backward[next as usize]);
        if landing != back {
            return Err(format!(
                "the forward port {forward} of router {router} leads to port {landing} of router {next}, but the backward \
                 port of that router is {back}"
            ));
        }
        if forward == self.backward[router as usize] {
            return Err(format!("router {router} has one port, {forward}, for both directions of the ring"));
        }
        Ok(())
    }

    /// The router and port to which the forward port of a router leads.
    fn ends(&self, graph: &Graph, router: u32) -> Result<(u32, u16), String> {
        let port = self.forward[router as usize];
        match graph.ports(router).get(usize::from(port)).map(|port| port.peer) {
            Some(Peer::Router { router, port }) => Ok((router, port)),
            Some(Peer::Terminal(terminal)) => {
                Err(format!("port {port} of router {router} leads to terminal {terminal}"))
            }
            Some(Peer::Unused) => Err(format!("port {port} of router {router} is unused")),
            None => Err(format!("router {router} has no port {port}")),
        }
    }

    /// The ring that visits the routers in this order. The order begins with router 0. The error is the first pair of consecutive routers
    /// that no link joins.
    fn along(graph: &Graph, order: &[u32]) -> Result<Self, (u32, u32)> {
        let n = graph.routers() as usize;
        let mut ring = Self { forward: vec![0; n], backward: vec![0; n], place: vec![0; n] };
        for (place, &router) in order.iter().enumerate() {
            let next = order[(place + 1) % order.len()];
            let link = links_to(graph, router).find(|&(_, far, _)| far == next);
            let (out, _, landing) = link.ok_or((router, next))?;
            ring.forward[router as usize] = out;
            ring.backward[next as usize] = landing;
            ring.place[router as usize] = place as u32;
        }
        Ok(ring)
    }

    /// The physical ring through `routers` routers in label order. The ports of the ring are the same on every router: `port` (forward) and
    /// `port` + 1 (backward).
    pub(crate) fn of_wires(routers: u32, port: u16) -> Self {
        let n = routers as usize;
        Self { forward: vec![port; n], backward: vec![port + 1; n], place: (0..routers).collect() }
    }

    /// The two ports with which a router is part of a physical ring: to the next and to the previous router. `class`: the class of the link
    /// from a router to the next router.
    pub(crate) fn wires(routers: u32, port: u16, router: u32, class: impl Fn(u32) -> u8) -> [Port; 2] {
        let (next, last) = ((router + 1) % routers, (router + routers - 1) % routers);
        let to = |router, port, class| Port { peer: Peer::Router { router, port }, class };
        [to(next, port + 1, class(router)), to(last, port, class(last))]
    }
}

/// The links of a router that can be part of an embedded ring: (port, far router, far port). Links of physical rings are excluded, and only
/// the first link of each trunk is included.
fn links_to(graph: &Graph, router: u32) -> impl Iterator<Item = (u16, u32, u16)> + '_ {
    let rings = &graph.structure().rings;
    let own = move |port: u16| {
        let ports = rings.iter().flat_map(|ring| [ring.forward[router as usize], ring.backward[router as usize]]);
        ports.into_iter().any(|other| other == port)
    };
    (0..).zip(graph.ports(router)).filter_map(move |(number, port)| match port.peer {
        Peer::Router { router: far, port } => {
            let is_first = graph.trunk(router, number).first == number;
            (is_first && !own(number)).then_some((number, far, port))
        }
        Peer::Terminal(_) | Peer::Unused => None,
    })
}

fn refuse_few_routers(graph: &Graph, path: &str) -> Result<(), Refusal> {
    if graph.routers() >= LEAST_ROUTERS {
        return Ok(());
    }
    let what = format!(
        "a ring over links of the network needs at least {LEAST_ROUTERS} routers, but the network has {}",
        graph.routers()
    );
    Err(Refusal::new(path, what, "use more routers"))
}

/// The refusal of a ring in label order. The error names the missing link between two routers, and the networks that have this link.
fn no_link(graph: &Graph, from: u32, to: u32, path: &str) -> Refusal {
    let what = format!("a ring in label order needs a link from router {from} to router {to}, but it does not exist");
    let Some(why) = where_groups_are_joined(graph, from, to) else {
        let help = "use a network in which each router has a link to the next router, and the last router has a link to \
                    router 0: a full mesh, or a dragonfly with arrangement: palm_tree and the largest number of groups";
        return Refusal::new(path, what, help);
    };
    let help = "use arrangement: palm_tree and remove groups, so that the last router of each group has a link to the \
                first router of the next group; or give the ring its own links with escape_rings: 1";
    Refusal::new(path, format!("{what}: {why}"), help)
}

/// A clause for the refusal of `no_link`. The clause names the routers that are connected by the links between the groups of `from` and
/// `to`. `None` unless the network has complete groups whose arrangement does not connect these two routers.
fn where_groups_are_joined(graph: &Graph, from: u32, to: u32) -> Option<String> {
    let groups = graph.structure().groups.as_ref().filter(|groups| groups.complete.is_some())?;
    let (links, size) = (groups.global.as_ref()?, groups.run()?);
    let [i, j] = [from, to].map(|router| groups.places[router as usize].0);
    if i == j {
        return None;
    }
    let gateway = |i: u32, j: u32, copy: u32| {
        let k = links.arrangement.port_to(groups.count, i, j) + copy * (groups.count - 1);
        i * size + links.gateways[k as usize].0
    };
    let joined: Vec<_> = (0..links.per_pair()).map(|copy| (gateway(i, j, copy), gateway(j, i, copy))).collect();
    match joined[..] {
        _ if joined.contains(&(from, to)) => None,
        [(near, far)] => Some(format!("the link from group {i} to group {j} connects routers {near} and {far}")),
        _ => Some(format!("none of the {} links from group {i} to group {j} connects these routers", joined.len())),
    }
}

#[cfg(test)]
mod tests;
