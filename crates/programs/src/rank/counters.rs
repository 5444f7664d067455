//! Counts the unsatisfied edges that lead to each operation of a rank.

use crate::form::{Cursor, When};
use std::collections::HashMap;
use weft_units::prefetch::prefetch_first_line;

/// Number of edges of each operation: the dense form counts unsatisfied edges, the sparse form satisfied edges.
#[derive(Debug, Clone)]
pub enum Counters {
    /// A number for every operation, if the program is in memory.
    Dense(Vec<u32>),
    /// Numbers only for operations with several edges, of which some are satisfied and some are not.
    Sparse(HashMap<u32, u32>),
}

impl Counters {
    pub fn new(cursor: &mut impl Cursor) -> Self {
        if cursor.is_in_memory() {
            Self::Dense((0..cursor.len()).map(|index| cursor.predecessors(index)).collect())
        } else {
            Self::Sparse(HashMap::new())
        }
    }

    /// Prefetches the number of edges of an operation.
    #[inline]
    pub fn bring(&self, index: u32) {
        match self {
            Self::Dense(remaining) => prefetch_first_line(remaining, index as usize),
            Self::Sparse(_) => {}
        }
    }
}

/// Counts one edge as satisfied at each operation that waits for the start or the finish (`when`) of `index`. Returns the
/// operations that have no further unsatisfied edges.
#[inline(never)]
pub fn count_up(cursor: &mut impl Cursor, index: u32, when: When, satisfied: &mut HashMap<u32, u32>) -> Vec<u32> {
    let mut successors = Vec::new();
    cursor.successors(index, when, |later| successors.push(later));
    successors.retain(|&later| {
        let count = satisfied.entry(later).or_insert(0);
        *count += 1;
        let is_free = *count == cursor.predecessors(later);
        if is_free {
            satisfied.remove(&later);
        }
        is_free
    });
    successors
}
