//! Dragonfly: groups of routers. In a group a local link joins every two routers, and at least one global link joins every two groups.
//!
//! # Source
//! J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA'08: parameters
//! a, p, h, g and the absolute arrangement (also BookSim's). Palm tree: C. Camarero, E. Vallejo, R. Beivide,
//! "Topological Characterization of Hamming and Dragonfly Networks and Its Implications on Routing", ACM TACO 11(4),
//! 2014; the default of FOGSim and CAMINOS. Relative: the paper of Camarero et al. Circulant: E. Hastings et al., "Comparing Global Link
//! Arrangements for Dragonfly Networks", CLUSTER'15; SST/macro. Escape rings: M. Garcia, E. Vallejo, R. Beivide, M. Odriozola, C. Camarero,
//! M. Valero, G. Rodriguez, J. Labarta, C. Minkenberg, "Bubble Flow Control in High-Radix Hierarchical Networks".
//!
//! # Parameters
//! `groups` g, `routers_per_group` a, `terminals_per_router` p, `global_links_per_router` h \[counts\], `arrangement`,
//! `trunk_width` \[links, by link class\], `escape_rings` \[rings\].
//!
//! # Guarantees
//! Router = group * a + index. Ports: p terminals; a - 1 local ports, as in [`CompleteGroups`]; h global ports; 2 ports for each escape
//! ring (to the next and the previous router). The ports of the other links of trunks follow. Global port j of router i of a group is port
//! p + a - 1 + j of the router, and global port i*h + j of the group. The number g is any number from 2 to a*h + 1. Every two groups are
//! joined by exactly L = floor(a*h / (g - 1)) links, as in [`GlobalLinks`]. With g = a*h + 1, each pair of groups has one link, and no port
//! is unused. Any two routers are at most 3 links apart. With the arrangement `circulant`, links join routers of the same index in their
//! groups, so h must be even. If L > 1, g - 1 must also be even.
//!
//! Each escape ring adds a link from every router to the router with the next number, and from the last router to router 0. The links of
//! the ring belong to two classes: `ring_local` (inside a group) and `ring_global` (from group to group, one for each group). These classes
//! exist only in networks with escape rings. The keys `links.ring_local` and `links.ring_global` set the latencies, VCs and buffers of
//! these classes. Distances, degrees and the bisection include the links of rings. Routings that use groups do not use links of rings, but
//! routings for any graph do. In a palm tree with g = a*h + 1 each link of a ring is parallel to another link, so distances do not change.
//! In other networks, links of rings between groups can shorten paths.
//!
//! # Not modelled
//! Groups that are not fully connected (Cascade's 2D groups), unequal groups.
//!
//! # Validation
//! `topology/tests/conformance.rs` checks counts and wiring, and compares diameter and mean distance with a search, for any number of
//! groups. `topology/tests/conformance.rs` also compares the routers and links of a = 8, p = h = 4 with the literature, and checks that
//! escape rings visit every router once. `topology/src/graph/arrangement.rs` compares the arrangements with their published formulas. Other
//! simulators: the rows `df1056` of `tests/data/golden/booksim.csv` (absolute) and `Dragonfly palmtree` of `tests/data/golden/caminos.csv`.
//! The arrangements `relative` and `circulant` have no rows.

