//! Tests of the reader for recordings by Weft's own library (`capture/`), with records that tests write, and with
//! damaged files. `tests/test_traces.py` reads a real recording.

use crate::damage::rounds;
use crate::recorded::Memory;
use proptest::prelude::*;
use weft_programs::form::{Kind as Of, Op, Operation, When};
use weft_programs::mpi::{Assumed, Converted};
use weft_programs::readers::capture::Capture;
use weft_programs::readers::capture::stream::Kind;
use weft_programs::readers::traces::{Clock, TraceFormat};
use weft_units::Refusal;

/// The recording of one rank, to which a test adds calls. Each call begins 10 ns after the previous one and takes 5 ns.
#[derive(Clone)]
struct File {
    bytes: Vec<u8>,
    now: u64,
    sums: [i64; 4],
}

const END: Kind = Kind::Finalize;

impl File {
    fn new(rank: u32, ranks: u32) -> Self {
        let mut bytes = b"WEFTCAP\0".to_vec();
        [1, rank, ranks, 0].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.extend(77u64.to_le_bytes());
        Self { bytes, now: 100, sums: [0; 4] }.call(Kind::Init, &[])
    }

    fn call(mut self, kind: Kind, words: &[i64]) -> Self {
        let number = Kind::ALL.iter().find(|each| each.1 == kind).unwrap().0;
        self.raw(number, 0, words);
        let is_message = |of: &[Kind], peer: usize| of.contains(&kind) && words[peer] != -2;
        if is_message(&[Kind::Send, Kind::Isend, Kind::Sendrecv], 1) {
            self.sums[0] += 1;
            self.sums[1] += words[3];
        }
        let source = if kind == Kind::Sendrecv { 4 } else { 1 };
        self.sums[2] += i64::from(is_message(&[Kind::Recv, Kind::Irecv, Kind::Sendrecv], source));
        self.sums[3] += i64::from(number >= 32);
        self
    }

    fn raw(&mut self, number: u16, thread: u16, words: &[i64]) {
        self.bytes.extend(number.to_le_bytes());
        self.bytes.extend(thread.to_le_bytes());
        self.bytes.extend((words.len() as u32).to_le_bytes());
        for clock in [self.now, self.now + 5, 2 * self.now, 2 * self.now + 10] {
            self.bytes.extend(clock.to_le_bytes());
        }
        self.now += 15;
        words.iter().for_each(|word| self.bytes.extend(word.to_le_bytes()));
    }

    fn end(self) -> Vec<u8> {
        let sums = self.sums;
        self.call(END, &sums).bytes
    }
}

fn read_all(bytes: Vec<Vec<u8>>, clock: Option<Clock>) -> Result<Converted, Refusal> {
    let names = (0..bytes.len()).map(|rank| format!("rank-{rank:05}.wcap")).collect();
    Capture.read(&mut Memory { names, bytes }, clock)
}

fn read(files: &[File]) -> Converted {
    read_all(files.iter().map(|file| file.clone().end()).collect(), None).unwrap()
}

fn message_of(bytes: Vec<Vec<u8>>) -> String {
    read_all(bytes, None).unwrap_err().to_string()
}

/// All operations of a rank except computations.
fn ops(converted: &Converted, rank: usize) -> Vec<Op> {
    converted.program.ranks[rank].ops.ops().iter().copied().filter(|op| op.kind() != Of::Compute).collect()
}

