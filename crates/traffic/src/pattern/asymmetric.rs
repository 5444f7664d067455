//! Asymmetric: every packet goes to one of two terminals, half of the machine apart.
//!
//! # Source
//! BookSim `asymmetric`.
//!
//! # Parameters
//! None.
//!
//! # Guarantees
//! Source s sends to s mod N/2 and to s mod N/2 + N/2 with probability 1/2 each; one of the two is the source itself.
//!
//! # Not modelled
//! The pattern refuses an odd number of terminals. In BookSim the last of an odd number of terminals receives nothing.
//!
//! # Validation
//! `traffic/tests/conformance.rs` checks that destinations are valid and drawn with the stated probabilities. The tests in this file check
//! that a source sends to the two terminals at its index in each half. The pattern was not compared with another simulator.

use super::{Destinations, PatternModel};
use crate::Population;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Chooses between two terminals, half of the machine apart, for every packet.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Asymmetric {}

impl PatternModel for Asymmetric {
    type To = Halves;

    fn build(&self, population: &Population, path: &str) -> Result<Halves, Refusal> {
        let terminals = population.terminals;
        if terminals == 0 || terminals % 2 == 1 {
            let what = format!("{terminals} terminals cannot be divided into two equal halves");
            let help = format!(
                "use an even number: within: {{terminals: {}, pattern: asymmetric}}",
                u64::from(terminals.max(1)) + 1
            );
            return Err(Refusal::new(path, what, help));
        }
        Ok(Halves { half: terminals / 2 })
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

/// The machine as two halves with `half` terminals each.
#[derive(Debug, Clone)]
pub struct Halves {
    half: u32,
}

impl Destinations for Halves {
    fn draw(&self, source: u32, rng: &mut Pcg32) -> Option<u32> {
        Some(source % self.half + (rng.next_u32() >> 31) * self.half)
    }

    fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        [0, self.half].map(|offset| (source % self.half + offset, 0.5)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_two_terminals() {
        let halves = Asymmetric {}.build(&Population::of(6), "p").unwrap();
        // 6 terminals form halves of 3. Since 4 mod 3 = 1, terminal 4 sends to 1 or to 1 + 3.
        assert_eq!(halves.distribution(4), [(1, 0.5), (4, 0.5)]);
        assert_eq!(halves.distribution(2), [(2, 0.5), (5, 0.5)]);
        let refusal = Asymmetric {}.build(&Population::of(7), "p").unwrap_err();
        assert_eq!(refusal.what, "7 terminals cannot be divided into two equal halves");
        assert!(Asymmetric {}.build(&Population::of(0), "p").is_err());
    }
}
