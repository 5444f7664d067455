//! The price of a channel consists of static energy for each mode, and energy per sent bit. The price of a router consists of static
//! energy, energy per port that is on, and energy per crossing bit. The static energy can have another value while all ports of the router
//! are off.
//!
//! # Source
//! The default prices are those of the TCEP paper's link (ISCA 2018). A link in the paper uses 31.25 pJ/bit at full rate. Of these, 23.44
//! pJ/bit are static: the link also uses them without traffic. A link that is waking, draining or in `shadow` has the price of `on`. At
//! half and at a quarter of the bandwidth, both parts of the price are 0.69 and 0.54 times those in the mode `on`. These factors are on a
//! straight line from 1 at the full rate to 0.42 at 1/16 of the rate (Abts et al., ISCA 2010). Routers have no price by default.
//! # Guarantees
//! Weft computes with exact prices: whole yoctojoules (10^-24 J) per cycle or per flit. A price can also be a fraction of a yoctojoule.
//! This happens with a static price per bit, if the rate of the link is not a whole number of flits per cycle. The fraction then has the
//! denominator of the rate.

use crate::diagnostic::suggestion;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use weft_engine::power::{LinkState, Modes, PolicyConfig};
use weft_engine::spec::{self, Rate, StatePrice, StatePrices};
use weft_units::{EnergyPerBit, Power, Refusal, Standing};

/// Prices of a channel, by the name of the mode. A link cannot enter a mode without a price.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices(
    /// The prices of the modes that every run has come first, in the order of these modes. Prices of other modes follow in the order of
    /// the scenario.
    Vec<(String, Price)>,
);

impl Serialize for Prices {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, price)| (name, price)))
    }
}

impl<'de> Deserialize<'de> for Prices {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByName;
        impl<'de> Visitor<'de> for ByName {
            type Value = Prices;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("prices by the names of modes")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Prices, A::Error> {
                let mut prices: Vec<(String, Price)> = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    prices.push(entry);
                }
                let modes = Modes::default();
                prices.sort_by_key(|(name, _)| modes.find(name).map_or(u8::MAX, LinkState::number));
                Ok(Prices(prices))
            }
        }
        deserializer.deserialize_map(ByName)
    }
}

impl JsonSchema for Prices {
    fn schema_name() -> Cow<'static, str> {
        "Prices".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "Prices by the name of the mode: on, shadow, draining, off, waking, and those of power.modes. A mode \
                            without a price can't be entered.",
            "additionalProperties": generator.subschema_for::<Price>(),
            "x-name": "MODE"
        })
    }
}

/// The price of a channel in one mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Static power of the channel: a power ("0.342W"), or an energy per bit ("23.44pJ/bit"). The energy applies to the bits that the
    /// channel could carry at its full bandwidth, in every state.
    #[serde(rename = "static")]
    pub standing: Standing,
    /// Energy per sent bit, in addition to the static power.
    pub per_bit: EnergyPerBit,
}

impl Default for Prices {
    fn default() -> Self {
        let price = |standing, per_bit| Price {
            standing: Standing::PerBit(EnergyPerBit(standing)),
            per_bit: EnergyPerBit(per_bit),
        };
        let (on, half, quarter) =
            (price(23_440_000, 7_810_000), price(16_173_600, 5_388_900), price(12_657_600, 4_217_400));
        let roles = LinkState::ROLES.map(|role| match role {
            LinkState::On | LinkState::Shadow | LinkState::Draining | LinkState::Waking | LinkState::Named(_) => on,
            LinkState::Off => price(0, 0),
        });
        let named = [("half", half), ("quarter", quarter)];
        Self::of(LinkState::ROLE_NAMES.into_iter().zip(roles).chain(named))
    }
}

