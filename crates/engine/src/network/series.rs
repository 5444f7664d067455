//! Time series: flits and link states per link class or per channel, sampled over the whole run in bounded memory.

use crate::base::unchecked::Hot;
use crate::network::spec::SeriesSpec;
use crate::pipeline::block::Block;
use crate::state::{ChannelEnd, LinkState, OutputUnit};

/// Rows of a series at most; twice the interval halves them.
const ROWS: usize = 1 << 20;
/// Samples at most.
const SAMPLES: usize = 1024;

/// One channel, or all of a class, in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sample {
    /// Flits sent in the interval.
    pub flits: u64,
    /// Channels in each state at the end of the interval.
    pub states: [u32; LinkState::COUNT],
}

/// A time series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// Length of an interval [cycles]; the last one may have been cut short by the end of the run.
    pub every: u64,
    /// End of the last interval [cycle].
    pub end: u64,
    /// Rows per interval: one per link class, or one per channel in the order of `Outcome::channels`.
    pub width: usize,
    /// The rows of one interval after the other.
    pub rows: Vec<Sample>,
}

/// Takes the samples.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Its last rows are those of the interval under way.
    series: Series,
    samples: usize,
    /// Cycle of the next sample.
    pub next: u64,
    /// Of every output of every block.
    places: Vec<Place>,
}

/// Where an output is counted.
#[derive(Debug)]
struct Place {
    /// `u32::MAX` for one without a link.
    row: u32,
    /// Flits that it had sent at the last look, the low 32 bits.
    sent: u32,
}

impl Recorder {
    /// `order`: place of every output (by block) in the table of channels, `None` where there is no link.
    pub fn new<const W: usize, const V: usize>(
        spec: SeriesSpec,
        classes: usize,
        blocks: &[Block<W, V>],
        order: &[Option<u32>],
    ) -> Self {
        let row = |(out, place): (&OutputUnit<V>, &Option<u32>)| match place {
            None => u32::MAX,
            Some(place) if spec.channels => *place,
            Some(_) => u32::from(out.class),
        };
        let places = blocks.iter().flat_map(|b| &b.outs).zip(order).map(|of| Place { row: row(of), sent: 0 }).collect();
        let width = if spec.channels { order.iter().flatten().count() } else { classes };
        let samples = (ROWS / width.max(1)).clamp(2, SAMPLES) & !1;
        let mut rows = Vec::with_capacity(samples * width);
        rows.resize(width, Sample::default());
        Self { series: Series { every: spec.every, end: 0, width, rows }, samples, next: spec.every, places }
    }

    /// Counts what was sent since the last look: at least every 2^32 cycles.
    pub fn look<const W: usize, const V: usize>(&mut self, blocks: &[Block<W, V>]) {
        self.count(blocks, 0);
    }

    /// Adds what was sent since the last look to the interval under way, and `ends` to the states that the channels are in.
    fn count<const W: usize, const V: usize>(&mut self, blocks: &[Block<W, V>], ends: u32) {
        let first = self.series.rows.len() - self.series.width;
        let (rows, mut places) = (&mut self.series.rows[first..], &mut self.places[..]);
        for block in blocks {
            let (here, others) = places.split_at_mut(block.outs.len());
            for (out, place) in block.outs.iter().zip(here) {
                if let Some(row) = rows.get_mut(place.row as usize) {
                    row.flits += u64::from(out.flits.wrapping_sub(place.sent));
                    *row.states.hot_mut(out.state as usize) += ends;
                    place.sent = out.flits;
                }
            }
            places = others;
        }
    }

    /// Ends an interval at cycle `now`.
    pub fn sample<const W: usize, const V: usize>(&mut self, blocks: &[Block<W, V>], now: u64) {
        self.count(blocks, 1);
        self.series.end = now;
        if self.series.rows.len() == self.samples * self.series.width {
            self.halve();
        }
        self.series.rows.resize(self.series.rows.len() + self.series.width, Sample::default());
        self.next = now + self.series.every;
    }

    /// Joins the intervals two by two: their flits are added, the states are those at the end.
    fn halve(&mut self) {
        let width = self.series.width;
        for k in 0..self.samples / 2 {
            for r in 0..width {
                let (first, second) = (self.series.rows[2 * k * width + r], self.series.rows[(2 * k + 1) * width + r]);
                self.series.rows[k * width + r] = Sample { flits: first.flits + second.flits, ..second };
            }
        }
        self.series.rows.truncate(self.samples / 2 * width);
        self.series.every *= 2;
    }

    /// The series up to cycle `now`, the interval under way included.
    pub fn finish<const W: usize, const V: usize>(mut self, blocks: &[Block<W, V>], now: u64) -> Series {
        if now > self.series.end {
            self.sample(blocks, now);
        }
        self.series.rows.truncate(self.series.rows.len() - self.series.width);
        self.series
    }
}

/// Place of every output of every block in the table of [`channels`]; `None` where there is no link.
pub(crate) fn order<const W: usize, const V: usize>(blocks: &[Block<W, V>]) -> Vec<Option<u32>> {
    let outs = || blocks.iter().flat_map(|b| b.outs.iter().map(move |out| (b, out)));
    let links =
        outs().filter(|(_, out)| !matches!(out.kind, ChannelEnd::Unused | ChannelEnd::Injection)).count() as u32;
    let mut next = 0;
    let place = |(block, out): (&Block<W, V>, &OutputUnit<V>)| match out.kind {
        ChannelEnd::Unused => None,
        ChannelEnd::Injection => Some(links + block.terminals[out.router as usize].id),
        _ => {
            next += 1;
            Some(next - 1)
        }
    };
    outs().map(place).collect()
}
