//! TCEP consolidates traffic on few links and switches the other links off. The two routers of a link exchange requests and answers to
//! agree on changes of the link. Each router begins at most one change per epoch.
//!
//! # Source
//! Kim et al., "TCEP: Traffic Consolidation for Energy-Proportional High-Radix Networks", ISCA 2018, Section IV. Where the paper leaves a
//! choice open, the choice is a parameter, or "Choices" below names it.
//! # Parameters
//! `hub`: member of every subnetwork whose links to all others (the star) are never switched off. `high_water`: U_hwm, the utilisation that
//! a link should not exceed \[share of a link\]. `activation_epoch` \[time\]: time between decisions to switch links on.
//! `deactivation_epoch` \[time\]: time between decisions to switch links off. `wake` \[time\]: time from the agreement until a link carries
//! flits. `shadow`: time for which a deactivated link stays ready before it goes off. `initial`: links that are on in cycle 0. `algorithm`:
//! form of Algorithm 1 of the paper. `spares`: rule for the links that a router may switch off. The rule `even` is ours, not the paper's.
//! It applies if a router sends at least the demand `from` \[flits/cycle to each other member\]. It fills links up to the utilisation
//! `target` (see `spares.rs`). `utilisation`: direction of a link whose utilisation counts. `guard`: whether the link that was activated
//! last stays on while an inner link (which Algorithm 1 keeps on) is above half the high-water mark. `deactivate`: whether links are
//! switched off at all. `phase`: whether the epochs of all routers end together, or each in a random cycle. `tables`: how other routers
//! learn of a new state of a link. `rotate_hub` \[deactivation epochs\]: time after which the next member becomes the hub (0: never).
//! # Guarantees
//! The stars stay on. Therefore every router can reach every other router in every cycle. A router begins at most one physical transition
//! (waking, going off) per activation epoch, and has at most one shadow link. A link goes dark only when both ends are drained: no packet
//! requests the link or holds its VCs, and all credits have returned. Therefore no packet is lost, and a dark channel carries nothing. With
//! `deactivate: false` and `initial: all_on`, results with a fixed warm-up are those of `always_on` to the last bit.
//! # Choices
//! A router judges all requests of an epoch at the end of the epoch. It judges requests for deactivations at the ends of deactivation
//! epochs, after those for activations. The best request for an activation is the one with the highest virtual utilisation (traffic on
//! detours because the link is off). Of equal requests, that of the router with the lowest number is the best. A router whose own request
//! for an activation has no answer yet agrees only to a better request. A router may agree even if it has requested to deactivate another
//! link. If both ends of a link request the same change, one of the two requests is void, and the other is agreed to and answered. If a
//! router cannot carry out an agreed change any more, it withdraws. A router requests another path to a member if packets to it took
//! detours over a crowded link. A link is crowded if it was above the high-water mark in the last epoch. If there are several such members,
//! it requests a path to the first one of the epoch. A shadow link whose time `shadow` is over goes off at the end of an epoch. It is the
//! first epoch at whose end the router begins no other change, and waits for no answer to a request to activate a link. Of the two ends of
//! a link, the router with the lower member number sends the link's new state to the other members. Control packets are single flits on a
//! separate VC with strict priority. They overtake data flits that wait for a link, one per cycle and link. Control packets go directly to
//! the receiver or over the hub. If both paths are cut, control packets go over any other member. Credits, and the messages "drained" and
//! "awake", travel on the side channel of the link.
//!
//! While an end of a link drains, its agent tests every 4 cycles whether the end has drained. The cycle loop does not report this to the
//! agent, for two reasons. First, the last event before the end has drained can be a credit, a withdrawn request or a departing flit. The
//! cycle loop would have to test each credit, even in networks without TCEP. Second, with a report, links would go off up to 3 cycles
//! earlier, and results would change.
//! # Not modelled
//! Limited buffers for control flits: they wait for their link in a queue without a limit. Conflicts between control flits in the crossbar.
//! A delay of one cycle for data flits that already wait for the link of a control flit: only flits that arrive later are delayed. Supply
//! droop, and clock recovery beyond the wake-up delay.
//! # Validation
//! `engine/tests/tcep.rs` checks the number of links that are on at minimum power, and the latency with these links. In its tests on rows
//! of three and four routers, each kind of message occurs at least once. If no link is switched, results are those of `always_on`. If the
//! load changes in random steps, no packet is lost, and all routers stay connected. Results are the same for any number of blocks.
//! `power/tcep/link_model.rs` explores all orders of messages between the two ends of a link. `power/tcep/partition.rs` checks the example
//! of the paper's Fig. 6.

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

