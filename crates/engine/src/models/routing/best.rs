//! The candidate that a head asks for if it chooses again in every allocation step: the one with the most credits.

use super::{Hop, View};

/// A closed candidate (it has no VC that a head may take) does not rank above this: only its low byte is not 0.
const CLOSED: u32 = 0xff;

/// The best of the candidates offered so far.
#[derive(Debug)]
pub struct Best {
    /// Credits << 8; the low byte is a hash of port and turn, which decides ties.
    rank: u32,
    hop: Hop,
}

impl Default for Best {
    fn default() -> Self {
        Self { rank: CLOSED, hop: Hop { port: 0, class: 0 } }
    }
}

impl Best {
    #[inline(always)]
    pub fn offer(&mut self, hop: Hop, queues: &(impl View + ?Sized), turn: u32) {
        let (credits, hop) = queues.member(hop, turn);
        let rank = credits << 8 | (u32::from(hop.port) + turn).wrapping_mul(0x9e37_79b1) >> 24;
        if rank > self.rank {
            (self.rank, self.hop) = (rank, hop);
        }
    }

    /// The best open candidate.
    #[inline(always)]
    pub fn hop(self) -> Option<Hop> {
        (self.rank > CLOSED).then_some(self.hop)
    }
}
