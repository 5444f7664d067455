//! Workloads: the packets that the terminals of a job send, and the times of these packets.
//!
//! [`WorkloadModel`] is the configuration. A [`Workload`] is the data that all blocks of a run share, and [`Sources`] are the terminals of
//! the job in one block. The network interface of a terminal requests one packet at a time from its source, and injects the packet flit by
//! flit. A source returns the time at which it has to be asked again: now, at a cycle, or not before a delivery. Therefore a message that
//! is longer than a packet is sent packet by packet, and a delivery may make any number of messages ready.

use super::activity::{OfJob, Wanted};
use super::clocks::ClockSources;
use crate::base::kept::{Kept, Reader, Unreadable, Value, Writer};
use crate::recording::Table;
use crate::state::Packet;
use std::fmt::Debug;
use std::ops::AddAssign;
use std::sync::Arc;
use weft_topology::{Domains, Graph};
use weft_traffic::{InjectionConfig, Lengths, Pattern};
use weft_units::{Cycles, Refusal, Remark};

/// Length of the longest packet [flits]: lengths and credits are 16-bit numbers.
const MAX_PACKET_FLITS: u32 = u16::MAX as u32;
/// The most packets of a terminal: packets are numbered with 32 bits.
pub const MAX_BATCH: u32 = 1 << 31;

/// `due` of a source that has nothing to send before a delivery, or that never sends again.
pub const NOT_DUE: u64 = u64::MAX;

/// The pattern and the load of a job from some cycle on.
#[derive(Debug, Clone)]
pub struct LoadPhase {
    pub from: Cycles,
    /// Pattern among the ranks of the job.
    pub pattern: Arc<Pattern>,
    /// Offered load of each rank [flits/cycle], 0 to 1, without the packets that deliveries cause. The load is used without scaling: the
    /// pattern's relative loads are already included.
    pub load: Vec<f64>,
}

/// The job for which a workload is built.
#[derive(Debug)]
pub struct JobSite<'a> {
    /// Dotted path of the job in the scenario.
    pub path: String,
    /// Name of the job, for messages.
    pub job: &'a str,
    /// The terminal of each rank.
    pub terminals: &'a [u32],
    pub phases: &'a [LoadPhase],
    /// Lengths of packets [flits].
    pub packets: &'a Lengths,
    pub injection: &'a InjectionConfig,
    /// Number of packets that each rank sends before it stops.
    pub batch: Option<&'a [u32]>,
    /// Whether replies have another message class than the job's own packets.
    pub apart: bool,
    /// Number of networks that do not share channels (planes): consecutive terminals are in different planes.
    pub planes: u32,
    /// Information which terminals are near each other.
    pub near: Near<'a>,
    pub cycle_fs: u128,
    /// Size of a flit [bits].
    pub flit_bits: u64,
    pub seed: u64,
    /// The activity of ranks that recordings can use.
    pub wanted: Wanted,
}

/// The domains of a network, computed when a workload first uses them.
#[derive(Debug, Clone, Copy)]
pub struct Near<'a>(Option<&'a Graph>);

impl<'a> Near<'a> {
    /// For jobs without such information: no terminal is near another.
    pub const UNKNOWN: Near<'static> = Near(None);

    pub fn of(graph: &'a Graph) -> Self {
        Self(Some(graph))
    }

    /// The same as [`Graph::domains`].
    pub fn domains(self) -> Vec<Domains> {
        self.0.map(Graph::domains).unwrap_or_default()
    }
}

/// The use of the network by one program of a workload. The program's share of the energy is computed from its usage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of cores that the program occupied, times the cycles for which it ran. If terminals belong to only one program, each terminal
    /// counts as one core.
    pub core_cycles: u64,
    pub cores_per_terminal: u32,
    /// Number of flits delivered, and the sum over these flits of the links between routers that each crossed.
    pub flits: u64,
    pub link_flits: u64,
}

impl JobSite<'_> {
    /// A refusal that names a key of the job.
    pub fn refusal(&self, key: &str, what: String, help: &str) -> Refusal {
        Refusal::new(format!("{}.{key}", self.path), what, help)
    }

    /// Refuses a packet length [flits] that is written at `key`.
    pub fn check_length(&self, key: &str, flits: u32) -> Result<(), Refusal> {
        if (1..=MAX_PACKET_FLITS).contains(&flits) {
            return Ok(());
        }
        let what = format!("a packet of {flits}flits is not possible; a packet has 1 to {MAX_PACKET_FLITS} flits");
        Err(self.refusal(key, what, "write 1flit or more, and send longer messages as several packets"))
    }
}

/// A number of packets, and the number of their flits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct Amount {
    pub packets: u64,
    pub flits: u64,
}

impl AddAssign for Amount {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.flits += other.flits;
    }
}

