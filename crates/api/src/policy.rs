//! Link power policies: the interface that the engine calls. The calls and actions of agents are in `agents.rs`.

use crate::agents::{Agents, BlockSite, Overseer};
use crate::state::rate::Rate;
use crate::state::{LinkState, Modes};
use std::fmt::Debug;
use std::sync::Arc;
use weft_topology::{Graph, Peer};
use weft_units::{Cycles, LinkClasses, Refusal, Remark};

/// Kinds of knowledge about links that are off. A policy offers one of them, and a routing uses it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LinkKnowledge {
    /// Nothing.
    #[default]
    Nothing,
    /// Each router knows which links of its subnetworks are on (`subnetworks.rs`).
    Subnetworks,
    /// Links are switched on and off by stages. Routings receive the number of stages that are on.
    Stages,
    /// Links of a tree are switched on and off by levels. Routings receive the number of links up that each level uses
    /// (`widths.rs`).
    Widths,
}

impl LinkKnowledge {
    /// In words, for messages.
    pub fn words(self) -> &'static str {
        match self {
            Self::Nothing => "no link states",
            Self::Subnetworks => "the links that are on in its subnetworks",
            Self::Stages => "the stages that are on",
            Self::Widths => "the links up that each level of a tree uses",
        }
    }
}

/// Offers of a policy to routings and faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offers {
    /// Data about links for routings.
    pub links: LinkKnowledge,
    /// A packet that meets a dark link waits until the link is on again. The link wakes for the packet, or at a fixed
    /// time. A routing that avoids links needs another policy.
    pub packets_wait_for_links: bool,
    /// In every cycle some link to each neighbour carries packets: a member of each trunk stays on, or links stay on at
    /// a lower rate. So no packet waits for a link, and routings need no knowledge of links.
    pub always_carries: bool,
    /// It switches other links on if links or routers have failed.
    pub replaces_failed_links: bool,
    /// Names of the kinds of control packets that its agents may send.
    pub control_packets: &'static [&'static str],
    /// Parameters, as a scenario writes them, with which it leaves all links on although it could switch some; `None` if it
    /// has no such parameters, or never switches any.
    pub all_on: Option<&'static str>,
}

impl Offers {
    /// Links never go off.
    pub const ALWAYS_ON: Self = Self {
        links: LinkKnowledge::Nothing,
        packets_wait_for_links: false,
        always_carries: false,
        replaces_failed_links: false,
        control_packets: &[],
        all_on: None,
    };

    /// True if the policy goes with a routing that can use these kinds of knowledge. It does if the policy offers one of
    /// them, or if links never go off.
    pub fn suit(&self, known: &[LinkKnowledge]) -> bool {
        known.contains(&self.links) || self.links == LinkKnowledge::Nothing && !self.packets_wait_for_links
    }
}

/// The network on which a policy is to work.
pub struct Site<'a> {
    pub graph: &'a Graph,
    /// Coordinates of each router, on topologies that have some.
    pub coords: fn(&Graph) -> Vec<u64>,
    /// Link classes that the policy manages.
    pub managed: &'a [bool],
    /// Latency of a flit and of a credit, per link class.
    pub latencies: &'a [(Cycles, Cycles)],
    /// Cycles that a head flit spends in a router.
    pub router_delay: Cycles,
    /// Flits per cycle of each link class at its full rate.
    pub rates: &'a [Rate],
    /// Flits in a buffer behind a channel of each link class: all its VCs.
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

    /// The managed link classes that `named` lists, each once; all managed classes if it is `None`. Refuses, at `path`,
    /// names of other classes.
    pub fn managed_classes(&self, named: Option<&LinkClasses>, path: &str) -> Result<Vec<usize>, Refusal> {
        let names = self.graph.class_names();
        let managed: Vec<usize> = (0..names.len()).filter(|&class| self.managed[class]).collect();
        if managed.is_empty() {
            let what = "the policy has no link to switch: no class of links is managed";
            return Err(Refusal::new("power.manages", what, "name a class of links"));
        }
        let Some(named) = named.filter(|named| !named.has_all()) else { return Ok(managed) };
        let valid = managed.iter().map(|&class| names[class].as_str()).collect::<Vec<_>>().join(", ");
        let refuse = |what: String, help: String| Err(Refusal::new(path, what, help));
        if named.0.is_empty() {
            return refuse("no class".into(), format!("leave it out for all, or name some of: {valid}"));
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
                    let what = format!("the policy does not manage {name}: power.manages leaves it out");
                    return refuse(what, format!("add {name} to power.manages, or write one of: {valid}"));
                }
                Some(class) if numbers.contains(&class) => {}
                Some(class) => numbers.push(class),
            }
        }
        Ok(numbers)
    }
}

