//! Flits and link states over time, for each link class or channel. Samples cover the whole run, and their memory has an upper limit.
//!
//! # Source
//! None. The table has the usual curves of utilisation and of link states over time.
//! # Parameters
//! `every` [time]: time between two samples. `of`: whether a row describes all channels of a link class, or one channel.
//! # Guarantees
//! Every flit counts in exactly one sample. Memory has an upper limit: whenever there would be more than 1024 samples or 2^20 rows, the
//! time between samples doubles.
//! # Not modelled
//! Changes of link states between samples: a row has the states at the time of its sample.
//! # Validation
//! `engine/tests/workload.rs` checks that the flits in the samples add up to those of every channel, and that every channel is in exactly
//! one state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::base::kept::Kept;
use weft_api::recording::{
    Column, Heading, Kind, NetworkSite, Reading, Recorded, Recorder, RecorderSite, Recording, Sender, Table, TableInfo,
};
use weft_api::state::Modes;
use weft_units::{Refusal, Time};

/// Largest number of rows. If there are more, the time between samples doubles, which halves the number of rows.
const ROWS: usize = 1 << 20;
/// Largest number of samples. If there are more, the time between samples doubles.
const SAMPLES: usize = 1024;

/// Flits and link states over the whole run, for each link class or channel, saved as series.parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// Time between two samples [time]. It doubles whenever there would be more than 1024 samples (fewer if there are many channels).
    pub every: Time,
    /// Whether a row describes a link class or a channel.
    #[serde(default)]
    pub of: SeriesOf,
}

/// The channels that a row of the series describes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeriesOf {
    /// All channels of a link class.
    #[default]
    Class,
    /// A single channel.
    Channel,
}

impl Recording for Series {
    const TABLE: TableInfo = TableInfo {
        meaning: "flits and link states of a point over time",
        rows: "A row per sample and link class, or per channel with `measure.series.of: channel`. The table covers the whole \
               run, warm-up included.",
        bounded: false,
        in_summary: false,
        columns: headings,
    };
    type Part = Samples;

    fn part(&self, network: &NetworkSite, block: &RecorderSite, path: &str) -> Result<Samples, Refusal> {
        let every = network.cycles(self.every, &format!("{path}.every"))?;
        let linked = || block.channels.iter().filter_map(|channel| Some((channel.row?, channel.class)));
        let (mut next, mut channels_of) = (0, vec![0; network.classes.len()]);
        linked().for_each(|(_, class)| channels_of[usize::from(class)] += 1);
        let place = |channel: &Sender| match (channel.row, self.of) {
            (None, _) => u32::MAX,
            (Some(_), SeriesOf::Class) => channel.class.into(),
            (Some(_), SeriesOf::Channel) => {
                next += 1;
                next - 1
            }
        };
        let places = block.channels.iter().map(place).map(|row| Place { row, sent: 0 }).collect();
        let (width, all) = match self.of {
            SeriesOf::Class => (network.classes.len(), network.classes.len()),
            SeriesOf::Channel => (linked().count(), network.channels),
        };
        let samples = samples(all);
        let modes = network.modes.count();
        let rows = Rows {
            flits: Vec::with_capacity(samples * width),
            states: Vec::with_capacity(samples * width * modes),
            modes,
        };
        let channels = linked().collect();
        Ok(Samples { every, end: 0, width, taken: 0, samples, rows, places, channels, channels_of })
    }

    /// Memory for the rows and for the columns of the table [bytes]. There is one column per link state. The columns of 8 bytes count
    /// twice, because the table is copied when it is written.
    fn bytes(&self, network: &NetworkSite) -> u64 {
        let width = if self.of == SeriesOf::Class { network.classes.len() } else { network.channels };
        let of_row = Rows::bytes(network.modes.count()) + 2 * 8 * headings_with(&network.modes).len();
        (samples(width) * width * of_row) as u64
    }

