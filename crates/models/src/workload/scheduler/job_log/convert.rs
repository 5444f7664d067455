//! Makes programs from the lines of a job file.

use super::super::super::programs::Programs;
use super::super::alone::Alone;
use super::super::arrivals::{Arrived, Asking, LATEST};
use super::super::order::Order;
use super::super::queue::Submitted;
use super::{ByNumber, JobLog, Length, Processors, Reason, Runs, Skipped};
use std::collections::{BTreeMap, BTreeSet};
use weft_programs::readers::swf::{self, Damage, DamageKind, Job, Reader};
use weft_units::{Cycles, Refusal, Time};

/// The reason why the job on a line cannot run.
struct Unfit {
    reason: Reason,
    what: String,
    help: String,
}

fn unfit<T>(reason: Reason, what: impl Into<String>, help: impl Into<String>) -> Result<T, Unfit> {
    Err(Unfit { reason, what: what.into(), help: help.into() })
}

/// A program adapted to a certain number of nodes.
struct OfNodes {
    programs: Programs,
    /// The program alone on an ideal network, from which the scale of computations is computed; `None` if the program is not scaled.
    alone: Option<Alone>,
}

/// For each name of a trace that the file can choose: its index, and its estimate [cycles].
type Named = BTreeMap<String, (usize, Option<Cycles>)>;

/// The adapted programs that earlier jobs of the file needed, by index of the trace and number of nodes.
#[derive(Default)]
struct Known(BTreeMap<(usize, u32), Result<OfNodes, String>>);

impl JobLog {
    /// Returns the programs of the jobs that are in the chosen range of the file.
    pub fn programs(&self, asking: Asking) -> Result<Arrived, Refusal> {
        let names = self.check(asking)?;
        let (from, to) = (self.ns(self.from), self.ns(self.to));
        let skip: BTreeSet<Reason> = self.skip.iter().copied().collect();
        let mut known = Known::default();
        let mut arrived = Arrived { programs: Vec::new(), skipped: Skipped::default() };
        let mut reader = Reader::new(self.file.bytes());
        let (mut start_ns, mut is_whole) = (from, true);
        for line in &mut reader {
            arrived.skipped.lines += 1;
            let number = line.as_ref().map_or_else(|damage| damage.line, |job| job.line);
            let fit = match line {
                Ok(job) if from.is_some_and(|from| job.submit_ns < from) => continue,
                Ok(job) if to.is_some_and(|to| job.submit_ns >= to) => {
                    is_whole = false;
                    break;
                }
                Ok(job) => {
                    let begin = *start_ns.get_or_insert(job.submit_ns);
                    self.program(&job, begin, &names, &mut known, asking)
                }
                Err(damage) => Err(damage.into()),
            };
            match fit {
                Ok(program) => arrived.programs.push(program),
                Err(unfit) => {
                    let place = format!("line {number}: {}", unfit.what);
                    if !skip.contains(&unfit.reason) {
                        return Err(self.refused(&place, &unfit, asking));
                    }
                    *arrived.skipped.by_reason.entry(unfit.reason).or_default() += 1;
                    arrived.skipped.first.get_or_insert(place);
                }
            }
            if self.first.is_some_and(|first| arrived.programs.len() >= first as usize) {
                is_whole = false;
                break;
            }
        }
        let announced = reader.header("MaxJobs").and_then(|jobs| jobs.split_whitespace().next()?.parse().ok());
        arrived.skipped.announced = announced.filter(|&jobs| is_whole && jobs > arrived.skipped.lines);
        if arrived.programs.is_empty() {
            let what = format!("{}: none of {} lines has a job that runs", self.file.name(), arrived.skipped.lines);
            let help = "use a file with jobs, or change `first`, `from`, `to` or `skip`";
            return Err(asking.refusal("arrivals.swf.file", what, help));
        }
        Ok(arrived)
    }

