//! Tests of graph files: all formats give the same network, refusals have the right messages, and no input causes a panic.

use crate::common::{anynet, graph_file, graphml, json};
use proptest::prelude::*;
use weft_topology::graph_file::{Format, GraphFile};
use weft_topology::{Graph, Link, Peer, Structure, TopologyConfig, TopologyModel};
use weft_units::InputFile;

fn build(name: &str, text: &str) -> Graph {
    graph_file(name, text).build("topology.graph").unwrap_or_else(|refusal| panic!("{refusal}\n{text}"))
}

fn regular(json: &str) -> Graph {
    serde_json::from_str::<TopologyConfig>(json).unwrap().build("topology").unwrap()
}

/// The pairs of routers that have a link, in ascending order.
fn pairs(graph: &Graph) -> Vec<(u32, u32)> {
    let mut pairs: Vec<_> = graph.links().map(|Link { ends: [a, b], .. }| (a.0, b.0)).collect();
    pairs.sort_unstable();
    pairs
}

#[test]
fn every_format_gives_the_same_graph() {
    let texts = [
        r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 2}}"#,
        r#"{"torus": {"widths": [5, 3], "terminals_per_router": 1}}"#,
        r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}}"#,
        r#"{"fat_tree": {"k": 4}}"#,
        r#"{"single_router": {"terminals": 3}}"#,
    ];
    for text in texts {
        let original = regular(text);
        let [from_json, from_graphml] = [build("g.json", &json(&original)), build("g.graphml", &graphml(&original))];
        assert_eq!(from_json, from_graphml);
        assert_eq!(pairs(&from_json), pairs(&original));
        let placed = |graph: &Graph| (0..graph.terminals()).map(|t| graph.terminal_at(t).0).collect::<Vec<_>>();
        assert_eq!(placed(&from_json), placed(&original));
        let mut classes = original.links_by_class();
        classes.retain(|(_, links)| *links > 0);
        classes[1..].sort();
        assert_eq!(from_json.links_by_class(), classes);
        // Anynet has no classes, so its graph equals the JSON graph without classes.
        let plain = json(&original).replace("\"class\"", "\"label\"");
        assert_eq!(build("g.anynet", &anynet(&original)), build("g.json", &plain));
    }
}

#[test]
fn networkx_writes_what_is_read() {
    // The first text is the result of json.dumps(node_link_data(g)) in NetworkX 3.6. The second text is the same with edges="links".
    let edges = r#"{"directed": false, "multigraph": false, "graph": {}, "nodes": [{"terminals": 2, "id": [0, 1]},
        {"id": 7}], "edges": [{"class": "x", "source": [0, 1], "target": 7}]}"#;
    let links = r#"{"directed": true, "multigraph": true, "graph": {}, "nodes": [{"terminals": 2, "id": [0, 1]},
        {"id": 7}], "links": [{"class": "x", "source": [0, 1], "target": 7, "key": 0},
        {"class": "x", "source": 7, "target": [0, 1], "key": 0}]}"#;
    let graph = build("g.json", edges);
    assert_eq!(graph, build("g.json", links));
    assert_eq!(graph.router_names(), Some(&["[0,1]".to_owned(), "7".to_owned()][..]));
    assert_eq!(graph.structure(), &Structure::default());
    assert_eq!(graph.links_by_class(), [("terminal".into(), 2), ("x".into(), 1)]);
    // The result of write_graphml in NetworkX 3.6, to which a default value and a key for all elements were added, as other programs write
    // them.
    let graphml = r#"<?xml version='1.0' encoding='utf-8'?>
        <graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
          <key id="d1" for="edge" attr.name="class" attr.type="string"><default>x</default></key>
          <key id="d0" attr.name="terminals" attr.type="long" />
          <graph edgedefault="directed">
            <node id="[0,1]"><data key="d0">2</data></node>
            <node id="7" />
            <edge source="[0,1]" target="7" /><edge source="7" target="[0,1]"><data key="d1">x</data></edge>
          </graph>
        </graphml>"#;
    assert_eq!(graph, build("g.graphml", graphml));
}

