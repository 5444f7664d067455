//! Files of LogGOPSim: its finish times, and the same bytes from text to binary and back.

use crate::support::{DEFAULTS, data, read, run};
use std::sync::Arc;
use weft_programs::collectives::Rules;
use weft_programs::form::Kind;
use weft_programs::loggops::{Parameters, run_machines};
use weft_programs::rank::Machine;
use weft_programs::readers::{self, Format, goal::Goal, goal_binary, goal_binary::GoalBinary};

#[test]
fn finish_times_are_those_that_loggopsim_prints() {
    let times = [
        ("binary_tree_32.goal", 27_500),
        ("binary_tree_32.bin", 27_500),
        ("binomial_bcast_np16_1024B.goal", 46_552),
        ("binomial_bcast_np16_1024B.bin", 46_552),
        ("allreduce_recdoub_np16_1024B.goal", 55_472),
    ];
    for (file, time) in times {
        assert_eq!(run(&read(&data(file)), DEFAULTS).unwrap().last().0, time, "{file}");
    }
    // rank by rank, as LogGOPSim prints them for up to 16 ranks
    let broadcast = run(&read(&data("binomial_bcast_np16_1024B.goal")), DEFAULTS).unwrap();
    let ranks = [
        22914, 27414, 27414, 31914, 27414, 31914, 31914, 36414, 33052, 37552, 37552, 42052, 37552, 42052, 42052, 46552,
    ];
    assert_eq!(broadcast.finish, ranks);
}

#[test]
fn text_becomes_the_bytes_of_txt2bin_and_comes_back() {
    for name in ["binary_tree_32", "binomial_bcast_np16_1024B"] {
        let program = read(&data(&format!("{name}.goal")));
        let binary = data(&format!("{name}.bin"));
        assert_eq!(GoalBinary.write(&program).unwrap(), binary, "{name}");
        assert_eq!(read(&binary), program, "{name}");
        assert_eq!(read(&Goal.write(&program).unwrap()), program, "{name}");
    }
    assert_eq!(readers::named("goal").map(Format::name), Some("goal"));
}

/// Made by ATLAHS of two ranks: a send of 1 MiB in 8 messages, and a ring all-reduce of 1 MiB in 4 of each rank. Its tags count
/// the messages in steps of 10^9, so that they exceed 32 bits.
#[test]
fn a_program_of_nccl_has_its_bytes_and_ends() {
    let program = read(&data("nccl_2gpus.goal"));
    let messages = |kind: Kind| {
        let ops = program.ranks.iter().flat_map(|rank| rank.ops.ops()).filter(move |op| op.kind() == kind);
        ops.fold((0, 0), |(count, bytes), op| (count + 1, bytes + op.size()))
    };
    assert_eq!([Kind::Send, Kind::Receive].map(messages), [(16, 3 << 20); 2]);
    let eager = Parameters { eager: 1 << 20, ..DEFAULTS };
    assert!([DEFAULTS, eager].into_iter().all(|at| run(&program, at).is_ok()));
}

#[test]
fn a_program_that_stays_in_its_file_finishes_at_the_same_time() {
    for file in ["binary_tree_32.bin", "binomial_bcast_np16_1024B.bin"] {
        let bytes = data(file);
        let ranks = goal_binary::open(file, bytes.as_slice()).unwrap();
        let count = ranks.len() as u32;
        let machines =
            (0..).zip(ranks).map(|(me, rank)| Machine::new(rank, me, count, Vec::new(), Arc::new(Rules::default())));
        let on_disk = run_machines(machines.collect(), (1, 1), DEFAULTS).unwrap();
        assert_eq!(on_disk, run(&read(&bytes), DEFAULTS).unwrap(), "{file}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_of_the_system_is_read_by_place() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/programs/binary_tree_32.bin");
    let ranks = goal_binary::open("file", std::fs::File::open(path).unwrap()).unwrap();
    let machines =
        (0..).zip(ranks).map(|(me, rank)| Machine::new(rank, me, 32, Vec::new(), Arc::new(Rules::default())));
    assert_eq!(run_machines(machines.collect(), (1, 1), DEFAULTS).unwrap().last(), (27_500, 31));
}
