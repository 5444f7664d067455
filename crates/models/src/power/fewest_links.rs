//! Fewest links: in every subnetwork, a planner finds the smallest set of links that carries the traffic between the members, and keeps
//! these links on.
//!
//! # Source
//! Ours. The problem is that of Kim et al., "TCEP", ISCA 2018, Section VI-A. The lower bound of that paper (Fig. 12) assumes that all links
//! that are on carry the same load. TCEP switches off links between outer routers (those last in the order that begins with the hub) first.
//! Therefore links between inner routers carry little. The planner of `fewest_links` uses the whole matrix of traffic.
//! # Parameters
//! `high_water`: target utilisation of links, between 0 and 1. In the planned network, random packets of one flit wait as long, on average,
//! as on channels of this utilisation. The planner gives no channel a load above the mean of this value and 1. If flits come together (long
//! packets, bursts), the planner gives links less load: the ratio of a packet's wait to its time without waiting stays the same.
//! `activation_epoch` \[time\]: time after which the planner checks again for surges of traffic. `deactivation_epoch` \[time\]: the planner
//! measures the traffic matrix over this time, and then makes a new plan. `wake` \[time\]: time that a link needs from off to on.
//! `initial`: links that are on in cycle 0. `hub`: the member whose links to all others stay on.
//! # Guarantees
//! The star around the hub is always on. Therefore a link or a path over one other member joins any two members. At the end of a
//! deactivation epoch, the planner examines several nested families of sets of links. The planner finds the smallest set in these families
//! that carries the traffic of the last epochs (`plan.rs`). The planner changes to this set if the present links are too few for the
//! traffic. The planner also changes to the set if it saves at least a hundredth of all links. If the traffic of an epoch has risen by more
//! than random variation explains, the planner uses only this epoch. Links planned for the lower traffic before would be too few. The rise
//! is more than random variation if it exceeds four standard deviations and a twentieth of the traffic before. If f flits come together,
//! these limits are multiplied by f / 2. With packets of 40 flits, the second limit is 20 twentieths: the traffic must double. A surge is
//! an activation epoch whose traffic exceeds the usual traffic by four standard deviations and by a twentieth. After a surge, and after
//! every activation epoch before the first plan, the planner adds links at once. If a deactivation epoch had a surge of f / 2 times that
//! size, the planner removes no links at its end. The new links of a plan are on after the time `wake`, and only then other links drain. No
//! other change begins before that. No new packet takes a draining link. A draining link goes dark at the end of an activation epoch in
//! which its buffers are empty and all credits have returned. If the planner needs a draining link again, the link is on at once.
//! # Not modelled
//! The time and the flits that reports to the planner and its orders would need. The reports would need R (R - 1) counters of 32 bits per
//! epoch in a subnetwork of R routers. Failed links: Weft refuses faults together with routings that depend on the states of links. The
//! computing time of a plan grows faster than R^4. A plan takes 0.7, 16, 340 and 8,200 million instructions for 8, 16, 32 and 64 routers
//! (uniform traffic at load 0.2). With the default epochs and R terminals per router, plans take 0.4 (8x8 routers), 1.3, 6 and 14 % of the
//! time of a simulation.
//! # Validation
//! `fewest_links/plan.rs` compares sets of links with sums by hand. The test uses exactly uniform traffic at ten loads, and `high_water`
//! 0.96. The share of links that are on is then at most 0.06 above the lower bound of TCEP's Fig. 12. A lower `high_water` never gives
//! fewer links. `engine/src/run/tests/fewest_links_planner.rs` compares the measured matrix, the sizes of bursts and the target
//! utilisations with sums by hand. `engine/tests/fewest_links.rs` compares the links that are on, and accepted loads, with those of TCEP.
//! It also checks the links in a surge, and the links after a rise and a fall of the load. Traffic between two routers also arrives if it
//! exceeds the capacity of their link. Conformance tests on every legal topology check conservation of flits, determinism and checkpoints.
//! No rows of another simulator are compared, because none has this policy. `experiments/2018-kim-tcep/README.md` compares the policy with
//! TCEP. The first comparison is for 32 routers under uniform traffic, with `high_water` 0.92. The share of links that are on is 0.028 to
//! 0.074 above the bound (TCEP: 0.028 to 0.122). The packet latency is between 2 % lower and 27 % higher than with TCEP. At TCEP's latency,
//! `fewest_links` misses the goal of 0.06 above the bound. On 8x8 routers with the same `high_water`, `fewest_links` needs at most as many
//! links as TCEP. The exception is bit reversal above the load that the network accepts. At the same latency `fewest_links` equals TCEP
//! under uniform traffic, is better under tornado, and worse under bit reversal.

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

/// In every subnetwork, a planner finds the smallest set of links that carries the traffic between the members, and keeps these links on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FewestLinks {
    /// Target utilisation of links: on average, packets of one flit wait as long as on channels of this utilisation.
    #[serde(default = "high_water")]
    pub high_water: f64,
    /// Time between two checks for surges of traffic.
    #[serde(default = "thousand")]
    pub activation_epoch: Time,
    /// Time over which traffic is measured, and between two plans. A multiple of `activation_epoch`.
    #[serde(default = "ten_thousand")]
    pub deactivation_epoch: Time,
    /// Time that a link needs from off to on.
    #[serde(default = "thousand")]
    pub wake: Time,
    /// Links that are on in cycle 0.
    #[serde(default)]
    pub initial: Initial,
    /// Index of the member of every subnetwork whose links to all other members stay on.
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

/// The parameters of the policy in cycles, and the subnetworks whose links it manages.
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

    /// The activation epoch, the deactivation epoch and the time to wake [cycles].
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
        // short times between plans, and links that wake quickly, so that tests see changes
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
