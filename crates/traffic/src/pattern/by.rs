//! Option `by` of the patterns `tornado` and `neighbor`: they shift the coordinates of routers or the digits of terminal ids.

use super::permutation::Permutation;
use crate::Population;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Selects the numbers that the pattern shifts: coordinates of routers, or digits of terminal ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum By {
    /// Shifts every coordinate of the router. The destination has the same index on its router as the source.
    Routers {},
    /// Shifts every digit of the terminal id, as BookSim does if its k^n is the number of terminals.
    Digits {
        /// Base of the digits, 2 or more.
        radix: u32,
        /// Number of digits; radix^digits is the number of terminals.
        digits: u32,
    },
    /// Shifts the lowest digits of the terminal id and sets all higher digits to 0. BookSim does this if its k^n is less than the number of
    /// terminals. All terminals send to the first radix^digits terminals.
    BooksimDigits {
        /// Base of the digits, 2 or more.
        radix: u32,
        /// Number of digits; radix^digits is at most the number of terminals.
        digits: u32,
    },
}

impl Default for By {
    fn default() -> Self {
        Self::Routers {}
    }
}

impl By {
    /// The permutation that adds `step(width)` to every coordinate or digit, modulo the width of this coordinate or digit.
    pub(crate) fn shift(
        &self,
        step: fn(u32) -> u32,
        population: &Population,
        path: &str,
    ) -> Result<Permutation, Refusal> {
        let by = format!("{path}.by");
        match *self {
            Self::Routers {} => {
                let (Some(widths), Some(each)) = (&population.widths, population.terminals_per_router) else {
                    let what = "the routers of these terminals have no coordinates";
                    return Err(Refusal::new(
                        by,
                        what,
                        "use a topology whose routers form a grid, or write by: {digits: {...}}",
                    ));
                };
                let shifted =
                    |terminal: u32| shift(terminal / each, widths.iter().copied(), step) * each + terminal % each;
                Ok(Permutation::new(population, shifted))
            }
            Self::Digits { radix, digits } | Self::BooksimDigits { radix, digits } => {
                let terminals = population.terminals;
                let product = u64::from(radix).saturating_pow(digits);
                let all = matches!(self, Self::Digits { .. });
                if product < 2 || radix < 2 || product > u64::from(terminals) || (all && product < u64::from(terminals))
                {
                    let what =
                        format!("radix^digits = {radix}^{digits} = {product}, but there are {terminals} terminals");
                    let help = "write a radix of 2 or more, and digits such that radix^digits is the number of \
                                terminals; or shift radix^digits ids: within: {terminals: ..., pattern: ...}";
                    return Err(Refusal::new(by, what, help));
                }
                let widths = move || std::iter::repeat_n(radix, digits as usize);
                Ok(Permutation::new(population, |terminal| shift(terminal, widths(), step)))
            }
        }
    }
}

/// Adds `step(width)` to every digit of a mixed-radix number, modulo the width of the digit. `widths` begins with the least significant
/// digit.
fn shift(number: u32, widths: impl Iterator<Item = u32>, step: fn(u32) -> u32) -> u32 {
    let (mut shifted, mut stride) = (0, 1);
    for width in widths {
        shifted += (number / stride % width + step(width)) % width * stride;
        stride *= width;
    }
    shifted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn population(terminals_per_router: u32, widths: Option<Vec<u32>>) -> Population {
        let routers: u32 = widths.iter().flatten().product();
        Population {
            terminals_per_router: Some(terminals_per_router),
            widths,
            ..Population::of(routers * terminals_per_router)
        }
    }

    #[test]
    fn shifts_every_coordinate_and_keeps_the_place() {
        let permutation = By::Routers {}.shift(|_| 1, &population(3, Some(vec![4, 2])), "p").unwrap();
        // On 4 x 2 routers, (3, 1) has id 3 + 4*1 = 7 and wraps to (0, 0) with id 0. Router 1 at (1, 0) leads to router 6 at (2, 1). Index
        // 2 on the router stays the same.
        assert_eq!((permutation.image(7 * 3 + 2), permutation.image(3 + 2)), (2, 6 * 3 + 2));
    }

    #[test]
    fn booksim_drops_the_digits_above() {
        let permutation = By::BooksimDigits { radix: 4, digits: 1 }.shift(|_| 1, &Population::of(72), "p").unwrap();
        assert!((0..72).all(|s| permutation.image(s) == (s + 1) % 4));
        let more = By::BooksimDigits { radix: 4, digits: 4 }.shift(|_| 1, &Population::of(72), "p");
        assert_eq!(more.unwrap_err().what, "radix^digits = 4^4 = 256, but there are 72 terminals");
    }

    #[test]
    fn refuses_what_does_not_fit() {
        let digits = |radix, digits| By::Digits { radix, digits }.shift(|_| 1, &population(8, Some(vec![8, 8])), "p");
        assert!(digits(8, 3).is_ok());
        assert_eq!(digits(8, 2).unwrap_err().what, "radix^digits = 8^2 = 64, but there are 512 terminals");
        assert!(digits(0, 1).is_err() && digits(1, 1).is_err() && digits(u32::MAX, u32::MAX).is_err());
        assert_eq!(By::Routers {}.shift(|_| 1, &population(1, None), "p").unwrap_err().path, "p.by");
    }

    #[test]
    fn is_written_as_in_a_scenario() {
        let read = |text| serde_json::from_str::<By>(text);
        assert_eq!(read(r#"{"routers": {}}"#).unwrap(), By::Routers {});
        assert_eq!(read(r#"{"digits": {"radix": 8, "digits": 3}}"#).unwrap(), By::Digits { radix: 8, digits: 3 });
        assert!(read(r#"{"digits": {"radix": 8, "digits": 3, "base": 8}}"#).is_err());
    }
}
