//! Algorithms of collectives. Each algorithm for a collective is one file and one line of the registry. Tests check the
//! data flow of each algorithm's examples for 2 to 65 ranks.

use super::call::Call;
use super::steps::Steps;
use crate::form::Operation;

/// The configuration of an algorithm.
pub trait Expands {
    /// Returns the collectives that the algorithm implements.
    fn operations(&self) -> &'static [Operation];

    /// Returns the problem and the remedy, if the algorithm cannot do this call.
    fn refuses(&self, _call: &Call) -> Option<(String, String)> {
        None
    }

    /// Adds the messages of the calling rank to `steps`. The call has at least 2 ranks.
    fn expand(&self, call: &Call, steps: &mut Steps);

    /// Configurations for tests.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

weft_units::registry! {
    /// Every algorithm for a collective.
    pub enum AlgorithmConfig as Expands, with examples, open to AddedAlgorithm:
    "linear" => linear::Linear,
    "linear_sync" => linear_sync::LinearSync,
    "binomial" => binomial::Binomial,
    "chain" => chain::Chain,
    "binary" => binary::Binary,
    "split_binary" => split_binary::SplitBinary,
    "recursive_doubling" => recursive_doubling::RecursiveDoubling,
    "recursive_halving" => recursive_halving::RecursiveHalving,
    "ring" => ring::Ring,
    "bruck" => bruck::Bruck,
    "pairwise" => pairwise::Pairwise,
    "neighbor_exchange" => neighbor_exchange::NeighborExchange,
    "double_tree" => double_tree::DoubleTree,
    "hierarchical" => hierarchical::Hierarchical,
    "in_two" => in_two::InTwo,
}
