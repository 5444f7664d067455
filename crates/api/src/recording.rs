//! Recordings: tables of a run that a scenario requests by name. The configuration of a recording ([`Recording`]) makes a part for every
//! block of routers. Each part ([`Recorder`]) receives the events of its block. At the end of the run, the configuration makes one table
//! from the parts of all blocks.

use crate::activity::{self, Wanted};
use crate::base::kept::{Kept, Value};
use crate::control::ControlPacket;
pub use crate::state::{LinkState, Modes, Packet};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use weft_units::{Cycles, Refusal, Time};

/// Highest limit on the rows of a table that the user can set.
const MAX_ROWS: usize = 100_000_000;

/// Description of a recorded table, for the documentation of results and for programs that read the table.
#[derive(Debug, Clone, Copy)]
pub struct TableInfo {
    /// Content of the table in a few words that begin with a small letter, for use inside a sentence.
    pub meaning: &'static str,
    /// Sentences about the meaning of a row, and about the part of the run that the table covers.
    pub rows: &'static str,
    /// Whether a row limit can end the table before the end of the run. If the table has a row limit, the summary has the key
    /// `NAME_complete`.
    pub bounded: bool,
    /// Whether the summary of the run also contains the rows, as a list under the name of the recording. Only tables with few rows set this
    /// flag.
    pub in_summary: bool,
    /// All columns that the table can have, in their order.
    pub columns: fn() -> Vec<Heading>,
}

/// Description of one column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    pub name: String,
    pub kind: Kind,
    /// Unit of the numbers in the column; empty if they have no unit.
    pub unit: &'static str,
    pub meaning: String,
}

impl Heading {
    pub fn new(name: impl Into<String>, kind: Kind, unit: &'static str, meaning: impl Into<String>) -> Self {
        Self { name: name.into(), kind, unit, meaning: meaning.into() }
    }
}

/// The kind of content in the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers, for example of ports; cells can be empty.
    MaybeNumber,
    /// Numbers that identify routers; cells can be empty. The writer of the file replaces these numbers by the routers' names.
    Router,
    /// Counts; cells can be empty.
    MaybeCount,
    Count,
    Float,
    Energy,
    Text,
    MaybeText,
}

/// The cells of one column, with one cell for each row.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    MaybeNumbers(Vec<Option<u32>>),
    Routers(Vec<Option<u32>>),
    MaybeCounts(Vec<Option<u64>>),
    Counts(Vec<u64>),
    Floats(Vec<f64>),
    /// Exact energies [yJ]; files show them in fJ, with nine decimals.
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

/// A recorded table: columns of equal length, in the order of [`TableInfo::columns`].
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub columns: Vec<(String, Column)>,
    /// Whether the table has all rows up to the end of the run; `None` if it has no row limit.
    pub complete: Option<bool>,
}

impl Table {
    /// Makes a table without a row limit.
    pub fn whole<N: Into<String>>(columns: impl IntoIterator<Item = (N, Column)>) -> Self {
        Self { columns: columns.into_iter().map(|(name, column)| (name.into(), column)).collect(), complete: None }
    }

    /// Makes a table with a row limit; `complete`: it has all rows up to the end of the run.
    pub fn bounded<N: Into<String>>(columns: impl IntoIterator<Item = (N, Column)>, complete: bool) -> Self {
        Self { complete: Some(complete), ..Self::whole(columns) }
    }

    /// Appends the rows of `other`, a table with the same columns.
    ///
    /// # Panics
    /// Panics if a column of `other` has a different kind.
    pub fn append(&mut self, other: Self) {
        self.columns.iter_mut().zip(other.columns).for_each(|((_, own), (_, other))| own.append(other));
    }

    /// The column with the name `name`; `None` if the table has none.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(own, _)| own == name).map(|(_, column)| column)
    }
}

/// Data of the network from which a recording makes its parts and its table.
#[derive(Debug, Clone)]
pub struct NetworkSite {
    /// Length of a cycle [fs].
    pub cycle_fs: u128,
    /// Number of channels in the network; channels.parquet has one row for each of them.
    pub channels: usize,
    /// Number of channels that the power policy manages.
    pub managed: usize,
    /// Names of the link classes, by class number.
    pub classes: Vec<Arc<str>>,
    /// Full rate [flits/cycle] of the channels of each link class.
    pub bandwidths: Vec<f64>,
    /// The modes (link states) that channels can have in this run.
    pub modes: Modes,
    /// Capacity [flits] of one VC in the buffer at the end of a channel, for each link class.
    pub buffers: Vec<u32>,
    pub terminals: u32,
    /// The terminals that belong to a job, as numbers in increasing order.
    pub in_jobs: Vec<u32>,
    /// Sets of terminals with names, such as jobs.
    pub sets: Vec<TerminalSet>,
}

