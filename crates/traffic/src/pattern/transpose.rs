//! Transpose: the destination is the source id with the two halves of its bits swapped.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), table 3.1; BookSim
//! `transpose`.
//!
//! # Parameters
//! None.
//!
//! # Guarantees
//! An involution. If the N = n^2 terminals are the elements of a matrix, (x, y) sends to (y, x). Terminals on the diagonal send to
//! themselves.
//!
//! # Not modelled
//! The pattern refuses a number of terminals that is not a power of two. The pattern also refuses ids with an odd number of bits, which
//! cannot be divided into two equal halves.
//!
//! # Validation
//! `traffic/tests/conformance.rs` checks that destinations are valid and drawn with the stated probabilities, and that the pattern is an
//! involution. The tests in this file check the transpose of a matrix. The pattern was not compared with another simulator.

use super::PatternModel;
use super::permutation::{Permutation, bits};
use crate::Population;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Sends to the terminal whose id is the source id with the two halves of its bits swapped.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transpose {}

impl PatternModel for Transpose {
    type To = Permutation;

    fn build(&self, population: &Population, path: &str) -> Result<Permutation, Refusal> {
        let bits = bits(population, path)?;
        if bits % 2 == 1 {
            let what = format!("{} = 2^{bits} terminals: an id has {bits} bits, an odd number", population.terminals);
            return Err(Refusal::new(path, what, "use a power of four as number of terminals, or another pattern"));
        }
        let half = bits / 2;
        let low = (1 << half) - 1;
        Ok(Permutation::new(population, |terminal| terminal >> half | (terminal & low) << half))
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
        Transpose {}.build(&population, "traffic.transpose")
    }

    #[test]
    fn is_the_transpose_of_a_matrix() {
        let permutation = build(64).unwrap();
        assert!((0..64).all(|s| permutation.image(s) == s % 8 * 8 + s / 8));
    }

    #[test]
    fn refuses_ids_without_halves() {
        assert_eq!(build(512).unwrap_err().what, "512 = 2^9 terminals: an id has 9 bits, an odd number");
        assert!(build(1000).unwrap_err().what.contains("not a power of two"));
    }
}
