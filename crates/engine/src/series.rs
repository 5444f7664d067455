//! Time series: flits and link states per link class or per channel, sampled over the whole run in bounded memory.

use crate::block::Block;
use crate::power::LinkState;
use crate::spec::SeriesSpec;
use crate::state::Kind;

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
    series: Series,
    samples: usize,
    /// Cycle of the next sample.
    pub next: u64,
    /// Row of every output of every block, `u32::MAX` for one without a link.
    row: Vec<u32>,
    /// Flits that each output had sent at the last sample.
    sent: Vec<u64>,
    now: Vec<Sample>,
}

impl Recorder {
    /// `order`: place of every output (by block) in the table of channels, `None` where there is no link.
    pub fn new<const W: usize, const V: usize>(
        spec: SeriesSpec,
        classes: usize,
        blocks: &[Block<W, V>],
        order: &[Option<u32>],
    ) -> Self {
        let outs = blocks.iter().flat_map(|b| &b.outs);
        let row: Vec<u32> = outs
            .zip(order)
            .map(|(out, place)| match place {
                None => u32::MAX,
                Some(place) if spec.channels => *place,
                Some(_) => u32::from(out.class),
            })
            .collect();
        let width = if spec.channels { order.iter().flatten().count() } else { classes };
        let samples = (ROWS / width.max(1)).clamp(2, SAMPLES) & !1;
        let rows = Vec::with_capacity(samples * width);
        Self {
            series: Series { every: spec.every, end: 0, width, rows },
            samples,
            next: spec.every,
            sent: vec![0; row.len()],
            row,
            now: vec![Sample::default(); width],
        }
    }

    /// Adds what was sent since the last look to the interval under way.
    pub fn look<const W: usize, const V: usize>(&mut self, blocks: &[Block<W, V>]) {
        let outs = blocks.iter().flat_map(|b| b.outs.iter().zip(&b.power.accounts));
        for ((out, account), (row, sent)) in outs.zip(self.row.iter().zip(&mut self.sent)) {
            if *row != u32::MAX {
                let total = account.flits.iter().sum::<u64>() + u64::from(out.flits);
                self.now[*row as usize].flits += total - *sent;
                *sent = total;
            }
        }
    }

    /// The accounts of the channels start again from 0.
    pub fn restart(&mut self) {
        self.sent.fill(0);
    }

    /// Ends an interval at cycle `now`.
    pub fn sample<const W: usize, const V: usize>(&mut self, blocks: &[Block<W, V>], now: u64) {
        self.look(blocks);
        for (out, &row) in blocks.iter().flat_map(|b| &b.outs).zip(&self.row) {
            if row != u32::MAX && out.kind != Kind::Unused {
                self.now[row as usize].states[out.state as usize] += 1;
            }
        }
        self.series.rows.extend_from_slice(&self.now);
        self.now.fill(Sample::default());
        self.series.end = now;
        if self.series.rows.len() == self.samples * self.series.width {
            self.halve();
        }
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
    pub fn finish<const W: usize, const V: usize>(&mut self, blocks: &[Block<W, V>], now: u64) -> Series {
        if now > self.series.end {
            self.sample(blocks, now);
        }
        self.series.clone()
    }
}
