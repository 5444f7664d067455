//! The rates of links, and the rate data (paces) of the channels of a block (`api/src/state/rate.rs`).

use weft_api::base::bits::Bits;
use weft_api::base::kept::{Kept, Value};
use weft_api::base::wheel::Wheel;
use weft_api::state::Flit;
use weft_api::state::by_class::ByClass;
use weft_api::state::rate::{Fine, Pace, Rate};

/// The rates of all link classes, and the delays that follow from them.
#[derive(Debug)]
pub struct Rates {
    /// Rate of each link class.
    pub of: ByClass<Rate>,
    /// Delays where a flit changes from one link to the next ([`Pace::delay_after`]). The index is the class of the incoming link times the
    /// number of classes, plus the class of the next link.
    pub delays: Vec<Fine>,
    /// Delay of a flit that enters an injection channel, to which no previous link leads.
    pub at_source: Fine,
    /// For each link class, the largest number of flits that may wait for a link.
    pub staged: Vec<u32>,
}

impl Rates {
    pub fn new(of: Vec<Rate>, staged: Vec<u32>) -> Self {
        let delay = |&before: &Rate, &next: &Rate| Pace::new(next, 0).delay_after(before);
        let delays = of.iter().flat_map(|before| of.iter().map(move |next| delay(before, next))).collect();
        let at_source = Pace::new(of[0], 0).own_delay();
        Self { delays, at_source, staged, of: ByClass::new(&of) }
    }

    /// The initial pace of a channel of this link class.
    pub fn pace(&self, class: u8) -> Pace {
        Pace::new(self.of[usize::from(class)], self.staged[usize::from(class)])
    }

    /// The time at which the whole of a flit that can leave at `earliest` is on a channel of class `next` with this pace. `before`: class
    /// of the channel over which the flit arrived. `share`: the share of its full rate at which the flit was sent.
    #[inline(always)]
    pub fn ready(&self, (before, share): (u8, Rate), (next, pace): (u8, &Pace), earliest: u64) -> Fine {
        let (cycles, part) = if share == Rate::ONE && pace.rate() == *self.of.of(next) {
            self.delays[usize::from(before) * self.of.len() + usize::from(next)]
        } else {
            self.delay_when_slowed(before, share, pace)
        };
        (earliest + cycles, part)
    }

    #[inline(never)]
    pub fn delay_when_slowed(&self, before: u8, share: Rate, pace: &Pace) -> Fine {
        pace.delay_after(self.of[usize::from(before)].times(share))
    }

    /// The time at which the whole of a flit that a terminal sends at `now` is on its injection channel with this pace.
    pub fn ready_at_source(&self, pace: &Pace, now: u64) -> Fine {
        let (cycles, part) = if pace.rate() == self.of[0] { self.at_source } else { pace.own_delay() };
        (now + cycles, part)
    }
}

/// A change of the rate of incoming flits: from some cycle on, flits enter input `input` at the share `share` of the full rate of their
/// channel.
#[derive(Debug, Clone, Copy, Value)]
pub struct Slowed {
    /// Index of the input in the block to which it belongs.
    pub input: u32,
    pub share: Rate,
    /// Number of this change, counted over the changes of the channel. If two changes take effect in the same cycle, the change with the
    /// higher number wins.
    pub change: u32,
}

/// A change of a channel's pace in a later cycle.
#[derive(Debug, Clone, Copy, Value)]
pub enum Event {
    /// A full output, or an injection channel for which a terminal waits, can take a flit again.
    Opens(u32),
    Comes(Slowed),
}

impl Default for Event {
    fn default() -> Self {
        Self::Opens(0)
    }
}

/// The paces of all channels of a block. Empty if every channel carries one flit per cycle, without a limit on waiting flits.
#[derive(Debug, Kept)]
pub struct Paces<const W: usize> {
    /// The pace of each output of the block.
    #[kept(each)]
    pub of: Vec<Pace>,
    /// For each router, the mask of outputs that are full, because no more flits may wait for the link.
    #[kept(each)]
    pub full: Vec<Bits<W>>,
    /// Scratch memory: the flits that arrive in a cycle, in reverse order.
    #[kept(scratch)]
    pub arriving: Vec<Flit>,
    /// For each input: the share of the full rate at which its flits are sent, and the number of the change that set this share.
    #[kept(each)]
    pub came: Vec<(Rate, u32)>,
    /// For each input, the link class of the incoming channel.
    #[kept(fixed)]
    pub from: Vec<u8>,
    pub events: Wheel<Event, 32>,
}

impl<const W: usize> Paces<W> {
    /// `arriving`: the largest number of flits that `Paces::arriving` has to hold.
    pub fn new(of: Vec<Pace>, from: Vec<u8>, (routers, arriving): (usize, usize), horizon: u64) -> Self {
        let channels = of.len();
        let full = if of.is_empty() { Vec::new() } else { vec![Bits::default(); routers] };
        let events = Wheel::new(if of.is_empty() { 2 } else { horizon }, 2 * channels);
        Self { full, arriving: Vec::with_capacity(arriving), came: vec![(Rate::ONE, 0); channels], from, events, of }
    }

    /// The mask of the full outputs of router `r`; empty if the block has no paced channels.
    #[inline(always)]
    pub fn full_at(&self, r: usize) -> &[u64] {
        if self.full.is_empty() { &[] } else { self.full[r].words() }
    }

    /// True if no output is full and no change of a rate is due later.
    pub fn stand_still(&self) -> bool {
        self.of.is_empty() || self.events.is_empty()
    }

    /// Schedules a change of rate for cycle `at`.
    pub fn slow_from(&mut self, now: u64, at: u64, slowed: Slowed) {
        self.events.push(now, at, Event::Comes(slowed));
    }
}

/// The 64-bit cycle near `now` whose low 32 bits are `low`.
#[inline(always)]
pub fn cycle_near(now: u64, low: u32) -> u64 {
    now.wrapping_add_signed(i64::from(low.wrapping_sub(now as u32) as i32))
}
