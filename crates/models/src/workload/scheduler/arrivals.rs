//! The rules that submit the programs of a scheduler, each at a certain time.

use super::job_log::{JobLog, Skipped};
use super::queue::Submitted;
use super::{Order, Scheduled, Scheduler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::base::hash::{below, hash};
use weft_api::workload::JobSite;
use weft_units::{Cycles, MAX_CYCLES, Refusal, Time};

/// The latest time of submission [cycles]. With this limit, every program has at least 2^47 cycles to start before cycle 2^48, the end of
/// the longest run.
pub const LATEST: u64 = MAX_CYCLES / 2;
/// Purposes of random numbers (a part of their address): the order of programs, and the times between submissions.
const ORDER: u64 = 0x5c4e_d0a1;
const GAPS: u64 = 0x5c4e_d0a2;

/// Rule for the times at which programs are submitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrivals {
    /// The scheduler submits all programs at the start of the run.
    AtOnce(AtOnce),
    /// A Poisson process submits the programs in random order: the times between submissions have an exponential distribution.
    Poisson(Poisson),
    /// The scheduler submits programs at the listed times. The list must be in the order of times, the earliest first.
    List(Vec<Submission>),
    /// The scheduler submits the jobs that a machine has recorded in a file in the Standard Workload Format (SWF).
    Swf(Box<JobLog>),
}

impl Default for Arrivals {
    fn default() -> Self {
        Self::AtOnce(AtOnce {})
    }
}

/// The rule that submits all programs at the start; it has no parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtOnce {}

/// Random submissions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// Mean time between two submissions [time].
    #[schemars(extend("x-exact" = true))]
    pub mean_gap: Time,
}

/// The submission of a program at a certain time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// Time of the submission, from the start of the run [time].
    pub at: Time,
    /// Name of the program in `traces`.
    pub trace: String,
    /// Number of ranks of the program, if its generator has the key `ranks`. Default: the number of ranks in the trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub ranks: Option<u32>,
    /// Expected run time of the program [time], for `order: easy`. Default: the estimate of the trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exact" = true))]
    pub estimate: Option<Time>,
}

/// The programs that a rule of arrivals submits, and the lines of a file that it left out.
#[derive(Debug, Clone)]
pub struct Arrived {
    /// Programs in the order of their submission.
    pub programs: Vec<Submitted>,
    pub skipped: Skipped,
}

/// The scheduler whose programs are submitted, and its job.
#[derive(Debug, Clone, Copy)]
pub struct Asking<'a> {
    pub scheduler: &'a Scheduler,
    pub site: &'a JobSite<'a>,
    pub order: Order,
}

