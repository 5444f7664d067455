//! All tests of scenarios are one program, so that the linker runs only once. Each file in this folder is a module of this program; helper
//! functions that several modules use are in `refusal`.

#![allow(clippy::result_large_err, reason = "an error ends a test: its size costs nothing")]

mod bad_input;
mod bad_slac;
mod bad_speeds;
mod bad_times;
mod bad_workload;
mod catalogue;
mod classes;
mod exact_energy;
mod faults;
mod finished;
mod flows;
mod grain;
mod graph_attributes;
mod graph_files;
mod groups;
mod links;
mod long_times;
mod modes;
mod network;
mod newcomers;
mod path_bound;
mod presets;
mod prices;
mod programs;
mod queueing;
mod recordings;
mod recovery;
mod refusal;
mod remedies;
mod router_names;
mod run;
mod scenario;
mod set_times;
mod trunks;
mod turnaround;
mod warned;
mod zero_load;

/// Without a `mod` line for it, a test file of this folder would never run.
#[test]
fn every_file_of_this_folder_is_a_module_here() {
    let here = include_str!("main.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).expect("the folder of the tests") {
        let name = entry.expect("an entry").file_name().into_string().expect("a name");
        let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") else { continue };
        assert!(here.lines().any(|line| line == format!("mod {module};")), "add the line `mod {module};` to main.rs");
    }
}
