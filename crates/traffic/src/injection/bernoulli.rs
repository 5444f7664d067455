//! Bernoulli: in every cycle a source creates a packet with the same probability, independent of all other cycles.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), section 24.2.2; BookSim
//! `bernoulli`.
//!
//! # Parameters
//! None: the probability is load / flits of a packet \[1/cycle\].
//!
//! # Guarantees
//! The gaps between packets are geometric, drawn as in `gaps.rs`.
//!
//! # Not modelled
//! Bursts: see `on_off`.
//!
//! # Validation
//! `traffic/tests/injection.rs` checks that the rate of packets equals the load, and is the same in every cycle. The tests of `gaps.rs`
//! check that means, variances and counts are geometric (chi-square). Every row of `tests/data/golden/booksim.csv` and
//! `tests/data/golden/caminos.csv` compares a run with another simulator.

use super::{InjectionModel, Times};
use crate::GapTable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// A source creates a packet in every cycle with the same probability.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bernoulli {}

impl InjectionModel for Bernoulli {
    fn build(&self, load: f64, packet_flits: f64, _: u128, _: &str) -> Result<Times, Refusal> {
        // the minimum keeps the probability above 0 for the smallest loads, which would round to 0
        Ok(Times::Independent(GapTable::new((load / packet_flits).max(f64::MIN_POSITIVE))))
    }

    fn check(&self, _: f64, _: f64, _: u128, _: &str) -> Result<(), Refusal> {
        Ok(())
    }

    fn is_memoryless(&self) -> bool {
        true
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}
