//! Dragonfly: groups of fully connected routers, every two groups joined by at least one global link.
//!
//! # Source
//! J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA'08: parameters
//! a, p, h, g and the absolute arrangement (also BookSim's). Palm tree: C. Camarero, E. Vallejo, R. Beivide,
//! "Topological Characterization of Hamming and Dragonfly Networks and Its Implications on Routing", ACM TACO 11(4),
//! 2014; the default of FOGSim and CAMINOS. Relative: the same paper. Circulant: E. Hastings et al., "Comparing Global
//! Link Arrangements for Dragonfly Networks", CLUSTER'15; SST/macro.
//!
//! # Parameters
//! `groups` g, `routers_per_group` a, `terminals_per_router` p, `global_links_per_router` h \[counts\], `arrangement`.
//!
//! # Guarantees
//! Numbering as in [`Shape::Dragonfly`]. Any g from 2 to a*h + 1: every two groups are joined by exactly
//! L = floor(a*h / (g - 1)) links ([`links_per_pair`]). Global port k (of the a*h of a group) with k < L*(g - 1) is
//! port k mod (g - 1) of copy k / (g - 1), and each copy is wired by the arrangement as if it were alone; ports from
//! L*(g - 1) on are unused. With g = a*h + 1 there is one copy and no unused port. Any two routers are at most 3 links
//! apart. Circulant links join routers of the same index: h is even, and so is g - 1 where L > 1.
//!
//! # Not modelled
//! Groups that are not fully connected (Cascade's 2D groups), unequal groups.
//!
//! # Validation
//! `topology/tests/conformance.rs`: counts, wiring, diameter and mean distance against search for any number of groups;
//! routers and links of a = 8, p = h = 4 against the literature. The tests of this file: arrangements against their
//! published formulas. Peers: the rows `df1056` of `tests/data/golden/booksim.csv` (absolute) and `Dragonfly palmtree`
//! of `tests/data/golden/caminos.csv`; `relative` and `circulant` have no rows.

use crate::builder::{check_positive, check_size};
use crate::{Graph, GraphBuilder, Peer, Port, Shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Which global port of a group leads to which group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrangement {
    /// Port k leads to the k-th of the other groups.
    Absolute,
    /// Port k of group i leads to group i - (k + 1) mod g: all groups look alike, and the last port of a group leads to
    /// the first port of the next.
    #[default]
    PalmTree,
    /// Port k of group i leads to group i + (k + 1) mod g: the mirror image of the palm tree.
    Relative,
    /// Ports 2q and 2q + 1 of group i lead to groups i + (q + 1) and i - (q + 1) mod g, by routers of the same index at
    /// both ends.
    Circulant,
}

impl Arrangement {
    /// The group that global port `k` of group `i` leads to; `k` < [`links_per_pair`] * (g - 1).
    pub fn target(&self, g: u32, i: u32, k: u32) -> u32 {
        let k = if k < g - 1 { k } else { k % (g - 1) };
        match self {
            Self::Absolute => k + u32::from(k >= i),
            Self::PalmTree => before(g, i, k + 1),
            Self::Relative => before(g, i, g - (k + 1)),
            Self::Circulant if k % 2 == 0 => before(g, i, g - (k / 2 + 1)),
            Self::Circulant => before(g, i, k / 2 + 1),
        }
    }

    /// The first global port of group `i` that leads to group `j` != `i`; link m of the pair is on the port
    /// m * (g - 1) further, at both ends.
    pub fn port_to(&self, g: u32, i: u32, j: u32) -> u32 {
        match self {
            Self::Absolute => j - u32::from(j > i),
            Self::PalmTree => before(g, i, j) - 1,
            Self::Relative => before(g, j, i) - 1,
            // With an even number of groups the opposite one is the last upward, on the port g - 2.
            Self::Circulant => match before(g, j, i) {
                up if up <= g / 2 => 2 * (up - 1),
                up => 2 * (g - up - 1) + 1,
            },
        }
    }
}

/// (i - distance) mod g, for i and distance up to g.
fn before(g: u32, i: u32, distance: u32) -> u32 {
    (if i >= distance { i } else { i + g }) - distance
}

/// Global links between every two groups: floor(a*h / (g - 1)).
pub fn links_per_pair(a: u32, h: u32, g: u32) -> u32 {
    a * h / (g - 1)
}

/// Groups of fully connected routers, every two groups joined.
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
    /// Which global port leads to which group.
    #[serde(default)]
    pub arrangement: Arrangement,
}

