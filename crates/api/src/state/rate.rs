//! The rate of a channel, and the cycles in which the channel carries its flits.
//!
//! The time of a flit is the cycle in which the last part of the flit passes. A router forwards a flit while later parts of the flit still
//! arrive (cut-through). A link begins to send a flit so late that it never has to wait for the rest of the flit. Therefore a flit takes
//! longer than a link's latency only if the previous link of its path was faster. On a path with one slow link, this link adds its extra
//! time (its cycles per flit minus 1) once to the packet's latency. In this respect a flit on a link of rate 1/2 is like two flits of half
//! its size.

use crate::base::kept::{Kept, Value};
use weft_units::{Refusal, gcd};

/// A rate in flits per cycle, stored as a fraction in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Value)]
pub struct Rate {
    flits: u32,
    cycles: u32,
}

/// Maximum period of a rate [cycles], and maximum number of flits in a period.
pub const MAX_PERIOD: u128 = 1 << 16;

impl Rate {
    /// The rate of one flit per cycle.
    pub const ONE: Self = Self { flits: 1, cycles: 1 };

    /// The rate of `flits` flits in `cycles` cycles. Refuses a rate of 0 and a rate whose period is too long, with
    /// `path` as the place of the fault.
    pub fn new(flits: u128, cycles: u128, path: &str) -> Result<Self, Refusal> {
        if flits == 0 || cycles == 0 {
            let what = "with a rate of 0 flits per cycle, the link would never carry a flit";
            return Err(Refusal::new(path, what, "write a rate above 0, such as 0.5flits/cycle"));
        }
        let common = gcd(flits, cycles);
        let (flits, cycles) = (flits / common, cycles / common);
        if flits <= MAX_PERIOD && cycles <= MAX_PERIOD {
            return Ok(Self { flits: flits as u32, cycles: cycles as u32 });
        }
        let exact = format!("{flits} flits in {cycles} cycles");
        if cycles > flits.saturating_mul(MAX_PERIOD) {
            let what = format!(
                "{exact} is slower than 1 flit in {MAX_PERIOD} cycles, the slowest link that Weft can simulate"
            );
            let times = cycles as f64 / flits as f64 / MAX_PERIOD as f64;
            let help = format!(
                "write 1/{MAX_PERIOD}flits/cycle or more, which is {times:.3} times as fast; slower links need a smaller flit or a \
                 longer cycle"
            );
            return Err(Refusal::new(path, what, help));
        }
        if flits > cycles.saturating_mul(MAX_PERIOD) {
            let what = format!(
                "{exact} is faster than {MAX_PERIOD} flits in a cycle, the fastest link that Weft can simulate"
            );
            return Err(Refusal::new(path, what, format!("write at most {MAX_PERIOD}flits/cycle, or a shorter cycle")));
        }
        let what = format!(
            "{exact}: the pattern of flits repeats only after {cycles} cycles, but the longest possible period is \
             {MAX_PERIOD} cycles"
        );
        Err(Refusal::new(path, what, rounder(flits, cycles)))
    }

    /// The rate multiplied by `share`. The period of the product can be longer than the limit for scenarios.
    #[must_use]
    pub fn times(self, share: Self) -> Self {
        let (flits, cycles) =
            (u64::from(self.flits) * u64::from(share.flits), u64::from(self.cycles) * u64::from(share.cycles));
        let common = gcd(flits.into(), cycles.into()) as u64;
        Self { flits: (flits / common) as u32, cycles: (cycles / common) as u32 }
    }

    /// The rate divided by `parts`.
    #[must_use]
    pub fn over(self, parts: u32) -> Self {
        self.times(Self { flits: 1, cycles: parts })
    }

    /// Whether this rate is lower than the rate `other`.
    pub fn is_below(self, other: Self) -> bool {
        self.flits_times(other.cycles) < other.flits_times(self.cycles)
    }

    /// The numerator of the rate, multiplied by `factor`. Callers compare two rates by multiplying each numerator by the other denominator.
    pub fn flits_times(self, factor: u32) -> u64 {
        u64::from(self.flits) * u64::from(factor)
    }

    /// Number of flits in a period of [`Rate::cycles`] cycles.
    pub fn flits(self) -> u32 {
        self.flits
    }

    pub fn cycles(self) -> u32 {
        self.cycles
    }

    /// The rate in flits per cycle.
    pub fn per_cycle(self) -> f64 {
        f64::from(self.flits) / f64::from(self.cycles)
    }

    /// Number of cycles that one flit takes at this rate, rounded up.
    pub fn cycles_per_flit(self) -> u64 {
        u64::from(self.cycles.div_ceil(self.flits))
    }

    /// The same as `flits_in`, for larger numbers of cycles.
    pub fn most_flits_in(self, cycles: u64) -> u64 {
        (u128::from(cycles) * u128::from(self.flits)).div_ceil(u128::from(self.cycles)) as u64
    }

    /// Number of flits that a link of this rate carries in `cycles` cycles, rounded up.
    #[inline(always)]
    pub fn flits_in(self, cycles: i32) -> i32 {
        if self == Self::ONE {
            return cycles;
        }
        (u64::from(cycles.max(0).unsigned_abs()) * u64::from(self.flits)).div_ceil(u64::from(self.cycles)) as i32
    }

    /// Whether the rate is below one flit per cycle.
    pub fn is_slow(self) -> bool {
        self.flits < self.cycles
    }

    /// Whether the rate is above `flits` flits in one cycle.
    pub fn is_above(self, flits: u32) -> bool {
        u64::from(self.flits) > u64::from(flits) * u64::from(self.cycles)
    }
}

