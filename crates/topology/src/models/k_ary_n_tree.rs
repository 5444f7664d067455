//! k-ary n-tree: a fat tree of n levels of equal routers, each with k downward links and, below the top, k upward links.
//!
//! # Source
//! F. Petrini, M. Vanneschi, "k-ary n-trees: High Performance Networks for Massively Parallel Architectures", IPPS'97;
//! BookSim's `fattree` (which counts levels from the top).
//!
//! # Parameters
//! `k` \[links\], `n` \[levels\], `trunk_width` \[links, by link class\].
//!
//! # Guarantees
//! Router id = level * k^(n-1) + position. The base-k digits of a position are those of [`Tree`], which define where each port leads.
//! Terminal id = leaf * k + port. The tree has k^n terminals, all on the leaves, and n * k^(n-1) routers. The (n-1) * k^n links between
//! routers belong to the classes "level1" to "level(n-1)", with k^n links each. A class is named after the level of the upper end. The
//! number of links is the same above and below each level: full bisection. Routers of the top level have k ports, and the other routers
//! have 2k. Consider two terminals on leaves whose highest differing digit is digit h. The two leaves are joined by k^(h+1) shortest paths
//! of 2 (h+1) links, one over each nearest common ancestor.
//!
//! # Not modelled
//! Tapered trees and other radices per level (see `fat_tree`), the unused upper half of top routers.
//!
//! # Validation
//! `topology/tests/conformance.rs` checks counts and the wiring level by level, and compares diameter and mean distance with a search.
//! `topology/tests/conformance.rs` also compares the 10-ary 3-tree with the literature. `topology/tests/structure.rs` compares the
//! bisection with all cuts. BookSim2: the rows `ftree4x3` of `tests/data/golden/booksim.csv`.

use super::TopologyModel;
use crate::graph::check_size;
use crate::{Graph, GraphBuilder, Levels, Peer, Port, Structure, Tree, TrunkWidth};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Maximum number of levels, because a routing packs the level and n-1 digits into eight bytes.
const MAX_LEVELS: u32 = 8;

/// Fat tree of n levels of routers with k downward links and k upward links.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KAryNTree {
    /// k: number of downward links of each router, and of upward links of each router below the top. The limits are 2 and 256 (512 with one
    /// level).
    pub k: u32,
    /// n: number of levels of routers, 1 to 8; the tree has k^n terminals.
    pub n: u32,
    /// Number of parallel links that replace each link between routers, 1 or more: for all classes, or by link class.
    #[serde(default)]
    pub trunk_width: TrunkWidth,
}

impl TopologyModel for KAryNTree {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        self.check(path)?;
        let Self { k, n, .. } = *self;
        let width = k.pow(n - 1);
        let mut builder = GraphBuilder::new("k_ary_n_tree", (1..n).map(|level| format!("level{level}")));
        for level in 0..n {
            for position in 0..width {
                builder.router(self.down_ports(level, position).chain(self.up_ports(level, position)));
            }
        }
        let digits = (0..n * width).map(|router| digits(router % width, k)).collect();
        builder.trunks(&self.trunk_width);
        let tree = Some(Tree { down: vec![k; n as usize], up: vec![k; n as usize - 1], digits });
        builder.build(Structure::of_levels(Levels { tree, ..Levels::in_rows(&vec![width; n as usize]) }), path)
    }

    fn examples() -> Vec<Self> {
        let new = |k, n, trunk_width| Self { k, n, trunk_width };
        let single = [(2, 1), (3, 3), (128, 1), (64, 2), (4, 3), (2, 8)];
        let single = single.map(|(k, n)| new(k, n, TrunkWidth::default()));
        // an example with wider trunks near the top, as in a tree that becomes fatter
        let fatter = TrunkWidth::ByClass([("level2".to_owned(), 2)].into());
        single.into_iter().chain([new(2, 3, fatter)]).collect()
    }
}

impl KAryNTree {
    /// The ports down. At a leaf they lead to its terminals. At higher levels they lead to the routers of the level below with each value
    /// of digit level-1.
    fn down_ports(&self, level: u32, position: u32) -> impl Iterator<Item = Port> {
        let Self { k, n, .. } = *self;
        (0..k).map(move |c| match level.checked_sub(1) {
            None => Port { peer: Peer::Terminal(position * k + c), class: 0 },
            Some(below) => {
                let (own, child) = replace_digit(position, k, below, c);
                Port { peer: to(below * k.pow(n - 1) + child, k + own), class: level as u8 }
            }
        })
    }

