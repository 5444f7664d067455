//! Tests of the VEF format: dependencies that were derived by hand, files that are read and written again, damaged files.

use crate::damage::rounds;
use crate::support::{finish, run};
use proptest::prelude::*;
use weft_programs::form::{Op, Operation, Program, When};
use weft_programs::loggops::Parameters;
use weft_programs::readers::{self, Format, vef::Vef};

/// A VEF trace of 4 tasks. It has a message in each direction between two tasks, and a barrier in one communicator. A broadcast from task
/// 2 is in another communicator, and a message follows it.
pub const EXAMPLE: &str = "VEF 4 3 2 2 6 FALSE
C0 0 1 2 3
C1 2 0
0 0 1 1024 0 1000 -1
1 1 2 2048 2 500 0
G0 0 6 0 0 0 1 100 0
G0 0 6 1 0 0 1 100 1
G0 0 6 2 0 0 2 50 1
G0 0 6 3 0 0 0 0 -1
G1 1 0 0 0 64 3 0 G0
2 0 3 8 3 7 G1
G1 1 0 2 64 0 3 0 G0
";

fn read(text: &str) -> Program {
    readers::of(text.as_bytes()).read("file", text.as_bytes()).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn refused(text: &str) -> String {
    Vef.read("file", text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn records_are_operations_behind_what_they_follow() {
    let program = read(EXAMPLE);
    let ops = &program.ranks[1].ops;
    // the operations of rank 1: the receive of message 0, a computation of 500 ns, the send of message 1, a computation of 100 ns, the
    // barrier
    let barrier = Op::collective(Operation::Barrier, 0, 0, 0);
    let wanted =
        [Op::receive(Some(0), 1024, Some(0)), Op::send(2, 2048, Some(1)), barrier, Op::compute(100), Op::compute(500)];
    assert_eq!(ops.ops(), wanted);
    let later = |op: u32| ops.successors(op, When::Finish).to_vec();
    assert_eq!([0, 4, 1, 3].map(later), [vec![4], vec![1], vec![3], vec![2]]);
    // task 2 is the first member of communicator 1, and the root of its broadcast
    let comm = &program.ranks[0].comms[0];
    assert_eq!((comm.members.to_vec(), comm.me), (vec![2, 0], 1));
    let broadcast = Op::collective(Operation::Broadcast, 0, 64, 0).within(1);
    assert!(program.ranks[0].ops.ops().contains(&broadcast) && program.ranks[2].ops.ops().contains(&broadcast));
}

#[test]
fn sends_that_follow_one_event_share_the_processor() {
    // o 10, L 100, no gaps: rank 0 computes 20 ns, sends at 20, computes from 30 to 60, and sends until 70; the messages arrive at 20 + 10
    // + 100 and 60 + 10 + 100, and a receive takes 10
    let at = Parameters {
        unit_fs: 1_000_000,
        latency: 100,
        overhead: 10,
        gap: 0,
        gap_per_byte: 0,
        overhead_per_byte: 0,
        eager: 9,
    };
    let text = "VEF 2 2 1 0 0 FALSE\nC0 0 1\n0 0 1 1 0 20 -1\n1 0 1 1 0 50 -1\n";
    assert_eq!(finish(text, at), [70, 180]);
}

#[test]
fn a_written_file_is_the_file_that_was_read() {
    // the writer puts each record after the record that it depends on. If a message or a collective could be next, it writes the message
    // first
    assert_eq!(String::from_utf8(Vef.write(&read(EXAMPLE)).unwrap()).unwrap(), EXAMPLE);
    let all = "VEF 2 0 1 7 14 TRUE
C0 0 1
G0 0 1 0 8 0 0 5 -1
G0 0 1 1 0 8 0 0 -1
G1 0 2 0 8 8 3 0 G0
G1 0 2 1 8 8 3 0 G0
G2 0 3 0 8 0 3 0 G1
G2 0 3 1 8 16 3 0 G1
G3 0 4 0 16 8 3 0 G2
G3 0 4 1 0 8 3 0 G2
G4 0 5 0 8 16 3 0 G3
G4 0 5 1 8 16 3 0 G3
G5 0 7 0 8 0 3 0 G4
G5 0 7 1 8 0 3 0 G4
G6 0 0 0 0 8 3 0 G5
G6 0 0 1 8 0 3 0 G5
";
    assert_eq!(String::from_utf8(Vef.write(&read(all)).unwrap()).unwrap(), all);
}

#[test]
fn what_the_format_can_not_hold_is_refused_with_its_place() {
    let message_of = |text: &str| Vef.write(&read(text)).unwrap_err().to_string();
    let goal = |of: &str| format!("num_ranks 2\nrank 0 {{\n{of}\n}}\nrank 1 {{\nrecv 8b from 0\n}}\n");
    let send = "s: send 8b to 1";
    let wrong = [
        (
            format!("a: calc 1\nb: calc 2\n{send}\ns requires a\ns requires b"),
            "rank 0, operation 2: this operation follows several others",
        ),
        (format!("{send}\na: calc 1\na requires s"), "rank 0, operation 1: no message follows the computation"),
        (
            format!("a: calc 1\n{send}\ns irequires a"),
            "rank 0, operation 0: another operation depends on the start of this one",
        ),
        ("calc 0\nsend 8b to 1 tag 3".to_owned(), "rank 0, operation 0: no message follows"),
        ("send 8b to 1 tag 3".to_owned(), "rank 1, operation 0: no send matches this receive"),
    ];
    for (of, start) in wrong {
        let found = message_of(&goal(&of));
        assert!(found.starts_with(start) && found.contains("write .goal"), "{of}: {found}");
    }
}

#[test]
fn wrong_lines_are_refused_with_their_number() {
    let wrong = [
        ("VEFX 1 0 1 0 0 TRUE\n", "file:1: the first line does not begin with VEF"),
        ("VEF 0 0 1 0 0 TRUE\n", "file:1: a trace needs 1 or more tasks"),
        ("VEF 4000000000 0 1 0 0 TRUE\n", "file:1: the file is too short for the numbers in its first line"),
        ("VEF 2 0 1 0 0 TRUE\nC0 1 0\n", "file:2: communicator C0 must have the tasks 0 to 1 in this order"),
        ("VEF 2 0 1 0 0 TRUE\nC0 0 2\n", "file:2: task 2 occurs twice, or is above the last task 1"),
        ("VEF 2 1 1 0 0 TRUE\nC0 0 1\n0 0 1 8 0\n", "file:3: a time [ns] is missing"),
        ("VEF 2 1 1 0 0 TRUE\nC0 0 1\n0 0 1 8 4 0 -1\n", "file:3: 4 is not a kind of dependency (0 to 3)"),
        ("VEF 2 1 1 0 0 TRUE\nC0 0 1\n1 0 1 8 0 0 -1\n", "file:3: found message 1 in the place of message 0"),
        ("VEF 2 2 1 0 0 TRUE\nC0 0 1\n0 0 1 8 0 0 -1\n", "file:1: the file has 1 messages, but its first line gives 2"),
        ("VEF 2 1 1 0 0 TRUE\nC0 0 1\n0 0 1 8 1 5 0\n", "file, task 0: a record is part of a cycle of dependencies"),
        (
            "VEF 2 1 1 0 0 TRUE\nC0 0 1\n0 0 1 8 2 5 0\n",
            "file, task 0: a record depends on the arrival of message 0, which this task does not have",
        ),
        ("VEF 2 0 1 0 0 TRUE\nC0 0 1\nG0 0 9 0 0 0 0 0 -1\n", "file:3: 9 is not a collective (0 to 7)"),
        ("VEF 2 0 1 0 0 TRUE\nC0 0 1\nG0 1 6 0 0 0 0 0 -1\n", "file:3: communicator 1 has no line"),
        ("VEF 2 0 1 1 0 TRUE\nC0 0 1\n", "file:1: the file has 0 collectives, but its first line gives 1"),
        (
            "VEF 2 0 1 1 2 TRUE\nC0 0 1\nG0 0 6 0 0 0 0 0 -1\n",
            "file:1: the file has 1 records of tasks in collectives, but its first line gives 2",
        ),
        (
            "VEF 2 0 1 1 1 TRUE\nC0 0 1\nG0 0 6 0 0 0 0 0 -1\n",
            "rank 1: collective 0 of communicator 0 is missing at this rank",
        ),
    ];
    for (text, start) in wrong {
        let found = refused(text);
        assert!(found.starts_with(start), "{text}: {found}");
    }
    for length in 0..EXAMPLE.len() - 1 {
        let read = Vef.read("file", &EXAMPLE.as_bytes()[..length]);
        // the header contains the number of lines, so the reader detects a missing line
        assert!(read.is_err() || EXAMPLE[length..].trim_end().bytes().all(|byte| byte.is_ascii_digit()), "{length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000 * rounds(), failure_persistence: None, ..ProptestConfig::default() })]

    /// After some bytes of a file have changed, the reader refuses the file, or its program can be written and read again.
    #[test]
    fn a_changed_file_never_panics(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5)) {
        let mut bytes = EXAMPLE.as_bytes().to_vec();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(program) = Vef.read("file", &bytes) {
            let _ = run(&program, crate::support::DEFAULTS);
            if let Ok(again) = Vef.write(&program) {
                prop_assert_eq!(Vef.write(&Vef.read("file", &again).unwrap()).unwrap(), again);
            }
        }
    }
}
