//! The specification of one run for the engine, as plain numbers in cycles and flits. The values of each model have already been checked by
//! the model itself.

pub use crate::network::episodes::{Episode, episodes};
pub use crate::network::failures::{Fault, FaultTimes, Member, Part};
pub use crate::network::jobs::{Job, MAX_JOBS, TrafficSpec};
pub use crate::network::rows::{ChannelEnds, channel_ends};
use std::sync::Arc;
use weft_api::age::Priority;
use weft_api::classes::{InterfaceSpec, MessageClass};
use weft_api::recording::Asked;
pub use weft_api::spec::{FlowControl, InputSpeedup, LinkClass, Phases, Stop, Watched};
pub use weft_api::state::rate::Rate;
use weft_api::state::{LinkState, Modes};
pub use weft_api::workload::{LoadPhase, MAX_BATCH};
use weft_kernel::face::widths::Width;
use weft_kernel::shortcuts::profile::Set;
use weft_models::{
    allocation::AllocatorConfig, congestion::CongestionConfig, power::PolicyConfig, queueing::QueueingConfig,
    routing::RoutingConfig,
};
use weft_topology::Graph;
use weft_topology::TopologyConfig;
use weft_traffic::{Lengths, PatternConfig, Population};
use weft_units::{Cycles, Refusal};

/// Parameters of the routers. Latency of a packet without contention [cycles]: number of routers on its path * `delay` + latencies of its
/// links + `ejection_delay` + its flits - 1.
#[derive(Debug, Clone, PartialEq)]
pub struct RouterSpec {
    /// Cycles that a head flit spends in a router without contention, from its arrival until it is on the next link.
    pub delay: Cycles,
    /// Whole cycles between the departure of a packet from its VC and the first request of the next head in that VC (0: the next allocation
    /// step). The routing delay is part of the delay that a head has without contention.
    pub routing_delay: Cycles,
    /// Allocation steps between the grant of a VC and the first flit. 0: a packet may take a VC and cross the switch in the same allocation
    /// step; 1: the packet crosses the switch one step later.
    pub vc_realloc: u8,
    /// Number of allocation steps per cycle (internal speedup).
    pub speedup: u8,
    /// Additional cycles before a returned credit can be used.
    pub credit_delay: Cycles,
    /// Cycles between the arrival of a tail at its terminal and its delivery.
    pub ejection_delay: Cycles,
    /// Number of VCs of an ejection channel that packets may use; `None`: all VCs of the terminal links.
    pub ejection_vcs: Option<u8>,
    /// The largest number of flits that may wait at an output for its link. `None`: 2 if the link carries less than one flit per cycle;
    /// otherwise credits are the only limit.
    pub output_buffer: Option<u32>,
    pub input_speedup: InputSpeedup,
    pub flow_control: FlowControl,
    pub allocator: AllocatorConfig,
    pub priority: Priority,
    /// Whether an output sends all flits of a packet before it begins another, so that flits of different packets do not mix on a link.
    pub hold_switch: bool,
}

/// Exact energy prices of one power state of one channel, in yoctojoules: 1 yJ is 10^-24 J, or 10^-9 fJ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatePrice {
    /// Energy per cycle in this state [1 / [`StatePrices::parts`] of a yJ].
    pub static_parts_per_cycle: u128,
    /// Additional energy for each flit that the channel sends in this state [yJ].
    pub flit_yj: u128,
}

/// Exact energy prices of a channel, for each power state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatePrices {
    /// The price of each state, indexed by [`LinkState::number`]; `None` if the power model has no price for the state.
    pub by_state: Vec<Option<StatePrice>>,
    /// The common denominator of the static energies: 1, or a divisor of [`Rate::cycles`].
    pub parts: u32,
}

impl StatePrices {
    /// A table of prices in which no state has a price.
    pub const NONE: Self = Self { by_state: Vec::new(), parts: 1 };

    pub fn of(&self, state: LinkState) -> Option<StatePrice> {
        self.by_state.get(usize::from(state.number())).copied().flatten()
    }
}

/// Energy prices of a router, without the energy of its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RouterPrice {
    /// Energy per cycle in which at least one port is not off [yJ].
    pub static_yj_per_cycle: u128,
    /// Energy per cycle in which all ports are off [yJ]; `None`: the same price as in other cycles, so the cycles are not counted
    /// separately.
    pub asleep_yj_per_cycle: Option<u128>,
    /// Energy per cycle of each port whose outgoing channel is not off [yJ].
    pub port_yj_per_cycle: u128,
    /// Energy per flit that crosses the router [yJ].
    pub flit_yj: u128,
}

/// Seed of a spec if the user states none.
const SEED: u64 = 1;