use super::TopologyModel;
use super::global_links::GlobalPorts;
use crate::graph::{check_positive, check_size};
use crate::{
    Arrangement, CompleteGroups, GlobalLinks, Graph, GraphBuilder, Groups, Peer, Port, Ring, Structure, TrunkWidth,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Groups of fully connected routers; every two groups have at least one link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dragonfly {
    /// g: number of groups, 2 to a*h + 1 (the default: one link between every two groups).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u32>,
    /// a: routers in each group, 1 or more.
    pub routers_per_group: u32,
    /// p: terminals on each router, 1 or more.
    pub terminals_per_router: u32,
    /// h: global links of each router, 1 or more.
    pub global_links_per_router: u32,
    /// Rule that determines to which group each global port leads.
    #[serde(default)]
    pub arrangement: Arrangement,
    /// Number of parallel links that replace each link between routers, 1 or more: for all classes, or by link class.
    #[serde(default)]
    pub trunk_width: TrunkWidth,
    /// Number of escape rings. Each ring visits all routers in the order of their numbers. Each ring has separate links (of the classes
    /// `ring_local` and `ring_global`) and two ports on every router. The routing must use these rings.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub escape_rings: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl TopologyModel for Dragonfly {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        let g = self.checked_groups(path)?;
        let (a, p, h) = (self.routers_per_group, self.terminals_per_router, self.global_links_per_router);
        let gateways = (0..a * h).map(|k| (k / h, (p + a - 1 + k % h) as u16)).collect();
        let links = GlobalLinks { groups: g, arrangement: self.arrangement, gateways };
        let classes = ["local", "global", "ring_local", "ring_global"];
        let classes = if self.escape_rings == 0 { &classes[..2] } else { &classes };
        let ring_ports = (0..self.escape_rings).map(|ring| (p + a - 1 + h + 2 * ring) as u16);
        // at the last router of a group, the ring leads to the first router of the next group
        let ring_class = |router: u32| if router % a == a - 1 { 4 } else { 3 };
        let mut builder = GraphBuilder::new("dragonfly", classes.iter().copied());
        for router in 0..a * g {
            let terminals = router * p..(router + 1) * p;
            let terminals = terminals.map(|terminal| Port { peer: Peer::Terminal(terminal), class: 0 });
            let (group, own) = (router / a, router % a);
            let local = (0..a).filter(|&j| j != own).map(|j| {
                let port = p + if own < j { own } else { own - 1 };
                Port { peer: Peer::Router { router: group * a + j, port: port as u16 }, class: 1 }
            });
            let global = (own * h..(own + 1) * h).map(|k| Port { peer: links.peer(a, group, k), class: 2 });
            let rings = ring_ports.clone().flat_map(|port| Ring::wires(a * g, port, router, ring_class));
            builder.router(terminals.chain(local).chain(global).chain(rings));
        }
        let complete = Some(CompleteGroups { first_port: p as u16, class: 1 });
        builder.trunks(&self.trunk_width);
        let groups = Groups { complete, global: Some(links), ..Groups::in_a_row(g, a) };
        let rings = ring_ports.map(|port| Ring::of_wires(a * g, port)).collect();
        builder.build(Structure { rings, ..Structure::of_groups(groups) }, path)
    }

    fn examples() -> Vec<Self> {
        use Arrangement::{Absolute, Circulant, PalmTree, Relative};
        let new = |[a, p, h]: [u32; 3], groups, arrangement| Self {
            groups,
            routers_per_group: a,
            terminals_per_router: p,
            global_links_per_router: h,
            arrangement,
            trunk_width: TrunkWidth::default(),
            escape_rings: 0,
        };
        let mut examples = vec![new([1, 1, 1], None, PalmTree)];
        examples.extend([PalmTree, Absolute, Relative, Circulant].map(|arrangement| new([8, 4, 4], None, arrangement)));
        examples.extend([PalmTree, Circulant].map(|arrangement| new([4, 2, 2], None, arrangement)));
        // A group has 8 global ports. With 5 groups each pair of groups has 2 links. With 4 groups each pair also has 2 links, and 2 ports
        // are unused.
        for (groups, arrangements) in
            [(2, &[Absolute][..]), (4, &[PalmTree, Absolute, Relative]), (5, &[PalmTree, Circulant]), (8, &[Circulant])]
        {
            examples.extend(arrangements.iter().map(|&arrangement| new([4, 2, 2], Some(groups), arrangement)));
        }
        let mixed = TrunkWidth::ByClass([("local".to_owned(), 2), ("global".to_owned(), 3)].into());
        examples.push(Self { trunk_width: mixed, ..new([2, 2, 2], None, PalmTree) });
        // examples of escape rings: parallel to existing links, as shortcuts, with trunks, and in a network of two routers
        examples.push(Self { escape_rings: 1, ..new([4, 2, 2], None, PalmTree) });
        examples.push(Self { escape_rings: 2, ..new([4, 2, 2], Some(5), Absolute) });
        let wide = TrunkWidth::ByClass([("local".to_owned(), 2), ("ring_local".to_owned(), 3)].into());
        examples.push(Self { escape_rings: 1, trunk_width: wide, ..new([3, 1, 1], None, Relative) });
        examples.push(Self { escape_rings: 1, ..new([1, 1, 1], None, PalmTree) });
        examples
    }
}

