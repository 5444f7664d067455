//! Synthetic traffic patterns: to whom a terminal sends its next packet.
//!
//! Each pattern is one file and one line of the registry; the conformance suite (`tests/conformance.rs`) runs the
//! examples of every registered pattern. A pattern that permutes the bits or digits of terminal ids computes its table
//! once.

mod by;
mod in_planes;
mod permutation;

pub use by::By;

use crate::Population;
use rand_pcg::Pcg32;
use std::sync::Arc;
use weft_units::Refusal;

/// Where the packets of each source go in a given population.
pub trait Destinations: std::fmt::Debug + Send + Sync {
    /// Destination of the next packet of `source`; `None` if this source sends nothing.
    fn draw(&self, source: u32, rng: &mut Pcg32) -> Option<u32>;

    /// All destinations of `source`, each once, with their probabilities, which sum to 1 (empty for a silent source).
    fn distribution(&self, source: u32) -> Vec<(u32, f64)>;

    /// Load of `source` as a part of the load of the scenario: 0 for a silent source, and at most 1.
    fn relative_load(&self, _source: u32) -> f64 {
        1.0
    }

    /// Share of the packets of `source` that goes to terminals below `end`. A pattern that sends to nearly all
    /// terminals computes it without a list of them.
    fn share_below(&self, source: u32, end: u32) -> f64 {
        let existing = self.distribution(source).into_iter().filter(|&(terminal, _)| terminal < end);
        existing.map(|(_, probability)| probability).sum()
    }

    /// The groups of terminals that it tells apart (default: none).
    fn groups(&self) -> Vec<Group> {
        Vec::new()
    }
}

/// Terminals to which a pattern gives a part of their own. Results can tell their packets apart by this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub name: &'static str,
    pub terminals: Vec<u32>,
}

/// The configuration of a pattern; it knows the destinations in a population.
pub trait PatternModel {
    type To: Destinations + 'static;

    /// Refuses what the population can't send at `path` (the dotted path of this pattern in the scenario).
    fn build(&self, population: &Population, path: &str) -> Result<Self::To, Refusal>;

    /// Configurations for 64 terminals, 4 on each of 4 x 4 routers, in 8 groups. Tests send by all examples.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

/// A [`PatternModel`] whose type is hidden: the registry holds patterns in this form.
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
    /// Every pattern Weft can send.
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
    /// The pattern among `population`. Refuses what the population can't send at `path` (the dotted path of this
    /// pattern in the scenario).
    pub fn build(&self, population: &Population, path: &str) -> Result<Pattern, Refusal> {
        Ok(Pattern::new(self.name(), self.model().destinations(population, path)?))
    }
}

/// A pattern among a given population.
#[derive(Debug, Clone)]
pub struct Pattern {
    name: &'static str,
    destinations: Arc<dyn Destinations>,
}

impl Pattern {
    pub fn new(name: &'static str, destinations: Arc<dyn Destinations>) -> Self {
        Self { name, destinations }
    }

    /// This pattern, which is one of nodes, for terminals of which each node has `planes`, one after the other. A terminal sends to those that
    /// are in its plane.
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

    /// Destination of the next packet of `source`; `None` if this source sends nothing.
    #[inline]
    pub fn destination(&self, source: u32, rng: &mut Pcg32) -> Option<u32> {
        self.destinations.draw(source, rng)
    }

    /// Load of `source` as a part of the load of the scenario: 0 for a silent source, and at most 1.
    pub fn relative_load(&self, source: u32) -> f64 {
        self.destinations.relative_load(source)
    }

    /// All destinations of `source`, each once, with their probabilities, which sum to 1 (empty for a silent source).
    pub fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        self.destinations.distribution(source)
    }

    /// Share of the packets of `source` that goes to terminals below `end`.
    fn share_below(&self, source: u32, end: u32) -> f64 {
        self.destinations.share_below(source, end)
    }

    /// The groups of terminals that it tells apart.
    pub fn groups(&self) -> Vec<Group> {
        self.destinations.groups()
    }
}
