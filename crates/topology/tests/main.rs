//! All tests of topologies are one program, so that the linker runs only once. Each file in this folder is a module of this program; helper
//! functions that several modules use are in `common`.

mod cables;
mod common;
mod conformance;
mod flex;
mod graph_attributes;
mod graph_files;
mod polarfly;
mod slim_fly;
mod structure;

/// Fails if a file of this folder is not a module of this program, because its tests would never run.
#[test]
fn every_file_of_this_folder_is_a_module_here() {
    let here = include_str!("main.rs");
    for entry in
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../topology/tests")).expect("the folder of the tests")
    {
        let name = entry.expect("an entry").file_name().into_string().expect("a name");
        let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") else { continue };
        assert!(here.lines().any(|line| line == format!("mod {module};")), "add the line `mod {module};` to main.rs");
    }
}