impl Dragonfly {
    /// Checks all sizes, and returns the number of groups.
    fn checked_groups(&self, path: &str) -> Result<u32, Refusal> {
        let (a, p, h) = (self.routers_per_group, self.terminals_per_router, self.global_links_per_router);
        check_positive(&[("routers_per_group", a), ("terminals_per_router", p), ("global_links_per_router", h)], path)?;
        // The sum is computed in 64 bits, so three 32-bit keys cannot overflow. After the radix check, no later step can overflow.
        let of_rings = 2 * u64::from(self.escape_rings);
        let radix = u64::from(p) + u64::from(a - 1) + u64::from(h) + of_rings;
        let rings = if of_rings == 0 { String::new() } else { format!(" + {of_rings} links of escape rings") };
        check_size(1, radix, &format!("{p} terminals + {} local + {h} global links{rings}", a - 1), path)?;
        let keys = ["routers_per_group", "global_links_per_router"];
        let ports = GlobalPorts { routers: a, links: h, keys };
        let g = ports.groups(self.groups, path)?;
        check_size(u64::from(a) * u64::from(g), radix, "the sum", path)?;
        ports.check(self.arrangement, g, path)?;
        Ok(g)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dragonfly(a: u32, p: u32, h: u32, groups: Option<u32>, arrangement: Arrangement) -> Dragonfly {
        Dragonfly {
            groups,
            routers_per_group: a,
            terminals_per_router: p,
            global_links_per_router: h,
            arrangement,
            trunk_width: TrunkWidth::default(),
            escape_rings: 0,
        }
    }

    #[test]
    fn circulant_links_join_routers_of_the_same_index() {
        // With 9 groups each pair has one link; fewer groups are possible; with 5 groups each pair has 2 links.
        for groups in [9, 8, 7, 5] {
            let (a, p, h) = (4, 2, 2);
            let graph = dragonfly(a, p, h, Some(groups), Arrangement::Circulant).build("topology").unwrap();
            for link in graph.links().filter(|link| link.class == 2) {
                let [(near, _), (far, _)] = link.ends;
                assert_eq!(near % a, far % a);
            }
        }
        // Router r leads to the groups at distances r * h/2 + 1 ..= (r + 1) * h/2, up and down, as in the wiring of SST/macro.
        let graph = dragonfly(4, 1, 4, None, Arrangement::Circulant).build("topology").unwrap();
        let offsets = |router: u32| -> Vec<u32> {
            let global = graph.ports(router)[4..].iter();
            let group = |port: &Port| match port.peer {
                Peer::Router { router, .. } => router / 4,
                _ => panic!("no link"),
            };
            global.map(group).collect()
        };
        assert_eq!((offsets(0), offsets(1)), (vec![1, 16, 2, 15], vec![3, 14, 4, 13]));
    }

    #[test]
    fn circulant_refuses_what_it_cannot_pair() {
        let refusal = |h, groups| dragonfly(4, 2, h, groups, Arrangement::Circulant).build("topology").unwrap_err();
        let odd = "3 global links per router is an odd number, but circulant needs pairs of links: from group i to \
                   i + d and to i - d";
        assert_eq!(
            (refusal(3, None).path, refusal(3, None).what),
            ("topology.global_links_per_router".into(), odd.into())
        );
        let even = "4 groups with floor(4 x 2 / 3) = 2 links per pair of groups: circulant can't pair the 3 links from \
                    a group to the others";
        assert_eq!((refusal(2, Some(4)).path, refusal(2, Some(4)).what), ("topology.groups".into(), even.into()));
    }

    #[test]
    fn the_palm_tree_closes_a_ring_in_label_order() {
        for h in [2, 4, 6] {
            let (a, p) = (2 * h, h);
            let graph = dragonfly(a, p, h, None, Arrangement::PalmTree).build("topology").unwrap();
            let g = a * h + 1;
            for i in 0..g {
                // Port h-1 of router a-1 of group i leads to global port 0 of router 0 of group i+1.
                let last = graph.ports(i * a + a - 1)[(p + a - 1 + h - 1) as usize];
                let next = Peer::Router { router: (i + 1) % g * a, port: (p + a - 1) as u16 };
                assert_eq!(last.peer, next);
            }
        }
    }

    #[test]
    fn a_scenario_without_escape_rings_is_written_as_before_there_were_any() {
        let mut config = dragonfly(4, 2, 2, None, Arrangement::PalmTree);
        let plain = serde_json::to_string(&config).unwrap();
        assert!(!plain.contains("escape_rings"), "{plain}");
        config.escape_rings = 1;
        assert_eq!(serde_json::to_string(&config).unwrap(), plain.replace('}', r#","escape_rings":1}"#));
    }

    #[test]
    fn escape_rings_come_behind_all_other_ports() {
        let plain = dragonfly(4, 2, 2, None, Arrangement::PalmTree);
        let rings = Dragonfly { escape_rings: 2, ..plain.clone() }.build("topology").unwrap();
        let plain = plain.build("topology").unwrap();
        assert_eq!(rings.class_names(), ["terminal", "local", "global", "ring_local", "ring_global"]);
        assert_eq!(plain.class_names(), ["terminal", "local", "global"]);
        for router in 0..plain.routers() {
            assert_eq!(rings.ports(router)[..7], *plain.ports(router));
            // ports: 2 terminals, 3 local and 2 global links, then the forward and backward port of each ring
            let (next, last) = ((router + 1) % 36, (router + 35) % 36);
            let of_rings: Vec<Peer> = rings.ports(router)[7..].iter().map(|port| port.peer).collect();
            let to = |router, port| Peer::Router { router, port };
            assert_eq!(of_rings, [to(next, 8), to(last, 7), to(next, 10), to(last, 9)]);
            let classes: Vec<u8> = rings.ports(router)[7..9].iter().map(|port| port.class).collect();
            assert_eq!(classes, [if router % 4 == 3 { 4 } else { 3 }, if router % 4 == 0 { 4 } else { 3 }]);
        }
        // in the palm tree, links of a ring are parallel to other links, so no ring shortens a path
        assert_eq!((rings.mean_distance(), rings.diameter()), (plain.mean_distance(), 3));
        let absolute = dragonfly(4, 2, 2, None, Arrangement::Absolute);
        let with_ring = Dragonfly { escape_rings: 1, ..absolute.clone() }.build("topology").unwrap();
        assert!(with_ring.mean_distance() < absolute.build("topology").unwrap().mean_distance());
    }

    #[test]
    fn refuses_with_the_arithmetic() {
        let refusal =
            |a, p, h, groups| dragonfly(a, p, h, groups, Arrangement::PalmTree).build("topology").unwrap_err();
        let too_many = refusal(4, 1, 1, Some(9));
        assert_eq!(too_many.path, "topology.groups");
        assert_eq!(too_many.what, "9 groups need 8 global links per group; 4 routers x 1 links give 4");
        assert_eq!(refusal(4, 2, 2, Some(1)).what, "the number of groups is 1, not 2 to 9");
        assert_eq!(refusal(0, 2, 2, None).path, "topology.routers_per_group");
        assert_eq!(refusal(u32::MAX, u32::MAX, u32::MAX, None).path, "topology");
        assert!(
            refusal(64, 410, 40, None).what.starts_with("410 terminals + 63 local + 40 global links gives 513 ports")
        );
        for (rings, sum) in
            [(253, "506 links of escape rings gives 513"), (u32::MAX, "8589934590 links of escape rings")]
        {
            let plain = dragonfly(4, 2, 2, None, Arrangement::PalmTree);
            let refusal = Dragonfly { escape_rings: rings, ..plain }.build("topology").unwrap_err();
            assert!(refusal.what.starts_with(&format!("2 terminals + 3 local + 2 global links + {sum}")), "{refusal}");
        }
    }
}
