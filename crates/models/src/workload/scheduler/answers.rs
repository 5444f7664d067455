//! The results of a queue: start, end and nodes of each program, the utilisation of the nodes, and the joined tables of all programs.

use super::job_log::Skipped;
use super::queue::{Queue, Started, Submitted};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use weft_api::activity::OfJob;
use weft_api::recording::{Column, Table};
use weft_api::workload::{Progress, Usage};
use weft_units::Remark;

weft_units::codes! {
    SKIPPED_LINES = "skipped_lines", Warning,
        means: "Weft skips some lines of the job file.",
        computed: "The number of skipped lines, and of all lines. The message has the reasons and the first skipped line.",
        helps: "Correct these lines, or report with the results that they were skipped.";
    FEWER_JOBS = "fewer_jobs", Warning,
        means: "The job file has fewer jobs than its header announces.",
        computed: "`MaxJobs` of the header, compared with the number of lines.",
        helps: "If the file is cut off, copy it again.";
}

/// Name of the table of programs.
pub const SCHEDULE: &str = "schedule";

/// A row of the table of programs: a program that has started, or that still waits.
struct Row<'a> {
    submitted: &'a Submitted,
    started: Option<&'a Started>,
    end: Option<u64>,
}

impl<'a> Row<'a> {
    /// Returns the programs in the order of their starts, followed by the programs that wait. `end`: the cycle in which
    /// the run ends. Leaves out programs that are submitted in this cycle or later.
    fn all(queue: &'a Queue, end: u64) -> Vec<Self> {
        let of = |started: &'a Started| Row {
            submitted: queue.program(started),
            started: Some(started),
            end: started.end(),
        };
        let waiting = queue.waiting().filter(|submitted| submitted.submit < end);
        let waiting = waiting.map(|submitted| Row { submitted, started: None, end: None });
        queue.started().iter().map(of).chain(waiting).collect()
    }

    fn start(&self) -> Option<u64> {
        self.started.map(|started| started.at)
    }

    fn wait(&self) -> Option<u64> {
        self.start().map(|start| start - self.submitted.submit)
    }

    fn run_time(&self) -> Option<u64> {
        self.start().zip(self.end).map(|(start, end)| end - start)
    }

    /// The slowdown: time from submission to end, divided by the run time. A run time below `bound` counts as `bound`. The result is at
    /// least 1.
    fn slowdown(&self, bound: f64) -> Option<f64> {
        let (wait, run) = (self.wait()? as f64, self.run_time()? as f64);
        let by = run.max(bound);
        (by > 0.0).then(|| ((wait + run) / by).max(1.0))
    }
}

/// Builds the table with start, end and nodes of each program.
fn schedule(queue: &Queue, terminals: &[u32], bound: Option<f64>, end: u64) -> Table {
    let rows = Row::all(queue, end);
    let counts = |of: &dyn Fn(&Row) -> Option<u64>| Column::MaybeCounts(rows.iter().map(of).collect());
    let floats =
        |of: &dyn Fn(&Row) -> Option<f64>| Column::Floats(rows.iter().map(|row| of(row).unwrap_or(f64::NAN)).collect());
    let places = |row: &Row| row.started.map_or(Vec::new(), |started| started.held.places.clone());
    let first =
        |row: &Row| row.started.and_then(|started| started.held.places.first()).map(|&place| terminals[place as usize]);
    // for a program that waits, the number of nodes is the least number that it needs
    let count = |row: &Row| {
        let fewest = row.submitted.needs.div_ceil(queue.cores_per_node() as usize);
        row.started.map_or(fewest, |started| started.held.places.len()) as u64
    };
    let held = |row: &Row| {
        let mut held: Vec<u32> = places(row).iter().map(|&place| terminals[place as usize]).collect();
        held.sort_unstable();
        (!held.is_empty()).then(|| ranges(&held).into())
    };
    Table::whole([
        ("trace", Column::Texts(rows.iter().map(|row| Arc::clone(&row.submitted.name)).collect())),
        ("number", Column::Counts(rows.iter().map(|row| row.submitted.number).collect())),
        ("submit_cycles", Column::Counts(rows.iter().map(|row| row.submitted.submit).collect())),
        ("start_cycles", counts(&|row| row.start())),
        ("end_cycles", counts(&|row| row.end)),
        ("wait_cycles", counts(&|row| row.wait())),
        ("run_time_cycles", counts(&|row| row.run_time())),
        ("estimate_cycles", counts(&|row| row.submitted.estimate)),
        ("slowdown", floats(&|row| row.slowdown(0.0))),
        ("bounded_slowdown", floats(&|row| row.slowdown(bound?))),
        ("ranks", counts(&|row| row.started.map(|started| ranks(started, end)))),
        ("terminals", Column::Counts(rows.iter().map(count).collect())),
        ("first_terminal", Column::MaybeNumbers(rows.iter().map(first).collect())),
        ("allocated_terminals", Column::MaybeTexts(rows.iter().map(held).collect())),
    ])
}

