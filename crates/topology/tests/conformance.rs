//! The laws of every topology: symmetric links, connectivity, counts by formula, distances by formula equal to those by
//! search, and the numbering that [`Shape`] documents. A topology without an instance here fails the suite.

mod common;

use proptest::prelude::*;
use std::collections::BTreeSet;
use weft_topology::dragonfly::{Arrangement, Dragonfly, links_per_pair};
use weft_topology::fat_tree::FatTree;
use weft_topology::full_mesh::FullMesh;
use weft_topology::hyperx::HyperX;
use weft_topology::k_ary_n_tree::KAryNTree;
use weft_topology::mesh::Mesh;
use weft_topology::single_router::SingleRouter;
use weft_topology::torus::Torus;
use weft_topology::{Graph, Peer, Port, Shape, TopologyConfig};

fn hyperx(widths: &[u32], terminals_per_router: u32) -> TopologyConfig {
    TopologyConfig::HyperX(HyperX { widths: widths.to_vec(), terminals_per_router })
}

fn torus(widths: &[u32], terminals_per_router: u32, trunk_width: u32) -> TopologyConfig {
    TopologyConfig::Torus(Torus { widths: widths.to_vec(), terminals_per_router, trunk_width })
}

fn mesh(widths: &[u32], terminals_per_router: u32) -> TopologyConfig {
    TopologyConfig::Mesh(Mesh { widths: widths.to_vec(), terminals_per_router })
}

fn dragonfly([a, p, h]: [u32; 3], groups: Option<u32>, arrangement: Arrangement) -> TopologyConfig {
    TopologyConfig::Dragonfly(Dragonfly {
        groups,
        routers_per_group: a,
        terminals_per_router: p,
        global_links_per_router: h,
        arrangement,
    })
}

fn tree(k: u32, n: u32) -> TopologyConfig {
    TopologyConfig::KAryNTree(KAryNTree { k, n })
}

fn fat_tree(k: u32) -> TopologyConfig {
    TopologyConfig::FatTree(FatTree { k })
}

fn full_mesh(routers: u32, terminals_per_router: u32) -> TopologyConfig {
    TopologyConfig::FullMesh(FullMesh { routers, terminals_per_router })
}

/// A hub without terminals; routers with 0, 1 and 3.
const STAR: &str = r#"{"nodes": [{"id": "hub"}, {"id": "a", "terminals": 1}, {"id": "b", "terminals": 3}],
    "links": [{"source": "a", "target": "hub"}, {"source": "hub", "target": "b", "class": "fast"}]}"#;

/// Instances of every registered topology: ordinary sizes and the smallest and oddest.
fn instances() -> Vec<TopologyConfig> {
    use Arrangement::{Absolute, Circulant, PalmTree, Relative};
    vec![
        TopologyConfig::SingleRouter(SingleRouter { terminals: 1 }),
        TopologyConfig::SingleRouter(SingleRouter { terminals: 128 }),
        hyperx(&[1], 1),
        hyperx(&[8, 8], 8),
        hyperx(&[3, 1, 4], 2),
        hyperx(&[2; 8], 1),
        torus(&[2], 1, 1),
        torus(&[8, 8], 1, 1),
        torus(&[5, 2, 4], 3, 1),
        torus(&[2], 5, 3),
        torus(&[4, 3, 2], 2, 4),
        mesh(&[2], 1),
        mesh(&[7, 3], 2),
        mesh(&[2, 5, 4], 1),
        dragonfly([1, 1, 1], None, PalmTree),
        dragonfly([8, 4, 4], None, PalmTree),
        dragonfly([8, 4, 4], None, Absolute),
        // 8 ports per group: 2 links per pair for 5 groups, and 2 links and 2 unused ports for 4.
        dragonfly([4, 2, 2], Some(5), PalmTree),
        dragonfly([4, 2, 2], Some(4), PalmTree),
        dragonfly([4, 2, 2], Some(4), Absolute),
        dragonfly([4, 2, 2], Some(2), Absolute),
        dragonfly([8, 4, 4], None, Relative),
        dragonfly([8, 4, 4], None, Circulant),
        dragonfly([4, 2, 2], Some(4), Relative),
        dragonfly([4, 2, 2], Some(5), Circulant),
        dragonfly([4, 2, 2], Some(8), Circulant),
        tree(2, 1),
        tree(128, 1),
        tree(64, 2),
        tree(4, 3),
        tree(2, 8),
        full_mesh(1, 3),
        full_mesh(2, 1),
        full_mesh(64, 64),
        full_mesh(128, 1),
        common::graph_file("star.json", STAR),
        common::graph_file("pair.anynet", "router 0 node 1 router 1\nrouter 1 node 0"),
    ]
    .into_iter()
    .chain((1..=8).map(|half| fat_tree(2 * half)))
    .collect()
}

