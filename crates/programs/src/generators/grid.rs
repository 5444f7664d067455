//! Numbers of ranks as sides of a grid, and the coordinates of a rank in the grid.

use crate::form::Comm;
use std::sync::Arc;

/// Factorises the number of ranks into factors that are as equal as possible, the largest first.
pub fn factors<const N: usize>(ranks: u32) -> [u32; N] {
    let mut sides = [1u32; N];
    let (mut rest, mut primes, mut prime) = (ranks, Vec::new(), 2);
    while rest > 1 {
        while rest % prime == 0 {
            primes.push(prime);
            rest /= prime;
        }
        prime = if prime * prime > rest { rest.max(2) } else { prime + 1 };
    }
    for prime in primes.into_iter().rev() {
        sides.sort_unstable();
        sides[0] *= prime;
    }
    sides.sort_unstable_by(|a, b| b.cmp(a));
    sides
}

/// Returns the coordinates of a rank in the grid. The first coordinate changes fastest.
pub fn coordinates<const N: usize>(rank: u32, sides: [u32; N]) -> [u32; N] {
    let mut rest = rank;
    sides.map(|side| {
        let at = rest % side;
        rest /= side;
        at
    })
}

/// Returns the rank at the given coordinates. The grid is periodic.
pub fn rank_at<const N: usize>(at: [i64; N], sides: [u32; N]) -> u32 {
    let (mut rank, mut step) = (0, 1);
    for (at, side) in at.into_iter().zip(sides) {
        rank += at.rem_euclid(side.into()) as u32 * step;
        step *= side;
    }
    rank
}

/// Returns the communicators of a rank on a 2-D grid: communicator 1 is its row, communicator 2 its column.
pub fn rows_and_columns(rank: u32, [columns, rows]: [u32; 2]) -> Vec<Comm> {
    let (column, row) = (rank % columns, rank / columns);
    let in_row: Arc<[u32]> = (0..columns).map(|column| row * columns + column).collect();
    let in_column: Arc<[u32]> = (0..rows).map(|row| row * columns + column).collect();
    vec![
        Comm { number: 1 + row, members: in_row, me: column },
        Comm { number: 1 + rows + column, members: in_column, me: row },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_as_equal_as_possible() {
        assert_eq!(factors::<3>(64), [4, 4, 4]);
        assert_eq!(factors::<3>(24), [4, 3, 2]);
        assert_eq!(factors::<2>(32), [8, 4]);
        assert_eq!(factors::<2>(7), [7, 1]);
        assert_eq!(factors::<2>(1), [1, 1]);
    }

    #[test]
    fn coordinates_and_ranks_belong_together() {
        let sides = [4, 3, 2];
        for rank in 0..24 {
            assert_eq!(rank_at(coordinates(rank, sides).map(i64::from), sides), rank);
        }
        assert_eq!(rank_at([-1, 0, 0], sides), 3);
    }
}
