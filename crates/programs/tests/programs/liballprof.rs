//! Tests of the reader for liballprof traces, with calls that tests write, and with damaged files. `tests/test_traces.py` converts such
//! files with the command `weft trace`.

use crate::damage::rounds;
use crate::recorded::Memory;
use proptest::prelude::*;
use weft_programs::form::{Kind, Op, Operation};
use weft_programs::mpi::{Assumed, Converted};
use weft_programs::readers::liballprof::Liballprof;
use weft_programs::readers::traces::{Clock, TraceFormat};
use weft_units::Refusal;

pub const HEAD: &str = "# collprof 0.9 output file\n# Init clockdiff: 0.000000\n\nMPI_Init:-:140:141:1000.000000\n";
pub const END: &str = "MPI_Finalize:9000.5:-\n";

/// Reads a trace in which each rank has these lines between its first and its last line.
fn read(ranks: &[&str]) -> Result<Converted, Refusal> {
    let names = (0..ranks.len()).map(|rank| format!("pmpi-rank-{rank}.txt")).collect();
    let bytes = ranks.iter().map(|lines| format!("{HEAD}{lines}{END}").into_bytes()).collect();
    Liballprof.read(&mut Memory { names, bytes }, None)
}

fn ops(converted: &Converted, rank: usize) -> Vec<Op> {
    converted.program.ranks[rank].ops.ops().to_vec()
}

#[test]
fn calls_become_messages_collectives_and_the_time_between() {
    let sender = "MPI_Isend:1002.500000:9:10:2,4,4:1:7:0,0,2:800:1003.000000\n\
                  MPI_Waitall:1003.000000:2:800:6:1004.000000\n\
                  MPI_Bcast:1004.000000:9:3:11,8,8:0:0,0,2:1005.000000\n";
    let receiver = "MPI_Recv:1000.000000:9:10:2,4,4:0:-1:0,1,2:5:1003.000000\n\
                    MPI_Bcast:1004.000000:9:3:11,8,8:0:0,1,2:1005.000000\n";
    let converted = read(&[sender, receiver]).unwrap();
    // 1000.0 to 1002.5 us are 2,500 ns. The wait begins when the send returns, so there is no computation between them. 1005.0 to
    // 9000.5 us are 7,995,500 ns
    let broadcast = Op::collective(Operation::Broadcast, 0, 24, 0);
    let wanted = [Op::compute(2500), Op::send(1, 40, Some(7)), broadcast, Op::compute(7_995_500)];
    assert_eq!(ops(&converted, 0), wanted);
    let wanted = [Op::receive(Some(0), 40, None), Op::compute(1000), broadcast, Op::compute(7_995_500)];
    assert_eq!(ops(&converted, 1), wanted);
    let counted = |assumed: Assumed| converted.assumptions.get(&assumed).copied();
    assert_eq!([counted(Assumed::WildcardKept), counted(Assumed::WallClock)], [Some(1), Some(4)]);
}

#[test]
fn an_exchange_sends_and_receives_at_once_and_a_test_completes_nothing() {
    let of = |me: u32, other: u32| {
        format!(
            "MPI_Sendrecv:1000.0:9:1:1,4,4:{other}:0:9:1:1,4,4:{other}:0:7,{me},2:5:1001.0\n\
             MPI_Irecv:1001.0:9:1:1,4,4:{other}:3:7,{me},2:80:1001.0\n\
             MPI_Test:1001.0:80:1:5:1001.0\n\
             MPI_Send:1001.0:9:1:1,4,4:{other}:3:7,{me},2:1002.0\n"
        )
    };
    let converted = read(&[&of(0, 1), &of(1, 0)]).unwrap();
    let messages: Vec<Op> = ops(&converted, 0).into_iter().filter(|op| op.kind() != Kind::Compute).collect();
    let (receive, send) = (|tag| Op::receive(Some(1), 4, Some(tag)), |tag| Op::send(1, 4, Some(tag)));
    assert_eq!(messages, [receive(0), send(0), receive(3), send(3)]);
    assert_eq!(converted.assumptions.get(&Assumed::NeverCompleted), Some(&2));
}

