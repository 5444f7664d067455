//! Hops on a dragonfly: a local link joins any two routers of a group, and global links join any two groups.

use super::{COPY, Draws, Hop, below, draw};
use weft_api::coordinates;
use weft_api::routing::Classes;
use weft_api::state::Packet;
use weft_topology::{Arrangement, Graph};

/// The groups of a dragonfly. The coordinates of a router are `group << 16 | index in the group`.
#[derive(Debug, Clone)]
pub struct Groups {
    pub groups: u32,
    pub per_group: u32,
    first_local: u16,
    arrangement: Arrangement,
    /// For each global port of a group: the router (its index in the group) and the output port. All groups number their global ports in
    /// the same way.
    gateway: Vec<(u16, u16)>,
    pub links_per_pair: u32,
    /// Number of link classes of the network.
    link_classes: usize,
    /// Link class of the local links (inside groups).
    local_class: usize,
    /// Link class of the global links (between groups).
    global_class: usize,
}

pub fn group(at: u64) -> u32 {
    (at >> 16) as u32
}

pub fn index(at: u64) -> u32 {
    (at & 0xffff) as u32
}

/// Returns the coordinates of all routers: group, and index in the group.
pub fn in_groups(graph: &Graph) -> Vec<u64> {
    coordinates::in_groups(graph).expect("a graph with groups")
}

impl Groups {
    /// Returns the groups of a dragonfly; the routers of a group have consecutive numbers. `None` if the graph is not a
    /// dragonfly.
    pub fn of(graph: &Graph) -> Option<Self> {
        let groups = graph.structure().groups.as_ref()?;
        let (local, global, _) = (groups.complete?, groups.global.as_ref()?, groups.run()?);
        let (router, port) = global.gateways[0];
        Some(Self {
            groups: groups.count,
            per_group: graph.routers() / groups.count,
            first_local: local.first_port,
            arrangement: global.arrangement,
            gateway: global.gateways.iter().map(|&(router, port)| (router as u16, port)).collect(),
            links_per_pair: global.per_pair(),
            link_classes: graph.class_names().len(),
            local_class: local.class.into(),
            global_class: graph.ports(router)[usize::from(port)].class.into(),
        })
    }

    /// Returns the number of VC classes per link class: `local` on links in a group, `global` on links between groups. Links of other link
    /// classes, such as those of escape rings, get one VC class, because every link must have one. Packets of dragonfly routings do not use
    /// it.
    pub fn vc_classes(&self, local: u8, global: u8) -> Classes {
        let mut classes = vec![1; self.link_classes];
        (classes[self.local_class], classes[self.global_class]) = (local, global);
        classes
    }

    /// Returns the index of the global port of group `from` that leads to group `to`. If several links lead there, the
    /// packet draws one.
    #[inline(always)]
    fn global_port(&self, from: u32, to: u32, packet: &Packet, seed: u64) -> u32 {
        let k = self.arrangement.port_to(self.groups, from, to);
        if self.links_per_pair == 1 {
            return k;
        }
        let copy = below(draw(seed, packet, COPY), self.links_per_pair);
        k + copy * (self.groups - 1)
    }

    /// The random choice that a packet makes once for its whole path: one of the parallel links between two groups.
    pub fn draws(&self) -> Draws {
        Draws { more_copies: self.links_per_pair - 1, ..Draws::default() }
    }

    /// Returns the router of group `from` (by its index in the group) that has a link to group `to`, and the port of this link.
    #[inline(always)]
    pub fn gateway_to(&self, from: u32, to: u32, packet: &Packet, seed: u64) -> (u16, u16) {
        self.gateway[self.global_port(from, to, packet, seed) as usize]
    }

    /// Returns the index of the first global port of a router, and the number of ports from the first global port to the last.
    pub fn global_ports(&self) -> (u16, u16) {
        let ports = || self.gateway.iter().map(|&(_, port)| port);
        ports().min().zip(ports().max()).map_or((0, 0), |(first, last)| (first, last - first + 1))
    }

    /// Link class of the global links.
    pub fn global_class(&self) -> usize {
        self.global_class
    }

    /// Index of the first local port of a router.
    pub fn first_local(&self) -> u16 {
        self.first_local
    }

    /// Number of global ports with a link, at the router with coordinates `at`. These ports come before its global
    /// ports without a link.
    #[inline(always)]
    pub fn wired_global_ports(&self, at: u64) -> u16 {
        let per_router = self.gateway.len() as u32 / self.per_group;
        let wired = self.links_per_pair * (self.groups - 1);
        wired.saturating_sub(index(at) * per_router).min(per_router) as u16
    }

    /// Returns the rank of a hop ([`Proof::Rises`](super::Proof::Rises)). It is for routings whose VC class is the number of global links
    /// that the packet has crossed. Ranks rise in this order: local links of class 0, global links of class 0, local links of class 1, and
    /// so on.
    pub fn rank(&self, hop: Hop) -> u32 {
        2 * u32::from(hop.class) + u32::from(!self.is_local(hop.port))
    }

    /// True if a port leads to another router of the group.
    #[inline(always)]
    pub fn is_local(&self, port: u16) -> bool {
        port >= self.first_local && u32::from(port - self.first_local) < self.per_group - 1
    }

    /// Returns the port of the next hop on the local-global-local path to router `to`, and true if the hop is global.
    /// `to` must not be `at`.
    #[inline(always)]
    pub fn hop(&self, at: u64, to: u64, packet: &Packet, seed: u64) -> (u16, bool) {
        let own = index(at);
        if group(at) == group(to) {
            return (self.local(own, index(to)), false);
        }
        let (router, port) = self.gateway_to(group(at), group(to), packet, seed);
        if u32::from(router) == own { (port, true) } else { (self.local(own, u32::from(router)), false) }
    }

    #[inline(always)]
    fn local(&self, own: u32, to: u32) -> u16 {
        self.first_local + (to - u32::from(to > own)) as u16
    }

    /// Number of hops of the local-global-local path from `a` to `b`.
    pub fn distance(&self, a: u64, b: u64, packet: &Packet, seed: u64) -> u32 {
        if group(a) == group(b) {
            return u32::from(a != b);
        }
        let out = self.gateway_to(group(a), group(b), packet, seed).0;
        let back = self.gateway_to(group(b), group(a), packet, seed).0;
        1 + u32::from(u32::from(out) != index(a)) + u32::from(u32::from(back) != index(b))
    }

    /// Number of hops of the path from `a` to `b` over the group `over`. This group must be neither the group of `a` nor the group of `b`.
    /// The path is local-global up to the router at which it enters this group, and then local-global-local.
    pub fn distance_over(&self, a: u64, over: u32, b: u64, packet: &Packet, seed: u64) -> u32 {
        let router = |from: u32, to: u32| u32::from(self.gateway_to(from, to, packet, seed).0);
        let out = router(group(a), over) != index(a);
        let across = router(over, group(a)) != router(over, group(b));
        let into = router(group(b), over) != index(b);
        2 + u32::from(out) + u32::from(across) + u32::from(into)
    }

    /// Returns the next hop to router `to`. Its VC class is the number of global links that the packet has crossed
    /// (`packet.lane`), plus `shift` if the hop is local.
    #[inline(always)]
    pub fn classed_hop(&self, at: u64, to: u64, shift: u8, packet: &mut Packet, seed: u64) -> Hop {
        let (port, global) = self.hop(at, to, packet, seed);
        let class = packet.lane + if global { 0 } else { shift };
        packet.lane += u8::from(global);
        Hop { port, class }
    }
}
