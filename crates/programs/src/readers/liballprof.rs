//! Traces of liballprof. A trace has the MPI calls of each rank as lines of text.
//!
//! # Source
//! T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim" (HPDC 2010). Its generator `schedgen` reads these files (`spcl/LogGOPSim`,
//! `src/Schedgen/process_trace.cpp`). The reader uses the same fields as `schedgen`.
//!
//! # Parameters
//! None, because the files have only wall-clock times, in microseconds. Sizes are bytes.
//!
//! # Guarantees
//! The reader reads a file in one pass. Each line must be a call with all its fields. Otherwise the reader refuses the
//! trace, and the refusal names the line. A program can split a communicator of all ranks (`MPI_Comm_split`). The
//! reader then computes the members of the new communicators from the colours and keys of all ranks. For a later call,
//! the trace contains only the size of the communicator and the number of the rank in it. The reader refuses the trace
//! unless exactly one communicator from these splits has this size and this rank at this number.
//!
//! # Not modelled
//! Communicators that are made from split communicators, grids or groups, because the files do not contain their
//! members. The reader refuses traces with calls on these communicators, and lists the calls. Completions by
//! `MPI_Test`: the files do not contain whether a test completed its request. In the program, no operation then
//! waits for the request.
//!
//! # Validation
//! `programs/tests/programs/liballprof.rs` checks calls that tests write, members of splits, and damaged files. `tests/test_traces.py`
//! converts files that tests write, with the command `weft trace`. No recording of a real program is tested.

use super::trace_files::{Clock, Files, TraceFormat, by_rank, number_of};
use crate::form::Operation;
use crate::mpi::{self, Assumed, Converted, Handles, How, Peer, Problem, Recorder};
use std::collections::BTreeMap;
use weft_units::Refusal;

/// The reader for liballprof traces.
pub struct Liballprof;

/// The first line of a file begins with this text, in every version.
const HEAD: &[u8] = b"# collprof";
/// The first line of a file begins with this text, if the file has the supported version.
const VERSION: &[u8] = b"# collprof 0.9 ";
/// Numbers that this reader uses for the predefined communicators.
const HANDLES: Handles = Handles { world: 0, own: 1, none: 2 };
/// Distance in memory between successive requests of an array \[bytes\]. The trace identifies a request by its address.
const REQUEST: u32 = 8;
/// Names of calls that move no data and have no effect on later calls.
const IGNORED: [&str; 17] = [
    "Init",
    "Init_thread",
    "Initialized",
    "Finalize",
    "Finalized",
    "Comm_size",
    "Comm_rank",
    "Comm_group",
    "Get_count",
    "Iprobe",
    "Test",
    "Testall",
    "Wtime",
    "Wtick",
    "Get_processor_name",
    "Get_address",
    "Address",
];
/// Prefixes of the names of further calls without effect. Calls that make datatypes have no effect, because the trace has the size of
/// the datatype in each call that uses it.
const IGNORED_KINDS: [&str; 6] = ["Type_", "Group_", "Op_", "Info_", "Errhandler_", "Attr_"];
/// This reader numbers communicators that the program creates from `CREATED`. Communicators that later calls use have numbers from
/// `NAMED`, because the trace does not contain which creation they belong to.
const CREATED: i64 = 16;
const NAMED: i64 = i64::MIN;

impl TraceFormat for Liballprof {
    fn name(&self) -> &'static str {
        "liballprof"
    }

    fn fits(&self, _name: &str, head: &[u8]) -> bool {
        head.starts_with(HEAD)
    }

    fn read(&self, files: &mut dyn Files, clock: Option<Clock>) -> Result<Converted, Refusal> {
        match clock {
            None | Some(Clock::Wall) => {}
            Some(Clock::Processor) => {
                let what = "files of liballprof have no times of the processor clock";
                return Err(Refusal::new("the trace", what, "convert with --clock wall"));
            }
        }
        let names = files.names().to_vec();
        let rank_of = |name: &str| {
            let (_, ending) = name.rsplit_once('.')?;
            number_of(name, &format!(".{ending}")).map(|(_, rank)| rank)
        };
        let places = by_rank(&names, None, rank_of)?;
        let mut recorders = Vec::with_capacity(places.len());
        for (rank, &place) in places.iter().enumerate() {
            let bytes = files.load(place)?;
            recorders.push(read_rank(&names[place], &bytes, (rank as i64, places.len() as i64))?);
        }
        mpi::assemble(recorders)
    }
}

