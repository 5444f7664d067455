//! The result of a run, as integers and histograms. The caller of the engine adds names, units and energy in joules.

pub use crate::network::fullest::{Buffers, Fullest};
pub use crate::run::journey::Journey;
use hdrhistogram::Histogram;
use std::fmt::{Display, Formatter};
use weft_api::base::kept::Value;
pub use weft_api::congestion::MarkCount;
pub use weft_api::control::ControlCount;
pub use weft_api::queueing::SetAsideCount;
use weft_api::recording::Table;
use weft_api::state::PerMode;
pub use weft_api::state::sums::{Arrived, Measured, PacketSums};
pub use weft_api::workload::{Progress, Usage};
use weft_topology::Graph;

/// Marks and notifications of the congestion control during a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Congestion {
    pub counts: MarkCount,
    /// The flows whose rate is limited when the run ends, ordered by source and destination.
    pub limited: Vec<LimitedFlow>,
}

/// Numbers of queues that routers set aside for congested outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetAside {
    pub counts: SetAsideCount,
    /// Number of tokens (notes by which a router requests that another sets a queue aside) that have not returned at the end of the run. A
    /// token is in flight or belongs to a queue that is set aside.
    pub out: u64,
    /// Number of queues that are set aside at the end of the run.
    pub lines: u64,
}

/// A flow whose source sends at a rate limited by congestion control.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimitedFlow {
    pub src: u32,
    pub dst: u32,
    /// Rate of the flow \[flits per cycle\].
    pub rate: f64,
}

weft_units::words! {
    /// The reason why a run ended.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Ending {
        /// All packets created in the window were delivered.
        Drained = "drained",
        /// The network cannot carry the offered load. Either the network accepted less than 97 % of the load in the second half of the
        /// window, beyond random variation, or packets of the window were not delivered within the drain limit.
        Saturated = "saturated",
        /// A batch or a program was not complete at the end of the longest window.
        NotComplete = "not_complete",
        /// Packets wait for each other, or for closed channels, forever.
        Stalled(Stall) = "stalled",
        /// The caller of the engine stopped the run.
        Interrupted = "interrupted",
    }
}

/// A network is saturated if it accepts less than this share of the offered load.
pub const ACCEPTED_SHARE: f64 = 0.97;

/// The verdict on saturation: does the network carry the offered load (`run/judge.rs`)?
#[derive(Debug, Clone, Copy, PartialEq, Value)]
pub enum Saturation {
    No,
    Yes,
    /// Not judged: the judged span is too short for a verdict.
    Unknown(Doubt),
}

impl Saturation {
    /// Whether the network is saturated; `None` if there is no verdict.
    pub fn known(self) -> Option<bool> {
        match self {
            Self::No => Some(false),
            Self::Yes => Some(true),
            Self::Unknown(_) => None,
        }
    }
}

/// The reason why there is no verdict on saturation.
#[derive(Debug, Clone, Copy, PartialEq, Value)]
pub enum Doubt {
    /// The judged span is too short, because arrivals come in bursts.
    Bursts(Bursts),
    /// The policy repeats its actions after `period` cycles, and the span of `cycles` contains no whole period.
    PartOfPeriod {
        cycles: u64,
        period: u64,
    },
    Short(Short),
}

/// A span or a drain that is shorter than the time that packets may need in a network without queues.
#[derive(Debug, Clone, Copy, PartialEq, Value)]
pub struct Short {
    /// Whether the drain after the window is too short. If false, the judged span is too short.
    pub is_drain: bool,
    /// Length of the span or of the drain [cycles].
    pub cycles: u64,
    /// The time that packets may need [cycles].
    pub needed: u64,
    /// Whether packets may have waited for links to wake.
    pub waits_for_links: bool,
}

/// Numbers about bursts that prevent a verdict on saturation.
#[derive(Debug, Clone, Copy, PartialEq, Value)]
pub struct Bursts {
    /// Length of the judged span [cycles].
    pub cycles: u64,
    /// Deviation of the offered flits that bursts can cause, as a share of the expected flits. The deviation is three standard deviations.
    pub chance: f64,
    /// The share of the offered flits that the network did not accept.
    pub gap: f64,
    /// The gap above which the network would count as saturated: 3 % plus the share of the offered flits that bursts can explain.
    pub limit: f64,
}

impl Bursts {
    /// For a verdict "not saturated", random variation must explain at most this share of the flits of the span.
    pub const TELLING: f64 = 0.2;
    /// If random variation explains at most this share of the flits, the span gets a verdict for any gap.
    pub const DECISIVE: f64 = 0.02;

