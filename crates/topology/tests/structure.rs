//! Tests that compare the bisection with all balanced cuts of small networks, and its bound with known cuts of large networks.

use crate::common;
use weft_topology::{Graph, TopologyConfig};

fn build(json: &str) -> Graph {
    let config: TopologyConfig = serde_json::from_str(json).unwrap();
    config.build("topology").unwrap_or_else(|refusal| panic!("{json}: {refusal}"))
}

/// The smallest number of links over all balanced cuts. The numbers of terminals of the halves of such a cut differ by at most the largest
/// number on a router.
fn by_enumeration(graph: &Graph) -> u64 {
    let weights: Vec<u64> = (0..graph.routers()).map(|router| graph.terminals_of(router)).collect();
    let (total, heaviest) = (weights.iter().sum::<u64>(), *weights.iter().max().unwrap());
    let links: Vec<u32> = graph.links().map(|link| 1 << link.ends[0].0 | 1 << link.ends[1].0).collect();
    let of = |set: u32| (0..graph.routers()).filter(|r| set >> r & 1 == 1).map(|r| weights[r as usize]).sum::<u64>();
    let balanced = (0..1u32 << (graph.routers() - 1)).filter(|&set| of(set).abs_diff(total - of(set)) <= heaviest);
    let crossing = |set: u32| links.iter().filter(|&&ends| set & ends != 0 && set & ends != ends).count() as u64;
    balanced.map(crossing).min().unwrap()
}

