//! Records that a scenario asks for: latency by creation time, time series of the links, link states, control packets.

use crate::table::{Column, write};
use parquet::errors::ParquetError;
use std::io::Write;
use std::sync::Arc;
use weft_engine::outcome::{ControlPacket, Series, Span, TransientBin};
use weft_engine::power::LinkState;

/// Latency by creation time.
#[derive(Debug, Clone)]
pub struct TransientTable {
    /// Width of a bin [cycles].
    pub width: u64,
    pub bins: Vec<TransientBin>,
}

/// Flits and link states over time.
#[derive(Debug, Clone)]
pub struct SeriesTable {
    pub series: Series,
    /// What each row of a sample stands for: a link class with its name and number of channels, or, without a name, one
    /// channel.
    pub rows: Vec<(Option<Arc<str>>, u32)>,
}

/// Which state each managed channel was in from when to when.
#[derive(Debug, Clone)]
pub struct LinkStateTable {
    pub spans: Vec<Span>,
}

/// The control packets of the power policy.
#[derive(Debug, Clone)]
pub struct ControlPacketTable {
    pub packets: Vec<ControlPacket>,
    /// Names of the link classes.
    pub classes: Vec<Arc<str>>,
}

impl TransientTable {
    /// One row per bin: packets created in it that were delivered, their mean latency (NaN without packets) and the longest.
    pub fn write<W: Write + Send>(&self, out: W) -> Result<(), ParquetError> {
        let counts = |of: fn(&TransientBin) -> u64| Column::Counts(self.bins.iter().map(of).collect());
        let mean = |bin: &TransientBin| bin.latency as f64 / bin.packets as f64;
        let columns = [
            ("from_cycle", Column::Counts((0..self.bins.len() as u64).map(|k| k * self.width).collect())),
            ("bin_cycles", Column::Counts(vec![self.width; self.bins.len()])),
            ("packets", counts(|bin| bin.packets)),
            ("packet_latency_mean_cycles", Column::Floats(self.bins.iter().map(mean).collect())),
            ("packet_latency_max_cycles", counts(|bin| bin.longest)),
        ];
        write("transient", &columns.map(|(name, column)| (name.to_owned(), column)), out)
    }
}

impl SeriesTable {
    /// One row per sample and link class or channel: flits sent since the last sample, and channels per state at its end.
    pub fn write<W: Write + Send>(&self, out: W) -> Result<(), ParquetError> {
        let Series { every, end, width, rows } = &self.series;
        let samples = rows.len() / width.max(&1);
        let begin = |row: usize| (row / width) as u64 * every;
        let length = |row: usize| (begin(row) + every).min(*end) - begin(row);
        let each = |of: &dyn Fn(usize) -> u64| Column::Counts((0..rows.len()).map(of).collect());
        let mut columns = vec![("from_cycle".to_owned(), each(&begin)), ("interval_cycles".to_owned(), each(&length))];
        if self.rows.iter().all(|(name, _)| name.is_none()) {
            columns.push(("channel".to_owned(), each(&|row| (row % width) as u64)));
        } else {
            let name = |row: usize| self.rows[row % width].0.clone().unwrap_or_else(|| "".into());
            columns.push(("link_class".to_owned(), Column::Texts((0..samples * width).map(name).collect())));
        }
        let utilisation = |row: usize| {
            let slots = length(row) as f64 * f64::from(self.rows[row % width].1);
            if slots > 0.0 { rows[row].flits as f64 / slots } else { 0.0 }
        };
        columns.push(("flits".to_owned(), each(&|row| rows[row].flits)));
        columns.push(("utilisation".to_owned(), Column::Floats((0..rows.len()).map(utilisation).collect())));
        for state in LinkState::ALL {
            let of = |row: usize| u64::from(rows[row].states[state as usize]);
            columns.push((format!("channels_{}", state.name()), each(&of)));
        }
        write("series", &columns, out)
    }
}

impl LinkStateTable {
    /// One row per span: by channel (a row of channels.parquet), then by time; `to_cycle` is the first cycle after it.
    pub fn write<W: Write + Send>(&self, out: W) -> Result<(), ParquetError> {
        let names = LinkState::ALL.map(|state| Arc::<str>::from(state.name()));
        let counts = |of: fn(&Span) -> u64| Column::Counts(self.spans.iter().map(of).collect());
        let columns = [
            ("channel", counts(|span| span.channel.into())),
            ("state", Column::Texts(self.spans.iter().map(|span| names[span.state as usize].clone()).collect())),
            ("from_cycle", counts(|span| span.from)),
            ("to_cycle", counts(|span| span.to)),
        ];
        write("link_states", &columns.map(|(name, column)| (name.to_owned(), column)), out)
    }
}

impl ControlPacketTable {
    /// One row per packet, by the cycle in which it was sent. Null: when it came and how far it went, if it never came;
    /// `about_router`, where it is about the link between its ends; `value_flits` of what asks for nothing.
    pub fn write<W: Write + Send>(&self, out: W) -> Result<(), ParquetError> {
        let each = |of: &dyn Fn(&ControlPacket) -> u64| Column::Counts(self.packets.iter().map(of).collect());
        let maybe =
            |of: &dyn Fn(&ControlPacket) -> Option<u64>| Column::MaybeCounts(self.packets.iter().map(of).collect());
        let router = |of: &dyn Fn(&ControlPacket) -> Option<u32>| Column::Maybe(self.packets.iter().map(of).collect());
        let texts = |of: &dyn Fn(&ControlPacket) -> Arc<str>| Column::Texts(self.packets.iter().map(of).collect());
        let columns = [
            ("sent_cycle", each(&|packet| packet.cycle)),
            ("arrived_cycle", maybe(&|packet| packet.arrival.map(|(cycle, _)| cycle))),
            ("kind", texts(&|packet| packet.kind.name.into())),
            ("from_router", router(&|packet| Some(packet.from))),
            ("to_router", router(&|packet| Some(packet.to))),
            ("link_class", texts(&|packet| self.classes[usize::from(packet.class)].clone())),
            ("about_router", router(&|packet| packet.about)),
            ("flag", each(&|packet| packet.flag.into())),
            ("value_flits", maybe(&|packet| packet.value.map(u64::from))),
            ("hops", maybe(&|packet| packet.arrival.map(|(_, hops)| hops.into()))),
        ];
        write("control_packets", &columns.map(|(name, column)| (name.to_owned(), column)), out)
    }
}
