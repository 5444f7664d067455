//! Decides which flaws a finished point has.

use crate::backlog::{self, Backlog, CHANCE};
use crate::facts::{EngineWarning, Facts, Job};
use crate::kinds::{self, FEWEST_PACKETS, Group, Kind};

/// Two points deliver the same work if their accepted loads differ by at most this share plus random variation.
const SAME_WORK: f64 = 0.03;
/// A network carries a load if it accepts at least this share of it. The engine uses the same limit.
pub const CARRIED: f64 = 0.97;
/// Tolerance for rounding errors when a share of the bandwidth is compared with 1.
const ROUNDING: f64 = 1e-9;
/// In the first part of a window, a network that is still filling accepts no flits. If this part is at most this share of the window, Weft
/// reports no flaw.
const FILLING: f64 = 0.05;
/// The value of `ending` for a run that reached its longest window before its jobs were complete.
const NOT_COMPLETE: &str = "not_complete";

/// The keys of three kinds of warnings. `WARMUP`: the warm-up is too short. `LIMIT`: the warm-up reached its limit. `TOO_SHORT`: a time is
/// too short for bursts, or is not a whole number of periods.
pub(crate) const WARMUP: &str = "measure.warmup";
pub(crate) const LIMIT: &str = "measure.warmup_limit";
pub(crate) const TOO_SHORT: [&str; 3] = ["measure.window", "traffic.phases", "measure.stop.complete"];
/// Code of the warning that a window or warm-up has few packets. This warning can have a key of `TOO_SHORT`, but is about another flaw.
pub(crate) const OF_LOAD: &str = "few_packets";
/// The prefix of the keys in warnings about parameters of a power policy.
const OF_POLICY: &str = "power.policy.";
pub(crate) const WITHOUT_REPLIES: &str = "warmup_without_replies";
/// Code of the warning that the scenario has a `grain`.
pub(crate) const OF_GRAIN: &str = "coarse_grain";

