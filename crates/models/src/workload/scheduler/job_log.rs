//! Files in the Standard Workload Format: which program a job of the file runs, and which lines are left out.

mod convert;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weft_units::{InputFile, Time};

/// A recorded queue of jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobLog {
    /// The file: text with a line of 18 fields per job.
    pub file: InputFile,
    /// Which of `traces` a job runs, with as many ranks as it has nodes, times `ranks_per_terminal`.
    pub runs: Runs,
    /// Processors of a node of the recorded machine. A job has its processors over this number as nodes, rounded up. With
    /// `cores_per_node` it has a core for each processor, and this key is left out.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub processors_per_node: u32,
    /// The field that has the processors of a job.
    #[serde(default)]
    pub processors: Processors,
    /// Run time of a job alone on an ideal network: computations of its program are scaled until it is that.
    #[serde(default)]
    pub length: Length,
    /// Latency of a message alone in this network [time], for `length`.
    #[serde(default = "no_time")]
    #[schemars(extend("x-exact" = true))]
    pub latency: Time,
    /// Seconds of the file per second of the run: all its times are divided by this number.
    #[serde(default = "unscaled")]
    #[schemars(range(min = 0.0))]
    pub compression: f64,
    /// The first jobs only. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub first: Option<u32>,
    /// Start of the run, as a time of the file [time]. Jobs that were submitted before it are left out. Default: the time of the
    /// first job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exact" = true))]
    pub from: Option<Time>,
    /// Jobs submitted before this time of the file [time]. Default: no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exact" = true))]
    pub to: Option<Time>,
    /// Lines that are left out, by reason. The run counts them in a warning. Default: each is an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skip: Vec<Reason>,
}

/// Which of `traces` a job of a file runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Runs {
    /// All jobs run the trace of this name.
    All(String),
    /// By the number of the executable, field 14.
    ByExecutable(ByNumber),
    /// By the number of the queue, field 15.
    ByQueue(ByNumber),
}

/// Traces by numbers of a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByNumber {
    /// Names of traces by the numbers of the field.
    pub names: BTreeMap<String, String>,
    /// The trace of jobs with another number, or without one. Default: such a job is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<String>,
}

/// The field with the processors of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Processors {
    /// Field 5: those that it had.
    #[default]
    Allocated,
    /// Field 8: those that it requested.
    Requested,
}

/// The run time of a job alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// Field 4: that of the recorded run.
    #[default]
    RunTime,
    /// Field 9: the one that the user requested.
    RequestedTime,
    /// The length that the program itself has.
    Own,
}

/// Reasons for which a line can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It has not 18 fields, or one of them is no number.
    Malformed,
    /// It was submitted before the job above it.
    Backwards,
    /// A field that is needed is -1: processors, run time, or for `order: easy` the requested time.
    Missing,
    /// 0 processors.
    NoProcessors,
    /// A run time of 0.
    ZeroTime,
    /// It needs more nodes than there are.
    TooLarge,
    /// It was submitted after more than 2^47 cycles of the run.
    TooLate,
    /// Its program alone takes longer than the run time, or can't be scaled to it.
    Unscalable,
    /// No trace is named for its number, or the trace can't have the number of ranks of the job.
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
    /// Their number, by reason.
    pub by_reason: BTreeMap<Reason, u64>,
    /// The first one, in words.
    pub first: Option<String>,
    /// The jobs that the header announces, if all lines were read and there are fewer.
    pub announced: Option<u64>,
    /// Lines of jobs that were read.
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
