//! What a head that chooses again in every step may ask for.

use super::{Hop, sensor::Congestion};

/// Most adaptive candidates of a head: two directions in each of eight dimensions.
const MOST: usize = 16;

/// The candidates of a head: adaptive ones, and the escape that it may always fall back on, if the routing has one.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    adaptive: [Hop; MOST],
    count: u8,
    pub escape: Option<Hop>,
}

impl Default for Choice {
    fn default() -> Self {
        Self { adaptive: [Hop { port: 0, class: 0 }; MOST], count: 0, escape: None }
    }
}

impl Choice {
    #[inline(always)]
    pub fn push(&mut self, hop: Hop) {
        self.adaptive[usize::from(self.count)] = hop;
        self.count += 1;
    }

    pub fn adaptive(&self) -> &[Hop] {
        &self.adaptive[..usize::from(self.count)]
    }

    /// All candidates, the escape last.
    pub fn all(&self) -> impl Iterator<Item = Hop> + '_ {
        self.adaptive().iter().copied().chain(self.escape)
    }

    /// The open adaptive candidate with the most credits, ties in `turn`; else the escape; where that is closed, too, it is
    /// asked for all the same, so that a sleeping link is woken.
    #[inline(always)]
    pub fn best(&self, queues: &impl Congestion, turn: u32) -> Hop {
        let (mut most, mut best) = (0, None);
        for &hop in self.adaptive() {
            if let Some((credits, hop)) = queues.member(hop, turn) {
                // the low bits only decide ties, for another port in every turn
                let rank = credits << 8 | (u32::from(hop.port) + turn) & 0xff;
                if rank > most {
                    (most, best) = (rank, Some(hop));
                }
            }
        }
        if let Some(hop) = best {
            return hop;
        }
        let last = self.escape.unwrap_or(self.adaptive[0]);
        queues.member(last, turn).map_or_else(|| queues.fallback(last), |(_, hop)| hop)
    }
}
