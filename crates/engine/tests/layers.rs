//! Who may import whom in the engine. Rooms are the folders of `src`; a file imports its own room and those below.

use std::collections::BTreeMap;
use std::path::Path;
use weft_engine::allocation::AllocatorConfig;
use weft_engine::power::PolicyConfig;
use weft_engine::routing::RoutingConfig;

/// The rooms from the lowest to the highest; those of one line do not import each other.
const LAYERS: &[&[&str]] =
    &[&["base"], &["state"], &["api"], &["pipeline", "models"], &["network"], &["run", "explain"]];

/// The source files by their path below `src`, without what is compiled for tests only.
fn sources() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut files, mut folders) = (BTreeMap::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.file_stem().is_some_and(|name| name == "tests") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = std::fs::read_to_string(&path).expect("a text");
                let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned();
                let name = path.strip_prefix(&root).expect("below src").to_string_lossy().into_owned();
                files.insert(name, code);
            }
        }
    }
    files
}

/// The lines of code of a file, comments left out.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split("//").next().unwrap_or_default())
}

/// Number of the layer of a room.
fn layer(room: &str) -> Option<usize> {
    LAYERS.iter().position(|rooms| rooms.contains(&room))
}

/// What is wrong with the imports of a file of `room`: each room that it may not import, with the line.
fn wrong_imports(room: &str, text: &str) -> Vec<String> {
    let own = layer(room).unwrap_or_else(|| panic!("the room {room} has no place in LAYERS of tests/layers.rs"));
    let mut wrong = Vec::new();
    for line in code(text) {
        for rest in line.split("crate::").skip(1) {
            let other: String = rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            if other != room && layer(&other).is_some_and(|other| other >= own) {
                wrong.push(format!("{other}: {}", line.trim()));
            }
        }
    }
    wrong
}

#[test]
fn every_file_imports_only_rooms_below_its_own() {
    for (name, text) in sources() {
        let Some((room, _)) = name.split_once('/') else {
            assert_eq!(name, "lib.rs", "a source file lies in a room");
            continue;
        };
        let wrong = wrong_imports(room, &text);
        assert!(wrong.is_empty(), "{name} of the room {room} imports {}", wrong.join("; "));
    }
}

#[test]
fn a_wrong_import_is_found() {
    let upward = "use crate::base::bits::Bits;\nuse crate::network::spec::Spec;\n";
    assert_eq!(wrong_imports("pipeline", upward), ["network: use crate::network::spec::Spec;"]);
    let sideways = "fn f(net: &crate::pipeline::net::Net) {}";
    assert_eq!(wrong_imports("models", sideways).len(), 1);
    assert!(wrong_imports("network", &format!("{upward}{sideways}")).is_empty());
    assert!(wrong_imports("api", "// as crate::run::measure does").is_empty(), "a comment imports nothing");
}

/// The loop, the network and the run know traits: a member of a family is named in the folder of its family only.
#[test]
fn no_model_is_named_outside_its_folder() {
    let variant = |name: &str| {
        let word = |word: &str| word[..1].to_uppercase() + &word[1..];
        name.split('_').map(word).collect::<String>()
    };
    let families = [
        ("RoutingConfig", RoutingConfig::NAMES),
        ("PolicyConfig", PolicyConfig::NAMES),
        ("AllocatorConfig", AllocatorConfig::NAMES),
    ];
    for (name, text) in sources().iter().filter(|(name, _)| !name.starts_with("models/")) {
        for (family, names) in families {
            for model in names {
                let variant = format!("{family}::{}", variant(model));
                let module = format!("::{model}::");
                let quoted = format!("\"{model}\"");
                let named = |line: &&str| [&variant, &module, &quoted].iter().any(|named| line.contains(*named));
                assert_eq!(code(text).find(named), None, "{name} names the model {model}");
            }
        }
    }
}
