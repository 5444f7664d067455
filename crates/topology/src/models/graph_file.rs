//! Any graph from a file: node-link JSON, GraphML, BookSim's `anynet` text, a table of cables, and formats that
//! NetworkX reads.
//!
//! # Source
//! NetworkX (`node_link_data`, `write_graphml`, `parse_gml`, `parse_edgelist`, `adjacency_graph`); U. Brandes et al.,
//! "GraphML Progress Report", GD'01; BookSim2's `anynet`. The speed of light in fibre: see `weft_units::light_time`.
//!
//! # Parameters
//! `file`, `format`, `terminals_per_router` \[terminals\], `terminals_of` \[terminals by id\], `attributes` \[units in the
//! scenario or in the file\], `hosts`, `parallel_links` (`trunk` or `sum`).
//!
//! # Guarantees
//! Routers are numbered in the order of the nodes in the file; in `anynet`, in ascending order of their ids. The first ports of a router
//! are its terminals. The ports of its links follow, sorted by neighbour. Nodes are routers, and edges are links with both directions. A
//! directed file must list every link in both directions. If an undirected file lists a link several times, these links form a trunk. Links
//! also form a trunk if a directed file lists them equally often in each direction. With `parallel_links: sum`, the parallel links of a
//! class become one link with the sum of their bandwidths. The node attribute `terminals` gives the number of terminals of a router.
//! Routers without this attribute have `terminals_per_router` terminals, or no terminals if that key is not set. The key `terminals_of` has
//! priority over both numbers. Terminals are numbered router by router, except in an `anynet` file that names nodes. The nodes of such a
//! file are the terminals, with their numbers and routers. Nodes that are hosts become terminals, in their order in the file.
//!
//! The edge attribute `class` gives the link class (default: `link`). In `anynet` a link with latency L has the class `latencyL`. Link
//! classes are in alphabetical order. With `attributes`, Weft reads the bandwidth or latency of each edge from an edge attribute. If edges
//! of the same class differ in bandwidth or latency, they get separate classes, such as `link_100G_276us`. A length of a cable becomes a
//! latency of 5 ns per metre, rounded up to whole cycles. A latency that is given as a time must be a whole number of cycles unless `round`
//! is set. In a table of cables, Weft uses the speed and the length of a cable if their values or headings contain units. Weft warns about
//! attributes that it does not use, and refuses attributes that look like a misspelt `terminals` or `class`.
//!
//! # Not modelled
//! Links of one direction, links whose directions have different latencies, nested GraphML graphs, hosts with two links,
//! links to terminals that differ in bandwidth or latency.
//!
//! # Validation
//! `topology/tests/graph_files.rs` checks that every format gives the same graph, and that random and damaged files never cause a panic; it
//! also reads files of NetworkX. `topology/tests/graph_attributes.rs` checks classes, rounding, hosts, warnings and refusals.
//! `topology/tests/cables.rs` checks tables of cables. `topology/tests/conformance.rs` compares distances with a search.
//! `topology/tests/structure.rs` compares the bound of the bisection with all cuts of small graphs. No other simulator was compared.

use super::TopologyModel;
use crate::graph::files::asked::{Attributes, BandwidthFrom, Hosts, LatencyFrom};
use crate::graph::files::{
    Asked, Draft, Problem, Wiring, add_up, anynet, cables, foreign, graphml, json, terminal_counts,
    terminals_of_routers, wiring,
};
use crate::{Facts, Graph, GraphBuilder, Peer, Port, Structure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use weft_units::{InputFile, Refusal, Remark};

/// Maximum size of a graph file \[bytes\], because a reader needs several times this amount of memory.
const MAX_BYTES: usize = 1 << 28;

/// The format of a graph file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// The file is NetworkX node-link JSON, with `links` or `edges`.
    Json,
    /// The file is GraphML.
    Graphml,
    /// The file is text in BookSim's `anynet` format.
    Anynet,
    /// The file is a table of cables: a heading, then one line per cable with its two devices.
    Cables,
}

/// Any network, from a graph file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphFile {
    /// Name of the file, relative to the folder of the scenario. GML (`.gml`), lists of edges (`.txt`, `.edgelist`, `.edges`) and adjacency
    /// JSON are read with NetworkX.
    #[serde(deserialize_with = "foreign::read")]
    pub file: InputFile,
    /// The format of the file. By default it follows from the extension: `.json`, `.graphml` or `.xml`, `.csv` or `.tsv`, otherwise anynet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Number of terminals on each router for which the file gives no number (default: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminals_per_router: Option<u32>,
    /// Number of terminals of some routers, by their id. The number has priority over the number in the file. The key `leaf*` matches every
    /// id that begins with `leaf`. If several keys match an id, the longest applies.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub terminals_of: BTreeMap<String, u32>,
    /// The attributes of nodes and edges from which Weft reads bandwidths, latencies, classes and terminals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Attributes>,
    /// Rule that selects the nodes that are hosts. Each host becomes a terminal of its router. Default: if no other key or attribute gives
    /// terminals, all nodes that have one link and are called hosts or servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Hosts>,
    /// The meaning of links that the file lists several times: a trunk of parallel links (default), or one link with the sum of their
    /// bandwidths.
    #[serde(default, skip_serializing_if = "ParallelLinks::is_default")]
    pub parallel_links: ParallelLinks,
}

