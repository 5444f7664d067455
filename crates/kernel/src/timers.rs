//! The timers that a block provides to agents of the power policy: one per channel and one per router. If an agent sets a timer again, the
//! new end replaces the earlier one.

use weft_api::base::kept::Kept;
use weft_api::base::wheel::Wheel;

/// Value of a timer that is not set.
const NEVER: u64 = u64::MAX;

#[derive(Debug, Kept)]
pub struct Timers {
    wheel: Wheel<u32, 64>,
    /// The cycle in which each timer ends.
    #[kept(each)]
    ends: Vec<u64>,
    /// The cycle in which the calendar wheel next checks each timer. This cycle is the end of the timer, or a cycle before it if the end is
    /// beyond the horizon of the wheel.
    #[kept(each)]
    comes_up: Vec<u64>,
    /// Scratch: the timers that end in a cycle.
    #[kept(scratch)]
    ended: Vec<u32>,
    /// Scratch: for each timer, 0 if its next end may change something; if its ends change nothing while the network is idle, the time
    /// between two ends.
    #[kept(scratch)]
    periods: Vec<u64>,
}

impl Timers {
    pub fn new(count: usize) -> Self {
        Self {
            wheel: Wheel::new(1024, 2 * count),
            ends: vec![NEVER; count],
            comes_up: vec![NEVER; count],
            ended: Vec::with_capacity(2 * count),
            periods: vec![0; count],
        }
    }

    pub fn nothing_due(&self, now: u64) -> bool {
        self.wheel.is_empty_at(now)
    }

    /// The first cycle from `now` on, before `until`, in which the wheel checks a timer; `until` if there is no such cycle.
    pub fn next_look(&self, now: u64, until: u64) -> u64 {
        self.wheel.next(now, until)
    }

    pub fn none_is_set(&self) -> bool {
        self.comes_up.iter().all(|&at| at == NEVER)
    }

    /// The cycle in which the first of all timers ends.
    pub fn next(&self) -> u64 {
        let set = self.comes_up.iter().zip(&self.ends).filter(|(at, _)| **at != NEVER);
        set.map(|(_, &end)| end).min().unwrap_or(NEVER)
    }

    /// Lends the list of periods, one per timer, to the caller. The caller writes the period of each timer whose ends change nothing, and
    /// 0 for the other timers. The caller returns the list with `note_periods`.
    pub fn periods(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.periods)
    }

    /// Stores the periods, for later calls of `next_effect` and `jump`.
    pub fn note_periods(&mut self, periods: Vec<u64>) {
        self.periods = periods;
    }

    /// The next cycle in which a timer ends whose end may change something.
    pub fn next_effect(&self) -> u64 {
        let all = self.comes_up.iter().zip(&self.ends).zip(&self.periods);
        let with_effect = all.filter(|((at, _), period)| **at != NEVER && **period == 0);
        with_effect.map(|((_, &end), _)| end).min().unwrap_or(NEVER)
    }

    /// Moves the clock to cycle `now`. Timers that would end before `now` must have a period. The ends of these timers move by whole
    /// periods.
    pub fn jump(&mut self, now: u64) {
        for (end, &period) in self.ends.iter_mut().zip(&self.periods) {
            if period > 0 && *end < now {
                *end += (now - *end).div_ceil(period) * period;
            }
        }
        for who in self.wheel.take_all() {
            if std::mem::replace(&mut self.comes_up[who as usize], NEVER) != NEVER {
                self.set(who as usize, now - 1, self.ends[who as usize]);
            }
        }
    }

    /// Sets timer `who` to end in cycle `at`. If `at` is not after `now`, the timer ends in the next cycle.
    pub fn set(&mut self, who: usize, now: u64, at: u64) {
        self.ends[who] = at;
        let at = at.clamp(now + 1, now + self.wheel.horizon() - 1);
        if at < self.comes_up[who] {
            self.comes_up[who] = at;
            self.wheel.push(now, at, who as u32);
        }
    }

    /// Removes and returns the timers that end in cycle `now`, in ascending order. The caller returns the list with `give_back`.
    pub fn end(&mut self, now: u64) -> Vec<u32> {
        let mut ended = std::mem::take(&mut self.ended);
        while let Some((chunk, len)) = self.wheel.due(now) {
            for k in 0..len {
                let who = self.wheel.item(chunk, k);
                // after an agent has set a timer again, the wheel may contain several entries for this timer, of which only the one in
                // cycle `comes_up` counts
                if self.comes_up[who as usize] == now {
                    self.comes_up[who as usize] = NEVER;
                    ended.push(who);
                }
            }
            self.wheel.release(now);
        }
        ended.sort_unstable();
        ended.retain(|&who| {
            let at = self.ends[who as usize];
            if at > now {
                self.set(who as usize, now, at);
            }
            at <= now
        });
        ended
    }

    pub fn give_back(&mut self, mut ended: Vec<u32>) {
        ended.clear();
        self.ended = ended;
    }
}

