//! Tests with files of LogGOPSim. Weft's finish times equal those of LogGOPSim. A text file that Weft converts to binary form has the
//! same bytes as LogGOPSim's binary file.

use crate::support::{DEFAULTS, data, read, run};
use std::sync::Arc;
use weft_programs::collectives::Rules;
use weft_programs::form::Kind;
use weft_programs::loggops::{NodeTimes, Nodes, Parameters, run_machines, run_on};
use weft_programs::rank::Machine;
use weft_programs::readers::{self, Format, goal::Goal, goal_binary, goal_binary::GoalBinary};
use weft_units::Time;

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
    // the finish time of each rank, which LogGOPSim prints for programs of up to 16 ranks
    let broadcast = run(&read(&data("binomial_bcast_np16_1024B.goal")), DEFAULTS).unwrap();
    let ranks = [
        22914, 27414, 27414, 31914, 27414, 31914, 31914, 36414, 33052, 37552, 37552, 42052, 37552, 42052, 42052, 46552,
    ];
    assert_eq!(broadcast.finish, ranks);
}

/// Rank 1 computes for 50 ns, and then sends to rank 2. Rank 0 sends a message to rank 1, whose first byte arrives at 10 ns. The other
/// bytes of a message take 99 ns.
#[test]
fn interfaces_of_nodes_receive_while_processors_compute() {
    let program = read(
        b"num_ranks 3\nrank 0 {\nsend 100b to 1 tag 1\n}\nrank 1 {\nrecv 100b from 0 tag 1\na: calc 50\nb: send 100b to 2 tag 2\n\
          b requires a\n}\nrank 2 {\nrecv 100b from 1 tag 2\n}\n",
    );
    let time = |text: &str| text.parse::<Time>().expect("a time");
    let times =
        [("L", "10ns"), ("o", "0ns"), ("g", "0ns"), ("G", "1ns"), ("O", "0ns")].map(|(name, of)| (name, time(of)));
    let finish = |ranks: u32, inside: [&str; 2]| {
        let [latency, per_byte] = inside.map(time);
        let [injection, host, flit] = ["0ns"; 3].map(time);
        let inside = NodeTimes { latency, gap_per_byte: per_byte, injection, host, flit };
        let (nodes, at) = Nodes::new(times, 1 << 20, (ranks, 1, false), &inside).unwrap();
        let answer = run_on(nodes, &program, &Arc::new(Rules::default()), at).unwrap();
        answer.finish.iter().map(|&units| at.ns(units)).collect::<Vec<_>>()
    };
    assert_eq!(finish(1, ["0ns", "0ns"]), [0.0, 109.0, 50.0 + 10.0 + 99.0]);
    // two ranks on one node: latency 3 ns, and half a nanosecond for each byte
    assert_eq!(finish(2, ["3ns", "500ps"]), [0.0, 53.0, 159.0]);
    // in LogGOPSim, the processor of rank 1 processes the bytes after its computation, and sends after that
    let at = Parameters::new(times, 1 << 20).unwrap();
    assert_eq!(run(&program, at).unwrap().finish, [0, 149, 149 + 10 + 99]);
}

/// Rank 0 sends 100 bytes to rank 1, which posts its receive at 20 ns. The limit of eager messages is 50 bytes. The latency L of 10 ns
/// includes 3 ns from the processor to the interface, and 2 ns for a completion event. A flit takes 1 ns, and a processor takes 5 ns for
/// a message.
#[test]
fn a_message_between_nodes_above_the_eager_limit_waits_for_a_reply() {
    let time = |text: &str| text.parse::<Time>().expect("a time");
    let times =
        [("L", "10ns"), ("o", "5ns"), ("g", "0ns"), ("G", "1ns"), ("O", "0ns")].map(|(name, of)| (name, time(of)));
    let [latency, gap_per_byte, injection, host, flit] = ["0ns", "0ns", "3ns", "2ns", "1ns"].map(time);
    let inside = NodeTimes { latency, gap_per_byte, injection, host, flit };
    let finish = |text: &str, ranks_per_node: u32| {
        let program = read(text.as_bytes());
        let (nodes, at) = Nodes::new(times, 50, (ranks_per_node, 1, false), &inside).unwrap();
        run_on(nodes, &program, &Arc::new(Rules::default()), at).unwrap().finish
    };
    let late = "num_ranks 2\nrank 0 {\nsend 100b to 1 tag 1\n}\nrank 1 {\nc: calc 20\nr: recv 100b from 0 tag 1\nr requires c\n}\n";
    // the request arrives at 5 + 10 = 15 ns; the processor of rank 1 computes until 20 ns, and handles the request until 25 ns
    let reply = 25 + (10 - 3) + 1;
    // the sender ends when 2 ns to its interface, the time of its data, and 2 ns for the completion event have passed; the
    // receiver ends when the last byte has arrived
    assert_eq!(finish(late, 1), [reply + 2 + 99 + 2, reply + 7 + 99]);
    // messages inside a node have no request
    assert_eq!(finish(late, 2), [5, 25]);
    // the send of an eager message does not wait for the receive
    assert_eq!(finish(&late.replace("100b", "50b"), 1), [5, 5 + 10 + 49 + 5]);
    // two messages leave one after the other, but their requests and replies overlap in time
    let two = "num_ranks 3\nrank 0 {\nsend 100b to 1 tag 1\nsend 100b to 2 tag 1\n}\nrank 1 {\nrecv 100b from 0 tag 1\n}\n\
               rank 2 {\nrecv 100b from 0 tag 1\n}\n";
    let reply = 5 + 10 + 5 + 7 + 1;
    assert_eq!(finish(two, 1), [reply + 2 + 2 * 99 + 2, reply + 99 + 7, reply + 2 * 99 + 7]);
}

/// Two messages have the same sender, receiver and tag, and only the first is above the eager limit of 50 bytes. The receiver is idle or
/// busy when both messages arrive. In both cases the first receive must match the first message. The computation of 5 us needs only the
/// second message. It begins before the data of the first message have arrived.
#[test]
fn a_message_between_nodes_does_not_overtake_a_request() {
    let time = |text: &str| text.parse::<Time>().expect("a time");
    let times =
        [("L", "10ns"), ("o", "0ns"), ("g", "0ns"), ("G", "1ns"), ("O", "0ns")].map(|(name, of)| (name, time(of)));
    let [latency, gap_per_byte, injection, host, flit] = ["0ns", "0ns", "0ns", "0ns", "20ns"].map(time);
    let inside = NodeTimes { latency, gap_per_byte, injection, host, flit };
    let finish = |busy: u64| {
        let text = format!(
            "num_ranks 2\nrank 0 {{\na: send 1000b to 1 tag 1\nb: send 10b to 1 tag 1\nb irequires a\n}}\n\
             rank 1 {{\nc: calc {busy}\na: recv 1000b from 0 tag 1\nb: recv 10b from 0 tag 1\nb irequires a\nd: calc 5000\nd requires b\n}}\n"
        );
        let (nodes, at) = Nodes::new(times, 50, (1, 1, false), &inside).unwrap();
        run_on(nodes, &read(text.as_bytes()), &Arc::new(Rules::default()), at).unwrap().finish[1]
    };
    // the second message arrives at 10 + 9 ns
    assert_eq!(finish(0), 10 + 9 + 5000);
    assert_eq!(finish(300), 300 + 5000);
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

/// A file that ATLAHS made for two ranks: a send of 1 MiB in 8 messages, and a ring all-reduce of 1 MiB in 4 messages per rank. From
/// message to message the tag grows by 10^9, so tags need more than 32 bits.
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
