//! Tornado: every coordinate of the destination is almost half-way around its dimension from the source.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), table 3.1; BookSim `tornado`
//! (by digits). The tornado traffic of TCEP (Kim et al., ISCA'18) shifts the coordinates of routers instead.
//!
//! # Parameters
//! `by`: selects the shifted numbers, i.e. the coordinates of routers (default), all digits of terminal ids (`digits`), or the lowest
//! digits (`booksim_digits`). `radix` is the base of the digits and `digits` their number \[counts\].
//!
//! # Guarantees
//! Every coordinate or digit of width w moves by ceil(w / 2) - 1, modulo w. Coordinates of width 1 and 2 do not move. The pattern is a
//! permutation, except with `booksim_digits`. With `booksim_digits`, higher digits are dropped, so several terminals send to the same
//! terminal.
//!
//! # Not modelled
//! Digits with different radices.
//!
//! # Validation
//! `traffic/tests/conformance.rs` checks that destinations are valid and drawn with the stated probabilities, and that the pattern is a
//! bijection. `engine/tests/theory.rs` and `engine/tests/bounds.rs` check that rings and butterflies reach their theoretical throughput
//! bounds under this pattern. The rows `tornado` of `tests/data/golden/booksim.csv` compare the pattern (by digits) with BookSim2.

use super::permutation::Permutation;
use super::{By, PatternModel};
use crate::Population;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Shifts every coordinate of the router, or every digit of the terminal id, almost half-way around.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tornado {
    /// Selects the shifted numbers: the coordinates of routers, or the digits of terminal ids.
    #[serde(default)]
    pub by: By,
}

impl PatternModel for Tornado {
    type To = Permutation;

    fn build(&self, population: &Population, path: &str) -> Result<Permutation, Refusal> {
        self.by.shift(|width| width.div_ceil(2) - 1, population, path)
    }

    fn examples() -> Vec<Self> {
        let by = [By::Routers {}, By::Digits { radix: 8, digits: 2 }, By::BooksimDigits { radix: 4, digits: 2 }];
        by.map(|by| Self { by }).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn population() -> Population {
        Population { terminals_per_router: Some(8), widths: Some(vec![8, 8]), ..Population::of(512) }
    }

    #[test]
    fn by_routers_moves_three_of_eight_in_every_dimension() {
        let permutation = Tornado::default().build(&population(), "p").unwrap();
        for s in 0..512 {
            let (x, y, place) = (s / 8 % 8, s / 64, s % 8);
            assert_eq!(permutation.image(s), ((x + 3) % 8 + (y + 3) % 8 * 8) * 8 + place);
        }
    }

    #[test]
    fn by_digits_moves_the_place_on_the_router_too() {
        let by = By::Digits { radix: 8, digits: 3 };
        let permutation = Tornado { by }.build(&population(), "p").unwrap();
        for s in 0..512 {
            assert_eq!(permutation.image(s), (s % 8 + 3) % 8 + (s / 8 % 8 + 3) % 8 * 8 + (s / 64 + 3) % 8 * 64);
        }
    }

    #[test]
    fn odd_widths_move_just_below_half() {
        let population = Population { terminals_per_router: Some(1), widths: Some(vec![5]), ..Population::of(5) };
        // Each coordinate moves by ceil(5 / 2) - 1 = 2.
        assert_eq!(Tornado::default().build(&population, "p").unwrap().image(4), 1);
    }
}
