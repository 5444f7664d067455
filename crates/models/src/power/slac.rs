//! SLaC: the links of a 2D HyperX are switched on and off in stages, in a fixed order. The occupancy of input buffers determines the number
//! of stages that are on.
//!
//! # Source
//! Demir and Hardavellas, "SLaC: Stage Laser Control for a Flattened Butterfly Network", HPCA 2016. The form is the one that Kim et al.,
//! "TCEP", ISCA 2018, section V, compare with TCEP. Stage s contains the links within row s of the routers, and the column links from row s
//! to rows with higher numbers. Stage 1 is always on.
//! # Parameters
//! `low`, `high`: thresholds for the utilisation of a router: the mean occupied share of its fullest input buffer, from 0 to 1.
//! `wake_per_link` \[time\]: time to warm a stage, divided by the number of its links. `averaging` \[time\]: window over which the
//! occupancy is averaged, and time between two decisions. `release`: with `never`, a stage that has been switched on stays on. With
//! `below_low`, a stage goes off as soon as the router that requested it is below `low`. `initial`: stages that are on in cycle 0.
//! # Guarantees
//! A single sequencer decides for the whole network, without delay. The utilisation of a router in a window is the mean occupied share of
//! one input buffer: the fullest of those behind links from other routers. The buffers of all VCs of a port count together. A flit occupies
//! buffer space from the cycle of its arrival to the cycle of its departure, both included. If the utilisation of any router is above
//! `high`, the sequencer warms the next stage. While a stage warms, its links are in state `waking`. The router with the highest
//! utilisation counts as the one that requested the stage. Of several routers with this utilisation, it is the one with the lowest number.
//! With `below_low`, the newest stage goes off under two conditions: no router is above `high`, and the router that requested the stage is
//! below `low`. If that stage was on from the beginning of the run, every router must be below `low`. From the decision on, no new packet
//! uses the stage. The stage drains, and goes dark at the end of the first window at which it is empty. The stage that was switched on last
//! goes off first. Only one stage changes at a time. While a stage warms or drains, and for one whole window afterwards, the sequencer
//! makes no other decision. A dark stage has no flit and no missing credit, and no packet in flight can need it.
//! # Choices
//! The default is `never` for the following reason. The TCEP paper gives 25 % and 75 % as thresholds. According to the paper, the newest
//! stage is turned off if the router that requested it later measures less than the low threshold. This rule contradicts the paper's
//! results if the paper measures the mean occupancy of a buffer, as `below_low` does. The paper's buffers are many times larger than a
//! credit round trip needs (6 VCs of 32 flits, links of 10 cycles). Therefore the buffers are nearly empty at every load that the network
//! carries: 3 % full at uniform load 0.9. A stage would go off soon after it has made a load possible. Without the stage, queues would grow
//! and the stage would come on again, and so on without end. In the paper's results, however, all links are on at high load, and under
//! tornado every stage is on from load 0.05 on. The results of the paper are possible if a stage stays on while the load lasts. `never` is
//! the simplest rule with this effect. Its price: after a peak of the load (phases, bursts, batches that end), the stages stay on and save
//! nothing.
//! # Not modelled
//! The time until a request reaches the sequencer, and until the sequencer's command reaches the routers. The sharing of lasers: the model
//! assumes one laser for each link.
//! # Validation
//! `engine/tests/slac.rs` checks the links of each stage, and compares the states of the stages over time with those that the rule implies.
//! It checks connectivity and latency for every number of stages that are on. While the load rises and falls, no packet is lost, and no
//! flit crosses a dark link. Results are the same for any number of blocks. No test compares this policy with another simulator, because no
//! other simulator has it.

#[doc(hidden)]
pub mod gauge;
#[doc(hidden)]
pub mod sequencer;

use gauge::Gauge;
use schemars::JsonSchema;
use sequencer::Sequencer;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::agents::{Agents, BlockSite, Overseer};
use weft_api::examples::written;
use weft_api::policy::{LinkKnowledge, Offers, Policy, PolicyModel, Site};
use weft_api::state::{LinkState, Modes};
use weft_api::switching::DrainFirst;
use weft_topology::{Graph, Line, TopologyConfig};
use weft_units::{Cycles, Refusal, Time};

