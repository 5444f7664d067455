//! Finds the attributes of a graph file that Weft does not use. Weft refuses attributes whose names look like a misspelt key, and reports
//! the other unused attributes.

use super::draft::Problem;
use super::sheet::Asked;
use std::collections::BTreeMap;
use weft_units::Remark;

weft_units::codes! {
    ATTRIBUTES_UNUSED = "graph_attributes_unused", Warning,
        means: "The graph file has attributes that Weft does not read.",
        computed: "All attributes of nodes and edges, except the ones that Weft knows and the ones that `attributes` names. Each \
                   number counts the nodes or edges that have the attribute.",
        helps: "Change nothing if the attributes are not meant for Weft. Otherwise name them in `attributes`, with their unit.";
    ATTRIBUTE_MISSING = "graph_attribute_missing", Warning,
        means: "Some edges of the graph file lack an attribute that gives a bandwidth or latency to the other edges.",
        computed: "Edges without the attribute, if at least one edge has it. They get the value of their link class.",
        helps: "Write the attribute in the file, or `links.default` for the edges without it.";
}

/// Attributes that only label nodes and edges for people. Weft does not report them, because they cannot change a result.
const LABELS: [&str; 5] = ["id", "key", "label", "name", "title"];

/// Parts of attribute names. An edge attribute with such a part in its name probably contains a bandwidth, a time or a length.
const BANDWIDTHS: [&str; 5] = ["bandwidth", "capacity", "speed", "rate", "bw"];
const TIMES: [&str; 3] = ["latency", "delay", "rtt"];
const LENGTHS: [&str; 3] = ["length", "dist", "km"];

/// Units that such attributes often have. Remedies propose these units, because the file itself does not give the unit.
const BANDWIDTH_UNITS: &str = "`Gb/s`, `Mb/s` or `b/s`";
const TIME_UNITS: &str = "`ms`, `us` or `ns`, or for lengths `km` or `m`";
const LENGTH_UNITS: &str = "`km` or `m`, or for times `ms`, `us` or `ns`";

/// The scenario keys that name an attribute.
const BANDWIDTH: &str = "attributes.bandwidth";
const LATENCY: &str = "attributes.latency";
const CLASS: &str = "attributes.class";
const TERMINALS: &str = "attributes.terminals";

/// The attributes of a file: for each attribute, the number of nodes or edges that have it.
pub struct Seen {
    nodes: BTreeMap<String, u32>,
    edges: BTreeMap<String, u32>,
    terminals: String,
    class: String,
    /// Attributes that the scenario names: the attribute, the scenario key, and true for attributes of nodes.
    mapped: Vec<(String, &'static str, bool)>,
    /// The values of the attribute that selects hosts, each with its number of nodes.
    pub host_values: BTreeMap<String, u32>,
    /// Name of the attribute that selects hosts.
    host: Option<String>,
}

impl Seen {
    pub fn new(asked: Asked) -> Self {
        let attributes = asked.attributes;
        let mut mapped = Vec::new();
        let mut map =
            |from: Option<&String>, key, of_nodes| mapped.extend(from.map(|from| (from.clone(), key, of_nodes)));
        map(attributes.bandwidth.as_ref().map(|asked| &asked.from), BANDWIDTH, false);
        map(attributes.latency.as_ref().map(|asked| &asked.from), LATENCY, false);
        map(attributes.class.as_ref().map(|asked| &asked.from), CLASS, false);
        map(attributes.terminals.as_ref().map(|asked| &asked.from), TERMINALS, true);
        let (terminals, class) = (asked.terminals().to_owned(), asked.class().to_owned());
        let host = asked.hosts.map(|hosts| hosts.attribute.clone());
        let (nodes, edges, host_values) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { nodes, edges, terminals, class, mapped, host_values, host }
    }

    pub fn node(&mut self, name: &str) {
        count(&mut self.nodes, name);
    }

    pub fn edge(&mut self, name: &str) {
        count(&mut self.edges, name);
    }

    pub fn has_terminals(&self) -> bool {
        self.nodes.contains_key(&self.terminals)
    }

    pub fn has_classes(&self) -> bool {
        self.edges.contains_key(&self.class)
    }

    /// Refuses a scenario that names attributes the file does not have, and a file whose attributes look like a misspelt key.
    pub fn check(&self) -> Result<(), Problem> {
        for (from, key, of_nodes) in &self.mapped {
            let (names, of) = if *of_nodes { (&self.nodes, "node") } else { (&self.edges, "edge") };
            if !names.contains_key(from) {
                let what = format!("no {of} has the attribute `{from}`");
                return Err(Problem::new(what, suggestion(from, of, names)).under(key));
            }
        }
        let is_mapped = |key: &str| self.mapped.iter().any(|(_, mapped, _)| *mapped == key);
        if !is_mapped(TERMINALS) {
            misspelt("terminals", 2, "nodes", &self.nodes)?;
        }
        if !is_mapped(CLASS) {
            misspelt("class", 1, "edges", &self.edges)?;
        }
        Ok(())
    }