/// Consolidates traffic on few links and switches the other links off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tcep {
    /// Index of the member of every subnetwork that is the centre of its star.
    #[serde(default)]
    pub hub: u8,
    /// U_hwm: the utilisation that a link should not exceed, between 0 and 1.
    #[serde(default = "high_water")]
    pub high_water: f64,
    /// Time between two decisions of a router about links to activate: it answers the requests of other routers, and sends its own.
    #[serde(default = "thousand")]
    pub activation_epoch: Time,
    /// Time between two decisions of a router about links to deactivate: it answers the requests of other routers, and sends its own. A
    /// multiple of the activation epoch.
    #[serde(default = "ten_thousand")]
    pub deactivation_epoch: Time,
    /// Time from the agreement to activate a link until the link carries flits.
    #[serde(default = "thousand")]
    pub wake: Time,
    /// Time for which a deactivated link stays ready (`shadow`) before it goes off.
    #[serde(default)]
    pub shadow: Shadow,
    /// Links that are on in cycle 0.
    #[serde(default)]
    pub initial: Initial,
    /// Form of Algorithm 1 of the paper.
    #[serde(default)]
    pub algorithm: Algorithm,
    /// Rule for the links that a router may switch off.
    #[serde(default)]
    pub spares: Spares,
    /// Direction of a link whose utilisation counts.
    #[serde(default)]
    pub utilisation: Direction,
    /// Whether the link that was activated last stays on while an inner link (which Algorithm 1 keeps on) is above half the high-water
    /// mark.
    #[serde(default = "yes")]
    pub guard: bool,
    /// Whether links are switched off at all.
    #[serde(default = "yes")]
    pub deactivate: bool,
    /// Whether the epochs of all routers end together, or each in a random cycle.
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

/// Rule for the links that a router requests to switch off, or agrees to switch off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Spares {
    /// Outer links, according to Algorithm 1 of the paper.
    Outer {},
    /// A rule of Weft, not of the paper. At high demand, any link may go off if the other links of the router, with its traffic, stay below
    /// the mean utilisation `target`. The link with the least traffic goes off first. At a demand below `from`, the rule `outer` applies.
    Even {
        /// Demand from which the rule for high demand applies: flits per cycle that a router sends to each other member, on average over
        /// the members. Above 0.
        #[serde(default = "from")]
        from: f64,
        /// Highest mean utilisation of the links that stay on, between 0 and 1.
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

/// The channel whose utilisation counts as the utilisation of its link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Of the two channels of the link, the one that carries more flits.
    #[default]
    Larger,
    /// The channel on which the router sends that makes the decision.
    Outgoing,
}

/// The cycles in which epochs end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The epochs of all routers end in the same cycle.
    #[default]
    Together,
    /// The first activation epoch of each router ends in a random cycle, at most one epoch after the beginning of the run.
    Random,
}

/// How routers learn of the states of links that do not end at them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tables {
    /// A router sends a control packet to each other member of the subnetwork.
    #[default]
    Broadcast,
    /// The other routers know the new state after two link latencies, without control packets.
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

/// The parameters of the policy in cycles, and the subnetworks that it manages.
#[derive(Debug)]
struct Rules {
    config: Tcep,
    nets: Subnets,
    /// Indices of the subnetworks whose links the policy manages.
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
/// Largest number of cycles of an epoch or a delay.
const MAX_CYCLES: u64 = 1 << 30;

impl PolicyModel for Tcep {
    fn states(&self, _: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(vec![LinkState::On, LinkState::Shadow, LinkState::Draining, LinkState::Off, LinkState::Waking])
    }

    fn stays_on(&self) -> bool {
        !self.deactivate && self.initial == Initial::AllOn
    }

    /// Returns zero if all links are on from the beginning and no link goes off, because the policy then makes no decision.
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
        // epochs and wake times are short, so that the policy switches links within a test
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
        // requests and answers can take the path over the hub, and must arrive within an epoch
        let links = nets.classes[..nets.count].iter().map(|&class| site.latencies[usize::from(class)]);
        // on each link, requests and answers can also wait for the packets of a broadcast
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

/// The policy built for one network. The agents of all blocks share its rules.
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
        // `queue` is high, because several broadcasts for each member of the subnetwork can wait for one link
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
