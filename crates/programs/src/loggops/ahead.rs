//! Brings the data of events that come soon into the cache, in the order in which they lead to each other.

use super::Executor;
use super::event::{About, Event};
use crate::form::Cursor;
use crate::rank::OpId;
use weft_units::prefetch::prefetch_whole;

/// Ranks from which on the data of events to come are prefetched: fewer ranks fit into the cache.
pub const MANY: usize = 256;

/// Events between one prefetch for an event and the next.
const AHEAD: usize = 4;

impl<C: Cursor> Executor<C> {
    /// Prefetches for events that come soon. A message may also let its sender continue.
    #[inline]
    pub(super) fn bring(&self) {
        if let Some(event) = self.queue.ahead(4 * AHEAD) {
            prefetch_whole(&self.machines, event.rank as usize);
            match event.about() {
                About::Op(place) => self.ops.bring(place),
                About::Message(message) => self.messages.bring(message),
            }
        }
        if let Some(event) = self.queue.ahead(3 * AHEAD) {
            self.machines[event.rank as usize].bring_lists();
            self.posts.bring(event.rank);
            if let Some((from, _)) = self.freed_by(event) {
                prefetch_whole(&self.machines, from as usize);
            }
        }
        if let Some(event) = self.queue.ahead(2 * AHEAD) {
            let id = match event.about() {
                About::Op(place) => Some(self.ops.get(place).id),
                About::Message(_) => None,
            };
            self.machines[event.rank as usize].bring(id);
            if let Some((from, _)) = self.freed_by(event) {
                self.machines[from as usize].bring_lists();
            }
        }
        if let Some(event) = self.queue.ahead(AHEAD)
            && let Some((from, send)) = self.freed_by(event)
        {
            self.machines[from as usize].bring(Some(send));
        }
    }

    /// The send that finishes when a message has been received, and its rank.
    #[inline]
    fn freed_by(&self, event: &Event) -> Option<(u32, OpId)> {
        let About::Message(place) = event.about() else { return None };
        let message = self.messages.get(place);
        (message.size > self.at.eager).then_some((message.from, message.sender))
    }
}
