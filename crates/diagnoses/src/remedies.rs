//! Decides which settings let Weft rank a point with a flaw, with numbers.

use crate::backlog::{Backlog, CHANCE};
use crate::facts::{Facts, Place, Told};
use crate::flaws::{LIMIT, TOO_SHORT, WARMUP};
use crate::format::rounded_up;
use crate::kinds::{self, FEWEST_PACKETS, Group, Kind};
use crate::verdict::{Diagnosis, Remedy};
use crate::words;
use serde_json::{Map, json};

/// A warm-up of so many times the run until now, and so many times the window, show whether less is accepted than is offered, and
/// whether queues settle.
const LONGER: f64 = 4.0;
/// No run is proposed that is so many times as long: queues that seem to need it may be those of a run that began badly.
const PATIENCE: f64 = 50.0;
/// A load below the bound of its paths by this share settles in a run of usual length.
pub(crate) const BELOW_BOUND: f64 = 0.95;
/// The longest window that a scenario may have \[cycles\].
const LONGEST: f64 = (1u64 << 48) as f64;
/// The warning about a window, or about a warm-up, whose remedy proposes another load as well.
const OF_LOAD: &str = "few_packets";
/// At a load that leaves 5 % of the capacity a backlog is gone after 20 times the wait in it. An automatic warm-up has to see twice
/// that time and more.
const WAITS: f64 = 100.0;

impl Facts {
    /// The flaws of a point as data, the worst first.
    pub fn diagnoses(&self) -> Vec<Diagnosis> {
        let one = |kind: &&'static Kind| Diagnosis::new(kind, self.numbers(kind), self.remedy(kind));
        self.flaws().iter().map(one).collect()
    }

    /// Remedy for a flaw: that of the engine, that of the numbers of the point, or else that of the flaw.
    pub fn remedy(&self, kind: &Kind) -> Remedy {
        let general = || Remedy { is_of_load: kind.is_of_load, ..Remedy::new(kind.help) };
        let told = match kind.group {
            Group::Unsettled => self.to_settle(0.0).into_iter().next(),
            Group::Overloaded => self.policy_warning().map(|told| words::policy_or(&told.path, &told.help, kind.help)),
            Group::Unjudged | Group::Period => self.warnings_of(&TOO_SHORT).next().map(of_engine),
            Group::Few => Some(self.more_packets()),
            Group::Empty if self.is_silent() => Some(self.any_packet()),
            Group::Empty | Group::Stalled | Group::Interrupted | Group::Dropping => None,
        };
        told.unwrap_or_else(general)
    }

    /// Remedy for a flaw of a point whose load a profile names: another load alone would be one that it lacks. Profiles name phases
    /// by their number, which keeps the profile as it is.
    pub fn remedy_in_profile(&self, kind: &Kind) -> Remedy {
        let remedy = self.remedy(kind);
        if remedy.is_of_load && !self.is_phase() {
            Remedy { text: words::also_in_profile(&remedy.text), ..remedy }
        } else {
            remedy
        }
    }

    /// Settings with which a point that [`is_behind`](Self::is_behind) shows whether the network carries its load.
    ///
    /// After the longer warm-up the gap is one that lasts, and in half of the longer window chance explains less of it.
    pub fn to_judge(&self) -> Remedy {
        if self.has(&kinds::AT_PATH_BOUND) {
            return words::write(self.below_bound()); // no time is long enough
        }
        let (warmup, window) = (self.warmup_cycles.unwrap_or(0.0), self.window_cycles.unwrap_or(0.0));
        let longer = rounded_up(LONGER * (warmup + window)).max(self.warmup_limit_cycles.unwrap_or(0.0));
        let key = if self.is_by_limit() { LIMIT } else { WARMUP };
        words::warmup_and_window(key, longer, rounded_up(LONGER * window))
    }

    /// Settings with which an unsettled point settles; empty for a settled one. `least_limit`: the longest `measure.warmup_limit` of all
    /// points of the sweep \[cycles\]. Where one is written for all of them, no point gets less than it had.
    pub fn to_settle(&self, least_limit: f64) -> Vec<Remedy> {
        let flaws = self.flaws();
        let has = |kind: &Kind| flaws.iter().any(|found| found.is(kind));
        if !crate::flaws::is_unsettled(&flaws) {
            return Vec::new();
        }
        if has(&kinds::AT_PATH_BOUND) {
            return vec![words::write(self.below_bound())]; // no time is long enough
        }
        if self.is_silent() {
            return vec![self.any_packet()];
        }
        let mut told: Vec<Remedy> = self.warnings_of(&[WARMUP]).map(of_engine).collect();
        if has(&kinds::QUEUES_UNSETTLED) {
            told.push(self.for_queues(least_limit));
        } else if self.is_by_limit() {
            let limit = self.longer_limit().max(least_limit);
            // power states settle no sooner under a lower load
            let lighter = (self.warmup_settled == Some(false)).then(|| words::else_lighter(self.load));
            told.push(words::longer_limit(limit, lighter));
        }
        if let Some(late) = self.fell_behind().copied().or_else(|| self.began_behind()) {
            told.push(self.after_backlog(&late));
        }
        if has(&kinds::AFTER_SATURATED_PHASE) {
            told.push(Remedy::of_load(kinds::AFTER_SATURATED_PHASE.help));
        }
        told
    }

