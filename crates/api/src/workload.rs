//! Workloads: which packets the terminals of a job send, and when.
//!
//! The trait [`WorkloadModel`] is for the configuration of a workload. A [`Workload`] has the data that all blocks of a run share, and
//! [`Sources`] has the data of the job's terminals in one block. The network interface of a terminal requests packets one at a time from
//! its source, and injects each packet flit by flit. With each packet, a source also sets the time of the next request: now, a later cycle,
//! or after a delivery. Therefore a source can send a long message packet by packet, and a delivery may make any number of messages ready.

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

/// Maximum length of a packet [flits], because lengths and credits are 16-bit numbers.
const MAX_PACKET_FLITS: u32 = u16::MAX as u32;
/// Maximum number of packets of a terminal, because packets have 32-bit numbers.
pub const MAX_BATCH: u32 = 1 << 31;

/// Value of `due` for a source that sends nothing before a delivery, or never again.
pub const NOT_DUE: u64 = u64::MAX;

/// A phase of a job's load: the pattern and the load that are valid from cycle `from` on.
#[derive(Debug, Clone)]
pub struct LoadPhase {
    pub from: Cycles,
    /// Traffic pattern among the ranks of the job.
    pub pattern: Arc<Pattern>,
    /// Offered load of each rank [flits/cycle], 0 to 1, without packets that deliveries cause. The workload uses these loads without
    /// scaling, because they already include the pattern's relative loads.
    pub load: Vec<f64>,
}

/// The job for which a workload is built: the data that the workload may use.
#[derive(Debug)]
pub struct JobSite<'a> {
    /// Dotted path of the job in the scenario, for messages.
    pub path: String,
    /// Name of the job, for messages.
    pub job: &'a str,
    /// The terminal number of each rank of the job.
    pub terminals: &'a [u32],
    pub phases: &'a [LoadPhase],
    /// Lengths of the job's packets [flits].
    pub packets: &'a Lengths,
    pub injection: &'a InjectionConfig,
    /// Number of packets that each rank sends before it stops; `None` if the job is not a batch.
    pub batch: Option<&'a [u32]>,
    /// Whether replies have a message class of their own, different from that of the job's other packets.
    pub apart: bool,
    /// Number of planes (networks that share no channels); consecutive terminals are in different planes.
    pub planes: u32,
    /// Information about which terminals are near each other.
    pub near: Near<'a>,
    pub cycle_fs: u128,
    /// Size of a flit [bits].
    pub flit_bits: u64,
    pub seed: u64,
    /// The activity of ranks that the recordings of the run request.
    pub wanted: Wanted,
}

/// The domains (sets of near terminals) of a network, computed when a workload requests them.
#[derive(Debug, Clone, Copy)]
pub struct Near<'a>(Option<&'a Graph>);

impl<'a> Near<'a> {
    /// For jobs without information about domains: no terminal is near another.
    pub const UNKNOWN: Near<'static> = Near(None);

    pub fn of(graph: &'a Graph) -> Self {
        Self(Some(graph))
    }

    /// The domains of the network, from [`Graph::domains`]; empty if unknown.
    pub fn domains(self) -> Vec<Domains> {
        self.0.map(Graph::domains).unwrap_or_default()
    }
}

/// How much one program of a workload used the network. Weft computes the program's share of the network's energy from these numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of cores that the program occupied, times the cycles for which it ran. If programs do not share terminals, each terminal
    /// counts as one core.
    pub core_cycles: u64,
    pub cores_per_terminal: u32,
    /// Number of delivered flits.
    pub flits: u64,
    /// Number of links between routers that the delivered flits crossed in total.
    pub link_flits: u64,
}

impl JobSite<'_> {
    /// Makes a refusal whose place is a key of the job.
    pub fn refusal(&self, key: &str, what: String, help: &str) -> Refusal {
        Refusal::new(format!("{}.{key}", self.path), what, help)
    }

    /// Refuses a packet length [flits] that is out of range; the user wrote it under `key`.
    pub fn check_length(&self, key: &str, flits: u32) -> Result<(), Refusal> {
        if (1..=MAX_PACKET_FLITS).contains(&flits) {
            return Ok(());
        }
        let what = format!("a packet of {flits}flits is not possible; a packet has 1 to {MAX_PACKET_FLITS} flits");
        Err(self.refusal(key, what, "write 1flit or more, and send longer messages as several packets"))
    }
}

/// A number of packets, with the number of their flits.
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

/// The condition under which a packet counts in the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// The packet counts if it was created in the window. A packet of this kind is offered load itself.
    IfCreatedInWindow,
    /// The packet counts if the packet whose delivery caused it also counts. Its flits belong to the offered load of the packet that caused
    /// it ([`Workload::in_all`]).
    AsItsCause { measured: bool },
}