/// A named set of terminals: those of a job, or those of a group that a pattern distinguishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalSet {
    pub name: String,
    pub terminals: Vec<u32>,
}

impl NetworkSite {
    /// Converts a time of a recording to whole cycles. Refuses 0 cycles, with the key `path` as the place of the fault.
    pub fn cycles(&self, time: Time, path: &str) -> Result<Cycles, Refusal> {
        Ok(time.duration(self.cycle_fs, path)?.above_zero(path)?.cycles)
    }
}

/// Checks the row limit of a table, which the user wrote under the key `path`.
pub fn most_rows(most: u32, path: &str) -> Result<usize, Refusal> {
    let most = most as usize;
    if !(1..=MAX_ROWS).contains(&most) {
        let what = format!("{most} is outside the range 1 to {MAX_ROWS}");
        return Err(Refusal::new(path, what, "write 1000000, or leave this key out"));
    }
    Ok(most)
}

/// Data of a block from which a recording makes the block's recorder, before cycle 0. Later calls of the recorder identify a channel by its
/// index in `channels`.
#[derive(Debug, Clone, Default)]
pub struct RecorderSite {
    /// Numbers in the whole network of the block's routers.
    pub routers: Vec<u32>,
    /// The channels that the routers and terminals of the block send on.
    pub channels: Vec<Sender>,
    /// The input buffers of the block's routers, in the order in which [`Recorder::sample_queues`] gets their readings.
    pub buffers: Vec<Receiver>,
}

/// The receiving end of a channel that leads to a router, with its buffer.
#[derive(Debug, Clone, Copy)]
pub struct Receiver {
    /// The channel's row in channels.parquet; `None` for a port without a link, and for a port whose channel leads to a
    /// terminal.
    pub row: Option<u32>,
    pub class: u8,
}

/// The sending end of a channel, in a router or a terminal.
#[derive(Debug, Clone, Copy)]
pub struct Sender {
    /// The channel's row in channels.parquet; `None` for a port without a link.
    pub row: Option<u32>,
    /// Index of the sending router in the block; `None` for an injection channel.
    pub router: Option<u32>,
    pub class: u8,
    /// Whether the power policy manages the channel.
    pub managed: bool,
    /// Power state of the channel in cycle 0.
    pub state: LinkState,
}

/// Flits of a channel from cycle 0 up to a sample, and its power state at the sample.
#[derive(Debug, Clone, Copy, Default, Value)]
pub struct Reading {
    /// Number of flits that the channel has sent since cycle 0.
    pub flits: u64,
    /// Number of the channel's present power state ([`LinkState::number`]).
    pub state: u8,
}

/// The flits that wait in the buffer of an input port at a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct QueueReading {
    /// Number of waiting flits in all VCs of the port.
    pub flits: u32,
    /// Number of flits in the VC of the port that has the most flits.
    pub fullest: u32,
}

/// A packet of which some flits have crossed a channel, and some have not.
#[derive(Debug, Clone, Copy)]
pub struct PartCrossed<'a> {
    pub channel: usize,
    pub vc: u8,
    /// On a channel to a terminal, the packet. On other channels `None`, because the head of the packet is possibly in another block. The
    /// packet is then the last packet on this VC.
    pub packet: Option<&'a Packet>,
    /// Number of flits that [`Recorder::crosses`] has counted but that have not crossed yet. A negative number is minus the number of flits
    /// that have crossed but that [`Recorder::crosses`] has not counted.
    pub missing: i64,
}

/// The arrival of a control packet, perhaps from another block.
#[derive(Debug, Clone, Copy, Value)]
pub struct ControlArrival {
    /// The block of the packet's sender.
    pub block: u32,
    /// The packet's number among the control packets sent from that block, counted from 0.
    pub number: u32,
    pub cycle: u64,
    /// Number of links that the control packet has crossed.
    pub hops: u8,
}

/// A recorder: the part of a recording that receives the events of one block of routers. By default the methods of a recorder do nothing.
/// The table that a recording makes from all its parts must not depend on the division of routers into blocks. For example, the parts can
/// store integers, which the recording adds up, or events, which it sorts.
#[allow(unused_variables, reason = "the names describe the data that a recorder receives")]
pub trait Recorder: Kept + Any + Debug + Send {
    /// Called when a channel changes its power state, by the policy or by a fault.
    fn changed(&mut self, channel: usize, from: LinkState, to: LinkState, now: u64) {}

    /// Called when the tail of a packet reaches its terminal in cycle `at`. `inside`: whether cycle `at` is in the measured window. Called
    /// only if [`Recording::HEARS_DELIVERIES`] is true.
    fn delivered(&mut self, packet: &Packet, at: u64, inside: bool) {}

