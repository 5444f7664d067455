//! Quantities with units, refusals, the registry of models, and prefetching. This crate does not depend on other crates of Weft.
//!
//! A quantity in a scenario is a string with a unit ("10us", "31.25pJ/bit", "32flits", "4cycles"). The quantity is stored exactly, as an
//! integer number of the smallest unit, until it is converted into cycles or yoctojoules.

mod bandwidth;
mod code;
mod decimal;
mod energy;
pub mod file;
mod fraction;
mod length;
mod link_classes;
pub mod outside;
pub mod prefetch;
mod quantity;
mod registry;
mod remark;
mod share;
mod with_unit;
mod words;

pub use bandwidth::Bandwidth;
pub use code::{Code, Severity, codes};
pub use energy::{ENERGY_DECIMALS, fj_f64, fj_text};
pub use file::InputFile;
pub use fraction::Fraction;
pub use length::light_time;
pub use link_classes::LinkClasses;
pub use quantity::{Bits, Cycles, Duration, EnergyPerBit, Flits, MAX_CYCLES, Power, Standing, Time};
pub use remark::Remark;
pub use share::Share;
pub use with_unit::with_unit;
// The following re-exports are public only because the macros of this crate use them in other crates.
#[doc(hidden)]
pub use code::Declared;
#[doc(hidden)]
pub use {erased_serde, inventory};

/// The greatest common divisor. If one argument is 0, the result is the other argument.
pub fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The reason why a scenario can't run: the key (dotted path), the fault with its arithmetic, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {what} ({help})")]
pub struct Refusal {
    /// Dotted path of the scenario key, e.g. `routing.ugal_p.threshold`.
    pub path: String,
    /// The fault, with the numbers and the calculation that show it.
    pub what: String,
    /// The remedy: a change of the scenario that corrects the fault.
    pub help: String,
}

impl Refusal {
    pub fn new(path: impl Into<String>, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { path: path.into(), what: what.into(), help: help.into() }
    }
}