/// Reads the file of one rank. `(rank, ranks)` are the number of this rank and the number of all ranks.
fn read_rank(file: &str, bytes: &[u8], (rank, ranks): (i64, i64)) -> Result<Recorder, Refusal> {
    let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if bytes.starts_with(HEAD) && !first.starts_with(VERSION) {
        let what = format!("the first line is `{}`, but Weft reads only version 0.9", first.escape_ascii());
        return Err(Refusal::new(format!("{file}:1"), what, OTHERWISE));
    }
    let mut recorder = Recorder::new(HANDLES);
    let mut last = None;
    let mut is_ended = false;
    let mut comms = Comms::default();
    let mut unknown: BTreeMap<&str, u64> = BTreeMap::new();
    let mut first_unknown = 0;
    for (line, text) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let at = |(what, help): Problem| Refusal::new(format!("{file}:{}", line + 1), what, help);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.is_empty() || text[0] == b'#' {
            continue;
        }
        let text = std::str::from_utf8(text).map_err(|_| at(damaged("the line is not text")))?;
        let mut fields = text.split(':');
        let name = fields.next().unwrap_or_default();
        let name = name.strip_prefix("MPI_").ok_or_else(|| at(damaged("the line does not begin with MPI_")))?;
        let mut call = Call { name, fields: fields.collect(), rank, ranks, comms: &mut comms };
        is_ended = name == "Finalize";
        call.time(&mut last, name, &mut recorder).map_err(at)?;
        if !call.take(&mut recorder).map_err(at)? {
            first_unknown = if unknown.is_empty() { line + 1 } else { first_unknown };
            *unknown.entry(name).or_default() += 1;
        }
    }
    if !unknown.is_empty() {
        let calls: Vec<String> = unknown.iter().map(|(name, count)| format!("{count} MPI_{name}")).collect();
        let what = format!("from this line on the file has calls that Weft does not support: {}", calls.join(", "));
        return Err(Refusal::new(format!("{file}:{first_unknown}"), what, OTHERWISE));
    }
    if !is_ended {
        let what =
            if bytes.ends_with(b"\n") { "the file ends before MPI_Finalize" } else { "the file ends within a line" };
        return Err(Refusal::new(file, what, "copy the file again; if the program was stopped, record a complete run"));
    }
    recorder.end();
    Ok(recorder)
}

/// The remedy for recordings that lack information.
const OTHERWISE: &str = "record the program with the library of `capture`, or with DUMPI";

fn damaged(what: &str) -> Problem {
    (what.to_owned(), "the file is cut off or damaged: copy it again".to_owned())
}

/// The communicators that a rank has created so far.
#[derive(Default)]
struct Comms {
    created: i64,
    is_freed: bool,
    /// True if a communicator was created after another one was freed, because the two can have the same number.
    is_reused: bool,
}

/// A call with its fields after the name: begin time, arguments, end time.
struct Call<'a> {
    name: &'a str,
    fields: Vec<&'a str>,
    rank: i64,
    ranks: i64,
    comms: &'a mut Comms,
}

