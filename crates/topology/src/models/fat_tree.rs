//! Fat tree of pods: three levels of equal routers of k ports; pods of edge and aggregation routers under shared cores.
//!
//! # Source
//! M. Al-Fares, A. Loukissas, A. Vahdat, "A Scalable, Commodity Data Center Network Architecture", SIGCOMM'08.
//!
//! # Parameters
//! `k` \[ports\], `trunk_width` \[links, by link class\].
//!
//! # Guarantees
//! First the k * k/2 edge routers, pod by pod, then as many aggregation routers, then (k/2)^2 cores, index * k/2 + own:
//! ports are those of [`Tree`]; the digits of a router are index and pod, those of a core index and own. Terminal
//! id = edge router * k/2 + port. k pods of k/2 edge and k/2 aggregation routers, (k/2)^2 cores; k^3/4 terminals, all
//! on edge routers; k^3/4 links in each class, "level1" (edge to aggregation) and "level2" (aggregation to core).
//! Every core has one link to every pod. Edge routers are 2 links apart in a pod, over k/2 paths, else 4, over (k/2)^2.
//!
//! # Not modelled
//! Tapered trees, other numbers of levels (see `k_ary_n_tree`), unequal pods.
//!
//! # Validation
//! `topology/tests/conformance.rs`: counts, wiring pod by pod, diameter and mean distance against search. The tests of
//! this file: four pods as in the paper. `topology/tests/structure.rs`: bisection against all cuts. No rows of a peer.

use super::TopologyModel;
use crate::graph::check_size;
use crate::{Graph, GraphBuilder, Levels, Peer, Port, Structure, Tree, TrunkWidth};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Fat tree of k pods of routers with k ports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// k: ports of every router without trunks, an even number from 2 to 128; the tree has k pods and k^3/4 terminals.
    pub k: u32,
    /// Parallel links in place of each link between routers, 1 or more: for all classes, or by link class.
    #[serde(default)]
    pub trunk_width: TrunkWidth,
}

impl TopologyModel for FatTree {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        let k = self.k;
        if k < 2 || k % 2 == 1 {
            let what = format!("{k} ports per router, half of them up and half down: not an even number, 2 or more");
            return Err(Refusal::new(format!("{path}.k"), what, format!("write {}", k.saturating_add(1).max(2))));
        }
        check_size(1, k.into(), &format!("{} links down + {} up", k / 2, k / 2), &format!("{path}.k"))?;
        let half = k / 2;
        let (edges, cores) = (k * half, half * half);
        let (aggregation, core) = (edges, 2 * edges);
        let mut builder = GraphBuilder::new("fat_tree", ["level1", "level2"]);
        for edge in 0..edges {
            let (pod, own) = (edge / half, edge % half);
            let down = (0..half).map(|t| Port { peer: Peer::Terminal(edge * half + t), class: 0 });
            builder.router(down.chain((0..half).map(|a| link(aggregation + pod * half + a, own, 1))));
        }
        for router in 0..edges {
            let (pod, own) = (router / half, router % half);
            let down = (0..half).map(|e| link(pod * half + e, half + own, 1));
            builder.router(down.chain((0..half).map(|u| link(core + own * half + u, pod, 2))));
        }
        for router in 0..cores {
            let (index, u) = (router / half, router % half);
            builder.router((0..k).map(|pod| link(aggregation + pod * half + index, half + u, 2)));
        }
        builder.trunks(&self.trunk_width);
        let tree = Some(Tree { radix: half, top: k, digits: digits(half).collect() });
        builder.build(Structure::of_levels(Levels { tree, ..Levels::in_rows(&[edges, edges, cores]) }), path)
    }

    fn examples() -> Vec<Self> {
        let new = |k, trunk_width| Self { k, trunk_width: TrunkWidth::Same(trunk_width) };
        (1..=8).map(|half| new(2 * half, 1)).chain([new(4, 2)]).collect()
    }
}

/// The digits of each router: index and pod below the top; of a core the index of the routers under it, and its own.
fn digits(half: u32) -> impl Iterator<Item = [u8; 8]> {
    let two = |low: u32, high: u32| [low as u8, high as u8, 0, 0, 0, 0, 0, 0];
    let in_pods = (0..2).flat_map(move |_| (0..2 * half * half).map(move |place| two(place % half, place / half)));
    in_pods.chain((0..half * half).map(move |core| two(core / half, core % half)))
}

fn link(router: u32, port: u32, class: u8) -> Port {
    Port { peer: Peer::Router { router, port: port as u16 }, class }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_pods_are_wired_as_in_the_paper() {
        let graph = FatTree { k: 4, trunk_width: TrunkWidth::default() }.build("topology").unwrap();
        // 8 edge routers 0..8, 8 aggregation routers 8..16, 4 cores 16..20.
        let peers = |router| graph.ports(router).iter().map(|port| port.peer).collect::<Vec<_>>();
        let to = |router, port| Peer::Router { router, port };
        assert_eq!(peers(3), [Peer::Terminal(6), Peer::Terminal(7), to(10, 1), to(11, 1)]);
        // Aggregation router 1 of pod 1 has edge routers 2 and 3 below and the cores of index 1 above.
        assert_eq!(peers(11), [to(2, 3), to(3, 3), to(18, 1), to(19, 1)]);
        assert_eq!(peers(18), [to(9, 2), to(11, 2), to(13, 2), to(15, 2)]);
    }

    #[test]
    fn refuses_with_the_arithmetic() {
        let refusal = |k| FatTree { k, trunk_width: TrunkWidth::default() }.build("topology").unwrap_err();
        assert_eq!((refusal(0).path, refusal(0).help), ("topology.k".into(), "write 2".into()));
        assert_eq!(refusal(5).help, "write 6");
        assert!(refusal(u32::MAX).what.contains("not an even number"));
        let wide = "65 links down + 65 up gives 130 ports per router; a router has at most 128";
        assert_eq!(refusal(130).what, wide);
    }
}
