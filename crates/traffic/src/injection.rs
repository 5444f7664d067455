//! Injection processes: when a source creates its packets.
//!
//! A file and a line of the registry per process; `tests/injection.rs` measures the examples of every registered
//! process.

use crate::GapTable;
use rand_pcg::Pcg32;
use std::sync::Arc;
use weft_units::Refusal;

/// The configuration of an injection process; it knows the gaps between packets.
pub trait InjectionModel {
    /// The gaps at this `load` \[flits/cycle\], above 0 and at most 1, with packets of `packet_flits` on average, in cycles of
    /// `cycle_fs` \[fs\]. Refuses at `path` (the dotted path of this process in the scenario).
    fn build(&self, load: f64, packet_flits: f64, cycle_fs: u128, path: &str) -> Result<Times, Refusal>;

    /// Refuses what `build` refuses, without the tables that it makes.
    fn check(&self, load: f64, packet_flits: f64, cycle_fs: u128, path: &str) -> Result<(), Refusal> {
        self.build(load, packet_flits, cycle_fs, path).map(|_| ())
    }

    /// Whether each cycle creates a packet with the same probability, whatever happened before.
    fn is_memoryless(&self) -> bool {
        false
    }

    /// Configurations for a load of 0.25 in packets of 1 flit and cycles of 1 ns. Tests measure all examples.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

/// When the sources of one load create packets.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "the table is read for every packet, and there are few of them")]
pub enum Times {
    /// Gaps that do not depend on each other.
    Independent(GapTable),
    /// Gaps that depend on what a source remembers.
    Remembered(Arc<dyn Remembered>),
}

/// Gaps that depend on what a source remembers in one word.
pub trait Remembered: std::fmt::Debug + Send + Sync {
    /// The initial memory of a source, drawn so that its statistics are the same at any time, from cycle 0 on.
    fn start(&self, rng: &mut Pcg32) -> u64;

    /// Cycles to the next packet, 1 or more.
    fn gap(&self, state: &mut u64, rng: &mut Pcg32) -> u64;

    /// The variance of the number of packets in a long time, over its mean: the index of dispersion.
    fn dispersion(&self) -> f64;
}

weft_units::registry! {
    /// Every way in which a source can space its packets.
    pub enum InjectionConfig as InjectionModel, with examples, open to AddedInjection:
    "bernoulli" => bernoulli::Bernoulli,
    "on_off" => on_off::OnOff,
}

impl Default for InjectionConfig {
    fn default() -> Self {
        Self::Bernoulli(bernoulli::Bernoulli {})
    }
}

impl InjectionConfig {
    /// The process of all sources of this `load` \[flits/cycle\], above 0 and at most 1, with packets of
    /// `packet_flits` on average, in cycles of `cycle_fs` \[fs\]. Refuses at `path` (the dotted path of this process in the
    /// scenario).
    pub fn build(&self, load: f64, packet_flits: f64, cycle_fs: u128, path: &str) -> Result<Process, Refusal> {
        in_range(load, packet_flits, path)?;
        Ok(Process { times: self.model().build(load, packet_flits, cycle_fs, path)? })
    }

    /// Refuses what `build` refuses; it makes no tables.
    pub fn check(&self, load: f64, packet_flits: f64, cycle_fs: u128, path: &str) -> Result<(), Refusal> {
        in_range(load, packet_flits, path)?;
        self.model().check(load, packet_flits, cycle_fs, path)
    }
}

fn in_range(load: f64, packet_flits: f64, path: &str) -> Result<(), Refusal> {
    if load > 0.0 && load <= 1.0 && packet_flits >= 1.0 {
        return Ok(());
    }
    let what = format!("a load of {load} flits per cycle in packets of {packet_flits} flits");
    Err(Refusal::new(path, what, "write a load above 0 and at most 1, and packets of 1 flit or more"))
}

/// When the sources of one load create packets. It is shared: the memory of a source is one word of `state`.
#[derive(Debug, Clone)]
pub struct Process {
    times: Times,
}

impl Process {
    /// The initial memory of a source, drawn so that its statistics are the same at any time, from cycle 0 on.
    pub fn start(&self, rng: &mut Pcg32) -> u64 {
        match &self.times {
            Times::Independent(_) => 0,
            Times::Remembered(gaps) => gaps.start(rng),
        }
    }

    /// The variance of the number of packets in a long time, over its mean. For independent gaps, which are geometric, it
    /// is 1 - p; 1 is the bound that needs no p.
    pub fn dispersion(&self) -> f64 {
        match &self.times {
            Times::Independent(_) => 1.0,
            Times::Remembered(gaps) => gaps.dispersion(),
        }
    }

    /// Creation cycle of the first packet, cycle 0 or later.
    pub fn first(&self, state: &mut u64, rng: &mut Pcg32) -> u64 {
        self.next(0, state, rng) - 1
    }

    /// Creation cycle of the next packet after one in cycle `after`; later than that.
    #[inline(always)]
    pub fn next(&self, after: u64, state: &mut u64, rng: &mut Pcg32) -> u64 {
        after
            + match &self.times {
                Times::Independent(gaps) => gaps.draw(rng),
                Times::Remembered(gaps) => gaps.gap(state, rng),
            }
    }
}
