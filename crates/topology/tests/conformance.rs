//! The laws of every topology: symmetric links, connectivity, counts by formula, distances by formula equal to those by
//! search, and wiring that keeps what every view of the structure promises. Every example of every registered topology
//! is held to them.

mod common;

use proptest::prelude::*;
use serde_json::{Value, json};
use weft_topology::dragonfly::Dragonfly;
use weft_topology::dragonfly_plus::DragonflyPlus;
use weft_topology::fat_tree::FatTree;
use weft_topology::flex::Flex;
use weft_topology::hyperx::HyperX;
use weft_topology::k_ary_n_tree::KAryNTree;
use weft_topology::mesh::Mesh;
use weft_topology::slim_fly::SlimFly;
use weft_topology::torus::Torus;
use weft_topology::{
    Arrangement, CrossedLayers, Dimension, GlobalLinks, Graph, Grid, Groups, Levels, Line, Peer, Port,
};
use weft_topology::{Ring, TopologyConfig, TopologyModel, Tree, TrunkWidth};

/// A registry of topologies that this suite has never heard of.
mod newcomers {
    use weft_topology::TopologyModel;

    weft_units::registry! {
        /// One member, in a file of its own.
        pub enum Newcomers as TopologyModel, with examples:
        "bow_tie" => bow_tie::BowTie,
    }
}

const SINGLE: TrunkWidth = TrunkWidth::Same(1);

fn hyperx(widths: &[u32], terminals_per_router: u32) -> TopologyConfig {
    TopologyConfig::HyperX(HyperX { widths: widths.to_vec(), terminals_per_router, trunk_width: SINGLE })
}

fn torus(widths: &[u32], terminals_per_router: u32, trunk_width: u32) -> TopologyConfig {
    let trunk_width = TrunkWidth::Same(trunk_width);
    TopologyConfig::Torus(Torus { widths: widths.to_vec(), terminals_per_router, trunk_width })
}

fn mesh(widths: &[u32], terminals_per_router: u32) -> TopologyConfig {
    TopologyConfig::Mesh(Mesh { widths: widths.to_vec(), terminals_per_router, trunk_width: SINGLE })
}

fn dragonfly([a, p, h]: [u32; 3], groups: Option<u32>, arrangement: Arrangement) -> TopologyConfig {
    TopologyConfig::Dragonfly(Dragonfly {
        groups,
        routers_per_group: a,
        terminals_per_router: p,
        global_links_per_router: h,
        arrangement,
        trunk_width: SINGLE,
        escape_rings: 0,
    })
}

fn dragonfly_plus([leaves, spines, p, h]: [u32; 4], groups: Option<u32>, arrangement: Arrangement) -> TopologyConfig {
    TopologyConfig::DragonflyPlus(DragonflyPlus {
        groups,
        leaves_per_group: leaves,
        spines_per_group: spines,
        terminals_per_leaf: p,
        global_links_per_spine: h,
        arrangement,
        trunk_width: SINGLE,
    })
}

fn tree(k: u32, n: u32) -> TopologyConfig {
    TopologyConfig::KAryNTree(KAryNTree { k, n, trunk_width: SINGLE })
}

fn flex(widths: [u32; 2], layers: u32, terminals_per_router: u32) -> TopologyConfig {
    TopologyConfig::Flex(Flex { widths, layers, terminals_per_router, trunk_width: SINGLE })
}

fn slim_fly(q: u32, terminals_per_router: u32) -> TopologyConfig {
    TopologyConfig::SlimFly(SlimFly { q, terminals_per_router, trunk_width: SINGLE })
}

fn fat_tree(k: u32) -> TopologyConfig {
    TopologyConfig::FatTree(FatTree::of_pods(k, SINGLE))
}

/// Distance-independent counts: routers, terminals, ports of the largest router, links of each class.
fn check_counts(config: &TopologyConfig, counts: [u32; 3], links: &[(&str, u32)]) {
    let graph = config.build("topology").unwrap_or_else(|refusal| panic!("{config:?}: {refusal}"));
    assert_eq!([graph.routers(), graph.terminals(), graph.radix()], counts, "{config:?}");
    let expected: Vec<_> = links.iter().map(|&(class, links)| (class.to_owned(), links as usize)).collect();
    assert_eq!(graph.links_by_class()[1..], expected, "{config:?}");
    check(&graph);
}

