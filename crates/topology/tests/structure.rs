//! Bisection against all balanced cuts of small networks, and bounds against known cuts of large ones.

mod common;

use weft_topology::{Graph, TopologyConfig};

fn build(json: &str) -> Graph {
    let config: TopologyConfig = serde_json::from_str(json).unwrap();
    config.build("topology").unwrap_or_else(|refusal| panic!("{json}: {refusal}"))
}

/// The least number of links over all sets of routers whose terminals differ by no more than those of one router.
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
    // of trunks of two widths the narrow ones are cut: a row of 3 links against 2 * 2 of a column
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
    // 16 x 16 torus: 2 * 16 links, and the search never goes below.
    let graph = build(r#"{"torus": {"widths": [16, 16], "terminals_per_router": 2}}"#);
    let found = common::graph_file("g.json", &common::json(&graph)).build("topology").unwrap().bisection();
    assert_eq!((graph.bisection().links, found.links), (32, 32));
    // FleX 6 x 6 x 3: half of each line of each layer against the other half, 3 * 6 * 6 * 6 / 2 links (its equation 8)
    let flex = build(r#"{"flex": {"widths": [6, 6], "layers": 3, "terminals_per_router": 10}}"#).bisection();
    assert_eq!((flex.links, flex.exact), (324, false));
    // Dragonfly of 9 groups: 4 groups and half of the fifth to the rest is a cut, so the bound is no worse:
    // 4 * 4 links between whole groups, 4 + 4 of the split one to the others' other side, 2 * 2 local ones.
    let keys = r#""routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2"#;
    let bisection = build(&format!(r#"{{"dragonfly": {{{keys}}}}}"#)).bisection();
    assert!(!bisection.exact && bisection.links <= 28, "{bisection:?}");
}

#[test]
fn degrees_count_links_only() {
    let degrees = build(r#"{"mesh": {"widths": [3, 3], "terminals_per_router": 4}}"#).degrees();
    // 4 corners of 2, 4 edges of 3, a middle of 4.
    assert_eq!((degrees.least, degrees.most, degrees.mean), (2, 4, 24.0 / 9.0));
}

#[test]
fn a_graph_of_ten_thousand_routers_is_understood_at_once() {
    let start = std::time::Instant::now();
    let graph = build(r#"{"torus": {"widths": [100, 100], "terminals_per_router": 1, "trunk_width": 5}}"#);
    let profile = graph.distances();
    assert_eq!((graph.links().count(), profile.diameter()), (100_000, 100));
    assert!((profile.mean() - graph.mean_distance()).abs() < 1e-9);
    // Seconds on a slow machine in a debug build.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