#[test]
fn wildcards_take_their_source_from_the_status_and_messages_to_nobody_are_none() {
    let receiver = File::new(0, 2)
        .call(Kind::Recv, &[0, -1, -1, 64, 1, 9, 8])
        .call(Kind::Recv, &[0, -2, 9, 64, -2, -1, 0])
        .call(Kind::Irecv, &[0, -1, 5, 64, 1000])
        .call(Kind::Complete, &[1000, 1, 5, 16, 0])
        .call(Kind::Irecv, &[0, 1, 5, 64, 1000])
        .call(Kind::Cancel, &[1000])
        .call(Kind::Complete, &[1000, -1, -1, 0, 1]);
    let sender = File::new(1, 2).call(Kind::Send, &[0, 0, 9, 8]).call(Kind::Send, &[0, 0, 5, 16]);
    let converted = read(&[receiver, sender.call(Kind::Send, &[0, -2, 5, 16])]);
    assert_eq!(ops(&converted, 0), [Op::receive(Some(1), 8, Some(9)), Op::receive(Some(1), 16, Some(5))]);
    assert_eq!(ops(&converted, 1), [Op::send(0, 8, Some(9)), Op::send(0, 16, Some(5))]);
    assert_eq!(converted.assumptions.get(&Assumed::Cancelled), Some(&1));
}

#[test]
fn computations_are_the_times_between_calls_without_those_of_unsuccessful_tests() {
    // the processor clock runs twice as fast as the wall clock: 10 ns between two calls are 20 ns of processor time
    let polls = File::new(0, 1).call(Kind::Poll, &[2, 3, 4]).call(Kind::Pause, &[1, 2]);
    let file = polls.call(Kind::Barrier, &[0, 0]);
    let computed = |clock: Option<Clock>| {
        let converted = read_all(vec![file.clone().end()], clock).unwrap();
        converted.program.ranks[0].ops.ops().iter().copied().filter(|op| op.kind() == Of::Compute).collect::<Vec<_>>()
    };
    // In this test each of the two records (`Poll` and `Pause`) takes 15 ns on the wall clock, like a call. So there
    // are 10 + 15 + 15 = 40 ns between the calls around these records.
    assert_eq!(computed(Some(Clock::Wall)), [Op::compute(40 - 3 - 1), Op::compute(10)]);
    assert_eq!(computed(None), [Op::compute(80 - 4 - 2), Op::compute(20)]);
    let converted = read_all(vec![file.clone().end()], None).unwrap();
    assert_eq!(converted.assumptions.get(&Assumed::NotRecorded), Some(&1));
}

#[test]
fn communicators_have_the_ranks_that_they_list() {
    // ranks 1 and 0 of the program are ranks 0 and 1 of the communicator. The communicator has a different number at
    // each rank
    let of = |rank: u32, number: i64, peer: i64| {
        let file = File::new(rank, 2).call(Kind::Comm, &[number, 1, 0]);
        file.call(Kind::Sendrecv, &[number, peer, 3, 8, peer, 3, 8, peer, 3, 8])
            .call(Kind::Bcast, &[number, 0, 1, 32])
            .call(Kind::Bcast, &[1, 0, 0, 32])
    };
    let converted = read(&[of(0, 2, 0), of(1, 5, 1)]);
    assert_eq!(&*converted.program.ranks[0].comms[0].members, [1, 0]);
    assert_eq!(converted.program.ranks[0].comms[0].number, converted.program.ranks[1].comms[0].number);
    let own = &converted.program.ranks[0].comms[1];
    assert_eq!(&*own.members, [0], "MPI_COMM_SELF");
    assert_eq!(ops(&converted, 0)[2], Op::collective(Operation::Broadcast, 1, 32, 0).within(1));
    let lone = File::new(0, 2).call(Kind::Comm, &[2, 0, 1]);
    let found = message_of(vec![lone.end(), File::new(1, 2).end()]);
    assert!(found.contains("rank 0 creates a communicator with rank 1, but that rank does not create it"), "{found}");
}

#[test]
fn a_non_blocking_collective_overlaps_the_computation_up_to_its_completion() {
    let file = File::new(0, 1)
        .call(Kind::Allreduce, &[0, 500, 8])
        .call(Kind::Complete, &[500, 0, 0, 0, 0])
        .call(Kind::Barrier, &[0, 0]);
    let converted = read(&[file]);
    let ops = &converted.program.ranks[0].ops;
    let place = |wanted: Op| ops.ops().iter().position(|op| *op == wanted).unwrap() as u32;
    let (reduce, barrier) =
        (place(Op::collective(Operation::AllReduce, 0, 8, 0)), place(Op::collective(Operation::Barrier, 0, 0, 1)));
    // the operations: compute, all-reduce, compute, compute after the completion of the all-reduce, barrier
    assert_eq!(ops.successors(reduce, When::Start), [reduce + 1]);
    assert_eq!(ops.successors(reduce, When::Finish), [barrier - 1]);
}

