//! The check against a walk of all packets, for every routing: it passes the VC classes that the routing declares, and
//! refuses all of them merged into one where that closes a cycle.

use super::{Dependencies, refuse_cycle};
use crate::api::examples::{Example, small_networks};
use crate::api::routing::{AnyRouting, Hop, Needs, Routing};
use crate::api::walk::{Proof, Step};
use crate::models::routing::RoutingConfig;
use crate::state::Packet;
use std::collections::HashSet;
use weft_topology::{Graph, TopologyConfig};
use weft_units::Refusal;

fn graph(json: &str) -> Graph {
    let config: TopologyConfig = serde_json::from_str(json).unwrap();
    config.build("topology").unwrap()
}

/// The check with the classes of the routing, or with all of them merged into one.
fn check(graph: &Graph, config: &RoutingConfig, routing: &dyn AnyRouting, merged: bool) -> Result<(), Refusal> {
    let classes = routing.needs().classes;
    refuse_cycle(graph, routing, &if merged { vec![1; classes.len()] } else { classes }, config.name())
}

/// Whether dependencies have a cycle: packets from each router with terminals to each other one, whatever they draw and
/// choose, are followed over all of their paths, whatever the routing says in `proof`.
fn has_cycle(graph: &Graph, routing: &(dyn AnyRouting + 'static), merged: bool) -> bool {
    let classes = routing.needs().classes;
    let classes = if merged { vec![1; classes.len()] } else { classes };
    let mut d = Dependencies::new(graph, routing, &classes);
    for dst in first_terminals(graph) {
        let mut seen = HashSet::new();
        let (to, dst_port) = graph.terminal_at(dst);
        for src in first_terminals(graph) {
            let (from, _) = graph.terminal_at(src);
            let (at, dest) = (d.coords[from as usize], d.coords[to as usize]);
            let packet = Packet { src, dst, dst_port: dst_port as u8, dest, target: dest, ..Packet::default() };
            let starts = routing.starts(at, packet, &routing.draws().outcomes(packet, 0));
            let mut open: Vec<(u32, Option<u32>, Packet)> =
                starts.into_iter().map(|start| (from, None, start)).collect();
            while let Some((at, last, packet)) = open.pop() {
                for Step { hop, after, .. } in routing.steps(d.coords[at as usize], &packet, 0) {
                    let Some(next) = d.neighbour(at, hop.port) else { continue };
                    if let Some(last) = last {
                        d.add(last, hop.port, hop.class);
                    }
                    let node = d.node(at, hop.port, hop.class);
                    if seen.insert((node, after.src, after.seq, after.route_state())) {
                        open.push((next, Some(node), after));
                    }
                }
            }
        }
    }
    d.find_cycle().is_some()
}

/// One terminal of each router that has some.
fn first_terminals(graph: &Graph) -> impl Iterator<Item = u32> {
    (0..graph.terminals()).filter(|&t| t == 0 || graph.terminal_at(t).0 != graph.terminal_at(t - 1).0)
}

/// Networks of few routers with terminals, so that packets between all of them can be followed.
const MOST_ROUTERS: usize = 16;

#[test]
fn every_routing_is_refused_with_too_few_classes_and_never_without_need() {
    let networks = small_networks();
    for Example { config, networks: own, .. } in RoutingConfig::examples() {
        let own: Option<Vec<(TopologyConfig, Graph)>> =
            own.map(|own| own.into_iter().map(|t| (t.clone(), t.build("topology").unwrap())).collect());
        let (mut classes, mut refused) = (1, false);
        for (topology, graph) in own.as_ref().unwrap_or(&networks) {
            if !config.fits(graph) || first_terminals(graph).count() > MOST_ROUTERS {
                continue;
            }
            let what = format!("{config:?} on {topology:?}");
            let routing = config.build(graph).unwrap();
            classes = routing.needs().classes.into_iter().chain([classes]).max().unwrap();
            assert_eq!(check(graph, &config, &*routing, false), Ok(()), "{what}");
            let merged = check(graph, &config, &*routing, true);
            if let Err(refusal) = &merged {
                assert!(refusal.what.contains("channel dependencies have a cycle of "), "{what}: {refusal}");
            }
            refused |= merged.is_err();
            // an escape is only a part of what packets may do
            if !matches!(routing.proof(), Proof::Escapes) {
                assert!(!has_cycle(graph, &*routing, false), "{what}");
                let cycle = has_cycle(graph, &*routing, true);
                assert!(!cycle || merged.is_err(), "{what}, merged");
                // Other proofs know turns without their packets: they may refuse what no packet does. And of the flows
                // between terminals others may meet under another seed.
                let follows = matches!(routing.proof(), Proof::EveryState | Proof::Rises { .. } | Proof::OneLeg { .. });
                if follows && !routing.needs().sees_terminals {
                    assert_eq!(cycle, merged.is_err(), "{what}, merged: {merged:?}");
                }
            }
        }
        assert_eq!(
            refused,
            classes > 1,
            "{config:?} has up to {classes} classes, on networks that need no more than one"
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
