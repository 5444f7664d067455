//! Subnetworks: sets of routers that are all neighbours of each other. For example, the rows and columns of a flattened butterfly are
//! subnetworks, and so are the groups of a dragonfly. This file also has the link-state tables, in which each router stores its information
//! about the links of its subnetworks.

use crate::base::kept::Kept;
use weft_topology::{Graph, Line, Structure};
use weft_units::Refusal;

/// Maximum number of routers in a subnetwork, because a word of this number of bits stores the links of a router in a subnetwork.
pub const MOST: u32 = 64;
/// The number of members of a subnetwork is stored in a byte, and larger numbers are stored as this one. This number is larger than `MOST`,
/// so Weft refuses such subnetworks anyway.
const MANY: u32 = 255;

/// The part of a packet's path inside one subnetwork `d`, from member `own` to member `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leg {
    pub d: usize,
    pub own: u8,
    pub to: u8,
    /// Index of this leg among the legs of the packet, plus 1. The packet stores this number in `dim`.
    pub number: u8,
    /// The first VC class that the leg uses.
    pub class: u8,
}

/// The subnetworks that routers belong to: one per dimension of a HyperX, one (the group) in a dragonfly. The coordinate of a router in a
/// subnetwork is its member number. A router's ports to the other members have consecutive numbers, in the order of the members.
#[derive(Debug, Clone)]
pub struct Subnets {
    /// Number of subnetworks that each router belongs to.
    pub count: usize,
    pub widths: [u8; 8],
    /// For each subnetwork, a router's first port to another member.
    ports: [u16; 8],
    /// For each subnetwork, the position [bits] of the member number in the coordinates of a router.
    shifts: [u8; 8],
    /// For each subnetwork, the difference between the router numbers of members c and c + 1.
    pub strides: [u32; 8],
    /// For each subnetwork, the link class of its links.
    pub classes: [u8; 8],
    /// For each subnetwork, the index of its first row in [`Views`].
    offsets: [u16; 8],
}

impl Subnets {
    /// The subnetworks of a topology; `None` if it has none, or if routers have several links to the same neighbour (trunks). Trunks are
    /// excluded, because a link-state table has only one bit for two routers, and both ends of a link must agree on it.
    pub fn of(graph: &Graph) -> Option<Self> {
        let (graph, planes) = (graph.plane(), graph.planes());
        let mut nets = Self {
            count: 0,
            widths: [1; 8],
            ports: [0; 8],
            shifts: [0; 8],
            strides: [1; 8],
            classes: [0; 8],
            offsets: [0; 8],
        };
        let Structure { grid, groups, .. } = graph.structure();
        if let Some(grid) = grid {
            let mut stride = planes;
            for (d, dimension) in grid.dimensions.iter().enumerate() {
                if dimension.line != Line::Complete {
                    return None;
                }
                nets.add(dimension.width, dimension.first_port.into(), 8 * d as u8, stride, dimension.class);
                stride *= dimension.width;
            }
        } else {
            let groups = groups.as_ref()?;
            let complete = groups.complete?;
            nets.add(graph.routers() / groups.count, complete.first_port.into(), 0, planes, complete.class);
        }
        let has_trunk = |&class: &u8| graph.trunk_width(class) > 1;
        (!nets.classes[..nets.count].iter().any(has_trunk)).then_some(nets)
    }

    fn add(&mut self, width: u32, port: u32, shift: u8, stride: u32, class: u8) {
        let d = self.count;
        self.widths[d] = width.min(MANY) as u8;
        (self.ports[d], self.shifts[d], self.strides[d], self.classes[d]) = (port as u16, shift, stride, class);
        self.offsets[d] = if d == 0 { 0 } else { self.offsets[d - 1] + u16::from(self.widths[d - 1]) };
        self.count += 1;
    }

    /// Number of members of the largest subnetwork.
    pub fn widest(&self) -> u8 {
        self.widths[..self.count].iter().copied().max().unwrap_or(1)
    }

