//! The result of a run: integers and histograms. The caller adds names, units and energy in joules.

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

/// Marks and notifications of congestion control.
#[derive(Debug, Clone, PartialEq)]
pub struct Congestion {
    pub counts: MarkCount,
    /// The flows that are limited when the run ends, by source and destination.
    pub limited: Vec<LimitedFlow>,
}

/// Queues set aside for congested outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetAside {
    pub counts: SetAsideCount,
    /// Number of tokens that have not returned at the end of the run, and number of queues that are set aside at that time. The remaining
    /// tokens are in flight.
    pub out: u64,
    pub lines: u64,
}

/// A flow whose source sends at a limited rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimitedFlow {
    pub src: u32,
    pub dst: u32,
    /// Rate of the flow \[flits per cycle\].
    pub rate: f64,
}

weft_units::words! {
    /// The way in which a run ended.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Ending {
        /// All packets created in the window were delivered.
        Drained = "drained",
        /// The network cannot carry the offered load. In the second half of the window it accepts less than 97 %, beyond random
        /// variation. Or packets of the window were not delivered within the drain limit.
        Saturated = "saturated",
        /// A batch or a program was not complete at the end of the longest window.
        NotComplete = "not_complete",
        /// Packets wait for each other forever.
        Stalled(Stall) = "stalled",
        /// The caller stopped the run.
        Interrupted = "interrupted",
    }
}

/// A network is saturated if it accepts less than this share of the offered load.
pub const ACCEPTED_SHARE: f64 = 0.97;

/// Verdict whether a network carries the offered load (`run/judge.rs`).
#[derive(Debug, Clone, Copy, PartialEq, Value)]
pub enum Saturation {
    No,
    Yes,
    /// The span is too short for a verdict.
    Unknown(Doubt),
}

impl Saturation {
    /// Whether the network is saturated; `None` if unknown.
    pub fn known(self) -> Option<bool> {
        match self {
            Self::No => Some(false),
            Self::Yes => Some(true),
            Self::Unknown(_) => None,
        }
    }
}

/// The reason why there is no verdict whether a load is carried.
#[derive(Debug, Clone, Copy, PartialEq, Value)]
pub enum Doubt {
    /// The span is too short, because arrivals come in bursts.
    Bursts(Bursts),
    /// The policy repeats its actions after `period` cycles, and the span of `cycles` contains no whole period.
    PartOfPeriod { cycles: u64, period: u64 },
}

/// Bursts that prevent a verdict whether a load is carried.
#[derive(Debug, Clone, Copy, PartialEq, Value)]
pub struct Bursts {
    /// Length of the span that was judged.
    pub cycles: u64,
    /// Deviation of the offered flits that bursts may cause, as a share of the expected flits: three standard
    /// deviations.
    pub chance: f64,
    /// The share of the offered flits that was not accepted.
    pub gap: f64,
    /// The gap above which the load would count as not carried: 3 % plus the share of the offered flits that bursts may explain.
    pub limit: f64,
}

impl Bursts {
    /// A load can count as carried only if random variation explains at most this share of the span.
    pub const TELLING: f64 = 0.2;
    /// A span always gives a verdict, for any gap, if random variation explains at most this share of it.
    pub const DECISIVE: f64 = 0.02;

    /// Factor by which the span must be longer for a verdict; the random variation falls with the square root of the length. An observed
    /// gap is as uncertain as the random variation, so the longer span must give a verdict for any gap.
    pub fn longer(&self) -> f64 {
        let enough = if self.is_of_gap() { Self::DECISIVE } else { Self::TELLING };
        // one percent more, for flits that arrive after the span
        1.01 * (self.chance / enough).powi(2)
    }

    /// Whether there is no verdict because bursts may explain the gap.
    pub fn is_of_gap(&self) -> bool {
        self.gap > 1.0 - ACCEPTED_SHARE
    }

    /// Whether bursts are the only reason that there is no verdict.
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
    /// The packets of a chain: each packet waits for the queue of the next. In a cycle of packets, the last one waits for the queue of the
    /// first. In a chain, the last one waits for a channel that the power policy has closed.
    pub wait_for: Vec<Waiting>,
    /// Jobs that can't end although no packet is stuck, described in words.
    pub halted: Vec<String>,
}

/// The packet at the head of an input VC, and the reason why it waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// `None` if this queue has only body flits, because the head is already farther on its path.
    pub packet: Option<PacketName>,
    pub at: Queue,
    pub cause: Cause,
}

