//! Flits that may bypass the allocator in the cycle of their arrival, and the trial that measures whether the bypass saves time for heads.

use weft_api::base::kept::Kept;
use weft_api::state::port_and_vc;

/// A flit that may bypass the allocator: it has arrived in this cycle, and is the only flit in its queue. The flit bypasses the allocator
/// if it is uncontended, that is, no other flit requests its output or leaves its input. Each input unit has at most one such flit, because
/// in networks with the bypass a link carries at most one flit per cycle.
#[derive(Debug, Clone, Copy)]
pub struct BypassFlit {
    /// The VC at which the flit has arrived: input unit * 16 + VC.
    pub at: u32,
    /// The output unit by which the flit will leave.
    pub out: u32,
    /// Index of the segment that holds the flit.
    pub segment: u32,
    /// Route key if the flit is a head; [`NO_REQUEST`] for body flits and tails. The input unit does not yet store this key as a request.
    pub key: u16,
    /// True if the flit is a head that chooses in every step. If `out` is `NONE`, the head has not chosen yet. If `out` is an output, `key`
    /// is the choice of the head for the next step only.
    pub chooses: bool,
}

impl BypassFlit {
    /// Three indices of the flit: its input unit, its VC, and the output unit by which it will leave.
    #[inline(always)]
    pub fn places<const V: usize>(self) -> (usize, usize, usize) {
        let (i, v) = port_and_vc::<V>(self.at);
        (i, v, self.out as usize)
    }
}

/// Decides whether heads try to bypass the allocator. The decision never changes results, only the speed: if many flits are contended, the
/// allocator is faster.
#[derive(Debug, Clone, Default, Kept)]
pub struct BypassTrial {
    pub heads_try: bool,
    /// The cycle of the next decision.
    pub until: u64,
    /// Flits that were candidates for the bypass since the last decision.
    pub tried: u64,
    /// Flits that bypassed the allocator since the last decision.
    pub crossed: u64,
}

impl BypassTrial {
    /// Lets heads try the bypass in all cycles (for tests).
    pub fn without_end() -> Self {
        Self { heads_try: true, until: u64::MAX, ..Self::default() }
    }

    /// Decides at cycle `now`: heads continue to try the bypass if at least three of five flits succeed. After heads have stopped, they try
    /// again some time later.
    #[inline(always)]
    pub fn decide(&mut self, now: u64) {
        if now >= self.until {
            let stop = self.heads_try && self.crossed * 5 < self.tried * 3;
            let (heads_try, cycles) = if stop { (false, 4096) } else { (true, 128) };
            *self = Self { heads_try, until: now + cycles, ..Self::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each of these cycles, whether heads try the bypass. `crossed`: number of flits, out of 10 that try, that bypass the allocator in
    /// a cycle.
    fn tries(trial: &mut BypassTrial, cycles: std::ops::Range<u64>, crossed: u64) -> Vec<bool> {
        let mut try_in = |now| {
            trial.decide(now);
            (trial.tried, trial.crossed) = (trial.tried + 10, trial.crossed + crossed);
            trial.heads_try
        };
        cycles.map(&mut try_in).collect()
    }

    #[test]
    fn heads_try_while_most_are_uncontended_and_make_short_trials_otherwise() {
        let mut trial = BypassTrial::default();
        assert!(tries(&mut trial, 0..10_000, 6).into_iter().all(|tries| tries));
        let busy = tries(&mut trial, 10_000..60_000, 5);
        let short = busy.iter().filter(|&&tries| tries).count();
        assert!(short > 10 * 128 && short < 14 * 128, "{short} cycles of trial");
        assert!(tries(&mut trial, 60_000..80_000, 9)[5000..].iter().all(|&tries| tries), "the load has fallen");
    }
}
