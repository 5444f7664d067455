//! Workloads: packets that the terminals of a job send, and their times.
//!
//! [`WorkloadModel`] is the configuration, [`Workload`] what all blocks share of it at work, [`Sources`] the terminals of
//! the job in one block. The network interface of a terminal asks its source for one packet at a time and injects it
//! flit by flit. A source says when it is to be asked again: now, at a cycle, or not before a delivery. So a message that
//! is longer than a packet is given packet by packet, and a delivery may make any number of messages ready.

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

/// The largest packet [flits]: lengths and credits are 16-bit numbers.
const MAX_PACKET_FLITS: u32 = u16::MAX as u32;
/// Packets of a terminal at most: they are numbered with 32 bits.
pub const MAX_BATCH: u32 = 1 << 31;

/// `due` of a source that has nothing to send before a delivery, or never again.
pub const NOT_DUE: u64 = u64::MAX;

/// The pattern and the load of a job from a cycle on.
#[derive(Debug, Clone)]
pub struct LoadPhase {
    pub from: Cycles,
    /// Among the ranks of the job.
    pub pattern: Arc<Pattern>,
    /// Offered load of each rank [flits/cycle], 0 to 1, without what follows from deliveries. It is used as it is: the
    /// pattern's relative loads are included already.
    pub load: Vec<f64>,
}

/// The job for which a workload is to work.
#[derive(Debug)]
pub struct JobSite<'a> {
    /// Dotted path of the job in the scenario.
    pub path: String,
    /// Its name, for messages.
    pub job: &'a str,
    /// The terminal of each rank.
    pub terminals: &'a [u32],
    pub phases: &'a [LoadPhase],
    /// Lengths of packets [flits].
    pub packets: &'a Lengths,
    pub injection: &'a InjectionConfig,
    /// Packets that each rank sends before it stops.
    pub batch: Option<&'a [u32]>,
    /// Its replies are packets of another message class than its own packets.
    pub apart: bool,
    /// Networks that share no channel: terminals that follow each other are in different ones.
    pub planes: u32,
    /// Which terminals are near each other.
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
    /// No terminal is near another one.
    pub const UNKNOWN: Near<'static> = Near(None);

    pub fn of(graph: &'a Graph) -> Self {
        Self(Some(graph))
    }

    /// Same as [`Graph::domains`].
    pub fn domains(self) -> Vec<Domains> {
        self.0.map(Graph::domains).unwrap_or_default()
    }
}

/// The part of the network that a program of a workload used: its share of the energy follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Cores that it held, times the cycles for which it ran. Of terminals that belong to one program each counts as one core.
    pub core_cycles: u64,
    pub cores_per_terminal: u32,
    /// Flits delivered, and flits times the links between routers that they crossed.
    pub flits: u64,
    pub link_flits: u64,
}

impl JobSite<'_> {
    /// A refusal at a key of the job.
    pub fn refusal(&self, key: &str, what: String, help: &str) -> Refusal {
        Refusal::new(format!("{}.{key}", self.path), what, help)
    }

    /// Refuses a packet length [flits] that is written at `key`.
    pub fn check_length(&self, key: &str, flits: u32) -> Result<(), Refusal> {
        if (1..=MAX_PACKET_FLITS).contains(&flits) {
            return Ok(());
        }
        let what = format!("a packet of {flits}flits; a packet has 1 to {MAX_PACKET_FLITS}");
        Err(self.refusal(key, what, "write 1flit or more, and send longer messages as several packets"))
    }
}

/// Packets, and their flits.
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

/// Whether a packet counts in the measured window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// If it was created in the window. It is offered load of its own.
    IfCreatedInWindow,
    /// If the packet did whose delivery brought it about. It belongs to the offer of that packet ([`Workload::in_all`]).
    AsItsCause { measured: bool },
}

