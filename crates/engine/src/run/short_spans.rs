//! Decides whether a span is too short for the verdict that the network is saturated.
//!
//! Even in a network without queues, packets need time to arrive: the time of their flight, and the time until sleeping links have woken.
//! In a shorter span the network can accept less than the offered load, and in a shorter drain packets can be missing,
//! although no queue grows. For such a span the verdict "saturated" would be wrong, so the span gets no verdict.

use crate::network::spec::Spec;
use crate::network::transit::Transit;
use crate::run::outcome::{Doubt, Saturation};

/// Paths can be longer than the mean path by about this factor, for example over an intermediate router.
const LONGER_PATHS: f64 = 2.0;

/// Times that packets need in a network without queues [cycles].
#[derive(Debug, Clone, Copy)]
struct Needed {
    /// From the injection of a packet to its delivery, if all links are on.
    flight: u64,
    /// Longest wait for one link that is off.
    for_link: u64,
    /// From the injection of a packet to its delivery over a long path on which all links are off. Includes the turnaround of its reply.
    in_all: u64,
}

impl Needed {
    fn of(spec: &Spec) -> Self {
        let transit = Transit::of(spec);
        let for_link = wait_for_link(spec);
        let in_all = LONGER_PATHS * (transit.without_queues() + transit.hops.max(1.0) * for_link as f64);
        let in_all = (in_all.ceil() as u64).saturating_add(spec.turnaround().unwrap_or(0));
        Self { flight: transit.without_queues().ceil() as u64, for_link, in_all }
    }
}

/// The longest time for which a packet waits for one link that is off; 0 if links wake only at fixed times. For fixed times, a span of whole
/// periods is judged (`run/judge.rs`).
fn wait_for_link(spec: &Spec) -> u64 {
    let has_times = spec.schedule().is_ok_and(|schedule| schedule.period.is_some() || !schedule.once.is_empty());
    if has_times || !spec.managed.contains(&true) {
        return 0;
    }
    spec.policy.longest_wait(spec.cycle_fs).unwrap_or(0)
}

impl Saturation {
    /// This verdict on a span of `cycles` cycles that begins in cycle `begin`, or no verdict if the span is too short for it.
    pub(crate) fn of_span(self, spec: &Spec, begin: u64, cycles: u64) -> Self {
        if self != Self::Yes {
            return self;
        }
        let needed = Needed::of(spec);
        match cycles < needed.for_link || begin < needed.flight {
            true => Self::Unknown(Doubt::Short { cycles, needed: needed.in_all }),
            false => self,
        }
    }

    /// The verdict on a run whose drain reached its limit, from this verdict on its window. A scenario whose limit is shorter than its window
    /// asks for a verdict without a drain.
    pub(crate) fn undrained(self, spec: &Spec) -> Self {
        let (cycles, needed) = (spec.phases.drain_limit, Needed::of(spec).in_all);
        let is_short = cycles < needed && cycles >= spec.phases.window;
        match self {
            Self::Unknown(Doubt::Short { .. }) => self,
            Self::No | Self::Unknown(_) if is_short => Self::Unknown(Doubt::Short { cycles, needed }),
            Self::No | Self::Yes | Self::Unknown(_) => Self::Yes,
        }
    }
}
