//! What a channel costs: static energy by power state, and in addition energy per bit that it sends. What a router
//! costs: static energy (another one while all its ports are off), energy per port that is on, and energy per bit that
//! crosses it.
//!
//! # Source
//! Default: the TCEP paper's link (ISCA 2018): 31.25 pJ/bit at full rate, of which 23.44 pJ/bit flow whether or not
//! anything is sent; waking, draining and shadow count as on. At half and at a quarter of the bandwidth all of that is 0.69
//! and 0.54 of it: the line from full power to 42 % at 1/16 of the rate (Abts et al., ISCA 2010). Routers are free.
//! # Guarantees
//! Prices are exact: whole yoctojoules (10^-24 J) per cycle or per flit. One kind is a fraction: a static price per bit that
//! the link could carry, where its rate is no whole number of flits per cycle. Its denominator is that of the rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_engine::power::{LinkState, PolicyConfig};
use weft_engine::spec::{self, Rate, StatePrice, StatePrices};
use weft_units::{EnergyPerBit, Power, Refusal, Standing};

/// Prices by power state. A state without a price can't be entered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Carries traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Price>,
    /// Logically off, physically ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadow: Option<Price>,
    /// On the way to off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draining: Option<Price>,
    /// Off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<Price>,
    /// On the way to on, or to another rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waking: Option<Price>,
    /// Carries traffic at half its bandwidth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half: Option<Price>,
    /// Carries traffic at a quarter of its bandwidth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarter: Option<Price>,
}

/// What one channel costs in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// What the channel draws whether or not it sends anything: a power ("0.342W"), or the energy per bit that it could
    /// carry at its full bandwidth ("23.44pJ/bit"), in every state.
    #[serde(rename = "static")]
    pub standing: Standing,
    /// Energy per bit sent, in addition.
    pub per_bit: EnergyPerBit,
}

impl Default for Prices {
    fn default() -> Self {
        let price = |standing, per_bit| {
            Some(Price { standing: Standing::PerBit(EnergyPerBit(standing)), per_bit: EnergyPerBit(per_bit) })
        };
        let on = price(23_440_000, 7_810_000);
        let (half, quarter) = (price(16_173_600, 5_388_900), price(12_657_600, 4_217_400));
        Self { on, shadow: on, draining: on, off: price(0, 0), waking: on, half, quarter }
    }
}

impl Prices {
    pub fn of(&self, state: LinkState) -> Option<&Price> {
        match state {
            LinkState::On => self.on.as_ref(),
            LinkState::Shadow => self.shadow.as_ref(),
            LinkState::Draining => self.draining.as_ref(),
            LinkState::Off => self.off.as_ref(),
            LinkState::Waking => self.waking.as_ref(),
            LinkState::Half => self.half.as_ref(),
            LinkState::Quarter => self.quarter.as_ref(),
        }
    }

    /// Exact prices of all links per state; a state that the policy can enter and that has none is refused.
    pub(crate) fn exact(&self, policy: &PolicyConfig, per: &Per) -> Result<StatePrices, Refusal> {
        if let Some(state) = self.unpriced(policy.states()) {
            let what =
                format!("the policy `{}` can put a link in the state `{state}`, which has no price", policy.name());
            let help =
                format!("add `{state}: {{static: ..., per_bit: ...}}`, or leave `prices` out for the default table");
            return Err(Refusal::new("power.prices", what, help));
        }
        self.priced("power.prices", per)
    }

    /// Exact prices of a link class per state. The links of a class that `policy` does not manage (`None`) stay on.
    pub(crate) fn of_class(
        &self,
        class: &str,
        policy: Option<&PolicyConfig>,
        per: &Per,
    ) -> Result<StatePrices, Refusal> {
        let path = format!("power.class_prices.{class}");
        if let Some(state) = self.unpriced(policy.map_or(&[], PolicyConfig::states)) {
            let who =
                policy.map_or_else(|| "it is always".to_owned(), |p| format!("the policy `{}` puts it", p.name()));
            let what = format!("a `{class}` link has no price in the state `{state}`, and {who} in it");
            let help = format!(
                "add `{state}: {{static: ..., per_bit: ...}}`: the prices of a class replace all of `power.prices`"
            );
            return Err(Refusal::new(path, what, help));
        }
        self.priced(&path, per)
    }

