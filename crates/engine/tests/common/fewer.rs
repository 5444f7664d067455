//! Selects the cases that `make test` runs, where all combinations would take too long. `make test-all` runs all combinations.

use super::{PAIRS, Pair, in_their_turns, rounds};
use std::collections::BTreeSet;

/// Whether to run all combinations, as `make test-all` does.
pub fn all_cases() -> bool {
    rounds(1) > 1
}

/// Every second pair of each example of a routing, and further pairs so that each topology occurs; all pairs in `make test-all`. Each pair
/// has its hash of [`in_their_turns`]. `half`: 0 or 1. Tests select different halves, so together they run all pairs.
pub fn half_of_pairs(half: usize) -> Vec<(usize, &'static Pair)> {
    let all: Vec<(usize, &Pair)> = in_their_turns(&PAIRS).collect();
    let (mut some, mut topologies) = (Vec::new(), BTreeSet::new());
    for example in all.chunk_by(|(_, a), (_, b)| a.routing == b.routing) {
        for (k, &(turn, pair)) in example.iter().enumerate() {
            let is_only = example.len() == 1 || !topologies.contains(pair.topology.name());
            if is_only || k % 2 == half || all_cases() {
                topologies.insert(pair.topology.name());
                some.push((turn, pair));
            }
        }
    }
    some
}
