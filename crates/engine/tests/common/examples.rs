//! Models in small examples, as the JSON of their configuration, and for each family the table from which the tests take
//! its members. A new model is enrolled by its line here.

pub const DOR: &str = r#"{"dimension_order": {}}"#;
pub const MINIMAL: &str = r#"{"minimal": {}}"#;
pub const VALIANT: &str = r#"{"valiant": {}}"#;
pub const UGAL: &str = r#"{"ugal": {}}"#;
pub const UGAL_P: &str = r#"{"ugal_p": {}}"#;
pub const PAL: &str = r#"{"pal": {}}"#;
pub const PAL_HISTORY: &str = r#"{"pal": {"sensor": "history_window"}}"#;
pub const ENTRY: &str = r#"{"dimension_order": {"dateline": "entry"}}"#;
pub const NO_DATELINE: &str = r#"{"dimension_order": {"dateline": "none"}}"#;
pub const BUBBLE: &str = r#"{"dimension_order": {"dateline": "bubble"}}"#;
pub const UGAL_DIFFERING: &str = r#"{"ugal": {"intermediate": "differing_dimensions", "sensor": "history_window"}}"#;
pub const UGAL_P_HISTORY: &str = r#"{"ugal_p": {"sensor": "history_window"}}"#;
pub const DF_MINIMAL: &str = r#"{"dragonfly_minimal": {}}"#;
pub const DF_VALIANT: &str = r#"{"dragonfly_valiant": {}}"#;
pub const DF_VALIANT_ROUTER: &str = r#"{"dragonfly_valiant": {"intermediate": "router"}}"#;
pub const DF_UGAL: &str = r#"{"dragonfly_ugal": {}}"#;
pub const DF_UGAL_ROUTER: &str = r#"{"dragonfly_ugal": {"intermediate": "router", "sensor": "output_queue"}}"#;
pub const DF_UGAL_G: &str = r#"{"dragonfly_ugal": {"queues": "global"}}"#;
pub const DF_UGAL_G_ROUTER: &str = r#"{"dragonfly_ugal": {"queues": "global", "intermediate": "router"}}"#;
/// UGAL-G, but what other routers say is 10 to 19 cycles old.
pub const DF_UGAL_POSTED: &str =
    r#"{"dragonfly_ugal": {"queues": {"posted": {"every": "10cycles", "delay": "10cycles"}}}}"#;
pub const DF_PAR: &str = r#"{"dragonfly_par": {}}"#;
pub const DF_PAR_ROUTER: &str = r#"{"dragonfly_par": {"intermediate": "router", "sensor": "output_queue"}}"#;
pub const UP_DOWN: &str = r#"{"up_down": {}}"#;
pub const D_MOD_K: &str = r#"{"up_down": {"ascent": "d_mod_k"}}"#;
pub const D_MOD_K_HIGH: &str = r#"{"up_down": {"ascent": "d_mod_k_high_first"}}"#;
pub const UP_DOWN_ADAPTIVE: &str = r#"{"up_down": {"ascent": "adaptive"}}"#;
pub const DAL: &str = r#"{"dal": {}}"#;
pub const SHORTEST: &str = r#"{"shortest_path": {}}"#;
pub const SHORTEST_FIRST: &str = r#"{"shortest_path": {"choice": "first"}}"#;
pub const ECMP: &str = r#"{"ecmp": {}}"#;
pub const ECMP_ONE: &str = r#"{"ecmp": {"classes": "one"}}"#;
/// Dimension order on [`HYPERX`].
pub const TABLE: &str = r#"{"table": {"file": "tests/data/hyperx_4x3.csv"}}"#;
/// Dimension order on [`TORUS`], up at half distance, with its dateline in the class column.
pub const TABLE_TORUS: &str = r#"{"table": {"file": "tests/data/torus_4x3.csv"}}"#;

pub const ADAPTIVE: &str = r#"{"minimal_adaptive": {}}"#;
pub const ADAPTIVE_STAYS: &str = r#"{"minimal_adaptive": {"leave_escape": false}}"#;

pub const SLAC: &str = r#"{"slac": {}}"#;

pub const SINGLE: &str = r#"{"single_router": {"terminals": 8}}"#;
pub const HYPERX: &str = r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 2}}"#;
pub const TORUS: &str = r#"{"torus": {"widths": [4, 3], "terminals_per_router": 2}}"#;
/// Two links between neighbours.
pub const TRUNKS: &str = r#"{"torus": {"widths": [4, 3], "terminals_per_router": 3, "trunk_width": 2}}"#;
pub const MESH: &str = r#"{"mesh": {"widths": [4, 3], "terminals_per_router": 2}}"#;
/// a = 4, p = 2, h = 2: 9 groups, palm tree, one link between two groups.
pub const DRAGONFLY: &str = r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2,
    "global_links_per_router": 2}}"#;
/// 4 groups with two links between two groups, 2 global ports of a group unused.
pub const DRAGONFLY_WIDE: &str = r#"{"dragonfly": {"groups": 4, "routers_per_group": 4, "terminals_per_router": 2,
    "global_links_per_router": 2, "arrangement": "absolute"}}"#;
