//! The catalogue of hardware: measured and published powers of switches, ports, modules and cables, each with its source.
//!
//! # Source
//! `assets/catalogue.json` has a row for each number: source, year, grade (A measured, B vendor, C seller, D estimate), and the figures for
//! which it is used. The code in this file contains no figures, because each figure is the median of its rows in the catalogue.
//! # Model
//! The catalogue gives the power of an idle switch box, divided by its number of ports. This power includes the power of a port that is
//! up. A router therefore draws, for each of its ports, this power minus the power of a port. In addition, each port that is up draws the
//! power of a port. Each bit uses the energy of a bit in each router that it crosses. Each end of a cable draws the power of its module,
//! even while the port is down, because two measured optical modules behaved like this.
//! # Not modelled
//! Network adapters, because the catalogue has only estimates of their power. If the catalogue does not have the power of a port, a port
//! that is down saves nothing.

use crate::config::{PowerConfig, Scenario};
use crate::default_prices::OtherRate;
use crate::diagnostic::Diagnostic;
use crate::figures::{figures, raw};
use crate::prices::{Price, Prices, RouterPrice, named};
use crate::warning::Warning;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use weft_engine::Spec;
use weft_engine::power::{LinkState, Modes, leave_links_on};
use weft_units::{EnergyPerBit, Power, Refusal, Standing};

/// Month in which the rows of the catalogue were collected.
const EDITION: &str = "catalogue of November 2026";
const PATH: &str = "power.catalogue";

/// The hardware in the catalogue from which the network is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["cables"]))]
pub struct Catalogue {
    /// Speed of every port (default: `link_speed`).
    pub speed: Speed,
    /// Cables between routers: copper, or fibre with optical modules for a certain reach.
    pub cables: Cable,
    /// Cables between terminals and routers.
    #[serde(default = "passive_copper")]
    pub terminal_cables: Cable,
    /// Kind of the routers: separate boxes, or parts of nodes.
    #[serde(default)]
    pub routers: Routers,
}

/// Speed of a port of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Speed {
    #[serde(rename = "100Gb/s")]
    G100,
    #[serde(rename = "200Gb/s")]
    G200,
    #[serde(rename = "400Gb/s")]
    G400,
    #[serde(rename = "800Gb/s")]
    G800,
}

/// The kind of connection between two ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cable {
    /// Fibre with modules for multi-mode fibre, up to 100 m.
    Sr,
    /// Fibre with modules for single-mode fibre, up to 500 m.
    Dr,
    /// Fibre with modules for single-mode fibre, 2 km and more.
    Fr,
    /// Passive copper cable.
    Dac,
    /// Active copper cable.
    Acc,
    /// Active optical cable: fibre with permanently attached modules.
    Aoc,
}

/// Kinds of routers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Routers {
    /// Routers are separate boxes.
    #[default]
    Switches,
    /// Routers are parts of nodes, as in a torus of nodes or between servers. Nodes have no price, but their cables do.
    Nodes,
}

/// The catalogue: `edition`, its `figures` (medians, with the rows behind them) and its `rows` with their sources.
pub fn catalogue() -> Value {
    json!({ "edition": EDITION, "figures": figures(), "rows": raw() })
}

/// The powers from the catalogue, from which Weft computes the prices of a network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CataloguePower {
    /// Text that names the catalogue, the speed and the cables.
    pub name: String,
    /// Power of a router for each of its ports [W], both for ports that are up and for ports that are down.
    pub base_w_per_port: f64,
    /// Power of a port that is up [W].
    pub port_w: f64,
    /// Power of the module at each end of a cable between routers [W].
    pub module_w: f64,
    /// Power of the module at each end of a cable of a terminal [W].
    pub terminal_module_w: f64,
    /// Energy per bit that crosses a router [pJ/bit].
    pub bit_pj: f64,
}

