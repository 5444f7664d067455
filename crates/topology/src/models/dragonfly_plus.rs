//! Dragonfly+ (Megafly): groups of leaf and spine routers. Leaves have the terminals, and spines have the global links.
//!
//! # Source
//! A. Shpiner, Z. Haramaty, S. Eliad, V. Zdornov, B. Gafni, E. Zahavi, "Dragonfly+: Low Cost Topology for Scaling
//! Datacenters", HiPINEB'17; M. Flajslik, E. Borch, M. A. Parker, "Megafly: A Topology for Exascale Systems", ISC'18.
//! Arrangements: those of `dragonfly`, over the spines of a group.
//!
//! # Parameters
//! `groups` g \[groups\], `leaves_per_group` \[routers\], `spines_per_group` \[routers\], `terminals_per_leaf` p
//! \[terminals\], `global_links_per_spine` h \[links\], `arrangement`, `trunk_width` \[links, by link class\].
//!
//! # Guarantees
//! Router = group * (leaves + spines) + index. In each group the leaves come first, then the spines. Every leaf has one link to every spine
//! of its group. Ports of a leaf: p terminals; then port p + s leads to spine s. Ports of a spine: port l leads to leaf l; then h global
//! ports (leaves + j). Global port j of spine s is global port s*h + j of its group. The ports of the other links of trunks follow.
//! Terminal id = leaf * p + port, with leaves numbered from 0 over all groups. The number g is any number from 2 to spines*h + 1. Every two
//! groups are joined by exactly floor(spines*h / (g - 1)) links, as in [`GlobalLinks`]. Leaves of a group are 2 links apart, and leaves of
//! different groups 3 links. Any two routers are at most 5 links apart. With circulant links, h must be even. If a pair of groups has more
//! than one circulant link, g - 1 must also be even.
//!
//! # Not modelled
//! Links between spines of a group, unequal groups.
//!
//! # Validation
//! `topology/tests/conformance.rs` checks counts, groups, levels and global links against the wiring, and compares distances with a
//! search. The tests of this file check the wiring of a small network by hand, distances between leaves, and the size for routers of 36
//! ports. `engine/tests/topologies.rs` checks the load of a global link. `engine/tests/theory.rs` checks the latency without contention
//! to the cycle. No other simulator was compared.

use super::TopologyModel;
use super::global_links::GlobalPorts;
use crate::graph::{check_positive, check_size};
use crate::{Arrangement, GlobalLinks, Graph, GraphBuilder, Groups, Layer, Levels, Peer, Port, Structure, TrunkWidth};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Groups of leaf routers with terminals and spine routers with global links, every two groups joined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DragonflyPlus {
    /// g: number of groups, 2 to spines*h + 1 (the default: one link between every two groups).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u32>,
    /// Leaf routers in each group, 1 or more.
    pub leaves_per_group: u32,
    /// Spine routers in each group, 1 or more.
    pub spines_per_group: u32,
    /// p: terminals on each leaf router, 1 or more.
    pub terminals_per_leaf: u32,
    /// h: global links of each spine router, 1 or more.
    pub global_links_per_spine: u32,
    /// Rule that determines to which group each global port leads.
    #[serde(default)]
    pub arrangement: Arrangement,
    /// Number of parallel links that replace each link between routers, 1 or more: for all classes, or by link class.
    #[serde(default)]
    pub trunk_width: TrunkWidth,
}

