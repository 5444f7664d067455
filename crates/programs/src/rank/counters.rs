//! How many edges still lead to each operation of a rank.

use crate::form::Cursor;
use std::collections::HashMap;
use weft_units::prefetch::prefetch_first_line;

/// Edges that are still to be satisfied (dense), or that are satisfied already (sparse).
#[derive(Debug, Clone)]
pub enum Counters {
    /// A number per operation, for a program in memory.
    Dense(Vec<u32>),
    /// Numbers only of operations that have seen some of the several others that they wait for.
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

    /// Brings the number of an operation into the cache.
    pub fn bring(&self, index: u32) {
        match self {
            Self::Dense(remaining) => prefetch_first_line(remaining, index as usize),
            Self::Sparse(_) => {}
        }
    }
}
