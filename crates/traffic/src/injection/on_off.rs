//! On/off: sources alternate between bursts at a peak load and silence, so that the average is the load of the scenario.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), section 24.2.2 (the two-state Markov-modulated
//! process); BookSim `on_off` with beta = 1 / mean_on, alpha = 1 / mean_off and r1 = peak / flits. Variance of the counts: the
//! covariances of a two-state Markov chain, summed as in W. Fischer, K. Meier-Hellstern, "The Markov-modulated Poisson process (MMPP)
//! cookbook", Performance Evaluation 18 (1993).
//!
//! # Parameters
//! `mean_on`: mean length of a burst \[time\], `peak`: load inside a burst \[flits/cycle\].
//!
//! # Guarantees
//! The lengths of bursts and of silences are geometric, at least 1 cycle. In each cycle of a burst a packet is created with probability
//! peak / flits. The mean silence is mean_on * (peak - load) / load cycles, so that the average is the load. If the load equals the peak, a
//! source sends one burst without end. Sources start in the stationary state. The precision of the probabilities is that of `gaps.rs`.
//!
//! # Not modelled
//! Bursts with other length distributions (heavy tails, self-similar traffic); bursts whose packets all go to one destination.
//!
//! # Validation
//! `traffic/tests/injection.rs` checks that the rate equals the load, in every cycle from the first, and that the lengths of bursts and
//! silences are geometric. `traffic/tests/injection.rs` also compares the variance of packet counts with the theory of renewal processes
//! and with `dispersion`. No other simulator was compared.

use super::{InjectionModel, Remembered, Times};
use crate::GapTable;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_units::{MAX_CYCLES, Refusal, Time};

/// Sources alternate between bursts at a peak load and silence; the average is the load of the scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Mean length of a burst.
    pub mean_on: Time,
    /// Load of a source inside a burst in flits per cycle, above 0 and at most 1 (default 1).
    #[serde(default = "full")]
    pub peak: f64,
}

/// Lower limit for a product that should be at least 1, because rounding can make it slightly smaller.
const ROUNDED: f64 = 1.0 - 1e-9;

fn full() -> f64 {
    1.0
}

impl OnOff {
    /// Mean lengths of a burst and of a silence [cycles]; refuses parameters for which no such lengths give the load.
    fn lengths(&self, load: f64, packet_flits: f64, cycle_fs: u128, path: &str) -> Result<(f64, f64), Refusal> {
        let Self { mean_on, peak } = *self;
        if !(peak > 0.0 && peak <= 1.0) {
            let what = format!("a peak load of {peak} flits per cycle is not possible");
            return Err(Refusal::new(format!("{path}.peak"), what, "write a number above 0 and at most 1"));
        }
        if load > peak {
            let what = format!("the average load of {load} flits per cycle is above the load in bursts, {peak}");
            return Err(Refusal::new(format!("{path}.peak"), what, format!("write at least {load}, or a lower load")));
        }
        let mean_on = mean_on.duration(cycle_fs, &format!("{path}.mean_on"))?;
        let on = mean_on.cycles as f64;
        let flits = packet_flits;
        // The check also limits the number of draws per packet, because most bursts then have at least one packet.
        if on * peak < flits * ROUNDED {
            let what =
                format!("{mean_on} at {peak} flits per cycle send {} of the {flits} flits of a packet", on * peak);
            let least = (flits / peak).ceil() as u64;
            let help = match least <= MAX_CYCLES {
                true => format!("write at least {}, the length of a burst of one packet", mean_on.like(least)),
                false => {
                    format!("write a peak of at least {}, to send a packet in 2^48 cycles", flits / MAX_CYCLES as f64)
                }
            };
            return Err(Refusal::new(format!("{path}.mean_on"), what, help));
        }
        let off = on * (peak - load) / load;
        if load != peak && off < ROUNDED {
            let what =
                format!("bursts of {mean_on} need silences of {on} * ({peak} - {load}) / {load} = {off:.4} cycles");
            let help = format!(
                "silences must be 1 cycle or longer: write at least {}, or a load of at most {}, or a load of {peak}",
                mean_on.like((load / (peak - load)).ceil() as u64),
                on * peak / (on + 1.0),
            );
            return Err(Refusal::new(format!("{path}.mean_on"), what, help));
        }
        Ok((on, off))
    }
}