impl Dragonfly {
    /// Builds the graph, or refuses at `path`.
    pub fn build(&self, path: &str) -> Result<Graph, Refusal> {
        let g = self.checked_groups(path)?;
        let (a, p, h) = (self.routers_per_group, self.terminals_per_router, self.global_links_per_router);
        let mut builder = GraphBuilder::new(["local", "global"]);
        for router in 0..a * g {
            let terminals = router * p..(router + 1) * p;
            let terminals = terminals.map(|terminal| Port { peer: Peer::Terminal(terminal), class: 0 });
            let (group, own) = (router / a, router % a);
            let local = (0..a).filter(|&j| j != own).map(|j| {
                let port = p + if own < j { own } else { own - 1 };
                Port { peer: Peer::Router { router: group * a + j, port: port as u16 }, class: 1 }
            });
            let global = (own * h..(own + 1) * h).map(|k| Port { peer: self.global_peer(g, group, k), class: 2 });
            builder.router(terminals.chain(local).chain(global));
        }
        builder.build(Shape::Dragonfly { a, p, h, g, arrangement: self.arrangement }, a, path)
    }

    /// Where global port `k` of group `i` lands: the port of the same copy that leads back.
    fn global_peer(&self, g: u32, i: u32, k: u32) -> Peer {
        let (a, p, h) = (self.routers_per_group, self.terminals_per_router, self.global_links_per_router);
        if k >= links_per_pair(a, h, g) * (g - 1) {
            return Peer::Unused;
        }
        let j = self.arrangement.target(g, i, k);
        let landing = self.arrangement.port_to(g, j, i) + k / (g - 1) * (g - 1);
        Peer::Router { router: j * a + landing / h, port: (p + a - 1 + landing % h) as u16 }
    }

    /// Checks all sizes; returns the number of groups.
    fn checked_groups(&self, path: &str) -> Result<u32, Refusal> {
        let (a, p, h) = (self.routers_per_group, self.terminals_per_router, self.global_links_per_router);
        check_positive(&[("routers_per_group", a), ("terminals_per_router", p), ("global_links_per_router", h)], path)?;
        // In 64 bits: three 32-bit keys can't overflow here, and after the radix check nothing below can.
        let radix = u64::from(p) + u64::from(a - 1) + u64::from(h);
        check_size(1, radix, &format!("{p} terminals + {} local + {h} global links", a - 1), path)?;
        let most = a * h + 1;
        let g = self.groups.unwrap_or(most);
        if !(2..=most).contains(&g) {
            let what = match g {
                0 | 1 => format!("{g} groups, not 2 to {most}"),
                _ => {
                    format!("{g} groups need {} global links per group; {a} routers x {h} links give {}", g - 1, a * h)
                }
            };
            let help = format!("take 2 to {most} groups, or change routers_per_group or global_links_per_router");
            return Err(Refusal::new(format!("{path}.groups"), what, help));
        }
        check_size(u64::from(a) * u64::from(g), radix, "the sum", path)?;
        self.check_circulant(g, path)?;
        Ok(g)
    }

