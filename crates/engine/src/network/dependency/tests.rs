//! A bad VC assignment is refused for every routing: all classes merged into one close a cycle, except where one class is
//! enough.

use super::{Dependencies, refuse_cycle};
use crate::api::routing::{Hop, Needs, RingEntry, Routing};
use crate::api::walk::{Proof, Step};
use crate::models::routing::RoutingConfig;
use crate::state::Packet;
use weft_topology::{Graph, TopologyConfig};

fn graph(json: &str) -> Graph {
    let config: TopologyConfig = serde_json::from_str(json).unwrap();
    config.build("topology").unwrap()
}

/// Whether the check passes with the classes of the routing, and with all of them merged.
fn passes(graph: &Graph, routing: &str) -> (bool, bool) {
    let config: RoutingConfig = serde_json::from_str(routing).unwrap();
    let built = config.build(graph).unwrap();
    let classes = built.needs().classes;
    let merged = vec![1; classes.len()];
    let check = |classes| refuse_cycle(graph, &*built, classes, config.name());
    if let Err(refusal) = check(&merged) {
        assert!(refusal.what.contains("channel dependencies have a cycle of "), "{refusal}");
    }
    (check(&classes).is_ok(), check(&merged).is_ok())
}

const HYPERX: &str = r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 1}}"#;
const TORUS: &str = r#"{"torus": {"widths": [4, 5], "terminals_per_router": 1}}"#;
const MESH: &str = r#"{"mesh": {"widths": [4, 3], "terminals_per_router": 1}}"#;
const DRAGONFLY: &str =
    r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 1, "global_links_per_router": 2}}"#;
const TREE: &str = r#"{"k_ary_n_tree": {"k": 3, "n": 3}}"#;
const PODS: &str = r#"{"fat_tree": {"k": 4}}"#;
const GRAPH: &str = r#"{"graph": {"file": "tests/data/petersen.anynet"}}"#;