    /// Refuses subnetworks with more members than bits in a word. `who` and `path` are for the message.
    pub fn check(&self, who: &str, path: &str) -> Result<(), Refusal> {
        match self.widths[..self.count].iter().find(|&&width| u32::from(width) > MOST) {
            None => Ok(()),
            Some(width) => Err(Refusal::new(
                path,
                format!(
                    "{who} stores the links of a subnetwork in words of {MOST} bits, but one subnetwork has {width} \
                     routers{}",
                    if u32::from(*width) == MANY { " or more" } else { "" }
                ),
                format!("choose a topology with at most {MOST} routers per dimension or group"),
            )),
        }
    }

    /// Member number in subnetwork `d` of the router with coordinates `at`.
    #[inline(always)]
    pub fn member(&self, at: u64, d: usize) -> u8 {
        (at >> self.shifts[d]) as u8
    }

    /// The port of member `own` of subnetwork `d` that leads to member `c`.
    #[inline(always)]
    pub fn port_to(&self, d: usize, own: u8, c: u8) -> u16 {
        self.ports[d] + u16::from(c) - u16::from(c > own)
    }

    /// The router number of member `c` of subnetwork `d`. The number follows from router `router`, which is member
    /// `own` of the same subnetwork.
    pub fn router(&self, router: u32, d: usize, own: u8, c: u8) -> u32 {
        router - u32::from(own) * self.strides[d] + u32::from(c) * self.strides[d]
    }

    /// The subnetwork in which routers `a` and `b` have a link, and their member numbers in it; `None` if they have no such link.
    pub fn link(&self, coords: &[u64], a: u32, b: u32) -> Option<(usize, u8, u8)> {
        let (at, to) = (*coords.get(a as usize)?, *coords.get(b as usize)?);
        (0..self.count).find_map(|d| {
            let (own, c) = (self.member(at, d), self.member(to, d));
            (own != c && self.router(a, d, own, c) == b).then_some((d, own, c))
        })
    }

    /// The subnetwork of output `port`, and the member to which the port leads. `own` returns the router's member
    /// number in a subnetwork.
    #[inline(always)]
    pub fn behind(&self, port: u16, own: impl Fn(usize) -> u8) -> Option<(usize, u8)> {
        (0..self.count).find_map(|d| {
            let k = port.checked_sub(self.ports[d]).filter(|&k| k + 1 < self.widths[d].into())? as u8;
            Some((d, k + u8::from(k >= own(d))))
        })
    }

    /// All members of subnetwork `d` except `own`, in ascending order.
    pub fn others(&self, d: usize, own: u8) -> impl Iterator<Item = u8> + use<> {
        (0..self.widths[d]).filter(move |&c| c != own)
    }

    /// A mask with a bit for every member of subnetwork `d`.
    pub fn all(&self, d: usize) -> u64 {
        u64::MAX >> (64 - u32::from(self.widths[d]))
    }

    /// Length of a table with an entry for each pair of members, over all subnetworks; [`Self::pair`] returns the index of an entry.
    pub fn pairs(&self) -> usize {
        self.widths[..self.count].iter().map(|&width| usize::from(width).pow(2)).sum()
    }

    pub fn pair(&self, d: usize, a: u8, b: u8) -> usize {
        let before: usize = self.widths[..d].iter().map(|&width| usize::from(width).pow(2)).sum();
        before + usize::from(a.min(b)) * usize::from(self.widths[d]) + usize::from(a.max(b))
    }

    fn rows(&self) -> usize {
        self.widths[..self.count].iter().map(|&width| usize::from(width)).sum()
    }
}