    /// Factor by which the span must become longer for a verdict. The random variation, as a share of the load, falls with the square root
    /// of the length. The gap in the longer span can differ from the observed gap, so the longer span must give a verdict for any gap.
    pub fn longer(&self) -> f64 {
        let enough = if self.is_of_gap() { Self::DECISIVE } else { Self::TELLING };
        // one per cent longer, for flits that arrive after the span
        1.01 * (self.chance / enough).powi(2)
    }

    /// Whether there is no verdict because bursts can explain the whole gap.
    pub fn is_of_gap(&self) -> bool {
        self.gap > 1.0 - ACCEPTED_SHARE
    }

    /// Whether random variation explains too large a share of the flits for a verdict.
    pub fn is_of_chance(&self) -> bool {
        self.chance > Self::TELLING
    }
}

/// The reason why a stalled network cannot move: its blocked packets, and the queues or channels for which they wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stall {
    pub cycle: u64,
    /// Number of packets that can never move again.
    pub packets: u64,
    /// A chain of packets, each of which waits for the queue of the next packet. If the packets form a cycle, the last packet waits for the
    /// queue of the first. If the packets form no cycle, the last packet waits for a channel that the power policy has closed.
    pub wait_for: Vec<Waiting>,
    /// Jobs that can't end although no packet is stuck, each with a description in words.
    pub halted: Vec<String>,
}

/// A packet at the head of an input VC, and the reason why it waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// `None` if the queue has only body flits, because the head of the packet has already left this router.
    pub packet: Option<PacketName>,
    pub at: Queue,
    pub cause: Cause,
}

/// The name of a packet: number `seq` of the packets that terminal `src` created; `dst` is its destination terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketName {
    pub seq: u32,
    pub src: u32,
    pub dst: u32,
}

/// A queue of the network: an input VC of a router.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    pub router: u32,
    pub port: u16,
    pub vc: u8,
}

weft_units::words! {
    /// The reason why a packet cannot move.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Cause {
        /// The buffer behind output `port`, on a link to another router, has no free space.
        NoRoom { port: u32, to: Queue } = "no_room",
        /// A packet at the head of another queue of the router holds the output VC that this packet requests.
        Held { by: Queue } = "held",
        /// The next flits of the packet are still in a queue of a previous router.
        Behind { queue: Queue } = "behind",
        /// The power policy has closed the channel from output `port` to router `to`. The policy has no further event that would open the
        /// channel.
        Closed { port: u32, to: u32 } = "closed",
        /// The terminal keeps packets in its buffer until it has sent their replies. The next reply of the terminal waits for the queue
        /// `to`.
        Unanswered { terminal: u32, to: Queue } = "unanswered",
    }
}

impl Cause {
    /// The queue that must move before this packet can move; `None` if the packet does not wait for a queue.
    pub fn queue(&self) -> Option<Queue> {
        match *self {
            Self::NoRoom { to, .. } => Some(to),
            Self::Held { by } => Some(by),
            Self::Behind { queue } => Some(queue),
            Self::Unanswered { to, .. } => Some(to),
            Self::Closed { .. } => None,
        }
    }
}

impl Display for PacketName {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "packet {} of terminal {} to terminal {}", self.seq, self.src, self.dst)
    }
}

impl Queue {
    fn in_words(self, graph: &Graph) -> String {
        format!("router {} port {} VC {}", graph.router_name(self.router), self.port, self.vc)
    }
}

impl Waiting {
    /// Describes the packet and the reason why it waits, with the names of the routers.
    pub fn in_words(&self, graph: &Graph) -> String {
        let (name, queue) = (|router| graph.router_name(router), |queue: Queue| queue.in_words(graph));
        let (at, here) = (queue(self.at), name(self.at.router));
        let who = match &self.packet {
            Some(packet) => format!("{packet} in {at}"),
            None => format!("a packet in {at} whose head is in a later router"),
        };
        let why = match self.cause {
            Cause::NoRoom { port, to } => {
                format!("room behind its link {here} -> {} (output {port}) in {}", name(to.router), queue(to))
            }
            Cause::Held { by } => format!("an output VC that a packet in {} holds", queue(by)),
            Cause::Behind { queue: behind } => format!("its own flits in {}", queue(behind)),
            Cause::Closed { port, to } => {
                format!("its link {here} -> {} (output {port}), which the power policy has closed", name(to))
            }
            Cause::Unanswered { terminal, to } => format!(
                "terminal {terminal}, which keeps each request until the reply has left: the next reply of the terminal waits for room in \
                 {}",
                queue(to)
            ),
        };
        format!("{who} waits for {why}")
    }
}

