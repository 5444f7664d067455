//! Passes the calls of one DUMPI file to a recorder of calls.

use super::stream::{Record, Status, Stream};
use super::types::Types;
use crate::form::Operation;
use crate::mpi::{Assumed, Completion, Group, Handles, How, Peer, Problem, Recorder};
use crate::readers::timer::{Clocks, Timer};
use crate::readers::trace_files::Clock;
use std::collections::BTreeMap;
use weft_units::Refusal;

/// Numbers that the format uses for the predefined communicators.
const HANDLES: Handles = Handles { world: 2, own: 3, none: 1 };
const NO_REQUEST: i64 = 1;
const ANY: i64 = -1;
/// Prefixes of the names of calls that move data without messages (one-sided communication), or between programs.
const REFUSED: [&str; 10] = [
    "Accumulate",
    "Get",
    "Put",
    "Win_",
    "Intercomm_",
    "Comm_accept",
    "Comm_connect",
    "Comm_join",
    "Comm_remote_",
    "Grequest_",
];
/// Calls whose names have one of these prefixes, but which move no data.
const ASKS: [&str; 5] = ["Get_count", "Get_elements", "Get_processor_name", "Get_version", "Get_address"];

/// Reads the file of one rank.
pub fn rank(file: &str, bytes: &[u8], clock: Option<Clock>) -> Result<Recorder, Refusal> {
    let mut stream = Stream::open(file, bytes)?;
    let mut types = Types::new(std::mem::take(&mut stream.sizes));
    let mut record = Record::default();
    let mut recorder = Recorder::new(HANDLES);
    let mut timer = Timer::new(clock);
    let mut refused: BTreeMap<&str, u64> = BTreeMap::new();
    while stream.next(&mut record)? {
        let Some(call) = record.call() else { continue };
        let at = |(what, help): Problem| stream.refusal(record.place, &what, &help);
        let clocks = Clocks { processor: record.cpu, wall: record.wall, unrecorded: [0, 0] };
        timer.compute(&clocks, &mut recorder).map_err(at)?;
        if record.thread > 0 {
            recorder.assume(Assumed::Thread);
        }
        if REFUSED.iter().any(|begin| call.name.starts_with(begin)) && !ASKS.contains(&call.name) {
            *refused.entry(call.name).or_default() += 1;
            continue;
        }
        types.take(call.name, &record);
        let call = Call { record: &record, types: &types };
        call.take(&mut recorder).map_err(at)?;
    }
    if !refused.is_empty() {
        let calls: Vec<String> = refused.iter().map(|(name, count)| format!("{count} MPI_{name}")).collect();
        let what = format!("the trace has calls that move data without messages: {}", calls.join(", "));
        return Err(Refusal::new(file, what, "record a variant of the program that sends messages"));
    }
    recorder.end();
    Ok(recorder)
}

/// A call with its arguments.
struct Call<'a> {
    record: &'a Record,
    types: &'a Types,
}

