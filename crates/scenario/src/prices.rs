//! What a channel costs: static energy by power state, and in addition energy per bit that it sends. What a router
//! costs: static energy (another one while all its ports are off), energy per port that is on, and energy per bit that
//! crosses it.
//!
//! # Source
//! Default: the TCEP paper's link (ISCA 2018): 31.25 pJ/bit at full rate, of which 23.44 pJ/bit flow whether or not
//! anything is sent; waking, draining and shadow count as on. At half and at a quarter of the bandwidth all of that is 0.69
//! and 0.54 of it: the line from full power to 42 % at 1/16 of the rate (Abts et al., ISCA 2010). Routers are free.
//! # Guarantees
//! A price is a whole number of femtojoules per cycle or per flit; where the scenario's numbers don't give one (a power
//! times an odd cycle time), it is rounded half up, by at most 0.5 fJ. The account itself is integer and exact.

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

    /// Integer prices of all links per state; a state that the policy can enter and that has none is refused.
    pub(crate) fn in_femtojoules(&self, policy: &PolicyConfig, per: &Per) -> Result<StatePrices, Refusal> {
        if let Some(state) = self.unpriced(policy.states()) {
            let what =
                format!("the policy `{}` can put a link in the state `{state}`, which has no price", policy.name());
            let help =
                format!("add `{state}: {{static: ..., per_bit: ...}}`, or leave `prices` out for the default table");
            return Err(Refusal::new("power.prices", what, help));
        }
        self.priced("power.prices", per)
    }

    /// Integer prices of a link class per state. The links of a class that `policy` does not manage (`None`) stay on.
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
    fn unpriced(&self, entered: &[LinkState]) -> Option<&'static str> {
        let mut entered = std::iter::once(&LinkState::On).chain(entered);
        entered.find(|state| self.of(**state).is_none()).map(|state| state.name())
    }

    fn priced(&self, path: &str, per: &Per) -> Result<StatePrices, Refusal> {
        let mut prices = [None; LinkState::COUNT];
        for state in LinkState::ALL {
            let path = format!("{path}.{}", state.name());
            let price = self.of(state).map(|price| price.in_femtojoules(per, &path));
            prices[state as usize] = price.transpose()?;
        }
        Ok(prices)
    }
}

impl Price {
    fn in_femtojoules(&self, per: &Per, path: &str) -> Result<StatePrice, Refusal> {
        let standing = match self.standing {
            Standing::PerBit(price) => per_cycle_at(price, per),
            Standing::Power(power) => per_cycle(power, per.cycle_fs),
        };
        let too_large = |key: &str| too_large(&format!("{path}.{key}"));
        Ok(StatePrice {
            static_fj_per_cycle: standing.ok_or_else(|| too_large("static"))?,
            flit_fj: per_flit(self.per_bit, per.flit_bits).ok_or_else(|| too_large("per_bit"))?,
        })
    }
}

/// What turns prices into femtojoules.
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
    pub(crate) fn in_femtojoules(&self, flit_bits: u64, cycle_fs: u128) -> Result<spec::RouterPrice, Refusal> {
        let too_large = |key: &str| too_large(&format!("power.router_price.{key}"));
        let asleep = self.asleep.map(|power| per_cycle(power, cycle_fs).ok_or_else(|| too_large("asleep")));
        Ok(spec::RouterPrice {
            static_fj_per_cycle: per_cycle(self.standing, cycle_fs).ok_or_else(|| too_large("static"))?,
            asleep_fj_per_cycle: asleep.transpose()?,
            port_fj_per_cycle: per_cycle(self.per_port, cycle_fs).ok_or_else(|| too_large("per_port"))?,
            flit_fj: per_flit(self.per_bit, flit_bits).ok_or_else(|| too_large("per_bit"))?,
        })
    }
}

fn too_large(path: &str) -> Refusal {
    let what = "the price in femtojoules per cycle is too large for 64 bits";
    Refusal::new(path, what, "write a smaller price, a smaller flit or a shorter cycle")
}

/// nW * fs = 10^-24 J, a femtojoule is 10^9 of them.
fn per_cycle(power: Power, cycle_fs: u128) -> Option<u64> {
    rounded(u128::from(power.0).checked_mul(cycle_fs), 1_000_000_000)
}

/// Prices are in aJ/bit.
fn per_flit(price: EnergyPerBit, flit_bits: u64) -> Option<u64> {
    rounded(u128::from(price.0).checked_mul(u128::from(flit_bits)), 1_000)
}

/// Energy per cycle at full bandwidth.
fn per_cycle_at(price: EnergyPerBit, per: &Per) -> Option<u64> {
    let flits = u128::from(price.0).checked_mul(u128::from(per.flit_bits))?.checked_mul(u128::from(per.rate.flits()));
    rounded(flits, 1_000 * u128::from(per.rate.cycles()))
}

fn rounded(value: Option<u128>, divisor: u128) -> Option<u64> {
    u64::try_from(value?.checked_add(divisor / 2)? / divisor).ok()
}
