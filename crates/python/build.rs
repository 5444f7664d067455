//! Build script: records the commit from which Weft is built, for `run.json`, and the source of each model, for `weft cite`.

use serde_json::{Map, Value};
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Families of models: the key in a scenario, the file of the registry, and the folder with the models.
const FAMILIES: [(&str, &str, &str); 10] = [
    ("topology", "topology/src/models/mod.rs", "topology/src/models"),
    ("routing", "models/src/routing/mod.rs", "models/src/routing"),
    ("traffic.pattern", "traffic/src/pattern.rs", "traffic/src/pattern"),
    ("traffic.injection", "traffic/src/injection.rs", "traffic/src/injection"),
    ("traffic.workload", "models/src/workload/mod.rs", "models/src/workload"),
    ("queueing", "models/src/queueing/mod.rs", "models/src/queueing"),
    ("congestion_control", "models/src/congestion/mod.rs", "models/src/congestion"),
    ("power.policy", "models/src/power/mod.rs", "models/src/power"),
    ("router.allocator", "models/src/allocation/mod.rs", "models/src/allocation"),
    ("measure", "models/src/recording/mod.rs", "models/src/recording"),
];

fn main() {
    // the commit is empty if Weft is not built in a git checkout
    let commit = git(&["rev-parse", "HEAD"]).map(|commit| {
        let changed = git(&["status", "--porcelain", "--", ".."]).is_none_or(|lines| !lines.is_empty());
        if changed { format!("{commit}-changed") } else { commit }
    });
    println!("cargo::rustc-env=WEFT_COMMIT={}", commit.unwrap_or_default());
    println!("cargo::rerun-if-changed=../");
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--path-format=absolute", "--git-path", name]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let sources: Map<String, Value> = FAMILIES
        .iter()
        .map(|(family, registry, folder)| ((*family).to_owned(), sources(family, registry, folder)))
        .collect();
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("sources.json");
    std::fs::write(out, Value::Object(sources).to_string()).expect("the folder of the build can be written");
}

/// Output of a git command; `None` if it fails.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The text below `# Source` in the header of each model of a family, by model name. A line of the registry has the form `"name" =>
/// module::Type,`. The model `python` of a family is in this crate and not in the folder of the family.
fn sources(family: &str, registry: &str, folder: &str) -> Value {
    let crates = Path::new("..");
    let registry = read(&crates.join(registry));
    let models = registry.lines().filter_map(|line| {
        let (name, rest) = line.trim().strip_prefix('"')?.split_once("\" => ")?;
        let (module, _) = rest.split_once("::")?;
        Some((name.to_owned(), module))
    });
    let source = |(name, module): (String, &str)| {
        let file = find(&crates.join(folder), &format!("{module}.rs")).expect("a model has a file of its own");
        (name, Value::String(section(&read(&file), "Source")))
    };
    let own = Path::new("src/functions").join(family.rsplit('.').next().unwrap_or(family)).with_extension("rs");
    let function = own.is_file().then(|| ("python".to_owned(), Value::String(section(&read(&own), "Source"))));
    Value::Object(models.map(source).chain(function).collect())
}

/// Finds a file with this name in a folder or in one of its subfolders.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries: Vec<PathBuf> = read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let here = entries.iter().find(|path| path.file_name().is_some_and(|own| own == name)).cloned();
    here.or_else(|| entries.iter().filter(|path| path.is_dir()).find_map(|path| find(path, name)))
}

/// The text of one section in the header of a model's file, joined to one line.
fn section(text: &str, heading: &str) -> String {
    let header = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let inside = header.skip_while(|line| line.strip_prefix("# ") != Some(heading)).skip(1);
    let lines: Vec<&str> = inside.take_while(|line| !line.starts_with("# ")).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

fn read(path: &Path) -> String {
    read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