/// The meaning of links that a graph file lists several times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParallelLinks {
    /// The links form a trunk of parallel links.
    #[default]
    Trunk,
    /// The links become a single link with the sum of their bandwidths. For example, 4 links of the class `link` become one link of the
    /// class `link_x4`. The new link has the properties of `links.link`, but 4 times the bandwidth.
    Sum,
}

impl ParallelLinks {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl TopologyModel for GraphFile {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        let refuse = |problem: Problem| {
            Refusal::new(
                format!("{path}.{}", problem.key),
                format!("{}: {}", self.shown_name(), problem.what),
                problem.help,
            )
        };
        let mut draft = self.read().map_err(refuse)?;
        draft.terminals_by_id(&self.terminals_of).map_err(refuse)?;
        match self.parallel_links {
            ParallelLinks::Trunk => {}
            ParallelLinks::Sum => add_up(&mut draft).map_err(refuse)?,
        }
        let counts = terminal_counts(&draft, self.terminals_per_router).map_err(refuse)?;
        let wiring = wiring(&draft, &counts).map_err(refuse)?;
        let terminals = terminals_of_routers(&draft, &counts);
        assemble(&draft, &terminals, &wiring, path)
    }

    fn examples() -> Vec<Self> {
        // A graph of a hub without terminals, and of routers with 1 and 3 terminals. The nodes are not in the order of their routers.
        let star = r#"{"nodes": [{"id": "hub"}, {"id": "a", "terminals": 1}, {"id": "b", "terminals": 3}],
            "links": [{"source": "a", "target": "hub"}, {"source": "hub", "target": "b", "class": "fast"}]}"#;
        let pair = "router 0 node 1 router 1\nrouter 1 node 0".to_owned();
        let petersen = [petersen(|_| 2), petersen(|router| router % 3)];
        let new = |(name, text): (&str, String)| Self::of(InputFile::new(name, text.as_bytes()));
        let [even, uneven] = petersen;
        let files = [("star.json", star.to_owned()), ("pair.anynet", pair)];
        let bare = files.into_iter().chain([("petersen.anynet", even), ("uneven.anynet", uneven)]).map(new);
        bare.chain([servers(), inventory(), trunks()]).collect()
    }
}

