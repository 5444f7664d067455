//! Tests routings that are free of deadlock on any graph and need few VC classes. On 200 random graphs the dependency check must find no
//! cycle, with at most 8 VC classes.

use weft_engine::routing::RoutingConfig;
use weft_engine::{Spec, imply};
use weft_topology::{TopologyConfig, graph_file::GraphFile};
use weft_units::{InputFile, Refusal};

/// Reproducible random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(n)) as u32
    }
}

/// A graph as a list of its links, each listed once.
struct Links {
    routers: u32,
    links: Vec<(u32, u32)>,
}

impl Links {
    /// Connects two routers, unless they are the same router or already connected.
    fn join(&mut self, a: u32, b: u32) {
        let link = (a.min(b), a.max(b));
        if a != b && !self.links.contains(&link) {
            self.links.push(link);
        }
    }

    /// A tree: connects each router to an earlier router that `choose` returns.
    fn tree(routers: u32, mut choose: impl FnMut(u32) -> u32) -> Self {
        let mut tree = Self { routers, links: Vec::new() };
        (1..routers).for_each(|router| tree.join(router, choose(router)));
        tree
    }

    fn ring(routers: u32) -> Self {
        let mut ring = Self::tree(routers, |router| router - 1);
        ring.join(0, routers - 1);
        ring
    }

    /// The topology with a terminal at every router, except those for which `bare` is true, in the format of BookSim.
    fn topology(&self, bare: impl Fn(u32) -> bool) -> TopologyConfig {
        let mut lines: Vec<String> = (0..self.routers).map(|router| format!("router {router}")).collect();
        let hosts = (0..self.routers).filter(|&router| !bare(router));
        hosts.zip(0..).for_each(|(router, node)| lines[router as usize] += &format!(" node {node}"));
        self.links.iter().for_each(|(a, b)| lines[*a as usize] += &format!(" router {b}"));
        let file = InputFile::new("random.anynet", lines.join("\n").as_bytes());
        TopologyConfig::GraphFile(GraphFile::of(file))
    }
}

/// Graphs of six kinds in turn: ring, tree, star, wide-area network (a tree whose routers also have links to near routers, and a few
/// shortcuts), random graph, and torus with missing links.
fn random_graph(number: u64) -> Links {
    let mut random = Random(number);
    let routers = 4 + random.below(29);
    match number % 6 {
        0 => Links::ring(routers),
        1 => Links::tree(routers, |router| random.below(router)),
        2 => Links::tree(routers, |_| 0),
        3 => {
            let mut wan = Links::tree(routers, |router| router - 1 - random.below(router.min(3)));
            (0..routers / 3).for_each(|_| wan.join(random.below(routers), random.below(routers)));
            wan
        }
        4 => {
            let mut graph = Links::tree(routers, |router| random.below(router));
            (0..2 * routers).for_each(|_| graph.join(random.below(routers), random.below(routers)));
            graph
        }
        _ => {
            // rows of 5 routers; a comb of links keeps the graph connected, and three quarters of the other links exist
            let rows = routers.div_ceil(5);
            let mut torus = Links::tree(5 * rows, |router| if router % 5 == 0 { router - 5 } else { router - 1 });
            for (x, y) in (0..5).flat_map(|x| (0..rows).map(move |y| (x, y))) {
                if random.below(4) > 0 {
                    torus.join(5 * y + x, 5 * ((y + 1) % rows) + x);
                }
                torus.join(5 * y, 5 * y + 4);
            }
            torus
        }
    }
}

/// Number of VC classes of the links between routers, according to the check of the scenario. Panics if the check refuses the scenario.
fn classes(topology: &TopologyConfig, routing: &str) -> u8 {
    let routing: RoutingConfig = serde_json::from_str(routing).expect("a routing");
    let mut spec = Spec::new(topology, routing).expect("a spec");
    spec.links.iter_mut().for_each(|link| link.vcs = 8);
    let implied = imply(&spec).unwrap_or_else(|refusal| panic!("{refusal}"));
    implied.vc_classes[1]
}

#[test]
fn two_hundred_random_graphs_have_no_cycle_in_eight_classes() {
    let mut most = 0;
    for number in 0..200 {
        let graph = random_graph(number);
        // every fifth graph has some routers without terminals
        let topology = graph.topology(|router| number % 5 == 0 && router % 3 == 1);
        assert_eq!(classes(&topology, r#"{"up_down_any": {}}"#), 1, "graph {number}");
        let layers = classes(&topology, r#"{"lash": {}}"#);
        assert!(layers <= 8, "graph {number}: {layers} layers");
        // for trees and stars, one layer can contain all paths
        assert!(number % 6 > 2 || number % 6 == 0 || layers == 1, "graph {number}: {layers} layers");
        most = most.max(layers);
    }
    assert!(most > 1, "no graph has a cycle: the test tests nothing");
}

#[test]
fn a_ring_of_forty_routers_needs_few_classes() {
    let ring = Links::ring(40).topology(|_| false);
    assert_eq!(classes(&ring, r#"{"up_down_any": {}}"#), 1);
    // one layer can't contain all shortest paths of a ring, because these paths surround the ring in both directions
    let layers = classes(&ring, r#"{"lash": {}}"#);
    assert!((2..=3).contains(&layers), "{layers} layers");
    // 20 hops would need 20 VC classes, which is more than a link can have
    let refusal = refused(&ring, r#"{"shortest_path": {}}"#);
    assert!(refusal.what.contains("20 links need 20 VC classes"), "{refusal}");
    assert_eq!(proposed(&refusal), ["up_down_any", "lash"]);
    proposed(&refusal).iter().for_each(|name| assert!(classes(&ring, &format!(r#"{{"{name}": {{}}}}"#)) <= 8));
    let refusal = refused(&ring, r#"{"lash": {"layers": 1}}"#);
    assert_eq!((refusal.path.as_str(), proposed(&refusal)), ("routing.lash.layers", vec!["up_down_any"]));
    let enough = refusal.help.split(' ').nth(1).expect("write N layers");
    assert_eq!(enough, layers.to_string());
    assert_eq!(classes(&ring, &format!(r#"{{"lash": {{"layers": {enough}}}}}"#)), layers);
    // if there is a routing for this topology, the refusal also proposes it
    let torus = r#"{"torus": {"widths": [40], "terminals_per_router": 1}}"#;
    let torus: TopologyConfig = serde_json::from_str(torus).expect("a torus");
    let refusal = refused(&torus, r#"{"ecmp": {}}"#);
    assert_eq!(proposed(&refusal), ["dimension_order", "up_down_any", "lash"]);
    proposed(&refusal).iter().for_each(|name| assert!(classes(&torus, &format!(r#"{{"{name}": {{}}}}"#)) <= 8));
}

fn refused(topology: &TopologyConfig, routing: &str) -> Refusal {
    let routing: RoutingConfig = serde_json::from_str(routing).expect("a routing");
    imply(&Spec::new(topology, routing).expect("a spec")).expect_err("refused")
}

/// The routings that a refusal proposes.
fn proposed(refusal: &Refusal) -> Vec<&str> {
    let (_, names) = refusal.help.split_once("fewer VC classes: ").unwrap_or_else(|| panic!("{refusal}"));
    names.split(", ").collect()
}
