//! The memory of the switch allocator: the matching of a step, and the flits that cross the switch in this step.

use weft_api::agents::Departure;
use weft_api::base::arrays::PerPort;
use weft_api::base::bits::Bits;
use weft_api::base::kept::Kept;
use weft_api::state::Move;

/// Scratch memory of the switch allocator. The contents are valid for one step of a router.
#[derive(Debug, Kept)]
pub struct Switch<const W: usize> {
    /// Outputs that granted each input.
    #[kept(scratch)]
    grants: PerPort<Bits<W>, W>,
    /// The output that each input would accept.
    #[kept(scratch)]
    offers: PerPort<u16, W>,
    /// The flits that cross in this step.
    #[kept(scratch)]
    moves: PerPort<Move, W>,
    /// The departing flits, in the form in which they are passed to the agents.
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

    /// The memory for the allocator: grants, offers and moves.
    #[inline(always)]
    pub(crate) fn scratch(&mut self) -> (&mut PerPort<Bits<W>, W>, &mut PerPort<u16, W>, &mut PerPort<Move, W>) {
        (&mut self.grants, &mut self.offers, &mut self.moves)
    }

    /// The first `count` moves, as entered by the allocator.
    #[inline(always)]
    pub(crate) fn moves(&self, count: usize) -> &[Move] {
        self.moves.first(count)
    }

    /// Returns move `k`.
    ///
    /// # Safety
    /// The allocator must have entered more than `k` moves.
    #[inline(always)]
    pub(crate) unsafe fn moved(&self, k: usize) -> Move {
        // SAFETY: a router has more ports than moves, and the list has room for all.
        unsafe { *self.moves.hot(k) }
    }

    /// The first `count` moves, converted into departures.
    pub(crate) fn departures(&mut self, count: usize, of: impl Fn(&Move) -> Departure) -> &[Departure] {
        self.departures.clear();
        self.departures.extend(self.moves.first(count).iter().map(of));
        &self.departures
    }
}