/// A new packet that a source passes to the network interface.
#[derive(Debug, Clone, Copy)]
pub struct NewPacket {
    /// Destination terminal of the packet.
    pub to: u32,
    /// Length of the packet [flits].
    pub flits: u16,
    /// The cycle in which the source created the packet. This cycle is in the past if the packet had to wait, for example because earlier
    /// packets took long to leave.
    pub created: u64,
    /// A number for the workload's own use, which the packet carries as `Packet::tag`.
    pub tag: u32,
    pub counts: Counts,
}

/// The packets that terminals wait for under a workload, in words for messages.
#[derive(Debug, Clone, Copy)]
pub struct Awaits {
    /// The awaited packets in one word.
    pub what: &'static str,
    /// The change to a scenario after which terminals do not wait for these packets.
    pub remedy: &'static str,
}

/// The configuration of a workload, as a scenario writes it.
pub trait WorkloadModel {
    /// The packets that terminals wait for before they send more. `None`: terminals wait for no packets, and sources are not notified of
    /// sent or delivered packets.
    fn awaits(&self) -> Option<Awaits>;

    /// The packets whose loss makes a terminal wait forever, if a failed link or router discards one. `None`: the terminal continues
    /// without a lost packet.
    fn halts_at_losses(&self) -> Option<Awaits> {
        self.awaits()
    }

    /// Whether terminals offer only the load that the network permits, because they wait for deliveries. Under such a workload no load is
    /// too high.
    fn follows_network(&self) -> bool {
        self.awaits().is_some()
    }

    /// Whether the workload itself determines the packets that terminals send. Under such a workload, patterns, loads, injection processes
    /// and batches have no effect on the job.
    fn has_own_demand(&self) -> bool {
        false
    }

    /// All lengths [flits] that packets of the job can have, if packets that no delivery caused have `packet_flits` flits.
    fn lengths(&self, packet_flits: u32) -> Vec<u32> {
        vec![packet_flits]
    }

    /// Number of flits of the reply to each packet, which the packet's destination sends to its source; `None` if there are no replies.
    fn reply_flits(&self) -> Option<u32> {
        None
    }

    /// Number of cycles from the delivery of a packet until its reply may be sent. The latency of the reply includes this time. Refuses a
    /// time that is not a whole number of cycles. `cycle_fs`: length of a cycle [fs]; `path`: dotted path of this workload.
    fn turnaround(&self, _cycle_fs: u128, _path: &str) -> Result<Cycles, Refusal> {
        Ok(0)
    }

    /// Number of cycles after which a source reacts to sources of other blocks, with the key that sets it; `None` if sources never react to
    /// others. The blocks of a run must exchange mail within that time. The time between two exchanges can be as long as the latency of a
    /// link. Therefore Weft refuses a number that is not larger than the latency of every link.
    fn acts_on_others_after(&self, _cycle_fs: u128) -> Option<(&'static str, Cycles)> {
        None
    }

    /// The message class of replies, if they have one of their own; sources then have two parts ([`Workload::parts`]).
    fn reply_class(&self) -> Option<&str> {
        None
    }

    /// Whether sources act by themselves ([`Sources::act`]), or a call of one source can make other sources due. For such a workload, the
    /// engine calls [`Sources::take_woken`] after each call of a source, to get the sources that are now due.
    fn wakes_others(&self) -> bool {
        false
    }

    /// Number of consecutive terminals of the job that share a state, such as the terminals of a node. The engine puts these terminals into
    /// one block if possible. `planes`: number of planes, as in [`JobSite`].
    fn terminals_together(&self, _planes: u32) -> u32 {
        1
    }

    /// Number of cycles, at least 1, after which terminals that share a state affect each other. If there is such a delay, these terminals
    /// may be in several blocks. Blocks then exchange messages at least once in that time. `None`: these terminals affect each other at
    /// once, so they must be in one block.
    fn notes_after(&self, _cycle_fs: u128) -> Option<Cycles> {
        None
    }

    /// Whether a packet occupies the buffer of its destination terminal until the terminal has answered it ([`Workload::keeps`]).
    fn keeps_requests(&self) -> bool {
        false
    }

    /// Remarks on a job that passed `check` but would give misleading results. The run shows these remarks as warnings.
    fn remarks(&self, _site: &JobSite) -> Result<Vec<Remark>, Refusal> {
        Ok(Vec::new())
    }

    /// The times that the network interfaces of a node need, in JSON, for estimates without a simulated network; `Null` if there are none.
    /// `units`: length of a cycle \[fs\] and size of a flit \[bits\].
    fn interface_times(&self, _units: (u128, u64)) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Refuses a job with which the workload cannot work. This method does not check the loads, because `build` refuses loads that are
    /// wrong for the injection process.
    fn check(&self, site: &JobSite) -> Result<(), Refusal>;

