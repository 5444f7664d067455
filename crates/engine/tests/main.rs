//! All tests of the engine in one program, so that linking is needed only once. Each file in this folder is a module of this program;
//! shared helpers are in `common`. The folder is a separate package, because Cargo sets the optimisation level per package. With this
//! split, the engine is compiled with optimisation. The tests are compiled without it, in a tenth of the time.

mod allocation;
mod bounds;
mod broken;
mod bundles;
mod checkpoints;
mod choosing;
mod circles;
mod classes;
mod classes_beside;
mod common;
mod conformance;
mod congestion;
mod conservation;
mod deadlock_free;
mod determinism;
mod division;
mod elastic_tree;
mod escape_rings;
mod evener;
mod faults;
mod fewest_links;
mod high_low;
mod ideal_queues;
mod layers;
mod link_states;
mod models;
mod modes;
mod pal;
mod paths;
mod planes;
mod programs;
mod properties;
mod queueing;
mod random;
mod rank_states;
mod recn;
mod refused;
mod saturation;
mod slac;
mod speeds;
mod stall;
mod tcep;
mod tcep_in_transit;
mod theory;
mod topologies;
mod tree_faults;
mod two_latencies;
mod warmup;
mod watch;
mod wide_routers;
mod workload;

/// Checks that every file is declared as a module here, because the tests of another file would never run.
#[test]
fn every_file_of_this_folder_is_a_module_here() {
    let here = include_str!("main.rs");
    for entry in std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).expect("the folder of the tests") {
        let name = entry.expect("an entry").file_name().into_string().expect("a name");
        let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") else { continue };
        assert!(here.lines().any(|line| line == format!("mod {module};")), "add the line `mod {module};` to main.rs");
    }
}
