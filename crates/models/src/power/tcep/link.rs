//! One end of a link, as a state machine: how each message and each end of an epoch changes its state. It knows nothing
//! else, so that a test can explore every state of two ends and of the messages between them (`link_model.rs`).
//!
//! Every request gets one answer. When the answer comes, the asker carries out what was agreed, or withdraws, which
//! undoes what the answerer has begun. An answer settles everything that its receiver was asked for before, so an end
//! sends its own requests after its answers. A link goes dark, or carries flits again, when both ends have said that
//! they are ready; they say so on the side channel of the link, which also carries credits.

use crate::power::LinkState;
use weft_api::base::kept::{Kept, Value};

/// Requests of a router to its neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Value)]
pub(crate) enum Want {
    Activate,
    Deactivate,
}

/// Messages of an end to the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Say {
    Ack,
    Nack,
    /// The sender withdraws: the agreement is undone.
    Withdraw,
    Reactivate,
    /// Drained, or awake.
    Ready,
}

/// An end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Kept)]
pub(crate) struct End {
    pub state: LinkState,
    /// The request of this end that has no answer yet.
    pub asked: Option<Want>,
    /// This end is drained, or awake; and the other end has said that it is.
    pub ready: bool,
    peer_ready: bool,
    /// The link has failed, and this end drains without waiting for the other one.
    alone: bool,
}

impl End {
    pub fn new(state: LinkState) -> Self {
        Self { state, asked: None, ready: false, peer_ready: false, alone: false }
    }

    fn enter(&mut self, state: LinkState) {
        (self.state, self.ready) = (state, false);
        // the other end may have drained before this end begins to drain
        self.peer_ready &= state == LinkState::Draining;
        self.alone &= state == LinkState::Draining;
    }

    /// Whether a request can be about this link in its present state.
    pub fn fits(&self, want: Want) -> bool {
        self.state == if want == Want::Activate { LinkState::Off } else { LinkState::On }
    }

    /// Begins the agreed change.
    fn begin(&mut self, want: Want) {
        self.asked = None;
        self.enter(if want == Want::Activate { LinkState::Waking } else { LinkState::Shadow });
    }

    /// Both ends have requested the same: the request of the lower end is void, and that of the higher end is answered.
    /// Returns whether the void one is that of the other end.
    pub fn crossed(&mut self, want: Want, lower: bool) -> bool {
        let crossed = self.asked == Some(want);
        if crossed && lower {
            self.asked = None;
        }
        crossed && !lower
    }

    /// Answers the request of the other end.
    pub fn judge(&mut self, want: Want, agree: bool) -> Say {
        if agree && self.fits(want) {
            self.begin(want);
            Say::Ack
        } else {
            Say::Nack
        }
    }

    /// Handles the agreement of the other end. `can`: this end can still make the change. Returns the requested change,
    /// if it begins now, or else the message to send.
    pub fn acked(&mut self, can: bool) -> Result<Option<Want>, Say> {
        let Some(want) = self.asked.take() else { return Ok(None) };
        if can && self.fits(want) {
            self.begin(want);
            Ok(Some(want))
        } else {
            Err(Say::Withdraw)
        }
    }

    /// Handles a refusal by the other end.
    pub fn nacked(&mut self) {
        self.asked = None;
    }

    /// Handles the withdrawal by the other end of the request that this end has agreed to.
    pub fn withdrawn(&mut self) {
        match self.state {
            LinkState::Waking => self.enter(LinkState::Off),
            LinkState::Shadow | LinkState::Draining => self.enter(LinkState::On),
            LinkState::On | LinkState::Off | LinkState::Named(_) => {}
        }
    }

    /// Whether this end can still make the link active again by itself: the link is not dark before this end has
    /// reported that it is drained.
    pub fn can_return(&self) -> bool {
        self.state == LinkState::Shadow || self.state == LinkState::Draining && !self.ready && !self.alone
    }

    /// Makes the link active again at once, at the request of this end.
    pub fn reactivate(&mut self) -> Say {
        debug_assert!(self.can_return());
        self.enter(LinkState::On);
        Say::Reactivate
    }

    /// Called when the other end has made the link active again.
    pub fn reactivated(&mut self) {
        debug_assert_ne!(self.state, LinkState::Off, "a link is dark only when no end can take it back");
        if matches!(self.state, LinkState::Shadow | LinkState::Draining) {
            self.enter(LinkState::On);
        }
    }

    /// Called when no packet has used the shadow link in time.
    pub fn expire(&mut self) {
        debug_assert_eq!(self.state, LinkState::Shadow);
        self.enter(LinkState::Draining);
    }

    /// Handles a failure of the link: agreements are void, and this end goes dark as soon as it has drained.
    pub fn fail(&mut self) {
        let dark = matches!(self.state, LinkState::Off | LinkState::Waking);
        *self = Self::new(if dark { LinkState::Off } else { LinkState::Draining });
        self.alone = !dark;
    }

    /// Whether this end drains because the link has failed.
    pub fn is_alone(&self) -> bool {
        self.alone
    }

    /// Called when this end is drained, or awake.
    pub fn done(&mut self) -> Say {
        self.ready = true;
        self.settle();
        Say::Ready
    }

    /// Handles the report that the other end is drained, or awake. Returns the answer of this end: if this end was
    /// awake first, the other may have missed its message.
    pub fn peer_done(&mut self) -> Option<Say> {
        // in other states the message is about something that was withdrawn or taken back, or that has not begun here
        if matches!(self.state, LinkState::Shadow | LinkState::Draining | LinkState::Waking) {
            let waking = self.state == LinkState::Waking;
            self.peer_ready = true;
            self.settle();
            return (waking && self.state == LinkState::On).then_some(Say::Ready);
        }
        None
    }

    fn settle(&mut self) {
        if self.ready && (self.peer_ready || self.alone) {
            match self.state {
                LinkState::Draining => self.enter(LinkState::Off),
                LinkState::Waking => self.enter(LinkState::On),
                LinkState::On | LinkState::Shadow | LinkState::Off | LinkState::Named(_) => {}
            }
        }
    }

    /// Whether flits from this end may be in flight.
    #[cfg(test)]
    fn may_send(&self) -> bool {
        match self.state {
            LinkState::On | LinkState::Shadow => true,
            LinkState::Draining => !self.ready,
            LinkState::Off | LinkState::Waking | LinkState::Named(_) => false,
        }
    }

    /// Whether this end can receive.
    #[cfg(test)]
    fn is_lit(&self) -> bool {
        match self.state {
            LinkState::On | LinkState::Shadow | LinkState::Draining => true,
            LinkState::Waking => self.ready,
            LinkState::Off | LinkState::Named(_) => false,
        }
    }
}

#[cfg(test)]
#[path = "link_model.rs"]
mod model;