    /// Builds the workload for a job that passed `check`.
    fn build(&self, site: &JobSite) -> Result<Arc<dyn Workload>, Refusal>;

    /// Configurations for tests that differ in behaviour. Tests run each configuration alone, and together with others.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

/// The progress of a workload in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The workload does not end by itself, or it ends after [`Workload::total`] packets.
    Endless,
    Open,
    /// The workload has ended in this cycle.
    Ended(u64),
}

impl Progress {
    /// Whether the workload ends by itself after an unknown number of packets.
    pub fn ends(self) -> bool {
        self != Self::Endless
    }
}

/// A terminal of a job: its number in the network and its rank in the job.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub terminal: u32,
    pub rank: u32,
}

/// A workload in a running simulation.
pub trait Workload: Debug + Send + Sync {
    /// The sources of one block's terminals. Sources are numbered by terminal, then by part of the terminal's source.
    fn sources(&self, here: &[Place]) -> JobSources;

    /// The part of a source that is notified when `packet` is delivered. A source has one part, or one for each message class of its
    /// packets. The network interface requests packets from each part separately.
    fn part_for(&self, _packet: &Packet) -> usize {
        0
    }

    /// Whether `packet` occupies buffer space at its destination terminal until that terminal sends a packet that frees the space.
    fn keeps(&self, _packet: &Packet) -> bool {
        false
    }

    /// Whether `packet` frees buffer space when it leaves its terminal: the space of the oldest packet that the terminal keeps.
    fn frees(&self, _packet: &Packet) -> bool {
        false
    }

    /// Total number of packets, if terminals create `own` packets that no delivery caused. The result includes `own` and all packets that
    /// their deliveries cause.
    fn in_all(&self, own: Amount) -> Amount {
        own
    }

    /// The packets that the delivery of a lost packet would have caused, and that are now never created.
    fn unborn(&self, _lost: &Packet) -> Amount {
        Amount::default()
    }

    /// Number of packets to be delivered in the whole run, if the workload ends after a known number of packets; otherwise `None`.
    fn total(&self) -> Option<u64> {
        None
    }

    /// The present progress, if the workload ends after an unknown number of packets.
    fn progress(&self) -> Progress {
        Progress::Endless
    }

    /// Whether the workload has no packet in flight, and none of its sources will send before a delivery. If the result is true and the
    /// progress is [`Progress::Open`], the workload never ends, whatever other jobs do.
    fn is_at_rest(&self) -> bool {
        false
    }

    /// For a workload that can never end: the ranks or terminals that wait, and the events they wait for, in words. The progress is then
    /// [`Progress::Open`].
    fn stuck(&self) -> Option<String> {
        None
    }

    /// The tables of the workload's results, by name, for the whole run. `end`: the cycle in which the run ends.
    fn tables(&self, _end: u64) -> Vec<(&'static str, Table)> {
        Vec::new()
    }

    /// The name of a table whose rows get a share of the network's energy, and the usage of each row. `end` is the last cycle of the run.
    fn usages(&self, _end: u64) -> Option<(&'static str, Vec<Usage>)> {
        None
    }

    /// The activity of the ranks of each program of the workload, up to `end`, the cycle in which the run ends. Each returned name of a
    /// program begins with `job`, the name of the program's job.
    fn activities(&self, _job: &str, _end: u64) -> Vec<OfJob> {
        Vec::new()
    }

    /// Results of the workload that are single numbers, by name with unit; `None` for a result that does not exist. `end`: the cycle in
    /// which the run ends.
    fn figures(&self, _end: u64) -> Vec<(&'static str, Option<f64>)> {
        Vec::new()
    }

    /// Whether the offered load is the same random process throughout a phase, whatever the network does.
    fn is_steady(&self) -> bool {
        false
    }

    /// Variance divided by mean of the number of packets that terminals create in a long time, without packets that a delivery caused.
    /// `start`: first cycle of the phase of the load. `None` if the workload has no rate that could be too high for the network: it ends by
    /// itself, or all its packets wait for deliveries.
    fn dispersion(&self, _start: Cycles) -> Option<f64> {
        None
    }

    /// Names of result columns for latencies that Weft counts separately for this workload.
    fn latencies(&self) -> &'static [&'static str] {
        &[]
    }

    /// Number of cycles since the creation of a packet in which its terminal was not allowed to send it.
    fn kept_back(&self, _packet: &Packet) -> Cycles {
        0
    }

    /// Calls `count` for each latency in `latencies` to which the delivered packet adds: with the latency's index, and the cycles to add.
    fn latencies_of(&self, _packet: &Packet, _latency: u64, _count: &mut dyn FnMut(usize, u64)) {}
}