/// Writes ascending numbers as ranges, such as `0-3 7`.
fn ranges(numbers: &[u32]) -> String {
    let mut text = String::new();
    for run in numbers.chunk_by(|a, b| a + 1 == *b) {
        let space = if text.is_empty() { "" } else { " " };
        let _ = match run {
            [only] => write!(text, "{space}{only}"),
            run => write!(text, "{space}{}-{}", run[0], run[run.len() - 1]),
        };
    }
    text
}

fn ranks(started: &Started, end: u64) -> u64 {
    let tables = started.workload.tables(end);
    let of_ranks = tables.iter().find(|(name, _)| *name == "ranks");
    of_ranks.and_then(|(_, table)| table.column("rank")).map_or(0, |column| column.rows() as u64)
}

/// The programs that are submitted, start, or end in one cycle.
#[derive(Default)]
struct Change<'a> {
    submitted: u64,
    started: Vec<&'a Started>,
    ended: Vec<&'a Started>,
}

/// Builds the table of utilisation over time: numbers of busy terminals, running programs and waiting programs, and the share of the
/// cores that are busy. The table has a row for each cycle in which one of these numbers changes.
fn utilisation(queue: &Queue, end: u64) -> Table {
    let mut changes = BTreeMap::<u64, Change>::new();
    for row in Row::all(queue, end) {
        changes.entry(row.submitted.submit).or_default().submitted += 1;
        let Some(started) = row.started else { continue };
        changes.entry(started.at).or_default().started.push(started);
        if let Some(end) = row.end {
            changes.entry(end).or_default().ended.push(started);
        }
    }
    // if programs share a terminal, the terminal becomes idle when the last of these programs ends
    let mut programs_at = vec![0u32; queue.places()];
    let (mut busy, mut cores, mut running, mut waiting) = (0, 0, 0, 0);
    let mut columns: [Vec<u64>; 4] = Default::default();
    let mut shares = Vec::new();
    for (cycle, Change { submitted, started, ended }) in changes {
        for (place, held) in started.iter().flat_map(|each| each.held.each()) {
            busy += u64::from(programs_at[place] == 0);
            programs_at[place] += 1;
            cores += u64::from(held);
        }
        for (place, held) in ended.iter().flat_map(|each| each.held.each()) {
            programs_at[place] -= 1;
            busy -= u64::from(programs_at[place] == 0);
            cores -= u64::from(held);
        }
        running = running + started.len() as u64 - ended.len() as u64;
        waiting = waiting + submitted - started.len() as u64;
        columns.iter_mut().zip([cycle, busy, running, waiting]).for_each(|(column, value)| column.push(value));
        shares.push(cores as f64 / queue.cores() as f64);
    }
    let [cycles, busy, running, waiting] = columns.map(Column::Counts);
    Table::whole([
        ("cycle", cycles),
        ("busy_terminals", busy),
        ("utilisation", Column::Floats(shares)),
        ("running", running),
        ("waiting", waiting),
    ])
}

