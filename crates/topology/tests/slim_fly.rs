//! Tests of Slim Fly for every q up to 49: the counts in M. Besta and T. Hoefler (SC'14), and diameter 2.

use weft_topology::slim_fly::SlimFly;
use weft_topology::{Graph, Peer, TopologyModel, TrunkWidth};

/// All powers of primes up to 49 except 2, each with d of q = 4w + d.
const SIZES: [(u32, i64); 22] = [
    (3, -1),
    (4, 0),
    (5, 1),
    (7, -1),
    (8, 0),
    (9, 1),
    (11, -1),
    (13, 1),
    (16, 0),
    (17, 1),
    (19, -1),
    (23, -1),
    (25, 1),
    (27, -1),
    (29, 1),
    (31, -1),
    (32, 0),
    (37, 1),
    (41, 1),
    (43, -1),
    (47, -1),
    (49, 1),
];

fn slim_fly(q: u32) -> Graph {
    let config = SlimFly { q, terminals_per_router: 1, trunk_width: TrunkWidth::default() };
    config.build("topology").unwrap_or_else(|refusal| panic!("q = {q}: {refusal}"))
}

fn neighbours(graph: &Graph, router: u32) -> impl Iterator<Item = u32> + '_ {
    graph.ports(router).iter().filter_map(|port| match port.peer {
        Peer::Router { router, .. } => Some(router),
        Peer::Terminal(_) | Peer::Unused => None,
    })
}

#[test]
fn every_power_of_a_prime_up_to_49_has_diameter_two() {
    for (q, d) in SIZES {
        let graph = slim_fly(q);
        let (routers, degree) = (2 * u64::from(q) * u64::from(q), (3 * i64::from(q) - d) as u64 / 2);
        assert_eq!(u64::from(graph.routers()), routers);
        let degrees = graph.degrees();
        assert_eq!((u64::from(degrees.least), u64::from(degrees.most)), (degree, degree), "q = {q}");
        // a router has `degree` neighbours, and is two links away from all other routers
        let expected = [0, routers * degree, routers * (routers - 1 - degree)];
        assert_eq!(graph.distances().router_pairs, expected, "q = {q}");
    }
}

#[test]
fn nothing_else_up_to_49_has_a_construction() {
    for q in (0..50).filter(|q| SIZES.iter().all(|(other, _)| other != q)) {
        let config = SlimFly { q, terminals_per_router: 1, trunk_width: TrunkWidth::default() };
        assert_eq!(config.build("topology").expect_err("no construction").path, "topology.q", "q = {q}");
    }
}

#[test]
fn every_two_groups_are_joined_by_2_q_links() {
    for q in [3, 4, 5, 8, 9, 11] {
        let graph = slim_fly(q);
        let mut between = vec![0; (q * q) as usize];
        for (near, port) in (0..graph.routers()).flat_map(|r| graph.ports(r).iter().map(move |port| (r, port))) {
            let Peer::Router { router: far, .. } = port.peer else { continue };
            let [from, to] = [near, far].map(|router| router / (2 * q));
            between[(from * q + to) as usize] += 1;
            assert_eq!(graph.class_names()[usize::from(port.class)], if from == to { "local" } else { "global" });
        }
        for (pair, links) in (0..).zip(between) {
            assert!(pair / q == pair % q || links == 2 * q, "q = {q}: {links} links between two groups");
        }
    }
}

#[test]
fn five_is_the_hoffman_singleton_graph() {
    // The graph has 50 routers of degree 7 and no triangles. Two routers that are not neighbours have exactly one common neighbour. No
    // other graph has these properties.
    let graph = slim_fly(5);
    assert_eq!((graph.routers(), graph.degrees().most), (50, 7));
    for (a, b) in (0..50).flat_map(|a| (0..50).filter(move |&b| b != a).map(move |b| (a, b))) {
        let common = neighbours(&graph, a).filter(|&near| neighbours(&graph, b).any(|other| other == near)).count();
        let are_joined = neighbours(&graph, a).any(|near| near == b);
        assert_eq!(common, usize::from(!are_joined), "routers {a} and {b}");
    }
}