#[test]
fn every_registered_topology_has_examples_that_keep_the_laws() {
    for name in TopologyConfig::NAMES {
        assert!(TopologyConfig::examples().iter().any(|config| config.name() == *name), "{name} has no examples");
    }
    for config in TopologyConfig::examples() {
        let graph = config.build("topology").unwrap_or_else(|refusal| panic!("{config:?}: {refusal}"));
        assert_eq!(graph.topology_name(), config.name());
        check(&graph);
    }
}

#[test]
fn a_newcomer_is_held_to_the_laws_by_its_registration_alone() {
    let newcomers = newcomers::Newcomers::examples();
    assert_eq!(newcomers.iter().map(newcomers::Newcomers::name).collect::<Vec<_>>(), newcomers::Newcomers::NAMES);
    newcomers.iter().for_each(|newcomer| check(&newcomer.model().build("topology").unwrap()));
}

#[test]
#[should_panic(expected = "port 2 of router 0")]
fn a_newcomer_that_promises_a_wrong_view_is_found_out() {
    check(&newcomers::bow_tie::BowTie { truthful: false }.build("topology").unwrap());
}

#[test]
fn examples_are_written_as_in_a_scenario() {
    for config in TopologyConfig::examples() {
        let text = serde_json::to_string(&config).unwrap();
        if let Ok(read) = serde_json::from_str::<TopologyConfig>(&text) {
            assert_eq!(read, config);
        } else {
            assert!(text.contains("\"file\""), "{text}: only a file can be missing");
        }
    }
}

