//! Shared by the integration tests: short ways to say a network, ways to run it, and what a result says in numbers.
#![allow(dead_code)]

use weft_engine::outcome::Ending;
use weft_engine::{Outcome, Simulation, Spec, routing::RoutingConfig, spec::Execution, spec::FlowControl};
use weft_topology::TopologyConfig;
use weft_traffic::{GapTable, stream};

/// YAML-free model names: JSON of the externally tagged configuration.
pub const DOR: &str = r#"{"dimension_order": {}}"#;
pub const MINIMAL: &str = r#"{"minimal": {}}"#;
pub const VALIANT: &str = r#"{"valiant": {}}"#;
pub const UGAL: &str = r#"{"ugal": {}}"#;
pub const UGAL_P: &str = r#"{"ugal_p": {}}"#;
pub const PAL: &str = r#"{"pal": {}}"#;
pub const PAL_HISTORY: &str = r#"{"pal": {"sensor": "history_window"}}"#;
pub const ENTRY: &str = r#"{"dimension_order": {"dateline": "entry"}}"#;
pub const NO_DATELINE: &str = r#"{"dimension_order": {"dateline": "none"}}"#;
pub const UGAL_DIFFERING: &str = r#"{"ugal": {"intermediate": "differing_dimensions", "sensor": "history_window"}}"#;
pub const UGAL_P_HISTORY: &str = r#"{"ugal_p": {"sensor": "history_window"}}"#;
pub const DF_MINIMAL: &str = r#"{"dragonfly_minimal": {}}"#;
pub const DF_VALIANT: &str = r#"{"dragonfly_valiant": {}}"#;
pub const DF_VALIANT_ROUTER: &str = r#"{"dragonfly_valiant": {"intermediate": "router"}}"#;
pub const DF_UGAL: &str = r#"{"dragonfly_ugal": {}}"#;
pub const DF_UGAL_ROUTER: &str = r#"{"dragonfly_ugal": {"intermediate": "router", "sensor": "output_queue"}}"#;
pub const DF_UGAL_G: &str = r#"{"dragonfly_ugal": {"queues": "global"}}"#;
pub const DF_UGAL_G_ROUTER: &str = r#"{"dragonfly_ugal": {"queues": "global", "intermediate": "router"}}"#;
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

/// Every legal pair of a topology and a routing (`theory.rs` checks that every registered name is here).
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
/// Stages go on and off soon.
pub const QUICK_STAGES: &str = r#"{"slac": {"low": 0.05, "high": 0.1, "wake_per_link": "2ns", "averaging": "30ns"}}"#;

pub const ONE: Execution = Execution { threads: 1, blocks: 1 };

pub fn routing(json: &str) -> RoutingConfig {
    serde_json::from_str(json).expect("a routing")
}

pub fn topology(json: &str) -> TopologyConfig {
    serde_json::from_str(json).expect("a topology")
}

pub fn pattern(spec: &mut Spec, json: &str) {
    let config = serde_json::from_str(json).expect("a pattern");
    spec.set_pattern(&config).expect("a pattern for this network");
}

pub fn policy(spec: &mut Spec, json: &str) {
    spec.policy = serde_json::from_str(json).expect("a policy");
}

/// The star around router 0 of every subnetwork is on.
pub const ROOT: &str = r#"{"static": {"on": {"root": {}}}}"#;

/// A policy that goes with the routing: `pal` would never wake a link, so idle links stay off as in [`ROOT`] there; `slac`
/// goes with its own policy.
pub fn fitting_policy(spec: &mut Spec, json: &str) {
    if matches!(spec.routing, RoutingConfig::Slac(_)) && json == IDLE_TIMEOUT {
        return policy(spec, QUICK_STAGES);
    }
    let sleepy = matches!(spec.routing, RoutingConfig::Pal(_)) && json == IDLE_TIMEOUT;
    let nothing_to_manage = spec.graph.class_names().len() == 1;
    policy(
        spec,
        if sleepy && nothing_to_manage {
            r#"{"always_on": {}}"#
        } else if sleepy {
            ROOT
        } else {
            json
        },
    );
    if sleepy && spec.graph.structure().groups.is_some() {
        spec.managed[2] = false; // links between groups
    }
}

pub fn allocator(spec: &mut Spec, json: &str) {
    spec.router.allocator = serde_json::from_str(json).expect("an allocator");
}

pub fn spec(topology_json: &str, routing_json: &str) -> Spec {
    Spec::new(&topology(topology_json), routing(routing_json)).expect("a spec")
}