impl TopologyModel for DragonflyPlus {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        let g = self.checked_groups(path)?;
        let (leaves, spines) = (self.leaves_per_group, self.spines_per_group);
        let (size, h) = (leaves + spines, self.global_links_per_spine);
        let gateways = (0..spines * h).map(|k| (leaves + k / h, (leaves + k % h) as u16)).collect();
        let links = GlobalLinks { groups: g, arrangement: self.arrangement, gateways };
        let mut builder = GraphBuilder::new("dragonfly_plus", ["local", "global"]);
        for group in 0..g {
            (0..leaves).for_each(|leaf| builder.router(self.leaf_ports(group, leaf)));
            (0..spines).for_each(|spine| builder.router(self.spine_ports(&links, group, spine)));
        }
        let level = |router: u32| u32::from(router % size >= leaves);
        let on = |wanted: u32| (0..g * size).filter(move |&router| level(router) == wanted).collect();
        for (name, routers, classes) in [("leaf", on(0), vec![0, 1]), ("spine", on(1), vec![1, 2])] {
            builder.layer(Layer { name: name.to_owned(), routers, classes, structure: Structure::default() });
        }
        builder.trunks(&self.trunk_width);
        let groups = Groups { global: Some(links), ..Groups::in_a_row(g, size) };
        let levels = Levels { count: 2, of_router: (0..g * size).map(level).collect(), tree: None };
        builder.build(Structure { groups: Some(groups), levels: Some(levels), ..Structure::default() }, path)
    }

    fn examples() -> Vec<Self> {
        use Arrangement::{Absolute, Circulant, PalmTree, Relative};
        let new = |[leaves, spines, p, h]: [u32; 4], groups, arrangement| Self {
            groups,
            leaves_per_group: leaves,
            spines_per_group: spines,
            terminals_per_leaf: p,
            global_links_per_spine: h,
            arrangement,
            trunk_width: TrunkWidth::default(),
        };
        let mixed = TrunkWidth::ByClass([("local".to_owned(), 3)].into());
        vec![
            new([1, 1, 1, 1], None, PalmTree),
            new([3, 2, 2, 2], None, PalmTree),
            new([4, 4, 4, 4], None, Absolute),
            new([2, 3, 1, 1], None, Relative),
            new([2, 2, 2, 2], None, Circulant),
            // A group has 6 global ports. With 3 groups each pair has 2 links and 2 ports are unused; with 5 groups each pair has 1 link
            // and 2 ports are unused.
            new([2, 3, 2, 2], Some(3), PalmTree),
            new([3, 3, 1, 2], Some(5), Absolute),
            Self { trunk_width: mixed, ..new([2, 2, 2, 1], None, PalmTree) },
        ]
    }
}

impl DragonflyPlus {
    fn leaf_ports(&self, group: u32, leaf: u32) -> impl Iterator<Item = Port> {
        let (leaves, spines, p) = (self.leaves_per_group, self.spines_per_group, self.terminals_per_leaf);
        let first = (group * leaves + leaf) * p;
        let terminals = (first..first + p).map(|terminal| Port { peer: Peer::Terminal(terminal), class: 0 });
        terminals.chain((0..spines).map(move |spine| {
            let router = group * (leaves + spines) + leaves + spine;
            Port { peer: Peer::Router { router, port: leaf as u16 }, class: 1 }
        }))
    }

