//! A YAML document as a tree in which every key and value keeps its place in the document.

use crate::diagnostic::{Diagnostic, Source, Span};
use crate::scalar;
use granit_parser::{Event, Parser};
use serde_json::Value;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of nodes of a document, including copies by aliases. A scenario has hundreds of nodes, but aliases in a malicious
/// document can create billions.
const MAX_NODES: usize = 100_000;
/// Maximum depth of nested collections.
const MAX_DEPTH: usize = 32;

/// A value with its place in the document.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub kind: Kind,
    pub span: Span,
    /// The swept key, if the value comes from a sweep.
    pub swept: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// A null, boolean, number or string.
    Scalar(Value),
    Sequence(Vec<Node>),
    /// Entries in the order of the document, with unique keys.
    Mapping(Vec<Entry>),
}

/// A key with its place in the document, and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub key: String,
    pub key_span: Span,
    pub value: Node,
}

impl Node {
    pub fn empty_mapping(span: Span) -> Self {
        Self { kind: Kind::Mapping(Vec::new()), span, swept: None }
    }

    /// True if the document contains `null` or `~` here; false if the value is missing.
    pub fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Scalar(Value::Null)) && !self.span.range.is_empty()
    }

    /// The value under this key of a mapping, or the element with this index of a list.
    pub fn child_mut(&mut self, name: &str) -> Option<&mut Self> {
        match &mut self.kind {
            Kind::Mapping(entries) => entries.iter_mut().find(|entry| entry.key == name).map(|entry| &mut entry.value),
            Kind::Sequence(items) => name.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
            Kind::Scalar(_) => None,
        }
    }

    /// True if the value has no content: it is missing, `null`, or an empty mapping.
    pub fn is_nothing(&self) -> bool {
        match &self.kind {
            Kind::Scalar(value) => value.is_null(),
            Kind::Mapping(entries) => entries.is_empty(),
            Kind::Sequence(_) => false,
        }
    }

    /// The value as JSON, without the places in the document.
    pub fn value(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::Sequence(items) => Value::Array(items.iter().map(Self::value).collect()),
            Kind::Mapping(entries) => {
                Value::Object(entries.iter().map(|entry| (entry.key.clone(), entry.value.value())).collect())
            }
        }
    }

    /// A description of the kind of value for messages: "a mapping", "a list", "the text ...".
    pub fn describe(&self) -> String {
        match &self.kind {
            Kind::Scalar(Value::Null) => "nothing".to_owned(),
            Kind::Scalar(Value::String(text)) => format!("the text \"{text}\""),
            Kind::Scalar(value) => format!("the value {value}"),
            Kind::Sequence(_) => "a list".to_owned(),
            Kind::Mapping(_) => "a mapping".to_owned(),
        }
    }
}

/// Parses one YAML document from `range` of a source. An empty document becomes an empty mapping.
pub(crate) fn parse(source: &Arc<Source>, range: Range<usize>) -> Result<Node, Diagnostic> {
    let whole = Span { source: source.clone(), range: range.clone() };
    let text = source.text.get(range.clone()).unwrap_or("");
    let mut options = granit_parser::Options::default();
    options.set_emit_comments(false);
    let mut reader = Reader {
        source,
        base: range.start,
        end: range.end,
        events: Parser::new_from_str_with_options(text, options),
        anchors: HashMap::new(),
        nodes: 0,
    };
    let mut document = None;
    while let Some((event, span)) = reader.next()? {
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentStart(..) | Event::DocumentEnd => {}
            _ if document.is_some() => {
                let help = "keep one scenario per file; write several runs as a `sweep:`";
                return Err(Diagnostic::at(&span, "", "a second YAML document starts here", help, &[]));
            }
            event => document = Some(reader.node(event, span, 0)?),
        }
    }
    Ok(document.unwrap_or_else(|| Node::empty_mapping(whole)))
}