const PATH: &str = "power.policy.slac";
const OFF: DrainFirst = DrainFirst::of(&Slac::OFFERS);

/// SLaC: the links of a 2D HyperX are switched on and off in stages, in a fixed order. The occupancy of input buffers determines the number
/// of stages that are on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slac {
    /// With `release: below_low`, the newest stage goes off if the utilisation of the router that requested it is below this value.
    #[serde(default = "default_low")]
    pub low: f64,
    /// If the utilisation of a router is above this value, the router requests the next stage.
    #[serde(default = "default_high")]
    pub high: f64,
    /// Time to warm a stage, divided by the number of links of the stage.
    #[serde(default = "default_time")]
    pub wake_per_link: Time,
    /// Window over which the utilisation is averaged, and time between two decisions.
    #[serde(default = "default_time")]
    pub averaging: Time,
    /// Condition under which a stage that was switched on goes off again.
    #[serde(default)]
    pub release: Release,
    /// Stages that are on in cycle 0.
    #[serde(default)]
    pub initial: Initial,
}

/// Condition under which a stage that was switched on goes off again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Release {
    /// Stages never go off: `low` has no effect.
    #[default]
    Never,
    /// A stage goes off as soon as the utilisation of the router that requested it is below `low`. At a steady load, a stage then switches
    /// on and off forever.
    BelowLow,
}

/// Stages that are on in cycle 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Initial {
    /// Only the first stage is on.
    #[default]
    FirstStage,
    AllOn,
}

fn default_low() -> f64 {
    0.25
}

fn default_high() -> f64 {
    0.75
}

fn default_time() -> Time {
    Time::Cycles(100)
}

/// The policy's parameters that are times [cycles].
#[derive(Debug, Clone)]
struct Times {
    wake_per_link: u64,
    averaging: u64,
}

/// The parameters of the policy, and the row of every router in the grid.
#[derive(Debug, Clone)]
pub struct Runtime {
    low: f64,
    high: f64,
    times: Times,
    release: Release,
    initial: Initial,
    rows: Vec<u8>,
    stages: usize,
}

impl Slac {
    pub(crate) const OFFERS: Offers =
        Offers { links: LinkKnowledge::Stages, all_on: Some("{initial: all_on, release: never}"), ..Offers::ALWAYS_ON };

    fn times(&self, cycle_fs: u128) -> Result<Times, Refusal> {
        let cycles = |name: &str, time: &Time| {
            let path = format!("{PATH}.{name}");
            Ok(time.duration(cycle_fs, &path)?.above_zero(&path)?.cycles)
        };
        Ok(Times {
            wake_per_link: cycles("wake_per_link", &self.wake_per_link)?,
            averaging: cycles("averaging", &self.averaging)?,
        })
    }

    fn check_thresholds(&self) -> Result<(), Refusal> {
        for (name, share) in [("low", self.low), ("high", self.high)] {
            if !(share > 0.0 && share <= 1.0) {
                let what = format!("{share} is not a share of a buffer");
                return Err(Refusal::new(format!("{PATH}.{name}"), what, "write a number above 0, at most 1"));
            }
        }
        if self.high <= self.low {
            return Err(Refusal::new(
                format!("{PATH}.high"),
                format!("{} is not above low, {}: a stage would go on and off at the same time", self.high, self.low),
                format!("write more than {}, or a smaller low", self.low),
            ));
        }
        Ok(())
    }
}

impl PolicyModel for Slac {
    fn states(&self, _: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(match self.release {
            Release::Never => vec![LinkState::On, LinkState::Off, LinkState::Waking],
            Release::BelowLow => vec![LinkState::On, LinkState::Draining, LinkState::Off, LinkState::Waking],
        })
    }

    fn stays_on(&self) -> bool {
        self.initial == Initial::AllOn && self.release == Release::Never
    }

    /// The time to warm the largest stage that can be off, plus one window before and one window after it. Zero if all stages are on and
    /// stay on.
    fn settling_period(&self, graph: &Graph, _: &Modes, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        if self.stays_on() {
            return Ok(Some(0));
        }
        let times = self.times(cycle_fs)?;
        let links = match graph.structure().widths().as_deref() {
            Some(&[columns, rows]) if rows > 1 => u64::from(columns * (columns - 1) / 2 + columns * (rows - 2)),
            Some(_) | None => 0,
        };
        Ok(Some(times.wake_per_link.saturating_mul(links).saturating_add(times.averaging.saturating_mul(2))))
    }

