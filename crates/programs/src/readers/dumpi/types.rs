//! Sizes of datatypes. A file has a table of sizes, but only with the last size of each datatype number. A program can
//! free a datatype and make another one with the same number. The sizes that follow from calls that make datatypes
//! therefore have priority over the table.

use super::stream::Record;
use std::collections::HashMap;

/// The sizes of the datatypes at a rank.
pub struct Types {
    /// Sizes by datatype number \[bytes\], from the table of the file.
    table: Vec<u32>,
    made: HashMap<i64, u64>,
}

/// Converts a length; a negative number counts as 0.
fn length(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

impl Types {
    pub fn new(table: Vec<u32>) -> Self {
        Self { table, made: HashMap::new() }
    }

    /// Number of datatypes in the table of the file.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns the present size of a datatype \[bytes\].
    pub fn size(&self, datatype: i64) -> Option<u64> {
        let in_table =
            || usize::try_from(datatype).ok().and_then(|place| self.table.get(place)).map(|&size| size.into());
        self.made.get(&datatype).copied().or_else(in_table)
    }

    /// Stores the size of the datatype that this call makes, if it makes one.
    pub fn take(&mut self, name: &str, record: &Record) {
        let int = |argument: usize| record.int(argument);
        let sum = |argument: usize| {
            record.list(argument).iter().fold(0u64, |sum, &number| sum.saturating_add(length(number)))
        };
        // the old datatype, the new datatype, and the number of items of the old datatype in the new one
        let (old, new, items) = match name {
            "Type_contiguous" => (int(1), int(2), length(int(0))),
            "Type_vector" | "Type_hvector" | "Type_create_hvector" => {
                (int(3), int(4), length(int(0)).saturating_mul(length(int(1))))
            }
            "Type_indexed" | "Type_hindexed" | "Type_create_hindexed" => (int(3), int(4), sum(1)),
            "Type_create_indexed_block" => (int(3), int(4), length(int(0)).saturating_mul(length(int(1)))),
            "Type_create_subarray" => {
                let items = record.list(2).iter().fold(1u64, |items, &number| items.saturating_mul(length(number)));
                (int(5), int(6), items)
            }
            "Type_create_resized" => (int(0), int(3), 1),
            "Type_dup" => (int(0), int(1), 1),
            "Type_struct" | "Type_create_struct" => {
                let of = |(&count, &old): (&i64, &i64)| Some(length(count).saturating_mul(self.size(old)?));
                let size = record.list(1).iter().zip(record.list(3)).map(of).sum::<Option<u64>>();
                self.keep(int(4), size);
                return;
            }
            // the reader does not compute the size of a part of a distributed array, but uses the size in the table of
            // the file
            "Type_create_darray" => {
                self.made.remove(&int(9));
                return;
            }
            _ => return,
        };
        self.keep(new, self.size(old).map(|size| size.saturating_mul(items)));
    }

    fn keep(&mut self, datatype: i64, size: Option<u64>) {
        match size {
            Some(size) => _ = self.made.insert(datatype, size),
            None => _ = self.made.remove(&datatype),
        }
    }
}