impl InjectionModel for OnOff {
    fn build(&self, load: f64, packet_flits: f64, cycle_fs: u128, path: &str) -> Result<Times, Refusal> {
        let (on, off) = self.lengths(load, packet_flits, cycle_fs, path)?;
        let peak = self.peak;
        let per_cycle = peak / packet_flits;
        let packets = GapTable::new(per_cycle);
        if load == peak {
            return Ok(Times::Independent(packets));
        }
        let is_on = (load / peak * 2f64.powi(64)) as u64;
        let lengths = |mean: f64| GapTable::new((1.0 / mean.max(1.0)).max(f64::MIN_POSITIVE));
        let dispersion = dispersion(per_cycle, on.max(1.0), off.max(1.0));
        Ok(Times::Remembered(Arc::new(Bursts { is_on, packets, on: lengths(on), off: lengths(off), dispersion })))
    }

    fn check(&self, load: f64, packet_flits: f64, cycle_fs: u128, path: &str) -> Result<(), Refusal> {
        self.lengths(load, packet_flits, cycle_fs, path).map(|_| ())
    }

    fn examples() -> Vec<Self> {
        let mean_on = [Time::Cycles(10), Time::Femtoseconds(50_000_000), Time::Cycles(100)];
        // In the last example, the peak equals the load, so a source sends one burst without end.
        mean_on.into_iter().zip([1.0, 0.8, 0.25]).map(|(mean_on, peak)| Self { mean_on, peak }).collect()
    }
}

/// The index of dispersion (variance / mean of the number of packets in a long time), for packets with probability `p` in each cycle of a
/// burst. Bursts of `on` and silences of `off` cycles on average, both with geometric lengths, are a Markov chain of two states. A cycle is
/// in a burst with probability f = on / (on + off). The covariance between a cycle and the cycle k cycles later is f (1 - f) r^k, with r =
/// 1 - 1/on - 1/off. So the number of packets in T cycles has the mean T p f. Its variance is T (p f (1 - p f) + 2 p^2 f (1 - f) r / (1 -
/// r)).
fn dispersion(p: f64, on: f64, off: f64) -> f64 {
    let (f, memory) = (on / (on + off), on * off / (on + off));
    // uses r / (1 - r) with 1 - r = (on + off) / (on off). For strict alternation the result is 0 except for rounding errors, so the
    // minimum is 0
    (1.0 - p * f + 2.0 * p * (1.0 - f) * (memory - 1.0)).max(0.0)
}

/// The gaps of sources with bursts and silences. The state of a source is the number of cycles until its burst ends.
#[derive(Debug, Clone)]
pub(super) struct Bursts {
    /// Number of the 2^64 values of a random number for which a source starts in a burst.
    is_on: u64,
    /// Distribution of the gaps between packets inside a burst.
    packets: GapTable,
    /// Distribution of the lengths of bursts [cycles].
    on: GapTable,
    /// Distribution of the lengths of silences [cycles].
    off: GapTable,
    dispersion: f64,
}

impl Remembered for Bursts {
    /// Number of cycles until the current burst ends, at a random time; 0 in a silence. The lengths are geometric, so the remaining part of
    /// a burst has the same distribution as a new burst. The remaining part of a silence has the same distribution as a new silence.
    fn start(&self, rng: &mut Pcg32) -> u64 {
        if rng.next_u64() < self.is_on { self.on.draw(rng) } else { 0 }
    }

    /// Number of cycles until the next packet. A drawn packet that would be created after the end of the burst is discarded. The packet is
    /// drawn again in the next burst, with the same distribution.
    fn gap(&self, left: &mut u64, rng: &mut Pcg32) -> u64 {
        let mut passed = 0;
        loop {
            let wait = self.packets.draw(rng);
            if wait <= *left {
                *left -= wait;
                return passed + wait;
            }
            passed += *left + self.off.draw(rng);
            *left = self.on.draw(rng);
        }
    }

    fn dispersion(&self) -> f64 {
        self.dispersion
    }
}
