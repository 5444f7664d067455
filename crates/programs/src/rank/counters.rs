//! The number of unsatisfied edges to each operation of a rank.

use crate::form::Cursor;
use std::collections::HashMap;
use weft_units::prefetch::prefetch_first_line;

/// Numbers of edges per operation: unsatisfied edges (dense), or satisfied edges (sparse).
#[derive(Debug, Clone)]
pub enum Counters {
    /// A number per operation, for a program in memory.
    Dense(Vec<u32>),
    /// Numbers only for operations with some, but not all, of their several edges satisfied.
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

    /// Prefetches the number of an operation.
    pub fn bring(&self, index: u32) {
        match self {
            Self::Dense(remaining) => prefetch_first_line(remaining, index as usize),
            Self::Sparse(_) => {}
        }
    }
}
