//! Link power policies: the interface that the engine calls. The calls and actions of agents are in `agents.rs`.

use crate::agents::{Agents, BlockSite, Overseer};
use crate::state::rate::Rate;
use crate::state::{LinkState, Modes};
use std::fmt::Debug;
use std::sync::Arc;
use weft_topology::{Graph, Peer};
use weft_units::{Cycles, LinkClasses, Refusal, Remark};

/// Kinds of information about links that are off. A policy offers one of these kinds, and a routing uses it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LinkKnowledge {
    /// No information.
    #[default]
    Nothing,
    /// Each router knows for its subnetworks which links are on (`subnetworks.rs`).
    Subnetworks,
    /// Links are switched on and off by stages. Routings receive the number of stages that are on.
    Stages,
    /// Links of a tree are switched on and off by levels. Routings receive for each level the number of links up in use (`widths.rs`).
    Widths,
}

impl LinkKnowledge {
    /// The kind in words, for messages.
    pub fn words(self) -> &'static str {
        match self {
            Self::Nothing => "no link states",
            Self::Subnetworks => "the links that are on in its subnetworks",
            Self::Stages => "the stages that are on",
            Self::Widths => "the up links that each level of a tree uses",
        }
    }
}

/// The offers of a policy to routings, and for faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offers {
    /// The information about links that routings receive.
    pub links: LinkKnowledge,
    /// A packet that meets a dark link waits until the link is on again. The link wakes because of the packet, or at a fixed time. A
    /// routing that avoids dark links needs another policy.
    pub packets_wait_for_links: bool,
    /// In every cycle each neighbour is reachable over a link that carries packets: a member of each trunk stays on, or links stay on at a
    /// lower rate. Therefore no packet waits for a link, and routings need no information about links.
    pub always_carries: bool,
    /// The policy switches other links on if links or routers have failed.
    pub replaces_failed_links: bool,
    /// Names of the kinds of control packets that its agents may send.
    pub control_packets: &'static [&'static str],
    /// Parameters, as a scenario writes them, with which a policy that can switch links leaves all links on. `None` if the policy has no
    /// such parameters, or never switches a link.
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

    /// Whether the policy is compatible with a routing that can use these kinds of information. A policy is compatible if it offers one of
    /// these kinds, or if links are never switched off.
    pub fn suit(&self, known: &[LinkKnowledge]) -> bool {
        known.contains(&self.links) || self.links == LinkKnowledge::Nothing && !self.packets_wait_for_links
    }
}

/// The network for which a policy is built.
pub struct Site<'a> {
    pub graph: &'a Graph,
    /// Computes the coordinates of each router, on topologies with coordinates.
    pub coords: fn(&Graph) -> Vec<u64>,
    /// Whether the policy manages each link class.
    pub managed: &'a [bool],
    /// Latency of a flit and latency of a credit, for each link class.
    pub latencies: &'a [(Cycles, Cycles)],
    /// Number of cycles that a head flit spends in a router.
    pub router_delay: Cycles,
    /// Full rate [flits/cycle] of each link class.
    pub rates: &'a [Rate],
    /// Capacity [flits] of the buffer behind a channel of each link class, all VCs together.
    pub rooms: &'a [u64],
    pub cycle_fs: u128,
    /// Size of a flit [bits].
    pub flit_bits: u64,
    /// The modes of the channels.
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

    /// The name of a link class.
    pub fn class_name(&self, class: usize) -> &str {
        &self.graph.class_names()[class]
    }

    /// The managed link classes that `named` lists, without repetition; all managed classes if `named` is `None`. Names of other classes
    /// are refused with the path `path`.
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

/// A channel between two routers, with numbers that are valid in the whole network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkChannel {
    /// The number that an overseer uses for it.
    pub number: u32,
    pub from: u32,
    /// The router and the port at the far end of the channel.
    pub to: (u32, u16),
    /// Number of the link class, whose name is [`Site::class_name`].
    pub class: u8,
}

/// Actions of a policy at fixed times, independent of the traffic. The schedule is empty if the policy follows the traffic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Period [cycles] after which all actions of the policy repeat; `None` if they do not repeat.
    pub period: Option<Cycles>,
    /// Actions that occur once in a run.
    pub once: Vec<OffTime>,
}

