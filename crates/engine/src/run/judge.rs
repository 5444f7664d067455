//! Judges whether a network carries the offered load, by the counts in the second half of the window (or of each phase, if the load
//! changes).
//!
//! The offered flits are counted, not estimated, and include flits that wait in sources. Therefore the difference between offered and
//! accepted flits is the growth of all queues. If sources send in bursts, queues also grow in bursts. Even in a network that carries the
//! load, the random variation of arrivals can therefore make queues grow. The verdict permits a growth of three standard deviations of the
//! number of packets. This deviation follows from the index of dispersion of the injection process over a long time
//! (`Process::dispersion`).
//!
//! A span gets no verdict if bursts can explain more than the share [`Bursts::TELLING`] of the load, or the whole gap between offered and
//! accepted flits. The share that bursts can explain becomes smaller as the span becomes longer. Once it is at most [`Bursts::DECISIVE`],
//! every span gets a verdict, because bursts can then hide only a gap of 3 % plus this share, which is too small to matter. Therefore a
//! span that is long enough always gets a verdict. Arrivals whose dispersion is at most that of a Bernoulli process (1) always get a
//! verdict. For these arrivals, a gap of more than three standard deviations is not random variation, and a smaller gap is too small to
//! matter.
//!
//! A policy with periodic actions makes packets wait in one part of each period and lets them pass in another part. Therefore the verdict
//! uses only whole periods. A span without a whole period gets no verdict.
//!
//! A span that is too short for packets to arrive, or for sleeping links to wake, gets no verdict (`run/short_spans.rs`).
//!
//! Jobs without a rate (batches) are not judged here. For these jobs the only test is the drain. Terminals that wait for replies offer only
//! as many flits as the network accepts, so they are never saturated.

use crate::network::load_readings::Carried;
use crate::network::simulation::Simulation;
use crate::network::spec::{Job, Spec};
use crate::run::outcome::{ACCEPTED_SHARE, Bursts, Doubt, Saturation};
use weft_api::workload::Amount;
use weft_units::Cycles;

/// Number of standard deviations that count as random variation.
pub(crate) const DEVIATIONS: f64 = 3.0;

/// The expected number of flits in a span, the variance of this number, and whether bursts make the variance larger than for Bernoulli
/// sources.
#[derive(Debug, Clone, Copy, Default)]
struct Expected {
    flits: f64,
    variance: f64,
    bursts: bool,
}

impl Simulation {
    /// Flits accepted and flits offered up to now. The accepted flits include those that will reach their terminals within the landing
    /// time.
    pub(crate) fn carried(&self) -> Carried {
        let offered = self.offered_before(self.now + self.net.times.landing).by_job;
        let has_rate: Vec<bool> = self.net.jobs.iter().map(|job| job.workload.dispersion(0).is_some()).collect();
        let judged = || (0..has_rate.len()).filter(|&j| has_rate[j]);
        let accepted =
            if has_rate.contains(&false) { judged().map(|j| self.done_with_by(j)).sum() } else { self.done_with() };
        Carried { offered: judged().map(|j| offered[j].flits).sum(), accepted }
    }

    /// Does the same count as [`Self::done_with`] for one of several jobs.
    fn done_with_by(&self, j: usize) -> u64 {
        let parts = self.blocks.iter().map(|block| &block.observers().tally.parts);
        let done: u64 =
            parts.map(|parts| parts.accepted_by(j).unwrap_or(0) + parts.lost(j).flits + parts.unborn(j).flits).sum();
        done + self.kept_back(|job| job == j)
    }

    /// Judges a span of `cycles` cycles from its counts at both ends. The span is in the phase of the load that begins in cycle `start`.
    /// Returns `None` if no job has a rate.
    pub(crate) fn judge(
        &self,
        spec: &Spec,
        start: Cycles,
        cycles: Cycles,
        (from, to): (Carried, Carried),
    ) -> Option<Saturation> {
        let expected = self.expected(spec, start, cycles)?;
        // terminals that wait for replies can create fewer packets than their load, so the verdict uses the counted offered flits
        let offered = to.offered.saturating_sub(from.offered) as f64;
        Some(expected.verdict(to.accepted.saturating_sub(from.accepted) as f64, offered, cycles))
    }

    /// The verdict on a span that contains no whole period, for a policy with periodic actions: unknown, or not saturated if nothing is
    /// offered. Returns `None` if no job has a rate.
    pub(crate) fn unjudged(&self, spec: &Spec, start: Cycles, cycles: Cycles, period: Cycles) -> Option<Saturation> {
        let offers = self.expected(spec, start, cycles)?.flits > 0.0;
        Some(if offers { Saturation::Unknown(Doubt::PartOfPeriod { cycles, period }) } else { Saturation::No })
    }