    /// Converts a time of the file to nanoseconds.
    fn ns(&self, time: Option<Time>) -> Option<u64> {
        time.map(|time| u64::try_from(time.femtoseconds(0) / 1_000_000).unwrap_or(u64::MAX))
    }

    /// Refuses invalid keys. Returns the traces by their names.
    fn check(&self, asking: Asking) -> Result<Named, Refusal> {
        let key = |key: &str| format!("arrivals.swf.{key}");
        if swf::is_packed(self.file.bytes()) {
            let what = format!("{} is compressed with gzip", self.file.name());
            return Err(asking.refusal(
                &key("file"),
                what,
                "decompress the file with `gunzip`, and name the resulting file",
            ));
        }
        if self.processors_per_node == 0 {
            return Err(asking.refusal(
                &key("processors_per_node"),
                "a node can't have 0 processors".into(),
                "write 1 or more",
            ));
        }
        if self.processors_per_node > 1 && asking.scheduler.cores_per_node.is_some() {
            let what = "with `cores_per_node`, a job gets one core for each of its processors".to_owned();
            return Err(asking.refusal(
                &key("processors_per_node"),
                what,
                "leave `processors_per_node` or `cores_per_node` out",
            ));
        }
        if !(self.compression > 0.0 && self.compression.is_finite()) {
            let what = format!("times can't be divided by {}", self.compression);
            return Err(asking.refusal(&key("compression"), what, "write a number above 0, such as 100000"));
        }
        if self.first == Some(0) {
            return Err(asking.refusal(&key("first"), "0 jobs run".into(), "write 1 or more, or leave `first` out"));
        }
        for (name, time) in [("from", self.from), ("to", self.to)] {
            if let Some(time @ Time::Cycles(_)) = time {
                let what = format!("{time}: times of the recorded machine can't be in cycles");
                return Err(asking.refusal(&key(name), what, "write a time such as 3600s"));
            }
        }
        if let (Some(from), Some(to)) = (self.from, self.to)
            && self.ns(Some(from)) >= self.ns(Some(to))
        {
            return Err(asking.refusal(
                &key("to"),
                format!("there is no time between {from} and {to}"),
                "write a later time",
            ));
        }
        let named: Vec<(String, &String)> = match &self.runs {
            Runs::All(name) => vec![(key("runs.all"), name)],
            Runs::ByExecutable(by) => by.named("runs.by_executable", asking)?,
            Runs::ByQueue(by) => by.named("runs.by_queue", asking)?,
        };
        let of = |(key, name): (String, &String)| {
            let trace = asking.trace(name, &key)?;
            Ok((name.clone(), (trace, asking.estimate_of(trace)?)))
        };
        named.into_iter().map(of).collect()
    }

    fn refused(&self, place: &str, unfit: &Unfit, asking: Asking) -> Refusal {
        let help = format!("{}, or skip such lines with `skip: [{}]`", unfit.help, unfit.reason.name());
        asking.refusal("arrivals.swf.file", format!("{}, {place}", self.file.name()), &help)
    }

    /// Converts a time of the file [ns] to femtoseconds of the run.
    fn fs(&self, ns: u64) -> f64 {
        ns as f64 * 1e6 / self.compression
    }

