//! Tests of the reader for DUMPI traces: comparison of each record with the dump of DUMPI's own tools, calls that tests write, damaged
//! files.

use crate::damage::rounds;
use crate::recorded::{Arg, Memory, Rank, convert};
use proptest::prelude::*;
use std::fmt::Write;
use weft_programs::form::{Kind, Op, Operation};
use weft_programs::mpi::{Assumed, Converted};
use weft_programs::readers::dumpi::Dumpi;
use weft_programs::readers::dumpi::stream::{Record, Stream, Times};
use weft_programs::readers::traces::{Clock, TraceFormat};

const ISEND: u16 = 8;
const IRECV: u16 = 12;
const WAIT: u16 = 13;

fn data(name: &str) -> Vec<u8> {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/traces/sst_dumpi_selftest").join(name);
    std::fs::read(&path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

pub fn selftest() -> Memory {
    let mut names: Vec<String> = (0..4).map(|rank| format!("testtrace-{rank:04}.bin")).collect();
    names.push("testtrace.meta".into());
    let bytes = names.iter().map(|name| data(name)).collect();
    Memory { names, bytes }
}

/// Writes a record as text in the form of `dumpi2ascii`, to compare it with the reference dump. The function supports only the calls that
/// the reference dump contains.
fn dumped(record: &Record) -> String {
    let call = record.call().unwrap();
    let seconds = |ns: u64| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    let mut text = String::new();
    let clocks = |text: &mut String, word: &str, which: fn(Times) -> u64| {
        let [wall, cpu] = [record.wall, record.cpu].map(|times| seconds(which(times.unwrap())));
        let _ = writeln!(
            text,
            "MPI_{} {word} at walltime {wall}, cputime {cpu} seconds in thread {}.",
            call.name, record.thread
        );
    };
    clocks(&mut text, "entering", |times| times[0]);
    let int = |k: usize| record.int(k);
    let named = |names: &[(i64, &str)], number: i64| names.iter().find(|name| name.0 == number).unwrap().1.to_owned();
    let datatype = |number: i64| format!("MPI_Datatype datatype={number} ({})\n", named(&[(9, "MPI_INT")], number));
    let comm = |number: i64| format!("MPI_Comm comm={number} ({})\n", named(&[(2, "MPI_COMM_WORLD")], number));
    let status = |k: usize| match record.statuses(k).next() {
        None => "MPI_Status status=<IGNORED>\n".to_owned(),
        Some(status) => format!(
            "MPI_Status status=[{{bytes={}, cancelled={}, source={}, tag={}, error={}}}]\n",
            status.bytes,
            u8::from(status.is_cancelled),
            status.source,
            status.tag,
            status.error
        ),
    };
    text += &match call.name {
        // the dump contains the number of command-line arguments, but the reader joins these arguments into one text
        "Init" => {
            let words = String::from_utf8(record.list(0).iter().map(|&byte| byte as u8).collect()).unwrap();
            format!("int argc=1\nstring argv[1]=[\"{words}\"]\n")
        }
        "Comm_rank" => format!("{}int rank={}\n", comm(int(0)), int(1)),
        "Comm_size" => format!("{}int size={}\n", comm(int(0)), int(1)),
        "Barrier" => comm(int(0)),
        "Isend" | "Recv" => {
            let (peer, last) = match call.name {
                "Isend" => ("dest", format!("MPI_Request request=[{}]\n", int(5))),
                _ => ("source", status(5)),
            };
            let (count, tag) = (int(0), int(3));
            format!(
                "int count={count}\n{}int {peer}={}\nint tag={tag}\n{}{last}",
                datatype(int(1)),
                int(2),
                comm(int(4))
            )
        }
        "Wait" => format!("MPI_Request request=[{}]\n{}", int(0), status(1)),
        "Allreduce" => {
            let op = named(&[(3, "MPI_SUM")], int(2));
            format!("int count={}\n{}MPI_Op op={} ({op})\n{}", int(0), datatype(int(1)), int(2), comm(int(3)))
        }
        "Finalize" => String::new(),
        name => panic!("the reference dump has no MPI_{name}"),
    };
    clocks(&mut text, "returning", |times| times[1]);
    text
}

#[test]
fn the_reference_dump_is_met_record_by_record() {
    let (file, wanted) = (data("testtrace-0000.bin"), String::from_utf8(data("testtrace-0000.txt")).unwrap());
    let (wanted, facts) = wanted.split_once("meshcrd=[]\n").unwrap().1.split_once("Total keyvals: 0\n").unwrap();
    let mut stream = Stream::open("testtrace-0000.bin", &file).unwrap();
    assert_eq!(stream.version, [1, 0, 0]);
    let (mut record, mut found, mut records) = (Record::default(), String::new(), 0);
    while stream.next(&mut record).unwrap() {
        found += &dumped(&record);
        records += 1;
    }
    assert_eq!(found, wanted);
    assert_eq!(records, wanted.matches(" entering at ").count());
    let sizes: Vec<u32> = facts
        .lines()
        .filter(|line| line.starts_with("Datatype "))
        .map(|line| line.rsplit_once(' ').unwrap().1.trim_end_matches('.').parse().unwrap())
        .collect();
    assert_eq!(stream.sizes, sizes);
}

#[test]
fn the_reference_trace_is_a_ring_with_two_collectives() {
    let Converted { program, assumptions } = Dumpi.read(&mut selftest(), None).unwrap();
    for (rank, of) in (0..).zip(&program.ranks) {
        let messages: Vec<Op> = of.ops.ops().iter().copied().filter(|op| op.kind() != Kind::Compute).collect();
        let world = [
            Op::collective(Operation::Barrier, 0, 0, 0),
            Op::send((rank + 1) % 4, 4, Some(1337)),
            Op::receive(Some((rank + 3) % 4), 4, Some(1337)),
            Op::collective(Operation::AllReduce, 0, 4, 1),
        ];
        assert_eq!(messages, world);
    }
    assert_eq!(assumptions.keys().collect::<Vec<_>>(), [&Assumed::ProcessorClock]);
    // wall-clock time: at rank 0, MPI_Init ends at .737670 s, and MPI_Comm_rank begins at .737694 s, 24 us later
    let wall = Dumpi.read(&mut selftest(), Some(Clock::Wall)).unwrap();
    assert_eq!(wall.program.ranks[0].ops.op(0), Op::compute(24_000));
}

/// Arguments of an `MPI_Irecv` or `MPI_Isend` of one item of datatype 8, which has 8 bytes.
pub fn irecv(from: i32, tag: i32, comm: u16, request: i32) -> [Arg<'static>; 6] {
    [Arg::Int(1), Arg::Half(8), Arg::Int(from), Arg::Int(tag), Arg::Half(comm), Arg::Int(request)]
}

fn messages(converted: &Converted, rank: usize) -> Vec<Op> {
    converted.program.ranks[rank].ops.ops().iter().copied().filter(|op| op.kind() != Kind::Compute).collect()
}

#[test]
fn wildcards_get_the_source_of_their_status_and_cancelled_receives_are_left_out() {
    let mut ranks = [Rank::new(), Rank::new()];
    ranks[0].call(IRECV, &irecv(-1, -1, 2, 5)).call(IRECV, &irecv(-1, -1, 2, 6));
    ranks[0].call(WAIT, &[Arg::Int(5), Arg::Statuses(&[(8, 1, false, 3)])]);
    ranks[0].call(24, &[Arg::Int(6)]).call(WAIT, &[Arg::Int(6), Arg::Statuses(&[(0, -1, true, -1)])]);
    ranks[1].call(ISEND, &irecv(0, 3, 2, 5)).call(WAIT, &[Arg::Int(5), Arg::Statuses(&[])]);
    let converted = convert(&Dumpi, &ranks, None).unwrap();
    assert_eq!(messages(&converted, 0), [Op::receive(Some(1), 8, Some(3))]);
    assert_eq!(converted.assumptions.get(&Assumed::Cancelled), Some(&1));
    let notes = converted.notes();
    assert_eq!((notes[0].code, notes[0].count), ("cancelled", 1));
    // the receive is from any source. Without a status of its completion the source stays unknown
    let mut ranks = [Rank::new(), Rank::new()];
    ranks[0].call(IRECV, &irecv(-1, 3, 2, 5)).call(WAIT, &[Arg::Int(5), Arg::Statuses(&[])]);
    ranks[1].call(0, &irecv(0, 3, 2, 0)[..5]);
    let converted = convert(&Dumpi, &ranks, None).unwrap();
    assert_eq!(messages(&converted, 0), [Op::receive(None, 8, Some(3))]);
    assert_eq!(converted.assumptions.get(&Assumed::WildcardKept), Some(&1));
}

/// HPC Challenge cancels receives from any source and ignores the statuses. A message may have matched such a receive before the receive
/// was cancelled.
#[test]
fn a_cancelled_receive_without_a_status_takes_the_send_that_no_other_receive_meets() {
    let mut ranks = [Rank::new(), Rank::new()];
    for request in [5, 6] {
        ranks[0].call(IRECV, &irecv(-1, -1, 2, request));
    }
    for request in [5, 6] {
        ranks[0].call(24, &[Arg::Int(request)]).call(WAIT, &[Arg::Int(request), Arg::Statuses(&[])]);
    }
    ranks[1].call(0, &irecv(0, 3, 2, 0)[..5]);
    let converted = convert(&Dumpi, &ranks, None).unwrap();
    assert_eq!(messages(&converted, 0), [Op::receive(Some(1), 8, Some(3))]);
    assert_eq!(messages(&converted, 1), [Op::send(0, 8, Some(3))]);
    let counted = |assumed: Assumed| converted.assumptions.get(&assumed).copied();
    use Assumed::{Cancelled, CancelledLate, SendUnmatched};
    assert_eq!([Cancelled, CancelledLate, SendUnmatched].map(counted), [Some(1), Some(1), None]);
    // both cancelled receives match the send. But the first receive must complete before the barrier, and the send is posted after the
    // barrier, so the second receive gets the message
    let mut ranks = [Rank::new(), Rank::new()];
    for request in [5, 6] {
        ranks[0].call(IRECV, &irecv(-1, -1, 2, request)).call(24, &[Arg::Int(request)]);
        ranks[0].call(WAIT, &[Arg::Int(request), Arg::Statuses(&[])]).call(52, &[Arg::Half(2)]);
    }
    ranks[1].call(52, &[Arg::Half(2)]).call(0, &irecv(0, 3, 2, 0)[..5]).call(52, &[Arg::Half(2)]);
    let converted = convert(&Dumpi, &ranks, None).unwrap();
    assert_eq!(messages(&converted, 0)[1], Op::receive(Some(1), 8, Some(3)));
    // a cancelled receive with another tag than the send matches no message
    let mut ranks = [Rank::new(), Rank::new()];
    ranks[0].call(IRECV, &irecv(-1, 4, 2, 5)).call(24, &[Arg::Int(5)]);
    ranks[0].call(WAIT, &[Arg::Int(5), Arg::Statuses(&[])]);
    ranks[1].call(0, &irecv(0, 3, 2, 0)[..5]);
    let converted = convert(&Dumpi, &ranks, None).unwrap();
    assert_eq!(converted.assumptions.get(&SendUnmatched), Some(&1));
    assert!(messages(&converted, 0).is_empty() && messages(&converted, 1).is_empty());
}

#[test]
fn operations_without_their_other_end_or_their_completion_are_counted() {
    let mut ranks = [Rank::new(), Rank::new()];
    // the trace has three faults: a send without a receive; a receive without a send and without a completion; a wait for a request that
    // no call has started
    ranks[0].call(ISEND, &irecv(1, 3, 2, 5)).call(WAIT, &[Arg::Int(5), Arg::Statuses(&[])]);
    ranks[0].call(IRECV, &irecv(1, 4, 2, 6)).call(WAIT, &[Arg::Int(9), Arg::Statuses(&[])]);
    let converted = convert(&Dumpi, &ranks, None).unwrap();
    let counted = |assumed: Assumed| converted.assumptions.get(&assumed).copied().unwrap_or(0);
    use Assumed::{NeverCompleted, ReceiveUnmatched, SendUnmatched, StartNotRecorded};
    assert_eq!([SendUnmatched, ReceiveUnmatched, NeverCompleted, StartNotRecorded].map(counted), [1; 4]);
    assert!(messages(&converted, 0).is_empty());
}

#[test]
fn a_request_that_several_sends_share_is_completed_once_for_each() {
    let mut ranks = [Rank::new(), Rank::new()];
    ranks[0].call(ISEND, &irecv(1, 3, 2, 5)).call(ISEND, &irecv(1, 4, 2, 5));
    for _ in 0..2 {
        ranks[0].call(WAIT, &[Arg::Int(5), Arg::Statuses(&[])]);
    }
    for tag in [3, 4] {
        ranks[1].call(1, &[Arg::Int(1), Arg::Half(8), Arg::Int(0), Arg::Int(tag), Arg::Half(2), Arg::Statuses(&[])]);
    }
    let converted = convert(&Dumpi, &ranks, None).unwrap();
    // this trace has no .meta file
    assert_eq!(converted.assumptions.keys().collect::<Vec<_>>(), [&Assumed::ProcessorClock, &Assumed::RanksOfFiles]);
    assert_eq!(messages(&converted, 1), [Op::receive(Some(0), 8, Some(3)), Op::receive(Some(0), 8, Some(4))]);
}

#[test]
fn persistent_requests_start_again_and_a_datatype_keeps_its_size_when_its_number_is_used_again() {
    let mut ranks = [Rank::new(), Rank::new()];
    // datatype 20 is defined twice: as 3 items of 8 bytes, and after it is freed as 5 items of 8 bytes
    for rank in &mut ranks {
        rank.call(35, &[Arg::Int(3), Arg::Half(8), Arg::Half(20)]);
    }
    let send = |peer: i32| [Arg::Int(1), Arg::Half(20), Arg::Int(peer), Arg::Int(7), Arg::Half(2), Arg::Int(4)];
    ranks[0].call(26, &send(1));
    ranks[1].call(30, &send(0));
    for rank in &mut ranks {
        for _ in 0..2 {
            rank.call(32, &[Arg::Int(1), Arg::Ints(&[4])])
                .call(18, &[Arg::Int(1), Arg::Ints(&[4]), Arg::Statuses(&[])]);
        }
        rank.call(47, &[Arg::Half(20)]).call(35, &[Arg::Int(5), Arg::Half(8), Arg::Half(20)]);
        rank.call(65, &[Arg::Int(1), Arg::Half(20), Arg::Byte(3), Arg::Half(2)]);
    }
    let converted = convert(&Dumpi, &ranks, None).unwrap();
    let wanted = [Op::send(1, 24, Some(7)), Op::send(1, 24, Some(7)), Op::collective(Operation::AllReduce, 0, 40, 0)];
    assert_eq!(messages(&converted, 0), wanted);
}

#[test]
fn rows_of_a_grid_exchange_blocks_of_their_own_sizes() {
    let mut ranks: Vec<Rank> = (0..4).map(|_| Rank::new()).collect();
    for (rank, of) in (0i32..).zip(&mut ranks) {
        of.call(99, &[Arg::Half(2), Arg::Int(2), Arg::Ints(&[2, 2]), Arg::Ints(&[0, 0]), Arg::Int(0), Arg::Half(4)]);
        of.call(111, &[Arg::Int(2), Arg::Half(4), Arg::Ints(&[0, 1]), Arg::Half(5)]);
        // the rank at index `me` of a row sends items of 8 bytes: 1 + `me` to the first rank of the row, and 3 + `me` to the second
        let me = rank % 2;
        let (sends, receives) = ([1 + me, 3 + me], if me == 0 { [1, 2] } else { [3, 4] });
        let types: &[u16] = &[8, 8];
        let zero: &[i32] = &[0, 0];
        let args = [
            Arg::Int(2),
            Arg::Ints(&sends),
            Arg::Ints(zero),
            Arg::Halves(types),
            Arg::Ints(&receives),
            Arg::Ints(zero),
            Arg::Halves(types),
            Arg::Half(5),
        ];
        of.call(155, &args);
    }
    let converted = convert(&Dumpi, &ranks, None).unwrap();
    for (rank, of) in converted.program.ranks.iter().enumerate() {
        let op = of.ops.ops().iter().find(|op| op.kind() == Kind::Collective(Operation::AllToAll)).unwrap();
        let row = rank as u32 / 2 * 2;
        assert_eq!(of.comms[usize::from(op.comm()) - 1].members.to_vec(), [row, row + 1]);
        // the list of sizes is ordered by sender, then by receiver
        assert_eq!(of.ops.sizes(op.sizes()).unwrap().to_vec(), [8, 24, 16, 32]);
    }
    assert!(!converted.assumptions.contains_key(&Assumed::SizesOfReceivers));
}

#[test]
fn what_can_not_be_converted_is_refused_with_place_and_remedy() {
    let message_of = |ranks: &[Rank]| convert(&Dumpi, ranks, None).unwrap_err().to_string();
    let mut one_sided = Rank::new();
    one_sided.call(146, &[Arg::Byte(0), Arg::Half(1)]).call(146, &[Arg::Byte(0), Arg::Half(1)]);
    assert!(message_of(&[one_sided]).contains("calls that move data without messages: 2 MPI_Win_fence"));
    let mut backwards = Rank::new();
    backwards.call(52, &[Arg::Half(2)]);
    *backwards.now.borrow_mut() = 3;
    backwards.call(52, &[Arg::Half(2)]);
    // the first record is at byte 16 and has 2 + 1 + 4 * 6 + 2 bytes; its call ends at 5 ns, and the next begins at 3 ns
    let found = message_of(&[backwards]);
    assert!(
        found.starts_with("t-0000.bin, byte 45: the processor clock runs backwards at this call, by 2 ns"),
        "{found}"
    );
    let mut unknown = Rank::new();
    unknown.call(128, &[]);
    assert!(message_of(&[unknown]).contains("byte 16: Weft does not know the layout of MPI_Pcontrol"));
    let mut no_parent = Rank::new();
    no_parent.call(52, &[Arg::Half(7)]);
    assert!(message_of(&[no_parent]).contains("communicator 1 of rank 0 is used, but no recorded call creates it"));
    let mut far = Rank::new();
    far.call(0, &irecv(5, 3, 2, 0)[..5]);
    assert!(message_of(&[far]).contains("a call names rank 5, but its communicator has 1 ranks"));
    let mut no_size = Rank::new();
    no_size.call(0, &[Arg::Int(1), Arg::Half(99), Arg::Int(0), Arg::Int(0), Arg::Half(2)]);
    assert!(
        message_of(&[no_size])
            .contains("no recorded call creates datatype 99, and the table of the file has only 16 sizes")
    );
}

#[test]
fn a_trace_without_a_rank_names_it() {
    let message_of = |change: fn(&mut Memory)| {
        let mut files = selftest();
        change(&mut files);
        Dumpi.read(&mut files, None).unwrap_err().to_string()
    };
    assert!(
        message_of(|files| _ = (files.names.remove(2), files.bytes.remove(2)))
            .contains("the file of rank 2 is missing")
    );
    assert!(
        message_of(|files| _ = (files.names.remove(3), files.bytes.remove(3)))
            .contains("the file of rank 3 is missing")
    );
    let twice = message_of(|files| {
        files.names.push("other-0001.bin".into());
        files.bytes.push(Vec::new());
    });
    assert!(twice.contains("testtrace-0001.bin and other-0001.bin both belong to rank 1"), "{twice}");
    // without a .meta file a missing rank is not detected, and the conversion reports this assumption
    let mut files = selftest();
    files.names.pop();
    files.bytes.pop();
    let converted = Dumpi.read(&mut files, None).unwrap();
    assert_eq!(converted.assumptions.get(&Assumed::RanksOfFiles), Some(&4));
    assert!(message_of(|files| files.bytes[4] = b"hostname=x".to_vec()).contains("no line `numprocs=N`"));
}

#[test]
fn a_version_whose_layouts_are_not_known_is_refused() {
    let mut files = selftest();
    let bytes = &mut files.bytes[1];
    // the position of the header is the fourth entry from the end of the index, and the header begins with the version
    let place = bytes.len() - 32;
    let header = u64::from_be_bytes(bytes[place..place + 8].try_into().unwrap()) as usize;
    for (version, wanted) in
        [([13, 200, 9], None), ([14, 0, 0], Some("only up to 13")), ([0, 6, 8], Some("only 0.6.9 and later"))]
    {
        files.bytes[1][header..header + 3].copy_from_slice(&version);
        let found = Dumpi.read(&mut files, None).err().map(|refused| refused.to_string());
        assert_eq!(found.is_some(), wanted.is_some());
        assert!(found.unwrap_or_default().contains(wanted.unwrap_or_default()), "{version:?}");
    }
}

#[test]
fn every_beginning_of_a_file_is_refused_with_its_place() {
    let whole = data("testtrace-0001.bin");
    for length in 0..whole.len() {
        let mut files = selftest();
        files.bytes[1].truncate(length);
        let refused = Dumpi.read(&mut files, None).unwrap_err();
        assert!(refused.path.starts_with("testtrace-0001.bin, byte "), "{length}: {refused}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000 * rounds(), failure_persistence: None, ..ProptestConfig::default() })]

    /// Files with some changed bytes are refused, or are read as valid programs.
    #[test]
    fn a_changed_trace_never_panics(
        changes in prop::collection::vec((0usize..4, any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut files = selftest();
        for (file, place, byte) in changes {
            let place = place.index(files.bytes[file].len());
            files.bytes[file][place] = byte;
        }
        let _ = Dumpi.read(&mut files, None);
        let _ = Dumpi.read(&mut files, Some(Clock::Wall));
    }

    /// Random calls with random numbers as arguments never cause a panic.
    #[test]
    fn any_calls_never_panic(calls in prop::collection::vec((0u16..294, prop::collection::vec(prop_oneof![0u8..3, any::<u8>()], 0..60)), 0..6)) {
        let mut rank = Rank::new();
        for (number, bytes) in &calls {
            let bytes: Vec<Arg<'_>> = bytes.iter().map(|&byte| Arg::Byte(byte)).collect();
            rank.call(*number, &bytes);
        }
        let _ = convert(&Dumpi, &[rank], None);
    }
}