#[test]
fn every_registered_topology_has_an_instance() {
    let present: BTreeSet<_> = instances().iter().map(TopologyConfig::name).collect();
    assert_eq!(present, TopologyConfig::NAMES.iter().copied().collect());
}

#[test]
fn instances_keep_the_laws() {
    instances().iter().for_each(check);
}

proptest! {
    #[test]
    fn grids_of_any_size_keep_the_laws(widths in prop::collection::vec(2u32..6, 1..4), terminals in 1u32..4, trunk in 1u32..4) {
        check(&hyperx(&widths, terminals));
        check(&torus(&widths, terminals, trunk));
        check(&mesh(&widths, terminals));
    }

    #[test]
    fn dragonflies_of_any_size_keep_the_laws(a in 1u32..6, p in 1u32..3, h in 1u32..4, choice: u32) {
        use Arrangement::{Absolute, Circulant, PalmTree, Relative};
        let groups = 2 + choice % (a * h);
        for arrangement in [Absolute, PalmTree, Relative] {
            check(&dragonfly([a, p, h], Some(groups), arrangement));
        }
        // Circulant pairs links up, on every router and in every copy.
        let circulant = dragonfly([a, p, h], Some(groups), Circulant);
        let pairs = h % 2 == 0 && (groups % 2 == 1 || links_per_pair(a, h, groups) == 1);
        prop_assert_eq!(circulant.build("topology").is_ok(), pairs);
        if pairs {
            check(&circulant);
        }
    }

    #[test]
    fn trees_of_any_size_keep_the_laws(k in 2u32..7, n in 1u32..4) {
        check(&tree(k, n));
    }

    #[test]
    fn no_size_panics(widths in prop::collection::vec(any::<u32>(), 0..10), a: u32, p: u32, h: u32, g: u32) {
        // Most of these are refused, at a key of the scenario and with a reason.
        let groups = (g % 2 == 0).then_some(g);
        let configs = [
            TopologyConfig::SingleRouter(SingleRouter { terminals: p }),
            hyperx(&widths, p),
            torus(&widths, p, h),
            torus(&widths.iter().map(|width| width % 6).collect::<Vec<_>>(), p % 9, h % 9),
            mesh(&widths, p),
            dragonfly([a, p, h], groups, Arrangement::PalmTree),
            dragonfly([a % 12, p % 9, h % 12], groups.map(|g| g % 150), Arrangement::PalmTree),
            dragonfly([a % 12, p % 9, h % 12], groups.map(|g| g % 150), Arrangement::Circulant),
            tree(a, p),
            tree(a % 70, p % 4),
            fat_tree(a),
            fat_tree(a % 40),
            full_mesh(a, p),
            full_mesh(a % 150, p % 90),
        ];
        for config in configs {
            if let Err(refusal) = config.build("topology") {
                prop_assert!(refusal.path.starts_with("topology"));
                prop_assert!(!refusal.what.is_empty() && !refusal.help.is_empty());
            }
        }
    }
}

fn check(config: &TopologyConfig) {
    let graph = config.build("topology").unwrap_or_else(|refusal| panic!("{config:?}: {refusal}"));
    check_structure(&graph);
    check_distances(&graph);
    match graph.shape().clone() {
        Shape::SingleRouter { terminals } => assert_eq!((graph.routers(), graph.terminals()), (1, terminals)),
        Shape::HyperX { widths, terminals } => check_hyperx(&graph, &widths, terminals),
        Shape::Torus { widths, terminals, wrap, trunk } => check_torus(&graph, &widths, terminals, wrap, trunk),
        Shape::Dragonfly { a, p, h, g, arrangement } => check_dragonfly(&graph, [a, p, h, g], arrangement),
        Shape::KAryNTree { k, n } => check_tree(&graph, k, n),
        Shape::FatTree { k } => check_fat_tree(&graph, k),
        Shape::Graph { .. } => assert_eq!(graph.router_names().map(<[_]>::len), Some(graph.routers() as usize)),
    }
}