/// A channel between two routers, as the whole network numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkChannel {
    /// Its number for an overseer.
    pub number: u32,
    pub from: u32,
    /// Router and port at its far end.
    pub to: (u32, u16),
    /// Link class, with the name [`Site::class_name`].
    pub class: u8,
}

/// Actions of a policy at set times, whatever the traffic is. Empty if the policy follows the traffic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Period [cycles] after which all its actions repeat; `None` if they do not.
    pub period: Option<Cycles>,
    /// Actions once in a run.
    pub once: Vec<OffTime>,
}

/// Links are off during one span, from a cycle to another. The path names the parameters that cause this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffTime {
    pub path: String,
    pub from: Cycles,
    pub until: Cycles,
}

/// The configuration of a policy. Each also declares `OFFERS`, a constant: its offers, which do not depend on parameters.
pub trait PolicyModel {
    /// States that a channel can be in, in the table `modes` of the run: the power model must price each. Refuses modes that
    /// the table does not have.
    fn states(&self, modes: &Modes) -> Result<Vec<LinkState>, Refusal>;

    /// Cycles in which the policy takes each of its decisions at least once. A power state that has not changed for a
    /// shorter time may not have settled. `None` if nothing has to settle: the policy never switches a channel during a
    /// run, or only at times that are known from cycle 0 and do not repeat. It has no default, because a policy without
    /// it would be measured before its links have settled.
    fn settling_period(&self, graph: &Graph, modes: &Modes, cycle_fs: u128) -> Result<Option<Cycles>, Refusal>;

    /// Whether, with these parameters, all links that do not fail are on in every cycle. By default this is true only
    /// for policies without other states.
    fn stays_on(&self) -> bool {
        self.states(&Modes::default()).is_ok_and(|states| states == [LinkState::On])
    }

    /// Actions at set times.
    fn schedule(&self, _cycle_fs: u128) -> Result<Schedule, Refusal> {
        Ok(Schedule::default())
    }

    /// Longest time for which a packet waits for one link that is off, without other causes. By default no wait is
    /// attributed to the policy: all of it counts as queueing.
    fn longest_wait(&self, _cycle_fs: u128) -> Result<Cycles, Refusal> {
        Ok(0)
    }

    /// A warning about parameters that are accepted but risky. The path is that of the parameter.
    fn risk(&self, _cycle_fs: u128) -> Result<Option<Remark>, Refusal> {
        Ok(None)
    }

    /// The data that its overseer has published in cycle 0, such as the number of stages that are on; `None` if it
    /// publishes nothing. Called for every network, also for one that `build` refuses.
    fn first_published(&self, _site: &Site) -> Option<u64> {
        None
    }

    /// Refuses parameters that are incompatible with faults.
    fn check_faults(&self) -> Result<(), Refusal> {
        Ok(())
    }

    /// Builds the policy for a network. Refuses parameters and networks with which it cannot work.
    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal>;

    /// Configurations that differ in what matters, quick enough for links to go off and on within 4,000 cycles of 1 ns.
    /// Tests run all of them, with the examples of all routings that are compatible with the policy.
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

    /// The member of every subnetwork that has links to all others.
    fn hub(&self) -> u8 {
        0
    }

    /// Whether all links are on when the network is full, whatever links were on at first.
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
    /// Most packets that may wait for one link.
    pub queue: u64,
    /// Packets on their way to each router at once, for which memory is reserved; memory for more is allocated when
    /// they come.
    pub per_router: usize,
}