    /// A limit of a warm-up that reached its own: the one that the engine proposes \[cycles\], or else twice as much. Warnings of
    /// earlier versions have no numbers: the engine has always proposed four times the limit, except for saturated points.
    fn longer_limit(&self) -> f64 {
        let reached = self.warmup_cycles.unwrap_or(0.0).max(self.warmup_limit_cycles.unwrap_or(0.0));
        let proposed =
            self.warnings_of(&[LIMIT]).map(|warning| warning.longer_limit_cycles.unwrap_or(LONGER * reached));
        proposed.fold(rounded_up(2.0 * reached), f64::max)
    }

    /// A run long enough for queues of this length; near the capacity, a lower load first.
    fn for_queues(&self, least_limit: f64) -> Remedy {
        if !self.is_phase() && self.phases.is_empty() {
            return if self.is_near_capacity() { self.lighter(least_limit) } else { self.longer_run(least_limit) };
        }
        let own = std::slice::from_ref(self);
        let spans = if self.phases.is_empty() { own } else { &self.phases };
        let unsettled = spans.iter().filter(|phase| phase.has(&kinds::QUEUES_UNSETTLED));
        words::each(unsettled.filter_map(|phase| phase.place.as_ref().map(|place| phase.for_phase(place))))
    }

    fn for_phase(&self, place: &Place) -> String {
        if self.is_near_capacity() {
            return words::lower_phase(place.phase);
        }
        words::longer_for_queues(place.phase, rounded_up(self.enough_for(place.lasted())))
    }

    /// How long a run or a phase must last that was too short for its queues \[cycles\].
    fn enough_for(&self, lasted: f64) -> f64 {
        LONGER * self.memory(lasted).max(lasted).ceil()
    }

    /// How long queues depend on how they began, or 0 if no run could be proposed that is as long \[cycles\].
    fn memory(&self, lasted: f64) -> f64 {
        self.queue_memory_cycles.filter(|&memory| memory <= PATIENCE * lasted).unwrap_or(0.0)
    }

    /// True if the load is near the capacity, so that no time may be long enough.
    ///
    /// Its paths carry hardly more, it accepts less than it is offered, or packets wait in the source queues that it does not
    /// deliver. Queues that are long for another reason (a routing that fills queues before it leaves the shortest paths, links
    /// that sleep) are as long at a load 5 % lower.
    fn is_near_capacity(&self) -> bool {
        if self.path_bound_share.unwrap_or(0.0) > BELOW_BOUND || self.is_behind() {
            return true;
        }
        let (begin, end) = (self.backlog_before_packets.unwrap_or(0.0), self.backlog_packets.unwrap_or(0.0));
        let chance = CHANCE * self.packets.unwrap_or(0.0).sqrt();
        end > chance && begin - end <= chance
    }

    /// True if a warm-up that may end by itself reached its limit.
    fn is_by_limit(&self) -> bool {
        self.warmup_settled.is_some() && [self.warmup_settled, self.power_settled].contains(&Some(false))
    }

    /// Cycles after which a backlog is gone.
    fn after_waits(&self) -> f64 {
        WAITS * self.queueing_mean_cycles.unwrap_or(0.0)
    }

    /// A warm-up and a window that are longer than queues of this length need to forget how they began.
    fn longer_run(&self, least_limit: f64) -> Remedy {
        let (warmup, window) = (self.warmup_cycles.unwrap_or(0.0), self.window_cycles.unwrap_or(0.0));
        let cycles = rounded_up(self.enough_for(warmup + window).max(self.after_waits()));
        // a multiple, so that it still holds whole periods of the policy; and longer than queues take to swing, as one that begins or
        // ends in the middle of a swing accepts more or less than it is offered
        let longer = (window > 0.0).then(|| LONGER * (self.memory(warmup + window) / window).ceil().max(1.0) * window);
        let lighter = words::else_lighter(self.load);
        if self.is_by_limit() {
            let limit = cycles.max(2.0 * self.warmup_limit_cycles.unwrap_or(0.0)).max(least_limit);
            return words::longer_run(LIMIT, limit, longer, false, &lighter);
        }
        // a longer limit changes nothing, and is refused beside a fixed warm-up
        words::longer_run(WARMUP, cycles, longer, self.warmup_settled.is_some(), &lighter)
    }