/// Counts of one channel (one direction of a link) over the measured window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelCount {
    /// Sending router, or `None` for an injection channel.
    pub from: Option<u32>,
    /// Output port of the sending router (for an injection channel: the terminal number).
    pub from_port: u32,
    /// Receiving router, or `None` for an ejection channel.
    pub to: Option<u32>,
    /// Input port of the receiving router (for an ejection channel: the terminal number).
    pub to_port: u32,
    pub class: u8,
    /// Cycles of the window that the channel spent in each power state; their sum is the length of the window.
    pub cycles: PerMode,
    /// Flits that the channel sent in each power state during the window.
    pub flits: PerMode,
    /// Number of changes of the power state during the window.
    pub transitions: u64,
}

/// The results of one job of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct JobOutcome {
    pub name: String,
    pub terminals: u32,
    /// Flits offered, injected and delivered in the window. If there is more than one job, or the job has `latencies`, a packet's flits
    /// count as delivered only when its tail is delivered.
    pub offered_flits: u64,
    pub injected_flits: u64,
    pub accepted_flits: u64,
    /// Packets created in the window, and packets caused by their deliveries, that were neither delivered nor discarded when the run ended.
    pub missing_packets: u64,
    /// Packets created in the window that were discarded because a link or a router had failed.
    pub dropped_packets: u64,
    pub packets: Measured,
    /// Latencies that the workload of the job reports separately, each with the name of its column.
    pub latencies: Vec<(&'static str, Measured)>,
    /// The progress of a batch: the delivered or discarded packets of the whole run, the number of all its packets, and the cycle of the
    /// last delivery.
    pub batch: Option<Batch>,
    /// Progress of the workload, for workloads that end but do not have a fixed number of packets.
    pub progress: Progress,
    /// Further results of the job's workload over the whole run. Each result has a name with its unit.
    pub figures: Vec<(&'static str, Option<f64>)>,
    /// The name of a table of the job's workload, and the usage of each row. From the usage, Weft computes the row's share of the energy.
    pub usages: Option<(&'static str, Vec<Usage>)>,
}

/// The results of one message class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassOutcome {
    pub name: String,
    /// Flits injected and delivered in the window. A packet's flits count as delivered only when its tail is delivered.
    pub injected_flits: u64,
    pub accepted_flits: u64,
    /// Packets created in the window, and packets caused by their deliveries, that were delivered.
    pub packets: Measured,
}

/// The results of a load phase, for the part of the phase that is inside the window.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseOutcome {
    /// First cycle of the phase, even if that cycle is before the window.
    pub start: u64,
    /// First measured cycle of the phase.
    pub from: u64,
    /// First cycle after the phase.
    pub to: u64,
    /// Mean load that the scenario sets for the terminals of all jobs, without replies [flits/cycle].
    pub load: f64,
    /// Flits of the packets created in the phase; `None` if some of these packets were not delivered.
    pub offered_flits: Option<u64>,
    /// Flits delivered in the phase, including flits created before the phase.
    pub accepted_flits: u64,
    /// Whether the network accepted less than 97 % of the offered load in the second half of the phase, beyond random variation. `None` if
    /// all jobs are batches, because batches have no rate to judge.
    pub saturated: Option<Saturation>,
    /// Packets created in the phase, except those of batches.
    pub packets: Measured,
    /// Packets that waited in source queues in the first measured cycle of the phase.
    pub waiting_packets: u64,
    /// Sums over the channels of each link class. Channels from routers (`from` is a number) and from terminals (`from` is `None`) have
    /// separate sums.
    pub classes: Vec<ChannelCount>,
    /// For each bundle, the cycles of the phase in which all its channels were off (see [`Outcome::asleep`]).
    pub asleep: Vec<u64>,
}

/// Counts of packets that arrive in the window, separately for times with at least one broken part and times without. A packet counts in
/// the cycle of its arrival, not of its creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultOutcome {
    /// The spans of the window between two changes of the broken parts, in the order of time.
    pub spans: Vec<FaultSpan>,
    /// Length of a bin in which arrivals are counted [cycles].
    pub bin: u64,
    /// The complete bins of the window: first cycle and counts of arrivals of each bin.
    pub bins: Vec<(u64, Arrived)>,
    /// Whether packets get new paths only through new tables of the routing. New tables take effect `FaultTimes::rebuild_delay` after each
    /// change.
    pub rebuilds: bool,
}

