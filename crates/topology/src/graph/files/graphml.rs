//! GraphML: one `graph` of `node` and `edge` elements, with `data` for keys named `terminals` and `class`.

use super::draft::{DEFAULT_CLASS, Draft, Link, Names, Parallel, Problem, Router, Stated, known_end, new_router};
use roxmltree::{Document, Node, ParsingOptions};

/// Most elements, attributes and texts of a document.
const MAX_NODES: u32 = 1 << 24;

pub fn read(text: &str) -> Result<Draft, Problem> {
    let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| Problem::new(error.to_string(), "write the file with networkx.write_graphml"))?;
    let root = document.root_element();
    let terminals = Key::find(root, "node", "terminals");
    let class = Key::find(root, "edge", "class");
    let graphs: Vec<_> = elements(root).filter(|child| child.tag_name().name() == "graph").collect();
    let &[graph] = &graphs[..] else {
        let what = format!("<{}> holds {} <graph> elements, not 1", root.tag_name().name(), graphs.len());
        return Err(Problem::new(what, "write one graph per file, inside <graphml>"));
    };
    let directed = is_directed(graph, graph.attribute("edgedefault"))?.unwrap_or(false);
    let (mut names, mut routers) = (Names::default(), Vec::new());
    for node in elements(graph).filter(|child| child.tag_name().name() != "edge") {
        if !matches!(node.tag_name().name(), "node" | "data" | "desc") {
            let what = format!("{}: <{}> is neither a node nor an edge", line(node), node.tag_name().name());
            return Err(Problem::new(what, "write routers as <node> and links as <edge>"));
        } else if node.tag_name().name() == "node" {
            let name = attribute(node, "id")?;
            new_router(&mut names, name, || line(node))?;
            routers.push(Router { name: name.to_owned(), terminals: terminals_of(node, &terminals)? });
        }
    }
    let (mut classes, mut links) = (Names::default(), Vec::new());
    let mut lines = Lines { text, at: 0, line: 1 };
    for edge in elements(graph).filter(|child| child.tag_name().name() == "edge") {
        if is_directed(edge, edge.attribute("directed"))?.unwrap_or(directed) != directed {
            let what = format!("{}: the edge is directed otherwise than the graph", line(edge));
            return Err(Problem::new(what, "leave its attribute `directed` out"));
        }
        let end = |key| known_end(&names, attribute(edge, key)?, || line(edge));
        let (from, to) = (end("source")?, end("target")?);
        let class = classes.number(class.value(edge).unwrap_or(DEFAULT_CLASS));
        links.push(Link { from, to, class, place: lines.line_of(edge.range().start) });
    }
    let stated = if directed { Stated::BothWays } else { Stated::Once };
    let (classes, parallel) = (classes.into_list(), Parallel::Links);
    Ok(Draft { routers, links, classes, stated, parallel, list: None, router_of: None })
}

/// A `key` element: what `data` of an attribute refers to.
struct Key<'a> {
    id: Option<&'a str>,
    default: Option<&'a str>,
}

impl<'a> Key<'a> {
    /// The key of the attribute `name` of nodes or edges.
    fn find(root: Node<'a, '_>, of: &str, name: &str) -> Self {
        let is_it = |key: &Node<'a, '_>| {
            key.tag_name().name() == "key"
                && key.attribute("for").is_none_or(|owner| owner == of || owner == "all")
                && key.attribute("attr.name") == Some(name)
        };
        let key = elements(root).find(is_it);
        let default = key.and_then(|key| elements(key).find(|child| child.tag_name().name() == "default"));
        Self { id: key.and_then(|key| key.attribute("id")), default: default.and_then(|default| default.text()) }
    }

    /// Its value for a node or edge.
    fn value(&self, of: Node<'a, '_>) -> Option<&'a str> {
        let id = self.id?;
        let data = elements(of).find(|data| data.tag_name().name() == "data" && data.attribute("key") == Some(id));
        data.and_then(|data| data.text()).or(self.default).map(str::trim)
    }
}

fn terminals_of<'a>(node: Node<'a, '_>, key: &Key<'a>) -> Result<Option<u32>, Problem> {
    let Some(text) = key.value(node) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        let what = format!("{}: {text:?} terminals on router {}", line(node), node.attribute("id").unwrap_or_default());
        Problem::new(what, "write a whole number, 0 or more")
    })
}

fn is_directed(node: Node, written: Option<&str>) -> Result<Option<bool>, Problem> {
    match written {
        None => Ok(None),
        Some("directed" | "true") => Ok(Some(true)),
        Some("undirected" | "false") => Ok(Some(false)),
        Some(other) => Err(Problem::new(
            format!("{}: {other:?} says neither directed nor undirected", line(node)),
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

/// The line of one element, for a message.
fn line(node: Node) -> String {
    format!("line {}", node.document().text_pos_at(node.range().start).row)
}

/// Lines of ascending positions, all in one pass over the text.
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
