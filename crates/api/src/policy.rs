//! Power policies of links: the interface that the engine calls. `agents.rs` has the interface of agents.

use crate::agents::{Agents, BlockSite, Overseer};
use crate::state::rate::Rate;
use crate::state::{LinkState, Modes};
use std::fmt::Debug;
use std::sync::Arc;
use weft_topology::{Graph, Peer};
use weft_units::{Cycles, LinkClasses, Refusal, Remark};

/// Kinds of information about dark links that a policy can offer. A policy offers one kind, and a routing declares all kinds that it can
/// use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LinkKnowledge {
    /// No information.
    #[default]
    Nothing,
    /// Each router knows which links of its subnetworks are on (`subnetworks.rs`).
    Subnetworks,
    /// The policy switches links on and off by stages. Routings receive the number of stages that are on at present.
    Stages,
    /// The policy switches links of a tree on and off by levels. Routings receive for each level the number of upward links in use
    /// (`widths.rs`).
    Widths,
}

impl LinkKnowledge {
    /// The kind in words, for messages to the user.
    pub fn words(self) -> &'static str {
        match self {
            Self::Nothing => "no link states",
            Self::Subnetworks => "the links that are on in its subnetworks",
            Self::Stages => "the stages that are on",
            Self::Widths => "the up links that each level of a tree uses",
        }
    }
}

/// The offers of a policy: information and guarantees for routings, and its abilities in networks with faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offers {
    /// The kind of information about links that routings receive.
    pub links: LinkKnowledge,
    /// A packet that meets a dark link waits until the link is on again. The link wakes because of the packet, or at a fixed time. A
    /// routing that avoids dark links is not compatible with such a policy.
    pub packets_wait_for_links: bool,
    /// In every cycle, each neighbour is reachable over a link that carries packets. For this, one link of each trunk stays on, or links
    /// switch only to modes of a lower rate. Therefore no packet waits for a link, and routings need no information about links.
    pub always_carries: bool,
    /// If links or routers have failed, the policy switches other links on to replace them.
    pub replaces_failed_links: bool,
    /// Names of the kinds of control packets that the policy's agents may send.
    pub control_packets: &'static [&'static str],
    /// The parameters with which this policy leaves all links on, in the form of a scenario. `None` if no parameters have this effect, or
    /// if the policy never switches a link.
    pub all_on: Option<&'static str>,
}

impl Offers {
    /// The offers of a policy that never switches a link off.
    pub const ALWAYS_ON: Self = Self {
        links: LinkKnowledge::Nothing,
        packets_wait_for_links: false,
        always_carries: false,
        replaces_failed_links: false,
        control_packets: &[],
        all_on: None,
    };

    /// Whether the policy is compatible with a routing that can use the kinds of information `known`. A policy is compatible if `known`
    /// contains the kind it offers, or if it never switches links off.
    pub fn suit(&self, known: &[LinkKnowledge]) -> bool {
        known.contains(&self.links) || self.links == LinkKnowledge::Nothing && !self.packets_wait_for_links
    }
}

/// Properties of the network for which a policy is built.
pub struct Site<'a> {
    pub graph: &'a Graph,
    /// Computes the coordinates of each router, on topologies that have coordinates.
    pub coords: fn(&Graph) -> Vec<u64>,
    /// For each link class, whether the policy manages its links.
    pub managed: &'a [bool],
    /// For each link class, the latency of a flit and the latency of a credit.
    pub latencies: &'a [(Cycles, Cycles)],
    /// Number of cycles that a head flit spends in a router.
    pub router_delay: Cycles,
    /// Full rate [flits/cycle] of each link class.
    pub rates: &'a [Rate],
    /// For each link class, the capacity [flits] of the buffer at the end of a channel, over all VCs.
    pub rooms: &'a [u64],
    pub cycle_fs: u128,
    /// Size of a flit [bits].
    pub flit_bits: u64,
    /// The modes (link states) that channels can have in this run.
    pub modes: &'a Modes,
}

impl Site<'_> {
    pub fn coords(&self) -> Vec<u64> {
        (self.coords)(self.graph)
    }

    /// The channels between routers, in the order of their numbers.
    pub fn channels(&self) -> impl Iterator<Item = NetworkChannel> {
        (0..self.graph.routers()).flat_map(move |router| {
            let ports = (self.graph.port_base(router)..).zip(self.graph.ports(router));
            ports.filter_map(move |(number, port)| match port.peer {
                Peer::Router { router: to, port: to_port } => {
                    Some(NetworkChannel { number, from: router, to: (to, to_port), class: port.class })
                }
                Peer::Terminal(_) | Peer::Unused => None,
            })
        })
    }

    /// The name of the link class with this number.
    pub fn class_name(&self, class: usize) -> &str {
        &self.graph.class_names()[class]
    }

    /// The managed link classes that `named` lists, without repetition; all managed classes if `named` is `None`. Refuses names of other
    /// link classes, with `path` as the place of the fault.
    pub fn managed_classes(&self, named: Option<&LinkClasses>, path: &str) -> Result<Vec<usize>, Refusal> {
        let names = self.graph.class_names();
        let managed: Vec<usize> = (0..names.len()).filter(|&class| self.managed[class]).collect();
        if managed.is_empty() {
            let what = "the policy has no link to switch, because it manages no link class";
            return Err(Refusal::new("power.manages", what, "name a link class"));
        }
        let Some(named) = named.filter(|named| !named.has_all()) else { return Ok(managed) };
        let valid = managed.iter().map(|&class| names[class].as_str()).collect::<Vec<_>>().join(", ");
        let refuse = |what: String, help: String| Err(Refusal::new(path, what, help));
        if named.0.is_empty() {
            return refuse(
                "no link class is named".into(),
                format!("leave this key out for all link classes, or name some of: {valid}"),
            );
        }
        let mut numbers = Vec::new();
        for name in &named.0 {
            match names.iter().position(|other| other == name) {
                None => {
                    return refuse(
                        format!("the topology has no link class `{name}`"),
                        format!("write one of: {valid}"),
                    );
                }
                Some(class) if !self.managed[class] => {
                    let what =
                        format!("the policy does not manage {name}, because power.manages does not list this class");
                    return refuse(what, format!("add {name} to power.manages, or write one of: {valid}"));
                }
                Some(class) if numbers.contains(&class) => {}
                Some(class) => numbers.push(class),
            }
        }
        Ok(numbers)
    }
}

