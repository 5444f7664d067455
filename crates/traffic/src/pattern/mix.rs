//! Mix: for every packet, the source draws one of several patterns by weight.
//!
//! # Source
//! J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA'08, and other papers mix adverse
//! and uniform traffic packet by packet.
//!
//! # Parameters
//! A list of entries, each with a `weight` \[any unit, above 0\] and a `pattern`.
//!
//! # Guarantees
//! Each pattern gets a part of the source's load: the load times its weight / sum of weights. If a pattern sends less than its part, or
//! nothing, the source sends less in total. The other patterns do not compensate for the missing part.
//!
//! # Not modelled
//! Weights that change with time or differ between sources.
//!
//! # Validation
//! `traffic/tests/conformance.rs` checks that destinations are valid and drawn with the stated probabilities, which are the weighted sum of
//! the probabilities of the mixed patterns. The test also checks that other patterns do not compensate for a silent pattern. The pattern
//! was not compared with another simulator.

use super::hot_spot::HotSpot;
use super::random_permutation::RandomPermutation;
use super::within::Within;
use super::{Destinations, Group, Pattern, PatternConfig, PatternModel};
use crate::Population;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Chooses among several patterns for every packet, by weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mix(pub Vec<Part>);

/// An entry of a mixture: a pattern and its share of the packets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Weight of the pattern, above 0. The pattern's share of the packets is its weight divided by the sum of all weights.
    pub weight: f64,
    /// The pattern that selects the destinations of these packets.
    pub pattern: PatternConfig,
}

impl PatternModel for Mix {
    type To = Mixture;

    fn build(&self, population: &Population, path: &str) -> Result<Mixture, Refusal> {
        if self.0.is_empty() {
            return Err(Refusal::new(path, "the list is empty", "write at least one {weight: ..., pattern: ...}"));
        }
        for (i, part) in self.0.iter().enumerate() {
            if !(part.weight > 0.0 && part.weight.is_finite()) {
                let what = format!("a weight of {} is not possible", part.weight);
                return Err(Refusal::new(format!("{path}.{i}.weight"), what, "write a number above 0"));
            }
        }
        let sum: f64 = self.0.iter().map(|part| part.weight).sum();
        if sum.is_infinite() {
            return Err(Refusal::new(path, "the sum of the weights is too large", "write smaller weights"));
        }
        let build = |(i, part): (usize, &Part)| {
            let path = format!("{path}.{i}.pattern.{}", part.pattern.name());
            Ok((part.weight / sum, part.pattern.build(population, &path)?))
        };
        Ok(Mixture { parts: self.0.iter().enumerate().map(build).collect::<Result<_, Refusal>>()? })
    }

    fn examples() -> Vec<Self> {
        let hot = PatternConfig::HotSpot(HotSpot::examples().remove(0));
        let others = PatternConfig::RandomPermutation(RandomPermutation::examples().remove(1));
        let within = PatternConfig::Within(Within { terminals: 48, pattern: Box::new(others.clone()) });
        let part = |weight, pattern: &PatternConfig| Part { weight, pattern: pattern.clone() };
        let nested = PatternConfig::Mix(Self(vec![part(1.0, &hot)]));
        vec![Self(vec![part(1.0, &others), part(0.5, &hot), part(2.5, &within)]), Self(vec![part(3.0, &nested)])]
    }
}

/// The patterns of a mixture, each with its share of the packets. The shares sum to 1.
#[derive(Debug, Clone)]
pub struct Mixture {
    parts: Vec<(f64, Pattern)>,
}

impl Mixture {
    /// The patterns in which `source` sends packets, each with the load in this pattern as a share of the scenario's load.
    fn shares(&self, source: u32) -> impl Iterator<Item = (f64, &Pattern)> {
        let shares = self.parts.iter().map(move |(weight, pattern)| (weight * pattern.relative_load(source), pattern));
        shares.filter(|&(share, _)| share > 0.0)
    }
}

impl Destinations for Mixture {
    fn relative_load(&self, source: u32) -> f64 {
        // weights are rounded, so their sum can be slightly above 1
        self.shares(source).map(|(share, _)| share).sum::<f64>().min(1.0)
    }