    /// The ports up. For each value of digit `level`, a port leads to the router of the level above that has this value. A router at the
    /// top has none.
    fn up_ports(&self, level: u32, position: u32) -> impl Iterator<Item = Port> {
        let Self { k, n, .. } = *self;
        let ports = if level + 1 < n { k } else { 0 };
        (0..ports).map(move |u| {
            let (own, parent) = replace_digit(position, k, level, u);
            Port { peer: to((level + 1) * k.pow(n - 1) + parent, own), class: level as u8 + 1 }
        })
    }

    fn check(&self, path: &str) -> Result<(), Refusal> {
        let Self { k, n, .. } = *self;
        if !(1..=MAX_LEVELS).contains(&n) {
            let what = format!("the number of levels is {n}, not 1 to {MAX_LEVELS}");
            return Err(Refusal::new(format!("{path}.n"), what, "write 2 or 3 for most machines"));
        }
        if k < 2 {
            let what = format!("{k} downward links are too few: k^n = {k}^{n} = {k} terminals");
            return Err(Refusal::new(format!("{path}.k"), what, "write 2 or more"));
        }
        let (down, up) = (u64::from(k), if n > 1 { u64::from(k) } else { 0 });
        check_size(1, down + up, &format!("{down} downward links + {up} upward links"), &format!("{path}.k"))?;
        // with two levels or more, k is at most 256 after the checks above, so the number of routers is at most 8 * 2^56
        check_size(u64::from(n) * down.pow(n - 1), down + up, "the sum", path)
    }
}

fn to(router: u32, port: u32) -> Peer {
    Peer::Router { router, port: port as u16 }
}

/// The base-k digits of a position, the lowest first.
fn digits(position: u32, k: u32) -> [u8; 8] {
    let mut rest = position;
    [(); 8].map(|()| {
        let digit = rest % k;
        rest /= k;
        digit as u8
    })
}

/// Digit `d` (base k) of `position`, and the position in which `digit` replaces it.
fn replace_digit(position: u32, k: u32, d: u32, digit: u32) -> (u32, u32) {
    let stride = k.pow(d);
    let own = position / stride % k;
    (own, position - own * stride + digit * stride)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(k: u32, n: u32) -> KAryNTree {
        KAryNTree { k, n, trunk_width: TrunkWidth::default() }
    }

    #[test]
    fn a_binary_tree_of_two_levels_is_wired_crosswise() {
        let graph = new(2, 2).build("topology").unwrap();
        let peers = |router| graph.ports(router).iter().map(|port| port.peer).collect::<Vec<_>>();
        // Leaf r (0 or 1) has the terminals 2r and 2r + 1. Leaf r has links to both top routers, 2 and 3, which end at port r there.
        assert_eq!(peers(1), [Peer::Terminal(2), Peer::Terminal(3), to(2, 1), to(3, 1)]);
        assert_eq!(peers(2), [to(0, 2), to(1, 2)]);
        assert_eq!(peers(3), [to(0, 3), to(1, 3)]);
    }

    #[test]
    fn refuses_with_the_arithmetic() {
        let refusal = |k, n| new(k, n).build("topology").unwrap_err();
        let levels = "the number of levels is 9, not 1 to 8";
        assert_eq!((refusal(4, 0).path, refusal(4, 9).what), ("topology.n".into(), levels.into()));
        assert_eq!(refusal(1, 3).what, "1 downward links are too few: k^n = 1^3 = 1 terminals");
        assert_eq!(refusal(0, 3).path, "topology.k");
        let wide = "257 downward links + 257 upward links gives 514 ports per router; a router has at most 512";
        assert_eq!((refusal(257, 2).path, refusal(257, 2).what), ("topology.k".into(), wide.into()));
        // A tree with a single level is one router without upward links.
        assert!(new(128, 1).build("topology").is_ok());
        assert!(refusal(u32::MAX, 8).what.contains("ports per router"));
        // A network of 8 * 64^7 routers is refused because of its computed size, before its memory is allocated.
        assert!(refusal(64, 8).what.starts_with("35184372088832 routers of 128 ports"));
    }
}
