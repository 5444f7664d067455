//! Fewest links: in every subnetwork a planner keeps on the smallest set of links that carries the traffic between the members.
//!
//! # Source
//! Ours. The question is that of Kim et al., "TCEP", ISCA 2018, Section VI-A. The lower bound there (Fig. 12) applies if all links
//! that are on are used alike. TCEP switches links off from the outer routers inwards, so links between its inner routers carry
//! little. In `fewest_links` the planner uses the whole matrix of traffic.
//! # Parameters
//! `high_water`: how full links may be, between 0 and 1. Packets of one flit that come at random wait as long, on average, as on
//! channels of this utilisation. No channel is planned above the middle between this value and 1. If flits come together (long
//! packets, bursts), links are less full: the ratio of a packet's wait to its time without waiting stays the same. `activation_epoch`
//! \[time\]: time between two searches of a planner for surges. `deactivation_epoch` \[time\]: the planner measures the matrix over
//! this time, and then plans again. `wake` \[time\]: duration of the change from off to on. `initial`: links that are on in cycle 0.
//! `hub`: the member whose links to all others stay on.
//! # Guarantees
//! The star around the hub is on, so any two members have a link or a path over one other member. At the end of a deactivation
//! epoch the planner looks at several nested families of sets of links. The planner takes the smallest set in these families that
//! carries the traffic of the last epochs (`plan.rs`). The planner changes to this set if the present links are too few.
//! It also changes if the set has fewer links than the present one, by a hundredth of all links. If an epoch brings more traffic than random variation explains, only
//! this epoch counts. Links planned for a part of the traffic would be too few. More than random variation means four standard
//! deviations, and a twentieth more than before. If f flits come together, the limits are f / 2 times these: packets of 40 flits must
//! double the load. A surge is an activation epoch with more traffic than usual, by four standard deviations and a twentieth. In a
//! surge, and in every activation epoch before the first plan, the planner adds links at once. No link is removed at the end of a
//! deactivation epoch with a surge of f / 2 times that size. New links are on before others drain, `wake` after the plan, and no other
//! change begins before that. A draining link does not take new packets. A draining link goes dark at the end of an activation epoch
//! in which its buffers are empty and all credits have returned. If the planner needs the link before that, the link is on at once.
//! # Not modelled
//! The time and the flits of reports to the planner, and of the planner's orders. They would need R (R - 1) counters of 32 bits per
//! epoch in a subnetwork of R routers. Links that fail: Weft refuses faults together with routings that depend on the states of
//! links. The cost of a plan to the simulation grows faster than R^4. A plan takes 0.7, 16, 340 and 8,200 million instructions for
//! 8, 16, 32 and 64 routers (uniform traffic at load 0.2). With the default epochs and R terminals per router this is 0.4 (8x8
//! routers), 1.3, 6 and 14 % of a run.
//! # Validation
//! `fewest_links/plan.rs`: sets against sums by hand. For exactly uniform traffic and a mark of 0.96, sets are at most 0.06 above the lower
//! bound of TCEP's Fig. 12 at ten loads. A lower mark never has fewer links. `engine/src/run/tests/fewest_links_planner.rs`: the matrix
//! that is counted, and bursts and marks against sums by hand. `engine/tests/fewest_links.rs`: links, latency and accepted load in a
//! network, compared with TCEP; links in a surge, and after a rise and a fall of the load; pairs of routers that send more than their link
//! carries. On every legal topology: conservation, determinism and checkpoints. No rows of another simulator: none has this policy.
//! Comparison with TCEP in `experiments/2018-kim-tcep/README.md`: on 32 routers under uniform traffic, with a mark of 0.92, sets are 0.028
//! to 0.074 above the bound (TCEP 0.028 to 0.122). The network is from 2 % faster to 27 % slower than with TCEP. `fewest_links` misses the
//! goal of 0.06 at TCEP's latency. On 8x8 routers `fewest_links` needs, at the same mark, no more links than TCEP, except under bit
//! reversal above the load that the network accepts. At the same latency `fewest_links` equals TCEP under uniform traffic, is better under
//! tornado, and worse under bit reversal.

mod ledger;
mod plan;
#[doc(hidden)]
pub mod planner;

use crate::power::stars::Initial;
use ledger::Ledger;
use planner::Planner;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::agents::{Agents, BlockSite, Overseer};
use weft_api::examples::written;
use weft_api::policy::{LinkKnowledge, Offers, Policy, PolicyModel, Site};
use weft_api::state::{LinkState, Modes};
use weft_api::subnetworks::Subnets;
use weft_api::switching::DrainFirst;
use weft_topology::Graph;
use weft_units::{Cycles, Refusal, Time};