/// A packet that a source gives to the network interface.
#[derive(Debug, Clone, Copy)]
pub struct NewPacket {
    /// Its destination, a terminal.
    pub to: u32,
    /// Length [flits].
    pub flits: u16,
    /// The cycle in which it was created. It is earlier than now if the packet had to wait, or if the packets before it
    /// took long to leave.
    pub created: u64,
    /// Number for the workload's own use, stored in `Packet::tag`.
    pub tag: u32,
    pub counts: Counts,
}

/// Packets for which terminals wait under a workload.
#[derive(Debug, Clone, Copy)]
pub struct Awaits {
    /// In one word, for messages.
    pub what: &'static str,
    /// How a scenario does without.
    pub remedy: &'static str,
}

/// The configuration of a workload.
pub trait WorkloadModel {
    /// Events for which terminals wait. `None`: terminals wait for no event, and sources receive no notice of sent or
    /// delivered packets.
    fn awaits(&self) -> Option<Awaits>;

    /// Event for which a terminal would wait without end if a failed link or router loses a packet. `None`: the
    /// terminal continues without it.
    fn halts_at_losses(&self) -> Option<Awaits> {
        self.awaits()
    }

    /// Whether terminals offer no more than the network lets them, as they wait for deliveries: no load is too much then.
    fn follows_network(&self) -> bool {
        self.awaits().is_some()
    }

    /// Whether the workload says by itself what terminals send. Patterns, loads, injection processes and batches then say nothing.
    fn has_own_demand(&self) -> bool {
        false
    }

    /// Lengths of all packets [flits], if those that terminals send of their own have `packet_flits`.
    fn lengths(&self, packet_flits: u32) -> Vec<u32> {
        vec![packet_flits]
    }

    /// Flits of the packet with which the destination of each packet answers its source; `None`: it does not.
    fn reply_flits(&self) -> Option<u32> {
        None
    }

    /// Cycles from the delivery of a packet to when its reply may be sent, a part of the latency of the reply. Refuses a
    /// time that is no whole number of cycles of `cycle_fs`, at `path`, the dotted path of this workload.
    fn turnaround(&self, _cycle_fs: u128, _path: &str) -> Result<Cycles, Refusal> {
        Ok(0)
    }

    /// Cycles after which a source acts on what sources of other blocks did, and the key that says so; `None`: it never does. Blocks
    /// have to exchange messages in between, so it is longer than the latency of every link.
    fn acts_on_others_after(&self, _cycle_fs: u128) -> Option<(&'static str, Cycles)> {
        None
    }

    /// The message class of replies, if they have one of their own: then sources have two parts ([`Workload::parts`]).
    fn reply_class(&self) -> Option<&str> {
        None
    }

    /// Whether sources act by themselves ([`Sources::act`]), or a call of one makes others due. The engine then asks after each call which sources that
    /// has made due ([`Sources::take_woken`]).
    fn wakes_others(&self) -> bool {
        false
    }

    /// Terminals of the job that follow each other and share a state, as those of a node do. The engine keeps them in one block where
    /// possible. `planes`: as in [`JobSite`].
    fn terminals_together(&self, _planes: u32) -> u32 {
        1
    }

    /// Cycles after which terminals that share a state act on each other, 1 or more; then they may be in several blocks. Blocks exchange messages
    /// at least as often. `None`: they act on each other at once, so they are in one block.
    fn notes_after(&self, _cycle_fs: u128) -> Option<Cycles> {
        None
    }

    /// Whether packets keep their place in the buffer of their terminal until it has answered ([`Workload::keeps`]).
    fn keeps_requests(&self) -> bool {
        false
    }

    /// Remarks on a job that passed `check` and would mislead: warnings of the run.
    fn remarks(&self, _site: &JobSite) -> Result<Vec<Remark>, Refusal> {
        Ok(Vec::new())
    }

    /// Times of the network interfaces of a node, for estimates without a network, in JSON; `Null`: it has none. `units`: length of a cycle \[fs\]
    /// and size of a flit \[bits\].
    fn interface_times(&self, _units: (u128, u64)) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Refuses a job for which it can't work, but for loads that the injection process refuses (`build` does).
    fn check(&self, site: &JobSite) -> Result<(), Refusal>;

