//! Graph files in formats that only NetworkX reads: Weft recognises them by their extension or first word, and converts them.

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny};
use weft_units::InputFile;

/// The remedy if the program has no converter, because it runs without Python.
const HELP: &str = "read the file with the command `weft`, which converts it with NetworkX, or write the file with \
                    networkx.write_graphml";

/// Deserialises the name of a graph file, and reads the file. A file in a format that Weft does not read itself is converted.
pub fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<InputFile, D::Error> {
    let file = InputFile::deserialize(deserializer)?;
    match format(&file) {
        None => Ok(file),
        Some(format) => file.converted(format, HELP).map_err(Error::custom),
    }
}

/// The format of a file that only NetworkX can read; `None` if Weft reads the file itself.
fn format(file: &InputFile) -> Option<&'static str> {
    let text = file.text().ok()?;
    match file.extension().as_str() {
        "gml" => Some("gml"),
        "json" => is_adjacency(text).then_some("adjacency"),
        "txt" | "edgelist" | "edges" | "el" => is_edge_list(text).then_some("edge_list"),
        _ => None,
    }
}

fn is_adjacency(text: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Keys {
        adjacency: Option<IgnoredAny>,
        links: Option<IgnoredAny>,
        edges: Option<IgnoredAny>,
    }
    // only the few files that contain this word are parsed twice
    let keys = || serde_json::from_str(text).ok();
    text.contains("\"adjacency\"")
        && keys().is_some_and(|keys: Keys| keys.adjacency.is_some() && keys.links.is_none() && keys.edges.is_none())
}

/// True if a file is a plain list of edges: not a BookSim file (whose lines begin with a kind), and neither JSON nor XML.
fn is_edge_list(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with(['#', '%']));
    let first = lines.next().unwrap_or_default();
    let word = first.split_whitespace().next().unwrap_or_default();
    !matches!(word, "" | "router" | "node") && !word.starts_with(['{', '[', '<'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_known_by_ending_and_first_word() {
        let format_of = |name: &str, text: &str| format(&InputFile::new(name, text.as_bytes()));
        assert_eq!(format_of("zoo.gml", "graph [ ]"), Some("gml"));
        assert_eq!(format_of("a.txt", "# from to\n0 1\n"), Some("edge_list"));
        assert_eq!(format_of("a.edgelist", "a,b"), Some("edge_list"));
        assert_eq!(format_of("a.json", r#"{"nodes": [], "adjacency": []}"#), Some("adjacency"));
        assert_eq!(format_of("a.json", r#"{"nodes": [], "adjacency": [], "links": []}"#), None);
        for (name, text) in [
            ("a.txt", "router 0 node 0"),
            ("a.txt", "\n node 0 router 1"),
            ("a.txt", "{}"),
            ("a.txt", "<graphml/>"),
            ("a.txt", ""),
            ("a.anynet", "0 1"),
            ("a.json", r#"{"nodes": [{"id": "adjacency"}], "links": []}"#),
            ("a.json", "{\"adjacency\""),
        ] {
            assert_eq!(format_of(name, text), None, "{name}: {text}");
        }
    }
}
