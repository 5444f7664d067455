//! Uniform random: every packet goes to a random terminal.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), section 3.2; BookSim
//! `uniform` is `include_self: true`.
//!
//! # Parameters
//! `include_self`: allows a terminal to send to itself \[true or false\].
//!
//! # Guarantees
//! All N - 1 other terminals are equally likely (with `include_self` all N terminals). The draw has no rounding bias. Each packet uses one
//! random number.
//!
//! # Not modelled
//! Locality, i.e. a higher probability of nearby destinations.
//!
//! # Validation
//! `traffic/tests/conformance.rs` checks that destinations are valid and drawn with the stated probabilities. `engine/tests/theory.rs`
//! checks that a butterfly reaches its theoretical throughput bound under this pattern. The rows `uniform` of
//! `tests/data/golden/booksim.csv` and `tests/data/golden/caminos.csv` compare the pattern with other simulators.

use super::{Destinations, PatternModel};
use crate::{Population, below};
use rand_pcg::Pcg32;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Every packet goes to a random terminal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// Allows a terminal to send to itself.
    #[serde(default)]
    pub include_self: bool,
}

impl PatternModel for Uniform {
    type To = Others;

    fn build(&self, population: &Population, path: &str) -> Result<Others, Refusal> {
        let terminals = population.terminals;
        if terminals == 0 || (terminals == 1 && !self.include_self) {
            let what = format!("{terminals} terminals: a source has no other terminal to send to");
            return Err(Refusal::new(path, what, "use at least 2 terminals, or write include_self: true"));
        }
        Ok(Others { terminals, include_self: self.include_self })
    }

    fn examples() -> Vec<Self> {
        [false, true].map(|include_self| Self { include_self }).into()
    }
}

/// Draws a random terminal. The source itself is possible only with `include_self`.
#[derive(Debug, Clone)]
pub struct Others {
    terminals: u32,
    include_self: bool,
}

impl Destinations for Others {
    fn draw(&self, source: u32, rng: &mut Pcg32) -> Option<u32> {
        if self.include_self {
            return Some(below(rng, self.terminals));
        }
        let drawn = below(rng, self.terminals - 1);
        Some(drawn + u32::from(drawn >= source))
    }

    fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        let destinations = (0..self.terminals).filter(|&terminal| self.include_self || terminal != source);
        let count = if self.include_self { self.terminals } else { self.terminals - 1 };
        destinations.map(|terminal| (terminal, 1.0 / f64::from(count))).collect()
    }

    fn share_below(&self, source: u32, end: u32) -> f64 {
        let end = end.min(self.terminals);
        if self.include_self {
            return f64::from(end) / f64::from(self.terminals);
        }
        f64::from(end - u32::from(source < end)) / f64::from(self.terminals - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_a_terminal_alone() {
        let alone = Population::of(1);
        assert!(Uniform { include_self: false }.build(&alone, "p").is_err());
        let others = Uniform { include_self: true }.build(&alone, "p").unwrap();
        assert_eq!(others.distribution(0), [(0, 1.0)]);
    }
}
