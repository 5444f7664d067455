//! Tests which files of a crate may import each other. A folder of `src` is called a room. A file may import only from its own room and
//! from lower rooms. Between crates the compiler enforces the order. The file also tests which files may name a model: only the files of
//! the model's own folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The rooms of a crate, from the lowest to the highest. Rooms in the same line must not import each other.
type Layers = &'static [&'static [&'static str]];

const API: Layers = &[&["base"], &["state"], &[ROOT]];
const PROGRAMS: Layers = &[
    &["amounts", "form"],
    &["collectives", "mpi"],
    &["rank"],
    &["loggops"],
    &["transform", "readers", "ai"],
    &["generators"],
    &[ROOT],
];
const ENGINE: Layers = &[&["network"], &["run", "explain"]];

/// The name of the room that contains the files directly in `src`.
const ROOT: &str = "";

/// The source files by their path below `crates/NAME/src`, without code that is compiled only for tests.
fn sources(of: &str) -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(of).join("src");
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

/// The lines of code in a file, without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split("//").next().unwrap_or_default())
}

/// Index of the layer to which a room belongs. If the crate has files directly in `src`, any other name is the name of such a file.
fn layer(layers: Layers, room: &str) -> Option<usize> {
    let of = |room: &str| layers.iter().position(|rooms| rooms.contains(&room));
    of(room).or_else(|| of(ROOT))
}

/// Wrong imports of a file, with their lines: paths to rooms that the file must not import, and paths that lead to no room. `name`: the
/// path of the file below `src`.
fn wrong_imports(layers: Layers, name: &str, text: &str) -> Vec<String> {
    let room_of = |file: &str| {
        layers.iter().flat_map(|rooms| rooms.iter()).find(|room| file.starts_with(&format!("{room}/"))).copied()
    };
    let room = room_of(name).unwrap_or(ROOT);
    let inside = name.strip_prefix(room).unwrap_or(name).trim_start_matches('/');
    let own = layer(layers, room).unwrap_or_else(|| panic!("the room of {name} has no place in tests/layers.rs"));
    // in a file directly in a room, `super` leads out of the room (but `ROOM/mod.rs` is the room itself)
    let depth = inside.split('/').filter(|part| *part != "mod.rs").count();
    let mut wrong = Vec::new();
    for line in code(text) {
        for rest in line.split("crate::").skip(1) {
            let other: String = rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            let same = other == room || room == ROOT && layer(layers, &other) == Some(own);
            if !same && layer(layers, &other).is_none_or(|other| other >= own) {
                wrong.push(format!("{other}: {}", line.trim()));
            }
        }
        if line.contains(&"super::".repeat(depth + 1)) {
            wrong.push(format!("super: {}", line.trim()));
        }
    }
    wrong
}

#[test]
fn every_file_imports_only_rooms_below_its_own() {
    for (of, layers) in [("api", API), ("engine", ENGINE), ("programs", PROGRAMS)] {
        for (name, text) in sources(of).iter().filter(|(name, _)| *name != "lib.rs") {
            let wrong = wrong_imports(layers, name, text);
            assert!(wrong.is_empty(), "{of}/{name} imports {}", wrong.join("; "));
        }
    }
}

/// The programs crate imports only the crate of quantities, neither networks nor the engine. The compiler enforces this if the manifest
/// lists no other crate.
#[test]
fn programs_know_no_engine() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).expect("a manifest");
    let (_, needs) = manifest.split_once("[dependencies]").expect("a list of dependencies");
    let ours: Vec<&str> = needs.lines().filter(|line| line.starts_with("weft-")).collect();
    assert_eq!(ours, ["weft-units = { workspace = true }"]);
}