/// Routings that need their classes.
const NEED: &[(&str, &str)] = &[
    (TORUS, r#"{"dimension_order": {}}"#),
    (TORUS, r#"{"dimension_order": {"dateline": "entry"}}"#),
    (TORUS, r#"{"dimension_order": {"dateline": "bubble"}}"#),
    (TORUS, r#"{"minimal_adaptive": {}}"#),
    (TORUS, r#"{"valiant": {}}"#),
    (HYPERX, r#"{"minimal": {}}"#),
    (HYPERX, r#"{"valiant": {}}"#),
    (MESH, r#"{"valiant": {}}"#),
    (HYPERX, r#"{"ugal": {}}"#),
    (MESH, r#"{"ugal": {}}"#),
    (HYPERX, r#"{"ugal_p": {}}"#),
    (HYPERX, r#"{"pal": {}}"#),
    (DRAGONFLY, r#"{"pal": {}}"#),
    (HYPERX, r#"{"dal": {}}"#),
    (DRAGONFLY, r#"{"dragonfly_minimal": {}}"#),
    (DRAGONFLY, r#"{"dragonfly_valiant": {}}"#),
    (DRAGONFLY, r#"{"dragonfly_valiant": {"intermediate": "router"}}"#),
    (DRAGONFLY, r#"{"dragonfly_ugal": {}}"#),
    (DRAGONFLY, r#"{"dragonfly_ugal": {"queues": "global"}}"#),
    (DRAGONFLY, r#"{"dragonfly_ugal": {"queues": {"posted": {"every": "5cycles", "delay": "5cycles"}}}}"#),
    (DRAGONFLY, r#"{"dragonfly_par": {}}"#),
    (DRAGONFLY, r#"{"dragonfly_par": {"intermediate": "router"}}"#),
    (TORUS, r#"{"shortest_path": {}}"#),
    (GRAPH, r#"{"shortest_path": {"choice": "first"}}"#),
    (GRAPH, r#"{"ecmp": {}}"#),
    (GRID_TABLE.0, GRID_TABLE.1),
];
/// With the dateline in the class column.
const GRID_TABLE: (&str, &str) = (
    r#"{"torus": {"widths": [4, 3], "terminals_per_router": 1}}"#,
    r#"{"table": {"file": "tests/data/torus_4x3.csv"}}"#,
);

/// Routings that are safe on one class. In dimension order on lines and complete lines dependencies lead to higher
/// dimensions, or on in one direction; on a tree they lead up, then down; by stages, to lower rows, then up.
const SAFE: &[(&str, &str)] = &[
    (HYPERX, r#"{"dimension_order": {}}"#),
    (MESH, r#"{"dimension_order": {}}"#),
    (HYPERX, r#"{"slac": {"via": "random"}}"#),
    (TREE, r#"{"up_down": {}}"#),
    (PODS, r#"{"up_down": {"ascent": "d_mod_k"}}"#),
    (PODS, r#"{"up_down": {"ascent": "adaptive"}}"#),
    (TREE, r#"{"ecmp": {"classes": "one"}}"#),
    (TREE, r#"{"shortest_path": {}}"#),
];

#[test]
fn merged_classes_close_a_cycle_wherever_classes_are_needed() {
    for (topology, routing) in NEED {
        assert_eq!(passes(&graph(topology), routing), (true, false), "{topology} {routing}");
    }
}

#[test]
fn what_is_safe_on_one_class_passes() {
    for (topology, routing) in SAFE {
        assert_eq!(passes(&graph(topology), routing), (true, true), "{topology} {routing}");
    }
}

#[test]
fn every_registered_routing_is_in_one_of_the_tables() {
    for name in RoutingConfig::NAMES {
        let named = |(_, routing): &&(&str, &str)| routing.starts_with(&format!("{{\"{name}\""));
        assert!(
            NEED.iter().chain(SAFE).any(|pair| named(&pair)),
            "add a line for the routing {name} to NEED or SAFE in crates/engine/src/network/dependency/tests.rs"
        );
    }
}

#[test]
fn every_copy_of_a_global_link_is_walked() {
    // 8 * 8 global links of a group to 2 others: 32 to each, all of which lead on to local links of the other group
    let graph = graph(
        r#"{"dragonfly": {"routers_per_group": 8, "terminals_per_router": 1, "global_links_per_router": 8, "groups": 3}}"#,
    );
    let config: RoutingConfig = serde_json::from_str(r#"{"dragonfly_minimal": {}}"#).unwrap();
    let routing = config.build(&graph).unwrap();
    let mut d = Dependencies::new(&graph, &*routing, &routing.needs().classes);
    d.enter(&*routing, routing.proof()).unwrap();
    for router in 0..graph.routers() {
        for (_, port) in graph.ports(router).iter().zip(0..).filter(|(port, _)| port.class == 2) {
            assert!(d.successors(d.node(router, port, 0)).next().is_some(), "router {router} port {port}");
        }
    }
}

/// On a full mesh: directly, or over one other router, or over two, as its phase says.
#[derive(Debug)]
struct Wanders {
    /// Its `steps` list no hop at the second router.
    stops: bool,
}

impl Routing for Wanders {
    fn needs(&self) -> Needs {
        Needs { classes: vec![1, 3], ..Needs::default() }
    }

    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        (0..u64::from(graph.routers())).collect()
    }

    fn next(&self, _: u64, _: &mut Packet, _: u64) -> Option<Hop> {
        None
    }

    fn steps(&self, at: u64, packet: &Packet, _: u64) -> Vec<Step> {
        if at == packet.dest {
            return vec![Step::deliver(packet)];
        }
        if self.stops && packet.lane > 0 {
            return Vec::new();
        }
        // the terminal has port 0, the others follow by their numbers
        let step = |to: u64, phase: u8| {
            let hop = Hop { port: (to + u64::from(to < at)) as u8, class: packet.lane };
            // all states have the same dimension, and after as many hops the same lane
            Step { hop, after: Packet { phase, lane: packet.lane + 1, ..*packet }, cost: None }
        };
        let others = (0..4).filter(|&to| to != at && to != packet.dest);
        match packet.phase {
            // still undecided: one more router, or two
            0 => others.flat_map(|to| [step(to, 1), step(to, 2)]).collect(),
            1 => vec![step(packet.dest, 1)],
            _ => others.map(|to| step(to, 1)).collect(),
        }
    }
}

const MESH_OF_FOUR: &str = r#"{"full_mesh": {"routers": 4, "terminals_per_router": 1}}"#;

#[test]
fn states_that_differ_only_in_their_phase_are_both_walked() {
    let (graph, routing) = (graph(MESH_OF_FOUR), Wanders { stops: false });
    let mut d = Dependencies::new(&graph, &routing, &routing.needs().classes);
    d.enter(&routing, routing.proof()).unwrap();
    // 0 -> 1 -> 2 -> 3: only a packet in phase 2 goes on from 1 to 2
    let port = |at: u32, to: u32| (to + u32::from(to < at)) as u8;
    let first = d.node(0, port(0, 1), 0);
    assert!(d.successors(first).any(|next| next == d.node(1, port(1, 2), 1)), "phase 2");
    assert!(d.successors(first).any(|next| next == d.node(1, port(1, 3), 1)), "phase 1");
}

#[test]
fn a_routing_that_names_no_hop_is_refused_with_the_place() {
    let (graph, routing) = (graph(MESH_OF_FOUR), Wanders { stops: true });
    let refusal = refuse_cycle(&graph, &routing, &routing.needs().classes, "wanders").unwrap_err();
    assert_eq!(refusal.path, "routing.wanders");
    assert!(refusal.what.starts_with("wanders names no hop at router "), "{refusal}");
}

/// On a ring of four, which keeps a bubble in each direction. Packets go up; or down, if there are `both` ways and
/// their destination has an odd number.
#[derive(Debug, Clone, Copy)]
struct Round {
    /// VC classes of the first hop in a direction and of those after it; 1 enters, 0 moves on.
    classes: [u8; 2],
    both: bool,
    /// Packets that first went up, or down, turn round after a hop.
    turn_back: [bool; 2],
    /// Its proof names turns, and not where packets start.
    names_turns: bool,
}

const ROUND: Round = Round { classes: [1, 0], both: false, turn_back: [false; 2], names_turns: false };

impl Routing for Round {
    fn needs(&self) -> Needs {
        let ring_entries = vec![RingEntry { link: 1, enter: 1, move_on: 0 }];
        Needs { classes: vec![1, 2], ring_entries, ..Needs::default() }
    }

    fn next(&self, at: u64, packet: &mut Packet, _: u64) -> Option<Hop> {
        if at == packet.dest {
            return Some(Hop::to_terminal(packet));
        }
        // the phase is 1 on the way up and 2 on the way down, and so are the ports; the lane is 1 after a turn
        let before = packet.phase;
        if before == 0 {
            packet.phase = if self.both && packet.dest % 2 == 1 { 2 } else { 1 };
        } else if packet.lane == 0 && self.turn_back[usize::from(before) - 1] {
            (packet.phase, packet.lane) = (3 - before, 1);
        }
        Some(Hop { port: packet.phase, class: self.classes[usize::from(packet.phase == before)] })
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        Step::named(self, at, packet, seed)
    }

    fn proof(&self) -> Proof<'_> {
        let up = Hop { port: 1, class: 0 };
        let turns = move |each: &mut dyn FnMut(u32, Hop, Hop)| (0..4).for_each(|at| each(at, up, up));
        if self.names_turns { Proof::Turns(Box::new(turns)) } else { Proof::EveryState }
    }
}

/// Whether the check takes it; the length of the cycle if it does not.
fn check_round(routing: Round) -> Result<(), String> {
    let graph = graph(r#"{"torus": {"widths": [4], "terminals_per_router": 1}}"#);
    let refused = refuse_cycle(&graph, &routing, &routing.needs().classes, "round");
    refused.map_err(|refusal| {
        assert!(refusal.help.contains("every hop into a ring"), "{refusal}");
        refusal.what.split(" channels").next().unwrap().to_owned()
    })
}

#[test]
fn a_ring_that_packets_enter_and_then_move_on_in_is_no_cycle() {
    assert_eq!(check_round(ROUND), Ok(()));
    assert_eq!(check_round(Round { both: true, ..ROUND }), Ok(()));
    // from the ring up into the ring down, but not back
    assert_eq!(check_round(Round { both: true, turn_back: [true, false], ..ROUND }), Ok(()));
}

#[test]
fn a_ring_whose_hops_are_on_the_wrong_class_is_a_cycle() {
    let cycle_of = |length: u32| Err(format!("channel dependencies have a cycle of {length}"));
    // new packets move on, so that the ring fills up
    assert_eq!(check_round(Round { classes: [0, 0], ..ROUND }), cycle_of(4));
    // packets in the ring enter it again, for which they need more room than the bubble
    assert_eq!(check_round(Round { classes: [1, 1], ..ROUND }), cycle_of(4));
    assert_eq!(check_round(Round { classes: [0, 1], ..ROUND }), cycle_of(4));
    // the proof says nothing of where packets start, and the states show that they do not enter
    assert_eq!(check_round(Round { classes: [0, 0], names_turns: true, ..ROUND }), cycle_of(4));
    assert_eq!(check_round(Round { names_turns: true, ..ROUND }), Ok(()));
}

#[test]
fn rings_that_wait_for_each_other_are_a_cycle() {
    let refused = check_round(Round { both: true, turn_back: [true, true], ..ROUND });
    // each ring is one node
    assert_eq!(refused, Err("channel dependencies have a cycle of 2".to_owned()));
}
