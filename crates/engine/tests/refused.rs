//! Tests that routings refuse networks that they can't route, with a message that names the place, the arithmetic and the remedy.

use crate::common::*;
use weft_engine::examples::small_networks;
use weft_engine::power::{Modes, PolicyConfig};
use weft_engine::routing::{RoutingConfig, any_graph::table::Table};
use weft_engine::spec::FlowControl;
use weft_engine::{Spec, check};
use weft_topology::{Graph, TopologyConfig, graph_file::GraphFile};
use weft_units::{InputFile, Refusal};

fn refusal(topology_json: &str, routing_config: RoutingConfig) -> Refusal {
    let mut spec = Spec::new(&topology(topology_json), routing_config).unwrap();
    spec.links.iter_mut().for_each(|link| link.vcs = 16);
    check(&spec).unwrap_err()
}

// ---- tables ---------------------------------------------------------------------------------------------------------

/// A network of three routers in a row, 0 - 1 - 2, with one terminal each.
const ROW: &str = r#"{"mesh": {"widths": [3], "terminals_per_router": 1}}"#;
/// A network of four routers in a ring.
const RING: &str = r#"{"torus": {"widths": [4], "terminals_per_router": 1}}"#;
const HEADER: &str = "router,destination,next\n";

fn table(lines: &str) -> RoutingConfig {
    RoutingConfig::Table(Table { file: InputFile::new("way.csv", lines.as_bytes()) })
}

#[test]
fn a_whole_table_is_taken() {
    let spec =
        Spec::new(&topology(ROW), table(&format!("{HEADER}0,1,1\n0,2,1\n1,0,0\n1,2,2\n2,0,1\n2,1,1\n"))).unwrap();
    check(&spec).unwrap();
}

#[test]
fn a_bad_line_is_named() {
    let what = |lines: &str| refusal(ROW, table(&format!("{HEADER}{lines}"))).to_string();
    let near = what("0,1,1\n0,2,2\n");
    assert!(near.contains("line 3 of way.csv: router 0 has no link to 2"), "{near}");
    assert!(near.contains("one of its neighbours: 1"), "{near}");
    let twice = what("0,1,1\n\n0,1,1\n");
    assert!(twice.contains("line 4 of way.csv: router 0 already has an entry for destination 1"), "{twice}");
    assert!(what("0,7,1\n").contains("line 2 of way.csv: there is no router \"7\""));
    assert!(what("0,1\n").contains("2 fields, but the first line names 3 columns"));
    let class = refusal(ROW, table("router,destination,next,class\n0,1,1,16\n")).to_string();
    assert!(class.contains("\"16\" is not a VC class") && class.contains("0 to 15"), "{class}");
    let header = refusal(ROW, table("0,1,1\n")).to_string();
    assert!(header.contains("the first line of way.csv is \"0,1,1\""), "{header}");
    let bytes = RoutingConfig::Table(Table { file: InputFile::new("way.csv", &[0xff, 0xfe][..]) });
    assert!(refusal(ROW, bytes).to_string().contains("not UTF-8"));
}

#[test]
fn a_hole_is_named_with_the_packets_that_fall_into_it() {
    let refusal = refusal(ROW, table(&format!("{HEADER}0,1,1\n0,2,1\n1,0,0\n2,0,1\n2,1,1\n")));
    assert!(refusal.what.contains("no entry for router 1 and destination 2, which packets from router 0 need: 0 -> 1"));
    assert!(refusal.help.contains("add the line 1,2,NEXT; NEXT is a neighbour of router 1: 0, 2"), "{refusal}");
}