#[test]
fn an_id_is_named_as_the_file_writes_it() {
    let text = r#"{"nodes": [{"id": "a b", "terminals": 1}, {"id": -1}, {"id": 2.50}, {"id": ["x", 0, 1.5]}], "edges": [
        {"source": "a b", "target": -1}, {"source": -1, "target": 2.5}, {"source": 2.5, "target": ["x",0,1.5]}]}"#;
    assert_eq!(build("g.json", text).router_names().unwrap(), ["a b", "-1", "2.5", r#"["x",0,1.5]"#]);
}

#[test]
fn links_of_two_classes_count_in_both_and_are_distinguished() {
    let graph = build(
        "net",
        "router 0 router 1 15 node 0\nrouter 1 router 2 2 node 1\nrouter 2 router 1 2\nrouter 1 router 0 4",
    );
    let by_class = [("terminal", 2), ("latency15", 1), ("latency4", 1), ("latency2", 1)];
    let counted: std::collections::BTreeMap<String, usize> = graph.links_by_class().into_iter().collect();
    assert_eq!(counted, by_class.map(|(name, links)| (name.to_owned(), links)).into_iter().collect());
    let [(classes, 1)] = &graph.links_of_two_classes()[..] else { panic!("one link of two classes") };
    assert_eq!(std::collections::BTreeSet::from(classes.clone()), ["latency15".into(), "latency4".into()].into());
}

#[test]
fn anynet_places_nodes_and_names_latencies() {
    // The routers are in ascending order of ids. The file lists each link from both ends. The nodes are at the routers whose lines name
    // them.
    let graph = build(
        "net",
        "router 30 router 10 15 node 0\n\nnode 1 router 20\nrouter 20 router 10\nrouter 10 router 20 node 2 router 30 15",
    );
    assert_eq!(graph.router_names().unwrap(), ["10", "20", "30"]);
    assert_eq!([0, 1, 2].map(|terminal| graph.terminal_at(terminal)), [(2, 0), (1, 0), (0, 0)]);
    assert_eq!(graph.links_by_class(), [("terminal".into(), 3), ("latency15".into(), 1), ("link".into(), 1)]);
    assert_eq!(graph.terminals_per_router(), None, "terminals are not in the order of routers");
    assert_eq!(
        graph.ports(0).iter().map(|port| port.peer).collect::<Vec<_>>(),
        [Peer::Terminal(2), Peer::Router { router: 1, port: 1 }, Peer::Router { router: 2, port: 1 },]
    );
}

#[test]
fn the_default_is_for_routers_that_do_not_say() {
    let text = r#"{"nodes": [{"id": 0}, {"id": 1, "terminals": 0}, {"id": 2, "terminals": 3}],
        "edges": [{"source": 0, "target": 1}, {"source": 1, "target": 2}]}"#;
    let config = |terminals_per_router| GraphFile {
        format: Some(Format::Json),
        terminals_per_router,
        ..GraphFile::of(InputFile::new("g.txt", text.as_bytes()))
    };
    let terminals = |graph: Graph| [0, 1, 2].map(|router| graph.terminals_of(router));
    assert_eq!(terminals(config(None).build("topology").unwrap()), [0, 0, 3]);
    assert_eq!(terminals(config(Some(2)).build("topology").unwrap()), [2, 0, 3]);
    let plain = GraphFile {
        terminals_per_router: Some(4),
        ..GraphFile::of(InputFile::new("ring", &b"router 0 router 1\nrouter 1 router 2\nrouter 2 router 0"[..]))
    };
    assert_eq!(plain.build("topology").unwrap().terminals_per_router(), Some(4));
}

