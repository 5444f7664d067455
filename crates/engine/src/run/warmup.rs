//! A warm-up that ends as soon as latencies and power state have settled. (`steady.rs` defines the test of settling.)
//!
//! An observation of the latency is the mean over the packets delivered in [`OBSERVATION`] cycles. The latency of a packet includes its
//! time in the source queue. If a policy decides less often than every [`OBSERVATION`] cycles, latencies can rise and fall again after each
//! decision, so the observations never settle. For such policies, latencies also count as settled when their means over whole periods of
//! the policy are level to within 1 %. If a workload delays replies, the first observation that counts is the one in which the first reply
//! can depart. If there are message classes, the latencies must have settled for each class that a job offers at a rate. The reason is that
//! a few packets with long waits would not be visible in the mean over all packets.
//!
//! An observation of the power state is the share of the managed channels that are not off, averaged over one period. The period is the
//! time in which the policy takes each of its decisions at least once, rounded up to a multiple of the latency observation.

use crate::network::assemble;
use crate::network::simulation::Simulation;
use crate::network::spec::{Spec, Stop};
use crate::run::course::Course;
use crate::run::judge::loads;
use crate::run::outcome::Ending;
use crate::run::steady::{LEAST, LEAST_PERIODS, has_settled, is_level};
use weft_api::base::kept::Value;
use weft_api::spec::LATER;
use weft_api::state::ChannelEnd;
use weft_kernel::job_tally::{Parts, Seen};
use weft_units::{Cycles, Refusal};

/// Length of a latency observation [cycles].
const OBSERVATION: u64 = 500;

/// Smallest default limit of a warm-up [cycles]: three times the need of small networks.
const USUAL_LIMIT: Cycles = 20_000;
/// The default limit in periods of the policy. A power state that settles within 14 periods counts as settled after 29 periods, because
/// less than half of the observations may be dropped.
const USUAL_PERIODS: Cycles = 30;

/// The default warm-up limit [cycles], with which most networks have time to settle. `period`: the time in which the policy takes each of
/// its decisions.
pub fn usual_limit(period: Option<Cycles>) -> Cycles {
    period.map_or(0, |cycles| cycles.saturating_mul(USUAL_PERIODS)).max(USUAL_LIMIT)
}

impl Spec {
    /// Refuses a warm-up limit before which the test of settling has too few observations.
    pub fn check_warmup(&self) -> Result<(), Refusal> {
        if !self.phases.auto_warmup {
            return Ok(());
        }
        let (limit, ahead) = (self.phases.warmup, assemble::lookahead(self)?);
        let slowest = self.slowest_observations()?;
        let least = slowest.end().saturating_add(ahead);
        if limit >= least {
            return Ok(());
        }
        let Observations { begin, count, cycles, of } = slowest;
        let begins = match begin {
            0 => String::new(),
            begin => format!("{begin} cycles without replies, "),
        };
        let what = format!(
            "a warm-up of at most {limit} cycles can't end by itself, because it needs {least} cycles: {begins}{count} observations{of} of \
             {cycles} cycles, and {ahead} cycles between the decision and the window"
        );
        // the message proposes more than the minimum, which is enough only if everything is settled from the first cycle on
        let room = usual_limit(self.power_period()?).saturating_add(ahead).saturating_add(begin);
        let room = room.div_ceil(1000).saturating_mul(1000);
        Err(Refusal::new("measure.warmup_limit", what, format!("write {room}cycles or more, or a fixed warm-up")))
    }

    /// The observations that a warm-up needs before it can end, for the kind of observation (latency or power state) that takes longest.
    fn slowest_observations(&self) -> Result<Observations, Refusal> {
        // no observation that begins earlier can contain a reply
        let begin = self.turnaround()? / OBSERVATION * OBSERVATION;
        let latencies = Observations { begin, count: LEAST as u64, cycles: OBSERVATION, of: "" };
        let of = " of the power state";
        let power = |cycles| Observations { begin: 0, count: LEAST_PERIODS as u64, cycles, of };
        let power = self.power_period()?.map(power);
        Ok(power.filter(|power| power.end() > latencies.end()).unwrap_or(latencies))
    }

    /// The earliest cycle in which the measured window can start.
    pub fn earliest_window(&self) -> Result<Cycles, Refusal> {
        if !self.phases.auto_warmup {
            return Ok(self.phases.warmup);
        }
        Ok(self.slowest_observations()?.end().saturating_add(assemble::lookahead(self)?))
    }

    /// Length of an observation of the power state [cycles]; `None` if the policy never switches a channel.
    pub(crate) fn power_period(&self) -> Result<Option<u64>, Refusal> {
        let period = self
            .policy
            .settling_period(&self.graph, &self.modes, self.cycle_fs)?
            .filter(|_| self.managed.contains(&true));
        Ok(period.map(|cycles| cycles.div_ceil(OBSERVATION).max(1).saturating_mul(OBSERVATION)))
    }
}

