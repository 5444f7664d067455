//! For every routing, compares the check with a walk that follows all packets. The check must accept every routing with the VC classes that
//! the routing declares. If all VC classes are merged into one and this class has a cycle, the check must refuse the routing.

use super::walks::Walks;
use super::{Dependencies, refuse_cycle, refuse_misfit};
use weft_api::examples::{Example, small_networks};
use weft_api::routing::{AnyRouting, Classes, Decides, Hop, Needs, Routing};
use weft_api::state::Packet;
use weft_api::walk::{Outcomes, Proof, Step};
use weft_models::routing::RoutingConfig;
use weft_topology::{Dimension, Graph, GraphBuilder, Line, Peer, Port, Structure, TopologyConfig};
use weft_units::Refusal;

fn graph(json: &str) -> Graph {
    let config: TopologyConfig = serde_json::from_str(json).unwrap();
    config.build("topology").unwrap()
}

/// Runs the check with the VC classes of the routing, or (`merged`) with all classes merged into one.
fn check(graph: &Graph, config: &RoutingConfig, routing: &dyn AnyRouting, merged: bool) -> Result<(), Refusal> {
    let classes = routing.needs().classes;
    refuse_cycle(graph, routing, &if merged { vec![1; classes.len()] } else { classes }, config.name())
}