/// A span in which links are off, from one cycle to another. The path names the parameters that set the span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffTime {
    pub path: String,
    pub from: Cycles,
    pub until: Cycles,
}

/// The configuration of a policy. Each policy also declares the constant `OFFERS`: its offers, which do not depend on parameters.
pub trait PolicyModel {
    /// The states that a channel can have, from the table `modes` of the run. The power model must define the power of each state. Refuses
    /// modes that are not in the table.
    fn states(&self, modes: &Modes) -> Result<Vec<LinkState>, Refusal>;

    /// A number of cycles in which the policy takes each of its decisions at least once. Power states that have been constant for a shorter
    /// time may still change. `None` if nothing has to settle: the policy never switches a channel during a run, or switches only at times
    /// that are known from cycle 0 and do not repeat. The method has no default, because a policy that forgets it would be measured before
    /// its links have settled.
    fn settling_period(&self, graph: &Graph, modes: &Modes, cycle_fs: u128) -> Result<Option<Cycles>, Refusal>;

    /// Whether all links that do not fail are on in every cycle, with these parameters. By default this is true only for policies that use
    /// no other states.
    fn stays_on(&self) -> bool {
        self.states(&Modes::default()).is_ok_and(|states| states == [LinkState::On])
    }

    /// The actions that the policy takes at fixed times. By default there are none.
    fn schedule(&self, _cycle_fs: u128) -> Result<Schedule, Refusal> {
        Ok(Schedule::default())
    }

    /// The longest time that a packet waits for one link only because the link is off. By default no wait is attributed to the policy: all
    /// waiting counts as queueing.
    fn longest_wait(&self, _cycle_fs: u128) -> Result<Cycles, Refusal> {
        Ok(0)
    }

    /// A warning about parameters that are accepted but risky. The path of the remark is that of the parameter.
    fn risk(&self, _cycle_fs: u128) -> Result<Option<Remark>, Refusal> {
        Ok(None)
    }

    /// The number that the overseer has published in cycle 0, such as the number of stages that are on; `None` if it publishes nothing. The
    /// method is called for every network, even for a network that `build` refuses.
    fn first_published(&self, _site: &Site) -> Option<u64> {
        None
    }

    /// Refuses parameters that are incompatible with faults.
    fn check_faults(&self) -> Result<(), Refusal> {
        Ok(())
    }

    /// Builds the policy for a network with these properties. Refuses parameters and networks with which the policy cannot work.
    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal>;

    /// Configurations that differ in behaviour, and that switch links off and on within 4,000 cycles of 1 ns. Tests run all examples, with
    /// the examples of all routings that are compatible with the policy.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

/// A policy built for one network.
pub trait Policy: Debug + Send + Sync {
    /// State in cycle 0 of the link between two neighbouring routers, if the policy manages its class.
    fn first_state(&self, _a: u32, _b: u32) -> LinkState {
        LinkState::On
    }

    /// The member of every subnetwork that has links to all other members.
    fn hub(&self) -> u8 {
        0
    }

    /// Whether all links are on when the network is full, independent of their first states.
    fn fills_up(&self) -> bool {
        false
    }

    /// The control packets that its agents send; `None` if they send none.
    fn control(&self) -> Option<ControlPlan> {
        None
    }

    /// The agents that act on the channels of a block; `None` if there are none.
    fn agents(&self, _site: &BlockSite) -> Option<Box<dyn Agents>> {
        None
    }

    /// The overseer, which acts on the whole network between two cycles; `None` if there is none.
    fn overseer(&self, _site: &Site) -> Option<Box<dyn Overseer>> {
        None
    }
}

/// Control packets of a policy.
#[derive(Debug, Clone, Copy)]
pub struct ControlPlan {
    /// Names of the kinds of packets, in results.
    pub kinds: &'static [&'static str],
    /// The most packets that may wait for one link.
    pub queue: u64,
    /// Number of packets in flight to each router at once for which memory is reserved; further memory is allocated when needed.
    pub per_router: usize,
}
