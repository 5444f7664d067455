//! Tests of networks from tables of cables, in the form that inventory programs export.

use proptest::prelude::*;
use weft_topology::graph_file::{Format, GraphFile};
use weft_topology::{Graph, TopologyModel};
use weft_units::{InputFile, Refusal};

fn build(text: &str, terminals_of: &[(&str, u32)]) -> Result<Graph, Refusal> {
    let terminals_of = terminals_of.iter().map(|(id, number)| ((*id).to_owned(), *number)).collect();
    GraphFile { terminals_of, ..GraphFile::of(InputFile::new("cables.csv", text.as_bytes())) }.build("topology.graph")
}

/// Code and first number of each remark on a graph.
fn remarks(graph: &Graph) -> Vec<(&str, f64)> {
    graph.remarks().iter().map(|remark| (remark.code.name, remark.numbers[0].1)).collect()
}

#[test]
fn an_inventory_is_a_network() {
    // 12 leaves have 2 or 3 cables of 100 Gb/s to old spines, and 2 cables of 400 Gb/s to new spines
    let text = include_str!("../../../tests/data/graphs/cables.csv");
    let graph = build(text, &[("leaf*", 8)]).expect("a network");
    let cables = |speed: &str| text.lines().filter(|line| line.ends_with(speed)).count();
    assert_eq!((graph.routers(), graph.terminals()), (17, 96));
    let counts = [
        ("terminal".to_owned(), 96),
        ("link_100G".to_owned(), cables(",100Gb/s")),
        ("link_400G".to_owned(), cables(",400Gb/s")),
    ];
    assert_eq!(graph.links_by_class(), counts);
    // Weft reports lengths without a unit, and types, as unused
    assert_eq!(remarks(&graph), [("graph_attributes_unused", 53.0), ("graph_columns_read", 1.0)]);
    assert!(build(text, &[]).unwrap_err().what.contains("has a terminal"));
}

#[test]
fn units_stand_in_values_or_headings() {
    let graph =
        build("A,B,Speed [Gbps],Length (m)\r\n\"x, 1\",y,100,3\r\ny,z,400,2.5", &[("*", 1)]).expect("a network");
    assert_eq!(graph.router_names().unwrap(), ["x, 1", "y", "z"]);
    // the length gives a latency of 5 ns per metre
    assert_eq!(graph.class_names(), ["terminal", "link_100G_15ns", "link_400G_12500ps"]);
    assert_eq!(remarks(&graph), [("graph_columns_read", 2.0)]);
    let plain = build("source,target\n0,1\n1,2\n", &[("*", 1)]).expect("a network");
    assert_eq!((plain.links().count(), plain.class_names().len(), plain.remarks().len()), (2, 2, 0));
}

#[test]
fn devices_have_the_attributes_of_their_side() {
    let text = "\u{feff}device a;role a;terminals a;device b;role b\nleaf;tor;4;h1;server\nleaf;tor;4;spine;core\n";
    let graph = build(text, &[]).expect("a network");
    assert_eq!((graph.routers(), graph.terminals()), (3, 4), "a file that counts terminals has no other hosts");
    let text =
        "device a\trole a\tdevice b\trole b\nleaf\ttor\th1\tserver\nleaf\ttor\tspine\tcore\nspine\tcore\th2\tserver\n";
    let graph = build(text, &[]).expect("a network");
    assert_eq!((graph.routers(), graph.terminals()), (2, 2));
    assert!(remarks(&graph).contains(&("graph_hosts_found", 2.0)));
}

#[test]
fn a_cable_from_both_ends_is_one_and_two_cables_are_a_trunk() {
    let table = |lines: &str| build(&format!("device,port,device,port\n{lines}"), &[("*", 1)]).expect("a network");
    assert_eq!(table("a,1,b,1\nb,1,a,1\nb,2,c,1\nc,1,b,2\n").links().count(), 2);
    let trunk = table("a,1,b,1\na,2,b,2\nb,3,a,3\n");
    assert_eq!((trunk.links().count(), trunk.has_trunks()), (3, true));
    assert_eq!(remarks(&table("a,1,b,1\na,1,c,1\n")), [("graph_ports_shared", 1.0)]);
    assert_eq!(remarks(&table("a,1,b,1\na,2,,\n,,,\nb,9,c\n")), [("graph_cables_open", 2.0)]);
}

#[test]
fn what_is_no_table_of_cables_is_refused() {
    let texts = [
        ("", vec![]),
        ("0,1\n1,0\n", vec![]),
        ("device,speed\na,1G\n", vec![]),
        ("source,target\n", vec![("*", 1)]),
        ("source,target\na,a\n", vec![("*", 1)]),
        ("source,target\na,b\n", vec![("leaf*", 1)]),
        ("source,target\na,b\nb,a\n", vec![("*", 1)]),
        ("device a,terminals a,device b\na,two,b\n", vec![]),
    ];
    let refusal_of = |(text, terminals): &(&str, Vec<(&str, u32)>)| {
        let refusal = build(text, terminals).unwrap_err();
        format!("{}\n  {}\n  {}\n", refusal.path, refusal.what, refusal.help)
    };
    insta::assert_snapshot!(texts.iter().map(refusal_of).collect::<String>());
}

#[test]
fn ids_give_terminals() {
    let text = "source,target\nleaf1,spine\nleaf2,spine\nleaf10,spine\n";
    let graph = build(text, &[("leaf*", 2), ("leaf1*", 3), ("leaf1", 5)]).expect("a network");
    // a key that equals the id has priority; among keys with `*`, the longest that matches has priority
    assert_eq!([0, 1, 2, 3].map(|router| graph.terminals_of(router)), [5, 0, 2, 3]);
}

proptest! {
    #[test]
    fn any_table_is_read_or_refused(
        heading in "(device|port|speed|length|source|target|role a|side b|x)(,(device|port|speed \\(Gb/s\\)|source|to|\"))*",
        lines in prop::collection::vec("([a-c]|1|100G|3m|\"|\\PC)?(,([a-c]|2|100G|3m|\"|\\PC)?){0,5}", 0..6),
        noise in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let text = format!("{heading}\n{}", lines.join("\n"));
        for bytes in [text.as_bytes(), &noise[..]] {
            let file = GraphFile::of(InputFile::new("x", bytes));
            let built = GraphFile { format: Some(Format::Cables), terminals_per_router: Some(1), ..file }.build("topology.graph");
            if let Err(refusal) = built {
                prop_assert!(!refusal.what.is_empty() && !refusal.help.is_empty(), "{}", refusal);
                prop_assert!(!refusal.help.contains("bug in Weft"), "{}", refusal);
            }
        }
    }
}