impl Prices {
    /// Creates a table of prices from names of modes and their prices.
    pub fn of<'a>(prices: impl IntoIterator<Item = (&'a str, Price)>) -> Self {
        Self(prices.into_iter().map(|(name, price)| (name.to_owned(), price)).collect())
    }

    /// The price of the mode with the name `name`.
    pub fn price(&self, name: &str) -> Option<&Price> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, price)| price)
    }

    /// Refuses prices of modes that the run does not have, and a second price for the same mode. The default table can contain modes that
    /// the run does not have.
    pub(crate) fn check_names(&self, modes: &Modes, path: &str) -> Result<(), Refusal> {
        let Some((name, _)) = self.0.iter().find(|(name, _)| modes.find(name).is_none()) else { return Ok(()) };
        if *self == Self::default() {
            return Ok(());
        }
        let names: Vec<&str> = modes.names().collect();
        let help =
            format!("{}, or add {{name: {name}, rate: 1/2}} to power.modes", suggestion(name, "the modes", &names));
        Err(Refusal::new(format!("{path}.{name}"), format!("no mode has the name `{name}`"), help))
    }

    /// Exact prices of links in each mode. Refuses a table without a price for a mode that the policy can enter.
    pub(crate) fn exact(&self, policy: &PolicyConfig, modes: &Modes, per: &Per) -> Result<StatePrices, Refusal> {
        let states = policy.states(modes)?;
        let open = self.unpriced(&states, modes);
        if open.is_empty() {
            return self.priced("power.prices", modes, per);
        }
        let what =
            format!("the policy `{}` can put a link into {}, which {}", policy.name(), named(&open), lack(&open));
        let help = match (*self == Self::default(), Self::default().unpriced(&states, modes).is_empty()) {
            // prices in the scenario replace the whole default table, so they must contain every mode that the policy uses
            (true, _) => {
                let needed =
                    std::iter::once(LinkState::On).chain(states.iter().copied().filter(|s| *s != LinkState::On));
                let names: Vec<&str> = needed.map(|state| modes.name(state)).collect();
                format!(
                    "write `power.prices` with `NAME: {{static: ..., per_bit: ...}}` for each of: {}",
                    names.join(", ")
                )
            }
            (false, false) => added(&open),
            (false, true) => format!("{}, or leave `prices` out for the default table", added(&open)),
        };
        Err(Refusal::new("power.prices", what, help))
    }

    /// Exact prices of the links of one class in each mode. `policy` is `None` if the policy does not manage these links, which then stay
    /// on.
    pub(crate) fn of_class(
        &self,
        class: &str,
        policy: Option<&PolicyConfig>,
        modes: &Modes,
        per: &Per,
    ) -> Result<StatePrices, Refusal> {
        let path = format!("power.class_prices.{class}");
        let states = policy.map_or(Ok(Vec::new()), |policy| policy.states(modes))?;
        let open = self.unpriced(&states, modes);
        if open.is_empty() {
            return self.priced(&path, modes, per);
        }
        let who = policy
            .map_or_else(|| "the link is always".to_owned(), |p| format!("the policy `{}` puts the link", p.name()));
        let them = if open.len() == 1 { "it" } else { "them" };
        let what = format!("a `{class}` link has no price in {}, but {who} in {them}", named(&open));
        let help = format!("{}: the prices of a class replace all of `power.prices`", added(&open));
        Err(Refusal::new(path, what, help))
    }

    /// The names of the states that have no price, among `on` and the states in `entered`.
    pub(crate) fn unpriced<'a>(&self, entered: &[LinkState], modes: &'a Modes) -> Vec<&'a str> {
        let entered = std::iter::once(&LinkState::On).chain(entered.iter().filter(|&&state| state != LinkState::On));
        entered.map(|&state| modes.name(state)).filter(|name| self.price(name).is_none()).collect()
    }

    fn priced(&self, path: &str, modes: &Modes, per: &Per) -> Result<StatePrices, Refusal> {
        let of = |state| self.price(modes.name(state));
        let fraction = modes.all().filter_map(of).any(|p| p.is_fraction(per));
        let parts = if fraction { per.rate.cycles() } else { 1 };
        let exact = |state| {
            let path = format!("{path}.{}", modes.name(state));
            of(state).map(|price| price.exact(per, parts, &path)).transpose()
        };
        Ok(StatePrices { by_state: modes.all().map(exact).collect::<Result<_, _>>()?, parts })
    }
}

/// The names of states as text for a message.
pub(crate) fn named(states: &[&str]) -> String {
    let quoted = states.iter().map(|state| format!("`{state}`")).collect::<Vec<_>>().join(", ");
    if states.len() == 1 { format!("the state {quoted}") } else { format!("the states {quoted}") }
}

fn lack(states: &[&str]) -> &'static str {
    if states.len() == 1 { "has no price" } else { "have no price" }
}

/// The remedy that lists the prices to add.
fn added(states: &[&str]) -> String {
    let entry = |state: &&str| format!("`{state}: {{static: ..., per_bit: ...}}`");
    format!("add {}", states.iter().map(entry).collect::<Vec<_>>().join(" and "))
}

impl Price {
    /// Returns a static energy [yJ], and the number of cycles to which it applies. For a price per bit, these are [`Rate::cycles`] cycles
    /// at full bandwidth; for a price that is a power, it is one cycle.
    fn standing(&self, per: &Per) -> Option<(u128, u32)> {
        match self.standing {
            Standing::Power(power) => Some((per_cycle(power, per.cycle_fs)?, 1)),
            Standing::PerBit(price) => {
                let flits = u128::from(per.rate.flits());
                Some((per_flit(price, per.flit_bits)?.checked_mul(flits)?, per.rate.cycles()))
            }
        }
    }

    /// True if the static energy per cycle is not a whole number of yoctojoules.
    fn is_fraction(&self, per: &Per) -> bool {
        self.standing(per).is_some_and(|(energy, cycles)| energy % u128::from(cycles) != 0)
    }

    /// Converts this price to the type of the engine. `parts`: the denominator of the static energy, which all modes of the link have in
    /// common.
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

/// Factors that convert prices to energies per cycle and per flit.
pub(crate) struct Per {
    pub flit_bits: u64,
    pub cycle_fs: u128,
    /// Bandwidth of the link.
    pub rate: Rate,
}

/// The price of a router, without the prices of its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RouterPrice {
    /// Power of a router, independent of its traffic [power].
    #[serde(rename = "static")]
    pub standing: Power,
    /// Power of a router in each cycle in which all its ports are off, instead of `static` [power]. The ports are the channels that leave
    /// the router and reach it, including those of terminals. Default: the value of `static`, as for a router that never sleeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asleep: Option<Power>,
    /// Power of each port to a link or a terminal [power]. The power is counted in each cycle in which the channel that leaves the router
    /// at this port is not off.
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
    let what = "the energy per cycle exceeds 128 bits in units of yoctojoules";
    Refusal::new(path, what, "write a smaller price, a smaller flit or a shorter cycle")
}

/// A power times a time, in yoctojoules: nW * fs = 10^-24 J = 1 yJ.
fn per_cycle(power: Power, cycle_fs: u128) -> Option<u128> {
    u128::from(power.0).checked_mul(cycle_fs)
}

/// An energy per bit times a number of bits, in yoctojoules: prices are in aJ/bit, and 1 aJ is 10^6 yJ.
fn per_flit(price: EnergyPerBit, flit_bits: u64) -> Option<u128> {
    (u128::from(price.0) * u128::from(flit_bits)).checked_mul(1_000_000)
}