#[test]
fn exact_bisections_are_those_of_all_cuts() {
    let grids =
        ["[2]", "[3]", "[4]", "[5]", "[5, 2]", "[3, 3]", "[4, 3]", "[2, 2, 2]", "[5, 3]", "[4, 4]", "[3, 2, 2]"];
    let mut texts = Vec::new();
    for widths in grids {
        for (topology, trunk) in [("hyperx", 1), ("hyperx", 2), ("mesh", 1), ("mesh", 3), ("torus", 1), ("torus", 2)] {
            let keys = format!(r#""widths": {widths}, "terminals_per_router": 2, "trunk_width": {trunk}"#);
            texts.push(format!(r#"{{"{topology}": {{{keys}}}}}"#));
        }
    }
    texts.extend(
        [(2, 1), (2, 2), (2, 3), (3, 2), (4, 2), (5, 2)]
            .map(|(k, n)| format!(r#"{{"k_ary_n_tree": {{"k": {k}, "n": {n}, "trunk_width": {n}}}}}"#)),
    );
    // with trunks of two widths, the best cut crosses the narrow trunks: a row of 3 links instead of a column of 2 * 2 links
    let mixed = r#"{"mesh": {"widths": [2, 3], "terminals_per_router": 1, "trunk_width": {"dim1": 2}}}"#;
    let found = build(mixed).bisection();
    assert_eq!((found.links, found.exact), (3, false));
    assert_eq!(found.links, by_enumeration(&build(mixed)));
    texts.extend(
        [r#"{"fat_tree": {"k": 2}}"#, r#"{"full_mesh": {"routers": 7, "terminals_per_router": 3}}"#].map(Into::into),
    );
    for text in texts.into_iter().filter(|text| text != r#"{"k_ary_n_tree": {"k": 2, "n": 1, "trunk_width": 1}}"#) {
        let graph = build(&text);
        let bisection = graph.bisection();
        assert!(bisection.exact, "{text}");
        assert_eq!(bisection.links, by_enumeration(&graph), "{text}");
    }
}

#[test]
fn the_search_reaches_the_best_cut_of_small_graphs() {
    let regular = [
        r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 2}}"#,
        r#"{"torus": {"widths": [4, 4], "terminals_per_router": 1}}"#,
        r#"{"mesh": {"widths": [5, 3], "terminals_per_router": 1}}"#,
        r#"{"k_ary_n_tree": {"k": 2, "n": 3}}"#,
        r#"{"dragonfly": {"routers_per_group": 2, "terminals_per_router": 1, "global_links_per_router": 2}}"#,
    ];
    for text in regular {
        let graph = build(text);
        let found = common::graph_file("g.graphml", &common::graphml(&graph)).build("topology").unwrap().bisection();
        assert!(!found.exact && found.method.contains("upper bound"));
        assert_eq!(found.links, by_enumeration(&graph), "{text}");
    }
}

#[test]
fn the_bound_of_a_large_graph_is_near_the_known_bisection() {
    // The bisection of a 16 x 16 torus has 2 * 16 links, and the search never returns fewer.
    let graph = build(r#"{"torus": {"widths": [16, 16], "terminals_per_router": 2}}"#);
    let found = common::graph_file("g.json", &common::json(&graph)).build("topology").unwrap().bisection();
    assert_eq!((graph.bisection().links, found.links), (32, 32));
    // FleX has 3 layers of 6 x 6 routers here. A cut through the middle of all lines has 3 * 6 * 6 * 6 / 2 links (equation 8 of its paper)
    let flex = build(r#"{"flex": {"widths": [6, 6], "layers": 3, "terminals_per_router": 10}}"#).bisection();
    assert_eq!((flex.links, flex.exact), (324, false));
    // The network is a dragonfly of 9 groups of 4 routers. A possible cut divides 4 groups and half of the fifth group from the rest. The
    // bound must not be higher than the number of links of this cut. The cut crosses 4 * 4 links between whole groups, 4 + 4 links from the
    // divided group to groups on the other side, and 2 * 2 local links of this group.
    let keys = r#""routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2"#;
    let bisection = build(&format!(r#"{{"dragonfly": {{{keys}}}}}"#)).bisection();
    assert!(!bisection.exact && bisection.links <= 28, "{bisection:?}");
}

#[test]
fn degrees_count_links_only() {
    let degrees = build(r#"{"mesh": {"widths": [3, 3], "terminals_per_router": 4}}"#).degrees();
    // A 3 x 3 mesh has 4 corners of degree 2, 4 edges of degree 3, and a middle of degree 4.
    assert_eq!((degrees.least, degrees.most, degrees.mean), (2, 4, 24.0 / 9.0));
}

#[test]
fn a_graph_of_ten_thousand_routers_is_understood_at_once() {
    let start = std::time::Instant::now();
    let graph = build(r#"{"torus": {"widths": [100, 100], "terminals_per_router": 1, "trunk_width": 5}}"#);
    let profile = graph.distances();
    assert_eq!((graph.links().count(), profile.diameter()), (100_000, 100));
    assert!((profile.mean() - graph.mean_distance()).abs() < 1e-9);
    // The limit is long enough for a slow machine and a debug build.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn halves_of_a_partitioner_are_balanced_and_improved() {
    let graph = build(r#"{"torus": {"widths": [6, 4], "terminals_per_router": 3}}"#);
    let crossing = |second: &[bool]| {
        let crosses = |link: &weft_topology::Link| second[link.ends[0].0 as usize] != second[link.ends[1].0 as usize];
        graph.links().filter(crosses).count() as u64
    };
    // the search starts from three bad cuts: all routers in one half, an unbalanced cut, every second router
    for second in [vec![false; 24], (0..24).map(|router| router < 3).collect(), (0..24).map(|r| r % 2 == 0).collect()] {
        let halves = graph.improved_halves(&second);
        assert_eq!(halves.second.iter().filter(|&&second| second).count(), 12);
        assert_eq!(halves.links, crossing(&halves.second));
        assert!(halves.links >= graph.bisection().links);
    }
    let best: Vec<bool> = (0..24).map(|router| router % 6 < 3).collect();
    assert_eq!(graph.improved_halves(&best).links, 8); // the cut crosses the rings of 4 rows, with 2 links in each
}

#[test]
fn failures_that_a_network_survives_are_those_of_its_links() {
    let ring = build(r#"{"torus": {"widths": [7], "terminals_per_router": 1}}"#);
    assert!(ring.survived_failures(20, 1).iter().all(|survived| (survived.all_routers, survived.terminals) == (1, 1)));
    // each leaf has only one upward link, so the first failure disconnects the tree
    let tree = build(r#"{"fat_tree": {"k": 2}}"#);
    assert!(tree.survived_failures(20, 1).iter().all(|survived| survived.all_routers == 0));
    let single = build(r#"{"single_router": {"terminals": 4}}"#);
    assert!(single.survived_failures(3, 1).iter().all(|survived| survived.all_routers == 0));
    // The first disconnected router can be one without terminals. Therefore the routers with terminals stay connected for at least as many
    // failures as all routers.
    let graph = build(r#"{"k_ary_n_tree": {"k": 3, "n": 3}}"#);
    let survived = graph.survived_failures(50, 9);
    assert!(survived.iter().all(|order| order.terminals >= order.all_routers));
    assert!(survived.iter().any(|order| order.terminals > order.all_routers));
    assert_eq!(survived, graph.survived_failures(50, 9));
    assert_ne!(survived, graph.survived_failures(50, 10));
}

#[test]
fn shortest_paths_are_counted_by_distance() {
    // the tree has routers of 4 ports: between edge routers, 2 paths exist within a pod and 4 paths to another pod
    let tree = build(r#"{"fat_tree": {"k": 4}}"#).path_diversity();
    let of = |hops: usize| (tree.by_distance[hops].pairs, tree.by_distance[hops].fewest, tree.by_distance[hops].most);
    assert_eq!((of(2), of(4)), ((8, 2.0, 2.0), (48, 4.0, 4.0)));
    assert_eq!((tree.by_distance[1].pairs, tree.by_distance[3].pairs), (0, 0));
    // two digits differ, so there are two orders of the dimensions and 2 * 3 * 3 paths over trunks of 3 links
    let hyperx =
        build(r#"{"hyperx": {"widths": [3, 3], "terminals_per_router": 1, "trunk_width": 3}}"#).path_diversity();
    assert_eq!((hyperx.by_distance[1].fewest, hyperx.by_distance[2].most), (3.0, 18.0));
    assert_eq!((hyperx.by_distance[1].single, hyperx.sources), (0, 9));
}