    fn expected(&self, spec: &Spec, start: Cycles, cycles: Cycles) -> Option<Expected> {
        let jobs = spec.traffic.jobs.iter().zip(&self.net.jobs);
        let of_job = jobs.filter_map(|(job, net)| {
            let dispersion = net.workload.dispersion(start)?;
            let flits = loads(job, start).iter().sum::<f64>() * cycles as f64;
            let packets = flits / job.packets.mean();
            let in_all = |&(flits, share): &(u32, f64)| {
                net.workload.in_all(Amount { packets: 1, flits: flits.into() }).flits as f64 * share
            };
            let one: f64 = job.packets.shares().iter().map(in_all).sum();
            // the variance of a sum of packet lengths, in which both the number of packets and their lengths vary
            let variance = one * one * packets * dispersion.max(1.0) + packets * job.packets.variance();
            Some(Expected { flits: packets * one, variance, bursts: dispersion > 1.0 })
        });
        of_job.reduce(|a, b| Expected {
            flits: a.flits + b.flits,
            variance: a.variance + b.variance,
            bursts: a.bursts || b.bursts,
        })
    }
}

impl Expected {
    fn verdict(&self, accepted: f64, offered: f64, cycles: Cycles) -> Saturation {
        let chance = DEVIATIONS * self.variance.sqrt();
        if accepted < ACCEPTED_SHARE * offered - chance {
            return Saturation::Yes;
        }
        let gap = if offered > 0.0 { 1.0 - accepted / offered } else { 0.0 };
        let limit = 1.0 - ACCEPTED_SHARE + chance / offered;
        let bursts = Bursts { cycles, chance: chance / self.flits, gap, limit };
        let is_decided = chance <= Bursts::DECISIVE * self.flits || !(bursts.is_of_chance() || bursts.is_of_gap());
        let doubt = Doubt::Bursts(bursts);
        if is_decided || !self.bursts || self.flits == 0.0 { Saturation::No } else { Saturation::Unknown(doubt) }
    }
}

/// The load of each rank of a job, in the phase of the load that begins in cycle `start`.
pub(crate) fn loads(job: &Job, start: u64) -> &[f64] {
    job.phases.iter().rfind(|phase| phase.from <= start).map_or(&[], |phase| &phase.load)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdict on a span in which 10,000 flits are expected.
    fn verdict(accepted: f64, dispersion: f64) -> Saturation {
        let expected = Expected { flits: 1e4, variance: 1e4 * dispersion, bursts: dispersion > 1.0 };
        expected.verdict(accepted, 1e4, 1000)
    }

    #[test]
    fn a_gap_is_held_against_three_per_cent_and_three_deviations() {
        // Bernoulli arrivals: three standard deviations are 3 * 100 flits, which is 3 %
        assert_eq!([9390.0, 9410.0].map(|accepted| verdict(accepted, 1.0)), [Saturation::Yes, Saturation::No]);
        // bursts with 16 times the variance: three standard deviations are 3 * 400 flits, which is 12 %; bursts might explain the gap, so
        // there is no verdict
        assert_eq!(verdict(8490.0, 16.0), Saturation::Yes);
        let Saturation::Unknown(Doubt::Bursts(doubt)) = verdict(8510.0, 16.0) else {
            panic!("bursts may explain the gap")
        };
        assert!((doubt.chance - 0.12).abs() < 1e-9 && (doubt.gap - 0.149).abs() < 1e-9, "{doubt:?}");
        // the limit in the message is a gap of 3 % + 12 %; the gap at 8,490 accepted flits (15.1 %) exceeds this limit
        assert!((doubt.limit - 0.15).abs() < 1e-9, "{doubt:?}");
        assert_eq!(verdict(9710.0, 16.0), Saturation::No);
    }

    /// The verdict on a span that is `times` times as long as the undecided span of `doubt`, with a gap that is `persists` times as large.
    fn after(doubt: &Bursts, times: f64, persists: f64) -> Saturation {
        let flits = 1e4 * times;
        let variance = (doubt.chance * 1e4 / DEVIATIONS).powi(2) * times;
        let expected = Expected { flits, variance, bursts: true };
        expected.verdict(flits * (1.0 - persists * doubt.gap), flits, 1000)
    }

    #[test]
    fn the_longer_span_decides_whether_the_gap_lasts_or_was_chance() {
        for (chance, gap) in [(0.05, 0.077), (0.12, 0.149), (0.03, 0.031), (0.4, 0.2), (0.4, 0.0), (0.25, 0.04)] {
            let doubt = Bursts { cycles: 1000, chance, gap, limit: 0.03 + chance };
            assert!(matches!(after(&doubt, 1.0, 1.0), Saturation::Unknown(_)), "{doubt:?} is open");
            let times = doubt.longer();
            assert!(times > 1.0, "{doubt:?}: {times}");
            for persists in [1.0, 0.8, 0.6, times.sqrt().recip()] {
                let verdict = after(&doubt, times, persists);
                assert_ne!(
                    verdict.known(),
                    None,
                    "{doubt:?}, {times} times as long, gap times {persists}: {verdict:?}"
                );
            }
        }
    }

    #[test]
    fn a_span_that_is_short_against_the_bursts_tells_only_of_a_great_overload() {
        // three standard deviations are 3 * 1000 flits, which is 30 %
        assert!(matches!(verdict(1e4, 100.0), Saturation::Unknown(_)));
        assert_eq!(verdict(6690.0, 100.0), Saturation::Yes);
        let silent = Expected { bursts: true, ..Expected::default() };
        assert_eq!(silent.verdict(0.0, 0.0, 1000), Saturation::No, "nothing was offered");
    }
}