    /// Circulant links come in pairs, up and down, on the two ports of one router.
    fn check_circulant(&self, g: u32, path: &str) -> Result<(), Refusal> {
        let (a, h) = (self.routers_per_group, self.global_links_per_router);
        if self.arrangement != Arrangement::Circulant {
            return Ok(());
        }
        if h % 2 == 1 {
            let what =
                format!("{h} global links per router: circulant pairs a link up with a link down on each router");
            let help = "take an even number, or another arrangement";
            return Err(Refusal::new(format!("{path}.global_links_per_router"), what, help));
        }
        let copies = links_per_pair(a, h, g);
        if copies > 1 && g.is_multiple_of(2) {
            let what = format!(
                "{g} groups with floor({a} x {h} / {}) = {copies} links per pair: circulant can't pair up the {} links of \
                 a group to the others",
                g - 1,
                g - 1
            );
            let help = "take an odd number of groups, or another arrangement";
            return Err(Refusal::new(format!("{path}.groups"), what, help));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dragonfly(a: u32, p: u32, h: u32, groups: Option<u32>, arrangement: Arrangement) -> Dragonfly {
        Dragonfly { groups, routers_per_group: a, terminals_per_router: p, global_links_per_router: h, arrangement }
    }

    #[test]
    fn ports_and_targets_are_inverse() {
        use Arrangement::{Absolute, Circulant, PalmTree, Relative};
        for arrangement in [Absolute, PalmTree, Relative, Circulant] {
            for g in 2..40 {
                for i in 0..g {
                    let mut targets: Vec<_> = (0..g - 1).map(|k| arrangement.target(g, i, k)).collect();
                    assert!((0..g - 1).all(|k| arrangement.port_to(g, i, targets[k as usize]) == k));
                    assert!((0..g - 1).all(|k| arrangement.target(g, i, k + 3 * (g - 1)) == targets[k as usize]));
                    targets.sort_unstable();
                    assert!(targets.into_iter().eq((0..g).filter(|&j| j != i)), "every other group once");
                }
            }
        }
    }

    #[test]
    fn the_formulas_are_the_published_ones() {
        for g in 2..40 {
            for (i, k) in (0..g).flat_map(|i| (0..g - 1).map(move |k| (i, k))) {
                // Palm tree: (i - (k+1)) mod g, landing on port a*h - 1 - k = g - 2 - k.
                let j = (i as i64 - (k as i64 + 1)).rem_euclid(g.into()) as u32;
                assert_eq!(Arrangement::PalmTree.target(g, i, k), j);
                assert_eq!(Arrangement::PalmTree.port_to(g, j, i), g - 2 - k);
                // Absolute: k if k < i else k + 1, landing on port i or i - 1.
                let j = if k < i { k } else { k + 1 };
                assert_eq!(Arrangement::Absolute.target(g, i, k), j);
                assert_eq!(Arrangement::Absolute.port_to(g, j, i), if i < j { i } else { i - 1 });
                // Relative: (i + k + 1) mod g, landing on port g - 2 - k.
                let j = (i + k + 1) % g;
                assert_eq!(Arrangement::Relative.target(g, i, k), j);
                assert_eq!(Arrangement::Relative.port_to(g, j, i), g - 2 - k);
                // Circulant: i +/- (k/2 + 1), landing on the other port of the pair; half way round, both are one.
                let distance = i64::from(k / 2 + 1) * if k % 2 == 0 { 1 } else { -1 };
                let j = (i64::from(i) + distance).rem_euclid(g.into()) as u32;
                assert_eq!(Arrangement::Circulant.target(g, i, k), j);
                assert_eq!(Arrangement::Circulant.port_to(g, j, i), if 2 * (k / 2 + 1) == g { k } else { k ^ 1 });
            }
        }
    }

    #[test]
    fn circulant_links_join_routers_of_the_same_index() {
        // One link per pair; fewer groups than 9; 2 links per pair for 5 groups.
        for groups in [9, 8, 7, 5] {
            let (a, p, h) = (4, 2, 2);
            let graph = dragonfly(a, p, h, Some(groups), Arrangement::Circulant).build("topology").unwrap();
            for link in graph.links().filter(|link| link.class == 2) {
                let [(near, _), (far, _)] = link.ends;
                assert_eq!(near % a, far % a);
            }
        }
        // Router r has offsets r * h/2 + 1 ..= (r + 1) * h/2 in both directions, as SST/macro wires them.
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
        let odd = "3 global links per router: circulant pairs a link up with a link down on each router";
        assert_eq!(
            (refusal(3, None).path, refusal(3, None).what),
            ("topology.global_links_per_router".into(), odd.into())
        );
        let even = "4 groups with floor(4 x 2 / 3) = 2 links per pair: circulant can't pair up the 3 links of a group to \
                    the others";
        assert_eq!((refusal(2, Some(4)).path, refusal(2, Some(4)).what), ("topology.groups".into(), even.into()));
    }

    #[test]
    fn the_palm_tree_closes_a_ring_in_label_order() {
        for h in [2, 4, 6] {
            let (a, p) = (2 * h, h);
            let graph = dragonfly(a, p, h, None, Arrangement::PalmTree).build("topology").unwrap();
            let g = a * h + 1;
            for i in 0..g {
                // Port h-1 of router a-1 of group i leads to router 0, global port 0, of group i+1.
                let last = graph.ports(i * a + a - 1)[(p + a - 1 + h - 1) as usize];
                let next = Peer::Router { router: (i + 1) % g * a, port: (p + a - 1) as u16 };
                assert_eq!(last.peer, next);
            }
        }
    }

    #[test]
    fn refuses_with_the_arithmetic() {
        let refusal =
            |a, p, h, groups| dragonfly(a, p, h, groups, Arrangement::PalmTree).build("topology").unwrap_err();
        let too_many = refusal(4, 1, 1, Some(9));
        assert_eq!(too_many.path, "topology.groups");
        assert_eq!(too_many.what, "9 groups need 8 global links per group; 4 routers x 1 links give 4");
        assert_eq!(refusal(4, 2, 2, Some(1)).what, "1 groups, not 2 to 9");
        assert_eq!(refusal(0, 2, 2, None).path, "topology.routers_per_group");
        assert_eq!(refusal(u32::MAX, u32::MAX, u32::MAX, None).path, "topology");
        assert!(
            refusal(64, 32, 40, None).what.starts_with("32 terminals + 63 local + 40 global links gives 135 ports")
        );
    }
}
