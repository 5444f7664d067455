//! Error messages that show the place of the error, the fault with the arithmetic, and the remedy. The place consists of file, line,
//! column, and the line itself with a caret.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::ops::Range;
use std::sync::Arc;

/// A text from which Weft reads values: the scenario file, or one `--set` argument.
pub(crate) struct Source {
    /// The file's name, or `--set`.
    pub name: String,
    pub text: String,
    /// True if the source is a file. A `--set` argument has no lines.
    pub is_file: bool,
}

impl std::fmt::Debug for Source {
    /// Prints only the name of a source. Every value of a tree refers to its source, so the text would be printed hundreds of times.
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// A range of characters in a source.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub source: Arc<Source>,
    /// Range of bytes in the source's text.
    pub range: Range<usize>,
}

/// An error, as a complete message and in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The whole message with the excerpt of the file, without colours.
    pub text: String,
    /// Dotted path of the scenario key; empty if the error does not concern a key.
    pub path: String,
    /// Line in the file, from 1; `None` if the value comes from the command line or from a default.
    pub line: Option<usize>,
    /// Column in characters, from 1.
    pub column: Option<usize>,
    /// The fault, with the arithmetic.
    pub what: String,
    /// The action by which the user can correct the fault.
    pub help: String,
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Diagnostic {}

impl Diagnostic {
    /// Creates an error at `span` that concerns the key `path`. `notes` are remarks on the origin of the value.
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

    /// Creates an error that has no place in a file or a `--set` argument.
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

/// Removes control characters, because a hostile file could use them to control the user's terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Moves `range` to character boundaries, within the text and within one line. If the text allows this, the range is not empty.
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

/// Minimum lengths of a name for a suggestion [letters]. A name of at least `SHORT` letters is suggested even if one letter is missing. A
/// name of at least `LONG` letters is suggested even if one letter is wrong.
const SHORT: usize = 3;
const LONG: usize = 4;
/// Two words with different endings count as the same word if they have at least `STEM` letters in common at their beginning. After these
/// letters each word can have at most `ENDING` letters, as in terminal and terminated.
const STEM: usize = 5;
const ENDING: usize = 4;

/// The name in `valid` with the same meaning as a misspelt name, if there is one. The two names differ by a typing error, or in the endings
/// of words. A name with another meaning is not suggested, because it would change the scenario.
pub(crate) fn nearest<'a>(name: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let same = |candidate: &&str| {
        let candidate = candidate.to_lowercase();
        is_slip(&name, &candidate) || is_same(&name, &candidate)
    };
    let mut alike: Vec<&str> = valid.into_iter().filter(same).collect();
    alike.sort_by_key(|candidate| strsim::osa_distance(&name, &candidate.to_lowercase()));
    alike.first().copied()
}

/// True if two names have the same words, apart from typing errors and other endings, or the same letters without the separators between
/// words.
fn is_same(name: &str, candidate: &str) -> bool {
    let words = |text: &str| -> Vec<String> { text.split(['_', '-', '.', ' ']).map(str::to_owned).collect() };
    let (words, others) = (words(name), words(candidate));
    let alike = |(a, b): (&String, &String)| a == b || is_slip(a, b) || has_other_ending(a, b);
    words.concat() == others.concat() || (words.len() == others.len() && words.iter().zip(&others).all(alike))
}

/// True if one letter is missing, extra or wrong, or if two neighbouring letters are swapped. A different digit does not count as a typing
/// error.
fn is_slip(word: &str, other: &str) -> bool {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let (length, other_length) = (word.chars().count(), other.chars().count());
    let swapped = strsim::levenshtein(word, other) == 2;
    let least = if length == other_length && !swapped { LONG } else { SHORT };
    strsim::osa_distance(word, other) == 1 && length.min(other_length) >= least && digits(word) == digits(other)
}

/// True if two words differ only in their endings, such as a plural.
fn has_other_ending(word: &str, other: &str) -> bool {
    let stem = word.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let endings = [word, other].map(|text| text.chars().skip(stem).collect::<String>());
    let plural = stem > 1 && (endings == ["", "s"] || endings == ["s", ""]);
    let letters = endings.iter().all(|ending| ending.len() <= ENDING && ending.chars().all(char::is_alphabetic));
    plural || (stem >= STEM && letters)
}

/// The help line of the error for an unknown name: first the nearest valid name, and then all valid names.
pub(crate) fn suggestion(name: &str, what: &str, valid: &[&str]) -> String {
    let nearest = nearest(name, valid.iter().copied()).map(|n| format!("did you mean `{n}`? ")).unwrap_or_default();
    format!("{nearest}{what}: {}", if valid.is_empty() { "none".to_owned() } else { valid.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_means_the_same() {
        let near = |name: &str, valid: &str| nearest(name, [valid]).is_some();
        for (name, valid) in [
            ("treshold", "threshold"),
            ("vc", "vcs"),
            ("hyprex", "hyperx"),
            ("terminls_per_router", "terminals_per_router"),
            ("buffer-size", "buffer_size"),
            ("lod", "load"),
            ("dispersed", "dispersion"),
        ] {
            assert!(near(name, valid), "{name}");
        }
        for (name, valid) in [
            ("flit_size", "buf_size"),
            ("input_buffer", "output_buffer"),
            ("dim0", "dim1"),
            ("a", "b"),
            ("pal", "par"),
            ("latency", "load"),
            ("credit_delay", "credit_latency"),
        ] {
            assert!(!near(name, valid), "{name}");
        }
    }
}
