//! Dense LU factorisation, modelled on High-Performance Linpack. Synthetic.
//!
//! # Source
//! A. Petitet et al., "HPL: a portable implementation of the high-performance Linpack benchmark". The variant is
//! right-looking, with a panel broadcast on an increasing ring, and with row swaps along columns.
//!
//! # Parameters
//! `rows`, `columns`: P and Q, the size of the grid of ranks \[counts\]. `order`: N, the number of rows and columns of
//! the matrix. `block`: NB, the number of columns of a panel \[counts\]. `rate`: floating-point operations per second
//! of a rank.
//!
//! # Guarantees
//! The ranks of one grid column have the panel. For each matrix column of the panel, these ranks find the pivot with an all-reduce of 2
//! NB + 4 numbers. Then the ranks of each grid row send panel j along a ring, with NB (N - j NB)/P numbers of 8 bytes. In each grid
//! column, the ranks swap NB rows of the matrix with an all-gather. The update of the remaining matrix needs 2 NB operations per element.
//!
//! # Not modelled
//! Look-ahead. The solution of the triangular system. Recursion inside a panel.
//!
//! # Validation
//! `programs/tests/programs/generated.rs` checks that the number of floating-point operations is 2/3 N^3, apart from the additional
//! operations of the panels.

use super::grid::rows_and_columns;
use super::{Generates, Line, Made, not_too_many, within};
use crate::amounts::Flops;
use crate::form::{Calls, Op, Operation, Program, RankProgram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_units::Refusal;

/// Dense LU factorisation on a grid of ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Linpack {
    /// Number of rows in the grid of ranks.
    pub rows: u32,
    /// Number of columns in the grid of ranks.
    pub columns: u32,
    /// Number of rows and number of columns of the square matrix.
    pub order: u64,
    /// Number of columns of a panel.
    pub block: u64,
    /// Floating-point operations per second of a rank.
    pub rate: Flops,
}

impl Linpack {
    /// Returns how many of the `left` remaining rows or columns belong to the rank at position `at` in a grid column or row of `among`
    /// ranks. Blocks of rows or columns are assigned to the ranks in turn, and block `panel` is the first one that remains.
    fn local(&self, left: u64, panel: u64, at: u32, among: u32) -> u64 {
        let blocks = left.div_ceil(self.block);
        let (among, first) = (u64::from(among), panel % u64::from(among));
        let ahead = (u64::from(at) + among - first) % among;
        let mine = blocks.saturating_sub(ahead).div_ceil(among);
        let has_last = mine > 0 && ahead + (mine - 1) * among == blocks - 1;
        mine * self.block - if has_last { blocks * self.block - left } else { 0 }
    }

    fn time(&self, flops: f64) -> Op {
        Op::compute((flops / self.rate.0 * 1e9).round() as u64)
    }

    /// Adds the calls that send the panel along a row of ranks, on a ring.
    fn pass_on(&self, owner: u32, me: u32, bytes: u64, tag: u32, calls: &mut Calls) {
        let (columns, from_owner) = (self.columns, (me + self.columns - owner) % self.columns);
        if from_owner > 0 {
            calls.blocking(Op::receive(Some((me + columns - 1) % columns), bytes, Some(tag)).within(1));
        }
        if from_owner + 1 < columns {
            calls.start(Op::send((me + 1) % columns, bytes, Some(tag)).within(1));
        }
    }

    fn rank(&self, rank: u32) -> (RankProgram, f64) {
        let (column, row) = (rank % self.columns, rank / self.columns);
        let (mut calls, mut flops) = (Calls::default(), 0.0);
        for panel in 0..self.order.div_ceil(self.block) {
            let left = self.order - panel * self.block;
            let width = self.block.min(left);
            let owner = (panel % u64::from(self.columns)) as u32;
            let own_rows = self.local(left, panel, row, self.rows);
            if column == owner {
                let own = (width * width * own_rows) as f64;
                flops += own;
                for _ in 0..width {
                    calls.blocking(self.time(own / width as f64));
                    if self.rows > 1 {
                        calls
                            .collective(Op::collective(Operation::AllReduce, 0, 8 * (2 * self.block + 4), 0).within(2));
                    }
                }
            }
            let bytes = 8 * width * own_rows.max(1);
            self.pass_on(owner, column, bytes, panel as u32, &mut calls);
            let after = left - width;
            if after == 0 {
                continue;
            }
            let own_columns = self.local(after, panel + 1, column, self.columns);
            if self.rows > 1 && own_columns > 0 {
                let block = (8 * width * own_columns).div_ceil(self.rows.into());
                calls.collective(Op::collective(Operation::AllGather, 0, block, 0).within(2));
            }
            let update = (2 * width * own_columns) as f64 * self.local(after, panel + 1, row, self.rows) as f64;
            flops += update;
            calls.blocking(self.time(update));
        }
        let comms = rows_and_columns(rank, [self.columns, self.rows]);
        (RankProgram { ops: Arc::new(calls.finish()), comms }, flops)
    }
}

impl Generates for Linpack {
    fn make(&self, path: &str) -> Result<Made, Refusal> {
        within(path, "rows", self.rows.into(), 1, 1 << 12)?;
        within(path, "columns", self.columns.into(), 1, 1 << 12)?;
        within(path, "order", self.order, 1, 1 << 24)?;
        within(path, "block", self.block, 1, self.order)?;
        let ranks = u64::from(self.rows) * u64::from(self.columns);
        let panels = self.order.div_ceil(self.block);
        not_too_many(path, ranks * panels * 6 + 2 * self.order * u64::from(self.rows))?;
        let (ranks, flops): (Vec<RankProgram>, Vec<f64>) = (0..ranks as u32).map(|rank| self.rank(rank)).unzip();
        let cube = 2.0 / 3.0 * (self.order as f64).powi(3);
        let arithmetic = vec![
            Line::new("panels", panels as f64, "", "order / block"),
            Line::new("operations", flops.iter().sum(), "FLOP", "of all ranks, counted in the program"),
            Line::new("operations by formula", cube, "FLOP", "2/3 N^3"),
        ];
        Ok(Made { program: Program { ranks }, arithmetic })
    }

    fn examples() -> Vec<Self> {
        let of = |rows, columns| Self { rows, columns, order: 300, block: 32, rate: Flops(1e10) };
        vec![of(2, 4), of(1, 2), of(5, 1), of(3, 7), of(8, 8)]
    }
}
