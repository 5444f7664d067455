//! Fuzzing: each reader gets valid files with random changes, and returns a program or a refusal in bounded memory.
//!
//! `WEFT_FUZZ_INPUTS=10000000 cargo test -p weft-unit-tests --test programs fuzz` runs ten million inputs of each reader. If a reader panics,
//! the message contains the number of the input. Set `WEFT_FUZZ_FIRST` to this number to begin with this input.

use crate::recorded::{Arg, Memory, Rank};
use crate::{capture, chakra, damage, dumpi, liballprof, vef};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use weft_programs::readers::traces::{TraceFormat, named};
use weft_programs::readers::{Format, swf, vef::Vef};

/// Number of inputs for each reader, unless `WEFT_FUZZ_INPUTS` sets another number.
const INPUTS: u64 = 2000;
/// Time limit for one input. The limit is long, because the machine may also run other work.
const MOST_TIME: Duration = Duration::from_secs(20);
/// Limit for the peak memory of the process \[MB\]. The limit is far above the size of the files, because other tests run in the same
/// process.
const MOST_MEMORY: f64 = 1000.0;

/// Random numbers by splitmix64 (Steele, Lea, Flood, OOPSLA 2014). The seed is the number of an input, so this number determines the input.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Integers that often cause overflow or sign errors in readers.
const EDGES: [i64; 12] =
    [0, 1, -1, -2, 255, 32_768, 65_535, i32::MAX as i64, u32::MAX as i64, 1 << 32, i64::MAX, i64::MIN];
/// Words that `change` writes into text files.
const WORDS: [&str; 10] = ["-1", "0", "4294967295", "9223372036854775807", "", ":", ",", "1e9", "\n", "G1"];

/// Makes one random change in a file.
fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len());
    let length = random.below(48).min(bytes.len() - at);
    match random.below(8) {
        0 if at < bytes.len() => bytes[at] = random.next() as u8,
        1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        2 | 3 => {
            let edge = EDGES[random.below(EDGES.len())];
            let number = if random.below(2) == 0 { edge.to_le_bytes() } else { edge.to_be_bytes() };
            let size = [1, 2, 4, 8][random.below(4)];
            let number = if random.below(2) == 0 { &number[..size] } else { &number[8 - size..] };
            bytes[at..].iter_mut().zip(number).for_each(|(byte, new)| *byte = *new);
        }
        4 => {
            // replaces a number that is written as text
            let end = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            bytes.splice(at..at + end, WORDS[random.below(WORDS.len())].bytes());
        }
        5 => drop(bytes.drain(at..at + length)),
        6 => {
            let part = bytes[at..at + length].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, part);
        }
        _ if random.below(4) == 0 => bytes.truncate(at),
        _ => {}
    }
}

/// Peak memory of this process \[MB\], if the system provides it.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<f64>().ok()? / 1e3)
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Reads changed copies of a valid file. `read` returns true if it has read a program, and false if it has refused the file.
fn fuzz(reader: &str, valid: &Memory, mut read: impl FnMut(Memory) -> bool) {
    let first = from_environment("WEFT_FUZZ_FIRST").unwrap_or(0);
    let inputs = from_environment("WEFT_FUZZ_INPUTS").unwrap_or(INPUTS * u64::from(damage::rounds()));
    assert!(read(Memory { names: valid.names.clone(), bytes: valid.bytes.clone() }), "{reader}: the file is valid");
    let start = Instant::now();
    let (mut programs, mut longest) = (0, Duration::ZERO);
    for number in first..first + inputs {
        let mut random = Random(number);
        let mut files = Memory { names: valid.names.clone(), bytes: valid.bytes.clone() };
        for _ in 0..=random.below(4) {
            let file = random.below(files.bytes.len());
            change(&mut files.bytes[file], &mut random);
        }
        let begin = Instant::now();
        let answer = catch_unwind(AssertUnwindSafe(|| read(files)));
        programs += u64::from(answer.unwrap_or_else(|_| panic!("{reader}: input {number} panics")));
        longest = longest.max(begin.elapsed());
        assert!(longest < MOST_TIME, "{reader}: input {number} takes {longest:?}");
    }
    let seconds = start.elapsed().as_secs_f64();
    let memory = peak();
    println!(
        "{reader}: {inputs} inputs, {programs} are programs, {seconds:.1} s, at most {longest:?} each, peak {memory:?} MB"
    );
    assert!(memory.is_none_or(|memory| memory < MOST_MEMORY), "{reader}: peak memory {memory:?} MB");
    assert!(programs > 0 && programs < inputs, "{reader}: the changes are too large or too small");
}

