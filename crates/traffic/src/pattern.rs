//! Synthetic traffic patterns: to whom a terminal sends its next packet.
//!
//! One file per pattern, one line of the registry each; the conformance suite (`tests/conformance.rs`) has instances of
//! every registered name and fails when one is missing. Patterns on the bits or digits of terminal ids are
//! permutations, held as tables made once.

mod by;
mod permutation;

pub use by::By;

use crate::Population;
use rand_pcg::Pcg32;
use weft_units::Refusal;

weft_units::registry! {
    /// Every pattern Weft can send.
    pub enum PatternConfig:
    "uniform" => uniform::Uniform,
    "bit_complement" => bit_complement::BitComplement,
    "bit_reverse" => bit_reverse::BitReverse,
    "shuffle" => shuffle::Shuffle,
    "transpose" => transpose::Transpose,
    "tornado" => tornado::Tornado,
    "neighbor" => neighbor::Neighbor,
    "hot_spot" => hot_spot::HotSpot,
    "group_shift" => group_shift::GroupShift,
    "layer_shift" => layer_shift::LayerShift,
    "random_permutation" => random_permutation::RandomPermutation,
    "asymmetric" => asymmetric::Asymmetric,
    "mix" => mix::Mix,
    "within" => within::Within,
    "matrix" => matrix::Matrix,
}

impl PatternConfig {
    /// The pattern among `population`. Refuses what the population can't send at `path` (the dotted path of this
    /// pattern in the scenario).
    pub fn build(&self, population: &Population, path: &str) -> Result<Pattern, Refusal> {
        let destinations = match self {
            Self::Uniform(c) => Destinations::Uniform(c.build(population, path)?),
            Self::BitComplement(c) => Destinations::Permutation(c.build(population, path)?),
            Self::BitReverse(c) => Destinations::Permutation(c.build(population, path)?),
            Self::Shuffle(c) => Destinations::Permutation(c.build(population, path)?),
            Self::Transpose(c) => Destinations::Permutation(c.build(population, path)?),
            Self::Tornado(c) => Destinations::Permutation(c.build(population, path)?),
            Self::Neighbor(c) => Destinations::Permutation(c.build(population, path)?),
            Self::HotSpot(c) => Destinations::HotSpot(c.build(population, path)?),
            Self::GroupShift(c) => Destinations::GroupShift(c.build(population, path)?),
            Self::LayerShift(c) => Destinations::LayerShift(c.build(population, path)?),
            Self::RandomPermutation(c) => Destinations::Permutation(c.build(population, path)?),
            Self::Asymmetric(c) => Destinations::Asymmetric(c.build(population, path)?),
            Self::Mix(c) => Destinations::Mix(c.build(population, path)?),
            Self::Within(c) => Destinations::Within(c.build(population, path)?),
            Self::Matrix(c) => Destinations::Matrix(c.build(population, path)?),
        };
        Ok(Pattern { name: self.name(), destinations })
    }
}

/// A pattern among a given population.
#[derive(Debug, Clone)]
pub struct Pattern {
    name: &'static str,
    destinations: Destinations,
}

#[derive(Debug, Clone)]
enum Destinations {
    Uniform(uniform::Others),
    Permutation(permutation::Permutation),
    HotSpot(hot_spot::Spots),
    GroupShift(group_shift::FarGroup),
    LayerShift(layer_shift::FarLayer),
    Asymmetric(asymmetric::Halves),
    Mix(mix::Mixture),
    Within(within::Subset),
    Matrix(matrix::Rows),
}

impl Pattern {
    /// The registered name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Destination of the next packet of `source`; `None` if this source sends nothing.
    #[inline]
    pub fn destination(&self, source: u32, rng: &mut Pcg32) -> Option<u32> {
        match &self.destinations {
            Destinations::Uniform(d) => Some(d.draw(source, rng)),
            Destinations::Permutation(d) => Some(d.image(source)),
            Destinations::HotSpot(d) => Some(d.draw(source, rng)),
            Destinations::GroupShift(d) => Some(d.draw(source, rng)),
            Destinations::LayerShift(d) => Some(d.draw(source, rng)),
            Destinations::Asymmetric(d) => Some(d.draw(source, rng)),
            Destinations::Mix(d) => d.draw(source, rng),
            Destinations::Within(d) => d.draw(source, rng),
            Destinations::Matrix(d) => d.draw(source, rng),
        }
    }

    /// Load of `source` as a part of the load of the scenario: 0 for a silent source, and at most 1.
    pub fn relative_load(&self, source: u32) -> f64 {
        match &self.destinations {
            Destinations::Mix(d) => d.relative_load(source),
            Destinations::Within(d) => d.relative_load(source),
            Destinations::Matrix(d) => d.relative_load(source),
            _ => 1.0,
        }
    }

    /// All destinations of `source`, each once, with their probabilities, which sum to 1 (empty for a silent source).
    pub fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        match &self.destinations {
            Destinations::Uniform(d) => d.distribution(source),
            Destinations::Permutation(d) => vec![(d.image(source), 1.0)],
            Destinations::HotSpot(d) => d.distribution(source),
            Destinations::GroupShift(d) => d.distribution(source),
            Destinations::LayerShift(d) => d.distribution(source),
            Destinations::Asymmetric(d) => d.distribution(source),
            Destinations::Mix(d) => d.distribution(source),
            Destinations::Within(d) => d.distribution(source),
            Destinations::Matrix(d) => d.distribution(source),
        }
    }

    /// Part of the packets of `source` that goes to terminals below `end`; where all terminals may be destinations,
    /// without the list of them.
    fn share_below(&self, source: u32, end: u32) -> f64 {
        match &self.destinations {
            Destinations::Uniform(d) => d.share_below(source, end),
            Destinations::HotSpot(d) => d.share_below(source, end),
            Destinations::Mix(d) => d.share_below(source, end),
            _ => {
                let existing = self.distribution(source).into_iter().filter(|&(terminal, _)| terminal < end);
                existing.map(|(_, probability)| probability).sum()
            }
        }
    }
}