#[test]
fn wrong_lines_are_refused_with_their_number_and_a_remedy() {
    let message_of = |line: &str| read(&[line]).unwrap_err().to_string();
    let wrong = [
        (
            "MPI_Foo:1000:1001\n",
            "pmpi-rank-0.txt:5: from this line on the file has calls that Weft does not support: 1 MPI_Foo",
        ),
        ("hello\n", "pmpi-rank-0.txt:5: the line does not begin with MPI_"),
        ("MPI_Send:1000.0:9:1:1,4,4:0\n", "pmpi-rank-0.txt:5: the clock runs backwards at this call, by 1000000 ns"),
        ("MPI_Send:1000.0:9:1:1,4,4:1001.0\n", "pmpi-rank-0.txt:5: field 5 is `1001.0`, which is not a number"),
        ("MPI_Send:1000.0:9:1:4:0:0:0,0,1:1001.0\n", "pmpi-rank-0.txt:5: field 4 is `4`, but must be 3 numbers"),
        ("MPI_Barrier:900.0:0,0,1:1001.0\n", "pmpi-rank-0.txt:5: the clock runs backwards at this call, by 100000 ns"),
        (
            "MPI_Barrier:1000.0:5,0,2:1001.0\n",
            "pmpi-rank-0.txt:5: the communicator of the call has 2 ranks, but there are files of 1 ranks",
        ),
    ];
    for (line, start) in wrong {
        let found = message_of(line);
        assert!(found.starts_with(start), "{line}: {found}");
    }
    let refused = Liballprof
        .read(&mut Memory { names: vec!["a-0.txt".into()], bytes: vec![HEAD.into()] }, Some(Clock::Processor));
    assert!(refused.unwrap_err().to_string().contains("convert with --clock wall"));
    let cut = Liballprof.read(
        &mut Memory {
            names: vec!["a-0.txt".into()],
            bytes: vec![format!("{HEAD}MPI_Barrier:1000.0:0,0,1:1001.0").into()],
        },
        None,
    );
    assert!(cut.unwrap_err().to_string().contains("the file ends within a line"));
    let alone = |text: String| {
        let mut files = Memory { names: vec!["a-0.txt".into()], bytes: vec![text.into_bytes()] };
        Liballprof.read(&mut files, None).unwrap_err().to_string()
    };
    assert!(alone(HEAD.into()).starts_with("a-0.txt: the file ends before MPI_Finalize"));
    let newer = alone(format!("{}{END}", HEAD.replace("0.9", "1.0")));
    assert!(
        newer.starts_with("a-0.txt:1: the first line is `# collprof 1.0 output file`, but Weft reads only version 0.9")
    );
}

/// Lines of 4 ranks that split all ranks into even and odd ranks, with descending keys, and call barriers on the two new communicators.
/// The ranks of a new communicator have different numbers (handles) for it.
fn halves(more: impl Fn(u32) -> String) -> Vec<String> {
    let of = |rank: u32| {
        let (handle, place) = (7000 + rank, 1 - rank / 2);
        format!(
            "MPI_Comm_dup:1000.0:5,{rank},4:90:1000.0\nMPI_Comm_split:1000.0:5,{rank},4:{}:-{rank}:80:1000.0\n\
             MPI_Type_commit:1000.0:9:1000.0\nMPI_Barrier:1000.0:{handle},{place},2:1000.0\n\
             MPI_Bcast:1000.0:9:3:11,8,8:1:{handle},{place},2:1000.0\n{}",
            rank % 2,
            more(rank)
        )
    };
    (0..4).map(of).collect()
}

