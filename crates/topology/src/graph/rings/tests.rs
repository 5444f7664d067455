use super::Ring;
use crate::{Graph, Peer, TopologyConfig};
use std::collections::BTreeSet;

fn build(json: &str) -> Graph {
    let config: TopologyConfig = serde_json::from_str(json).expect("a topology");
    config.build("topology").unwrap_or_else(|refusal| panic!("{json}: {refusal}"))
}

fn dragonfly([a, p, h]: [u32; 3], more: &str) -> Graph {
    let sizes = format!(r#""routers_per_group": {a}, "terminals_per_router": {p}, "global_links_per_router": {h}"#);
    build(&format!(r#"{{"dragonfly": {{{sizes}{more}}}}}"#))
}

/// A dragonfly with the palm tree arrangement and balanced sizes: a = 2h, p = h.
fn palm_tree(h: u32) -> Graph {
    dragonfly([2 * h, h, h], "")
}

fn hyperx(widths: &str) -> Graph {
    build(&format!(r#"{{"hyperx": {{"widths": {widths}, "terminals_per_router": 1}}}}"#))
}

/// The links of a ring, each identified by its smaller end.
fn links(graph: &Graph, ring: &Ring) -> BTreeSet<(u32, u16)> {
    let link = |router: u32| {
        let port = ring.forward[router as usize];
        match graph.ports(router)[usize::from(port)].peer {
            Peer::Router { router: far, port: landing } => (router, port).min((far, landing)),
            other => panic!("no link: {other:?}"),
        }
    };
    (0..graph.routers()).map(link).collect()
}

/// Checks that the rings are valid and have no link in common. The check counts common links by another method than `check_all`.
fn check(graph: &Graph, rings: &[Ring]) {
    Ring::check_all(rings, graph).unwrap_or_else(|what| panic!("{}: {what}", graph.topology_name()));
    let all: BTreeSet<(u32, u16)> = rings.iter().flat_map(|ring| links(graph, ring)).collect();
    assert_eq!(all.len(), rings.len() * graph.routers() as usize);
    for ring in rings {
        let order: BTreeSet<u32> = ring.order().into_iter().collect();
        assert!(order.into_iter().eq(0..graph.routers()));
    }
}

fn refusal(rings: Result<impl std::fmt::Debug, weft_units::Refusal>) -> weft_units::Refusal {
    let refusal = rings.expect_err("no such ring");
    assert!(refusal.path == "routing.ring" && !refusal.help.is_empty(), "{refusal}");
    refusal
}

#[test]
fn a_full_palm_tree_has_the_ring_in_label_order() {
    for graph in [palm_tree(1), palm_tree(2), palm_tree(6), dragonfly([3, 1, 2], ""), dragonfly([1, 1, 4], "")] {
        let ring = Ring::in_label_order(&graph, "routing.ring").expect("it closes");
        check(&graph, std::slice::from_ref(&ring));
        assert!(ring.place.iter().copied().eq(0..graph.routers()));
    }
    // in a trunk, the ring uses only the first link
    let wide = dragonfly([4, 2, 2], r#", "trunk_width": 2"#);
    let ring = Ring::in_label_order(&wide, "routing.ring").expect("it closes");
    assert_eq!(Ok(ring), Ring::in_label_order(&palm_tree(2), "routing.ring"));
}

#[test]
fn other_networks_whose_neighbours_by_label_are_linked_have_it_too() {
    let mesh = build(r#"{"full_mesh": {"routers": 5, "terminals_per_router": 1}}"#);
    let torus = build(r#"{"torus": {"widths": [7], "terminals_per_router": 1}}"#);
    for graph in [mesh, torus, hyperx("[6]")] {
        check(&graph, &[Ring::in_label_order(&graph, "routing.ring").expect("it closes")]);
    }
}

/// For h = 2, 3, 4, 6 the numbers of groups are g = 9, 19, 33, 73. For each entry router e < a/2 = h, a ring needs a step s from group to
/// group. The step must be in (e h, (e + 1) h], and have no common factor with g. For g = 9 such steps are 1 and 2 (e = 0), and 4 (e = 1).
/// For g = 33 one such step for each e is 1, 5, 10 and 13. The numbers 19 and 73 are primes, so every step is possible. So each of these
/// networks has h rings.
#[test]
fn palm_trees_have_a_ring_for_each_pair_of_routers() {
    for h in [2, 3, 4, 6] {
        let graph = palm_tree(h);
        let rings = Ring::disjoint(&graph, h, "routing.ring").expect("h rings");
        check(&graph, &rings);
        assert_eq!(Ok(&rings[0]), Ring::in_label_order(&graph, "routing.ring").as_ref());
        let fewer = Ring::disjoint(&graph, h - 1, "routing.ring").expect("fewer rings");
        assert_eq!(fewer[..], rings[..h as usize - 1]);
        let more = refusal(Ring::disjoint(&graph, h + 1, "routing.ring"));
        let (a, g) = (2 * h, 2 * h * h + 1);
        let pairs = format!(
            "in a palm tree of {g} groups of {a} routers each group has {h} pairs of entry and exit routers, with one ring for \
             each pair"
        );
        let what = format!("{} rings are too many: {pairs}", h + 1);
        assert_eq!((more.what, more.help), (what, format!("write at most {h}")));
    }
}

/// With a = 4 and h = 1, g is 5 and the steps are 1 and 2. With a = 8 and h = 1, g is 9. The third pair of routers has only the step 3,
/// which is a factor of 9.
#[test]
fn a_pair_of_routers_whose_steps_do_not_visit_all_groups_has_no_ring() {
    let graph = dragonfly([4, 1, 1], "");
    check(&graph, &Ring::disjoint(&graph, 2, "routing.ring").expect("two rings"));
    let graph = dragonfly([8, 1, 1], "");
    check(&graph, &Ring::disjoint(&graph, 3, "routing.ring").expect("steps 1, 2 and 4"));
    let what = "4 rings are too many: in a palm tree of 9 groups of 8 routers each group has 4 pairs of entry and exit routers, with at \
                most one ring for each pair; pairs without a ring: 1, because all of the 1 steps from group to group that such a pair can \
                use have a common factor with 9";
    assert_eq!(refusal(Ring::disjoint(&graph, 4, "routing.ring")).what, what);
}

#[test]
fn networks_without_the_ring_are_refused_with_what_is_missing_and_a_remedy_that_works() {
    let remedy = "use arrangement: palm_tree and remove groups, so that the last router of each group has a link to the \
                  first router of the next group; or give the ring its own links with escape_rings: 1";
    for (h, more, why) in [
        // the ring needs a link from router 3 to router 4, but not all arrangements have this link. With the arrangement `absolute`, port 0
        // of group 0 leads to port 0 of group 1
        (2, r#", "arrangement": "absolute""#, "the link from group 0 to group 1 connects routers 0 and 4"),
        // with the arrangement `relative`, port 0 leads to the last port of the next group
        (2, r#", "arrangement": "relative""#, "the link from group 0 to group 1 connects routers 0 and 7"),
        (2, r#", "arrangement": "circulant""#, "the link from group 0 to group 1 connects routers 0 and 4"),
        // with one link per pair of groups, port g - 2 = 5 is on router 2
        (2, r#", "groups": 7"#, "the link from group 0 to group 1 connects routers 2 and 4"),
        // with two links per pair of groups, ports 3 and 7 lead to ports 0 and 4
        (2, r#", "groups": 5"#, "none of the 2 links from group 0 to group 1 connects these routers"),
    ] {
        let refused = refusal(Ring::in_label_order(&dragonfly([4, 2, h], more), "routing.ring"));
        let missing = "a ring in label order needs a link from router 3 to router 4, but it does not exist";
        assert_eq!((refused.what, refused.help.as_str()), (format!("{missing}: {why}"), remedy));
        let with_ring = dragonfly([4, 2, h], &format!(r#"{more}, "escape_rings": 1"#));
        check(&with_ring, &with_ring.structure().rings);
    }
    let grid = refusal(Ring::in_label_order(&hyperx("[4, 4]"), "routing.ring"));
    assert_eq!(grid.what, "a ring in label order needs a link from router 3 to router 4, but it does not exist");
    assert!(grid.help.contains("a full mesh, or a dragonfly with arrangement: palm_tree"), "{grid}");
    let pair = refusal(Ring::in_label_order(&hyperx("[2]"), "routing.ring"));
    assert_eq!(pair.what, "a ring over links of the network needs at least 3 routers, but the network has 2");
}

#[test]
fn physical_rings_are_no_links_for_embedded_ones() {
    let with_ring = dragonfly([4, 2, 2], r#", "escape_rings": 1, "trunk_width": 2"#);
    let (physical, embedded) =
        (&with_ring.structure().rings[0], Ring::in_label_order(&with_ring, "routing.ring").expect("a palm tree"));
    assert_eq!(Ok(&embedded), Ring::in_label_order(&palm_tree(2), "routing.ring").as_ref());
    check(&with_ring, &[physical.clone(), embedded]);
    let absolute = dragonfly([4, 2, 2], r#", "escape_rings": 1, "trunk_width": 2, "arrangement": "absolute""#);
    refusal(Ring::in_label_order(&absolute, "routing.ring"));
}

#[test]
fn grids_whose_lines_close_have_a_ring_and_dense_networks_have_several() {
    for widths in
        ["[3]", "[2, 2]", "[3, 3]", "[4, 3]", "[3, 4]", "[2, 3]", "[3, 2, 5]", "[1, 3, 1, 3, 3]", "[2, 2, 2, 2]"]
    {
        let graph = hyperx(widths);
        check(&graph, &Ring::disjoint(&graph, 1, "routing.ring").expect(widths));
    }
    for (widths, line) in [("[5]", "torus"), ("[3, 5]", "torus"), ("[4, 4, 3]", "torus")] {
        let graph = build(&format!(r#"{{"{line}": {{"widths": {widths}, "terminals_per_router": 1}}}}"#));
        check(&graph, &Ring::disjoint(&graph, 1, "routing.ring").expect(widths));
    }
    for (graph, count) in [
        (hyperx("[8, 8]"), 5),
        (hyperx("[12]"), 3),
        (dragonfly([4, 2, 2], r#", "arrangement": "absolute""#), 1),
        (dragonfly([8, 4, 4], r#", "arrangement": "relative""#), 2),
        (build(r#"{"mesh": {"widths": [4, 4], "terminals_per_router": 1}}"#), 1),
    ] {
        let rings = Ring::disjoint(&graph, count, "routing.ring").expect("the search finds them");
        check(&graph, &rings);
        assert_eq!(Ok(rings), Ring::disjoint(&graph, count, "routing.ring"), "always the same ones");
    }
}

#[test]
fn more_rings_than_links_or_than_are_found_are_refused() {
    // each router has 7 + 7 links, but 8 rings need 16
    let refused = refusal(Ring::disjoint(&hyperx("[8, 8]"), 8, "routing.ring"));
    let what = "8 rings without a common link need 16 links of each router; router 0 has 14 neighbours";
    assert_eq!((refused.what.as_str(), refused.help.as_str()), (what, "write at most 7"));
    assert_eq!(refusal(Ring::disjoint(&palm_tree(2), 0, "routing.ring")).what, "0 rings are too few");
    // a ring visits leaves and tops alternately, so it needs the same number of both, but the tree has 8 leaves and 4 tops
    let tree = build(r#"{"fat_tree": {"k": 4}}"#);
    let refused = refusal(Ring::disjoint(&tree, 1, "routing.ring"));
    assert_eq!(refused.what, "the scenario needs 1 ring; a search found 0");
}

#[test]
fn a_broken_ring_is_found_out() {
    let graph = palm_tree(2);
    let whole = Ring::in_label_order(&graph, "routing.ring").expect("a palm tree");
    assert_eq!(whole.check(&graph), Ok(()));
    let broken = |change: &dyn Fn(&mut Ring)| {
        let mut ring = whole.clone();
        change(&mut ring);
        ring.check(&graph).expect_err("it is broken")
    };
    // a router has 2 ports to terminals, 3 local and 2 global ports; the forward port of router 1 leads to port 3 of router 2
    assert_eq!(broken(&|ring| ring.forward[1] = 0), "port 0 of router 1 leads to terminal 2");
    assert_eq!(broken(&|ring| ring.forward[1] = 9), "router 1 has no port 9");
    let elsewhere =
        "the forward port 4 of router 1 leads to port 3 of router 3, but the backward port of that router is 4";
    assert_eq!(broken(&|ring| ring.forward[1] = 4), elsewhere);
    let back = "the forward port 3 of router 1 leads to port 3 of router 2, but the backward port of that router is 2";
    assert_eq!(broken(&|ring| ring.backward[2] = 2), back);
    assert_eq!(broken(&|ring| ring.place.swap(4, 5)), "router 4 is 4 hops after router 0, but its position is 5");
    assert_eq!(broken(&|ring| ring.place.truncate(35)), "the ring lists 35 routers; the network has 36");
    // the network after a fault of the link between routers 8 and 9
    let left = graph.without(|a, b, _| (a.min(b), a.max(b)) == (8, 9));
    assert_eq!(whole.check(&left), Err("port 2 of router 8 is unused".to_owned()));
    let others = Ring::disjoint(&left, 1, "routing.ring").expect("another way round");
    check(&left, &others);
}

#[test]
fn a_ring_that_closes_early_is_found_out() {
    // two closed paths through 4 routers each, one per row of a network of 2 x 4 routers
    let graph = hyperx("[4, 2]");
    let row = |first: u32| -> Vec<u32> { (first..first + 4).collect() };
    let (low, high) = (Ring::along(&graph, &row(0)).expect("a row"), Ring::along(&graph, &row(4)).expect("a row"));
    let ring = Ring {
        forward: [&low.forward[..4], &high.forward[4..]].concat(),
        backward: [&low.backward[..4], &high.backward[4..]].concat(),
        place: (0..8).collect(),
    };
    assert_eq!(ring.check(&graph), Err("the ring returns to router 0 after 4 of 8 routers".to_owned()));
}

#[test]
fn rings_that_share_a_link_are_found_out() {
    let graph = palm_tree(2);
    let mut rings = Ring::disjoint(&graph, 2, "routing.ring").expect("two rings");
    assert_eq!(Ring::check_all(&rings, &graph), Ok(()));
    // a second copy of the first ring, and then its opposite direction
    rings.push(rings[0].clone());
    let same = "rings 0 and 2 share the link at port 2 of router 0";
    assert_eq!(Ring::check_all(&rings, &graph), Err(same.to_owned()));
    let order: Vec<u32> = std::iter::once(0).chain((1..36).rev()).collect();
    rings[2] = Ring::along(&graph, &order).expect("the way back");
    let other_way = "rings 0 and 2 share the link at port 5 of router 0";
    assert_eq!(Ring::check_all(&rings, &graph), Err(other_way.to_owned()));
}

/// From Garcia et al., Section VII: a ring adds N wires to a network of N routers. Between groups, the ring adds 2 h^2 + 1 wires to the 2
/// h^4 + h^2 links of the network. For h = 16 these numbers are 513 and 131,328, so the ring adds 0.39 % (the paper prints 0.3 %).
#[test]
fn a_physical_ring_adds_the_wires_of_the_paper() {
    for h in [2, 4, 16] {
        let graph = dragonfly([2 * h, 1, h], r#", "escape_rings": 1"#);
        let links = graph.links_by_class();
        let count = |name: &str| links.iter().find(|(class, _)| class == name).expect("a class").1 as u32;
        let groups = 2 * h * h + 1;
        assert_eq!(count("ring_local") + count("ring_global"), graph.routers());
        assert_eq!((count("ring_global"), count("global")), (groups, 2 * h.pow(4) + h * h));
        if h == 16 {
            let share = f64::from(count("ring_global")) / f64::from(count("global"));
            assert_eq!((graph.routers(), (share * 1e4).round()), (16_416, 39.0));
        }
    }
}

#[test]
fn the_largest_network_gets_its_rings_at_once() {
    let start = std::time::Instant::now();
    // With h = 16 there are 513 = 27 * 19 groups of 32 routers, so steps with a factor 3 or 19 give no ring.
    let graph = dragonfly([32, 16, 16], r#", "escape_rings": 1"#);
    let rings = Ring::disjoint(&graph, 16, "routing.ring").expect("16 rings");
    check(&graph, &rings);
    // a ring needs 8 bytes of memory per router
    assert_eq!(rings[0].forward.len() * 2 + rings[0].backward.len() * 2 + rings[0].place.len() * 4, 8 * 16_416);
    // The limit is long enough for a slow machine and a debug build.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
