//! Switches the links (members) of trunks: members go off if the utilisation of their trunk is low, and wake if it is high. At least one
//! member of each trunk stays on.
//!
//! # Source
//! M. Alonso et al., "Power saving in regular interconnection networks", Parallel Computing 36(12), 2010, and IPDPS 2005, in the form that
//! F. J. Andujar et al. use in "Energy efficient torus networks with on/off links", JPDC 130, 2019. The authors did not publish the values
//! of thresholds and window: the defaults are ours. The durations of changes are those of IEEE 802.3az.
//! # Parameters
//! `ethernet`: a standard that determines the defaults of `wake`, `sleep` and `window`. `wake` \[time\]: duration of waking. `sleep`
//! \[time\]: duration of going off. `window` \[time\]: time over which the utilisation is measured. `u_on`: utilisation above which members
//! wake. `u_off`: utilisation below which members go off. `step`: number of members that wake or go off together. `per`: the utilisation
//! that counts, either the mean over the members of the trunk or that of its busiest member. `forecast`: if bursts come at regular
//! intervals, members wake before the next burst (our addition, see `thresholds/forecast.rs`).
//! # Guarantees
//! The policy never drops a flit. Both directions of a member are in the same state. Members wake if the utilisation of at least one
//! direction was above `u_on`. Members go off if the utilisation of both directions was below `u_off` in their last windows. The members
//! with the lowest numbers wake first, and those with the highest numbers go off first. Member 0 is always on, unless it fails. Before a
//! member goes off, it is closed, and heads take other members. A closed member goes off when three conditions hold at both ends: no packet
//! holds it, no flit is on it, and all credits have returned. If the utilisation of a direction exceeds `u_on` before that, the member is
//! opened again. Each end of a trunk knows only the channels on which it sends, and the messages of the other end. Messages use the side
//! channel of the first working member. No decision is made during a change. Under a constant load, members stop changing: the policy
//! refuses thresholds with which they could alternate forever. The capacity of a failed member does not count. If no member that is on
//! works, a working member wakes at the end of the window, and packets wait until it is on. The last working member stays on. If `forecast`
//! is set and bursts come at regular intervals, the members that the third burst needed are on when the fourth burst begins. If the
//! expected burst does not come, these members stay on for two more windows.
//! # Not modelled
//! Retraining errors. Refreshes of sleeping links. The energy of the side channel, which also carries credits and is always on.
//! # Validation
//! - `power/thresholds/model.rs` explores every order of messages between the two ends of a trunk.
//! - `engine/tests/models/trunk.rs` compares the minimum energy of an idle network with a formula. It checks that in every cycle at least
//!   one member is on, and that both ends have equal states. Tiny buffers cause no stall.
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
use weft_api::switching::CloseBeside;
use weft_topology::Graph;
use weft_units::{Cycles, Refusal, Time};

/// Switches the links (members) of trunks: members go off if the utilisation of their trunk is low, and wake if it is high. At least one
/// member of each trunk stays on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Trunk {
    /// A standard that determines `wake`, `sleep` and `window` if they are not set.
    #[serde(skip_serializing_if = "Ethernet::is_default")]
    pub ethernet: Ethernet,
    /// Time that a member needs from off to on. Default: 4.16us, or the time of `ethernet`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake: Option<Time>,
    /// Time that a member needs from on to off. Default: 2.88us, or the time of `ethernet`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep: Option<Time>,
    /// Time over which the utilisation of a direction is measured. The window must not be shorter than a change. Default: 8us, or 200us
    /// with 1000BASE-T and 232us with 100BASE-TX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Time>,
    /// Members wake if the utilisation of a direction is above this value. The utilisation is a share of the capacity of the members that
    /// are on.
    pub u_on: f64,
    /// Members go off if the utilisation of both directions is below this value. The value must be below `u_on / (step + 1)`.
    pub u_off: f64,
    /// Number of members that wake or go off together.
    #[schemars(range(min = 1))]
    pub step: u16,
    /// The utilisation that counts: the mean over the members of the `trunk`, or the utilisation of its busiest `member`.
    #[serde(skip_serializing_if = "Per::is_default")]
    pub per: Per,
    /// Whether members wake before an expected burst, if bursts come at regular intervals.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub forecast: bool,
}

impl Default for Trunk {
    fn default() -> Self {
        Self {
            ethernet: Ethernet::default(),
            wake: None,
            sleep: None,
            window: None,
            u_on: 0.5,
            u_off: 0.2,
            step: 1,
            per: Per::Trunk,
            forecast: false,
        }
    }
}

