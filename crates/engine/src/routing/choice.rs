//! What a head that chooses again in every step may ask for, and which of it it takes.

use super::{Hop, sensor::Congestion};

/// The candidates of a head: adaptive ones, and the escape that it may always fall back on, if the routing has one.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    pub adaptive: Vec<Hop>,
    pub escape: Option<Hop>,
}

impl Choice {
    /// All candidates, the escape last.
    pub fn all(&self) -> impl Iterator<Item = Hop> + '_ {
        self.adaptive.iter().copied().chain(self.escape)
    }
}

/// The best of the candidates offered so far.
#[derive(Debug, Default)]
pub struct Best {
    /// Credits << 8, and below them a hash of port and turn that only decides ties.
    rank: u32,
    hop: Option<Hop>,
}

impl Best {
    #[inline(always)]
    pub fn offer(&mut self, hop: Hop, queues: &impl Congestion, turn: u32) {
        if let Some((credits, hop)) = queues.member(hop, turn) {
            let rank = credits << 8 | (u32::from(hop.port) + turn).wrapping_mul(0x9e37_79b1) >> 24;
            if rank > self.rank {
                (self.rank, self.hop) = (rank, Some(hop));
            }
        }
    }

    #[inline(always)]
    pub fn hop(self) -> Option<Hop> {
        self.hop
    }
}