    fn draw(&self, source: u32, rng: &mut Pcg32) -> Option<u32> {
        let mut left = (rng.next_u64() >> 11) as f64 / 2f64.powi(53) * self.relative_load(source);
        let mut chosen = None;
        for (share, pattern) in self.shares(source) {
            chosen = Some(pattern);
            if left < share {
                break;
            }
            left -= share;
        }
        chosen?.destination(source, rng)
    }

    fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        let total: f64 = self.shares(source).map(|(share, _)| share).sum();
        let weighted = |(share, pattern): (f64, &Pattern)| {
            let part = pattern.distribution(source).into_iter();
            part.map(move |(terminal, probability)| (terminal, share / total * probability)).collect::<Vec<_>>()
        };
        let mut all: Vec<(u32, f64)> = self.shares(source).flat_map(weighted).collect();
        all.sort_by_key(|&(terminal, _)| terminal);
        let sum_of = |same: &[(u32, f64)]| (same[0].0, same.iter().map(|&(_, probability)| probability).sum());
        all.chunk_by(|a, b| a.0 == b.0).map(sum_of).collect()
    }

    fn groups(&self) -> Vec<Group> {
        self.parts.iter().flat_map(|(_, pattern)| pattern.groups()).collect()
    }

    fn share_below(&self, source: u32, end: u32) -> f64 {
        let total: f64 = self.shares(source).map(|(share, _)| share).sum();
        let below: f64 = self.shares(source).map(|(share, pattern)| share * pattern.share_below(source, end)).sum();
        if total > 0.0 { below / total } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream;

    fn read(text: &str) -> Mix {
        serde_json::from_str(text).unwrap()
    }

    fn build(text: &str) -> Result<Mixture, Refusal> {
        read(text).build(&Population::of(4), "p")
    }

    #[test]
    fn the_distribution_is_the_weighted_sum() {
        let mixture = build(
            r#"[{"weight": 3, "pattern": {"uniform": {}}},
                {"weight": 1, "pattern": {"mix": [{"weight": 5, "pattern": {"bit_complement": {}}}]}}]"#,
        );
        let distribution = mixture.unwrap().distribution(1);
        // Source 1 sends 3/4 * 1/3 of its packets to each of 0, 2 and 3, and in addition 1/4 to its complement 2.
        for ((terminal, found), expected) in distribution.into_iter().zip([(0, 0.25), (2, 0.5), (3, 0.25)]) {
            assert!(terminal == expected.0 && (found - expected.1).abs() < 1e-15);
        }
    }

    #[test]
    fn silent_parts_are_not_made_up_for() {
        let inner = r#"{"within": {"terminals": 2, "pattern": {"uniform": {}}}}"#;
        let mixture = build(&format!(
            r#"[{{"weight": 1, "pattern": {inner}}}, {{"weight": 3, "pattern": {{"bit_complement": {{}}}}}}]"#
        ))
        .unwrap();
        assert_eq!([0, 1, 2, 3].map(|s| mixture.relative_load(s)), [1.0, 1.0, 0.75, 0.75]);
        assert_eq!(mixture.distribution(0), [(1, 0.25), (3, 0.75)]);
        assert_eq!(mixture.distribution(2), [(1, 1.0)]);
        let alone = build(&format!(r#"[{{"weight": 1, "pattern": {inner}}}]"#)).unwrap();
        assert_eq!((alone.relative_load(3), alone.draw(3, &mut stream(1, 0, 0))), (0.0, None));
    }

    #[test]
    fn refuses_with_the_place() {
        let path = |text: &str| build(text).unwrap_err().path;
        assert_eq!(path("[]"), "p");
        assert_eq!(path(r#"[{"weight": 0, "pattern": {"uniform": {}}}]"#), "p.0.weight");
        let large = r#"{"weight": 1e308, "pattern": {"uniform": {}}}"#;
        assert_eq!(path(&format!("[{large}, {large}]")), "p");
        let text = r#"[{"weight": 1, "pattern": {"uniform": {}}},
            {"weight": 1, "pattern": {"mix": [{"weight": 1, "pattern": {"hot_spot": {"targets": [4]}}}]}}]"#;
        assert_eq!(path(text), "p.1.pattern.mix.0.pattern.hot_spot.targets");
    }
}