impl std::iter::Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), |mut sum, amount| {
            sum += amount;
            sum
        })
    }
}

/// The condition under which a packet counts in the measured window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// The packet counts if it was created in the window. This packet is offered load in its own right.
    IfCreatedInWindow,
    /// The packet counts if the packet whose delivery caused it counts. This packet belongs to the offered load of the packet that caused
    /// it ([`Workload::in_all`]).
    AsItsCause { measured: bool },
}

/// A packet that a source gives to the network interface.
#[derive(Debug, Clone, Copy)]
pub struct NewPacket {
    /// Destination terminal of the packet.
    pub to: u32,
    /// Length of the packet [flits].
    pub flits: u16,
    /// The cycle in which the packet was created. This cycle is earlier than now if the packet had to wait, or if the packets before it
    /// took a long time to leave.
    pub created: u64,
    /// A number for the workload's own use, stored in `Packet::tag`.
    pub tag: u32,
    pub counts: Counts,
}

/// Packets that terminals wait for under a workload.
#[derive(Debug, Clone, Copy)]
pub struct Awaits {
    /// The awaited packets in one word, for messages.
    pub what: &'static str,
    /// The change to a scenario that avoids waiting for these packets.
    pub remedy: &'static str,
}

/// The configuration of a workload.
pub trait WorkloadModel {
    /// The packets that terminals wait for. `None`: terminals wait for no packets, and sources are not notified of sent or delivered
    /// packets.
    fn awaits(&self) -> Option<Awaits>;

    /// The packets that a terminal would wait for forever if a failed link or router discards one. `None`: the terminal continues without
    /// the lost packet.
    fn halts_at_losses(&self) -> Option<Awaits> {
        self.awaits()
    }

    /// Whether terminals offer only the load that the network permits, because they wait for deliveries: then no load is too high.
    fn follows_network(&self) -> bool {
        self.awaits().is_some()
    }

    /// Whether the workload itself determines the packets that terminals send. If so, patterns, loads, injection processes and batches have
    /// no effect.
    fn has_own_demand(&self) -> bool {
        false
    }

    /// Lengths of all packets [flits], if the packets that terminals send without a request have `packet_flits`.
    fn lengths(&self, packet_flits: u32) -> Vec<u32> {
        vec![packet_flits]
    }

    /// Number of flits of the reply that the destination of each packet sends to its source; `None` if there are no replies.
    fn reply_flits(&self) -> Option<u32> {
        None
    }

    /// Cycles from the delivery of a packet until its reply may be sent; they are part of the latency of the reply. Refuses a time that is
    /// not a whole number of cycles of `cycle_fs`; `path` is the dotted path of this workload.
    fn turnaround(&self, _cycle_fs: u128, _path: &str) -> Result<Cycles, Refusal> {
        Ok(0)
    }

    /// Number of cycles after which a source reacts to sources of other blocks, and the key that sets it; `None` if sources never react to
    /// others. Blocks have to exchange messages within that time, so it is longer than the latency of every link.
    fn acts_on_others_after(&self, _cycle_fs: u128) -> Option<(&'static str, Cycles)> {
        None
    }

    /// The message class of replies, if replies have their own class: then sources have two parts ([`Workload::parts`]).
    fn reply_class(&self) -> Option<&str> {
        None
    }

    /// Whether sources act by themselves ([`Sources::act`]), or a call of one source makes other sources due. If so, the engine asks after
    /// each call which sources have become due ([`Sources::take_woken`]).
    fn wakes_others(&self) -> bool {
        false
    }

    /// Number of consecutive terminals of the job that share a state, such as the terminals of a node. The engine puts these terminals into
    /// one block if possible. `planes`: the same as in [`JobSite`].
    fn terminals_together(&self, _planes: u32) -> u32 {
        1
    }

    /// Cycles after which terminals that share a state affect each other, at least 1; they may then be in several blocks. Blocks exchange
    /// messages at least once in that time. `None`: the terminals affect each other at once, so they must be in one block.
    fn notes_after(&self, _cycle_fs: u128) -> Option<Cycles> {
        None
    }

    /// Whether packets occupy the buffer of their destination terminal until the terminal has answered them ([`Workload::keeps`]).
    fn keeps_requests(&self) -> bool {
        false
    }

    /// Remarks on a job that passed `check` but would give misleading results: warnings of the run.
    fn remarks(&self, _site: &JobSite) -> Result<Vec<Remark>, Refusal> {
        Ok(Vec::new())
    }

    /// Times of the network interfaces of a node, in JSON, for estimates without a network; `Null` if there are none. `units`: length of a
    /// cycle \[fs\] and size of a flit \[bits\].
    fn interface_times(&self, _units: (u128, u64)) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Refuses a job for which the workload can't work. Loads that the injection process refuses are not checked here (`build` does).
    fn check(&self, site: &JobSite) -> Result<(), Refusal>;

