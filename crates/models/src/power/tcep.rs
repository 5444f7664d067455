//! TCEP: consolidates traffic on few links and switches the others off. Neighbouring routers agree on links by requests; each
//! router switches one link per epoch.
//!
//! # Source
//! Kim et al., "TCEP: Traffic Consolidation for Energy-Proportional High-Radix Networks", ISCA 2018, Section IV. Gaps of the paper
//! are parameters, or are named here.
//! # Parameters
//! `hub`: member of every subnetwork whose star is never switched off. `high_water`: U_hwm \[share of a link\]. `activation_epoch`,
//! `deactivation_epoch`, `wake` \[time\]. `shadow`: time for which a link stays ready before it goes off. `initial`: links that are on in
//! cycle 0. `algorithm`: form of Algorithm 1. `spares`: the links that a router may switch off. `even` is ours, not the paper's. It
//! applies from the demand `from` \[flits/cycle to each other member\] on, and fills links up to the share `target` (see `spares.rs`).
//! `utilisation`: the direction of a link that counts. `guard`: whether the link that was activated last stays on while an inner link
//! is above half the high-water mark. `deactivate`: whether links are switched off at all. `phase`: whether the epochs of all routers
//! begin together, or each in a random cycle. `tables`: way in which other routers learn of a new state. `rotate_hub` \[deactivation
//! epochs\]: time after which the next member becomes the hub (0: never).
//! # Guarantees
//! The stars stay on, so every router can reach every other router in every cycle. A router begins at most one physical transition
//! (waking, going off) per activation epoch, and has at most one shadow link. A link goes dark only when both ends are drained: no
//! packet waits for it, no VC is held, and all credits have returned. So nothing is lost, and a dark channel carries nothing. With
//! `deactivate: false` and `initial: all_on` results of a fixed warm-up are those of `always_on` to the last bit.
//! # Choices
//! A request that arrives in an epoch is judged at the end of the epoch. Deactivations are judged at ends of deactivation epochs, after
//! activations. The best request is the one with the highest virtual utilisation, and among equal ones that of the router with the lower
//! number. A router that waits for the activation of its own link agrees only to a better request. A waiting router may agree although it
//! wants to deactivate another link itself. If both ends of a link request the same, one request is void. If one of two equal requests is
//! void, the other request is answered like every request. If a router cannot carry out an agreement, it withdraws. When a packet takes a
//! detour over a link, the link counts as above the high-water mark if it was above the mark in the last epoch. If a router must request
//! another path to several members, it chooses the first destination of the epoch. A shadow link goes off at the first end of an epoch at
//! which its router begins nothing else and has no request without an answer. The lower end of a link sends a new state to the other
//! members. Control packets are single flits on a separate VC with strict priority. Control packets overtake data flits that wait for a
//! link, one per cycle and link. Control packets go directly or over the hub (over any other member if both are cut). Credits, and the
//! messages "drained" and "awake", travel on the side channel of the link.
//!
//! An end that drains tests every 4 cycles whether it has drained. The loop has no event for this, for two reasons. First, a
//! credit, a withdrawn request or a departing flit may be the last condition. The loop would have to test each credit of every
//! network. Second, an event would switch links off up to 3 cycles earlier, and results would change.
//! # Not modelled
//! The buffers of control flits: a control flit waits for its link without a limit. Conflicts of control flits in the crossbar. The
//! cycle by which a control flit delays flits that already wait for its link (later flits do wait). Supply droop. Clock recovery
//! beyond the wake-up delay.
//! # Validation
//! `engine/tests/tcep.rs`: least power and latency at least power; every message once on networks of two to four routers; the same
//! results as always-on if nothing is switched; connected in every cycle; nothing lost over random load steps; the same results on
//! any number of blocks. `power/tcep/link_model.rs`: all orders of messages between two ends. `power/tcep/partition.rs`: Fig. 6.

mod activation;
mod agent;
mod answers;
mod channel;
mod deactivation;
mod duties;
mod epoch;
mod hub;
mod link;
mod message;
mod meters;
pub mod partition;
mod repair;
mod spares;

use crate::power::stars::Initial;
use agent::Team;
use message::Kind;
use partition::Algorithm;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::agents::{Agents, BlockSite};
use weft_api::examples::written;
use weft_api::policy::{ControlPlan, LinkKnowledge, Offers, Policy, PolicyModel, Site};
use weft_api::state::{LinkState, Modes};
use weft_api::subnetworks::Subnets;
use weft_api::switching::DrainFirst;
use weft_topology::Graph;
use weft_units::{Cycles, Refusal, Time};

