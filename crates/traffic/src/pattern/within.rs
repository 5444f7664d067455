//! Within: uses a pattern among the ids 0 to P - 1. P can be larger or smaller than the number of terminals.
//!
//! # Source
//! Common practice, e.g. bit patterns with 1,024 ids on 1,000 terminals.
//!
//! # Parameters
//! `terminals` P \[ids\]. `pattern`: the pattern among these ids.
//!
//! # Guarantees
//! Terminals with ids from P on are silent. If P exceeds the number of terminals, the source draws again after a destination that does not
//! exist. Therefore existing destinations keep their relative probabilities, and the source keeps its load. A source whose destinations all
//! do not exist is silent. Ids have no coordinates and no groups, so patterns that need these are refused.
//!
//! # Not modelled
//! A pattern among other ids than 0 to P - 1.
//!
//! # Validation
//! `traffic/tests/conformance.rs` checks that destinations are valid and drawn with the stated probabilities. The tests in this file check
//! that sources without an existing destination and terminals with ids from P on are silent. The tests also check that existing
//! destinations keep their relative probabilities. The pattern was not compared with another simulator.

use super::bit_reverse::BitReverse;
use super::hot_spot::HotSpot;
use super::matrix::Matrix;
use super::{Destinations, Group, Pattern, PatternConfig, PatternModel};
use crate::Population;
use rand_pcg::Pcg32;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Largest average number of draws per packet, and also the largest number of ids per terminal. Larger values are refused.
const MAX_DRAWS: u32 = 64;

/// Uses a pattern among the first ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Within {
    /// The number of ids, from 0, for which the pattern is evaluated. Ids without a terminal neither send nor receive.
    pub terminals: u32,
    /// The pattern among these ids.
    pub pattern: Box<PatternConfig>,
}

impl PatternModel for Within {
    type To = Subset;

    fn build(&self, population: &Population, path: &str) -> Result<Subset, Refusal> {
        let (ids, terminals) = (self.terminals, population.terminals);
        if ids == 0 || u64::from(ids) > u64::from(terminals) * u64::from(MAX_DRAWS) {
            let what = format!("{ids} ids are not possible with {terminals} terminals");
            let help = format!("write 1 to {MAX_DRAWS} times the number of terminals");
            return Err(Refusal::new(format!("{path}.terminals"), what, help));
        }
        let inner = Population { seed: population.seed, ..Population::of(ids) };
        let pattern = self.pattern.build(&inner, &format!("{path}.pattern.{}", self.pattern.name()))?;
        let mut is_silent = vec![false; terminals as usize];
        for (source, is_silent) in (0..).zip(&mut is_silent) {
            *is_silent = source >= ids || pattern.relative_load(source) == 0.0;
            if *is_silent || ids <= terminals {
                continue;
            }
            let share = pattern.share_below(source, terminals);
            *is_silent = share == 0.0;
            if share > 0.0 && share * f64::from(MAX_DRAWS) < 1.0 {
                let what = format!(
                    "only a share of {share} of the packets of terminal {source} goes to one of the {terminals} terminals"
                );
                let help = format!("write fewer ids: at least 1 in {MAX_DRAWS} destinations must exist");
                return Err(Refusal::new(format!("{path}.terminals"), what, help));
            }
        }
        Ok(Subset { terminals, is_silent, pattern: Box::new(pattern) })
    }

    fn examples() -> Vec<Self> {
        let new = |terminals, pattern: PatternConfig| Self { terminals, pattern: Box::new(pattern) };
        vec![
            new(16, PatternConfig::BitReverse(BitReverse {})),
            // 128 ids of 7 bits for 64 terminals: the reverse of an odd id is 64 or more, so odd sources are silent.
            new(128, PatternConfig::BitReverse(BitReverse {})),
            new(100, PatternConfig::HotSpot(HotSpot::examples().remove(0))),
            new(70, PatternConfig::Matrix(Matrix::of_csv(70))),
        ]
    }
}

/// A pattern restricted to the terminals that exist.
#[derive(Debug, Clone)]
pub struct Subset {
    terminals: u32,
    is_silent: Vec<bool>,
    pattern: Box<Pattern>,
}