#[test]
fn links_that_a_file_repeats_are_a_trunk() {
    // there are 4 links between routers 0 and 1, of which 3 are of class b, and 1 link to router 2
    let link = |from: u32, to: u32, class: &str| format!(r#"{{"source": {from}, "target": {to}, "class": "{class}"}}"#);
    let undirected = [link(0, 1, "b"), link(1, 0, "b"), link(2, 1, "b"), link(0, 1, "a"), link(0, 1, "b")];
    let nodes = r#"[{"id": 0, "terminals": 1}, {"id": 1}, {"id": 2}]"#;
    let file = |directed: bool, links: &[String]| {
        format!(r#"{{"directed": {directed}, "multigraph": true, "nodes": {nodes}, "links": [{}]}}"#, links.join(","))
    };
    let graph = build("g.json", &file(false, &undirected));
    assert_eq!(graph.links_by_class(), [("terminal".into(), 1), ("a".into(), 1), ("b".into(), 4)]);
    assert_eq!((graph.trunks_by_width(), graph.only_trunk_width()), (vec![(3, 1)], None));
    // ports of router 0: its terminal, the link of class a, the first link of class b; then the other two links of class b
    let trunk = graph.trunk(0, 2);
    assert_eq!((trunk.members().collect::<Vec<_>>(), graph.ports(0).len()), (vec![2, 3, 4], 5));
    // ports of router 1: the link of class a, the first link of class b, the link to router 2; then the other two links of class b
    assert_eq!(graph.trunk(1, 1).members().collect::<Vec<_>>(), [1, 3, 4]);
    assert_eq!(graph.ports(0)[4].peer, Peer::Router { router: 1, port: 4 });
    let directed: Vec<String> = ["a", "b", "b", "b"].iter().flat_map(|c| [link(0, 1, c), link(1, 0, c)]).collect();
    let both = [directed, vec![link(1, 2, "b"), link(2, 1, "b")]].concat();
    assert_eq!(build("g.json", &file(true, &both)), graph);
    let edge = |from, to, class| format!("<edge source='{from}' target='{to}'><data key='c'>{class}</data></edge>");
    let edges = [edge(0, 1, "b"), edge(1, 0, "b"), edge(2, 1, "b"), edge(0, 1, "a"), edge(0, 1, "b")].concat();
    let keys = "<key id='c' for='edge' attr.name='class'/><key id='t' for='node' attr.name='terminals'/>";
    let nodes = "<node id='0'><data key='t'>1</data></node><node id='1'/><node id='2'/>";
    let graphml = format!("<graphml>{keys}<graph edgedefault='undirected'>{nodes}{edges}</graph></graphml>");
    assert_eq!(build("g.graphml", &graphml), graph);
    // without its trunks the graph equals the graph of a file that lists each link once
    let once = [link(0, 1, "b"), link(2, 1, "b"), link(0, 1, "a")];
    assert_eq!(pairs(&graph.without_trunks()), pairs(&build("g.json", &file(false, &once))));
}

/// For each link, the class names of its two channels.
fn ways(file: &TopologyConfig) -> Vec<(String, String)> {
    let graph = file.build("topology.graph").expect("a network");
    let name = |class: u8| graph.class_names()[usize::from(class)].clone();
    graph.links().map(|link| (name(link.class), name(link.back))).collect()
}

#[test]
fn each_direction_of_a_link_has_the_latency_of_its_own_statement() {
    let way = |there: &str, back: &str| vec![(there.to_owned(), back.to_owned())];
    let anynet = |text: &str| ways(&graph_file("net.anynet", text));
    assert_eq!(anynet("router 0 node 0 router 1 5\nrouter 1 router 0 7"), way("latency5", "latency7"));
    assert_eq!(anynet("router 1 router 0 7\nrouter 0 node 0 router 1 5"), way("latency5", "latency7"));
    // BookSim uses 1 cycle for the direction whose latency the file does not give
    assert_eq!(anynet("router 0 node 0 router 1 15\nrouter 1 node 1"), way("latency15", "latency1"));
    assert_eq!(anynet("router 1 node 1 router 0 15\nrouter 0 node 0"), way("latency1", "latency15"));
    assert_eq!(anynet("router 0 node 0 router 1 1\nrouter 1 node 1"), way("latency1", "latency1"));
    // without any latency in the file, both directions have the latency in the scenario
    assert_eq!(anynet("router 0 node 0 router 1\nrouter 1 node 1"), way("link", "link"));
    let json = r#"{"directed": true, "nodes": [{"id": 1}, {"id": 2, "terminals": 1}], "edges": [
        {"source": 2, "target": 1, "class": "b"}, {"source": 1, "target": 2, "class": "a"}]}"#;
    assert_eq!(ways(&graph_file("net.json", json)), way("a", "b"));
    let graph =
        graph_file("net.anynet", "router 0 node 0 router 1 5\nrouter 1 router 0 7").build("topology.graph").unwrap();
    let remarks: Vec<_> = graph.remarks().iter().map(|remark| (remark.code.name, remark.path.as_str())).collect();
    assert_eq!(remarks, [("anynet_credits_unlike_booksim", "topology.graph.file")]);
}