/// All data of one run: network, traffic, models and phases.
#[derive(Debug, Clone)]
pub struct Spec {
    pub graph: Arc<Graph>,
    /// Properties of the links, with one entry for each link class of the graph.
    pub links: Vec<LinkClass>,
    pub router: RouterSpec,
    pub routing: RoutingConfig,
    pub traffic: TrafficSpec,
    /// Message classes; if empty, all packets are of one class.
    pub classes: Vec<MessageClass>,
    pub interface: InterfaceSpec,
    /// The scheme that selects the lanes of each VC class of a channel.
    pub queueing: QueueingConfig,
    /// The congestion control, which limits sources whose packets have been marked.
    pub congestion: CongestionConfig,
    pub policy: PolicyConfig,
    /// The modes that a channel can have in this run.
    pub modes: Modes,
    /// For each link class: true if the policy manages its links, false if they stay on. Links to terminals usually stay on.
    pub managed: Vec<bool>,
    /// Links and routers that fail during the run.
    pub faults: Vec<Fault>,
    pub fault_times: FaultTimes,
    /// Energy prices of channels, one table for each link class of the graph.
    pub prices: Vec<StatePrices>,
    /// Energy prices of routers; `None`: the energy of routers is not counted.
    pub router_price: Option<RouterPrice>,
    /// Sets of channels (bundles), as indices into [`channel_ends`]. For each set, the run counts the cycles of the window in which all
    /// channels of the set were off.
    pub bundles: Vec<Vec<u32>>,
    pub phases: Phases,
    /// Tables that the run records, in addition to the sums over the window.
    pub recordings: Vec<Asked>,
    pub watched: Watched,
    pub seed: u64,
    /// Length of a cycle [fs], for policies whose parameters are times.
    pub cycle_fs: u128,
    /// Size of a flit [bits], for policies whose parameters are sizes, and for workloads whose messages have bytes.
    pub flit_bits: u64,
    /// Whether to run even if the channel dependency graph has a cycle (to study deadlock).
    pub allow_dependency_cycle: bool,
}

impl Spec {
    /// The states that a channel can have under the policy. Refuses modes that are not in the list of modes of the run.
    pub fn states(&self) -> Result<Vec<LinkState>, Refusal> {
        self.policy.states(&self.modes)
    }

    /// Whether the policy uses a state other than `on`. False for a policy that names a mode that does not exist, which another check
    /// refuses.
    pub fn switches_links(&self) -> bool {
        self.states().is_ok_and(|states| states != [LinkState::On])
    }

    /// The lowest rate that a managed channel can have, as a share of its bandwidth.
    pub(crate) fn slowest_mode(&self) -> Rate {
        self.states().map_or(Rate::ONE, |states| self.modes.slowest(&states))
    }
}

/// Settings for the execution of a run. Results do not depend on these settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Execution {
    /// Number of threads that execute this run (at least 1).
    pub threads: usize,
    /// Number of blocks; 0: the engine chooses the number by the size of the network.
    pub blocks: usize,
    /// The shortcuts of the cycle loop that the run may use (`kernel/src/shortcuts`). Without shortcuts the cycle loop is slower, but its
    /// code path is easier to follow.
    pub shortcuts: Set,
}

impl Execution {
    pub const fn new(threads: usize, blocks: usize) -> Self {
        Self { threads, blocks, shortcuts: Set::ALL }
    }

    /// Returns the same settings without shortcuts.
    #[must_use]
    pub const fn plain(self) -> Self {
        Self { shortcuts: Set::NONE, ..self }
    }
}

impl Spec {
    /// Creates a spec with the defaults of a scenario. Links have a latency of 10 cycles (1 cycle to terminals) and 6 VCs of 32 flits.
    /// Routers have a delay of 1 cycle and speedup 2. Traffic is uniform with one-flit packets at load 0.1, and links are always on.
    pub fn new(topology: &TopologyConfig, routing: RoutingConfig) -> Result<Self, Refusal> {
        let mut graph = topology.build("topology")?;
        let link = LinkClass { latency: 10, credit_latency: 10, vcs: 6, buffer: 32, rate: Rate::ONE };
        let mut links = vec![link.clone(); graph.class_names().len()];
        links[0] = LinkClass { latency: 1, credit_latency: 1, ..link };
        graph.set_latencies(links.iter().map(|link| link.latency));
        let pattern = PatternConfig::default().build(&population(&graph, SEED), "traffic.pattern")?;
        let pattern = Arc::new(pattern.in_planes(graph.planes()));
        let terminals = (0..graph.terminals()).collect();
        Ok(Self {
            managed: (0..links.len()).map(|c| c > 0).collect(),
            faults: Vec::new(),
            fault_times: FaultTimes::default(),
            router: RouterSpec::default(),
            routing,
            traffic: TrafficSpec { jobs: vec![Job::steady("all", terminals, pattern, 0.1, 1)] },
            classes: Vec::new(),
            interface: InterfaceSpec::default(),
            queueing: QueueingConfig::default(),
            congestion: CongestionConfig::default(),
            policy: PolicyConfig::default(),
            modes: Modes::default(),
            prices: vec![StatePrices::NONE; links.len()],
            router_price: None,
            bundles: Vec::new(),
            phases: Phases::default(),
            recordings: Vec::new(),
            watched: Watched::Nobody,
            seed: SEED,
            cycle_fs: 1_000_000,
            flit_bits: 128,
            allow_dependency_cycle: false,
            links,
            graph: Arc::new(graph),
        })
    }

