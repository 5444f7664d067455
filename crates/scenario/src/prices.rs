//! What a channel costs: static energy by power state, and in addition energy per bit that it sends. What a router
//! costs: static energy, energy per port that is on, and energy per bit that crosses it.
//!
//! # Source
//! Default: the TCEP paper's link (ISCA 2018): 31.25 pJ/bit at full rate, of which 23.44 pJ/bit flow whether or not
//! anything is sent; waking, draining and shadow count as on. Routers are free.
//! # Guarantees
//! A price is a whole number of femtojoules per cycle or per flit; where the scenario's numbers don't give one (a power
//! times an odd cycle time), it is rounded half up, by at most 0.5 fJ. The account itself is integer and exact.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_engine::power::{LinkState, PolicyConfig};
use weft_engine::spec::{self, StatePrice, StatePrices};
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
    /// On the way to on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waking: Option<Price>,
}

/// What one channel costs in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// What the channel draws whether or not it sends anything: a power ("0.342W"), or the energy per bit that it could
    /// carry at full rate ("23.44pJ/bit").
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
        Self { on, shadow: on, draining: on, off: price(0, 0), waking: on }
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
        }
    }

    /// Integer prices of all links per state; a state that the policy can enter and that has none is refused.
    pub(crate) fn in_femtojoules(
        &self,
        policy: &PolicyConfig,
        flit_bits: u64,
        cycle_fs: u128,
    ) -> Result<StatePrices, Refusal> {
        if let Some(state) = self.unpriced(policy.states()) {
            let what =
                format!("the policy `{}` can put a link in the state `{state}`, which has no price", policy.name());
            let help =
                format!("add `{state}: {{static: ..., per_bit: ...}}`, or leave `prices` out for the default table");
            return Err(Refusal::new("power.prices", what, help));
        }
        self.priced("power.prices", flit_bits, cycle_fs)
    }

    /// Integer prices of a link class per state. The links of a class that `policy` does not manage (`None`) stay on.
    pub(crate) fn of_class(
        &self,
        class: &str,
        policy: Option<&PolicyConfig>,
        flit_bits: u64,
        cycle_fs: u128,
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
        self.priced(&path, flit_bits, cycle_fs)
    }

    /// The first of `on` and these states that has no price.
    fn unpriced(&self, entered: &[LinkState]) -> Option<&'static str> {
        let mut entered = std::iter::once(&LinkState::On).chain(entered);
        entered.find(|state| self.of(**state).is_none()).map(|state| state.name())
    }

    fn priced(&self, path: &str, flit_bits: u64, cycle_fs: u128) -> Result<StatePrices, Refusal> {
        let mut prices = [None; LinkState::COUNT];
        for state in LinkState::ALL {
            let path = format!("{path}.{}", state.name());
            let price = self.of(state).map(|price| price.in_femtojoules(flit_bits, cycle_fs, &path));
            prices[state as usize] = price.transpose()?;
        }
        Ok(prices)
    }
}

impl Price {
    fn in_femtojoules(&self, flit_bits: u64, cycle_fs: u128, path: &str) -> Result<StatePrice, Refusal> {
        let standing = match self.standing {
            Standing::PerBit(price) => per_flit(price, flit_bits),
            Standing::Power(power) => per_cycle(power, cycle_fs),
        };
        let too_large = |key: &str| too_large(&format!("{path}.{key}"));
        Ok(StatePrice {
            static_fj_per_cycle: standing.ok_or_else(|| too_large("static"))?,
            flit_fj: per_flit(self.per_bit, flit_bits).ok_or_else(|| too_large("per_bit"))?,
        })
    }
}

/// What every router costs, beside its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RouterPrice {
    /// Power of a router, whatever it does [power].
    #[serde(rename = "static")]
    pub standing: Power,
    /// Power of each port to a link or a terminal, in every cycle in which the channel that leaves the router there is
    /// not off [power].
    pub per_port: Power,
    /// Energy per bit that crosses the router [energy per bit].
    pub per_bit: EnergyPerBit,
}

impl Default for RouterPrice {
    fn default() -> Self {
        Self { standing: Power(0), per_port: Power(0), per_bit: EnergyPerBit(0) }
    }
}

impl RouterPrice {
    pub(crate) fn in_femtojoules(&self, flit_bits: u64, cycle_fs: u128) -> Result<spec::RouterPrice, Refusal> {
        let too_large = |key: &str| too_large(&format!("power.router_price.{key}"));
        Ok(spec::RouterPrice {
            static_fj_per_cycle: per_cycle(self.standing, cycle_fs).ok_or_else(|| too_large("static"))?,
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

/// A channel carries one flit per cycle, so this is also the energy per cycle at full rate. Prices are in aJ/bit.
fn per_flit(price: EnergyPerBit, flit_bits: u64) -> Option<u64> {
    rounded(u128::from(price.0).checked_mul(u128::from(flit_bits)), 1_000)
}

fn rounded(value: Option<u128>, divisor: u128) -> Option<u64> {
    u64::try_from(value?.checked_add(divisor / 2)? / divisor).ok()
}
