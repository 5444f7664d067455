//! The keys of a scenario: their types and defaults, and the descriptions that become the JSON Schema.

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

/// A simulation of a network. A scenario contains everything on which the results depend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A line of text for tables and plots, 1 to 100 characters. The name must not be a path, because the folder of results gets this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Nominal speed of a link [bits per second], such as 400Gb/s. If `cycle` or `flit` or both are left out, Weft computes them from this
    /// speed. A channel carries one flit per cycle. With neither `cycle` nor `flit`, a cycle is 1ns, and a flit is the number of bits that
    /// a link carries in a cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_speed: Option<Bandwidth>,
    /// Length of a cycle, the time in which a channel carries one flit [a time in seconds, not in cycles].
    #[serde(default = "one_nanosecond")]
    pub cycle: Time,
    /// Size of a flit [bits or bytes]. The size converts energy per bit into energy per flit.
    #[serde(default = "flit_of_48_bits")]
    pub flit: Bits,
    /// Size of a coarse flit [bits or bytes], a multiple of the flit. If the size is set, the scenario runs with coarse flits. Weft rounds
    /// times to multiples of the time that a link needs for a coarse flit. Each packet consists of one or more coarse flits. Large messages
    /// then need less simulation time. Default: the size of the flit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grain: Option<Bits>,
    /// Routers, terminals and the links between them.
    pub topology: TopologyConfig,
    /// Properties of the links. `default` applies to all classes. The entry of a class of the topology (`terminal`, `dim0`, `local`, ...)
    /// sets the values that differ for this class. The latency of terminal links is 1cycle unless the entry `terminal` or `default` sets a
    /// latency. The latency of a class `latencyN` of a graph file is N cycles, unless the entry of the class sets a latency.
    #[serde(default)]
    pub links: BTreeMap<String, Link>,
    /// The router microarchitecture.
    #[serde(default)]
    pub router: Router,
    /// The routing: the rule that chooses the path of each packet.
    pub routing: RoutingConfig,
    /// The traffic: which terminals send packets, to which terminals, and when.
    pub traffic: Traffic,
    /// Message classes by name: kinds of packets that do not block each other, or that have priority over each other. A job names
    /// its class with `class`. Default: all packets are of one kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub classes: BTreeMap<String, ClassConfig>,
    /// The queueing scheme: how the VCs of each VC class of the routing are divided into lanes. With several lanes, fewer packets wait
    /// behind packets for a congested terminal. Default: one_queue, which has one lane.
    #[serde(default, skip_serializing_if = "QueueingConfig::is_usual")]
    pub queueing: QueueingConfig,
    /// Congestion control: routers mark packets at full outputs, receivers notify the sources, and the sources then send more slowly.
    /// Congestion control limits the rate of each destination separately, so each network interface then has a queue per destination.
    /// Default: none.
    #[serde(default, skip_serializing_if = "CongestionConfig::is_usual")]
    pub congestion_control: CongestionConfig,
    /// The queues of network interfaces. Default: one queue, from which a terminal sends one packet after the other. With a
    /// queueing scheme: one queue per lane.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub interface: InterfaceConfig,
    /// Link power states and their prices.
    #[serde(default)]
    pub power: PowerConfig,
    /// Keys with which Weft computes the yearly cost of the measured power. The keys of the bill do not change results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bill: Option<BillConfig>,
    /// Links and routers that fail during the run, and can return.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultConfig>,
    /// Random failures of links and routers, and the times until the network reacts to faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault_model: Option<FaultModel>,
    /// The parts of the run: warm-up, window and drain.
    #[serde(default)]
    pub measure: Measure,
    /// Seed of all random numbers.
    #[serde(default = "one")]
    pub seed: u64,
    /// Run even if the channels that the routing uses depend on each other in a cycle (to study deadlock).
    #[serde(default)]
    pub allow_dependency_cycle: bool,
}

/// Properties of the links of a class. A property that is left out is taken from `links.default`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Time that a flit needs from one end of the link to the other [time]. Default: 10cycles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Time>,
    /// Time that a returning credit needs from one end of the link to the other [time]. Default: the latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credit_latency: Option<Time>,
    /// Virtual channels, 1 to 16; default 6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16))]
    pub vcs: Option<u32>,
    /// Size of the input buffer of each virtual channel [flits]. Default: 32flits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Flits>,
    /// Memory of an input port [bytes or flits], instead of `buffer`. Weft divides the memory into equal parts, one per queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_buffer: Option<PortMemory>,
    /// Division of `port_buffer`: one part for each queue of the queueing scheme (`nominal`), or one for each queue that packets reach
    /// (`reachable`). Default: nominal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// Bandwidth of a channel [bits per second, or flits per cycle]. Default: 1flit/cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
}

