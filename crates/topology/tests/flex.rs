//! Compares FleX networks over whole ranges of sizes with the formulas of M. Jeon et al. (IEEE Access 2022): degrees, links, distances and
//! numbers of shortest paths. Two of the formulas are corrected here (see the comments below).

use weft_topology::flex::Flex;
use weft_topology::{CrossedLayers, Graph, Offset, TopologyModel, TrunkWidth};

fn flex(x: u32, y: u32, layers: u32) -> Graph {
    let config = Flex { widths: [x, y], layers, terminals_per_router: 1, trunk_width: TrunkWidth::default() };
    config.build("topology").unwrap_or_else(|refusal| panic!("{x} x {y} x {layers}: {refusal}"))
}

fn view(graph: &Graph) -> &CrossedLayers {
    graph.structure().crossed.as_ref().expect("crossed layers")
}

#[test]
fn degrees_and_links_are_those_of_the_paper() {
    for (x, y, layers) in (3..13).flat_map(|x| (3..13).flat_map(move |y| (2..8).map(move |layers| (x, y, layers)))) {
        let graph = flex(x, y, layers);
        // The degree is k - p in the paper. With two layers, the paper's formula for the radix agrees with this degree, but its equation 7
        // counts the links twice.
        let degree = (x + y - 2) * if layers == 2 { 1 } else { 2 };
        let degrees = graph.degrees();
        assert_eq!((degrees.least, degrees.most), (degree, degree), "{x} x {y} x {layers}");
        assert_eq!(graph.links().count() as u32, x * y * layers * degree / 2, "{x} x {y} x {layers}");
    }
}

#[test]
fn three_layers_have_diameter_two() {
    for (x, y) in (3..21).flat_map(|x| (x..21).map(move |y| (x, y))) {
        let graph = flex(x, y, 3);
        // for the routers at distance 1, the paper prints 2x + 2y - 1 in one place, and 2x + 2y - 4 in the sum
        let (routers, near) = (u64::from(3 * x * y), u64::from(2 * x + 2 * y - 4));
        assert_eq!(graph.distances().router_pairs, [0, routers * near, routers * (routers - 1 - near)], "{x} x {y}");
    }
    // 6 x 6: of all ordered pairs, 0.93 % are a router with itself, 18.5 % are neighbours, and 80.6 % are two links apart
    let graph = flex(6, 6, 3);
    assert_eq!(graph.distances().router_pairs, [0, 108 * 20, 108 * 87]);
    assert!((graph.mean_distance() - 194.0 / 107.0).abs() < 1e-12);
}

#[test]
fn more_layers_have_the_distances_of_figure_16() {
    let mean = |layers| (flex(6, 6, layers).mean_distance() * 1000.0).round() / 1000.0;
    // the means exclude pairs of a router with itself; the mean for 4 layers is above the mean for 5
    assert_eq!([3, 4, 5, 6, 7].map(mean), [1.813, 2.224, 2.179, 2.316, 2.414]);
    let diameter = |layers| flex(6, 6, layers).diameter();
    assert_eq!([2, 3, 4, 5, 6, 7, 8].map(diameter), [3, 2, 3, 3, 3, 3, 4]);
    for layers in 4..40 {
        // the most distant routers are half of the ring of layers apart. Exception: with an odd number of links, a path between two routers
        // with the same x and y has at least three links
        assert_eq!(flex(4, 3, layers).diameter(), 3.max(layers / 2), "{layers} layers");
    }
}

/// Number of shortest paths between two routers, computed from the first hops of the view.
fn paths(view: &CrossedLayers, offset: Offset) -> u64 {
    match view.distance(offset) {
        0 => 1,
        _ => view.first_hops(offset).iter().map(|hop| u64::from(hop.count) * paths(view, hop.after)).sum(),
    }
}

#[test]
fn shortest_paths_of_three_layers_are_as_many_as_the_corrected_formulas_say() {
    for (x, y) in (3..9).flat_map(|x| (3..9).map(move |y| (x, y))) {
        let graph = flex(x, y, 3);
        let of = |differs, layers| paths(view(&graph), Offset { differs, layers });
        // between routers of the same layer, paths cross either neighbouring layer; if only x or y differs, they use any other coordinate
        assert_eq!(of([true, true], 0), 4);
        assert_eq!([of([true, false], 0), of([false, true], 0)], [2 * (u64::from(x) - 2), 2 * (u64::from(y) - 2)]);
        for layers in [1, 2] {
            // paths use any other x or y in the third layer; the paper counts x - 2 or y - 2 of them
            assert_eq!(of([false, false], layers), u64::from(x + y - 2));
            assert_eq!([of([true, true], layers), of([true, false], layers), of([false, true], layers)], [2, 1, 1]);
        }
    }
}

#[test]
fn first_hops_begin_all_shortest_paths_that_a_search_finds() {
    for (x, y, layers) in [(3, 3, 2), (4, 3, 3), (3, 5, 4), (2, 2, 5), (3, 1, 6), (4, 2, 7), (3, 3, 9)] {
        let graph = flex(x, y, layers);
        let view = view(&graph);
        let from_0 = graph.distances_from(0);
        // counts the shortest paths from router 0 to each other router, in order of distance
        let mut found = vec![0u64; graph.routers() as usize];
        found[0] = 1;
        for distance in 0..graph.diameter() {
            for near in (0..graph.routers()).filter(|&r| from_0[r as usize] == distance) {
                for port in graph.ports(near) {
                    let weft_topology::Peer::Router { router: far, .. } = port.peer else { continue };
                    if from_0[far as usize] == distance + 1 {
                        found[far as usize] += found[near as usize];
                    }
                }
            }
        }
        for (far, &found) in (0..).zip(&found) {
            assert_eq!(paths(view, view.offset(0, far)), found, "{x} x {y} x {layers}: 0 to {far}");
        }
    }
}
