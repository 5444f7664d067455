//! liballprof: calls that tests write, damaged files. `tests/test_traces.py` reads recordings.

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

/// Reads a trace whose ranks have these lines between their first and last.
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
    // 1000.0 to 1002.5 us are 2500 ns; the wait begins when the send returns; 1005.0 to 9000.5 us are 7,995,500 ns
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
    let told = |line: &str| read(&[line]).unwrap_err().to_string();
    let wrong = [
        ("MPI_Foo:1000:1001\n", "pmpi-rank-0.txt:5: MPI_Foo is no call that this reader knows"),
        ("hello\n", "pmpi-rank-0.txt:5: the line does not begin with MPI_"),
        ("MPI_Send:1000.0:9:1:1,4,4:0\n", "pmpi-rank-0.txt:5: the clock runs backwards here, by 1000000 ns"),
        ("MPI_Send:1000.0:9:1:1,4,4:1001.0\n", "pmpi-rank-0.txt:5: field 5 is `1001.0`, which is no number"),
        ("MPI_Send:1000.0:9:1:4:0:0:0,0,1:1001.0\n", "pmpi-rank-0.txt:5: field 4 is `4`, and should be 3 numbers"),
        ("MPI_Barrier:900.0:0,0,1:1001.0\n", "pmpi-rank-0.txt:5: the clock runs backwards here, by 100000 ns"),
        ("MPI_Barrier:1000.0:5,0,2:1001.0\n", "pmpi-rank-0.txt:5: the call is of place 0 in a communicator of 2 ranks"),
    ];
    for (line, start) in wrong {
        let found = told(line);
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
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000 * rounds(), failure_persistence: None, ..ProptestConfig::default() })]

    /// Fields in any order.
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
