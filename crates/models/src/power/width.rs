//! Changes the width of links (dynamic link width). A link moves to a lower rate if its utilisation is low, and to a higher rate if it is
//! high.
//!
//! # Source
//! M. Alonso et al., "Reducing Power Consumption in Interconnection Networks by Dynamically Adjusting Link Width", LNCS 3149, 2004. The
//! rule for changes is that of the policy `trunk`. The two policies are parts of one mechanism in M. Alonso et al., "Power saving in
//! regular interconnection networks", Parallel Computing 36(12), 2010. The authors did not publish the values of thresholds and window: the
//! defaults are ours.
//! # Parameters
//! `ethernet`, `wake`, `sleep`, `window`, `u_on`, `u_off`: the same parameters as for `trunk`. `step`: number of widths by which a link
//! moves in one change. `narrowest`: the slowest mode that links use. `per`: with `member`, each link is measured and changes separately;
//! with `trunk`, all links of a trunk change together, by their mean utilisation.
//! # Guarantees
//! The policy never drops a flit, and links carry packets in every cycle. Both directions of a link have the same width. A link becomes
//! wider if the utilisation of at least one direction, at its present rate, was above `u_on`. A link becomes narrower if the utilisation of
//! both directions was below `u_off` in their last windows. No decision is made during a change. Under a constant load, the width stops
//! changing: the policy refuses thresholds with which it could alternate forever.
//! # Not modelled
//! Retraining errors. A separate state of the link while lanes go off or wake. Until a change ends, the link has its earlier rate and draws
//! the power of its earlier mode. During a change to a wider mode, the link therefore draws the power of the narrow mode, for at most the
//! time `wake` per change.
//! # Validation
//! - `power/thresholds/model.rs` explores every order of messages between the two ends of a link.
//! - `engine/tests/models/width.rs` checks the state of an idle link in each cycle, the width that links have under a load, and refusals.
//! - `conformance/src/policy.rs` checks that no packet is lost, and that the cycles of every channel, over all its states, add up to the
//!   window.
//!
//! No test compares this policy with another simulator, because no other simulator has link states.

use super::thresholds::end::Deed;
use super::thresholds::rule::{Asked, Ethernet, Per, Rule};
use super::thresholds::units::{By, CONTROL, Levels, Units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;
use weft_api::agents::{Agents, BlockSite, Channels};
use weft_api::examples::written;
use weft_api::policy::{ControlPlan, Offers, Policy, PolicyModel, Site};
use weft_api::state::{LinkState, Modes};
use weft_topology::Graph;
use weft_units::{Cycles, Refusal, Time};

/// Changes the width of links (dynamic link width). A link moves to a lower rate if its utilisation is low, and to a higher rate if it is
/// high.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Width {
    /// A standard that determines `wake`, `sleep` and `window` if they are not set.
    #[serde(skip_serializing_if = "Ethernet::is_default")]
    pub ethernet: Ethernet,
    /// Duration of a change to a wider mode. Default: 4.16us, or the time of `ethernet`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake: Option<Time>,
    /// Duration of a change to a narrower mode. Default: 2.88us, or the time of `ethernet`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep: Option<Time>,
    /// Time over which the utilisation of a direction is measured. The window must not be shorter than a change. Default: 8us, or 200us
    /// with 1000BASE-T and 232us with 100BASE-TX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Time>,
    /// A link becomes wider if the utilisation of a direction, at the present rate, is above this value.
    pub u_on: f64,
    /// A link becomes narrower if the utilisation of both directions is below this value. The value must be below `u_on` times the smallest
    /// ratio of two rates between which the link moves: `u_on / 2` for full, half and quarter.
    pub u_off: f64,
    /// Number of widths by which a link moves in one change.
    #[schemars(range(min = 1))]
    pub step: u16,
    /// The slowest mode that links use: one of the modes that `power.modes` names. If `power.modes` names none, `half` and `quarter` are
    /// allowed. Default: the slowest mode that carries traffic. Links use all modes from the slowest one to `on`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"half", example = &"quarter")]
    pub narrowest: Option<String>,
    /// With `member`, each link changes separately, by its own utilisation. With `trunk`, all links of a trunk change together, by their
    /// mean utilisation.
    #[serde(default = "member", skip_serializing_if = "is_member")]
    pub per: Per,
}

