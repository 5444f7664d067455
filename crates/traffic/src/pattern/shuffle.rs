//! Perfect shuffle: the destination is the source id with its bits rotated left by one.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), table 3.1; BookSim `shuffle`.
//!
//! # Parameters
//! None.
//!
//! # Guarantees
//! The pattern is a permutation. Applied once per bit of the ids, it is the identity. Terminals 0 and N - 1 send to themselves.
//!
//! # Not modelled
//! The pattern refuses a number of terminals that is not a power of two. With another number, some sources would have a destination that
//! does not exist, and would be silent.
//!
//! # Validation
//! `traffic/tests/conformance.rs` checks that destinations are valid and drawn with the stated probabilities, and that the pattern is a
//! bijection. The tests in this file check that the pattern, applied once per bit, is the identity. The pattern was not compared with
//! another simulator.

use super::PatternModel;
use super::permutation::Permutation;
use crate::Population;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Sends to the terminal whose id is the source id with its bits rotated left by one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shuffle {}

impl PatternModel for Shuffle {
    type To = Permutation;

    fn build(&self, population: &Population, path: &str) -> Result<Permutation, Refusal> {
        Permutation::of_bits(population, path, |terminal, bits| {
            let highest = terminal >> (bits - 1);
            (terminal ^ highest << (bits - 1)) << 1 | highest
        })
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
        Shuffle {}.build(&population, "traffic.shuffle")
    }

    #[test]
    fn rotates_left() {
        let permutation = build(16).unwrap();
        assert_eq!([0b0001, 0b1000, 0b1010, 0b0111].map(|s| permutation.image(s)), [0b0010, 0b0001, 0b0101, 0b1110]);
        assert_eq!([0, 1].map(|s| build(2).unwrap().image(s)), [0, 1]);
        assert!(build(12).is_err());
    }

    #[test]
    fn once_per_bit_is_the_identity() {
        let permutation = build(1 << 7).unwrap();
        assert!((0..1 << 7).all(|s| (0..7).fold(s, |t, _| permutation.image(t)) == s));
    }
}
