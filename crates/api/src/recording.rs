//! Recordings: tables of a run that a scenario requests by name. A recording is a configuration ([`Recording`]) that makes a part for every
//! block of routers. Each part receives the events of its block ([`Recorder`]). At the end of the run the configuration makes one table
//! from all parts.

use crate::activity::{self, Wanted};
use crate::base::kept::{Kept, Value};
use crate::control::ControlPacket;
pub use crate::state::{LinkState, Modes, Packet};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use weft_units::{Cycles, Refusal, Time};

/// The most rows that the user may set as the limit of a table.
const MAX_ROWS: usize = 100_000_000;

/// Description of a table: for the documentation of results and for programs that read it.
#[derive(Debug, Clone, Copy)]
pub struct TableInfo {
    /// Content of the table, in a few words that begin with a small letter.
    pub meaning: &'static str,
    /// Sentences that explain the meaning of a row and the part of the run that the table covers.
    pub rows: &'static str,
    /// Whether the table may end before the run because its row limit is reached: the summary then has the key `NAME_complete`.
    pub bounded: bool,
    /// Whether the summary also contains the rows, as a list under the name of the recording. Meant for tables of few rows.
    pub in_summary: bool,
    /// All columns that the table can have, in their order.
    pub columns: fn() -> Vec<Heading>,
}

/// Description of a column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    pub name: String,
    pub kind: Kind,
    /// Unit of the numbers; empty if they have no unit.
    pub unit: &'static str,
    pub meaning: String,
}

impl Heading {
    pub fn new(name: impl Into<String>, kind: Kind, unit: &'static str, meaning: impl Into<String>) -> Self {
        Self { name: name.into(), kind, unit, meaning: meaning.into() }
    }
}

/// Content of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers, for example of ports; some cells may be empty.
    MaybeNumber,
    /// Numbers of routers; some cells may be empty. The writer of the file replaces the numbers by names.
    Router,
    /// Counts; some cells may be empty.
    MaybeCount,
    Count,
    Float,
    Energy,
    Text,
    MaybeText,
}

/// The cells of a column, one for each row.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    MaybeNumbers(Vec<Option<u32>>),
    Routers(Vec<Option<u32>>),
    MaybeCounts(Vec<Option<u64>>),
    Counts(Vec<u64>),
    Floats(Vec<f64>),
    /// Exact energies [yJ]; files contain them in fJ, with nine decimals.
    Energies(Vec<u128>),
    Texts(Vec<Arc<str>>),
    MaybeTexts(Vec<Option<Arc<str>>>),
}

impl Column {
    pub fn kind(&self) -> Kind {
        match self {
            Self::MaybeNumbers(_) => Kind::MaybeNumber,
            Self::Routers(_) => Kind::Router,
            Self::MaybeCounts(_) => Kind::MaybeCount,
            Self::Counts(_) => Kind::Count,
            Self::Floats(_) => Kind::Float,
            Self::Energies(_) => Kind::Energy,
            Self::Texts(_) => Kind::Text,
            Self::MaybeTexts(_) => Kind::MaybeText,
        }
    }

    fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::MaybeNumbers(own), Self::MaybeNumbers(cells)) | (Self::Routers(own), Self::Routers(cells)) => {
                own.extend(cells)
            }
            (Self::MaybeCounts(own), Self::MaybeCounts(cells)) => own.extend(cells),
            (Self::Counts(own), Self::Counts(cells)) => own.extend(cells),
            (Self::Floats(own), Self::Floats(cells)) => own.extend(cells),
            (Self::Energies(own), Self::Energies(cells)) => own.extend(cells),
            (Self::Texts(own), Self::Texts(cells)) => own.extend(cells),
            (Self::MaybeTexts(own), Self::MaybeTexts(cells)) => own.extend(cells),
            (own, other) => {
                panic!("a column of kind {:?} can't be appended to a column of kind {:?}", other.kind(), own.kind())
            }
        }
    }

    /// Number of cells.
    pub fn rows(&self) -> usize {
        match self {
            Self::MaybeNumbers(cells) | Self::Routers(cells) => cells.len(),
            Self::MaybeCounts(cells) => cells.len(),
            Self::Counts(cells) => cells.len(),
            Self::Floats(cells) => cells.len(),
            Self::Energies(cells) => cells.len(),
            Self::Texts(cells) => cells.len(),
            Self::MaybeTexts(cells) => cells.len(),
        }
    }
}

