//! Recordings by Weft's own library for MPI calls (`capture/`). A recording has the calls of each rank, with peers, bytes and times.
//!
//! # Source
//! The format belongs to this project. `docs/howto/capture.md` describes it, and `capture/record.h` has the numbers of its kinds of
//! records.
//!
//! # Parameters
//! `clock`: the clock by which computations are measured. Times are nanoseconds, sizes are bytes.
//!
//! # Guarantees
//! The reader reads a file in one pass, in time proportional to its length. Only one file is in memory at a time. The reader refuses a
//! file if the sums at its end differ from the sums of its records. The records contain the members of communicators and the sources
//! of receives, so the reader makes no assumptions about them.
//!
//! # Not modelled
//! Calls that the library could not record. The reader lists these calls, and refuses the trace. Calls by several threads of a rank.
//! The reader also refuses such traces, because the order of these calls is not recorded.
//!
//! # Validation
//! `programs/tests/programs/capture.rs` checks records that tests write, and damaged files. `tests/test_traces.py`
//! checks the total numbers of messages and bytes of a recording. `tests/cluster/capture_runs.py` compares
//! recordings of MPI programs with the counts of Open MPI.

mod convert;
pub mod stream;

use super::trace_files::{Clock, Files, TraceFormat, by_rank, number_of};
use crate::mpi::{self, Converted};
use stream::{Head, MAGIC};
use weft_units::Refusal;

/// The reader for recordings by Weft's own library for MPI calls.
pub struct Capture;

/// File name ending of the recordings of ranks.
const RANK: &str = ".wcap";

impl TraceFormat for Capture {
    fn name(&self) -> &'static str {
        "capture"
    }

    fn fits(&self, _name: &str, head: &[u8]) -> bool {
        head.starts_with(&MAGIC)
    }

    fn read(&self, files: &mut dyn Files, clock: Option<Clock>) -> Result<Converted, Refusal> {
        let names = files.names().to_vec();
        let Some(first) = names.iter().position(|name| number_of(name, RANK).is_some()) else {
            let what = "no file has a name such as rank-00000.wcap, which the files of a recording have";
            return Err(Refusal::new("the trace", what, "restore the names that the library gave the files"));
        };
        let wanted = Head::read(&names[first], &files.load(first)?)?;
        let places = by_rank(&names, Some(wanted.ranks), |name| number_of(name, RANK).map(|(_, rank)| rank))?;
        let mut recorders = Vec::with_capacity(places.len());
        for (rank, place) in (0..).zip(places) {
            let bytes = files.load(place)?;
            let head = Head::read(&names[place], &bytes)?;
            if (head.run, head.ranks) != (wanted.run, wanted.ranks) {
                let what = format!("the file is from another run than {}", names[first]);
                return Err(Refusal::new(&names[place], what, "record each run into a separate, empty folder"));
            }
            if head.rank != rank {
                let what = format!("the file is a recording of rank {}, which is not the rank in its name", head.rank);
                return Err(Refusal::new(&names[place], what, "restore the name that the library gave the file"));
            }
            recorders.push(convert::rank(&names[place], &bytes, clock)?);
        }
        mpi::assemble(recorders)
    }
}