impl Asking<'_> {
    /// Returns the refusal of a key of the scheduler.
    pub fn refusal(&self, key: &str, what: String, help: &str) -> Refusal {
        self.site.refusal(&format!("workload.scheduler.{key}"), what, help)
    }

    /// Returns the dotted path of a key of the scheduler.
    pub fn path(&self, key: &str) -> String {
        format!("{}.workload.scheduler.{key}", self.site.path)
    }

    /// Returns the index of the trace with name `name`. Refuses an unknown name. `key`: the key that the refusal names.
    pub fn trace(&self, name: &str, key: &str) -> Result<usize, Refusal> {
        let traces = &self.scheduler.traces;
        traces.iter().position(|trace| trace.name == name).ok_or_else(|| {
            let names: Vec<_> = traces.iter().map(|trace| format!("`{}`", trace.name)).collect();
            let help = format!("write one of {}, or add the trace", names.join(", "));
            self.refusal(key, format!("there is no trace `{name}`"), &help)
        })
    }

    /// Returns the number of terminals of a program, or the number of its cores if programs share nodes. Refuses a program for which the
    /// job is too small. `key`: the key that the refusal names.
    pub fn needs(&self, name: &str, needs: u32, key: &str) -> Result<usize, Refusal> {
        let (job, terminals) = (self.site.job, self.site.terminals.len());
        let all = terminals * self.scheduler.cores() as usize;
        if needs as usize <= all {
            return Ok(needs as usize);
        }
        let (what, help) = match self.scheduler.cores_per_node {
            None => (
                format!("`{name}` needs {needs} terminals, but job `{job}` has {terminals}: it can never start"),
                "give the job more terminals, use a program with fewer ranks, or put more ranks on each terminal",
            ),
            Some(cores) => (
                format!(
                    "`{name}` needs {needs} cores, but job `{job}` has {all} ({terminals} terminals with {cores} cores each): it can \
                     never start"
                ),
                "give the job more terminals, write a larger `cores_per_node`, or use a program with fewer ranks",
            ),
        };
        Err(self.refusal(key, what, help))
    }

    /// Returns the expected run time of a trace [cycles].
    pub fn estimate_of(&self, place: usize) -> Result<Option<Cycles>, Refusal> {
        self.estimate(self.scheduler.traces[place].estimate, &format!("traces.{place}.estimate"))
    }

    /// Converts an expected run time to cycles, rounded up. Refuses a time of more than 2^48 cycles. `key`: the key
    /// that the refusal names.
    fn estimate(&self, time: Option<Time>, key: &str) -> Result<Option<Cycles>, Refusal> {
        let rounded = |time: Time| time.rounded_up(self.site.cycle_fs).cycles(self.site.cycle_fs, &self.path(key));
        time.map(rounded).transpose()
    }

    /// Refuses a submission after [`LATEST`]. `key`: the key that the refusal names.
    fn check_submit(&self, submit: f64, key: &str) -> Result<(), Refusal> {
        if submit <= LATEST as f64 {
            return Ok(());
        }
        let what = format!("a program would arrive in cycle {submit:.0}, which is after the last possible cycle, 2^47");
        Err(self.refusal(key, what, "write a shorter time"))
    }

    /// Returns the unchanged trace with index `place`, submitted at the start of the run.
    fn whole(&self, place: usize, scheduled: &Scheduled) -> Result<Submitted, Refusal> {
        let key = format!("traces.{place}.programs");
        let needs = scheduled.programs.terminals_needed(&self.path(&key))?;
        Ok(Submitted {
            name: scheduled.name.as_str().into(),
            number: 0,
            programs: scheduled.programs.clone(),
            needs: self.needs(&scheduled.name, needs, &key)?,
            submit: 0,
            estimate: self.estimate_of(place)?,
            length_fs: None,
        })
    }
}

impl Arrivals {
    /// Returns the submitted programs. Refuses programs that are invalid for this job.
    pub fn programs(&self, asking: Asking) -> Result<Arrived, Refusal> {
        let mut arrived = Arrived { programs: Vec::new(), skipped: Skipped::default() };
        match self {
            Self::AtOnce(_) => arrived.programs = every(asking)?,
            Self::Poisson(poisson) => arrived.programs = poisson.programs(asking)?,
            Self::List(list) => arrived.programs = listed(list, asking)?,
            Self::Swf(log) => arrived = log.programs(asking)?,
        }
        if !matches!(self, Self::Swf(_)) {
            arrived.programs.iter_mut().zip(1..).for_each(|(program, number)| program.number = number);
        }
        Ok(arrived)
    }

    /// True if each trace runs `count` times under this rule.
    pub fn counts(&self) -> bool {
        match self {
            Self::AtOnce(_) | Self::Poisson(_) => true,
            Self::List(_) | Self::Swf(_) => false,
        }
    }

    /// Latency of a message on the ideal network of `alone.rs`, for programs whose run time comes from a file.
    pub fn latency(&self) -> Time {
        match self {
            Self::AtOnce(_) | Self::Poisson(_) | Self::List(_) => Time::Femtoseconds(0),
            Self::Swf(log) => log.latency,
        }
    }

    /// The default bound of the bounded slowdown: for a job file, 10 s on the recorded machine. There is no default for
    /// other rules, because their programs run for microseconds.
    pub fn slowdown_bound(&self) -> Option<Time> {
        match self {
            Self::AtOnce(_) | Self::Poisson(_) | Self::List(_) => None,
            Self::Swf(_) => Some(Time::Femtoseconds(10_000_000_000_000_000)),
        }
    }

    /// Number of seconds on the recorded machine per second of the run.
    pub fn compression(&self) -> f64 {
        match self {
            Self::AtOnce(_) | Self::Poisson(_) | Self::List(_) => 1.0,
            Self::Swf(log) => log.compression,
        }
    }
}