/// A GraphML file of two leaves and two spines, with eight servers as hosts. Edges have a capacity and a length.
fn servers() -> GraphFile {
    let mut text = String::from(
        r#"<graphml><key id="c" for="edge" attr.name="capacity" attr.type="double"/>
        <key id="d" for="edge" attr.name="dist" attr.type="double"/>
        <key id="r" for="node" attr.name="role" attr.type="string"/><graph edgedefault="undirected">"#,
    );
    ["leaf0", "leaf1", "spine0", "spine1"].iter().for_each(|name| text += &format!(r#"<node id="{name}"/>"#));
    let mut edge = |from: &str, to: &str, more: &str| {
        text += &format!(r#"<edge source="{from}" target="{to}">{more}</edge>"#);
    };
    for leaf in 0..2 {
        for (spine, metres) in [(0, 3), (1, 20)] {
            let data = format!(r#"<data key="c">400</data><data key="d">{metres}</data>"#);
            edge(&format!("leaf{leaf}"), &format!("spine{spine}"), &data);
        }
        (0..4).for_each(|server| edge(&format!("leaf{leaf}"), &format!("server{leaf}-{server}"), ""));
    }
    for server in (0..2).flat_map(|leaf| (0..4).map(move |k| format!("server{leaf}-{k}"))) {
        text += &format!(r#"<node id="{server}"><data key="r">server</data></node>"#);
    }
    text += "</graph></graphml>";
    let bandwidth = BandwidthFrom { from: "capacity".to_owned(), unit: Some("Gb/s".to_owned()), round: None };
    let latency = LatencyFrom { from: "dist".to_owned(), unit: Some("m".to_owned()), round: None };
    GraphFile {
        attributes: Some(Attributes { bandwidth: Some(bandwidth), latency: Some(latency), ..Attributes::default() }),
        hosts: Some(Hosts { attribute: "role".to_owned(), value: "server".to_owned() }),
        ..GraphFile::of(InputFile::new("servers.graphml", text.as_bytes()))
    }
}

/// A table of cables in the form that inventories export. Two cables join each leaf to the core.
fn inventory() -> GraphFile {
    let text = "Side A Device,Side A Port,Side B Device,Side B Port,Length (m),Speed\n\
                leaf0,eth0,core,eth0,3,100Gb/s\nleaf0,eth1,core,eth1,3,100Gb/s\n\
                leaf1,eth0,core,eth2,30,400Gb/s\nleaf1,eth1,core,eth3,30,400Gb/s\n";
    GraphFile {
        terminals_of: BTreeMap::from([("leaf*".to_owned(), 4)]),
        ..GraphFile::of(InputFile::new("cables.csv", text.as_bytes()))
    }
}

/// A graph in which the file lists links twice; each pair becomes one link with twice the bandwidth.
fn trunks() -> GraphFile {
    let text = r#"{"multigraph": true, "nodes": [{"id": 1}, {"id": 2}, {"id": 4}], "links": [
        {"source": 1, "target": 2}, {"source": 1, "target": 2}, {"source": 2, "target": 4}]}"#;
    GraphFile {
        terminals_per_router: Some(3),
        parallel_links: ParallelLinks::Sum,
        ..GraphFile::of(InputFile::new("trunks.json", text.as_bytes()))
    }
}

/// An `anynet` file of the Petersen graph, with a number of terminals on each router. The Petersen graph has 10 routers
/// of degree 3, diameter 2, and one shortest path between any two routers.
fn petersen(terminals: impl Fn(u32) -> u32) -> String {
    let mut text = String::new();
    let mut terminal = 0..;
    for router in 0..10 {
        text += &format!("router {router}");
        terminal.by_ref().take(terminals(router) as usize).for_each(|node| text += &format!(" node {node}"));
        // the graph is a ring of five routers and a star of five routers inside it. A link joins each router of the ring to one of the star
        let to = if router < 5 { vec![(router + 1) % 5, router + 5] } else { vec![5 + (router + 2) % 5] };
        to.iter().for_each(|router| text += &format!(" router {router}"));
        text += "\n";
    }
    text
}

impl GraphFile {
    /// The topology of this file, without any other key.
    pub fn of(file: InputFile) -> Self {
        let terminals_of = BTreeMap::new();
        Self {
            file,
            format: None,
            terminals_per_router: None,
            terminals_of,
            attributes: None,
            hosts: None,
            parallel_links: ParallelLinks::Trunk,
        }
    }

    /// The name of the original file, for messages. If Weft has converted a file, the original is the file before the conversion.
    fn shown_name(&self) -> String {
        let made_of = self.file.text().ok().filter(|_| self.file.extension() == "json").and_then(json::converted_from);
        made_of.map_or_else(|| self.file.name().to_owned(), |name| format!("{name}, converted by NetworkX"))
    }

    fn read(&self) -> Result<Draft, Problem> {
        let bytes = self.file.bytes().len();
        if bytes > MAX_BYTES {
            let what = format!("the file has {bytes} bytes; a graph file has at most {MAX_BYTES}");
            return Err(Problem::new(what, "remove attributes that Weft does not read"));
        }
        let format = self.format.unwrap_or_else(|| match self.file.extension().as_str() {
            "json" => Format::Json,
            "graphml" | "xml" => Format::Graphml,
            "csv" | "tsv" => Format::Cables,
            _ => Format::Anynet,
        });
        let text = std::str::from_utf8(self.file.bytes()).map_err(|error| {
            Problem::new(format!("byte {} is not UTF-8 text", error.valid_up_to()), "write the file in UTF-8")
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let none = Attributes::default();
        let asked = Asked {
            attributes: self.attributes.as_ref().unwrap_or(&none),
            hosts: self.hosts.as_ref(),
            default_terminals: self.terminals_per_router.unwrap_or(0) > 0 || !self.terminals_of.is_empty(),
        };
        match format {
            Format::Json => json::read(text, asked),
            Format::Graphml => graphml::read(text, asked),
            Format::Anynet => anynet::read(text),
            Format::Cables => cables::read(text, asked),
        }
    }
}

/// Builds the graph with the ports of each router in their order: terminals first, then links sorted by neighbour.
fn assemble(draft: &Draft, terminals: &[Vec<u32>], wiring: &Wiring, path: &str) -> Result<Graph, Refusal> {
    let mut builder = GraphBuilder::new("graph", wiring.classes.iter().copied());
    for (own, links) in terminals.iter().zip(&wiring.links) {
        let ports = own.iter().map(|&terminal| Port { peer: Peer::Terminal(terminal), class: 0 });
        builder.router(ports.chain(links.iter().map(|link| {
            let port = terminals[link.to as usize].len() as u16 + link.far;
            Port { peer: Peer::Router { router: link.to, port }, class: link.class }
        })));
    }
    let width = |router: u32, port: usize| {
        let place = port.checked_sub(terminals[router as usize].len());
        place.map_or(1, |place| wiring.links[router as usize][place].width)
    };
    builder.trunk_of_each_port(width);
    let classes = draft.classes.iter().zip(draft.facts.iter().zip(&draft.sections));
    let stated: HashMap<&str, (Facts, bool)> =
        classes.map(|(class, (facts, section))| (class.as_str(), (facts.clone(), *section))).collect();
    let of_terminals = (draft.terminal_facts.clone(), false);
    builder.facts(|class| match class {
        "terminal" => of_terminals.clone(),
        _ => stated.get(class).cloned().unwrap_or_default(),
    });
    let placed = |remark: &Remark| Remark { path: format!("{path}.{}", remark.path), ..remark.clone() };
    builder.remarks(draft.remarks.iter().map(placed).collect());
    builder.name_routers(draft.routers.iter().map(|router| router.name.clone()).collect());
    builder.build(Structure::default(), &format!("{path}.file"))
}
