//! Decides whether a span is too short for the verdict that the network is saturated.
//!
//! Even in a network without queues, packets need time to arrive: the time of their flight, and the time until sleeping links have woken.
//! In a shorter span the network can accept less than the offered load, and in a shorter drain packets can be missing, although no queue
//! grows. For such a span the verdict "saturated" would be wrong, so the span gets no verdict.
//!
//! The time for sleeping links counts only if a link was going off or waking. A judged span must be as long as the wait for one link. A
//! judged span that begins before the first packets arrive must be as long as packets need on a long path. A drain must always be as long
//! as packets need on a long path.

use crate::network::simulation::Simulation;
use crate::network::spec::Spec;
use crate::network::transit::Transit;
use crate::run::outcome::{Doubt, Saturation, Short};
use weft_api::state::{Account, LinkState};

/// Paths can be longer than the mean path by about this factor, for example over an intermediate router.
const LONGER_PATHS: f64 = 2.0;

/// Times that packets need in a network without queues \[cycles\].
#[derive(Debug, Clone, Copy)]
struct Needed {
    /// From the injection of a packet to its delivery, if all links are on.
    flight: u64,
    /// Longest wait for one link that is off; 0 if no link woke.
    for_link: u64,
    /// From the injection of a packet to its delivery, over a long path on which the packet waits for every link. Includes the time for
    /// which a terminal delays the packet's reply.
    in_all: u64,
}

impl Needed {
    /// `changes`: whether a channel was going off or waking.
    fn of(spec: &Spec, changes: bool) -> Self {
        let transit = Transit::of(spec);
        let for_link = if changes { wait_for_link(spec) } else { 0 };
        let in_all = LONGER_PATHS * (transit.without_queues() + transit.hops.max(1.0) * for_link as f64);
        let in_all = (in_all.ceil() as u64).saturating_add(spec.turnaround().unwrap_or(0));
        Self { flight: transit.without_queues().ceil() as u64, for_link, in_all }
    }

    fn short(&self, is_drain: bool, cycles: u64) -> Saturation {
        let waits_for_links = self.for_link > 0;
        Saturation::Unknown(Doubt::Short(Short { is_drain, cycles, needed: self.in_all, waits_for_links }))
    }
}

/// The longest wait of a packet for one link that is off. The result is 0 if the policy acts at fixed times. Under a policy that repeats
/// its actions, only whole periods are judged (`run/judge.rs`).
fn wait_for_link(spec: &Spec) -> u64 {
    let has_times = spec.schedule().is_ok_and(|schedule| schedule.period.is_some() || !schedule.once.is_empty());
    if has_times { 0 } else { spec.policy.longest_wait(spec.cycle_fs).unwrap_or(0) }
}

/// Whether one of these accounts has cycles in which a channel was going off or waking. If there are no such cycles, no packet waited for a
/// link to wake, because links that sleep during the whole span get no packets.
pub(crate) fn has_transitions<'a>(mut accounts: impl Iterator<Item = &'a Account>) -> bool {
    let is_transition = |state: LinkState| matches!(state, LinkState::Draining | LinkState::Waking);
    accounts.any(|account| account.cycles.by_state().any(|(state, cycles)| cycles > 0 && is_transition(state)))
}

impl Simulation {
    /// Whether a channel was going off or waking since the accounts began.
    pub(crate) fn has_transitions(&self) -> bool {
        self.blocks.iter().any(|block| has_transitions(block.accounts(self.now).iter()))
    }
}

impl Saturation {
    /// Returns this verdict on a span of `cycles` cycles that begins in cycle `begin`, or no verdict if the span is too short for this
    /// verdict. `changes`: returns whether a channel was going off or waking.
    pub(crate) fn of_span(self, spec: &Spec, begin: u64, cycles: u64, changes: impl FnOnce() -> bool) -> Self {
        if self != Self::Yes {
            return self;
        }
        let needed = Needed::of(spec, changes());
        let misses_flights = begin < needed.flight && cycles < needed.in_all;
        if cycles < needed.for_link || misses_flights { needed.short(false, cycles) } else { self }
    }

    /// The verdict on a run whose drain reached its limit. `self` is the verdict on its window. A scenario whose drain limit is shorter
    /// than its window requests a verdict without a drain.
    pub(crate) fn undrained(self, spec: &Spec, changes: bool) -> Self {
        let (cycles, needed) = (spec.phases.drain_limit, Needed::of(spec, changes));
        let is_short = cycles < needed.in_all;
        match self {
            Self::Unknown(Doubt::Short(_)) if is_short => self,
            Self::No | Self::Unknown(_) if is_short && cycles >= spec.phases.window => needed.short(true, cycles),
            Self::No | Self::Yes | Self::Unknown(_) => Self::Yes,
        }
    }
}
