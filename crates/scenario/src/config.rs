//! The keys of a scenario: types, defaults and the descriptions that become the JSON Schema.

use crate::bill_config::BillConfig;
use crate::catalogue::Catalogue;
use crate::classes::{ClassConfig, InterfaceConfig};
use crate::fault_model::FaultModel;
use crate::faults::FaultConfig;
use crate::groups::Groups;
use crate::measure::Measure;
use crate::modes::ModeConfig;
use crate::port_memory::{PortMemory, Split};
use crate::presets::Preset;
use crate::prices::{Prices, RouterPrice};
use crate::workload::Traffic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weft_engine::spec::InputSpeedup;
use weft_engine::{
    age::Priority, allocation::AllocatorConfig, congestion::CongestionConfig, power::PolicyConfig,
    queueing::QueueingConfig, routing::RoutingConfig,
};
use weft_topology::TopologyConfig;
use weft_units::{Bandwidth, Bits, Flits, LinkClasses, Time};

/// A run of a network: everything that its results depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A line of text for tables and plots, 1 to 100 characters, and no path: results lie in a folder of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Speed of a link as it is bought [bits per second], such as 400Gb/s: it sets what is left out of `cycle` and `flit`.
    /// A channel carries a flit per cycle: with neither of them a cycle is 1ns, and a flit the bits that a link carries in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_speed: Option<Bandwidth>,
    /// Length of a cycle, the time in which a channel carries one flit [a time in seconds, not in cycles].
    #[serde(default = "one_nanosecond")]
    pub cycle: Time,
    /// Size of a flit [bits or bytes]; turns energy per bit into energy per flit.
    #[serde(default = "flit_of_48_bits")]
    pub flit: Bits,
    /// Size of a coarse flit with which the scenario runs, a multiple of the flit [bits or bytes]. Times become multiples of the
    /// time that a link needs for it. Packets are one grain, or several. Large messages take less time to simulate. Default: the
    /// flit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grain: Option<Bits>,
    /// Routers, terminals and the links between them.
    pub topology: TopologyConfig,
    /// Properties of the links: `default` holds for all classes; a class of the topology (`terminal`, `dim0`, `local`,
    /// ...) says what is different there. The latency of terminal links is 1cycle unless `terminal` or `default` gives
    /// one. That of a class `latencyN` of a graph file is N cycles unless the class gives one.
    #[serde(default)]
    pub links: BTreeMap<String, Link>,
    /// The router microarchitecture.
    #[serde(default)]
    pub router: Router,
    /// How packets find their way.
    pub routing: RoutingConfig,
    /// Who sends what.
    pub traffic: Traffic,
    /// Message classes by name: kinds of packets that do not block each other, or go before each other. Jobs name theirs (`class`).
    /// Default: all packets are of one kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub classes: BTreeMap<String, ClassConfig>,
    /// The queueing scheme: how the VCs of each VC class of the routing are divided into lanes. Fewer packets then wait behind those
    /// for a congested terminal. Default: one_queue, which divides nothing.
    #[serde(default, skip_serializing_if = "QueueingConfig::is_usual")]
    pub queueing: QueueingConfig,
    /// Congestion control: routers mark packets at full outputs, receivers notify the sources, and these send more slowly. It limits
    /// queues per destination, which network interfaces then have. Default: none.
    #[serde(default, skip_serializing_if = "CongestionConfig::is_usual")]
    pub congestion_control: CongestionConfig,
    /// The queues of network interfaces. Default: one, from which a terminal sends one packet after the other; with a queueing
    /// scheme one per lane.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub interface: InterfaceConfig,
    /// Link power states and their prices.
    #[serde(default)]
    pub power: PowerConfig,
    /// The cost of the measured power in a year. It changes no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bill: Option<BillConfig>,
    /// Links and routers that fail during the run, and may return.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultConfig>,
    /// Links and routers that fail at random, and how fast something is done about faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault_model: Option<FaultModel>,
    /// Phases of the run.
    #[serde(default)]
    pub measure: Measure,
    /// Seed of all random streams.
    #[serde(default = "one")]
    pub seed: u64,
    /// Run although the channels of the routing depend on each other in a cycle (to study deadlock).
    #[serde(default)]
    pub allow_dependency_cycle: bool,
}

/// Properties of the links of a class; a property that is left out comes from `links.default`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Time a flit spends on the wire [time]; default 10cycles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Time>,
    /// Time a credit spends on the way back [time]; default: the latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credit_latency: Option<Time>,
    /// Virtual channels, 1 to 16; default 6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16))]
    pub vcs: Option<u32>,
    /// Input buffer of each virtual channel [flits]; default 32flits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Flits>,
    /// Memory of an input port [bytes or flits], in place of `buffer`: it is divided into equal parts, one per queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_buffer: Option<PortMemory>,
    /// The parts of `port_buffer`: as many as the queueing scheme has queues (`nominal`), or as packets reach (`reachable`); default
    /// nominal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// Bandwidth of a channel [bits per second, or flits per cycle]; default 1flit/cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
}

