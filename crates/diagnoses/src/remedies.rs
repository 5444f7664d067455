//! Computes the settings with which Weft could rank a point that now has a flaw.

use crate::backlog::{Backlog, CHANCE};
use crate::facts::{EngineWarning, Facts, Job, Place};
use crate::flaws::{LIMIT, OF_LOAD, WARMUP, WITHOUT_REPLIES};
use crate::format::rounded_up;
use crate::kinds::{self, FEWEST_PACKETS, Group, Kind};
use crate::verdict::Remedy;
use crate::words;
use serde_json::Map;

/// The proposed warm-up is the present run (warm-up and window) times this factor, and the proposed window is the present window times this
/// factor. The longer run shows whether the accepted load stays below the offered load, and whether the queues settle.
pub(crate) const LONGER: f64 = 4.0;
/// Weft proposes no run longer than the present run times this factor, because long queues are possibly only an effect of the start of the
/// run.
pub(crate) const PATIENCE: f64 = 50.0;
/// At this share of the load that its paths can carry, a network settles in a run of usual length.
pub(crate) const BELOW_BOUND: f64 = 0.95;
/// At less than this share of the load that its paths can carry, Weft never supposes that a network is near its capacity. Packets that wait
/// for each other lower the capacity, but rarely so far.
const FAR_BELOW_BOUND: f64 = 0.3;
/// Longest window that a scenario can have \[cycles\].
const LONGEST: f64 = (1u64 << 48) as f64;
/// Default of the longest window for programs \[cycles of the scenario\].
const LONGEST_PROGRAM: f64 = 1e11;
/// The proposed warm-up for a network that was still filling is this factor times the mean latency without queueing.
const SETTLED: f64 = 4.0;
/// The proposed warm-up is at least the mean waiting time times this factor. At 95 % of the capacity, a network delivers a backlog with the
/// spare 5 %, so in 20 times the mean waiting time. An automatic warm-up must observe more than twice that time, so this factor is larger.
const WAITS: f64 = 100.0;

impl Facts {
    /// The remedy for a flaw of the point. A remedy in a warning of the engine has precedence, then a remedy from the numbers of the point,
    /// then the general remedy of the flaw.
    pub fn remedy(&self, kind: &Kind) -> Remedy {
        let general = || Remedy { is_of_load: kind.is_of_load, ..Remedy::new(kind.help) };
        let found = match kind.group {
            Group::Unsettled => self.to_settle_this(kind),
            Group::Overloaded => {
                let of_policy = |warning: &EngineWarning| words::policy_or(&warning.path, &warning.help, kind.help);
                self.policy_warning().map(of_policy).or_else(|| self.saturated_at_faults(kind))
            }
            Group::Unjudged | Group::Period => self.short_span().map(of_engine),
            Group::NotComplete => Some(self.to_complete()),
            Group::Few => Some(self.more_packets()),
            Group::Empty if self.is_silent() => Some(self.any_packet()),
            Group::Empty | Group::Stalled | Group::Interrupted | Group::Dropping => None,
        };
        found.map_or_else(general, |remedy| self.accepted(remedy))
    }

    /// The remedy for a flaw of an unsettled point: the first remedy that is for this very flaw, otherwise the first remedy of the point.
    fn to_settle_this(&self, kind: &Kind) -> Option<Remedy> {
        let mut remedies = self.settling(0.0);
        let own = remedies.iter().position(|(of, _)| of.is(kind)).unwrap_or(0);
        (own < remedies.len()).then(|| remedies.swap_remove(own).1)
    }

