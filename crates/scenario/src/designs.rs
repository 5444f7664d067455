//! Designs: networks without traffic, for analyses that need no run. A file lists designs in the section `designs`, as topologies by name.

use crate::diagnostic::{Diagnostic, Source};
use crate::expand::{explain, typed};
use crate::schema::Schema;
use crate::tree::{self, Entry, Kind, Node};
use crate::{explain as facts_of, network, path};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use weft_topology::{Graph, Link, TopologyConfig};
use weft_units::file::Files;

const EXAMPLE: &str = "write `designs:` and below it one line per design, such as `mine: TOPOLOGY`, with a topology as \
                       under `topology:` in a scenario (`weft list topology`)";

/// A network with a name, and its properties.
#[derive(Debug)]
pub struct Design {
    pub name: String,
    /// Topology of the network, with every default written out.
    pub topology: Value,
    graph: Arc<Graph>,
}

/// Reads the designs of a file, in their order. The content of files that the designs name is taken from `attached` (name, content), or
/// read from disk relative to the folder of `file_name`.
pub fn read_designs(file_name: &str, text: &str, attached: Vec<(String, Vec<u8>)>) -> Result<Vec<Design>, Diagnostic> {
    let source = Arc::new(Source { name: file_name.to_owned(), text: text.to_owned(), is_file: true });
    let root = tree::parse(&source, 0..text.len())?;
    let mut files = Files::new(Path::new(file_name).parent().unwrap_or(Path::new("")), attached);
    entries(root, file_name)?.into_iter().map(|entry| design(entry, &mut files)).collect()
}

/// The entries of the section `designs` in a parsed file.
fn entries(root: Node, file_name: &str) -> Result<Vec<Entry>, Diagnostic> {
    let Kind::Mapping(sections) = root.kind else {
        let what = format!("{file_name} contains {}, not designs", root.describe());
        return Err(Diagnostic::at(&root.span, "", &what, EXAMPLE, &[]));
    };
    if let Some(other) = sections.iter().find(|section| section.key != "designs") {
        let what = format!("unknown key `{}`: a file of designs has only the key `designs`", other.key);
        return Err(Diagnostic::at(&other.key_span, &other.key, &what, EXAMPLE, &[]));
    }
    let Some(designs) = sections.into_iter().next() else {
        return Err(Diagnostic::nowhere("designs", &format!("{file_name} is empty: it contains no designs"), EXAMPLE));
    };
    match designs.value.kind {
        Kind::Mapping(entries) if !entries.is_empty() => Ok(entries),
        Kind::Mapping(_) => {
            Err(Diagnostic::at(&designs.key_span, "designs", "there are no designs under `designs`", EXAMPLE, &[]))
        }
        Kind::Scalar(_) | Kind::Sequence(_) => {
            let what = format!("`designs` is {}, not a mapping of names to topologies", designs.value.describe());
            Err(Diagnostic::at(&designs.key_span, "designs", &what, EXAMPLE, &[]))
        }
    }
}

/// Checks and builds one design, in the same way as the key `topology` of a scenario.
fn design(entry: Entry, files: &mut Files) -> Result<Design, Diagnostic> {
    #[derive(Deserialize)]
    struct File {
        topology: TopologyConfig,
    }
    let Entry { key: name, key_span, value } = entry;
    let span = value.span.clone();
    let entry = Entry { key: "topology".to_owned(), key_span, value };
    let mut root = Node { kind: Kind::Mapping(vec![entry]), span, swept: None };
    if let (Kind::Mapping(entries), Some(schema)) = (&mut root.kind, Schema::root().child("topology")) {
        for Entry { key, key_span, value } in entries {
            path::check(value, key_span, &schema, key)?;
        }
    }
    let (file, _) = files.during(|| typed::<File>(&root));
    let File { topology } = file?;
    let member = format!("topology.{}", topology.name());
    let graph = topology.build(&member).map_err(|refusal| explain(&root, &[], &refusal))?;
    Ok(Design { name, topology: serde_json::to_value(&topology).unwrap_or_default(), graph: Arc::new(graph) })
}

impl Design {
    /// Converts the network of a scenario to a design.
    pub(crate) fn of(name: String, topology: &TopologyConfig, graph: Arc<Graph>) -> Self {
        Self { name, topology: serde_json::to_value(topology).unwrap_or_default(), graph }
    }

    /// Properties of the network: degrees, distances, bisection, and links by class. `places` contains the positions for a drawing.
    pub fn facts(&self) -> Value {
        let mut facts = facts_of::network_facts(self.graph.topology_name(), &self.graph);
        let by_class = self.graph.links_by_class().into_iter().map(|(class, count)| (class, json!(count)));
        facts.insert("links".to_owned(), Value::Object(by_class.collect()));
        facts.insert("links_of_two_classes".to_owned(), facts_of::two_classes(&self.graph));
        Value::Object(facts)
    }

    /// The positions of the routers, as in `network::places`.
    pub fn places(&self) -> Value {
        Value::Object(network::places(&self.graph))
    }

    /// For each link between routers: its two ends, and the classes of its two channels, first the channel from the first end. The links
    /// are sorted by the smaller router number of their ends.
    pub fn links(&self) -> Vec<[u32; 4]> {
        let row = |link: Link| [link.ends[0].0, link.ends[1].0, link.class.into(), link.back.into()];
        self.graph.links().map(row).collect()
    }

    /// Number of terminals on each router.
    pub fn terminals_of_routers(&self) -> Vec<u32> {
        (0..self.graph.routers()).map(|router| self.graph.terminals_of(router) as u32).collect()
    }

    /// Statistics of the number of shortest paths between two different routers with terminals, for each distance.
    pub fn path_diversity(&self) -> Value {
        let found = self.graph.path_diversity();
        let rows = found.by_distance.iter().enumerate().filter(|(_, at)| at.pairs > 0).map(|(hops, at)| {
            json!({
                "hops": hops,
                "pairs": at.pairs,
                "paths_min": at.fewest,
                "paths_mean": at.sum / at.pairs as f64,
                "paths_max": at.most,
                "single_path_pairs": at.single,
            })
        });
        json!({ "by_distance": rows.collect::<Vec<_>>(), "sources": found.sources, "of_sources": found.of_sources })
    }

    /// Improves a division of the routers into two halves: begins with the halves from a partitioner, balances them and improves them.
    /// Returns the number of links between the halves, and the half of each router. In `second`, an entry is 1 for each router of the
    /// second half. `None` if `second` does not have one entry per router.
    pub fn improved_halves(&self, second: &[u8]) -> Option<(u64, Vec<u8>)> {
        if second.len() != self.graph.routers() as usize {
            return None;
        }
        let halves = self.graph.improved_halves(&second.iter().map(|&side| side != 0).collect::<Vec<_>>());
        Some((halves.links, halves.second.into_iter().map(u8::from).collect()))
    }

    /// For each of `trials` random orders of link failures, the largest number of failed links with which all routers are connected. The
    /// second number of each pair is the largest number of failed links with which the routers with terminals are connected.
    pub fn survived_failures(&self, trials: u32, seed: u64) -> Vec<[u32; 2]> {
        let survived = self.graph.survived_failures(trials, seed);
        survived.into_iter().map(|order| [order.all_routers, order.terminals]).collect()
    }
}