    /// Returns the program for a job.
    fn program(
        &self,
        job: &Job,
        start_ns: u64,
        names: &Named,
        known: &mut Known,
        asking: Asking,
    ) -> Result<Submitted, Unfit> {
        let of = |what: String| format!("job {}: {what}", job.number);
        let cycles = |ns: u64| self.fs(ns) / asking.site.cycle_fs.max(1) as f64;
        let submit = cycles(job.submit_ns - start_ns).round();
        if submit > LATEST as f64 {
            let what = of(format!("submitted in cycle {submit} of the run, after the last possible cycle, 2^47"));
            return unfit(Reason::TooLate, what, "write a larger `compression`");
        }
        let nodes = self.nodes(job, asking)?;
        let (trace, of_trace) = self.trace(job, names)?;
        let length_ns = self.length_ns(job)?;
        let estimate = job.requested_ns.map(|ns| cycles(ns).ceil() as u64).or(of_trace);
        if estimate.is_none() && asking.order == Order::Easy {
            let what = of("the requested time, field 9, is missing (-1), but `order: easy` needs it".to_owned());
            return unfit(Reason::Missing, what, "give the trace the key `estimate`, write `order: fcfs`");
        }
        let program = known.of_nodes(self, (trace, nodes), asking).map_err(|what| Unfit {
            reason: Reason::NoProgram,
            what: of(what),
            help: "name another trace for this job in `runs`".to_owned(),
        })?;
        let length_fs = length_ns.map(|ns| self.fs(ns).round() as u128);
        if let Some((alone, length)) = program.alone.as_ref().zip(length_fs)
            && let Some((misfit, help)) = alone.misfit(length)
        {
            let name = &asking.scheduler.traces[trace].name;
            return unfit(Reason::Unscalable, of(format!("`{name}` on {nodes} nodes: {misfit}")), help);
        }
        Ok(Submitted {
            name: asking.scheduler.traces[trace].name.as_str().into(),
            number: job.number,
            programs: program.programs.clone(),
            needs: nodes as usize,
            submit: submit as u64,
            estimate,
            length_fs,
        })
    }

    /// Returns the number of nodes that a job needs, or the number of cores if programs share nodes.
    fn nodes(&self, job: &Job, asking: Asking) -> Result<u32, Unfit> {
        let (processors, field, other) = match self.processors {
            Processors::Allocated => (job.allocated, "allocated processors, field 5,", "requested"),
            Processors::Requested => (job.requested, "requested processors, field 8,", "allocated"),
        };
        let number = job.number;
        let Some(processors) = processors else {
            let help = format!("write `processors: {other}`");
            return unfit(Reason::Missing, format!("job {number}: the {field} are missing (-1)"), help);
        };
        if processors == 0 {
            let what = format!("job {number}: the {field} are 0");
            return unfit(Reason::NoProcessors, what, format!("write `processors: {other}`"));
        }
        let (nodes, terminals) = (processors.div_ceil(self.processors_per_node.into()), asking.site.terminals.len());
        let cores = asking.scheduler.cores();
        if cores > 1 && nodes > terminals as u64 * u64::from(cores) {
            let what = format!(
                "job {number} needs {processors} processors, but job `{}` has {terminals} terminals with {cores} cores each: the \
                 recorded job can never start",
                asking.site.job
            );
            let fewest = processors.div_ceil(terminals as u64);
            return unfit(Reason::TooLarge, what, format!("write `cores_per_node: {fewest}`, use a larger network"));
        }
        if cores == 1 && nodes > terminals as u64 {
            let each = self.processors_per_node;
            let what = format!(
                "job {number}: {processors} processors, {each} per node, need {nodes} nodes, but job `{}` has {terminals} \
                 terminals: the recorded job can never start",
                asking.site.job
            );
            let fewest = processors.div_ceil(terminals as u64);
            return unfit(
                Reason::TooLarge,
                what,
                format!("write `processors_per_node: {fewest}`, use a larger network"),
            );
        }
        Ok(nodes as u32)
    }

    /// Returns the index of the trace for a job, and the trace's estimate [cycles].
    fn trace(&self, job: &Job, names: &Named) -> Result<(usize, Option<Cycles>), Unfit> {
        let (by, number, field) = match &self.runs {
            Runs::All(name) => return Ok(names[name]),
            Runs::ByExecutable(by) => (by, job.executable, "executable, field 14,"),
            Runs::ByQueue(by) => (by, job.queue, "queue, field 15,"),
        };
        let named = number.and_then(|number| by.names.get(&number.to_string())).or(by.others.as_ref());
        let number =
            number.map_or("is missing (-1)".to_owned(), |number| format!("is {number}, which is not in `names`"));
        match named {
            Some(name) => Ok(names[name]),
            None => unfit(
                Reason::NoProgram,
                format!("job {}: the {field} {number}", job.number),
                "add the number to `names`, write `others: NAME`",
            ),
        }
    }

