//! Two collectives, one after the other: a reduce, and then a broadcast or a scatter.
//!
//! # Source
//! The implementation in Open MPI 1.6.5 (component `tuned` of its collectives).
//!
//! # Parameters
//! `first`, `second`: algorithms of the two collectives.
//!
//! # Guarantees
//! All-reduce: a reduce to rank 0, and then a broadcast from rank 0. Reduce-scatter: a reduce to rank 0, and then a
//! scatter of the blocks.
//!
//! # Not modelled
//! The time that a rank needs to sum data, unless `sum_per_byte` is set. Copies of data within a rank.
//!
//! # Validation
//! For 2 to 65 ranks, `laws/data_flow.rs` checks that every rank gets the right data. It also checks the size of each
//! message.

use super::Expands;
use crate::collectives::call::Call;
use crate::collectives::steps::Steps;
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AlgorithmConfig, binomial::Binomial};

/// A reduce to rank 0, and then a broadcast or scatter from rank 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InTwo {
    /// Algorithm of the reduce.
    pub first: Box<AlgorithmConfig>,
    /// Algorithm of the broadcast or scatter.
    pub second: Box<AlgorithmConfig>,
}

impl InTwo {
    /// Returns the first and the second collective.
    fn parts(operation: Operation) -> [Operation; 2] {
        let second = if operation == Operation::ReduceScatter { Operation::Scatter } else { Operation::Broadcast };
        [Operation::Reduce, second]
    }
}

impl Expands for InTwo {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::AllReduce, Operation::ReduceScatter]
    }

    fn refuses(&self, call: &Call) -> Option<(String, String)> {
        let parts = Self::parts(call.operation);
        [(&self.first, parts[0]), (&self.second, parts[1])].into_iter().find_map(|(algorithm, part)| {
            if algorithm.model().operations().contains(&part) {
                return algorithm.model().refuses(&Call { operation: part, ..*call });
            }
            let what = format!("{} is not an algorithm for {}", algorithm.name(), part.name());
            Some((what, format!("write an algorithm for {}, such as linear or binomial", part.name())))
        })
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        let [reduce, second] = Self::parts(call.operation);
        let of_vector = call.operation == Operation::ReduceScatter;
        let call = Call { operation: reduce, root: 0, bytes: call.vector(), of_vector, ..*call };
        self.first.model().expand(&call, steps);
        steps.next();
        self.second.model().expand(&Call { operation: second, ..call }, steps);
    }

    fn examples() -> Vec<Self> {
        let binomial = || Box::new(AlgorithmConfig::Binomial(Binomial::default()));
        vec![Self { first: binomial(), second: binomial() }]
    }
}