/// 9 groups of 4 leaves with 2 terminals and 4 spines with 2 global links, one link between two groups.
pub const DRAGONFLY_PLUS: &str = r#"{"dragonfly_plus": {"leaves_per_group": 4, "spines_per_group": 4,
    "terminals_per_leaf": 2, "global_links_per_spine": 2}}"#;
/// 9 leaves of 3 terminals and 2 levels of 9 routers above.
pub const TREE: &str = r#"{"k_ary_n_tree": {"k": 3, "n": 3}}"#;
/// The Petersen graph with 0, 1 or 2 terminals on a router.
pub const GRAPH_UNEVEN: &str = r#"{"graph": {"file": "tests/data/petersen.json"}}"#;
/// As [`DRAGONFLY`], the global links between routers of the same index.
pub const CIRCULANT: &str = r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2,
    "global_links_per_router": 2, "arrangement": "circulant"}}"#;
/// As [`DRAGONFLY_WIDE`], in the mirror image of the palm tree.
pub const RELATIVE_WIDE: &str = r#"{"dragonfly": {"groups": 4, "routers_per_group": 4, "terminals_per_router": 2,
    "global_links_per_router": 2, "arrangement": "relative"}}"#;

/// The same in pods: 4 pods of 2 edge and 2 aggregation routers, 4 cores.
pub const FAT_TREE: &str = r#"{"fat_tree": {"k": 4}}"#;
pub const FULL_MESH: &str = r#"{"full_mesh": {"routers": 5, "terminals_per_router": 2}}"#;
/// The Petersen graph: 10 routers of degree 3, diameter 2, one shortest path between any two.
pub const GRAPH: &str = r#"{"graph": {"file": "tests/data/petersen.anynet"}}"#;

/// Pairs of a topology and a routing that can route it: the examples on which the tests run every routing. Each registered
/// routing has at least one line here (`conformance/routing.rs`).
pub const PAIRS: &[(&str, &str)] = &[
    (SINGLE, DOR),
    (SINGLE, MINIMAL),
    (SINGLE, VALIANT),
    (SINGLE, UGAL),
    (SINGLE, UGAL_P),
    (HYPERX, DOR),
    (HYPERX, MINIMAL),
    (HYPERX, VALIANT),
    (HYPERX, UGAL),
    (HYPERX, UGAL_DIFFERING),
    (HYPERX, UGAL_P),
    (HYPERX, UGAL_P_HISTORY),
    (SINGLE, PAL),
    (HYPERX, PAL),
    (HYPERX, PAL_HISTORY),
    (DRAGONFLY, PAL),
    (DRAGONFLY_WIDE, PAL),
    (TORUS, DOR),
    (TORUS, ENTRY),
    (TORUS, BUBBLE),
    (TORUS, VALIANT),
    (TORUS, UGAL),
    (MESH, DOR),
    (MESH, VALIANT),
    (MESH, UGAL),
    (DRAGONFLY, DF_MINIMAL),
    (DRAGONFLY, DF_VALIANT),
    (DRAGONFLY, DF_VALIANT_ROUTER),
    (DRAGONFLY, DF_UGAL),
    (DRAGONFLY, DF_UGAL_ROUTER),
    (DRAGONFLY_WIDE, DF_MINIMAL),
    (DRAGONFLY_WIDE, DF_VALIANT),
    (DRAGONFLY_WIDE, DF_UGAL),
    (DRAGONFLY, DF_UGAL_G),
    (DRAGONFLY, DF_UGAL_G_ROUTER),
    (DRAGONFLY_WIDE, DF_UGAL_G),
    (DRAGONFLY, DF_UGAL_POSTED),
    (DRAGONFLY_WIDE, DF_UGAL_POSTED),
    (DRAGONFLY, DF_PAR),
    (DRAGONFLY, DF_PAR_ROUTER),
    (DRAGONFLY_WIDE, DF_PAR),
    (DRAGONFLY_WIDE, DF_PAR_ROUTER),
    (CIRCULANT, DF_PAR),
    (RELATIVE_WIDE, DF_PAR),
    (TREE, UP_DOWN),
    (TREE, D_MOD_K),
    (TREE, D_MOD_K_HIGH),
    (TREE, UP_DOWN_ADAPTIVE),
    (FAT_TREE, UP_DOWN),
    (FAT_TREE, D_MOD_K),
    (FAT_TREE, D_MOD_K_HIGH),
    (FAT_TREE, UP_DOWN_ADAPTIVE),
    (FAT_TREE, ECMP_ONE),
    (FULL_MESH, DOR),
    (FULL_MESH, UGAL),
    (FULL_MESH, SHORTEST),
    (GRAPH, SHORTEST),
    (GRAPH, ECMP),
    (GRAPH_UNEVEN, SHORTEST),
    (GRAPH_UNEVEN, ECMP),
    (CIRCULANT, DF_MINIMAL),
    (CIRCULANT, DF_UGAL),
    (RELATIVE_WIDE, DF_VALIANT),
    (RELATIVE_WIDE, DF_UGAL),
    (SINGLE, DAL),
    (HYPERX, DAL),
    (SINGLE, SHORTEST),
    (HYPERX, SHORTEST),
    (TORUS, SHORTEST),
    (MESH, SHORTEST_FIRST),
    (DRAGONFLY, SHORTEST),
    (DRAGONFLY_PLUS, SHORTEST),
    (DRAGONFLY_PLUS, ECMP),
    (TREE, SHORTEST),
    (TORUS, ECMP),
    (DRAGONFLY_WIDE, ECMP),
    (TREE, ECMP_ONE),
    (HYPERX, TABLE),
    (TORUS, TABLE_TORUS),
    (SINGLE, ADAPTIVE),
    (HYPERX, ADAPTIVE),
    (TORUS, ADAPTIVE),
    (TORUS, ADAPTIVE_STAYS),
    (MESH, ADAPTIVE),
    (HYPERX, SLAC),
    (TRUNKS, DOR),
    (TRUNKS, BUBBLE),
    (TRUNKS, VALIANT),
    (TRUNKS, UGAL),
    (TRUNKS, ADAPTIVE),
    (TRUNKS, SHORTEST),
    (TRUNKS, ECMP),
];