proptest! {
    #[test]
    fn grids_of_any_size_keep_the_laws(widths in prop::collection::vec(2u32..6, 1..4), t in 1u32..4, trunk in 1u32..4) {
        let (routers, n) = (widths.iter().product::<u32>(), widths.len() as u32);
        let names: Vec<String> = (0..n).map(|d| format!("dim{d}")).collect();
        let links = |of_line: &dyn Fn(u32) -> u32| -> Vec<(&str, u32)> {
            names.iter().zip(&widths).map(|(name, &width)| (name.as_str(), routers / width * of_line(width))).collect()
        };
        let degree: u32 = widths.iter().map(|width| width - 1).sum();
        check_counts(&hyperx(&widths, t), [routers, routers * t, t + degree], &links(&|w| w * (w - 1) / 2));
        check_counts(&torus(&widths, t, trunk), [routers, routers * t, t + 2 * trunk * n], &links(&|w| w * trunk));
        check_counts(&mesh(&widths, t), [routers, routers * t, t + 2 * n], &links(&|w| w - 1));
    }

    #[test]
    fn crossed_layers_of_any_size_keep_the_laws(widths in [1u32..7, 1u32..7], layers in 2u32..9, p in 1u32..3) {
        let [x, y] = widths;
        let (per_layer, rings) = (x + y - 2, if layers == 2 { 1 } else { 2 });
        // with widths of 2 at most, x + y + layer keeps its parity unless a path can go round an odd ring
        let connected = x.max(y) > 2 || (x.max(y) == 2 && layers % 2 == 1);
        prop_assert_eq!(flex(widths, layers, p).build("topology").is_ok(), connected);
        if connected {
            let routers = x * y * layers;
            let links = [("x", routers * rings * (x - 1) / 2), ("y", routers * rings * (y - 1) / 2)];
            check_counts(&flex(widths, layers, p), [routers, routers * p, p + rings * per_layer], &links);
        }
    }

    #[test]
    fn dragonflies_of_any_size_keep_the_laws(
        a in 1u32..6, p in 1u32..3, h in 1u32..4, leaves in 1u32..4, rings in 0u32..3, choice: u32
    ) {
        use Arrangement::{Absolute, Circulant, PalmTree, Relative};
        let groups = 2 + choice % (a * h);
        let per_pair = a * h / (groups - 1);
        let global = ("global", groups * (groups - 1) / 2 * per_pair);
        for arrangement in [Absolute, PalmTree, Relative, Circulant] {
            let [one, two] = [
                dragonfly([a, p, h], Some(groups), arrangement),
                dragonfly_plus([leaves, a, p, h], Some(groups), arrangement),
            ];
            // Circulant pairs links up, on every router and in every copy.
            let fits = arrangement != Circulant || h % 2 == 0 && (groups % 2 == 1 || per_pair == 1);
            prop_assert_eq!([&one, &two].map(|config| config.build("topology").is_ok()), [fits; 2]);
            if fits {
                let counts = [a * groups, a * groups * p, p + a - 1 + h];
                let links = [("local", groups * a * (a - 1) / 2), global];
                check_counts(&one, counts, &links);
                let of_two = [(leaves + a) * groups, leaves * groups * p, (p + a).max(leaves + h)];
                check_counts(&two, of_two, &[("local", groups * leaves * a), global]);
                // each ring: a link from every router to the next one, and from the last one of each group to the next group
                let of_rings = [("ring_local", rings * groups * (a - 1)), ("ring_global", rings * groups)];
                let (TopologyConfig::Dragonfly(plain), true) = (one, rings > 0) else { continue };
                let with_rings = TopologyConfig::Dragonfly(Dragonfly { escape_rings: rings, ..plain });
                check_counts(&with_rings, [a * groups, a * groups * p, p + a - 1 + h + 2 * rings], &[links, of_rings].concat());
                let graph = with_rings.build("topology").unwrap();
                prop_assert!(graph.structure().rings.iter().all(|ring| ring.place.iter().copied().eq(0..a * groups)));
            }
        }
    }

    #[test]
    fn trees_of_any_size_keep_the_laws(k in 2u32..7, n in 1u32..4) {
        let width = k.pow(n - 1);
        let names: Vec<String> = (1..n).map(|level| format!("level{level}")).collect();
        let links: Vec<_> = names.iter().map(|name| (name.as_str(), k * width)).collect();
        check_counts(&tree(k, n), [n * width, k * width, if n > 1 { 2 * k } else { k }], &links);
        // half * half links in each of k pods, and one link from each core to each pod.
        let (half, k) = (k, 2 * k);
        let links = k * half * half;
        let counts = [2 * k * half + half * half, k * half * half, k];
        check_counts(&fat_tree(k), counts, &[("level1", links), ("level2", links)]);
    }
}

/// A number of any size, mostly small; some are where sums and products leave their type, 4,294,967,291 a prime among them.
fn number() -> impl Strategy<Value = u32> {
    let corners = vec![127, 128, 65_521, 65_536, 1 << 31, u32::MAX - 4, u32::MAX];
    prop_oneof![16 => 0u32..5, 2 => 5u32..60, 1 => any::<u32>(), 1 => prop::sample::select(corners)]
}

