//! The laws (rules) that every generator, algorithm and table must obey. Tests check the laws for the examples of each model.
//! Crates outside of Weft check their own models with the same functions.

mod data_flow;
mod generators;

pub use generators::check_generator;

use crate::collectives::{AlgorithmConfig, Call, TableConfig, operation};
use crate::form::Operation;
use Operation::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter};
use serde::Serialize;

/// Returns numbers of ranks from 2 to 65 for tests. Above 33 the list has only some numbers near powers and multiples of 2,
/// unless `make test-all` sets WEFT_TEST_ROUNDS.
fn numbers_of_ranks() -> impl Iterator<Item = u32> {
    let all = std::env::var_os("WEFT_TEST_ROUNDS").is_some();
    (2..=65).filter(move |ranks| all || *ranks <= 33 || [40, 47, 48, 63, 64, 65].contains(ranks))
}

fn call(operation: Operation, ranks: u32, root: u32, bytes: u64) -> Call<'static> {
    Call { operation, ranks, me: 0, root, bytes, sizes: None, of_vector: false }
}

/// Returns the sizes with which a collective is tested [bytes]. Blocks have a few bytes. The number of ranks does not divide the
/// size of a vector, and some vectors have fewer bytes than there are ranks.
fn sizes(operation: Operation, ranks: u32) -> Vec<u64> {
    match operation {
        AllToAll | Gather | Scatter | AllGather => vec![if ranks > 16 { 1 } else { 3 }],
        Barrier | Broadcast | Reduce | AllReduce | ReduceScatter if ranks > 40 => vec![u64::from(ranks) + 1],
        Barrier | Broadcast | Reduce | AllReduce | ReduceScatter => vec![u64::from(ranks) * 2 + 1, 3],
    }
}

/// Returns a configuration as JSON, which a scenario can contain, for messages of panics.
fn as_written(config: &impl Serialize) -> String {
    serde_json::to_string(config).expect("a configuration")
}

/// Checks for each collective of an algorithm that every rank gets the right data. The calls have 2 to 65 ranks. Some calls have
/// blocks of different sizes.
///
/// # Panics
/// If the algorithm breaks a law. The message names the law, the configuration and the collective.
pub fn check_algorithm(algorithm: &AlgorithmConfig) {
    let (model, named) = (algorithm.model(), as_written(algorithm));
    assert!(!model.operations().is_empty(), "{named} implements no collective");
    for &operation in model.operations() {
        let mut done = 0;
        let mut check = |call: &Call| {
            if model.refuses(call).is_none() {
                let ranks = call.ranks;
                data_flow::check_call(model, call, &format!("{named} {} {ranks} ranks", operation.name()));
                done += 1;
            }
        };
        for ranks in numbers_of_ranks() {
            sizes(operation, ranks).into_iter().for_each(|bytes| check(&call(operation, ranks, ranks / 3, bytes)));
        }
        if [AllGather, AllToAll, Gather, ReduceScatter, Scatter].contains(&operation) {
            for ranks in [2u32, 3, 4, 7, 8, 16] {
                let count = if operation == AllToAll { ranks * ranks } else { ranks };
                // the blocks have 0, 1, 2, 3 or 4 bytes
                let sizes: Vec<u64> = (0..count).map(|block| u64::from(block * 7 % 5)).collect();
                check(&Call { sizes: Some(&sizes), ..call(operation, ranks, ranks - 1, 0) });
            }
        }
        assert!(done > 0, "{named} refuses every call of {}", operation.name());
    }
}

/// Checks that the algorithms which a table chooses implement their calls.
///
/// # Panics
/// If a chosen algorithm cannot do a call. The message names the table and the call.
pub fn check_table(table: &TableConfig) {
    let named = as_written(table);
    for word in Operation::NAMES {
        let operation = operation(word).expect("a collective");
        for ranks in 2..=65 {
            for bytes in [0, 1, 100, 1 << 10, 1 << 14, 1 << 20] {
                let call = call(operation, ranks, 0, bytes);
                let chosen = table.model().choose(&call);
                let what = format!("{named} chooses {chosen:?} for {word} of {bytes} B among {ranks} ranks");
                assert!(chosen.model().operations().contains(&operation), "{what}, which it does not implement");
                assert_eq!(chosen.model().refuses(&call), None, "{what}, which it refuses");
            }
        }
    }
}
