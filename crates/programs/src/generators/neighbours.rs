//! Exchanges of a rank with its neighbours on a periodic grid.

use super::grid::{coordinates, factors, rank_at};
use crate::form::{Calls, Op};

/// Returns the 26 directions to the neighbours in a 3-D grid, or only the 6 directions through faces.
pub fn directions(with_corners: bool) -> Vec<[i64; 3]> {
    let all = (0..27).map(|k| [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1]);
    let sides = |direction: &[i64; 3]| direction.iter().filter(|by| **by != 0).count();
    all.filter(|direction| (1..=if with_corners { 3 } else { 1 }).contains(&sides(direction))).collect()
}

/// Adds an exchange: in each direction, the rank sends a message to its neighbour and receives a message from the
/// opposite neighbour. The rank posts all receives, then all sends, and then waits for all messages. `bytes` is the
/// size of the message in each direction \[bytes\]. `phase` distinguishes exchanges that can overlap.
pub fn exchange(
    calls: &mut Calls,
    (rank, ranks): (u32, u32),
    directions: &[[i64; 3]],
    phase: u32,
    bytes: impl Fn([i64; 3]) -> u64,
) {
    let sides = factors::<3>(ranks);
    let at = coordinates(rank, sides).map(i64::from);
    let moved = |direction: [i64; 3], by: i64| rank_at([0, 1, 2].map(|k| at[k] + by * direction[k]), sides);
    let mut requests = Vec::with_capacity(2 * directions.len());
    for (is_send, by) in [(false, -1), (true, 1)] {
        for (number, &direction) in (0..).zip(directions) {
            let (peer, tag, bytes) = (moved(direction, by), Some(phase * 32 + number), bytes(direction));
            if peer != rank {
                let op = if is_send { Op::send(peer, bytes, tag) } else { Op::receive(Some(peer), bytes, tag) };
                requests.push(calls.start(op));
            }
        }
    }
    calls.wait_all(requests);
}

/// Bytes that one rank sends in an exchange. No message is sent along a dimension with only one rank.
pub fn sent(ranks: u32, directions: &[[i64; 3]], bytes: impl Fn([i64; 3]) -> u64) -> u64 {
    let sides = factors::<3>(ranks);
    let leaves = |direction: &&[i64; 3]| direction.iter().zip(sides).any(|(by, side)| *by != 0 && side > 1);
    directions.iter().filter(leaves).map(|&direction| bytes(direction)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_6_faces_and_26_neighbours() {
        assert_eq!([directions(false).len(), directions(true).len()], [6, 26]);
        // on 2 x 1 x 1 ranks, 2 of the 6 faces lead to the other rank
        assert_eq!(sent(2, &directions(false), |_| 10), 20);
    }
}