    fn first_published(&self, site: &Site) -> Option<u64> {
        Some(if self.initial == Initial::AllOn { rows_of(site.graph).into() } else { 1 })
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        check_shape(site.graph)?;
        check_managed(site)?;
        self.check_thresholds()?;
        Ok(Arc::new(Runtime {
            low: self.low,
            high: self.high,
            times: self.times(site.cycle_fs)?,
            release: self.release,
            initial: self.initial,
            // the second coordinate of a router is its row
            rows: site.coords().into_iter().map(|at| (at >> 8) as u8).collect(),
            stages: rows_of(site.graph).into(),
        }))
    }

    fn examples() -> Vec<Self> {
        // with these parameters, stages go on and off early in a test
        written(&[
            r#"{"low": 0.05, "high": 0.1, "wake_per_link": "2ns", "averaging": "30ns", "release": "below_low"}"#,
            r#"{"low": 0.05, "high": 0.1, "wake_per_link": "2ns", "averaging": "30ns"}"#,
        ])
    }
}

/// Index of the stage of the link between two routers, from 0. This index is the lower of the two routers' rows.
fn stage_of(rows: &[u8], a: u32, b: u32) -> usize {
    rows[a as usize].min(rows[b as usize]).into()
}

impl Policy for Runtime {
    fn first_state(&self, a: u32, b: u32) -> LinkState {
        let is_on = self.initial == Initial::AllOn || stage_of(&self.rows, a, b) == 0;
        if is_on { LinkState::On } else { LinkState::Off }
    }

    fn agents(&self, site: &BlockSite) -> Option<Box<dyn Agents>> {
        Some(Box::new(Gauge::new(site, self.stages)))
    }

    fn overseer(&self, site: &Site) -> Option<Box<dyn Overseer>> {
        Some(Box::new(Sequencer::new(self.clone(), site)))
    }
}

/// Number of rows of a two-dimensional grid. Each row has one stage.
fn rows_of(graph: &Graph) -> u8 {
    graph.structure().widths().and_then(|widths| widths.get(1).copied()).unwrap_or(1) as u8
}

fn check_managed(site: &Site) -> Result<(), Refusal> {
    let names = site.graph.class_names().iter().zip(site.managed).skip(1);
    let left_out: Vec<&str> = names.filter(|(_, managed)| !**managed).map(|(name, _)| name.as_str()).collect();
    if left_out.is_empty() {
        return Ok(());
    }
    Err(Refusal::new(
        "power.manages",
        format!("the list leaves out {}, but a stage of slac has links of both dimensions", left_out.join(" and ")),
        "leave manages out; then slac manages all links between routers",
    ))
}

/// Number of dimensions of a grid in which exactly one link joins every two routers of each row or column; `None` for other graphs. The
/// policy refuses other grids, because it computes the time to warm a stage from one link for each pair of routers.
fn complete_dimensions(graph: &Graph) -> Option<usize> {
    let complete =
        graph.structure().grid.as_ref().filter(|grid| grid.uniform() == Some(Line::Complete) && !graph.has_trunks());
    complete.map(|grid| grid.dimensions.len())
}

fn check_shape(graph: &Graph) -> Result<(), Refusal> {
    let other = match complete_dimensions(graph) {
        Some(2) => return Ok(()),
        Some(dimensions) if dimensions > 0 => format!("a grid of {dimensions} dimensions"),
        None if graph.has_trunks() => "a network of trunks".to_owned(),
        Some(_) | None => "a network without such rows and columns".to_owned(),
    };
    let able = TopologyConfig::names_with(|graph| complete_dimensions(graph) == Some(2));
    let what = format!("slac switches rows and columns of routers that are all neighbours, but this is {other}");
    let help = graph.narrowed(|graph| complete_dimensions(graph) == Some(2)).unwrap_or_else(|| {
        format!("choose another policy, or a topology with two such dimensions: {}", able.join(", "))
    });
    Err(Refusal::new(PATH, what, help))
}