/// Consolidates traffic on few links and switches the others off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tcep {
    /// Member of every subnetwork at the centre of its star.
    #[serde(default)]
    pub hub: u8,
    /// U_hwm: the utilisation that a link should not exceed, between 0 and 1.
    #[serde(default = "high_water")]
    pub high_water: f64,
    /// How often routers judge requests to activate links, and send their own.
    #[serde(default = "thousand")]
    pub activation_epoch: Time,
    /// How often routers judge requests to deactivate links, and send their own: a multiple of the activation epoch.
    #[serde(default = "ten_thousand")]
    pub deactivation_epoch: Time,
    /// Time from the agreement until a link carries flits.
    #[serde(default = "thousand")]
    pub wake: Time,
    /// How long a deactivated link stays ready before it goes off.
    #[serde(default)]
    pub shadow: Shadow,
    /// Links that are on in cycle 0.
    #[serde(default)]
    pub initial: Initial,
    /// Form of Algorithm 1.
    #[serde(default)]
    pub algorithm: Algorithm,
    /// Rule for the links that a router may switch off.
    #[serde(default)]
    pub spares: Spares,
    /// Direction of a link whose utilisation counts.
    #[serde(default)]
    pub utilisation: Direction,
    /// Whether the link that was activated last stays on while an inner link is above half the high-water mark.
    #[serde(default = "yes")]
    pub guard: bool,
    /// Whether links are switched off at all.
    #[serde(default = "yes")]
    pub deactivate: bool,
    /// Whether the epochs of all routers end together.
    #[serde(default)]
    pub phase: Phase,
    /// How other routers learn of a new state of a link.
    #[serde(default)]
    pub tables: Tables,
    /// Number of deactivation epochs after which the next member becomes the hub; 0: never.
    #[serde(default)]
    pub rotate_hub: u32,
}

/// Time for which a link stays in the state `shadow`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shadow {
    ActivationEpoch,
    #[default]
    DeactivationEpoch,
}

/// The links that a router offers to switch off, or switches off on request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Spares {
    /// Outer links, by Algorithm 1.
    Outer {},
    /// Ours, not the paper's. If routers send much: any link may go off if its traffic would leave the other links of the router
    /// below a target on average. The link with the least traffic goes off first. Otherwise: outer links.
    Even {
        /// The rule for high demand applies from this demand on: flits per cycle that a router sends to another member on average, above 0.
        #[serde(default = "from")]
        from: f64,
        /// The mean utilisation that the links that stay on should not exceed, between 0 and 1.
        #[serde(default = "target")]
        target: f64,
    },
}

impl Default for Spares {
    fn default() -> Self {
        Self::Outer {}
    }
}

fn from() -> f64 {
    0.3
}

fn target() -> f64 {
    0.92
}

/// The channel whose utilisation counts as that of the link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The fuller of the link's two channels.
    #[default]
    Larger,
    /// The channel that the judging router sends on.
    Outgoing,
}

/// The cycles in which epochs end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The epochs of all routers end in the same cycle.
    #[default]
    Together,
    /// The epochs of each router begin in a random cycle of the first epoch.
    Random,
}

/// How routers learn of the states of links that are not theirs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tables {
    /// The router sends a control packet to each other member.
    #[default]
    Broadcast,
    /// Other routers learn the state after two link latencies, without packets.
    Delayed,
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

fn yes() -> bool {
    true
}

/// The parameters in cycles, and the subnetworks that are managed.
#[derive(Debug)]
struct Rules {
    config: Tcep,
    nets: Subnets,
    /// Subnetworks whose links are managed.
    managed: Vec<usize>,
    /// Coordinates of each router.
    coords: Vec<u64>,
    epoch: u64,
    /// Number of activation epochs in a deactivation epoch.
    ratio: u64,
    wake: u64,
    shadow: u64,
}

const PATH: &str = "power.policy.tcep";
const OFF: DrainFirst = DrainFirst::of(&Tcep::OFFERS);
/// Most cycles of an epoch or a delay.
const MAX_CYCLES: u64 = 1 << 30;

impl PolicyModel for Tcep {
    fn states(&self, _: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(vec![LinkState::On, LinkState::Shadow, LinkState::Draining, LinkState::Off, LinkState::Waking])
    }

    fn stays_on(&self) -> bool {
        !self.deactivate && self.initial == Initial::AllOn
    }

    /// No time if all links are on from the beginning and no link goes off, because then nothing is decided.
    fn settling_period(&self, _: &Graph, _: &Modes, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        if self.stays_on() {
            return Ok(Some(0));
        }
        self.deactivation_epoch.cycles(cycle_fs, &format!("{PATH}.deactivation_epoch")).map(Some)
    }

