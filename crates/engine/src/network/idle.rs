//! Skips idle time (`kernel/src/shortcuts/idle.rs`). If nothing is in flight, the clock of the whole network jumps to the next event. An
//! event is a source that is due, the end of an agent's timer, or the failure of a part. The results are the same as without jumps.
//!
//! The search for the next event reads all terminals and timers. The search runs before a series of cycles is simulated, and only if no
//! head, source or stream has work. After a search that skipped few cycles, the next search is delayed. Searches therefore cost less than
//! steps.

use crate::network::simulation::Simulation;
use crate::network::threads::take_of_thread;
use weft_api::agents::Overseer;
use weft_kernel::shortcuts::profile::Kind;

/// The largest number of cycles between two searches.
const STRETCH: u64 = 1024;
/// Number of terminals, timers and ports that a search can read in the time of one step of an idle block.
const LOOKS_PER_CYCLE: usize = 16;
/// Cost of starting the waiting threads and of waiting until they have finished [flit-hops that one thread simulates in this time].
const HOPS_TO_BEGIN: u64 = 64;
/// Cost of the barrier at the end of a window [flit-hops].
const HOPS_PER_WINDOW: u64 = 16;
/// Cost of an event at a source (`Sources::acts`) that no arriving flit triggers [flit-hops].
const HOPS_PER_ACT: u64 = 2;
/// The largest number of cycles between two checks of a run, while the network is empty [cycles].
const LONGEST_LOOK: u64 = 1 << 24;

/// The state of the search for idle time, such as the cycle of the next search.
#[derive(Debug)]
pub(crate) struct Idle {
    look_at: u64,
    /// Smallest number of cycles that a search must skip to be worth its cost.
    worth: u64,
    /// Number of cycles skipped so far.
    pub skipped: u64,
    /// For the last step on several blocks: the work of the run before that step [flit-hops], and the number of windows of that step.
    last_step: Option<(u64, u64)>,
}

impl Idle {
    /// `places`: number of terminals, timers and ports of the network.
    pub fn new(places: usize) -> Self {
        Self { look_at: 0, worth: (places / LOOKS_PER_CYCLE) as u64, skipped: 0, last_step: None }
    }

    /// Whether one thread would be faster than several threads for the next windows. Assumes that these windows have as much work as the
    /// windows of the last step. `work`: flit-hops of the run so far. Returns `None` if there is no earlier step to compare with.
    fn is_little_work(&mut self, work: u64, windows: u64) -> Option<bool> {
        let little = HOPS_TO_BEGIN + windows * HOPS_PER_WINDOW;
        let last = self.last_step.replace((work, windows));
        last.map(|(before, of)| work.saturating_sub(before) * windows < little * of)
    }
}

impl Simulation {
    /// The end of the next series of steps, at most `until`.
    pub(super) fn stretch(&self, until: u64) -> u64 {
        let end = if self.idle.look_at > self.now { self.idle.look_at } else { self.now + STRETCH };
        until.min(end).min(self.now + STRETCH)
    }

    /// Jumps to the cycle of the next event, but not beyond `until`. If an event is possible in the present cycle, the function does
    /// nothing and returns false.
    pub(super) fn skip_idle(&mut self, until: u64) -> bool {
        let is_idle = self.now >= self.idle.look_at && self.are_quiet() && self.nothing_is_under_way();
        if !is_idle {
            return false;
        }
        let next = self.idle_until().min(until);
        let gained = next.saturating_sub(self.now);
        self.idle.look_at = if gained < self.idle.worth { next.max(self.now) + self.idle.worth } else { next };
        if gained > 0 {
            self.blocks.iter_mut().for_each(|block| block.jump(&self.net, next));
            self.now = next;
            self.idle.skipped += gained;
            self.steady.forget();
        }
        gained > 0
    }

    /// The cycle of the next event of an idle network.
    fn idle_until(&mut self) -> u64 {
        let net = &self.net;
        self.blocks.iter_mut().map(|block| block.idle_until(net)).min().unwrap_or(u64::MAX)
    }

    /// Skips those acts of the overseer before cycle `until` that would change nothing.
    pub(super) fn skip_acts(&mut self, overseer: &mut dyn Overseer, until: u64) {
        if self.are_quiet()
            && self.nothing_is_under_way()
            && let Some(period) = overseer.rests(&mut self.whole())
        {
            let until = self.idle_until().min(until);
            overseer.skip(until.saturating_sub(overseer.next()).div_ceil(period) * period);
        }
    }

    /// Whether no head, source or stream has work, and the blocks permit skipping cycles.
    fn are_quiet(&self) -> bool {
        self.blocks.iter().all(|block| block.shortcuts().profile().has(Kind::Idle) && block.is_quiet())
    }

    fn nothing_is_under_way(&self) -> bool {
        self.blocks.iter().all(|block| block.nothing_is_under_way())
    }

    /// Runs the blocks to cycle `until`. Uses only this thread if several threads would take longer.
    pub(super) fn step_all(&mut self, until: u64) {
        let windows = (until - self.now).div_ceil(self.window);
        let sources = self.blocks.iter().flat_map(|block| &block.interfaces().sources);
        let acts: u64 = sources.map(|sources| sources.all().acts()).sum();
        let is_little = self.idle.is_little_work(self.flit_hops() + HOPS_PER_ACT * acts, windows);
        if is_little.unwrap_or_else(|| self.are_quiet() && self.nothing_is_under_way()) {
            self.step_in_turn(until);
        } else {
            self.step_on_threads(until, windows);
        }
    }

    /// Runs all blocks to cycle `until` on this thread, one after another in each window.
    fn step_in_turn(&mut self, until: u64) {
        let mut now = self.now;
        while now < until {
            now = now.saturating_add(self.window).min(until);
            self.blocks.iter_mut().for_each(|block| block.advance(&self.net, now));
            (0..self.blocks.len()).for_each(|k| take_of_thread(&self.net, &mut self.blocks, k, 0));
        }
    }

    /// Whether packets are in flight in the network or wait at their sources.
    pub(crate) fn has_packets(&self) -> bool {
        self.blocks.iter().any(|block| block.has_packets())
    }

    /// The first cycle in which a source could create a packet, if the network has no packets; otherwise the present cycle.
    pub(crate) fn empty_until(&self) -> u64 {
        let jumps = self.blocks.iter().all(|block| block.shortcuts().profile().has(Kind::Idle));
        if !jumps || self.has_packets() {
            return self.now;
        }
        self.blocks.iter().map(|block| block.next_created()).min().unwrap_or(self.now)
    }

    /// The cycle of the next check of the run, at most `until`. The next check is `look` cycles from now. While the network stays empty, it
    /// is a larger multiple of `look` from now.
    pub(crate) fn look_end(&self, look: u64, until: u64) -> u64 {
        let empty = self.empty_until().saturating_sub(self.now).min(LONGEST_LOOK) / look * look;
        until.min(self.now + empty.max(look))
    }
}
