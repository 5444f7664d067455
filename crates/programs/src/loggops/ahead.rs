//! Prefetches the data of the next events. An event refers to a rank, and the rank to its lists. The executor therefore
//! prefetches the rank first, and its lists a few events later. It also prefetches later operations of a rank.

use super::Executor;
use super::event::About;
use crate::form::Cursor;
use weft_units::prefetch::prefetch_whole;

/// Least number of ranks for which the executor prefetches the states of the ranks of the next events. With fewer ranks, all
/// states fit into the second-level cache.
pub const MANY: usize = 1024;

/// Least number of ranks for which each operation prefetches a later operation of its rank. With fewer ranks, the
/// processor's own prefetcher loads these data.
pub const SOME: usize = 8;

/// Number of events between two successive prefetches for the same later event.
const AHEAD: usize = 4;

impl<C: Cursor> Executor<C> {
    /// Prefetches the data of events that follow soon.
    #[inline]
    pub(super) fn bring(&self) {
        if let Some(event) = self.queue.ahead(3 * AHEAD) {
            prefetch_whole(&self.machines, event.rank() as usize);
        }
        if let Some(event) = self.queue.ahead(2 * AHEAD) {
            self.machines[event.rank() as usize].bring_lists();
            self.posts.bring(event.rank());
            match event.about() {
                About::Op(place) => self.ops.bring(place),
                About::Message(message) => self.messages.bring(message),
            }
        }
        if let Some(event) = self.queue.ahead(AHEAD) {
            self.machines[event.rank() as usize].bring_collective();
        }
    }
}