    /// Builds the workload for a job that passed `check`.
    fn build(&self, site: &JobSite) -> Result<Arc<dyn Workload>, Refusal>;

    /// Configurations that differ in behaviour. Tests run all these configurations, alone and together with others.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

/// State of progress of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The workload does not end by itself, or it ends after [`Workload::total`] packets.
    Endless,
    Open,
    /// The workload has ended in this cycle.
    Ended(u64),
}

impl Progress {
    /// Whether the workload ends by itself.
    pub fn ends(self) -> bool {
        self != Self::Endless
    }
}

/// A terminal of a job: its number in the network, and its rank in the job.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub terminal: u32,
    pub rank: u32,
}

/// A workload in a running simulation.
pub trait Workload: Debug + Send + Sync {
    /// The sources of the terminals of one block, numbered in this order: all parts of the first terminal's source, then those of the next.
    fn sources(&self, here: &[Place]) -> JobSources;

    /// The part of a source that is notified when `packet` is delivered. A source has one part, or one for each message class of its
    /// packets. The network interface asks each part for packets separately.
    fn part_for(&self, _packet: &Packet) -> usize {
        0
    }

    /// Whether `packet` occupies the buffer of the terminal that it has reached, until a packet leaves that frees the space.
    fn keeps(&self, _packet: &Packet) -> bool {
        false
    }

    /// Whether `packet`, when it has left the terminal, frees the space of the oldest packet that the terminal keeps.
    fn frees(&self, _packet: &Packet) -> bool {
        false
    }

    /// Returns the total for `own` packets, which terminals create without a request: these packets, and all packets that their deliveries
    /// cause.
    fn in_all(&self, own: Amount) -> Amount {
        own
    }

    /// The packets that the delivery of a lost packet would have caused.
    fn unborn(&self, _lost: &Packet) -> Amount {
        Amount::default()
    }

    /// Number of packets to be delivered in the whole run, if the workload ends by itself.
    fn total(&self) -> Option<u64> {
        None
    }

    /// The present progress, if the workload ends by itself after an unknown number of packets.
    fn progress(&self) -> Progress {
        Progress::Endless
    }

    /// Whether none of its packets is in flight, and none of its sources will send before a delivery. If the progress is [`Progress::Open`]
    /// in such a state, the workload never ends, independent of other jobs.
    fn is_at_rest(&self) -> bool {
        false
    }

    /// Names the ranks or terminals that wait and the events they wait for, if the workload is [`Progress::Open`] and nothing can happen
    /// any more.
    fn stuck(&self) -> Option<String> {
        None
    }

    /// Tables of the results of the whole run, by name. `end`: the cycle in which the run ends.
    fn tables(&self, _end: u64) -> Vec<(&'static str, Table)> {
        Vec::new()
    }

    /// The name of a table whose rows share the energy of the network, and the usage of each row. `end` is the last cycle of the run.
    fn usages(&self, _end: u64) -> Option<(&'static str, Vec<Usage>)> {
        None
    }

    /// The activity of the ranks of each program of the workload, up to cycle `end`, the end of the run. The name of a program begins with
    /// `job`, the name of its job.
    fn activities(&self, _job: &str, _end: u64) -> Vec<OfJob> {
        Vec::new()
    }

    /// Results of the whole run as single numbers, by name with unit; `None` for a result that does not exist. `end`: the cycle in which
    /// the run ends.
    fn figures(&self, _end: u64) -> Vec<(&'static str, Option<f64>)> {
        Vec::new()
    }

    /// Whether the offered load is the same random process throughout a phase, independent of the network.
    fn is_steady(&self) -> bool {
        false
    }

    /// Variance divided by mean of the number of packets that terminals create without a request in a long time, in the phase of the load
    /// that begins with cycle `start`. `None` if the network can't fall behind a rate: the workload ends by itself, or all its packets wait
    /// for deliveries.
    fn dispersion(&self, _start: Cycles) -> Option<f64> {
        None
    }

    /// Latencies that are counted separately for this workload, by the names of their columns in the results.
    fn latencies(&self) -> &'static [&'static str] {
        &[]
    }

    /// Cycles since the creation of a packet in which its terminal was not allowed to send it.
    fn kept_back(&self, _packet: &Packet) -> Cycles {
        0
    }

    /// Calls `count` for each of these latencies to which a delivered packet adds, with its index in `latencies` and the cycles.
    fn latencies_of(&self, _packet: &Packet, _latency: u64, _count: &mut dyn FnMut(usize, u64)) {}
}