/// A packet: number `seq` of those that terminal `src` created, for terminal `dst`.
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
        /// The buffer behind output `port`, a link to another router, has no room.
        NoRoom { port: u32, to: Queue } = "no_room",
        /// The output VC that the packet wants is held by the packet at the head of another queue of the router.
        Held { by: Queue } = "held",
        /// The next flits of the packet are still in a queue upstream.
        Behind { queue: Queue } = "behind",
        /// The power policy has closed the channel of output `port`, to router `to`, and will not open it, because the
        /// policy has no further event.
        Closed { port: u32, to: u32 } = "closed",
        /// The packet's terminal keeps packets in its buffer until it has answered them, and the next answer waits for the queue `to`.
        Unanswered { terminal: u32, to: Queue } = "unanswered",
    }
}

impl Cause {
    /// The queue that must move before this packet can move; `None` if no move would help.
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
    /// The packet and the reason why it waits, with the names of the routers.
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
    /// Sending port (for an injection channel: the terminal number).
    pub from_port: u32,
    /// Receiving router, or `None` for an ejection channel.
    pub to: Option<u32>,
    /// Receiving port (for an ejection channel: the terminal number).
    pub to_port: u32,
    pub class: u8,
    /// Cycles spent in each power state during the window; their sum is the length of the window.
    pub cycles: PerMode,
    /// Flits sent in each power state during the window.
    pub flits: PerMode,
    /// Changes of power state during the window.
    pub transitions: u64,
}

/// The results of one job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobOutcome {
    pub name: String,
    pub terminals: u32,
    /// Flits offered, injected and delivered in the window. If there is more than one job, or the job has `latencies`, the flits of a
    /// packet count as delivered when its tail is delivered.
    pub offered_flits: u64,
    pub injected_flits: u64,
    pub accepted_flits: u64,
    /// Packets created in the window, and packets caused by their deliveries, that were neither delivered nor discarded when the run ended.
    pub missing_packets: u64,
    /// Packets created in the window that were discarded because a link or a router had failed.
    pub dropped_packets: u64,
    pub packets: Measured,
    /// Latencies that the workload reports separately, by the names of their columns.
    pub latencies: Vec<(&'static str, Measured)>,
    /// The batch: the packets of the whole run that were delivered or discarded, the number of all packets, and the cycle of the last one.
    pub batch: Option<Batch>,
    /// Progress of the workload, if the workload ends by itself but not after a fixed number of packets.
    pub progress: Progress,
    /// Results of its workload over the whole run as single numbers, by name with unit.
    pub figures: Vec<(&'static str, Option<f64>)>,
    /// The table of its workload whose rows get shares of the energy, and the usage of each row.
    pub usages: Option<(&'static str, Vec<Usage>)>,
}

/// The results of one message class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassOutcome {
    pub name: String,
    /// Flits injected and delivered in the window. The flits of a packet count as delivered when its tail is delivered.
    pub injected_flits: u64,
    pub accepted_flits: u64,
    /// Packets created in the window, and packets caused by their deliveries, that were delivered.
    pub packets: Measured,
}

/// The part of a phase of the load that is in the window.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseOutcome {
    /// First cycle of the phase, even if it is before the window.
    pub start: u64,
    /// First measured cycle, and the first cycle after the phase.
    pub from: u64,
    pub to: u64,
    /// Mean load of the terminals of all jobs, as set [flits/cycle], without replies.
    pub load: f64,
    /// Flits of the packets created in the phase; `None` if some of these packets were not delivered.
    pub offered_flits: Option<u64>,
    /// Flits delivered in the phase, including flits that were created before it.
    pub accepted_flits: u64,
    /// Whether the second half of the phase accepted less than 97 % of the offered load, beyond random variation. `None` if all jobs are
    /// batches, which have no rate to judge.
    pub saturated: Option<Saturation>,
    /// Packets created in the phase, except those of batches.
    pub packets: Measured,
    /// Packets that waited in source queues in the first measured cycle of the phase.
    pub waiting_packets: u64,
    /// Sums over the channels of each link class, separately for channels from routers (`from` is a number) and from terminals (`from` is
    /// `None`).
    pub classes: Vec<ChannelCount>,
    /// The same as [`Outcome::asleep`], for the phase.
    pub asleep: Vec<u64>,
}