impl Catalogue {
    /// The powers of this hardware in the catalogue. Refuses hardware if its power is not in the catalogue.
    pub fn power(&self) -> Result<CataloguePower, Refusal> {
        let figures = figures();
        let found = |name: &str, speed: Option<u32>| {
            figures.iter().find(|each| each.figure == name && each.speed_gbps == speed).map(|each| each.median)
        };
        let gbps = Some(self.speed.gbps());
        let module = |cable: Cable, key: &str| {
            found(&format!("{cable} end"), gbps).ok_or_else(|| {
                let known = |other: &Cable| found(&format!("{other} end"), gbps).is_some();
                let names: Vec<_> = Cable::ALL.iter().filter(|other| known(other)).map(Cable::to_string).collect();
                let what = format!("the {EDITION} lists no power of `{cable}` cables at {} Gb/s", self.speed.gbps());
                let help = format!("write {}; or leave `catalogue` out and write `power.prices`", names.join(", "));
                Refusal::new(format!("{PATH}.{key}"), what, help)
            })
        };
        let missing = |name: &str| {
            let what = format!("the {EDITION} lists no {name} at {} Gb/s", self.speed.gbps());
            Refusal::new(PATH, what, "leave `catalogue` out and write `power.prices` and `power.router_price`")
        };
        let (module_w, terminal_module_w) =
            (module(self.cables, "cables")?, module(self.terminal_cables, "terminal_cables")?);
        let name = self.to_string();
        if self.routers == Routers::Nodes {
            let nothing =
                CataloguePower { name, base_w_per_port: 0.0, port_w: 0.0, module_w, terminal_module_w, bit_pj: 0.0 };
            return Ok(nothing);
        }
        let box_w = found("box per port", gbps).ok_or_else(|| missing("power of a switch box"))?;
        let idle = found("idle share", None).ok_or_else(|| missing("idle share"))?;
        let port_w = found("port", gbps).unwrap_or(0.0);
        let bit_pj = found("energy per bit", None).ok_or_else(|| missing("energy per bit"))?;
        Ok(CataloguePower { name, base_w_per_port: idle * box_w - port_w, port_w, module_w, terminal_module_w, bit_pj })
    }

    /// Prices of channels between routers, prices of channels to terminals, and the price of a router with this number of ports.
    pub(crate) fn prices(&self, ports: u32) -> Result<(Prices, Prices, Option<RouterPrice>), Refusal> {
        let power = self.power()?;
        let router = RouterPrice {
            standing: watts(power.base_w_per_port * f64::from(ports)),
            asleep: None,
            per_port: watts(power.port_w),
            per_bit: EnergyPerBit((power.bit_pj * 1e6).round() as u64),
        };
        let router = Some(router).filter(|_| self.routers == Routers::Switches);
        Ok((always(power.module_w), always(power.terminal_module_w), router))
    }
}

/// The powers of the hardware in `choice`, as JSON. `choice` has the keys of [`Catalogue`].
pub fn catalogue_power(choice: &Value) -> Result<Value, Diagnostic> {
    let problem = |what: &str, help: &str| Diagnostic::nowhere(PATH, what, help);
    let chosen: Result<Catalogue, _> = serde_json::from_value(choice.clone());
    let help = "write a speed such as 400Gb/s, and cables such as dr; `weft catalogue` lists all speeds and cables";
    let chosen = chosen.map_err(|error| problem(&error.to_string(), help))?;
    let power = chosen.power().map_err(|refusal| problem(&refusal.what, &refusal.help))?;
    Ok(json!(power))
}

impl PowerConfig {
    /// Replaces the prices of the scenario by the prices of the catalogue, if the scenario has `power.catalogue`. `ports`: number of ports
    /// of each router.
    pub(crate) fn resolve_catalogue(&mut self, ports: u32) -> Result<(), Refusal> {
        let Some(catalogue) = &self.catalogue else { return Ok(()) };
        let (links, terminals, router) = catalogue.prices(ports)?;
        let classes = BTreeMap::from([("terminal".to_owned(), terminals)]);
        // a resolved scenario has the key `catalogue` and also the prices from the catalogue, so prices that equal those of the catalogue
        // are accepted
        let own = [
            ("prices", self.prices != Prices::default() && self.prices != links),
            ("class_prices", !self.class_prices.is_empty() && self.class_prices != classes),
            ("router_price", self.router_price.is_some() && self.router_price != router),
        ];
        if let Some((key, _)) = own.into_iter().find(|(_, differs)| *differs) {
            let what = format!("`{key}` is written together with `catalogue`, which sets the same prices");
            let help = format!("leave `{key}` out, or leave `catalogue` out and write all prices");
            return Err(Refusal::new(format!("power.{key}"), what, help));
        }
        (self.prices, self.class_prices, self.router_price) = (links, classes, router);
        Ok(())
    }

    /// Refuses prices for link modes that the run does not have.
    pub(crate) fn check_modes(&self, modes: &Modes) -> Result<(), Refusal> {
        self.prices.check_names(modes, "power.prices")?;
        let mut classes = self.class_prices.iter();
        classes.try_for_each(|(class, own)| own.check_names(modes, &format!("power.class_prices.{class}")))
    }