/// A table that was recorded: columns of equal length, in the order of [`TableInfo::columns`].
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub columns: Vec<(String, Column)>,
    /// Whether all rows up to the end of the run fitted; `None` if the table has no limit.
    pub complete: Option<bool>,
}

impl Table {
    /// A table without a row limit.
    pub fn whole<N: Into<String>>(columns: impl IntoIterator<Item = (N, Column)>) -> Self {
        Self { columns: columns.into_iter().map(|(name, column)| (name.into(), column)).collect(), complete: None }
    }

    /// A table with a row limit.
    pub fn bounded<N: Into<String>>(columns: impl IntoIterator<Item = (N, Column)>, complete: bool) -> Self {
        Self { complete: Some(complete), ..Self::whole(columns) }
    }

    /// Appends the rows of a table that has the same columns.
    ///
    /// # Panics
    /// Panics if a column is of a different kind in the other table.
    pub fn append(&mut self, other: Self) {
        self.columns.iter_mut().zip(other.columns).for_each(|((_, own), (_, other))| own.append(other));
    }

    /// The column with that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(own, _)| own == name).map(|(_, column)| column)
    }
}

/// Data of the network that a recording may read.
#[derive(Debug, Clone)]
pub struct NetworkSite {
    /// Length of a cycle [fs].
    pub cycle_fs: u128,
    /// Number of channels, which is the number of rows of channels.parquet.
    pub channels: usize,
    /// Number of channels that the power policy manages.
    pub managed: usize,
    /// Names of the link classes.
    pub classes: Vec<Arc<str>>,
    /// Capacity [flits/cycle] of the channels of each link class.
    pub bandwidths: Vec<f64>,
    /// The table of modes of the run.
    pub modes: Modes,
    /// Capacity [flits] of a VC in the buffers behind the channels of each link class.
    pub buffers: Vec<u32>,
    pub terminals: u32,
    /// Terminals that are in a job, in increasing order.
    pub in_jobs: Vec<u32>,
    /// Sets of terminals that have a name, such as jobs.
    pub sets: Vec<TerminalSet>,
}

/// Named terminals: those of a job, or those of a group that a pattern distinguishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalSet {
    pub name: String,
    pub terminals: Vec<u32>,
}

impl NetworkSite {
    /// A time of a recording in whole cycles; 0 cycles are refused at `path`.
    pub fn cycles(&self, time: Time, path: &str) -> Result<Cycles, Refusal> {
        Ok(time.duration(self.cycle_fs, path)?.above_zero(path)?.cycles)
    }
}

/// The row limit of a table, as the user wrote it at `path`.
pub fn most_rows(most: u32, path: &str) -> Result<usize, Refusal> {
    let most = most as usize;
    if !(1..=MAX_ROWS).contains(&most) {
        let what = format!("{most} is outside the range 1 to {MAX_ROWS}");
        return Err(Refusal::new(path, what, "write 1000000, or leave this key out"));
    }
    Ok(most)
}

/// Data of a block that the block's recorder may read, before cycle 0. Calls of recorders identify a channel by its index in this list.
#[derive(Debug, Clone, Default)]
pub struct RecorderSite {
    /// Numbers of the routers in the whole network.
    pub routers: Vec<u32>,
    /// The channels that routers and terminals of the block send on.
    pub channels: Vec<Sender>,
    /// The buffers of the routers of the block, in the order of the readings that a recorder receives.
    pub buffers: Vec<Receiver>,
}

/// The receiving end of a channel that leads to a router.
#[derive(Debug, Clone, Copy)]
pub struct Receiver {
    /// Row of channels.parquet; `None` for a port without a link, or whose channel leads to a terminal.
    pub row: Option<u32>,
    pub class: u8,
}

/// The sending end of a channel.
#[derive(Debug, Clone, Copy)]
pub struct Sender {
    /// Row of channels.parquet; `None` for a port without a link.
    pub row: Option<u32>,
    /// Router of the block that sends; `None` for an injection channel.
    pub router: Option<u32>,
    pub class: u8,
    /// Whether the power policy switches the channel.
    pub managed: bool,
    /// Power state in cycle 0.
    pub state: LinkState,
}