impl Facts {
    /// All flaws of the point, worst first; empty if it has none.
    pub fn flaws(&self) -> Vec<&'static Kind> {
        let packets = self.packets.unwrap_or(0.0);
        let is_cut = self.ending == NOT_COMPLETE;
        // The result of a program, and of a run that was cut off before its jobs were complete, is a time. These runs need no minimum
        // number of packets. In a stalled run no packet can follow.
        let needs_packets = !self.is_program && !is_cut && !self.is_stalled();
        let found = [
            self.is_stalled(),
            self.ending == "interrupted",
            self.saturated == Some(true),
            self.phases.iter().any(|phase| phase.place.as_ref().is_some_and(|place| place.own_saturated == Some(true))),
            is_cut,
            self.is_dropping(),
            self.packets == Some(0.0) && needs_packets,
            self.saturated.is_none(),
            packets > 0.0 && packets < FEWEST_PACKETS && needs_packets,
            self.below_path_bound == Some(false),
            self.power_settled == Some(false) || self.short_warmup().is_some(),
            self.fills_for().is_some(),
            self.without_replies().is_some(),
            self.warmup_settled == Some(false),
            self.has_long_queues(),
            self.fell_behind().is_some(),
            self.began_behind().is_some(),
            self.is_after_saturated(),
            self.whole_periods == Some(false),
        ];
        kinds::KINDS.into_iter().zip(found).filter(|(_, is_there)| *is_there).map(|(kind, _)| kind).collect()
    }

    pub fn has(&self, kind: &Kind) -> bool {
        self.flaws().into_iter().any(|found| found.is(kind))
    }

    pub fn is_stalled(&self) -> bool {
        self.ending == "stalled"
    }

    /// Whether jobs decide when the run ends: programs or batches.
    pub(crate) fn ends_with_jobs(&self) -> bool {
        let ends = |job: &Job| job.batch_packets.is_some() || job.ranks.is_some() || job.queue_programs.is_some();
        // a point without `load` runs a program
        self.load.is_none() || self.is_program || self.jobs.iter().any(ends)
    }

    /// The mean latency without waits in queues \[cycles\], if the network was still filling when the window began. `None` if packets
    /// arrived by then or soon after (`FILLING`), or if the point is saturated. Also `None` if these are not the facts of a whole point
    /// with one load.
    pub(crate) fn fills_for(&self) -> Option<f64> {
        let latency = self.packet_latency_mean_cycles? - self.queueing_mean_cycles.unwrap_or(0.0);
        let is_filling = latency - self.warmup_cycles? > FILLING * self.window_cycles?;
        let has_ended = !self.is_stalled() && self.ending != "interrupted";
        // an automatic warm-up ends when latencies have settled, so packets have arrived, or reports that it reached its limit
        let is_fixed = self.warmup_settled.is_none();
        (is_filling && is_fixed && has_ended && self.has_one_load() && self.saturated != Some(true)).then_some(latency)
    }

    /// Whether these are the facts of a whole point with one load, which lasts as long as the scenario says.
    fn has_one_load(&self) -> bool {
        self.place.is_none() && self.phases.is_empty() && !self.ends_with_jobs()
    }

    pub fn is_after_saturated(&self) -> bool {
        self.late.as_ref().is_some_and(|late| late.after_saturated)
    }

    /// Whether the queues of a point or phase have not settled: their length depends on their length at the beginning, or they shrink
    /// (`drains`). The result is false if a backlog or saturation is the reason, because a separate flaw reports it.
    fn has_long_queues(&self) -> bool {
        if self.queues_settled == Some(false) {
            let is_behind = self.fell_behind().is_some() || self.began_behind().is_some();
            return !is_behind && !self.is_after_saturated() && self.saturated != Some(true);
        }
        // a phase with a distorted mean latency distorts the mean of the whole point
        self.drains() || self.phases.iter().any(Self::has_long_queues)
    }

    /// Whether the queues of a point shrink during its window, and no other flaw explains this.
    pub fn drains(&self) -> bool {
        let shrinks = self.queues_settled == Some(true) && self.saturated != Some(true) && backlog::drains(self);
        shrinks && self.began_behind().is_none() && !self.is_dropping()
    }

    /// The backlog of a phase that fell behind at first but carries its load in its second half. `None` if the phase is saturated or not
    /// judged, because another flaw reports this.
    pub fn fell_behind(&self) -> Option<&Backlog> {
        let known = self.late.as_ref()?.backlog.as_ref()?;
        (known.falls_behind() && self.saturated == Some(false)).then_some(known)
    }

    /// The backlog that earlier phases, or the warm-up, have left to this phase or point. `None` if this phase or the previous phase is
    /// saturated, because another flaw reports this.
    pub fn began_behind(&self) -> Option<Backlog> {
        let Some(late) = &self.late else {
            // for a point, take the backlog of the phase in which its window begins
            let is_seen = |phase: &&Self| phase.place.as_ref().is_some_and(|place| place.from_cycle.is_some());
            return match self.phases.iter().find(is_seen) {
                Some(first) => first.began_behind(),
                None => self.left_by_warmup(),
            };
        };
        let known = late.backlog?;
        (known.began_behind() && !late.after_saturated && self.saturated != Some(true)).then_some(known)
    }

    fn left_by_warmup(&self) -> Option<Backlog> {
        let known = backlog::at_begin(self, self.window_cycles.unwrap_or(0.0))?;
        (known.began_behind() && self.saturated != Some(true)).then_some(known)
    }

    /// The engine's warning that a fixed warm-up is too short for the power states to settle.
    pub fn short_warmup(&self) -> Option<&EngineWarning> {
        self.warnings_of(&[WARMUP]).find(|warning| warning.code.as_deref() != Some(WITHOUT_REPLIES))
    }

    /// The engine's warning that the warm-up ends before the first replies are sent.
    pub fn without_replies(&self) -> Option<&EngineWarning> {
        self.warnings_of(&[WARMUP]).find(|warning| warning.code.as_deref() == Some(WITHOUT_REPLIES))
    }

    /// The engine's warning that latencies had not settled when the warm-up reached its limit.
    pub fn at_limit(&self) -> Option<&EngineWarning> {
        self.warnings_of(&[LIMIT]).next()
    }

    /// The engine's warning about a span that is too short for a verdict, or is not a whole number of periods.
    pub fn short_span(&self) -> Option<&EngineWarning> {
        self.warnings_of(&TOO_SHORT).find(|warning| warning.code.as_deref() != Some(OF_LOAD))
    }

    /// The engine's warning about a parameter of the power policy. Under the policy with this parameter, a network can collapse at a load
    /// that this run still carries.
    pub fn policy_warning(&self) -> Option<&EngineWarning> {
        self.warnings.iter().find(|warning| warning.path.starts_with(OF_POLICY))
    }

    pub fn is_dropping(&self) -> bool {
        self.dropped_packets.unwrap_or(0.0) != 0.0
    }

    /// Number of dropped packets as a share of the delivered and dropped packets.
    pub fn dropped_share(&self) -> f64 {
        let dropped = self.dropped_packets.unwrap_or(0.0);
        if dropped == 0.0 { 0.0 } else { dropped / (dropped + self.packets.unwrap_or(0.0)) }
    }

    /// Whether more than 3 % of the packets were dropped, so that the network does not carry the load.
    pub fn is_lossy(&self) -> bool {
        self.dropped_share() > 1.0 - CARRIED
    }

    /// The flaws that forbid a comparison even with a point of the same accepted load, worst first. Dropped packets are among these flaws
    /// only above 3 %.
    pub fn obstacles(&self) -> Vec<&'static Kind> {
        let is_obstacle = |kind: &&Kind| !kind.is(&kinds::PACKETS_DROPPED) || self.is_lossy();
        self.flaws().into_iter().filter(is_obstacle).collect()
    }

    /// Whether no packet was created in the window: the number of packets and the offered load are 0.
    pub fn is_silent(&self) -> bool {
        self.packets == Some(0.0) && self.offered_load.unwrap_or(0.0) == 0.0
    }

    /// Whether the latency has no limit: the network is stalled, or the load is above the capacity, always or in one phase.
    pub fn is_over(&self) -> bool {
        is_over(&self.flaws())
    }

    /// Whether the offered load of the point is above the load that its paths can carry. A longer run cannot change
    /// this.
    pub fn is_above_bound(&self) -> bool {
        self.path_bound_share.is_some_and(|share| share > 1.0 + ROUNDING)
    }

    /// Whether an unsettled point accepted, in its window, less than 97 % of its load, by more than random variation can explain. A point
    /// of this kind is possibly overloaded: the engine judges only the second half of the window, where random variation can explain a
    /// larger gap.
    pub fn is_behind(&self) -> bool {
        let (Some(offered), Some(accepted)) = (self.offered_load, self.accepted_load) else { return false };
        let packets = self.packets.unwrap_or(0.0);
        let chance = if packets > 0.0 { CHANCE / packets.sqrt() } else { 0.0 };
        // a network that is still filling accepts no flits in the first part of its window, at any load
        let filling = self.fills_for().map_or(0.0, |latency| latency - self.warmup_cycles.unwrap_or(0.0));
        let empty = filling / self.window_cycles.unwrap_or(f64::INFINITY);
        accepted < (CARRIED - chance - empty) * offered && is_unsettled(&self.flaws())
    }
}

