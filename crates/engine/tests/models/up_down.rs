//! Tests the predictions for a fat tree under `up_down`, and its accepted load.

use weft_engine::routing::RoutingConfig;
use weft_engine::routing::tree::up_down::UpDown;
use weft_engine::spec::Execution;
use weft_engine::{Spec, imply};
use weft_topology::k_ary_n_tree::KAryNTree;
use weft_topology::{TopologyConfig, TrunkWidth};
use weft_units::Refusal;

fn spec(k: u32, n: u32) -> Spec {
    let topology = TopologyConfig::KAryNTree(KAryNTree { k, n, trunk_width: TrunkWidth::default() });
    Spec::new(&topology, RoutingConfig::UpDown(UpDown::default())).unwrap()
}

fn pattern(spec: &mut Spec, json: &str) -> Result<(), Refusal> {
    spec.set_pattern(&serde_json::from_str(json).unwrap())
}

#[test]
fn implies_the_means_of_uniform_traffic() {
    // In the 4-ary 3-tree, 4 of 64 destinations (including the source itself) are on the same leaf, 12 are 2 links away and 48 are 4 links
    // away. A packet over a top router crosses 2 links of each level. Latencies are 10, 20 and 1 cycles for links, 1 for routers and 1 for
    // ejection.
    let mut spec = spec(4, 3);
    pattern(&mut spec, r#"{"uniform": {"include_self": true}}"#).unwrap();
    (spec.links[1].latency, spec.links[2].latency) = (10, 20);
    let implied = imply(&spec).unwrap();
    let (two, four) = (12.0 / 64.0, 48.0 / 64.0);
    let (hops, wire) = (2.0 * two + 4.0 * four, 20.0 * two + 60.0 * four);
    assert!((implied.mean_hops.unwrap() - hops).abs() < 1e-9);
    assert!((implied.zero_load_latency.unwrap() - (hops + 1.0 + wire + 2.0 + 1.0)).abs() < 1e-9);
    assert_eq!(implied.vc_classes, [1, 1, 1]);
}

#[test]
fn implies_that_a_permutation_fills_no_link() {
    // The k terminals of a leaf share its k up links equally, as do the routers above. Each channel therefore carries at most 1 flit per
    // cycle.
    let mut spec = spec(4, 3);
    pattern(&mut spec, r#"{"bit_complement": {}}"#).unwrap();
    assert_eq!(imply(&spec).unwrap().channel_load_bound, Some(1.0));
}

#[test]
fn lone_packets_take_the_implied_latency() {
    // Bit complement changes every digit, so each path has 4 links, 2 of each level, and 5 routers.
    let mut spec = spec(4, 3);
    pattern(&mut spec, r#"{"bit_complement": {}}"#).unwrap();
    (spec.links[1].latency, spec.links[2].latency) = (10, 20);
    spec.set_load(0.0);
    spec.set_load_of(5, 0.01);
    let sums = weft_engine::run(&spec, Execution::new(1, 1), &()).unwrap().sums;
    let expected = imply(&spec).unwrap().zero_load_latency.unwrap();
    assert_eq!(expected, (5 + 60 + 2 + 1) as f64);
    assert!(sums.packets > 20 && sums.hops == 4 * sums.packets);
    assert_eq!(sums.latency as f64, expected * sums.packets as f64);
}

#[test]
fn patterns_of_other_shapes_are_refused() {
    let mut spec = spec(4, 3);
    for refused in [r#"{"tornado": {}}"#, r#"{"neighbor": {}}"#, r#"{"group_shift": {"shift": 1}}"#] {
        assert!(pattern(&mut spec, refused).is_err(), "{refused}");
    }
    pattern(&mut spec, r#"{"tornado": {"by": {"digits": {"radix": 4, "digits": 3}}}}"#).unwrap();
}