#[test]
fn blocks_of_collectives_come_from_the_ranks_that_know_them() {
    let of = |rank: u32, gathered: &[i64], sends: [i64; 2], receives: [i64; 2]| {
        let words: Vec<i64> = [0, 0, 0].iter().chain(gathered).copied().collect();
        let exchange = [&[0, 0][..], &sends, &receives].concat();
        File::new(rank, 2)
            .call(Kind::Gatherv, &words)
            .call(Kind::Alltoallv, &exchange)
            .call(Kind::ReduceScatter, &[0, 0, 0, 4, 12])
    };
    let converted = read(&[of(0, &[4, 8], [1, 2], [1, 3]), of(1, &[], [3, 4], [2, 4])]);
    let sizes = |rank: usize, place: usize| {
        let of = &converted.program.ranks[rank].ops;
        of.sizes(ops(&converted, rank)[place].sizes()).map(|sizes| sizes.to_vec())
    };
    for rank in 0..2 {
        assert_eq!(sizes(rank, 0), Some(vec![4, 8]));
        assert_eq!(sizes(rank, 1), Some(vec![1, 2, 3, 4]));
        assert_eq!(sizes(rank, 2), Some(vec![4, 12]));
    }
}

#[test]
fn what_the_recording_lacks_is_listed_and_refused() {
    let text = |name: &str| -> Vec<i64> {
        let mut bytes = name.as_bytes().to_vec();
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.chunks(8).map(|word| i64::from_le_bytes(word.try_into().unwrap())).collect()
    };
    let mut file = File::new(0, 1).call(Kind::Refused, &text("MPI_Win_create"));
    file = file.call(Kind::Refused, &text("MPI_Win_create")).call(Kind::Refused, &text("MPI_Mprobe"));
    file.raw(99, 0, &[1, 2]);
    file.raw(16, 1, &[0, 0, 0, 8]);
    let found = message_of(vec![file.end()]);
    let wanted = "rank-00000.wcap: the program made calls that the recording does not contain: 1 MPI_Mprobe, 2 \
                  MPI_Win_create, 1 calls of a second thread, 1 records of kind 99, which this version of Weft does not know";
    assert!(found.starts_with(wanted), "{found}");
}

#[test]
fn damaged_sets_are_refused_with_the_place_and_a_remedy() {
    let good = |rank: u32, ranks: u32| File::new(rank, ranks).call(Kind::Barrier, &[0, 0]).end();
    let whole = good(0, 1);
    let change = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        vec![bytes]
    };
    let mut unended = File::new(0, 1).bytes;
    let wrong = [
        (change(8, 2), "rank-00000.wcap: the file has version 2 of the format, but Weft reads only version 1"),
        (change(12, 4), "rank-00000.wcap: the header of the file gives rank 4 of 1 ranks, which does not exist"),
        (vec![good(0, 2)], "the trace: the trace has 2 ranks, but the file of rank 1 is missing"),
        (
            vec![good(0, 2), good(0, 2)],
            "rank-00001.wcap: the file is a recording of rank 0, which is not the rank in its name",
        ),
        (
            vec![good(0, 2), change(0, b'W').remove(0)],
            "rank-00001.wcap: the file is from another run than rank-00000.wcap",
        ),
        (vec![unended.clone()], "rank-00000.wcap: the file ends before MPI_Finalize"),
        // the file has a header of 32 bytes; a record has 40 bytes plus 8 bytes per word
        (vec![whole[..whole.len() - 1].to_vec()], "rank-00000.wcap, byte 128: the file ends within this record"),
        (change(32 + 40 + 4, 1), "rank-00000.wcap, byte 72: a record of Barrier has the wrong length: 1 words"),
        (
            change(128 + 40 + 24, 9),
            "rank-00000.wcap, byte 128: the records have [0, 0, 0, 1] sends, sent bytes, receives and collectives",
        ),
        // the barrier begins at 230 ns of processor time
        (change(72 + 24, 1), "rank-00000.wcap, byte 72: the processor clock runs backwards at this call, by 209 ns"),
    ];
    for (bytes, start) in wrong {
        let found = message_of(bytes);
        assert!(found.starts_with(start), "{found}");
        assert!(found.ends_with(')'), "a remedy: {found}");
    }
    unended.truncate(20);
    assert!(
        message_of(vec![unended])
            .starts_with("rank-00000.wcap: the file has 20 bytes and does not begin with the header of a recording")
    );
    let again = [&whole[..], &whole[32..]].concat();
    assert!(message_of(vec![again]).contains("a record follows MPI_Finalize"));
}