fn member() -> Per {
    Per::Member
}

fn is_member(per: &Per) -> bool {
    *per == Per::Member
}

impl Default for Width {
    fn default() -> Self {
        Self {
            ethernet: Ethernet::default(),
            wake: None,
            sleep: None,
            window: None,
            u_on: 0.5,
            u_off: 0.2,
            step: 1,
            narrowest: None,
            per: member(),
        }
    }
}

const PATH: &str = "power.policy.width";

impl Width {
    pub(crate) const OFFERS: Offers = Offers { always_carries: true, ..Offers::ALWAYS_ON };

    fn rule(&self, cycle_fs: u128) -> Result<Rule, Refusal> {
        let Self { ethernet, wake, sleep, window, u_on, u_off, step, narrowest: _, per: _ } = *self;
        Asked { path: PATH, ethernet, wake, sleep, window, u_on, u_off, step }.rule(cycle_fs)
    }

    fn widths(&self, modes: &Modes) -> Result<Vec<LinkState>, Refusal> {
        super::rungs::rungs(modes, self.narrowest.as_deref(), &format!("{PATH}.narrowest"))
    }
}

impl PolicyModel for Width {
    fn states(&self, modes: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(self.widths(modes)?.into_iter().rev().collect())
    }

    fn settling_period(&self, _: &Graph, _: &Modes, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        Ok(Some(self.rule(cycle_fs)?.settles_in()))
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        if site.managed[0] {
            let what = "width needs two routers that agree, but the link of a terminal has only one router";
            let help = "leave terminal out of manages; all means all links between routers";
            return Err(Refusal::new("power.manages", what, help));
        }
        let (rule, widths) = (self.rule(site.cycle_fs)?, self.widths(site.modes)?);
        let rates: Vec<f64> = widths.iter().map(|&state| site.modes.rate(state).per_cycle()).collect();
        rule.check_rest(PATH, &rates, |level| format!("links in the mode `{}`", site.modes.name(widths[level - 1])))?;
        Ok(Arc::new(Narrows { rule, per: self.per, widths: Arc::new(Widths(widths)) }))
    }

    fn examples() -> Vec<Self> {
        written(&[
            r#"{"wake": "40ns", "sleep": "30ns", "window": "100ns"}"#,
            r#"{"wake": "20ns", "sleep": "60ns", "window": "60ns", "u_on": 0.3, "u_off": 0.1, "narrowest": "half", "per": "trunk"}"#,
        ])
    }
}

/// The policy built for one network.
#[derive(Debug)]
struct Narrows {
    rule: Rule,
    per: Per,
    widths: Arc<Widths>,
}

impl Policy for Narrows {
    fn control(&self) -> Option<ControlPlan> {
        Some(CONTROL)
    }

    fn agents(&self, site: &BlockSite) -> Option<Box<dyn Agents>> {
        let by = By { per: self.per, alone: self.per == Per::Member, foresees: false };
        Some(Box::new(Units::new(self.rule, by, self.widths.clone(), site)))
    }
}

/// The levels of a link: level n is the n-th of these modes, beginning with the slowest.
#[derive(Debug)]
struct Widths(Vec<LinkState>);

impl Levels for Widths {
    fn top(&self, _: usize) -> u16 {
        self.0.len() as u16
    }

    fn carrying(&self, _: u16, links: usize) -> usize {
        links
    }

    fn act(&self, deed: Deed, moved: Range<u16>, unit: &[usize], channels: &mut dyn Channels) {
        let level = match deed {
            Deed::Close | Deed::Reopen | Deed::BeginLower | Deed::BeginRaise => return,
            Deed::EndLower => moved.start,
            Deed::EndRaise => moved.end,
        };
        unit.iter().for_each(|&o| channels.enter(o, self.0[usize::from(level) - 1]));
    }

    /// Always true: no link must drain before it becomes narrower, because the remaining lanes carry all its flits.
    fn is_drained(&self, _: Range<u16>, _: &[usize], _: &dyn Channels) -> bool {
        true
    }
}