#[test]
fn a_wrong_import_is_found() {
    let upward = "use crate::network::spec::Spec;\nuse crate::run::measure::Progress;\n";
    assert_eq!(wrong_imports(ENGINE, "network/rows.rs", upward), ["run: use crate::run::measure::Progress;"]);
    assert_eq!(wrong_imports(ENGINE, "run/judge.rs", "fn f(of: &crate::explain::paths::Path) {}").len(), 1);
    assert!(wrong_imports(ENGINE, "run/judge.rs", upward).is_empty());
    assert_eq!(wrong_imports(API, "base/bits.rs", "use crate::state::Packet;\nuse crate::routing::Hop;").len(), 2);
    assert_eq!(wrong_imports(API, "state/mod.rs", "use crate::base::bits::Bits;\nuse crate::routing::Hop;").len(), 1);
    assert!(wrong_imports(API, "view.rs", "use crate::routing::Hop;\nuse crate::state::Packet;").is_empty());
    assert!(
        wrong_imports(ENGINE, "network/spec.rs", "// as crate::run::measure does").is_empty(),
        "a comment imports nothing"
    );
}

/// `lib.rs` re-exports names of all rooms, so a file that imported from it could reach any room.
#[test]
fn an_import_that_does_not_begin_with_a_room_is_found() {
    for line in [
        "use crate::{network::spec::Spec};",
        "use crate::Spec;",
        "fn f() -> crate::Outcome {",
        "use crate::*;",
        "use super::super::run::measure::Progress;",
    ] {
        assert_eq!(wrong_imports(ENGINE, "network/rows.rs", line).len(), 1, "{line}");
    }
    assert!(wrong_imports(ENGINE, "network/rows.rs", "use super::spec::Spec;").is_empty());
    assert!(wrong_imports(API, "base/bits.rs", "use super::hash::hash;").is_empty());
    assert_eq!(wrong_imports(API, "base/bits.rs", "use super::super::routing::Hop;").len(), 1);
}

/// Lines of a file that open or close channels directly, and not through `OFF`, the protocol of policies (`api/src/switching.rs`).
fn past_the_protocol(text: &str) -> Vec<String> {
    let calls =
        |line: &&str| [".open(", ".close("].iter().any(|call| line.replace(&format!("OFF{call}"), "").contains(call));
    code(text).filter(calls).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn policies_open_and_close_channels_by_their_protocol() {
    let files = sources("models");
    let mut by_protocol = 0;
    for (name, text) in files.iter().filter(|(name, _)| name.starts_with("power/")) {
        assert!(past_the_protocol(text).is_empty(), "{name}: {:?}", past_the_protocol(text));
        by_protocol += usize::from(code(text).any(|line| line.contains("OFF.close(")));
    }
    assert!(by_protocol > 1, "policies close channels");
    assert_eq!(past_the_protocol("OFF.open(channels, o);\nchannels.close(o);"), ["channels.close(o);"]);
}

/// The walks of checks and explanations do not count the links that a packet has crossed. Therefore these walks could not follow a routing
/// that uses this count.
#[test]
fn no_model_reads_what_only_the_loop_counts() {
    // recordings, and sources at a delivery, receive packets only from the cycle loop
    let sees_the_loop = |name: &str| name.starts_with("recording/") || name == "workload/scheduler/sources.rs";
    for (name, text) in sources("models").into_iter().filter(|(name, _)| !sees_the_loop(name)) {
        assert!(!code(&text).any(|line| line.contains("links_crossed")), "{name} reads Packet::links_crossed");
    }
}

/// For each family, its registry (crate and file), and the name of the type of its configurations.
const FAMILIES: &[(&str, &str, &str)] = &[
    ("models", "routing/mod.rs", "RoutingConfig"),
    ("models", "power/mod.rs", "PolicyConfig"),
    ("models", "allocation/mod.rs", "AllocatorConfig"),
    ("models", "workload/mod.rs", "WorkloadConfig"),
    ("models", "recording/mod.rs", "RecordingConfig"),
    ("topology", "models/mod.rs", "TopologyConfig"),
    ("traffic", "pattern.rs", "PatternConfig"),
    ("traffic", "injection.rs", "InjectionConfig"),
];

/// Names of models that are also ordinary words, so they may occur in a message or in the path of a module.
const WORDS: &[&str] = &[
    "flows",
    "graph",
    "matrix",
    "mesh",
    "minimal",
    "mix",
    "occupancy",
    "planes",
    "static",
    "table",
    "transpose",
    "trunk",
    "uniform",
    "width",
    "within",
];

/// Files that may name a model although they are outside its folder: (crate/file, model, reason).
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("models/workload/scheduler.rs", "programs", "a set is made of them"),
    ("models/workload/scheduler/alone.rs", "programs", "a set is made of them"),
    ("models/workload/scheduler/arrivals.rs", "programs", "a set is made of them"),
    ("models/workload/scheduler/job_log/convert.rs", "programs", "a set is made of them"),
    ("models/workload/scheduler/queue.rs", "programs", "a set is made of them"),
    ("scenario/bill.rs", "always_on", "a column: the energy of a network whose links are always on"),
    ("scenario/finished.rs", "control_packets", "a column: how many there were"),
    ("scenario/presets.rs", "three_stage", "the allocator of a paper's switch"),
    ("scenario/workload.rs", "request_reply", "the key `reply` of a job chooses it"),
];