/// The link-state tables of all routers in a block. The table of a router has a row for each member of its subnetworks. The row lists the
/// member's active links, according to the last control packets about these links. The rows about the router's own links are always
/// correct.
#[derive(Debug, Clone, Kept)]
pub struct Views {
    #[kept(each)]
    rows: Vec<u64>,
    #[kept(fixed)]
    per_router: usize,
    /// A number for each subnetwork of each router. If all links are active in the router's table, this is the number of members over which
    /// a detour between two members can lead; otherwise 0.
    #[kept(each)]
    among_all: Vec<u8>,
    /// For each subnetwork of each router: the hub, and the member that will be the next hub (if no change is planned, the hub itself).
    #[kept(each)]
    hubs: Vec<u8>,
    #[kept(fixed)]
    nets: usize,
}

impl Views {
    /// Tables in which all links are active and the hub of every subnetwork is member number `hub`.
    pub fn new(nets: &Subnets, routers: usize, hub: u8) -> Self {
        let of_net = |d: usize| (0..nets.widths[d]).map(move |c| nets.all(d) & !(1 << c));
        let one: Vec<u64> = (0..nets.count).flat_map(of_net).collect();
        Self {
            per_router: nets.rows(),
            rows: one.repeat(routers),
            among_all: nets.widths.map(|width| width.saturating_sub(2))[..nets.count].repeat(routers),
            hubs: vec![hub; 2 * nets.count * routers],
            nets: nets.count,
        }
    }

    /// Empty tables, for a network whose routing does not read link states.
    pub fn none() -> Self {
        Self { rows: Vec::new(), per_router: 0, among_all: Vec::new(), hubs: Vec::new(), nets: 0 }
    }

    /// The table of router number `r` of the block.
    #[inline(always)]
    pub fn of(&self, r: usize) -> LinkTable<'_> {
        LinkTable { views: self, r }
    }

    /// Records at router `r` the hub of its subnetwork `d`, and the member that will be the next hub.
    pub fn set_hub(&mut self, r: usize, d: usize, hub: u8, next: u8) {
        let k = 2 * (r * self.nets + d);
        (self.hubs[k], self.hubs[k + 1]) = (hub, next);
    }

    /// Records at router `r` whether the link between members `a` and `b` of subnetwork `d` is active.
    pub fn set(&mut self, nets: &Subnets, r: usize, d: usize, (a, b): (u8, u8), active: bool) {
        let base = r * self.per_router + usize::from(nets.offsets[d]);
        if (self.rows[base + usize::from(a)] >> b & 1 != 0) == active {
            return;
        }
        for (from, to) in [(a, b), (b, a)] {
            let row = &mut self.rows[base + usize::from(from)];
            *row = if active { *row | 1 << to } else { *row & !(1 << to) };
        }
        let rows = &self.rows[base..base + usize::from(nets.widths[d])];
        let all = active && (0..).zip(rows).all(|(c, &row)| row == nets.all(d) & !(1 << c));
        self.among_all[r * self.nets + d] = if all { nets.widths[d].saturating_sub(2) } else { 0 };
    }
}

/// The link-state table of one router.
#[derive(Debug, Clone, Copy)]
pub struct LinkTable<'a> {
    views: &'a Views,
    /// Index of the router in the block.
    r: usize,
}

impl LinkTable<'_> {
    /// Mask of the members of subnetwork `d` to which member `c` has an active link.
    #[inline(always)]
    pub fn row(&self, nets: &Subnets, d: usize, c: u8) -> u64 {
        self.views.rows[self.r * self.views.per_router + usize::from(nets.offsets[d]) + usize::from(c)]
    }

    /// Number of members over which a detour between two members of subnetwork `d` can lead, if all its links are active; otherwise 0.
    #[inline(always)]
    pub fn ways_among_all(&self, d: usize) -> u8 {
        self.views.among_all[self.r * self.views.nets + d]
    }

    /// The hub of subnetwork `d`: the member that has links to all other members.
    #[inline(always)]
    pub fn hub(&self, d: usize) -> u8 {
        self.views.hubs[2 * (self.r * self.views.nets + d)]
    }

    /// The member of subnetwork `d` that will be the next hub after links have failed; otherwise the present hub.
    pub fn next_hub(&self, d: usize) -> u8 {
        self.views.hubs[2 * (self.r * self.views.nets + d) + 1]
    }

    /// Mask of the members of subnetwork `d` over which a packet can go from `own` to `to` in two hops.
    #[inline(always)]
    pub fn between(&self, nets: &Subnets, d: usize, own: u8, to: u8) -> u64 {
        self.row(nets, d, own) & self.row(nets, d, to)
    }
}