/// Graph files that are refused, as topologies.
fn refusals() -> Vec<TopologyConfig> {
    [refused_json(), refused_graphml(), refused_anynet()].concat()
}

fn refused_json() -> Vec<TopologyConfig> {
    let nodes = r#""nodes": [{"id": "a", "terminals": 1}, {"id": "b"}, {"id": "c"}]"#;
    let edges = |directed: bool, list: &str| {
        let edges: Vec<_> = list
            .split_whitespace()
            .map(|pair| format!(r#"{{"source": "{}", "target": "{}"}}"#, &pair[..1], &pair[1..]))
            .collect();
        format!("{{\"directed\": {directed}, \"multigraph\": false, {nodes}, \"edges\": [{}]}}", edges.join(", "))
    };
    let one_link = |class: &str| {
        let nodes = r#"[{"id": 1, "terminals": 1}, {"id": 2}]"#;
        format!(r#"{{"nodes": {nodes}, "edges": [{{"source": 1, "target": 2, "class": "{class}"}}]}}"#)
    };
    let json = |text: &str| graph_file("net.json", text);
    vec![
        json(&edges(false, "ab")),
        json(&edges(true, "ab ba bc")),
        json(&edges(false, "ab bc ba")),
        json(&edges(true, "ab ba bc bc cb")),
        // three refused files: two have parallel links whose number differs between the directions, and one is undirected but lists links
        // from both ends
        json(&edges(true, "ab ba bc bc cb").replace("\"multigraph\": false, ", "")),
        json(&edges(true, "ab ab bc cb").replace("\"multigraph\": false, ", "")),
        json(&edges(false, "ab ba bc cb").replace("\"multigraph\": false, ", "")),
        json(&edges(false, "ab bb bc")),
        json(&edges(false, "ab bd")),
        json(r#"{"nodes": [{"id": 1}, {"id": "1"}], "edges": []}"#),
        json(r#"{"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2}]}"#),
        json(r#"{"nodes": [{"id": 1, "terminals": 1}], "edges": [], "links": []}"#),
        json(r#"{"nodes": [{"id": 1, "terminals": 1}]}"#),
        json(r#"{"nodes": [{"id": 0}, {"id": 1}], "adjacency": [[{"id": 1}], [{"id": 0}]]}"#),
        json(r#"{"nodes": [], "edges": []}"#),
        json("{\"nodes\": [{\"id\": 1,\n\"terminals\": -1}], \"edges\": []}"),
        json(r#"{"nodes": [{"id": 1, "terminals": 4000000000}], "edges": []}"#),
        json(&one_link("terminal")),
        json(
            r#"{"directed": true, "nodes": [{"id": 1, "terminals": 1}, {"id": 2}], "edges": [
            {"source": 1, "target": 2, "class": "a"}, {"source": 1, "target": 2, "class": "b"},
            {"source": 2, "target": 1, "class": "a"}, {"source": 2, "target": 1, "class": "c"}]}"#,
        ),
        json("{\"nodes\": [{\"id\": 1,\n"),
        json(r#"{"nodes": [{"id": {"x": 1}}], "edges": []}"#),
        json(r#"{"nodes": [{"id": [[1], 2]}], "edges": []}"#),
        json(&format!(r#"{{"nodes": [{{"id": [0{}]}}], "edges": []}}"#, ",0".repeat(32))),
        json(&one_link("all")),
    ]
}

fn refused_graphml() -> Vec<TopologyConfig> {
    let xml = |inside: &str| format!("<graphml><graph edgedefault=\"undirected\">\n{inside}\n</graph></graphml>");
    let graphml = |text: &str| graph_file("net.graphml", text);
    vec![
        graphml(&xml("<node id='a'/>\n<edge source='a' target='b'/>")),
        graphml(&xml("<node id='a'/>\n<node id='a'/>")),
        graphml(&xml("<node/>")),
        graphml(&xml("<node id='a'/><node id='b'/>\n<edge source='a' target='b' directed='true'/>")),
        graphml(&xml("<node id='a'/>\n<hyperedge/>")),
        graphml("<graphml/>"),
        graphml("<graphml>\n<graph>\n</graphml>"),
        graphml("<graphml><graph edgedefault='both'/></graphml>"),
        graphml(
            "<graphml><key id='t' for='node' attr.name='terminals'/><graph>\n<node id='a'><data key='t'>two</data></node></graph></graphml>",
        ),
        graphml("<!DOCTYPE a [<!ENTITY b 'bbbb'>]><a>&b;</a>"),
    ]
}

fn refused_anynet() -> Vec<TopologyConfig> {
    let wide: String = (0..484).map(|node| format!(" node {node}")).collect();
    let star: String = (1..30).map(|far| format!(" router {far}")).collect();
    let anynet = |text: &str| graph_file("net.anynet", text);
    let with_default = |text: &str, terminals| match anynet(text) {
        TopologyConfig::GraphFile(config) => {
            TopologyConfig::GraphFile(GraphFile { terminals_per_router: Some(terminals), ..config })
        }
        other => other,
    };
    vec![
        anynet(&format!("router 0{wide}{star}")),
        anynet("router 0 node 0 router 1\nrouter 1 router 2\nrouter 3 router 4"),
        anynet("router 0 node 0 router 1 router 1"),
        anynet("router 0 node 0\nrouter 0 router 1 0"),
        anynet("router 0 node 0\nrouter 0 node 2"),
        anynet("router 0 node 0 router 1\nnode 0 router 1"),
        anynet("router 0 node 0 3"),
        anynet("node 0 node 1"),
        anynet("router 0 router 1\nrouter 1 roter 2"),
        anynet("router 0 node 0 router 1 99999999999"),
        anynet("router zero"),
        anynet("\n"),
        with_default("router 0 node 0", 2),
        with_default("router 0 router 1", 512),
        TopologyConfig::GraphFile(GraphFile::of(InputFile::new("net.json", &b"{\"nodes\": [\xff"[..]))),
    ]
}

#[test]
fn every_refusal_says_where_what_and_how_to_mend_it() {
    let text = |config: &TopologyConfig| match config.build("topology.graph") {
        Err(refusal) => format!("{}\n  {}\n  help: {}\n", refusal.path, refusal.what, refusal.help),
        Ok(_) => panic!("taken: {config:?}"),
    };
    insta::assert_snapshot!(refusals().iter().map(text).collect::<String>());
}

#[test]
fn deep_nesting_is_refused_and_many_parts_are_named_shortly() {
    for (name, open) in
        [("g.json", "["), ("g.json", "{\"nodes\":["), ("g.graphml", "<a>"), ("g.graphml", "<graph><node id='a'>")]
    {
        assert!(graph_file(name, &open.repeat(100_000)).build("topology").is_err());
    }
    let nested = format!("<graphml><graph>{}{}</graph></graphml>", "<data>".repeat(100_000), "</data>".repeat(100_000));
    assert!(graph_file("g.graphml", &nested).build("topology").is_err());
    let apart: String = (0..100).map(|router| format!("router {router} node {router}\n")).collect();
    let refusal = graph_file("g", &apart).build("topology").unwrap_err();
    let what = "g: the 100 routers form 100 separate parts: 1 router (0), 1 router (1), 1 router (2), ...";
    assert_eq!(refusal.what, what);
}

/// Texts of words of the three formats and of random characters, to find panics.
fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "router",
        "node",
        "0",
        "1",
        "2",
        " ",
        "\n",
        "99",
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"nodes\"",
        "\"edges\"",
        "\"links\"",
        "\"id\"",
        "\"source\"",
        "\"target\"",
        "\"terminals\"",
        "\"class\"",
        "\"directed\"",
        "true",
        "\"a\"",
        "-1",
        "1e9",
        "<graphml>",
        "<graph>",
        "</graph>",
        "</graphml>",
        "<node id='a'/>",
        "<edge source='a' target='a'/>",
        "&amp;",
        "&x;",
        "é",
    ]);
    prop::collection::vec(word, 0..60).prop_map(|words| words.join(" "))
}

fn never_panics(bytes: &[u8]) -> Result<(), TestCaseError> {
    for format in [Format::Json, Format::Graphml, Format::Anynet] {
        let file = InputFile::new("fuzz", bytes);
        let built = GraphFile { format: Some(format), ..GraphFile::of(file) }.build("topology.graph");
        if let Err(refusal) = built {
            prop_assert!(refusal.path.starts_with("topology.graph"), "{}", refusal);
            prop_assert!(!refusal.what.is_empty() && !refusal.help.is_empty());
            prop_assert!(!refusal.help.contains("bug in Weft"), "{}", refusal);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn noise_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300), text in words()) {
        never_panics(&bytes)?;
        never_panics(text.as_bytes())?;
    }

    #[test]
    fn damaged_files_never_panic(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 1..8)) {
        let graph = regular(r#"{"dragonfly": {"routers_per_group": 2, "terminals_per_router": 1, "global_links_per_router": 1}}"#);
        for text in [json(&graph), graphml(&graph), anynet(&graph)] {
            let mut bytes = text.into_bytes();
            for (at, byte, edit) in &edits {
                let at = at.index(bytes.len());
                match edit {
                    0 => bytes[at] = *byte,
                    1 => bytes.insert(at, byte % 10 + b'0'),
                    _ => drop(bytes.remove(at)),
                }
            }
            never_panics(&bytes)?;
        }
    }
}

#[test]
fn a_hundred_thousand_links_are_read_at_once() {
    // The graph is a ring of 20,000 routers with additional links to the 2nd to 5th neighbour: 100,000 links in total.
    let routers = 20_000;
    let nodes: Vec<_> = (0..routers).map(|router| format!(r#"{{"id": {router}, "terminals": 2}}"#)).collect();
    let edges: Vec<_> = (0..routers)
        .flat_map(|from| (1..=5).map(move |far| (from, (from + far) % routers)))
        .map(|(from, to)| format!(r#"{{"source": {from}, "target": {to}}}"#))
        .collect();
    let text = format!("{{\"nodes\": [{}], \"edges\": [{}]}}", nodes.join(","), edges.join(","));
    let start = std::time::Instant::now();
    let graph = build("ring.json", &text);
    println!("{} bytes read and checked in {:?}", text.len(), start.elapsed());
    assert_eq!((graph.links().count(), graph.terminals()), (100_000, 40_000));
    // Reading takes seconds on a slow machine in a debug build, but an algorithm with quadratic time would take minutes.
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}