/// The 512-node flattened butterfly of the TCEP paper: 8x8 routers of 8 terminals, 10-cycle links, 6 VCs x 32 flits.
pub fn butterfly(routing_json: &str) -> Spec {
    spec(r#"{"hyperx": {"widths": [8, 8], "terminals_per_router": 8}}"#, routing_json)
}

/// The same VCs and buffers on every link.
pub fn queues(spec: &mut Spec, vcs: u8, buffer: u32) {
    for link in &mut spec.links {
        (link.vcs, link.buffer) = (vcs, buffer);
    }
}

/// (delay, vc_realloc, speedup)
pub fn router(spec: &mut Spec, (delay, vc_realloc, speedup): (u64, u8, u8)) {
    (spec.router.delay, spec.router.vc_realloc, spec.router.speedup) = (delay, vc_realloc, speedup);
}

/// Packets of `flits`; with virtual cut-through in buffers that hold at least one, else streaming through `buffer`.
pub fn packets(spec: &mut Spec, flits: u32, flow_control: FlowControl, buffer: u32) {
    spec.set_packet(flits);
    // worms are refused where they could not always reach their escape
    let escapes = matches!(spec.routing, RoutingConfig::MinimalAdaptive(_));
    let flow_control = if escapes { FlowControl::VirtualCutThrough } else { flow_control };
    spec.router.flow_control = flow_control;
    let least = if flow_control == FlowControl::VirtualCutThrough { flits } else { 1 };
    spec.links.iter_mut().for_each(|link| link.buffer = buffer.max(least));
}

pub fn phases(spec: &mut Spec, warmup: u64, window: u64) {
    (spec.phases.warmup, spec.phases.window) = (warmup, window);
}

pub fn run(spec: &Spec) -> Outcome {
    run_as(spec, ONE)
}

pub fn run_as(spec: &Spec, how: Execution) -> Outcome {
    weft_engine::run(spec, how, &()).expect("a run")
}

/// Accepted load [flits/terminal/cycle].
pub fn accepted(out: &Outcome) -> f64 {
    out.accepted_flits as f64 / (out.window * u64::from(out.terminals)) as f64
}

/// Creation times inside the run's window (warm-up 0) of the packets of `terminal`: its stream of gaps is addressed by
/// (seed, terminal, purpose 1), and the first packet comes one cycle earlier than a gap, since cycle 0 is a trial too.
pub fn creations(spec: &Spec, terminal: u32) -> Vec<u64> {
    let load = spec.traffic.load_of(terminal);
    if load == 0.0 {
        return Vec::new();
    }
    let gaps = GapTable::new(load / f64::from(spec.traffic.longest()));
    let mut stream = stream(spec.seed, u64::from(terminal), 1);
    let mut times = Vec::new();
    let mut at = gaps.draw(&mut stream) - 1;
    while at < spec.phases.warmup + spec.phases.window {
        times.push(at);
        at += gaps.draw(&mut stream);
    }
    times.retain(|&at| at >= spec.phases.warmup);
    times
}

/// Only `terminal` sends, about 30 packets, and no two of them are in the network at the same time: takes the first
/// seed with which all are created at least `apart` cycles from each other and from the end of the window.
pub fn alone(spec: &mut Spec, terminal: u32, apart: u64) {
    phases(spec, 0, 240 * apart);
    spec.set_load(0.0);
    spec.set_load_of(terminal, f64::from(spec.traffic.longest()) / (8 * apart) as f64);
    let lonely = |spec: &Spec| {
        let mut times = creations(spec, terminal);
        times.push(spec.phases.window);
        times.len() > 20 && times.windows(2).all(|pair| pair[1] - pair[0] >= apart)
    };
    while !lonely(spec) {
        spec.seed += 1;
    }
}

/// Everything a result says but its channels, as integers.
pub fn packet_numbers(out: &Outcome) -> Vec<u64> {
    let mut n = vec![out.cycles, out.window, out.terminals.into(), out.offered_flits, out.injected_flits];
    n.extend([out.accepted_flits, out.backlog_packets, out.missing_packets, out.flit_hops]);
    for s in std::iter::once(&out.sums).chain(&out.batches) {
        n.extend([s.packets, s.flits, s.latency, s.network_latency, s.hops, s.minimal]);
    }
    for histogram in [&out.latency, &out.network_latency] {
        n.extend(histogram.iter_recorded().flat_map(|bin| [bin.value_iterated_to(), bin.count_at_value()]));
    }
    n.extend(&out.hop_counts);
    n
}

/// Everything a result says, as integers.
pub fn numbers(out: &Outcome) -> Vec<u64> {
    let mut n = packet_numbers(out);
    for c in &out.channels {
        let end = |at: Option<u32>, port: u32| [at.map_or(u64::MAX, u64::from), u64::from(port)];
        n.extend(end(c.from, c.from_port).into_iter().chain(end(c.to, c.to_port)));
        n.extend([u64::from(c.class), c.transitions]);
        n.extend(c.cycles.iter().chain(&c.flits));
    }
    n
}

/// Two results are the same, bit for bit.
#[track_caller]
pub fn assert_same(a: &Outcome, b: &Outcome, what: &str) {
    assert_eq!(a.ending, b.ending, "{what}");
    assert!(a.sums == b.sums, "{what}: {:?} and {:?}", a.sums, b.sums);
    assert!(numbers(a) == numbers(b), "{what}: the same sums, but other numbers differ");
}

/// Drains a simulation whose sources are stopped: within `limit` cycles nothing is left and all is as at the start.
#[track_caller]
pub fn drain<const W: usize, const V: usize>(sim: &mut Simulation<W, V>, limit: u64, what: &str) {
    let end = sim.now() + limit;
    while sim.packets_under_way() > 0 {
        assert!(sim.now() < end, "{what}: {} packets left after {limit} cycles", sim.packets_under_way());
        sim.advance(sim.now() + 200);
    }
    // the last credits are still on their way
    sim.advance(sim.now() + 200);
    sim.assert_empty();
}

/// A run that delivered all it created in the window.
#[track_caller]
pub fn assert_drained(out: &Outcome) {
    assert_eq!(out.ending, Ending::Drained);
    assert_eq!((out.missing_packets, out.sums.flits), (0, out.offered_flits));
}
