//! The results of a set: the tables of all programs one behind the other, and when each one ran where.

use super::queue::{Queue, Started};
use std::sync::Arc;
use weft_api::activity::OfJob;
use weft_api::recording::{Column, Table};
use weft_api::workload::Progress;

/// The cycle in which a program ended; `None` if it did not.
fn end(started: &Started) -> Option<u64> {
    match started.workload.progress() {
        Progress::Ended(at) => Some(at),
        Progress::Open | Progress::Endless => None,
    }
}

/// When each program ran, and where.
fn schedule(queue: &Queue, terminals: &[u32]) -> Table {
    let started = queue.started();
    let numbers = |of: &dyn Fn(&Started) -> u64| Column::Counts(started.iter().map(of).collect());
    let first = |each: &Started| each.places.first().map(|&place| terminals[place as usize]);
    Table::whole([
        ("trace", Column::Texts(started.iter().map(|each| Arc::clone(&queue.trace(each).name)).collect())),
        ("start_cycles", numbers(&|each| each.at)),
        ("end_cycles", Column::MaybeCounts(started.iter().map(end).collect())),
        ("ranks", numbers(&|each| ranks(each))),
        ("terminals", numbers(&|each| each.places.len() as u64)),
        ("first_terminal", Column::MaybeNumbers(started.iter().map(first).collect())),
    ])
}

fn ranks(started: &Started) -> u64 {
    let tables = started.workload.tables();
    let of_ranks = tables.iter().find(|(name, _)| *name == "ranks");
    of_ranks.and_then(|(_, table)| table.column("rank")).map_or(0, |column| column.rows() as u64)
}

pub fn tables(queue: &Queue, terminals: &[u32]) -> Vec<(&'static str, Table)> {
    let mut all: Vec<(&'static str, Table)> = vec![("schedule", schedule(queue, terminals))];
    for started in queue.started() {
        for (name, table) in started.workload.tables() {
            match all.iter_mut().find(|(other, _)| *other == name) {
                Some((_, first)) => first.append(table),
                None => all.push((name, table)),
            }
        }
    }
    all
}

/// The activity of each program that has started. Its name has the number of its start, so that no two have one name.
pub fn activities(queue: &Queue, job: &str, end: u64) -> Vec<OfJob> {
    let started = queue.started().iter().zip(1..);
    let of = |(each, number): (&Started, usize)| {
        each.workload.activities(&format!("{job}: {} {number}", queue.trace(each).name), end)
    };
    started.flat_map(of).collect()
}

/// Numbers of the whole set. Sums and the maximum add up over programs; means and percentiles do not, and are unknown.
pub fn figures(queue: &Queue) -> Vec<(&'static str, Option<f64>)> {
    let each: Vec<_> = queue.started().iter().map(|started| started.workload.figures()).collect();
    let values = |name: &str| {
        let name = name.to_owned();
        each.iter().flat_map(move |one| {
            one.iter().filter(|(other, _)| *other == name).filter_map(|(_, value)| *value).collect::<Vec<_>>()
        })
    };
    let run_time = match queue.progress() {
        Progress::Ended(at) => Some(at as f64),
        Progress::Open | Progress::Endless => None,
    };
    vec![
        ("run_time_cycles", run_time),
        ("messages", Some(values("messages").sum())),
        ("message_bytes", Some(values("message_bytes").sum())),
        ("flow_completion_mean_cycles", None),
        ("flow_completion_p50_cycles", None),
        ("flow_completion_p99_cycles", None),
        ("flow_completion_max_cycles", values("flow_completion_max_cycles").reduce(f64::max)),
    ]
}
