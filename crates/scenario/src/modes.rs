//! The link modes that a scenario defines, in addition to the states that every run has.

use crate::config::PowerConfig;
use crate::prices::Prices;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use weft_engine::Spec;
use weft_engine::power::{Mode, Modes, modes};
use weft_engine::spec::Rate;
use weft_units::{Fraction, Refusal};

/// A link mode that the scenario defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModeConfig {
    /// Name of the mode in prices, policies, columns and plots: lower-case letters, digits and `_`.
    pub name: String,
    /// Bandwidth of a channel in this mode, as a share of the bandwidth of its link class. Examples are 1/12 (1 of 12 lanes) and 200/400
    /// (200 of 400 Gb/s). Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Fraction>,
    /// True if a channel carries traffic in this mode. A mode without traffic is a kind of sleep, with a separate price. Default: true.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub carries: bool,
}

fn yes() -> bool {
    true
}

const PATH: &str = "power.modes";

/// Returns the table of link modes of a run. `named`: the modes that the scenario defines, or `None` for the default modes `half` and
/// `quarter`.
pub(crate) fn table(named: Option<&[ModeConfig]>) -> Result<Modes, Refusal> {
    let Some(named) = named else { return Ok(Modes::default()) };
    let modes = named.iter().enumerate().map(|(place, mode)| mode.mode(place)).collect::<Result<Vec<_>, _>>()?;
    Modes::new(modes, PATH)
}

impl ModeConfig {
    fn mode(&self, place: usize) -> Result<Mode, Refusal> {
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if !self.name.starts_with(|first: char| first.is_ascii_lowercase()) || !self.name.bytes().all(is_word) {
            let what = format!(
                "`{}` is not a valid name of a mode: the name becomes a part of column names in the results",
                self.name
            );
            let help = "write a lower-case letter, then lower-case letters, digits and `_`, such as `low`";
            return Err(Refusal::new(format!("{PATH}.{place}.name"), what, help));
        }
        let path = format!("{PATH}.{place}.rate");
        match (self.rate, self.carries) {
            (None, true) => Ok(Mode::carrying(&self.name, Rate::ONE)),
            (Some(rate), true) => Ok(Mode::carrying(&self.name, modes::share(rate.parts, rate.of, &path)?)),
            (None, false) => Ok(Mode::dark(&self.name)),
            (Some(_), false) => Err(Refusal::new(
                path,
                "the mode has a rate, but carries nothing",
                "leave out `rate`, or `carries: false`",
            )),
        }
    }
}

/// Returns a share of the bandwidth as text, in the form of a scenario.
fn share(rate: Rate) -> String {
    Fraction { parts: rate.flits().into(), of: rate.cycles().into() }.to_string()
}

/// The modes of the links that the policy switches, with rates and prices; empty if the policy switches no links. If a link class has
/// separate prices, the table has separate rows for it.
pub(crate) fn facts(power: &PowerConfig, spec: &Spec) -> Result<Value, Refusal> {
    let states = spec.states()?;
    let managed = spec.graph.class_names().iter().zip(&spec.managed).filter(|&(_, &managed)| managed);
    let own = |(name, _): (&String, &bool)| (power.class_prices.get(name), name.clone());
    let tables: Vec<(Option<&Prices>, String)> = managed.map(own).collect();
    let of_all = tables.iter().any(|(own, _)| own.is_none()).then_some((&power.prices, None));
    let of_classes = tables.iter().filter_map(|(own, class)| Some(((*own)?, Some(class.as_str()))));
    let shown = spec.modes.all().filter(|state| spec.switches_links() && states.contains(state));
    let row = |(prices, class): (&Prices, Option<&str>), state| {
        let mode = spec.modes.mode(state);
        let price = prices.price(&mode.name);
        json!({
            "policy": spec.policy.name(),
            "link_class": class,
            "mode": &*mode.name,
            "rate": if mode.carries { share(mode.rate) } else { "0".to_owned() },
            "static": price.map(|price| price.standing),
            "per_bit": price.map(|price| price.per_bit),
        })
    };
    Ok(of_all
        .into_iter()
        .chain(of_classes)
        .flat_map(|table| shown.clone().map(move |state| row(table, state)))
        .collect())
}