fn peer(graph: &Graph, router: u32, port: u32) -> Peer {
    graph.ports(router)[port as usize].peer
}

/// What holds for all: links agree from either end, terminals come first and follow the routers (the first ones, where
/// only the leaves of a tree have any), links are counted.
fn check_structure(graph: &Graph) {
    let levels = graph.shape().levels().unwrap_or_else(|| std::iter::once(0..graph.routers()).collect());
    assert!(levels.iter().flat_map(Clone::clone).eq(0..graph.routers()));
    if let Some(each) = graph.shape().terminals_per_router() {
        assert_eq!(graph.terminals(), each * levels[0].len() as u32);
        for terminal in 0..graph.terminals() {
            assert_eq!(graph.terminal_at(terminal), (terminal / each, (terminal % each) as u16));
        }
    }
    for terminal in 0..graph.terminals() {
        let (router, port) = graph.terminal_at(terminal);
        assert_eq!(peer(graph, router, port.into()), Peer::Terminal(terminal));
    }
    let (mut link_ends, mut ports) = (0, 0);
    for router in 0..graph.routers() {
        assert_eq!(graph.port_base(router), ports);
        ports += graph.ports(router).len() as u32;
        for (number, port) in graph.ports(router).iter().enumerate() {
            let for_terminal = number < graph.terminals_of(router) as usize;
            assert_eq!(for_terminal, matches!(port.peer, Peer::Terminal(_)), "terminals come first");
            let Peer::Router { router: far, port: far_port } = port.peer else { continue };
            link_ends += 1;
            let back = Port { peer: Peer::Router { router, port: number as u16 }, class: port.class };
            assert_eq!(graph.ports(far)[far_port as usize], back);
        }
    }
    assert_eq!(graph.port_base(graph.routers()), ports);
    assert_eq!(graph.links().count() * 2, link_ends);
    let by_class = graph.links_by_class();
    assert_eq!(by_class[0], ("terminal".to_owned(), graph.terminals() as usize));
    assert_eq!(by_class[1..].iter().map(|(_, count)| count).sum::<usize>(), graph.links().count());
    assert!(by_class.iter().map(|(name, _)| name).eq(graph.class_names()));
    assert_eq!(graph.routers() % graph.grain(), 0, "routers are whole blocks");
}

/// Diameter and mean by formula against breadth-first search from every router.
fn check_distances(graph: &Graph) {
    let all: Vec<u32> = (0..graph.routers()).flat_map(|router| graph.distances_from(router)).collect();
    assert_eq!(Some(graph.diameter()), all.iter().copied().max(), "{:?}", graph.shape());
    let pairs = f64::from(graph.routers()) * f64::from(graph.routers() - 1);
    let mean = all.iter().map(|&distance| f64::from(distance)).sum::<f64>() / pairs.max(1.0);
    assert!((graph.mean_distance() - mean).abs() < 1e-9, "{:?}: {mean}", graph.shape());
    let profile = graph.distances();
    let mut by_distance = vec![0; graph.diameter() as usize + 1];
    all.iter().for_each(|&distance| by_distance[distance as usize] += 1);
    // the search does not count a router as far from itself
    by_distance[0] -= u64::from(graph.routers());
    assert_eq!(profile.router_pairs, by_distance);
    let mut by_distance = vec![0; graph.diameter() as usize + 1];
    for (pair, &distance) in (0..).zip(&all) {
        let [from, to] = [pair / graph.routers(), pair % graph.routers()];
        let own = u64::from(from == to);
        by_distance[distance as usize] += graph.terminals_of(from) * (graph.terminals_of(to).saturating_sub(own));
    }
    assert_eq!(profile.terminal_pairs, by_distance);
}

fn coordinates(mut router: u32, widths: &[u32]) -> Vec<u32> {
    widths.iter().map(|width| (router % width, router /= width).0).collect()
}