    /// Refuses a policy that puts links in a state for which the catalogue has no power. The remedy does not name the keys of prices,
    /// because the catalogue sets these keys.
    pub(crate) fn check_states(&self, modes: &Modes) -> Result<(), Refusal> {
        let states = self.policy.states(modes)?;
        let open = self.prices.unpriced(&states, modes);
        if self.catalogue.is_none() || open.is_empty() {
            return Ok(());
        }
        let what = format!(
            "the policy `{}` can put a link into {}, but the {EDITION} lists no power of ports and modules in {}",
            self.policy.name(),
            named(&open),
            if open.len() == 1 { "it" } else { "them" }
        );
        let help = format!("{}, or leave `power.catalogue` out and write prices of all states", leave_links_on());
        Err(Refusal::new("power.policy", what, help))
    }

    /// A text that states the source of the prices. `other`: a link class whose rate is far from the rate for which the default prices were
    /// published.
    pub(crate) fn prices_from(&self, other: Option<&OtherRate>) -> String {
        let is_default =
            self.prices == Prices::default() && self.class_prices.is_empty() && self.router_price.is_none();
        match &self.catalogue {
            Some(catalogue) => catalogue.to_string(),
            None if is_default => {
                let remark = other.map(OtherRate::remark).unwrap_or_default();
                format!("links of the TCEP paper (ISCA 2018), routers free{remark}")
            }
            None => "prices of the scenario".to_owned(),
        }
    }
}

weft_units::codes! {
    CATALOGUE_SPEED = "catalogue_speed", Warning,
        means: "Links have a different bandwidth from the ports in the catalogue, but are billed with the power of \
                these ports.",
        computed: "Flits per second x bits of a flit, compared with the speed of the ports. They may differ by 5 %.",
        helps: "Write a `flit` and a `cycle` that give the speed in the catalogue, or choose another speed.";
}

/// Warns if the bandwidth of links differs from the bandwidth of the catalogue's ports that give their prices.
pub(crate) fn other_speed(scenario: &Scenario, spec: &Spec) -> Option<Warning> {
    let speed = f64::from(scenario.power.catalogue?.speed.gbps());
    let flits_per_second = 1e15 / spec.cycle_fs as f64;
    let gbps = |rate: f64| rate * scenario.flit.0 as f64 * flits_per_second * 1e-9;
    let names = spec.graph.class_names().iter().zip(&spec.links);
    let (name, gbps) = names
        .map(|(name, link)| (name, gbps(link.rate.per_cycle())))
        .find(|(_, gbps)| (gbps / speed - 1.0).abs() > 0.05)?;
    let what = format!("`{name}` links carry {gbps:.4} Gb/s, but the catalogue prices are for ports of {speed} Gb/s");
    let help = format!(
        "write a `flit` and a `cycle` that give {speed} Gb/s, such as `flit: {speed}b` and `cycle: 1ns`, or choose \
         another speed"
    );
    let numbers = [("link_gbps", gbps), ("catalogue_gbps", speed)];
    Some(Warning::new(&CATALOGUE_SPEED, format!("{PATH}.speed"), numbers, what, help))
}

/// Prices of a channel whose module draws the same power in every state: a module draws its power even while its port is down. No source
/// gives the power of a module at a lower rate of the link.
fn always(module_w: f64) -> Prices {
    let price = Price { standing: Standing::Power(watts(module_w)), per_bit: EnergyPerBit(0) };
    Prices::of(LinkState::ROLE_NAMES.map(|role| (role, price)))
}

/// Converts a power to whole nanowatts; the powers in all sources are much larger than a nanowatt.
fn watts(watts: f64) -> Power {
    Power((watts * 1e9).round() as u64)
}

impl Speed {
    fn gbps(self) -> u32 {
        match self {
            Self::G100 => 100,
            Self::G200 => 200,
            Self::G400 => 400,
            Self::G800 => 800,
        }
    }
}

impl Cable {
    const ALL: [Self; 6] = [Self::Sr, Self::Dr, Self::Fr, Self::Dac, Self::Acc, Self::Aoc];
}

impl fmt::Display for Cable {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Sr => "sr",
            Self::Dr => "dr",
            Self::Fr => "fr",
            Self::Dac => "dac",
            Self::Acc => "acc",
            Self::Aoc => "aoc",
        })
    }
}

impl fmt::Display for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { speed, cables, terminal_cables, routers } = self;
        write!(f, "{EDITION}, {} Gb/s, {cables} between routers, {terminal_cables} to terminals", speed.gbps())?;
        match routers {
            Routers::Switches => Ok(()),
            Routers::Nodes => f.write_str(", routers are parts of nodes"),
        }
    }
}

fn passive_copper() -> Cable {
    Cable::Dac
}
