//! Makes programs from recorded MPI calls. The module does not depend on the file format of the tracer.
//!
//! A [`Recorder`] gets the calls of one rank in their order. The function [`assemble`] combines the ranks: it finds the members of
//! communicators, the sizes of blocks in collectives, and the message of each receive.

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
    /// Assumptions that a conversion makes for cases that the trace does not define.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Assumed {
        /// A cancelled receive got no message, so it becomes a computation of 0 ns. The same is assumed if the trace has no status
        /// for the completion of the cancelled receive.
        Cancelled = "cancelled",
        /// A cancelled receive without a status matches a send without a receive, because the message could arrive before the
        /// cancel.
        CancelledLate = "cancelled_late",
        /// No recorded call completes an operation. Therefore no other operation waits for its end.
        NeverCompleted = "never_completed",
        /// A completion names a request without a recorded start. The completion is omitted.
        StartNotRecorded = "start_not_recorded",
        /// A receive from any source or with any tag has no status in its completion. In the program, the receive matches the first
        /// message that fits.
        WildcardKept = "wildcard_kept",
        /// A send has no recorded receive. It becomes a computation of 0 ns.
        SendUnmatched = "send_unmatched",
        /// A receive has no recorded send. It becomes a computation of 0 ns.
        ReceiveUnmatched = "receive_unmatched",
        /// A blocking probe is omitted. The next receive waits for the message instead.
        Probe = "probe",
        /// A prefix sum (`MPI_Scan`, `MPI_Exscan`) becomes a chain of messages from rank to rank.
        Scan = "scan",
        /// A file operation takes no time.
        FileCall = "file_call",
        /// Operations on a file that was opened through MPI are not recorded. Their time is part of computations.
        FileOpened = "file_opened",
        /// The tracer was switched off for a time. Calls and computations in this time are omitted.
        NotRecorded = "not_recorded",
        /// MPI may have reordered the ranks of a grid. In the program they have the order of the parent communicator.
        NotReordered = "not_reordered",
        /// A call was made by a thread other than the first of its rank. The program has the calls of a rank in the order of the
        /// file.
        Thread = "thread",
        /// In an all-to-all, sender and receiver of a block have different sizes for the block. The size of the receiver is used.
        SizesOfReceivers = "sizes_of_receivers",
        /// A computation between two calls is measured in processor time. This does not include the time in which the rank did not
        /// have the processor.
        ProcessorClock = "processor_clock",
        /// A computation between two calls is measured by a wall clock. This includes the time in which the processor ran other
        /// programs.
        WallClock = "wall_clock",
        /// The trace has no times. Its computations take no time.
        NoClock = "no_clock",
        /// The trace does not have the size or the kind of a collective. The collective becomes a computation of the same duration.
        NoSize = "no_size",
        /// The trace has no duration for a computation. The computation takes no time.
        NoDuration = "no_duration",
        /// A dependency names an operation that is not in the trace. The dependency is omitted.
        DependencyMissing = "dependency_missing",
        /// The control and data dependencies of a rank form a cycle, because a call contains its callees. The control dependency is
        /// omitted.
        ControlLeftOut = "control_left_out",
        /// The trace does not have its number of ranks. The ranks whose files exist are assumed to be all ranks.
        RanksOfFiles = "ranks_of_files",
        /// A call and the name of its file have different rank numbers. The number in the file name is used.
        PlaceOfFile = "place_of_file",
    }
}

impl Assumed {
    /// Returns the clause that describes an assumption in messages. Messages contain the number of cases before this clause.
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

/// Number of cases in which each assumption was made.
pub type Assumptions = BTreeMap<Assumed, u64>;

/// A program made from a trace, and the assumptions of the conversion.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Converted {
    pub program: Program,
    pub assumptions: Assumptions,
}

/// An assumption for a report: its code, the number of its cases, and the clause that describes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Note {
    pub code: &'static str,
    pub count: u64,
    pub what: &'static str,
}

impl Converted {
    /// Returns the assumptions in their order.
    pub fn notes(&self) -> Vec<Note> {
        let note = |(&assumed, &count): (&Assumed, &u64)| Note { code: assumed.name(), count, what: assumed.text() };
        self.assumptions.iter().map(note).collect()
    }
}
