//! Skips cycles in which only steady flows of body flits move (`kernel/src/shortcuts/steady.rs`).
//!
//! If only body flits and credits are in flight before an advance, this code searches for a period. To find the period, the code compares
//! the network's state with its states up to [`LONGEST`] cycles earlier (or windows, if there are several blocks). If there is a period,
//! the clock moves forward by whole periods, until a count runs out, a source is due, or a timer of an agent ends. Agents that change
//! nothing do not end the periodic pattern. The results are the same as without skipping.

use crate::network::simulation::Simulation;
use weft_kernel::shortcuts::steady::Flow;

/// The largest number of cycles between two calls of `housekeeping`, which renews old cycle stamps and adds 32-bit counters to wider
/// counters. A 32-bit stamp is unambiguous while it is less than 2^31 cycles old. After a call all stamps are at most 2^30 cycles old.
const READABLE: u64 = 1 << 29;
/// The longest period that the search can find, in steps. A step is one cycle, or one window if there are several blocks.
const LONGEST: u64 = 64;
/// Number of cycles between a search without result and the next search: the first value, and the largest value to which it grows.
const FIRST_PAUSE: u64 = 256;
const LONGEST_PAUSE: u64 = 1 << 14;
/// Cost of examining a port in a search, measured in moves of a flit in the cycle loop.
const MOVES_PER_PORT: u64 = 8;

/// The periodic pattern that the network repeats.
#[derive(Debug)]
struct Pattern {
    /// A cycle in which a period begins.
    begin: u64,
    /// Length of a period [cycles].
    period: u64,
    /// The cycle until which the pattern is certain to repeat.
    until: u64,
    /// The flits that each block moves in one period of the pattern.
    flows: Vec<Flow>,
}

/// State of the search for a pattern, and the pattern that was found last.
#[derive(Debug)]
pub(crate) struct Steady {
    pattern: Option<Pattern>,
    /// First cycle of the next search.
    look_at: u64,
    pause: u64,
    /// Number of cycles skipped so far.
    skipped: u64,
}

impl Steady {
    /// `may_repeat`: whether the next events depend only on data that a snapshot contains.
    pub(super) fn new(may_repeat: bool) -> Self {
        Self { pattern: None, look_at: if may_repeat { 0 } else { u64::MAX }, pause: FIRST_PAUSE, skipped: 0 }
    }

    /// Drops the pattern. Needed when counts or senders have changed.
    pub(crate) fn forget(&mut self) {
        self.pattern = None;
    }
}

impl Simulation {
    /// A cycle before which certainly no packet is created or delivered and no agent acts. If nothing is certain, the cycle is in the past.
    pub(crate) fn steady_until(&self) -> u64 {
        let until = self.steady.pattern.as_ref().map_or(0, |pattern| pattern.until);
        until.min(self.agents_wait_until())
    }

    /// The next cycle in which an agent acts if no packet or credit arrives; 0 if an agent acts now.
    fn agents_wait_until(&self) -> u64 {
        self.blocks.iter().map(|block| block.agents_wait_until().unwrap_or(0)).min().unwrap_or(u64::MAX)
    }

    /// Number of cycles skipped so far (for tests).
    pub fn skipped_cycles(&self) -> u64 {
        self.steady.skipped
    }

    /// Advances the blocks to cycle `until`.
    pub(super) fn advance_blocks(&mut self, until: u64) {
        while self.now < until {
            let look = self.now.saturating_add(READABLE) / READABLE * READABLE;
            self.advance_readable(until.min(look));
            if self.now == look {
                self.housekeeping();
            }
        }
    }

    /// Advances the blocks to cycle `until`, which is at most [`READABLE`] cycles away.
    fn advance_readable(&mut self, until: u64) {
        while self.now < until {
            if self.agents_wrote() {
                self.steady.forget();
            }
            if self.skip_idle(until) {
                continue;
            }
            if let Some(pattern) = self.steady.pattern.take_if(|pattern| pattern.until <= self.now + pattern.period) {
                self.step_blocks(until.min(pattern.until.max(self.now + 1)));
            } else if self.steady.pattern.is_some() {
                self.repeat(until);
            } else if self.now >= self.steady.look_at && self.is_worth_a_search() {
                self.look_for_pattern(until);
            } else {
                self.step_blocks(self.stretch(until));
            }
        }
    }