    /// The remarks that report unused attributes. `edges`: number of edges in the file.
    pub fn remarks(&self, edges: usize) -> Vec<Remark> {
        let of = |names: &BTreeMap<String, u32>, of_nodes: bool| -> Vec<(String, u32)> {
            let used = |name: &String| {
                let own = if of_nodes { &self.terminals } else { &self.class };
                name == own
                    || self.mapped.iter().any(|(from, _, nodes)| from == name && *nodes == of_nodes)
                    || (of_nodes && self.host.as_ref() == Some(name))
                    || LABELS.contains(&name.to_lowercase().as_str())
            };
            names.iter().filter(|(name, _)| !used(name)).map(|(name, count)| (name.clone(), *count)).collect()
        };
        let (of_nodes, of_edges) = (of(&self.nodes, true), of(&self.edges, false));
        let mut remarks: Vec<Remark> = self.partly(edges as u32).collect();
        if of_nodes.is_empty() && of_edges.is_empty() {
            return remarks;
        }
        let listed = |names: &[(String, u32)], of: &str| {
            let names: Vec<_> = names.iter().map(|(name, _)| format!("`{name}`")).collect();
            (!names.is_empty()).then(|| format!("{} of {of}", names.join(", ")))
        };
        let parts: Vec<_> =
            [listed(&of_edges, "its edges"), listed(&of_nodes, "its nodes")].into_iter().flatten().collect();
        let numbers = [("edges", &of_edges), ("nodes", &of_nodes)];
        let numbers = numbers
            .iter()
            .flat_map(|(of, names)| names.iter().map(move |(name, count)| (format!("{of}.{name}"), f64::from(*count))));
        remarks.push(Remark {
            code: &ATTRIBUTES_UNUSED,
            path: "file".to_owned(),
            numbers: numbers.collect(),
            what: format!("these attributes of the file are not used: {}", parts.join("; ")),
            help: self.example(&of_edges),
        });
        remarks
    }

    /// An example of keys with which the scenario would use these edge attributes, guessed from their names.
    fn example(&self, of_edges: &[(String, u32)]) -> String {
        let find = |parts: &[&str], units: &'static str| {
            let holds = |name: &String| parts.iter().any(|part| name.to_lowercase().contains(part));
            of_edges.iter().map(|(name, _)| name).find(|name| holds(name)).map(|name| (name, units))
        };
        let free = |key: &str| !self.mapped.iter().any(|(_, mapped, _)| *mapped == key);
        let bandwidth = find(&BANDWIDTHS, BANDWIDTH_UNITS).filter(|_| free(BANDWIDTH));
        let latency = find(&TIMES, TIME_UNITS).or_else(|| find(&LENGTHS, LENGTH_UNITS)).filter(|_| free(LATENCY));
        let found = [("bandwidth", bandwidth), ("latency", latency)];
        let found: Vec<_> = found.into_iter().filter_map(|(key, found)| found.map(|found| (key, found))).collect();
        if found.is_empty() {
            return "change nothing if they do not describe the network; otherwise name them in `attributes`"
                .to_owned();
        }
        let keys: Vec<_> =
            found.iter().map(|(key, (from, _))| format!("{key}: {{from: {from}, unit: UNIT}}")).collect();
        let units: Vec<_> = found.iter().map(|(_, (from, units))| format!("of `{from}` ({units})")).collect();
        format!(
            "to use them, write `attributes: {{{}}}` next to `file`; replace UNIT by the unit {}; the file does not state it",
            keys.join(", "),
            units.join(" and by the unit ")
        )
    }

    /// Remarks on edges without a bandwidth or latency: the scenario names the attribute, but only other edges have it.
    fn partly(&self, edges: u32) -> impl Iterator<Item = Remark> + '_ {
        let of_edges = self.mapped.iter().filter(|(_, key, _)| matches!(*key, BANDWIDTH | LATENCY));
        let lacking = of_edges.map(move |(from, key, _)| {
            (from, key.rsplit('.').next().unwrap_or(key), edges - self.edges.get(from).copied().unwrap_or(0))
        });
        lacking.filter(|(_, _, missing)| *missing > 0).map(move |(from, key, missing)| Remark {
            code: &ATTRIBUTE_MISSING,
            path: format!("attributes.{key}"),
            numbers: vec![("edges".to_owned(), edges.into()), ("missing".to_owned(), missing.into())],
            what: format!(
                "{missing} of {edges} edges have no attribute `{from}`: Weft gives them the {key} of their link class"
            ),
            help: format!("write the attribute for these edges in the file, or write `links.default.{key}`"),
        })
    }
}

fn count(counts: &mut BTreeMap<String, u32>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => drop(counts.insert(name.to_owned(), 1)),
    }
}

fn suggestion(name: &str, of: &str, names: &BTreeMap<String, u32>) -> String {
    let near = names.keys().map(|other| (strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase()), other));
    let near = near.filter(|(score, _)| *score > 0.75).max_by(|a, b| a.0.total_cmp(&b.0));
    let meant = near.map_or_else(String::new, |(_, other)| format!("did you mean `{other}`? "));
    let all: Vec<&str> = names.keys().map(String::as_str).collect();
    let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
    format!("{meant}attributes of {of}s in the file: {all}")
}

/// Refuses an attribute whose name differs from `key` in at most `letters` letters, because it is probably misspelt.
fn misspelt(key: &str, letters: usize, of: &str, names: &BTreeMap<String, u32>) -> Result<(), Problem> {
    let near = |name: &&String| *name != key && strsim::osa_distance(&name.to_lowercase(), key) <= letters;
    let Some(name) = names.keys().find(near) else { return Ok(()) };
    let what =
        format!("Weft does not read the attribute `{name}` of {of} ({} have it): did you mean `{key}`?", names[name]);
    let help = format!(
        "rename it to `{key}` in the file, or write `attributes: {{{key}: {{from: {name}}}}}`; if the attribute has another \
         meaning, write `attributes: {{{key}: {{from: {key}}}}}`"
    );
    Err(Problem::new(what, help))
}
