//! Tests blocks of trees. The routers of such a block do not have consecutive numbers. No result may depend on the blocks.

use crate::common::*;
use crate::programs::spec_of;
use weft_engine::outcome::Ending;
use weft_engine::spec::Execution;

const TREE: &str = r#"{"fat_tree": {"k": 4}}"#;
const UP_DOWN: &str = r#"{"up_down": {}}"#;

/// Each node has a terminal in each of two trees. The 16 nodes, and the pods above them, are divided among the blocks.
#[test]
fn a_program_on_trees_changes_no_bit_with_blocks_threads_and_checkpoints() {
    let workload = r#"{"programs": {"program": {"collective": {"operation": "all_to_all", "ranks": 32, "bytes": "150B", "gap": "40ns"}},
        "ranks_per_terminal": 2, "local_latency": "3ns", "eager": "100B"}}"#;
    let spec = spec_of(&format!(r#"{{"planes": {{"count": 2, "of": {TREE}}}}}"#), UP_DOWN, workload, 16);
    let one = run(&spec);
    assert_eq!((&one.ending, one.missing_packets), (&Ending::Drained, 0));
    let divisions: &[(usize, usize)] = if all_cases() { &[(1, 2), (2, 2), (2, 3), (3, 8)] } else { &[(1, 2), (3, 8)] };
    for &(threads, blocks) in divisions {
        let other = run_as(&spec, Execution::new(threads, blocks));
        assert_same(&one, &other, &format!("{threads} threads, {blocks} blocks"));
        assert!(one.jobs == other.jobs && one.recorded == other.recorded);
    }
    check_blocks(&spec, "an all-to-all over trees");
}

/// In the results, tables and channels are in the order of the routers in the network, not in the order of blocks.
#[test]
fn tables_of_a_tree_do_not_depend_on_its_blocks() {
    let mut spec = spec(TREE, UP_DOWN);
    phases(&mut spec, 300, 1500);
    spec.set_load(0.05);
    policy(&mut spec, IDLE_TIMEOUT);
    record_link_states(&mut spec, 100_000);
    for recording in [
        r#"{"router_sleep": {}}"#,
        r#"{"series": {"every": "100cycles", "of": "channel"}}"#,
        r#"{"occupancy": {"every": "100cycles"}}"#,
    ] {
        record(&mut spec, recording);
    }
    let one = run(&spec);
    assert_eq!(counts_in(table(&one, "router_sleep"), "router"), (0..20).collect::<Vec<_>>());
    for blocks in [2, 3, 8] {
        let other = run_as(&spec, Execution::new(1, blocks));
        assert_same(&one, &other, &format!("{blocks} blocks"));
        assert_eq!(one.channels, other.channels, "{blocks} blocks");
        assert_eq!(format!("{:?}", one.recorded), format!("{:?}", other.recorded), "{blocks} blocks");
    }
}
