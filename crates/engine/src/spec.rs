//! What the engine is asked to run: plain numbers in cycles and flits, everything already checked for its own sense.

use crate::{age::Priority, allocator::AllocatorConfig, power::PolicyConfig, routing::RoutingConfig};
use std::sync::Arc;
use weft_topology::Graph;
use weft_topology::TopologyConfig;
use weft_traffic::{Pattern, PatternConfig, Population};
use weft_units::{Cycles, Refusal};

/// One link class (index = `Port::class` of the graph; 0 = terminal links).
#[derive(Debug, Clone, PartialEq)]
pub struct LinkClass {
    /// Flit latency of a channel [cycles].
    pub latency: Cycles,
    /// Credit latency of the reverse side channel [cycles], without `RouterSpec::credit_delay`.
    pub credit_latency: Cycles,
    /// Virtual channels of a channel (for terminal links: of the injection and of the ejection channel).
    pub vcs: u8,
    /// Input buffer per VC [flits].
    pub buffer: u32,
}

/// When a packet may take an output VC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowControl {
    /// Only when the next buffer has room for the whole packet.
    VirtualCutThrough,
    /// As soon as there is room for one flit.
    Wormhole,
}

/// The router; T0 = hops_routers * delay + sum of link latencies + ejection_delay + (flits - 1).
#[derive(Debug, Clone, PartialEq)]
pub struct RouterSpec {
    /// Cycles a head flit spends in a router without contention, from arrival to the start of the link.
    pub delay: Cycles,
    /// VC turn-round [allocation steps]: 0, a packet may take a VC and cross the switch in one step; 1, one step later.
    pub vc_realloc: u8,
    /// Allocation steps per cycle (internal speedup).
    pub speedup: u8,
    /// Extra cycles before a returned credit can be used.
    pub credit_delay: Cycles,
    /// Cycles between the arrival of a tail at its terminal and its delivery.
    pub ejection_delay: Cycles,
    /// VCs of an ejection channel that packets may use; `None`: all VCs of the terminal links.
    pub ejection_vcs: Option<u8>,
    pub flow_control: FlowControl,
    pub allocator: AllocatorConfig,
    pub priority: Priority,
    /// An output finishes a packet before it begins another, so that links never interleave packets.
    pub hold_switch: bool,
}

/// Who sends what.
#[derive(Debug, Clone)]
pub struct TrafficSpec {
    pub pattern: Arc<Pattern>,
    /// Offered load per terminal [flits/cycle], 0 to 1; length = number of terminals.
    pub load: Vec<f64>,
    /// Packet length [flits], at most 65,535.
    pub packet_flits: u32,
}

/// Warm-up, measured window, drain.
#[derive(Debug, Clone, PartialEq)]
pub struct Phases {
    pub warmup: Cycles,
    pub window: Cycles,
    /// At most this many cycles after the window are spent on delivering the packets created in it.
    pub drain_limit: Cycles,
    /// The window is cut into this many batches for the confidence interval (at least 2).
    pub batches: u32,
    /// A network in which nothing moves for this long while packets wait is stalled.
    pub stall_limit: Cycles,
}

/// Prices of one power state of one channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatePrice {
    /// Energy per cycle spent in the state [fJ].
    pub static_fj_per_cycle: u64,
    /// Energy per flit sent in the state, on top [fJ].
    pub flit_fj: u64,
}

/// Everything about one run.
#[derive(Debug, Clone)]
pub struct Spec {
    pub graph: Arc<Graph>,
    /// One per class of the graph.
    pub links: Vec<LinkClass>,
    pub router: RouterSpec,
    pub routing: RoutingConfig,
    pub traffic: TrafficSpec,
    pub policy: PolicyConfig,
    /// Link classes that the policy manages (true) or that stay on (false); terminal links usually stay on.
    pub managed: Vec<bool>,
    /// Price per power state, indexed by `LinkState as usize`; `None` where the power model names no price.
    pub prices: [Option<StatePrice>; crate::power::LinkState::COUNT],
    pub phases: Phases,
    pub seed: u64,
    /// Length of a cycle [fs], for policies whose parameters are times.
    pub cycle_fs: u128,
    /// Run although the channel dependency graph has a cycle (to study deadlock).
    pub allow_dependency_cycle: bool,
}

/// How a run is executed; results do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Execution {
    /// Worker threads inside this run (at least 1).
    pub threads: usize,
    /// Blocks of routers; 0 chooses by memory size.
    pub blocks: usize,
}

impl Spec {
    /// A spec with the defaults of a scenario: links of 10 cycles (terminals 1), 6 VCs x 32 flits, a 1-cycle router with
    /// speedup 2, uniform traffic of one-flit packets at load 0.1, always on.
    pub fn new(topology: &TopologyConfig, routing: RoutingConfig) -> Result<Self, Refusal> {
        let graph = topology.build("topology")?;
        let link = LinkClass { latency: 10, credit_latency: 10, vcs: 6, buffer: 32 };
        let mut links = vec![link.clone(); graph.class_names().len()];
        links[0] = LinkClass { latency: 1, credit_latency: 1, ..link };
        let pattern = PatternConfig::Uniform(weft_traffic::pattern::uniform::Uniform { include_self: false });
        let mut spec = Self {
            managed: (0..links.len()).map(|c| c > 0).collect(),
            links,
            router: RouterSpec::default(),
            routing,
            traffic: TrafficSpec {
                pattern: Arc::new(pattern.build(&population(&graph), "traffic.pattern")?),
                load: Vec::new(),
                packet_flits: 1,
            },
            policy: PolicyConfig::AlwaysOn(crate::power::always_on::AlwaysOn {}),
            prices: [None; crate::power::LinkState::COUNT],
            phases: Phases { warmup: 1000, window: 5000, drain_limit: 20_000, batches: 10, stall_limit: 10_000 },
            seed: 1,
            cycle_fs: 1_000_000,
            allow_dependency_cycle: false,
            graph: Arc::new(graph),
        };
        spec.set_load(0.1);
        Ok(spec)
    }

    /// The same load for every terminal [flits/cycle].
    pub fn set_load(&mut self, load: f64) {
        self.traffic.load = vec![load; self.graph.terminals() as usize];
    }

    /// Another traffic pattern.
    pub fn set_pattern(&mut self, pattern: &PatternConfig) -> Result<(), Refusal> {
        self.traffic.pattern = Arc::new(pattern.build(&population(&self.graph), "traffic.pattern")?);
        Ok(())
    }
}

impl Default for RouterSpec {
    fn default() -> Self {
        Self {
            delay: 1,
            vc_realloc: 0,
            speedup: 2,
            credit_delay: 1,
            ejection_delay: 1,
            ejection_vcs: None,
            flow_control: FlowControl::VirtualCutThrough,
            allocator: AllocatorConfig::Islip(crate::allocator::Iterations { iterations: 1 }),
            priority: Priority::RoundRobin,
            hold_switch: false,
        }
    }
}

/// What patterns need to know of a graph.
pub fn population(graph: &Graph) -> Population {
    let per_router = graph.shape().terminals_per_router();
    Population {
        terminals: graph.terminals(),
        terminals_per_router: per_router,
        widths: graph.shape().router_widths().map(<[u32]>::to_vec),
        terminals_per_group: graph.shape().groups().zip(per_router).map(|((_, routers), each)| routers * each),
    }
}
