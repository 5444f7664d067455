//! Compares the paths that `explain` lists for routings with a brute-force search on small networks.

use crate::common::*;
use std::collections::{BTreeMap, BTreeSet};
use weft_engine::explain;
use weft_engine::paths::{Explanation, Path};
use weft_engine::{Spec, imply};
use weft_topology::{Graph, Peer};

/// A path, as (router, port) for every hop.
type Hops = Vec<(u32, u32)>;

fn hops(path: &Path) -> Hops {
    path.hops.iter().map(|hop| (hop.router, hop.port)).collect()
}

/// The paths that the explanation lists, without their VC classes and without repetition.
fn stated(explanation: &Explanation) -> BTreeSet<Hops> {
    assert!(explanation.all_counted);
    assert_eq!(explanation.path_count, explanation.paths.len() as u64);
    explanation.paths.iter().map(hops).collect()
}

fn neighbours(graph: &Graph, router: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
    graph.ports(router).iter().zip(0..).filter_map(|(port, number)| match port.peer {
        Peer::Router { router, .. } => Some((number, router)),
        _ => None,
    })
}

/// Every path from `at` to `to` whose hops `may` permits, found by search.
fn search(graph: &Graph, at: u32, to: u32, way: &mut Hops, may: &dyn Fn(&Hops, u32, u32) -> bool) -> BTreeSet<Hops> {
    if at == to {
        return BTreeSet::from([way.clone()]);
    }
    let mut found = BTreeSet::new();
    for (port, next) in neighbours(graph, at) {
        way.push((at, port));
        if may(way, at, next) {
            found.extend(search(graph, next, to, way, may));
        }
        way.pop();
    }
    found
}

fn shortest(graph: &Graph, from: u32, to: u32) -> BTreeSet<Hops> {
    let left = graph.distances_from(to);
    search(graph, from, to, &mut Vec::new(), &|_, at, next| left[next as usize] < left[at as usize])
}

/// Calls `check` for every pair of routers with terminals of a small network, each with a pair of their terminals. `make test-all` calls it
/// for all terminals.
fn check_pairs(spec: &Spec, check: impl Fn(&Explanation)) {
    let mut of_routers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for terminal in 0..spec.graph.terminals() {
        of_routers.entry(spec.graph.terminal_at(terminal).0).or_default().push(terminal);
    }
    for (from_router, all_from) in &of_routers {
        for (to_router, all_to) in &of_routers {
            let pairs: Vec<_> = all_from.iter().flat_map(|from| all_to.iter().map(move |to| (*from, *to))).collect();
            for &(from, to) in in_turn((from_router + to_router) as usize, &pairs) {
                check(&explain(spec, from, to).unwrap());
            }
        }
    }
}

