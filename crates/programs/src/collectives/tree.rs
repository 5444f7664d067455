//! Broadcast and reduce along a tree of the ranks, segment by segment.

use super::call::{Call, Piece};
use super::steps::{Into, Steps};
use crate::amounts::Bytes;
use crate::form::Operation;

/// The position of a rank in a tree: its parent, and its children in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    pub parent: Option<u32>,
    pub children: Vec<u32>,
}

/// Returns the segments of a range of the vector, each of `size` bytes. If `size` is 0, the whole range is one segment.
fn segments(range: Piece, size: u64) -> impl Iterator<Item = Piece> + Clone {
    let size = if size == 0 { range.bytes.max(1) } else { size };
    let end = range.start + range.bytes;
    (0..range.bytes.div_ceil(size)).map(move |segment| {
        let start = range.start + segment * size;
        Piece { start, bytes: size.min(end - start), ..range }
    })
}

/// Adds messages that send a range of the vector down a tree. A rank receives the next segment while it forwards the
/// present one. The first message between two ranks has the round number `rounds`.
pub fn down(place: &Place, range: Piece, segment: u64, rounds: u32, steps: &mut Steps) {
    let mut held: Option<(u32, Piece)> = None;
    for (number, piece) in segments(range, segment).enumerate() {
        let round = rounds.wrapping_add(number as u32);
        if let Some(parent) = place.parent {
            steps.receive(parent, round, Into::Copy, std::iter::once(piece));
            if let Some((round, piece)) = held {
                place.children.iter().for_each(|&child| steps.send(child, round, std::iter::once(piece)));
            }
        } else {
            place.children.iter().for_each(|&child| steps.send(child, round, std::iter::once(piece)));
        }
        steps.next();
        held = place.parent.map(|_| (round, piece));
    }
    if let Some((round, piece)) = held {
        place.children.iter().for_each(|&child| steps.send(child, round, std::iter::once(piece)));
        steps.next();
    }
}

/// Adds messages that sum a range of the vector up a tree. A rank receives the next segment while it forwards the
/// present one.
pub fn up(place: &Place, range: Piece, segment: u64, rounds: u32, steps: &mut Steps) {
    let mut held: Option<(u32, Piece)> = None;
    for (number, piece) in segments(range, segment).enumerate() {
        let round = rounds.wrapping_add(number as u32);
        for &child in &place.children {
            steps.receive(child, round, Into::Sum, std::iter::once(piece));
        }
        if place.children.is_empty() {
            if let Some(parent) = place.parent {
                steps.send(parent, round, std::iter::once(piece));
            }
        } else {
            if let (Some(parent), Some((round, piece))) = (place.parent, held) {
                steps.send(parent, round, std::iter::once(piece));
            }
            held = Some((round, piece));
        }
        steps.next();
    }
    if let (Some(parent), Some((round, piece))) = (place.parent, held) {
        steps.send(parent, round, std::iter::once(piece));
        steps.next();
    }
}

/// Adds messages that send the whole vector of a call down from the root, or, for a reduce, up to the root. `place` is
/// the position of the calling rank in the tree, with ranks counted from the root. `segment` is the size of a segment
/// \[bytes\]. If it is `None`, the whole vector is one segment.
pub fn along(place: Place, call: &Call, segment: Option<Bytes>, steps: &mut Steps) {
    let (place, segment) = (place.of_ranks(call), segment.map_or(0, |segment| segment.0));
    if call.operation == Operation::Reduce {
        up(&place, whole(call), segment, 0, steps);
    } else {
        down(&place, whole(call), segment, 0, steps);
    }
}

/// Returns the piece that is the whole vector of a call.
pub fn whole(call: &Call) -> Piece {
    call.segment(0, call.vector().max(1))
}

impl Place {
    /// Converts the rank numbers of this position, counted from the root, to ranks of the communicator.
    pub fn of_ranks(self, call: &Call) -> Self {
        Self {
            parent: self.parent.map(|number| call.rank(number)),
            children: self.children.into_iter().map(|number| call.rank(number)).collect(),
        }
    }

    /// Returns the position of rank `number` in a binomial tree: in round k, each rank r below 2^k sends to r + 2^k.
    pub fn binomial(number: u32, ranks: u32) -> Self {
        let highest = number.checked_ilog2();
        let first = highest.map_or(0, |bit| bit + 1);
        let children = (first..32).map_while(|bit| number.checked_add(1 << bit)).take_while(|&child| child < ranks);
        Self { parent: highest.map(|bit| number - (1 << bit)), children: children.collect() }
    }

    /// Returns the position of rank `number` in a binary tree whose ranks are numbered level by level.
    pub fn binary(number: u32, ranks: u32) -> Self {
        let children = [2 * u64::from(number) + 1, 2 * u64::from(number) + 2];
        let children = children.into_iter().filter(|&child| child < ranks.into()).map(|child| child as u32);
        Self { parent: number.checked_sub(1).map(|above| above / 2), children: children.collect() }
    }

    /// Returns the position of rank `number` in a chain.
    pub fn chain(number: u32, ranks: u32) -> Self {
        Self { parent: number.checked_sub(1), children: (number + 1..ranks).take(1).collect() }
    }
}
