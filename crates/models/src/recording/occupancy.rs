//! Occupancy: number of flits in the buffer of every input port over time. The table shows how congestion spreads from a hot destination
//! towards the sources, as a tree of full ports.
//!
//! # Source
//! G. F. Pfister, V. A. Norton, "'Hot Spot' Contention and Combining in Multistage Interconnection Networks", IEEE TC C-34(10), 1985, who
//! describe this spread as tree saturation.
//!
//! # Parameters
//! `every` [time]: time between two samples. This time doubles whenever there would be more than 1024 samples or 2^20 rows.
//!
//! # Guarantees
//! Every sample contains every input port of every router. A sample counts the flits in the buffers, and not the flits on links. Memory has
//! an upper limit.
//!
//! # Not modelled
//! Changes between samples. Source queues, and the buffers of terminals.
//!
//! # Validation
//! `scenario/tests/flows.rs` checks that the samples are the same for any number of blocks, and that no buffer has more flits than its
//! capacity. Under traffic to one terminal, the buffers in front of this terminal must fill first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::base::kept::Kept;
use weft_api::recording::{
    Column, Heading, Kind, NetworkSite, QueueReading, Recorded, Recorder, RecorderSite, Recording, Table, TableInfo,
};
use weft_units::{Refusal, Time};

/// Largest number of rows. If there are more, the time between samples doubles, which halves the number of rows.
const ROWS: usize = 1 << 20;
/// Largest number of samples. If there are more, the time between samples doubles.
const SAMPLES: usize = 1024;

/// Number of flits in the buffer of every input port at regular times of the whole run, saved as occupancy.parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Occupancy {
    /// Time between two samples [time]. It doubles whenever there would be more than 1024 samples (fewer if there are many ports).
    pub every: Time,
}

impl Recording for Occupancy {
    const TABLE: TableInfo = TableInfo {
        meaning: "flits that wait in each input port of the routers over time",
        rows: "A row per sample and input port. The table covers the whole run, warm-up included.",
        bounded: false,
        in_summary: false,
        columns: || {
            vec![
                Heading::new("cycle", Kind::Count, "cycles", "time of the sample, which is taken before this cycle"),
                Heading::new("channel", Kind::Count, "", "channel that leads to the port: row of `channels.parquet`"),
                Heading::new("queued_flits", Kind::Count, "flits", "flits that wait in all VCs of the port together"),
                Heading::new("fullest_vc_flits", Kind::Count, "flits", "flits that wait in the fullest VC of the port"),
                Heading::new("vc_buffer_flits", Kind::Count, "flits", "capacity of each VC of the port"),
            ]
        },
    };
    type Part = Samples;

    fn part(&self, network: &NetworkSite, block: &RecorderSite, path: &str) -> Result<Samples, Refusal> {
        let every = network.cycles(self.every, &format!("{path}.every"))?;
        let (most, width) = (samples(network.channels), block.buffers.len());
        let rows = block.buffers.iter().map(|buffer| buffer.row.map(|row| (row, buffer.class))).collect();
        let readings = Vec::with_capacity(most * width);
        Ok(Samples { every, end: 0, most, rows, readings, times: Vec::with_capacity(most) })
    }

    /// Memory for the readings and for the columns of the table [bytes]. The 5 columns of 8 bytes count twice, because the table is copied
    /// when it is written.
    fn bytes(&self, network: &NetworkSite) -> u64 {
        let of_row = size_of::<QueueReading>() + 2 * 8 * 5;
        (samples(network.channels) * network.channels * of_row) as u64
    }