struct Reader<'t> {
    source: &'t Arc<Source>,
    /// Beginning and end of the parsed range in the source \[bytes\].
    base: usize,
    end: usize,
    events: Parser<'t, granit_parser::StrInput<'t>>,
    /// Nodes with a YAML anchor, and the number of nodes in each of them.
    anchors: HashMap<usize, (Node, usize)>,
    nodes: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<Option<(Event<'t>, Span)>, Diagnostic> {
        match self.events.next_event() {
            None => Ok(None),
            Some(Ok((event, span))) => {
                let range = span.byte_range().unwrap_or(self.end..self.end);
                Ok(Some((event, self.span(range.start + self.base..range.end + self.base))))
            }
            Some(Err(error)) => {
                let at = error.marker().byte_offset().map_or(self.end, |offset| offset + self.base);
                let tab = self.source.text.get(..at).is_some_and(|t| t.ends_with('\t'))
                    || self.source.text.get(at..).is_some_and(|t| t.starts_with('\t'));
                let help = match tab {
                    true => "YAML is indented with spaces; replace the tab",
                    false => "check the indentation, the colons, and that every bracket and quote is closed",
                };
                let what = format!("this is not YAML: {}", error.info());
                Err(Diagnostic::at(&self.span(at..at), "", &what, help, &[]))
            }
        }
    }

    fn span(&self, range: Range<usize>) -> Span {
        Span { source: self.source.clone(), range }
    }

    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Node, Diagnostic> {
        let before = self.nodes;
        self.count(1, &span)?;
        if depth > MAX_DEPTH {
            let what = format!("more than {MAX_DEPTH} levels of nested lists and mappings");
            return Err(Diagnostic::at(&span, "", &what, "write fewer levels", &[]));
        }
        let (anchor, node) = match event {
            Event::Alias(id) => return self.alias(id, span),
            Event::Scalar(text, style, anchor, None) => (anchor, scalar::read(&text, style, span)?),
            Event::SequenceStart(_, anchor, None) => (anchor, self.sequence(depth, span)?),
            Event::MappingStart(_, anchor, None) => (anchor, self.mapping(depth, span)?),
            _ => {
                let help = "remove the tag; the schema knows the type";
                return Err(Diagnostic::at(&span, "", "YAML tags have no meaning in Weft", help, &[]));
            }
        };
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), self.nodes - before));
        }
        Ok(node)
    }

    fn count(&mut self, nodes: usize, span: &Span) -> Result<(), Diagnostic> {
        self.nodes += nodes;
        if self.nodes <= MAX_NODES {
            return Ok(());
        }
        let what = format!("the file has more than {MAX_NODES} values, including copies through aliases");
        Err(Diagnostic::at(span, "", &what, "write fewer values", &[]))
    }

    fn alias(&mut self, id: usize, span: Span) -> Result<Node, Diagnostic> {
        let Some((_, size)) = self.anchors.get(&id) else {
            let help = "an alias can only repeat a value that ends before the alias";
            return Err(Diagnostic::at(&span, "", "this alias is inside its own anchor", help, &[]));
        };
        let size = *size;
        self.count(size, &span)?;
        // The copy of an anchored node keeps the places of the original, because the user has to edit the original.
        Ok(self.anchors[&id].0.clone())
    }

    fn child(&mut self, end: &Event<'_>, depth: usize) -> Result<Option<Node>, Diagnostic> {
        match self.next()? {
            None => Ok(None),
            Some((event, _)) if &event == end => Ok(None),
            Some((event, span)) => self.node(event, span, depth + 1).map(Some),
        }
    }

    fn sequence(&mut self, depth: usize, mut span: Span) -> Result<Node, Diagnostic> {
        let mut items = Vec::new();
        while let Some(item) = self.child(&Event::SequenceEnd, depth)? {
            span.range.end = span.range.end.max(item.span.range.end);
            items.push(item);
        }
        Ok(Node { kind: Kind::Sequence(items), span, swept: None })
    }

    fn mapping(&mut self, depth: usize, span: Span) -> Result<Node, Diagnostic> {
        let mut entries: Vec<Entry> = Vec::new();
        while let Some(key_node) = self.child(&Event::MappingEnd, depth)? {
            let key = match &key_node.kind {
                Kind::Scalar(Value::String(text)) => text.clone(),
                Kind::Scalar(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
                _ => {
                    let what = format!("a key is a name, not {}", key_node.describe());
                    return Err(Diagnostic::at(&key_node.span, "", &what, "write `name: value`", &[]));
                }
            };
            if let Some(first) = entries.iter().find(|entry| entry.key == key) {
                let line = first.key_span.source.text[..first.key_span.range.start].matches('\n').count() + 1;
                let what = format!("the key `{key}` is written twice");
                let help = format!("keep one of the two; the first is on line {line}");
                return Err(Diagnostic::at(&key_node.span, "", &what, &help, &[]));
            }
            let end = self.end;
            let Some(value) = self.child(&Event::MappingEnd, depth)? else {
                return Err(Diagnostic::at(&self.span(end..end), "", "this key has no value", "write a value", &[]));
            };
            entries.push(Entry { key, key_span: key_node.span, value });
        }
        Ok(Node { kind: Kind::Mapping(entries), span, swept: None })
    }
}
