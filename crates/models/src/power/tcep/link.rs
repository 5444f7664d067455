//! A state machine of one end of a link. Its state changes only with messages, with the timers of the link, and at ends of epochs.
//! Therefore a test can explore every state of two such ends and of the messages between them (`link_model.rs`).
//!
//! Every request gets one answer. If the answer is an agreement, the requesting end carries out the change, or withdraws its request. After
//! a withdrawal, the answering end undoes the change that it has already begun. An answer also makes all requests void that its sender sent
//! before to the same receiver. Therefore an end sends its requests after its answers. A link goes dark, or carries flits again, only when
//! both ends have reported that they are ready. Ends report this on the side channel of the link, which also carries credits.

use crate::power::LinkState;
use weft_api::base::kept::{Kept, Value};

/// A request of a router to the router at the other end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Value)]
pub(crate) enum Want {
    Activate,
    Deactivate,
}

/// A message from one end of a link to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Say {
    Ack,
    Nack,
    /// The sender withdraws its request, to which the other end has agreed.
    Withdraw,
    Reactivate,
    /// The sender's end is drained (before off) or awake (before on).
    Ready,
}

/// The state machine of one end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Kept)]
pub(crate) struct End {
    pub state: LinkState,
    /// The request that this end has sent and that has no answer yet.
    pub asked: Option<Want>,
    /// True if this end has ended its part of the present change: it is drained or awake.
    pub ready: bool,
    /// True if the other end has reported that it is drained or awake.
    peer_ready: bool,
    /// True if the link has failed. This end then drains without waiting for the other end.
    alone: bool,
}

impl End {
    pub fn new(state: LinkState) -> Self {
        Self { state, asked: None, ready: false, peer_ready: false, alone: false }
    }

    fn enter(&mut self, state: LinkState) {
        (self.state, self.ready) = (state, false);
        // the report of the other end stays valid if this end begins to drain, because the other end has possibly drained before
        self.peer_ready &= state == LinkState::Draining;
        self.alone &= state == LinkState::Draining;
    }

    /// True if the present state of the link permits this request: off for `Activate`, on for `Deactivate`.
    pub fn fits(&self, want: Want) -> bool {
        self.state == if want == Want::Activate { LinkState::Off } else { LinkState::On }
    }

    /// Begins the change `want`, on which both ends have agreed.
    fn begin(&mut self, want: Want) {
        self.asked = None;
        self.enter(if want == Want::Activate { LinkState::Waking } else { LinkState::Shadow });
    }

    /// Called when the other end has sent request `want`. If this end has sent the same request, the request of the lower end becomes void,
    /// and the request of the higher end gets an answer. `lower`: true if this end is the lower one. Returns true if the other end's
    /// request is void.
    pub fn crossed(&mut self, want: Want, lower: bool) -> bool {
        let crossed = self.asked == Some(want);
        if crossed && lower {
            self.asked = None;
        }
        crossed && !lower
    }

    /// Returns the answer to a request of the other end. If this end agrees and its state permits the change, begins the change.
    pub fn judge(&mut self, want: Want, agree: bool) -> Say {
        if agree && self.fits(want) {
            self.begin(want);
            Say::Ack
        } else {
            Say::Nack
        }
    }

    /// Called when the other end has agreed to this end's request. `can`: true if this end can still make the change. Returns the requested
    /// change if it begins now, or `None` if the request is already void. If this end must withdraw, returns the message to send as the
    /// error.
    pub fn acked(&mut self, can: bool) -> Result<Option<Want>, Say> {
        let Some(want) = self.asked.take() else { return Ok(None) };
        if can && self.fits(want) {
            self.begin(want);
            Ok(Some(want))
        } else {
            Err(Say::Withdraw)
        }
    }

    /// Called when the other end has refused this end's request.
    pub fn nacked(&mut self) {
        self.asked = None;
    }

    /// Called when the other end withdraws a request to which this end has agreed.
    pub fn withdrawn(&mut self) {
        match self.state {
            LinkState::Waking => self.enter(LinkState::Off),
            LinkState::Shadow | LinkState::Draining => self.enter(LinkState::On),
            LinkState::On | LinkState::Off | LinkState::Named(_) => {}
        }
    }

    /// True if this end can still make the link active again without the other end's agreement. It can do so until it has reported that it
    /// is drained, because the link cannot be dark before this report.
    pub fn can_return(&self) -> bool {
        self.state == LinkState::Shadow || self.state == LinkState::Draining && !self.ready && !self.alone
    }

    /// Makes the link active again at once, without the other end's agreement. Returns the message to the other end.
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

    /// Called when the time of a shadow link is over and no packet has used it.
    pub fn expire(&mut self) {
        debug_assert_eq!(self.state, LinkState::Shadow);
        self.enter(LinkState::Draining);
    }

    /// Called when the link fails. Requests and agreements are void, and this end goes dark as soon as it has drained.
    pub fn fail(&mut self) {
        let dark = matches!(self.state, LinkState::Off | LinkState::Waking);
        *self = Self::new(if dark { LinkState::Off } else { LinkState::Draining });
        self.alone = !dark;
    }

    /// True if this end drains because the link has failed.
    pub fn is_alone(&self) -> bool {
        self.alone
    }

    /// Called when this end has drained, or is awake. Returns the report to the other end.
    pub fn done(&mut self) -> Say {
        self.ready = true;
        self.settle();
        Say::Ready
    }

    /// Called when the other end reports that it is drained, or awake. Returns the report of this end if this end must repeat it. If this
    /// end was awake first, its report possibly arrived before the other end began to wake.
    pub fn peer_done(&mut self) -> Option<Say> {
        // in other states, the report belongs to a change that was withdrawn or undone, or that this end has not begun
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

    /// True if this end can send flits.
    #[cfg(test)]
    fn may_send(&self) -> bool {
        match self.state {
            LinkState::On | LinkState::Shadow => true,
            LinkState::Draining => !self.ready,
            LinkState::Off | LinkState::Waking | LinkState::Named(_) => false,
        }
    }

    /// True if this end can receive flits.
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
