//! Files in the Standard Workload Format: the program for each job of the file, and the lines that are left out.

mod convert;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weft_units::{InputFile, Time};

/// A recorded queue of jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobLog {
    /// The file. The file is text with a line of 18 fields per job.
    pub file: InputFile,
    /// Rule that chooses the trace in `traces` for a job. The number of ranks is that of the job's nodes, times `ranks_per_terminal`.
    pub runs: Runs,
    /// Number of processors of a node of the recorded machine. The number of nodes of a job is its number of processors divided by
    /// this number, rounded up. With `cores_per_node` a job has a core for each processor, and this key is omitted.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub processors_per_node: u32,
    /// The field with the number of processors of a job.
    #[serde(default)]
    pub processors: Processors,
    /// Run time of a job when it is alone on an ideal network. The computations of its program are scaled to reach this time.
    #[serde(default)]
    pub length: Length,
    /// Latency of a single message on this network [time], for `length`.
    #[serde(default = "no_time")]
    #[schemars(extend("x-exact" = true))]
    pub latency: Time,
    /// Seconds of the file per second of the run. All times of the file are divided by this number.
    #[serde(default = "unscaled")]
    #[schemars(range(min = 0.0))]
    pub compression: f64,
    /// Number of jobs to run, counted from the first. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub first: Option<u32>,
    /// Start of the run, as a time of the file [time]. Jobs that were submitted before this time are left out. Default: the time of
    /// the first job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exact" = true))]
    pub from: Option<Time>,
    /// Only jobs submitted before this time of the file run [time]. Default: no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exact" = true))]
    pub to: Option<Time>,
    /// Reasons for which lines are left out. The run reports the number of these lines in a warning. Default: each such line is an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skip: Vec<Reason>,
}

/// Rule that chooses the trace in `traces` for a job of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Runs {
    /// All jobs run the trace with this name.
    All(String),
    /// The number of the executable (field 14) chooses the trace.
    ByExecutable(ByNumber),
    /// The number of the queue (field 15) chooses the trace.
    ByQueue(ByNumber),
}

/// Traces for the numbers in a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByNumber {
    /// Names of traces, by the numbers in the field.
    pub names: BTreeMap<String, String>,
    /// The trace for jobs with another number, or without a number. Default: such a job is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<String>,
}

/// The field with the number of processors of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Processors {
    /// Field 5: the processors that the job had.
    #[default]
    Allocated,
    /// Field 8: the processors that the job requested.
    Requested,
}

/// The run time of a job when it is alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// Field 4: the run time of the recorded run.
    #[default]
    RunTime,
    /// Field 9: the run time that the user requested.
    RequestedTime,
    /// The run time of the program without scaling.
    Own,
}

/// Reasons for which a line can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The line does not have 18 fields, or a field is not a number.
    Malformed,
    /// The job was submitted before the job on the line above.
    Backwards,
    /// A required field is -1: processors, run time, or for `order: easy` the requested time.
    Missing,
    /// The job has 0 processors.
    NoProcessors,
    /// The job has a run time of 0.
    ZeroTime,
    /// The job needs more nodes than there are.
    TooLarge,
    /// The job was submitted after more than 2^47 cycles of the run.
    TooLate,
    /// The program of the job needs more than the run time when it is alone, or cannot be scaled to it.
    Unscalable,
    /// No trace is named for the job's number, or the trace cannot have the number of ranks of the job.
    NoProgram,
}

impl Reason {
    fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

/// Lines of a file that were left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Number of lines left out, by reason.
    pub by_reason: BTreeMap<Reason, u64>,
    /// The first line left out, in words.
    pub first: Option<String>,
    /// The number of jobs that the header announces, if all lines were read and there are fewer jobs.
    pub announced: Option<u64>,
    /// Number of lines of jobs that were read.
    pub lines: u64,
}

impl Skipped {
    pub fn count(&self) -> u64 {
        self.by_reason.values().sum()
    }

    /// The numbers by reason, in words.
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
