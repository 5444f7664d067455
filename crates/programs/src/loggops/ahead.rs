//! Prefetches the data of the next events, in the order in which these data point to each other. Also prefetches later operations of
//! a rank.

use super::Executor;
use super::event::About;
use crate::form::Cursor;
use weft_units::prefetch::prefetch_whole;

/// Number of ranks from which the states of the ranks of the next events are prefetched. The states of fewer ranks fit into the
/// second-level cache.
pub const MANY: usize = 1024;

/// Number of ranks from which each operation prefetches a later one of its rank. The processor itself prefetches for fewer ranks.
pub const SOME: usize = 8;

/// Number of events between two successive prefetches for the same event.
const AHEAD: usize = 4;

impl<C: Cursor> Executor<C> {
    /// Prefetches for events that come soon.
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