/// Builds the tables of results of a run that ends in cycle `end`. `bound`: the bound of the bounded slowdown [cycles].
pub fn tables(queue: &Queue, terminals: &[u32], bound: Option<f64>, end: u64) -> Vec<(&'static str, Table)> {
    let mut all: Vec<(&'static str, Table)> =
        vec![(SCHEDULE, schedule(queue, terminals, bound, end)), ("utilisation", utilisation(queue, end))];
    for started in queue.started() {
        for (name, table) in started.workload.tables(end) {
            match all.iter_mut().find(|(other, _)| *other == name) {
                Some((_, first)) => first.append(table),
                None => all.push((name, table)),
            }
        }
    }
    all
}

/// Returns the resources that each program used, in the order of the table of programs.
pub fn usages(queue: &Queue, end: u64) -> Vec<Usage> {
    let of = |row: &Row| {
        row.started.map_or_else(Usage::default, |started| Usage {
            core_cycles: row.submitted.needs as u64 * (row.end.unwrap_or(end).min(end) - started.at.min(end)),
            cores_per_terminal: queue.cores_per_node(),
            flits: started.delivered.flits.load(Relaxed),
            link_flits: started.delivered.link_flits.load(Relaxed),
        })
    };
    Row::all(queue, end).iter().map(of).collect()
}

/// Returns the activity of each program that has started. The name of an activity contains the number of the program in
/// the table of programs.
pub fn activities(queue: &Queue, job: &str, end: u64) -> Vec<OfJob> {
    let name = |each: &Started| {
        let Submitted { name, number, .. } = queue.program(each);
        format!("{job}: {name} {number}")
    };
    let mut counts = BTreeMap::<String, u64>::new();
    queue.started().iter().for_each(|each| *counts.entry(name(each)).or_default() += 1);
    let of = |(each, start): (&Started, usize)| {
        let mut unique = name(each);
        // several jobs of a file can have the same number
        if counts[&unique] > 1 {
            let _ = write!(unique, ", start {start}");
        }
        each.workload.activities(&unique, end)
    };
    queue.started().iter().zip(1..).flat_map(of).collect()
}

/// Returns the figures for the whole queue. Sums and maxima are computed from the figures of the programs. Means and percentiles of
/// messages cannot be computed from them, and are unknown.
pub fn figures(queue: &Queue, bound: Option<f64>, skipped: u64, end: u64) -> Vec<(&'static str, Option<f64>)> {
    let each: Vec<_> = queue.started().iter().map(|started| started.workload.figures(end)).collect();
    let values = |name: &str| {
        let name = name.to_owned();
        each.iter().flat_map(move |one| {
            one.iter().filter(|(other, _)| *other == name).filter_map(|(_, value)| *value).collect::<Vec<_>>()
        })
    };
    // the fold begins with 0.0, because `sum` of an empty list is -0.0
    let total = |name: &str| Some(values(name).fold(0.0, |sum, value| sum + value));
    let run_time = match queue.progress() {
        Progress::Ended(at) => Some(at as f64),
        Progress::Open | Progress::Endless => None,
    };
    let mut all = vec![
        ("run_time_cycles", run_time),
        ("messages", total("messages")),
        ("message_bytes", total("message_bytes")),
        ("flow_completion_mean_cycles", None),
        ("flow_completion_p50_cycles", None),
        ("flow_completion_p99_cycles", None),
        ("flow_completion_max_cycles", values("flow_completion_max_cycles").reduce(f64::max)),
    ];
    all.extend(of_programs(queue, bound, end));
    all.push(("queue_skipped_lines", Some(skipped as f64)));
    all
}

/// Returns waits and slowdowns of the programs that have ended, and the utilisation from the first submission to the
/// last end.
fn of_programs(queue: &Queue, bound: Option<f64>, end: u64) -> Vec<(&'static str, Option<f64>)> {
    let rows = Row::all(queue, end);
    let ended: Vec<&Row> = rows.iter().filter(|row| row.end.is_some()).collect();
    let numbers = |of: &dyn Fn(&Row) -> Option<f64>| ended.iter().filter_map(|row| of(row)).collect::<Vec<f64>>();
    let mean = |all: Vec<f64>| (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64);
    let most = |all: Vec<f64>| all.into_iter().reduce(f64::max);
    let wait = |row: &Row| row.wait().map(|cycles| cycles as f64);
    let response = |row: &Row| Some((row.end? - row.submitted.submit) as f64);
    let first = rows.iter().map(|row| row.submitted.submit).min();
    let last = ended.iter().filter_map(|row| row.end).max();
    let makespan = first.zip(last).map(|(first, last)| (last - first) as f64);
    let core_cycles = |row: &&Row| row.run_time().unwrap_or(0) as f64 * row.submitted.needs as f64;
    let busy: f64 = ended.iter().map(core_cycles).sum();
    // the queue has ended only if all programs have ended, including those that are not in `rows`
    let has_ended = matches!(queue.progress(), Progress::Ended(_));
    let utilisation =
        makespan.filter(|&cycles| has_ended && cycles > 0.0).map(|cycles| busy / (cycles * queue.cores() as f64));
    vec![
        ("queue_programs", Some(rows.len() as f64)),
        ("queue_ended_programs", Some(ended.len() as f64)),
        ("makespan_cycles", makespan.filter(|_| has_ended)),
        ("queue_utilisation", utilisation),
        ("wait_mean_cycles", mean(numbers(&wait))),
        ("wait_max_cycles", most(numbers(&wait))),
        ("response_mean_cycles", mean(numbers(&response))),
        ("slowdown_mean", mean(numbers(&|row| row.slowdown(0.0)))),
        ("bounded_slowdown_mean", mean(numbers(&|row| row.slowdown(bound?)))),
        ("bounded_slowdown_max", most(numbers(&|row| row.slowdown(bound?)))),
    ]
}

/// Returns warnings about lines of a job file from which no program was made. `path`: the dotted path of the key of the file.
pub fn remarks(skipped: &Skipped, path: &str) -> Vec<Remark> {
    let mut all = Vec::new();
    if let Some(first) = &skipped.first {
        let (count, lines) = (skipped.count(), skipped.lines);
        all.push(Remark {
            code: &SKIPPED_LINES,
            path: path.to_owned(),
            numbers: vec![("skipped_lines".into(), count as f64), ("lines".into(), lines as f64)],
            what: format!("Weft skips {count} of {lines} lines ({}); {first}", skipped.reasons()),
            help: "correct these lines, or report with the results that they were skipped".to_owned(),
        });
    }
    if let Some(announced) = skipped.announced {
        all.push(Remark {
            code: &FEWER_JOBS,
            path: path.to_owned(),
            numbers: vec![("announced_jobs".into(), announced as f64), ("lines".into(), skipped.lines as f64)],
            what: format!("the header announces {announced} jobs (MaxJobs), but the file has {}", skipped.lines),
            help: "if the file is cut off, copy it again".to_owned(),
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_each_other_are_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 3, 7, 9, 10]), "0-3 7 9-10");
        assert_eq!((ranges(&[5]), ranges(&[])), ("5".to_owned(), String::new()));
    }
}