/// An input-queued virtual-channel router.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Router {
    /// The switch of a paper. It fills in the keys of `router`, `cycle`, `flit` and `links.default` that the scenario leaves out.
    /// Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Time from the arrival of a head flit to its start on the next link, without contention [time].
    pub delay: Time,
    /// Time in addition to `delay` for each doubling of the ports of a router [time]. An arbiter is a tree, and takes
    /// ceil(log2 ports) of these times. The ports are those of the router that has most.
    #[serde(skip_serializing_if = "is_no_time")]
    pub delay_per_doubling: Time,
    /// Time that a VC is closed to the next head after a packet has left it, because routes are computed one packet at
    /// a time [time]. It is a part of `delay`.
    pub routing_delay: Time,
    /// VC turn-round [allocation steps]. 0: a head takes a VC and crosses the switch in one step. 1: it crosses one
    /// step after it took the VC.
    #[schemars(range(max = 1))]
    pub vc_realloc: u32,
    /// Allocation steps per cycle (internal speedup), 1 to 16.
    #[schemars(range(min = 1, max = 16))]
    pub speedup: u32,
    /// Time before a returned credit can be used, in addition to the credit latency of the link [time].
    pub credit_delay: Time,
    /// Time from the arrival of a tail flit at its terminal to its delivery [time].
    pub ejection_delay: Time,
    /// VCs of an ejection channel (from a router to a terminal) that packets may use. Default: all VCs of the terminal
    /// links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16))]
    pub ejection_vcs: Option<u32>,
    /// Most flits that may wait at an output for its link. Default: 2 where the link carries less than one flit per cycle,
    /// elsewhere as many as there are credits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_buffer: Option<Flits>,
    /// How many flits leave an input port at the same time, where a flit takes longer than a cycle to leave.
    #[serde(default, skip_serializing_if = "is_unlimited")]
    pub input_speedup: InputSpeedup,
    /// When a packet may enter the next buffer.
    pub flow_control: FlowControl,
    /// Which flits cross the switch in an allocation step.
    pub allocator: AllocatorConfig,
    /// Which packet wins if several want the same output or VC.
    pub priority: Priority,
    /// An output sends all flits of a packet before it begins another packet: a link never interleaves packets.
    pub hold_switch: bool,
}

/// When a packet may enter the next buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowControl {
    /// When it has room for the whole packet.
    VirtualCutThrough,
    /// As soon as it has room for one flit.
    Wormhole,
}

/// Link power: the policy, the managed links, and the price of a link in each state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PowerConfig {
    /// The link power policy.
    pub policy: PolicyConfig,
    /// Link classes that the policy may switch; the others stay on. Default, and `all`: all classes but `terminal`, whose
    /// links sleep only where they are named, such as `[all, terminal]`, and under policies whose packets wait for links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manages: Option<LinkClasses>,
    /// Prices of real switches, ports and cables of a speed, from the catalogue (`weft catalogue`), in place of `prices`,
    /// `class_prices` and `router_price`. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalogue: Option<Catalogue>,
    /// Modes that links can be in, beside `on`, `shadow`, `draining`, `off` and `waking`. `prices` has a price for each mode
    /// that the policy uses, and a policy names modes in its parameters. Default: `half` and `quarter`, at these shares of the bandwidth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modes: Option<Vec<ModeConfig>>,
    /// Prices of a channel by mode. They replace the whole default table. Default: the TCEP model, 23.44pJ/bit of the
    /// full rate in every state but `off`, and 7.81pJ/bit in addition for sent bits.
    pub prices: Prices,
    /// The price of a channel of a link class (`terminal`, `dim0`, `global`, ...) in each mode, in place of all of
    /// `prices`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub class_prices: BTreeMap<String, Prices>,
    /// The price of every router, without its links. Default: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub router_price: Option<RouterPrice>,
    /// Trunks, routers or cabinets that have an account each: flits, sleep and energy, in groups.parquet. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Groups>,
}

impl Default for Router {
    fn default() -> Self {
        Self {
            preset: None,
            delay: Time::Cycles(1),
            delay_per_doubling: Time::Cycles(0),
            routing_delay: Time::Cycles(0),
            vc_realloc: 0,
            speedup: 2,
            credit_delay: Time::Cycles(1),
            ejection_delay: Time::Cycles(1),
            ejection_vcs: None,
            output_buffer: None,
            input_speedup: InputSpeedup::Unlimited,
            flow_control: FlowControl::VirtualCutThrough,
            allocator: AllocatorConfig::default(),
            priority: Priority::RoundRobin,
            hold_switch: false,
        }
    }
}

impl Default for PowerConfig {
    fn default() -> Self {
        let policy = PolicyConfig::default();
        let (prices, class_prices) = (Prices::default(), BTreeMap::new());
        Self {
            policy,
            manages: None,
            catalogue: None,
            modes: None,
            prices,
            class_prices,
            router_price: None,
            groups: None,
        }
    }
}

pub(crate) fn one_nanosecond() -> Time {
    Time::Femtoseconds(1_000_000)
}

fn flit_of_48_bits() -> Bits {
    Bits(48)
}

fn is_no_time(time: &Time) -> bool {
    *time == Time::Cycles(0)
}

fn one() -> u64 {
    1
}

fn is_usual(interface: &InterfaceConfig) -> bool {
    *interface == InterfaceConfig::default()
}

fn is_unlimited(speedup: &InputSpeedup) -> bool {
    *speedup == InputSpeedup::Unlimited
}