impl Call<'_> {
    /// Returns a field as a whole number.
    fn int(&self, field: usize) -> Result<i64, Problem> {
        let text = self.fields.get(field).ok_or_else(|| {
            damaged(&format!("the call has {} fields, but needs {} or more", self.fields.len(), field + 1))
        })?;
        text.parse().map_err(|_| damaged(&format!("field {} is `{text}`, which is not a number", field + 1)))
    }

    /// Returns the number at index `part` of a field that has several numbers, separated by commas.
    fn part(&self, field: usize, part: usize) -> Result<i64, Problem> {
        let text = self.fields.get(field).copied().unwrap_or_default();
        let number = text.split(',').nth(part).and_then(|number| number.parse().ok());
        number.ok_or_else(|| damaged(&format!("field {} is `{text}`, but must be 3 numbers", field + 1)))
    }

    /// Converts a time in microseconds to nanoseconds.
    fn ns(text: &str) -> Option<u64> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
        whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(digits.parse().ok()?)
    }

    /// Records the computation since the end of the previous call.
    fn time(&self, last: &mut Option<u64>, name: &str, recorder: &mut Recorder) -> Result<(), Problem> {
        let wrong = |text: &str| damaged(&format!("`{text}` is not a time"));
        let [Some(begin), Some(end)] = [self.fields.first(), self.fields.last()] else {
            return Err(damaged("the call has no times"));
        };
        let end = match *end {
            "-" if name == "Finalize" => None,
            text => Some(Self::ns(text).ok_or_else(|| wrong(text))?),
        };
        let begin = match *begin {
            "-" if name == "Init" => end,
            text => Some(Self::ns(text).ok_or_else(|| wrong(text))?),
        };
        let times = [*last, begin, end].into_iter().flatten().collect::<Vec<u64>>();
        if let Some(pair) = times.windows(2).find(|pair| pair[0] > pair[1]) {
            let what = format!("the clock runs backwards at this call, by {} ns", pair[0] - pair[1]);
            return Err((what, "record the program again".to_owned()));
        }
        if let (Some(last), Some(begin)) = (*last, begin)
            && begin > last
        {
            recorder.compute(begin - last);
            recorder.assume(Assumed::WallClock);
        }
        *last = end;
        Ok(())
    }

    /// Returns the communicator of a field. The field contains the number of the communicator, the number of this rank in it, and its
    /// size. Like `schedgen`, the reader treats a communicator with all ranks as `MPI_COMM_WORLD`.
    fn comm(&self, field: usize, recorder: &mut Recorder) -> Result<i64, Problem> {
        let (place, size) = (self.part(field, 1)?, self.part(field, 2)?);
        if size == self.ranks {
            if place != self.rank {
                recorder.assume(Assumed::PlaceOfFile);
            }
            return Ok(HANDLES.world);
        }
        if size == 1 {
            return Ok(HANDLES.own);
        }
        let (Ok(place), Ok(size)) = (u32::try_from(place), u32::try_from(size)) else {
            return Err(damaged(&format!("the call has an invalid communicator: place {place} of {size} ranks")));
        };
        if i64::from(size) > self.ranks {
            let what =
                format!("the communicator of the call has {size} ranks, but there are files of {} ranks", self.ranks);
            return Err((what, "copy the files of all ranks into one folder".to_owned()));
        }
        if self.comms.is_reused {
            let what = "a communicator was created after the end of another one and may have the same number";
            return Err((what.to_owned(), OTHERWISE.to_owned()));
        }
        let handle = NAMED.wrapping_add(self.part(field, 0)?);
        recorder.unnamed(handle, (place, size), self.name)?;
        Ok(handle)
    }

    /// Records that a communicator was duplicated or split. The file does not contain the number of the new
    /// communicator.
    fn create(&mut self, call: &'static str, how: How, recorder: &mut Recorder) -> Result<(), Problem> {
        let parent = self.comm(1, recorder)?;
        self.comms.created += 1;
        self.comms.is_reused |= self.comms.is_freed;
        let is_in_none = matches!(how, How::Split { colour: None, .. });
        let new = if is_in_none { HANDLES.none } else { CREATED + self.comms.created };
        recorder.create(call, parent, how, new)
    }

    /// Returns the number of bytes for the count in field `field` and the datatype in the next field.
    fn bytes(&self, field: usize) -> Result<u64, Problem> {
        let [count, size] = [self.int(field)?, self.part(field + 1, 1)?].map(u64::try_from);
        let (Ok(count), Ok(size)) = (count, size) else { return Err(damaged("a size is negative")) };
        Ok(count.saturating_mul(size))
    }

    fn peer(&self, field: usize, is_receive: bool) -> Result<Peer, Problem> {
        Ok(match u32::try_from(self.int(field)?) {
            Ok(peer) => Peer::Rank(peer),
            Err(_) if is_receive && self.int(field)? == -1 => Peer::Any,
            Err(_) => Peer::Nobody,
        })
    }

    fn tag(&self, field: usize, is_receive: bool) -> Result<Option<u32>, Problem> {
        match self.int(field)? {
            -1 if is_receive => Ok(None),
            tag => u32::try_from(tag).map(Some).map_err(|_| damaged(&format!("{tag} is not a tag"))),
        }
    }

    fn root(&self, field: usize) -> Result<u32, Problem> {
        u32::try_from(self.int(field)?).map_err(|_| damaged("the root is negative"))
    }

    /// Returns peer, bytes and tag of a message. Their fields follow the field `buffer` with the address of the data.
    fn message(&self, buffer: usize, is_receive: bool) -> Result<(Peer, u64, Option<u32>), Problem> {
        Ok((self.peer(buffer + 3, is_receive)?, self.bytes(buffer + 1)?, self.tag(buffer + 4, is_receive)?))
    }

    /// Passes this call to the recorder. Returns `false` if this reader does not support the call.
    fn take(&mut self, recorder: &mut Recorder) -> Result<bool, Problem> {
        match self.name {
            "Comm_dup" => self.create("Comm_dup", How::Duplicate, recorder)?,
            "Comm_split" => {
                let colour = Some(self.int(2)?).filter(|&colour| colour >= 0);
                self.create("Comm_split", How::Split { colour, key: self.int(3)? }, recorder)?;
            }
            "Comm_free" => self.comms.is_freed = true,
            name if IGNORED.contains(&name) || IGNORED_KINDS.iter().any(|begin| name.starts_with(begin)) => {}
            name => return self.moves_data(name, recorder),
        }
        Ok(true)
    }

    /// Records a message or a collective. Returns `false` if the call is of a different kind.
    fn moves_data(&self, name: &str, recorder: &mut Recorder) -> Result<bool, Problem> {
        Ok(self.records_message(name, recorder)? || self.records_collective(name, recorder)?)
    }

    /// Records a message, or a wait for messages. Returns `false` if the call is of a different kind.
    fn records_message(&self, name: &str, recorder: &mut Recorder) -> Result<bool, Problem> {
        match name {
            "Send" | "Rsend" | "Ssend" | "Bsend" => {
                let (peer, bytes, tag) = self.message(1, false)?;
                let comm = self.comm(6, recorder)?;
                recorder.send(peer, bytes, tag, comm)
            }
            "Recv" => {
                let (peer, bytes, tag) = self.message(1, true)?;
                let comm = self.comm(6, recorder)?;
                recorder.receive(peer, bytes, tag, comm, None)
            }
            "Isend" | "Irecv" => {
                let is_receive = name == "Irecv";
                let request = self.int(7)?;
                // the number of the request is its address. If the address still belongs to an earlier operation, the file does not
                // contain the completion of that operation, which therefore ends here
                recorder.free(request);
                let comm = self.comm(6, recorder)?;
                recorder.start(is_receive, false, self.message(1, is_receive)?, comm, request)
            }
            "Sendrecv" => {
                let (send, receive) = (self.message(1, false)?, self.message(6, true)?);
                let comm = self.comm(11, recorder)?;
                recorder.exchange(send, receive, comm, None)
            }
            // a wait for a request that has already ended has no effect
            "Wait" => {
                recorder.complete_if_known(self.int(1)?);
                Ok(())
            }
            "Waitall" => {
                let (count, first) = (self.int(1)?, self.int(2)?);
                recorder.complete_array(first, count, REQUEST);
                Ok(())
            }
            _ => return Ok(false),
        }?;
        Ok(true)
    }

    /// Records collectives. Returns `false` if the call is not a collective.
    fn records_collective(&self, name: &str, recorder: &mut Recorder) -> Result<bool, Problem> {
        use Operation::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, Scatter};
        match name {
            "Barrier" => {
                let comm = self.comm(1, recorder)?;
                recorder.collective(Barrier, 0, 0, comm)
            }
            "Bcast" => {
                let comm = self.comm(5, recorder)?;
                recorder.collective(Broadcast, self.root(4)?, self.bytes(2)?, comm)
            }
            "Allreduce" => {
                let comm = self.comm(6, recorder)?;
                recorder.collective(AllReduce, 0, self.bytes(3)?, comm)
            }
            "Reduce" => {
                let comm = self.comm(7, recorder)?;
                recorder.collective(Reduce, self.root(6)?, self.bytes(3)?, comm)
            }
            "Scan" | "Exscan" => {
                let comm = self.comm(6, recorder)?;
                recorder.scan(self.bytes(3)?, comm)
            }
            "Allgather" => {
                let comm = self.comm(7, recorder)?;
                recorder.collective(AllGather, 0, self.bytes(5)?, comm)
            }
            "Alltoall" => {
                let comm = self.comm(7, recorder)?;
                recorder.collective(AllToAll, 0, self.bytes(5)?, comm)
            }
            "Gather" => {
                let comm = self.comm(8, recorder)?;
                recorder.collective(Gather, self.root(7)?, self.bytes(2)?, comm)
            }
            "Scatter" => {
                let comm = self.comm(8, recorder)?;
                recorder.collective(Scatter, self.root(7)?, self.bytes(5)?, comm)
            }
            _ => return Ok(false),
        }?;
        Ok(true)
    }
}