pub fn is_over(flaws: &[&Kind]) -> bool {
    flaws.iter().any(|kind| matches!(kind.group, Group::Stalled | Group::Overloaded))
}

/// Whether a point has a flaw of this group and is not overloaded.
fn has_only(flaws: &[&Kind], group: Group) -> bool {
    !is_over(flaws) && flaws.iter().any(|kind| kind.group == group)
}

pub fn is_unsettled(flaws: &[&Kind]) -> bool {
    has_only(flaws, Group::Unsettled)
}

pub fn is_unjudged(flaws: &[&Kind]) -> bool {
    has_only(flaws, Group::Unjudged)
}

pub fn is_few(flaws: &[&Kind]) -> bool {
    has_only(flaws, Group::Few)
}

/// The mark that tables print after numbers of a point with these flaws. The mark is empty if the point is overloaded, or if its flaws have
/// no mark. `lost`: whether the number was measured while packets were dropped.
pub fn mark(flaws: &[&Kind], lost: bool) -> &'static str {
    if lost && has_only(flaws, Group::Dropping) {
        kinds::DROPPING_MARK.sign
    } else if is_unjudged(flaws) {
        kinds::UNJUDGED_MARK.sign
    } else if is_unsettled(flaws) {
        kinds::UNSETTLED_MARK.sign
    } else if is_few(flaws) {
        kinds::FEW_MARK.sign
    } else if flaws.first().is_some_and(|worst| worst.group == Group::Period) {
        kinds::PERIOD_MARK.sign
    } else {
        ""
    }
}

/// The sign that tables print in place of a latency without limit (`stall`, `sat`), or of the numbers of a run that was cut off (`cut`).
/// For other points the sign is the point's mark.
pub fn sign(flaws: &[&Kind]) -> &'static str {
    match is_over(flaws) {
        true if flaws[0].group == Group::Stalled => "stall",
        true => "sat",
        false if has_only(flaws, Group::NotComplete) => "cut",
        false => mark(flaws, true),
    }
}

/// Whether points deliver the same load, up to 3 % plus random variation (three standard deviations).
///
/// `accepted`: the accepted load of each point. If an accepted load is unknown, the result is false. `packets`: the number of measured
/// packets of each point. If a number of packets is unknown or 0, the limit is 3 % without random variation.
pub fn same_work(accepted: &[Option<f64>], packets: &[Option<f64>]) -> bool {
    let Some(known) = accepted.iter().copied().collect::<Option<Vec<f64>>>().filter(|known| !known.is_empty()) else {
        return false;
    };
    let counts: Option<Vec<f64>> = packets.iter().map(|count| count.filter(|&count| count != 0.0)).collect();
    let chance = counts.map_or(0.0, |counts| CHANCE * counts.iter().map(|count| 1.0 / count).sum::<f64>().sqrt());
    let (least, most) = known.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| (a.min(x), b.max(x)));
    most - least <= (SAME_WORK + chance) * most
}
