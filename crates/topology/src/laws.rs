//! The laws of every topology: links are symmetric, the network is connected, counts are consistent, and distances by formula equal
//! distances by search. The wiring must also agree with every view of the structure. Weft's tests check these laws for the examples of each
//! topology. Crates outside of Weft call `check` in their tests of topologies.

use crate::{CrossedLayers, Dimension, GlobalLinks, Graph, Grid, Groups, Levels, Line, Link, Peer, Port, Ring, Tree};

/// Checks the laws of all graphs, and the laws of each view of the structure.
///
/// # Panics
/// If the graph breaks a law. The message names the law or the values that differ.
pub fn check(graph: &Graph) {
    check_wiring(graph);
    check_layers(graph);
    check_distances(graph);
    check_trunks(graph);
    check_planes(graph);
    // views contain only one link between two routers, so they are checked without trunks
    let graph = &graph.without_trunks();
    let structure = graph.structure();
    structure.grid.iter().for_each(|grid| check_grid(graph, grid));
    structure.groups.iter().for_each(|groups| check_groups(graph, groups));
    structure.levels.iter().for_each(|levels| check_levels(graph, levels));
    structure.crossed.iter().for_each(|crossed| check_crossed(graph, crossed));
    check_rings(graph);
    assert_eq!(graph.routers() % structure.grain(), 0, "the grain divides the number of routers");
}

/// Checks that each plane is a copy of the network of one plane, including its ports and classes.
fn check_planes(graph: &Graph) {
    let (plane, planes) = (graph.plane(), graph.planes());
    assert_eq!((graph.routers(), graph.terminals()), (plane.routers() * planes, plane.terminals() * planes));
    let links = plane.links_by_class().into_iter().map(|(class, links)| (class, links * planes as usize));
    assert!(graph.links_by_class().into_iter().eq(links));
    for router in 0..graph.routers() {
        let (own, p) = (router / planes, router % planes);
        assert_eq!(graph.ports(router).len(), plane.ports(own).len());
        for (port, of_plane) in graph.ports(router).iter().zip(plane.ports(own)) {
            let peer = match of_plane.peer {
                Peer::Unused => Peer::Unused,
                Peer::Terminal(terminal) => Peer::Terminal(terminal * planes + p),
                Peer::Router { router, port } => Peer::Router { router: router * planes + p, port },
            };
            assert_eq!((port.peer, port.class), (peer, of_plane.class));
        }
    }
    assert_eq!(graph.bisection().links, plane.bisection().links * u64::from(planes));
    let pairs = |graph: &Graph| graph.path_diversity().by_distance.iter().map(|at| at.pairs).sum::<u64>();
    assert_eq!(pairs(graph), pairs(plane) * u64::from(planes));
}

fn peer(graph: &Graph, router: u32, port: u32) -> Peer {
    graph.ports(router)[port as usize].peer
}

/// Checks the class and the peer of port `port` of `router`.
#[track_caller]
fn check_port(graph: &Graph, router: u32, port: u32, class: u8, peer: Peer) {
    let found = graph.ports(router).get(port as usize);
    assert_eq!(found, Some(&Port { peer, class }), "port {port} of router {router} of {}", graph.topology_name());
}

/// Checks that the two ends of each link agree, and that ports to terminals come first. Checks also the number of links.
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
            assert_eq!(for_terminal, matches!(port.peer, Peer::Terminal(_)), "terminals have the first ports");
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

/// Checks that the links of a trunk join the same routers and have the same class, and that both routers number them in the same order. The
/// first links of all trunks must be the network without trunks.
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
        assert!(seen.into_iter().eq(0..graph.ports(router).len() as u16), "each port is in exactly one trunk");
    }
}

/// Checks that the first layer is the whole network. Further layers must have existing routers and classes, and different names.
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
        let exists = part.classes.iter().all(|class| found.binary_search(class).is_ok());
        assert!(exists, "the layer {} lists a class that none of its ports has", part.name);
    }
}

