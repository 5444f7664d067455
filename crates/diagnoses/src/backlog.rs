//! The backlog that one phase of a changing load leaves to the next phases. The backlog is computed from the offered
//! and accepted loads.
//!
//! The engine judges a phase by its second half. A phase is therefore not saturated if it falls behind while links wake, and later carries
//! its load. However, the phase's latencies include the wait in the queue that built up, and the next phase begins with the rest of this
//! queue.

use crate::facts::{Facts, Place, Source};
use serde::Serialize;

/// A backlog is reported only if it is more than this share of the offered flits, plus random variation.
const SMALL: f64 = 0.03;
/// In a phase of the length that a remedy proposes, the same backlog is at most this share of the phase's flits. The share is below
/// `SMALL`, so the backlog of the longer phase is not reported again.
const SAFE: f64 = 0.02;
/// A backlog in the network matters if it makes the mean latency longer by more than this share.
const SLOWER: f64 = 0.05;
/// Differences of at most this number of standard deviations count as random variation.
pub const CHANCE: f64 = 3.0;

/// Flits that wait at the beginning and at the end of a phase, without the flits that would be in flight anyway.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Backlog {
    /// Waiting flits that earlier phases have left \[flits/terminal\].
    pub before: f64,
    /// Waiting flits that this phase adds; negative if the phase delivers some \[flits/terminal\].
    pub own: f64,
    /// Flits that the sources offer in the whole phase \[flits/terminal\].
    pub offered: f64,
    /// Length of the phase \[cycles\].
    pub cycles: f64,
    /// Number of packets that were created in the phase.
    pub packets: f64,
    /// Number of packets that waited in source queues when the window began; `None` if `before` was not computed from this number.
    pub at_begin: Option<f64>,
}

impl Backlog {
    pub(crate) fn read<S: Source>(known: &S) -> Self {
        let number = |key| known.number(key).unwrap_or(0.0);
        Self {
            before: number("before"),
            own: number("own"),
            offered: number("offered"),
            cycles: number("cycles"),
            packets: number("packets"),
            at_begin: known.number("at_begin"),
        }
    }

    /// Flits that still wait when the phase ends \[flits/terminal\].
    pub fn after(&self) -> f64 {
        (self.before + self.own).max(0.0)
    }

    /// Whether the accepted load of the phase is below its offered load by more than 3 % plus random variation.
    pub fn falls_behind(&self) -> bool {
        self.matters(self.own)
    }

    /// Whether the flits that earlier phases left exceed 3 % of the load of this phase, plus random variation.
    pub fn began_behind(&self) -> bool {
        self.matters(self.before)
    }

    /// Length that the phase would need so that neither `own` nor `before` matters \[cycles\].
    pub fn long_enough(&self) -> f64 {
        (self.own.max(self.before) / self.offered * self.cycles / SAFE).ceil()
    }

    /// Time from the beginning of the phase until the flits of `before` are delivered \[cycles\]; `None` if random variation can explain
    /// the delivered part.
    pub fn drained_in(&self) -> Option<f64> {
        let delivered = -self.own;
        (delivered > self.chance() * self.offered).then(|| (self.before / delivered * self.cycles).ceil())
    }

    /// Whether the accepted load of the phase is above its offered load by more than 3 % plus random variation.
    fn is_delivered(&self) -> bool {
        self.matters(-self.own)
    }

    fn chance(&self) -> f64 {
        if self.packets > 0.0 { CHANCE / self.packets.sqrt() } else { 0.0 }
    }

    fn matters(&self, flits: f64) -> bool {
        let least = (SMALL + self.chance()) * self.offered;
        flits > least && least > 0.0
    }
}

/// The number, or `None` if it is missing or 0.
fn some(number: Option<f64>) -> Option<f64> {
    number.filter(|&number| number != 0.0)
}

/// The backlog when the window of a point, or a phase, begins; `None` if it is unknown or is no backlog.
///
/// Waiting flits are a backlog if the accepted load of the window or phase exceeds its offered load. In a phase, they are also a backlog if
/// the length of the queues depends on their length at the beginning of the phase. In other cases, this number of flits always waits at
/// this load, so it is no backlog.
pub(crate) fn at_begin(span: &Facts, cycles: f64) -> Option<Backlog> {
    let (waiting, offered, packets) =
        (some(span.backlog_before_packets)?, some(span.offered_load)?, some(span.packets)?);
    let accepted = span.accepted_load?;
    let found = Backlog {
        before: waiting / packets * offered * cycles,
        own: (offered - accepted) * cycles,
        offered: offered * cycles,
        cycles,
        packets,
        at_begin: Some(waiting),
    };
    let is_shown = found.is_delivered() || (span.is_phase() && span.queues_settled == Some(false));
    is_shown.then_some(found)
}

