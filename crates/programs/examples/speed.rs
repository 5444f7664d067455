//! Measures the speed of the readers and of the executor: `cargo run --release -p weft-programs --example speed [FILE...]`.
//! For each GOAL file the example prints the finish time with the default parameters of LogGOPSim. For each folder with a
//! trace it prints statistics of the program, and the reading speed. Without arguments it generates programs and measures
//! with them.

use std::sync::Arc;
use std::time::Instant;
use weft_programs::collectives::Rules;
use weft_programs::form::{Calls, Op, Program, RankProgram};
use weft_programs::readers::traces;
use weft_programs::{loggops, readers};
use weft_units::Refusal;

/// The default parameters of LogGOPSim.
fn parameters() -> loggops::Parameters {
    let (latency, overhead, gap, gap_per_byte) = (2500, 1500, 1000, 6);
    loggops::Parameters {
        unit_fs: 1_000_000,
        latency,
        overhead,
        gap,
        gap_per_byte,
        overhead_per_byte: 0,
        eager: 65_535,
    }
}

/// Generates ranks on a ring. Each rank sends to its successor, receives and computes, `rounds` times.
fn ring(ranks: u32, rounds: u32) -> Program {
    let of = |rank: u32| {
        let mut calls = Calls::default();
        for round in 0..rounds {
            let send = Op::send((rank + 1) % ranks, 1024, Some(round));
            let receive = Op::receive(Some((rank + ranks - 1) % ranks), 1024, Some(round));
            calls.exchange(send, receive);
            calls.blocking(Op::compute(1000 + u64::from(rank % 7)));
        }
        RankProgram::new(calls.finish())
    };
    Program { ranks: (0..ranks).map(of).collect() }
}

/// Processor time that this process has used \[s\], or wall-clock time if the system does not report processor time.
fn seconds(since: Instant) -> f64 {
    let used = std::fs::read_to_string("/proc/self/schedstat").ok();
    let ns = used.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    ns.map_or_else(|| since.elapsed().as_secs_f64(), |ns| ns * 1e-9)
}

fn run(name: &str, program: &Program) {
    let start = Instant::now();
    let before = seconds(start);
    match loggops::run(program, &Arc::new(Rules::default()), parameters()) {
        Ok(answer) => {
            let seconds = seconds(start) - before;
            let (last, rank) = answer.last();
            let speed = answer.operations as f64 / seconds / 1e6;
            println!("{name}: {last} ns at rank {rank}; {} operations, {speed:.1} million/s", answer.operations);
            if program.len() <= 16 {
                answer.finish.iter().enumerate().for_each(|(rank, finish)| println!("Host {rank}: {finish}"));
            }
        }
        Err(loggops::Failure::Refused(refusal)) => println!("{name}: {refusal}"),
        Err(loggops::Failure::Stuck(stuck)) => println!("{name}: {stuck}"),
    }
}

/// Reads a file and prints the reading speed.
fn read(name: &str, bytes: &[u8]) -> Option<Program> {
    let start = Instant::now();
    let before = seconds(start);
    match readers::of(bytes).read(name, bytes) {
        Ok(program) => {
            let speed = bytes.len() as f64 / (seconds(start) - before) / 1e6;
            println!("{name}: {} bytes, {} operations, {speed:.0} MB/s", bytes.len(), program.ops());
            Some(program)
        }
        Err(refusal) => {
            println!("{refusal}");
            None
        }
    }
}

/// The files of a trace, loaded into memory.
struct Folder {
    names: Vec<String>,
    bytes: Vec<Vec<u8>>,
}

impl traces::Files for Folder {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn load(&mut self, place: usize) -> Result<Vec<u8>, Refusal> {
        Ok(self.bytes[place].clone())
    }
}

/// Reads the trace of a folder and prints its statistics.
fn read_trace(folder: &str) -> std::io::Result<()> {
    let mut paths = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    let name = |path: &std::path::PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names = paths.iter().map(name).collect();
    let bytes = paths.iter().map(std::fs::read).collect::<std::io::Result<Vec<_>>>()?;
    let mut files = Folder { names, bytes };
    let Some(format) = files.names.iter().zip(&files.bytes).find_map(|(name, bytes)| traces::of(name, bytes)) else {
        println!("{folder}: no trace");
        return Ok(());
    };
    let size: usize = files.bytes.iter().map(Vec::len).sum();
    let start = Instant::now();
    let before = seconds(start);
    match format.read(&mut files, None) {
        Ok(converted) => {
            let speed = size as f64 / (seconds(start) - before) / 1e6;
            println!("{folder}: {size} bytes of {}, {speed:.0} MB/s", format.name());
            println!("{}", weft_programs::info::info(&converted.program));
            converted.notes().iter().for_each(|note| println!("{} {}", note.count, note.what));
        }
        Err(refusal) => println!("{refusal}"),
    }
    Ok(())
}

/// Peak memory of this process \[MB\], if the system reports it.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<f64>().ok()? / 1e3)
}

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    for file in &files {
        if std::path::Path::new(file).is_dir() {
            read_trace(file).unwrap_or_else(|problem| println!("{file}: {problem}"));
            continue;
        }
        match std::fs::read(file) {
            Ok(bytes) => _ = read(file, &bytes).map(|program| run(file, &program)),
            Err(problem) => println!("{file}: {problem}"),
        }
    }
    if !files.is_empty() {
        return;
    }
    for (ranks, rounds) in [(1, 333_333), (64, 5_208), (1024, 325), (16_384, 20)] {
        let program = ring(ranks, rounds);
        run(&format!("ring of {ranks} ranks, {rounds} rounds"), &program);
    }
    println!("peak memory {:.0} MB", peak().unwrap_or(f64::NAN));
    let program = ring(1024, 325);
    for format in readers::FORMATS {
        match format.write(&program) {
            Ok(bytes) => _ = read(format.name(), &bytes),
            Err(refusal) => println!("{}: {}", format.name(), refusal.what),
        }
    }
    println!("peak memory {:.0} MB", peak().unwrap_or(f64::NAN));
}