    /// A lower load, and a warm-up that is long enough for it. A limit changes nothing where it was not what ended the warm-up.
    fn lighter(&self, least_limit: f64) -> Remedy {
        let enough = rounded_up((2.0 * self.warmup_cycles.unwrap_or(0.0)).max(self.after_waits()));
        let cycles = enough.max(2.0 * self.warmup_limit_cycles.unwrap_or(0.0)).max(least_limit);
        let key = match self.warmup_settled {
            None => Some(WARMUP),
            Some(_) => self.is_by_limit().then_some(LIMIT),
        };
        words::lighter_and_longer(self.load, key.map(|key| (key, cycles)))
    }

    /// A load that the paths can carry, or longer buffers.
    pub fn below_bound(&self) -> Remedy {
        let share = self.path_bound_share.unwrap_or(f64::NAN);
        let buffer = self.path_bound_buffer.as_deref().zip(self.path_bound_buffer_needed_flits);
        words::below_bound(self.load, share, buffer)
    }

    /// Settings with which a backlog is gone before the window, or is small against the load of a phase.
    pub fn after_backlog(&self, late: &Backlog) -> Remedy {
        if late.at_begin.is_none_or(|packets| packets == 0.0) {
            return self.longer_phase(late);
        }
        let is_of_phase = !self.phases.is_empty() || self.is_phase();
        let Some(drained) = late.drained_in() else { return words::lower_before(is_of_phase) };
        let begin = self.warmup_cycles.unwrap_or(0.0);
        let later = rounded_up(begin + 2.0 * drained);
        words::later_window(later, is_of_phase.then_some(later - begin))
    }

    /// Length of a phase with which the flits that wait at its begin or end are less than 3 % of its load.
    pub fn longer_phase(&self, late: &Backlog) -> Remedy {
        words::longer_phase(self.place.as_ref().map_or(0.0, |place| place.phase), rounded_up(late.long_enough()))
    }

    /// How long to measure for twice the packets that a mean needs, so that chance does not leave too few again.
    fn more_packets(&self) -> Remedy {
        let times = (2.0 * FEWEST_PACKETS / self.packets.unwrap_or(1.0)).ceil();
        match self.window_cycles.filter(|&window| window > 0.0 && !self.is_phase()) {
            Some(window) if times * window > LONGEST => words::higher_loads(times),
            Some(window) => words::window(times * window),
            None => words::longer_times(times, self.is_phase()),
        }
    }

    /// A window with twice the packets that a mean needs, or a load that gives them.
    fn any_packet(&self) -> Remedy {
        let some = |number: Option<f64>| number.filter(|&number| number != 0.0);
        let known = (some(self.load), some(self.terminals), some(self.packet_flits), some(self.window_cycles));
        let has_phases = self.is_phase() || !self.phases.is_empty();
        let ((Some(load), Some(terminals), Some(flits), Some(window)), false) = (known, has_phases) else {
            return words::any_packet();
        };
        let needed = 2.0 * FEWEST_PACKETS * flits / terminals;
        let (longer, higher) = (rounded_up(needed / load), needed / window);
        words::first_packet((longer <= LONGEST).then_some(longer), higher)
    }

    /// The numbers by which a flaw is decided, as far as they are known.
    pub fn numbers(&self, kind: &Kind) -> Map<String, serde_json::Value> {
        let backlog = self.fell_behind().copied().or_else(|| self.began_behind());
        let lasted = [("warmup_cycles", self.warmup_cycles), ("window_cycles", self.window_cycles)];
        let loads = [
            ("offered_load_flits_per_cycle", self.offered_load),
            ("accepted_load_flits_per_cycle", self.accepted_load),
            ("path_bound_load_flits_per_cycle", self.path_bound_load),
        ];
        let known: Vec<(&str, Option<f64>)> = match kind.group {
            Group::Stalled | Group::Interrupted | Group::Period => lasted.to_vec(),
            Group::Overloaded | Group::Unjudged => loads.to_vec(),
            Group::Dropping => {
                vec![("dropped_packets", self.dropped_packets), ("dropped_share", Some(self.dropped_share()))]
            }
            Group::Empty | Group::Few => {
                let packets = [("packets", self.packets), ("fewest_packets", Some(FEWEST_PACKETS))];
                [packets, lasted].concat()
            }
            Group::Unsettled => {
                let queues = [
                    ("path_bound_share", self.path_bound_share),
                    ("queueing_mean_cycles", self.queueing_mean_cycles),
                    ("queue_memory_cycles", self.queue_memory_cycles),
                    ("latency_growth_share", self.latency_growth_share),
                    ("backlog_before_flits_per_terminal", backlog.map(|late| late.before)),
                    ("backlog_added_flits_per_terminal", backlog.map(|late| late.own)),
                ];
                [&loads[..], &lasted[..], &queues[..]].concat()
            }
        };
        known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), number(value?)))).collect()
    }
}

/// The remedy of a warning of the engine.
fn of_engine(warning: &Told) -> Remedy {
    Remedy { is_of_load: warning.code.as_deref() == Some(OF_LOAD), ..Remedy::new(warning.help.clone()) }
}

/// A whole number without a decimal point.
fn number(value: f64) -> serde_json::Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}