/// A registered model.
struct Member {
    registry: &'static str,
    config: &'static str,
    name: String,
    module: String,
    variant: String,
    /// Whether the registry is in the crate `models`.
    ours: bool,
}

/// Returns `("name", "module", "Type")` for a line of a registry.
fn registration(line: &str) -> Option<(&str, &str, &str)> {
    let (name, path) = line.trim().strip_prefix('"')?.strip_suffix(',')?.split_once("\" => ")?;
    let (module, variant) = path.split_once("::")?;
    Some((name, module, variant))
}

fn members() -> Vec<Member> {
    let of_family = |&(of, registry, config): &(&str, &'static str, &'static str)| {
        let text = sources(of).remove(registry).expect("a registry");
        let member = |(name, module, variant): (&str, &str, &str)| Member {
            registry,
            config,
            name: name.into(),
            module: module.into(),
            variant: variant.into(),
            ours: of == "models",
        };
        text.lines().filter_map(registration).map(member).collect::<Vec<_>>()
    };
    FAMILIES.iter().flat_map(of_family).collect()
}

impl Member {
    /// The path of a file within the folder of the family; `None` for a file outside. `file`: a path below `src`.
    fn in_family<'a>(&self, file: &'a str) -> Option<&'a str> {
        file.strip_prefix(self.registry.strip_suffix("mod.rs").filter(|_| self.ours)?)
    }

    /// Whether a file of the model's crate belongs to the model. The file or its folder has the model's name, or the file is next to such a
    /// file in a subfolder of the family's folder.
    fn is_at_home(&self, file: &str, files: &BTreeMap<String, String>) -> bool {
        let Some(inside) = self.in_family(file) else { return false };
        let own = format!("{}.rs", self.module);
        let neighbours =
            |folder: &str| files.contains_key(&format!("{}{folder}/{own}", &file[..file.len() - inside.len()]));
        inside.split('/').any(|part| part == own || part == self.module)
            || inside.split_once('/').is_some_and(|(folder, _)| neighbours(folder))
    }

    /// Line numbers of the lines that contain the model's name, module or variant, perhaps as a part of another word. `starts`: the
    /// positions in the text at which the lines begin.
    fn lines(&self, text: &str, starts: &[usize]) -> BTreeSet<usize> {
        let places = [&self.name, &self.module, &self.variant].map(|part| text.match_indices(part.as_str()));
        let line = |(place, _): (usize, &str)| starts.partition_point(|&start| start <= place) - 1;
        places.into_iter().flatten().map(line).collect()
    }

    /// Whether a line names the model, in its code or in a quoted text.
    fn is_named(&self, code: &str, text: &str, in_registry: bool) -> bool {
        let Self { config, name, module, variant, .. } = self;
        let ordinary = WORDS.contains(&name.as_str());
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let path = |path: String| code.split(path.as_str()).skip(1).any(ends);
        let in_module = !ordinary && code.contains(&format!("::{module}::"));
        let in_code = in_module || path(format!("{config}::{variant}")) || path(format!("{module}::{variant}"));
        let in_text = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name);
        in_code && !in_registry || in_text && !ordinary
    }
}

