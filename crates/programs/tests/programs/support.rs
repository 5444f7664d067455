//! Functions that several test files use.

use std::sync::Arc;
use weft_programs::collectives::Rules;
use weft_programs::form::Program;
use weft_programs::loggops::{self, Answer, Failure, Parameters};
use weft_programs::readers;

/// LogGOPSim's default parameters.
pub const DEFAULTS: Parameters = Parameters {
    unit_fs: 1_000_000,
    latency: 2500,
    overhead: 1500,
    gap: 1000,
    gap_per_byte: 6,
    overhead_per_byte: 0,
    eager: 65_535,
};

/// Reads a file from the test data of the repository.
pub fn data(name: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/programs").join(name);
    std::fs::read(&path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

pub fn read(bytes: &[u8]) -> Program {
    readers::of(bytes).read("file", bytes).unwrap_or_else(|refusal| panic!("{refusal}"))
}

pub fn run(program: &Program, at: Parameters) -> Result<Answer, Failure> {
    loggops::run(program, &Arc::new(Rules::default()), at)
}

/// Runs a program in GOAL text, and returns the finish time of each rank.
pub fn finish(text: &str, at: Parameters) -> Vec<i64> {
    run(&read(text.as_bytes()), at).unwrap_or_else(|failure| panic!("{failure:?}")).finish
}