/// Consecutive observations of equal length.
struct Observations {
    /// The cycle in which the first observation begins.
    begin: u64,
    count: u64,
    /// Length of each observation \[cycles\].
    cycles: u64,
    /// The observed quantity, in words for a message.
    of: &'static str,
}

impl Observations {
    /// The cycle in which the last observation ends.
    fn end(&self) -> u64 {
        self.cycles.saturating_mul(self.count).saturating_add(self.begin)
    }
}

/// The latencies of all packets together, and of the packets of each message class.
#[derive(Debug, Default, Value)]
struct Latencies {
    all: Series,
    classes: Vec<Series>,
}

/// The packets delivered so far: in total, and for each message class.
struct Delivered {
    all: Seen,
    classes: Vec<Seen>,
}

impl Latencies {
    fn new(classes: usize) -> Self {
        Self { all: Series::default(), classes: (0..classes).map(|_| Series::default()).collect() }
    }

    fn each(&mut self, seen: &Delivered, act: fn(&mut Series, Seen)) {
        act(&mut self.all, seen.all);
        self.classes.iter_mut().zip(&seen.classes).for_each(|(series, seen)| act(series, *seen));
    }

    /// Whether `holds` is true for the series of all packets, and for each class that a job offers at a rate.
    fn are(&self, offered: &[bool], holds: fn(&Series) -> bool) -> bool {
        holds(&self.all) && self.classes.iter().zip(offered).all(|(series, offered)| !offered || holds(series))
    }
}

/// The mean latencies of packets, one for each of consecutive observations.
#[derive(Debug, Default, Value)]
struct Series {
    /// The packets that had been delivered before the present observation began.
    seen: Seen,
    means: Vec<f64>,
}

impl Series {
    /// Excludes the packets delivered so far from the present observation.
    fn skip(&mut self, seen: Seen) {
        self.seen = seen;
    }

    fn observe(&mut self, seen: Seen) {
        // an observation without deliveries is merged with the next one
        if seen.packets > self.seen.packets {
            let latency = (seen.latency - self.seen.latency) as f64;
            self.means.push(latency / (seen.packets - self.seen.packets) as f64);
            self.seen = seen;
        }
    }

    fn has_settled(&self) -> bool {
        has_settled(&self.means)
    }

    /// Whether the means, divided by the last mean, are level.
    fn is_level(&self) -> bool {
        let last = self.means.last().copied().unwrap_or(1.0);
        is_level(&self.means.iter().map(|mean| mean / last).collect::<Vec<_>>())
    }
}

/// The share of the managed channels that were not off, for each of consecutive periods of the policy.
#[derive(Debug, Value)]
struct PowerState {
    period: u64,
    channels: u64,
    /// Number of cycles for which managed channels had been off until the end of the last period, summed over these channels.
    off: u64,
    shares: Vec<f64>,
    /// Latencies in the same periods.
    latencies: Latencies,
}

impl PowerState {
    fn observe(&mut self, off: u64) {
        let all = (self.period * self.channels) as f64;
        self.shares.push(1.0 - (off - self.off) as f64 / all);
        self.off = off;
    }
}

/// The observations of a warm-up that ends when latencies have settled, and the first cycle of the window once it is decided.
#[derive(Debug, Value)]
pub(crate) struct Settling {
    latencies: Latencies,
    power: Option<PowerState>,
    start: Option<u64>,
}

impl Simulation {
    /// Advances to the beginning of the window.
    pub(crate) fn warm_up(&mut self, spec: &Spec, course: &mut Course) -> Option<Ending> {
        if !spec.phases.auto_warmup {
            return self.advance_watched(spec.phases.warmup, course.look, course);
        }
        if course.settling.is_none() {
            let latencies = Latencies::new(spec.classes.len());
            let settling = Settling { latencies, power: self.power_state(spec), start: None };
            course.decisions.settled = Some(false);
            course.decisions.power_settled = settling.power.as_ref().map(|_| false);
            course.settling = Some(settling);
        }
        // the first cycle of the window must be known before flits depart that will arrive in the window
        let limit = spec.phases.warmup.saturating_sub(self.net.times.lookahead);
        while !course.decisions.are_settled() && self.now + OBSERVATION <= limit {
            if let Some(ending) = self.advance_watched(self.now + OBSERVATION, OBSERVATION, course) {
                return Some(ending);
            }
            self.observe(spec, course);
        }
        let start = self.start_of_window(spec, course);
        self.advance_watched(start, course.look, course)
    }