    /// Moves the clock by whole periods of the pattern. The remaining cycles, up to the beginning of the next period or up to `until`, are
    /// simulated one by one.
    fn repeat(&mut self, until: u64) {
        let Some(pattern) = self.steady.pattern.take() else { return };
        let over = (self.now - pattern.begin) % pattern.period;
        let timer = self.agents_wait_until();
        let periods = (until.min(pattern.until).min(timer).saturating_sub(self.now)) / pattern.period;
        if over > 0 {
            self.step_blocks(until.min(self.now + pattern.period - over));
        } else if periods > 0 {
            let cycles = periods * pattern.period;
            for (block, flow) in self.blocks.iter_mut().zip(&pattern.flows) {
                block.flow_on(&self.net, flow, periods, cycles);
            }
            self.now += cycles;
            self.steady.skipped += cycles;
        } else {
            // simulates the end of the pattern, or the period with a timer
            self.step_blocks(until.min(self.now + pattern.period));
        }
        self.steady.pattern = Some(pattern);
    }

    /// Whether agents have changed data other than timers since the last call.
    fn agents_wrote(&mut self) -> bool {
        self.blocks.iter_mut().fold(false, |wrote, block| block.agents_wrote() | wrote)
    }

    /// Whether only body flits and credits are in flight, and the sources have enough flits left that a search can save time.
    fn is_worth_a_search(&self) -> bool {
        let add = |(flits, left): (usize, u16), of: (usize, u16)| (flits + of.0, left.min(of.1));
        let flows = self.blocks.iter().try_fold((0, u16::MAX), |sum, block| Some(add(sum, block.flows()?)));
        let ports: usize = self.blocks.iter().map(|block| block.inputs()).sum();
        let pays = |(flits, left): (usize, u16)| flits as u64 * u64::from(left) >= MOVES_PER_PORT * ports as u64;
        flows.is_some_and(|(flits, left)| left < u16::MAX && pays((flits, left)))
    }

    /// Searches for a period: advances step by step, at most to `until`, to a cycle whose state equals the present state except for counts.
    fn look_for_pattern(&mut self, until: u64) {
        let begin = self.now;
        let step = if self.blocks.len() == 1 { 1 } else { self.window };
        self.blocks.iter_mut().for_each(|block| block.remember());
        let end = until.min(begin + LONGEST * step);
        while self.now < end {
            self.step_blocks(end.min(self.now + step));
            if self.agents_wrote() {
                break;
            }
            if let Some(flows) = self.blocks.iter().map(|block| block.flow_since()).collect::<Option<Vec<_>>>() {
                let (now, period) = (self.now, self.now - begin);
                let until = self.certain_until(begin, period, &flows);
                self.steady.pattern = (until >= now + period).then_some(Pattern { begin: now, period, until, flows });
                self.steady.pause = FIRST_PAUSE;
                self.steady.look_at = now + FIRST_PAUSE;
                return;
            }
        }
        self.steady.look_at = self.now + self.steady.pause;
        self.steady.pause = (2 * self.steady.pause).min(LONGEST_PAUSE);
    }

    /// The cycle until which these flows are certain to continue unchanged, for a period that begins in cycle `begin`.
    fn certain_until(&self, begin: u64, period: u64, flows: &[Flow]) -> u64 {
        let both = || self.blocks.iter().zip(flows);
        let periods = both().filter(|(_, flow)| !flow.is_empty()).map(|(block, flow)| block.periods_left(flow)).min();
        let counted = self.now + periods.unwrap_or(0) * period;
        let due = self.blocks.iter().map(|block| block.next_created()).min().unwrap_or(0);
        // flits that will be delivered in the window count as accepted before their delivery
        let (first, end) = self.blocks[0].observers().tally.window;
        let bounds = [first, end].into_iter().filter(|&bound| bound > begin);
        let ahead =
            self.net.times.landing + period + both().map(|(block, flow)| block.longest_wait(flow)).max().unwrap_or(0);
        bounds.map(|bound| bound.saturating_sub(ahead)).fold(counted.min(due), u64::min)
    }
}
