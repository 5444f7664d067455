//! Measures the computations of a rank. A computation lasts from the end of a call to the begin of the next
//! call, by one of the clocks of the trace.

use super::trace_files::Clock;
use crate::mpi::{Assumed, Problem, Recorder};

/// The times at which a call began and ended \[ns\].
pub type Times = [u64; 2];

/// The begin and end of a call, by each clock that the trace has.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clocks {
    pub processor: Option<Times>,
    pub wall: Option<Times>,
    /// Time since the previous call that is not computation, because the rank was in calls of which the trace
    /// has only the total time. The list has processor time and wall-clock time \[ns\].
    pub unrecorded: [u64; 2],
}

/// Measures the times between the calls of a rank.
pub struct Timer {
    clock: Option<Clock>,
    /// Time at which the previous call ended \[ns\].
    last: Option<u64>,
}

impl Timer {
    /// If `clock` is `None`, the timer uses processor time for calls that have it, and otherwise wall-clock
    /// time.
    pub const fn new(clock: Option<Clock>) -> Self {
        Self { clock, last: None }
    }

    /// Records the computation that precedes a call.
    pub fn compute(&mut self, clocks: &Clocks, recorder: &mut Recorder) -> Result<(), Problem> {
        let processor = clocks.processor.map(|times| (Clock::Processor, times));
        let wall = clocks.wall.map(|times| (Clock::Wall, times));
        let timed: Option<(Clock, Times)> = match self.clock {
            None => processor.or(wall),
            Some(Clock::Processor) => processor,
            Some(Clock::Wall) => wall,
        };
        let Some((clock, [start, stop])) = timed else {
            if let Some(clock) = self.clock {
                let help = format!("convert with --clock {}", other(clock).name());
                return Err((format!("the call has no time of the {} clock", clock.name()), help));
            }
            recorder.assume(Assumed::NoClock);
            return Ok(());
        };
        if let Some((earlier, later)) =
            [(self.last.unwrap_or(start), start), (start, stop)].into_iter().find(|(a, b)| a > b)
        {
            let what = format!("the {} clock runs backwards at this call, by {} ns", clock.name(), earlier - later);
            let help = format!("convert with --clock {}, or record the program again", other(clock).name());
            return Err((what, help));
        }
        let unrecorded = match clock {
            Clock::Processor => clocks.unrecorded[0],
            Clock::Wall => clocks.unrecorded[1],
        };
        let gap = self.last.map_or(0, |last| (start - last).saturating_sub(unrecorded));
        self.last = Some(stop);
        if gap > 0 {
            recorder.compute(gap);
            recorder.assume(match clock {
                Clock::Processor => Assumed::ProcessorClock,
                Clock::Wall => Assumed::WallClock,
            });
        }
        Ok(())
    }
}

const fn other(clock: Clock) -> Clock {
    match clock {
        Clock::Processor => Clock::Wall,
        Clock::Wall => Clock::Processor,
    }
}