/// The help text for a rate whose period is too long. The text proposes the simplest fraction that differs from the rate by at most 0.1 %,
/// and states the difference.
fn rounder(flits: u128, cycles: u128) -> String {
    let (near, parts) = simplest(flits, cycles);
    let percent = 100.0 * ((near as f64 / parts as f64) / (flits as f64 / cycles as f64) - 1.0);
    let (size, way) = (percent.abs(), if percent > 0.0 { "more" } else { "less" });
    let rate = if parts == 1 { near.to_string() } else { format!("{near}/{parts}") };
    format!("write a simpler rate, such as {rate}flits/cycle, which is {size:.1e} % {way}")
}

/// The simplest fraction near `flits / cycles`: the first convergent of its continued fraction with an error of at most 0.1 %. The error of
/// a convergent is below 1 divided by the product of its denominator and the denominator of the next convergent. Therefore both terms of
/// the result are at most `MAX_PERIOD` if the rate is between `1 / MAX_PERIOD` and `MAX_PERIOD`.
fn simplest(flits: u128, cycles: u128) -> (u128, u128) {
    let exact = flits as f64 / cycles as f64;
    let (mut before, mut now, mut rest) = ((0, 1), (1, 0), (flits, cycles));
    while rest.1 > 0 {
        let whole = rest.0 / rest.1;
        rest = (rest.1, rest.0 % rest.1);
        (before, now) = (now, (whole * now.0 + before.0, whole * now.1 + before.1));
        if (now.0 as f64 / now.1 as f64 / exact - 1.0).abs() <= 1e-3 {
            break;
        }
    }
    now
}

/// Computes the times at which a channel with a given rate carries its flits. A channel of rate 1, without a limit on waiting flits, needs
/// no `Pace`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Kept)]
pub struct Pace {
    rate: Rate,
    /// Part of a cycle, in units of 1 / `rate.flits`: the next flit can be complete `rest / rate.flits` cycles after cycle
    /// `OutputUnit::next_free`.
    rest: u32,
    /// Maximum number of flits that may have crossed the switch and wait for the link.
    #[kept(fixed)]
    staged: u32,
    /// Number of rate changes so far.
    changes: u32,
}

/// A point in time: a cycle, and a part of a cycle in units of 1 / `Rate::flits`.
pub type Fine = (u64, u32);

/// The first cycle that is not before this point in time.
pub fn whole((cycle, part): Fine) -> u64 {
    cycle + u64::from(part > 0)
}

impl Pace {
    pub fn new(rate: Rate, staged: u32) -> Self {
        Self { rate, rest: 0, staged, changes: 0 }
    }

    /// Present rate of the channel.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Number of rate changes so far.
    pub fn changes(&self) -> u32 {
        self.changes
    }

    /// Sets another rate, which is valid from now on. A flit that is already partly on the link finishes at the end of a whole cycle.
    /// `next_free`: the same as in `OutputUnit`. Returns the new `next_free`.
    pub fn change(&mut self, rate: Rate, next_free: u64) -> u64 {
        let next_free = next_free + u64::from(self.rest > 0);
        (self.rate, self.rest, self.changes) = (rate, 0, self.changes.wrapping_add(1));
        next_free
    }

    /// Time from the earliest departure of a flit's first part to the completion of the flit on this channel. `before`: rate of the channel
    /// from which the flit came. Rates of `before` above one flit per cycle count as 1, because a flit takes one cycle to cross the switch.
    pub fn delay_after(&self, before: Rate) -> Fine {
        let Rate { flits, cycles } = self.rate;
        let before = if before.is_slow() { before } else { Rate::ONE };
        let (own, other) = (u64::from(cycles) * u64::from(before.flits), u64::from(before.cycles) * u64::from(flits));
        let units = own.saturating_sub(other).div_ceil(u64::from(before.flits));
        (units / u64::from(flits), (units % u64::from(flits)) as u32)
    }

    /// Time that a flit takes on this channel, minus the one cycle that a flit takes at rate 1.
    pub fn own_delay(&self) -> Fine {
        self.delay_after(Rate::ONE)
    }

    /// The cycle in which the next flit is complete, if its last part can be on the channel at time `ready`. `next_free`: the first cycle
    /// in which the channel is free for another flit (without the part `rest` of a cycle).
    pub fn complete(&self, next_free: u64, ready: Fine) -> u64 {
        whole(ready.max((next_free, self.rest)))
    }

    /// Sends the next flit, whose last part can be on the channel at time `ready`. Returns the cycle in which the flit is complete, and the
    /// new `next_free`.
    #[inline]
    pub fn take(&mut self, next_free: u64, ready: Fine) -> (u64, u64) {
        let Rate { flits, cycles } = self.rate;
        let (cycle, part) = ready.max((next_free, self.rest));
        let units = part + cycles;
        self.rest = units % flits;
        (whole((cycle, part)), cycle + u64::from(units / flits))
    }

    /// Number of cycles for which the switch may send no further flit to the channel, because too many flits would wait for the link. `at`:
    /// the cycle in which a flit that crosses the switch now would reach the link.
    #[inline(always)]
    pub fn full_for(&self, next_free: u64, at: u64) -> u64 {
        let Rate { flits, cycles } = self.rate;
        // `ahead`: time until the link has sent the flits ahead of that flit. `excess`: `ahead` minus the time of the flits that may wait
        // or be on the link. The unit of both is that of `Fine`
        let ahead = (next_free as i64 - at as i64) * i64::from(flits) + i64::from(self.rest);
        let excess = ahead - (i64::from(self.staged) + 1) * i64::from(cycles);
        if excess < 0 { 0 } else { excess as u64 / u64::from(flits) + 1 }
    }
}
