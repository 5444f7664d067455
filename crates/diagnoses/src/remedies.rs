//! Decides which settings let Weft rank a point with a flaw, with numbers.

use crate::backlog::{Backlog, CHANCE};
use crate::facts::{EngineWarning, Facts, Job, Place};
use crate::flaws::{LIMIT, TOO_SHORT, WARMUP, WITHOUT_REPLIES};
use crate::format::rounded_up;
use crate::kinds::{self, FEWEST_PACKETS, Group, Kind};
use crate::verdict::Remedy;
use crate::words;
use serde_json::Map;

/// The proposed warm-up is the run until now times this factor, and the proposed window is the window times this factor. Together
/// they show whether less is accepted than is offered, and whether queues settle.
const LONGER: f64 = 4.0;
/// A run longer than this factor times the present one is never proposed: its queues may come from a bad begin of the run.
const PATIENCE: f64 = 50.0;
/// A load below the bound of its paths by this share settles in a run of usual length.
pub(crate) const BELOW_BOUND: f64 = 0.95;
/// The longest window that a scenario may have \[cycles\].
const LONGEST: f64 = (1u64 << 48) as f64;
/// The longest window of programs by default \[cycles of the scenario\].
const LONGEST_PROGRAM: f64 = 1e11;
/// The warning about a window, or about a warm-up, whose remedy proposes another load as well.
const OF_LOAD: &str = "few_packets";
/// At a load that leaves 5 % of the capacity a backlog is gone after 20 times the wait in it. An automatic warm-up has to see twice
/// that time and more.
const WAITS: f64 = 100.0;

impl Facts {
    /// Remedy for a flaw. The engine's comes first, then one with the numbers of the point, then the general one of the flaw.
    pub fn remedy(&self, kind: &Kind) -> Remedy {
        let general = || Remedy { is_of_load: kind.is_of_load, ..Remedy::new(kind.help) };
        let found = match kind.group {
            Group::Unsettled => self.to_settle_this(kind),
            Group::Overloaded => {
                self.policy_warning().map(|warning| words::policy_or(&warning.path, &warning.help, kind.help))
            }
            Group::Unjudged | Group::Period => self.warnings_of(&TOO_SHORT).next().map(of_engine),
            Group::NotComplete => Some(self.to_complete()),
            Group::Few => Some(self.more_packets()),
            Group::Empty if self.is_silent() => Some(self.any_packet()),
            Group::Empty | Group::Stalled | Group::Interrupted | Group::Dropping => None,
        };
        found.map_or_else(general, |remedy| self.accepted(remedy))
    }

    /// The remedy for a flaw that has not settled: its own remedy, or else the first one.
    fn to_settle_this(&self, kind: &Kind) -> Option<Remedy> {
        let mut remedies = self.settling(0.0);
        let own = remedies.iter().position(|(of, _)| of.is(kind)).unwrap_or(0);
        (own < remedies.len()).then(|| remedies.swap_remove(own).1)
    }

    /// A remedy without its settings if the scenario may refuse one or have no use for it. A window has no use where batches or
    /// a confidence end the run. A fixed warm-up is refused next to a `measure.warmup_limit`, and where batches end the run.
    pub(crate) fn accepted(&self, remedy: Remedy) -> Remedy {
        // a program has no load
        let is_by_batches = self.load.is_none() || self.jobs.iter().any(|job| job.batch_packets.is_some());
        let is_doubtful = |path: &str| match path {
            words::WINDOW => is_by_batches || self.confidence_reached.is_some(),
            WARMUP => is_by_batches || self.warmup_settled.is_some(),
            _ => false,
        };
        if remedy.settings.keys().any(|path| is_doubtful(path)) {
            Remedy { settings: Map::new(), ..remedy }
        } else {
            remedy
        }
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
        if self.has(&kinds::AT_PATH_BOUND) && self.is_near_bound() {
            return words::write(self.below_bound()); // no time is long enough
        }
        let (warmup, window) = (self.warmup_cycles.unwrap_or(0.0), self.window_cycles.unwrap_or(0.0));
        let longer = rounded_up(LONGER * (warmup + window)).max(self.warmup_limit_cycles.unwrap_or(0.0));
        let key = if self.is_by_limit() { LIMIT } else { WARMUP };
        self.accepted(words::warmup_and_window(key, self.span(longer), self.span(rounded_up(LONGER * window))))
    }