impl Destinations for Subset {
    fn relative_load(&self, source: u32) -> f64 {
        if self.is_silent[source as usize] { 0.0 } else { self.pattern.relative_load(source) }
    }

    fn groups(&self) -> Vec<Group> {
        let mut groups = self.pattern.groups();
        groups.iter_mut().for_each(|group| group.terminals.retain(|&terminal| terminal < self.terminals));
        groups
    }

    fn draw(&self, source: u32, rng: &mut Pcg32) -> Option<u32> {
        if self.is_silent[source as usize] {
            return None;
        }
        loop {
            let destination = self.pattern.destination(source, rng)?;
            if destination < self.terminals {
                return Some(destination);
            }
        }
    }

    fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        if self.is_silent[source as usize] {
            return Vec::new();
        }
        let mut existing = self.pattern.distribution(source);
        existing.retain(|&(terminal, _)| terminal < self.terminals);
        let total: f64 = existing.iter().map(|&(_, probability)| probability).sum();
        existing.iter_mut().for_each(|(_, probability)| *probability /= total);
        existing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream;

    fn build(ids: u32, pattern: &str, terminals: u32) -> Result<Subset, Refusal> {
        let pattern = serde_json::from_str(pattern).unwrap();
        Within { terminals: ids, pattern }.build(&Population::of(terminals), "p")
    }

    #[test]
    fn sources_without_an_image_are_silent() {
        // The pattern complements 3 bits, but there are 5 terminals. Terminals 0, 1 and 2 would send to 7, 6 and 5, which do not exist.
        // Terminals 3 and 4 send to each other.
        let subset = build(8, r#"{"bit_complement": {}}"#, 5).unwrap();
        let mut rng = stream(1, 0, 0);
        let images = [None, None, None, Some(4), Some(3)];
        assert_eq!([0, 1, 2, 3, 4].map(|s| subset.draw(s, &mut rng)), images);
        assert_eq!([0, 1, 2, 3, 4].map(|s| subset.relative_load(s)), [0.0, 0.0, 0.0, 1.0, 1.0]);
        assert!(subset.distribution(0).is_empty());
    }

    #[test]
    fn missing_destinations_are_drawn_again() {
        let subset = build(8, r#"{"uniform": {}}"#, 5).unwrap();
        // Each of the four other terminals has probability 1/4. Among 8 ids it would be 1/7.
        for (found, terminal) in subset.distribution(2).into_iter().zip([0, 1, 3, 4]) {
            assert!(found.0 == terminal && (found.1 - 0.25).abs() < 1e-15);
        }
        let mut rng = stream(1, 0, 0);
        assert!((0..100).all(|_| subset.draw(2, &mut rng).is_some_and(|to| to < 5)));
    }

    #[test]
    fn terminals_beyond_the_ids_are_silent() {
        let subset = build(4, r#"{"uniform": {}}"#, 5).unwrap();
        assert_eq!((subset.relative_load(3), subset.relative_load(4)), (1.0, 0.0));
        assert!(subset.distribution(1).iter().all(|&(terminal, _)| terminal < 4));
        assert_eq!(subset.draw(4, &mut stream(1, 0, 0)), None);
    }

    #[test]
    fn refuses_what_would_draw_for_ever() {
        let refused = |ids, pattern| build(ids, pattern, 5).unwrap_err();
        assert_eq!(refused(0, r#"{"uniform": {}}"#).what, "0 ids are not possible with 5 terminals");
        assert_eq!(refused(321, r#"{"uniform": {}}"#).what, "321 ids are not possible with 5 terminals");
        // A share of 0.01 of the packets goes to one of 7 other ids, and 4 of these ids are terminals.
        let rare = refused(8, r#"{"hot_spot": {"targets": [7], "share": 0.99}}"#);
        assert!(rare.what.starts_with("only a share of 0.0057"), "{rare}");
        assert_eq!(refused(6, r#"{"bit_reverse": {}}"#).path, "p.pattern.bit_reverse");
    }
}
