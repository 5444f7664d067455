//! Congestion control: sources send more slowly when their packets are marked. Each congestion control is one file, and has one line in
//! this file.

weft_units::registry! {
    /// Every congestion control. Routers mark packets. Receivers notify the sources of marked packets. A notified source limits the rate at
    /// which it sends to that receiver.
    pub enum CongestionConfig as CongestionModel, with examples, open to AddedCongestion:
    "none" => unlimited::Unlimited,
    "dcqcn" => dcqcn::Dcqcn,
    "infiniband" => infiniband::Infiniband,
}

use weft_api::congestion::{CongestionModel, LineSite};
use weft_units::{Bandwidth, Bits, Refusal};

impl Default for CongestionConfig {
    fn default() -> Self {
        Self::Unlimited(unlimited::Unlimited {})
    }
}

impl CongestionConfig {
    /// True for the default model `none`, under which sources send without a limit.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// Converts a bandwidth above zero to flits per cycle.
fn flits_per_cycle(site: &LineSite, bandwidth: Bandwidth, path: &str) -> Result<f64, Refusal> {
    let (flits, cycles) = bandwidth.flits_in_cycles(site.flit_bits, site.cycle_fs, path)?;
    if flits == 0 {
        return Err(Refusal::new(path, "the rate is 0", "write a rate above 0, such as 40Mb/s"));
    }
    Ok(flits as f64 / cycles as f64)
}

/// Converts a size to flits.
fn flits(site: &LineSite, size: Bits) -> f64 {
    size.0 as f64 / site.flit_bits as f64
}

/// Refuses a share that is not above 0 and at most 1.
fn check_share(share: f64, path: &str) -> Result<(), Refusal> {
    if share > 0.0 && share <= 1.0 {
        return Ok(());
    }
    Err(Refusal::new(path, format!("{share} is not a share between 0 and 1"), "write a number above 0, up to 1"))
}