/// The value with other numbers in the place of all numbers, and other lengths of lists.
fn scrambled(value: &Value, numbers: &mut impl Iterator<Item = u32>) -> Value {
    match value {
        Value::Number(_) => json!(numbers.next()),
        Value::Array(_) => {
            let length = numbers.next().unwrap_or(0) % 10;
            json!(numbers.take(length as usize).collect::<Vec<_>>())
        }
        Value::Object(keys) => keys.iter().map(|(key, value)| (key.clone(), scrambled(value, numbers))).collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_size_panics(numbers in prop::collection::vec(number(), 1..20)) {
        // Most of these are refused, at a key of the scenario and with a reason.
        for example in TopologyConfig::examples() {
            let mut numbers = numbers.iter().copied().cycle();
            let text = scrambled(&serde_json::to_value(&example).unwrap(), &mut numbers);
            let Ok(config) = serde_json::from_value::<TopologyConfig>(text) else { continue };
            if let Err(refusal) = config.build("topology") {
                prop_assert!(refusal.path.starts_with("topology"));
                prop_assert!(!refusal.what.is_empty() && !refusal.help.is_empty());
            }
        }
    }
}

/// What holds for all, and what each view of the structure promises.
fn check(graph: &Graph) {
    check_wiring(graph);
    check_layers(graph);
    check_distances(graph);
    check_trunks(graph);
    // the views know one link in each place
    let graph = &graph.without_trunks();
    let structure = graph.structure();
    structure.grid.iter().for_each(|grid| check_grid(graph, grid));
    structure.groups.iter().for_each(|groups| check_groups(graph, groups));
    structure.levels.iter().for_each(|levels| check_levels(graph, levels));
    structure.crossed.iter().for_each(|crossed| check_crossed(graph, crossed));
    check_rings(graph);
    assert_eq!(graph.routers() % structure.grain(), 0, "routers are whole blocks");
}

fn peer(graph: &Graph, router: u32, port: u32) -> Peer {
    graph.ports(router)[port as usize].peer
}

/// That port `port` of `router` is of that class and wired so.
#[track_caller]
fn check_port(graph: &Graph, router: u32, port: u32, class: u8, peer: Peer) {
    let found = graph.ports(router).get(port as usize);
    assert_eq!(found, Some(&Port { peer, class }), "port {port} of router {router} of {}", graph.topology_name());
}

/// Links agree from either end, terminals come first, links are counted.
fn check_wiring(graph: &Graph) {
    if let Some(each) = graph.terminals_per_router() {
        for terminal in 0..graph.terminals() {
            assert_eq!(graph.terminal_at(terminal).0, terminal / each);
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
    assert!(graph.router_names().is_none_or(|names| names.len() == graph.routers() as usize));
}

/// Links of one trunk have the same ends and class, and both ends number them alike; their first members are all ports of
/// the network without trunks.
fn check_trunks(graph: &Graph) {
    let narrow = graph.without_trunks();
    assert!(!narrow.has_trunks() && (graph.has_trunks() || narrow == *graph));
    for router in 0..graph.routers() {
        let first_ports = narrow.ports(router);
        assert_eq!(graph.ports(router)[..first_ports.len()], *first_ports);
        let mut seen: Vec<u16> = Vec::new();
        for number in 0..first_ports.len() as u16 {
            let trunk = graph.trunk(router, number);
            let class = graph.ports(router)[usize::from(number)].class;
            assert_eq!((trunk.first, u32::from(trunk.width)), (number, graph.trunk_width(class)));
            for (k, member) in (0..).zip(trunk.members()) {
                let port = graph.ports(router)[usize::from(member)];
                assert_eq!((graph.trunk(router, member), port.class), (trunk, class));
                match (port.peer, peer(graph, router, number.into())) {
                    (Peer::Router { router: far, port }, Peer::Router { router: same, port: first }) => {
                        assert_eq!((far, port), (same, graph.trunk(same, first).member(k)));
                    }
                    (peer, first) => assert_eq!(peer, first),
                }
            }
            seen.extend(trunk.members());
        }
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..graph.ports(router).len() as u16), "each port is in one trunk");
    }
}

/// The first layer is everything; the others are routers and classes that exist, each under a name of its own.
fn check_layers(graph: &Graph) {
    let (whole, parts) = graph.layers().split_first().expect("the whole network");
    assert!(whole.routers.iter().copied().eq(0..graph.routers()));
    assert_eq!(whole.classes.len(), graph.class_names().len());
    for part in parts {
        assert!(part.routers.is_sorted_by(|a, b| a < b) && part.classes.is_sorted_by(|a, b| a < b), "{}", part.name);
        assert!(part.routers.last() < Some(&graph.routers()), "{}", part.name);
        assert_eq!(graph.layers().iter().filter(|other| other.name == part.name).count(), 1, "{}", part.name);
        let mut found: Vec<u8> = part.routers.iter().flat_map(|&r| graph.ports(r)).map(|port| port.class).collect();
        found.sort_unstable();
        assert!(part.classes.iter().all(|class| found.binary_search(class).is_ok()), "{} has no such port", part.name);
    }
}

/// Diameter and mean by formula against breadth-first search from every router.
fn check_distances(graph: &Graph) {
    let all: Vec<u32> = (0..graph.routers()).flat_map(|router| graph.distances_from(router)).collect();
    assert_eq!(Some(graph.diameter()), all.iter().copied().max(), "{}", graph.topology_name());
    let pairs = f64::from(graph.routers()) * f64::from(graph.routers() - 1);
    let mean = all.iter().map(|&distance| f64::from(distance)).sum::<f64>() / pairs.max(1.0);
    assert!((graph.mean_distance() - mean).abs() < 1e-9, "{}: {mean}", graph.topology_name());
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

fn check_grid(graph: &Graph, grid: &Grid) {
    let widths: Vec<u32> = grid.dimensions.iter().map(|dimension| dimension.width).collect();
    assert_eq!(graph.routers(), widths.iter().product::<u32>());
    let mut stride = 1;
    for dimension in &grid.dimensions {
        for router in 0..graph.routers() {
            let own = router / stride % dimension.width;
            let to = |c: u32| router - own * stride + c * stride;
            match dimension.line {
                Line::Complete => check_complete_line(graph, dimension, router, own, to),
                Line::Ring | Line::Row => check_ring_or_row(graph, dimension, router, own, to),
            }
        }
        stride *= dimension.width;
    }
    for router in 0..graph.routers() {
        let mut rest = router;
        let coordinates: Vec<u32> = widths.iter().map(|width| (rest % width, rest /= width).0).collect();
        assert!(grid.coordinates(router).eq(coordinates));
    }
}

fn check_complete_line(graph: &Graph, dimension: &Dimension, router: u32, own: u32, to: impl Fn(u32) -> u32) {
    let &Dimension { width, first_port, class, .. } = dimension;
    for c in (0..width).filter(|&c| c != own) {
        let number = |from: u32, to: u32| if to < from { to } else { to - 1 };
        let port = |from: u32, to: u32| u32::from(first_port) + number(from, to);
        let far = Peer::Router { router: to(c), port: port(c, own) as u16 };
        check_port(graph, router, port(own, c), class, far);
    }
}

fn check_ring_or_row(graph: &Graph, dimension: &Dimension, router: u32, own: u32, to: impl Fn(u32) -> u32) {
    let &Dimension { width, line, first_port, class } = dimension;
    // Symmetry is checked above, so that the ports down follow from those up.
    let [up, down] = [0, 1].map(|direction| u32::from(first_port) + direction);
    let above = match line == Line::Ring || own + 1 < width {
        true => Peer::Router { router: to((own + 1) % width), port: down as u16 },
        false => Peer::Unused,
    };
    check_port(graph, router, up, class, above);
    assert_eq!(peer(graph, router, down) == Peer::Unused, line == Line::Row && own == 0);
}

fn check_groups(graph: &Graph, groups: &Groups) {
    assert_eq!(groups.places.len() as u32, graph.routers());
    let mut sizes = vec![0; groups.count as usize];
    for &(group, index) in &groups.places {
        assert_eq!(index, sizes[group as usize], "indices ascend with the ids of routers");
        sizes[group as usize] += 1;
    }
    assert!(sizes.iter().all(|&size| size > 0), "{sizes:?}");
    if let Some(complete) = groups.complete {
        let size = groups.run().expect("equal groups, one after the other");
        for (router, &(group, own)) in (0..).zip(&groups.places) {
            for j in (0..size).filter(|&j| j != own) {
                let port = |from: u32, to: u32| u32::from(complete.first_port) + if to < from { to } else { to - 1 };
                let far = Peer::Router { router: group * size + j, port: port(j, own) as u16 };
                check_port(graph, router, port(own, j), complete.class, far);
            }
        }
    }
    groups.global.iter().for_each(|links| check_global_links(graph, groups, links));
}

fn check_global_links(graph: &Graph, groups: &Groups, links: &GlobalLinks) {
    let (g, per_pair) = (groups.count, links.per_pair());
    let size = groups.run().expect("equal groups, one after the other");
    assert_eq!((g, per_pair), (links.groups, links.gateways.len() as u32 / (g - 1)));
    let mut between = vec![0; (g * g) as usize];
    for (group, (k, &(index, port))) in (0..g).flat_map(|group| (0..).zip(&links.gateways).map(move |k| (group, k))) {
        match peer(graph, group * size + index, port.into()) {
            Peer::Router { router: far, .. } => {
                assert_eq!(links.arrangement.target(g, group, k), far / size);
                assert_eq!(links.arrangement.port_to(g, group, far / size) + k / (g - 1) * (g - 1), k);
                between[(group * g + far / size) as usize] += 1;
            }
            unused => assert!(unused == Peer::Unused && k >= per_pair * (g - 1)),
        }
    }
    for (pair, links) in (0..).zip(between) {
        assert_eq!(links, if pair / g == pair % g { 0 } else { per_pair });
    }
    let crossing = |link: &weft_topology::Link| {
        let [(near, port), (far, _)] = link.ends;
        near / size != far / size && !is_of_a_ring(graph, near, port)
    };
    assert_eq!(
        graph.links().filter(crossing).count() as u32,
        g * (g - 1) / 2 * per_pair,
        "no other link leaves a group"
    );
}

/// Whether a port belongs to a physical ring.
fn is_of_a_ring(graph: &Graph, router: u32, port: u16) -> bool {
    let ports = |ring: &Ring| [&ring.forward, &ring.backward].map(|ports| ports[router as usize]);
    graph.structure().rings.iter().any(|ring| ports(ring).contains(&port))
}

/// Physical rings visit every router once, each over links of its own, whose classes no other links have; where there are
/// groups, links of one class stay in a group and those of the other one lead from group to group.
fn check_rings(graph: &Graph) {
    Ring::check_all(&graph.structure().rings, graph).unwrap_or_else(|what| panic!("{}: {what}", graph.topology_name()));
    let (mut of_rings, mut of_others) = (Vec::new(), Vec::new());
    for link in graph.links() {
        let [(near, port), (far, landing)] = link.ends;
        let is_of_one = is_of_a_ring(graph, near, port);
        assert_eq!(is_of_one, is_of_a_ring(graph, far, landing), "both ends of a link are of the ring, or none");
        let places = graph.structure().groups.as_ref().map(|groups| [near, far].map(|r| groups.places[r as usize].0));
        let crosses = places.is_some_and(|[near, far]| near != far);
        if is_of_one { of_rings.push((link.class, crosses)) } else { of_others.push(link.class) }
    }
    assert_eq!(of_rings.len(), graph.structure().rings.len() * graph.routers() as usize);
    assert!(of_rings.iter().all(|(class, _)| !of_others.contains(class)));
    of_rings.sort_unstable();
    of_rings.dedup();
    assert!(of_rings.is_sorted_by(|(class, _), (next, _)| class < next), "a class is of one kind of links");
}

fn check_crossed(graph: &Graph, crossed: &CrossedLayers) {
    let [x, y, layers] = crossed.widths;
    assert_eq!(graph.routers(), crossed.routers());
    assert_eq!(graph.structure().widths(), Some(vec![x, y, layers]));
    for router in 0..graph.routers() {
        let here = crossed.coordinates(router);
        assert_eq!((crossed.router(here), graph.structure().coordinates(router)), (router, Some(here.to_vec())));
        let directions = if layers > 2 { vec![true, false] } else { vec![true] };
        for (up, axis) in directions.into_iter().flat_map(|up| [(up, 0), (up, 1)]) {
            let number = |from: u32, to: u32| if to < from { to } else { to - 1 };
            for c in (0..crossed.widths[axis]).filter(|&c| c != here[axis]) {
                let mut far = [here[0], here[1], (here[2] + if up { 1 } else { layers - 1 }) % layers];
                far[axis] = c;
                let back = crossed.first_port_of(!up, axis) + number(c, here[axis]);
                let far = Peer::Router { router: crossed.router(far), port: back as u16 };
                let port = crossed.first_port_of(up, axis) + number(here[axis], c);
                check_port(graph, router, port, crossed.classes[axis], far);
            }
        }
        let ports = crossed.ports_per_layer() * if layers > 2 { 2 } else { 1 };
        assert_eq!(graph.ports(router).len() as u32, u32::from(crossed.first_port) + ports);
        let distances = graph.distances_from(router);
        for (far, &distance) in (0..).zip(&distances) {
            assert_eq!(crossed.distance(crossed.offset(router, far)), distance, "from {router} to {far}");
        }
    }
}

fn check_levels(graph: &Graph, levels: &Levels) {
    assert_eq!(levels.of_router.len() as u32, graph.routers());
    let sizes: Vec<u32> = (0..levels.count).map(|level| levels.size(level)).collect();
    assert!(sizes.iter().all(|&size| size > 0) && sizes.iter().sum::<u32>() == graph.routers(), "{sizes:?}");
    levels.tree.iter().for_each(|tree| check_tree(graph, levels, tree));
}

fn check_tree(graph: &Graph, levels: &Levels, tree: &Tree) {
    let top = levels.count - 1;
    let leaves = levels.size(0);
    assert!(levels.of_router.is_sorted());
    assert_eq!((tree.down.len() as u32, tree.up.len() as u32), (levels.count, top));
    assert!(graph.terminals() <= leaves * tree.down[0]);
    let digits = |router: u32| tree.digits[router as usize];
    for router in 0..graph.routers() {
        let level = levels.of_router[router as usize];
        let down = tree.down[level as usize];
        let up = tree.up.get(level as usize).copied().unwrap_or(0);
        assert_eq!(graph.ports(router).len() as u32, down + up);
        assert!(digits(router)[top as usize..].iter().all(|&digit| digit == 0));
        // Symmetry is checked above, so that the ports down follow from those up.
        for u in 0..up {
            let Peer::Router { router: parent, port } = peer(graph, router, down + u) else { panic!("no parent") };
            let mut expected = digits(router);
            expected[level as usize] = u as u8;
            assert_eq!((levels.of_router[parent as usize], digits(parent)), (level + 1, expected));
            assert_eq!(port, u16::from(digits(router)[level as usize]));
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

/// Routers, ports per router, links between routers, terminals.
fn size(config: &TopologyConfig) -> [usize; 4] {
    let graph = config.build("topology").unwrap_or_else(|refusal| panic!("{config:?}: {refusal}"));
    [graph.routers() as usize, graph.radix() as usize, graph.links().count(), graph.terminals() as usize]
}

#[test]
fn the_networks_that_flex_was_compared_with_can_be_written() {
    // FleX (IEEE Access 2022), table 6. Its power and cost are of the tree of pods, its loads of the 10-ary tree; its Slim
    // Fly has 13 links and 6 terminals per router, so 19 ports (it prints 20).
    assert_eq!(size(&tree(10, 3)), [300, 20, 2000, 1000]);
    assert_eq!(size(&fat_tree(16)), [320, 16, 2048, 1024]);
    assert_eq!(size(&dragonfly([8, 4, 4], None, Arrangement::PalmTree)), [264, 15, 1452, 1056]);
    assert_eq!(size(&hyperx(&[10, 10], 10)), [100, 28, 900, 1000]);
    assert_eq!(size(&slim_fly(9, 6)), [162, 19, 1053, 972]);
    assert_eq!(size(&flex([6, 6], 3, 10)), [108, 30, 1080, 1080]);
    // the larger FleX of its figure 13, and the layers and the HyperX of three dimensions of figures 15 to 17
    assert_eq!(size(&flex([8, 8], 3, 5)), [192, 33, 2688, 960]);
    for layers in 3..8 {
        assert_eq!(
            size(&flex([6, 6], layers, 1)),
            [36 * layers as usize, 21, 360 * layers as usize, 36 * layers as usize]
        );
    }
    assert_eq!(size(&hyperx(&[6, 6, 6], 1)), [216, 16, 216 * 15 / 2, 216]);
    // tables 4 and 5: the largest of about 10,000 terminals, a third of the ports for terminals (a half in trees)
    let near = |config: &TopologyConfig| size(config)[3].abs_diff(10_000) < 1000;
    assert!(near(&fat_tree(34)) && near(&tree(22, 3)) && near(&hyperx(&[22, 22], 21)) && near(&flex([12, 12], 3, 22)));
    assert!(near(&dragonfly([14, 7, 7], None, Arrangement::PalmTree)) && near(&slim_fly(19, 14)));
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