const PATH: &str = "power.policy.fewest_links";
const OFF: DrainFirst = DrainFirst::of(&FewestLinks::OFFERS);

/// In every subnetwork a planner keeps on the smallest set of links that carries the traffic between the members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FewestLinks {
    /// How full links may be: packets of one flit wait as long, on average, as on channels of this utilisation.
    #[serde(default = "high_water")]
    pub high_water: f64,
    /// Time between two checks for surges of traffic.
    #[serde(default = "thousand")]
    pub activation_epoch: Time,
    /// Time over which traffic is measured; also the time between two plans. A multiple of `activation_epoch`.
    #[serde(default = "ten_thousand")]
    pub deactivation_epoch: Time,
    /// Time from off to on.
    #[serde(default = "thousand")]
    pub wake: Time,
    /// Links that are on in cycle 0.
    #[serde(default)]
    pub initial: Initial,
    /// Member of every subnetwork whose links to all others stay on.
    #[serde(default)]
    pub hub: u8,
}

fn high_water() -> f64 {
    0.75
}

fn thousand() -> Time {
    Time::Cycles(1000)
}

fn ten_thousand() -> Time {
    Time::Cycles(10_000)
}

/// The parameters, in cycles, and the subnetworks that are managed.
#[derive(Debug, Clone)]
pub struct Runtime {
    high_water: f64,
    epoch: u64,
    /// Number of activation epochs in a deactivation epoch.
    ratio: u64,
    wake: u64,
    initial: Initial,
    hub: u8,
    nets: Subnets,
    managed: Vec<usize>,
    coords: Vec<u64>,
}

impl FewestLinks {
    pub(crate) const OFFERS: Offers = Offers { links: LinkKnowledge::Subnetworks, ..Offers::ALWAYS_ON };

    /// The epochs and the time to wake.
    fn cycles(&self, cycle_fs: u128) -> Result<[u64; 3], Refusal> {
        let cycles = |name: &str, time: &Time| {
            let path = format!("{PATH}.{name}");
            Ok(time.duration(cycle_fs, &path)?.above_zero(&path)?.cycles)
        };
        let epoch = cycles("activation_epoch", &self.activation_epoch)?;
        let long = cycles("deactivation_epoch", &self.deactivation_epoch)?;
        super::check_deactivation_epoch(long, epoch, PATH)?;
        Ok([epoch, long, cycles("wake", &self.wake)?])
    }
}

impl PolicyModel for FewestLinks {
    fn states(&self, _: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(vec![LinkState::On, LinkState::Draining, LinkState::Off, LinkState::Waking])
    }

    fn settling_period(&self, _: &Graph, _: &Modes, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        let [epoch, long, wake] = self.cycles(cycle_fs)?;
        Ok(Some(long.saturating_add(wake).saturating_add(epoch)))
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        let nets = super::subnets_of(site, "fewest_links", PATH)?;
        super::check_hub(site, &nets, self.hub, PATH)?;
        super::check_high_water(self.high_water, PATH)?;
        let [epoch, long, wake] = self.cycles(site.cycle_fs)?;
        Ok(Arc::new(Runtime {
            high_water: self.high_water,
            epoch,
            ratio: long / epoch,
            wake,
            initial: self.initial,
            hub: self.hub,
            managed: super::managed_of(site, &nets).collect(),
            coords: site.coords(),
            nets,
        }))
    }

    fn examples() -> Vec<Self> {
        // short times between plans, and links that wake fast
        written(&[
            r#"{"activation_epoch": "100ns", "deactivation_epoch": "500ns", "wake": "60ns"}"#,
            r#"{"activation_epoch": "80ns", "deactivation_epoch": "240ns", "wake": "120ns", "initial": "all_on"}"#,
        ])
    }
}

impl Policy for Runtime {
    fn first_state(&self, a: u32, b: u32) -> LinkState {
        self.initial.state(&self.nets, &self.coords, self.hub, (a, b))
    }

    fn hub(&self) -> u8 {
        self.hub
    }

    fn fills_up(&self) -> bool {
        true
    }

    fn agents(&self, site: &BlockSite) -> Option<Box<dyn Agents>> {
        Some(Box::new(Ledger::new(site)))
    }

    fn overseer(&self, site: &Site) -> Option<Box<dyn Overseer>> {
        Some(Box::new(Planner::new(self.clone(), site)))
    }
}
