//! Prefetches the data of the next events, in the order in which these data point to each other.

use super::Executor;
use super::event::About;
use crate::form::Cursor;
use weft_units::prefetch::prefetch_whole;

/// Number of ranks from which the data of the next events are prefetched. The states of fewer ranks
/// fit into the cache.
pub const MANY: usize = 256;

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
            let id = match event.about() {
                About::Op(place) => Some(self.ops.get(place).id),
                About::Message(_) => None,
            };
            self.machines[event.rank() as usize].bring(id);
        }
    }
}
