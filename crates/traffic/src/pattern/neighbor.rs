//! Neighbor: every coordinate of the destination is the coordinate of the source plus one.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), table 3.1; BookSim `neighbor`
//! (by digits).
//!
//! # Parameters
//! `by`: selects the shifted numbers, i.e. the coordinates of routers (default), all digits of terminal ids (`digits`), or the lowest
//! digits (`booksim_digits`). `radix` is the base of the digits and `digits` their number \[counts\].
//!
//! # Guarantees
//! Every coordinate or digit of width w moves by 1, modulo w, in all dimensions at once. The destination is the diagonal neighbour, which
//! is one link away only if the network has one dimension. The pattern is a permutation, except with `booksim_digits`. With
//! `booksim_digits`, higher digits are dropped, so several terminals send to the same terminal.
//!
//! # Not modelled
//! Exchanges with all neighbours (stencils).
//!
//! # Validation
//! `traffic/tests/conformance.rs` checks that destinations are valid and drawn with the stated probabilities, and that the pattern is a
//! bijection. `engine/tests/determinism.rs` checks that on a ring of four routers `neighbor` and `tornado` give exactly the same results.
//! The pattern was not compared with another simulator.

use super::permutation::Permutation;
use super::{By, PatternModel};
use crate::Population;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Adds one to every coordinate of the router, or to every digit of the terminal id.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Neighbor {
    /// Selects the shifted numbers: the coordinates of routers, or the digits of terminal ids.
    #[serde(default)]
    pub by: By,
}

impl PatternModel for Neighbor {
    type To = Permutation;

    fn build(&self, population: &Population, path: &str) -> Result<Permutation, Refusal> {
        self.by.shift(|_| 1, population, path)
    }

    fn examples() -> Vec<Self> {
        [By::Routers {}, By::Digits { radix: 8, digits: 2 }].map(|by| Self { by }).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_one_in_every_dimension() {
        let population = Population { terminals_per_router: Some(2), widths: Some(vec![4, 3]), ..Population::of(24) };
        let permutation = Neighbor::default().build(&population, "p").unwrap();
        for s in 0..24 {
            let (x, y, place) = (s / 2 % 4, s / 8, s % 2);
            assert_eq!(permutation.image(s), ((x + 1) % 4 + (y + 1) % 3 * 4) * 2 + place);
        }
    }
}