/// Activity of a channel up to now.
#[derive(Debug, Clone, Copy, Default, Value)]
pub struct Reading {
    /// Flits sent since cycle 0.
    pub flits: u64,
    /// Power state of the channel ([`LinkState::number`]).
    pub state: u8,
}

/// The flits that wait in the buffer of an input port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct QueueReading {
    /// Number of flits in all VCs of the port.
    pub flits: u32,
    /// Number of flits in the VC that has the most flits.
    pub fullest: u32,
}

/// A packet whose flits have only partly crossed a channel.
#[derive(Debug, Clone, Copy)]
pub struct PartCrossed<'a> {
    pub channel: usize,
    pub vc: u8,
    /// `None` for the last packet that crossed on this VC, because its head may have reached another block.
    pub packet: Option<&'a Packet>,
    /// Number of flits that [`Recorder::crosses`] has counted but that have not crossed yet. Negative: minus the number of flits that have
    /// crossed but that [`Recorder::crosses`] has not counted.
    pub missing: i64,
}

/// The arrival of a control packet, which may come from another block.
#[derive(Debug, Clone, Copy, Value)]
pub struct ControlArrival {
    /// The block of its sender, and its number among the control packets of that block, from 0.
    pub block: u32,
    pub number: u32,
    pub cycle: u64,
    /// Number of links that the control packet has crossed.
    pub hops: u8,
}

/// The part of a recording in one block of routers. By default the methods of a recorder do nothing. The joined result of all parts must
/// not depend on which routers share a block. For example, a part can keep integers that are added up, or events that are sorted.
#[allow(unused_variables, reason = "the names say what a recorder is told")]
pub trait Recorder: Kept + Any + Debug + Send {
    /// Called when a channel changes its power state.
    fn changed(&mut self, channel: usize, from: LinkState, to: LinkState, now: u64) {}

    /// Called when the tail of a packet reaches its terminal at cycle `at`. `inside`: the delivery is in the measured window. Called only
    /// if [`Recording::HEARS_DELIVERIES`].
    fn delivered(&mut self, packet: &Packet, at: u64, inside: bool) {}

    /// Called for a packet whose flits cross a channel, once for each channel of its path. For an injection channel the method is called
    /// when the packet is created. For a channel between routers the method is called when the head leaves, and for a channel to a terminal
    /// when the tail leaves. `vc`: the VC of the channel. For an injection channel `vc` is 0, because packets follow each other on that
    /// channel. Called only if [`Recording::HEARS_PATHS`].
    fn crosses(&mut self, channel: usize, vc: u8, packet: &Packet) {}

    /// Reports the packets that are crossing a channel. The method is called after [`Recorder::window_begins`] and before
    /// [`Recorder::window_ends`], so that flits can be counted exactly. Called only if [`Recording::HEARS_PATHS`].
    fn part_crossed(&mut self, packets: &[PartCrossed]) {}

    /// Called when a router sends a control packet. The control packets sent from the block are numbered from 0.
    fn control_sent(&mut self, number: u32, packet: &ControlPacket) {}

    /// Called when a control packet arrives at a router of this block.
    fn control_arrived(&mut self, arrival: ControlArrival) {}

    /// The cycle of the next sample, which is the same in all blocks. `u64::MAX` if there are no more samples.
    fn next_sample(&self) -> u64 {
        u64::MAX
    }

    /// Takes a sample before cycle `now`, which is the cycle of [`Recorder::next_sample`] or the end of the run.
    fn sample(&mut self, channels: &[Reading], now: u64) {}

    /// Whether the recorder takes samples of queues.
    fn samples_queues(&self) -> bool {
        false
    }

    /// Takes a sample of the buffers of the block, after [`Recorder::sample`]. Called only if
    /// [`Recorder::samples_queues`].
    fn sample_queues(&mut self, buffers: &[QueueReading], now: u64) {}

    /// Called when the measured window begins with cycle `now`.
    fn window_begins(&mut self, now: u64) {}

    /// Called when the measured window ends before cycle `now`.
    fn window_ends(&mut self, now: u64) {}
}

