//! Any graph from a file: NetworkX node-link JSON, GraphML, or BookSim's `anynet` text.
//!
//! # Source
//! NetworkX (`node_link_data`, `write_graphml`); U. Brandes et al., "GraphML Progress Report", GD'01; BookSim2's
//! `anynet`.
//!
//! # Parameters
//! `file`, `format`, `terminals_per_router` \[terminals\].
//!
//! # Guarantees
//! Routers are in the order of the file; the ports of a router are its terminals, then its links by ascending
//! neighbour. Nodes are routers, edges are links with both directions; a directed file is accepted if it has every link
//! in both directions. Links that an undirected file states several times are a trunk, and so are those that a directed
//! file states as often in each direction. The node attribute `terminals` says how many terminals a router has; where it
//! is missing, `terminals_per_router` does, else there are none. Terminals are numbered router by router; an `anynet`
//! file that names nodes places and numbers them itself. The edge attribute `class` names the link class (else `link`);
//! in `anynet` a link with latency L is of class `latencyL`. Classes are in alphabetic order. Other attributes are
//! ignored.
//!
//! # Not modelled
//! Links of one direction, links whose directions have different latencies, nested GraphML graphs, latencies (the
//! scenario gives them by class).
//!
//! # Validation
//! `topology/tests/graph_files.rs`: every format gives the same graph, what NetworkX writes is read, noise and damaged
//! files never panic. `topology/tests/conformance.rs`: distances against search. `topology/tests/structure.rs`: the
//! bound of the bisection against all cuts of small graphs. No rows of a peer.

use super::TopologyModel;
use crate::graph::files::{
    Draft, Problem, Wiring, anynet, graphml, json, terminal_counts, terminals_of_routers, wiring,
};
use crate::{Graph, GraphBuilder, Peer, Port, Structure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::{InputFile, Refusal};

/// Largest graph file \[bytes\]: a reader needs a few times as much memory.
const MAX_BYTES: usize = 1 << 28;

/// How a graph file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// NetworkX node-link JSON, with `links` or `edges`.
    Json,
    /// GraphML.
    Graphml,
    /// BookSim's `anynet` text.
    Anynet,
}

/// Any graph, from a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphFile {
    /// Name of the file, relative to the folder of the scenario.
    pub file: InputFile,
    /// How it is written; by default as its ending says: `.json`, `.graphml` or `.xml`, else anynet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Terminals on each router of which the file does not say how many it has (default: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminals_per_router: Option<u32>,
}

impl TopologyModel for GraphFile {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        let refuse = |problem: Problem| {
            Refusal::new(format!("{path}.file"), format!("{}: {}", self.file.name(), problem.what), problem.help)
        };
        let draft = self.read().map_err(refuse)?;
        let counts = terminal_counts(&draft, self.terminals_per_router).map_err(refuse)?;
        let wiring = wiring(&draft, &counts).map_err(refuse)?;
        let terminals = terminals_of_routers(&draft, &counts);
        assemble(&draft, &terminals, &wiring, &format!("{path}.file"))
    }

    fn examples() -> Vec<Self> {
        // A hub without terminals and routers with 1 and 3; nodes that are not in the order of their routers.
        let star = r#"{"nodes": [{"id": "hub"}, {"id": "a", "terminals": 1}, {"id": "b", "terminals": 3}],
            "links": [{"source": "a", "target": "hub"}, {"source": "hub", "target": "b", "class": "fast"}]}"#;
        let pair = "router 0 node 1 router 1\nrouter 1 node 0".to_owned();
        let petersen = [petersen(|_| 2), petersen(|router| router % 3)];
        let new = |(name, text): (&str, String)| Self {
            file: InputFile::new(name, text.as_bytes()),
            format: None,
            terminals_per_router: None,
        };
        let [even, uneven] = petersen;
        let files = [("star.json", star.to_owned()), ("pair.anynet", pair)];
        files.into_iter().chain([("petersen.anynet", even), ("uneven.anynet", uneven)]).map(new).collect()
    }
}

/// The Petersen graph, with so many terminals on each router: 10 routers of degree 3, diameter 2, one shortest path
/// between any two.
fn petersen(terminals: impl Fn(u32) -> u32) -> String {
    let mut text = String::new();
    let mut terminal = 0..;
    for router in 0..10 {
        text += &format!("router {router}");
        terminal.by_ref().take(terminals(router) as usize).for_each(|node| text += &format!(" node {node}"));
        // a ring of five, a star of five inside, and a link between the two for each of its points
        let to = if router < 5 { vec![(router + 1) % 5, router + 5] } else { vec![5 + (router + 2) % 5] };
        to.iter().for_each(|router| text += &format!(" router {router}"));
        text += "\n";
    }
    text
}

impl GraphFile {
    fn read(&self) -> Result<Draft, Problem> {
        let bytes = self.file.bytes().len();
        if bytes > MAX_BYTES {
            let what = format!("{bytes} bytes; a graph file has at most {MAX_BYTES}");
            return Err(Problem::new(what, "leave attributes out that Weft does not read"));
        }
        let format = self.format.unwrap_or_else(|| match self.file.extension().as_str() {
            "json" => Format::Json,
            "graphml" | "xml" => Format::Graphml,
            _ => Format::Anynet,
        });
        let text = std::str::from_utf8(self.file.bytes()).map_err(|error| {
            Problem::new(format!("byte {} is not UTF-8 text", error.valid_up_to()), "write the file in UTF-8")
        })?;
        match format {
            Format::Json => json::read(text),
            Format::Graphml => graphml::read(text),
            Format::Anynet => anynet::read(text),
        }
    }
}

/// Ports in their order: terminals, then links by ascending neighbour.
fn assemble(draft: &Draft, terminals: &[Vec<u32>], wiring: &Wiring, path: &str) -> Result<Graph, Refusal> {
    let mut builder = GraphBuilder::new("graph", wiring.classes.iter().copied());
    for (own, links) in terminals.iter().zip(&wiring.links) {
        let ports = own.iter().map(|&terminal| Port { peer: Peer::Terminal(terminal), class: 0 });
        builder.router(ports.chain(links.iter().map(|link| {
            let port = terminals[link.to as usize].len() as u16 + link.far;
            Port { peer: Peer::Router { router: link.to, port }, class: link.class }
        })));
    }
    builder.latencies(|class| class.strip_prefix(anynet::LATENCY_CLASS)?.parse().ok());
    let width = |router: u32, port: usize| {
        let place = port.checked_sub(terminals[router as usize].len());
        place.map_or(1, |place| wiring.links[router as usize][place].width)
    };
    builder.trunk_of_each_port(width);
    builder.name_routers(draft.routers.iter().map(|router| router.name.clone()).collect());
    builder.build(Structure::default(), path)
}