    /// The workload at work, for a job that passed `check`.
    fn build(&self, site: &JobSite) -> Result<Arc<dyn Workload>, Refusal>;

    /// Configurations that differ in what matters. Tests run all of them, alone and beside each other.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

/// How far a workload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It does not end by itself, or after [`Workload::total`] packets.
    Endless,
    Open,
    /// The cycle in which it ended.
    Ended(u64),
}

impl Progress {
    /// Whether it ends by itself.
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
    /// The sources of the terminals of one block, numbered in this order: all parts of the first, then those of the next.
    fn sources(&self, here: &[Place]) -> JobSources;

    /// The part of a source that is notified of the delivery of `packet`. A source has one part, or one for each
    /// message class of its packets; each part is asked for packets by itself.
    fn part_for(&self, _packet: &Packet) -> usize {
        0
    }

    /// Whether `packet` keeps its place in the buffer of the terminal that it has reached, until a packet leaves which frees it.
    fn keeps(&self, _packet: &Packet) -> bool {
        false
    }

    /// Whether the oldest packet that a terminal keeps goes when `packet` has left the terminal.
    fn frees(&self, _packet: &Packet) -> bool {
        false
    }

    /// Returns the amount of `own` packets, which terminals create without a request, together with all packets that
    /// their deliveries cause.
    fn in_all(&self, own: Amount) -> Amount {
        own
    }

    /// Effects that the delivery of a lost packet would have had.
    fn unborn(&self, _lost: &Packet) -> Amount {
        Amount::default()
    }

    /// Packets to be delivered in the whole run, if the workload ends by itself.
    fn total(&self) -> Option<u64> {
        None
    }

    /// How far it is, if it ends by itself after an unknown number of packets.
    fn progress(&self) -> Progress {
        Progress::Endless
    }

    /// Whether none of its packets is in flight, and none of its sources will give one before a delivery. If it is
    /// [`Progress::Open`] then, it never ends, whatever other jobs do.
    fn is_at_rest(&self) -> bool {
        false
    }

    /// Who waits for what, in words, if it is [`Progress::Open`] and nothing will ever happen any more.
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

    /// The activity of the ranks of each of its programs up to cycle `end`, the end of the run. The name of a program begins with `job`, the name of
    /// its job.
    fn activities(&self, _job: &str, _end: u64) -> Vec<OfJob> {
        Vec::new()
    }

    /// Numbers of the results of the whole run, by name with unit; `None` where there is none. `end`: the cycle in which the run ends.
    fn figures(&self, _end: u64) -> Vec<(&'static str, Option<f64>)> {
        Vec::new()
    }

    /// Whether the offered load is the same random process at any time of a phase, whatever the network does.
    fn is_steady(&self) -> bool {
        false
    }

    /// How much the number of packets that terminals create of their own in a long time scatters, in the phase of the load
    /// that begins with cycle `start`: variance over mean. `None`: there is no rate that the network could fall behind (the
    /// workload ends by itself, or all of it waits for deliveries).
    fn dispersion(&self, _start: Cycles) -> Option<f64> {
        None
    }

    /// Latencies that are counted apart for this workload, by the names of their columns in the results.
    fn latencies(&self) -> &'static [&'static str] {
        &[]
    }

    /// Cycles from the creation of a packet in which its terminal was not allowed to send it.
    fn kept_back(&self, _packet: &Packet) -> Cycles {
        0
    }

    /// Calls `count` with each of these latencies (its place in `latencies`, cycles) to which a delivered packet adds.
    fn latencies_of(&self, _packet: &Packet, _latency: u64, _count: &mut dyn FnMut(usize, u64)) {}
}