/// The dependencies found by following every state of every packet, without use of the routing's `proof`.
fn walked<'a>(graph: &'a Graph, routing: &(dyn AnyRouting + 'static), merged: bool) -> Dependencies<'a> {
    let classes = routing.needs().classes;
    let classes = if merged { vec![1; classes.len()] } else { classes };
    let mut d = Dependencies::new(graph, routing, &classes);
    d.every_state(routing).unwrap();
    d
}

/// Whether a proof that lists dependencies omits a dependency that a packet causes.
fn leaves_out_some(graph: &Graph, routing: &(dyn AnyRouting + 'static), walked: &Dependencies) -> bool {
    let lists = match routing.proof() {
        Proof::EveryState | Proof::OneLeg { .. } | Proof::TwoLegs { .. } | Proof::Packets { .. } => true,
        Proof::Turns(_) | Proof::TurnsTo { .. } => true,
        Proof::Rises { .. } | Proof::Together(_) | Proof::Escapes | Proof::EscapeRings(_) => false,
    };
    let mut proved = Dependencies::new(graph, routing, &routing.needs().classes);
    proved.enter(routing, routing.proof()).unwrap();
    lists && walked.edges.iter().zip(&proved.edges).any(|(all, proved)| all & !proved != 0)
}

/// For a routing whose proof consists of legs, whether ranks rise on all legs; `None` for other proofs. If ranks rise even with all VC
/// classes merged into one, the function also asserts that the merged classes have no cycle.
fn legs_rise(graph: &Graph, routing: &dyn AnyRouting, cycle_if_merged: bool) -> Option<bool> {
    let walks = Walks::of(graph, routing);
    let of_classes = |classes: &Classes| {
        let d = Dependencies::new(graph, routing, classes);
        match routing.proof() {
            Proof::OneLeg { .. } => Some(d.legs_rise(&walks, &[0], None).unwrap()),
            Proof::TwoLegs { minimal_phase, .. } => Some(d.legs_rise(&walks, &[0, 1], minimal_phase).unwrap()),
            Proof::EveryState | Proof::Rises { .. } | Proof::Packets { .. } | Proof::Turns(_) => None,
            Proof::TurnsTo { .. } | Proof::Escapes | Proof::EscapeRings(_) | Proof::Together(_) => None,
        }
    };
    let classes = routing.needs().classes;
    let one = vec![1; classes.len()];
    let merged = of_classes(&one);
    assert!(!cycle_if_merged || merged != Some(true), "ranks that rise leave no cycle");
    of_classes(&classes)
}

/// The largest number of routers with terminals for which the test follows packets between all pairs.
const MOST_ROUTERS: usize = 16;

#[test]
fn every_routing_is_refused_with_too_few_classes_and_never_without_need() {
    let networks = small_networks();
    for Example { config, networks: own, .. } in RoutingConfig::examples() {
        let own: Option<Vec<(TopologyConfig, Graph)>> =
            own.map(|own| own.into_iter().map(|t| (t.clone(), t.build("topology").unwrap())).collect());
        let (mut classes, mut refused) = (1, false);
        for (topology, graph) in own.as_ref().unwrap_or(&networks) {
            if !config.fits(graph) || (0..graph.routers()).filter(|&r| graph.terminals_of(r) > 0).count() > MOST_ROUTERS
            {
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
            if let Some(rise) = legs_rise(graph, &*routing, merged.is_err()) {
                let has_global_links = graph.structure().groups.as_ref().is_some_and(|groups| groups.global.is_some());
                assert!(rise || !has_global_links, "{what}: large networks of groups are judged by ranks");
            }
            // if the proof is about escapes, packets may take other hops too, and these can have cycles
            if !matches!(routing.proof(), Proof::Escapes | Proof::EscapeRings(_)) {
                let all = walked(graph, &*routing, false);
                assert_eq!(all.find_cycle(), None, "{what}");
                assert!(!leaves_out_some(graph, &*routing, &all), "{what}: the proof leaves a dependency out");
                let cycle = walked(graph, &*routing, true).find_cycle().is_some();
                assert!(!cycle || merged.is_err(), "{what}, merged");
                // Proofs of other kinds list turns without packets, so they can contain turns that no packet takes. The comparison also
                // excludes routings whose paths depend on terminals, because the seed determines which of their packets meet.
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
    // each group has 8 * 8 global links to 2 other groups: 32 to each, and packets may continue from all these links on local links
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

/// A routing on a full mesh. Packets go directly, or over one or two intermediate routers; the phase of the packet selects this.
#[derive(Debug)]
struct Wanders {
    /// Whether `steps` returns no hop at the second router, as in a faulty routing.
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
        // port 0 leads to the terminal, the other ports to the routers in ascending order
        let step = |to: u64, phase: u8| {
            let hop = Hop { port: (to + u64::from(to < at)) as u16, class: packet.lane };
            // states differ only by phase and lane (not by dimension); the lane counts the hops
            Step { hop, after: Packet { phase, lane: packet.lane + 1, ..*packet }, cost: None }
        };
        let others = (0..4).filter(|&to| to != at && to != packet.dest);
        match packet.phase {
            // the packet has not chosen yet: it may go over one more router, or two
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
    // path 0 -> 1 -> 2 -> 3: only packets in phase 2 continue from 1 to 2
    let port = |at: u32, to: u32| (to + u32::from(to < at)) as u16;
    let first = d.node(0, port(0, 1), 0);
    assert!(d.successors(first).any(|next| next == d.node(1, port(1, 2), 1)), "phase 2");
    assert!(d.successors(first).any(|next| next == d.node(1, port(1, 3), 1)), "phase 1");
}

#[test]
fn a_routing_that_names_no_hop_is_refused_with_the_place() {
    let (graph, routing) = (graph(MESH_OF_FOUR), Wanders { stops: true });
    let refusal = refuse_cycle(&graph, &routing, &routing.needs().classes, "wanders").unwrap_err();
    assert_eq!(refusal.path, "routing.wanders");
    assert!(refusal.what.starts_with("wanders returns no hop at router "), "{refusal}");
}

/// A routing on a full mesh of four routers. Each test supplies its functions and its needs.
#[derive(Debug, Clone)]
struct Toy {
    needs: Needs,
    inject: fn(&mut Packet),
    next: fn(u64, &mut Packet) -> Option<Hop>,
    taken: fn(&mut Packet),
    detours: fn(Packet) -> Vec<Packet>,
    escape: fn(u64, u64) -> Option<Hop>,
    proof: fn() -> Proof<'static>,
}

impl Routing for Toy {
    fn needs(&self) -> Needs {
        self.needs.clone()
    }

    fn inject(&self, packet: &mut Packet, _: u64) {
        (self.inject)(packet);
    }

    fn next(&self, at: u64, packet: &mut Packet, _: u64) -> Option<Hop> {
        (self.next)(at, packet)
    }

    fn taken(&self, _: u64, packet: &mut Packet, _: Hop) {
        (self.taken)(packet);
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        Step::named(self, at, packet, seed)
    }

    fn detours(&self, _: u64, packet: Packet) -> Outcomes<'_> {
        let detours = (self.detours)(packet);
        Outcomes::new(detours.len(), move |k| detours[k])
    }

    fn escape(&self, at: u64, dest: u64) -> Option<Hop> {
        (self.escape)(at, dest)
    }

    fn proof(&self) -> Proof<'_> {
        (self.proof)()
    }
}

/// The hop to another router; at the destination router, the hop to the terminal (each router has one terminal).
fn toward(at: u64, to: u64, packet: &Packet, class: u8) -> Option<Hop> {
    let hop = Hop { port: (to + u64::from(to < at)) as u16, class };
    Some(if at == to { Hop::to_terminal(packet) } else { hop })
}

/// A routing that goes directly to the destination, on one VC class.
fn direct() -> Toy {
    Toy {
        needs: Needs { classes: vec![1, 1], ..Needs::default() },
        inject: |_| (),
        next: |at, packet| toward(at, packet.dest, packet, 0),
        taken: |_| (),
        detours: |packet| vec![packet],
        escape: |_, _| None,
        proof: || Proof::EveryState,
    }
}

/// Runs all checks on a routing, and returns the refusal as a string.
fn checked(toy: &Toy) -> Result<(), String> {
    let graph = graph(MESH_OF_FOUR);
    refuse_misfit(&graph, toy, "toy").map_err(|refusal| refusal.what)?;
    refuse_cycle(&graph, toy, &toy.needs.classes, "toy").map_err(|refusal| refusal.what)
}

fn refused(toy: &Toy, because: &str) {
    let what = checked(toy).expect_err(because);
    assert!(what.contains(because), "{what}");
}

/// A routing that sends packets over the intermediate router `target`, with both legs on one VC class.
fn over_one_router() -> Toy {
    Toy {
        needs: Needs { classes: vec![1, 1], draws_path: true, ..Needs::default() },
        inject: |packet| packet.target = u64::from(packet.seq % 4),
        next: |at, packet| {
            if packet.phase == 0 && at == packet.target {
                (packet.phase, packet.target) = (1, packet.dest);
            }
            toward(at, packet.target, packet, 0)
        },
        detours: |packet| (0..4).map(|target| Packet { target, ..packet }).collect(),
        ..direct()
    }
}

#[test]
fn the_paths_that_a_source_draws_are_walked_without_a_proof_too() {
    assert_eq!(checked(&direct()), Ok(()));
    refused(&over_one_router(), "channel dependencies have a cycle");
}

#[test]
fn a_draw_that_no_detour_lists_is_refused() {
    refused(
        &Toy { detours: |packet| vec![packet], ..over_one_router() },
        "draws a path in `inject` that `detours` does not",
    );
}

#[test]
fn paths_of_all_terminals_are_walked_if_they_differ() {
    // packets from terminal 0 go directly, all others go over the next router of a ring
    let toy = |sees_terminals| Toy {
        needs: Needs { classes: vec![1, 1], sees_terminals, ..Needs::default() },
        next: |at, packet| {
            let round = packet.src > 0 && packet.phase == 0 && at != packet.dest;
            packet.phase = 1;
            toward(at, if round { (at + 1) % 4 } else { packet.dest }, packet, 0)
        },
        ..direct()
    };
    // three of the four sources (terminals 1, 2 and 3) do not close the ring of dependencies; with a second VC class for the second hop, a
    // cycle would be impossible anyway
    let graph = graph(MESH_OF_FOUR);
    let edges = |toy: &Toy| {
        let mut d = Dependencies::new(&graph, toy, &toy.needs.classes);
        d.every_state(toy).unwrap();
        d.edges.iter().map(|word| word.count_ones()).sum::<u32>()
    };
    // one edge from each of 3 sources to each of the 2 destinations that are neither the source nor the next router
    assert_eq!((edges(&toy(true)), edges(&toy(false))), (6, 0));
}

#[test]
fn a_proof_by_legs_is_refused_if_next_names_no_hop() {
    let toy = Toy {
        next: |at, packet| if at == 2 && packet.dest != 2 { None } else { toward(at, packet.dest, packet, 0) },
        proof: || Proof::OneLeg { by_line: false },
        ..direct()
    };
    let graph = graph(MESH_OF_FOUR);
    let refusal = refuse_cycle(&graph, &toy, &toy.needs.classes, "toy").unwrap_err();
    assert_eq!(refusal.what, "toy returns no hop at router 2 for a packet to router 0");
    let whole = Toy { next: direct().next, ..toy };
    assert_eq!(refuse_cycle(&graph, &whole, &whole.needs.classes, "toy"), Ok(()));
}

#[test]
fn packets_that_end_elsewhere_or_nowhere_are_refused() {
    let proofs: [fn() -> Proof<'static>; 3] = [|| Proof::EveryState, Proof::rises, || Proof::OneLeg { by_line: false }];
    for proof in proofs {
        let at_once = Toy { next: |_, packet| Some(Hop::to_terminal(packet)), proof, ..direct() };
        refused(&at_once, "delivers a packet for router ");
        refused(
            &Toy { next: |_, _| Some(Hop { port: 9, class: 0 }), proof, ..direct() },
            "to port 9, which is not connected",
        );
        let undeclared: fn(u64, &mut Packet) -> Option<Hop> = |at, packet| toward(at, packet.dest, packet, 1);
        refused(&Toy { next: undeclared, proof, ..direct() }, "on VC class 1 of a dim0 link of router ");
    }
    let circles = Toy { next: |at, packet| toward(at, (at + 1) % 4, packet, 0), proof: proofs[2], ..direct() };
    refused(&circles, "never brings a packet from router 0 to router 0");
}

#[test]
fn escapes_are_checked_where_a_proof_relies_on_them() {
    let each_step = Needs { decides: Decides::EachStep, ..direct().needs };
    let toy = Toy {
        needs: each_step,
        escape: |at, to| toward(at, to, &Packet::default(), 0).filter(|_| at != to),
        proof: || Proof::Escapes,
        ..direct()
    };
    assert_eq!(checked(&toy), Ok(()));
    refused(&Toy { needs: direct().needs, ..toy.clone() }, "never requests its escape");
    refused(&Toy { escape: |_, _| None, ..toy.clone() }, "returns no escape at router 1 for a packet to router 0");
    let round: fn(u64, u64) -> Option<Hop> = |at, _| toward(at, (at + 1) % 4, &Packet::default(), 0);
    refused(&Toy { escape: round, ..toy.clone() }, "does not offer its escape");
    let in_two: fn(u64, u64) -> Option<Hop> = |at, _| toward(at, at ^ 1, &Packet::default(), 0);
    refused(&Toy { escape: in_two, ..toy }, "escapes from router 2 that never lead to router 0");
}

#[test]
fn members_of_a_trunk_are_one_channel_whichever_a_routing_names() {
    // packets go upward on a ring of four routers; after router 3 they take the second link of each trunk, as if separate links prevented a
    // cycle
    let next: fn(u64, &mut Packet) -> Option<Hop> = |at, packet| {
        packet.lane |= u8::from(at == 3);
        let port = if packet.lane == 0 { 1 } else { 3 };
        Some(if at == packet.dest { Hop::to_terminal(packet) } else { Hop { port, class: 0 } })
    };
    let toy = Toy { next, ..direct() };
    let ring = graph(r#"{"torus": {"widths": [4], "terminals_per_router": 1, "trunk_width": 2}}"#);
    assert!(ring.trunk(0, 1).members().eq([1, 3]));
    let refusal = refuse_cycle(&ring, &toy, &toy.needs.classes, "toy").unwrap_err();
    assert!(refusal.what.contains("a cycle of 4 channels"), "{refusal}");
}

#[test]
fn what_the_loop_would_not_call_is_refused() {
    let writes: fn(&mut Packet) = |packet| packet.lane = 1;
    refused(&Toy { taken: writes, ..direct() }, "`Needs::remembers` is off");
    refused(&Toy { inject: writes, ..direct() }, "`Needs::draws_path` is off");
    let remembers = Needs { remembers: true, ..direct().needs };
    assert_eq!(checked(&Toy { taken: writes, needs: remembers, ..direct() }), Ok(()));
}

#[test]
fn what_a_packet_remembers_of_a_hop_is_known_at_the_next_one() {
    // the second leg is on class 1, because `taken` counts the hops
    let needs = Needs { classes: vec![1, 2], remembers: true, ..over_one_router().needs };
    let next: fn(u64, &mut Packet) -> Option<Hop> = |at, packet| {
        let hop = (over_one_router().next)(at, packet)?;
        Some(Hop { class: packet.lane, ..hop })
    };
    let toy = Toy { needs, next, taken: |packet| packet.lane = 1, ..over_one_router() };
    assert_eq!(checked(&toy), Ok(()));
    refused(&Toy { taken: |_| (), ..toy }, "channel dependencies have a cycle");
}

#[derive(Debug)]
struct Blurred(Toy);

impl Routing for Blurred {
    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        vec![0; graph.routers() as usize]
    }

    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        self.0.next(at, packet, seed)
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        self.0.steps(at, packet, seed)
    }
}

#[test]
fn routers_of_the_same_coordinates_are_refused() {
    let refusal = refuse_misfit(&graph(MESH_OF_FOUR), &Blurred(direct()), "toy").unwrap_err();
    assert!(refusal.what.contains("gives several routers the same coordinates 0x0"), "{refusal}");
    let without_views = graph(r#"{"graph": {"file": "../engine/tests/data/petersen.anynet"}}"#);
    assert_eq!(direct().coordinates(&without_views), (0..10).collect::<Vec<u64>>(), "the numbers of the routers");
}

#[test]
fn dimensions_are_distinguished_by_their_ports_not_by_the_class_of_their_links() {
    // 2 x 2 routers; the links of both dimensions have one link class
    let mut builder = GraphBuilder::new("square", ["side"]);
    let port = |peer, class| Port { peer, class };
    for r in 0..4 {
        let side = |router, number| port(Peer::Router { router, port: number }, 1);
        builder.router([port(Peer::Terminal(r), 0), side(r ^ 1, 1), side(r ^ 2, 2)]);
    }
    let dimension = |first_port| Dimension { width: 2, line: Line::Complete, first_port, class: 1 };
    let graph = builder.build(Structure::of_grid(vec![dimension(1), dimension(2)]), "square").unwrap();
    let config: RoutingConfig = serde_json::from_str(r#"{"dimension_order": {}}"#).unwrap();
    let routing = config.build(&graph).unwrap();
    let mut d = Dependencies::new(&graph, &*routing, &routing.needs().classes);
    d.enter(&*routing, routing.proof()).unwrap();
    assert!(d.successors(d.node(0, 1, 0)).eq([d.node(1, 2, 0)]), "from the first dimension to the second");
    assert_eq!(d.successors(d.node(0, 2, 0)).count(), 0, "and not back");
}

/// Tests SLaC with packets in flight that may use different numbers of stages.
#[test]
fn channels_of_one_number_of_stages_and_of_all_together_close_no_cycle() {
    for (columns, rows) in [(4, 4), (3, 5)] {
        let hyperx = format!(r#"{{"hyperx": {{"widths": [{columns}, {rows}], "terminals_per_router": 1}}}}"#);
        let graph = serde_json::from_str::<TopologyConfig>(&hyperx).unwrap().build("topology").unwrap();
        for via in ["by_destination", "lowest", "newest", "random"] {
            let routing: RoutingConfig = serde_json::from_str(&format!(r#"{{"slac": {{"via": "{via}"}}}}"#)).unwrap();
            let all = routing.build(&graph).unwrap();
            let Proof::Together(every) = all.proof() else { panic!("one routing for each number of stages") };
            assert_eq!(every.len(), rows);
            let mut together = Dependencies::new(&graph, &*every[0], &vec![1, 1, 1]);
            for routing in &every {
                let mut alone = Dependencies::new(&graph, &**routing, &vec![1, 1, 1]);
                assert!(alone.rises(&**routing, false).unwrap());
                alone.every_state(&**routing).unwrap();
                assert_eq!(alone.find_cycle(), None, "{routing:?}");
                together.every_state(&**routing).unwrap();
            }
            assert_eq!(together.find_cycle(), None, "{via}");
        }
    }
}
