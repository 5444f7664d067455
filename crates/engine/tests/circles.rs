//! Tests that import cycles between files are small. (Files that import each other in a cycle can only be understood together.)

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The largest permitted number of files in an import cycle.
const MOST: usize = 4;

/// Crates that are allowed a larger cycle, with the number of its files. In `scenario`, the parts of a scenario import the type of the
/// whole scenario.
const LARGER: &[(&str, usize)] = &[("scenario", 30)];

type Imports = BTreeMap<String, BTreeSet<String>>;

/// The source text of each file of a crate, without comments and tests, by the path of its module (`parts::pace`).
fn modules(of: &str) -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(of).join("src");
    let (mut texts, mut folders) = (BTreeMap::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a text");
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let code: Vec<&str> = code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
            let below = path.strip_prefix(&root).expect("below src").with_extension("");
            let name = below.to_string_lossy().replace('/', "::");
            texts.insert(name.trim_end_matches("::mod").to_owned(), code.join("\n"));
        }
    }
    texts.remove("lib");
    texts
}

/// For each module, the modules that it imports.
fn imports(texts: &BTreeMap<String, String>) -> Imports {
    let of = |name: &String, text: &String| {
        let above = name.rsplit_once("::").map_or("", |(above, _)| above);
        let mut found = BTreeSet::new();
        for (start, base) in [("crate::", ""), ("super::", above)] {
            for rest in text.split(start).skip(1) {
                found.extend(named(rest, base, texts));
            }
        }
        found.remove(name);
        (name.clone(), found)
    };
    texts.iter().map(|(name, text)| of(name, text)).collect()
}

/// The modules below the module `base` that are named by the path at the start of `rest`. For each path, the longest beginning that is a
/// module counts. A path that ends in a list counts as one path for each element.
fn named(rest: &str, base: &str, texts: &BTreeMap<String, String>) -> Vec<String> {
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(rest.len());
    let path = if base.is_empty() { rest[..end].to_owned() } else { format!("{base}::{}", &rest[..end]) };
    let paths: Vec<String> = match rest[end..].strip_prefix('{').and_then(|list| list.split_once('}')) {
        Some((list, _)) => list.split(',').map(|element| format!("{path}{}", element.trim())).collect(),
        None => vec![path],
    };
    let longest = |path: String| {
        let parts: Vec<&str> = path.split("::").collect();
        (1..=parts.len()).rev().map(|count| parts[..count].join("::")).find(|name| texts.contains_key(name))
    };
    paths.into_iter().filter_map(longest).collect()
}

/// All modules that a module reaches by imports, directly or indirectly.
fn reached<'a>(imports: &'a Imports, from: &'a str) -> BTreeSet<&'a str> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(name) = open.pop() {
        open.extend(imports[name].iter().map(String::as_str).filter(|other| seen.insert(*other)));
    }
    seen
}

/// The modules that are in an import cycle with the module `of`, directly or indirectly.
fn circle<'a>(reach: &BTreeMap<&'a str, BTreeSet<&'a str>>, of: &str) -> Vec<&'a str> {
    reach.iter().filter(|(name, own)| own.contains(of) && reach[of].contains(**name)).map(|(name, _)| *name).collect()
}

/// Names of the workspace crates that have code.
fn crates() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries = std::fs::read_dir(root).expect("a folder").map(|entry| entry.expect("an entry"));
    let with_code = entries.filter(|entry| entry.path().join("src").is_dir());
    with_code.map(|entry| entry.file_name().into_string().expect("a name")).collect()
}

#[test]
fn no_circle_of_imports_is_large() {
    let crates = crates();
    assert!(crates.iter().any(|of| of == "kernel") && crates.len() > 10, "{crates:?}");
    for of in &crates {
        let imports = imports(&modules(of));
        let reach: BTreeMap<&str, _> = imports.keys().map(|name| (name.as_str(), reached(&imports, name))).collect();
        if of == "kernel" {
            assert!(reach["cycle"].contains("block") && reach["block"].contains("parts::power"), "{imports:?}");
        }
        let largest = reach.keys().map(|name| circle(&reach, name)).max_by_key(Vec::len).unwrap_or_default();
        match LARGER.iter().find(|(larger, _)| larger == of) {
            Some(&(_, files)) => assert_eq!(largest.len(), files, "write the new number: {largest:?}"),
            None => assert!(largest.len() <= MOST, "{of}: {} files in a circle: {largest:?}", largest.len()),
        }
    }
}

#[test]
fn a_circle_is_found() {
    let texts = [
        ("a", "use crate::b::{c, d::Type};"),
        ("b", ""),
        ("b::c", "fn f(_: super::d::Type) {}"),
        ("b::d", "use crate::a::Type;\nuse crate::unknown::Thing;"),
    ];
    let texts = texts.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
    let imports = imports(&texts);
    let reach: BTreeMap<&str, _> = imports.keys().map(|name| (name.as_str(), reached(&imports, name))).collect();
    assert_eq!(circle(&reach, "a"), ["a", "b::c", "b::d"]);
    assert!(circle(&reach, "b").is_empty());
}
