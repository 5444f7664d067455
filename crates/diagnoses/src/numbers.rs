//! The numbers that decided each flaw, as data for programs.

use crate::backlog::Backlog;
use crate::facts::{Facts, Job};
use crate::kinds::{self, FEWEST_PACKETS, Group, Kind};
use serde_json::{Map, Value, json};

type Named = (&'static str, Option<f64>);

impl Facts {
    /// The known numbers that decided the flaw `kind`, by name.
    pub fn numbers(&self, kind: &Kind) -> Map<String, Value> {
        match kind.group {
            Group::Stalled | Group::Interrupted | Group::Period => known(self.lasted()),
            Group::Overloaded if kind.is(&kinds::SATURATED_IN_A_PHASE) => known([("phase", self.saturated_phase())]),
            Group::Overloaded | Group::Unjudged => known(self.loads()),
            Group::NotComplete => known(self.progress()),
            Group::Dropping => {
                known([("dropped_packets", self.dropped_packets), ("dropped_share", Some(self.dropped_share()))])
            }
            Group::Empty | Group::Few => {
                let packets = [("packets", self.packets), ("fewest_packets", Some(FEWEST_PACKETS))];
                known(packets.into_iter().chain(self.lasted()))
            }
            Group::Unsettled => self.numbers_of_unsettled(kind),
        }
    }

    fn numbers_of_unsettled(&self, kind: &Kind) -> Map<String, Value> {
        if kind.is(&kinds::AT_PATH_BOUND) {
            let bound = [("path_bound_share", self.path_bound_share), self.bound()];
            known(bound.into_iter().chain(self.loads()).chain(self.lasted()))
        } else if kind.is(&kinds::QUEUES_UNSETTLED) {
            let queues = [
                ("queueing_mean_cycles", self.queueing_mean_cycles),
                ("queue_memory_cycles", self.queue_memory_cycles),
                ("latency_growth_share", self.latency_growth_share),
            ];
            known(queues.into_iter().chain(self.loads()).chain(self.lasted()))
        } else if kind.is(&kinds::FELL_BEHIND) {
            self.numbers_of_backlog(self.fell_behind().copied())
        } else if kind.is(&kinds::BEGAN_WITH_BACKLOG) {
            self.numbers_of_backlog(self.began_behind())
        } else if kind.is(&kinds::FILLING) {
            let latency = [("latency_without_queueing_cycles", self.fills_for())];
            known(latency.into_iter().chain(self.lasted()))
        } else if kind.is(&kinds::AFTER_SATURATED_PHASE) {
            known([("phase", self.place.as_ref().map(|place| place.phase))])
        } else {
            let warmup = [("warmup_cycles", self.warmup_cycles), ("warmup_limit_cycles", self.warmup_limit_cycles)];
            known(warmup) // power states, replies or latencies had not settled
        }
    }

    fn numbers_of_backlog(&self, backlog: Option<Backlog>) -> Map<String, Value> {
        let backlog = [
            ("backlog_before_flits_per_terminal", backlog.map(|late| late.before)),
            ("backlog_added_flits_per_terminal", backlog.map(|late| late.own)),
            ("offered_flits_per_terminal", backlog.map(|late| late.offered)),
        ];
        known(backlog.into_iter().chain(self.loads()))
    }

    fn lasted(&self) -> [Named; 2] {
        [("warmup_cycles", self.warmup_cycles), ("window_cycles", self.window_cycles)]
    }

    /// The longest window of the run, and the completed share of each job that is not complete.
    fn progress(&self) -> impl Iterator<Item = Named> {
        let open: Vec<&Job> = self.jobs.iter().filter(|job| job.is_open()).collect();
        let sum = |of: fn(&Job) -> Option<f64>| open.iter().filter_map(|job| of(job)).reduce(|a, b| a + b);
        let sums = [
            ("ended_ranks", sum(|job| job.ended_ranks)),
            ("ranks", sum(|job| job.ranks)),
            ("ended_programs", sum(|job| job.queue_ended_programs)),
            ("programs", sum(|job| job.queue_programs)),
            ("batch_delivered_packets", sum(|job| job.batch_delivered_packets)),
            ("batch_packets", sum(|job| job.batch_packets)),
        ];
        let jobs = [("open_jobs", Some(open.len() as f64)), ("max_window_cycles", self.window_cycles)];
        jobs.into_iter().chain(sums)
    }

    pub(crate) fn loads(&self) -> [Named; 2] {
        [
            ("offered_load_flits_per_terminal_cycle", self.offered_load),
            ("accepted_load_flits_per_terminal_cycle", self.accepted_load),
        ]
    }

    pub(crate) fn bound(&self) -> Named {
        ("path_bound_load_flits_per_terminal_cycle", self.path_bound_load)
    }

    /// The index of the first saturated phase; `None` if no phase is saturated.
    fn saturated_phase(&self) -> Option<f64> {
        let places = self.phases.iter().filter_map(|phase| phase.place.as_ref());
        places.filter(|place| place.own_saturated == Some(true)).map(|place| place.phase).next()
    }
}

/// Removes unknown numbers, and returns the others by name.
pub(crate) fn known(numbers: impl IntoIterator<Item = Named>) -> Map<String, Value> {
    numbers.into_iter().filter_map(|(name, value)| Some((name.to_owned(), number(value?)))).collect()
}

/// Converts a number to JSON; whole numbers get no decimal point.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}
