//! Finds the hop with the most credits among the candidates of a head that chooses again in every allocation step.

use super::{Hop, View};
use weft_api::candidates::{CLOSED, rank};

/// The best of the candidates that a routing has offered so far.
#[derive(Debug)]
pub struct Best {
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
        let rank = rank(credits, hop.port, turn);
        if rank > self.rank {
            (self.rank, self.hop) = (rank, hop);
        }
    }

    /// The hop of the best candidate, or `None` if no candidate is open.
    #[inline(always)]
    pub fn hop(self) -> Option<Hop> {
        (self.rank > CLOSED).then_some(self.hop)
    }
}
