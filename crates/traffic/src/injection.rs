//! Injection processes: models of the times at which sources create packets. Each source draws these times from its random stream.
//!
//! Each process has one file and one line of the registry; `tests/injection.rs` measures the examples of every registered
//! process.

use crate::GapTable;
use rand_pcg::Pcg32;
use std::sync::Arc;
use weft_units::Refusal;

/// An injection process with its parameters in a scenario. From the parameters it builds the gaps between packets.
pub trait InjectionModel {
    /// Builds the gaps for this `load` \[flits/cycle\], above 0 and at most 1. Packets have `packet_flits` on average, and cycles have
    /// `cycle_fs` \[fs\]. Refuses invalid values; the refusal names `path` (the dotted path of this process in the scenario).
    fn build(&self, load: f64, packet_flits: f64, cycle_fs: u128, path: &str) -> Result<Times, Refusal>;

    /// Refuses the same values as `build`, but creates no tables.
    fn check(&self, load: f64, packet_flits: f64, cycle_fs: u128, path: &str) -> Result<(), Refusal> {
        self.build(load, packet_flits, cycle_fs, path).map(|_| ())
    }

    /// True if each cycle creates a packet with the same probability, independent of all other cycles.
    fn is_memoryless(&self) -> bool {
        false
    }

    /// Configurations for tests, with a load of 0.25, packets of 1 flit and cycles of 1 ns. Weft's tests measure the load of all examples.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

/// The gaps between the packets of a source with a certain load. All sources with this load share the distribution of the gaps, and each
/// source draws its own gaps from it.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "the table is read for every packet, and there are few of them")]
pub enum Times {
    /// Gaps that do not depend on earlier packets.
    Independent(GapTable),
    /// Gaps that depend on earlier packets, through a stored state of the source.
    Remembered(Arc<dyn Remembered>),
}

/// Gaps that depend on the state of a source. The state is one stored word.
pub trait Remembered: std::fmt::Debug + Send + Sync {
    /// The initial state of a source. The state is drawn so that the statistics of the source are the same at all times, from cycle 0 on.
    fn start(&self, rng: &mut Pcg32) -> u64;

    /// Number of cycles until the next packet, 1 or more.
    fn gap(&self, state: &mut u64, rng: &mut Pcg32) -> u64;

    /// The index of dispersion: the variance of the number of packets in a long time, divided by the mean of this number.
    fn dispersion(&self) -> f64;
}

weft_units::registry! {
    /// A registered injection process, with its parameters.
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
    /// Builds the process for all sources with this `load` \[flits/cycle\], above 0 and at most 1. Packets have `packet_flits` on average,
    /// and cycles have `cycle_fs` \[fs\]. Refuses invalid values; the refusal names `path` (the dotted path of this process in the
    /// scenario).
    pub fn build(&self, load: f64, packet_flits: f64, cycle_fs: u128, path: &str) -> Result<Process, Refusal> {
        in_range(load, packet_flits, path)?;
        Ok(Process { times: self.model().build(load, packet_flits, cycle_fs, path)? })
    }

    /// Refuses the same values as `build`, but creates no tables.
    pub fn check(&self, load: f64, packet_flits: f64, cycle_fs: u128, path: &str) -> Result<(), Refusal> {
        in_range(load, packet_flits, path)?;
        self.model().check(load, packet_flits, cycle_fs, path)
    }
}

fn in_range(load: f64, packet_flits: f64, path: &str) -> Result<(), Refusal> {
    if load > 0.0 && load <= 1.0 && packet_flits >= 1.0 {
        return Ok(());
    }
    let what = format!("a load of {load} flits per cycle in packets of {packet_flits} flits is not possible");
    Err(Refusal::new(path, what, "write a load above 0 and at most 1, and packets of 1 flit or more"))
}

/// An injection process for a certain load. All sources with this load share the process, but each source draws its own times. For these
/// draws, a source stores its random stream and one word of state.
#[derive(Debug, Clone)]
pub struct Process {
    times: Times,
}

impl Process {
    /// The initial state of a source. The state is drawn so that the statistics of the source are the same at all times, from cycle 0 on.
    pub fn start(&self, rng: &mut Pcg32) -> u64 {
        match &self.times {
            Times::Independent(_) => 0,
            Times::Remembered(gaps) => gaps.start(rng),
        }
    }

    /// The index of dispersion: the variance of the number of packets in a long time, divided by the mean of this number. For independent
    /// gaps, which are geometric, the exact value is 1 - p. The function then returns 1, an upper bound that does not need p.
    pub fn dispersion(&self) -> f64 {
        match &self.times {
            Times::Independent(_) => 1.0,
            Times::Remembered(gaps) => gaps.dispersion(),
        }
    }

    /// Cycle in which the first packet is created, 0 or later.
    pub fn first(&self, state: &mut u64, rng: &mut Pcg32) -> u64 {
        self.next(0, state, rng) - 1
    }

    /// Cycle in which the next packet is created, after a packet in cycle `after`. The cycle is always later than `after`.
    #[inline(always)]
    pub fn next(&self, after: u64, state: &mut u64, rng: &mut Pcg32) -> u64 {
        after
            + match &self.times {
                Times::Independent(gaps) => gaps.draw(rng),
                Times::Remembered(gaps) => gaps.gap(state, rng),
            }
    }
}