    /// Takes the observations that are due now, and decides whether the warm-up ends.
    fn observe(&self, spec: &Spec, course: &mut Course) {
        let Course { settling: Some(Settling { latencies, power, .. }), decisions, .. } = course else { return };
        let act = if self.now > self.net.times.turnaround { Series::observe } else { Series::skip };
        let (seen, offered) = (self.seen(), self.offered_classes(spec));
        latencies.each(&seen, act);
        decisions.settled = Some(latencies.are(&offered, Series::has_settled));
        if let Some(power) = power {
            if self.now.is_multiple_of(power.period) {
                power.observe(self.off_cycles());
                power.latencies.each(&seen, act);
                decisions.power_settled = Some(is_level(&power.shares));
            }
            let slow = power.period > OBSERVATION && power.latencies.are(&offered, Series::is_level);
            decisions.settled = decisions.settled.map(|settled| settled || slow);
        }
    }

    /// For each message class, whether at least one job offers packets of this class at a rate in the present cycle.
    fn offered_classes(&self, spec: &Spec) -> Vec<bool> {
        let offers = |j: usize| {
            let has_rate = self.net.jobs[j].workload.dispersion(self.now).is_some();
            has_rate && loads(&spec.traffic.jobs[j], self.now).iter().any(|&load| load > 0.0)
        };
        let of_class = |class: usize| {
            let sends = |j: &usize| self.net.jobs[*j].classes.contains(&(class as u8));
            (0..self.net.jobs.len()).filter(sends).any(offers)
        };
        (0..spec.classes.len()).map(of_class).collect()
    }

    /// The first cycle of the window. The first call decides this cycle.
    fn start_of_window(&mut self, spec: &Spec, course: &mut Course) -> u64 {
        if let Some(start) = course.settling.as_ref().and_then(|settling| settling.start) {
            return start;
        }
        let start = self.now + self.net.times.lookahead;
        let end = if spec.phases.stop == Stop::Complete { LATER } else { start + spec.phases.window };
        self.set_window(start, end);
        course.expected = start + spec.phases.window;
        course.settling.iter_mut().for_each(|settling| settling.start = Some(start));
        start
    }

    /// The packets that have been delivered so far.
    fn seen(&self) -> Delivered {
        let parts = || self.blocks.iter().map(|b| &b.observers().tally.parts);
        let classes = parts().next().map_or(0, |parts| parts.seen_of_class.len());
        let sum = |of: &dyn Fn(&Parts) -> Seen| {
            let mut sum = Seen::default();
            parts().for_each(|parts| sum.add(of(parts)));
            sum
        };
        Delivered {
            all: sum(&|parts| parts.seen),
            classes: (0..classes).map(|class| sum(&|parts| parts.seen_of_class[class])).collect(),
        }
    }

    /// The power state before its first observation; `None` if the policy never switches a channel.
    fn power_state(&self, spec: &Spec) -> Option<PowerState> {
        let outs = self.blocks.iter().flat_map(|b| b.outs());
        let links = outs.filter(|out| out.kind != ChannelEnd::Unused);
        let channels = links.filter(|out| spec.managed[out.class as usize]).count() as u64;
        let period = self.net.times.power_period.filter(|_| channels > 0)?;
        Some(PowerState { period, channels, off: 0, shares: Vec::new(), latencies: Latencies::new(spec.classes.len()) })
    }

    /// Cycles that channels have been off so far, summed over the channels.
    fn off_cycles(&self) -> u64 {
        self.blocks.iter().map(|b| b.off_cycles(self.now)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the latencies settle after 20 observations with packets of both classes. `latency`: for each class, the latency in
    /// observation `k` [cycles].
    fn settled(latency: [fn(u64) -> u64; 2], offered: [bool; 2]) -> bool {
        let mut latencies = Latencies::new(2);
        let mut classes = vec![Seen::default(); 2];
        for k in 0..20 {
            // the first class has a hundred times as many packets as the second
            for (seen, (packets, latency)) in classes.iter_mut().zip([(100, latency[0](k)), (1, latency[1](k))]) {
                seen.add(Seen { packets, latency: packets * latency });
            }
            let all = Seen {
                packets: classes.iter().map(|seen| seen.packets).sum(),
                latency: classes.iter().map(|seen| seen.latency).sum(),
            };
            latencies.each(&Delivered { all, classes: classes.clone() }, Series::observe);
        }
        latencies.are(&offered, Series::has_settled)
    }

    #[test]
    fn a_few_packets_that_wait_longer_and_longer_are_seen() {
        let noise = |k: u64| 1000 + 100 * (k % 2);
        // the second class changes by 10 per observation, which is 0.1 in the mean over all packets; this mean has noise of 100
        let ramp = |k: u64| 1000 + 10 * k;
        assert!(settled([noise, noise], [true; 2]));
        assert!(!settled([noise, ramp], [true; 2]));
        assert!(settled([noise, ramp], [true, false]), "packets of the class came from batches");
        assert!(!Latencies::new(1).are(&[false], Series::has_settled), "nothing was delivered");
    }
}