    /// Returns the run time that the job's program must have alone on an ideal network, as a time of the file [ns].
    /// `None` if the program is not scaled.
    fn length_ns(&self, job: &Job) -> Result<Option<u64>, Unfit> {
        let (time, field, other) = match self.length {
            Length::Own => return Ok(None),
            Length::RunTime => (job.run_ns, "run time, field 4,", "requested_time"),
            Length::RequestedTime => (job.requested_ns, "requested time, field 9,", "run_time"),
        };
        let number = job.number;
        match time {
            None => {
                let help = format!("write `length: {other}`, or `length: own`");
                unfit(Reason::Missing, format!("job {number}: the {field} is missing (-1)"), help)
            }
            Some(0) => unfit(Reason::ZeroTime, format!("job {number}: the {field} is 0"), "write `length: own`"),
            time => Ok(time),
        }
    }
}

impl Known {
    /// Returns the program of a trace, adapted to this number of nodes.
    fn of_nodes(&mut self, log: &JobLog, (trace, nodes): (usize, u32), asking: Asking) -> Result<&OfNodes, String> {
        let make = || {
            let path = asking.path(&format!("traces.{trace}.programs"));
            let scheduled = &asking.scheduler.traces[trace].programs;
            let explain = |refusal: Refusal| {
                format!("`{}` on {nodes} nodes: {}", asking.scheduler.traces[trace].name, refusal.what)
            };
            let ranks = nodes.saturating_mul(scheduled.ranks_per_node());
            let programs = scheduled.of_ranks(ranks, &path).map_err(explain)?;
            let needs = programs.terminals_needed(&path).map_err(explain)?;
            if needs != nodes {
                return Err(format!("its program of {ranks} ranks needs {needs} nodes, but the job has {nodes}"));
            }
            let units = (asking.site.cycle_fs, asking.site.flit_bits);
            let alone = match log.length {
                Length::Own => None,
                Length::RunTime | Length::RequestedTime => {
                    Some(Alone::of(&programs, &path, units, log.latency).map_err(explain)?)
                }
            };
            Ok(OfNodes { programs, alone })
        };
        self.0.entry((trace, nodes)).or_insert_with(make).as_ref().map_err(Clone::clone)
    }
}

impl ByNumber {
    /// Returns the names of traces in `by_executable` or `by_queue`, each with the path of its key. Refuses a key of `names` that cannot be
    /// a number in a job file.
    fn named(&self, key: &str, asking: Asking) -> Result<Vec<(String, &String)>, Refusal> {
        let key = format!("arrivals.swf.{key}");
        let is_number = |text: &str| text.parse::<u64>().is_ok_and(|number| number.to_string() == text);
        if let Some(other) = self.names.keys().find(|number| !is_number(number)) {
            let what = format!("`{other}` is not a valid number of this field");
            return Err(asking.refusal(&format!("{key}.names"), what, "write whole numbers, such as `1: NAME`"));
        }
        let named = self.names.iter().map(|(number, name)| (format!("{key}.names.{number}"), name));
        Ok(named.chain(self.others.iter().map(|name| (format!("{key}.others"), name))).collect())
    }
}

impl From<Damage> for Unfit {
    fn from(damage: Damage) -> Self {
        let (reason, help) = match damage.kind {
            DamageKind::Malformed => (Reason::Malformed, "correct this line; if the file is cut off, copy it again"),
            DamageKind::Backwards => (Reason::Backwards, "sort the lines by the submit time, field 2"),
        };
        Self { reason, what: damage.what, help: help.to_owned() }
    }
}