#[cfg(test)]
mod tests {
    use super::Timers;

    /// Simulates 5000 cycles. Returns each end of a timer as (cycle, timer). Calls `set` whenever a timer ends; `set` may set timers.
    fn run(timers: &mut Timers, set: impl Fn(&mut Timers, u32, u64)) -> Vec<(u64, u32)> {
        let mut all = Vec::new();
        for now in 1..5000 {
            let ended = timers.end(now);
            for &who in &ended {
                all.push((now, who));
                set(timers, who, now);
            }
            timers.give_back(ended);
        }
        all
    }

    #[test]
    fn a_later_setting_makes_an_earlier_one_void() {
        let mut timers = Timers::new(3);
        for (who, at) in [(0, 100), (0, 50), (1, 50), (1, 100), (2, 4000), (2, 3000)] {
            timers.set(who, 0, at);
        }
        assert_eq!(run(&mut timers, |_, _, _| {}), [(50, 0), (100, 1), (3000, 2)]);
    }

    #[test]
    fn timers_end_when_they_should_after_a_jump() {
        let mut timers = Timers::new(3);
        for (who, at) in [(0, 100), (0, 50), (0, 100), (1, 4000), (2, 2500)] {
            timers.set(who, 0, at);
        }
        assert_eq!(timers.next(), 100);
        timers.jump(40);
        let mut all = Vec::new();
        let mut end = |timers: &mut Timers, now: u64| {
            let ended = timers.end(now);
            all.extend(ended.iter().map(|&who| (now, who)));
            timers.give_back(ended);
        };
        (40..200).for_each(|now| end(&mut timers, now));
        timers.jump(2500);
        assert_eq!(timers.next(), 2500);
        (2500..4100).for_each(|now| end(&mut timers, now));
        assert_eq!((all, timers.next()), (vec![(100, 0), (2500, 2), (4000, 1)], u64::MAX));
    }

    #[test]
    fn a_jump_moves_timers_that_change_nothing_by_whole_periods() {
        let mut timers = Timers::new(4);
        for (who, at) in [(0, 100), (1, 150), (2, 9000)] {
            timers.set(who, 0, at);
        }
        // timer 3 is not set
        timers.note_periods(vec![100, 70, 0, 10]);
        assert_eq!((timers.next(), timers.next_effect()), (100, 9000));
        timers.jump(5000);
        // 150 + 70 k first reaches 5000 or more with k = 70
        assert_eq!(timers.next(), 5000);
        let ended = |timers: &mut Timers, now| {
            let ended = timers.end(now);
            let list = ended.clone();
            timers.give_back(ended);
            list
        };
        assert_eq!(ended(&mut timers, 5000), [0]);
        assert!((5001..5050).all(|now| ended(&mut timers, now).is_empty()));
        assert_eq!(ended(&mut timers, 5050), [1]);
        assert_eq!(timers.next(), 9000);
    }

    #[test]
    fn a_timer_that_is_set_to_an_old_time_again_ends_once() {
        let mut timers = Timers::new(1);
        timers.set(0, 0, 100);
        timers.set(0, 0, 50);
        let again = |timers: &mut Timers, _, now| {
            if now == 50 {
                timers.set(0, now, 100)
            }
        };
        assert_eq!(run(&mut timers, again), [(50, 0), (100, 0)]);
    }
}