fn router_at(coordinates: &[u32], widths: &[u32]) -> u32 {
    widths.iter().zip(coordinates).rev().fold(0, |router, (width, coordinate)| router * width + coordinate)
}

fn check_hyperx(graph: &Graph, widths: &[u32], terminals: u32) {
    let routers: u32 = widths.iter().product();
    let degree: u32 = widths.iter().map(|width| width - 1).sum();
    assert_eq!((graph.routers(), graph.radix()), (routers, terminals + degree));
    assert_eq!(graph.shape().router_widths(), Some(widths));
    for (d, &width) in widths.iter().enumerate() {
        // routers / width rows of width * (width - 1) / 2 pairs each.
        let links = routers * (width - 1) / 2;
        assert_eq!(graph.links_by_class()[1 + d], (format!("dim{d}"), links as usize));
    }
    for router in 0..routers {
        let own = coordinates(router, widths);
        for (d, &width) in widths.iter().enumerate() {
            let first = terminals + widths[..d].iter().map(|width| width - 1).sum::<u32>();
            for c in (0..width).filter(|&c| c != own[d]) {
                let mut far = own.clone();
                far[d] = c;
                let Peer::Router { router: reached, .. } =
                    peer(graph, router, first + if c < own[d] { c } else { c - 1 })
                else {
                    panic!("no router {far:?}")
                };
                assert_eq!(reached, router_at(&far, widths));
            }
        }
    }
}

fn check_torus(graph: &Graph, widths: &[u32], terminals: u32, wrap: bool, trunk: u32) {
    let routers: u32 = widths.iter().product();
    assert_eq!((graph.routers(), graph.radix()), (routers, terminals + 2 * trunk * widths.len() as u32));
    for (d, &width) in widths.iter().enumerate() {
        // Each row is a ring of width trunks, or a line with one less.
        let links = routers / width * trunk * if wrap { width } else { width - 1 };
        assert_eq!(graph.links_by_class()[1 + d], (format!("dim{d}"), links as usize));
    }
    for router in 0..routers {
        let own = coordinates(router, widths);
        for (d, &width) in widths.iter().enumerate() {
            let mut far = own.clone();
            far[d] = (own[d] + 1) % width;
            for m in 0..trunk {
                let [up, down] = [0, 1].map(|direction| terminals + (2 * d as u32 + direction) * trunk + m);
                let expected = match wrap || own[d] + 1 < width {
                    true => Peer::Router { router: router_at(&far, widths), port: down as u16 },
                    false => Peer::Unused,
                };
                // Symmetry is checked above, so that the ports down follow from those up.
                assert_eq!(peer(graph, router, up), expected);
                assert_eq!(peer(graph, router, down) == Peer::Unused, !wrap && own[d] == 0);
            }
        }
    }
}

fn check_dragonfly(graph: &Graph, [a, p, h, g]: [u32; 4], arrangement: Arrangement) {
    let per_pair = links_per_pair(a, h, g);
    assert_eq!((graph.routers(), graph.radix()), (a * g, p + a - 1 + h));
    assert_eq!(graph.shape().groups(), Some((g, a)));
    let local = g * a * (a - 1) / 2;
    let global = g * (g - 1) / 2 * per_pair;
    assert_eq!(graph.links_by_class()[1..], [("local".into(), local as usize), ("global".into(), global as usize)]);
    let mut between = vec![0; (g * g) as usize];
    for router in 0..a * g {
        let (group, own) = (router / a, router % a);
        for j in (0..a).filter(|&j| j != own) {
            let Peer::Router { router: far, .. } = peer(graph, router, p + if j < own { j } else { j - 1 }) else {
                panic!("no local link")
            };
            assert_eq!(far, group * a + j);
        }
        for j in 0..h {
            let k = own * h + j;
            match peer(graph, router, p + a - 1 + j) {
                Peer::Router { router: far, .. } => {
                    assert_eq!(arrangement.target(g, group, k), far / a);
                    assert_eq!(arrangement.port_to(g, group, far / a) + k / (g - 1) * (g - 1), k);
                    between[(group * g + far / a) as usize] += 1;
                }
                unused => assert!(unused == Peer::Unused && k >= per_pair * (g - 1)),
            }
        }
    }
    for (pair, links) in between.into_iter().enumerate() {
        let same_group = pair as u32 / g == pair as u32 % g;
        assert_eq!(links, if same_group { 0 } else { per_pair });
    }
}

