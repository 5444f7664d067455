//! Synthetic traffic patterns. A pattern selects the destination of the next packet of a terminal.
//!
//! Each pattern is one file and one line of the registry (the enum `PatternConfig`). The conformance suite (`tests/conformance.rs`) runs
//! the examples of every registered pattern. A pattern that permutes the bits or digits of terminal ids computes a table of destinations
//! once, when it is built.

mod by;
mod in_planes;
mod permutation;

pub use by::By;

use crate::Population;
use rand_pcg::Pcg32;
use std::sync::Arc;
use weft_units::Refusal;

/// The destinations of each source, for a pattern that was built for a given population of terminals.
pub trait Destinations: std::fmt::Debug + Send + Sync {
    /// Draws the destination of the next packet of terminal `source`. Returns `None` if the pattern lets this terminal send nothing.
    fn draw(&self, source: u32, rng: &mut Pcg32) -> Option<u32>;

    /// All destinations of terminal `source`, each once, with their probabilities, which sum to 1. The list is empty if the terminal sends
    /// nothing.
    fn distribution(&self, source: u32) -> Vec<(u32, f64)>;

    /// Load of terminal `source` as a share of the load in the scenario: at most 1, and 0 if the terminal sends nothing.
    fn relative_load(&self, _source: u32) -> f64 {
        1.0
    }

    /// Share of the packets of `source` that go to terminals with ids below `end`. A pattern that sends to nearly all terminals overrides
    /// this method and computes the share without a list of destinations.
    fn share_below(&self, source: u32, end: u32) -> f64 {
        let existing = self.distribution(source).into_iter().filter(|&(terminal, _)| terminal < end);
        existing.map(|(_, probability)| probability).sum()
    }

    /// Groups of terminals for which results can show separate numbers, e.g. the targets of a hot spot (default: none).
    fn groups(&self) -> Vec<Group> {
        Vec::new()
    }
}

/// A group of terminals with a special role in a pattern. Results can show the packets of the group separately, under this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub name: &'static str,
    pub terminals: Vec<u32>,
}

/// The configuration of a pattern in a scenario. The configuration determines the destinations in every population of terminals.
pub trait PatternModel {
    type To: Destinations + 'static;

    /// Builds the pattern. Refuses, at `path` (the dotted path of this pattern in the scenario), a population for which the pattern is
    /// not defined.
    fn build(&self, population: &Population, path: &str) -> Result<Self::To, Refusal>;

    /// Example configurations of the pattern for 64 terminals: 4 on each of 4 x 4 routers, in 8 groups. Tests send packets with each
    /// example.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

/// A [`PatternModel`] whose type of destinations is hidden, so that the registry can store all patterns in one enum.
pub trait AnyPattern {
    fn destinations(&self, population: &Population, path: &str) -> Result<Arc<dyn Destinations>, Refusal>;

    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

impl<Model: PatternModel> AnyPattern for Model {
    fn destinations(&self, population: &Population, path: &str) -> Result<Arc<dyn Destinations>, Refusal> {
        Ok(Arc::new(self.build(population, path)?))
    }

    fn examples() -> Vec<Self> {
        PatternModel::examples()
    }
}

weft_units::registry! {
    /// Every registered pattern.
    pub enum PatternConfig as AnyPattern, with examples, open to AddedPattern:
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
    "router_shift" => router_shift::RouterShift,
    "random_permutation" => random_permutation::RandomPermutation,
    "asymmetric" => asymmetric::Asymmetric,
    "mix" => mix::Mix,
    "within" => within::Within,
    "matrix" => matrix::Matrix,
}

impl Default for PatternConfig {
    fn default() -> Self {
        Self::Uniform(uniform::Uniform::default())
    }
}

impl PatternConfig {
    /// Builds the pattern for `population`. Refuses, at `path` (the dotted path of this pattern in the scenario), a population for which
    /// the pattern is not defined.
    pub fn build(&self, population: &Population, path: &str) -> Result<Pattern, Refusal> {
        Ok(Pattern::new(self.name(), self.model().destinations(population, path)?))
    }
}

/// A pattern that was built for a given population of terminals.
#[derive(Debug, Clone)]
pub struct Pattern {
    name: &'static str,
    destinations: Arc<dyn Destinations>,
}

impl Pattern {
    pub fn new(name: &'static str, destinations: Arc<dyn Destinations>) -> Self {
        Self { name, destinations }
    }

    /// Turns a pattern between nodes into a pattern between terminals, for machines with several planes. Each node has `planes` terminals
    /// with consecutive ids, one in each plane. A terminal sends only to terminals in its own plane.
    #[must_use]
    pub fn in_planes(self, planes: u32) -> Self {
        if planes == 1 {
            self
        } else {
            Self { name: self.name, destinations: Arc::new(in_planes::InPlanes { planes, of: self }) }
        }
    }

    /// The registered name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Draws the destination of the next packet of terminal `source`. Returns `None` if the pattern lets this terminal send nothing.
    #[inline]
    pub fn destination(&self, source: u32, rng: &mut Pcg32) -> Option<u32> {
        self.destinations.draw(source, rng)
    }

    /// Load of terminal `source` as a share of the load in the scenario: at most 1, and 0 if the terminal sends nothing.
    pub fn relative_load(&self, source: u32) -> f64 {
        self.destinations.relative_load(source)
    }

    /// All destinations of terminal `source`, each once, with their probabilities, which sum to 1. The list is empty if the terminal sends
    /// nothing.
    pub fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        self.destinations.distribution(source)
    }

    /// Share of the packets of `source` that go to terminals with ids below `end`.
    fn share_below(&self, source: u32, end: u32) -> f64 {
        self.destinations.share_below(source, end)
    }

    /// Groups of terminals for which results can show separate numbers, e.g. the targets of a hot spot.
    pub fn groups(&self) -> Vec<Group> {
        self.destinations.groups()
    }
}