    fn table(&self, parts: Vec<Samples>, run: &Recorded) -> Table {
        let (every, end) = parts.first().map_or((1, 0), |first| (first.every, first.end));
        let (width, rows) = match self.of {
            SeriesOf::Class => (run.network.classes.len(), by_class(&parts)),
            SeriesOf::Channel => (run.network.channels, by_channel(&parts, run.network.channels)),
        };
        let modes = &run.network.modes;
        let begin = |row: usize| (row / width) as u64 * every;
        let length = |row: usize| (begin(row) + every).min(end) - begin(row);
        let each = |of: &dyn Fn(usize) -> u64| Column::Counts((0..rows.flits.len()).map(of).collect());
        let of_class = |class: usize| parts.iter().map(|part| part.channels_of[class]).sum::<u64>();
        let bandwidth = |class: usize| run.network.bandwidths[class];
        let (subject, bandwidths) = match self.of {
            SeriesOf::Class => {
                let name = |row: usize| run.network.classes[row % width].clone();
                let names = Column::Texts((0..rows.flits.len()).map(name).collect());
                (("link_class", names), (0..width).map(|class| of_class(class) as f64 * bandwidth(class)).collect())
            }
            SeriesOf::Channel => {
                let mut of_channel = vec![0.0; width];
                for &(row, class) in parts.iter().flat_map(|part| &part.channels) {
                    of_channel[row as usize] = bandwidth(usize::from(class));
                }
                (("channel", each(&|row| (row % width) as u64)), of_channel)
            }
        };
        let utilisation = |row: usize| {
            let slots = length(row) as f64 * bandwidths[row % width];
            if slots > 0.0 { rows.flits[row] as f64 / slots } else { 0.0 }
        };
        let columns = [
            ("from_cycle", each(&begin)),
            ("interval_cycles", each(&length)),
            subject,
            ("flits", each(&|row| rows.flits[row])),
            ("utilisation", Column::Floats((0..rows.flits.len()).map(utilisation).collect())),
        ];
        let states = modes.all().map(|state| {
            let of = |row: usize| u64::from(rows.states_of(row)[usize::from(state.number())]);
            (format!("channels_{}", modes.name(state)), each(&of))
        });
        Table::whole(columns.map(|(name, column)| (name.to_owned(), column)).into_iter().chain(states))
    }

    fn examples() -> Vec<Self> {
        let of = |of| Self { every: Time::Cycles(100), of };
        vec![of(SeriesOf::Channel), of(SeriesOf::Class), Self { every: Time::Cycles(1), of: SeriesOf::Channel }]
    }
}

/// Largest number of samples of `width` rows each. The number is even, so that every two successive samples can be joined.
fn samples(width: usize) -> usize {
    (ROWS / width.max(1)).clamp(2, SAMPLES) & !1
}

/// The columns for a scenario that names no modes.
fn headings() -> Vec<Heading> {
    headings_with(&Modes::default())
}

fn headings_with(modes: &Modes) -> Vec<Heading> {
    let mut all = vec![
        Heading::new("from_cycle", Kind::Count, "cycles", "first cycle of the sample"),
        Heading::new("interval_cycles", Kind::Count, "cycles", "length of the sample"),
        Heading::new("link_class", Kind::Text, "", "link class of the row, with `of: class`"),
        Heading::new("channel", Kind::Count, "", "channel of the row, with `of: channel`: row of `channels.parquet`"),
        Heading::new("flits", Kind::Count, "flits", "flits sent during the sample"),
        Heading::new("utilisation", Kind::Float, "", "mean share of the channels' bandwidth that was used"),
    ];
    all.extend(modes.names().map(|state| {
        let meaning = format!("channels in the state `{state}` at the end of the sample");
        Heading::new(format!("channels_{state}"), Kind::Count, "channels", meaning)
    }));
    all
}

/// The rows of a table. Each row describes one channel, or all channels of a link class, in one interval between two samples.
#[derive(Debug, Kept)]
struct Rows {
    /// For each row: flits sent in the interval.
    flits: Vec<u64>,
    /// For each row: number of channels in each mode at the end of the interval.
    states: Vec<u32>,
    #[kept(fixed)]
    modes: usize,
}

impl Rows {
    /// Creates `rows` rows in which all counts are 0.
    fn zeros(rows: usize, modes: usize) -> Self {
        Self { flits: vec![0; rows], states: vec![0; rows * modes], modes }
    }

    /// Memory of a row [bytes].
    fn bytes(modes: usize) -> usize {
        size_of::<u64>() + modes * size_of::<u32>()
    }

    fn resize(&mut self, rows: usize) {
        self.flits.resize(rows, 0);
        self.states.resize(rows * self.modes, 0);
    }

