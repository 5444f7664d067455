//! Walker's alias method: draws one of many outcomes with different probabilities, in constant time.
//!
//! # Source
//! A. J. Walker, "An Efficient Method for Generating Discrete Random Variables with General Distributions", ACM TOMS
//! 3(3), 1977; M. D. Vose, IEEE TSE 17(9), 1991 (the construction).
//!
//! # Parameters
//! The weight of each outcome, as an integer. The table has one column per outcome, and all columns have the same weight.
//!
//! # Guarantees
//! The probability of every outcome is exactly its integer weight divided by the sum. The table does not depend on the machine, because its
//! construction uses a fixed order of steps.
//!
//! # Not modelled
//! Weights that change after the table is built.

use crate::below;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

/// Builds the table. At the start, `left` contains the weights, whose sum is `full` times their number. At the end, column c gives outcome
/// c with weight `left[c]`, and otherwise the outcome that is returned for column c.
pub(crate) fn pair(left: &mut [u128], full: u128) -> Vec<usize> {
    let mut other: Vec<usize> = (0..left.len()).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..left.len()).partition(|&c| left[c] < full);
    while let Some(c) = small.pop() {
        // The remaining weights sum to a multiple of `full`, so at least one column has more weight than it needs.
        let Some(&donor) = large.last() else { break };
        other[c] = donor;
        left[donor] -= full - left[c];
        if left[donor] < full {
            large.pop();
            small.push(donor);
        }
    }
    other
}

/// The weight of a column.
const FULL: u128 = 1 << 32;

/// A column of an alias table whose outcomes are terminals.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    /// The number of the 2^32 values of a random number that select `own`. The other values select `other`.
    threshold: u32,
    own: u32,
    other: u32,
}

/// Builds the alias table of these outcomes and appends its columns. The weights of the outcomes must be finite and above 0, and the sum
/// must be below the largest f64. Each probability is exact to 2^-32 of a column.
pub(crate) fn append(columns: &mut Vec<Column>, outcomes: &[(u32, f64)]) {
    let sum: f64 = outcomes.iter().map(|&(_, weight)| weight).sum();
    let total = FULL * outcomes.len() as u128;
    let mut left: Vec<u128> = outcomes.iter().map(|&(_, weight)| (weight / sum * total as f64) as u128).collect();
    // the column with the largest weight absorbs the rounding error
    if let Some(largest) = (0..left.len()).max_by_key(|&c| left[c]) {
        let others = left.iter().sum::<u128>() - left[largest];
        left[largest] = total - others;
    }
    let other = pair(&mut left, FULL);
    columns.extend((0..left.len()).map(|c| Column {
        // a full column needs no other outcome, so it refers to itself
        threshold: left[c] as u32,
        own: outcomes[c].0,
        other: outcomes[other[c]].0,
    }));
}

/// Draws an outcome from the columns of one table. The table must have at least one column.
#[inline]
pub(crate) fn draw(columns: &[Column], rng: &mut Pcg32) -> u32 {
    let column = columns[below(rng, columns.len() as u32) as usize];
    if rng.next_u32() < column.threshold { column.own } else { column.other }
}

/// The exact probabilities of a table, with each outcome once, in ascending order.
pub(crate) fn distribution(columns: &[Column]) -> Vec<(u32, f64)> {
    let mut masses: Vec<(u32, u64)> = Vec::with_capacity(2 * columns.len());
    for column in columns {
        masses.push((column.own, column.threshold.into()));
        masses.push((column.other, FULL as u64 - u64::from(column.threshold)));
    }
    masses.sort_unstable();
    let sum_of = |same: &[(u32, u64)]| (same[0].0, same.iter().map(|&(_, mass)| u128::from(mass)).sum::<u128>());
    let total = FULL as f64 * columns.len() as f64;
    let outcomes = masses.chunk_by(|a, b| a.0 == b.0).map(sum_of).filter(|&(_, mass)| mass > 0);
    outcomes.map(|(outcome, mass)| (outcome, mass as f64 / total)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_keep_their_weights() {
        let weights = [(3, 1.0), (7, 2.0), (8, 0.5), (100, 4.5), (101, 1e-300)];
        let mut columns = Vec::new();
        append(&mut columns, &weights);
        // the sum of the weights is 8; 1/8, 2/8, 1/16, 9/16 are multiples of 2^-32 / 5 except for rounding, and 1e-300 is not
        let expected = [(3, 0.125), (7, 0.25), (8, 0.0625), (100, 0.5625)];
        let found = distribution(&columns);
        assert_eq!(found.len(), 4);
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.0, expected.0);
            assert!((found.1 - expected.1).abs() < 5.0 * 2f64.powi(-32), "{found:?}");
        }
    }

    #[test]
    fn one_outcome_is_certain() {
        let mut columns = Vec::new();
        append(&mut columns, &[(9, f64::MIN_POSITIVE)]);
        assert_eq!(distribution(&columns), [(9, 1.0)]);
        let mut rng = crate::stream(1, 0, 0);
        assert!((0..100).all(|_| draw(&columns, &mut rng) == 9));
    }
}
