//! Computes energies: multiplies the integer counts of each channel by prices, once at the end of a run. The total is exactly the sum of
//! its parts.
//!
//! The unit of these energies is the yoctojoule. A price may be a fraction of a yoctojoule: for example, a price per bit that a link could
//! carry, at 2/3 flit per cycle. The time for which an ideal link of such a rate carries flits is also a fraction of a cycle. If the price
//! or the time is a fraction, the energy of a channel in the window is rounded once, by at most half a yoctojoule.

use weft_engine::outcome::ChannelCount;
use weft_engine::power::{LinkState, Modes};
use weft_engine::spec::{Rate, RouterPrice, StatePrices};
use weft_units::Refusal;

/// Energy of channels, or of routers, over the window [yJ].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Energy {
    /// Energy for the time that a channel or router spent in each state, independent of sent flits [yJ].
    pub standing_yj: u128,
    /// Energy of the flits sent [yJ].
    pub dynamic_yj: u128,
}

impl Energy {
    pub fn total_yj(&self) -> u128 {
        self.standing_yj + self.dynamic_yj
    }

    /// Computes the energy of one channel from its counts in the window.
    pub(crate) fn of(channel: &ChannelCount, prices: &StatePrices, modes: &Modes) -> Result<Self, Refusal> {
        let mut energy = Self::default();
        let (parts, mut rest) = (u128::from(prices.parts), 0);
        for state in modes.all() {
            let (cycles, flits) = (channel.cycles[state], channel.flits[state]);
            let Some(price) = prices.of(state) else {
                if cycles == 0 && flits == 0 {
                    continue;
                }
                let what =
                    format!("a link spent {cycles} cycles in the state `{}`, which has no price", modes.name(state));
                return Err(Refusal::new("power.prices", what, "add a price for the state"));
            };
            energy.standing_yj += u128::from(cycles) * (price.static_parts_per_cycle / parts);
            rest += u128::from(cycles) * (price.static_parts_per_cycle % parts);
            energy.dynamic_yj += u128::from(flits) * price.flit_yj;
        }
        energy.standing_yj += rounded(rest, parts);
        Ok(energy)
    }

    /// The energy that a channel would have used for its flits if it had been on in every cycle.
    pub(crate) fn always_on(channel: &ChannelCount, prices: &StatePrices) -> Self {
        Self::on_for(channel.cycles.iter().sum::<u64>().into(), channel, prices)
    }

    /// The energy that a channel would have used if it had been on only while it carried a flit.
    pub(crate) fn ideal(channel: &ChannelCount, prices: &StatePrices, rate: Rate) -> Self {
        Self::on_for(carrying(channel, rate), channel, prices)
    }

    fn on_for(time: Span, channel: &ChannelCount, prices: &StatePrices) -> Self {
        let on = prices.of(LinkState::On).unwrap_or_default();
        let flits: u64 = channel.flits.iter().sum();
        Self {
            standing_yj: time.cost(on.static_parts_per_cycle, prices.parts),
            dynamic_yj: u128::from(flits) * on.flit_yj,
        }
    }
}

/// An exact time in cycles: `parts / of`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    parts: u128,
    of: u32,
}

impl Span {
    pub const NONE: Self = Self { parts: 0, of: 1 };

    /// The energy for this time at `price / per` per cycle, rounded once.
    pub fn cost(self, price: u128, per: u32) -> u128 {
        // computes quotient and remainder separately, because the product of the price, a rate (16 bits) and a count (64 bits) could
        // overflow 128 bits
        let of = u128::from(self.of) * u128::from(per);
        price / of * self.parts + rounded(price % of * self.parts, of)
    }

    pub fn max(self, other: Self) -> Self {
        let is_longer = self.parts * u128::from(other.of) > other.parts * u128::from(self.of);
        if is_longer { self } else { other }
    }
}

impl From<u64> for Span {
    fn from(cycles: u64) -> Self {
        Self { parts: cycles.into(), of: 1 }
    }
}

fn rounded(value: u128, divisor: u128) -> u128 {
    (value + divisor / 2) / divisor
}

/// The time in the window in which a channel carried a flit. A flit is counted in the cycle in which it enters the link, and can still be
/// on the link when the window ends. The count of a full channel can therefore be a few flits too high, so the time is limited to the
/// window.
pub(crate) fn carrying(channel: &ChannelCount, rate: Rate) -> Span {
    let (window, flits) = (channel.cycles.iter().sum::<u64>(), channel.flits.iter().sum::<u64>());
    let parts = u128::from(flits) * u128::from(rate.cycles());
    Span { parts: parts.min(u128::from(window) * u128::from(rate.flits())), of: rate.flits() }
}

/// The cycles of the window in which a channel was not off.
pub(crate) fn on_cycles(channel: &ChannelCount) -> Span {
    Span::from(channel.cycles.iter().sum::<u64>() - channel.cycles[LinkState::Off])
}

/// Sums over routers: the number of all their cycles, and of the cycles in which they were asleep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RouterCycles {
    pub all: u128,
    pub asleep: u128,
}

impl RouterCycles {
    /// Static energy of the routers in these cycles [yJ].
    pub fn cost_yj(self, price: &RouterPrice) -> u128 {
        (self.all - self.asleep) * price.static_yj_per_cycle
            + self.asleep * price.asleep_yj_per_cycle.unwrap_or(price.static_yj_per_cycle)
    }
}

/// Energy of routers over the window, without their links [yJ].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RouterEnergy {
    /// Static energy of the routers, both awake and asleep [yJ].
    pub static_yj: u128,
    /// Energy of the ports that were on [yJ].
    pub ports_yj: u128,
    /// Energy of the flits that crossed the routers [yJ].
    pub dynamic_yj: u128,
}

impl RouterEnergy {
    /// Computes the energy of routers from the channels that leave them. Each of these channels is a port, and the flits sent on it have
    /// crossed the router. `static_yj` is the static energy; `on` returns the time in which a port was on.
    pub fn of<'a>(
        leaving: impl Iterator<Item = &'a ChannelCount>,
        static_yj: u128,
        price: &RouterPrice,
        on: impl Fn(&ChannelCount) -> Span,
    ) -> Self {
        leaving.fold(Self { static_yj, ..Self::default() }, |sum, channel| {
            let flits: u64 = channel.flits.iter().sum();
            Self {
                ports_yj: sum.ports_yj + on(channel).cost(price.port_yj_per_cycle, 1),
                dynamic_yj: sum.dynamic_yj + u128::from(flits) * price.flit_yj,
                ..sum
            }
        })
    }
}

impl From<RouterEnergy> for Energy {
    fn from(routers: RouterEnergy) -> Self {
        Self { standing_yj: routers.static_yj + routers.ports_yj, dynamic_yj: routers.dynamic_yj }
    }
}

impl std::ops::Add for Energy {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { standing_yj: self.standing_yj + other.standing_yj, dynamic_yj: self.dynamic_yj + other.dynamic_yj }
    }
}

impl std::iter::Sum for Energy {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |sum, part| sum + part)
    }
}
