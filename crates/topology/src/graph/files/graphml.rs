//! Reads GraphML files: one `graph` of `node` and `edge` elements, with `data` elements for their attributes.

use super::draft::{Count, Draft, Parallel, Place, Problem, Stated};
use super::sheet::{Asked, Field, Sheet};
use roxmltree::{Document, Node, ParsingOptions};
use std::collections::HashMap;

/// Maximum number of elements, attributes and text nodes in a document.
const MAX_NODES: u32 = 1 << 24;

pub fn read(text: &str, asked: Asked) -> Result<Draft, Problem> {
    let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| Problem::new(error.to_string(), "write the file with networkx.write_graphml"))?;
    let root = document.root_element();
    let (of_nodes, of_edges) = (Keys::of(root, "node"), Keys::of(root, "edge"));
    let graphs: Vec<_> = elements(root).filter(|child| child.tag_name().name() == "graph").collect();
    let &[graph] = &graphs[..] else {
        let what = format!("<{}> contains {} <graph> elements, not 1", root.tag_name().name(), graphs.len());
        return Err(Problem::new(what, "write one graph per file, inside <graphml>"));
    };
    let directed = is_directed(graph, graph.attribute("edgedefault"))?.unwrap_or(false);
    let mut sheet = Sheet::new(asked);
    for node in elements(graph).filter(|child| child.tag_name().name() != "edge") {
        if !matches!(node.tag_name().name(), "node" | "data" | "desc") {
            let what = format!("{}: <{}> is neither a node nor an edge", line(node), node.tag_name().name());
            return Err(Problem::new(what, "write routers as <node> and links as <edge>"));
        } else if node.tag_name().name() == "node" {
            sheet.node(attribute(node, "id")?, &of_nodes.fields(node), || line(node))?;
        }
    }
    let mut lines = Lines { text, at: 0, line: 1 };
    for edge in elements(graph).filter(|child| child.tag_name().name() == "edge") {
        if is_directed(edge, edge.attribute("directed"))?.unwrap_or(directed) != directed {
            let what = format!("{}: the attribute `directed` of the edge contradicts the graph", line(edge));
            return Err(Problem::new(what, "remove the attribute `directed` of the edge"));
        }
        let ends = [attribute(edge, "source")?, attribute(edge, "target")?];
        let place = Place { count: Count::Lines, number: lines.line_of(edge.range().start), ends };
        sheet.edge(&of_edges.fields(edge), place)?;
    }
    sheet.draft(if directed { Stated::BothWays } else { Stated::Once }, Parallel::Links, Count::Lines)
}

/// The `key` elements of nodes or edges, to which `data` elements refer.
struct Keys<'a> {
    /// Name of each attribute, by the id of its `key` element.
    names: HashMap<&'a str, &'a str>,
    /// Default values of attributes, for elements that do not have the attribute.
    defaults: Vec<(&'a str, &'a str)>,
}

impl<'a> Keys<'a> {
    fn of(root: Node<'a, '_>, owner: &str) -> Self {
        let (mut names, mut defaults) = (HashMap::new(), Vec::new());
        for key in elements(root).filter(|child| child.tag_name().name() == "key") {
            let is_own = key.attribute("for").is_none_or(|of| of == owner || of == "all");
            let (Some(id), Some(name)) = (key.attribute("id"), key.attribute("attr.name")) else { continue };
            if is_own && names.insert(id, name).is_none() {
                let default = elements(key).find(|child| child.tag_name().name() == "default");
                defaults.extend(default.and_then(|default| default.text()).map(|text| (name, text.trim())));
            }
        }
        Self { names, defaults }
    }

    /// The attributes of a node or edge. Attributes without a value are skipped.
    fn fields(&self, of: Node<'a, '_>) -> Vec<Field> {
        let mut fields: Vec<Field> = Vec::new();
        for data in elements(of).filter(|data| data.tag_name().name() == "data") {
            let name = data.attribute("key").and_then(|key| self.names.get(key));
            let text = data.text().map(str::trim).filter(|text| !text.is_empty());
            if let (Some(name), Some(text)) = (name, text) {
                fields.push(((*name).to_owned(), text.to_owned()));
            }
        }
        for (name, text) in &self.defaults {
            if fields.iter().all(|(own, _)| own != name) {
                fields.push(((*name).to_owned(), (*text).to_owned()));
            }
        }
        fields
    }
}

fn is_directed(node: Node, written: Option<&str>) -> Result<Option<bool>, Problem> {
    match written {
        None => Ok(None),
        Some("directed" | "true") => Ok(Some(true)),
        Some("undirected" | "false") => Ok(Some(false)),
        Some(other) => Err(Problem::new(
            format!("{}: {other:?} means neither directed nor undirected", line(node)),
            "write edgedefault=\"undirected\"",
        )),
    }
}

fn elements<'a, 'i>(parent: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    parent.children().filter(Node::is_element)
}

fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Result<&'a str, Problem> {
    node.attribute(name).ok_or_else(|| {
        let what = format!("{}: <{}> has no attribute `{name}`", line(node), node.tag_name().name());
        Problem::new(what, "write <node id=\"a\"/> and <edge source=\"a\" target=\"b\"/>")
    })
}

/// The line of an element, as text for a message.
fn line(node: Node) -> String {
    format!("line {}", node.document().text_pos_at(node.range().start).row)
}

/// Converts positions in the text to line numbers. The positions must ascend, so that one pass over the text is enough.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl Lines<'_> {
    fn line_of(&mut self, position: usize) -> u32 {
        let passed = &self.text.as_bytes()[self.at..position];
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count() as u32;
        self.at = position;
        self.line
    }
}