/// Recordings of two ranks that contain every kind of record.
pub fn every_kind() -> Vec<Vec<u8>> {
    let of = |rank: u32| {
        let peer = i64::from(1 - rank);
        File::new(rank, 2)
            .call(Kind::Comm, &[2, 0, 1])
            .call(Kind::File, &[])
            .call(Kind::Sendrecv, &[2, peer, 1, 8, -1, -1, 64, peer, 1, 8])
            .call(Kind::Irecv, &[0, -1, 3, 8, 50])
            .call(Kind::Isend, &[0, peer, 3, 8, 51])
            .call(Kind::Complete, &[50, peer, 3, 8, 0, 51, -1, -1, 0, 0])
            .call(Kind::SendInit, &[2, peer, 4, 8, 60])
            .call(Kind::RecvInit, &[2, peer, 4, 8, 61])
            .call(Kind::Start, &[60, 61])
            .call(Kind::Poll, &[1, 2, 3])
            .call(Kind::Complete, &[60, 0, 0, 0, 0, 61, peer, 4, 8, 0])
            .call(Kind::RequestFree, &[60])
            .call(Kind::Cancel, &[61])
            .call(Kind::Probe, &[])
            .call(Kind::Send, &[0, -2, 1, 8])
            .call(Kind::Recv, &[0, -2, 1, 8, -2, -1, 0])
            .call(Kind::Barrier, &[2, 0])
            .call(Kind::Bcast, &[0, 0, 1, 8])
            .call(Kind::Reduce, &[0, 0, 1, 8])
            .call(Kind::Gather, &[0, 0, 1, 8])
            .call(Kind::Scatter, &[0, 0, 1, 8])
            .call(Kind::Allreduce, &[2, 70, 8])
            .call(Kind::Allgather, &[2, 0, 8])
            .call(Kind::Alltoall, &[2, 0, 8])
            .call(Kind::Complete, &[70, 0, 0, 0, 0])
            .call(Kind::Gatherv, &[0, 0, 0, 4, 8])
            .call(Kind::Scatterv, &[0, 0, 0, 4, 8])
            .call(Kind::Allgatherv, &[0, 0, 0, 4, 8])
            .call(Kind::ReduceScatter, &[0, 0, 0, 4, 8])
            .call(Kind::Alltoallv, &[0, 0, 1, 2, 1, 2])
            .call(Kind::Scan, &[2, 0, 8])
            .end()
    };
    vec![of(0), of(1)]
}

#[test]
fn a_file_with_every_kind_of_record_is_read() {
    let kinds = every_kind().concat();
    let converted = read_all(every_kind(), None).unwrap();
    assert!(kinds.len() > 1000 && converted.program.ops() > 60);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000 * rounds(), failure_persistence: None, ..ProptestConfig::default() })]

    /// Changed and truncated files are refused, or are read as programs.
    #[test]
    fn changed_files_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut files = every_kind();
        for (place, byte) in changes {
            let place = place.index(files[0].len());
            files[0][place] = byte;
        }
        if is_cut {
            let length = cut.index(files[0].len());
            files[0].truncate(length);
        }
        let _ = read_all(files, None);
    }
}