    fn table(&self, parts: Vec<Samples>, run: &Recorded) -> Table {
        let times = parts.first().map_or(&[][..], |part| &part.times);
        // for each channel, the capacity of the buffer at its far end; 0 if the channel leads to a terminal
        let mut capacity = vec![0; run.network.channels];
        for (row, class) in parts.iter().flat_map(|part| part.rows.iter().flatten()) {
            capacity[*row as usize] = u64::from(run.network.buffers[usize::from(*class)]);
        }
        let filling: Vec<usize> = (0..capacity.len()).filter(|&row| capacity[row] > 0).collect();
        let mut readings = vec![QueueReading::default(); capacity.len()];
        let (mut queued, mut fullest) = (Vec::new(), Vec::new());
        for k in 0..times.len() {
            for part in &parts {
                for (row, reading) in part.rows.iter().zip(&part.readings[k * part.rows.len()..]) {
                    if let Some((row, _)) = row {
                        readings[*row as usize] = *reading;
                    }
                }
            }
            queued.extend(filling.iter().map(|&row| u64::from(readings[row].flits)));
            fullest.extend(filling.iter().map(|&row| u64::from(readings[row].fullest)));
        }
        let each = |of: &dyn Fn(usize) -> u64| times.iter().flat_map(|_| filling.iter().map(|&row| of(row))).collect();
        let cycles = times.iter().flat_map(|&time| filling.iter().map(move |_| time)).collect();
        Table::whole([
            ("cycle", Column::Counts(cycles)),
            ("channel", Column::Counts(each(&|row| row as u64))),
            ("queued_flits", Column::Counts(queued)),
            ("fullest_vc_flits", Column::Counts(fullest)),
            ("vc_buffer_flits", Column::Counts(each(&|row| capacity[row]))),
        ])
    }

    fn examples() -> Vec<Self> {
        vec![Self { every: Time::Cycles(100) }, Self { every: Time::Cycles(1) }]
    }
}

/// Largest number of samples for a network with `channels` channels. The number is even, so that exactly half of the samples can be
/// dropped.
fn samples(channels: usize) -> usize {
    (ROWS / channels.max(1)).clamp(2, SAMPLES) & !1
}

/// The samples that a block has taken.
#[derive(Debug, Kept)]
pub struct Samples {
    /// Present time between two samples [cycles]. The last sample can come earlier, at the end of the run.
    every: u64,
    /// Cycle of the last sample.
    end: u64,
    /// Largest number of samples.
    #[kept(fixed)]
    most: usize,
    /// For each buffer of the block: the row of the channel that leads to it in the table of channels, and the channel's link class.
    #[kept(fixed)]
    rows: Vec<Option<(u32, u8)>>,
    /// The readings of all samples, one reading per buffer in each sample.
    readings: Vec<QueueReading>,
    /// The cycles of the samples.
    times: Vec<u64>,
}

impl Recorder for Samples {
    fn next_sample(&self) -> u64 {
        self.end + self.every
    }

    fn samples_queues(&self) -> bool {
        true
    }

    fn sample_queues(&mut self, buffers: &[QueueReading], now: u64) {
        self.readings.extend_from_slice(buffers);
        self.times.push(now);
        self.end = now;
        if self.times.len() == self.most {
            self.halve();
        }
    }
}

impl Samples {
    /// Drops the first of every two samples, so the last sample stays.
    fn halve(&mut self) {
        let width = self.rows.len();
        for k in 0..self.times.len() / 2 {
            self.times[k] = self.times[2 * k + 1];
            self.readings.copy_within((2 * k + 1) * width..(2 * k + 2) * width, k * width);
        }
        self.times.truncate(self.times.len() / 2);
        self.readings.truncate(self.times.len() * width);
        self.every *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of a buffer, at first every 10 cycles. Just before cycle 10 k the buffer contains k flits. The limit is 4 samples. When
    /// there are more, only the second and the fourth of these samples stay. In the end, only samples at multiples of 40 cycles are left.
    #[test]
    fn every_second_sample_is_kept_when_there_are_too_many() {
        let rows = vec![Some((0, 0))];
        let mut samples = Samples { every: 10, end: 0, most: 4, rows, readings: Vec::new(), times: Vec::new() };
        let mut taken = Vec::new();
        while samples.next_sample() <= 80 {
            let now = samples.next_sample();
            samples.sample_queues(&[QueueReading { flits: (now / 10) as u32, fullest: 0 }], now);
            taken.push(now);
        }
        assert_eq!(taken, [10, 20, 30, 40, 60, 80]);
        assert_eq!((samples.every, &samples.times[..]), (40, &[40, 80][..]));
        assert_eq!(samples.readings.iter().map(|reading| reading.flits).collect::<Vec<_>>(), [4, 8]);
    }
}