    fn spine_ports<'a>(&self, links: &'a GlobalLinks, group: u32, spine: u32) -> impl Iterator<Item = Port> + use<'a> {
        let (size, h) = (self.leaves_per_group + self.spines_per_group, self.global_links_per_spine);
        let port = (self.terminals_per_leaf + spine) as u16;
        let down = (0..self.leaves_per_group)
            .map(move |leaf| Port { peer: Peer::Router { router: group * size + leaf, port }, class: 1 });
        down.chain((spine * h..(spine + 1) * h).map(move |k| Port { peer: links.peer(size, group, k), class: 2 }))
    }

    /// Checks all sizes, and returns the number of groups.
    fn checked_groups(&self, path: &str) -> Result<u32, Refusal> {
        let (leaves, spines) = (self.leaves_per_group, self.spines_per_group);
        let (p, h) = (self.terminals_per_leaf, self.global_links_per_spine);
        let positive = [
            ("leaves_per_group", leaves),
            ("spines_per_group", spines),
            ("terminals_per_leaf", p),
            ("global_links_per_spine", h),
        ];
        check_positive(&positive, path)?;
        // The sums are computed in 64 bits, so 32-bit keys cannot overflow. After the radix checks, no later step can overflow.
        let of_leaf = u64::from(p) + u64::from(spines);
        check_size(1, of_leaf, &format!("a leaf router: {p} terminals + {spines} spines"), path)?;
        let of_spine = u64::from(leaves) + u64::from(h);
        check_size(1, of_spine, &format!("a spine router: {leaves} leaves + {h} global links"), path)?;
        let keys = ["spines_per_group", "global_links_per_spine"];
        let ports = GlobalPorts { routers: spines, links: h, keys };
        let g = ports.groups(self.groups, path)?;
        check_size(u64::from(leaves + spines) * u64::from(g), of_leaf.max(of_spine), "the sum", path)?;
        ports.check(self.arrangement, g, path)?;
        Ok(g)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new([leaves, spines, p, h]: [u32; 4], groups: Option<u32>, arrangement: Arrangement) -> DragonflyPlus {
        DragonflyPlus {
            groups,
            leaves_per_group: leaves,
            spines_per_group: spines,
            terminals_per_leaf: p,
            global_links_per_spine: h,
            arrangement,
            trunk_width: TrunkWidth::default(),
        }
    }

    #[test]
    fn three_groups_are_wired_by_hand() {
        // Group 0 has leaves 0 and 1 and spines 2 and 3; groups 1 and 2 begin at 4 and 8. Each spine has one global link.
        let graph = new([2, 2, 1, 1], None, Arrangement::Absolute).build("topology").unwrap();
        let peers = |router| graph.ports(router).iter().map(|port| port.peer).collect::<Vec<_>>();
        let to = |router, port| Peer::Router { router, port };
        // Leaf 1 of group 1 has terminal 3, then links to port 1 of spines 6 and 7.
        assert_eq!(peers(5), [Peer::Terminal(3), to(6, 1), to(7, 1)]);
        // Spine 0 of group 1 has global port 0 of the group, which leads to group 0. The link of this port ends at global port 0 of group
        // 0: spine 2, port 2.
        assert_eq!(peers(6), [to(4, 1), to(5, 1), to(2, 2)]);
        // Spine 1 of group 1 has global port 1. Global port 1 leads to group 2, whose global port 1 is on spine 11.
        assert_eq!(peers(7), [to(4, 2), to(5, 2), to(11, 2)]);
        assert_eq!(
            graph.layers().iter().map(|layer| layer.name.as_str()).collect::<Vec<_>>(),
            ["network", "leaf", "spine"]
        );
        assert_eq!((graph.terminals_per_router(), graph.terminals_per_group()), (None, Some(2)));
        assert_eq!(graph.structure().grain(), 4);
    }

    #[test]
    fn leaves_are_three_links_apart_at_most() {
        for config in DragonflyPlus::examples() {
            let graph = config.build("topology").unwrap();
            let leaves = &graph.layers()[1].routers;
            let size = config.leaves_per_group + config.spines_per_group;
            for &from in leaves {
                let distances = graph.distances_from(from);
                for &to in leaves.iter().filter(|&&to| to != from) {
                    assert_eq!(distances[to as usize], if from / size == to / size { 2 } else { 3 }, "{config:?}");
                }
            }
            assert!(graph.diameter() <= 5);
        }
    }

    #[test]
    fn routers_of_36_ports_join_105300_terminals() {
        // With routers of 36 ports, half of which lead down: 18 leaves, spines and global links give 18^2 + 1 groups of 18^2 terminals.
        let graph = new([18, 18, 18, 18], None, Arrangement::PalmTree).build("topology").unwrap();
        assert_eq!((graph.terminals(), graph.routers(), graph.radix()), (105_300, 325 * 36, 36));
    }

    #[test]
    fn refuses_with_the_arithmetic() {
        let refusal = |sizes, groups| new(sizes, groups, Arrangement::PalmTree).build("topology").unwrap_err();
        assert_eq!(refusal([2, 0, 1, 1], None).path, "topology.spines_per_group");
        let wide = refusal([2, 100, 413, 1], None).what;
        assert!(wide.starts_with("a leaf router: 413 terminals + 100 spines gives 513 ports per router"), "{wide}");
        let wide = refusal([100, 2, 1, 413], None).what;
        assert!(wide.starts_with("a spine router: 100 leaves + 413 global links gives 513 ports per router"), "{wide}");
        let many = refusal([2, 2, 1, 1], Some(4));
        assert_eq!(many.what, "4 groups need 3 global links per group; 2 routers x 1 links give 2");
        assert_eq!(many.help, "use 2 to 3 groups, or change spines_per_group or global_links_per_spine");
        let circulant = new([2, 2, 1, 1], None, Arrangement::Circulant).build("topology").unwrap_err();
        assert_eq!(circulant.path, "topology.global_links_per_spine");
    }
}