/// Arrivals in the window while at least one part was broken, and while all parts worked. A packet counts in the cycle of its arrival, not
/// of its creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultOutcome {
    /// The spans of the window, in order.
    pub spans: Vec<FaultSpan>,
    /// Length of a bin of arrivals [cycles].
    pub bin: u64,
    /// The whole bins of the window: first cycle and counts of arrivals.
    pub bins: Vec<(u64, Arrived)>,
    /// Whether packets get new paths only when the routing has new tables, which is `FaultTimes::rebuild_delay` after each change.
    pub rebuilds: bool,
}

/// A part of the window during which either at least one part is always broken, or no part is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultSpan {
    pub from: u64,
    /// First cycle after the span.
    pub to: u64,
    pub broken: bool,
    pub arrived: Arrived,
}

/// The delivered part of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    pub delivered: u64,
    pub packets: u64,
    /// Packets that were discarded at a fault, and replies that were therefore not sent.
    pub dropped: u64,
    /// The cycle in which the last packet was delivered or discarded; `None` if some packets are missing.
    pub completed: Option<u64>,
}

/// Findings from the decisions when the window begins and ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct Decisions {
    /// Whether the latencies had settled when the window began; `None` if this was not checked.
    pub settled: Option<bool>,
    /// Whether the share of channels that draw power had settled; `None` if this was not checked, or no channel is ever switched.
    pub power_settled: Option<bool>,
    /// Whether the requested confidence was reached; `None` if no confidence was requested.
    pub confident: Option<bool>,
}

impl Decisions {
    /// Whether all checked quantities have settled.
    pub(crate) fn are_settled(&self) -> bool {
        self.settled != Some(false) && self.power_settled != Some(false)
    }
}

/// The result of a run.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub ending: Ending,
    /// Whether the network is saturated. For a drained run this may be unknown, for the whole run or for a phase.
    pub saturated: Saturation,
    /// Cycles simulated in the whole run.
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
    /// Packets that were created by the end of the run but not injected.
    pub backlog_packets: u64,
    /// Packets that waited in source queues when the window began.
    pub waiting_packets: u64,
    /// Utilisation of the most heavily used channel; `None` if packets choose their paths by queues or states of links, if there are too
    /// many paths to follow, or if the load changes.
    pub fullest: Option<Fullest>,
    pub sums: PacketSums,
    /// Packets created in the window that were neither delivered nor discarded when the run ended (0 unless the run was saturated, stalled
    /// or interrupted).
    pub missing_packets: u64,
    /// Packets created in the window that were discarded because a link or a router had failed, and their flits.
    pub dropped_packets: u64,
    pub dropped_flits: u64,
    /// The sums over delivered packets for each batch of the window, by creation time.
    pub batches: Vec<PacketSums>,
    /// Packet latency [cycles], exact to 3 significant digits.
    pub latency: Histogram<u64>,
    pub network_latency: Histogram<u64>,
    /// Packets by number of hops (index = hops; entry 63 also counts all longer paths).
    pub hop_counts: Vec<u64>,
    /// The most links between routers that a packet has crossed. The maximum is over the delivered packets of the window, and all packets
    /// in flight at the end.
    pub longest_path: u32,
    pub channels: Vec<ChannelCount>,
    /// For each of [`crate::Spec::bundles`], the cycles of the window in which all its channels were off.
    pub asleep: Vec<u64>,
    pub jobs: Vec<JobOutcome>,
    /// Outcome of each message class; empty if the spec has no classes.
    pub classes: Vec<ClassOutcome>,
    /// The tables of the recordings, by name, in the order of the scenario.
    pub recorded: Vec<(&'static str, Table)>,
    /// Control packets of the power policy over the window; `None` if it sends none.
    pub control: Option<ControlCount>,
    /// Marks and notifications of congestion control, and the flows that it limits at the end; `None` without congestion control.
    pub congestion: Option<Congestion>,
    /// Queues set aside for congested outputs; `None` if the scheme sets none aside.
    pub set_aside: Option<SetAside>,
    /// The journeys of the watched packets.
    pub journeys: Vec<Journey>,
    /// The phases of a changing load within the window; empty if the load does not change.
    pub phases: Vec<PhaseOutcome>,
    /// Arrivals by fault; `None` if no part fails in the run.
    pub faults: Option<FaultOutcome>,
    /// Flits that crossed a router (including the router of their destination) in the whole run: the unit of simulation speed.
    pub flit_hops: u64,
    /// Additional cycles in the window that slow links took, compared with the previous link of each path, until the whole head was on
    /// them.
    pub serial_cycles: u64,
}
