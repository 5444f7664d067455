//! Files in the Standard Workload Format: makes a program from each job in the file, and counts the lines that are left
//! out.

mod convert;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weft_units::{InputFile, Time};

/// A recorded queue of jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobLog {
    /// The job file: a text file with a line of 18 fields per job.
    pub file: InputFile,
    /// Rule that chooses the trace in `traces` for a job. The program gets as many ranks as the job has nodes, times
    /// `ranks_per_terminal`.
    pub runs: Runs,
    /// Number of processors of a node of the recorded machine. Weft divides the number of processors of a job by this number, rounded up,
    /// to get its number of nodes. With `cores_per_node` a job needs a core for each processor, and `processors_per_node` must be omitted.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub processors_per_node: u32,
    /// Field of the file from which the number of processors of a job is read.
    #[serde(default)]
    pub processors: Processors,
    /// The run time that a job's program has if it is alone on an ideal network. Weft scales the computations of the
    /// program so that it has this run time.
    #[serde(default)]
    pub length: Length,
    /// Latency of a message on this ideal network [time], for `length`.
    #[serde(default = "no_time")]
    #[schemars(extend("x-exact" = true))]
    pub latency: Time,
    /// Number of seconds in the file per second of the run. Weft divides all times of the file by this number.
    #[serde(default = "unscaled")]
    #[schemars(range(min = 0.0))]
    pub compression: f64,
    /// Number of jobs of the file that run, counted from the first. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub first: Option<u32>,
    /// Time in the file at which the run starts [time]. Jobs that were submitted before this time do not run. Default: the time
    /// of the first job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exact" = true))]
    pub from: Option<Time>,
    /// Time in the file at which the range of jobs ends [time]: jobs that were submitted at this time or later do not run. Default: no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exact" = true))]
    pub to: Option<Time>,
    /// Reasons for which Weft may leave a line out. A warning reports how many lines were left out. Default: no reason; each invalid
    /// line is an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skip: Vec<Reason>,
}

/// Rule that chooses the trace in `traces` for a job of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Runs {
    /// All jobs run the trace with this name.
    All(String),
    /// The job's executable number (field 14) chooses the trace.
    ByExecutable(ByNumber),
    /// The job's queue number (field 15) chooses the trace.
    ByQueue(ByNumber),
}

/// The choice of a trace by the number in a field of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByNumber {
    /// Names of traces, by the numbers in the field.
    pub names: BTreeMap<String, String>,
    /// The trace for jobs whose number is missing or not listed in `names`. Default: such a job is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<String>,
}

/// Field of the file from which the number of processors of a job is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Processors {
    /// Field 5: the processors that the job had.
    #[default]
    Allocated,
    /// Field 8: the processors that the job requested.
    Requested,
}

/// The run time that a job's program has if it is alone on an ideal network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// Field 4: the run time that the recorded job had.
    #[default]
    RunTime,
    /// Field 9: the run time that the user requested.
    RequestedTime,
    /// The run time that the program has without scaling.
    Own,
}

/// Reasons for which Weft can leave out a line of a job file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The line does not have 18 fields, or a field is not a number.
    Malformed,
    /// The job was submitted before the job on the line above.
    Backwards,
    /// A required field is -1 (unknown). Required are processors, run time and, for `order: easy`, the requested time.
    Missing,
    /// The job has 0 processors.
    NoProcessors,
    /// The job has a run time of 0.
    ZeroTime,
    /// The job needs more nodes than the simulated job has.
    TooLarge,
    /// The job was submitted after more than 2^47 cycles of the run.
    TooLate,
    /// No factor for the program's computations gives the job's run time, for example because the messages alone take longer.
    Unscalable,
    /// The scenario names no trace for the job's number, or the trace cannot have the job's number of ranks.
    NoProgram,
}

impl Reason {
    fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

/// The lines of a file that were left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Number of left-out lines, by reason.
    pub by_reason: BTreeMap<Reason, u64>,
    /// The first left-out line, described in words.
    pub first: Option<String>,
    /// Number of jobs that the header announces, if Weft read all lines and found fewer jobs.
    pub announced: Option<u64>,
    /// Number of lines with jobs that were read.
    pub lines: u64,
}

impl Skipped {
    pub fn count(&self) -> u64 {
        self.by_reason.values().sum()
    }

    /// Returns the counts by reason, in words.
    pub fn reasons(&self) -> String {
        let each: Vec<_> = self.by_reason.iter().map(|(reason, count)| format!("{count} {}", reason.name())).collect();
        each.join(", ")
    }
}

fn one() -> u32 {
    1
}

fn no_time() -> Time {
    Time::Femtoseconds(0)
}

fn unscaled() -> f64 {
    1.0
}