/// The backlog of a source before a cycle: the packets that it would have sent if each packet had left when it was
/// created.
#[derive(Debug, Clone, Copy, Default)]
pub struct Backlog {
    /// Number of waiting packets, including replies. Replies that the source may not send yet do not count.
    pub packets: u64,
    /// Number of flits of the waiting packets.
    pub flits: u64,
    /// The packets that the source created in the measured window without a request.
    pub in_window: Amount,
}

/// The sources of a job's terminals in one block.
#[derive(Debug)]
pub enum JobSources {
    /// All sources are random clocks: the most common workload, which the cycle loop calls without a virtual call.
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
    /// All sources as a trait object, for code that works for all workloads.
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

/// The sources of a job's terminals in one block, with the methods that network interfaces call. The value `due` of a source is the first
/// cycle in which the network interface must request its next packet, or [`NOT_DUE`]. The network interface stores `due`; the source
/// updates `due` at every call.
pub trait Sources: Kept + Debug + Send + Sync {
    /// The first cycle in which `source` is due.
    fn start(&mut self, source: usize) -> u64;

    /// Returns the packet that `source` sends in cycle `now`, in which the source is due; `None` if it has no packet after all. The method
    /// also sets `due` to the cycle of the next packet; `sent` may change it later.
    fn next(&mut self, source: usize, due: &mut u64, now: u64) -> Option<NewPacket>;

    /// Called in cycle `now`, when the network interface can take the next packet of `source`. This is when the last packet's tail has been
    /// injected, or when the last packet has been put into a queue for its destination. If the method does not write `due`, it keeps its
    /// value.
    fn sent(&mut self, _source: usize, _due: &mut u64, _now: u64) {}

    /// Called when `packet` has reached the terminal of `source` in cycle `now`. The terminal may be injecting another packet at that time.
    /// If the method does not write `due`, it keeps its value.
    fn delivered(&mut self, _source: usize, _packet: &Packet, _due: &mut u64, _now: u64) {}

    /// The next cycle in which the engine must call [`Self::act`], because an event occurs at these sources by itself; [`NOT_DUE`] if there
    /// is none. Only calls of other methods change this cycle.
    fn next_act(&self) -> u64 {
        NOT_DUE
    }

    /// Processes the events that occur by themselves at these sources up to cycle `now`, such as the end of a computation. The engine calls
    /// this method after the deliveries of cycle `now`, and before it requests a packet from a source. After the call the engine calls
    /// [`Self::take_woken`], to get the sources that are now due.
    fn act(&mut self, _now: u64) {}

    /// Number of events that have occurred by themselves at these sources so far. The engine uses this number to estimate the work of a
    /// block, which flit-hops alone do not show.
    fn acts(&self) -> u64 {
        0
    }

    /// Another source that the last call made due, and the cycle in which it is due; `None` if there are no more
    /// ([`WorkloadModel::wakes_others`]). The returned cycle is earlier than the source's previous `due`, and not before the cycle of the
    /// last call. If the last call was `next` or `sent`, the returned cycle is later than that of the call.
    fn take_woken(&mut self) -> Option<(usize, u64)> {
        None
    }

    /// Called before the block simulates cycles `now` to `until` - 1, which are at most [`WorkloadModel::notes_after`] cycles. At this
    /// time, all notes to these sources that terminals of other blocks wrote before `now` have arrived. After the call the engine calls
    /// [`Self::take_woken`], to get the sources that are now due.
    fn exchange(&mut self, _now: u64, _until: u64) {}

    /// The packets that wait at `source` in cycle `until`, except the packet that the terminal is injecting. `window`: first cycle of the
    /// measured window, and first cycle after it.
    fn backlog(&self, source: usize, due: u64, until: u64, window: (u64, u64)) -> Backlog;

    /// Number of flits that wait at `source` in cycle `until`, as in [`Self::backlog`]. If at least `most` flits wait, any number from
    /// `most` on is correct.
    fn flits_due(&self, source: usize, due: u64, until: u64, _most: u64) -> u64 {
        self.backlog(source, due, until, (u64::MAX, u64::MAX)).flits
    }

    /// Number of flits in the replies that `source` has but may not send before cycle `now`.
    fn kept_back(&self, _source: usize, _now: u64) -> u64 {
        0
    }

    /// Whether `source` has created all its packets with creation times before cycle `until`, and these packets have left. Packets that a
    /// delivery causes do not count. `in_hand`: the packet that the terminal is injecting now.
    fn finished(&self, _source: usize, due: u64, in_hand: Option<&Packet>, until: u64) -> bool {
        due >= until && self.next_act() >= until && in_hand.is_none_or(|packet| packet.created >= until)
    }
}
