//! The working memory of the switch allocator for one allocation step: its matching of inputs with outputs, and the flits that cross the
//! switch.

use weft_api::agents::Departure;
use weft_api::base::arrays::PerPort;
use weft_api::base::bits::Bits;
use weft_api::base::kept::Kept;
use weft_api::state::Move;

/// Scratch memory of the switch allocator. The contents are valid for one allocation step of a router.
#[derive(Debug, Kept)]
pub struct Switch<const W: usize> {
    /// For each input: the outputs that granted it.
    #[kept(scratch)]
    grants: PerPort<Bits<W>, W>,
    /// For each input: the output that it would accept.
    #[kept(scratch)]
    offers: PerPort<u16, W>,
    /// The flits that cross in this step.
    #[kept(scratch)]
    moves: PerPort<Move, W>,
    /// The flits that cross, as records for the agents of the power policy.
    #[kept(scratch)]
    departures: Vec<Departure>,
}

impl<const W: usize> Switch<W> {
    /// `radix`: largest number of ports of a router.
    pub(crate) fn new(radix: usize) -> Self {
        Self {
            grants: PerPort::new(Bits::default()),
            offers: PerPort::new(0),
            moves: PerPort::new(Move::default()),
            departures: Vec::with_capacity(radix),
        }
    }

    /// The arrays that the allocator fills: grants, offers and moves.
    #[inline(always)]
    pub(crate) fn scratch(&mut self) -> (&mut PerPort<Bits<W>, W>, &mut PerPort<u16, W>, &mut PerPort<Move, W>) {
        (&mut self.grants, &mut self.offers, &mut self.moves)
    }

    /// The first `count` moves of this step, as the allocator entered them.
    #[inline(always)]
    pub(crate) fn moves(&self, count: usize) -> &[Move] {
        self.moves.first(count)
    }

    /// Returns move `k` of this step.
    ///
    /// # Safety
    /// The allocator must have entered more than `k` moves.
    #[inline(always)]
    pub(crate) unsafe fn moved(&self, k: usize) -> Move {
        // SAFETY: a router makes at most one move per port in a step, and the list has space for a move of each port.
        unsafe { *self.moves.hot(k) }
    }

    /// Converts the first `count` moves into departures, for the agents of the power policy.
    pub(crate) fn departures(&mut self, count: usize, of: impl Fn(&Move) -> Departure) -> &[Departure] {
        self.departures.clear();
        self.departures.extend(self.moves.first(count).iter().map(of));
        &self.departures
    }
}
