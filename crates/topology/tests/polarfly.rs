//! Tests of PolarFly for every q up to 32: the counts in K. Lakhotia et al. (SC'22), and the laws of polarity graphs.

use weft_topology::polarfly::PolarFly;
use weft_topology::{Graph, Peer, TopologyModel, TrunkWidth};

/// All powers of primes up to 32.
const SIZES: [u32; 18] = [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32];

fn config(q: u32) -> PolarFly {
    PolarFly { q, terminals_per_router: 1, trunk_width: TrunkWidth::default() }
}

fn polarfly(q: u32) -> Graph {
    config(q).build("topology").unwrap_or_else(|refusal| panic!("q = {q}: {refusal}"))
}

#[test]
fn every_power_of_a_prime_up_to_32_has_diameter_two() {
    for q in SIZES {
        let graph = polarfly(q);
        let routers = q * q + q + 1;
        assert_eq!(graph.routers(), routers);
        // the network has q + 1 quadrics of degree q, and all other routers have degree q + 1
        let of_degree = |degree| (0..routers).filter(|&router| graph.neighbours(router).count() == degree).count();
        assert_eq!([q, q + 1].map(|degree| of_degree(degree as usize) as u32), [q + 1, q * q], "q = {q}");
        // any two routers without a link between them are two links apart
        let (all, joined) = (u64::from(routers), u64::from((q + 1) * q + q * q * (q + 1)));
        assert_eq!(graph.distances().router_pairs, [0, joined, all * (all - 1) - joined], "q = {q}");
    }
}

#[test]
fn nothing_else_up_to_32_has_a_construction() {
    for q in (0..=32).filter(|q| !SIZES.contains(q)) {
        assert_eq!(config(q).build("topology").expect_err("no construction").path, "topology.q", "q = {q}");
    }
}

#[test]
fn every_two_routers_have_exactly_one_common_neighbour() {
    for q in SIZES.into_iter().filter(|&q| q <= 13) {
        let graph = polarfly(q);
        // the neighbours of a router are a line of the plane, and two lines meet in one point; a quadric is on its line
        let line = |router| {
            let quadric = graph.neighbours(router).count() == q as usize;
            let mut line: Vec<u32> = graph.neighbours(router).chain(quadric.then_some(router)).collect();
            line.sort_unstable();
            line
        };
        let lines: Vec<Vec<u32>> = (0..graph.routers()).map(line).collect();
        for (b, a) in (0..lines.len()).flat_map(|b| (0..b).map(move |a| (b, a))) {
            let common = lines[a].iter().filter(|&point| lines[b].binary_search(point).is_ok()).count();
            assert_eq!(common, 1, "q = {q}: routers {a} and {b}");
        }
    }
}

#[test]
fn racks_are_joined_as_in_the_source() {
    for q in SIZES {
        let graph = polarfly(q);
        let groups = graph.structure().groups.as_ref().expect("racks");
        let group = |router: u32| groups.places[router as usize].0 as usize;
        let mut sizes = vec![0; groups.count as usize];
        (0..graph.routers()).for_each(|router| sizes[group(router)] += 1);
        // for even q, the point with links to all quadrics has no other neighbour
        let (fans, of_a_fan, between_fans) = if q % 2 == 1 { (q, q, q - 2) } else { (q - 1, q + 1, q) };
        let of_quadrics = q + 1 + (1 - q % 2);
        assert_eq!(sizes[0], of_quadrics, "q = {q}");
        assert_eq!(sizes[1..], vec![of_a_fan; fans as usize], "q = {q}");
        let mut links = vec![vec![0; sizes.len()]; sizes.len()];
        for link in graph.links() {
            let [from, to] = link.ends.map(|(router, _)| group(router));
            links[from.min(to)][from.max(to)] += 1;
            let port = graph.ports(link.ends[0].0)[link.ends[0].1 as usize];
            assert!(matches!(port.peer, Peer::Router { .. }));
            assert_eq!(graph.class_names()[usize::from(port.class)], if from == to { "local" } else { "global" });
        }
        for (a, row) in links.iter().enumerate() {
            for (b, &found) in row.iter().enumerate().skip(a) {
                let expected = match (a, b) {
                    (0, 0) => of_quadrics - (q + 1) + q * (1 - q % 2),
                    (0, _) => q + 1,
                    // every router of a fan except the first forms exactly one triangle with the first router
                    _ if a == b => (of_a_fan - 1) + (of_a_fan - 1) / 2,
                    _ => between_fans,
                };
                assert_eq!(found, expected, "q = {q}: groups {a} and {b}");
            }
        }
    }
}

#[test]
fn no_cut_has_fewer_links_than_the_second_eigenvalue_allows() {
    // If quadrics have 1 on the diagonal, the adjacency matrix A satisfies A^2 = q I + J. So its eigenvalues are q + 1 (for the vector of
    // ones), sqrt(q) and -sqrt(q). At least (q + 1 - sqrt(q)) a b / (a + b) links therefore join any a routers to the b other routers.
    for q in [2, 3, 4, 5, 7, 8, 9] {
        let graph = polarfly(q);
        let (n, bisection) = (f64::from(graph.routers()), graph.bisection());
        let (a, q) = ((n / 2.0).floor(), f64::from(q));
        let least = (q + 1.0 - q.sqrt()) * a * (n - a) / n;
        assert!(!bisection.exact && bisection.links as f64 >= least, "q = {q}: {bisection:?} and {least}");
        // A random cut into a and a + 1 routers separates a (a + 1) of the n (n - 1) / 2 pairs. The share of separated pairs is (a + 1) /
        // n. On average it cuts this share of the links, and the best cut does not cut more.
        let random = graph.links().count() as f64 * (a + 1.0) / n;
        assert!(bisection.links as f64 <= random, "q = {q}: {bisection:?} and {random}");
    }
}