/// A run that has ended.
#[derive(Debug)]
pub struct Recorded<'a> {
    pub network: &'a NetworkSite,
    /// Cycles simulated.
    pub cycles: u64,
    /// Length of the measured window in \[cycles\].
    pub window: u64,
    pub channels: &'a dyn ChannelUses,
    /// The activity of the ranks of each job that runs a program, as requested by the recordings.
    pub ranks: &'a [activity::OfJob],
}

/// Flits and energy of each channel in the measured window, by row of channels.parquet.
pub trait ChannelUses: Debug {
    fn of(&self, row: usize) -> ChannelUse;
}

/// Flits and energy of a channel in the measured window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChannelUse {
    pub flits: u64,
    /// Dynamic energy of these flits on the channel [yJ].
    pub link_yj: u128,
    /// Dynamic energy of these flits in the router that sent them [yJ].
    pub router_yj: u128,
}

/// A part for recordings that need no events of a block.
#[derive(Debug, Kept)]
pub struct NoPart {}

impl Recorder for NoPart {}

/// The configuration of a recording: the keys under `measure.NAME`.
pub trait Recording: Clone + Debug + Send + Sync + Sized + 'static {
    /// Description of its table.
    const TABLE: TableInfo;
    /// Whether its parts are called for every delivered packet. These calls cost time.
    const HEARS_DELIVERIES: bool = false;
    /// Whether [`Recorder::crosses`] and [`Recorder::part_crossed`] are called. These calls cost time at every hop.
    const HEARS_PATHS: bool = false;
    /// State of the recording in a block.
    type Part: Recorder;

    /// Makes the part for a block. Refuses wrong parameters, with the path `path`; the refusal must not depend on the block.
    fn part(&self, network: &NetworkSite, block: &RecorderSite, path: &str) -> Result<Self::Part, Refusal>;

    /// Upper limit of the memory of all parts and the table [bytes], if that memory is large. The limit is known before the run.
    fn bytes(&self, _network: &NetworkSite) -> u64 {
        0
    }

    /// The activity of ranks that the table needs; by default none.
    fn wants(&self) -> Wanted {
        Wanted::default()
    }

    /// Makes the table from the parts, which are given in the order of their blocks.
    fn table(&self, parts: Vec<Self::Part>, run: &Recorded) -> Table;

    /// Configurations that tests run; documentation proposes the first one to users.
    fn examples() -> Vec<Self>;
}

/// A recording of any kind.
pub trait RecordingModel: Debug + Send + Sync {
    fn hears_deliveries(&self) -> bool;
    fn hears_paths(&self) -> bool;
    /// See [`Recording::wants`].
    fn wants(&self) -> Wanted;
    fn part(&self, network: &NetworkSite, block: &RecorderSite, path: &str) -> Result<Box<dyn Recorder>, Refusal>;
    fn table(&self, parts: Vec<Box<dyn Recorder>>, run: &Recorded) -> Table;
    /// See [`Recording::bytes`].
    fn bytes(&self, network: &NetworkSite) -> u64;
    fn share(&self) -> Arc<dyn RecordingModel>;
    /// See [`Recording::examples`].
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

impl<R: Recording> RecordingModel for R {
    fn hears_deliveries(&self) -> bool {
        R::HEARS_DELIVERIES
    }

    fn hears_paths(&self) -> bool {
        R::HEARS_PATHS
    }

    fn wants(&self) -> Wanted {
        Recording::wants(self)
    }

    fn part(&self, network: &NetworkSite, block: &RecorderSite, path: &str) -> Result<Box<dyn Recorder>, Refusal> {
        Ok(Box::new(Recording::part(self, network, block, path)?))
    }

    fn table(&self, parts: Vec<Box<dyn Recorder>>, run: &Recorded) -> Table {
        let own = |part: Box<dyn Recorder>| {
            let part: Box<dyn Any> = part;
            *part.downcast::<R::Part>().expect("the parts that this recording made")
        };
        Recording::table(self, parts.into_iter().map(own).collect(), run)
    }

    fn bytes(&self, network: &NetworkSite) -> u64 {
        Recording::bytes(self, network)
    }

    fn share(&self) -> Arc<dyn RecordingModel> {
        Arc::new(self.clone())
    }

    fn examples() -> Vec<Self> {
        <R as Recording>::examples()
    }
}

/// A recording that a run has to make.
#[derive(Debug, Clone)]
pub struct Asked {
    pub name: &'static str,
    pub model: Arc<dyn RecordingModel>,
}
