//! Helpers of the tests: write a graph in each file format that Weft reads.

use weft_topology::graph_file::GraphFile;
use weft_topology::{Graph, TopologyConfig};
use weft_units::InputFile;

pub fn graph_file(name: &str, text: &str) -> TopologyConfig {
    let file = InputFile::new(name, text.as_bytes());
    TopologyConfig::GraphFile(GraphFile::of(file))
}

/// The links of a graph as (from, to, class name).
fn links(graph: &Graph) -> impl Iterator<Item = (u32, u32, &str)> {
    graph.links().map(|link| (link.ends[0].0, link.ends[1].0, &*graph.class_names()[link.class as usize]))
}

pub fn json(graph: &Graph) -> String {
    let nodes = (0..graph.routers()).map(|r| format!(r#"{{"id": "{r}", "terminals": {}}}"#, graph.terminals_of(r)));
    let edges =
        links(graph).map(|(a, b, class)| format!(r#"{{"source": "{a}", "target": "{b}", "class": "{class}"}}"#));
    let (nodes, edges): (Vec<_>, Vec<_>) = (nodes.collect(), edges.collect());
    format!(
        "{{\"directed\": false, \"multigraph\": false, \"graph\": {{}},\n\"nodes\": [{}],\n\"edges\": [{}]}}",
        nodes.join(",\n"),
        edges.join(",\n")
    )
}

pub fn graphml(graph: &Graph) -> String {
    let mut text = String::from(
        "<?xml version='1.0' encoding='utf-8'?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
         <key id=\"d1\" for=\"edge\" attr.name=\"class\" attr.type=\"string\" />\n\
         <key id=\"d0\" for=\"node\" attr.name=\"terminals\" attr.type=\"long\" />\n<graph edgedefault=\"undirected\">\n",
    );
    for router in 0..graph.routers() {
        let terminals = graph.terminals_of(router);
        text += &format!("<node id=\"{router}\">\n  <data key=\"d0\">{terminals}</data>\n</node>\n");
    }
    for (from, to, class) in links(graph) {
        text += &format!("<edge source=\"{from}\" target=\"{to}\"><data key=\"d1\">{class}</data></edge>\n");
    }
    text + "</graph></graphml>\n"
}

/// Writes a graph as anynet text. Anynet has no link classes, only latencies.
pub fn anynet(graph: &Graph) -> String {
    let mut lines: Vec<String> = (0..graph.routers()).map(|router| format!("router {router}")).collect();
    for terminal in 0..graph.terminals() {
        lines[graph.terminal_at(terminal).0 as usize] += &format!(" node {terminal}");
    }
    for (from, to, _) in links(graph) {
        lines[from as usize] += &format!(" router {to}");
    }
    lines.join("\n")
}
