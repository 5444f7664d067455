//! Tables that choose the algorithm of a collective, as a communication library does. Each table is one file and one
//! line of the registry.

use super::algorithms::AlgorithmConfig;
use super::call::Call;

/// The configuration of a table.
pub trait Chooses {
    /// Returns the algorithm for a call with at least 2 ranks. The table must return an algorithm that implements the
    /// call.
    fn choose(&self, call: &Call) -> AlgorithmConfig;

    /// Configurations for tests.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

weft_units::registry! {
    /// Every table of algorithms.
    pub enum TableConfig as Chooses, with examples, open to AddedTable:
    "openmpi" => openmpi::OpenMpi,
    "nccl" => nccl::Nccl,
}

impl Default for TableConfig {
    fn default() -> Self {
        Self::OpenMpi(openmpi::OpenMpi::default())
    }
}
