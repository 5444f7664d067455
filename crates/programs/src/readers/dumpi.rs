//! Traces of DUMPI. A trace has the MPI calls of each rank with all their arguments.
//!
//! # Source
//! The layouts of records are those of sst-dumpi (`sstsimulator/sst-dumpi`, `dumpi/common`).
//!
//! # Parameters
//! `clock`: the clock by which computations are measured. Times are nanoseconds, sizes are bytes.
//!
//! # Guarantees
//! The reader reads a file in one pass, in time proportional to its length. The records must end exactly where the index of the file
//! says. Only one file is in memory at a time. Members of communicators, sources of wildcards and blocks of collectives follow from the
//! calls of all ranks. If one of them does not follow, the reader refuses the trace.
//!
//! # Not modelled
//! One-sided communication, communicators between programs, and calls to files. The reader refuses traces with one-sided
//! communication or communicators between programs, and names these calls. Versions before 0.6.9, whose records have errors, and
//! versions after 13. MPI-3 calls, which DUMPI does not record.
//!
//! # Validation
//! `programs/tests/programs/dumpi.rs` checks the records of the reference dump of sst-dumpi, one by one, and damaged files. The tests also
//! compare sends with receives in recordings of versions 1.0.0, 1.1.0, 8.1.0 and 13.0.0.

mod calls;
mod convert;
pub mod stream;
mod types;

use super::trace_files::{Clock, Files, TraceFormat, by_rank, number_of};
use crate::mpi::{self, Assumed, Converted};
use stream::MAGIC;
use weft_units::Refusal;

/// The reader for DUMPI traces.
pub struct Dumpi;

/// File name suffix of the file that describes a trace; `RANK` is the suffix of the files of its ranks.
const META: &str = ".meta";
const RANK: &str = ".bin";

impl TraceFormat for Dumpi {
    fn name(&self) -> &'static str {
        "dumpi"
    }

    fn fits(&self, name: &str, head: &[u8]) -> bool {
        name.ends_with(META) || head.starts_with(&MAGIC.to_be_bytes())
    }

    fn read(&self, files: &mut dyn Files, clock: Option<Clock>) -> Result<Converted, Refusal> {
        let names = files.names().to_vec();
        let metas: Vec<usize> = (0..names.len()).filter(|&place| names[place].ends_with(META)).collect();
        let wanted = match metas[..] {
            [] => None,
            [meta] => {
                let text = files.load(meta)?;
                Some(ranks_of(&names[meta], &String::from_utf8_lossy(&text))?)
            }
            [one, other, ..] => {
                let what = format!("{} and {} belong to two different traces", names[one], names[other]);
                return Err(Refusal::new("the trace", what, "name the .meta file of one of them"));
            }
        };
        let places = by_rank(&names, wanted, |name| number_of(name, RANK).map(|(_, rank)| rank))?;
        let mut recorders = Vec::with_capacity(places.len());
        for place in places {
            let bytes = files.load(place)?;
            recorders.push(convert::rank(&names[place], &bytes, clock)?);
        }
        if wanted.is_none() {
            recorders.iter_mut().for_each(|recorder| recorder.assume(Assumed::RanksOfFiles));
        }
        mpi::assemble(recorders)
    }
}

/// Returns the number of ranks, from the text of a `.meta` file.
fn ranks_of(name: &str, text: &str) -> Result<u32, Refusal> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("numprocs="));
    let count = line.and_then(|number| number.trim().parse().ok()).filter(|&count| count > 0);
    count.ok_or_else(|| {
        let what = "the file has no line `numprocs=N` with a number of at least 1";
        Refusal::new(name, what, "copy the file again, or write that line with the number of ranks")
    })
}