/// Compares the diameter and the mean distance by formula with a breadth-first search from every router.
fn check_distances(graph: &Graph) {
    let all: Vec<u32> = (0..graph.routers()).flat_map(|router| graph.distances_from(router)).collect();
    // pairs of routers in different planes are left out, because no path joins them
    for (pair, &distance) in (0..).zip(&all) {
        let planes = [pair / graph.routers(), pair % graph.routers()].map(|router| router % graph.planes());
        assert_eq!(distance == u32::MAX, planes[0] != planes[1], "{}", graph.topology_name());
    }
    let reached = || all.iter().filter(|&&distance| distance < u32::MAX);
    assert_eq!(Some(graph.diameter()), reached().copied().max(), "{}", graph.topology_name());
    let pairs = f64::from(graph.routers()) * f64::from(graph.plane().routers() - 1);
    let mean = reached().map(|&distance| f64::from(distance)).sum::<f64>() / pairs.max(1.0);
    assert!((graph.mean_distance() - mean).abs() < 1e-9, "{}: mean distance {mean}", graph.topology_name());
    let profile = graph.distances();
    let mut by_distance = vec![0; graph.diameter() as usize + 1];
    reached().for_each(|&distance| by_distance[distance as usize] += 1);
    // excludes the distance of each router to itself
    by_distance[0] -= u64::from(graph.routers());
    assert_eq!(profile.router_pairs, by_distance);
    let mut by_distance = vec![0; graph.diameter() as usize + 1];
    for (pair, &distance) in (0..).zip(&all).filter(|&(_, &distance)| distance < u32::MAX) {
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
    // An earlier check ensures that links are symmetric, so it is enough to check the ports up.
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
    let crossing = |link: &Link| {
        let [(near, port), (far, _)] = link.ends;
        near / size != far / size && !is_of_a_ring(graph, near, port)
    };
    assert_eq!(
        graph.links().filter(crossing).count() as u32,
        g * (g - 1) / 2 * per_pair,
        "no other link leaves a group"
    );
}

/// True if a port belongs to a physical ring.
fn is_of_a_ring(graph: &Graph, router: u32, port: u16) -> bool {
    let ports = |ring: &Ring| [&ring.forward, &ring.backward].map(|ports| ports[router as usize]);
    graph.structure().rings.iter().any(|ring| ports(ring).contains(&port))
}

/// Checks that a physical ring visits every router once. Only the ring may use its links, and only these links may have their link classes.
/// In a network with groups, links of one of these classes stay within a group, and links of the other class join two groups.
fn check_rings(graph: &Graph) {
    Ring::check_all(&graph.structure().rings, graph).unwrap_or_else(|what| panic!("{}: {what}", graph.topology_name()));
    let (mut of_rings, mut of_others) = (Vec::new(), Vec::new());
    for link in graph.links() {
        let [(near, port), (far, landing)] = link.ends;
        let is_of_one = is_of_a_ring(graph, near, port);
        assert_eq!(is_of_one, is_of_a_ring(graph, far, landing), "a ring has both ends of a link, or none");
        let places = graph.structure().groups.as_ref().map(|groups| [near, far].map(|r| groups.places[r as usize].0));
        let crosses = places.is_some_and(|[near, far]| near != far);
        if is_of_one { of_rings.push((link.class, crosses)) } else { of_others.push(link.class) }
    }
    assert_eq!(of_rings.len(), graph.structure().rings.len() * graph.routers() as usize);
    assert!(of_rings.iter().all(|(class, _)| !of_others.contains(class)));
    of_rings.sort_unstable();
    of_rings.dedup();
    assert!(of_rings.is_sorted_by(|(class, _), (next, _)| class < next), "each class has one kind of links");
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
        // An earlier check ensures that links are symmetric, so it is enough to check the ports up.
        for u in 0..up {
            let Peer::Router { router: parent, port } = peer(graph, router, down + u) else { panic!("no parent") };
            let mut expected = digits(router);
            expected[level as usize] = u as u8;
            assert_eq!((levels.of_router[parent as usize], digits(parent)), (level + 1, expected));
            assert_eq!(port, u16::from(digits(router)[level as usize]));
        }
    }
}
