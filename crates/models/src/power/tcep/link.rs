//! An end of a link, as a state machine: each message and each end of an epoch changes its state. The state machine uses nothing
//! else, so that a test can explore every state of two ends and of the messages between them (`link_model.rs`).
//!
//! Every request gets one answer. When the answer comes, the requesting end carries out the agreed change, or withdraws. A
//! withdrawal undoes what the answering end has begun. An answer settles all earlier requests to its receiver, so an end sends its
//! own requests after its answers. A link goes dark, or carries flits again, when both ends have reported that they are ready. The
//! ends report their readiness on the side channel of the link, which also carries credits.

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
    /// The sender withdraws, and the agreement is undone.
    Withdraw,
    Reactivate,
    /// The sender is drained, or awake.
    Ready,
}

/// The state machine of one end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Kept)]
pub(crate) struct End {
    pub state: LinkState,
    /// The request of this end that has no answer yet.
    pub asked: Option<Want>,
    /// Whether this end is drained or awake; and whether the other end has reported the same.
    pub ready: bool,
    peer_ready: bool,
    /// Whether the link has failed; then this end drains without waiting for the other end.
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

    /// Whether a request can refer to this link in its present state.
    pub fn fits(&self, want: Want) -> bool {
        self.state == if want == Want::Activate { LinkState::Off } else { LinkState::On }
    }

    /// Begins the agreed change.
    fn begin(&mut self, want: Want) {
        self.asked = None;
        self.enter(if want == Want::Activate { LinkState::Waking } else { LinkState::Shadow });
    }

    /// Handles equal requests of both ends: the request of the lower end is void, and that of the higher end is answered. Returns
    /// whether the void request is that of the other end.
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

    /// Handles the agreement of the other end. `can`: whether this end can still make the change. Returns the requested change, if
    /// it begins now; otherwise the message to send.
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

    /// Handles a withdrawal: the other end takes back a request to which this end has agreed.
    pub fn withdrawn(&mut self) {
        match self.state {
            LinkState::Waking => self.enter(LinkState::Off),
            LinkState::Shadow | LinkState::Draining => self.enter(LinkState::On),
            LinkState::On | LinkState::Off | LinkState::Named(_) => {}
        }
    }

    /// Whether this end can still make the link active again by itself. An end can do so until it has reported that it is drained,
    /// because the link is not dark before.
    pub fn can_return(&self) -> bool {
        self.state == LinkState::Shadow || self.state == LinkState::Draining && !self.ready && !self.alone
    }

    /// Makes the link active again at once, when this end requests it.
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

    /// Called when no packet has used the shadow link until its time was over.
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

    /// Called when this end has drained, or is awake.
    pub fn done(&mut self) -> Say {
        self.ready = true;
        self.settle();
        Say::Ready
    }

    /// Handles the report that the other end is drained, or awake. Returns the answer of this end: if this end was awake first, the
    /// other end may have missed its message.
    pub fn peer_done(&mut self) -> Option<Say> {
        // in other states the message refers to a change that was withdrawn or taken back, or that has not begun here
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

    /// Whether this end can receive flits.
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