    /// Settings with which an unsettled point settles; empty for a settled one. `least_limit`: the longest `measure.warmup_limit` of all
    /// points of the sweep \[cycles\]. A limit that is written for all points shortens that of no point.
    pub fn to_settle(&self, least_limit: f64) -> Vec<Remedy> {
        self.settling(least_limit).into_iter().map(|(_, remedy)| self.accepted(remedy)).collect()
    }

    /// The same, each with the flaw that it ends.
    fn settling(&self, least_limit: f64) -> Vec<(&'static Kind, Remedy)> {
        let flaws = self.flaws();
        let has = |kind: &Kind| flaws.iter().any(|found| found.is(kind));
        if !crate::flaws::is_unsettled(&flaws) {
            return Vec::new();
        }
        if has(&kinds::AT_PATH_BOUND) && self.is_near_bound() {
            return vec![(&kinds::AT_PATH_BOUND, words::write(self.below_bound()))]; // no time is long enough
        }
        if self.is_silent() {
            return vec![(&kinds::NO_PACKET, self.any_packet())];
        }
        let of_warmup = |warning: &EngineWarning| match warning.code.as_deref() {
            Some(WITHOUT_REPLIES) => (&kinds::REPLIES_UNSETTLED, of_engine(warning)),
            Some(_) | None => (&kinds::POWER_UNSETTLED, of_engine(warning)),
        };
        let mut remedies: Vec<(&'static Kind, Remedy)> = self.warnings_of(&[WARMUP]).map(of_warmup).collect();
        if has(&kinds::AT_PATH_BOUND) && !has(&kinds::QUEUES_UNSETTLED) {
            // a warm-up that reached its limit gets one value for that, the higher one
            let least = if self.is_by_limit() { self.longer_limit().max(least_limit) } else { least_limit };
            remedies.push((&kinds::AT_PATH_BOUND, self.longer_run(least)));
        }
        if has(&kinds::QUEUES_UNSETTLED) {
            remedies.push((&kinds::QUEUES_UNSETTLED, self.for_queues(least_limit)));
        } else if self.is_by_limit() {
            let limit = self.longer_limit().max(least_limit);
            // power states settle no sooner under a lower load
            let is_of_latencies = self.warmup_settled == Some(false);
            let lighter = is_of_latencies.then(|| words::else_lighter(self.load));
            let kind = if is_of_latencies { &kinds::LATENCIES_UNSETTLED } else { &kinds::POWER_UNSETTLED };
            remedies.push((kind, words::longer_limit(self.span(limit), lighter)));
        }
        if let Some(late) = self.fell_behind() {
            remedies.push((&kinds::FELL_BEHIND, self.after_backlog(late)));
        } else if let Some(late) = self.began_behind() {
            remedies.push((&kinds::BEGAN_WITH_BACKLOG, self.after_backlog(&late)));
        }
        if has(&kinds::AFTER_SATURATED_PHASE) {
            remedies.push((&kinds::AFTER_SATURATED_PHASE, Remedy::of_load(kinds::AFTER_SATURATED_PHASE.help)));
        }
        remedies
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
        words::longer_for_queues(place.phase, self.span(rounded_up(self.enough_for(place.lasted()))))
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
    /// deliver. Queues may be long for another reason. A routing may fill queues before it leaves the shortest paths, or links may
    /// sleep. These queues are as long at a load 5 % lower.
    fn is_near_capacity(&self) -> bool {
        if self.is_near_bound() || self.is_behind() {
            return true;
        }
        let (begin, end) = (self.backlog_before_packets.unwrap_or(0.0), self.backlog_packets.unwrap_or(0.0));
        let chance = CHANCE * self.packets.unwrap_or(0.0).sqrt();
        end > chance && begin - end <= chance
    }

    /// True if the load is less than 5 % below the bound of its paths. A longer run shows that a lower load is carried.
    pub(crate) fn is_near_bound(&self) -> bool {
        self.path_bound_share.unwrap_or(0.0) > BELOW_BOUND
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
        // A multiple of the window still holds whole periods of the policy. The window is longer than queues take to swing: one that
        // begins or ends within a swing accepts more or less than it is offered.
        let longer = (window > 0.0).then(|| LONGER * (self.memory(warmup + window) / window).ceil().max(1.0) * window);
        let longer = longer.map(|window| self.span(window));
        let lighter = words::else_lighter(self.load);
        if self.is_by_limit() {
            let limit = cycles.max(2.0 * self.warmup_limit_cycles.unwrap_or(0.0)).max(least_limit);
            return words::longer_run(LIMIT, self.span(limit), longer, false, &lighter);
        }
        // a longer limit changes nothing, and is refused beside a fixed warm-up
        words::longer_run(WARMUP, self.span(cycles), longer, self.warmup_settled.is_some(), &lighter)
    }

    /// A lower load, and a warm-up that is long enough for it. A limit changes nothing where it was not what ended the warm-up.
    fn lighter(&self, least_limit: f64) -> Remedy {
        let enough = rounded_up((2.0 * self.warmup_cycles.unwrap_or(0.0)).max(self.after_waits()));
        let cycles = enough.max(2.0 * self.warmup_limit_cycles.unwrap_or(0.0)).max(least_limit);
        let key = match self.warmup_settled {
            None => Some(WARMUP),
            Some(_) => self.is_by_limit().then_some(LIMIT),
        };
        words::lighter_and_longer(self.load, key.map(|key| (key, self.span(cycles))))
    }

    /// A load that is probably carried, or longer buffers. The bound of the paths is an upper one. The network accepts less if
    /// packets wait for each other, and a saturated point shows how much.
    pub fn below_bound(&self) -> Remedy {
        let share = self.path_bound_share.unwrap_or(f64::NAN);
        let accepted = self.accepted_load.zip(self.offered_load).map(|(accepted, offered)| accepted / offered);
        let lower = accepted.filter(|&part| self.is_over() && part > 0.0 && part * share < 1.0);
        let buffers = self.path_bound_buffers.iter();
        let buffers = buffers.map(|each| (each.path.as_str(), self.written_flits(each.needed_flits)));
        words::below_bound(self.load, share, lower, &buffers.collect::<Vec<_>>())
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
        words::later_window(self.span(later), is_of_phase.then(|| self.span(later - begin)))
    }

    /// Length of a phase with which the flits that wait at its begin or end are less than 3 % of its load.
    pub fn longer_phase(&self, late: &Backlog) -> Remedy {
        let enough = self.span(rounded_up(late.long_enough()));
        words::longer_phase(self.place.as_ref().map_or(0.0, |place| place.phase), enough)
    }

    /// How long to measure for twice the packets that a mean needs, so that chance does not leave too few again.
    fn more_packets(&self) -> Remedy {
        let times = (2.0 * FEWEST_PACKETS / self.packets.unwrap_or(1.0)).ceil();
        match self.window_cycles.filter(|&window| window > 0.0 && !self.is_phase()) {
            Some(window) if times * window > LONGEST => words::higher_loads(times),
            Some(window) => words::window(self.span(times * window)),
            None => words::longer_times(times, self.is_phase()),
        }
    }

    /// A longest window in which all batches and programs are complete.
    ///
    /// Batches get twice the time in which the packets until now would all be delivered. The packets that a program will send are not
    /// known. It gets the default, which costs nothing: the window ends with the program.
    pub(crate) fn to_complete(&self) -> Remedy {
        let window = self.window_cycles.unwrap_or(0.0);
        let longest = LONGEST_PROGRAM / self.grain_flits();
        let times = |job: &Job| {
            let delivered = job.batch_delivered_packets.filter(|&delivered| delivered > 0.0)?;
            Some(2.0 * job.batch_packets? / delivered)
        };
        let enough = |job: &Job| times(job).map_or(longest, |times| times * window);
        let open = self.jobs.iter().filter(|job| job.is_open());
        let most = open.map(enough).fold(LONGER * window, f64::max);
        words::longer_run_to_end(self.span(rounded_up(most).min(LONGEST / self.grain_flits())))
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
        words::first_packet((longer <= LONGEST).then(|| self.span(longer)), higher)
    }
}

/// The remedy of a warning of the engine.
fn of_engine(warning: &EngineWarning) -> Remedy {
    Remedy { is_of_load: warning.code.as_deref() == Some(OF_LOAD), ..Remedy::new(warning.help.clone()) }
}
