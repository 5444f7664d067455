//! Bit reverse: the destination is the source id with its bits in the opposite order.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), table 3.1; BookSim `bitrev`.
//!
//! # Parameters
//! None.
//!
//! # Guarantees
//! An involution. A terminal whose id has palindromic bits, e.g. 0 or N - 1, sends to itself.
//!
//! # Not modelled
//! The pattern refuses a number of terminals that is not a power of two. With another number, some sources would have a destination that
//! does not exist, and would be silent.
//!
//! # Validation
//! `traffic/tests/conformance.rs` checks that destinations are valid and drawn with the stated probabilities, and that the pattern is an
//! involution. `engine/tests/bounds.rs` checks that `up_down` (`d_mod_k`) reaches its theoretical throughput bound under this pattern. The
//! pattern was not compared with another simulator.

use super::PatternModel;
use super::permutation::Permutation;
use crate::Population;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Sends to the terminal whose id is the source id with its bits in the opposite order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BitReverse {}

impl PatternModel for BitReverse {
    type To = Permutation;

    fn build(&self, population: &Population, path: &str) -> Result<Permutation, Refusal> {
        Permutation::of_bits(population, path, |terminal, bits| terminal.reverse_bits() >> (32 - bits))
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
        BitReverse {}.build(&population, "traffic.bit_reverse")
    }

    #[test]
    fn reverses_the_bits() {
        let permutation = build(16).unwrap();
        assert_eq!([0b0001, 0b0010, 0b0111, 0b1001].map(|s| permutation.image(s)), [0b1000, 0b0100, 0b1110, 0b1001]);
        assert!(build(12).is_err());
    }
}
