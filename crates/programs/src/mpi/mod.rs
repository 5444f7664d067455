//! Programs from recorded MPI calls, independent of the file format of the tracer.
//!
//! A [`Recorder`] gets the calls of one rank in their order. [`assemble`] combines the ranks: it finds the members of communicators,
//! the blocks of collectives of different sizes, and the message of each receive.

mod assemble;
mod blocks;
mod collectives;
mod comms;
mod late;
mod matching;
mod recorder;

pub use assemble::assemble;
pub use collectives::On;
pub use comms::{Creation, Group, How};
pub use recorder::{Completion, Handles, Peer, Problem, Recorder};

use crate::form::Program;
use serde::Serialize;
use std::collections::BTreeMap;

weft_units::words! {
    /// Assumptions of a conversion for cases that the trace does not define.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Assumed {
        /// A cancelled receive, or one without a status in its completion after a cancel, received no message. It becomes a
        /// computation of 0 ns.
        Cancelled = "cancelled",
        /// A cancelled receive without a status matches a send without a receive: the message arrived before the cancel.
        CancelledLate = "cancelled_late",
        /// An operation that no recorded call completes: no operation waits for its end.
        NeverCompleted = "never_completed",
        /// A completion of a request without a recorded start: it is omitted.
        StartNotRecorded = "start_not_recorded",
        /// A receive from any source or with any tag, without a status in its completion: it matches the first message that fits.
        WildcardKept = "wildcard_kept",
        /// A send without a recorded receive: it becomes a computation of 0 ns.
        SendUnmatched = "send_unmatched",
        /// A receive without a recorded send: it becomes a computation of 0 ns.
        ReceiveUnmatched = "receive_unmatched",
        /// A blocking probe: the next receive waits for the message instead.
        Probe = "probe",
        /// A prefix sum (`MPI_Scan`, `MPI_Exscan`): a chain of messages from rank to rank.
        Scan = "scan",
        /// A file operation: it takes no time.
        FileCall = "file_call",
        /// A file that was opened through MPI: operations on it are not recorded, and their time is part of computations.
        FileOpened = "file_opened",
        /// A time in which the tracer was switched off: calls and computations in this time are omitted.
        NotRecorded = "not_recorded",
        /// A grid of ranks that MPI may have reordered: its ranks have the order of their parent.
        NotReordered = "not_reordered",
        /// A call of a thread other than the first of its rank: calls have the order of the file.
        Thread = "thread",
        /// An all-to-all in which sizes of senders and receivers differ: the sizes of the receivers are used.
        SizesOfReceivers = "sizes_of_receivers",
        /// A computation between two calls, in processor time: time in which the rank did not have the processor is not included.
        ProcessorClock = "processor_clock",
        /// A computation between two calls, timed by a wall clock: it includes the time in which the processor ran other programs.
        WallClock = "wall_clock",
        /// A trace without times: its computations take no time.
        NoClock = "no_clock",
        /// A collective without a size or a kind: it becomes a computation of the same duration.
        NoSize = "no_size",
        /// A computation without a duration: it takes no time.
        NoDuration = "no_duration",
        /// A dependency on an operation that is not in the trace: it is omitted.
        DependencyMissing = "dependency_missing",
        /// A control dependency of a rank if its control and data dependencies form a cycle, because a call contains its callees. It
        /// is omitted.
        ControlLeftOut = "control_left_out",
        /// A trace without its number of ranks: the ranks with existing files are assumed to be all ranks.
        RanksOfFiles = "ranks_of_files",
        /// A call with another number of its rank than the name of the file: the number in the file name is used.
        PlaceOfFile = "place_of_file",
    }
}

impl Assumed {
    /// The clause that describes an assumption. It is printed after the number of its cases.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Cancelled => "receives were cancelled: each became a computation of 0 ns",
            Self::CancelledLate => {
                "receives were cancelled after their message arrived: each matches a send without another receive"
            }
            Self::NeverCompleted => "operations have no recorded completion: no operation waits for their ends",
            Self::StartNotRecorded => "completions belong to requests without a recorded start: they are omitted",
            Self::WildcardKept => {
                "receives from any source or with any tag have no recorded status: each matches the first message that fits"
            }
            Self::SendUnmatched => "sends match no recorded receive: each became a computation of 0 ns",
            Self::ReceiveUnmatched => "receives match no recorded send: each became a computation of 0 ns",
            Self::Probe => "blocking probes are omitted: the next receives wait for the messages instead",
            Self::Scan => "prefix sums became a chain of messages from rank to rank",
            Self::FileCall => "file operations take no time",
            Self::FileOpened => {
                "files were opened through MPI: operations on them are part of the computations before and after"
            }
            Self::NotRecorded => {
                "periods are not recorded, because the tracer was switched off: their calls and computations are omitted"
            }
            Self::NotReordered => "grids of ranks may have been reordered by MPI: Weft keeps the order of their parent",
            Self::Thread => "calls come from additional threads: all calls of a rank keep the order of the file",
            Self::SizesOfReceivers => {
                "all-to-alls have different sizes at senders and receivers: Weft uses the sizes of the receivers"
            }
            Self::ProcessorClock => {
                "computations are processor times between two calls: waits for files and for other programs are not included"
            }
            Self::WallClock => {
                "computations are wall-clock times between two calls: they include waits for files and for other programs"
            }
            Self::NoSize => "collectives have no size: each became a computation of the same duration",
            Self::NoDuration => "computations have no duration: they take no time",
            Self::DependencyMissing => "dependencies are on operations that are not in the trace: they are omitted",
            Self::ControlLeftOut => {
                "control dependencies form cycles between calls and callees: they are omitted, and data dependencies are kept"
            }
            Self::RanksOfFiles => {
                "ranks have files, but the trace does not give its number of ranks: Weft takes these for all ranks"
            }
            Self::PlaceOfFile => {
                "calls give the rank another number than the name of its file: Weft uses the number in the name"
            }
            Self::NoClock => "calls have no times: the computations before them take no time",
        }
    }
}

/// Number of times that each assumption was made.
pub type Assumptions = BTreeMap<Assumed, u64>;

/// A program from a trace, and the assumptions of its conversion.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Converted {
    pub program: Program,
    pub assumptions: Assumptions,
}

/// An assumption as data: its code, the number of times that it was made, and the clause that describes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Note {
    pub code: &'static str,
    pub count: u64,
    pub what: &'static str,
}

impl Converted {
    /// The assumptions, in their order.
    pub fn notes(&self) -> Vec<Note> {
        let note = |(&assumed, &count): (&Assumed, &u64)| Note { code: assumed.name(), count, what: assumed.text() };
        self.assumptions.iter().map(note).collect()
    }
}