/// What a source would have given before a cycle if each packet had left when it was created.
#[derive(Debug, Clone, Copy, Default)]
pub struct Backlog {
    /// Packets that wait at the source, replies included. A reply that the source may not send yet does not wait.
    pub packets: u64,
    /// Their flits.
    pub flits: u64,
    /// Packets that the source created in the window without a request.
    pub in_window: Amount,
}

/// The sources of a job in one block.
#[derive(Debug)]
pub enum JobSources {
    /// Nothing but clocks: the commonest workload, which the loop asks without a virtual call.
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
    /// The sources as every workload has them.
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

/// The terminals of a job that are in one block, as the network interface calls them. `due` of a source is the cycle
/// from which on it is to be asked for its next packet, or [`NOT_DUE`]. It is kept by the network interface; the source
/// changes it whenever it is called.
pub trait Sources: Kept + Debug + Send + Sync {
    /// The first cycle in which `source` is due.
    fn start(&mut self, source: usize) -> u64;

    /// The packet that `source`, which is due, gives in cycle `now`; `None` if it gives none after all. `due` is then
    /// when it gives the next one, or what `sent` sets.
    fn next(&mut self, source: usize, due: &mut u64, now: u64) -> Option<NewPacket>;

    /// The network interface can take the next packet in cycle `now`. The tail of the last packet of `source` has been
    /// injected, or that packet waits in a queue for its destination. `due` keeps its value unless the source writes it.
    fn sent(&mut self, _source: usize, _due: &mut u64, _now: u64) {}

    /// `packet` has been delivered to the terminal of `source` in cycle `now`, perhaps while a packet of that is being
    /// injected. `due` keeps its value unless the source writes it.
    fn delivered(&mut self, _source: usize, _packet: &Packet, _due: &mut u64, _now: u64) {}

    /// The next cycle in which something happens at these sources by itself ([`Self::act`]), or [`NOT_DUE`]. It changes in calls of other methods only.
    fn next_act(&self) -> u64 {
        NOT_DUE
    }

    /// All that happens at these sources by itself up to cycle `now`, such as the end of a computation. The engine calls this after the deliveries of cycle
    /// `now` and before it requests a packet from a source. Then it asks which sources are due ([`Self::take_woken`]).
    fn act(&mut self, _now: u64) {}

    /// Events that have happened at these sources by themselves so far. They estimate the work that no flit-hop shows.
    fn acts(&self) -> u64 {
        0
    }

    /// Another source that the last call has made due, and the cycle; `None` after the last one ([`WorkloadModel::wakes_others`]). The cycle is
    /// earlier than the source was due. It is not before the cycle of the call, and after it in a call of `next` or `sent`.
    fn take_woken(&mut self) -> Option<(usize, u64)> {
        None
    }

    /// Cycles from `now` to `until` - 1 begin, at most [`WorkloadModel::notes_after`] cycles. All notes that terminals of other blocks wrote before
    /// `now` are there. The engine then asks which sources they have made due ([`Self::take_woken`]).
    fn exchange(&mut self, _now: u64, _until: u64) {}

    /// Packets that wait at `source` in cycle `until`, without the packet that is being injected. `window`: the first cycle of
    /// the measured window, and the first after it.
    fn backlog(&self, source: usize, due: u64, until: u64, window: (u64, u64)) -> Backlog;

    /// Flits that wait at `source` in cycle `until`, as in [`Self::backlog`], or at least `most` where more wait.
    fn flits_due(&self, source: usize, due: u64, until: u64, _most: u64) -> u64 {
        self.backlog(source, due, until, (u64::MAX, u64::MAX)).flits
    }

    /// Flits of the replies that `source` has and may not send before cycle `now`.
    fn kept_back(&self, _source: usize, _now: u64) -> u64 {
        0
    }

    /// Whether `source` has created all packets of its own before cycle `until`, and they have left. `in_hand`: the packet
    /// that is being injected.
    fn finished(&self, _source: usize, due: u64, in_hand: Option<&Packet>, until: u64) -> bool {
        due >= until && self.next_act() >= until && in_hand.is_none_or(|packet| packet.created >= until)
    }
}