    fn states_of(&self, row: usize) -> &[u32] {
        &self.states[row * self.modes..][..self.modes]
    }

    fn states_of_mut(&mut self, row: usize) -> &mut [u32] {
        &mut self.states[row * self.modes..][..self.modes]
    }
}

/// The samples that a block has taken.
#[derive(Debug, Kept)]
pub struct Samples {
    /// Present length of an interval [cycles]. The last interval is shorter if the run ends within it.
    every: u64,
    /// End of the last interval [cycle].
    end: u64,
    /// Number of rows for each interval.
    #[kept(fixed)]
    width: usize,
    /// Number of intervals so far.
    taken: usize,
    /// Largest number of intervals; always even.
    #[kept(fixed)]
    samples: usize,
    /// The rows of all intervals, in the order of the intervals.
    rows: Rows,
    /// For each channel: the row in which its flits count, and its flits at the last sample.
    #[kept(each)]
    places: Vec<Place>,
    /// For each channel of the block that has a link: its row in the table of channels, and its link class.
    #[kept(fixed)]
    channels: Vec<(u32, u8)>,
    /// For each link class: its number of channels in the block.
    #[kept(fixed)]
    channels_of: Vec<u64>,
}

/// The row in which the flits of a channel count, and the channel's flits at the last sample.
#[derive(Debug, Kept)]
struct Place {
    /// Index of the channel's row within each interval; `u32::MAX` for a channel without a link.
    #[kept(fixed)]
    row: u32,
    /// Number of flits that the channel had sent at the last sample.
    sent: u64,
}

impl Recorder for Samples {
    fn next_sample(&self) -> u64 {
        self.end + self.every
    }

    fn sample(&mut self, channels: &[Reading], now: u64) {
        let first = self.rows.flits.len();
        self.rows.resize(first + self.width);
        let (flits, modes) = (&mut self.rows.flits[first..], self.rows.modes);
        let states = &mut self.rows.states[first * modes..];
        for (channel, place) in channels.iter().zip(&mut self.places) {
            let row = place.row as usize;
            if let Some(sum) = flits.get_mut(row) {
                *sum += channel.flits - place.sent;
                states[row * modes + usize::from(channel.state)] += 1;
                place.sent = channel.flits;
            }
        }
        self.end = now;
        self.taken += 1;
        if self.taken == self.samples {
            self.halve();
        }
    }
}

impl Samples {
    /// Joins every two successive intervals, so that half of the rows remain. The flits of the two intervals are added, and the states of
    /// the second interval stay.
    fn halve(&mut self) {
        let (width, modes) = (self.width, self.rows.modes);
        for k in 0..self.taken / 2 {
            for r in 0..width {
                let (first, second) = (2 * k * width + r, (2 * k + 1) * width + r);
                self.rows.flits[k * width + r] = self.rows.flits[first] + self.rows.flits[second];
            }
            let second = (2 * k + 1) * width * modes;
            self.rows.states.copy_within(second..second + width * modes, k * width * modes);
        }
        self.taken /= 2;
        self.rows.resize(self.taken * width);
        self.every *= 2;
    }
}

/// Joins the rows of all blocks if a row describes a link class: adds the counts of the blocks.
fn by_class(parts: &[Samples]) -> Rows {
    let (rows, modes) = parts.first().map_or((0, 0), |part| (part.rows.flits.len(), part.rows.modes));
    let mut all = Rows::zeros(rows, modes);
    for part in parts {
        all.flits.iter_mut().zip(&part.rows.flits).for_each(|(sum, own)| *sum += own);
        all.states.iter_mut().zip(&part.rows.states).for_each(|(sum, own)| *sum += own);
    }
    all
}

/// Joins the rows of all blocks if a row describes a channel: sorts the rows by channel.
fn by_channel(parts: &[Samples], channels: usize) -> Rows {
    let (taken, modes) = parts.first().map_or((0, 0), |part| (part.taken, part.rows.modes));
    let mut all = Rows::zeros(taken * channels, modes);
    for part in parts {
        for k in 0..part.taken {
            for (place, &(row, _)) in part.channels.iter().enumerate() {
                let (from, to) = (k * part.width + place, k * channels + row as usize);
                all.flits[to] = part.rows.flits[from];
                all.states_of_mut(to).copy_from_slice(part.rows.states_of(from));
            }
        }
    }
    all
}