    fn check_faults(&self) -> Result<(), Refusal> {
        if self.rotate_hub > 0 {
            let what = format!("{}, but with faults the policy moves hubs by itself", self.rotate_hub);
            return Err(Refusal::new(format!("{PATH}.rotate_hub"), what, "write 0, or leave faults out"));
        }
        Ok(())
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        let nets = super::subnets_of(site, "tcep", PATH)?;
        super::check_hub(site, &nets, self.hub, PATH)?;
        self.check_shares()?;
        let cycles = |time: Time, key: &str| match time.cycles(site.cycle_fs, &format!("{PATH}.{key}"))? {
            cycles if cycles > MAX_CYCLES => {
                let what = format!("{cycles} cycles, more than {MAX_CYCLES}: Weft counts flits of an epoch in 32 bits");
                Err(Refusal::new(format!("{PATH}.{key}"), what, format!("write at most {MAX_CYCLES}cycles")))
            }
            cycles => Ok(cycles),
        };
        let epoch = cycles(self.activation_epoch, "activation_epoch")?;
        let long = cycles(self.deactivation_epoch, "deactivation_epoch")?;
        let wake = cycles(self.wake, "wake")?;
        self.check_epochs(site, &nets, [epoch, long, wake])?;
        Ok(Arc::new(Runtime(Arc::new(Rules {
            config: self.clone(),
            managed: super::managed_of(site, &nets).collect(),
            coords: site.coords(),
            epoch,
            ratio: long / epoch,
            wake,
            shadow: if self.shadow == Shadow::ActivationEpoch { epoch } else { long },
            nets,
        }))))
    }

    fn examples() -> Vec<Self> {
        // short epochs, and links that wake soon
        written(&[r#"{"activation_epoch": "250ns", "deactivation_epoch": "1000ns", "wake": "120ns"}"#])
    }
}

impl Tcep {
    pub(crate) const OFFERS: Offers = Offers {
        links: LinkKnowledge::Subnetworks,
        replaces_failed_links: true,
        control_packets: &Kind::NAMES,
        all_on: Some("{initial: all_on, deactivate: false}"),
        ..Offers::ALWAYS_ON
    };

    fn check_shares(&self) -> Result<(), Refusal> {
        super::check_high_water(self.high_water, PATH)?;
        if let Spares::Even { from, target } = self.spares {
            for (key, share) in [("from", from), ("target", target)] {
                if !(share > 0.0 && share < 1.0) {
                    let what = format!("{share} is not between 0 and 1");
                    let help = "write a share of a link, such as 0.3 for from and 0.92 for target";
                    return Err(Refusal::new(format!("{PATH}.spares.even.{key}"), what, help));
                }
            }
        }
        Ok(())
    }

    fn check_epochs(&self, site: &Site, nets: &Subnets, [epoch, long, wake]: [u64; 3]) -> Result<(), Refusal> {
        let refuse = |key: &str, what: String, help: String| Err(Refusal::new(format!("{PATH}.{key}"), what, help));
        if wake == 0 {
            return refuse("wake", "the wake-up delay is 0 cycles".into(), "write at least 1cycle".into());
        }
        if epoch < wake {
            let what = format!("{epoch} cycles are shorter than the wake-up delay of {wake} cycles");
            return refuse("activation_epoch", what, format!("write at least {wake}cycles, or a shorter wake"));
        }
        // requests and answers go over the hub, and must arrive within an epoch
        let links = nets.classes[..nets.count].iter().map(|&class| site.latencies[usize::from(class)]);
        // requests and answers may also wait for a broadcast on each link
        let queue = 2 * u64::from(nets.widest());
        let way = links.map(|(flit, credit)| 2 * (flit + site.router_delay) + credit + queue);
        let way = way.max().unwrap_or(0);
        if epoch < 4 * way {
            let what =
                format!("{epoch} cycles, but a request and its answer over the hub take up to {way} cycles each");
            return refuse("activation_epoch", what, format!("write at least {}cycles", 4 * way));
        }
        super::check_deactivation_epoch(long, epoch, PATH)
    }
}

/// The policy built for one network: the same rules for the agents of every block.
#[derive(Debug)]
struct Runtime(Arc<Rules>);

impl Policy for Runtime {
    fn first_state(&self, a: u32, b: u32) -> LinkState {
        let Rules { config, nets, coords, .. } = &*self.0;
        config.initial.state(nets, coords, config.hub, (a, b))
    }

    fn hub(&self) -> u8 {
        self.0.config.hub
    }

    fn fills_up(&self) -> bool {
        true
    }

    fn control(&self) -> Option<ControlPlan> {
        let widest = self.0.nets.widest();
        // for every member of a subnetwork, several broadcasts may wait for one link
        Some(ControlPlan {
            kinds: &Kind::NAMES,
            queue: 16 * u64::from(widest) + 64,
            per_router: 4 * usize::from(widest),
        })
    }

    fn agents(&self, site: &BlockSite) -> Option<Box<dyn Agents>> {
        Some(Box::new(Team::new(self.0.clone(), site)))
    }
}