fn check_tree(graph: &Graph, k: u32, n: u32) {
    let width = k.pow(n - 1);
    assert_eq!((graph.terminals(), graph.routers()), (k * width, n * width));
    assert_eq!(graph.links_by_class().len(), n as usize);
    for level in 1..n {
        // Every one of the k^(n-1) routers has k links down.
        assert_eq!(graph.links_by_class()[level as usize], (format!("level{level}"), (k * width) as usize));
    }
    let digits = |router: u32| coordinates(router % width, &vec![k; n as usize - 1]);
    for router in 0..graph.routers() {
        let level = router / width;
        assert_eq!(graph.ports(router).len() as u32, if level < n - 1 { 2 * k } else { k });
        // Symmetry is checked above, so that the ports down follow from those up.
        for up in k..graph.ports(router).len() as u32 {
            let mut far = digits(router);
            let own = std::mem::replace(&mut far[level as usize], up - k);
            let Peer::Router { router: reached, port } = peer(graph, router, up) else { panic!("no link up") };
            assert_eq!((reached / width, digits(reached), u32::from(port)), (level + 1, far, own));
        }
    }
}

fn check_fat_tree(graph: &Graph, k: u32) {
    let half = k / 2;
    let [edges, cores] = [k * half, half * half];
    assert_eq!((graph.terminals(), graph.routers(), graph.radix()), (k * k * k / 4, 2 * edges + cores, k));
    // half * half links in each of k pods, and one link from each core to each pod.
    let links = (k * half * half) as usize;
    assert_eq!(graph.links_by_class()[1..], [("level1".into(), links), ("level2".into(), links)]);
    let to = |router, port: u32| Peer::Router { router, port: port as u16 };
    for pod in 0..k {
        for (index, up) in (0..half).flat_map(|index| (0..half).map(move |up| (index, up))) {
            // Symmetry is checked above, so that the ports down follow from those up.
            let edge = peer(graph, pod * half + index, half + up);
            assert_eq!(edge, to(edges + pod * half + up, index));
            let aggregation = peer(graph, edges + pod * half + index, half + up);
            assert_eq!(aggregation, to(2 * edges + index * half + up, pod));
        }
    }
}

#[test]
fn known_values_agree_with_the_literature() {
    let built = |config: TopologyConfig| config.build("topology").unwrap();
    // Dragonfly a=8, p=4, h=4: 264 routers, 1,452 links (FleX, table 6): 33 * 28 local + 33 * 32 / 2 global.
    let graph = built(dragonfly([8, 4, 4], None, Arrangement::Absolute));
    assert_eq!((graph.routers(), graph.links().count(), graph.diameter()), (264, 924 + 528, 3));
    // HyperX 6x6: mean distance 2 * 5/6 * 36/35 = 1.714.
    assert!((built(hyperx(&[6, 6], 6)).mean_distance() - 12.0 / 7.0).abs() < 1e-12);
    // HyperX 10x10: 900 links.
    assert_eq!(built(hyperx(&[10, 10], 10)).links().count(), 900);
    // 10-ary 3-tree: 1,000 terminals, 300 routers, 2,000 links (FleX, table 6); leaves are 4 links apart at most.
    let graph = built(tree(10, 3));
    assert_eq!((graph.terminals(), graph.routers(), graph.links().count(), graph.diameter()), (1000, 300, 2000, 4));
}

#[test]
fn the_largest_systems_are_built_at_once() {
    let start = std::time::Instant::now();
    // Both have 92,672 terminals: 181 groups x 32 routers x 16, with 1 link and with 2 links per pair of groups.
    for h in [6, 16] {
        let graph = dragonfly([32, 16, h], Some(181), Arrangement::PalmTree).build("topology").unwrap();
        assert_eq!((graph.terminals(), graph.routers(), graph.diameter()), (92_672, 5_792, 3));
    }
    // Seconds on a slow machine in a debug build; a quadratic step would take minutes.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