const PATH: &str = "power.policy.trunk";
const OFF: CloseBeside = CloseBeside::of(&Trunk::OFFERS);

impl Trunk {
    pub(crate) const OFFERS: Offers = Offers { always_carries: true, ..Offers::ALWAYS_ON };

    fn rule(&self, cycle_fs: u128) -> Result<Rule, Refusal> {
        let Self { ethernet, wake, sleep, window, u_on, u_off, step, per: _, forecast: _ } = *self;
        let rule = Asked { path: PATH, ethernet, wake, sleep, window, u_on, u_off, step }.rule(cycle_fs)?;
        // in trunks of any width, the step down from `step + 1` members to 1 member raises the utilisation most
        let members: Vec<f64> = (1..=u32::from(step) + 1).map(f64::from).collect();
        rule.check_rest(PATH, &members, |n| if n == 1 { "1 member".to_owned() } else { format!("{n} members") })?;
        Ok(rule)
    }
}

/// Refuses managed link classes that have no trunks.
fn check_trunks(site: &Site) -> Result<(), Refusal> {
    let classes = || (1..site.managed.len()).filter(|&class| site.managed[class]);
    let is_wide = |class: &usize| site.graph.trunk_width(*class as u8) > 1;
    let names =
        |of: &mut dyn Iterator<Item = usize>| of.map(|class| site.class_name(class)).collect::<Vec<_>>().join(", ");
    let single = names(&mut classes().filter(|class| !is_wide(class)));
    if single.is_empty() {
        return Ok(());
    }
    let what =
        format!("{single}: trunks of one member, but the last member of a trunk stays on, so no link would ever sleep");
    let wide = names(&mut classes().filter(is_wide));
    let widen = "give the trunks more members with trunk_width of the topology, such as trunk_width: 2";
    let help = if wide.is_empty() {
        format!("{widen}, or {}", super::leave_links_on())
    } else {
        format!("write manages: [{wide}], or {widen}")
    };
    Err(Refusal::new("power.manages", what, help))
}

impl PolicyModel for Trunk {
    fn states(&self, _: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(vec![LinkState::On, LinkState::Draining, LinkState::Off, LinkState::Waking])
    }

    fn settling_period(&self, _: &Graph, _: &Modes, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        Ok(Some(self.rule(cycle_fs)?.settles_in()))
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        let rule = self.rule(site.cycle_fs)?;
        check_trunks(site)?;
        Ok(Arc::new(Switches { rule, per: self.per, forecast: self.forecast }))
    }

    fn examples() -> Vec<Self> {
        written(&[
            r#"{"wake": "40ns", "sleep": "30ns", "window": "100ns"}"#,
            r#"{"wake": "20ns", "sleep": "60ns", "window": "60ns", "u_on": 0.3, "u_off": 0.09, "step": 2, "per": "member"}"#,
            r#"{"wake": "40ns", "sleep": "30ns", "window": "100ns", "forecast": true}"#,
        ])
    }
}

/// The policy built for one network.
#[derive(Debug)]
struct Switches {
    rule: Rule,
    per: Per,
    forecast: bool,
}

impl Policy for Switches {
    fn control(&self) -> Option<ControlPlan> {
        Some(CONTROL)
    }

    fn agents(&self, site: &BlockSite) -> Option<Box<dyn Agents>> {
        let by = By { per: self.per, alone: false, foresees: self.forecast };
        Some(Box::new(Units::new(self.rule, by, Arc::new(Members), site)))
    }
}

/// The levels of a trunk: at level n the first n members are on.
#[derive(Debug)]
struct Members;

impl Levels for Members {
    fn top(&self, links: usize) -> u16 {
        links as u16
    }

    fn carrying(&self, level: u16, _: usize) -> usize {
        level.into()
    }

    fn act(&self, deed: Deed, moved: Range<u16>, unit: &[usize], channels: &mut dyn Channels) {
        for &o in &unit[usize::from(moved.start)..usize::from(moved.end)] {
            match deed {
                Deed::Close => {
                    channels.enter(o, LinkState::Draining);
                    OFF.close(channels, o);
                }
                Deed::BeginLower => {}
                Deed::EndLower => channels.enter(o, LinkState::Off),
                Deed::BeginRaise => channels.enter(o, LinkState::Waking),
                Deed::Reopen | Deed::EndRaise => {
                    channels.enter(o, LinkState::On);
                    OFF.open(channels, o);
                }
            }
        }
    }

    fn is_drained(&self, moved: Range<u16>, unit: &[usize], channels: &dyn Channels) -> bool {
        unit[usize::from(moved.start)..usize::from(moved.end)].iter().all(|&o| OFF.is_drained(channels, o))
    }
}