#[cfg(test)]
mod tests {
    use super::{Subnets, Views};
    use weft_topology::{Peer, TopologyConfig};

    fn nets(yaml: serde_json::Value) -> (Subnets, weft_topology::Graph) {
        let config: TopologyConfig = serde_json::from_value(yaml).expect("a topology");
        let graph = config.build("topology").expect("it can be built");
        (Subnets::of(&graph).expect("it has subnetworks"), graph)
    }

    #[test]
    fn ports_lead_to_the_members_they_are_named_after() {
        let hyperx = serde_json::json!({"hyperx": {"widths": [3, 5, 2], "terminals_per_router": 2}});
        let dragonfly = serde_json::json!({"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}});
        for (topology, of) in [(hyperx, true), (dragonfly, false)] {
            let (nets, graph) = nets(topology);
            let coords = crate::coordinates::of_all(&graph);
            for r in 0..graph.routers() {
                for d in 0..nets.count {
                    let own = nets.member(coords[r as usize], d);
                    for c in nets.others(d, own) {
                        let port = nets.port_to(d, own, c);
                        let there = nets.router(r, d, own, c);
                        let peer = graph.ports(r)[port as usize];
                        assert!(
                            matches!(peer.peer, Peer::Router { router, .. } if router == there),
                            "{of} {r} {d} {c}"
                        );
                        assert_eq!(peer.class, nets.classes[d]);
                        assert_eq!(nets.member(coords[there as usize], d), c);
                        let back = nets.behind(port, |d| nets.member(coords[r as usize], d));
                        assert_eq!(back, Some((d, c)));
                    }
                }
                assert_eq!(nets.behind(0, |_| 0), None, "a terminal");
            }
        }
    }

    #[test]
    fn views_know_the_ways_over_one_other_member() {
        let (nets, graph) = nets(serde_json::json!({"hyperx": {"widths": [4, 64], "terminals_per_router": 1}}));
        let mut views = Views::new(&nets, graph.routers() as usize, 0);
        assert_eq!(views.of(7).between(&nets, 0, 1, 3), 0b0101);
        assert_eq!(views.of(7).between(&nets, 1, 0, 63), !(1 | 1 << 63));
        views.set(&nets, 7, 0, (0, 3), false);
        assert_eq!(views.of(7).between(&nets, 0, 1, 3), 0b0100);
        assert_eq!(views.of(6).between(&nets, 0, 1, 3), 0b0101, "only router 7 has heard of it");
        views.set(&nets, 7, 0, (3, 0), true);
        assert_eq!(views.of(7).between(&nets, 0, 1, 3), 0b0101);
    }

    #[test]
    fn views_know_whether_all_links_are_active() {
        let (nets, graph) = nets(serde_json::json!({"hyperx": {"widths": [4, 2, 64], "terminals_per_router": 1}}));
        let mut views = Views::new(&nets, graph.routers() as usize, 0);
        let ways = |views: &Views, r| [0, 1, 2].map(|d| views.of(r).ways_among_all(d));
        assert_eq!(ways(&views, 7), [2, 0, 62], "between two there is only the direct way");
        for link in [(0, 3), (1, 2)] {
            views.set(&nets, 7, 0, link, false);
        }
        views.set(&nets, 7, 0, (0, 3), true);
        assert_eq!((ways(&views, 7), ways(&views, 6)), ([0, 0, 62], [2, 0, 62]), "one is still missing, at router 7");
        views.set(&nets, 7, 0, (2, 1), true);
        assert_eq!(ways(&views, 7), [2, 0, 62]);
    }
}