/// Returns all traces, each of them `count` times.
fn every(asking: Asking) -> Result<Vec<Submitted>, Refusal> {
    let mut all = Vec::new();
    for (place, scheduled) in asking.scheduler.traces.iter().enumerate() {
        all.extend(std::iter::repeat_n(asking.whole(place, scheduled)?, scheduled.count as usize));
    }
    Ok(all)
}

impl Poisson {
    fn programs(&self, asking: Asking) -> Result<Vec<Submitted>, Refusal> {
        let mean = self.mean_gap.femtoseconds(asking.site.cycle_fs) as f64 / asking.site.cycle_fs as f64;
        if mean <= 0.0 {
            let what = "the mean gap is 0: all programs would arrive at the start".to_owned();
            return Err(asking.refusal(
                "arrivals.poisson.mean_gap",
                what,
                "write a time such as 10us, or `at_once: {}`",
            ));
        }
        let seed = asking.site.seed ^ asking.scheduler.seed;
        let mut all = every(asking)?;
        for place in (1..all.len()).rev() {
            let other = below(hash(seed, place as u32, 0, ORDER), place as u32 + 1);
            all.swap(place, other as usize);
        }
        let mut at = 0.0;
        for (program, number) in all.iter_mut().zip(0..) {
            at += mean * gap(hash(seed, number, 0, GAPS));
            asking.check_submit(at, "arrivals.poisson.mean_gap")?;
            program.submit = at.round() as u64;
        }
        Ok(all)
    }
}

/// Converts a random word to a random number with an exponential distribution of mean 1.
fn gap(word: u64) -> f64 {
    // a random number of 53 bits, above 0 and up to 1
    -(((word >> 11) + 1) as f64 / (1u64 << 53) as f64).ln()
}

/// Returns the programs of a list of submissions.
fn listed(list: &[Submission], asking: Asking) -> Result<Vec<Submitted>, Refusal> {
    let mut all: Vec<Submitted> = Vec::with_capacity(list.len());
    for (place, submission) in list.iter().enumerate() {
        let key = format!("arrivals.list.{place}");
        let submit = submission.at.cycles(asking.site.cycle_fs, &asking.path(&format!("{key}.at")))?;
        asking.check_submit(submit as f64, &format!("{key}.at"))?;
        if let Some(last) = all.last().filter(|last| last.submit > submit) {
            let what = format!("cycle {submit} is before cycle {}, the time of the previous entry", last.submit);
            return Err(asking.refusal(&format!("{key}.at"), what, "sort the entries by their times"));
        }
        let trace = asking.trace(&submission.trace, &format!("{key}.trace"))?;
        let scheduled = &asking.scheduler.traces[trace];
        let mut programs = scheduled.programs.clone();
        if let Some(ranks) = submission.ranks {
            programs = programs.of_ranks(ranks, &asking.path(&format!("{key}.ranks")))?;
        }
        let needs = programs.terminals_needed(&asking.path(&format!("traces.{trace}.programs")))?;
        all.push(Submitted {
            name: scheduled.name.as_str().into(),
            number: 0,
            programs,
            needs: asking.needs(&scheduled.name, needs, &key)?,
            submit,
            estimate: match submission.estimate {
                own @ Some(_) => asking.estimate(own, &format!("{key}.estimate"))?,
                None => asking.estimate_of(trace)?,
            },
            length_fs: None,
        });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_exponential() {
        // The distribution has mean 1 and variance 1. For n gaps, the standard deviation of the measured mean is 1 / sqrt(n), and that of
        // the measured variance is sqrt(8 / n)
        const COUNT: u32 = 100_000;
        let gaps: Vec<f64> = (0..COUNT).map(|number| gap(hash(5, number, 0, GAPS))).collect();
        let n = f64::from(COUNT);
        let mean = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / (n - 1.0);
        assert!((mean - 1.0).abs() < 3.5 / n.sqrt(), "{mean}");
        assert!((variance - 1.0).abs() < 3.5 * (8.0 / n).sqrt(), "{variance}");
        // successive gaps are independent
        let product = gaps.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>() / n;
        assert!(product.abs() < 3.5 / n.sqrt(), "{product}");
        // half of all gaps are below ln 2, the median
        let short = gaps.iter().filter(|gap| **gap < std::f64::consts::LN_2).count() as f64;
        assert!((short - n / 2.0).abs() < 3.5 * n.sqrt() / 2.0, "{short}");
    }
}
