//! The table of channels, which Weft writes as a Parquet file. A row of the table is a channel (one direction of a link), with its counts
//! in the measured window.

use crate::energy::Energy;
use crate::routers;
use crate::table::write_parts;
use parquet::errors::ParquetError;
use std::io::Write;
use std::sync::Arc;
use weft_engine::outcome::ChannelCount;
use weft_engine::power::{Modes, PerMode};
use weft_engine::recording::Column;
use weft_topology::Graph;

/// The results of one channel (one direction of a link).
#[derive(Debug, Clone)]
pub struct Channel {
    pub count: ChannelCount,
    pub link_class: Arc<str>,
    /// Bandwidth of the channel [flits/cycle].
    pub bandwidth: f64,
    pub energy: Energy,
}

/// All channels of a run.
#[derive(Debug, Clone)]
pub struct Channels {
    pub rows: Vec<Channel>,
    /// The network, from which the table takes the names of the routers.
    pub graph: Arc<Graph>,
    /// The modes of the run, in the order of the columns.
    pub modes: Modes,
    /// Length of the window [cycles].
    pub window: u64,
}

/// Number of rows that are converted to columns in memory at one time.
const PART: usize = 1 << 20;

impl Channels {
    /// The columns of the table for some of its rows: name and values of each column. The first of these rows has number `first`. For an
    /// injection channel `from_port` is null, and for an ejection channel `to_port` is null, because that end is the `terminal`.
    pub fn part(&self, first: usize, rows: &[Channel]) -> Vec<(String, Column)> {
        let maybe =
            |of: fn(&ChannelCount) -> Option<u32>| Column::MaybeNumbers(rows.iter().map(|r| of(&r.count)).collect());
        let router =
            |of: fn(&ChannelCount) -> Option<u32>| routers::column(&self.graph, rows.iter().map(|r| of(&r.count)));
        let energy = |of: fn(&Energy) -> u128| Column::Energies(rows.iter().map(|row| of(&row.energy)).collect());
        let flits = |row: &Channel| row.count.flits.iter().sum::<u64>();
        let utilisation = |row: &Channel| flits(row) as f64 / self.window.max(1) as f64 / row.bandwidth;
        let mut columns = vec![
            ("channel".to_owned(), Column::Counts((first as u64..(first + rows.len()) as u64).collect())),
            ("link_class".to_owned(), Column::Texts(rows.iter().map(|row| row.link_class.clone()).collect())),
            ("from_router".to_owned(), router(|count| count.from)),
            ("from_port".to_owned(), maybe(|count| count.from.map(|_| count.from_port))),
            ("to_router".to_owned(), router(|count| count.to)),
            ("to_port".to_owned(), maybe(|count| count.to.map(|_| count.to_port))),
            ("terminal".to_owned(), maybe(terminal)),
            ("bandwidth".to_owned(), Column::Floats(rows.iter().map(|row| row.bandwidth).collect())),
            ("flits".to_owned(), Column::Counts(rows.iter().map(flits).collect())),
            ("utilisation".to_owned(), Column::Floats(rows.iter().map(utilisation).collect())),
        ];
        for (what, of) in [("cycles", cycles as fn(&ChannelCount) -> &PerMode), ("flits", flits_by_state)] {
            for state in self.modes.all() {
                let values = rows.iter().map(|row| of(&row.count)[state]).collect();
                columns.push((format!("{what}_{}", self.modes.name(state)), Column::Counts(values)));
            }
        }
        columns.push(("transitions".to_owned(), Column::Counts(rows.iter().map(|r| r.count.transitions).collect())));
        columns.push(("energy_static_fj".to_owned(), energy(|energy| energy.standing_yj)));
        columns.push(("energy_dynamic_fj".to_owned(), energy(|energy| energy.dynamic_yj)));
        columns.push(("energy_fj".to_owned(), energy(Energy::total_yj)));
        columns
    }

    /// Writes the table as a Parquet file.
    pub fn write<W: Write + Send>(&self, out: W) -> Result<(), ParquetError> {
        let parts = self.rows.chunks(PART).enumerate();
        write_parts("channels", parts.map(|(k, rows)| self.part(k * PART, rows)), out)
    }
}

fn terminal(count: &ChannelCount) -> Option<u32> {
    match (count.from, count.to) {
        (None, _) => Some(count.from_port),
        (_, None) => Some(count.to_port),
        _ => None,
    }
}

fn cycles(count: &ChannelCount) -> &PerMode {
    &count.cycles
}

fn flits_by_state(count: &ChannelCount) -> &PerMode {
    &count.flits
}