/// For each line, the text outside quotes and the text inside quotes.
fn quoted(text: &str) -> Vec<(String, String)> {
    let mut inside = false;
    let split = |line: &str| {
        let (mut code, mut words) = (String::new(), String::new());
        for (k, part) in line.replace("\\\"", "").replace("'\"'", "").split('"').enumerate() {
            inside ^= k > 0;
            let side = if inside { &mut words } else { &mut code };
            side.push_str(part);
            side.push(' ');
            if !inside && part.contains("//") {
                break;
            }
        }
        (code.split("//").next().unwrap_or_default().to_owned(), words)
    };
    text.lines().map(split).collect()
}

/// The models that a file names although the file is not in their folder, with the line.
fn named(members: &[Member], of: &str, file: &str, text: &str, files: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    let starts: Vec<usize> = [0].into_iter().chain(text.match_indices('\n').map(|(place, _)| place + 1)).collect();
    let lines: Vec<((String, String), &str)> = quoted(text).into_iter().zip(text.lines()).collect();
    for member in members {
        let at_home = |other: &Member| other.name == member.name && of == "models" && other.is_at_home(file, files);
        let excepted =
            || EXCEPTIONS.iter().any(|(place, model, _)| *place == format!("{of}/{file}") && *model == member.name);
        let in_registry = of == "models" && file == member.registry;
        for number in member.lines(text, &starts) {
            let ((code, words), line) = &lines[number];
            // the cheap test that is rarely true comes first
            let is_named = registration(line).is_none() && member.is_named(code, words, in_registry);
            if is_named && !excepted() && !members.iter().any(at_home) {
                found.push(format!("{}: {}", member.name, line.trim()));
            }
        }
    }
    found
}

/// Models are matched by their needs and offers. Therefore a model is named only in its own folder. The engine and the scenario crate do
/// not name any topology, pattern or injection.
#[test]
fn no_model_is_named_outside_its_folder() {
    let members = members();
    assert!(members.iter().any(|member| member.module == "hyperx") && members.len() > 40, "registries are read");
    let mut all = Vec::new();
    for of in ["api", "models", "kernel", "engine", "scenario"] {
        let files = sources(of);
        for (file, text) in &files {
            let found = named(&members, of, file, text, &files);
            all.extend(found.into_iter().map(|found| format!("{of}/{file} names {found}")));
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn a_named_model_is_found() {
    let members = members();
    let names = |path: &str, line: &str| {
        let (of, file) = path.split_once('/').expect("a crate and a file");
        named(&members, of, file, line, &sources(of)).len()
    };
    assert_eq!(
        names("engine/network/spec.rs", "PatternConfig::Uniform(weft_traffic::pattern::uniform::Uniform {})"),
        1
    );
    assert_eq!(names("engine/network/faults.rs", "\"there are none\", \"take a hyperx or a dragonfly\""), 2);
    assert_eq!(names("models/power/timetable.rs", "let help = \"write policy: always_on\";"), 1);
    assert_eq!(names("models/power/mod.rs", "let help = \"write policy: always_on\";"), 1);
    assert_eq!(names("models/power/mod.rs", "Self::AlwaysOn(always_on::AlwaysOn {})"), 0, "a family knows its default");
    assert_eq!(names("models/routing/grid/ugal.rs", "use super::valiant::Runtime; // as torus"), 0, "of one folder");
    assert_eq!(names("models/routing/on_grid.rs", "pub use super::grid::dimension_order::Dateline;"), 1);
    assert_eq!(names("models/power/tcep/agent.rs", "\"tcep\""), 0);
    assert_eq!(names("engine/run/stall.rs", "let tables: Vec<tcep::Tcep> = split('\"');"), 1);
}
