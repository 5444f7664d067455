//! Bit complement: the destination is the source id with every bit inverted.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), table 3.1; BookSim `bitcomp`.
//!
//! # Parameters
//! None.
//!
//! # Guarantees
//! An involution without fixed points: terminal s sends to N - 1 - s.
//!
//! # Not modelled
//! The pattern refuses a number of terminals that is not a power of two. With another number, some sources would have a destination that
//! does not exist, and would be silent.
//!
//! # Validation
//! `traffic/tests/conformance.rs` checks that destinations are valid and drawn with the stated probabilities, and that the pattern is an
//! involution without fixed points. `engine/tests/bounds.rs` checks that `valiant` and `up_down` reach their theoretical throughput bounds
//! under this pattern. The rows `bitcomp` of `tests/data/golden/booksim.csv` compare the pattern with BookSim2.

use super::PatternModel;
use super::permutation::Permutation;
use crate::Population;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Sends to the terminal whose id is the source id with every bit inverted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BitComplement {}

impl PatternModel for BitComplement {
    type To = Permutation;

    fn build(&self, population: &Population, path: &str) -> Result<Permutation, Refusal> {
        Permutation::of_bits(population, path, |terminal, bits| terminal ^ (u32::MAX >> (32 - bits)))
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(terminals: u32) -> Result<Permutation, Refusal> {
        let population = Population::of(terminals);
        BitComplement {}.build(&population, "traffic.bit_complement")
    }

    #[test]
    fn is_the_mirror_image() {
        let permutation = build(64).unwrap();
        assert!((0..64).all(|s| permutation.image(s) == 63 - s));
    }

    #[test]
    fn refuses_with_the_arithmetic() {
        let refusal = build(1000).unwrap_err();
        assert_eq!(refusal.what, "1000 terminals are not a power of two: 2^9 = 512, 2^10 = 1024");
        assert!(build(0).is_err() && build(1).is_err());
    }
}