fn fuzz_trace(reader: &str, valid: Memory) {
    let format: &dyn TraceFormat = named(reader).unwrap();
    fuzz(reader, &valid, |mut files| format.read(&mut files, None).is_ok());
}

fn files(names: &str, bytes: Vec<Vec<u8>>) -> Memory {
    Memory { names: (0..bytes.len()).map(|rank| names.replace('#', &rank.to_string())).collect(), bytes }
}

#[test]
fn changed_recordings_never_panic() {
    fuzz_trace("capture", files("rank-0000#.wcap", capture::every_kind()));
}

#[test]
fn changed_dumpi_never_panics() {
    let (wait, barrier) = (13, 52);
    let mut ranks = [Rank::new(), Rank::new()];
    for (rank, peer) in [(0, 1), (1, 0)] {
        let file = &mut ranks[rank];
        file.call(12, &dumpi::irecv(-1, -1, 2, 5)).call(8, &dumpi::irecv(peer, 3, 2, 6));
        file.call(wait, &[Arg::Int(5), Arg::Statuses(&[(8, peer, false, 3)])]);
        file.call(wait, &[Arg::Int(6), Arg::Statuses(&[])]);
    }
    ranks.iter_mut().for_each(|file| _ = file.call(barrier, &[Arg::Half(2)]));
    fuzz_trace("dumpi", files("t-000#.bin", ranks.iter().map(Rank::file).collect()));
}

#[test]
fn the_changed_reference_trace_of_dumpi_never_panics() {
    fuzz_trace("dumpi", dumpi::selftest());
}

#[test]
fn changed_liballprof_never_panics() {
    let of = |me: u32, other: u32| {
        format!(
            "{}MPI_Isend:1002.5:9:10:2,4,4:{other}:7:0,{me},2:800:1003.0\nMPI_Irecv:1003.0:9:10:2,4,4:-1:-1:0,{me},2:808:1003.5\n\
             MPI_Waitall:1004.0:2:800:6:1005.0\nMPI_Bcast:1005.0:9:3:11,8,8:0:0,{me},2:1006.0\n\
             MPI_Sendrecv:1006.0:9:1:1,4,4:{other}:0:9:1:1,4,4:{other}:0:7,{me},2:5:1007.0\n\
             MPI_Allreduce:1008.0:1:2:3:1,8,8:4:0,{me},2:1009.0\nMPI_Barrier:1010.0:0,{me},2:1011.0\n{}",
            liballprof::HEAD,
            liballprof::END
        )
        .into_bytes()
    };
    fuzz_trace("liballprof", files("pmpi-#.txt", vec![of(0, 1), of(1, 0)]));
}

#[test]
fn changed_chakra_never_panics() {
    let message = |peer: &'static str, to: u64| [(peer, to), ("comm_size", 100), ("comm_tag", 3)];
    let of = |kind: u64, peer: &'static str, other: u64| {
        let sized = [("comm_type", 0), ("comm_size", 8), ("pg_name", 0)];
        chakra::file(&[
            chakra::groups(4, r#"['[{"pg_name": "0", "ranks": [0, 1], "group_size": 2}]']"#),
            chakra::node(1, 4, &[], 5, &[("is_cpu_op", 1)]),
            chakra::node(2, kind, &[1], 0, &message(peer, other)),
            chakra::node(3, 7, &[1, 2], 0, &sized),
        ])
    };
    fuzz_trace("chakra", files("step.#.et", vec![of(5, "comm_dst", 1), of(6, "comm_src", 0)]));
}

#[test]
fn changed_vef_never_panics() {
    let valid = files("#.vef", vec![vef::EXAMPLE.as_bytes().to_vec()]);
    fuzz("vef", &valid, |files| Vef.read("file", &files.bytes[0]).is_ok());
}

#[test]
fn changed_queues_of_jobs_never_panic() {
    let text = "; MaxNodes: 64\n1 0 -1 3.5 16 -1 -1 32 3600 -1 1 3 1 5 2 -1 -1 -1\n2 12 0 0 1 -1 -1 1 60 -1 0 3 1 4 1 -1 1 20\n";
    let valid = files("#.swf", vec![text.as_bytes().to_vec()]);
    fuzz("swf", &valid, |files| swf::Reader::new(&files.bytes[0]).all(|job| job.is_ok()));
}