impl Call<'_> {
    fn int(&self, argument: usize) -> i64 {
        self.record.int(argument)
    }

    /// Returns the size of `count` items of a datatype \[bytes\].
    fn bytes_of(&self, count: i64, datatype: i64) -> Result<u64, Problem> {
        let size = self.types.size(datatype).ok_or_else(|| {
            let what = format!(
                "no recorded call creates datatype {datatype}, and the table of the file has only {} sizes",
                self.types.len()
            );
            (what, "record the program from its start".to_owned())
        })?;
        Ok(u64::try_from(count).unwrap_or(0).saturating_mul(size))
    }

    /// Returns the bytes of the items that argument `argument` counts. The next argument is their datatype.
    fn bytes(&self, argument: usize) -> Result<u64, Problem> {
        self.bytes_of(self.int(argument), self.int(argument + 1))
    }

    /// Returns the bytes of the items for each count of a list. `datatype` is one datatype for all counts, or a list with
    /// one for each count.
    fn list(&self, counts: usize, datatype: usize) -> Result<Vec<u64>, Problem> {
        let types = self.record.list(datatype);
        let of = |(place, &count): (usize, &i64)| {
            self.bytes_of(
                count,
                if types.len() > 1 { types.get(place).copied().unwrap_or(0) } else { self.int(datatype) },
            )
        };
        self.record.list(counts).iter().enumerate().map(of).collect()
    }

    /// Returns peer, bytes and tag of a message, for calls whose first arguments are count, datatype, peer and tag.
    fn message(&self, is_receive: bool) -> Result<(Peer, u64, Option<u32>), Problem> {
        Ok((peer(self.int(2), is_receive), self.bytes(0)?, tag(self.int(3), is_receive)?))
    }

    fn root(&self, argument: usize) -> Result<u32, Problem> {
        u32::try_from(self.int(argument)).map_err(|_| {
            let what = format!("the root is {}: this is a collective between two programs", self.int(argument));
            (what, "record a variant of the program without communicators between programs".to_owned())
        })
    }

    fn done(&self, argument: usize) -> Option<Completion> {
        self.record.statuses(argument).next().map(completion)
    }

    /// Passes this call to the recorder.
    fn take(&self, recorder: &mut Recorder) -> Result<(), Problem> {
        let Some(call) = self.record.call() else { return Ok(()) };
        match call.name {
            "Send" | "Bsend" | "Ssend" | "Rsend" => {
                let (peer, bytes, tag) = self.message(false)?;
                recorder.send(peer, bytes, tag, self.int(4))
            }
            "Recv" => {
                let (peer, bytes, tag) = self.message(true)?;
                recorder.receive(peer, bytes, tag, self.int(4), self.done(5))
            }
            "Isend" | "Ibsend" | "Issend" | "Irsend" => {
                recorder.start(false, false, self.message(false)?, self.int(4), self.int(5))
            }
            "Irecv" => recorder.start(true, false, self.message(true)?, self.int(4), self.int(5)),
            "Send_init" | "Bsend_init" | "Ssend_init" | "Rsend_init" => {
                recorder.start(false, true, self.message(false)?, self.int(4), self.int(5))
            }
            "Recv_init" => recorder.start(true, true, self.message(true)?, self.int(4), self.int(5)),
            "Sendrecv" => {
                let send = self.message(false)?;
                let receive = (peer(self.int(6), true), self.bytes(4)?, tag(self.int(7), true)?);
                recorder.exchange(send, receive, self.int(8), self.done(9))
            }
            "Sendrecv_replace" => {
                let send = self.message(false)?;
                let receive = (peer(self.int(4), true), send.1, tag(self.int(5), true)?);
                recorder.exchange(send, receive, self.int(6), self.done(7))
            }
            name if name.starts_with("File_") => {
                recorder.assume(Assumed::FileCall);
                Ok(())
            }
            _ if self.completes(call.name, recorder) || self.makes_group(call.name, recorder)? => Ok(()),
            name => self.collective(name, recorder),
        }
    }

    /// Records completions and other calls on requests. Returns `false` if the call is of a different kind.
    fn completes(&self, name: &str, recorder: &mut Recorder) -> bool {
        let all = |recorder: &mut Recorder, statuses: usize| {
            let mut statuses = self.record.statuses(statuses);
            for &request in self.record.list(1) {
                complete(recorder, request, statuses.next());
            }
        };
        let one = |recorder: &mut Recorder, statuses: usize| {
            let requests = self.record.list(1);
            let request = usize::try_from(self.int(2)).ok().and_then(|index| requests.get(index));
            if let Some(&request) = request {
                complete(recorder, request, self.record.statuses(statuses).next());
            }
        };
        match name {
            "Wait" => complete(recorder, self.int(0), self.record.statuses(1).next()),
            "Test" if self.int(1) != 0 => complete(recorder, self.int(0), self.record.statuses(2).next()),
            "Waitall" => all(recorder, 2),
            "Testall" if self.int(2) != 0 => all(recorder, 3),
            "Waitany" => one(recorder, 3),
            "Testany" if self.int(3) != 0 => one(recorder, 4),
            "Waitsome" | "Testsome" => {
                let mut statuses = self.record.statuses(4);
                for &index in self.record.list(3) {
                    let request = usize::try_from(index).ok().and_then(|index| self.record.list(1).get(index));
                    let status = statuses.next();
                    if let Some(&request) = request {
                        complete(recorder, request, status);
                    }
                }
            }
            "Test" | "Testall" | "Testany" => {}
            "Request_free" => recorder.free(self.int(0)),
            "Cancel" => recorder.cancel(self.int(0)),
            "Start" => recorder.restart(self.int(0)),
            "Startall" => self.record.list(1).iter().for_each(|&request| recorder.restart(request)),
            "Probe" => recorder.assume(Assumed::Probe),
            _ => return false,
        }
        true
    }

    /// Records calls on groups and communicators. Returns `false` if the call is of a different kind.
    fn makes_group(&self, name: &'static str, recorder: &mut Recorder) -> Result<bool, Problem> {
        let (first, second) = (self.int(0), self.int(1));
        let numbers = |argument: usize| self.record.list(argument).to_vec();
        match name {
            "Comm_group" => recorder.group_of(first, second)?,
            "Group_incl" => recorder.keep_group(self.int(3), Group::Including(recorder.group(first), numbers(2))),
            "Group_excl" => recorder.keep_group(self.int(3), Group::Excluding(recorder.group(first), numbers(2))),
            "Group_range_incl" => {
                recorder.keep_group(self.int(3), Group::Including(recorder.group(first), ranges(&numbers(2))?))
            }
            "Group_range_excl" => {
                recorder.keep_group(self.int(3), Group::Excluding(recorder.group(first), ranges(&numbers(2))?))
            }
            "Group_union" => {
                recorder.keep_group(self.int(2), Group::Union(recorder.group(first), recorder.group(second)))
            }
            "Group_intersection" => {
                recorder.keep_group(self.int(2), Group::Intersection(recorder.group(first), recorder.group(second)));
            }
            "Group_difference" => {
                recorder.keep_group(self.int(2), Group::Difference(recorder.group(first), recorder.group(second)));
            }
            "Comm_dup" => recorder.create("Comm_dup", first, How::Duplicate, second)?,
            "Comm_create" => recorder.create("Comm_create", first, How::Group(recorder.group(second)), self.int(2))?,
            "Comm_split" => {
                let new = self.int(3);
                let colour = (new != HANDLES.none).then_some(second);
                recorder.create("Comm_split", first, How::Split { colour, key: self.int(2) }, new)?;
            }
            "Cart_create" => {
                let grid = self.record.list(2).iter().map(|&width| u32::try_from(width).unwrap_or(0)).collect();
                recorder.create("Cart_create", first, How::Grid(grid), self.int(5))?;
            }
            "Graph_create" => {
                let nodes = u32::try_from(self.int(2)).unwrap_or(0);
                recorder.create("Graph_create", second, How::Grid(vec![nodes]), self.int(6))?;
            }
            "Cart_sub" => {
                let kept = self.record.list(2).iter().map(|&kept| kept != 0).collect();
                recorder.create("Cart_sub", second, How::Rows(kept), self.int(3))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Records collectives. All other calls only return information, and change nothing.
    fn collective(&self, name: &str, recorder: &mut Recorder) -> Result<(), Problem> {
        use Operation::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter};
        match name {
            "Barrier" => recorder.collective(Barrier, 0, 0, self.int(0)),
            "Bcast" => recorder.collective(Broadcast, self.root(2)?, self.bytes(0)?, self.int(3)),
            "Reduce" => recorder.collective(Reduce, self.root(3)?, self.bytes(0)?, self.int(4)),
            "Allreduce" => recorder.collective(AllReduce, 0, self.bytes(0)?, self.int(3)),
            "Scan" | "Exscan" => recorder.scan(self.bytes(0)?, self.int(3)),
            "Allgather" => recorder.collective(AllGather, 0, self.bytes(2)?, self.int(4)),
            "Alltoall" => recorder.collective(AllToAll, 0, self.bytes(2)?, self.int(4)),
            "Gather" | "Scatter" => {
                // only the root has recorded a count and a datatype for the blocks of its peers. For other ranks, the count
                // and datatype of their own block are used
                let bytes = if self.record.list(5).is_empty() { self.bytes(1)? } else { self.bytes(5)? };
                let operation = if name == "Gather" { Gather } else { Scatter };
                recorder.collective(operation, self.root(3)?, bytes, self.int(4))
            }
            "Gatherv" => {
                let sizes = if self.int(0) == self.int(4) { Some(self.list(6, 8)?) } else { None };
                recorder.blocks(Gather, self.root(4)?, sizes, self.int(5))
            }
            "Scatterv" => {
                let sizes = if self.int(0) == self.int(5) { Some(self.list(7, 2)?) } else { None };
                recorder.blocks(Scatter, self.root(5)?, sizes, self.int(6))
            }
            "Allgatherv" => recorder.blocks(AllGather, 0, Some(self.list(3, 5)?), self.int(6)),
            "Reduce_scatter" => recorder.blocks(ReduceScatter, 0, Some(self.list(1, 2)?), self.int(4)),
            "Alltoallv" | "Alltoallw" => recorder.exchange_blocks(self.list(1, 3)?, self.list(4, 6)?, self.int(7)),
            _ => Ok(()),
        }
    }
}

fn complete(recorder: &mut Recorder, request: i64, status: Option<Status>) {
    if request > NO_REQUEST {
        recorder.complete(request, status.map(completion));
    }
}

fn completion(status: Status) -> Completion {
    Completion {
        peer: peer(status.source, false),
        tag: u32::try_from(status.tag).unwrap_or(0),
        bytes: u64::try_from(status.bytes).unwrap_or(0),
        is_cancelled: status.is_cancelled,
    }
}

/// Converts a rank number of MPI. A negative number means any source, or no rank.
fn peer(number: i64, is_receive: bool) -> Peer {
    match u32::try_from(number) {
        Ok(number) => Peer::Rank(number),
        Err(_) if is_receive && number == ANY => Peer::Any,
        Err(_) => Peer::Nobody,
    }
}

fn tag(number: i64, is_receive: bool) -> Result<Option<u32>, Problem> {
    match u32::try_from(number) {
        Ok(number) => Ok(Some(number)),
        Err(_) if is_receive && number == ANY => Ok(None),
        Err(_) => Err((format!("{number} is not a tag"), "the file is damaged: copy it again".to_owned())),
    }
}

/// Returns the ranks that are given as triples of first rank, last rank and stride.
fn ranges(numbers: &[i64]) -> Result<Vec<i64>, Problem> {
    let mut ranks = Vec::new();
    for triple in numbers.chunks_exact(3) {
        let (first, last, stride) = (triple[0], triple[1], triple[2]);
        let steps = if stride == 0 { -1 } else { (last - first) / stride };
        if !(0..1 << 24).contains(&steps) {
            let what = format!("the range from rank {first} to rank {last} with stride {stride} is invalid");
            return Err((what, "the file is damaged: copy it again".to_owned()));
        }
        ranks.extend((0..=steps).map(|step| first + step * stride));
    }
    Ok(ranks)
}
