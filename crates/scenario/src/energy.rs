//! The energy account: integers per channel, priced once, whose total is the sum of its parts exactly.

use weft_engine::outcome::ChannelCount;
use weft_engine::power::LinkState;
use weft_engine::spec::{Rate, RouterPrice, StatePrices};
use weft_units::Refusal;

/// Energy of channels, or of routers, over the window [fJ].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Energy {
    /// For the time spent in each state, whatever was sent.
    pub standing_fj: u128,
    /// For the flits sent.
    pub dynamic_fj: u128,
}

impl Energy {
    pub fn total_fj(&self) -> u128 {
        self.standing_fj + self.dynamic_fj
    }

    /// Prices the counts of one channel.
    pub(crate) fn of(channel: &ChannelCount, prices: &StatePrices) -> Result<Self, Refusal> {
        let mut energy = Self::default();
        for state in LinkState::ALL {
            let (cycles, flits) = (channel.cycles[state as usize], channel.flits[state as usize]);
            let Some(price) = prices[state as usize] else {
                if cycles == 0 && flits == 0 {
                    continue;
                }
                let what = format!("a link spent {cycles} cycles in the state `{}`, which has no price", state.name());
                return Err(Refusal::new("power.prices", what, "add a price for the state"));
            };
            energy.standing_fj += u128::from(cycles) * u128::from(price.static_fj_per_cycle);
            energy.dynamic_fj += u128::from(flits) * u128::from(price.flit_fj);
        }
        Ok(energy)
    }

    /// What the flits of a channel would have cost if it had been on in every cycle.
    pub(crate) fn always_on(channel: &ChannelCount, prices: &StatePrices) -> Self {
        Self::on_for(channel.cycles.iter().sum(), channel, prices)
    }

    /// What they would have cost if the channel had been on only in the cycles in which it carried a flit.
    pub(crate) fn ideal(channel: &ChannelCount, prices: &StatePrices, rate: Rate) -> Self {
        Self::on_for(carrying_cycles(channel, rate), channel, prices)
    }

    fn on_for(cycles: u64, channel: &ChannelCount, prices: &StatePrices) -> Self {
        let on = prices[LinkState::On as usize].unwrap_or_default();
        let flits: u64 = channel.flits.iter().sum();
        Self {
            standing_fj: u128::from(cycles) * u128::from(on.static_fj_per_cycle),
            dynamic_fj: u128::from(flits) * u128::from(on.flit_fj),
        }
    }
}

/// The cycles of the window in which a channel carried a flit. Flits are counted as they leave for the link, so a full
/// channel may count a few more flits than there were cycles.
pub(crate) fn carrying_cycles(channel: &ChannelCount, rate: Rate) -> u64 {
    let flits = channel.flits.iter().sum::<u64>();
    let cycles = u128::from(flits) * u128::from(rate.cycles()) / u128::from(rate.flits());
    channel.cycles.iter().sum::<u64>().min(cycles as u64)
}

/// The cycles of the window in which a channel was not off.
pub(crate) fn on_cycles(channel: &ChannelCount) -> u64 {
    channel.cycles.iter().sum::<u64>() - channel.cycles[LinkState::Off as usize]
}

/// Cycles of routers, added over them: in all, and those in which a router was asleep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RouterCycles {
    pub all: u128,
    pub asleep: u128,
}

/// What routers used over the window, without their links [fJ].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RouterEnergy {
    /// For being there, awake or asleep.
    pub static_fj: u128,
    /// For ports that were on.
    pub ports_fj: u128,
    /// For flits that crossed them.
    pub dynamic_fj: u128,
}

impl RouterEnergy {
    /// Prices the routers by the channels that leave them: each is a port, and the flits that it was sent have crossed
    /// the router. `on` says for how many cycles a port was on.
    pub fn of<'a>(
        leaving: impl Iterator<Item = &'a ChannelCount>,
        of_routers: RouterCycles,
        price: &RouterPrice,
        on: impl Fn(&ChannelCount) -> u64,
    ) -> Self {
        let (cycles, flits) = leaving.fold((0, 0), |(cycles, flits): (u128, u128), channel| {
            (cycles + u128::from(on(channel)), flits + u128::from(channel.flits.iter().sum::<u64>()))
        });
        Self {
            static_fj: (of_routers.all - of_routers.asleep) * u128::from(price.static_fj_per_cycle)
                + of_routers.asleep * u128::from(price.asleep_fj_per_cycle.unwrap_or(price.static_fj_per_cycle)),
            ports_fj: cycles * u128::from(price.port_fj_per_cycle),
            dynamic_fj: flits * u128::from(price.flit_fj),
        }
    }
}

impl From<RouterEnergy> for Energy {
    fn from(routers: RouterEnergy) -> Self {
        Self { standing_fj: routers.static_fj + routers.ports_fj, dynamic_fj: routers.dynamic_fj }
    }
}

impl std::ops::Add for Energy {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { standing_fj: self.standing_fj + other.standing_fj, dynamic_fj: self.dynamic_fj + other.dynamic_fj }
    }
}

impl std::iter::Sum for Energy {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |sum, part| sum + part)
    }
}