/// A channel between two routers. Its numbers are valid in the whole network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkChannel {
    /// The number by which an overseer identifies the channel.
    pub number: u32,
    pub from: u32,
    /// The router and the port at the far end of the channel.
    pub to: (u32, u16),
    /// Number of the channel's link class; [`Site::class_name`] returns its name.
    pub class: u8,
}

/// Actions that a policy takes at fixed times, independent of the traffic. The schedule of a policy that follows the traffic is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Period [cycles] after which all actions of the policy repeat; `None` if they do not repeat.
    pub period: Option<Cycles>,
    /// Spans of cycles in which links are off, each once in a run.
    pub once: Vec<OffTime>,
}

/// A span of cycles in which links are off. `path` names the parameters of the policy that set the span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffTime {
    pub path: String,
    pub from: Cycles,
    pub until: Cycles,
}

/// The configuration of a power policy. Each policy also declares the constant `OFFERS`, which does not depend on the policy's parameters.
pub trait PolicyModel {
    /// The link states (modes) in which a channel can be under this policy, chosen from `modes`, the table of the run. The power model must
    /// define the power of each returned state. Refuses modes that the policy's parameters name but the table does not contain.
    fn states(&self, modes: &Modes) -> Result<Vec<LinkState>, Refusal>;

    /// A time [cycles] in which the policy takes each of its decisions at least once. Power states that were constant for a shorter time
    /// have not necessarily settled. `None` if no state has to settle: the policy never switches a channel during a run, or switches only
    /// at known times that do not repeat. The method has no default: for a policy that does not implement it, the engine would start the
    /// measurement before the links have settled.
    fn settling_period(&self, graph: &Graph, modes: &Modes, cycle_fs: u128) -> Result<Option<Cycles>, Refusal>;

    /// Whether all working links are on in every cycle with the policy's parameters. By default this is true only for policies whose only
    /// state is `on`.
    fn stays_on(&self) -> bool {
        self.states(&Modes::default()).is_ok_and(|states| states == [LinkState::On])
    }

    /// The actions that the policy takes at fixed times. By default the policy takes no actions at fixed times.
    fn schedule(&self, _cycle_fs: u128) -> Result<Schedule, Refusal> {
        Ok(Schedule::default())
    }

    /// The longest time [cycles] for which a packet waits for one link only because the link is off. By default this is 0: all waits count
    /// as queueing, and none is attributed to the policy.
    fn longest_wait(&self, _cycle_fs: u128) -> Result<Cycles, Refusal> {
        Ok(0)
    }

    /// A warning about valid but risky parameters. The path of the returned remark names the parameter.
    fn risk(&self, _cycle_fs: u128) -> Result<Option<Remark>, Refusal> {
        Ok(None)
    }

    /// The number that the overseer publishes in cycle 0, such as the number of stages that are on; `None` if it publishes nothing. The
    /// engine calls this method for every network, even for networks that `build` refuses.
    fn first_published(&self, _site: &Site) -> Option<u64> {
        None
    }

    /// Refuses parameters that do not work in networks with faults.
    fn check_faults(&self) -> Result<(), Refusal> {
        Ok(())
    }

    /// Builds the policy for the network that `site` describes. Refuses parameters and networks with which the policy cannot work.
    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal>;

    /// Configurations for tests that differ in behaviour, and that switch links off and on within 4,000 cycles of 1 ns. Tests run each
    /// example with the examples of all routings that are compatible with the policy.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

/// A policy built for one network.
pub trait Policy: Debug + Send + Sync {
    /// State in cycle 0 of the link between routers `a` and `b`. Called only for links of classes that the policy manages.
    fn first_state(&self, _a: u32, _b: u32) -> LinkState {
        LinkState::On
    }

    /// Member number of the hub in every subnetwork. If the policy keeps only a star of links on in a subnetwork, the hub is the centre of
    /// this star.
    fn hub(&self) -> u8 {
        0
    }

    /// Whether the policy switches all links on when the network is full, whatever their first states are.
    fn fills_up(&self) -> bool {
        false
    }

    /// The control packets that the policy's agents send; `None` if they send none.
    fn control(&self) -> Option<ControlPlan> {
        None
    }

    /// The agents of the policy in one block; `None` if the policy has no agents.
    fn agents(&self, _site: &BlockSite) -> Option<Box<dyn Agents>> {
        None
    }

    /// The overseer of the policy, which acts on the whole network between two cycles; `None` if there is none.
    fn overseer(&self, _site: &Site) -> Option<Box<dyn Overseer>> {
        None
    }
}

/// The control packets of a policy, and limits for them.
#[derive(Debug, Clone, Copy)]
pub struct ControlPlan {
    /// Names of the kinds of control packets, for results.
    pub kinds: &'static [&'static str],
    /// Maximum number of control packets that wait for one link.
    pub queue: u64,
    /// Number of control packets in flight to one router for which memory is reserved. If more are in flight, memory is allocated.
    pub per_router: usize,
}