    /// Longest time for which the workload of any job delays a reply at a terminal [cycles].
    pub fn turnaround(&self) -> Result<Cycles, Refusal> {
        let of_job = |(j, job): (usize, &Job)| job.turnaround(self.cycle_fs, &format!("traffic.jobs.{j}"));
        self.traffic.jobs.iter().enumerate().map(of_job).try_fold(0, |most, cycles| Ok(cycles?.max(most)))
    }

    /// Sets the load of every terminal that belongs to a job [flits/cycle].
    pub fn set_load(&mut self, load: f64) {
        self.traffic.jobs.iter_mut().flat_map(|job| &mut job.phases).for_each(|phase| phase.load.fill(load));
    }

    /// Sets the load of one terminal, if it belongs to a job [flits/cycle].
    pub fn set_load_of(&mut self, terminal: u32, load: f64) {
        for job in &mut self.traffic.jobs {
            if let Some(rank) = job.terminals.iter().position(|&t| t == terminal) {
                job.phases.iter_mut().for_each(|phase| phase.load[rank] = load);
            }
        }
    }

    /// For each link class, the link classes of the opposite channels of its links. For most classes, this is only the class itself.
    pub fn ways_back(&self) -> Vec<Vec<u8>> {
        let mut back: Vec<Vec<u8>> = (0..self.links.len()).map(|class| vec![class as u8]).collect();
        let two = self.graph.links().filter(|link| link.class != link.back);
        let mut differ = vec![Vec::new(); self.links.len()];
        let mut same = vec![false; self.links.len()];
        for link in two {
            differ[usize::from(link.class)].push(link.back);
            differ[usize::from(link.back)].push(link.class);
        }
        self.graph.links().filter(|link| link.class == link.back).for_each(|link| same[usize::from(link.class)] = true);
        for (class, mut others) in differ.into_iter().enumerate().filter(|(_, others)| !others.is_empty()) {
            others.sort_unstable();
            others.dedup();
            if !same[class] {
                back[class].clear();
            }
            back[class].append(&mut others);
        }
        back
    }

    /// Credit round trip [cycles], for a channel of class `class` and an opposite channel of class `back`: over the link, through the next
    /// router, and back. After this time the buffer slot of a flit can be used again.
    pub fn credit_round_trip(&self, class: usize, back: usize) -> Cycles {
        self.router.delay
            + self.links[class].latency
            + (self.links[back].credit_latency + self.router.credit_delay).max(1)
    }

    /// The smallest width of records with room for the ports and VCs of the routers.
    pub fn width(&self) -> Width {
        Width::of(self.graph.radix(), self.links.iter().map(|link| link.vcs).max().unwrap_or(0))
    }

    /// Sets the length of packets that are not replies [flits].
    pub fn set_packet(&mut self, flits: u32) {
        self.traffic.jobs.iter_mut().for_each(|job| job.packets = Lengths::one(flits));
    }

    /// Sets the traffic pattern of the first job. The first job must contain all terminals. The pattern draws its random choices from the
    /// seed of the spec.
    pub fn set_pattern(&mut self, pattern: &PatternConfig) -> Result<(), Refusal> {
        let pattern = pattern.build(&population(&self.graph, self.seed), "traffic.pattern")?;
        let pattern = Arc::new(pattern.in_planes(self.graph.planes()));
        let job = &mut self.traffic.jobs[0];
        job.phases.iter_mut().for_each(|phase| phase.pattern = pattern.clone());
        Ok(())
    }
}

impl Default for RouterSpec {
    fn default() -> Self {
        Self {
            delay: 1,
            routing_delay: 0,
            vc_realloc: 0,
            speedup: 2,
            credit_delay: 1,
            ejection_delay: 1,
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

/// Data of the network and the run that traffic patterns need. In a network with planes, patterns connect nodes: each node has the position
/// of its terminal in a plane ([`Pattern::in_planes`](weft_traffic::Pattern::in_planes)).
pub fn population(graph: &Graph, seed: u64) -> Population {
    let graph = graph.plane();
    Population {
        terminals: graph.terminals(),
        terminals_per_router: graph.terminals_per_router(),
        widths: graph.structure().widths(),
        terminals_per_group: graph.terminals_per_group(),
        seed,
    }
}