/// A span of the window in which, in every cycle, at least one part of the network is broken, or in every cycle none is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultSpan {
    pub from: u64,
    /// First cycle after the end of the span.
    pub to: u64,
    pub broken: bool,
    pub arrived: Arrived,
}

/// The state of a batch at the end of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    pub delivered: u64,
    pub packets: u64,
    /// Packets that were discarded because of a fault, and replies that were never sent for this reason.
    pub dropped: u64,
    /// The cycle in which the last packet was delivered or discarded; `None` if some packets are missing.
    pub completed: Option<u64>,
}

/// Whether the conditions for the beginning and the end of the window were met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct Decisions {
    /// Whether the latencies had settled when the window began; `None` if the run did not check this.
    pub settled: Option<bool>,
    /// Whether the share of channels that are not off had settled when the window began; `None` if the run did not check this, or no
    /// channel is ever switched.
    pub power_settled: Option<bool>,
    /// Whether the window reached the requested confidence; `None` if the user requested no confidence.
    pub confident: Option<bool>,
}

impl Decisions {
    /// Whether everything that was checked had settled.
    pub(crate) fn are_settled(&self) -> bool {
        self.settled != Some(false) && self.power_settled != Some(false)
    }
}

/// The result of a run.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub ending: Ending,
    /// The verdict on saturation. The verdict can be unknown even for a drained run, for the whole run or for a phase.
    pub saturated: Saturation,
    /// Number of cycles that the whole run simulated.
    pub cycles: u64,
    /// Number of cycles before the window.
    pub warmup: u64,
    pub window: u64,
    pub decisions: Decisions,
    pub terminals: u32,
    /// Flits offered (created by the workloads), injected and delivered in the window.
    pub offered_flits: u64,
    pub injected_flits: u64,
    pub accepted_flits: u64,
    /// Packets that were created but not injected before the end of the run.
    pub backlog_packets: u64,
    /// Packets that waited in source queues when the window began.
    pub waiting_packets: u64,
    /// Utilisation of the most heavily used channel. `None` if packets choose their paths by queues or link states, if there are too many
    /// paths to follow, or if the load changes.
    pub fullest: Option<Fullest>,
    pub sums: PacketSums,
    /// Packets created in the window that were neither delivered nor discarded when the run ended (0 unless the run was saturated, stalled
    /// or interrupted).
    pub missing_packets: u64,
    /// Packets created in the window that were discarded because a link or a router had failed.
    pub dropped_packets: u64,
    /// Flits of the packets in `dropped_packets`.
    pub dropped_flits: u64,
    /// The sums over delivered packets for each batch of the window. A packet belongs to the batch in which it was created.
    pub batches: Vec<PacketSums>,
    /// Histogram of the packet latency [cycles], exact to 3 significant digits.
    pub latency: Histogram<u64>,
    pub network_latency: Histogram<u64>,
    /// Number of packets by number of hops (the index); entry 63 also counts all longer paths.
    pub hop_counts: Vec<u64>,
    /// The largest number of links between routers that any packet has crossed. The maximum is over the delivered packets of the window and
    /// all packets in flight at the end of the run.
    pub longest_path: u32,
    pub channels: Vec<ChannelCount>,
    /// For each of [`crate::Spec::bundles`], the cycles of the window in which all its channels were off.
    pub asleep: Vec<u64>,
    pub jobs: Vec<JobOutcome>,
    /// Outcome of each message class; empty if the spec has no classes.
    pub classes: Vec<ClassOutcome>,
    /// The tables that recordings have written, with their names, in the order of the scenario.
    pub recorded: Vec<(&'static str, Table)>,
    /// Control packets of the power policy over the window; `None` if it sends none.
    pub control: Option<ControlCount>,
    /// Marks and notifications of congestion control, and the flows that it limits at the end of the run; `None` without congestion
    /// control.
    pub congestion: Option<Congestion>,
    /// Queues set aside for congested outputs; `None` if the queueing scheme sets no queues aside.
    pub set_aside: Option<SetAside>,
    /// The journeys of the packets that the user watches.
    pub journeys: Vec<Journey>,
    /// The results of each phase of a changing load within the window; empty if the load does not change.
    pub phases: Vec<PhaseOutcome>,
    /// Arrivals with and without broken parts; `None` if no part fails during the run.
    pub faults: Option<FaultOutcome>,
    /// Flits that crossed a router (including the router of their destination) in the whole run: the unit of simulation speed.
    pub flit_hops: u64,
    /// Cycles in the window by which links needed longer to carry whole heads than the previous links of their paths, summed over all
    /// heads.
    pub serial_cycles: u64,
}