/// Whether the window of a point delivers packets that the warm-up left in the network, and this is visible in the latencies.
///
/// The result is true under two conditions. The accepted load exceeds the offered load by more than random variation, and the backlog makes
/// the mean latency more than 5 % longer. The second condition assumes that the backlog shrinks evenly, and to nothing by the end of the
/// window. A packet then waits, on average, for half of the backlog.
pub(crate) fn drains(point: &Facts) -> bool {
    let known = (some(point.offered_load), some(point.accepted_load), some(point.packets));
    let (Some(offered), Some(accepted), Some(packets)) = known else { return false };
    let (Some(latency), true) = (some(point.packet_latency_mean_cycles), point.phases.is_empty()) else { return false };
    let excess = accepted / offered - 1.0;
    excess > CHANCE / packets.sqrt() && excess * point.window_cycles.unwrap_or(0.0) / 2.0 > SLOWER * latency
}

/// The backlog of each phase; `None` for a phase whose loads are not known.
pub(crate) fn of_phases(phases: &[Facts]) -> Vec<Option<Backlog>> {
    // the latency without queueing: the lowest median latency of all phases
    let medians = phases.iter().filter_map(|phase| phase.place.as_ref()?.packet_latency_p50_cycles);
    let latency = medians.reduce(f64::min).unwrap_or(0.0);
    let (mut left, mut load) = (0.0, None);
    let one = |phase: &Facts| {
        let (offered, accepted) = (phase.offered_load?, phase.accepted_load?);
        let Place { from_cycle: Some(from), to_cycle: Some(to), .. } = phase.place.as_ref()? else { return None };
        let cycles = to - from;
        // if the load rises from phase to phase, more packets are in flight, and these additional packets do not wait in queues
        let on_their_way = load.map_or(0.0, |load: f64| (offered - load) * latency);
        let own = (offered - accepted) * cycles - on_their_way;
        let first = if load.is_none() { at_begin(phase, cycles) } else { None };
        if let Some(first) = first {
            left = first.before;
        }
        let packets = phase.packets.unwrap_or(0.0);
        let at_begin = first.and_then(|first| first.at_begin);
        let found = Backlog { before: left, own, offered: offered * cycles, cycles, packets, at_begin };
        left = (left + own).max(0.0);
        load = Some(offered);
        Some(found)
    };
    phases.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn phases(of: &[Value]) -> Vec<Option<Backlog>> {
        of_phases(&Facts::of(&&json!({"ending": "drained", "saturated": false, "phases": of})).phases)
    }

    fn phase(offered: f64, accepted: f64, begin: u64, latency: f64, packets: u64) -> Value {
        json!({
            "phase": 1, "from_cycle": begin, "to_cycle": begin + 10_000, "offered_load": offered, "accepted_load": accepted,
            "packets": packets, "packet_latency_p50_cycles": latency, "saturated": false,
        })
    }

    #[test]
    fn a_backlog_is_the_offered_load_that_is_not_accepted_without_packets_on_their_way() {
        let of = |offered, accepted, begin| phase(offered, accepted, begin, 20.0, 100_000);
        let found = phases(&[of(0.1, 0.1, 0), of(0.3, 0.234, 10_000), of(0.1, 0.166, 20_000)]);
        let [Some(first), Some(second), Some(third)] = found[..] else { panic!("{found:?}") };
        assert_eq!((first.own, second.before), (0.0, 0.0));
        // own backlog: 0.066 flits/cycle * 10,000 cycles = 660 flits, minus 0.2 flits/cycle * 20 cycles = 4 flits that are additionally in
        // flight
        assert!((second.own - (660.0 - 4.0)).abs() < 1e-9, "{second:?}");
        assert!(second.falls_behind() && !second.began_behind());
        assert!((third.before - 656.0).abs() < 1e-9 && !third.falls_behind() && third.began_behind(), "{third:?}");
        // 0.1 flits/cycle in 328,000 cycles are 32,800 flits, of which 656 flits are 2 %
        assert_eq!(third.long_enough(), 328_000.0);
    }

    #[test]
    fn a_step_of_the_load_and_chance_are_no_backlog() {
        // 80 of the 9,000 offered flits are not accepted, because they are in flight: the load rises by 0.8 flits/cycle, and the latency is
        // 100 cycles
        let found = phases(&[phase(0.1, 0.1, 0, 100.0, 100_000), phase(0.9, 0.892, 10_000, 100.0, 100_000)]);
        assert!(found.iter().all(|each| each.is_some_and(|each| !each.falls_behind())), "{found:?}");
        // for 100 packets, three standard deviations are 3 / sqrt(100) = 30 %
        let few = phases(&[phase(0.3, 0.234, 0, 20.0, 100)]);
        assert!(few[0].is_some_and(|few| !few.falls_behind()), "{few:?}");
        let mut unknown = phase(0.3, 0.2, 0, 20.0, 100_000);
        unknown["offered_load"] = Value::Null;
        assert_eq!(phases(&[unknown]), [None]);
    }
}
