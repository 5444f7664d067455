//! Errors that show their place: file, line, column, the line itself with a caret, the arithmetic, the remedy.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::ops::Range;
use std::sync::Arc;

/// A text that values are read from: the scenario file, or one `--set` argument.
pub(crate) struct Source {
    /// The file's name, or `--set`.
    pub name: String,
    pub text: String,
    /// A `--set` argument has a place but no line.
    pub is_file: bool,
}

impl std::fmt::Debug for Source {
    /// Without the text: every value of a tree points here, so it would be printed hundreds of times.
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// A stretch of a source.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub source: Arc<Source>,
    /// Bytes of the source's text.
    pub range: Range<usize>,
}

/// One error, rendered and in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The whole message with the snippet, without colours.
    pub text: String,
    /// Dotted path of the scenario key; empty when it is not about a key.
    pub path: String,
    /// Line in the file, from 1; `None` when the value comes from the command line or from a default.
    pub line: Option<usize>,
    /// Column in characters, from 1.
    pub column: Option<usize>,
    /// What is wrong, with the arithmetic.
    pub what: String,
    /// What to write instead.
    pub help: String,
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Diagnostic {}

impl Diagnostic {
    /// An error at `span`, about the key `path`, with remarks on where the value came from.
    pub(crate) fn at(span: &Span, path: &str, what: &str, help: &str, notes: &[String]) -> Self {
        let text = &span.source.text;
        let range = on_characters(text, &span.range);
        let before = text.get(..range.start).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let title = if path.is_empty() { what.to_owned() } else { format!("{path}: {what}") };
        let title = printable(&title);
        let snippet = Snippet::source(text.as_str())
            .path(span.source.name.as_str())
            .annotation(AnnotationKind::Primary.span(range));
        let notes: Vec<_> = notes.iter().map(|note| printable(note)).collect();
        let shown_help = printable(help);
        let mut group = Level::ERROR.primary_title(title.as_str()).element(snippet);
        for note in &notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        if !help.is_empty() {
            group = group.element(Level::HELP.message(shown_help.as_str()));
        }
        let (line, column) = if span.source.is_file { (Some(line), Some(column)) } else { (None, None) };
        Self {
            text: Renderer::plain().render(&[group]),
            path: path.to_owned(),
            line,
            column,
            what: what.to_owned(),
            help: help.to_owned(),
        }
    }

    /// An error that has no place in a text.
    pub(crate) fn nowhere(path: &str, what: &str, help: &str) -> Self {
        let lead = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let remedy = if help.is_empty() { String::new() } else { format!("\n  = help: {}", printable(help)) };
        Self {
            text: format!("error: {lead}{}{remedy}", printable(what)),
            path: path.to_owned(),
            line: None,
            column: None,
            what: what.to_owned(),
            help: help.to_owned(),
        }
    }
}

/// Control characters of a hostile file do not reach the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// `range` moved to character boundaries, within the text and within one line; not empty, if the text allows that.
fn on_characters(text: &str, range: &Range<usize>) -> Range<usize> {
    let mut start = range.start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let rest = &text[start..];
    let line = rest.find('\n').unwrap_or(rest.len());
    let wanted = range.end.saturating_sub(start).clamp(1, line.max(1));
    let end = rest.char_indices().map(|(i, c)| i + c.len_utf8()).find(|end| *end >= wanted);
    start..start + end.unwrap_or(0)
}

/// "nearest of `valid`" for a misspelt name, if one is near.
pub(crate) fn nearest<'a>(name: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let closeness = |candidate: &str| strsim::jaro_winkler(&name.to_lowercase(), &candidate.to_lowercase());
    let scored = valid.into_iter().map(|candidate| (closeness(candidate), candidate));
    scored.filter(|(score, _)| *score > 0.75).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, candidate)| candidate)
}

/// The help line of an unknown name: the nearest, then all.
pub(crate) fn suggestion(name: &str, what: &str, valid: &[&str]) -> String {
    let nearest = nearest(name, valid.iter().copied()).map(|n| format!("did you mean `{n}`? ")).unwrap_or_default();
    format!("{nearest}{what}: {}", if valid.is_empty() { "none".to_owned() } else { valid.join(", ") })
}
