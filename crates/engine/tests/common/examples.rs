//! Configurations of models as JSON, for tests of specific models. Tests of all members of a family use the examples in `members.rs`.

pub const DOR: &str = r#"{"dimension_order": {}}"#;
pub const MINIMAL: &str = r#"{"minimal": {}}"#;
pub const VALIANT: &str = r#"{"valiant": {}}"#;
pub const UGAL: &str = r#"{"ugal": {"sensor": "used_credits"}}"#;
pub const UGAL_P: &str = r#"{"ugal_p": {"sensor": "used_credits"}}"#;
pub const PAL: &str = r#"{"pal": {"sensor": "used_credits"}}"#;
pub const PAL_HISTORY: &str = r#"{"pal": {"sensor": "history_window"}}"#;
pub const ENTRY: &str = r#"{"dimension_order": {"dateline": "entry"}}"#;
pub const NO_DATELINE: &str = r#"{"dimension_order": {"dateline": "none"}}"#;
pub const BUBBLE: &str = r#"{"dimension_order": {"dateline": "bubble"}}"#;
pub const UGAL_P_HISTORY: &str = r#"{"ugal_p": {"sensor": "history_window"}}"#;
pub const DF_MINIMAL: &str = r#"{"dragonfly_minimal": {}}"#;
pub const DF_VALIANT: &str = r#"{"dragonfly_valiant": {}}"#;
pub const DF_VALIANT_ROUTER: &str = r#"{"dragonfly_valiant": {"intermediate": "router"}}"#;
pub const DF_UGAL: &str = r#"{"dragonfly_ugal": {"sensor": "used_credits"}}"#;
pub const DF_UGAL_G: &str = r#"{"dragonfly_ugal": {"queues": {"global": {}}, "sensor": "used_credits"}}"#;
pub const DF_UGAL_G_ROUTER: &str =
    r#"{"dragonfly_ugal": {"queues": {"global": {}}, "intermediate": "router", "sensor": "used_credits"}}"#;
/// UGAL-G, but its data about queues of other routers are 10 to 19 cycles old.
pub const DF_UGAL_POSTED: &str = r#"{"dragonfly_ugal": {"queues": {"posted": {"every": "10cycles", "delay": "10cycles"}}, "sensor": "used_credits"}}"#;
pub const UP_DOWN: &str = r#"{"up_down": {}}"#;
pub const D_MOD_K: &str = r#"{"up_down": {"ascent": "d_mod_k"}}"#;
pub const D_MOD_K_HIGH: &str = r#"{"up_down": {"ascent": "d_mod_k_high_first"}}"#;
pub const UP_DOWN_ADAPTIVE: &str = r#"{"up_down": {"ascent": "adaptive"}}"#;
pub const DAL: &str = r#"{"dal": {"sensor": "used_credits"}}"#;
pub const SHORTEST: &str = r#"{"shortest_path": {}}"#;
pub const SHORTEST_FIRST: &str = r#"{"shortest_path": {"choice": "first"}}"#;
pub const ECMP: &str = r#"{"ecmp": {}}"#;
pub const ECMP_ONE: &str = r#"{"ecmp": {"classes": "one"}}"#;

pub const ADAPTIVE: &str = r#"{"minimal_adaptive": {}}"#;
pub const ADAPTIVE_STAYS: &str = r#"{"minimal_adaptive": {"leave_escape": false}}"#;

pub const SLAC: &str = r#"{"slac": {}}"#;

pub const SINGLE: &str = r#"{"single_router": {"terminals": 8}}"#;
pub const HYPERX: &str = r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 2}}"#;
pub const TORUS: &str = r#"{"torus": {"widths": [4, 3], "terminals_per_router": 2}}"#;
/// A torus with two parallel links between neighbours.
pub const TRUNKS: &str = r#"{"torus": {"widths": [4, 3], "terminals_per_router": 3, "trunk_width": 2}}"#;
pub const MESH: &str = r#"{"mesh": {"widths": [4, 3], "terminals_per_router": 2}}"#;
/// A dragonfly with a = 4, p = 2, h = 2: 9 groups in the palm-tree arrangement, with one link between each pair of groups.
pub const DRAGONFLY: &str = r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2,
    "global_links_per_router": 2}}"#;
/// A dragonfly of 4 groups with two links between each pair of groups; 2 global ports of each group are unused.
pub const DRAGONFLY_WIDE: &str = r#"{"dragonfly": {"groups": 4, "routers_per_group": 4, "terminals_per_router": 2,
    "global_links_per_router": 2, "arrangement": "absolute"}}"#;
/// A Dragonfly+ with 9 groups. Each has 4 leaves with 2 terminals and 4 spines with 2 global links; one link connects each pair of groups.
pub const DRAGONFLY_PLUS: &str = r#"{"dragonfly_plus": {"leaves_per_group": 4, "spines_per_group": 4,
    "terminals_per_leaf": 2, "global_links_per_spine": 2}}"#;
/// A tree of 9 leaves with 3 terminals each, and 2 levels of 9 routers above the leaves.
pub const TREE: &str = r#"{"k_ary_n_tree": {"k": 3, "n": 3}}"#;

/// A fat tree of 4 pods, each with 2 edge and 2 aggregation routers, and of 4 core routers.
pub const FAT_TREE: &str = r#"{"fat_tree": {"k": 4}}"#;
pub const FULL_MESH: &str = r#"{"full_mesh": {"routers": 5, "terminals_per_router": 2}}"#;
/// The Petersen graph: 10 routers of degree 3, diameter 2, and one shortest path between each pair of routers.
pub const GRAPH: &str = r#"{"graph": {"file": "data/petersen.anynet"}}"#;

pub const UNIFORM_SELF: &str = r#"{"uniform": {"include_self": true}}"#;
pub const TORNADO: &str = r#"{"tornado": {}}"#;
pub const NEIGHBOR: &str = r#"{"neighbor": {}}"#;
pub const ADVERSE: &str = r#"{"group_shift": {"shift": 1}}"#;
/// A policy whose stages go on and off after a short time.
pub const QUICK_STAGES: &str =
    r#"{"slac": {"low": 0.05, "high": 0.1, "wake_per_link": "2ns", "averaging": "30ns", "release": "below_low"}}"#;
pub const ALWAYS_ON: &str = r#"{"always_on": {}}"#;
/// A policy under which only the star around router 0 of every subnetwork is on.
pub const ROOT: &str = r#"{"static": {"on": {"root": {}}}}"#;
