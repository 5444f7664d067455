//! Fewest links: in every subnetwork, a planner searches for the smallest set of links that carries the traffic between its members
//! (routers). Only these links stay on.
//!
//! # Source
//! Weft's authors designed the policy. The problem is that of Kim et al., "TCEP", ISCA 2018, Section VI-A. The lower bound of that paper
//! (Fig. 12) assumes that all links that are on carry the same load. TCEP orders the routers of a subnetwork, beginning with the hub. It
//! first switches off links between the routers at the end of this order. Therefore the remaining links between routers at its beginning
//! carry little. The planner of `fewest_links` uses the whole matrix of traffic.
//! # Parameters
//! `high_water`: target utilisation of links, between 0 and 1. In the planned network, random packets of one flit wait as long, on average,
//! as if all channels had this utilisation. The planner gives no channel a load above the mean of this value and 1. If flits come together
//! (long packets, bursts), the planner gives links less load. Then the wait of a packet, divided by its time without waiting, is the same
//! as for random packets of one flit. `activation_epoch` \[time\]: time between two checks for surges of traffic. `deactivation_epoch`
//! \[time\]: the planner measures the traffic matrix over this time, and then makes a new plan. `wake` \[time\]: time that a link needs
//! from off to on. `initial`: links that are on in cycle 0. `hub`: the member whose links to all others stay on.
//! # Guarantees
//! The star around the hub is always on. Therefore any two members are joined by a link, or by a path over one other member. At the end of
//! a deactivation epoch, the planner searches several families of sets of links (`plan.rs`). It takes the smallest set that carries the
//! traffic of the last epochs. The planner changes to this set if the present links are too few for the traffic. The planner also changes
//! to this set if it saves at least a hundredth of all links, and at least one link. If the traffic of an epoch has risen by more than
//! random variation explains, the planner uses only the traffic of this epoch. A mean with the earlier, lower traffic would give too few
//! links. The rise is more than random variation if it exceeds both four standard deviations and a twentieth of the traffic before. If f
//! flits come together, these limits are multiplied by f / 2. With packets of 40 flits the factor is 20, so the second limit is 20
//! twentieths: the traffic must double. A surge is an activation epoch whose traffic exceeds the usual traffic by more than four standard
//! deviations and by more than a twentieth. After a surge, and after every activation epoch before the first plan, the planner adds links
//! at once. If the traffic in a deactivation epoch surged by f / 2 times these limits, the planner removes no links at the end of this
//! epoch. The new links of a plan are on after the time `wake`. Only then the links outside the plan drain, and the next change can begin.
//! No new packet takes a draining link. A draining link goes dark at the end of an activation epoch in which its buffers are empty and all
//! credits have returned. If the planner needs a draining link again, the link is on at once.
//! # Not modelled
//! The time and the flits of reports to the planner and of its orders. The reports of a subnetwork of R routers would contain R (R - 1)
//! counters of 32 bits per epoch. Failed links: Weft refuses faults together with routings that depend on the states of links. The time for
//! which a real planner would compute: it grows faster than R^4. Weft computes a plan in 0.7, 16, 340 and 8,200 million instructions for R
//! = 8, 16, 32 and 64 (uniform traffic at load 0.2). With the default epochs and R terminals per router, plans take 0.4, 1.3, 6 and 14 % of
//! the time of a simulation of RxR routers.
//! # Validation
//! `fewest_links/plan.rs` compares sets of links with sums by hand. With exactly uniform traffic and `high_water` 0.96, the share of links
//! on exceeds the lower bound of TCEP's Fig. 12 by at most 0.06, at ten loads. Another test checks that a lower `high_water` never gives
//! fewer links. `engine/src/run/tests/fewest_links_planner.rs` compares the measured matrix, the sizes of bursts and the target
//! utilisations with sums by hand. `engine/tests/fewest_links.rs` compares the links that are on, and accepted loads, with those of TCEP.
//! It also checks which links are on in a surge, and after a rise and a fall of the load. Another test there checks that the traffic
//! between two routers arrives even if it exceeds the capacity of their link. Conformance tests on every legal topology check conservation
//! of flits, determinism and checkpoints. No test compares this policy with another simulator, because no other simulator has it.
//! `experiments/2018-kim-tcep/README.md` compares the policy with TCEP. The first comparison is for 32 routers under uniform traffic, with
//! `high_water` 0.92. The share of links that are on is 0.028 to 0.074 above the lower bound (TCEP: 0.028 to 0.122). The packet latency is
//! between 2 % lower and 27 % higher than with TCEP. With a `high_water` that gives TCEP's latency, `fewest_links` misses our goal of at
//! most 0.06 above the bound. On 8x8 routers with the same `high_water`, `fewest_links` needs at most as many links as TCEP. The exception
//! is bit reversal at loads above those that the network accepts. If both policies give the same latency, `fewest_links` needs as many
//! links as TCEP under uniform traffic, fewer under tornado, and more under bit reversal.

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

/// In every subnetwork, a planner searches for the smallest set of links that carries the traffic between the members (routers). Only these
/// links stay on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FewestLinks {
    /// Target utilisation of links: on average, packets of one flit wait as long as if all channels had this utilisation.
    #[serde(default = "high_water")]
    pub high_water: f64,
    /// Time between two checks for surges of traffic.
    #[serde(default = "thousand")]
    pub activation_epoch: Time,
    /// Time over which the planner measures traffic before it makes a new plan. A multiple of `activation_epoch`.
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
        // epochs and wake times are short, so that the policy changes links within a test
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