/// An input-queued virtual-channel router.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Router {
    /// A switch from a published paper, whose parameters Weft takes as defaults. The preset sets the keys of `router`, `cycle`, `flit` and
    /// `links.default` that the scenario leaves out. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Time from the arrival of a head flit to its start on the next link, without contention [time].
    pub delay: Time,
    /// Time that is added to `delay` for each doubling of the number of ports of a router [time]. The key models an arbiter that is a tree:
    /// it adds ceil(log2 ports) times the value. The number of ports is the largest number of ports of any router.
    #[serde(skip_serializing_if = "is_no_time")]
    pub delay_per_doubling: Time,
    /// Time that a VC is closed to the next head after a packet has left it [time], because routes are computed one packet at a time. The
    /// routing delay is a part of `delay`.
    pub routing_delay: Time,
    /// Time from the allocation of a VC to the first crossing of the switch [allocation steps]. With 0, a head gets a VC and crosses the
    /// switch in the same step. With 1, the head crosses the switch one step after it got the VC.
    #[schemars(range(max = 1))]
    pub vc_realloc: u32,
    /// Allocation steps per cycle (internal speedup), 1 to 16.
    #[schemars(range(min = 1, max = 16))]
    pub speedup: u32,
    /// Time before a returned credit can be used, in addition to the credit latency of the link [time].
    pub credit_delay: Time,
    /// Time from the arrival of a tail flit at its terminal to its delivery [time].
    pub ejection_delay: Time,
    /// Number of VCs of an ejection channel (from a router to a terminal) that packets may use. Default: all VCs of the terminal links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16))]
    pub ejection_vcs: Option<u32>,
    /// Maximum number of flits that wait at an output port for its link. Default: 2 if the link carries less than one flit per cycle,
    /// otherwise the number of credits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_buffer: Option<Flits>,
    /// Number of flits that can leave an input port at the same time. The key matters only if a flit takes longer than a cycle to leave.
    #[serde(default, skip_serializing_if = "is_unlimited")]
    pub input_speedup: InputSpeedup,
    /// Free space in the next buffer that a packet needs before it may enter.
    pub flow_control: FlowControl,
    /// The switch allocator, which chooses the flits that cross the switch in an allocation step.
    pub allocator: AllocatorConfig,
    /// Rule that chooses one packet if several packets request the same output or VC.
    pub priority: Priority,
    /// If true, an output sends all flits of a packet before it begins another packet, so a link never interleaves packets.
    pub hold_switch: bool,
}

/// Free space in the next buffer that a packet needs before it may enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowControl {
    /// The packet enters when the buffer has space for the whole packet.
    VirtualCutThrough,
    /// The packet enters as soon as the buffer has space for one flit.
    Wormhole,
}

/// The power of links: the policy that switches them, the managed links, and the price of a link in each state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PowerConfig {
    /// The link power policy.
    pub policy: PolicyConfig,
    /// Link classes whose links the policy may switch. All other links stay on. Default, and `all`: all classes except `terminal`. Links to
    /// terminals sleep only if they are named, such as `[all, terminal]`, and only under policies under which packets can wait for links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manages: Option<LinkClasses>,
    /// Takes the prices of real switches, ports and cables of a certain speed from the catalogue (`weft catalogue`), instead of from
    /// `prices`, `class_prices` and `router_price`. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalogue: Option<Catalogue>,
    /// Modes of links, in addition to `on`, `shadow`, `draining`, `off` and `waking`. `prices` contains a price for each mode that the
    /// policy uses. The parameters of a policy name the modes that it uses. Default: `half` and `quarter`, which carry traffic at these
    /// shares of the bandwidth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modes: Option<Vec<ModeConfig>>,
    /// Prices of a channel in each mode. Prices in the scenario replace the whole default table. Default: the TCEP model. In the TCEP model
    /// a link uses 23.44pJ for each bit that it could carry at full rate, in every state except `off`. Each sent bit uses 7.81pJ more.
    pub prices: Prices,
    /// Prices of the channels of a link class (`terminal`, `dim0`, `global`, ...) in each mode. Prices of a class replace all of `prices`
    /// for this class.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub class_prices: BTreeMap<String, Prices>,
    /// The price of every router, without the prices of its links. Default: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub router_price: Option<RouterPrice>,
    /// Trunks, routers or cabinets whose flits, sleep and energy Weft writes separately to groups.parquet. Default: none.
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