fn read_owned(lines: &[String]) -> Result<Converted, Refusal> {
    read(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn members_of_a_split_follow_from_the_colours_and_keys_of_all_ranks() {
    // the trace also has the creation of a communicator of all 4 ranks, which no later call uses
    let converted = read_owned(&halves(|_| String::new())).unwrap();
    for rank in 0..4 {
        let of = &converted.program.ranks[rank];
        let calls: Vec<Op> = ops(&converted, rank).into_iter().filter(|op| op.kind() != Kind::Compute).collect();
        let comm = calls[0].comm();
        let barrier = Op::collective(Operation::Barrier, 0, 0, 0).within(comm);
        assert_eq!(calls, [barrier, Op::collective(Operation::Broadcast, 1, 24, 1).within(comm)]);
        let members = &of.comms[usize::from(comm) - 1].members;
        assert_eq!(members.to_vec(), if rank % 2 == 0 { [2, 0] } else { [3, 1] });
    }
}

#[test]
fn communicators_that_do_not_follow_are_refused_with_the_calls_on_them() {
    let message_of = |more: &dyn Fn(u32) -> String| read_owned(&halves(more)).unwrap_err().to_string();
    // a barrier uses a second handle for a communicator of 2 ranks, although the trace has only one creation of such a communicator
    let found = message_of(&|rank| format!("MPI_Barrier:1000.0:{},{},2:1000.0\n", 8000 + rank, 1 - rank / 2));
    let wanted = "the trace: 0 communicators of rank 0 have 2 ranks and this rank at place 1, so Weft can't find the members for \
                  1 MPI_Barrier (record the program";
    assert!(found.starts_with(wanted), "{found}");
    // the trace has two equal splits before the calls on the communicator of one of them, so two communicators match
    let lines: Vec<String> = halves(|_| String::new())
        .into_iter()
        .map(|lines| {
            let split = lines.lines().find(|line| line.starts_with("MPI_Comm_split")).unwrap().to_owned();
            format!("{split}\n{lines}")
        })
        .collect();
    let found = read_owned(&lines).unwrap_err().to_string();
    let wanted = "the trace: 2 communicators of rank 0 have 2 ranks and this rank at place 1, so Weft can't find the members for \
                  1 MPI_Barrier, 1 MPI_Bcast";
    assert!(found.starts_with(wanted), "{found}");
    let found = message_of(&|rank| {
        let split = format!("MPI_Comm_split:1000.0:5,{rank},4:{}:0:80:1000.0\n", rank % 2);
        format!("MPI_Comm_free:1000.0:80:1000.0\n{split}MPI_Barrier:1000.0:{},{},2:1000.0\n", 7000 + rank, rank / 2)
    });
    assert!(
        found.contains("a communicator was created after the end of another one and may have the same number"),
        "{found}"
    );
    let found = message_of(&|rank| {
        format!("MPI_Cart_create:1000.0:5,{rank},4:2:1:2:0:3:1000.0\nMPI_Foo:1000.0:1000.0\n").repeat(2)
    });
    assert!(
        found.contains(
            ":10: from this line on the file has calls that Weft does not support: 2 MPI_Cart_create, 2 MPI_Foo"
        ),
        "{found}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000 * rounds(), failure_persistence: None, ..ProptestConfig::default() })]

    /// Lines with random fields in random order never cause a panic.
    #[test]
    fn any_fields_never_panic(
        name in prop::sample::select(vec!["Send", "Recv", "Isend", "Irecv", "Wait", "Waitall", "Sendrecv", "Bcast", "Reduce",
            "Allreduce", "Allgather", "Alltoall", "Gather", "Scatter", "Scan", "Barrier", "Finalize", "Init", "Foo"]),
        fields in prop::collection::vec(prop::sample::select(vec!["1", "-1", "0", "2,4,4", "0,0,1", "9223372036854775807",
            "4294967295", "", ",", "x", "-"]), 0..14),
    ) {
        let line = format!("MPI_{name}:1000.0:{}:1001.0\n", fields.join(":"));
        let _ = read(&[&line]);
    }
}