#[test]
fn names_with_commas_are_quoted_and_shown() {
    // three routers in a row, with the names that NetworkX gives to the nodes of a grid
    let nodes = ["(0, 0)", "(0, 1)", "say \"two\""].map(|name| format!(r#"{{"id": {name:?}, "terminals": 1}}"#));
    let links = r#"{"source": "(0, 0)", "target": "(0, 1)"}, {"source": "(0, 1)", "target": "say \"two\""}"#;
    let graph =
        format!(r#"{{"directed": false, "multigraph": false, "nodes": [{}], "links": [{links}]}}"#, nodes.join(","));
    let file = InputFile::new("row.json", graph.as_bytes());
    let topology = TopologyConfig::GraphFile(GraphFile::of(file));
    let checked = |lines: &str| check(&Spec::new(&topology, table(&format!("{HEADER}{lines}"))).unwrap());
    let [a, b, c] = [r#""(0, 0)""#, r#""(0, 1)""#, r#""say ""two""""#];
    let lines = format!("{a},{b},{b}\n{a} , {c} , {b}\n{b},{a},{a}\n{c},{a},{b}\n{c},{b},{b}\n");
    let hole = checked(&lines).unwrap_err();
    assert!(hole.what.contains("router (0, 1) and destination say \"two\""), "{hole}");
    assert!(hole.what.contains("from router (0, 0) need: (0, 0) -> (0, 1)"), "{hole}");
    assert!(
        hole.help.contains(&format!("add the line {b},{c},NEXT; NEXT is a neighbour of router (0, 1): (0, 0), say")),
        "{hole}"
    );
    let open = checked("\"(0, 0),1,2\n").unwrap_err();
    assert!(open.what.contains("line 2 of way.csv: missing closing quote"), "{open}");
    let after = checked("\"(0, 0)\" x,1,2\n").unwrap_err();
    assert!(after.what.contains("\"x,1,2\" follows a quoted field"), "{after}");
    let whole = format!("{lines}{b},{c},{c}\n");
    // on a row, one VC class is enough
    checked(&whole).unwrap();
}

#[test]
fn the_highest_threshold_is_taken() {
    let with = |flits: u64| format!(r#"{{"ugal": {{"threshold": "{flits}flits"}}}}"#);
    check(&spec(HYPERX, &with(1 << 30))).unwrap();
    let refusal = refusal(HYPERX, routing(&with((1 << 30) + 1)));
    assert_eq!(refusal.path, "routing.ugal.threshold");
    assert!(refusal.help.contains("at most 1073741824flits"), "{refusal}");
}

#[test]
fn a_loop_is_shown() {
    let refusal = refusal(ROW, table(&format!("{HEADER}0,1,1\n0,2,1\n1,0,0\n1,2,0\n2,0,1\n2,1,1\n")));
    assert_eq!(refusal.path, "routing.table.file");
    assert!(refusal.what.contains("packets to router 2 never arrive with way.csv: "), "{refusal}");
    assert!(refusal.what.contains("0 -> 1 -> 0") || refusal.what.contains("1 -> 0 -> 1"), "{refusal}");
}

#[test]
fn a_table_that_can_deadlock_is_refused() {
    // all packets go up round the ring on one VC class, so they can wait for each other in a cycle
    let lines: String = (0..4)
        .flat_map(|r| (0..4).filter(move |&d| d != r).map(move |d| format!("{r},{d},{}\n", (r + 1) % 4)))
        .collect();
    let refusal = refusal(RING, table(&format!("{HEADER}{lines}")));
    assert!(refusal.what.contains("a cycle of 4 channels"), "{refusal}");
}

// ---- graphs ---------------------------------------------------------------------------------------------------------

#[test]
fn paths_longer_than_the_vcs_are_refused() {
    let long = r#"{"mesh": {"widths": [40], "terminals_per_router": 1}}"#;
    let refusal = refusal(long, routing(SHORTEST));
    assert_eq!(refusal.path, "routing.shortest_path");
    assert!(refusal.what.contains("up to 39 links need 39 VC classes, but a link has at most 16 VCs"), "{refusal}");
    // a row is a tree, so one class is enough
    check(&spec(long, ECMP_ONE)).unwrap();
    let far = r#"{"mesh": {"widths": [128, 2], "terminals_per_router": 1}}"#;
    check(&spec(far, ECMP_ONE)).unwrap_err();
}

#[test]
fn a_ring_on_one_class_is_refused() {
    assert!(refusal(RING, routing(ECMP_ONE)).what.contains("have a cycle"));
    check(&spec(RING, ECMP)).unwrap();
}

#[test]
fn tables_beyond_the_memory_limit_are_refused_with_the_arithmetic() {
    let wide = r#"{"hyperx": {"widths": [34, 34, 34], "terminals_per_router": 1}}"#;
    let refusal = refusal(wide, routing(SHORTEST));
    // 34^3 = 39,304 routers; the square of this number is 1.54e9, which exceeds 2^30
    assert!(
        refusal.what.starts_with("the table needs 39304 routers with terminals x 39304 routers x 1 bytes = 1544804416"),
        "{refusal}"
    );
}

// ---- bubbles --------------------------------------------------------------------------------------------------------

/// A spec of a ring of four routers that keeps a bubble, with packets of 5 flits in buffers of 10 flits.
fn bubbles() -> Spec {
    let mut spec = Spec::new(&topology(RING), routing(BUBBLE)).unwrap();
    spec.set_packet(5);
    spec.links.iter_mut().for_each(|link| link.buffer = 10);
    check(&spec).unwrap();
    spec
}

#[test]
fn a_bubble_needs_whole_packets_in_a_buffer() {
    let mut spec = bubbles();
    spec.router.flow_control = FlowControl::Wormhole;
    let refusal = check(&spec).unwrap_err();
    assert_eq!(refusal.path, "router.flow_control");
    assert!(refusal.what.contains("dimension_order") && refusal.help.contains("virtual_cut_through"), "{refusal}");
    // the same is true for packets of one flit
    spec.set_packet(1);
    assert_eq!(check(&spec).unwrap_err().path, "router.flow_control");
}

#[test]
fn a_bubble_needs_buffers_for_two_packets_on_links_of_rings() {
    let mut spec = bubbles();
    spec.links[0].buffer = 5; // no ring passes through a terminal
    check(&spec).unwrap();
    spec.links[1].buffer = 9;
    let refusal = check(&spec).unwrap_err();
    assert_eq!(refusal.path, format!("links.{}.buffer", spec.graph.class_names()[1]));
    assert!(refusal.what.starts_with("9 flits") && refusal.what.contains("2 x 5 = 10 flits"), "{refusal}");
    assert!(refusal.help.contains("at least 10flits"), "{refusal}");
}

#[test]
fn a_bubble_needs_packets_of_one_length() {
    let mut spec = bubbles();
    spec.traffic.jobs[0].workload = request_reply(1, None);
    let refusal = check(&spec).unwrap_err();
    assert_eq!(refusal.path, "routing.dimension_order");
    assert!(refusal.what.contains("1 to 5 flits"), "{refusal}");
    spec.traffic.jobs[0].workload = request_reply(5, None);
    check(&spec).unwrap();
}

// ---- shapes ---------------------------------------------------------------------------------------------------------

#[test]
fn the_refusal_of_a_wrong_topology_names_the_routings_that_fit() {
    let (examples, small) = (RoutingConfig::examples(), small_networks());
    for kind in TopologyConfig::NAMES {
        // without trunks, because the refusal of a network with trunks explains how to avoid trunks
        let single = |(topology, graph): &(TopologyConfig, Graph)| topology.name() == *kind && !graph.has_trunks();
        let (topology, _) = small.iter().find(|network| single(network)).expect("a network without trunks");
        let checked = |routing: &RoutingConfig| {
            let mut spec = Spec::new(topology, routing.clone()).unwrap();
            spec.links.iter_mut().for_each(|link| link.vcs = 16);
            check(&spec)
        };
        let (mut fit, mut listed) = (Vec::new(), Vec::new());
        for name in RoutingConfig::NAMES {
            let example = examples.iter().find(|example| example.config.name() == *name).expect("an example");
            // a routing for some networks only, such as a table, can be written for any network, unless it declares its networks
            match checked(&example.config) {
                Err(refusal) if example.networks.is_none() || refusal.help.contains(", or a topology that suits") => {
                    listed.push((name, refusal.help));
                }
                Ok(()) | Err(_) => fit.push(*name),
            }
        }
        fit.sort_unstable();
        for (name, help) in listed {
            let (routings, topologies) =
                help.split_once(&format!(", or a topology that suits {name}: ")).expect("routings and topologies");
            let routed = |topology: &str| {
                PAIRS.iter().any(|pair| pair.topology.name() == topology && pair.routing.name() == *name)
            };
            assert!(topologies.split(", ").any(routed), "{help}");
            let mut listed: Vec<&str> = routings.trim_start_matches("choose ").split(", ").collect();
            listed.sort_unstable();
            assert_eq!(listed, fit, "{kind} {name}");
        }
    }
}

// ---- pairs ----------------------------------------------------------------------------------------------------------

/// A policy that switches links off needs a routing that uses the information of this policy about links. A policy that never switches
/// links off is compatible with every routing.
#[test]
fn policies_and_routings_go_together_by_what_they_know_of_links() {
    let specs: Vec<Spec> = PAIRS.iter().map(Pair::spec).collect();
    for example in PolicyConfig::examples() {
        let offered = example.knowledge_of_links();
        for routing in RoutingConfig::NAMES {
            // a policy whose links always carry packets is only refused for the links that it manages, so half of the pairs are enough
            let step = if example.offers().always_carries && !all_cases() { 2 } else { 1 };
            let of_routing = || specs.iter().filter(|spec| spec.routing.name() == *routing).step_by(step);
            let knows = of_routing().any(|spec| spec.routing.knowledge_of_links().contains(&offered));
            let checked = of_routing().map(|spec| {
                let mut spec = spec.clone();
                let all = spec.managed.clone();
                spec.policy = example.clone();
                spec.allow_dependency_cycle = true;
                if manage_what_can_be(&mut spec) {
                    return Ok(());
                }
                spec.managed = all;
                check(&spec)
            });
            let checked: Vec<Result<(), Refusal>> = checked.collect();
            if example.offers().always_carries {
                // such a policy is refused only if there are no links that it can manage
                let refused = checked.iter().filter_map(|checked| checked.as_ref().err());
                assert!(refused.clone().all(|refusal| refusal.path == "power.manages"), "{example:?} beside {routing}");
                continue;
            }
            // some networks have no links that the policy can manage, and some parameters need links that the policy switches
            let fits = example.states(&Modes::default()).unwrap().len() == 1 || knows;
            assert_eq!(checked.iter().any(Result::is_ok), fits, "{example:?} beside {routing}: {checked:?}");
            for refusal in checked.into_iter().filter_map(Result::err) {
                assert!(!refusal.help.contains("none"), "{example:?} beside {routing}: {refusal}");
            }
        }
    }
}

#[test]
fn what_other_routers_know_comes_at_least_a_cycle_later() {
    for (every, delay, key) in [("0cycles", "5cycles", "every"), ("5cycles", "0cycles", "delay")] {
        let posted =
            format!(r#"{{"dragonfly_ugal": {{"queues": {{"posted": {{"every": "{every}", "delay": "{delay}"}}}}}}}}"#);
        let refusal = refusal(DRAGONFLY, routing(&posted));
        assert_eq!(refusal.path, format!("routing.dragonfly_ugal.queues.posted.{key}"));
        assert_eq!((&*refusal.what, &*refusal.help), ("0 cycles", "write at least 1cycle"));
    }
}

#[test]
fn more_global_links_than_a_post_has_bits_are_refused() {
    let network = |links: u32| {
        format!(
            r#"{{"dragonfly": {{"routers_per_group": 2, "terminals_per_router": 1, "global_links_per_router": {links}}}}}"#
        )
    };
    let refusal = refusal(&network(33), routing(r#"{"dragonfly_pb": {}}"#));
    assert_eq!(refusal.path, "routing.dragonfly_pb");
    let what = "33 global links per router, but a router posts one bit for each of them in a word of 32 bits";
    assert!(refusal.what.contains(what), "{refusal}");
    assert!(refusal.help.contains("fewer global links per router, or write routing: dragonfly_ugal"), "{refusal}");
    for (links, routing_json) in [(32, r#"{"dragonfly_pb": {}}"#), (33, r#"{"dragonfly_ugal": {}}"#)] {
        let mut spec = spec(&network(links), routing_json);
        spec.links.iter_mut().for_each(|link| link.vcs = 16);
        check(&spec).unwrap_or_else(|refusal| panic!("what the message says: {refusal}"));
    }
}