    /// The first of `on` and these states that has no price.
    pub(crate) fn unpriced(&self, entered: &[LinkState]) -> Option<&'static str> {
        let mut entered = std::iter::once(&LinkState::On).chain(entered);
        entered.find(|state| self.of(**state).is_none()).map(|state| state.name())
    }

    fn priced(&self, path: &str, per: &Per) -> Result<StatePrices, Refusal> {
        let fraction = LinkState::ALL.into_iter().filter_map(|state| self.of(state)).any(|p| p.is_fraction(per));
        let parts = if fraction { per.rate.cycles() } else { 1 };
        let mut prices = StatePrices { parts, ..StatePrices::NONE };
        for state in LinkState::ALL {
            let path = format!("{path}.{}", state.name());
            let price = self.of(state).map(|price| price.exact(per, parts, &path));
            prices.by_state[state as usize] = price.transpose()?;
        }
        Ok(prices)
    }
}

impl Price {
    /// The static energy of [`Rate::cycles`] cycles at full bandwidth [yJ], or of one cycle and 1.
    fn standing(&self, per: &Per) -> Option<(u128, u32)> {
        match self.standing {
            Standing::Power(power) => Some((per_cycle(power, per.cycle_fs)?, 1)),
            Standing::PerBit(price) => {
                let flits = u128::from(per.rate.flits());
                Some((per_flit(price, per.flit_bits)?.checked_mul(flits)?, per.rate.cycles()))
            }
        }
    }

    /// Whether its static energy per cycle is no whole number of yoctojoules.
    fn is_fraction(&self, per: &Per) -> bool {
        self.standing(per).is_some_and(|(energy, cycles)| energy % u128::from(cycles) != 0)
    }

    /// `parts`: the denominator of its static energy.
    fn exact(&self, per: &Per, parts: u32, path: &str) -> Result<StatePrice, Refusal> {
        let standing = self.standing(per).and_then(|(energy, cycles)| match cycles == parts {
            true => Some(energy),
            false => (energy / u128::from(cycles)).checked_mul(parts.into()),
        });
        let too_large = |key: &str| too_large(&format!("{path}.{key}"));
        Ok(StatePrice {
            static_parts_per_cycle: standing.ok_or_else(|| too_large("static"))?,
            flit_yj: per_flit(self.per_bit, per.flit_bits).ok_or_else(|| too_large("per_bit"))?,
        })
    }
}

/// What turns prices into energies per cycle and flit.
pub(crate) struct Per {
    pub flit_bits: u64,
    pub cycle_fs: u128,
    /// Bandwidth of the link.
    pub rate: Rate,
}

/// What every router costs, beside its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RouterPrice {
    /// Power of a router, whatever it does [power].
    #[serde(rename = "static")]
    pub standing: Power,
    /// Power of a router in place of `static`, in every cycle in which all its ports are off: the channels that leave it and
    /// those that reach it, those of terminals too. Default: that of `static`, as for a router that never sleeps [power].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asleep: Option<Power>,
    /// Power of each port to a link or a terminal, in every cycle in which the channel that leaves the router there is
    /// not off [power].
    pub per_port: Power,
    /// Energy per bit that crosses the router [energy per bit].
    pub per_bit: EnergyPerBit,
}

impl Default for RouterPrice {
    fn default() -> Self {
        Self { standing: Power(0), asleep: None, per_port: Power(0), per_bit: EnergyPerBit(0) }
    }
}

impl RouterPrice {
    pub(crate) fn exact(&self, flit_bits: u64, cycle_fs: u128) -> Result<spec::RouterPrice, Refusal> {
        let too_large = |key: &str| too_large(&format!("power.router_price.{key}"));
        let asleep = self.asleep.map(|power| per_cycle(power, cycle_fs).ok_or_else(|| too_large("asleep")));
        Ok(spec::RouterPrice {
            static_yj_per_cycle: per_cycle(self.standing, cycle_fs).ok_or_else(|| too_large("static"))?,
            asleep_yj_per_cycle: asleep.transpose()?,
            port_yj_per_cycle: per_cycle(self.per_port, cycle_fs).ok_or_else(|| too_large("per_port"))?,
            flit_yj: per_flit(self.per_bit, flit_bits).ok_or_else(|| too_large("per_bit"))?,
        })
    }
}

fn too_large(path: &str) -> Refusal {
    let what = "the energy per cycle is too large for 128 bits of yoctojoules";
    Refusal::new(path, what, "write a smaller price, a smaller flit or a shorter cycle")
}

/// nW * fs = 10^-24 J = 1 yJ.
fn per_cycle(power: Power, cycle_fs: u128) -> Option<u128> {
    u128::from(power.0).checked_mul(cycle_fs)
}

/// Prices are in aJ/bit, and an attojoule is 10^6 yJ.
fn per_flit(price: EnergyPerBit, flit_bits: u64) -> Option<u128> {
    (u128::from(price.0) * u128::from(flit_bits)).checked_mul(1_000_000)
}