pub const UNIFORM_SELF: &str = r#"{"uniform": {"include_self": true}}"#;
pub const TORNADO: &str = r#"{"tornado": {}}"#;
pub const NEIGHBOR: &str = r#"{"neighbor": {}}"#;
pub const ADVERSE: &str = r#"{"group_shift": {"shift": 1}}"#;
/// A cycle is 1 ns in these tests.
pub const IDLE_TIMEOUT: &str = r#"{"idle_timeout": {"idle": "40ns", "transition": "25ns"}}"#;
/// All links are off for a third of the time, in the first cycles too.
pub const TIMETABLE: &str = r#"{"timetable": {"off": [{"from": "0ns", "until": "40ns"}, {"from": "250ns", "until": "400ns"}],
    "period": "600ns", "transition": "15ns"}}"#;
/// Stages go on and off soon.
pub const QUICK_STAGES: &str = r#"{"slac": {"low": 0.05, "high": 0.1, "wake_per_link": "2ns", "averaging": "30ns"}}"#;
pub const ALWAYS_ON: &str = r#"{"always_on": {}}"#;
/// The star around router 0 of every subnetwork is on.
pub const ROOT: &str = r#"{"static": {"on": {"root": {}}}}"#;
/// Epochs and the time to wake are short.
pub const QUICK_TCEP: &str =
    r#"{"tcep": {"activation_epoch": "250ns", "deactivation_epoch": "1000ns", "wake": "120ns"}}"#;

/// A power policy in a network that it can manage.
pub struct PolicyExample {
    pub topology: &'static str,
    pub routing: &'static str,
    pub policy: &'static str,
    /// Classes of links between routers that the policy does not manage.
    pub stays_on: &'static [&'static str],
}

const fn everywhere(topology: &'static str, routing: &'static str, policy: &'static str) -> PolicyExample {
    PolicyExample { topology, routing, policy, stays_on: &[] }
}

/// Only inside the groups of a dragonfly.
const fn in_groups(routing: &'static str, policy: &'static str) -> PolicyExample {
    PolicyExample { topology: DRAGONFLY, routing, policy, stays_on: &["global"] }
}

/// The examples on which the tests run every policy. Each registered policy has at least one line here
/// (`conformance/policy.rs`).
pub const POLICIES: &[PolicyExample] = &[
    everywhere(HYPERX, DOR, ALWAYS_ON),
    everywhere(TREE, UP_DOWN, ALWAYS_ON),
    everywhere(HYPERX, UGAL_P, IDLE_TIMEOUT),
    everywhere(TORUS, ADAPTIVE, IDLE_TIMEOUT),
    everywhere(DRAGONFLY, DF_UGAL, IDLE_TIMEOUT),
    in_groups(DF_MINIMAL, IDLE_TIMEOUT),
    everywhere(HYPERX, UGAL_P, TIMETABLE),
    everywhere(TORUS, ADAPTIVE, TIMETABLE),
    in_groups(DF_MINIMAL, TIMETABLE),
    everywhere(HYPERX, PAL, ROOT),
    in_groups(PAL, ROOT),
    everywhere(HYPERX, PAL, QUICK_TCEP),
    everywhere(FULL_MESH, PAL_HISTORY, QUICK_TCEP),
    in_groups(PAL, QUICK_TCEP),
    everywhere(HYPERX, SLAC, QUICK_STAGES),
];

/// Every workload at least once (`conformance/workload.rs`).
pub const WORKLOADS: &[&str] = &[
    r#"{"open_loop": {}}"#,
    r#"{"request_reply": {"packet": "3flits", "outstanding": 2}}"#,
    r#"{"request_reply": {}}"#,
];

/// Every allocator at least once (`conformance/allocator.rs`).
pub const ALLOCATORS: &[&str] = &[
    r#"{"islip": {"iterations": 2}}"#,
    r#"{"separable_input_first": {"iterations": 1}}"#,
    r#"{"separable_output_first": {"iterations": 2}}"#,
    r#"{"three_stage": {}}"#,
];