/// The packets that a source would have sent before a cycle if each packet had left when it was created.
#[derive(Debug, Clone, Copy, Default)]
pub struct Backlog {
    /// Number of packets that wait at the source, including replies. A reply that the source may not send yet does not count.
    pub packets: u64,
    /// Number of flits in the waiting packets.
    pub flits: u64,
    /// Packets that the source created in the window without a request.
    pub in_window: Amount,
}

/// The sources of a job in one block.
#[derive(Debug)]
pub enum JobSources {
    /// Only clocks: the most common workload, which the loop calls without a virtual call.
    Clocks(ClockSources),
    Asked(Box<dyn Sources>),
}

impl Kept for JobSources {
    fn keep(&self, to: &mut Writer) {
        self.all().keep(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        self.all_mut().restore(from)
    }
}

impl JobSources {
    /// The sources through the trait that all workloads share.
    pub fn all(&self) -> &dyn Sources {
        match self {
            Self::Clocks(clocks) => clocks,
            Self::Asked(sources) => &**sources,
        }
    }

    pub fn all_mut(&mut self) -> &mut dyn Sources {
        match self {
            Self::Clocks(clocks) => clocks,
            Self::Asked(sources) => &mut **sources,
        }
    }
}

/// The sources of a job's terminals in one block, as network interfaces call them. `due` of a source is the first cycle in which it has to
/// be asked for its next packet, or [`NOT_DUE`]. The network interface stores `due`; the source updates it at every call.
pub trait Sources: Kept + Debug + Send + Sync {
    /// The first cycle in which `source` is due.
    fn start(&mut self, source: usize) -> u64;

    /// The packet that `source`, which is due, sends in cycle `now`; `None` if it has none after all. `due` is then set to the cycle of the
    /// next packet; `sent` may change it.
    fn next(&mut self, source: usize, due: &mut u64, now: u64) -> Option<NewPacket>;

    /// Called when the network interface can take the next packet, in cycle `now`. The tail of the source's last packet has been injected,
    /// or that packet waits in a queue for its destination. `due` keeps its value unless the source writes it.
    fn sent(&mut self, _source: usize, _due: &mut u64, _now: u64) {}

    /// Called when `packet` has been delivered to the terminal of `source` in cycle `now`, possibly while the terminal is injecting another
    /// packet. `due` keeps its value unless the source writes it.
    fn delivered(&mut self, _source: usize, _packet: &Packet, _due: &mut u64, _now: u64) {}

    /// The next cycle in which an event occurs at these sources without a call by the engine ([`Self::act`]), or [`NOT_DUE`]. This cycle
    /// changes only in calls of other methods.
    fn next_act(&self) -> u64 {
        NOT_DUE
    }

    /// Processes all events that occur at these sources up to cycle `now`, such as the end of a computation. The engine calls this after
    /// the deliveries of cycle `now` and before it requests a packet from a source. Then the engine asks which sources are due
    /// ([`Self::take_woken`]).
    fn act(&mut self, _now: u64) {}

    /// Number of events that have occurred at these sources by themselves so far. The number is an estimate of the work that flit-hops do
    /// not include.
    fn acts(&self) -> u64 {
        0
    }

    /// Another source that the last call has made due, and the cycle in which it is due; `None` when there are no more
    /// ([`WorkloadModel::wakes_others`]). The new due cycle is earlier than the source's previous one. The new due cycle is not before the
    /// cycle of the call; after a call of `next` or `sent` it is later than that cycle.
    fn take_woken(&mut self) -> Option<(usize, u64)> {
        None
    }

    /// Called when cycles `now` to `until` - 1 begin, at most [`WorkloadModel::notes_after`] cycles. By then, all notes that terminals of
    /// other blocks wrote before `now` have arrived. The engine then asks which sources have become due ([`Self::take_woken`]).
    fn exchange(&mut self, _now: u64, _until: u64) {}

    /// The packets that wait at `source` in cycle `until`, without the packet that is being injected. `window`: the first cycle of the
    /// measured window, and the first cycle after it.
    fn backlog(&self, source: usize, due: u64, until: u64, window: (u64, u64)) -> Backlog;

    /// Number of flits that wait at `source` in cycle `until`, as in [`Self::backlog`]; if at least `most` wait, any number from `most` on.
    fn flits_due(&self, source: usize, due: u64, until: u64, _most: u64) -> u64 {
        self.backlog(source, due, until, (u64::MAX, u64::MAX)).flits
    }

    /// Flits of the replies that `source` has but may not send before cycle `now`.
    fn kept_back(&self, _source: usize, _now: u64) -> u64 {
        0
    }

    /// Whether `source` has created all packets that it sends without a request before cycle `until`, and these packets have left.
    /// `in_hand`: the packet that is being injected now.
    fn finished(&self, _source: usize, due: u64, in_hand: Option<&Packet>, until: u64) -> bool {
        due >= until && self.next_act() >= until && in_hand.is_none_or(|packet| packet.created >= until)
    }
}