    /// Called for each channel that a packet crosses, once per packet and channel. The call for an injection channel is at the creation of
    /// the packet. The call for a channel between routers is at the departure of the head. The call for a channel to a terminal is at the
    /// departure of the tail. `vc`: the VC of the channel that the packet uses. For an injection channel `vc` is 0, because its packets
    /// never interleave. Called only if [`Recording::HEARS_PATHS`] is true.
    fn crosses(&mut self, channel: usize, vc: u8, packet: &Packet) {}

    /// Called with the packets of which only some flits have crossed a channel, so that recorders can count flits exactly. The engine calls
    /// it after [`Recorder::window_begins`], and before [`Recorder::window_ends`]. Called only if [`Recording::HEARS_PATHS`] is true.
    fn part_crossed(&mut self, packets: &[PartCrossed]) {}

    /// Called when a router of the block sends a control packet. `number` is the number of the packet among those sent
    /// from this block, from 0.
    fn control_sent(&mut self, number: u32, packet: &ControlPacket) {}

    /// Called when a control packet arrives at a router of this block.
    fn control_arrived(&mut self, arrival: ControlArrival) {}

    /// The cycle of the recorder's next sample, which must be the same in all blocks. `u64::MAX` if the recorder takes
    /// no more samples.
    fn next_sample(&self) -> u64 {
        u64::MAX
    }

    /// Takes a sample of all channels before cycle `now`: the cycle that [`Recorder::next_sample`] returned, or the end
    /// of the run.
    fn sample(&mut self, channels: &[Reading], now: u64) {}

    /// Whether the recorder also takes samples of input buffers.
    fn samples_queues(&self) -> bool {
        false
    }

    /// Takes a sample of the block's input buffers, after [`Recorder::sample`]. Called only if
    /// [`Recorder::samples_queues`] returns true.
    fn sample_queues(&mut self, buffers: &[QueueReading], now: u64) {}

    /// Called when the measured window begins with cycle `now`.
    fn window_begins(&mut self, now: u64) {}

    /// Called when the measured window ends before cycle `now`.
    fn window_ends(&mut self, now: u64) {}
}

/// A finished run: the data from which recordings make their tables.
#[derive(Debug)]
pub struct Recorded<'a> {
    pub network: &'a NetworkSite,
    /// Cycles simulated.
    pub cycles: u64,
    /// Length of the measured window \[cycles\].
    pub window: u64,
    pub channels: &'a dyn ChannelUses,
    /// For each job that runs a program, the activity of its ranks that recordings requested.
    pub ranks: &'a [activity::OfJob],
}

/// Access to the flits and energy of each channel in the measured window, by row of channels.parquet.
pub trait ChannelUses: Debug {
    fn of(&self, row: usize) -> ChannelUse;
}

/// Flits and energy of a channel in the measured window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChannelUse {
    pub flits: u64,
    /// Dynamic energy that these flits used on the channel [yJ].
    pub link_yj: u128,
    /// Dynamic energy that these flits used in the sending router [yJ].
    pub router_yj: u128,
}

/// A recorder without function, for recordings that need no events of blocks.
#[derive(Debug, Kept)]
pub struct NoPart {}

impl Recorder for NoPart {}

/// The configuration of a recording, with the keys under `measure.NAME`.
pub trait Recording: Clone + Debug + Send + Sync + Sized + 'static {
    /// Description of the table that this recording makes.
    const TABLE: TableInfo;
    /// Whether the cycle loop calls [`Recorder::delivered`] for every delivered packet. Calls for deliveries cost time for
    /// each packet.
    const HEARS_DELIVERIES: bool = false;
    /// Whether the cycle loop calls [`Recorder::crosses`] and [`Recorder::part_crossed`]. Calls for crossed channels cost
    /// time at every hop.
    const HEARS_PATHS: bool = false;
    /// The recorder of this recording in a block.
    type Part: Recorder;

    /// Makes the recorder of one block. Refuses wrong parameters, under the key `path`. The refusal must be the same in all blocks.
    fn part(&self, network: &NetworkSite, block: &RecorderSite, path: &str) -> Result<Self::Part, Refusal>;

    /// Upper limit [bytes] of the memory of all recorders and the table, computed before the run; 0 if that memory is always small.
    fn bytes(&self, _network: &NetworkSite) -> u64 {
        0
    }

    /// The activity of ranks that the table needs (default: none).
    fn wants(&self) -> Wanted {
        Wanted::default()
    }

    /// Makes the table of the run from the recorders of all blocks, in the order of the blocks.
    fn table(&self, parts: Vec<Self::Part>, run: &Recorded) -> Table;

    /// Configurations that tests run; documentation shows the first one to users as an example.
    fn examples() -> Vec<Self>;
}

/// The form of [`Recording`] for trait objects. Code that does not know the type of a recording calls it as a `dyn RecordingModel`.
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

/// A recording that the scenario of a run requests.
#[derive(Debug, Clone)]
pub struct Asked {
    pub name: &'static str,
    pub model: Arc<dyn RecordingModel>,
}