#[test]
fn shortest_path_takes_every_shortest_path() {
    for topology in [r#"{"torus": {"widths": [4, 4], "terminals_per_router": 1}}"#, HYPERX, GRAPH, FULL_MESH, DRAGONFLY]
    {
        let spec = spec(topology, SHORTEST);
        check_pairs(&spec, |e| assert_eq!(stated(e), shortest(&spec.graph, e.from.router, e.to.router)));
    }
}

#[test]
fn ecmp_and_first_take_one_of_the_shortest_paths() {
    for (topology, routing) in [(TORUS, ECMP), (TREE, ECMP_ONE), (GRAPH, ECMP), (MESH, SHORTEST_FIRST)] {
        let spec = spec(topology, routing);
        check_pairs(&spec, |e| {
            assert_eq!(e.path_count, 1);
            assert!(stated(e).is_subset(&shortest(&spec.graph, e.from.router, e.to.router)));
        });
    }
}

#[test]
fn ecmp_spreads_the_flows_of_a_leaf_over_all_links_up() {
    let spec = spec(TREE, ECMP_ONE);
    let up: BTreeSet<u32> = (3..27).map(|to| explain(&spec, 0, to).unwrap().paths[0].hops[0].port).collect();
    // 24 flows are spread over 3 links at random: P(one link stays empty) < 3 (2/3)^24 = 2e-4
    assert_eq!(up, BTreeSet::from([3, 4, 5]));
}

#[test]
fn up_and_down_takes_every_shortest_path_of_a_tree() {
    for topology in [TREE, FAT_TREE] {
        for routing in [UP_DOWN, UP_DOWN_ADAPTIVE] {
            let spec = spec(topology, routing);
            check_pairs(&spec, |e| assert_eq!(stated(e), shortest(&spec.graph, e.from.router, e.to.router)));
        }
    }
}

#[test]
fn d_mod_k_goes_up_by_the_digits_of_the_destination() {
    // from leaf 0 of the 3-ary 3-tree to terminals 26 = 222, 13 = 111, 19 = 201 (base 3), packets go up over two links
    let ups = |routing: &str, to: u32| {
        let hops = explain(&spec(TREE, routing), 0, to).unwrap().paths.remove(0).hops;
        (hops[0].port - 3, hops[1].port - 3)
    };
    assert_eq!([26, 13, 19].map(|to| ups(D_MOD_K, to)), [(2, 2), (1, 1), (1, 0)]);
    assert_eq!([26, 13, 19].map(|to| ups(D_MOD_K_HIGH, to)), [(2, 2), (1, 1), (2, 0)]);
    for topology in [TREE, FAT_TREE] {
        for routing in [D_MOD_K, D_MOD_K_HIGH] {
            let spec = spec(topology, routing);
            check_pairs(&spec, |e| {
                assert_eq!(e.path_count, 1);
                assert!(stated(e).is_subset(&shortest(&spec.graph, e.from.router, e.to.router)));
            });
        }
    }
}

/// The dimension in which two routers of a HyperX differ.
fn dimension(graph: &Graph, a: u32, b: u32) -> usize {
    let widths = graph.structure().widths().expect("a grid");
    if a / widths[0] == b / widths[0] { 0 } else { 1 }
}

#[test]
fn dal_takes_at_most_one_detour_in_each_dimension() {
    let spec = spec(HYPERX, DAL);
    check_pairs(&spec, |e| {
        let (graph, to) = (&spec.graph, e.to.router);
        let coordinate = |router: u32, d: usize| if d == 0 { router % 4 } else { router / 4 };
        // a hop is permitted in a dimension in which the router differs from the destination; a detour only if the path has no earlier
        // detour in this dimension
        let may = |way: &Hops, at: u32, next: u32| {
            let d = dimension(graph, at, next);
            let ends: Vec<u32> = way.iter().skip(1).map(|hop| hop.0).chain([next]).collect();
            let in_d = |&&(a, b): &&(u32, u32)| dimension(graph, a, b) == d;
            let steps: Vec<(u32, u32)> = way.iter().map(|hop| hop.0).zip(ends).collect();
            let detours = steps.iter().filter(in_d).filter(|(_, b)| coordinate(*b, d) != coordinate(to, d)).count();
            coordinate(at, d) != coordinate(to, d) && detours <= 1
        };
        let all = search(graph, e.from.router, to, &mut Vec::new(), &may);
        assert_eq!(e.path_count, all.len() as u64);
        assert!(e.paths.iter().all(|path| all.contains(&hops(path))));
        for path in &e.paths {
            assert!(path.hops.iter().zip(0..).all(|(hop, index)| hop.class == index));
            assert_eq!(path.minimal, path.hops.len() == e.distance as usize);
        }
    });
}

#[test]
fn omniwar_makes_detours_while_its_vc_classes_last() {
    // at most 2 minimal hops and `deroutes` detours, which need the same number of VC classes
    for deroutes in 0..4 {
        let spec = spec(HYPERX, &format!(r#"{{"omniwar": {{"deroutes": {deroutes}}}}}"#));
        check_pairs(&spec, |e| {
            let (graph, to) = (&spec.graph, e.to.router);
            let coordinate = |router: u32, d: usize| if d == 0 { router % 4 } else { router / 4 };
            // a hop is permitted in a dimension that differs from the destination, if enough VC classes are left for the remaining hops. A
            // detour must not be in the dimension of the previous detour
            let may = |way: &Hops, at: u32, next: u32| {
                let d = dimension(graph, at, next);
                let is_detour = |d: usize, next: u32| coordinate(next, d) != coordinate(to, d);
                let left = (0..2).filter(|&d| is_detour(d, next)).count();
                let before = way.len().checked_sub(2).map(|last| dimension(graph, way[last].0, at));
                let again = before == Some(d) && is_detour(d, at) && is_detour(d, next);
                is_detour(d, at) && way.len() + left <= 2 + deroutes && !again
            };
            let all = search(graph, e.from.router, to, &mut Vec::new(), &may);
            assert_eq!(e.path_count, all.len() as u64, "{deroutes} detours");
            assert!(e.paths.iter().all(|path| all.contains(&hops(path))));
            for path in &e.paths {
                assert!(path.hops.iter().zip(0..).all(|(hop, index)| hop.class == index));
                assert_eq!(path.minimal, path.hops.len() == e.distance as usize);
            }
        });
    }
}

#[test]
fn half_way_round_a_ring_both_directions_are_equally_likely() {
    let spec = spec(r#"{"torus": {"widths": [4], "terminals_per_router": 1}}"#, DOR);
    let e = explain(&spec, 0, 2).unwrap();
    assert_eq!(e.paths.iter().map(|path| path.probability).collect::<Vec<_>>(), [Some(0.5), Some(0.5)]);
}

#[test]
fn ugal_compares_its_queues_times_hops() {
    // in the network of 4 x 3 routers, from router 0 to router 5 = (1, 1): 2 hops directly, 1 + 2 hops over router 2 = (2, 0)
    let e = explain(&spec(HYPERX, UGAL), 0, 10).unwrap();
    let choice = &e.choices[0];
    assert_eq!((choice.router, choice.candidate_count), (0, 11));
    assert_eq!((choice.candidates[0].cost.as_str(), choice.candidates[0].zero_load), ("q(port 2) * 2", 0));
    assert!(choice.candidates.iter().any(|c| c.cost == "q(port 3) * 3 + 2" && c.zero_load == 2), "{choice:?}");
}

#[test]
fn global_queues_are_those_of_the_first_global_channels() {
    // group 0 has 4 routers with 2 global ports each (ports 5 and 6 of a router); in the palm-tree arrangement, port k leads to group 8 - k
    let e = explain(&spec(DRAGONFLY, DF_UGAL_G), 0, 8).unwrap();
    let costs: Vec<&str> = e.choices[0].candidates.iter().map(|c| c.cost.as_str()).collect();
    assert!(costs[0].starts_with("q(port 6 of router 3) * "), "{costs:?}");
    assert_eq!(costs.len(), 8);
}

#[test]
fn pairs_state_whole_paths_with_legal_classes() {
    let mut seen = BTreeSet::new();
    for (turn, pair) in in_their_turns(&PAIRS) {
        // some routings have 100,000 paths between two terminals, so each routing is checked once on each topology; `make test-all` checks
        // all pairs
        if !seen.insert((pair.routing.name(), pair.topology.name())) && !all_cases() {
            continue;
        }
        let spec = pair.spec();
        let implied = imply(&spec).unwrap();
        let last = spec.graph.terminals() - 1;
        let far = [(0, last), (last, 0), (last / 2, last)];
        for &(from, to) in in_turn(turn / 2, &far).chain(&[(1, 1)]) {
            let e = explain(&spec, from, to).unwrap();
            assert!(!e.paths.is_empty(), "{pair}");
            for path in &e.paths {
                let mut at = e.from.router;
                for hop in &path.hops {
                    let port = spec.graph.ports(at)[hop.port as usize];
                    assert_eq!(hop.router, at);
                    assert!(matches!(port.peer, Peer::Router { router, .. } if router == hop.next_router));
                    let link = usize::from(port.class);
                    assert!(hop.class < e.vc_classes[link].classes && !hop.vcs.is_empty());
                    assert!(implied.vc_classes[link] <= e.vc_classes[link].classes);
                    at = hop.next_router;
                }
                assert_eq!(at, e.to.router, "{pair}");
                // h + 1 routers and h links, 2 terminal links, and 1 cycle for ejection
                let h = path.hops.len() as u64;
                assert_eq!(path.zero_load_latency, (h + 1) + 10 * h + 3);
            }
            let shares: Option<f64> = e.paths.iter().map(|path| path.probability).sum();
            if let Some(sum) = shares.filter(|_| e.path_count == e.paths.len() as u64) {
                assert!((sum - 1.0).abs() < 1e-9, "{pair}: {sum}");
            }
            assert!(shares.is_some() || !e.choices.is_empty());
        }
    }
}

#[test]
fn legs_of_dimension_order_are_those_of_valiant_and_ugal() {
    let over = |name: &str| format!(r#"{{"{name}": {{"minimal": {{"dimension_order": {{}}}}}}}}"#);
    for (on_grid, on_any) in [(VALIANT, over("valiant_over")), (UGAL, over("ugal_over"))] {
        let (on_grid, on_any) = (spec(HYPERX, on_grid), spec(HYPERX, &on_any));
        check_pairs(&on_grid, |e| {
            let other = explain(&on_any, e.from.terminal, e.to.terminal).unwrap();
            assert_eq!(e.path_count, other.path_count);
            let paths = |e: &Explanation| {
                let path = |path: &Path| (format!("{:?}", path.hops), path.probability.map(|p| (p * 1e9).round()));
                let mut paths: Vec<_> = e.paths.iter().map(path).collect();
                paths.sort_by(|a, b| a.0.cmp(&b.0));
                paths
            };
            assert_eq!(paths(e), paths(&other));
            let costs = |e: &Explanation| -> Vec<String> {
                e.choices.iter().flat_map(|c| &c.candidates).map(|c| format!("{c:?}")).collect()
            };
            assert_eq!(costs(e), costs(&other));
        });
    }
}

#[test]
fn lbr_draws_one_shortest_path_and_three_others() {
    const FLEX: &str = r#"{"flex": {"widths": [3, 3], "layers": 3, "terminals_per_router": 1}}"#;
    let spec = spec(
        FLEX,
        r#"{"lbr": {"minimal": {"flex_minimal": {}}, "candidates": {"fixed": {}}, "prefer_min_on_tie": false}}"#,
    );
    check_pairs(&spec, |e| {
        if e.from.router == e.to.router {
            return;
        }
        let shortest = shortest(&spec.graph, e.from.router, e.to.router);
        let stated = stated(e);
        assert!(stated.len() <= 4 && !stated.is_disjoint(&shortest), "{e:?}");
        assert!(stated.iter().all(|path| path.len() <= 4), "{e:?}");
        assert_eq!(e.choices[0].candidate_count, 4);
        assert!(e.choices[0].rule.starts_with("a random draw"), "{e:?}");
        // the VC class of each hop is the index of the hop on its path
        e.paths.iter().for_each(|path| path.hops.iter().zip(0u8..).for_each(|(hop, k)| assert_eq!(hop.class, k)));
    });
    // in an empty network packets take the minimal path; without `prefer_min_on_tie`, all four candidates are equally likely
    let hops = |more: &str| {
        let routing = format!(r#"{{"lbr": {{"minimal": {{"flex_minimal": {{}}}}{more}}}}}"#);
        imply(&self::spec(FLEX, &routing)).unwrap().mean_hops.unwrap()
    };
    let shortest = imply(&self::spec(FLEX, r#"{"flex_minimal": {}}"#)).unwrap().mean_hops.unwrap();
    let fixed = r#", "candidates": {"fixed": {}}"#;
    assert!((hops(fixed) - shortest).abs() < 1e-9);
    let all_four = hops(&format!(r#"{fixed}, "prefer_min_on_tie": false"#));
    assert!(all_four > 1.4 * shortest, "{all_four} {shortest}");
    // packets with random candidates use all other routers as intermediate equally often, whether each packet or each snapshot draws the
    // candidates
    let [drawn, redrawn] = ["per_packet", "per_snapshot"]
        .map(|who| hops(&format!(r#", "candidates": {{"{who}": {{}}}}, "prefer_min_on_tie": false"#)));
    let distances: Vec<Vec<u32>> = (0..27).map(|router| spec.graph.distances_from(router)).collect();
    let mut expected = 0.0;
    for (from, to) in (0..27).flat_map(|from| (0..27).map(move |to| (from, to))).filter(|(from, to)| from != to) {
        let mids = (0..27).filter(|&mid| mid != from && mid != to);
        let over = mids.map(|mid| distances[from][mid] + distances[mid][to]).sum::<u32>();
        expected += (f64::from(distances[from][to]) + 3.0 * f64::from(over) / 25.0) / 4.0;
    }
    // the mean excludes packets to the source itself, as uniform traffic does
    expected /= 27.0 * 26.0;
    assert!((drawn - expected).abs() < 1e-9, "{drawn} {expected}");
    assert_eq!(redrawn, drawn);
}
