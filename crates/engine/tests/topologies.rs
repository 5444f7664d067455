//! Tests that every example of every registered topology carries packets. Also tests the properties that groups of leaves and spines give a
//! Dragonfly+.

use crate::common::*;
use weft_engine::{Spec, imply, spec::Execution};
use weft_topology::TopologyConfig;

/// The largest number of routers of an example in this test. For larger examples, there are only the tests of graphs.
const MOST: u32 = 150;

#[test]
fn every_registered_topology_delivers_on_shortest_paths_in_any_number_of_blocks() {
    for name in TopologyConfig::NAMES {
        let examples = TopologyConfig::examples().into_iter().filter(|config| config.name() == *name);
        let mut ran = 0;
        for config in examples {
            let graph = config.build("topology").expect("a graph");
            // the default traffic is uniform, which needs two terminals
            if graph.routers() > MOST || graph.terminals() < 2 {
                continue;
            }
            let mut spec = Spec::new(&config, routing(SHORTEST)).expect("a spec");
            pattern(&mut spec, UNIFORM_SELF);
            queues(&mut spec, 16, 32);
            phases(&mut spec, 0, 400);
            spec.set_load(0.1);
            let out = run(&spec);
            assert_drained(&out);
            assert!(out.sums.packets > 0, "{config:?}");
            if ran == 0 || all_cases() {
                assert_same(&out, &run_as(&spec, Execution::new(1, 3)), name);
            }
            ran += 1;
        }
        assert!(ran > 0, "{name} has no example of {MOST} routers or fewer");
    }
}

#[test]
fn uniform_traffic_on_flex_can_reach_0_871_under_the_printed_paths_and_1_113_under_all() {
    // Hops from one router to all 108 by kind of channel, with 5 channels of each kind. Under the printed paths, 62 hops go up along x, 60
    // down along y, and 37 and 35 use the other kinds. Over all shortest paths, 48.5 use each kind. 10 terminals send 10 / 108 of their
    // load to each router. Each router has 20 terminals, so a single terminal could send more than its share of the bound.
    for (paths, hops) in [("printed", 62.0), ("balanced", 48.5)] {
        let mut spec = spec(
            r#"{"flex": {"widths": [6, 6], "layers": 3, "terminals_per_router": 20}}"#,
            &format!(r#"{{"flex_minimal": {{"paths": "{paths}"}}}}"#),
        );
        pattern(&mut spec, UNIFORM_SELF);
        let implied = imply(&spec).unwrap();
        let bound = 5.0 * 108.0 / 10.0 / hops;
        assert!((implied.channel_load_bound.unwrap() - bound / 2.0).abs() < 1e-9, "{paths}: {implied:?}");
        assert!((implied.mean_hops.unwrap() - 194.0 / 108.0).abs() < 1e-9, "{paths}: {implied:?}");
    }
}

#[test]
fn the_next_layer_of_flex_is_a_group_and_a_layer_of_its_third_dimension() {
    for pattern_of_layers in [ADVERSE, r#"{"layer_shift": {"dimension": 2, "shift": 1}}"#] {
        let mut spec = spec(r#"{"flex": {"widths": [3, 3], "layers": 3, "terminals_per_router": 2}}"#, SHORTEST);
        pattern(&mut spec, pattern_of_layers);
        let implied = imply(&spec).unwrap();
        // 4 of the 9 routers of the next layer are neighbours
        assert!((implied.mean_hops.unwrap() - (4.0 + 2.0 * 5.0) / 9.0).abs() < 1e-9, "{implied:?}");
    }
}

#[test]
fn a_group_of_leaves_and_spines_shares_one_global_link_under_group_shift() {
    // A group has 4 leaves with 2 terminals, so 8 terminals share the single link from a group to the next.
    for routing in [SHORTEST, ECMP] {
        let mut spec = spec(DRAGONFLY_PLUS, routing);
        pattern(&mut spec, ADVERSE);
        let implied = imply(&spec).unwrap();
        assert_eq!(implied.channel_load_bound, Some(1.0 / 8.0), "{routing}");
        // the hops go up to a spine, over the global link, and down to a leaf
        assert_eq!(implied.mean_hops, Some(3.0), "{routing}");
    }
}

#[test]
fn blocks_are_whole_groups_of_leaves_and_spines() {
    // 9 groups of 4 leaves and 4 spines are 72 routers.
    let graph = spec(DRAGONFLY_PLUS, SHORTEST).graph.clone();
    assert_eq!((graph.routers(), graph.structure().grain()), (72, 8));
    let groups = graph.structure().groups.as_ref().expect("groups");
    assert!(groups.places.chunks(8).all(|block| block.iter().all(|place| place.0 == block[0].0)));
}
