//! The rules by which Weft chooses an algorithm for each collective.

use super::algorithms::AlgorithmConfig;
use super::call::Call;
use super::shared::Shared;
use super::steps::Steps;
use super::tables::TableConfig;
use crate::form::{Checked, Kind, Op, Operation, Ops, Program};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use weft_units::{Refusal, Time};

/// Configuration of how collectives are expanded into messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RulesConfig {
    /// The table that chooses an algorithm for a call: `openmpi` (default) or `nccl`.
    #[serde(default)]
    pub table: TableConfig,
    /// Algorithms for some collectives, which override the choice of the table: `{all_reduce: {ring: {}}}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub algorithms: BTreeMap<String, AlgorithmConfig>,
    /// Time that a rank needs to sum data, per byte, such as "0.1ns" (default: 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum_per_byte: Option<Time>,
}

/// Largest number of operations of a collective, summed over its ranks. An operation takes 60 bytes, so this number
/// takes 6 GB of memory.
const MOST: u64 = 100_000_000;

/// Checked rules by which collectives are expanded into messages.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    table: TableConfig,
    algorithms: Vec<(Operation, AlgorithmConfig)>,
    sum_fs: u64,
    shared: Shared,
}

const OPERATIONS: [Operation; 9] = [
    Operation::Barrier,
    Operation::Broadcast,
    Operation::Reduce,
    Operation::AllReduce,
    Operation::Gather,
    Operation::Scatter,
    Operation::AllGather,
    Operation::ReduceScatter,
    Operation::AllToAll,
];

/// Returns the collective with the given name.
pub fn operation(word: &str) -> Option<Operation> {
    OPERATIONS.into_iter().find(|operation| operation.name() == word)
}

impl RulesConfig {
    /// Checks the rules. Refuses names that are not collectives, and algorithms that do not implement their collective;
    /// `path` is the dotted path of the rules.
    pub fn build(&self, path: &str) -> Result<Rules, Refusal> {
        let mut algorithms = Vec::new();
        for (word, algorithm) in &self.algorithms {
            let path = format!("{path}.algorithms.{word}");
            let operation = operation(word).ok_or_else(|| {
                let known = Operation::NAMES.join(", ");
                Refusal::new(&path, format!("there is no collective {word}"), format!("write one of {known}"))
            })?;
            let can = algorithm.model().operations();
            if !can.contains(&operation) {
                let known: Vec<&str> = can.iter().map(Operation::name).collect();
                let what =
                    format!("{} is not an algorithm for {word}: it can do {}", algorithm.name(), known.join(", "));
                let others = AlgorithmConfig::examples()
                    .into_iter()
                    .filter(|other| other.model().operations().contains(&operation));
                let mut others: Vec<&str> = others.map(|other| other.name()).collect();
                others.dedup();
                return Err(Refusal::new(path, what, format!("write one of {}", others.join(", "))));
            }
            algorithms.push((operation, algorithm.clone()));
        }
        let sum_fs = match self.sum_per_byte {
            None => 0,
            Some(Time::Femtoseconds(fs)) if fs <= 1_000_000_000_000 => fs as u64,
            Some(time) => {
                let what = format!("{time} per byte is not a time up to 1ms");
                return Err(Refusal::new(format!("{path}.sum_per_byte"), what, "write a time such as 0.1ns"));
            }
        };
        Ok(Rules { table: self.table.clone(), algorithms, sum_fs, shared: Shared::default() })
    }
}

impl Rules {
    /// Returns the algorithm for a call.
    pub fn choose(&self, call: &Call) -> AlgorithmConfig {
        let named = self.algorithms.iter().find(|(operation, _)| *operation == call.operation);
        named.map_or_else(|| self.table.model().choose(call), |(_, algorithm)| algorithm.clone())
    }

    /// Refuses a program with a collective that the chosen algorithm cannot do.
    pub fn check(&self, program: &Program) -> Result<(), Refusal> {
        let (mut seen, mut checked) = (HashSet::new(), Checked::default());
        for (rank, of) in program.ranks.iter().enumerate() {
            if !of.ops.has_collectives() || !checked.is_new(of) {
                continue;
            }
            for (place, op) in of.ops.ops().iter().enumerate() {
                let Kind::Collective(operation) = op.kind() else { continue };
                let ranks = of.size_of(op.comm(), program.len());
                if ranks < 2 || !seen.insert((operation, ranks, op.size())) {
                    continue;
                }
                let sizes = of.ops.sizes(op.sizes()).map(|sizes| &**sizes);
                let call = Call { operation, ranks, me: 0, root: op.root(), bytes: op.size(), sizes, of_vector: false };
                let refuse = |what, help| Refusal::new(format!("rank {rank}, operation {place}"), what, help);
                if let Some((what, help)) = self.choose(&call).model().refuses(&call) {
                    return Err(refuse(what, help));
                }
                let messages = self.expand(op, ranks, 0, sizes).len() as u64 * u64::from(ranks);
                if messages > MOST {
                    let what = format!(
                        "{} among {ranks} ranks needs {messages} operations, but the maximum is {MOST}",
                        operation.name()
                    );
                    return Err(refuse(
                        what,
                        "use fewer ranks, larger segments, or an algorithm with fewer messages".into(),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Returns the messages of rank `me` in a collective of a communicator with `ranks` ranks. The numbers of peers are
    /// those in the communicator. Tags contain the number of the collective and the number of the round.
    pub fn expand(&self, op: &Op, ranks: u32, me: u32, sizes: Option<&[u64]>) -> Ops {
        let Kind::Collective(operation) = op.kind() else { return Ops::default() };
        if ranks < 2 {
            return Ops::default();
        }
        let call = Call { operation, ranks, me, root: op.root(), bytes: op.size(), sizes, of_vector: false };
        let mut steps = Steps::new(self.sum_fs, *op);
        self.choose(&call).model().expand(&call, &mut steps);
        steps.finish()
    }

    /// Like [`Self::expand`], but ranks with equal messages share one list.
    pub(crate) fn expand_shared(&self, op: &Op, ranks: u32, me: u32, sizes: Option<&[u64]>) -> Arc<Ops> {
        match sizes {
            None => self.shared.of(op, (ranks, me), || self.expand(op, ranks, me, None)),
            Some(_) => Arc::new(self.expand(op, ranks, me, sizes)),
        }
    }
}