    /// Removes the settings from a remedy (not its text) if the scenario might refuse or ignore one of them. A scenario ignores the length
    /// of a window if batches or a confidence limit end the run. A scenario refuses a fixed warm-up next to a `measure.warmup_limit`, and
    /// also if batches end the run.
    pub(crate) fn accepted(&self, remedy: Remedy) -> Remedy {
        let is_by_batches = self.ends_with_jobs();
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

    /// The remedy for a flaw of a point that is part of a load profile. If the remedy proposes another load, that load may not be in the
    /// profile, so the text also mentions the profile. A remedy for a phase needs no such text: profiles identify phases by their number,
    /// so the profile itself stays as it is.
    pub fn remedy_in_profile(&self, kind: &Kind) -> Remedy {
        let remedy = self.remedy(kind);
        if remedy.is_of_load && !self.is_phase() {
            Remedy { text: words::also_in_profile(&remedy.text), ..remedy }
        } else {
            remedy
        }
    }

    /// The settings with which a run shows whether a point that [`is_behind`](Self::is_behind) carries its load.
    ///
    /// If the gap between the offered and the accepted load remains after the longer warm-up, the gap is permanent. The engine judges half
    /// of the window. In half of a longer window, random variation can explain only a smaller gap.
    pub fn to_judge(&self) -> Remedy {
        if self.has(&kinds::AT_PATH_BOUND) && self.is_near_bound() {
            return words::write(self.below_bound()); // no run is long enough
        }
        if self.has_faults_in_window() {
            return self.accepted(self.window_with_faults());
        }
        let (warmup, window) = (self.warmup_cycles.unwrap_or(0.0), self.window_cycles.unwrap_or(0.0));
        let longer = rounded_up(LONGER * (warmup + window)).max(self.warmup_limit_cycles.unwrap_or(0.0));
        let key = if self.is_by_limit() { LIMIT } else { WARMUP };
        self.accepted(words::warmup_and_window(key, self.span(longer), self.span(rounded_up(LONGER * window))))
    }

    /// The settings with which an unsettled point would settle; empty for a settled point. `least_limit`: the largest
    /// `measure.warmup_limit` of all points of the sweep \[cycles\]. A proposed limit is for all points of the sweep, so it must not be
    /// below the present limit of any point.
    pub fn to_settle(&self, least_limit: f64) -> Vec<Remedy> {
        self.settling(least_limit).into_iter().map(|(_, remedy)| self.accepted(remedy)).collect()
    }

    /// The same settings as `to_settle`, each with the flaw that it removes.
    fn settling(&self, least_limit: f64) -> Vec<(&'static Kind, Remedy)> {
        let flaws = self.flaws();
        let has = |kind: &Kind| flaws.iter().any(|found| found.is(kind));
        if !crate::flaws::is_unsettled(&flaws) {
            return Vec::new();
        }
        if has(&kinds::AT_PATH_BOUND) && self.is_near_bound() {
            return vec![(&kinds::AT_PATH_BOUND, words::write(self.below_bound()))]; // no run is long enough
        }
        if self.is_silent() {
            return vec![(&kinds::NO_PACKET, self.any_packet())];
        }
        let of_warmup = |warning: &EngineWarning| match warning.code.as_deref() {
            Some(WITHOUT_REPLIES) => (&kinds::REPLIES_UNSETTLED, of_engine(warning)),
            Some(_) | None => (&kinds::POWER_UNSETTLED, of_engine(warning)),
        };
        let mut remedies: Vec<(&'static Kind, Remedy)> = self.warnings_of(&[WARMUP]).map(of_warmup).collect();
        // the engine's warnings about a warm-up propose a longer one
        if let Some(latency) = self.fills_for().filter(|_| remedies.is_empty()) {
            remedies.push((&kinds::FILLING, self.later_window((SETTLED * latency).ceil(), false)));
        }
        if has(&kinds::AT_PATH_BOUND) && !has(&kinds::QUEUES_UNSETTLED) {
            // if the warm-up reached its limit, propose the higher of the two limits
            let least = if self.is_by_limit() { self.longer_limit().max(least_limit) } else { least_limit };
            remedies.push((&kinds::AT_PATH_BOUND, self.longer_run(least)));
        }
        if has(&kinds::QUEUES_UNSETTLED) {
            remedies.push((&kinds::QUEUES_UNSETTLED, self.for_queues(least_limit)));
        } else if self.is_by_limit() {
            let limit = self.longer_limit().max(least_limit);
            // a lower load would not make power states settle sooner
            let is_of_latencies = self.warmup_settled == Some(false);
            let lighter = if is_of_latencies { self.else_lighter() } else { None };
            let kind = if is_of_latencies { &kinds::LATENCIES_UNSETTLED } else { &kinds::POWER_UNSETTLED };
            let later = limit - self.warmup_cycles.unwrap_or(0.0);
            remedies.push((kind, self.with_moved_faults(words::longer_limit(self.span(limit), lighter), later)));
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

    /// The proposed limit for a warm-up that reached its limit \[cycles\]: the limit from the engine's warning, but at least twice the
    /// present limit. Warnings from earlier versions of Weft have no numbers. For such a warning the result is four times the limit,
    /// because those versions always proposed this limit (except for saturated points).
    fn longer_limit(&self) -> f64 {
        let reached = self.warmup_cycles.unwrap_or(0.0).max(self.warmup_limit_cycles.unwrap_or(0.0));
        let proposed =
            self.warnings_of(&[LIMIT]).map(|warning| warning.longer_limit_cycles.unwrap_or(LONGER * reached));
        proposed.fold(rounded_up(2.0 * reached), f64::max)
    }

    /// The remedy for queues that have not settled: a run that is long enough for them. If the load is near the
    /// capacity, the remedy proposes a lower load first.
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
        let lighter = self.may_be_near_capacity();
        words::longer_for_queues(place.phase, self.span(rounded_up(self.enough_for(place.lasted()))), lighter)
    }

    /// Length that a run or a phase would need for its queues to settle \[cycles\]. `lasted`: its present length.
    fn enough_for(&self, lasted: f64) -> f64 {
        LONGER * self.memory(lasted).max(lasted).ceil()
    }

    /// Time for which the queues depend on their length at the start \[cycles\]; 0 if Weft would not propose such a long run.
    fn memory(&self, lasted: f64) -> f64 {
        self.queue_memory_cycles.filter(|&memory| memory <= PATIENCE * lasted).unwrap_or(0.0)
    }

    /// Whether the load is so near to the capacity that perhaps no run is long enough.
    ///
    /// The load is near the capacity in three cases. The paths can carry hardly more, the accepted load is below the offered load, or
    /// packets stay in the source queues. The third case means that packets wait when the window ends, and that their number did not fall
    /// in the window. Queues can also be long for other reasons: a routing may fill them before it leaves the shortest paths, or links may
    /// sleep. A load that is 5 % lower would not shorten queues of these kinds.
    fn is_near_capacity(&self) -> bool {
        if !self.may_be_near_capacity() {
            return false;
        }
        if self.is_near_bound() || self.is_behind() {
            return true;
        }
        let (begin, end) = (self.backlog_before_packets.unwrap_or(0.0), self.backlog_packets.unwrap_or(0.0));
        let chance = CHANCE * self.packets.unwrap_or(0.0).sqrt();
        end > chance && begin - end <= chance
    }

    /// Whether the load can be the reason for long queues. The result is false if the load is far below the load that the paths can carry.
    /// It is also false if parts break or return in the window, because packets wait at these parts.
    fn may_be_near_capacity(&self) -> bool {
        !self.is_disturbed() && self.path_bound_share.is_none_or(|share| share >= FAR_BELOW_BOUND)
    }

    /// The end of the text of a remedy that proposes a longer run: a lower load, if the load can be the reason for long queues.
    fn else_lighter(&self) -> Option<String> {
        self.may_be_near_capacity().then(|| words::else_lighter(self.load))
    }

    /// Whether the load is more than 95 % of the load that the paths can carry. At such a load, a longer run can only show that the network
    /// carries a lower load.
    pub(crate) fn is_near_bound(&self) -> bool {
        self.path_bound_share.unwrap_or(0.0) > BELOW_BOUND
    }

    /// Whether the automatic warm-up reached its limit before the point had settled.
    fn is_by_limit(&self) -> bool {
        self.warmup_settled.is_some() && [self.warmup_settled, self.power_settled].contains(&Some(false))
    }

    /// Number of cycles after which a backlog with the present mean waiting time is delivered.
    fn after_waits(&self) -> f64 {
        WAITS * self.queueing_mean_cycles.unwrap_or(0.0)
    }

    /// The remedy of a longer warm-up and window. The two times are longer than the time for which the queues depend on
    /// their length at the start.
    fn longer_run(&self, least_limit: f64) -> Remedy {
        if self.has_faults_in_window() {
            return self.window_with_faults();
        }
        let (warmup, window) = (self.warmup_cycles.unwrap_or(0.0), self.window_cycles.unwrap_or(0.0));
        let cycles = rounded_up(self.enough_for(warmup + window).max(self.after_waits()));
        // A multiple of the present window still has whole periods of the policy. The proposed window is longer than one swing of the
        // queues (they grow and shrink). If a short window begins or ends during a swing, its accepted load is above or below its offered
        // load.
        let longer = (window > 0.0).then(|| LONGER * (self.memory(warmup + window) / window).ceil().max(1.0) * window);
        let longer = longer.map(|window| self.span(window));
        let lighter = self.else_lighter();
        if self.is_by_limit() {
            let limit = cycles.max(2.0 * self.warmup_limit_cycles.unwrap_or(0.0)).max(least_limit);
            return words::longer_run(LIMIT, self.span(limit), longer, false, lighter);
        }
        // the limit did not end the warm-up, so a longer limit has no effect, and a scenario with a fixed warm-up refuses a limit
        words::longer_run(WARMUP, self.span(cycles), longer, self.warmup_settled.is_some(), lighter)
    }

    /// The remedy of a lower load, with a warm-up that is long enough for it. The remedy names a longer limit only if the limit ended the
    /// warm-up.
    fn lighter(&self, least_limit: f64) -> Remedy {
        let enough = rounded_up((2.0 * self.warmup_cycles.unwrap_or(0.0)).max(self.after_waits()));
        let cycles = enough.max(2.0 * self.warmup_limit_cycles.unwrap_or(0.0)).max(least_limit);
        let key = match self.warmup_settled {
            None => Some(WARMUP),
            Some(_) => self.is_by_limit().then_some(LIMIT),
        };
        words::lighter_and_longer(self.load, key.map(|key| (key, self.span(cycles))))
    }

    /// The remedy for a load near or above the bound of the paths: a load that the network probably carries, or longer buffers. The
    /// bound of the paths is an upper bound on the accepted load. The network accepts less if packets wait for each other. For a
    /// saturated point, the accepted load shows how much less.
    pub fn below_bound(&self) -> Remedy {
        let share = self.path_bound_share.unwrap_or(f64::NAN);
        let accepted = self.accepted_load.zip(self.offered_load).map(|(accepted, offered)| accepted / offered);
        let lower = accepted.filter(|&part| self.is_over() && part > 0.0 && part * share < 1.0);
        let buffers = self.path_bound_buffers.iter();
        let buffers = buffers.map(|each| (each.path.as_str(), self.written_flits(each.needed_flits)));
        words::below_bound(self.load, share, lower, &buffers.collect::<Vec<_>>())
    }

    /// The remedy for a backlog: settings that deliver it before the window begins, or that make it small compared to the load of a phase.
    pub fn after_backlog(&self, late: &Backlog) -> Remedy {
        if late.at_begin.is_none_or(|packets| packets == 0.0) {
            return self.longer_phase(late);
        }
        let is_of_phase = !self.phases.is_empty() || self.is_phase();
        let Some(drained) = late.drained_in() else { return words::lower_before(is_of_phase) };
        self.later_window(rounded_up(self.warmup_cycles.unwrap_or(0.0) + 2.0 * drained), is_of_phase)
    }

    /// The remedy of a warm-up of `warmup` cycles. Later phases, and faults in the window, must move by the same time.
    fn later_window(&self, warmup: f64, has_phases: bool) -> Remedy {
        let shift = warmup - self.warmup_cycles.unwrap_or(0.0);
        let remedy = words::later_window(self.span(warmup), has_phases.then(|| self.span(shift)));
        self.with_moved_faults(remedy, shift)
    }

    /// The remedy of a longer phase: the flits that wait at its beginning or end are then at most 2 % of its flits.
    pub fn longer_phase(&self, late: &Backlog) -> Remedy {
        let enough = self.span(rounded_up(late.long_enough()));
        words::longer_phase(self.place.as_ref().map_or(0.0, |place| place.phase), enough)
    }

    /// The remedy of a longer window, or of larger batches, with twice the packets that a mean needs. The factor of two allows for random
    /// variation.
    fn more_packets(&self) -> Remedy {
        let times = (2.0 * FEWEST_PACKETS / self.packets.unwrap_or(1.0)).ceil();
        if self.has_sent_all() {
            return words::larger_batches(times);
        }
        match self.window_cycles.filter(|&window| window > 0.0 && !self.is_phase()) {
            Some(window) if times * window > LONGEST => words::higher_loads(times),
            Some(window) => words::window(self.span(times * window)),
            None => words::longer_times(times, self.is_phase()),
        }
    }

    /// Whether a longer window would give no more packets: batches and programs end the window, or all jobs are complete batches.
    pub(crate) fn has_sent_all(&self) -> bool {
        let are_batches = !self.jobs.is_empty() && self.jobs.iter().all(|job| job.batch_packets.is_some());
        self.ends_with_its_work() || are_batches && self.completion_cycles.is_some()
    }

    /// The remedy of a longest window that is long enough for all batches and programs to complete.
    ///
    /// For batches it is twice the time in which all packets would be delivered at the present speed. For programs this time is unknown,
    /// because the number of packets that they will still send is unknown. Therefore a program gets the default longest window. A long
    /// limit costs nothing, because the window ends when the program ends.
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

    /// The remedy for a point without packets: a window with twice the packets that a mean needs, or a load that creates this number of
    /// packets in the present window.
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

/// The remedy that a warning of the engine contains.
fn of_engine(warning: &EngineWarning) -> Remedy {
    Remedy { is_of_load: warning.code.as_deref() == Some(OF_LOAD), ..Remedy::new(warning.help.clone()) }
}
