//! Tests that every example of every registered topology obeys the laws of topologies (`src/laws.rs`). Random sizes of some topologies must
//! also obey these laws, and their counts must agree with formulas. Known values must agree with the literature.

use proptest::prelude::*;
use serde_json::{Value, json};
use weft_topology::dragonfly::Dragonfly;
use weft_topology::dragonfly_plus::DragonflyPlus;
use weft_topology::fat_tree::FatTree;
use weft_topology::flex::Flex;
use weft_topology::hyperx::HyperX;
use weft_topology::k_ary_n_tree::KAryNTree;
use weft_topology::laws::check;
use weft_topology::mesh::Mesh;
use weft_topology::slim_fly::SlimFly;
use weft_topology::torus::Torus;
use weft_topology::{Arrangement, TopologyConfig, TopologyModel, TrunkWidth};

/// A registry with a topology that only this test registers, and whose name occurs nowhere else.
mod newcomers {
    use weft_topology::TopologyModel;

    weft_units::registry! {
        /// The registry, with one topology in a separate file.
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

/// Checks the counts that do not depend on distances: routers, terminals, ports of the largest router, links of each class.
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

/// Factor by which tests multiply their number of rounds. `make test-all` sets it (WEFT_TEST_ROUNDS).
fn rounds() -> u32 {
    std::env::var("WEFT_TEST_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64 * rounds()))]

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
        // if all widths are at most 2, every hop keeps the parity of x + y + layer. So the network is connected only with an odd number of
        // layers
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
            // Circulant links come in pairs, on every router and in every copy of the wiring.
            let fits = arrangement != Circulant || h % 2 == 0 && (groups % 2 == 1 || per_pair == 1);
            prop_assert_eq!([&one, &two].map(|config| config.build("topology").is_ok()), [fits; 2]);
            if fits {
                let counts = [a * groups, a * groups * p, p + a - 1 + h];
                let links = [("local", groups * a * (a - 1) / 2), global];
                check_counts(&one, counts, &links);
                let of_two = [(leaves + a) * groups, leaves * groups * p, (p + a).max(leaves + h)];
                check_counts(&two, of_two, &[("local", groups * leaves * a), global]);
                // each ring has a link from every router to the next; the link of the last router of a group leads to the next group
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
        // each of k pods has half * half links, and each core router has one link to each pod
        let (half, k) = (k, 2 * k);
        let links = k * half * half;
        let counts = [2 * k * half + half * half, k * half * half, k];
        check_counts(&fat_tree(k), counts, &[("level1", links), ("level2", links)]);
    }
}

/// A random number, usually small. Some numbers make sums and products overflow, for example the prime 4,294,967,291.
fn number() -> impl Strategy<Value = u32> {
    let corners = vec![127, 128, 65_521, 65_536, 1 << 31, u32::MAX - 4, u32::MAX];
    prop_oneof![16 => 0u32..5, 2 => 5u32..60, 1 => any::<u32>(), 1 => prop::sample::select(corners)]
}

/// Copies a JSON value, with other numbers in place of all its numbers, and with other lengths of its lists.
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
    // only 16 cases, because a network that is not refused can be large
    #![proptest_config(ProptestConfig::with_cases(16 * rounds()))]

    #[test]
    fn no_size_panics(numbers in prop::collection::vec(number(), 1..20)) {
        // Most of these sizes are refused; the refusal must name a key of the scenario and a reason.
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

#[test]
fn known_values_agree_with_the_literature() {
    let built = |config: TopologyConfig| config.build("topology").unwrap();
    // Dragonfly a=8, p=4, h=4 has 264 routers and 1,452 links (FleX, table 6): 33 * 28 local + 33 * 32 / 2 global links.
    let graph = built(dragonfly([8, 4, 4], None, Arrangement::Absolute));
    assert_eq!((graph.routers(), graph.links().count(), graph.diameter()), (264, 924 + 528, 3));
    // HyperX 6x6 has the mean distance 2 * 5/6 * 36/35 = 1.714.
    assert!((built(hyperx(&[6, 6], 6)).mean_distance() - 12.0 / 7.0).abs() < 1e-12);
    // HyperX 10x10 has 900 links.
    assert_eq!(built(hyperx(&[10, 10], 10)).links().count(), 900);
    // The 10-ary 3-tree has 1,000 terminals, 300 routers and 2,000 links (FleX, table 6). Leaves are at most 4 links apart.
    let graph = built(tree(10, 3));
    assert_eq!((graph.terminals(), graph.routers(), graph.links().count(), graph.diameter()), (1000, 300, 2000, 4));
}

/// Four numbers of a network: routers, ports per router, links between routers, terminals.
fn size(config: &TopologyConfig) -> [usize; 4] {
    let graph = config.build("topology").unwrap_or_else(|refusal| panic!("{config:?}: {refusal}"));
    [graph.routers() as usize, graph.radix() as usize, graph.links().count(), graph.terminals() as usize]
}

#[test]
fn the_networks_that_flex_was_compared_with_can_be_written() {
    // The sizes are in table 6 of FleX (IEEE Access 2022). The power and cost in the table are for the tree of pods, and the loads for the
    // 10-ary tree. The Slim Fly in the table has 13 links and 6 terminals per router, so 19 ports, although the table prints 20.
    assert_eq!(size(&tree(10, 3)), [300, 20, 2000, 1000]);
    assert_eq!(size(&fat_tree(16)), [320, 16, 2048, 1024]);
    assert_eq!(size(&dragonfly([8, 4, 4], None, Arrangement::PalmTree)), [264, 15, 1452, 1056]);
    assert_eq!(size(&hyperx(&[10, 10], 10)), [100, 28, 900, 1000]);
    assert_eq!(size(&slim_fly(9, 6)), [162, 19, 1053, 972]);
    assert_eq!(size(&flex([6, 6], 3, 10)), [108, 30, 1080, 1080]);
    // the larger FleX in figure 13 of the paper, and the layers and the HyperX of three dimensions in figures 15 to 17
    assert_eq!(size(&flex([8, 8], 3, 5)), [192, 33, 2688, 960]);
    for layers in 3..8 {
        assert_eq!(
            size(&flex([6, 6], layers, 1)),
            [36 * layers as usize, 21, 360 * layers as usize, 36 * layers as usize]
        );
    }
    assert_eq!(size(&hyperx(&[6, 6, 6], 1)), [216, 16, 216 * 15 / 2, 216]);
    // tables 4 and 5 of the paper: the largest networks of about 10,000 terminals. A third of the ports is for terminals (in trees, half of
    // the ports)
    let near = |config: &TopologyConfig| size(config)[3].abs_diff(10_000) < 1000;
    assert!(near(&fat_tree(34)) && near(&tree(22, 3)) && near(&hyperx(&[22, 22], 21)) && near(&flex([12, 12], 3, 22)));
    assert!(near(&dragonfly([14, 7, 7], None, Arrangement::PalmTree)) && near(&slim_fly(19, 14)));
}

#[test]
fn the_largest_systems_are_built_at_once() {
    let start = std::time::Instant::now();
    // Two networks have 92,672 terminals, in 181 groups of 32 routers with 16 terminals each. The two networks have 1
    // link and 2 links per pair of groups.
    for h in [6, 16] {
        let graph = dragonfly([32, 16, h], Some(181), Arrangement::PalmTree).build("topology").unwrap();
        assert_eq!((graph.terminals(), graph.routers(), graph.diameter()), (92_672, 5_792, 3));
    }
    // Building takes seconds on a slow machine in a debug build, but an algorithm with quadratic time would take minutes.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
